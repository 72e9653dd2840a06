"""`[run]`: run length, replications and precision. The defaults come from no standard."""

from typing import Annotated, Literal

from ..declare import Table, key
from ..quantities import Percent, time_or


class Run(Table):
    """Run length, number of replications, and precision.

    Either `replications` or `precision` is given. A warm-up of None is found before the simulation.
    """

    warmup_ns: int | None = key(Annotated[int | Literal["auto"], *time_or("auto")])
    duration_ns: int = key()
    replications: int | None = key()
    seed: int = key()
    precision: float | None = key(Percent)
    max_replications: int = key()
    confidence: float = key()

    @property
    def whole_s(self) -> float:
        """The simulated time of a replication in seconds: warm-up and measured time."""
        return ((self.warmup_ns or 0) + self.duration_ns) / 1e9
