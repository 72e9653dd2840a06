"""The stationary law of a Markov chain whose states lie on a line, and whose ways are short.

Knows rates between states by their places. Does not know what they are states of.

States are taken out from the far end, and what went through them goes on between the others. The
rate at which a state is left is the sum of its ways and never a difference, so that probabilities
are right to their last digits, however small they are (W. K. Grassmann, M. I. Taksar, D. P. Heyman,
"Regenerative analysis and steady state distributions for Markov chains", Operations Research 33,
1985). Balance equations, of which one is left out, are as right as the state of that one is likely.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided

from airtcp.models._checks import Values

#: States that are taken out at once.
_TOGETHER = 32
#: The error of the probability with which they are left, which is 1, beyond which it is one by one.
_WELL = 1e-12


def stationary_law(size: int, source: np.ndarray, target: np.ndarray, rates: Values) -> Values:
    """The law of states 0 to `size` - 1, from the rate of each way from `source` to `target`.

    No way leads from a state to itself. States that are left for good have probability 0. Takes
    time and memory for the states times the length of the longest ways.
    """
    further = target - source
    up, down = int(max(further.max(initial=0), 1)), int(max(-further.min(initial=0), 1))
    matrix = _banded(size, up + _TOGETHER, down + _TOGETHER)
    np.add.at(matrix, (source, target), rates)

    taken: list[tuple[int, int, int, Values]] = []
    first, end, one_by_one = 0, size, size
    while end > 1:
        begin = end - 1 if end > one_by_one else max(1, end - _TOGETHER)
        below, above = max(0, begin - down), max(0, begin - up)
        ways_down = matrix[begin:end, below:begin]
        visits = _visits(matrix[begin:end, begin:end], ways_down.sum(axis=1))
        if visits is None:
            if begin == end - 1:
                # No way leads below from here, nor from above.
                first = begin
                break
            one_by_one = begin
            continue
        ways_up = matrix[above:begin, begin:end] @ visits
        matrix[above:begin, below:begin] += ways_up @ ways_down
        taken.append((begin, end, above, ways_up))
        end = begin

    law = np.zeros(size)
    law[first] = 1.0
    for begin, end, above, ways_up in reversed(taken):
        law[begin:end] = law[above:begin] @ ways_up
    return np.asarray(law / law.sum())


def _visits(among: Values, leaving: Values) -> Values | None:
    """The time that is spent in each of some states until all are left, from each of them.

    From the rates `among` them and those of leaving. None where it is not known well; of a single
    state it is, unless that is never left.
    """
    rates = among - np.diag(among.diagonal())
    try:
        times = np.linalg.inv(np.diag(rates.sum(axis=1) + leaving) - rates)
    except np.linalg.LinAlgError:
        return None
    error = np.abs(times @ leaving - 1.0).max()
    return np.asarray(times) if error < _WELL else None


def _banded(size: int, up: int, down: int) -> Values:
    """A matrix of zeros of which there are so many diagonals: nothing beyond may be touched."""
    width = up + down + 1
    # An entry of row i and column j stands at i (width - 1) + j + down.
    flat = np.zeros(size * width + down)
    item = flat.itemsize
    return as_strided(flat[down:], (size, size), ((width - 1) * item, item))
