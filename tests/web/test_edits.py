"""Changes of a page in the text of a scenario, compared with the same changes in Python."""

import random
import re
import tomllib
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.examples import directory, examples
from airtcp.exceptions import AirtcpError
from airtcp.scenario import Scenario
from airtcp.scenario.vary import places
from airtcp.web import sources, work
from airtcp.web.bodies import Edit, Source
from airtcp.web.catalogue import keys
from airtcp.web.edits import edited, line_of

NAMES = [one.name for one in examples()]


def text_of(name: str) -> str:
    return (directory() / f"{name}.toml").read_text(encoding="utf-8")


def read(text: str) -> Scenario:
    """Return the scenario of a text, as if it were in the folder of the examples."""
    return Scenario.from_written(tomllib.loads(text), name="scenario", base=Path(str(directory())))


def comments(text: str) -> list[str]:
    """Return the comments of a text that has no # in its values."""
    return re.findall(r"#.*", text)


def ask(name: str, body: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"answer": work.question(name, body, Path("/nonexistent"), {})}
    except AirtcpError as error:
        return {"problem": work.problem(error, body)}


def flows_by_name(scenario: Scenario) -> dict[str, Any]:
    """Return the resolved scenario with its flows sorted by name."""
    form = scenario.to_dict()
    flows: list[Any] = form["flows"]  # type: ignore[assignment]
    form["flows"] = sorted(flows, key=lambda flow: str(flow["name"]))
    return form


@pytest.mark.parametrize("name", NAMES)
def test_a_change_and_its_opposite_keep_text_and_comments(name: str) -> None:
    text = text_of(name)
    given = tomllib.loads(text)
    tables = ("phy", "mac", "run")
    changes = {
        f"{table}.{key}": value for table in tables for key, value in given.get(table, {}).items()
    }
    # Writing every value again does not change the text.
    assert edited(text, changes) == edited(text, {}) == text
    seed = read(text).run.seed
    there = edited(text, {"run.seed": 77, "ap.queue.limit": 321})
    assert comments(there) == comments(text)
    assert read(there).run.seed == 77
    assert read(there).ap.queue.limit == 321
    assert comments(edited(there, {"run.seed": seed})) == comments(text)


def numbers(scenario: Scenario) -> list[tuple[str, Any]]:
    """Find keys with whole numbers, or with times and sizes as texts, and their values."""
    found = []
    for place in places(scenario.written):
        value = place.value
        is_number = isinstance(value, int) and not isinstance(value, bool)
        is_quantity = isinstance(value, str) and re.fullmatch(r"\d+ (ms|s|B|kB|KiB|Mb/s)", value)
        if place.form is not None and (is_number or is_quantity):
            found.append((place.path, value))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_random_changes_say_what_vary_says(name: str) -> None:
    """Thirty draws of one to four keys; both ways reject the same invalid scenarios."""
    text, chance = text_of(name), random.Random(name)
    base = read(text)
    known = numbers(base)
    compared = 0
    for _ in range(30):
        changes: dict[str, Any] = {}
        for path, value in chance.sample(known, k=chance.randint(1, min(4, len(known)))):
            if chance.random() < 0.2:
                changes[path] = None
            elif isinstance(value, int):
                changes[path] = chance.randint(1, 2 * value + 2)
            else:
                number, unit = value.split(" ")
                changes[path] = f"{chance.randint(1, 2 * int(number) + 1)} {unit}"
        try:
            expected = base.vary(changes)
        except AirtcpError:
            told = ask("scenario", {"source": {"example": name, "changes": changes}})
            assert "problem" in told, changes
            continue
        new = edited(text, changes)
        assert flows_by_name(read(new)) == flows_by_name(expected), changes
        compared += 1
    assert compared > 5


def test_a_key_of_a_flow_that_a_profile_brings_gets_an_entry_of_its_own() -> None:
    text = text_of("office-wifi6")
    new = edited(text, {"flows.caller-call.application.video": "3 Mb/s"})
    by_hand = f'{text}\n[[flows]]\nname = "caller-call"\napplication = {{ video = "3 Mb/s" }}\n'
    assert tomllib.loads(new) == tomllib.loads(by_hand)
    assert read(new) == read(by_hand)
    assert comments(new) == comments(text)


def test_what_no_text_with_profiles_says_is_said_without_them() -> None:
    # A profile sets the path of its flows; a file can only replace it by an empty one.
    text = text_of("office-wifi6")
    new = edited(text, {"flows.desk-web.path": None})
    assert flows_by_name(read(new)) == flows_by_name(read(text).vary({"flows.desk-web.path": None}))
    # A key that comes from an inline profile is removed.
    limit = {"ap.queue.limit": None}
    assert read(edited(text, limit)).ap.queue.limit == 1000
    assert read(edited(text, limit)) == read(text).vary(limit)


def rebuilt(example: str, **edit: Any) -> Scenario:
    text, _ = sources.rebuilt(Source(example=example), Edit(**edit), Path("/nonexistent"))
    before = text_of(example)
    if edit["op"] != "remove":
        assert comments(text) == comments(before)
    return read(text)


def test_groups_and_flows_are_added_copied_removed_and_renamed() -> None:
    office = read(text_of("office-wifi6"))
    counts = {group.name: group.count for group in office.stations}
    added = rebuilt(
        "office-wifi6", op="add", path="stations", entry={"profile": "phone", "count": 3}
    )
    assert {group.name: group.count for group in added.stations} == counts | {"phone": 3}
    copied = rebuilt("office-wifi6", op="copy", path="stations.desk")
    assert {group.name: group.count for group in copied.stations} == counts | {"desk-2": 20}
    assert {flow.name for flow in copied.flows} - {flow.name for flow in office.flows} == {
        "desk-2-web"
    }
    gone = rebuilt("office-wifi6", op="remove", path="stations.desk")
    assert "desk" not in {group.name for group in gone.stations}
    assert "desk-web" not in {flow.name for flow in gone.flows}
    quiet = rebuilt("office-wifi6", op="remove", path="flows.desk-web")
    assert len(quiet.stations) == len(office.stations)
    assert "desk-web" not in {flow.name for flow in quiet.flows}
    named = rebuilt("office-wifi6", op="rename", path="stations.caller", name="meeting")
    assert {flow.name for flow in named.flows if flow.stations == "meeting"} >= {"meeting-web"}
    playing = rebuilt(
        "office-wifi5", op="add", path="flows", entry={"stations": "desk", "profile": "ping"}
    )
    assert {flow.name for flow in playing.flows if flow.stations == "desk"} == {"desk", "desk-ping"}
    again = rebuilt("office-wifi5", op="copy", path="stations.desk")
    assert [flow.tcp for flow in again.flows if flow.stations == "desk-2"] == [
        flow.tcp for flow in read(text_of("office-wifi5")).flows if flow.stations == "desk"
    ]


def test_targets_follow_the_name_of_their_group_and_go_with_it() -> None:
    text = text_of("office-wifi6") + '\n[targets]\n"desk flow_goodput" = "> 1 Mb/s" # at least\n'
    source = Source(text=text)
    edit = Edit(op="rename", path="stations.desk", name="table")
    new, path = sources.rebuilt(source, edit, Path("/nonexistent"))
    assert path == "stations.table"
    assert tomllib.loads(new)["targets"] == {"table flow_goodput": "> 1 Mb/s"}
    gone, _ = sources.rebuilt(source, Edit(op="remove", path="stations.desk"), Path("/nonexistent"))
    assert not tomllib.loads(gone).get("targets")


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"op": "remove", "path": "stations.nope"}, "is neither a group nor a flow of this"),
        ({"op": "remove", "path": "phy"}, "is neither a group nor a flow of this scenario"),
        ({"op": "rename", "path": "stations.desk", "name": "far"}, "already exists"),
        ({"op": "rename", "path": "flows.desk-web", "name": "x"}, "is traffic of the stations"),
        ({"op": "add", "path": "phy", "entry": {}}, "allowed: stations, flows"),
        ({"op": "add", "path": "stations", "entry": {"profile": "nope"}}, "there is no device"),
        ({"op": "set", "path": "stations.desk.count", "text": "0"}, "0 is too small"),
        ({"op": "set", "path": "stations.desk.count", "text": "many"}, "is not a whole number"),
        ({"op": "set", "path": "run.duration", "text": "ten"}, "run.duration"),
        ({"op": "set", "path": "no.such", "text": "1"}, "is not a key of this scenario"),
        ({"op": "remove", "path": "stations.laptop"}, "is the only group"),
    ],
)
def test_an_edit_that_cannot_be_is_refused_with_a_reason(edit: dict[str, Any], said: str) -> None:
    example = "web-hotspot" if "laptop" in edit["path"] else "office-wifi6"
    problem = ask("edit", {"source": {"example": example}, "edit": edit})["problem"]
    assert said in f"{problem['key']}: {problem['message']}"


FIVE = text_of("office-wifi5")
SIX = text_of("office-wifi6")


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        (FIVE.replace("mcs             = 7", "mcs = 77"), "mcs = 77", "phy.mcs"),
        (FIVE.replace('"sack"', '"sac"', 1), '"sac"', "flows[0] (desk).tcp.variant"),
        (FIVE.replace("[run]", "[rum]"), "[rum]", "rum"),
        (SIX.replace('place = "far"', 'place = "fat"'), '"fat"', "stations[2] (far).place"),
        (SIX.replace('profile = "vendor"', "queue = { limit = 0 }"), "limit = 0", "ap.queue.limit"),
        (SIX.replace('"40 MHz" }', '"40 MHz"'), "phy   =", ""),
        (SIX + "what is this\n", "what is this", ""),
        ('{"a": 1}\n', '{"a"', ""),
        ("a = 1\n", "a = 1", "a"),
    ],
)
def test_a_file_that_is_no_scenario_shows_line_and_key(text: str, line: str, key: str) -> None:
    problem = ask("scenario", {"source": {"text": text}})["problem"]
    assert problem["key"] == key
    assert line in text.splitlines()[problem["line"] - 1]
    assert problem["text"] == text
    # The reported line is the one in the file with the change.
    source = {"example": "office-wifi6", "changes": {"flows.caller-call.application.video": "3 kg"}}
    changed = ask("scenario", {"source": source})["problem"]
    assert '"3 kg"' in changed["text"].splitlines()[changed["line"] - 1]


def test_a_line_is_that_of_the_nearest_table_where_a_key_is_missing() -> None:
    text = '[phy]\nstandard = "802.11g"\n\n[[stations]]\nname = "a"\n'
    assert line_of(text, "stations[0] (a).count") == 4
    assert line_of(text, "phy.standard") == 2
    assert line_of(text, "flows") is None


def test_keys_are_found_by_name_and_by_what_is_said_of_them() -> None:
    office = airtcp.load(str(directory() / "office-wifi6.toml"))
    given = tomllib.loads(SIX)
    told = keys(office, given, "queue limit")
    assert told["keys"][0]["path"] == "ap.queue.limit"
    assert told["keys"][0]["text"] == "1000"
    # The access point's profile sets the limit, and the file sets the standard.
    assert not told["keys"][0]["file"]
    assert "whole number >= 1" in told["keys"][0]["holds"]
    standard = keys(office, given, "phy standard")["keys"][0]
    assert standard["file"]
    assert standard["options"][-1] == "802.11be"
    # Without words, the file's own keys are listed; any text is a valid question.
    paths = {one["path"] for one in keys(office, given, "")["keys"]}
    assert {"stations.desk.count", "phy.standard", "run.seed"} - paths == {"run.seed"}
    assert keys(office, given, "zzz \\ (")["count"] == 0
