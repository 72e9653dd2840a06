"""Paper H, Fig. 1: mean transfer times against the load."""

from __future__ import annotations

from airtcp.reproduce.bench import Bench
from airtcp.reproduce.chart import Series, chart, table_of
from airtcp.reproduce.hoekstra.testbed import LAWS, Point, gaps, observe, service_s
from airtcp.reproduce.item import Outcome, Value, item
from airtcp.reproduce.measure import mean
from airtcp.stats import Interval

#: Up to here the paper's agreement is to be had within 5 %.
LIGHT = 0.8


def relative(point: Point) -> float:
    """The mean transfer time over (29), less one."""
    return mean(point.adjusted) / point.model_s - 1.0


def _scaled(point: Point, unit_s: float) -> Interval:
    found = point.adjusted
    assert found.mean is not None
    assert found.low is not None
    assert found.high is not None
    return Interval(found.mean / unit_s, found.low / unit_s, found.high / unit_s, found.n)


def _basic(law: str, gap_s: float) -> float:
    """(29) of the basic model, in units of the refined beta_eff, as the other curves."""
    beta = service_s(law, model="basic", beacons=False)
    return beta / (1.0 - beta / gap_s) / service_s(law)


def _gap(points: list[Point]) -> float:
    return max(abs(relative(point)) for point in points)


def _furthest(points: list[Point]) -> Interval:
    """The mean transfer time over (29) at the load up to `LIGHT` where it is furthest from 1."""
    point = max((one for one in points if one.rho <= LIGHT), key=lambda one: abs(relative(one)))
    return _scaled(point, point.model_s)


@item(
    "H.fig1",
    title="Mean transfer time of downloads against the load",
    caption="Mean time of an FTP download in units of beta_eff, against rho_eff, for four laws of "
    "file sizes: test bed of Table II as packets, 1/(1 - rho_eff) of the refined model (29), and "
    "the basic model. Noise of arrivals and sizes is taken out by processor sharing of the same "
    "transfers.",
    states="Both models match; the mean hardly depends on the law of file sizes; the refined "
    "model does better than the basic one, above all under heavy load.",
)
def fig1(bench: Bench) -> Outcome:
    points = {law: [observe(bench, law, gap) for gap in gaps(law)] for law in LAWS}
    rhos = [point.rho for point in points["exponential"]]
    series = [
        Series("refined model (29)", rhos, [1.0 / (1.0 - rho) for rho in rhos], "model", 0),
        Series(
            "basic model",
            rhos,
            [_basic("exponential", gap) for gap in gaps("exponential")],
            "dotted",
            1,
        ),
    ]
    for number, (law, mine) in enumerate(points.items(), 2):
        y: list[Value] = [_scaled(point, point.beta_s) for point in mine]
        series.append(Series(law, [point.rho for point in mine], y, "simulation", number))
    everyone = [point for mine in points.values() for point in mine]
    light = [point for point in everyone if point.rho <= LIGHT]
    heavy = [point for point in points["exponential"] if point.rho > LIGHT]
    basic = [
        abs(_basic("exponential", point.gap_s) * point.beta_s / mean(point.adjusted) - 1.0)
        for point in heavy
    ]
    fifth = {law: relative(mine[4]) for law, mine in points.items()}
    x, y_label = "effective load rho_eff", "E[R] / beta_eff"
    refined = max(abs(relative(point)) for point in heavy)
    return Outcome(
        data=table_of(series, x=x, y=y_label),
        found=f"Up to a load of {LIGHT} means are within {100 * _gap(light):.1f} % of (29); at the "
        "fifth load they differ by "
        + ", ".join(f"{100 * value:+.1f} % ({law})" for law, value in fifth.items())
        + f". Above {LIGHT} the refined model is up to {100 * refined:.1f} % off for exponential "
        f"sizes, the basic one up to {100 * max(basic):.1f} %, without LLC, beacons and all of the "
        "dialogue.",
        values={
            "gap_light": _gap(light),
            **{f"ratio_{law}": _furthest(mine) for law, mine in points.items()},
            "gap_refined_heavy": refined,
            "gap_basic_heavy": max(basic),
            "refined_less_basic": refined - max(basic),
            "spread_fifth": max(fifth.values()) - min(fifth.values()),
        },
        figure=chart(series, x=x, y=y_label, from_zero=True, columns=3),
    )
