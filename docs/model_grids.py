"""The small grids of scenarios over which models stand beside simulations in model-accuracy.md.

Knows the scenarios, which metrics they are asked about, and why a model leaves the simulation where
it does. Knows no answer: `make_models.py` asks for those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Grid:
    """Scenarios along one axis: `points` by what stands above their column.

    `why` has the reason for a source or, before that, for "source: metric".
    """

    axis: str
    points: Mapping[str, str]
    metrics: Sequence[str]
    why: Mapping[str, str] = field(default_factory=dict)


_PHY = """
[phy]
standard = "802.11b"
control_rate = "2 Mb/s"
"""
#: The world of most models: a backoff before every frame, DIFS after collisions.
_BARE = '[mac]\nrules = { preset = "bianchi" }\n'


def _run(duration_s: float, replications: int = 8, warmup_s: float = 5) -> str:
    return (
        f'[run]\nwarmup = "{warmup_s:g} s"\nduration = "{duration_s:g} s"\n'
        f"replications = {replications}\nseed = 1\n"
    )


def _group(name: str, count: int, rate: str = "11 Mb/s") -> str:
    return f'[[stations]]\nname = "{name}"\ncount = {count}\ndata_rate = "{rate}"\n'


def _flow(group: str, application: str, direction: str = "download", **keys: str) -> str:
    lines = [f'stations = "{group}"', f'direction = "{direction}"', f"application = {application}"]
    if '"bulk"' in application or '"saturated"' in application:
        # Models are of what goes on for ever, and know no beginning.
        lines.append('start_spread = "0 s"')
    lines += [f"{key} = {value}" for key, value in keys.items()]
    return "[[flows]]\n" + "\n".join(lines) + "\n"


def _tcp(window: int, every: int = 2, mss: int = 1460) -> str:
    return (
        f'{{ mss = "{mss} B", initial_window = {min(4, window)}, '
        f"receive_window = {{ segments = {window} }}, delayed_ack = {{ every = {every} }} }}"
    )


_UDP = '{ kind = "udp", packet = "1500 B", rate = "saturated" }'
_ENDLESS = '{ kind = "bulk" }'


def _web(mean: str, think_s: float, law: str = '"exponential"') -> str:
    return (
        f'{{ kind = "web", size = {{ distribution = {law}, mean = "{mean}" }}, '
        f'think_time = {{ distribution = "exponential", mean = "{think_s:g} s" }} }}'
    )


def _saturated(count: int, mac: str = "") -> str:
    return _PHY + mac + _group("sta", count) + _flow("sta", _UDP, "upload") + _run(60)


def _cell(standard: str, count: int, rate: str, application: str, **phy: int) -> str:
    """Uploads in a cell of some standard, all its settings but these by default."""
    text = f'[phy]\nstandard = "{standard}"\n'
    text += "".join(f"{key} = {value}\n" for key, value in phy.items())
    return text + _group("sta", count, rate) + _flow("sta", application, "upload") + _run(20, 4)


def _rates(near: int) -> str:
    text = _PHY + _group("near", near) + _group("far", 1, "1 Mb/s")
    return text + _flow("near", _UDP, "upload") + _flow("far", _UDP, "upload") + _run(60)


def _categories(ap: tuple[int, int, int], stations: tuple[int, int, int], count: int = 5) -> str:
    text = _PHY
    for side, (aifsn, cw_min, cw_max) in (("ap", ap), ("stations", stations)):
        text += (
            f"[mac.edca.{side}.AC_BE]\naifsn = {aifsn}\ncw_min = {cw_min}\ncw_max = {cw_max}\n"
            'txop_limit = "0 us"\n'
        )
    text += _group("sta", count) + _flow("sta", _UDP, "upload", name='"up"')
    return text + _flow("sta", _UDP, "download", name='"down"') + _run(60)


def _downloads(count: int, window: int, every: int, mac: str) -> str:
    flow = _flow("sta", _ENDLESS, tcp=_tcp(window, every, 1000))
    return _PHY + mac + _group("sta", count) + flow + _run(60)


_PRIORITY = """
[mac.edca.ap.AC_VO]
aifs = "50 us"
cw_min = 0
cw_max = 0
txop_limit = "0 us"
[mac.edca.stations.AC_BE]
aifs = "90 us"
cw_min = 31
cw_max = 1023
txop_limit = "0 us"
[mac.classify]
tcp_ack = "AC_VO"
"""


def _uploads(count: int, every: int) -> str:
    flow = _flow("sta", _ENDLESS, "upload", tcp=_tcp(44, every))
    return _PHY + _PRIORITY + _group("sta", count) + flow + _run(60)


def _wired(far_ms: float) -> str:
    text = _PHY + _PRIORITY + '[links.up]\nrate = "2 Mb/s"\ndelay = "10 ms"\nqueue = 20\n'
    for name, more in (("near", ""), ("far", f', {{ delay = "{far_ms:g} ms" }}')):
        tcp, path = _tcp(200, 1), f'["up"{more}]'
        text += _group(name, 1) + _flow(name, _ENDLESS, "upload", tcp=tcp, path=path)
    return text + _run(1000, warmup_s=50)


def _browsing(
    count: int,
    mean: str,
    think_s: float,
    window: int,
    every: int,
    law: str = '"exponential"',
    duration_s: float = 3000,
) -> str:
    flow = _flow("sta", _web(mean, think_s, law), tcp=_tcp(window, every))
    return _PHY + _group("sta", count) + flow + _run(duration_s, warmup_s=100)


def _ftp(every_s: float) -> str:
    application = (
        '{ kind = "ftp", size = { distribution = "exponential", mean = "200 kB" }, control = true, '
        f'interarrival = {{ distribution = "exponential", mean = "{every_s:g} s" }} }}'
    )
    flow = _flow("sta", application, tcp=_tcp(6))
    return _PHY + _group("sta", 1) + flow + _run(3000, warmup_s=100)


def _one_transfer(size: str, window: int) -> str:
    sized = f'{{ kind = "bulk", size = {{ distribution = "deterministic", value = "{size}" }} }}'
    flow = _flow("sta", sized, tcp=_tcp(window))
    return _PHY + _group("sta", 1) + flow + _run(30, replications=100, warmup_s=0)


def _aggregates(
    letter: str, count: int, application: str, direction: str = "upload", errors: str = "0 %"
) -> str:
    mcs = {"n": 7, "ac": 9, "ax": 11}[letter]
    text = f'[phy]\nstandard = "802.11{letter}"\nband = "5 GHz"\nmcs = {mcs}\n'
    if letter != "n":
        text += 'channel_width = "80 MHz"\n'
    text += f'[[stations]]\nname = "sta"\ncount = {count}\n'
    if errors != "0 %":
        text += f'frame_errors = "{errors}"\n'
    return text + _flow("sta", application, direction) + _run(20, 4)


def _crowded_uploads(count: int, window: int) -> str:
    text = '[phy]\nstandard = "802.11n"\nmcs = 7\n'
    text += f'[[stations]]\nname = "sta"\ncount = {count}\n'
    return text + _flow("sta", _ENDLESS, "upload", tcp=_tcp(window)) + _run(10, 4)


def _one_slow(direction: str, scheduler: str = "oldest") -> str:
    text = f'[phy]\nstandard = "802.11n"\nmcs = 7\n[ap]\nscheduler = "{scheduler}"\n'
    text += '[[stations]]\nname = "fast"\ncount = 3\n'
    text += '[[stations]]\nname = "slow"\ncount = 1\nmcs = 0\n'
    flows = _flow("fast", _ENDLESS, direction) + _flow("slow", _ENDLESS, direction)
    return text + flows + _run(10, 4)


_GOODPUT = ("goodput_bps",)
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
        {str(n): _saturated(n, _BARE) for n in (1, 2, 5, 10, 20, 50)},
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
        {str(n): _saturated(n) for n in (1, 2, 5, 10, 20, 50)},
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
            f"802.11{letter}, {count}": _cell(f"802.11{letter}", count, rate, _UDP)
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
            str(low): _cell("802.11b", 6, "11 Mb/s", _UDP, cw_min=low, cw_max=1023)
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
        {str(n): _rates(n) for n in (1, 2, 4, 9, 19)},
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
            "alike": _categories((2, 31, 1023), (2, 31, 1023)),
            "AIFSN 2 and 3": _categories((2, 31, 1023), (3, 31, 1023)),
            "CW 15–63 and 31–1023": _categories((2, 15, 63), (2, 31, 1023)),
            "AIFSN 2 and 4, CW 15–1023 and 63–1023": _categories((2, 15, 1023), (4, 63, 1023)),
            "AIFSN 2 and 7, CW 7–15 and 31–1023": _categories((2, 7, 15), (7, 31, 1023)),
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
        {str(n): _downloads(n, 1, 1, _BARE) for n in (1, 2, 5, 20, 100)},
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
        {str(n): _downloads(n, 44, 2, "") for n in (1, 2, 5, 20)},
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
        {f"{n}, d = {d}": _uploads(n, d) for n, d in ((2, 1), (5, 1), (10, 1), (20, 1), (10, 2))},
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
            f"802.11{letter}, {rate}": _cell(f"802.11{letter}", 10, rate, _ENDLESS)
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
        {f"{ms}": _wired(ms) for ms in (0, 20, 60, 180)},
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
        {str(n): _browsing(n, "30 kB", 5, 1, 1) for n in (1, 5, 20, 40)},
        ("transfer_time_s", "transfer_time_to_last_ack_s", "goodput_bps", "active_flows"),
        {
            "M (17)": _CHARGED,
            "H (19), few sources": "two segments at a time and an ACK for both; here one each",
            "H (29)": f"{_POISSON}; two segments at a time",
        },
    ),
    "load": Grid(
        "think time in s",
        {f"{s}": _browsing(100, "200 kB", s, 6, 2) for s in (150, 75, 50, 40)},
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
            "H (26)": "sharing by windows is not quite equal; stations are not endlessly many",
        },
    ),
    "ftp": Grid(
        "s between transfers",
        {f"{s}": _ftp(s) for s in (1.5, 0.75, 0.6, 0.5)},
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
            "n, 1": _aggregates("n", 1, _UDP),
            "n, 1, 10 % lost": _aggregates("n", 1, _UDP, errors="10 %"),
            "ac, 1, 10 % lost": _aggregates("ac", 1, _UDP, errors="10 %"),
            "ax, 1, 30 % lost": _aggregates("ax", 1, _UDP, errors="30 %"),
            "n, 5": _aggregates("n", 5, _UDP),
            "ac, 20": _aggregates("ac", 20, _UDP),
            "ax, 50": _aggregates("ax", 50, _UDP),
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
            "n, 1 down": _aggregates("n", 1, _ENDLESS, "download"),
            "n, 20 down": _aggregates("n", 20, _ENDLESS, "download"),
            "ac, 1 down": _aggregates("ac", 1, _ENDLESS, "download"),
            "ac, 5 down": _aggregates("ac", 5, _ENDLESS, "download"),
            "ax, 20 down": _aggregates("ax", 20, _ENDLESS, "download"),
            "n, 5 up": _aggregates("n", 5, _ENDLESS),
            "ac, 20 up": _aggregates("ac", 20, _ENDLESS),
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
            f"{count}, {window}": _crowded_uploads(count, window)
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
            "down, oldest first": _one_slow("download"),
            "down, round robin": _one_slow("download", "round-robin"),
            "down, airtime": _one_slow("download", "airtime"),
            "up": _one_slow("upload"),
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
            name: _browsing(10, "300 kB", 10, 44, 2, law, 10_000)
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
            f"{size}, W = {window}": _one_transfer(size, window)
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
