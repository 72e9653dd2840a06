"""Build the scenario of each ns-3 3.44 point under ns-3's rules, and select metrics to compare.

tests/reference/README.md describes the groups of ns3.csv. The rules are the preset
`[mac.rules] preset = "ns-3"`.
"""

from __future__ import annotations

from functools import cache

from peers.references import REFERENCE, VALIDATION, Point, by_point, read
from peers.samples import Answer, answers, metric

TABLE = read(REFERENCE / "ns3.csv") + read(VALIDATION / "ns3" / "rows.csv")
ROWS = by_point(TABLE)
RULES = 'preset = "ns-3"'

CELL = """
[phy]
standard = "802.11b"
data_rate = "11 Mb/s"
control_rate = "2 Mb/s"
preamble = "long"
mac_header_bits = {header_bits}
llc_bits = 64
[mac]
rules = {{ {rules} }}
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
start_spread = "0 s"
direction = "{direction}"
application = {{ kind = "bulk" }}
path = [{{ rate = "1 Gb/s", delay = "1 us" }}]
[flows.tcp]
variant = "sack"
mss = "1460 B"
receive_window = "65535 B"
delayed_ack = {{ every = {every}, timeout = "200 ms" }}
min_rto = "200 ms"
"""
#: ns-3's flows start 10 ms (TCP) or .1 ms (UDP) apart, 4 s before measuring.
AT_ONCE = 'start_spread = "0 s"\n'
DATAGRAMS = """
[[flows]]
name = "{name}"
stations = "station"
{spread}direction = "{direction}"
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
    duration: int = 100,
    rules: str = RULES,
) -> list[Answer]:
    """Return the core's results at a point, replication by replication."""
    edca = group == "tcp-upload-edca"
    if group == "udp-both-ways":
        # 600 packets of 1500 bytes per second in total; saturated stations send 40-byte packets.
        rate = f"{600 * 1500 * 8 // n} b/s"
        flows = DATAGRAMS.format(
            name="downlink", direction="download", packet=1500, rate=rate, spread=""
        )
        flows += DATAGRAMS.format(
            name="uplink", direction="upload", packet=40, rate="saturated", spread=AT_ONCE
        )
    else:
        direction = group.split("-")[1]
        flows = TCP.format(direction=direction, every=every)
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


def measured_s(point: Point) -> int:
    """Return the simulated time of a point in seconds."""
    return 60 if point.group in ("udp-both-ways", "tcp-upload-edca") else 100


def at(point: Point, rules: str = RULES) -> list[Answer]:
    """Return the results at a point of the table."""
    names = ("n", "every", "ap_queue")
    given = {name: int(point.settings[name]) for name in names if name in point.settings}
    return run(point.group, duration=measured_s(point), rules=rules, **given)


def exchanges(runs: list[Answer], senders: str) -> list[int]:
    """Return the successful exchanges of the AP (`ap`) or all stations, by replication."""
    nodes = slice(0, 1) if senders == "ap" else slice(1, None)
    return [sum(node["successes"] for node in answer["stations"][nodes]) for answer in runs]


def sample(runs: list[Answer], name: str) -> list[float]:
    """Return a metric of each replication, by its name in the table."""
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
    """Return the metrics of a point under ns-3's rules, with one number per replication."""
    runs = at(point)
    found = {}
    for name in ROWS[point]:
        kind, _, senders = name.partition(" ")
        if kind == "exchanges_per_s":
            found[name] = [count / measured_s(point) for count in exchanges(runs, senders)]
        else:
            found[name] = sample(runs, name)
    return found
