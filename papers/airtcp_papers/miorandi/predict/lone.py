"""Predict the only transfer of a scenario without other traffic: paper M (14)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from airtcp.predict.answers import Answers

from airtcp_papers.miorandi.model import PAPER, mean_session_time, setup_time
from airtcp_papers.miorandi.predict import CARDS, assumed_windows, assumptions
from airtcp_papers.miorandi.predict.transfers import Transfers

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

_CARD: Final = CARDS["transfer"]


def predict(scenario: ResolvedScenario, answers: Answers) -> None:
    """Predict the duration of the transfer."""
    transfers = Transfers(scenario)
    connections = transfers.connections
    common = [*assumptions.network(connections)]
    common += assumed_windows.web_window(connections, transfers.scv)
    common += assumed_windows.web_first_ack(connections)
    common += assumed_windows.window_opens(connections)
    with answers.attempt("M (14), corrected"):
        time = mean_session_time(
            transfers, connections.parameters, transfers.variant, d=round(connections.every)
        )
        time += transfers.setup_s() - setup_time(connections.parameters, transfers.variant)
        answers.add(
            _CARD.origin("M (14), corrected", common),
            {
                "transfer_time_s": time - transfers.last_ack_s,
                "transfer_time_to_last_ack_s": time + transfers.timer_s,
            },
        )
    broken = [*common, *assumed_windows.web_transfers(connections)]
    with answers.attempt("M (14)"):
        paper = mean_session_time(transfers, connections.parameters, PAPER)
        answers.add(
            _CARD.origin("M (14)", broken),
            {"transfer_time_to_last_ack_s": paper},
        )
