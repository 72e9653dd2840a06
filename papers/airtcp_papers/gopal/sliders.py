"""Sliders of paper G's figures: windows for (1), uploads that skip ACKs."""

from __future__ import annotations

from typing import Final

from airtcp_papers.common.sliders import declared
from airtcp_papers.gopal import contention

FIGURES: Final = declared(__file__, contention.same_slot)
