"""Sliders of the ACK-gain chart: the PHY and the number of downloads."""

from __future__ import annotations

from typing import Final

from airtcp_papers.acks.gain import PHYS, gains
from airtcp_papers.common.sliders import Changes, Values, declared


def phy(values: Values) -> Changes:
    """Return the keys of a PHY of the chart, by number."""
    return PHYS[int(values["phy"])].with_window()


FIGURES: Final = declared(__file__, phy, gains)
