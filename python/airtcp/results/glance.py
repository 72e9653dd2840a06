"""The result of a glance: what the batches of one short run say, and how sure that is.

Knows the shape of the answer, and how wide intervals of batches must be. Does not know how long a
glance looks (`airtcp.run.glance`).

Batch means: A. M. Law, "Simulation Modeling and Analysis", section 9.5.3. Samples of neighbouring
batches resemble each other, so that an interval of all of them is too narrow. It is made as wide as
that of longer batches where these ask for more (G. S. Fishman, L. S. Yarberry, "An implementation
of the batch means method", INFORMS J. Comput. 9(3), 1997), and as wide as both halves of the run
lie apart, which tells of a beginning that is not forgotten yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from airtcp.amounts import quantity_with_interval
from airtcp.metrics import METRICS
from airtcp.results.notebook import html_table
from airtcp.results.objects import HEADLINES, Provenance, Simulation, canonical_json, head
from airtcp.stats import Interval, student_interval

if TYPE_CHECKING:
    from airtcp.results.averages import Groups
    from airtcp.scenario import ResolvedScenario

#: The source that stands beside a number of a glance, where a model has its equation.
SOURCE: Final = "a glance (simulated)"

#: So many batches in a row are one longer batch, each of these in turn.
_LONGER: Final = (2, 4)
#: A half width is at least so many times what the means of both halves differ by.
_DRIFT: Final = 1.5


@dataclass(frozen=True, repr=False)
class Glance:
    """The answer of `airtcp.glance`: a simulation with a budget in events instead of a length.

    `scenario` is the one that was run: its measured time is that of one batch, and the batches
    stand in `simulation` in place of replications. `metrics` and `groups` have intervals that allow
    for batches that resemble each other; those of `simulation` do not. `events` is the work that
    was done for it, pilots included. `reached` is False where the budget did not last for the
    scenario's own warm-up and measured time although it is about a beginning or an end, as the
    transfers of a log are: then only the first part of it was seen.

    With the `cafe` of `airtcp.load`:

    >>> seen = airtcp.glance(cafe)
    >>> round(seen.metrics["goodput_bps"].mean / 1e6), seen.source
    (24, 'a glance (simulated)')
    """

    scenario: ResolvedScenario
    provenance: Provenance
    simulation: Simulation
    events: int
    reached: bool = True

    @property
    def source(self) -> str:
        """The source that tables have for its numbers."""
        return SOURCE

    @cached_property
    def metrics(self) -> dict[str, Interval]:
        """An interval per metric, as `Simulation.metrics` has them."""
        return {
            name: self._as_wide(interval, self.simulation.values(name))
            for name, interval in self.simulation.metrics.items()
        }

    @cached_property
    def groups(self) -> Groups:
        """The metrics of station groups and directions, as `Simulation.groups` has them."""
        return {
            group: {
                part: {
                    name: self._as_wide(interval, self.simulation.values(name, group, part))
                    for name, interval in intervals.items()
                }
                for part, intervals in parts.items()
            }
            for group, parts in self.simulation.groups.items()
        }

    def shown(self) -> list[tuple[str, str]]:
        """The metrics that tables for people have, by name, and their values in words."""
        return [
            (name, quantity_with_interval(self.metrics[name], METRICS[name].unit))
            for name in self.simulation.shown
        ]

    def __repr__(self) -> str:
        told = [f"{METRICS[name].label} {text}" for name, text in self.shown() if name in HEADLINES]
        return f"<Glance at {self.scenario.title!r}: {'; '.join(told)}>"

    def _repr_html_(self) -> str:
        """As notebooks show it."""
        rows = [(METRICS[name].label, text) for name, text in self.shown()]
        return html_table(repr(self)[1:-1], (), rows)

    def _as_wide(self, interval: Interval, samples: Sequence[float | None]) -> Interval:
        """Widen an interval of batches as far as longer batches, and both halves, ask for."""
        if interval.mean is None or interval.half_width is None:
            return interval
        widths = [interval.half_width]
        for size in _LONGER:
            starts = range(0, len(samples) - size + 1, size)
            means = [_mean(samples[start : start + size]) for start in starts]
            longer = student_interval(means, self.simulation.confidence)
            widths.append(longer.half_width or 0.0)
        middle = len(samples) // 2
        first, second = _mean(samples[:middle]), _mean(samples[middle:])
        if first is not None and second is not None:
            widths.append(_DRIFT * abs(second - first))
        half_width = max(widths)
        if half_width == interval.half_width:
            return interval
        return Interval(
            interval.mean, interval.mean - half_width, interval.mean + half_width, interval.n
        )

    def part(self) -> dict[str, Any]:
        """The glance as it stands under the key `glance` of a prediction; no time of a clock."""
        run = self.scenario.run
        return {
            "source": SOURCE,
            "metrics": {name: one.to_dict() for name, one in self.metrics.items()},
            "groups": {
                group: {
                    part: {name: one.to_dict() for name, one in intervals.items()}
                    for part, intervals in parts.items()
                }
                for group, parts in self.groups.items()
            },
            "confidence": self.simulation.confidence,
            "batches": self.simulation.replications,
            "warmup_s": (run.warmup_ns or 0) / 1e9,
            "batch_s": run.duration_ns / 1e9,
            "simulated_s": self.simulation.simulated_s,
            "events": self.events,
            "seed": run.seed,
            "reached": self.reached,
        }

    def to_dict(self) -> dict[str, Any]:
        """Keys `scenario`, `provenance`, `glance`."""
        return head(self.scenario, self.provenance) | {"glance": self.part()}

    def to_json(self) -> str:
        """The glance as canonical JSON: equal glances are equal bytes."""
        return canonical_json(self.to_dict())


def _mean(samples: Sequence[float | None]) -> float | None:
    known = [sample for sample in samples if sample is not None]
    return sum(known) / len(known) if known else None
