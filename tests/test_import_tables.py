"""Tables of measured values, with metrics and values as conditions and spreadsheets write them."""

from pathlib import Path

import pytest
from airtcp.exceptions import ScenarioError
from airtcp.importer.files import measurement_of
from imported import written


def test_a_table_takes_metrics_and_values_as_conditions_have_them(tmp_path: Path) -> None:
    text = (
        "metric,value\nlaptop/download p95 packet_delay,20 ms\ngoodput,58 Mb/s\n"
        "laptop packet_loss,2 %\n"
    )

    values = measurement_of(written(tmp_path, text)).values

    assert values["laptop/download"]["packet_delay_p95_s"].mean == pytest.approx(0.02)
    assert values[""]["goodput_bps"].mean == 58e6
    assert values["laptop"]["packet_loss"].mean == pytest.approx(0.02)


@pytest.mark.parametrize("text", [
    "metric;value;of\ngoodput_bps;5000000;upload\n",
    "\ufeffMetric\tValue\tOf\ngoodput\t5 Mb/s\tupload\n",
    "# of today\n\nmetric,value,of\n# in b/s\ngoodput , 5e6, upload\n",
    # A decimal comma, and lines of an old Macintosh.
    "metric;value;of\ngoodput;5,0 Mb/s;upload\n",
    "metric,value,of\rgoodput,5e6,upload\r",
])  # fmt: skip
def test_a_table_may_have_the_form_of_a_spreadsheet(tmp_path: Path, text: str) -> None:
    values = measurement_of(written(tmp_path, text)).values

    assert values["upload"]["goodput_bps"].mean == 5e6


@pytest.mark.parametrize(("text", "place", "said"), [
    ("metric,value\ngoodput,58 ms\n", "line 2", "ms"),
    ("metric,value\nnone,1\n", "line 2", "none"),
    ("metric,value\nlaptop goodput,\n", "line 2", "value is missing"),
    ("metric,value,of\nlaptop goodput,1,phone\n", "line 2", "cannot be combined"),
    ("metric,value,of\ngoodput_bps,3,laptop/sideways\n", "line 2", "laptop/sideways"),
    ("metric,value\ngoodput,5e6\n\ngoodput_bps,6e6\n", "line 4", "given twice"),
    ("metric,value\nrtt,-1\n", "line 2: value", "below 0"),
    ("# of today\nmetric,value\npacket_loss,150 %\n", "line 3: value", "above 1"),
    ("metric,value,low,high\nrtt,1,2,3\n", "line 2", "not between"),
    ("metric,value,low,high\nrtt,3,1,2\n", "line 2", "not between"),
    ("metric,value,low,high\nrtt,2,1,\n", "line 2", "not between"),
    ("metric,value,low,high,runs\nrtt,3,2,4,1.5\n", "line 2", "runs: 1.5 "),
    ("metric,value,low,high,runs\nrtt,3,2,4,1\n", "line 2", "runs: 1 "),
])  # fmt: skip
def test_wrong_lines_of_a_table_are_named(tmp_path: Path, text: str, place: str, said: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        measurement_of(written(tmp_path, text))
    assert caught.value.key == place
    assert said in caught.value.message


def test_what_is_just_possible_is_taken(tmp_path: Path) -> None:
    """Intervals beyond the range of a metric, intervals of no width, a share of 1, a count of 0."""
    text = "metric,value,low,high,runs\ntcp_retransmissions,2,-1,5,2\npacket_loss,1,0.9,1.1,9\n"

    text += "r_factor,-3,-3,-3,\ntcp_timeouts,0,,,\n"

    found = measurement_of(written(tmp_path, text)).values[""]

    told = {name: (one.mean, one.low, one.high, one.n) for name, one in found.items()}
    assert told == {
        "tcp_retransmissions": (2.0, -1.0, 5.0, 2),
        "packet_loss": (1.0, 0.9, 1.1, 9),
        "r_factor": (-3.0, -3.0, -3.0, 2),
        "tcp_timeouts": (0.0, None, None, 1),
    }
