"""Remedies of a plan: which helps most, as the papers have it, and how sure that is.

Knows ends of plans with and without a remedy. Does not know what a remedy changes, nor how
equipment makes it (`test_remedies`).
"""

import signal
from dataclasses import replace

import airtcp
import pytest
from airtcp.present import plan as present
from airtcp.results.plans import Gain
from airtcp.scenario import Scenario


def ranking(scenario: Scenario, until: str, remedies: bool | list[str] = True) -> dict[str, Gain]:
    """The remedies by name, the best first."""
    found = airtcp.plan(scenario, vary="stations", until=until, remedies=remedies, limit_s=3600.0)
    return {one.name: one for one in found.remedies}


UPLOADS = """
phy = { standard = "802.11b" }
ap = { queue = { limit = 100 } }
stations = [{ name = "station", count = 6 }]
flows = [{ stations = "station", direction = "upload", application = { kind = "bulk" }, \
tcp = { delayed_ack = { every = 1 }, min_rto = "200 ms" } }]
run = { warmup = "5 s", duration = "20 s", replications = 6 }
"""


def test_ack_priority_restores_the_fairness_of_uploads() -> None:
    """Paper L: it is the first by far; and delayed ACKs, which are fewer, help too (paper M).

    The papers did not have queues that drop no ACK that matters: FQ-CoDel with room for all, and a
    filter that keeps one ACK of each flow.
    """
    found = ranking(airtcp.load(UPLOADS), "jain_index < 0.8")

    newer = ("managed-queue", "ack-filter")
    assert {*newer, "ack-priority"} == {*list(found)[:3]}
    first, second, *_ = (gain for name, gain in found.items() if name not in newer)
    assert first.name == "ack-priority"
    assert first.gain is not None
    assert second.gain is not None
    assert second.name in ("delayed-ack", "ack-thresholds")
    assert first.gain.low > 3 * second.gain.high
    # Of these few runs do not say whether they help a little.
    assert found["short-preamble"].verdict in ("none", "behind")
    assert found["rts"].verdict in ("none", "behind")


def test_remedies_that_equipment_has_come_before_ideas_and_a_named_problem_brings_its_own() -> None:
    """A managed queue is no remedy of a plan by itself: what limits the uploads asks for it."""
    found = airtcp.plan(airtcp.load(UPLOADS), until="jain_index < 0.8")

    ideas = [one.research for one in found.remedies]
    assert ideas == sorted(ideas)
    assert any(ideas)
    assert "starving" in [one.problem for one in found.limits]
    assert "managed-queue" in [one.name for one in found.remedies]
    assert (present.best_line(found) or "").startswith(
        f"What helps most: {found.remedies[0].title}"
    )
    first = found.remedies[0]
    assert first.gain is not None
    assert first.gain.mean is not None
    for share, told in ((0.5, False), (2.0, True)):
        gain = replace(first.gain, mean=share * first.gain.mean)
        both = replace(found, together=replace(first, title="both of them", gain=gain))
        assert ("The best two at once, both of them" in (present.best_line(both) or "")) == told


CALLS = """
phy = { standard = "802.11g", data_rate = "54 Mb/s" }
ap = { queue = { limit = 120 } }
stations = [{ name = "reader", count = 4 }, { name = "caller", count = 2 }]
run = { warmup = "2 s", duration = "6 s", replications = 5 }
[[flows]]
stations = "reader"
direction = "download"
application = { kind = "bulk" }
tcp = { receive_window = "64 KiB" }
path = [{ delay = "20 ms" }]
[[flows]]
stations = "caller"
direction = "download"
application = { kind = "call" }
"""


def test_a_remedy_by_which_others_suffer_is_not_recommended() -> None:
    """Four times 120 packets of 1500 bytes take 0.2 s at some 27 Mb/s: calls behind them wait."""
    found = airtcp.plan(
        airtcp.load(CALLS),
        vary="stations.reader.count",
        until="ap_queue_drop_probability > 1 %",
        remedies=["larger-buffer"],
    )

    (gain,) = found.remedies
    assert gain.verdict == "costs others"
    assert gain.hurts == ("caller downloads",)
    assert [one.group for one in gain.loses] == ["caller"]
    said = present.best_line(found) or ""
    assert said.startswith("No remedy that was tried helps for sure.")
    assert "caller downloads are badly served" in said
    assert f"{found.answer.value:g} stations of reader, " in present.answer_line(found)


def test_no_gain_is_not_too_noisy_to_tell() -> None:
    """A window of two segments never loses any, so that CUBIC changes nothing; of uploads for two
    seconds three runs do not say what RTS does to their shares."""
    never = airtcp.load(CALLS).vary({"flows.reader.tcp.receive_window": {"segments": 2}})
    sure = airtcp.plan(
        never,
        vary="stations.reader.count",
        until="reader flow_goodput < 500 kb/s",
        remedies=["cubic"],
    )
    short = airtcp.load(UPLOADS).vary({"run.duration": "2 s", "run.replications": 3})
    noisy = airtcp.plan(short, vary="stations", until="jain_index < 0.8", remedies=["rts"])

    assert [one.verdict for one in sure.remedies] == ["none"]
    assert sure.remedies[0].change.mean == 0.0
    assert (present.remedies_line(sure) or "").startswith("1 remedy tried at ")
    assert [one.verdict for one in noisy.remedies] == ["cannot tell"]
    assert "more replications are needed" in (present.best_line(noisy) or "")


def test_a_plan_with_remedies_does_not_depend_on_threads() -> None:
    """Nor does which remedies are dropped, and when: results alone decide."""
    scenario = airtcp.load(UPLOADS).vary({"run.duration": "5 s"})
    one, two = (
        airtcp.plan(scenario, vary="stations", until="jain_index < 0.8", threads=threads)
        for threads in (1, 2)
    )

    told = [each.to_dict() for each in (one, two)]
    for each in told:
        del each["wall_s"], each["cpu_s"]
    assert told[0] == told[1]
    # There were enough to drop some, and an end was sought.
    assert min(gain.change.n for gain in one.remedies) == 2
    assert any(gain.gain is not None for gain in one.remedies)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_among_remedies_keeps_what_is_known() -> None:
    """The signal comes when the first end of a remedy is sought: all have been tried by then."""

    def tell(words: str) -> None:
        if words.startswith("how far it goes with"):
            signal.raise_signal(signal.SIGINT)

    found = airtcp.plan(
        airtcp.load(UPLOADS).vary({"run.duration": "5 s"}),
        vary="stations",
        until="jain_index < 0.8",
        tell=tell,
    )

    assert found.stopped == "interrupted"
    assert found.answer is not None
    assert len(found.remedies) > 6
    assert all(gain.change.n >= 2 for gain in found.remedies)
    assert all(gain.gain is None for gain in found.remedies)


AGGREGATED = """
phy = { standard = "802.11n", mcs = 7 }
mac = { aggregation = { ampdu = "8 kB" } }
ap = { queue = { limit = 200 } }
stations = [{ name = "laptop", count = 5 }]
flows = [{ stations = "laptop", direction = "download", application = { kind = "bulk" }, \
tcp = { receive_window = "256 KiB", delayed_ack = { every = 1 } } }]
run = { warmup = "2 s", duration = "5 s", replications = 5 }
"""


def test_in_802_11n_larger_aggregates_help_more_than_fewer_acks() -> None:
    acks = ["delayed-ack", "ack-thresholds", "ack-skip"]
    found = ranking(airtcp.load(AGGREGATED), "flow_goodput < 4 Mb/s", ["larger-aggregates", *acks])

    larger = found["larger-aggregates"]
    assert larger.gain is not None
    for name in acks:
        thinner = found[name]
        assert thinner.verdict == "gains"
        assert larger.change.low > thinner.change.high
        if thinner.gain is not None:
            assert larger.gain.low > thinner.gain.high


SHORT = """
phy = { standard = "802.11b" }
stations = [{ name = "laptop", count = 5 }]
run = { warmup = "2 s", duration = "10 s", replications = 4 }
[[flows]]
stations = "laptop"
direction = "DIRECTION"
application = { kind = "bulk" }
tcp = { receive_window = { segments = 8 }, delayed_ack = { every = 1 } }
"""
FILES = (
    SHORT.replace(
        '{ kind = "bulk" }',
        '{ kind = "ftp", size = { distribution = "pareto", mean = "60 kB", shape = 1.9 }, '
        'interarrival = { distribution = "exponential", mean = "3 s" } }',
    )
    .replace("replications = 4", "replications = 12")
    .replace("10 s", "60 s")
)


@pytest.mark.parametrize(
    ("scenario", "until"),
    [
        (SHORT.replace("DIRECTION", "download"), "flow_goodput < 300 kb/s"),
        (SHORT.replace("DIRECTION", "upload"), "flow_goodput < 300 kb/s"),
        (FILES.replace("DIRECTION", "download"), "transfer_time > 500 ms"),
    ],
    ids=["downloads", "uploads", "files"],
)
def test_delayed_acks_help_whatever_is_sent(scenario: str, until: str) -> None:
    """Paper M, 4.3: there are fewer frames for the same data, whichever way these go."""
    (gain,) = ranking(airtcp.load(scenario), until, ["delayed-ack"]).values()

    assert gain.verdict == "gains"
    assert gain.gain is not None
    assert gain.gain.low > 0.0


def test_the_best_two_at_once_are_better_than_either() -> None:
    found = airtcp.plan(
        airtcp.load(UPLOADS),
        vary="stations",
        until="jain_index < 0.8",
        remedies=["delayed-ack", "ack-skip", "larger-buffer"],
    )

    assert found.together is not None
    assert found.together.gain is not None
    parts = [one for one in found.remedies if one.name in found.together.name.split(" + ")]
    assert len(parts) == 2
    for one in parts:
        assert one.gain is not None
        assert found.together.gain.mean > one.gain.mean


LARGE_WINDOWS = """
phy = { standard = "802.11b" }
stations = [{ name = "laptop", count = 10 }]
flows = [{ stations = "laptop", direction = "download", application = { kind = "web", \
size = { distribution = "pareto", mean = "30 kB", shape = 1.5 }, \
think_time = { distribution = "exponential", mean = "10 s" } }, \
tcp = { mss = "1000 B", receive_window = { segments = 1000 }, delayed_ack = { every = 1 } } }]
run = { warmup = "60 s", duration = "600 s", replications = 12 }
"""


@pytest.mark.verify
def test_small_windows_or_turns_help_pareto_files_most() -> None:
    """Paper M, 4.2 and 5, with windows of 1000 segments and a queue without limit."""
    tried = ["small-window", "per-flow", "red", "cubic", "ack-skip", "initial-window-10", "txop"]

    found = ranking(airtcp.load(LARGE_WINDOWS), "transfer_time > 600 ms", tried)

    first, second, *_ = found
    assert {first, second} == {"small-window", "per-flow"}
    assert found[first].verdict == found[second].verdict == "gains"
