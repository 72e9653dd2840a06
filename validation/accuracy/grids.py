"""Define the small grids of scenarios on which models are compared with simulations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from accuracy.scenarios import (
    BARE,
    ENDLESS,
    UDP,
    aggregates,
    browsing,
    categories,
    cell,
    crowded_uploads,
    downloads,
    ftp,
    one_slow,
    one_transfer,
    rates,
    saturated,
    uploads,
    wired,
)


@dataclass(frozen=True, slots=True)
class Grid:
    """A grid of scenarios along one axis: `points` by their column headings.

    `why` has the reason for the differences of a source, or of one metric ("source: metric").
    """

    axis: str
    points: Mapping[str, str]
    metrics: Sequence[str]
    why: Mapping[str, str] = field(default_factory=dict)


_COLLISIONS = "collision_probability"
_CHARGED = "each collision is charged to every node in it (M4), backoff is counted twice (M3)"
_NO_DOUBLING = "its CW does not double"
_G_ANY = "counts any two equal backoffs, not the smallest alone (G2)"
_G_NEXT = "counts a collision once, where the metric counts each node in it; no backoff left over"
_LIMIT = "a limit: nobody waits for a backoff"
_B_ACKS = "a limit, without TCP ACKs"
_HALF = "half of the wait that CWmin makes"
_PS_WINDOWS = (
    "windows share the queue: equal files are served nearly one after the other, and of unequal "
    "ones the short wait behind the long"
)
_ONE_ACK = "an ACK for each segment; here one for two"
_POISSON = "stations wait for one transfer to end before the next"
_OF_TWO = "of two backlogged nodes; here the station has an ACK for every second segment alone"
_CROWDED = "a mean of backlogged nodes, blind to the crowded states"
_WINDOWS_OPEN = "windows share the queue not quite equally"
_HEAD_START = (
    "those who collided go on before those who heard it; with 500 stations also: most wait with "
    "the largest window"
)
_SMALL_WINDOWS = "who got through sends again before the others, whose windows have grown"
_UPLOADS = "stations with data contend, and collide, more than stations with TCP ACKs"
_SHORTER = (
    "the sender of the shorter of two PPDUs, and of two equal ones both, go on before those who "
    "heard the collision"
)
_EIFS = "the simulation waits EIFS after a collision"

GRIDS: dict[str, Grid] = {
    "saturated-bare": Grid(
        "stations",
        {str(n): saturated(n, BARE) for n in (1, 2, 5, 10, 20, 50)},
        ("goodput_bps", _COLLISIONS),
        {
            "Heusse et al. (2003), whole backoff": "a collision is charged to every host in it",
            "Heusse et al. (2003)": f"{_HALF}; with many hosts collisions are charged to each",
            f"Heusse et al. (2003), whole backoff: {_COLLISIONS}": _NO_DOUBLING,
            "G (1), next transmission": _G_NEXT,
            "G (1)": _G_ANY,
        },
    ),
    "saturated": Grid(
        "stations",
        {str(n): saturated(n) for n in (1, 2, 5, 10, 20, 50)},
        ("goodput_bps", _COLLISIONS),
        {
            "Bianchi (2000) (13)": _EIFS,
            "Heusse et al. (2003), whole backoff": "a collision is charged to every host in it",
            "Heusse et al. (2003)": f"{_HALF}; with many hosts collisions are charged to each",
            f"Heusse et al. (2003), whole backoff: {_COLLISIONS}": _NO_DOUBLING,
            "G (1), next transmission": _G_NEXT,
            "G (1)": _G_ANY,
        },
    ),
    "crowds": Grid(
        "saturated stations",
        {
            f"802.11{letter}, {count}": cell(f"802.11{letter}", count, rate, UDP)
            for letter, rate, counts in (
                ("b", "11 Mb/s", (20, 50, 100, 200, 500)),
                ("g", "54 Mb/s", (5, 20, 50, 200)),
            )
            for count in counts
        },
        ("goodput_bps", _COLLISIONS),
        {
            "Bianchi, Tinnirello (2005)": _HEAD_START,
            "Bianchi (2000) (13)": f"{_EIFS}; {_HEAD_START}",
            "Bianchi (2000) (9)": _HEAD_START,
            "Heusse et al. (2003), whole backoff": "a collision is charged to every host in it",
            "Heusse et al. (2003)": f"{_HALF}; with many hosts collisions are charged to each",
            f"Heusse et al. (2003), whole backoff: {_COLLISIONS}": _NO_DOUBLING,
            "G (1), next transmission": _G_NEXT,
            "G (1)": _G_ANY,
        },
    ),
    "small-windows": Grid(
        "CWmin of 6 saturated stations",
        {
            str(low): cell("802.11b", 6, "11 Mb/s", UDP, cw_min=low, cw_max=1023)
            for low in (1, 3, 7, 15)
        },
        ("goodput_bps", _COLLISIONS),
        {
            "Bianchi, Tinnirello (2005)": _SMALL_WINDOWS,
            "Bianchi (2000) (13)": _SMALL_WINDOWS,
            "Bianchi (2000) (9)": _SMALL_WINDOWS,
            "Heusse et al. (2003), whole backoff": "a collision is charged to every host in it",
            "Heusse et al. (2003)": f"{_HALF}; CW stays CWmin",
            f"Heusse et al. (2003), whole backoff: {_COLLISIONS}": _NO_DOUBLING,
            "G (1), next transmission": _G_NEXT,
            "G (1)": _G_ANY,
        },
    ),
    "rates": Grid(
        "fast stations",
        {str(n): rates(n) for n in (1, 2, 4, 9, 19)},
        ("goodput_bps", "jain_index"),
        {
            "Bianchi (2000) (13)": _EIFS,
            "Heusse et al. (2003), whole backoff": "a collision is charged to every host in it",
            "Heusse et al. (2003)": f"{_HALF}; with many hosts collisions are charged to each",
        },
    ),
    "categories": Grid(
        "access point and five stations",
        {
            "alike": categories((2, 31, 1023), (2, 31, 1023)),
            "AIFSN 2 and 3": categories((2, 31, 1023), (3, 31, 1023)),
            "CW 15–63 and 31–1023": categories((2, 15, 63), (2, 31, 1023)),
            "AIFSN 2 and 4, CW 15–1023 and 63–1023": categories((2, 15, 1023), (4, 63, 1023)),
            "AIFSN 2 and 7, CW 7–15 and 31–1023": categories((2, 7, 15), (7, 31, 1023)),
        },
        ("goodput_bps", "jain_index", "collision_probability_ap", "collision_probability_stations"),
        {
            "Ramaiyan et al. (2008)": "a node sends in any slot with the same probability; a small "
            "window ends, so that whoever waits for its last slots meets an attempt there",
            "Bianchi (2000) (13)": _EIFS,
            "Heusse et al. (2003)": _HALF,
        },
    ),
    "downloads": Grid(
        "downloads, W = 1",
        {str(n): downloads(n, 1, 1, BARE) for n in (1, 2, 5, 20, 100)},
        ("goodput_bps", _COLLISIONS),
        {
            "M (7)": "W = 1: access point and station never contend",
            "M (7), corrected": "W = 1: access point and station never contend",
            "M (6)": "W = 1: access point and station never contend",
            "M (6), corrected": "W = 1: access point and station never contend",
            "M (10)": _CHARGED,
            "M (2)": _CROWDED,
            "M (2), corrected": _CROWDED,
            "M (2) over (9)": "(9) has stations backlogged independently; few are not",
            "Heusse et al. (2003), TCP, whole backoff": "one contender at a time",
            "Heusse et al. (2003), TCP": _HALF,
            "B, section 2, with TCP ACKs": _LIMIT,
            "B, section 2": _B_ACKS,
        },
    ),
    "windows": Grid(
        "downloads, W = 44, d = 2",
        {str(n): downloads(n, 44, 2, "") for n in (1, 2, 5, 20)},
        ("goodput_bps", _COLLISIONS),
        {
            "M (8)": _CHARGED,
            "M (12)": _CHARGED,
            "M (2)": _CROWDED,
            "M (2), corrected": _CROWDED,
            "M (2) over (9)": "W = d: with large windows stations collide less",
            "M (6)": _OF_TWO,
            "M (6), corrected": _OF_TWO,
            "M (6) over (8)": "a backoff goes on from where it was, which spreads the attempts",
            "Heusse et al. (2003), TCP": _HALF,
            "Heusse et al. (2003), TCP, whole backoff": "one contender at a time",
            "B, section 2, with TCP ACKs": _LIMIT,
            "B, section 2": _B_ACKS,
        },
    ),
    "uploads": Grid(
        "stations, d segments for an ACK",
        {f"{n}, d = {d}": uploads(n, d) for n, d in ((2, 1), (5, 1), (10, 1), (20, 1), (10, 2))},
        ("goodput_bps", "collision_probability_stations", "jain_index"),
        {
            "L (9), L4 and L5 corrected": "the access point does not send in a random slot, but "
            "in the first one, where stations hold",
            "L, simplified model": "leaves out the stations' longer AIFS",
        },
    ),
    "plain-uploads": Grid(
        "10 endless uploads, DCF",
        {
            f"802.11{letter}, {rate}": cell(f"802.11{letter}", 10, rate, ENDLESS)
            for letter, rate in (
                ("b", "11 Mb/s"),
                ("b", "2 Mb/s"),
                ("g", "54 Mb/s"),
                ("g", "24 Mb/s"),
                ("a", "54 Mb/s"),
            )
        },
        ("goodput_bps",),
        {
            "M (12), corrected": _UPLOADS,
            "M (12)": _UPLOADS,
            "Heusse et al. (2003), TCP": _HALF,
            "Heusse et al. (2003), TCP, whole backoff": _UPLOADS,
            "B, section 2, with TCP ACKs": _LIMIT,
            "B, section 2": _B_ACKS,
        },
    ),
    "wired": Grid(
        "ms of delay that one upload has more than the other",
        {f"{ms}": wired(ms) for ms in (0, 20, 60, 180)},
        ("goodput_bps", "jain_index"),
        {
            "L, section 5.1": "equal loss probabilities: the flow with more packets in the queue "
            "loses more often (L10)",
            "L (9)": "the wired link is the bottleneck",
            "L (9), L4 and L5 corrected": "the wired link is the bottleneck",
            "L, simplified model": "the wired link is the bottleneck",
        },
    ),
    "web": Grid(
        "stations",
        {str(n): browsing(n, "30 kB", 5, 1, 1) for n in (1, 5, 20, 40)},
        ("transfer_time_s", "transfer_time_to_last_ack_s", "goodput_bps", "active_flows"),
        {
            "M (17)": _CHARGED,
            "H (19), few sources": "two segments at a time and an ACK for both; here one each",
            "H (29)": f"{_POISSON}; two segments at a time",
        },
    ),
    "load": Grid(
        "think time in s",
        {f"{s}": browsing(100, "200 kB", s, 6, 2) for s in (150, 75, 50, 40)},
        (
            "transfer_time_s",
            "transfer_time_to_last_ack_s",
            "active_flows",
            "transfer_time_p50_s",
            "transfer_time_p90_s",
            "transfer_time_p99_s",
        ),
        {
            "M (17)": _ONE_ACK,
            "M (17), corrected": "W = 1: here access point and station contend, so that backoffs "
            "overlap",
            "H (29)": _POISSON,
            "H (26), few sources": "sharing by windows is not quite equal",
            "H (26)": "sharing by windows is not quite equal; stations are not endlessly many",
        },
    ),
    "ftp": Grid(
        "s between transfers",
        {f"{s}": ftp(s) for s in (1.5, 0.75, 0.6, 0.5)},
        (
            "transfer_time_s",
            "active_flows",
            "transfer_time_p50_s",
            "transfer_time_p90_s",
            "transfer_time_p99_s",
        ),
        {
            "M (16), Poisson arrivals": "the dialogue and the set-up wait for nobody",
            "H (26)": _WINDOWS_OPEN,
            "H (26), H2 corrected": _WINDOWS_OPEN,
        },
    ),
    "aggregates-udp": Grid(
        "senders, 802.11n, ac, ax",
        {
            "n, 1": aggregates("n", 1, UDP),
            "n, 1, 10 % lost": aggregates("n", 1, UDP, errors="10 %"),
            "ac, 1, 10 % lost": aggregates("ac", 1, UDP, errors="10 %"),
            "ax, 1, 30 % lost": aggregates("ax", 1, UDP, errors="30 %"),
            "n, 5": aggregates("n", 5, UDP),
            "ac, 20": aggregates("ac", 20, UDP),
            "ax, 50": aggregates("ax", 50, UDP),
        },
        ("goodput_bps", _COLLISIONS),
        {
            "Bianchi (2000), A-MPDUs": _SHORTER,
            f"Bianchi (2000), A-MPDUs: {_COLLISIONS}": _SHORTER,
        },
    ),
    "aggregates-tcp": Grid(
        "transfers, 802.11n, ac, ax",
        {
            "n, 1 down": aggregates("n", 1, ENDLESS, "download"),
            "n, 20 down": aggregates("n", 20, ENDLESS, "download"),
            "ac, 1 down": aggregates("ac", 1, ENDLESS, "download"),
            "ac, 5 down": aggregates("ac", 5, ENDLESS, "download"),
            "ax, 20 down": aggregates("ax", 20, ENDLESS, "download"),
            "n, 5 up": aggregates("n", 5, ENDLESS),
            "ac, 20 up": aggregates("ac", 20, ENDLESS),
        },
        ("goodput_bps", "collision_probability_ap", "collision_probability_stations"),
        {
            "TCP over A-MPDUs (A9)": "a window of one and a half PPDUs leaves the access point "
            "with less to send, and stations more often with something",
            "TCP over A-MPDUs, no ACK access": _B_ACKS,
        },
    ),
    "aggregates-uploads": Grid(
        "stations and segments of their windows",
        {
            f"{count}, {window}": crowded_uploads(count, window)
            for count in (5, 20)
            for window in (22, 44, 176)
        },
        ("goodput_bps", "collision_probability_ap", "collision_probability_stations"),
        {
            "TCP over A-MPDUs (A9)": "with windows of several PPDUs stations have something to "
            "send more often than the model takes them to, and more frames collide",
            "TCP over A-MPDUs, no ACK access": _B_ACKS,
        },
    ),
    "aggregates-rates": Grid(
        "three stations at MCS 7, one at MCS 0",
        {
            "down, oldest first": one_slow("download"),
            "down, round robin": one_slow("download", "round-robin"),
            "down, airtime": one_slow("download", "airtime"),
            "up": one_slow("upload"),
        },
        ("goodput_bps", "jain_index"),
        {
            "TCP over A-MPDUs (A9)": "takes PPDUs to be as full and as long as among stations of "
            "one kind",
            "TCP over A-MPDUs, no ACK access": _B_ACKS,
        },
    ),
    "tails": Grid(
        "law of sizes",
        {
            name: browsing(10, "300 kB", 10, 44, 2, law, 10_000)
            for name, law in (
                ("equal", '"deterministic"'),
                ("exponential", '"exponential"'),
                ("Pareto, shape 2.5", '"pareto", shape = 2.5'),
                ("Pareto, shape 1.5", '"pareto", shape = 1.5'),
            )
        },
        ("transfer_time_s", "goodput_bps", "active_flows"),
        {
            "M (17), corrected": _PS_WINDOWS,
            "M (17)": f"{_PS_WINDOWS}; {_ONE_ACK}",
            "H (19), few sources": _PS_WINDOWS,
            "H (29)": _POISSON,
        },
    ),
    "alone": Grid(
        "one transfer",
        {
            f"{size}, W = {window}": one_transfer(size, window)
            for size, window in (("10 kB", 2), ("100 kB", 2), ("10 kB", 44), ("1 MB", 44))
        },
        ("transfer_time_s", "transfer_time_to_last_ack_s"),
        {
            "M (14)": f"{_ONE_ACK}, and a timer for the last one",
            "M (14), corrected": "access point and station take turns; with W = 44 they contend, "
            "and backoffs overlap",
            "H (19)": "the last cycle has X_MSS/2 on average, whatever the file; with W = 2 nobody "
            "contends",
        },
    ),
}
