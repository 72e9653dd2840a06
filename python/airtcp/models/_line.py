"""Compute the stationary distribution of a Markov chain on a line with short transitions.

States are eliminated from the far end; transitions through them are redirected between the others.
The rate of leaving a state is the sum of its transitions, never a difference, so probabilities are
accurate to their last digits, however small they are (W. K. Grassmann, M. I. Taksar, D. P. Heyman,
"Regenerative analysis and steady state distributions for Markov chains", Operations Research 33,
1985). With balance equations, of which one is left out, the accuracy depends on the probability of
the state left out.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided

from airtcp.models.checks import Values

#: States eliminated at once.
_TOGETHER = 32
#: The chain leaves these states with probability 1. If the computed probability differs by more
#: than this bound, they are eliminated one by one.
_WELL = 1e-12


def stationary_law(size: int, source: np.ndarray, target: np.ndarray, rates: Values) -> Values:
    """Return the distribution of states 0 to `size` - 1; `rates` are from `source` to `target`.

    There are no transitions from a state to itself. Transient states have probability 0. Time and
    memory grow with the number of states times the length of the longest transitions.
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
                # No transition leads below from here, nor from above.
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
    """Return the mean time in each of some states until the chain leaves them, by start state.

    `among` has the rates between these states, and `leaving` the rates from each of them to all
    other states. Returns None if the result is inaccurate. For a single state it is always
    accurate, unless the chain never leaves it.
    """
    rates = among - np.diag(among.diagonal())
    try:
        times = np.linalg.inv(np.diag(rates.sum(axis=1) + leaving) - rates)
    except np.linalg.LinAlgError:
        return None
    error = np.abs(times @ leaving - 1.0).max()
    return np.asarray(times) if error < _WELL else None


def _banded(size: int, up: int, down: int) -> Values:
    """Return a matrix of zeros with this many diagonals; nothing beyond them may be accessed."""
    width = up + down + 1
    # The entry of row i and column j is at i (width - 1) + j + down.
    flat = np.zeros(size * width + down)
    item = flat.itemsize
    return as_strided(flat[down:], (size, size), ((width - 1) * item, item))
