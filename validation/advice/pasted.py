"""Trials of every remedy that is printed for random scenarios: it loads, runs, does what it says.

    .venv/bin/python validation/advice/pasted.py 200 --seed 1

Scenarios are the mixtures of `validation/extremes`, each with four replications of three seconds.
What is printed is read as a command line reads it. Of what is said to help the metric is simulated
again at a fresh seed with ten times the replications; with status 1 if a hint does not load, or if
fewer than 95 % of those that are said to help do.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

import airtcp
from airtcp.advice.effects import value_of
from airtcp.cli.scenarios import settings_of
from airtcp.exceptions import AirtcpError
from airtcp.metrics import METRICS
from airtcp.present.advice import settings
from airtcp.results.advice import Goal, Trial
from airtcp.scenario import Scenario

sys.path.append(str(Path(__file__).parents[1] / "extremes"))
from mixtures import mixture

FRESH, MORE = 4242, 40


def main() -> int:
    """Goes through the scenarios, and tells."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenarios", type=int)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    problems = tried = refused = said = helped = 0
    for index in range(given.scenarios):
        scenario = airtcp.load(mixture(given.seed, index)).vary(
            {"run": {"warmup": "1 s", "duration": "3 s", "replications": 4, "seed": index}}
        )
        try:
            advice = airtcp.advise(airtcp.simulate(scenario))
        except AirtcpError as error:
            print(f"{index}: {error}")
            refused += 1
            continue
        problems += bool(advice.problems)
        for advised in advice.problems:
            for trial in advised.remedies:
                tried += 1
                pasted = _pasted(scenario, trial)
                if pasted is None:
                    refused += 1
                    print(f"{index}: {trial.name}: {settings(trial.set)} is refused")
                elif trial.outcome in ("helps", "costs others"):
                    said += 1
                    right = _helps(scenario, pasted, advised.finding.goal)
                    helped += right
                    if not right:
                        print(f"{index}: {advised.finding.problem}: {trial.name} does not help")
    print(
        f"{given.scenarios} scenarios, {problems} with a problem, {tried} remedies tried, "
        f"{refused} refused; {said} are said to help, and {helped} do"
    )
    return 1 if refused or helped < 0.95 * said else 0


def _pasted(scenario: Scenario, trial: Trial) -> Scenario | None:
    """Reads the options that are printed; None if they are refused."""
    options = [word for word in shlex.split(settings(trial.set)) if word != "--set"]
    try:
        return scenario.vary(settings_of(options))
    except AirtcpError:
        return None


def _helps(before: Scenario, after: Scenario, goal: Goal) -> bool:
    """Simulates both at a fresh seed with more replications, and compares."""
    old, new = (_mean(one, goal) for one in (before, after))
    if old is None or new is None:
        return False
    return new > old if METRICS[goal.metric].better == "higher" else new < old


def _mean(scenario: Scenario, goal: Goal) -> float | None:
    """Takes the plain mean over replications, as trials do: of short runs estimates are bounds."""
    runs = airtcp.simulate(scenario, seed=FRESH, replications=MORE).simulation.runs
    values = [value for run in runs if (value := value_of(run, goal)) is not None]
    return sum(values) / len(values) if values else None


if __name__ == "__main__":
    sys.exit(main())
