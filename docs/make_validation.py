"""Make the tables of docs/validation.md: simulation against Bianchi's model and against ns-2.

Knows: the scenarios behind the tables, and the markers on the page between which they stand. Takes
ns-2's numbers from tests/reference/ns2.csv and all others from the installed airtcp; scenarios
and seeds are fixed, so that whoever runs this gets the same tables.

    .venv/bin/python docs/make_validation.py
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from airtcp import compare, simulate
from airtcp.metrics import percent
from airtcp.results import SimulationResult
from airtcp.scenario import loads
from airtcp.stats import Interval, student_interval

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "validation.md"
NS2_ROWS = ROOT / "tests" / "reference" / "ns2.csv"

SENDERS = (1, 2, 5, 10, 20, 50)
#: How five endless downloads begin: slow-start threshold in segments, least RTO and warm-up in s.
BEGINNINGS = (
    (20, 0.2, 135),
    (1000, 0.2, 135),
    (1000, 0.2, 5000),
    (1000, 60, 135),
    (1000, 60, 5000),
)

_SATURATED = """
title = "Saturated senders"
[phy]
standard = "802.11b"
[mac]
rules = {{ preset = "{preset}" }}
[[stations]]
name = "sender"
count = {count}
[[flows]]
stations = "sender"
direction = "upload"
application = {{ kind = "udp", packet = "1500 B", rate = "saturated" }}
[run]
warmup = "2 s"
duration = "60 s"
replications = 10
seed = 1
"""

#: What ns-2 2.35 does: validation/ns2/README.md.
_NS2 = """
title = "As in ns-2"
[phy]
standard = "802.11b"
cw_min = 30
cw_max = 1022
mac_header_bits = 272
llc_bits = 0
symbol_rounding = false
propagation_delay = "{delay_ns} ns"
[mac]
rts_threshold = "0 B"
rules = {{ preset = "ns-2" }}
[[stations]]
name = "station"
count = {count}
[[flows]]
stations = "station"
direction = "download"
application = {application}
[flows.tcp]
mss = "1000 B"
receive_window = {{ segments = {window} }}
initial_window = 1
initial_ssthresh = {{ segments = {ssthresh} }}
handshake = "two-way"
initial_rto = "{initial_rto_s} s"
min_rto = "{min_rto_s} s"
clock_granularity = "10 ms"
delayed_ack = {{ every = 1 }}
pad_last_segment = true
[run]
warmup = "{warmup_s} s"
duration = "{duration_s} s"
replications = {replications}
seed = 1
"""

_ENDLESS = '{ kind = "bulk", start = { distribution = "uniform", low = "0 s", high = "0.1 s" } }'
_WEB = (
    '{{ kind = "web", size = {{ distribution = {law}, mean = "30 kB" }}, '
    'think_time = {{ distribution = "exponential", mean = "10 s" }} }}'
)
_LAWS = {"exp": '"exponential"', "pareto": '"pareto", shape = 1.5'}

#: How long light takes, in nanoseconds, for the distances in metres of the table.
_DELAYS_NS = {"10m": 33, "100m": 334}


def saturated_table() -> str:
    """Collision probability and goodput of saturated senders, in Markdown."""
    lines = [
        "| n | P, model | P, its rules | P, standard | Mb/s, model | Mb/s, its rules | "
        "Mb/s, standard |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for count in SENDERS:
        plain = compare(loads(_SATURATED.format(preset="bianchi", count=count)))
        standard = simulate(loads(_SATURATED.format(preset="standard", count=count)))
        model = plain.model
        cells = [
            str(count),
            f"{model['collision_probability'][0].value:.4f}",
            _shown(plain.simulation.metrics["collision_probability"], 4),
            _shown(standard.metrics["collision_probability"], 4),
            f"{model['goodput_bps'][0].value / 1e6:.3f}",
            _shown(plain.simulation.metrics["goodput_bps"], 3, 1e6),
            _shown(standard.metrics["goodput_bps"], 3, 1e6),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def ns2_table() -> str:
    """Each stored point of ns-2 beside airtcp on the same scenario, in Markdown."""
    lines = [
        "| scenario | metric | ns-2 | airtcp | difference |",
        "| --- | --- | --- | --- | --- |",
    ]
    for point, rows in _ns2_points():
        result = simulate(loads(_scenario(point)))
        name = _name(point)
        for metric, theirs in rows.items():
            if metric == _ADJUSTED:
                ours = _adjusted_time(result, _MEAN_PACKETS[point["dist"]])
            else:
                ours = result.metrics[metric]
            assert ours.mean is not None
            if metric == "goodput_bps":
                shown = [_shown(theirs, 4, 1e6) + " Mb/s", _shown(ours, 4, 1e6) + " Mb/s"]
                difference = percent(ours.mean / theirs.mean - 1.0, signed=True)
            elif metric.endswith("_s"):
                shown = [_shown(theirs, 1, 1e-3) + " ms", _shown(ours, 1, 1e-3) + " ms"]
                difference = percent(ours.mean / theirs.mean - 1.0, signed=True)
            else:
                shown = [_shown(theirs, 4), _shown(ours, 4)]
                difference = f"{ours.mean - theirs.mean:+.4f}"
            lines.append(f"| {name} | {_LABELS[metric]} | {' | '.join(shown)} | {difference} |")
            name = ""
    return "\n".join(lines)


def beginning(ssthresh: int, min_rto_s: float, warmup_s: int, duration_s: int = 500) -> str:
    """Five endless downloads with W = 1000, a slow-start threshold in segments and a least RTO."""
    return _NS2.format(
        window=1000,
        delay_ns=_DELAYS_NS["100m"],
        count=5,
        application=_ENDLESS,
        ssthresh=ssthresh,
        min_rto_s=min_rto_s,
        initial_rto_s=max(3, min_rto_s),
        warmup_s=warmup_s,
        duration_s=duration_s,
        replications=8,
    )


def beginnings_table() -> str:
    """What five endless downloads with W = 1000 still know of how they began, in Markdown."""
    lines = [
        "| threshold | least RTO | after | P, stations | backlogged | AP queue | Jain index |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for ssthresh, min_rto_s, warmup_s in BEGINNINGS:
        measured = simulate(loads(beginning(ssthresh, min_rto_s, warmup_s))).metrics
        cells = [
            f"{ssthresh} segments",
            f"{min_rto_s:g} s",
            f"{warmup_s} s",
            _shown(measured["collision_probability_stations"], 4),
            _shown(measured["mean_backlogged_nodes"], 3),
            _shown(measured["ap_queue_packets"], 0),
            f"{measured['jain_index'].mean:.4f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


_ADJUSTED = "transfer_time_to_last_ack_adjusted_s"
#: Metrics of the table, and what they are called on the page.
_LABELS = {
    "goodput_bps": "goodput",
    "collision_probability_ap": "P, access point",
    "collision_probability_stations": "P, stations",
    _ADJUSTED: "time to last ACK",
    "collision_probability": "P, all",
}
#: Exact mean of the packets in a file: tests/reference/README.md.
_MEAN_PACKETS = {"exp": 30.503, "pareto": 30.512}


def _adjusted_time(result: SimulationResult, mean_packets: float) -> Interval:
    """The time to the last ACK, scaled to the mean number of packets as ns2.csv has it.

    Each replication's mean time goes up by as much as its files were too small by chance. That
    takes out most of the noise of the sizes, which would hide everything else.
    """
    samples = []
    for run in result.simulation.runs:
        metrics, transfers = run.answer["metrics"], run.answer["counts"]["transfers"]
        bits = metrics["goodput_bps"] * result.scenario.run.duration_ns / 1e9
        packets = bits / (8 * 1000 * transfers)
        samples.append(metrics["transfer_time_to_last_ack_s"] * mean_packets / packets)
    return student_interval(samples)


def _ns2_points() -> Iterator[tuple[dict[str, str], dict[str, Interval]]]:
    """The points of ns2.csv: parameters, and the rows that are shown."""
    points: dict[tuple[str, str], dict[str, Interval]] = {}
    with NS2_ROWS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            shown = _LABELS.keys() - (
                {"collision_probability"} if row["group"] == "persistent" else set()
            )
            if row["metric"] in shown:
                mean, half = float(row["mean"]), float(row["ci95_half_width"])
                interval = Interval(mean, mean - half, mean + half, int(row["runs"]))
                key = (row["group"], row["parameters"])
                points.setdefault(key, {})[row["metric"]] = interval
    for (group, parameters), rows in points.items():
        fields = dict(field.split("=") for field in parameters.split())
        order = sorted(rows, key=list(_LABELS).index)
        yield {"group": group, **fields}, {metric: rows[metric] for metric in order}


def _scenario(point: dict[str, str]) -> str:
    window = int(point["W"])
    common = {
        "window": window,
        "delay_ns": _DELAYS_NS[point["r"]],
        "initial_rto_s": 3,
        "min_rto_s": 0.2,
    }
    if point["group"] == "persistent":
        count = int(point["nc"])
        return _NS2.format(
            **common,
            count=count,
            application=_ENDLESS,
            ssthresh=min(window, 20),
            warmup_s=10 if window == 1 else 60 + 15 * count,
            duration_s=200,
            replications=20,
        )
    return _NS2.format(
        **common,
        count=int(point["nsta"]),
        application=_WEB.format(law=_LAWS[point["dist"]]),
        ssthresh=window,
        warmup_s=100,
        duration_s=5_000,
        replications=20,
    )


def _name(point: dict[str, str]) -> str:
    window = f"W = {point['W']}"
    if point["group"] == "persistent":
        return f"{point['nc']} endless, {window}"
    law = {"exp": "exponential", "pareto": "Pareto"}[point["dist"]]
    return f"{point['nsta']} web, {law}, {window}, {point['r'].removesuffix('m')} m"


def _shown(interval: Interval, decimals: int, unit: float = 1.0) -> str:
    assert interval.mean is not None
    assert interval.half_width is not None
    return f"{interval.mean / unit:.{decimals}f} ± {interval.half_width / unit:.{decimals}f}"


#: The tables of the page by the name in their markers.
TABLES = {"saturated": saturated_table, "ns-2": ns2_table, "beginnings": beginnings_table}


def with_table(page: str, name: str) -> str:
    """The page with the table `name` made again."""
    pattern = re.compile(
        rf"(<!-- table {name}: begins -->\n).*?(<!-- table {name}: ends -->)", re.DOTALL
    )
    if not pattern.search(page):
        raise ValueError(f"there is no place for the table {name} on the page")
    return pattern.sub(lambda match: f"{match[1]}\n{TABLES[name]()}\n\n{match[2]}", page)


def main() -> None:
    """Write all tables."""
    page = PAGE.read_text(encoding="utf-8")
    for name in TABLES:
        page = with_table(page, name)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
