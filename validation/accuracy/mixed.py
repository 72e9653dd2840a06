"""Draw random scenarios that mix traffic beyond closed forms: web, bulk transfers, calls, FTP.

A number always gives the same scenario.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, TypeVar

_T = TypeVar("_T")

#: Number of scenarios in the table of quick simulations.
MIXED: Final = 60

_STANDARDS: Final = {
    "802.11b": ('standard = "802.11b"', ('data_rate = "11 Mb/s"', 'data_rate = "2 Mb/s"'), 6.0),
    "802.11g": ('standard = "802.11g"', ('data_rate = "54 Mb/s"', 'data_rate = "12 Mb/s"'), 24.0),
    "802.11n": ('standard = "802.11n"', ("mcs = 7", "mcs = 2"), 60.0),
    "802.11ac": (
        'standard = "802.11ac"\nchannel_width = "80 MHz"',
        ("mcs = 8", "mcs = 2"),
        250.0,
    ),
    "802.11ax": (
        'standard = "802.11ax"\nband = "5 GHz"\nchannel_width = "80 MHz"\nspatial_streams = 2',
        ("mcs = 9", "mcs = 3"),
        600.0,
    ),
}
#: The last entry above is the approximate capacity of a cell in Mb/s; loads are fractions of it.
_LOADS: Final = (0.1, 0.3, 0.5)
_DISCIPLINES: Final = ("fifo", "fifo", "fq-codel", "per-flow", "codel")
_TCP: Final = (
    '{ preset = "linux" }',
    '{ preset = "linux" }',
    '{ variant = "sack", receive_window = "256 KiB", initial_window = 10 }',
    '{ variant = "newreno", receive_window = "64 KiB" }',
)


@dataclass(frozen=True, slots=True)
class _Draw:
    """Draws that do not depend on the version of Python: `random()` is the only source."""

    random: Random

    def of(self, items: Sequence[_T]) -> _T:
        return items[int(self.random.random() * len(items))]

    def whole(self, low: int, high: int) -> int:
        return low + int(self.random.random() * (high - low + 1))


def mixed(number: int) -> str:
    """Write the scenario with this number: two to four kinds of flows on one cell."""
    draw = _Draw(Random(f"mixed {number}"))
    name = draw.of(tuple(_STANDARDS))
    phy, rates, carries = _STANDARDS[name]
    text = f'title = "Mixed {number}"\n[phy]\n{phy}\n{rates[0]}\n'
    limit = draw.of((100, 500, 1000))
    text += f'[ap]\nqueue = {{ discipline = "{draw.of(_DISCIPLINES)}", limit = {limit} }}\n'
    path = draw.of(("", "", "lan", "line"))
    if path == "lan":
        text += '[links.up]\nrate = "1 Gb/s"\ndelay = "5 ms"\n'
    elif path == "line":
        delay_ms, rate_mbps = draw.of((10, 40)), carries * draw.of((0.8, 3.0))
        text += f'[links.up]\nrate = "{rate_mbps:g} Mb/s"\ndelay = "{delay_ms} ms"\nqueue = 300\n'
    tcp = draw.of(_TCP)
    over = 'path = ["up"]\n' if path else ""
    kinds = ["web", "calls", "downloads", "uploads", "ftp"]
    chosen = [kinds.pop(int(draw.random.random() * len(kinds))) for _ in range(draw.whole(2, 4))]
    if not {"web", "calls", "ftp"} & set(chosen):
        chosen.append("calls")
    for kind in chosen:
        text += f'[[stations]]\nname = "{kind}"\n'
        rate = draw.of(("", "", rates[1])) if kind != "ftp" else ""
        text += _flows(kind, draw, carries, tcp, over, rate)
    return text + '[run]\nwarmup = "10 s"\nduration = "100 s"\nseed = 1\n'


def _flows(kind: str, draw: _Draw, carries: float, tcp: str, over: str, rate: str) -> str:
    """Write the rest of a group of stations, and its flows."""

    def group(count: int) -> str:
        return f'count = {count}\n{rate}\n[[flows]]\nstations = "{kind}"\n'

    if kind == "calls":
        packet, kilobits = draw.of(((200, 80), (1200, 1200 if carries > 50 else 200)))
        udp = f'{{ kind = "udp", packet = "{packet} B", rate = "{kilobits} kb/s" }}'
        return group(draw.whole(1, 6)) + f'direction = "both"\napplication = {udp}\n{over}'
    if kind in ("downloads", "uploads"):
        head = group(draw.whole(1, 8))
        bulk = f'direction = "{kind[:-1]}"\napplication = {{ kind = "bulk" }}\n'
        return head + bulk + f"tcp = {tcp}\n{over}"
    kilobytes = draw.of((30, 100, 300)) * (1 if carries < 50 else draw.of((1, 10)))
    law = draw.of(('"exponential"', '"pareto"', '"lognormal"'))
    more = {'"exponential"': "", '"pareto"': ", shape = 1.5", '"lognormal"': ", scv = 4.0"}[law]
    size = f'{{ distribution = {law}, mean = "{kilobytes} kB"{more} }}'
    each_s = kilobytes * 8e-3 / carries
    if kind == "web":
        # Number of users whose demand is a fraction of the capacity.
        think_s = draw.of((2, 5, 15))
        count = min(40, max(2, round(draw.of(_LOADS) * think_s / each_s)))
        pause = f'{{ distribution = "exponential", mean = "{think_s} s" }}'
        app = f'{{ kind = "web", size = {size}, think_time = {pause}, request = "300 B" }}'
    else:
        # Open-loop sources: above the capacity of the cell there is no steady state.
        count = draw.whole(2, 10)
        pause_ms = 1e3 * count * each_s / draw.of((0.03, 0.08))
        pause = f'{{ distribution = "exponential", mean = "{pause_ms:.0f} ms" }}'
        app = f'{{ kind = "ftp", size = {size}, interarrival = {pause} }}'
    return group(count) + f'direction = "download"\napplication = {app}\ntcp = {tcp}\n{over}'
