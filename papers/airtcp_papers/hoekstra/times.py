"""Paper H, Fig. 1: mean transfer times against the load."""

from __future__ import annotations

from airtcp.stats import Interval

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import Series
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Value
from airtcp_papers.common.measure import changed, least, less, mean, most, off
from airtcp_papers.hoekstra.testbed import (
    LAWS,
    Point,
    gaps,
    observe,
    observe_clients,
    quotient,
    service_of,
    service_s,
)

#: The heavy loads: the last three of the eight.
HEAVY = slice(5, None)


_SIZE = 200e3


def _scaled(point: Point, unit_s: float) -> Interval:
    return changed(point.adjusted, lambda time_s: time_s / unit_s)


def _basic(law: str, gap_s: float) -> float:
    """Return (29) of the basic model in units of the refined beta_eff, as the other curves."""
    beta = service_s(law, model="basic", beacons=False)
    return beta / (1.0 - beta / gap_s) / service_s(law, beacons=False)


def mean_times(*, size: float = _SIZE) -> list[Series]:
    """Return the models' curves for files of `size` bytes against the load, in units of beta_eff.

    The unit stays beta_eff of the paper's 200 kB, so curves of larger files lie higher.
    """
    unit, refined = (service_of(one, beacons=False) for one in (_SIZE, size))
    basic = service_of(size, model="basic", beacons=False)
    rhos = [unit / gap for gap in gaps("exponential")]
    share = basic / refined
    return [
        Series(
            "refined model (29)", rhos, [refined / unit / (1.0 - rho) for rho in rhos], "model", 0
        ),
        Series(
            "basic model", rhos, [basic / unit / (1.0 - share * rho) for rho in rhos], "dotted", 1
        ),
    ]


def _refined_less_basic(point: Point) -> Interval:
    """Return how much farther the refined model is from the mean time than the basic one.

    The value is relative to the mean time. Both distances use the same mean, so its noise nearly
    cancels in their difference.
    """
    refined, basic = point.model_s, _basic(point.law, point.gap_s) * point.beta_s

    def farther(time_s: float) -> float:
        return abs(refined / time_s - 1.0) - abs(basic / time_s - 1.0)

    found = point.adjusted
    assert found.mean is not None
    if found.low is None or found.high is None:
        return Interval(farther(found.mean), None, None, found.n)
    # Between the ends it is monotone, except for a kink where a model meets the mean exactly.
    kinks = [model for model in (refined, basic) if found.low < model < found.high]
    ends = [farther(time_s) for time_s in (found.low, found.high, *kinks)]
    return Interval(farther(found.mean), min(ends), max(ends), found.n)


def _spread(points: dict[str, list[Point]], place: int) -> Interval:
    """Return the largest relative mean time at one load minus the smallest, over distributions."""
    relative = [mine[place].over_model for mine in points.values()]
    return less(most(relative), least(relative))


@item("H.fig1")
def fig1(bench: Bench) -> Found:
    points = {law: [observe(bench, law, gap, beacons=False) for gap in gaps(law)] for law in LAWS}
    rhos = [point.rho for point in points["exponential"]]
    series = mean_times()
    for number, (law, mine) in enumerate(points.items(), 2):
        y: list[Value] = [_scaled(point, point.beta_s) for point in mine]
        series.append(Series(law, [point.rho for point in mine], y, "simulation", number))
    off_model = {law: [off(point.over_model) for point in mine] for law, mine in points.items()}
    beacons = {law: [off(point.over_beacons) for point in mine] for law, mine in points.items()}
    service = [off(point.service_over_model) for mine in points.values() for point in mine[HEAVY]]
    farther = {law: [_refined_less_basic(point) for point in mine] for law, mine in points.items()}
    spreads = [_spread(points, place) for place in range(len(rhos))]
    return Found(
        series,
        values={
            **{f"off_{law}": most(some) for law, some in off_model.items()},
            **{f"off_{law}_beacons": most(some) for law, some in beacons.items()},
            "off_heavy": most(one for some in off_model.values() for one in some[HEAVY]),
            "service_heavy": most(service),
            **{f"farther_{law}": most(some) for law, some in farther.items()},
            **{f"farther_heavy_{law}": most(some[HEAVY]) for law, some in farther.items()},
            "spread": most(spreads),
            "spread_light": most(spreads[:5]),
            "spread_heavy": most(spreads[HEAVY]),
        },
        told={
            "off": {law: most(some) for law, some in off_model.items()},
            "faster": 1 - mean(points["exponential"][-1].over_model),
            "spreads": spreads,
            "nearer": ", ".join(
                f"{sum(mean(one) > 0.0 for one in some)} of {len(some)} loads ({law})"
                for law, some in farther.items()
            ),
        },
    )


_CLIENTS = 10
#: Without processor sharing of the same transfers, this many quick runs detect a difference of 5 %
#: at the judged load. The other loads are only drawn.
_JUDGED_RUNS, _DRAWN_RUNS = 120, 10


def loads_of_one_client() -> list[tuple[float, str]]:
    """Return loads, each with the mean time between the downloads of one client."""
    service = service_s("exponential", beacons=False)
    return [(service / gap, f"{gap:g} s") for gap in gaps("exponential")]


@item("H.clients")
def clients(bench: Bench) -> Found:
    places = (0, 2, 4)
    one = [
        observe(bench, "exponential", gaps("exponential")[place], beacons=False) for place in places
    ]
    many = [
        observe_clients(
            bench,
            _CLIENTS,
            gaps("exponential")[place],
            quick_replications=_JUDGED_RUNS if place == places[-1] else _DRAWN_RUNS,
        )
        for place in places
    ]
    rhos = [point.rho for point in one]
    name = "transfer_time_s"
    series = [
        Series("one client", rhos, [point.adjusted for point in one], "simulation"),
        Series(f"{_CLIENTS} clients", rhos, [some.metrics[name] for some in many], "simulation"),
    ]
    apart = quotient(many[2].metrics[name], one[2].adjusted)
    contend = many[2].metrics["active_stations_after_ap_success"]
    return Found(
        series, values={"ten_off": off(apart), "contenders": contend}, told={"apart": apart}
    )
