"""Predict saturated UDP over several links (802.11be): the sum of what each link carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from airtcp.phrases import phrase
from airtcp.predict import ampdu
from airtcp.predict.answers import Answers
from airtcp.predict.card import card
from airtcp.predict.senders import flow_count

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.mac import AccessParameters, Edca
    from airtcp.scenario.keys.phy import Phy
    from airtcp.scenario.keys.radio_links import RadioLink

_SOURCE: Final = "sum of links"
_CARD: Final = card(__file__)
CARDS: Final = (_CARD,)


def predict(scenario: ResolvedScenario, answers: Answers) -> str | None:
    """Predict the goodput of all links, or return why no closed form applies."""
    links = scenario.ap.links
    assert links is not None
    of_groups = list(zip(*(link.stations for link in links), strict=True))
    numbers = {sum(rates is not None for rates in group) for group in of_groups}
    if numbers not in ({1}, {len(links)}):
        return phrase("predict.links.unequal")
    if any(rates is not None and rates.pair is not None for group in of_groups for rates in group):
        return phrase("predict.links.standards")
    if any(group.emlsr is not None for group in scenario.stations):
        return phrase("predict.links.one_radio")
    goodput, mpdus = 0.0, 0.0
    broken: list[str] = []
    for link in links:
        alone = on_link(scenario, link)
        if not alone.flows:
            continue
        own = Answers()
        declined = ampdu.predict(alone, own)
        if declined is not None or "goodput_bps" not in own.model:
            return declined or next(
                iter(own.unanswered.values()), phrase("predict.links.no_closed_form")
            )
        best = own.model["goodput_bps"][0]
        goodput += cast("float", best.value)
        broken += [one for one in best.broken if one not in broken]
        mpdus += max(
            cast("float", own.model[f"mpdus_per_ppdu_{side}"][0].value)
            for side in ("ap", "stations")
            if f"mpdus_per_ppdu_{side}" in own.model
        )
    aggregation = scenario.mac.aggregation
    assert aggregation is not None
    if numbers != {1} and mpdus > aggregation.block_ack_window:
        broken.append(
            phrase(
                "predict.links.block_ack_window", window=aggregation.block_ack_window, mpdus=mpdus
            )
        )
    values = {"goodput_bps": goodput, "flow_goodput_bps": goodput / flow_count(scenario)}
    answers.add(_CARD.origin(_SOURCE, broken), values)
    return None


def on_link(scenario: ResolvedScenario, link: RadioLink) -> ResolvedScenario:
    """Return the network of one link: the stations that have it, and its PHY."""
    stations = tuple(
        group.model_copy(
            update={
                "data_rate": rates.data_rate,
                "control_rate": rates.control_rate,
                "pair": rates.pair,
            }
        )
        for group, rates in zip(scenario.stations, link.stations, strict=True)
        if rates is not None
    )
    names = {group.name for group in stations}
    return scenario.model_copy(
        update={
            "phy": link.phy,
            "mac": scenario.mac.model_copy(update={"edca": _edca(scenario, link.phy)}),
            "ap": scenario.ap.model_copy(update={"links": None}),
            "stations": stations,
            "flows": tuple(flow for flow in scenario.flows if flow.stations in names),
        }
    )


def _edca(scenario: ResolvedScenario, phy: Phy) -> Edca | None:
    """Return the access categories with as many AIFS slots after the SIFS of another PHY."""
    first, edca = scenario.phy, scenario.mac.edca
    if edca is None:
        return None

    def moved(one: AccessParameters) -> AccessParameters:
        slots = (one.aifs_ns - first.sifs_ns) // first.slot_time_ns
        return one.model_copy(update={"aifs_ns": phy.sifs_ns + slots * phy.slot_time_ns})

    sides = {"ap": edca.ap, "stations": edca.stations}
    return edca.model_copy(
        update={side: {name: moved(one) for name, one in of.items()} for side, of in sides.items()}
    )
