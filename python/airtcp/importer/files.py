"""Read files of any supported kind: scenarios of several files, or measurements.

The kind of a file is detected from its contents, never from its name.
"""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from airtcp.amounts import quantity_with_interval
from airtcp.exceptions import QuestionError, ScenarioError
from airtcp.importer import flent, iperf3, iw, ping, survey
from airtcp.importer.capture.blocks import Progress, is_capture
from airtcp.importer.capture.draft import add_capture, read_capture
from airtcp.importer.capture.network import Network
from airtcp.importer.draft import Draft, Said
from airtcp.importer.hostapd import read_hostapd
from airtcp.importer.source import KINDS, Node, Source, parse_json, phrase, read
from airtcp.importer.table import is_table, read_table
from airtcp.importer.uci import read_uci
from airtcp.importer.uci_sections import is_status, is_uci
from airtcp.metrics import METRICS
from airtcp.results.measured import Measurement
from airtcp.stats import Interval

#: A line of iperf3's output without -J.
_IPERF3: Final = re.compile(r"Connecting to host|\[ *(ID|\d+)\] +(Interval|\d)")
#: The most characters of a text other than JSON, and of a configuration: reading takes a second or
#: two.
_MOST_TEXT: Final = 8 * 2**20
_MOST_CONFIGURATION: Final = 2**20
_GUESS: Final = phrase("files.guess")
_WITH: Final = phrase("files.measurements")
_SECOND: Final = phrase("files.capture_combined")


def drafts_of(
    paths: Sequence[Path],
    radio: str | None = None,
    *,
    keep_names: bool = False,
    progress: Progress = None,
) -> list[Draft]:
    """Return the scenarios of files: at most one configuration, and any number of tests of it.

    Tests that ran at the same time form one scenario; all others get one each. A capture cannot be
    combined with tests. `radio` is the radio of an OpenWrt configuration. With `keep_names` the
    text has addresses. `progress` is called with the fraction of a capture that was read.

    Raises ScenarioError for an invalid file, QuestionError for files that do not belong together.
    """
    draft: Draft | None = None
    tests: list[Node] = []
    pings: list[ping.Pings] = []
    seen: list[Source] = []
    captured: Network | None = None
    for path in paths:
        is_capture_ = is_capture(path)
        if captured is not None or (is_capture_ and tests):
            raise QuestionError(f"{path}: {_SECOND}")
        if is_capture_:
            captured = read_capture(path, progress)
            continue
        source = read(path)
        _check_size(source)
        if is_table(source):
            raise source.error("", phrase("files.only_values", kinds=KINDS))
        is_uci_ = is_uci(source)
        if _is_json(source):
            if not (is_uci_ := _is_status(source)):
                tests.append(_json(source))
                continue
        elif not is_uci_ and ping.is_ping(source):
            pings.append(ping.read_ping(source))
            continue
        if iw.is_iw(source) or survey.is_survey(source):
            seen.append(source)
            continue
        if draft is not None:
            raise QuestionError(phrase("files.second_configuration", path=path))
        if len(source.text) > _MOST_CONFIGURATION:
            raise source.error("", phrase("files.large_configuration"))
        if radio is not None and not is_uci_:
            raise QuestionError(phrase("files.no_named_radios", path=path))
        draft = read_uci(source, radio) if is_uci_ else _hostapd(source)
    if radio is not None and draft is None:
        raise QuestionError(phrase("files.no_radio_option"))
    if len(seen) > 1 or (seen and captured is not None):
        raise QuestionError(phrase("files.second_stations", name=seen[-1].name))
    if seen and tests and not iw.is_iw(seen[0]):
        raise QuestionError(phrase("files.survey_and_test", name=seen[0].name))
    if seen:
        draft = draft or Draft()
        draft.keep_names = keep_names
        (iw.add_stations if iw.is_iw(seen[0]) else survey.add_survey)(seen[0], draft)
    if captured is not None:
        draft = draft or Draft()
        draft.keep_names = keep_names
        add_capture(captured, draft)
        draft.say("run", "replications", 5, "")
        return [draft]
    runs = [tests] if len(tests) < 2 or _at_once(tests) else [[one] for one in tests]
    drafts = [_completed(copy.deepcopy(draft), run) for run in runs]
    for one, trips in itertools.product(drafts, pings):
        ping.add_path(trips, one)
    return drafts


def _check_size(source: Source) -> None:
    """Reject a text that takes long to read; JSON may be larger. Raises ScenarioError."""
    if len(source.text) > _MOST_TEXT and not _is_json(source):
        raise source.error("", phrase("files.too_large", most=_MOST_TEXT // 2**20))


def _hostapd(source: Source) -> Draft:
    """Return the draft of hostapd.conf; reject a text of an unknown kind."""
    words = [line.split("#")[0].strip() for line in source.text.splitlines()]
    lines = [line for line in words if line]
    if 2 * sum(re.match(r"[\w.-]+=", line) is not None for line in lines) < len(lines):
        hint = _IPERF3.search(source.text)
        run = "run iperf3 with -J; " if hint else ""
        raise source.error("line 1", phrase("files.unknown_kind", run=run, kinds=KINDS))
    return read_hostapd(source)


def _at_once(tests: Sequence[Node]) -> bool:
    """Whether all tests overlapped for at least half of the shortest one."""
    spans = [iperf3.span_s(one) if iperf3.is_iperf3(one) else None for one in tests]
    known = [span for span in spans if span is not None]
    if len(known) < len(tests):
        return False
    shared = min(end for _, end in known) - max(begin for begin, _ in known)
    return shared > 0.5 * min(end - begin for begin, end in known)


def measurement_of(path: Path) -> Measurement:
    """Return the measured values of a file. Raises ScenarioError."""
    if is_capture(path):
        raise ScenarioError(str(path), "", phrase("files.capture_measured") + _WITH)
    source = read(path)
    _check_size(source)
    if is_table(source):
        return read_table(source)
    if ping.is_ping(source):
        return ping.measurement(ping.read_ping(source))
    if iw.is_iw(source):
        return iw.measurement(source)
    if not _is_json(source):
        raise source.error("", phrase("files.no_measurement", with_=_WITH))
    top = _json(source)
    return iperf3.measurement(top) if iperf3.is_iperf3(top) else flent.measurement(top)


def measurement_of_all(paths: Sequence[Path]) -> Measurement:
    """Return the values of several files as one measurement.

    Raises ScenarioError for an invalid file, QuestionError for a value in two files.
    """
    told = [measurement_of(path) for path in paths]
    return told[0] if len(told) == 1 else together(told)


def _is_json(source: Source) -> bool:
    # Logs of ping -D begin with a time in brackets.
    return re.match(r"\s*(\{|\[\s*[{\[\]\"])", source.text) is not None


def _is_status(source: Source) -> bool:
    """Whether a text is the state of OpenWrt's radios."""
    return '"interfaces"' in source.text and is_status(parse_json(source))


def _json(source: Source) -> Node:
    """Return the JSON of a supported program. Raises ScenarioError."""
    top = iperf3.parse_stream(source) if iperf3.is_stream(source) else parse_json(source)
    if not (iperf3.is_iperf3(top) or flent.is_flent(top)):
        raise source.error("", phrase("files.unknown_json"))
    return top


def _completed(draft: Draft | None, tests: Sequence[Node]) -> Draft:
    """Return the draft with stations, and with flows of tests or a guess."""
    if draft is None:
        draft = Draft()
        draft.say("phy", "standard", "802.11ax", _GUESS)
        draft.unknown.append(phrase("files.no_radio"))
    if not draft.groups:
        draft.say("stations", "name", "station", "")
        draft.say("stations", "count", 1, phrase("files.one_program") if tests else _GUESS)
    # Keys of runs come last.
    names = [one["name"].value for one in draft.groups if "traffic" not in one["count"].why]
    names = names or ["station"]
    for name in () if tests else names:
        draft.flows.append(
            {
                "stations": Said(name, ""),
                "direction": Said("download", _GUESS),
                "application": Said({"kind": "bulk"}, _GUESS),
                "tcp": Said({"preset": "linux"}, _GUESS),
            }
        )
    if not tests:
        about = "traffic: each" if draft.groups else phrase("files.no_stations")
        draft.unknown.append(phrase("files.guessed_downloads", about=about))
        draft.say("run", "warmup", "2 s", _GUESS)
        draft.say("run", "duration", "20 s", _GUESS)
    for test in tests:
        draft.names.append(test.source.short)
        program = iperf3 if iperf3.is_iperf3(test) else flent
        program.add_flow(test, draft)
        draft.measured += sentences(program.measurement(test))
    draft.say("run", "replications", 10, "")
    return draft


def sentences(measurement: Measurement) -> list[str]:
    """Return the values of a measurement, one per line."""
    lines = []
    for of, values in measurement.values.items():
        for name, interval in values.items():
            about = f"{METRICS[name].label}{f' ({of})' if of else ''}"
            lines.append(f"{about}: {quantity_with_interval(interval, METRICS[name].unit)}")
    for name, count in measurement.counts.items():
        lines.append(f"{METRICS[name].label}: {count:g} in {measurement.duration_s:g} s")
    return [*lines, *measurement.others]


def together(measurements: Sequence[Measurement]) -> Measurement:
    """Return one measurement with the values of all.

    Overall values of a test with one direction become values of that direction. Event counts are
    added, over the duration of the first test that has any. Raises QuestionError for a value in two
    files.
    """
    values: dict[str, dict[str, Interval]] = {}
    counts: dict[str, float] = {}
    whose: dict[tuple[str, str], str] = {}
    duration_s = next((one.duration_s for one in measurements if one.counts), None)
    for one in measurements:
        found = {(of or one.direction): of_scope for of, of_scope in one.values.items()}
        named = {(of, name) for of, of_scope in found.items() for name in of_scope}
        named |= {(one.direction, name) for name in one.counts}
        for of, name in sorted(named):
            if (of, name) in whose:
                about = f"{METRICS[name].short}{f' of {of}' if of else ''}"
                raise QuestionError(
                    phrase(
                        "files.both_have",
                        whose=whose[of, name],
                        source=one.source,
                        about=about,
                    )
                )
            whose[of, name] = one.source
        for of, of_scope in found.items():
            values.setdefault(of, {}).update(of_scope)
        for name, count in one.counts.items():
            scaled = count * (duration_s or 1.0) / (one.duration_s or 1.0)
            counts[name] = counts.get(name, 0.0) + scaled
    return Measurement(
        ", ".join(one.source for one in measurements),
        values,
        duration_s,
        counts,
        tuple(sentence for one in measurements for sentence in one.others),
        unfollowed=tuple(condition for one in measurements for condition in one.unfollowed),
    )
