"""Select the analytical models that apply to a scenario, and collect their predictions.

The formulas are in `airtcp.models`; here a scenario is converted to their arguments, and the model
assumptions that it breaks are reported. Nothing is simulated.

Each family of models is called in order, the most accurate first. It adds its predictions, or
returns the reason if it might have been expected to apply. If a scenario is outside its scope it
returns None.

- `saturated`: UDP senders that always have a packet; Bianchi, Heusse
- `categories`: the same under EDCA, where access point and stations contend differently
- `ampdu`: saturated UDP over A-MPDUs; `tcp_ampdu`: endless TCP transfers over them
- `links`: saturated UDP over several links; `ofdma`: over PPDUs to several stations
- `lossy_path`: windows limited by losses on wired links; RFC 9438, Mathis et al.
- `cells`: several cells on one channel, by the chain of clusters
- `replies`: contention in a cell of TCP transfers
- `limits`: upper bounds for every prediction: a window per round trip, link rates
- `access`: whether EDCA is equivalent to a DCF, which most models assume
- `senders`, `facts`, `air`, `assumptions`: model inputs and broken assumptions
- `card`, `keys`, `cards`: what each model predicts, reads and assumes
- `families`: kinds of traffic, ranks, and the families of installed packages, such as those of
  airtcp-papers: TCP over 802.11a, b and g
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from airtcp.phrases import phrase
from airtcp.predict.families import IN_PAPERS, Family, families_of, of_packages, under_dcf

# `import airtcp` imports this module, so slow imports are deferred to their use.
if TYPE_CHECKING:
    from airtcp.results import Prediction
    from airtcp.scenario import ResolvedScenario

__all__ = ["predict"]


def predict(scenario: ResolvedScenario) -> Prediction:
    """Return the predictions of all applicable models, best first per metric, with assumptions.

    A model still predicts if an assumption is broken: `broken` names the assumption and its effect
    on the value. A model without a value for these numbers (a solver without a root, a load of 1 or
    more) is in `unanswered` with the reason. `uncovered` has these reasons if no model gives a
    value.

    With the `cafe` of `airtcp.load`, and airtcp-papers installed:

    >>> best = airtcp.predict(cafe).best("goodput_bps")
    >>> best.source, round(best.value / 1e6, 2)
    ('M (12), corrected', 24.46)
    """
    from airtcp.predict import access, assumptions, limits, lossy_path
    from airtcp.predict.answers import Answers
    from airtcp.results import Prediction, Provenance

    answers = Answers()
    families, reason = _families(scenario)
    for family in families:
        declined = family.ask(scenario, answers)
        if declined:
            answers.unanswered[family.source] = declined
    beacons = [by for one in of_packages() for by in one.with_beacons]
    answers.add_broken(access.beacons(scenario), but_by=[*beacons, lossy_path.BY])
    answers.add_broken(access.frame_errors(scenario), but_by=[*_told_of_errors(scenario)])
    answers.add_broken(list(assumptions.senders(scenario)), but_by=[lossy_path.BY])
    answers.add_broken(list(assumptions.filtered_acks(scenario)), but_by=[lossy_path.BY])
    answers.add_broken(access.protection(scenario), but_by=[lossy_path.BY])
    answers.add_broken(access.rate_control(scenario), but_by=[lossy_path.BY])
    limits.apply(scenario, answers)
    if answers.unanswered:
        reason = "; ".join(f"{source}: {why}" for source, why in answers.unanswered.items())
    uncovered = None if answers.model else reason
    return Prediction(
        scenario, Provenance.of(scenario), answers.model, uncovered, answers.unanswered
    )


def _told_of_errors(scenario: ResolvedScenario) -> Iterator[str]:
    """Yield the modules whose models take frame errors into account."""
    from airtcp.predict import lossy_path

    yield lossy_path.BY
    if scenario.mac.aggregation is not None:
        from airtcp.predict import ampdu

        yield from (ampdu.BY, ampdu.FAIR_BY)


def _families(scenario: ResolvedScenario) -> tuple[Sequence[Family], str]:
    """Return the families of models for the scenario's flows, and the reason if none answers."""
    if any(group.pair is not None for group in scenario.stations):
        return (), phrase("predict.uncovered.standards")
    if scenario.air is not None:
        from airtcp.predict import cells

        return [Family(0, "chain of clusters", cells.predict)], ""
    if scenario.ap.scheduler is not None and scenario.ap.scheduler.kind == "own":
        return (), phrase("predict.uncovered.plugin_scheduler")
    if scenario.mac.aggregation is None and scenario.ap.scheduler is not None:
        return (), phrase("predict.uncovered.airtime")
    if scenario.mac.pcf is not None:
        return (), phrase("predict.uncovered.pcf")
    apps = [flow.application for flow in scenario.flows]
    datagrams = [app for app in apps if app.kind == "udp"]
    saturated_too = any(app.rate_bps is None for app in datagrams)
    if datagrams and len(datagrams) < len(apps):
        return (), phrase(
            "predict.uncovered.udp_and_tcp",
            what="saturated UDP" if saturated_too else "UDP",
        )
    if datagrams and any(app.rate_bps is not None for app in datagrams):
        return (), phrase("predict.uncovered.unsaturated")
    if any(app.kind == "replay" for app in apps):
        return (), phrase("predict.uncovered.replay")
    if any(app.kind == "bulk" and app.rate_bps is not None for app in apps):
        return (), phrase("predict.uncovered.writes")
    if any(app.kind == "web" and app.page is not None for app in apps):
        return (), phrase("predict.uncovered.pages")
    if scenario.mac.aggregation is not None:
        return _aggregated(scenario)
    if datagrams:
        from airtcp.predict import categories, saturated

        return families_of(
            "saturated",
            scenario,
            Family(10, "Bianchi (2000)", under_dcf(saturated.predict)),
            Family(30, "Ramaiyan et al. (2008)", categories.predict),
        ), ""
    if any(app.kind == "bulk" and app.size is None for app in apps):
        from airtcp.predict import lossy_path

        losses = Family(60, "losses on wired links", lossy_path.predict)
        return families_of("endless", scenario, losses), IN_PAPERS
    if all(app.kind == "web" for app in apps):
        return families_of("web", scenario), IN_PAPERS
    if all(app.kind == "ftp" for app in apps):
        return families_of("ftp", scenario), IN_PAPERS
    if any(app.kind == "ftp" for app in apps):
        return (), phrase("predict.uncovered.ftp")
    if sum(scenario.group(flow.stations).count for flow in scenario.flows) == 1:
        return families_of("once", scenario), IN_PAPERS
    return (), phrase("predict.uncovered.ending")


def _aggregated(scenario: ResolvedScenario) -> tuple[Sequence[Family], str]:
    """Return the families for 802.11n and later; flows must be all UDP or all TCP."""
    apps = [flow.application for flow in scenario.flows]
    if scenario.ap.links is not None:
        if not all(app.kind == "udp" for app in apps):
            return (), phrase("predict.uncovered.several_links")
        from airtcp.predict import links

        return [Family(0, "sum of links", links.predict)], ""
    if scenario.mac.ofdma is not None:
        if not all(app.kind == "udp" for app in apps):
            return (), phrase("predict.uncovered.several_receivers")
        from airtcp.predict import ofdma

        return [Family(0, "saturated OFDMA", ofdma.predict)], ""
    if all(app.kind == "udp" for app in apps):
        from airtcp.predict import ampdu

        return [Family(0, "Bianchi (2000), A-MPDUs", ampdu.predict)], ""
    if any(app.kind == "bulk" and app.size is None for app in apps):
        from airtcp.predict import lossy_path, tcp_ampdu

        return [
            Family(0, "TCP over A-MPDUs", tcp_ampdu.predict),
            Family(1, "losses on wired links", lossy_path.predict),
        ], ""
    return (), phrase("predict.uncovered.aggregates", standard=scenario.phy.standard)
