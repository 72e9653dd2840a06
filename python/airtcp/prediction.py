"""The answer that there is at once: models, and a glance where they have none.

Knows which metrics a reader asks for first, and for which of them no model has a value. Computes
nothing: numbers come from the models (`airtcp.predict`) and from the simulator (`airtcp.run`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from airtcp.exceptions import AirtcpError
from airtcp.predict import predict as ask_models

# `import airtcp` imports this module: what costs time is imported where it is used.
if TYPE_CHECKING:
    from pathlib import Path

    from airtcp.results import Prediction
    from airtcp.scenario import ResolvedScenario


def predict(
    scenario: ResolvedScenario | str | Path, *, glance: bool | None = None, times: int = 1
) -> Prediction:
    """Predict by models, best first for each metric, or by a quick simulation where none fits.

    `scenario` is one, or what `airtcp.load` takes.

    A model with a broken assumption still answers: `broken` names the assumption and what that does
    to the value. A model that has no value for these numbers (a solver without a root, a load of 1
    or more) is in `unanswered` with its reason; `uncovered` has these reasons when no model at all
    has anything to say.

    Where no model has a goodput, or none the time of transfers that end, `glance` of what is given
    back is a short simulation with intervals (`airtcp.glance`). True asks for it in any case, False
    for models alone, which simulates nothing; `times` the usual work is spent on it. Where airtcp
    has no compiled core, as in a browser, there is none unless it is asked for.

    A glance that fails, such as one at transfers that come faster than any network carries them, is
    in `unanswered` with its reason, and in `uncovered`. Raises as `airtcp.glance` if it was asked
    for; then also ImportError if there is no core.

    With the `cafe` of `airtcp.load`:

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
    from airtcp.run.glance import can_look
    from airtcp.run.glance import glance as look

    if not is_asked_for and not can_look():
        return said

    try:
        return replace(said, glance=look(scenario, times=times))
    except AirtcpError as error:
        if is_asked_for:
            raise
        why = said.uncovered
        if why is not None:
            why = f"{why}; {SOURCE}: {error}"
        return replace(said, uncovered=why, unanswered=said.unanswered | {SOURCE: str(error)})


def lacks_headlines(said: Prediction) -> bool:
    """Tell whether no model has a goodput, or none the time of transfers that end."""
    from airtcp.choices import APPLICATIONS

    ends = any(
        APPLICATIONS[flow.application.kind].ends
        or (flow.application.kind == "bulk" and flow.application.size is not None)
        for flow in said.scenario.flows
    )
    return said.best("goodput_bps") is None or (ends and said.best("transfer_time_s") is None)
