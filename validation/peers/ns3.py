"""The points of ns-3 3.44: what scenario each is here, under ns-3's rules, and what to compare.

Knows the groups of tests/reference/ns3.csv and how they were made (the README there). The rules are
the preset `[mac.rules] preset = "ns-3"`.
"""

from __future__ import annotations

from functools import cache

from peers.references import FOLDER, Point, by_point, read
from peers.samples import Answer, answers, metric

TABLE = read(FOLDER / "ns3.csv")
ROWS = by_point(TABLE)

CELL = """
[phy]
standard = "802.11b"
data_rate = "11 Mb/s"
control_rate = "2 Mb/s"
preamble = "long"
mac_header_bits = {header_bits}
llc_bits = 64
[mac]
rules = {{ preset = "{rules}" }}
{edca}
[ap]
queue = {{ limit = {ap_queue} }}
[[stations]]
name = "station"
count = {n}
queue = {{ limit = {station_queue} }}
[run]
warmup = "5 s"
duration = "{duration} s"
replications = 10
seed = 1
"""
TCP = """
[[flows]]
stations = "station"
direction = "{direction}"
application = {{ kind = "bulk", start = {start} }}
path = [{{ rate = "1 Gb/s", delay = "1 us" }}]
[flows.tcp]
variant = "{variant}"
mss = "1460 B"
receive_window = "65535 B"
delayed_ack = {{ every = {every}, timeout = "200 ms" }}
min_rto = "200 ms"
{more}
"""
DATAGRAMS = """
[[flows]]
name = "{name}"
stations = "station"
direction = "{direction}"
application = {{ kind = "udp", packet = "{packet} B", rate = "{rate}" }}
"""
CATEGORY = '[mac.edca.{}]\naifsn = {}\ncw_min = {}\ncw_max = {}\ntxop_limit = "0 us"\n'
EDCA = (
    CATEGORY.format("ap.AC_VO", 2, 0, 0)
    + CATEGORY.format("ap.AC_BE", 4, 31, 1023)
    + CATEGORY.format("stations.AC_BE", 4, 31, 1023)
    + '[mac.classify]\ntcp_ack = "AC_VO"\n'
)


@cache
def run(
    group: str,
    n: int,
    *,
    every: int = 1,
    ap_queue: int = 100,
    station_queue: int = 100,
    variant: str = "sack",
    start: str = '"0 s"',
    more: str = "",
    duration: int = 100,
    rules: str = "ns-3",
) -> list[Answer]:
    """What the core says of a point, replication by replication."""
    edca = group == "tcp-upload-edca"
    if group == "udp-both-ways":
        # 600 packets of 1500 bytes a second in all, and stations that always have one of 40.
        rate = f"{600 * 1500 * 8 // n} b/s"
        flows = DATAGRAMS.format(name="downlink", direction="download", packet=1500, rate=rate)
        flows += DATAGRAMS.format(name="uplink", direction="upload", packet=40, rate="saturated")
    else:
        direction = group.split("-")[1]
        flows = TCP.format(
            direction=direction, every=every, variant=variant, start=start, more=more
        )
    text = CELL.format(
        header_bits=240 if edca else 224,
        edca=EDCA if edca else "",
        rules=rules,
        ap_queue=ap_queue,
        station_queue=station_queue,
        n=n,
        duration=duration,
    )
    return answers(text + flows)


def at(point: Point, rules: str = "ns-3") -> list[Answer]:
    """The answers to a point of the table."""
    names = ("n", "every", "ap_queue")
    given = {name: int(point.settings[name]) for name in names if name in point.settings}
    short = point.group in ("udp-both-ways", "tcp-upload-edca")
    return run(point.group, duration=60 if short else 100, rules=rules, **given)


def sample(runs: list[Answer], name: str) -> list[float]:
    """A number of each replication, by the name that it has in the table."""
    if name == "starved_flows":
        return [float(sum(flow["starved"] for flow in answer["flows"])) for answer in runs]
    if name.startswith("goodput_bps "):
        link = name.partition(" ")[2]
        return [
            sum(flow["goodput_bps"] for flow in answer["flows"] if flow["name"].startswith(link))
            for answer in runs
        ]
    return metric(runs, name)


def samples(point: Point) -> dict[str, list[float]]:
    """What airtcp says of a point under ns-3's rules: by metric, a number for each replication."""
    runs = at(point)
    return {name: sample(runs, name) for name in ROWS[point]}
