"""Closed sets of words: each word has its record, and every verb accepts and prints it."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin

import airtcp
import pytest
from airtcp.amendments import AMENDMENTS
from airtcp.choices import (
    APPLICATIONS,
    CLOSED_SETS,
    CONGESTION,
    RECOVERY,
    SLOW_STARTS,
    meant,
    of_airtcp,
)
from airtcp.exceptions import ScenarioError
from airtcp.predict import predict
from airtcp.present.subject import subject
from airtcp.remedies import Changed, catalogue
from airtcp.remedies import apply as remedies_apply
from airtcp.remedies.apply import lines_for
from airtcp.scenario import Scenario
from airtcp.scenario.declare import written
from airtcp.scenario.resolved import ResolvedScenario
from airtcp.testbed import site
from airtcp.testbed.site import site_of
from airtcp.web.fields import axes, fields
from pydantic import BaseModel

VALID = Path(__file__).parent / "scenarios" / "valid"

WEB = {"kind": "web", "size": "30 kB", "think_time": "1 s"}
FTP = {"kind": "ftp", "size": "30 kB", "interarrival": "1 s"}
LINK = {"rate": "1 Gb/s", "delay": "10 ms", "loss": "1 %"}
UDP = {"kind": "udp", "packet": "1500 B", "rate": "1 Mb/s"}
CALL = {"kind": "call"}
LAWS: Mapping[str, Mapping[str, Any]] = {
    "deterministic": {"value": 1},
    "exponential": {"mean": 1},
    "pareto": {"mean": 1, "shape": 1.5},
    "hyperexponential": {"mean": 1, "scv": 4.0},
    "lognormal": {"mean": 1, "scv": 4.0},
    "uniform": {"low": 1, "high": 2},
    "empirical": {"file": "data/sizes.csv", "column": "size"},
}
BESIDE: Mapping[str, Mapping[str, Any]] = {
    "phy.preamble": {"phy.standard": "802.11b"},
    "phy.protection": {"phy.standard": "802.11g"},
    "phy.channel_width": {"phy.standard": "802.11be", "phy.band": "6 GHz"},
    'phy.band = "6 GHz"': {"phy.standard": "802.11ax"},
    'phy.guard_interval = "1600 ns"': {"phy.standard": "802.11ax"},
    'phy.guard_interval = "3200 ns"': {"phy.standard": "802.11ax"},
    'mac.ofdma.scheduler = "fixed"': {"mac.ofdma.schedule": [["laptop"]]},
    "stations.channel_width": {
        "phy.standard": "802.11be", "phy.band": "6 GHz", "phy.channel_width": "320 MHz",
    },
    "stations.rate_control": {"stations.0.snr": "40 dB"},
    "ap.access.scheme": {"phy.standard": "802.11b"},
    "ap.queue.control_law": {"ap.queue.discipline": "codel"},
    "stations.queue.control_law": {"stations.0.queue.discipline": "codel"},
    "links.queue.control_law": {"links.wire.queue.discipline": "codel"},
    "flows.path.queue.control_law": {"flows.0.path.0.queue.discipline": "codel"},
    "mac.pcf.poll": {
        "phy.standard": "802.11b", "mac.pcf.interval": "102.4 ms", "mac.pcf.max_duration": "35 ms",
    },
    "mac.ofdma.scheduler": {"phy.standard": "802.11ax"},
    "mac.ofdma.acknowledgment": {"phy.standard": "802.11ax"},
    "mac.ofdma.uplink": {"phy.standard": "802.11ax"},
    "flows.direction": {"flows.0.application": UDP},
    "flows.application.codec": {"flows.0.application": CALL},
    "flows.application.video": {"flows.0.application": CALL},
    "flows.application.rate": {"flows.0.application": UDP},
    "flows.tcp.mac_feedback.give_up": {"flows.0.direction": "upload"},
    "flows.tcp.slow_start": {"flows.0.tcp.variant": "rack"},
    "flows.application.interarrival.distribution": {"flows.0.application": FTP},
    "flows.application.size.distribution": {"flows.0.application": WEB},
}  # fmt: skip
"""What a key, or one word of it, wants beside it in the base scenario."""

KEYS_OF_KINDS: Mapping[str, Mapping[str, Any]] = {
    "bulk": {},
    "web": WEB,
    "ftp": FTP,
    "replay": {"file": "data/requests.csv"},
    "udp": UDP,
    "call": {},
}


def words(annotation: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield key path and word of every Literal in a form of the scenario, including union tags."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        for name, field in annotation.model_fields.items():
            yield from words(field.annotation, (*path, field.alias or name))
    elif get_origin(annotation) is Literal:
        yield from ((".".join(path), word) for word in get_args(annotation) if word is not None)
    else:
        for argument in get_args(annotation):
            if not isinstance(argument, str):
                yield from words(argument, path)


WRITTEN = sorted(set(words(written(ResolvedScenario))))
RESOLVED = sorted(set(words(ResolvedScenario)))


#: `airtcp.distributions` has one set of distributions: sizes and times cover all uses. TCP and path
#: of a group are those of its flows, and the access point of a cell is like `ap`. A testbed has no
#: `air`.
TRIED = [
    (path, word)
    for path, word in WRITTEN
    if not path.endswith(".distribution") or path.split(".")[-2] in ("size", "interarrival")
    if ".page." not in path
    and not path.startswith(("stations.tcp.", "stations.path.", "cells.ap.", "air."))
    # These depend on the standard of the network: tests/test_mixed.py and
    # tests/scenario/test_cells_standards.py try them.
    and path
    not in ("stations.standard", "stations.guard_interval", "cells.standard", "cells.channel_width")
]


def closed_set(path: str) -> str:
    """The key of `CLOSED_SETS` that a key path ends with; "" if none does."""
    path = path.removesuffix(".kind") if path.endswith("ap.scheduler.kind") else path
    return next((key for key in CLOSED_SETS if f".{path}".endswith(f".{key}")), "")


@pytest.mark.parametrize("form", [WRITTEN, RESOLVED], ids=["written", "resolved"])
def test_each_word_of_a_closed_set_has_its_record(form: list[tuple[str, str]]) -> None:
    found: dict[str, set[str]] = {}
    for path, word in form:
        if key := closed_set(path):
            found.setdefault(key, set()).add(word)

    known = {key: {one.word for one in of_airtcp(records)} for key, records in CLOSED_SETS.items()}
    if form is RESOLVED:
        # Calls are resolved to flows of UDP.
        known["application.kind"] -= {"call"}
        for key in ("ap.scheduler", "queue.discipline"):
            known[key] |= {"own"}
    assert found == known


def test_records_are_under_their_words_and_name_words_of_other_sets() -> None:
    for records in CLOSED_SETS.values():
        assert list(records) == [one.word for one in records.values()]
    for kind, one in APPLICATIONS.items():
        assert one.offered is None or one.offered["kind"] == kind
    for control in CONGESTION.values():
        assert control.needs.get("variant", "rack") in RECOVERY
        assert control.needs.get("slow_start", "standard") in SLOW_STARTS
        assert control.kernel_slow_start in (None, *SLOW_STARTS)


def put(data: Any, path: str, value: Any) -> None:
    """Set the value at a path; list elements are given by index."""
    *way, last = path.split(".")
    for key in way:
        data = data[int(key)] if isinstance(data, list) else data.setdefault(key, {})
    data[last] = copy.deepcopy(value)


def with_word(path: str, word: str) -> dict[str, Any]:
    """A small valid scenario that has a word at a key path."""
    flow = {"name": "flow", "stations": "laptop", "direction": "download", "path": [dict(LINK)]}
    data: dict[str, Any] = {
        "phy": {"standard": "802.11n"},
        "stations": [{"name": "laptop", "count": 2}],
        "links": {"wire": dict(LINK)},
        "flows": [flow | {"application": {"kind": "bulk"}}],
        "run": {"warmup": "1 s", "duration": "2 s", "replications": 2},
    }
    if path.startswith("links."):
        data["flows"][0]["path"] = ["wire"]
    beside = {**BESIDE.get(path, {}), **BESIDE.get(f'{path} = "{word}"', {})}
    for key, value in beside.items():
        put(data, key, value)
    if path == "flows.application.profile":
        data["flows"][0]["application"] = {"profile": word}
    elif path == "flows.application.kind":
        data["flows"][0]["application"] = {**KEYS_OF_KINDS[word], "kind": word}
    elif path.endswith(".distribution"):
        key = path.split(".")[-2]
        unit = " kB" if key == "size" else " s"
        law = {
            name: value if name in ("shape", "scv", "file", "column") else f"{value}{unit}"
            for name, value in LAWS[word].items()
        }
        if word == "empirical" and key != "size":
            law["column"] = "pause"
        put(data, _with_indices(path).rpartition(".")[0], {"distribution": word, **law})
    elif path.endswith(".links"):
        other = "6 GHz/20 MHz" if word.startswith("5") else "5 GHz/20 MHz"
        put(data, "phy.standard", "802.11be")
        put(data, "ap.links", [word, other])
        if path == "stations.links":
            put(data, "stations.0.links", [word])
    else:
        put(data, _with_indices(path), word)
    if path.startswith("flows.application") or path == "flows.direction":
        del data["flows"][0]["path"]
    return data


def _with_indices(path: str) -> str:
    parts = path.split(".")
    if parts[0] in ("flows", "stations"):
        parts.insert(1, "0")
    if parts[0] == "links":
        parts.insert(1, "wire")
    if parts[:1] == ["flows"] and parts[2:3] == ["path"]:
        parts.insert(3, "0")
    return ".".join(parts)


def told(scenario: Scenario) -> list[Any]:
    """Return what the verbs print about a scenario without simulating or emulating it."""
    prediction = predict(scenario)
    assert prediction.model or prediction.uncovered
    controls = fields(scenario, scenario.written)
    by_writer = {remedy.apply: remedy for remedy in catalogue()}
    writers = ["aggregates", "preamble", "rts"]
    if any(flow.tcp is not None and flow.direction == "download" for flow in scenario.flows):
        writers += ["congestion", "queue", "initcwnd", "quickack", "window"]
    writers += ["width", "edca"] if scenario.phy.standard in AMENDMENTS else ["rates"]
    lines = [lines_for(by_writer[one], Changed(scenario, {}), scenario) for one in writers]
    return [subject(scenario), controls, axes(controls), lines]


#: Errors of a testbed, by the prefix of key and value.
REFUSED = {
    "flows.tcp.mac_feedback.": "no kernel gets reports of the MAC",
    "mac.ofdma.": "PPDUs to several stations",
    "ap.links": "a testbed has one link",
    "stations.links": "a testbed has one link",
    **{
        f'flows.tcp.congestion = "{word}"': "the kernel does not have it"
        for word, one in CONGESTION.items()
        if one.kernel is None
    },
}


def test_each_word_goes_through_every_verb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    available = tmp_path / "available"
    available.write_text(" ".join(one.kernel or "" for one in CONGESTION.values()))
    monkeypatch.setattr(site, "_AVAILABLE", available)
    monkeypatch.chdir(VALID)

    wrong = {}
    for path, word in TRIED:
        try:
            scenario = airtcp.load(with_word(path, word))
            subjects, controls, *_ = told(scenario)
            key = f'{path} = "{word}"'
            refused = [said for begin, said in REFUSED.items() if key.startswith(begin)]
            if refused:
                with pytest.raises(ScenarioError, match=refused[0]):
                    site_of(scenario, name="test")
                continue
            made = site_of(scenario, name="test")
        except Exception as error:
            wrong[f'{path} = "{word}"'] = repr(error)
            continue
        assert subjects
        assert controls
        assert made.nodes

    assert wrong == {}


def test_a_congestion_control_that_linux_lacks_is_said_and_crashes_nothing(monkeypatch):
    """A new congestion control has no kernel name at first."""
    lone = MappingProxyType({**CONGESTION, "cubic": replace(CONGESTION["cubic"], kernel=None)})
    monkeypatch.setattr(site, "CONGESTION", lone)
    monkeypatch.setattr(remedies_apply, "CONGESTION", lone)
    scenario = airtcp.load(with_word("flows.tcp.congestion", "cubic"))

    with pytest.raises(ScenarioError, match='testbed: "reno", '):
        site_of(scenario, name="test")
    remedy = next(one for one in catalogue() if one.apply == "congestion")
    lines = lines_for(remedy, Changed(scenario, {}), scenario)
    assert lines.by_tool == {}
    assert lines.notes[-1] == "Linux does not have CUBIC"


@pytest.mark.parametrize("key", CLOSED_SETS)
def test_each_other_name_means_one_word(key: str) -> None:
    records = CLOSED_SETS[key]
    others = [(name, word) for word in records for name in records[word].also]

    assert [meant(key, name, list(records)) for name, _ in others] == [
        f'"{word}"' for _, word in others
    ]
    assert not {name for name, _ in others} & set(records)
