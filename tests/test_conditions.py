"""The grammar of `--until`: what it accepts, and the errors for everything else."""

import pytest
from airtcp.conditions import parse_condition
from airtcp.exceptions import QuestionError


@pytest.mark.parametrize(
    ("text", "metric", "above", "bound", "group", "part"),
    [
        ("p90 transfer_time > 2 s", "transfer_time_p90_s", True, 2.0, None, "all"),
        ("transfer_time_s>500 ms", "transfer_time_s", True, 0.5, None, "all"),
        ("mean transfer_time > 1 min", "transfer_time_s", True, 60.0, None, "all"),
        ("laptop/download goodput < 2 Mb/s", "goodput_bps", False, 2e6, "laptop", "download"),
        ("far p50 transfer_time > 2 s", "transfer_time_p50_s", True, 2.0, "far", "all"),
        # The first of two words may be the name of a group, which the grammar does not know.
        ("p42 transfer_time > 2 s", "transfer_time_s", True, 2.0, "p42", "all"),
        ("ap_queue_packets > 50", "ap_queue_packets", True, 50.0, None, "all"),
        ("ap_queue_packets > 50 packets", "ap_queue_packets", True, 50.0, None, "all"),
        ("collision_probability > 5 %", "collision_probability", True, 0.05, None, "all"),
        ("jain_index < 0.9", "jain_index", False, 0.9, None, "all"),
        # The extreme bounds that can still be both met and missed.
        ("jain_index < 1", "jain_index", False, 1.0, None, "all"),
        ("packet_loss > 0 %", "packet_loss", True, 0.0, None, "all"),
        ("cell goodput < 2 Mb/s", "goodput_bps", False, 2e6, "cell", "all"),
        # As the screen spells them: labels, and heads of columns.
        ("call p95 delay > 50 ms", "packet_delay_p95_s", True, 0.05, "call", "all"),
        ("goodput_per_flow < 2 Mb/s", "flow_goodput_bps", False, 2e6, None, "all"),
        ("laptop per_flow < 2 Mb/s", "flow_goodput_bps", False, 2e6, "laptop", "all"),
        ("call/download loss > 1 %", "packet_loss", True, 0.01, "call", "download"),
        ("p90 round_trip > 100 ms", "path_rtt_p90_s", True, 0.1, None, "all"),
        ("p90 round_trip_time > 100 ms", "rtt_p90_s", True, 0.1, None, "all"),
    ],
)
def test_a_condition_is_read(
    text: str, metric: str, above: bool, bound: float, group: str | None, part: str
) -> None:
    read = parse_condition(text)
    assert (read.metric, read.above, read.group, read.part) == (metric, above, group, part)
    assert read.bound == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("transfer_time", "is not a condition"),
        ("transfer_time >= 2 s", "is not a condition"),
        ("", "is not a condition"),
        ("a b c transfer_time > 2 s", "is not a condition"),
        ("transfertime > 2 s", "the nearest is transfer_time"),
        ("laptop p42 transfer_time > 2 s", '"p42" is not a statistic; allowed: mean, p50'),
        ("p90 goodput < 2 Mb/s", "goodput has no p90; allowed: mean"),
        ("transfer_time > 2 Mb/s", '"Mb/s" is not one of its units; allowed: ns, us, ms, s'),
        ("transfer_time > 2", '"2" has no unit'),
        ("goodput < 2 s", '"s" is not one of its units; allowed: b/s'),
        ("jain_index < 2 s", '"2 s" is not a value of jain_index'),
        ("ap_queue_packets > 5 %", "is in packets, not in %"),
        ("laptop/sideways goodput < 2 Mb/s", "is not a direction; allowed: download, upload"),
        ("laptop ap_queue_packets > 5", "is not measured for a group; allowed: everything"),
        ("collision_probability > 1", "can never be met"),
        ("collision_probability > 120 %", "can never be met"),
        ("goodput < 0 b/s", "can never be met"),
        ("jain_index < 1.5", "is always met"),
        ("jain_index > -1", "is always met"),
        ("cell left jain_index < 0.5", "jain_index is not measured for a cell"),
        ("cell left p42 goodput < 2 Mb/s", '"left" is not a statistic'),
    ],
)
def test_what_is_wrong_with_a_condition_is_said(text: str, says: str) -> None:
    with pytest.raises(QuestionError) as error:
        parse_condition(text)
    assert str(error.value).startswith(f'--until "{text}": ')
    assert says in str(error.value)


def test_the_excess_is_positive_where_a_condition_holds() -> None:
    late, slow = (parse_condition(one) for one in ("transfer_time > 2.5 s", "goodput < 1 Mb/s"))
    assert (late.excess(3.0), late.excess(2.0)) == (0.5, -0.5)
    assert (slow.excess(4e5), slow.excess(1.6e6)) == (6e5, -6e5)
    assert (late.bound_text, slow.bound_text) == ("2.5 s", "1 Mb/s")
    of_cell = parse_condition("cell left goodput < 2 Mb/s")
    assert (of_cell.cell, of_cell.group) == ("left", None)
    assert (late.mean_metric, parse_condition("p90 transfer_time > 2 s").mean_metric) == (
        None,
        "transfer_time_s",
    )
