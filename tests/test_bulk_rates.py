"""Programs that write at a rate over TCP: `rate` and `block` of bulk."""

import airtcp
import pytest
from airtcp.exceptions import ScenarioError
from airtcp.scenario import loads

TEXT = """
phy = {{ standard = "802.11g" }}
stations = [{{ name = "sta", count = {count} }}]
[[flows]]
stations = "sta"
direction = "{direction}"
application = {{ kind = "bulk"{more} }}
tcp = {{ preset = "linux", congestion = "{congestion}" }}
[run]
warmup = "1 s"
duration = "9 s"
replications = 2
"""


def text(
    more: str = "", *, count: int = 1, direction: str = "download", congestion: str = "cubic"
) -> str:
    return TEXT.format(more=more, count=count, direction=direction, congestion=congestion)


def value(scenario: str, metric: str) -> float:
    found = airtcp.simulate(loads(scenario)).metrics[metric].mean
    assert found is not None
    return found


@pytest.mark.parametrize("direction", ["download", "upload"])
@pytest.mark.parametrize("congestion", ["cubic", "bbr1", "reno"])
@pytest.mark.parametrize("block", ["", ', block = "3 kB"'])
def test_goodput_is_the_rate(direction: str, congestion: str, block: str) -> None:
    told = text(f', rate = "5 Mb/s"{block}', direction=direction, congestion=congestion)
    # 9 s hold 42.9 blocks of 128 KiB.
    assert value(told, "goodput_bps") == pytest.approx(5e6, rel=0.03)


def test_a_rate_above_the_capacity_changes_nothing_and_one_below_leaves_the_rest() -> None:
    free, fast = (value(text(rate, count=2), "goodput_bps") for rate in ("", ', rate = "40 Mb/s"'))
    assert fast == pytest.approx(free, rel=0.02)
    more = '[[flows]]\nstations = "sta"\nname = "free"\ndirection = "download"\n'
    more += 'application = { kind = "bulk" }\ntcp = { preset = "linux" }\n'
    both = text(', rate = "2 Mb/s"').replace("[run]", f"{more}[run]")
    assert value(both, "goodput_bps") == pytest.approx(value(text(), "goodput_bps"), rel=0.05)
    # With small blocks, round trips are as short as in an idle network.
    quiet = value(text(', rate = "1 Mb/s", block = "1448 B"'), "rtt_s")
    assert quiet < 0.005
    assert value(text(), "rtt_s") > 10 * quiet


def test_a_transfer_with_a_size_ends_when_its_rate_says() -> None:
    told = text(', rate = "8 Mb/s", block = "10 kB", size = "4 MB"')
    result = airtcp.simulate(loads(told.replace('warmup = "1 s"', 'warmup = "0 s"')))
    # 400 blocks, the first one at once: 3.99 s, plus the delay of the last one.
    assert result.metrics["transfer_time_s"].mean == pytest.approx(3.99, abs=0.05)


def test_no_model_covers_it() -> None:
    found = airtcp.predict(loads(text(', rate = "5 Mb/s"'))).model.values()
    assert all("quick simulation" in one.source for entries in found for one in entries)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (', block = "3 kB"', "a block belongs to a rate"),
        (', rate = "0 b/s"', "rate"),
        (', rate = "5 Mb/s", block = "0 B"', "block"),
    ],
)
def test_wrong_keys_are_refused(more: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        loads(text(more))
