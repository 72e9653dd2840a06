"""Immediate predictions: by models, or by a quick simulation where no model applies.

This module decides whether the models cover the headline metrics. `airtcp.predict` runs the models
and `airtcp.run` the simulator.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from airtcp.exceptions import AirtcpError
from airtcp.predict import predict as ask_models

# `import airtcp` imports this module, so slow imports are local.
if TYPE_CHECKING:
    from pathlib import Path

    from airtcp.results import Prediction
    from airtcp.scenario import ResolvedScenario


def predict(
    scenario: ResolvedScenario | str | Path, *, glance: bool | None = None, times: int | None = None
) -> Prediction:
    """Predict by models, best first for each metric, or by a quick simulation where none fits.

    `scenario` is a scenario, or any argument of `airtcp.load`.

    A model with a broken assumption still answers: `broken` names the assumption and its effect on
    the value. A model may have no value for this scenario, because its solver finds no root or the
    load is 1 or more. Then `unanswered` has the reason; `uncovered` has these reasons if no model
    has any value.

    If no model has a goodput, or none the time of transfers that end, airtcp runs a short
    simulation with intervals (`airtcp.glance`). Its result is in `glance`. True always runs it;
    False never does. `times` is its amount of work, as in `airtcp.glance`. Without the compiled
    core, as in a browser, it runs only with True.

    If the quick simulation fails, for example because transfers arrive faster than the network can
    carry them, `unanswered` and `uncovered` have the reason. With `glance=True` the errors of
    `airtcp.glance` are raised instead.

    With the `cafe` of `airtcp.load`, and airtcp-papers installed:

    >>> best = airtcp.predict(cafe).best("goodput_bps")
    >>> best.source, round(best.value / 1e6, 2)
    ('M (12), corrected', 24.46)
    """
    from airtcp.scenario import as_scenario

    scenario = as_scenario(scenario)
    said = ask_models(scenario)
    is_asked_for = glance is True
    if glance is None:
        glance = lacks_headlines(said)
    if not glance:
        return said
    from airtcp.results.glance import SOURCE
    from airtcp.run.glance import TIMES
    from airtcp.run.glance import glance as look

    try:
        return replace(said, glance=look(scenario, times=times or TIMES))
    except AirtcpError as error:
        if is_asked_for:
            raise
        why = said.uncovered
        if why is not None:
            why = f"{why}; {SOURCE}: {error}"
        return replace(said, uncovered=why, unanswered=said.unanswered | {SOURCE: str(error)})


def lacks_headlines(said: Prediction) -> bool:
    """Whether no model has a goodput, or no model has the time of transfers that end."""
    from airtcp.choices import APPLICATIONS

    ends = any(
        APPLICATIONS[flow.application.kind].ends
        or (flow.application.kind == "bulk" and flow.application.size is not None)
        for flow in said.scenario.flows
    )
    return said.best("goodput_bps") is None or (ends and said.best("transfer_time_s") is None)
