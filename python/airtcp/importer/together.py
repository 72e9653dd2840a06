"""Combine measurements of one network from several files."""

from __future__ import annotations

from collections.abc import Sequence

from airtcp.exceptions import QuestionError
from airtcp.metrics import METRICS
from airtcp.results.measured import Measurement
from airtcp.stats import Interval


def together(measurements: Sequence[Measurement]) -> Measurement:
    """Return one measurement with the values of all.

    Overall values of a test with one direction become values of that direction. Event counts are
    added, over the duration of the first test that has any. Raises QuestionError for a value in two
    files.
    """
    values: dict[str, dict[str, Interval]] = {}
    counts: dict[str, float] = {}
    whose: dict[tuple[str, str], str] = {}
    duration_s = next((one.duration_s for one in measurements if one.counts), None)
    for one in measurements:
        found = {(of or one.direction): of_scope for of, of_scope in one.values.items()}
        named = {(of, name) for of, of_scope in found.items() for name in of_scope}
        named |= {(one.direction, name) for name in one.counts}
        for of, name in sorted(named):
            if (of, name) in whose:
                about = f"{METRICS[name].short}{f' of {of}' if of else ''}"
                raise QuestionError(
                    f"{whose[of, name]} and {one.source} both have {about}; allowed: one value of "
                    "each; a column `of` in a CSV file names the group or direction of a value"
                )
            whose[of, name] = one.source
        for of, of_scope in found.items():
            values.setdefault(of, {}).update(of_scope)
        for name, count in one.counts.items():
            scaled = count * (duration_s or 1.0) / (one.duration_s or 1.0)
            counts[name] = counts.get(name, 0.0) + scaled
    return Measurement(
        ", ".join(one.source for one in measurements),
        values,
        duration_s,
        counts,
        tuple(sentence for one in measurements for sentence in one.others),
        unfollowed=tuple(condition for one in measurements for condition in one.unfollowed),
    )
