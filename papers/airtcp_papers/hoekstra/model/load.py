"""Compute paper H, section III: the effective load of file downloads, (27) to (29).

Inputs are the effective service time and the rate at which downloads start. The queue with such a
load is in `airtcp.models.processor_sharing`: its `number_distribution` at `rho` is (30), and its
`sojourn_tail` at `rho` and `beta_s` is (26) for transfer times.
"""

from dataclasses import dataclass

import numpy as np
from airtcp.models import checks
from airtcp.models.checks import Values
from airtcp.models.processor_sharing import mean_sojourn, stable_load
from numpy.typing import ArrayLike

from airtcp_papers.hoekstra.model.parameters import PAPER, Parameters, Variant
from airtcp_papers.hoekstra.model.service_time import Model, effective_service_time

__all__ = ["EffectiveLoad", "effective_load"]


@dataclass(frozen=True, slots=True)
class EffectiveLoad:
    """Downloads as flows of an M/G/1-PS queue, with and without beacons.

    `beta_s` beta_eff (27), `rho` rho_eff (28), `mean_transfer_s` E[R] (29) are those of EST'', with
    beacons. The `..._without_beacons` are those of EST', which the paper's 0.312 s and 0.78 refer
    to (erratum H5). A transfer includes everything in the service time: FTP dialogue, opening and
    closing of the connection.
    """

    beta_s: Values
    rho: Values
    mean_transfer_s: Values
    beta_without_beacons_s: Values
    rho_without_beacons: Values
    mean_transfer_without_beacons_s: Values


def effective_load(
    mean_size_bytes: ArrayLike,
    arrival_rate_per_s: ArrayLike,
    parameters: Parameters,
    variant: Variant = PAPER,
    *,
    model: Model = "refined",
) -> EffectiveLoad:
    """Return beta_eff, rho_eff and E[R] of (27) to (29) for Poisson arrivals of downloads.

    `arrival_rate_per_s` is lambda, of all stations together. (27) needs only the mean of the sizes,
    because EST is affine in the size.

    Raises `ValueError` with the name of an argument out of range; if rho_eff is 1 or more it says
    that the system is unstable, and by how much.

    >>> testbed = effective_load(200_000, 1 / 0.40, Parameters.testbed())
    >>> round(float(testbed.beta_without_beacons_s), 3)
    0.312
    >>> round(float(testbed.rho_without_beacons), 2), round(float(testbed.rho), 2)
    (0.78, 0.79)
    """
    size = checks.real("mean_size_bytes", mean_size_bytes, at_least=0.0)
    arrivals = checks.real("arrival_rate_per_s", arrival_rate_per_s, at_least=0.0)
    size, arrivals = checks.broadcast(mean_size_bytes=size, arrival_rate_per_s=arrivals)
    service = effective_service_time(size, parameters, variant, model=model)
    beta, beta_without = np.asarray(service.est_with_beacons_s), np.asarray(service.est_s)
    rho = stable_load("rho_eff (arrival_rate_per_s times beta_eff)", arrivals * beta)
    rho_without = arrivals * beta_without
    return EffectiveLoad(
        beta_s=beta[()],
        rho=rho[()],
        mean_transfer_s=mean_sojourn(beta, rho),
        beta_without_beacons_s=beta_without[()],
        rho_without_beacons=np.asarray(rho_without)[()],
        mean_transfer_without_beacons_s=mean_sojourn(beta_without, rho_without),
    )
