"""Which models apply to a scenario, and what they say.

Knows the models, what each takes for granted, and what of that a scenario breaks. Every formula is
in `airtcp.models`; here scenarios become their arguments. Nothing is simulated.

- `downloads`: endless TCP transfers, paper M (7) to (12) and (A.3)
- `web`: ON/OFF TCP transfers, paper M (13) to (17)
- `saturated`: UDP senders that always have a packet, Bianchi and the lone sender
- `access`: whether access categories are as good as a DCF, which is what all models have
- `facts`, `assumptions`: what the models of TCP ask of a scenario, and what it breaks
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from airtcp.results import Prediction, Provenance

if TYPE_CHECKING:
    from airtcp.predict.answers import Answers
    from airtcp.scenario import ResolvedScenario

__all__ = ["predict"]


def predict(scenario: ResolvedScenario) -> Prediction:
    """What the models say about a scenario, best first for each metric, and what they assume.

    A model with a broken assumption still answers: `broken` names the assumption and what that does
    to the value. `uncovered` says why when no model has anything to say. A model that has no value
    for these numbers (a solver without a root, say) is left out; if it was the only one, its
    message is in `uncovered`.
    """
    from airtcp.predict.access import as_dcf
    from airtcp.predict.answers import Answers

    answers = Answers()
    access = as_dcf(scenario)
    model, reason = _applicable(scenario)
    if model is not None and access.scenario is None:
        model, reason = None, access.reason
    if model is not None and access.scenario is not None:
        model(access.scenario, answers)
        answers.add_broken(access.broken)
        reason = "; ".join(answers.failures)
    uncovered = None if answers.model else reason
    return Prediction(scenario, Provenance.of(scenario), answers.model, uncovered)


def _applicable(
    scenario: ResolvedScenario,
) -> tuple[Callable[[ResolvedScenario, Answers], None] | None, str]:
    """The family of models that the flows call for, or none and why."""
    from airtcp.predict import downloads, saturated, web

    apps = [flow.application for flow in scenario.flows]
    datagrams = [app for app in apps if app.kind == "udp"]
    saturated_too = any(app.rate_bps is None for app in datagrams)
    if datagrams and len(datagrams) < len(apps):
        return None, (
            f"{'saturated UDP' if saturated_too else 'UDP'} and TCP share the air; the models have "
            "either senders that are always saturated (Bianchi) or TCP connections alone (paper M)"
        )
    if datagrams and any(app.rate_bps is not None for app in datagrams):
        return None, (
            "UDP at a constant rate does not always have a packet; the models of UDP have senders "
            "that are always saturated (Bianchi)"
        )
    if datagrams:
        return saturated.predict, ""
    if any(app.kind == "bulk" and app.size is None for app in apps):
        return downloads.predict, ""
    if all(app.kind == "web" for app in apps):
        return web.predict, ""
    return None, (
        "bulk transfers that end do not reach a steady state; paper M has endless transfers, or "
        "transfers that come back after a think time"
    )
