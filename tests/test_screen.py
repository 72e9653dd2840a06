"""The screen of `run`: the verdict first, no line beside another that says otherwise."""

import re
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.cli.commands import app
from airtcp.conditions import read_condition
from airtcp.examples import directory
from airtcp.present import verdict as words
from airtcp.present.groups import by_group
from airtcp.present.sense import sanity
from airtcp.results.verdict import Growth, Judged, State, Target, Verdict
from airtcp.scenario import loads
from airtcp.stats import Interval
from bases import CALLS, cell
from typer.testing import CliRunner

OFFICE = (
    """
title = "A small office"
run = { warmup = "1 s", duration = "2 s", replications = 4 }
"""
    + CALLS
)


def judged(text: str, state: State, *interval: float | None) -> Judged:
    mean, low, high = interval
    return Judged(Target(read_condition(text)), Interval(mean, low, high, 5), state)


def verdict(*targets: Judged, growth: Growth | None = None) -> Verdict:
    return Verdict(targets, written=True, confidence=0.95, growth=growth)


def run(path: Path, *arguments: str, columns: int = 80) -> str:
    command = ["run", str(path), "--quiet", *arguments]
    environment = {"COLUMNS": str(columns)}
    done = CliRunner().invoke(app, command, prog_name="airtcp", env=environment)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def office(tmp_path: Path) -> Path:
    path = tmp_path / "office.toml"
    path.write_text(OFFICE)
    return path


LATE = judged("call p95 packet_delay < 50 ms", "fails", 0.16, 0.14, 0.18)
WELL = judged("call/upload packet_loss < 1 %", "holds", 0.002, 0.001, 0.003)
OPEN = judged("laptop goodput > 2 Mb/s", "unknown", 2.1e6, 1.9e6, 2.3e6)


@pytest.mark.parametrize(
    ("targets", "says"),
    [
        (
            (LATE,),
            "Fails: p95 packet delay of call is 160 ms (140 to 180), wanted < 50 ms: "
            "3.2 times too much.",
        ),
        (
            (WELL,),
            "Holds: packet loss of call uploads is 0.20 % (0.10 to 0.30), wanted < 1 %: "
            "80 % to spare.",
        ),
        (
            (OPEN, WELL),
            "Cannot tell yet: goodput of laptop is 2.10 Mb/s (1.90 to 2.30), wanted > 2 Mb/s.",
        ),
        (
            (judged("transfer_time < 2 s", "fails", None, 2.5, None),),
            "Fails: transfer time is at least 2.50 s, wanted < 2 s: 25 % too much.",
        ),
        (
            (judged("goodput > 2 Mb/s", "fails", 5e5, 5e5, 5e5),),
            "Fails: goodput is 500 kb/s, wanted > 2 Mb/s: 4.0 times too little.",
        ),
    ],
)
def test_the_verdict_is_told_with_its_interval_and_by_how_much(
    targets: tuple[Judged, ...], says: str
) -> None:
    assert words.headline(verdict(*targets)) == says


def test_the_number_of_others_that_fail_is_told() -> None:
    slow = judged("goodput > 2 Mb/s", "fails", 1.9e6, 1.8e6, 1.95e6)
    also = judged("jain_index > 0.9", "fails", 0.8, 0.7, 0.85)

    assert words.headline(verdict(LATE, slow)).endswith("3.2 times too much (1 more fails).")
    assert words.headline(verdict(LATE, slow, also)).endswith("(2 more fail).")


def test_targets_that_fail_come_first_and_those_with_most_room_last() -> None:
    shown = words.rows(verdict(WELL, OPEN, LATE))

    assert [row[3] for row in shown] == [
        "fails, 3.2 times too much",
        "cannot tell yet",
        "holds, 80 % to spare",
    ]


def test_more_replications_are_proposed_where_an_interval_straddles() -> None:
    """Half widths shrink as 1/sqrt(n): 200 kb/s to 100 kb/s wants four times 5, half more: 30."""
    simulation = airtcp.simulate(loads(cell(duration="50 ms", replications=5))).simulation

    assert words.next_step(verdict(OPEN), simulation) == "What may tell: --replications 30."
    assert words.next_step(verdict(WELL), simulation) is None
    at_bound = judged("laptop goodput > 2 Mb/s", "unknown", 2.0e6, 1.9e6, 2.1e6)
    assert "no number of replications" in str(words.next_step(verdict(at_bound), simulation))
    wide = judged("p90 transfer_time < 2 s", "unknown", 2.001, -50.0, 54.0)
    assert "a longer run.duration tells" in str(words.next_step(verdict(wide), simulation))
    short = judged("transfer_time < 2 s", "unknown", None, 1.5, None)
    assert "longer run.duration" in str(words.next_step(verdict(short), simulation))


def test_runs_too_short_for_what_was_seen_are_not_told_as_having_seen_nothing() -> None:
    """Twelve readers of pages of 4 MB for ten seconds: of their times no estimate is worth telling.

    Half of the bytes are in transfers that take a good part of the run.
    """
    written = """
    phy = { standard = "802.11g" }
    stations = [{ profile = "office-laptop", name = "reader", count = 40 }]
    run = { warmup = "2 s", duration = "10 s", replications = 3 }
    """
    simulation = airtcp.simulate(loads(written)).simulation
    assert simulation.steadiness is not None
    unseen = judged("reader p90 page_time < 2 s", "unknown", None, None, None)

    assert words.next_step(verdict(unseen), simulation) == (
        "The runs are too short for this traffic: a longer run.duration tells."
    )


def test_what_nothing_helps_against_is_not_told_as_untried(tmp_path: Path) -> None:
    path = tmp_path / "far.toml"
    path.write_text(
        """
        phy = { standard = "802.11ac" }
        stations = [{ name = "pc", count = 1 }]
        flows = [{ stations = "pc", profile = "call", path = [{ delay = "100 ms" }] }]
        run = { warmup = "1 s", duration = "2 s", replications = 3 }
        """
    )
    shown = run(path)

    assert "the wires alone take 100 ms" in " ".join(shown.split())
    assert "not tried" not in shown


def test_growth_is_told_in_the_words_of_its_target() -> None:
    grown = Growth(WELL.target.text, present=10, holds_at=40, fails_at=44, glances=8)
    shrunk = Growth(LATE.target.text, present=10, holds_at=0, fails_at=2, glances=3)

    told, exact = words.growth_lines(verdict(WELL, growth=grown))
    assert "up to some 40 stations (now 10); at 44 packet loss of call uploads fails" in told
    assert exact.endswith("airtcp plan FILE --until 'call/upload packet_loss > 1 %'")
    (told,) = words.growth_lines(verdict(LATE, growth=shrunk))
    assert told.startswith("Fewer stations are no way out: with 2 (now 10) p95 packet delay")
    none_fewer = Growth(LATE.target.text, present=3, holds_at=0, fails_at=3, glances=1)
    assert words.growth_lines(verdict(LATE, growth=none_fewer)) == []


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_the_screen_begins_with_the_verdict_and_fits(office: Path, columns: int) -> None:
    shown = run(office, columns=columns)
    lines = shown.splitlines()

    assert lines[0] == "A small office"
    assert re.match("Holds|Fails|Cannot tell yet", lines[1])
    assert "No [targets] in the file" in shown
    assert "…" not in shown
    pasted = [line for line in lines if "airtcp plan" in line or line.startswith("  ")]
    assert all(len(line.rstrip()) <= columns for line in lines if line not in pasted)
    order = ["No [targets]", "The airtime goes to", "group", "--details"]
    places = [" ".join(shown.split()).index(text) for text in order]
    assert places == sorted(places)


def test_details_are_folded_and_nothing_of_them_is_lost(office: Path) -> None:
    folded, whole = run(office, "--no-advice"), run(office, "--no-advice", "--details")

    for text in ("metric", "The scenario", "Does it make sense?", "exchanges"):
        assert text not in folded
        assert text in whole
    beginning = folded[: folded.index("4 replications")].rstrip()
    assert whole.startswith(beginning)


def test_all_problems_are_told_also_those_against_which_nothing_was_tried(tmp_path: Path) -> None:
    path = tmp_path / "far.toml"
    path.write_text(
        cell(4, direction="upload", tables='[ap]\nqueue = { limit = 5 }', duration="5 s",
             warmup="1 s", replications=3)
    )  # fmt: skip

    assert "What helps was not tried" in run(path, "--no-advice")
    assert "What helps was not tried" not in run(path)


@pytest.mark.parametrize("uploads", [False, True])
def test_targets_and_groups_say_one_number(uploads: bool) -> None:
    """Both are the estimate of the group, which adds up with those of all others."""
    text = OFFICE.replace('"download"', '"upload"') if uploads else OFFICE
    result = airtcp.simulate(loads(text))
    found = airtcp.verdict(result)
    table = by_group(result.simulation)

    assert found is not None
    assert table is not None
    for one in found.targets:
        condition = one.target.condition
        assert condition.group is not None
        told = result.simulation.groups[condition.group][condition.part][condition.metric]
        assert one.interval.mean == told.mean


def test_starved_flows_are_told_with_what_they_are() -> None:
    """A flow that starves in half of the runs may have much on average: both are said."""
    text = cell(10, direction="upload", tables="[ap]\nqueue = { limit = 5 }", duration="5 s")
    result: Any = airtcp.simulate(loads(text).with_run(replications=4))
    starved = sum(flow.starved for flow in result.simulation.flows)

    assert starved
    told = dict(sanity(result))["starved"]
    assert told.startswith(f"{starved} of 10 flows have less than a tenth of a fair share in half")
    assert "over all runs the least is " in told


def test_a_problem_is_told_once_and_an_answer_has_single_empty_lines(tmp_path: Path) -> None:
    """Of three offices on one channel the one in the middle gets nothing through in 3 s."""
    offices = airtcp.load(str(directory() / "three-offices.toml"))
    short = offices.vary({"run.duration": "3 s", "run.replications": 2})
    path = tmp_path / "offices.toml"
    path.write_text(short.to_toml())

    told = run(path, columns=400)
    assert told.count("get nothing through: ") == 1
    assert "0.250 → 0.250 (2 runs); harms" not in told

    one = tmp_path / "three-cells.toml"
    one.write_text(
        airtcp.load(str(directory() / "three-cells.toml")).vary({"run.replications": 2}).to_toml()
    )
    for text in (told, run(one, "--advice", "none")):
        assert "\n\n\n" not in re.sub(" +\n", "\n", text)
    command = ["diff", str(path), "--set", 'air.obss_pd="-72 dBm"', "--quiet"]
    changed = CliRunner().invoke(app, command, prog_name="airtcp", env={"COLUMNS": "80"})
    assert changed.exit_code == 0, changed.output
    assert "\n\n\n" not in re.sub(" +\n", "\n", changed.stdout)
