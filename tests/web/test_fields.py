"""Controls of a scenario: no choice on the page causes an error, whatever was chosen before."""

import random
from collections.abc import Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from airtcp.examples import examples
from airtcp.web import sources
from airtcp.web.bodies import Source
from airtcp.web.fields import fields
from bases import cell

CODEL = '{ discipline = "codel", ecn = true, target = "4 ms", mac_limit = 20 }'
CELL = cell(
    2,
    standard="802.11n",
    tables=f"[ap]\nqueue = {CODEL}",
    flow="tcp = { %s }",
    duration="1 s",
)
#: TCP keys that conflict with one or another congestion control.
FILES = (
    "",
    'variant = "newreno", aimd = { increase = 0.5 }',
    'variant = "sack", ecn = true, congestion = "cubic"',
    'variant = "rack", pacing = true, slow_start = "hystart++"',
    'variant = "rack", congestion = "cubic", slow_start = "hystart", ecn = true',
    'preset = "linux", pacing = true',
    'preset = "linux", variant = "newreno", pacing = false',
    'congestion = "bbr", pacing = true',
    'preset = "linux", congestion = "bbr1", slow_start = "standard"',
    "tack = {}",
)


def moved(source: Source, field: Mapping[str, Any], option: Mapping[str, Any]) -> Source:
    """Return the source after choosing an option, like `fieldChanged` of the page."""
    changes = dict(source.changes)
    for path in option.get("back", []):
        if path in changes and changes[path] is None:
            del changes[path]
    for path in [*field.get("also", []), *option.get("also", [])]:
        changes = {key: one for key, one in changes.items() if not key.startswith(f"{path}.")}
        changes[path] = None
    inner = f"{field['path']}."
    changes = {key: one for key, one in changes.items() if not key.startswith(inner)}
    return source.model_copy(update={"changes": changes | {field["path"]: option["value"]}})


def controls(source: Source) -> list[dict[str, Any]]:
    return controls_of(source.model_dump_json())


@cache
def controls_of(source: str) -> list[dict[str, Any]]:
    """Return a source's controls; cached, because many choices lead to a source seen before."""
    read = sources.read(Source.model_validate_json(source), Path())
    return fields(read.scenario, read.written)


#: Examples whose choices the quick tests try: cells, calls, uploads, a log, old clients.
QUICK = ("three-cells", "office-wifi6", "fair-uploads", "web-hotspot", "mixed-clients")


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(one.name, marks=() if one.name in QUICK else pytest.mark.verify)
        for one in examples()
    ],
)
def test_no_choice_of_an_example_is_an_error(example: str) -> None:
    source = Source(example=example)
    for field in controls(source):
        options = field["options"]
        # Both ends of a slider.
        for option in options if field["kind"] == "choice" else (options[0], options[-1]):
            controls(moved(source, field, option))


def test_each_congestion_control_brings_what_it_needs() -> None:
    """From every file to every pair of a preset and a congestion control, in both orders."""
    for text, first, second in product(FILES, (".preset", ".congestion"), (True, False)):
        source = Source(text=CELL % text)
        begun = next(one for one in controls(source) if one["path"].endswith(first))
        for option in begun["options"] if second else begun["options"][::-1]:
            once = moved(source, begun, option)
            then = next(
                one
                for one in controls(once)
                if one["path"].endswith((".preset", ".congestion")) and one["path"] != begun["path"]
            )
            for other in then["options"]:
                controls(moved(once, then, other))


def test_bbr_takes_what_it_cannot_stand_beside_and_gives_it_back() -> None:
    source = Source(text=CELL % 'variant = "sack", ecn = true, congestion = "cubic"')
    asked = sources.read(source, Path()).scenario

    def choose(source: Source, value: str) -> Source:
        field = next(one for one in controls(source) if one["path"].endswith(".congestion"))
        return moved(source, field, next(one for one in field["options"] if one["value"] == value))

    bbr = choose(source, "bbr")
    tcp = sources.read(bbr, Path()).scenario.flows[0].tcp
    assert (tcp.variant, tcp.pacing, tcp.ecn) == ("rack", True, False)
    again = choose(choose(bbr, "bbr1"), "cubic")
    assert sources.read(again, Path()).scenario.hash() == asked.hash()


@pytest.mark.parametrize("seed", range(10))
def test_any_row_of_choices_is_a_scenario(seed: int) -> None:
    chance = random.Random(seed)
    source = Source(text=CELL % FILES[seed])
    told = controls(source)
    for _ in range(40):
        field = chance.choice([one for one in told if one["kind"] == "choice"])
        source = moved(source, field, chance.choice(field["options"]))
        told = controls(source)


def speech(direction: str, application: str) -> str:
    return cell(
        2,
        standard="802.11g",
        phy='data_rate = "54 Mb/s"',
        name="phone",
        direction=direction,
        application=application,
        duration="1 s",
    )


OVER_UDP = (
    '{ kind = "call" }',
    '{ profile = "call", codec = "G.729A" }',
    '{ kind = "call", video = "none" }',
    '{ kind = "udp", packet = "500 B", rate = "400 kb/s" }',
)


@pytest.mark.parametrize(
    ("direction", "application"), list(product(("download", "both"), OVER_UDP))
)
def test_an_entry_that_stands_for_several_flows_has_its_controls_once(
    direction: str, application: str
) -> None:
    source = Source(text=speech(direction, application))
    found = controls(source)
    mine = {one["path"]: one for one in found if one["path"].startswith("flows.phone.")}

    assert len(mine) == sum(one["path"].startswith("flows.") for one in found)
    assert mine["flows.phone.direction"]["value"] == direction
    assert mine["flows.phone.application"]["text"] == ("udp" if "udp" in application else "call")
    # Every choice, and every choice after it.
    for field in mine.values():
        for option in field["options"]:
            then = moved(source, field, option)
            for other in controls(then):
                for second in other["options"] if other["path"].startswith("flows.") else ():
                    controls(moved(then, other, second))
