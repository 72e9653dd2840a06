"""Compare methods that send fewer TCP ACKs, or send them first, on common random numbers.

Every method has the same seeds, so any difference is due to the method.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from airtcp.airtime import mpdu_bits, ppdu_ns
from airtcp.models.max_throughput import maximum_throughput, mean_backoff_s
from airtcp.run.simulate import simulate
from airtcp.scenario import ResolvedScenario, loads
from airtcp.stats import Interval, student_interval

STANDARDS = ("802.11b", "802.11g", "802.11n")
DIRECTIONS = ("download", "upload")
COUNTS = (1, 5)
REPLICATIONS = 4
MSS_BYTES = 1460

SCENARIO = """
[phy]
standard = "{standard}"
{mac}
[ap]
queue = {{ limit = 300{queue} }}
[links.wire]
rate = "1 Gb/s"
delay = "5 ms"
[[stations]]
name = "sta"
count = {count}
queue = {{ limit = 300{queue} }}
[[flows]]
stations = "sta"
start_spread = "0 s"
direction = "{direction}"
application = {{ kind = "bulk" }}
path = ["wire"]
tcp = {{ {sender}, receive_window = "256 KiB"{tcp} }}
[run]
warmup = "2 s"
duration = "8 s"
replications = {replications}
seed = 1
"""

#: TCP ACKs in AC_VO: AIFSN 2 and CW 3 to 7, one frame per access. Data contend as before: by DIFS
#: and CWmin or, in 802.11n, as in AC_BE.
PRIORITY = """
[mac]
classify = { tcp_ack = "AC_VO" }
[mac.edca.ap]
AC_VO = { aifsn = 2, cw_min = 3, cw_max = 7, txop_limit = "0 us" }
AC_BE = { aifsn = %(aifsn)s, cw_min = %(cw_min)s, cw_max = %(cw_max)s, txop_limit = "0 us" }
[mac.edca.stations]
AC_VO = { aifsn = 2, cw_min = 3, cw_max = 7, txop_limit = "0 us" }
AC_BE = { aifsn = %(aifsn)s, cw_min = %(cw_min)s, cw_max = 1023, txop_limit = "0 us" }
"""
#: AIFSN, CWmin and CWmax of the access point's data.
DATA = {"802.11b": (2, 31, 1023), "802.11g": (2, 15, 1023), "802.11n": (3, 15, 63)}

#: The methods, and their additions to TCP, to the queues, and to the MAC.
BASE = "an ACK for every two segments"
WAYS: Mapping[str, tuple[str, str, str]] = {
    BASE: ("", "", ""),
    "an ACK for every segment": (", delayed_ack = { every = 1 }", "", ""),
    "an ACK for every eight": (", delayed_ack = { every = 8 }", "", ""),
    "G: one of two ACKs left out": (", ack_skip = { skip = 1, after_segment = 50 }", "", ""),
    "G: three of four left out": (", ack_skip = { skip = 3, after_segment = 50 }", "", ""),
    "TACK, four in a least round trip": (", tack = { every = 2, beta = 4 }", "", ""),
    "L: ACKs go first (AC_VO)": ("", "", PRIORITY),
    "ACK filter": ("", ", ack_filter = true", ""),
    "ACK filter, aggressive": ("", ', ack_filter = "aggressive"', ""),
}


#: The sender of most comparisons, and an alternative.
SACK = 'variant = "sack"'
BBR = 'congestion = "bbr"'


def written(standard: str, direction: str, count: int, way: str, sender: str = SACK) -> str:
    """Return the scenario of a method in the format of a scenario file."""
    tcp, queue, mac = WAYS[way]
    if mac:
        mac %= dict(zip(("aifsn", "cw_min", "cw_max"), DATA[standard], strict=True))
    return SCENARIO.format(
        standard=standard,
        direction=direction,
        count=count,
        sender=sender,
        tcp=tcp,
        queue=queue,
        mac=mac,
        replications=REPLICATIONS,
    )


def goodputs(
    standard: str, direction: str, count: int, way: str, sender: str = SACK
) -> list[float]:
    """Simulate a method. Return the goodput of each replication in bit/s."""
    result = simulate(loads(written(standard, direction, count, way, sender)), threads=1)
    return [float(run.answer["metrics"]["goodput_bps"]) for run in result.simulation.runs]


def without_acks_bps(scenario: ResolvedScenario) -> float:
    """Return the goodput of one sender without TCP ACKs: only the MAC responds."""
    phy, group = scenario.phy, scenario.stations[0]
    msdu = 8 * (MSS_BYTES + 40)
    rules = scenario.mac.edca
    aifs_ns = phy.difs_ns if rules is None else rules.stations["AC_BE"].aifs_ns
    mpdus, data_ns = 1, int(ppdu_ns(phy, mpdu_bits(phy, msdu), group.data_rate))
    answer_bits = phy.ack_bits
    aggregation = scenario.mac.aggregation
    if aggregation is not None:
        # Subframes of a delimiter and an MPDU, all but the last padded to 4 bytes.
        mpdu = int(mpdu_bits(phy, msdu)) // 8 + 4
        answer_bits = 256
        for n in range(1, aggregation.block_ack_window + 1):
            psdu = (n - 1) * -(-mpdu // 4) * 4 + mpdu
            time_ns = int(ppdu_ns(phy, 8 * psdu, group.data_rate))
            if psdu <= aggregation.ampdu_bytes and time_ns <= aggregation.ppdu_time_ns:
                mpdus, data_ns = n, time_ns
    answer_ns = int(ppdu_ns(phy, answer_bits, group.control_rate))
    exchange_s = (data_ns + phy.sifs_ns + answer_ns) / 1e9
    backoff_s = float(mean_backoff_s(phy.cw_min + 1, phy.slot_time_ns / 1e9))
    payload = 8 * MSS_BYTES * mpdus
    return float(maximum_throughput(payload, aifs_ns / 1e9, backoff_s, exchange_s))


#: Goodput in Mb/s with TACK and with BBR's delayed ACKs, as its authors measured on hardware.
MEASURED = {"802.11b": (6.0, 5.4), "802.11g": (23.5, 19.0), "802.11n": (198.0, 155.0)}


def gain_percent(ours: Sequence[float], base: Sequence[float]) -> Interval:
    """Compare replications pairwise, in percent."""
    pairs = zip(ours, base, strict=True)
    return student_interval([100.0 * (one / other - 1.0) for one, other in pairs], 0.95)
