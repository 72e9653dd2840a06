"""The paper's equations at other parameters than Table 1's, and which of them a figure can move.

Knows what a slider changes in `Parameters`, and what to do where (1) and (2) have no root.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeVar

from airtcp.exceptions import ConvergenceError
from airtcp.models.miorandi import PAPER, Parameters, Variant

_Answer = TypeVar("_Answer")

#: CWmin, CWmax and m as the paper counts them (Table 1).
W0: Final = 32
W_MAX: Final = 1024
ATTEMPTS: Final = 7


def parameters(
    *, w0: float = W0, w_max: float = W_MAX, m: float = ATTEMPTS, rts: float = 1
) -> Parameters:
    """Table 1 with other windows, attempts, or without RTS/CTS (`rts` 0)."""
    return replace(
        Parameters.table_1(),
        w0=int(w0),
        w_max=int(w_max),
        m=int(m),
        rts_before_data=bool(rts),
        rts_before_tcp_ack=bool(rts),
    )


def solved(ask: Callable[[Variant], _Answer], variant: Variant = PAPER) -> tuple[_Answer, str]:
    """What `ask` gives with the paper's reading, and what to add to the curve's name.

    With few stages (1) and (2) need not have a root for all numbers of nodes (erratum M5): then the
    chances of the stages are made to add up to one, and the name says so.
    """
    try:
        return ask(variant), ""
    except ConvergenceError:
        return ask(replace(variant, stages="normalised")), "; stages add up to one (M5)"
