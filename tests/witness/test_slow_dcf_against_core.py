"""The core against the slow DCF: two programs with the same rules give the same means.

`tests/reference/slow_dcf.py` asks every station before every transmission when it wants the medium;
the core is event-driven. They share no code and no random number, so single runs cannot be
compared. Instead, means over independent replications must agree within the interval of their
difference (Welch). All comparisons of a grid together have a confidence of 99.9 %: each has 1 -
0.001 / (number of comparisons), after Bonferroni. There is no allowance for bias, because neither
program approximates. The seeds are fixed, so a failure is a change and not chance.

In the eighteen cells of `COVERING` every two settings meet in all combinations of their values; the
288 cells of the full grid are for `make verify`. In three further cells the access point also
sends, with another frame length, so some colliders end before the others. The test
`test_another_rule_is_noticed` shows how small a difference this detects.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean
from typing import Any, get_args

import bases
import pytest
import slow_dcf
from peers.samples import answers
from witness_tools import difference

SECOND = 1_000_000_000
WARMUP_NS = SECOND // 2
SLOW_REPLICATIONS = 20
CORE_REPLICATIONS, CORE_NS = 40, 12 * SECOND
ALL_TOGETHER = 0.999
PACKET_BYTES = 500


@dataclass(frozen=True)
class Cell:
    """Saturated stations of 802.11b, and the rules that they follow."""

    stations: int
    after_collision: slow_dcf.AfterCollision
    colliders: slow_dcf.Colliders
    rts: bool
    retry_limit: int
    cw_min: int
    ap_packet: int | None = None

    def __str__(self) -> str:
        access = "rts" if self.rts else "basic"
        text = f"{self.stations} {self.after_collision} {self.colliders} {access}"
        text += f" limit {self.retry_limit} CW {self.cw_min}"
        return text if self.ap_packet is None else f"{text} AP {self.ap_packet}"


TIMEOUT, OTHERS = slow_dcf.Colliders.__args__  # type: ignore[attr-defined]
COVERING = [
    Cell(1, "eifs", OTHERS, True, 7, 31),
    Cell(1, "difs", TIMEOUT, False, 1, 3),
    Cell(1, "eifs+difs", TIMEOUT, True, 7, 31),
    Cell(2, "eifs", OTHERS, True, 7, 3),
    Cell(2, "difs", TIMEOUT, False, 7, 31),
    Cell(2, "eifs+difs", OTHERS, False, 1, 31),
    Cell(5, "eifs", TIMEOUT, True, 7, 31),
    Cell(5, "difs", OTHERS, True, 1, 3),
    Cell(5, "eifs+difs", TIMEOUT, False, 1, 31),
    Cell(10, "eifs", OTHERS, False, 1, 3),
    Cell(10, "difs", OTHERS, False, 1, 3),
    Cell(10, "eifs+difs", TIMEOUT, True, 7, 31),
    Cell(20, "eifs", TIMEOUT, True, 1, 31),
    Cell(20, "difs", OTHERS, True, 7, 31),
    Cell(20, "eifs+difs", TIMEOUT, False, 1, 3),
    Cell(50, "eifs", OTHERS, False, 1, 3),
    Cell(50, "difs", TIMEOUT, False, 7, 31),
    Cell(50, "eifs+difs", TIMEOUT, True, 1, 31),
    Cell(4, "eifs", OTHERS, True, 7, 31, ap_packet=100),
    Cell(4, "eifs", TIMEOUT, False, 7, 31, ap_packet=1500),
    Cell(2, "eifs", TIMEOUT, False, 1, 3, ap_packet=1500),
]
FULL = [
    Cell(stations, after_collision, colliders, rts, retry_limit, cw_min)
    for stations, after_collision, colliders, rts, retry_limit, cw_min in itertools.product(
        (1, 2, 5, 10, 20, 50),
        get_args(slow_dcf.AfterCollision),
        (TIMEOUT, OTHERS),
        (False, True),
        (1, 7),
        (31, 3),
    )
]

RTS_THRESHOLD_BYTES = 300


@cache
def core_samples(cell: Cell) -> dict[str, list[float]]:
    udp = '{{ kind = "udp", packet = "{} B", rate = "saturated" }}'
    down = ["[[flows]]", 'stations = "laptop"', 'direction = "download"']
    down.append(f"application = {udp.format(cell.ap_packet)}")
    mac = [
        "[mac]",
        f'rts_threshold = "{RTS_THRESHOLD_BYTES} B"' if cell.rts else "",
        f"short_retry_limit = {cell.retry_limit}",
        "rules.immediate_access = false",  # the slow DCF begins with a backoff
        f'rules.after_collision = "{cell.after_collision}"',
        f'rules.colliders = "{cell.colliders}"',
    ]
    text = bases.cell(
        cell.stations,
        phy=f'control_rate = "2 Mb/s"\ncw_min = {cell.cw_min}\ncw_max = 1023',
        tables="\n".join(mac),
        direction="upload",
        application=udp.format(PACKET_BYTES),
        flow="" if cell.ap_packet is None else "\n".join(down),
        warmup=f"{WARMUP_NS} ns",
        duration=f"{CORE_NS} ns",
    )
    runs = answers(text, seed=11, replications=CORE_REPLICATIONS)
    names = ["collision_probability", "drop_probability_mac", "goodput_bps"]
    if cell.ap_packet is None:
        names.append("mean_cw_stations")
    else:
        names += ["collision_probability_ap", "collision_probability_stations"]
    samples = {name: [run["metrics"][name] for run in runs] for name in names}
    return samples | {
        part: [run["airtime"][part] for run in runs]
        for part in ("idle", "data", "control", "collision")
    }


@cache
def slow_samples(cell: Cell) -> dict[str, list[float]]:
    parameters = replace(
        slow_dcf.ieee_80211b(
            cell.stations,
            PACKET_BYTES,
            RTS_THRESHOLD_BYTES if cell.rts else None,
            cell.ap_packet,
            cell.after_collision,
            cell.colliders,
        ),
        cw_min=cell.cw_min,
        short_retry_limit=cell.retry_limit,
    )
    # With more stations it is slower, and its replications differ less.
    measured_ns = (5 if cell.stations <= 10 else 2) * SECOND // 2
    samples: dict[str, list[float]] = {}
    for seed in range(SLOW_REPLICATIONS):
        out = slow_dcf.run(parameters, seed, WARMUP_NS + measured_ns, warmup_ns=WARMUP_NS)
        drops, successes = sum(out.drops), sum(out.successes)
        values = out.airtime | {
            "collision_probability": out.collision_probability,
            "drop_probability_mac": drops / (drops + successes),
            "goodput_bps": out.throughput_bps,
        }
        if cell.ap_packet is None:
            values["mean_cw_stations"] = out.mean_cw
        else:
            values["collision_probability_ap"] = out.collisions[0] / out.attempts[0]
            stations = sum(out.collisions[1:]) / sum(out.attempts[1:])
            values["collision_probability_stations"] = stations
        for name, value in values.items():
            samples.setdefault(name, []).append(value)
    return samples


def disagreements(
    core: dict[str, list[float]], slow: dict[str, list[float]], cells: int
) -> dict[str, tuple[float, float]]:
    """Return metrics that disagree: the difference, and the half width of its interval."""
    assert core.keys() == slow.keys()
    confidence = 1.0 - (1.0 - ALL_TOGETHER) / (cells * len(core))
    found = {}
    for name, values in core.items():
        if name == "drop_probability_mac" and 0.0 < fmean(values) < 0.001:
            continue  # with a handful of drops in a run the mean is far from normal
        apart, half = difference(values, slow[name], confidence)
        # Some metrics are exact in both (no collisions, constant CW), and then equal except for the
        # last digit.
        if abs(apart) > half + 1e-12:
            found[name] = (apart, half)
    return found


class ScriptedBackoffs:
    """Replaces `random.Random`: returns prepared backoffs, and checks the window of each."""

    def __init__(self, backoffs: list[tuple[int, int]]) -> None:
        self.backoffs: Iterator[tuple[int, int]] = iter(backoffs)

    def __call__(self, _seed: int) -> ScriptedBackoffs:
        return self

    def randint(self, low: int, high: int) -> int:
        """Return the next backoff of the script."""
        backoff, window = next(self.backoffs)
        assert (low, high) == (0, window)
        return backoff


def test_who_waits_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    params = slow_dcf.ieee_80211b(3, packet_bytes=39)
    data = params.station.data_ns
    assert data == 247_000  # 75 bytes of MPDU: 600 / 11 = 54.5 -> 55 us, + 192 us
    exchange = data + 10_000 + params.ack_ns
    # Backoffs in the order of the draws: 2, 2, 5 at the start; 1 and 30 after the collision of 0
    # and 1 (CW is 63); 0, 31, 30 and 31 after the successes of 0, 0, 2 and 1 (CW is 31).
    backoffs = ScriptedBackoffs(
        [(2, 31), (2, 31), (5, 31), (1, 63), (30, 63), (0, 31), (31, 31), (30, 31), (31, 31)]
    )
    monkeypatch.setattr("random.Random", backoffs)
    # Stations 0 and 1 collide in slot 2; station 2 has 3 slots left.
    collision = 50_000 + 2 * 20_000
    # The colliders resume after ACK timeout + DIFS (272 us), station 2 would after EIFS (364 us).
    # Station 0 is first: station 2 has counted nothing, station 1 one slot of its 30.
    first = collision + data + 222_000 + 50_000 + 1 * 20_000
    assert first < collision + data + 364_000
    # Its next backoff is 0: it sends again after DIFS, in the slot that only it can use.
    second = first + exchange + 50_000
    # Now station 2 counts its 3 slots; then station 1 has 26 left and station 0 has 28.
    third = second + exchange + 50_000 + 3 * 20_000
    fourth = third + exchange + 50_000 + 26 * 20_000
    trace: list[tuple[int, tuple[int, ...]]] = []
    slow_dcf.run(params, seed=0, until_ns=fourth + 1, trace=trace)
    expected = [(collision, (0, 1)), (first, (0,)), (second, (0,)), (third, (2,)), (fourth, (1,))]
    assert trace == expected
    assert list(backoffs.backoffs) == []


@pytest.mark.parametrize("cell", COVERING, ids=str)
def test_core_agrees_with_the_slow_dcf(cell: Cell) -> None:
    assert disagreements(core_samples(cell), slow_samples(cell), len(COVERING)) == {}


@pytest.mark.verify
@pytest.mark.parametrize("cell", FULL, ids=str)
def test_core_agrees_with_the_slow_dcf_everywhere(cell: Cell) -> None:
    assert disagreements(core_samples(cell), slow_samples(cell), len(FULL)) == {}


@pytest.mark.parametrize(
    ("stations", "other", "noticed_in"),
    [
        # EIFS is 314 us longer than DIFS, after every fourth transmission of some 0.8 ms.
        (10, {"after_collision": "difs"}, "goodput_bps"),
        # Colliders wait 364 us instead of 272.
        (10, {"colliders": OTHERS}, "idle"),
        (10, {"retry_limit": 5}, "drop_probability_mac"),
        (10, {"stations": 11}, "collision_probability"),
        (10, {"rts": True}, "control"),
        (2, {"cw_min": 30}, "mean_cw_stations"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else str(value),
)
def test_another_rule_is_noticed(stations: int, other: dict[str, Any], noticed_in: str) -> None:
    """The intervals are narrow enough to tell similar rules apart."""
    cell = Cell(stations, "eifs", TIMEOUT, False, 7, 31)
    changed = replace(cell, **other)

    assert disagreements(core_samples(cell), slow_samples(cell), len(COVERING)) == {}
    found = disagreements(core_samples(changed), slow_samples(cell), len(COVERING))
    assert noticed_in in found
