"""The text of metric values and labels."""

import pytest
from airtcp.amounts import duration, percent, quantity, quantity_with_interval
from airtcp.labels import label_of, spellings, spoken
from airtcp.metrics import METRICS
from airtcp.stats import Interval


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (2_312_345.0, "b/s", "2.312 Mb/s"),
        (999.0, "b/s", "999.0 b/s"),
        (1e6, "b/s", "1.000 Mb/s"),
        (0.0, "b/s", "0 b/s"),
        (0.0, "s", "0 s"),
        (0.1164, "s", "116.4 ms"),
        (12.5, "s", "12.50 s"),
        (4.2e-5, "s", "42.00 us"),
        (3e-10, "s", "0.3000 ns"),
        (0.0603, "", "0.06030"),
        (1.97e-9, "", "1.97e-09"),
        (31.0, "slots", "31.00 slots"),
        (None, "b/s", "–"),
    ],
)
def test_quantities(value: float | None, unit: str, text: str) -> None:
    assert quantity(value, unit) == text


@pytest.mark.parametrize(
    ("interval", "unit", "text"),
    [
        (Interval(2_417_600.0, 2_416_200.0, 2_419_000.0, 10), "b/s", "2.4176 ± 0.0014 Mb/s"),
        (Interval(1.07, 0.88, 1.26, 20), "s", "1.07 ± 0.19 s"),
        (Interval(0.102, 0.068, 0.136, 20), "s", "102 ± 34 ms"),
        (Interval(-146.0, -14_799.0, 14_507.0, 3), "b/s", "0 ± 15 kb/s"),
        (Interval(5.0, -9_985.0, 9_995.0, 3), "b/s", "5 ± 9990 b/s"),
        (Interval(10.0, 10.0, 10.0, 5), "", "10.00 ± 0"),
        (Interval(0.0, 0.0, 0.0, 5), "", "0"),
        (Interval(0.0193, 0.0136, 0.025, 5), "%", "1.93 ± 0.57 %"),
        (Interval(0.25, None, None, 1), "", "0.2500"),
        (Interval(None, None, None, 0), "s", "–"),
        (Interval(None, 17.2, None, 5), "s", "at least 17.20 s"),
        (Interval(None, 0.0, None, 5), "s", "–"),
    ],
)
def test_quantities_with_their_interval(interval: Interval, unit: str, text: str) -> None:
    assert quantity_with_interval(interval, unit) == text


@pytest.mark.parametrize(
    ("fraction", "signed", "text"),
    [
        (0.0312, True, "+3.1 %"),
        (-0.0011, True, "-0.11 %"),
        (-0.000_001, True, "+0.00 %"),
        (-0.000_001, False, "0.00 %"),
        (0.0, False, "0 %"),
        (0.0096, False, "0.96 %"),
        (0.00996, False, "1.0 %"),
        (0.0994, False, "9.9 %"),
        (9.99, False, "999 %"),
        (0.263, False, "26 %"),
        (0.0851, False, "8.5 %"),
        (0.0997, False, "10 %"),
        (28.65, True, "+2865 %"),
        (0.9899, False, "99 %"),
        (0.994, False, "99.4 %"),
        (0.9978, False, "99.8 %"),
        (0.9995, False, "99.95 %"),
        (1.0, False, "100 %"),
        (-0.998, True, "-99.8 %"),
        (None, True, "–"),
    ],
)
def test_percentages(fraction: float | None, signed: bool, text: str) -> None:
    assert percent(fraction, signed) == text


DURATIONS = {
    0.0421: "42.1 ms",
    0.42: "0.42 s",
    9.994: "9.99 s",
    10.0: "10 s",
    119.4: "119 s",
    120.0: "2 min",
    650.0: "10 min 50 s",
    480.0: "8 min",
    7_199.0: "119 min 59 s",
    7_200.0: "2 h 00 min",
    73_200.0: "20 h 20 min",
}


@pytest.mark.parametrize("seconds", DURATIONS)
def test_durations(seconds: float) -> None:
    assert duration(seconds) == DURATIONS[seconds]


def test_labels_differ_and_names_end_in_their_unit() -> None:
    for name, entry in METRICS.items():
        assert entry.unit == {"bps": "b/s", "s": "s"}.get(name.rsplit("_", 1)[-1], entry.unit)
    assert len({entry.label for entry in METRICS.values()}) == len(METRICS)


def test_a_metric_is_understood_as_a_screen_spells_it() -> None:
    known = spellings()

    assert all(known[name] is one for name, one in METRICS.items())
    spelled = {"goodput_per_flow": "flow_goodput_bps", "delay": "packet_delay_s"}
    spelled |= {"page_time": "page_time_s", "round_trip": "path_rtt_s", "loss": "packet_loss"}
    assert {word: known[word].name for word in spelled} == spelled


@pytest.mark.parametrize(
    ("name", "whose", "words"),
    [
        ("packet_delay_p95_s", "caller downloads", "p95 packet delay of caller downloads"),
        ("transfer_time_s", "reader", "transfer time of reader"),
        ("goodput_bps", "cell middle", "goodput of cell middle"),
        ("share_of_alone", "cell middle", "cell middle's share of its isolated goodput"),
        ("failed_ppdu_ratio_stations", "desk", "failed PPDUs of desk, stations"),
        # Without a group or cell the label fits into a sentence.
        ("page_time_s", None, "mean page time"),
        ("page_time_p50_s", None, "median page time"),
        ("page_time_p90_s", None, "p90 page time"),
        ("goodput_bps", None, "goodput, all flows"),
    ],
)
def test_a_metric_is_a_phrase(name: str, whose: str | None, words: str) -> None:
    entry = METRICS[name]
    assert (spoken(entry) if whose is None else label_of(entry, whose)) == words
