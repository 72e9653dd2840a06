"""Reproduce paper H beyond 802.11b: transfer times in 802.11a, b, g and n."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from airtcp.models.airtime import Phy
from airtcp.scenario import ResolvedScenario
from airtcp.stats import Interval, student_interval

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import Series
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Value
from airtcp_papers.common.measure import changed, magnitude, mean
from airtcp_papers.hoekstra.model import Beacon, Parameters, effective_service_time
from airtcp_papers.hoekstra.testbed import every, over_flows, same_transfers

_OFDM: Final[dict[str, Any]] = {
    "phy.data_rate": "54 Mb/s",
    "phy.control_rate": "24 Mb/s",
    "phy.symbol_rounding": True,
}
#: The PHYs of Table I. The beacons of 802.11a, g and n need a rate of OFDM.
PHYS: Final[dict[str, dict[str, Any]]] = {
    "802.11a": {"phy.standard": "802.11a", "mac.beacon.rate": "6 Mb/s", **_OFDM},
    "802.11b": {},
    "802.11g": {"phy.standard": "802.11g", "mac.beacon.rate": "6 Mb/s", **_OFDM},
    "802.11n": {
        "phy.standard": "802.11n",
        "phy.data_rate": None,
        "phy.control_rate": None,
        "mac.beacon.rate": "6 Mb/s",
    },
}
_LOADS: Final = (0.3, 0.6, 0.8, 0.9)
_SIZE: Final = 200e3
#: Downloads of a replication, and replications.
_DOWNLOADS: Final = 5000
_OFTEN: Final = 40
_QUICK: Final = 12


@dataclass(frozen=True, slots=True)
class _Point:
    """One standard at one load: (29), (29) without EIFS, and the packets, seconds."""

    load: float
    model_s: float
    without_eifs_s: float
    packets_s: Interval

    def off(self, model_s: float) -> Interval:
        return magnitude(changed(self.packets_s, lambda time_s: model_s / time_s - 1.0))


def parameters_of(scenario: ResolvedScenario, *, eifs: bool = True) -> Parameters:
    """Return Table I for a scenario; without `eifs`, collisions end with DIFS as all else."""
    beacon, tcp = scenario.mac.beacon, scenario.flows[0].tcp
    assert beacon is not None, "the test bed has beacons"
    assert tcp is not None, "downloads use TCP"
    if scenario.mac.aggregation is not None:
        parameters = Parameters.table_1("802.11n")
    else:
        phy = Phy.of(scenario.phy)
        interval_s = beacon.interval_ns / 1e9
        parameters = Parameters.from_phy(
            phy,
            mss_bytes=tcp.mss_bytes,
            header_bits=tcp.header_bits,
            data_rate=scenario.phy.data_rate,
            control_rate=scenario.phy.control_rate,
            beacon=Beacon.from_phy(phy, beacon.rate, interval_s=interval_s, bits=beacon.size_bits),
        )
    return parameters if eifs else replace(parameters, eifs_s=parameters.difs_s)


def _service_s(scenario: ResolvedScenario, *, eifs: bool) -> float:
    """Return beta_eff of (27), with the beacon factor of (22)."""
    parameters = parameters_of(scenario, eifs=eifs)
    return float(effective_service_time(_SIZE, parameters).est_with_beacons_s)


def _point(bench: Bench, standard: str, load: float) -> _Point:
    beta_s = _service_s(bench.scenario("downloads", PHYS[standard], {}), eifs=True)
    gap_s = round(beta_s / load, 4)
    duration_s = round(_DOWNLOADS * gap_s)
    changes = {
        **PHYS[standard],
        **every(gap_s),
        "run.warmup": f"{duration_s // 10} s",
        "run.duration": f"{duration_s} s",
        "run.replications": _QUICK if bench.quick else _OFTEN,
    }
    packets = bench.simulate("downloads", changes, quick={})
    scenario = bench.scenario("downloads", changes, {})
    # (29) times the ratio of packets to processor sharing of the same transfers, as in `Point`.
    model_s = beta_s / (1.0 - beta_s / gap_s)
    capacity = _SIZE / beta_s
    flows = same_transfers(bench, scenario, packets, capacity, _DOWNLOADS, _DOWNLOADS // 10)
    times_s = model_s * over_flows(packets, flows)
    shorter_s = _service_s(scenario, eifs=False)
    return _Point(
        load,
        model_s,
        shorter_s / (1.0 - shorter_s / gap_s),
        student_interval(times_s.tolist(), packets.confidence),
    )


@item("H.standards")
def standards(bench: Bench) -> Found:
    points = {standard: [_point(bench, standard, load) for load in _LOADS] for standard in PHYS}
    series = []
    for place, (standard, some) in enumerate(points.items()):
        over: list[Value] = [
            changed(one.packets_s, lambda time_s, one=one: time_s / one.model_s)  # type: ignore[misc]
            for one in some
        ]
        series.append(Series(f"{standard}, packets", _LOADS, over, "simulation", place))
        shorter = [one.without_eifs_s / one.model_s for one in some]
        series.append(Series(f"{standard}, no EIFS", _LOADS, shorter, "model", place))
    values: dict[str, Value] = {}
    for name, place in (("off", _LOADS.index(0.8)), ("off_heavy", -1)):
        for standard, some in points.items():
            one = some[place]
            values[f"{name}_{standard}"] = one.off(one.model_s)
            values[f"{name}_no_eifs_{standard}"] = one.off(one.without_eifs_s)
    return Found(
        series,
        values=values,
        told={
            "each": "; ".join(
                f"{standard}: at a load of {one.load:g} (29) says {1e3 * one.model_s:.0f} ms, "
                f"without EIFS {1e3 * one.without_eifs_s:.0f} ms, packets take "
                f"{1e3 * mean(one.packets_s):.0f} ms"
                for standard, (*_, one) in points.items()
            )
        },
    )
