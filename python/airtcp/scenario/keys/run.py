"""`[run]`: run length, replications and precision. The defaults come from no standard."""

from typing import Annotated, Literal

from ..declare import Table, key, none
from ..quantities import Percent, time_or


class Run(Table):
    """Run length, number of replications, and precision.

    Either `replications` or `precision` is given. A warm-up of None is found before the simulation.
    """

    # Longer than slow start of ten flows over an unlimited queue.
    warmup_ns: int | None = key(
        "Simulated time before the measurement; `auto`: found by MSER-5 in pilot runs. The "
        "default is 0 if all traffic is transfers of a given size, which have no steady state.",
        default="10 s",
        reads=Annotated[int | Literal["auto"], *time_or("auto")],
    )
    # Some 50,000 exchanges of an 802.11b cell.
    duration_ns: int = key("Measured time.", default="100 s", gt=0)
    # Student's t with 9 degrees of freedom: 2.26, compared to 1.96 for infinitely many.
    replications: int | None = key(
        "Independent runs. Not together with `precision`.", default=10, ge=1, le=10**6
    )
    seed: int = key("Seed of all randomness.", default=1, ge=0, lt=2**63)
    precision: float | None = key(
        "Instead of `replications`: add runs until each headline interval is this narrow (half "
        "width over mean).",
        default=none(),
        reads=Percent,
    )
    max_replications: int = key(
        "Maximum number of replications with `precision`.", default=1000, ge=2, le=10**6
    )
    confidence: float = key("Level of the confidence intervals.", default=0.95, gt=0, lt=1)

    @property
    def whole_ns(self) -> int:
        """The simulated time of a replication in nanoseconds: warm-up and measured time."""
        return (self.warmup_ns or 0) + self.duration_ns

    @property
    def whole_s(self) -> float:
        """The simulated time of a replication in seconds."""
        return self.whole_ns / 1e9
