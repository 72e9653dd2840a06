"""Tables of measured values: metrics and values as conditions and spreadsheets have them."""

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


@pytest.mark.parametrize(
    "text",
    [
        "metric;value;of\ngoodput_bps;5000000;upload\n",
        "\ufeffMetric\tValue\tOf\ngoodput\t5 Mb/s\tupload\n",
        "# of today\n\nmetric,value,of\n# in b/s\ngoodput , 5e6, upload\n",
        # A decimal comma, and lines of an old Macintosh.
        "metric;value;of\ngoodput;5,0 Mb/s;upload\n",
        "metric,value,of\rgoodput,5e6,upload\r",
    ],
)
def test_a_table_may_have_the_form_of_a_spreadsheet(tmp_path: Path, text: str) -> None:
    values = measurement_of(written(tmp_path, text)).values

    assert values["upload"]["goodput_bps"].mean == 5e6


@pytest.mark.parametrize(
    ("text", "place"),
    [("metric,value\ngoodput,58 ms\n", "line 2"), ("metric,value\nnone,1\n", "line 2"),
     ("metric,value,of\nlaptop goodput,1,phone\n", "line 2"),
     ("metric,value\ngoodput,5e6\n\ngoodput_bps,6e6\n", "line 4"),
     ("metric,value\nrtt,-1\n", "line 2: value"),
     ("# of today\nmetric,value\npacket_loss,150 %\n", "line 3: value")],
)  # fmt: skip
def test_wrong_lines_of_a_table_are_named(tmp_path: Path, text: str, place: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        measurement_of(written(tmp_path, text))
    assert caught.value.key == place


def test_an_interval_may_reach_beyond_what_a_metric_can_be(tmp_path: Path) -> None:
    text = "metric,value,low,high\ntcp_retransmissions,2,-1,5\npacket_loss,0.9,0.7,1.1\n"

    found = measurement_of(written(tmp_path, text)).values[""]
    assert (found["tcp_retransmissions"].low, found["packet_loss"].high) == (-1.0, 1.1)
