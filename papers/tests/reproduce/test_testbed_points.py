"""How half a minute of a testbed corrects hours of simulation; nothing is measured here."""

from types import SimpleNamespace

import numpy as np
import pytest
from airtcp.stats import Interval
from airtcp_papers.hoekstra.exchanges import Packets
from airtcp_papers.hoekstra.model import Parameters, ack_time, effective_service_time
from airtcp_papers.hoekstra.real_points import (
    LINUX,
    REAL_LAWS,
    REAL_PLACES,
    Both,
    RealPoint,
)
from airtcp_papers.hoekstra.testbed import gaps

#: Two transfers of 100 segments with the model's 50.75 ACKs each, and two packets more.
PACKETS = Packets(2, 200.0, 20_000.0, 101.5, 10_150.0, 0, 16.0)  # type: ignore[arg-type]
#: A long simulation of five transfers and of two numbers of downloads.
LONG = SimpleNamespace(
    law="exponential",
    gap_s=0.40,
    adjusted=Interval(2.0, 1.9, 2.1, 20),
    packets=SimpleNamespace(
        runs=[
            SimpleNamespace(
                transfer_times_s=np.array([1.0, 2.0, 2.0, 3.0, 4.0]),
                answer={"active_flows_distribution": [0.5, 0.3, 0.2]},
            )
        ]
    ),
)


def both(real: list[float], simulated: list[float], late_s: float = 1e-4) -> Both:
    return Both(
        real_s=float(np.mean(real)),
        simulated_s=float(np.mean(simulated)),
        real_times_s=np.array(real),
        simulated_times_s=np.array(simulated),
        real_active=[0.4, 0.6],
        simulated_active=[0.5, 0.25, 0.25],
        late_p99_s=late_s,
        trusted=late_s < 5e-4,
        packets=PACKETS,
    )


def point(*runs: Both) -> RealPoint:
    return RealPoint(LONG, runs)  # type: ignore[arg-type]


def test_what_the_testbed_takes_more_is_put_onto_the_long_simulation() -> None:
    """Samples have means of 1 and 5 s; their ratios, 1.05 and 1.15, are free of that variation."""
    one = point(both([1.05], [1.0]), both([5.75], [5.0]))

    assert one.over_simulation.mean == pytest.approx(1.10)
    # t with 1 degree of freedom is 12.706, times 0.05 sqrt(2) / sqrt(2).
    assert one.over_simulation.half_width == pytest.approx(12.706 * 0.05, rel=1e-3)
    assert one.mean_s.mean == pytest.approx(2.2)
    half = 2.2 * np.hypot(12.706 * 0.05 / 1.1, 0.1 / 2.0)
    assert one.mean_s.half_width == pytest.approx(half, rel=1e-3)


def test_one_run_has_no_interval() -> None:
    alone = point(both([1.05], [1.0])).mean_s
    assert alone.mean == pytest.approx(2.1)
    assert alone == Interval(alone.mean, None, None, 1)


def test_tails_are_those_of_the_long_simulation_and_what_differs() -> None:
    """One of two transfers takes longer than 1.5 s in the simulation, both in the testbed."""
    one = point(both([1.6, 3.0], [1.2, 3.0]))
    at = np.array([0.0, 1.5, 2.5])

    assert one.long_tail(at) == pytest.approx([1.0, 0.8, 0.4])
    assert [value.mean for value in one.tail(at)] == pytest.approx([1.0, 1.3, 0.4])


def test_so_are_numbers_of_downloads() -> None:
    one = point(both([1.0], [1.0]), both([1.0], [1.0]))

    assert one.long_at_least([0, 1, 2, 3]) == pytest.approx([1.0, 0.5, 0.2, 0.0])
    found = one.at_least([0, 1, 2, 3])
    # The testbed has 0.6 - 0.5 more for one download, and 0.25 less for two.
    assert [value.mean for value in found] == pytest.approx([1.0, 0.6, -0.05, 0.0])
    assert found[1].half_width == pytest.approx(0.0, abs=1e-12)


def test_the_latest_run_is_told() -> None:
    one = point(both([1.0], [1.0], 1e-4), both([1.0], [1.0], 6e-4))

    assert (one.trusted, one.late_p99_s) == (1, 6e-4)


def test_points_are_of_the_paper() -> None:
    assert [gaps(REAL_LAWS[0])[place] for place in REAL_PLACES] == [0.48, 0.40, 0.38]
    # Table II's 8760 bytes are six segments.
    tcp = LINUX["flows.client.tcp"]
    assert (tcp["mss"], tcp["receive_window"]) == ("1460 B", f"{6 * 1460} B")


def test_the_refined_model_has_the_packets_that_were_counted() -> None:
    """Each of the four transfers has two more ACKs than the model, and beacons stretch them."""
    one = point(both([1.0], [1.0]), both([1.0], [1.0]))
    testbed = Parameters.testbed()
    plain = effective_service_time(200_000, testbed)
    beta_s = plain.est_with_beacons_s + 2 * ack_time(testbed) * plain.beacon_factor

    assert one.packets.transfers == 4
    assert one.packets.further == pytest.approx(2.0)
    assert one.refined_s() == pytest.approx(beta_s / (1 - beta_s / 0.40))
    plain_s = plain.est_with_beacons_s
    assert one.refined_s(further=False) == pytest.approx(plain_s / (1 - plain_s / 0.40))
