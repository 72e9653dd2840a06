"""Files of any kind that is known: one scenario of several, or the measurement of one.

Knows how kinds are told apart: by contents, never by names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from airtcp.amounts import quantity_with_interval
from airtcp.exceptions import QuestionError, ScenarioError
from airtcp.importer import flent, iperf3
from airtcp.importer.capture.blocks import is_capture
from airtcp.importer.capture.draft import add_capture, read_capture
from airtcp.importer.capture.network import Network
from airtcp.importer.draft import Draft, Said
from airtcp.importer.hostapd import read_hostapd
from airtcp.importer.source import KINDS, Node, Source, parse_json, read
from airtcp.importer.table import is_table, read_table
from airtcp.importer.uci import read_uci
from airtcp.metrics import METRICS
from airtcp.results.measured import Measurement

_UCI: Final = re.compile(r"(?m)^\s*(config|package)\s+\S")
_GUESS: Final = "no file says it: a guess"
_WITH: Final = (
    "the JSON of iperf3 -J, a data file of flent, or a CSV file with the columns metric,value"
)
_SECOND: Final = (
    "a second measurement; allowed: one for a scenario, for two say nothing of whether they ran "
    "together"
)


def scenario_of(paths: Sequence[Path], radio: str | None = None) -> str:
    """The text of a scenario of files that needs no others: see `draft_of`."""
    return draft_of(paths, radio).text()


def draft_of(paths: Sequence[Path], radio: str | None = None) -> Draft:
    """The scenario of files: one configuration at most, and one measurement or capture at most.

    `radio` is the radio of a configuration of OpenWrt. Raises ScenarioError for a file that is
    wrong, QuestionError for files that do not belong together.
    """
    draft: Draft | None = None
    measured: Node | Network | None = None
    for path in paths:
        if is_capture(path):
            if measured is not None:
                raise QuestionError(f"{path}: {_SECOND}")
            measured = read_capture(path)
            continue
        source = read(path)
        if is_table(source):
            raise source.error("", f"has values alone, and no scenario; allowed: {KINDS}")
        if _is_json(source):
            if measured is not None:
                raise QuestionError(f"{path}: {_SECOND}")
            measured = _json(source)
            continue
        if draft is not None:
            raise QuestionError(f"{path}: a second configuration; allowed: one for a scenario")
        is_uci = _UCI.search(source.text) is not None
        if radio is not None and not is_uci:
            raise QuestionError(
                f"--radio: {path} has no radios with names; allowed: with UCI alone"
            )
        draft = read_uci(source, radio) if is_uci else read_hostapd(source)
    if radio is not None and draft is None:
        raise QuestionError("--radio: there is no configuration; allowed: with UCI alone")
    return _completed(draft, measured)


def measurement_of(path: Path) -> Measurement:
    """The measured values of a file. Raises ScenarioError."""
    if is_capture(path):
        raise ScenarioError(str(path), "", "is a capture, which has no interval; allowed: " + _WITH)
    source = read(path)
    if is_table(source):
        return read_table(source)
    if not _is_json(source):
        raise source.error(
            "",
            f"has no measurement; allowed: {_WITH}",
        )
    top = _json(source)
    return iperf3.measurement(top) if iperf3.is_iperf3(top) else flent.measurement(top)


def _is_json(source: Source) -> bool:
    return source.text.lstrip()[:1] in ("{", "[")


def _json(source: Source) -> Node:
    """The JSON of a program that is known. Raises ScenarioError."""
    top = parse_json(source)
    if not (iperf3.is_iperf3(top) or flent.is_flent(top)):
        raise source.error("", "is JSON of no program that is known; allowed: iperf3 -J, flent")
    return top


def _completed(draft: Draft | None, measured: Node | Network | None) -> Draft:
    """The draft with the stations, and with flows of the measurement or a guess."""
    if isinstance(measured, Network):
        draft = draft or Draft()
        add_capture(measured, draft)
        draft.say("run", "replications", 5, "")
        return draft
    if draft is None:
        draft = Draft()
        draft.say("phy", "standard", "802.11ax", _GUESS)
        draft.unknown.append("the radio: hostapd.conf or UCI beside the measurement would say it")
    draft.say("stations", "name", "station", "")
    draft.say("stations", "count", 1, _GUESS if measured is None else "one program measured")
    # Keys of runs come last.
    if measured is None:
        draft.flows.append(
            {
                "stations": Said("station", ""),
                "direction": Said("download", _GUESS),
                "application": Said({"kind": "bulk"}, _GUESS),
                "tcp": Said({"preset": "linux"}, _GUESS),
            }
        )
        draft.unknown.append("stations and traffic: one station that downloads stands there")
        draft.say("run", "warmup", "2 s", _GUESS)
        draft.say("run", "duration", "20 s", _GUESS)
    else:
        draft.names.append(measured.source.short)
        is_iperf3 = iperf3.is_iperf3(measured)
        (iperf3 if is_iperf3 else flent).add_flow(measured, draft)
        told = (iperf3 if is_iperf3 else flent).measurement(measured)
        draft.measured += sentences(told)
    draft.say("run", "replications", 10, "")
    return draft


def sentences(told: Measurement) -> list[str]:
    """The values of a measurement, one a line."""
    lines = []
    for of, values in told.values.items():
        for name, interval in values.items():
            about = f"{METRICS[name].label}{f' ({of})' if of else ''}"
            lines.append(f"{about}: {quantity_with_interval(interval, METRICS[name].unit)}")
    for name, count in told.counts.items():
        lines.append(f"{METRICS[name].label}: {count:g} in {told.duration_s:g} s")
    return [*lines, *told.others]
