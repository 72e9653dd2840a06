"""Build the scenario of each ns-2 2.35 point under ns-2's rules, and select metrics to compare.

tests/reference/README.md describes the groups of ns2.csv, and validation/ns2/README.md how
ns-2 deviates from the standard.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from peers.references import REFERENCE, VALIDATION, Point, Row, by_point, read
from peers.samples import Answer, answers, metric, packets_per_transfer, ratio_adjusted


def _compared(rows: list[Row]) -> list[Row]:
    """Drop the collisions of stalled uploads, which are mostly of routing broadcasts."""
    stalled = {
        row.point for row in rows if row.metric == "finished_flows" and row.reference.mean == 0.0
    }
    return [
        row for row in rows if row.point not in stalled or row.metric != "collision_probability"
    ]


TABLE = _compared(read(REFERENCE / "ns2.csv") + read(VALIDATION / "ns2" / "rows.csv"))
ROWS = by_point(TABLE)

MSS_BYTES = 1000
COLLISION_PROBABILITIES = (
    "collision_probability",
    "collision_probability_ap",
    "collision_probability_stations",
)
TO_LAST_ACK = "transfer_time_to_last_ack_s"
ADJUSTED = "transfer_time_to_last_ack_adjusted_s"

#: File size distributions, and the exact mean of their whole packets.
SIZES = {
    "pareto": ('{ distribution = "pareto", mean = "30 kB", shape = 1.5 }', 30.512),
    "exp": ('{ distribution = "exponential", mean = "30 kB" }', 30.503),
}
#: Slow-start threshold of endless downloads with a large window, in packets; see
#: validation/ns2/README.md.
DEFAULT_SSTHRESH = 20
ENDLESS_S, FILES_S = 200, 3_000
#: Endless downloads start within 0.1 s.
ENDLESS = '{ kind = "bulk", start = { distribution = "uniform", low = "0 s", high = "0.1 s" } }'
#: ACK thresholds of the receiver in the row with `dyn=1`, in packets counted from 1.
DYNAMIC = "thresholds = [[0, 1], [2, 2], [5, 3], [9, 4]]"
VARIANTS = {"Newreno": "newreno", "Agent/TCP": "reno"}

CELL = """
[phy]
standard = "802.11b"
data_rate = "11 Mb/s"
control_rate = "2 Mb/s"
preamble = "long"
symbol_rounding = false
cw_min = 30
cw_max = 1022
mac_header_bits = 272
llc_bits = 0
rts_bits = 160
"""
DOWNLOAD = (
    CELL
    + """
[mac]
rts_threshold = "0 B"
short_retry_limit = 7
rules = {{ preset = "ns-2" }}
[ap]
queue = {{ {ap_queue} }}
[[stations]]
name = "node"
count = {stations}
[[flows]]
stations = "node"
start_spread = "0 s"
direction = "download"
application = {application}
[flows.tcp]
variant = "{variant}"
mss = "1000 B"
receive_window = {{ segments = {window} }}
initial_window = {initial_window}
initial_ssthresh = {{ segments = {ssthresh} }}
delayed_ack = {{ {delayed_ack} }}
handshake = "two-way"
min_rto = "{min_rto} s"
initial_rto = "{initial_rto} s"
clock_granularity = "10 ms"
pad_last_segment = true
[run]
warmup = "{warmup} s"
duration = "{duration} s"
replications = {replications}
seed = 1
"""
)
_DOWNLOAD_DEFAULTS = {
    "ap_queue": "",
    "variant": "newreno",
    "initial_window": 1,
    "delayed_ack": "every = 1",
    "min_rto": 0.2,
    "initial_rto": 3,
}
# Segments include the routing header, ACKs do not. So 1020 bytes count as 1000.
UPLOAD = (
    CELL.replace('control_rate = "2 Mb/s"', 'control_rate = "1 Mb/s"')
    + """
[mac]
short_retry_limit = {retries}
rules = {{ preset = "ns-2" }}
[ap]
queue = {{ limit = 50 }}
[[stations]]
name = "node"
count = {stations}
queue = {{ limit = 50 }}
[[flows]]
stations = "node"
start_spread = "0 s"
direction = "upload"
application = {{ kind = "bulk", size = "{size} kB" }}
path = [{{ rate = "100 Mb/s", delay = "{delay}", queue = 50 }}]
[flows.tcp]
variant = "reno"
mss = "1020 B"
receive_window = "1 GB"
initial_window = 1
initial_ssthresh = {{ segments = 20 }}
delayed_ack = {{ every = 1 }}
ack_skip = {{ skip = {skip}, after_segment = 50 }}
rules = {{ preset = "{rules}" }}
handshake = "two-way"
min_rto = "{min_rto} s"
initial_rto = "3 s"
max_rto = "64 s"
clock_granularity = "10 ms"
[run]
warmup = "0 s"
duration = "1000 s"
replications = 40
seed = 1
"""
)


def download(**fields: object) -> str:
    """Return a cell of downloads, by the fields of `DOWNLOAD`."""
    return DOWNLOAD.format(**(_DOWNLOAD_DEFAULTS | fields))


@cache
def endless(
    stations: int,
    window: int,
    delayed_ack: str = "every = 1",
    ssthresh: int | None = None,
) -> list[Answer]:
    """Return downloads of the groups `persistent` and `delayed-ack`."""
    text = download(
        stations=stations,
        application=ENDLESS,
        window=window,
        ssthresh=ssthresh or min(window, DEFAULT_SSTHRESH),
        delayed_ack=delayed_ack,
        warmup=10 if window <= 8 else 60 + 15 * stations,
        duration=ENDLESS_S,
        replications=10,
    )
    return answers(text)


@cache
def files(
    stations: int,
    window: int,
    sizes: str,
    think: str,
    *,
    delayed_ack: str = "every = 1",
    initial_window: int = 1,
    ap_queue: str = "",
    variant: str = "newreno",
) -> list[Answer]:
    """Return users of the groups `web`, `single` and `finite-buffer`; each file resets its agent.

    A web user gets about 300 files in 3000 s.
    """
    think_time = f'{{ distribution = "exponential", mean = "{think} s" }}'
    text = download(
        stations=stations,
        application=f'{{ kind = "web", size = {SIZES[sizes][0]}, think_time = {think_time} }}',
        window=window,
        ssthresh=window,
        delayed_ack=delayed_ack,
        initial_window=initial_window,
        ap_queue=ap_queue,
        variant=variant,
        warmup=100,
        duration=FILES_S,
        replications=20,
    )
    return answers(text)


@cache
def uploads(
    stations: int,
    million_bytes: int,
    retries: str,
    skip: int,
    min_rto: str,
    delay: str,
    rules: str = "ns-2",
) -> list[Answer]:
    """Return uploads of the group `upload-ack-skip`, with ns-2's TCP or another."""
    text = UPLOAD.format(
        stations=stations,
        size=1020 * million_bytes,
        retries={"on": 7, "off": 1}[retries],
        skip=skip,
        min_rto=min_rto,
        delay=delay,
        rules=rules,
    )
    return answers(text)


def adjusted(runs: list[Answer], sizes: str) -> list[float]:
    """Return the time to the last ACK by replication, scaled to files of the exact mean length."""
    packets = packets_per_transfer(MSS_BYTES, FILES_S)
    return ratio_adjusted(runs, TO_LAST_ACK, packets, SIZES[sizes][1])


def upload_goodput(run: Answer) -> float:
    """Return the goodput of an upload: its bytes over its time, or the bytes that arrived.

    The routing header of 20 bytes per packet is no payload.
    """
    (flow,) = run["flows"]
    if flow["transfers"]:
        return 80e6 / float(run["metrics"]["transfer_time_s"])
    return float(flow["goodput_bps"]) / 1.02


def finished(run: Answer) -> float:
    """Return the fraction of uploads that completed."""
    return float(sum(flow["transfers"] for flow in run["flows"]) / len(run["flows"]))


def _persistent(point: Point) -> dict[str, list[float]]:
    given = point.settings
    every = int(given["d"])
    policy = "every = 1" if every == 1 else f'every = {every}, timeout = "100 ms"'
    runs = endless(int(given["nc"]), int(given["W"]), policy)
    return {
        name: metric(runs, name) for name in (*COLLISION_PROBABILITIES, "goodput_bps", "jain_index")
    }


def of_files(point: Point) -> list[Answer]:
    """Return the results at a point of the groups with files."""
    given = point.settings
    policy, more = "every = 1", {}
    if "tau" in given:
        timeout = f'timeout = "{given["tau"]} s"'
        every = DYNAMIC if given.get("dyn") == "1" else f"every = {given['d']}"
        policy = f"{every}, {timeout}"
        more["initial_window"] = int(given["winit"])
    return files(
        int(given["nsta"]),
        int(given["W"]),
        given["dist"],
        given["think"],
        delayed_ack=policy,
        ap_queue=f"limit = {given['bufAP']}" if "bufAP" in given else "",
        variant=VARIANTS[given.get("tcp", "Newreno")],
        **more,
    )


def _files(point: Point) -> dict[str, list[float]]:
    runs = of_files(point)
    names = (*COLLISION_PROBABILITIES, "transfer_time_s", TO_LAST_ACK)
    return {
        **{name: metric(runs, name) for name in names},
        ADJUSTED: adjusted(runs, point.settings["dist"]),
    }


def of_uploads(point: Point, rules: str = "ns-2") -> list[Answer]:
    """Return the results at a point of the group `upload-ack-skip`."""
    given = point.settings
    return uploads(
        int(given["nf"]),
        int(given["MB"]),
        given["retries"],
        int(given["skip"]),
        given["minrto"],
        given["delay"],
        rules,
    )


def _uploads(point: Point) -> dict[str, list[float]]:
    runs = of_uploads(point)
    return {
        "goodput_bps": [upload_goodput(run) for run in runs],
        "tcp_timeouts": [float(sum(flow["timeouts"] for flow in run["flows"])) for run in runs],
        "finished_flows": [finished(run) for run in runs],
        "collision_probability": metric(runs, "collision_probability"),
    }


_GROUPS: Mapping[str, Callable[[Point], dict[str, list[float]]]] = {
    "persistent": _persistent,
    "delayed-ack": _persistent,
    "single": _files,
    "web": _files,
    "finite-buffer": _files,
    "upload-ack-skip": _uploads,
}


def samples(point: Point) -> dict[str, list[float]]:
    """Return the metrics of a point under ns-2's rules, with one number per replication."""
    return _GROUPS[point.group](point)
