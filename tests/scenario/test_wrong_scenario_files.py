"""Wrong scenario files: one message each, with file, key and what is allowed."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from airtcp.exceptions import ScenarioError
from airtcp.scenario import ResolvedScenario, load, loads, resolve
from hypothesis import given, settings
from hypothesis import strategies as st

SCENARIOS = Path(__file__).parents[1] / "scenarios"
INVALID = sorted((SCENARIOS / "invalid").glob("*.toml"))
WRONG = sorted((SCENARIOS / "wrong").glob("*.toml"))

#: The application of a base scenario; the rest is valid/minimal.toml.
BASES: dict[str, dict[str, Any]] = {
    "bulk": {"kind": "bulk"},
    "web": {"kind": "web", "size": "30 kB", "think_time": "10 s"},
    "ftp": {"kind": "ftp", "size": "30 kB", "interarrival": "10 s"},
    "udp": {"kind": "udp", "packet": "1500 B", "rate": "saturated"},
}


def base(name: str) -> dict[str, Any]:
    """Return the scenario that an edit makes wrong."""
    data = tomllib.loads((SCENARIOS / "valid" / "minimal.toml").read_text())
    data["flows"][0]["application"] = dict(BASES[name])
    if name == "udp":
        data["flows"][0]["direction"] = "upload"
    return data


def place(data: dict[str, Any], path: str) -> tuple[Any, Any]:
    """Return the container at the path `a.0.b`, and its last key; create missing tables."""
    *way, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    here: Any = data
    for key in way:
        here = here[key] if isinstance(key, int) else here.setdefault(key, {})
    return here, last


def edited(wrong: dict[str, Any]) -> dict[str, Any]:
    """Return the base scenario with an entry's edit: keys set, elements appended, keys removed."""
    data = base(wrong.get("base", "bulk"))
    for path, value in wrong.get("edit", {}).items():
        here, last = place(data, path)
        if isinstance(here, list) and last == len(here):
            here.append(value)
        else:
            here[last] = value
    for path in wrong.get("remove", []):
        here, last = place(data, path)
        del here[last]
    return data


def said_of(data: dict[str, Any]) -> tuple[str, str]:
    """Return key and message of a scenario's error, or say that there is none."""
    try:
        resolve(data, name="wrong.toml")
    except ScenarioError as error:
        return error.key, str(error)
    return "", "nothing is wrong"


@pytest.mark.parametrize("table", WRONG, ids=lambda path: path.stem)
def test_wrong_things_say_what_is_wrong(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each entry of scenarios/wrong: an edit of a base scenario, the key and its message."""
    monkeypatch.chdir(table.parent)
    entries = tomllib.loads(table.read_text(encoding="utf-8"))["wrong"]
    found = {entry["name"]: said_of(edited(entry)) for entry in entries}
    assert len(found) == len(entries)
    assert found == {
        entry["name"]: (entry["key"], f"wrong.toml: {entry['key']}: {entry['message']}")
        for entry in entries
    }


@pytest.mark.parametrize("name", BASES)
def test_each_base_is_right(name: str) -> None:
    assert said_of(base(name)) == ("", "nothing is wrong")


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_wrong_files_say_what_is_wrong(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole files: the message is in the file of the same name that ends in .expected."""
    monkeypatch.chdir(path.parent)
    with pytest.raises(ScenarioError) as caught:
        load(path.name)
    assert str(caught.value) + "\n" == path.with_suffix(".expected").read_text()
    assert caught.value.file == path.name


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda tmp: tmp / "nowhere.toml", "file not found"),
        (lambda tmp: tmp, "is a directory"),
        (lambda tmp: "null\0byte.toml", "is not a file name"),
        (lambda tmp: "/dev/zero", "is too large; allowed: 32 MiB at most"),
        (lambda tmp: tmp / ("x" * 5000), "cannot be read"),
    ],
)
def test_files_that_cannot_be_read(make, message: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=message) as caught:
        load(make(tmp_path))
    assert caught.value.key == ""


def test_files_without_permission(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not with chmod, because root can read everything."""
    text = (SCENARIOS / "valid" / "every_distribution.toml").read_text()

    def refuse(path: Path | str, mode: str) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ScenarioError, match="Permission denied"):
        loads(text, base=SCENARIOS / "valid")
    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(ScenarioError, match=r"minimal\.toml"):
        load("minimal.toml")


def test_a_problem_is_one_line_whatever_is_written() -> None:
    with pytest.raises(ScenarioError) as caught:
        loads('title = "x"\nphy = { standard = "802.11b\\n\\u0007" }\nstations = []\nflows = []')
    assert str(caught.value).splitlines()[0] == (
        r'scenario: phy.standard: "802.11b\n\x07" is unknown (did you mean "802.11b"?); '
        'allowed: "802.11b", "802.11a", "802.11g", "802.11n", "802.11ac", "802.11ax", "802.11be"'
    )


def test_a_message_has_an_end_whatever_is_written() -> None:
    """At most three problems and a last line, each of at most a thousand characters."""
    keys = [json.dumps(letter + "\x1b" * 100_000) for letter in "abcd"]
    with pytest.raises(ScenarioError) as caught:
        loads("".join(f"{key} = 1\n" for key in keys))
    lines = str(caught.value).splitlines()
    assert len(lines) == 4
    assert max(map(len, lines)) <= 1000
    assert lines[0].startswith(r"scenario: a\x1b\x1b")
    assert lines[0].endswith(
        "allowed: title, phy, mac, ap, cells, air, stations, links, flows, targets, run"
    )


@pytest.mark.parametrize("depth", [200, 300, 450, 2000])
def test_nesting_that_toml_allows_is_an_error(depth: int) -> None:
    with pytest.raises(ScenarioError, match=r"unknown key|nested too deeply"):
        loads("x = " + "[" * depth + "]" * depth)
    with pytest.raises(ScenarioError, match=r"unknown key|nested too deeply|more than 32 parts"):
        loads("x" + ".x" * depth + " = 1")
    with pytest.raises(ScenarioError, match="not TOML"):
        loads("title = " + "[" * 100_000)


base_data = tomllib.loads((SCENARIOS / "valid" / "every_key.toml").read_text())
odd_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["20 us", "11 Mb/s", "30 kB", "2 %", "saturated", "laptop", "uplink"]),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.sampled_from(["kind", "distribution", "mean", "x"]), st.text(max_size=3)),
    st.dates(),
)


def paths(node: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    """Return the path to everything in the data."""
    items: list[tuple[object, object]] = []
    if isinstance(node, dict):
        items = list(node.items())
    elif isinstance(node, list):
        items = list(enumerate(node))
    inner = [way for key, value in items for way in paths(value, (*path, key))]
    return [path, *inner] if path else inner


@settings(deadline=None, max_examples=400)
@given(st.sampled_from(paths(base_data)), odd_values, st.sampled_from(["replace", "delete", "add"]))
def test_any_change_gives_a_scenario_or_one_message(path, value, how: str) -> None:
    """Only ScenarioError is raised; an accepted scenario round-trips and is finite."""
    data = json.loads(json.dumps(base_data))
    here = data
    for key in path[:-1]:
        here = here[key]
    match how:
        case "replace":
            here[path[-1]] = value
        case "delete":
            del here[path[-1]]
        case "add" if isinstance(here, dict):
            here["unheard-of"] = value
    try:
        outcome: ResolvedScenario | str = resolve(data, name="odd.toml")
    except ScenarioError as error:
        outcome = str(error)
    if isinstance(outcome, str):
        assert outcome.startswith("odd.toml: ")
        assert len(outcome.splitlines()) <= 4
    else:
        assert ResolvedScenario.from_json(outcome.to_json()) == outcome
