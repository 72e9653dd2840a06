"""The paper's equations at other parameters than Table 1's, and which of them a figure can move.

Maps sliders to `Parameters`. Decides what happens where (1) and (2) have no root.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from airtcp.exceptions import ConvergenceError

from airtcp_papers.miorandi.model import PAPER, Parameters, Variant

_Answer = TypeVar("_Answer")

#: CWmin, CWmax and m as the paper counts them (Table 1).
W0: Final = 32
W_MAX: Final = 1024
ATTEMPTS: Final = 7


def parameters(
    *, w0: float = W0, w_max: float = W_MAX, m: float = ATTEMPTS, rts: float = 1
) -> Parameters:
    """Return Table 1 with other windows or attempts, or without RTS/CTS (`rts` 0)."""
    return replace(
        Parameters.table_1(),
        w0=int(w0),
        w_max=int(w_max),
        m=int(m),
        rts_before_data=bool(rts),
        rts_before_tcp_ack=bool(rts),
    )


def doubled(values: Mapping[str, float]) -> dict[str, Any]:
    """Return the keys of windows whose doubling ends."""
    return {
        "phy.cw_min": int(values["w0"]) - 1,
        "phy.cw_max": int(values["w0"] * 2 ** values["stages"]) - 1,
    }


def solved(ask: Callable[[Variant], _Answer], variant: Variant = PAPER) -> tuple[_Answer, str]:
    """Return what `ask` gives under the paper's reading, and a note for the curve's name.

    With few stages (1) and (2) may have no root for some numbers of nodes (erratum M5). Then the
    probabilities of the stages are normalised to a sum of one, and the note says so.
    """
    try:
        return ask(variant), ""
    except ConvergenceError:
        return ask(replace(variant, stages="normalised")), "; stages add up to one (M5)"
