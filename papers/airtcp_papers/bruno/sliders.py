"""Sliders of paper B's figures: rates, windows, ACK policies."""

from __future__ import annotations

from typing import Final

from airtcp_papers.bruno import slots
from airtcp_papers.common.chart import Series
from airtcp_papers.common.sliders import declared


def success_rates(*, w: float) -> list[Series]:
    """Return the curve of Fig. 4 for one window."""
    return [slots.rates(w)]


FIGURES: Final = declared(__file__, success_rates)
