"""Verdicts, remedies, conditions and curves of the page have the numbers of the Python library."""

import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.amounts import quantity, quantity_with_interval
from airtcp.exceptions import ScenarioError
from airtcp.judge.verdicts import glanced
from airtcp.messages.run import decision, headline
from airtcp.metrics import METRICS
from airtcp.scenario import Scenario
from airtcp.scenario.vary import shared_out
from airtcp.web import judged, work
from airtcp.web.bodies import Job
from airtcp.web.choices import choices
from airtcp.web.fields import _totals

_GROUP = """
[[stations]]
name = "{name}"
count = {count}

[[flows]]
stations = "{name}"
direction = "{direction}"
application = {application}
"""
_APPLICATIONS = (
    '{ kind = "bulk" }',
    '{ kind = "web", size = { distribution = "exponential", mean = "20 kB" },'
    ' think_time = { distribution = "exponential", mean = "50 ms" } }',
    '{ kind = "udp", packet = "200 B", rate = "500 kb/s" }',
)
SEEDS = range(10)
#: Seeds whose runs try changes in `make test-slow`; `make verify` uses all.
TRIED = range(4)


def random_text(seed: int) -> str:
    """Return a scenario of one to three groups, every second one with its own targets."""
    chance = random.Random(seed)
    phy = chance.choice(
        [
            'standard = "802.11b"\ndata_rate = "11 Mb/s"',
            'standard = "802.11g"\ndata_rate = "54 Mb/s"',
            'standard = "802.11ax"\nchannel_width = "40 MHz"\nmcs = 7',
        ]
    )
    text = f"title = 'Number {seed}'\n\n[phy]\n{phy}\n\n[ap]\nqueue = {{ limit = 100 }}\n"
    for name in ("desk", "phone", "guest")[: chance.randint(1, 3)]:
        text += _GROUP.format(
            name=name,
            count=chance.randint(1, 4),
            direction=chance.choice(["download", "upload"]),
            application=chance.choice(_APPLICATIONS),
        )
    if seed % 2:
        listed = choices(loaded(text + _RUN))["scopes"]
        text += "\n[targets]\n"
        for scope in listed[1:]:
            text += "{} = {}\n".format(*(f'"{one}"' for one in chance.choice(list(asked(scope)))))
    return text + _RUN


_RUN = '\n[run]\nwarmup = "100 ms"\nduration = "400 ms"\nreplications = 3\n'


def loaded(text: str) -> Scenario:
    import tomllib

    return Scenario.from_written(tomllib.loads(text), name="scenario", base=Path())


def asked(scope: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield all conditions that are offered for a scope, in the form of `[targets]`."""
    for metric in scope["metrics"]:
        unit = metric["units"][0]
        bound = f"{metric['begin'] / unit['factor']:g} {unit['text']}".strip()
        for statistic in metric["statistics"]:
            name = f"{scope['value']} {statistic} {metric['metric']}".strip()
            yield name, f"{'>' if metric['above'] else '<'} {bound}"


def told_by(job: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages of a run, without its progress."""
    messages: list[dict[str, Any]] = []
    work.run(Job.model_validate(job), Path(), 600.0, messages.append)
    return [one for one in messages if not {"progress", "words"} & one.keys()]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_condition_that_is_offered_is_one(seed: int) -> None:
    scenario = loaded(random_text(seed))
    told = work.question("conditions", {"source": {"text": random_text(seed)}}, Path(), {})
    assert told == choices(scenario)
    offered = [one for scope in told["scopes"] for one in asked(scope)]
    for name, bound in offered:
        # An offered condition is a valid target; `above` is true for a lower bound.
        (target,) = scenario.vary({"targets": {name: bound}}).targets
        assert target.above == (bound[0] == ">")
    assert len(offered) > 20
    # The scenario has no pages, so a condition on pages is neither offered nor accepted.
    assert "mean page_time" not in dict(offered)
    with pytest.raises(ScenarioError, match="page_time cannot exist"):
        scenario.vary({"targets": {"page_time": "< 1 s"}})


@pytest.mark.parametrize(
    "seed",
    [pytest.param(seed, marks=() if seed in TRIED else pytest.mark.verify) for seed in SEEDS],
)
def test_a_run_has_the_verdict_and_the_trials_of_the_python(seed: int) -> None:
    text = random_text(seed)
    expected = airtcp.compare(loaded(text))
    judged = airtcp.verdict(expected, growth=True)
    tried = airtcp.advise(expected)

    sofar, last = (next(iter(one.values())) for one in told_by(job(text)))

    # The first answer has everything but these.
    assert sofar | {name: last[name] for name in ("verdict", "advice", "answer")} == last
    assert last["headline"] == headline(judged)[0]
    told = decision(expected, judged, tried)
    assert all(text in str(last["answer"]) for text, _ in told.lines[1:])
    assert last["airtime"] == expected.simulation.airtime
    assert (judged is None) == (last["verdict"] is None)
    if judged is not None:
        assert last["verdict"]["headline"] == sofar["verdict"]["headline"] == headline(judged)[0]
        assert last["verdict"]["state"] == judged.state
        by_name = {one["target"]: one for one in last["verdict"]["targets"]}
        for one in judged.targets:
            assert one.to_dict().items() <= by_name[one.target.text].items()
    best = tried.best
    assert last["advice"]["best"] == (None if best is None else best.name)
    assert last["advice"]["recommended"] == (tried.recommended is not None)
    for mine, trial in zip(last["advice"]["remedies"], tried.trials, strict=True):
        theirs = trial.to_dict()
        for end in ("before", "after", "difference"):
            assert theirs[end].items() <= mine[end].items()
        for name in ("name", "set", "outcome", "met", "missed", "open"):
            assert mine[name] == theirs[name]
        assert mine["equipment"][0].startswith("#") if mine["equipment"] else True
        for felt, effect in zip(mine["loses"], theirs["loses"], strict=True):
            assert effect.items() <= felt.items()
    for name, one in last["metrics"].items():
        interval = expected.simulation.metrics[name]
        assert interval.is_known
        assert interval.to_dict().items() <= one.items()
        told, _, _ = one["text"].partition(", least ")
        assert told == quantity_with_interval(interval, METRICS[name].unit)


def job(text: str, **more: Any) -> dict[str, Any]:
    return {"kind": "run", "source": {"text": text}} | more


@pytest.mark.parametrize("seed", SEEDS)
def test_lights_and_points_of_a_glance_are_those_of_the_python(seed: int) -> None:
    text = random_text(seed)
    source = {"text": text}
    for times in (1, 3) if seed == 1 else (1,):
        seen = airtcp.glance(loaded(text), times=times)
        judged = glanced(loaded(text), seen)
        lights = work.question("lights", {"source": source, "times": times}, Path(), {})
        curve = {"source": source, "axis": "run.seed", "values": [1], "times": times}
        assert work.question("point", curve, Path(), {}) == lights
        for name, one in lights["glance"].items():
            assert seen.metrics[name].to_dict().items() <= one.items()
            interval, unit = seen.metrics[name], METRICS[name].unit
            if interval.half_width is not None:
                # Flows that differ have the lowest one appended (tests/test_least.py).
                told, _, _ = one["text"].partition(", least ")
                assert told == quantity_with_interval(interval, unit)
            elif interval.mean:
                assert one["text"] == f"about {quantity(interval.mean, unit, 2)}"
        if judged is None:
            assert lights["verdict"] is None
            continue
        assert lights["verdict"]["state"] == judged.state
        by_name = {one["target"]: one for one in lights["verdict"]["targets"]}
        for target in judged.targets:
            assert target.to_dict().items() <= by_name[target.target.text].items()


def test_a_plan_on_the_page_is_that_of_the_python() -> None:
    text = "[phy]\nstandard = '802.11g'\ndata_rate = '54 Mb/s'\n"
    text += "[mac]\nrts_threshold = '0 B'\n"  # removed by a change
    for name in ("desk", "phone"):
        text += _GROUP.format(
            name=name, count=2, direction="download", application=_APPLICATIONS[0]
        )
    scenario = loaded(text + _RUN)
    until = "desk flow_goodput < 1 Mb/s"
    expected = airtcp.plan(scenario, vary="stations", until=until, limit_s=480.0)
    asked = {"until": until, "names": ["all"], "axis": "stations"}
    (told,) = told_by(job(text + _RUN, kind="plan", **asked))
    result = told["result"]

    plain = expected.to_dict()
    for name in ("value", "low", "high", "unit"):
        assert result["answer"][name] == plain["answer"][name]
    assert len(result["remedies"]) == len(plain["remedies"]) > 0
    for mine, theirs in zip(result["remedies"], plain["remedies"], strict=True):
        assert mine["set"] == theirs["changes"]
        assert mine["gain"]["mean"] == theirs["gain"]
        if theirs["answer"] is not None:
            for name in ("value", "low", "high"):
                assert mine["answer"][name] == theirs["answer"][name]
    points = {one["x"]: one for one in result["curves"][0]["simulation"]}
    simulated = [one for one in plain["evidence"] if one["depth"] == "simulation"]
    assert len(points) == len(simulated) > 2
    for one in simulated:
        target = result["curves"][0]["condition"]
        assert one["metrics"][target].items() <= points[one["value"]].items()


@pytest.mark.parametrize("counts", [(12, 5, 1), (40, 10), (41, 10), (5, 1), (30, 10, 3, 5)])
def test_groups_keep_their_shares_along_all_stations(counts: tuple[int, ...]) -> None:
    """Each group of two or more stations is within 5 % of its share, so no curve jumps."""
    totals = _totals(counts)
    assert sum(counts) in totals
    for total in totals:
        shares = shared_out(total, counts)
        large = [place for place, share in enumerate(shares) if share > 1]
        left = sum(shares[one] for one in large)
        for one in large:
            share = left * counts[one] / sum(counts[other] for other in large)
            assert abs(shares[one] - share) <= 0.05 * share
    # No group shrinks while the network grows.
    for small, great in pairwise(totals):
        pairs = zip(shared_out(small, counts), shared_out(great, counts), strict=True)
        assert all(fewer <= more for fewer, more in pairs)


def test_a_change_without_targets_says_what_it_gains() -> None:
    """A queue of 8 packets leaves the medium idle, and no target applies to endless downloads."""
    scenario = airtcp.load(
        {
            "phy": {"standard": "802.11ax", "channel_width": "40 MHz"},
            "ap": {"queue": {"limit": 8}},
            "stations": [{"profile": "office-laptop", "name": "seat", "traffic": ["download"]}],
            "run": {"warmup": "2 s", "duration": "4 s", "replications": 2},
        }
    )
    told = judged.advice(airtcp.run(scenario).advice)
    assert told is not None
    best = told["remedies"][0]

    assert (best["met"], best["missed"], best["open"]) == (0, 0, 0)
    assert best["words"].startswith("seat ↓ ")
    assert best["wins"][0]["metric"] == "goodput_bps"
