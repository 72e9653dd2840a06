"""Estimate metrics from replications, narrower than plain means, and count unfinished transfers.

Call this for `runs` (replications in the order of their index) of a resolved `scenario`:

    estimate(runs, scenario, metric, *, group=None, part="all", confidence=None) -> Estimate

`improved` returns every metric of the whole network that has an estimator other than the plain
mean. `improved_groups` does the same for groups and directions. Their goodputs and active flows add
up to those of the whole network.

If `confidence` is None, the scenario's confidence level applies. `group` and `part` have the same
meaning as in `airtcp.results.Simulation.values`. An `Estimate` has these fields:

- `interval`: the improved `airtcp.stats.Interval`. If the runs are too short for their traffic,
  `mean` is None and `low` is a lower bound.
- `plain`: the interval of the mean over replications.
- `estimator`: a word of `ESTIMATORS`.
- `gain`: the squared ratio of half widths, plain over improved. The improved interval is as narrow
  as the plain one would be with that many times the runs. None unless both intervals exist.
- `values`: one number for each replication; their mean is the estimate. Their Student interval is
  the interval, or a part of it if sizes are heavy-tailed (`skewness`). To compare two scenarios on
  common random numbers, subtract these values.
- `steadiness`: whether the runs show a steady state, why not, a lower bound of the metric, and the
  measured time that would be long enough.
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
