"""Estimates from replications, narrower than plain means, and not biased by what has not ended.

The call, for `runs` (replications in the order of their index) of a resolved `scenario`:

    estimate(runs, scenario, metric, *, group=None, part="all", confidence=None) -> Estimate

`improved` gives all that another estimator than the plain one may have, by their metrics, and
`improved_groups` those of groups and directions, which add up to the former.

`confidence` is that of the scenario if it is None. `group` and `part` are those of
`airtcp.results.Simulation.values`. An `Estimate` has

- `interval`: the improved `airtcp.stats.Interval`, with `mean` None and `low` a lower bound where
  the runs are too short for their traffic; `plain`: that of the mean over replications;
- `estimator`: a word of `ESTIMATORS`; `gain`: the squared ratio of half widths, plain over
  improved: as narrow as that many times the runs; None without two intervals;
- `values`: one number for each replication, whose mean is the estimate. Their Student interval is
  the interval, or a part of it where sizes are heavy (`skewness`). Differences of two scenarios
  on common random numbers are differences of these;
- `steadiness`: whether the runs show a steady state, why not, what is known at least, and how long
  one would have to simulate.

Knows what the core wrote down of a replication, the laws of its traffic, and statistics. Does not
know the core, nor how results look.
"""

from airtcp.estimates.parts import estimate, improved, improved_groups
from airtcp.estimates.steadiness import Steadiness
from airtcp.estimates.told import Estimate, plain_estimate

__all__ = [
    "Estimate",
    "Steadiness",
    "estimate",
    "improved",
    "improved_groups",
    "plain_estimate",
]
