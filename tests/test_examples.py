"""The examples: they load, run, say what they show, and can be written out to start from."""

import json
import tomllib
from pathlib import Path
from statistics import fmean

import airtcp
import pytest
from airtcp import load
from airtcp.compare import compare
from airtcp.examples import directory, examples
from airtcp.extensions import verbs
from airtcp.run.simulate import simulate
from commands import call

NAMES = [
    "office-wifi6",
    "home-evening",
    "cafe-wifi6",
    "class-wifi6",
    "warehouse-wifi4",
    "home-wifi6",
    "mixed-clients",
    "office-wifi5",
    "three-cells",
    "hidden-uploads",
    "three-offices",
    "fair-uploads",
    "ftp-downloads",
    "office-uploads",
    "persistent-downloads",
    "saturated-stations",
    "web-hotspot",
]
#: Examples of cells of 802.11ax, and of stations that do not hear each other, which no model has.
OF_CELLS = ["hidden-uploads", "three-offices"]
#: Examples of profiles, whose pages, calls and films no model has together; so of uploads,
#: downloads and calls, and of stations of several standards.
BY_PROFILES = NAMES[:5]
#: Examples of TCP over 802.11a, b and g, whose models are those of airtcp-papers.
OF_PAPERS = NAMES[8:9] + NAMES[11:15] + NAMES[16:]
UNCOVERED = [*BY_PROFILES, *OF_CELLS, "mixed-clients", "office-wifi5"] + (
    [] if verbs() else OF_PAPERS
)
LOG = "semicomplete-2015-05.access.log.gz"


def test_the_examples_are_listed_with_what_they_show() -> None:
    result = call("example")

    assert result.exit_code == 0
    for item in examples():
        assert item.name in result.stdout
        assert item.description in result.stdout
        assert item.description.endswith(".")
        assert len(item.description) <= 100
    assert [item.name for item in examples()] == NAMES


def test_the_list_is_there_as_json() -> None:
    listed = json.loads(call("example", "--json").stdout)

    assert [item["name"] for item in listed] == NAMES
    assert listed[-1]["files"] == ["web-hotspot.toml", LOG]


@pytest.mark.parametrize("name", NAMES)
def test_an_example_written_out_runs(name: str, tmp_path: Path) -> None:
    written = call("example", name, "--to", tmp_path / "here")
    assert written.exit_code == 0

    path = tmp_path / "here" / f"{name}.toml"
    result = compare(load(path), replications=1)

    assert result.scenario.title == tomllib.loads(path.read_text())["title"]
    assert bool(result.uncovered) == (name in UNCOVERED)
    assert bool(result.comparison) == (name not in UNCOVERED)
    goodput = result.simulation.metrics["goodput_bps"].mean
    assert goodput > 1e6


def test_fair_uploads_are_fair_and_those_without_categories_are_not(tmp_path: Path) -> None:
    """What the comment at the top of the example says of both."""
    call("example", "fair-uploads", "--to", tmp_path)
    text = (tmp_path / "fair-uploads.toml").read_text()
    start, end = text.index("[mac.edca.ap.AC_VO]"), text.index("[ap]")
    assert text[start:end].count("[mac.") == 3
    plain = tmp_path / "plain.toml"
    plain.write_text(text[:start] + text[end:])

    fair, unfair = (
        simulate(load(path), replications=3) for path in (tmp_path / "fair-uploads.toml", plain)
    )

    # Paper L: above 0.98 over 60 s.
    assert fair.metrics["jain_index"].mean > 0.98
    assert not any(flow.starved for flow in fair.simulation.flows)
    assert unfair.metrics["jain_index"].mean < 0.7
    assert any(flow.starved for flow in unfair.simulation.flows)
    # Most ACKs are lost at the access point, and none are with priority.
    assert unfair.metrics["ap_queue_drop_probability"].mean > 0.5
    assert fair.metrics["ap_queue_drop_probability"].mean == 0.0


def test_the_office_is_what_it_says() -> None:
    """Thirty laptops; calls wait in the line of the downloads, and do not with AC_VO."""
    path = Path(airtcp.__file__).parent / "examples" / "office-wifi5.toml"
    plain = load(path)
    first = plain.vary({"mac.classify.udp": "AC_VO"})

    assert sum(group.count for group in plain.stations) == 30
    assert {flow.direction for flow in plain.flows} == {"download", "upload"}
    assert {flow.application.kind for flow in plain.flows} == {"bulk", "udp"}
    waits = [
        simulate(scenario, replications=2).simulation.groups["call"]["download"]["packet_delay_s"]
        for scenario in (plain, first)
    ]
    assert waits[1].mean < waits[0].mean / 2


def test_the_home_is_what_it_says() -> None:
    """In order of arrival the console gets as much as the phone; by turns many times as much."""
    path = Path(airtcp.__file__).parent / "examples" / "home-wifi6.toml"

    def ratio(scheduler: str) -> float:
        scenario = load(path).vary({"ap.scheduler": scheduler})
        groups = simulate(scenario).simulation.groups
        console, phone = (
            groups[name]["download"]["flow_goodput_bps"].mean for name in ("console", "phone")
        )
        return console / phone

    assert ratio("oldest") == pytest.approx(1.0, abs=0.2)
    assert ratio("round-robin") > 5


def test_files_that_are_there_are_not_overwritten(tmp_path: Path) -> None:
    mine = tmp_path / "web-hotspot.toml"
    mine.write_text("mine")

    refused = call("example", "web-hotspot", "--to", tmp_path)

    assert refused.exit_code == 2
    assert "file exists" in refused.stderr
    assert mine.read_text() == "mine"
    assert not (tmp_path / LOG).exists()

    assert call("example", "web-hotspot", "--to", tmp_path, "--force").exit_code == 0
    assert "[phy]" in mine.read_text()


def test_an_example_goes_to_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    result = call("example", "saturated-stations")

    assert result.exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["saturated-stations.toml"]
    assert "airtcp run saturated-stations.toml" in result.stdout


def test_comments_of_the_hot_spot_do_not_drift_from_the_log(tmp_path: Path) -> None:
    call("example", "web-hotspot", "--to", tmp_path)
    text = (tmp_path / "web-hotspot.toml").read_text()
    (flow,) = load(tmp_path / "web-hotspot.toml").flows
    assert flow.application.kind == "web"
    size = flow.application.size

    assert "half are below 13 kB, 1 % are above 1 MB" in " ".join(text.replace("#", " ").split())
    assert float(size.survival(13e3)) < 0.5 < float(size.survival(12e3))
    assert 0.01 <= float(size.survival(1e6)) < 0.02


@pytest.mark.parametrize("name", BY_PROFILES)
def test_a_network_by_profiles_takes_some_15_lines(name: str) -> None:
    text = (directory() / f"{name}.toml").read_text(encoding="utf-8")

    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert len(lines) <= 15
    assert "profile" in text


def test_calls_of_the_office_wait_with_the_pages_and_not_before_them() -> None:
    """By 6 runs of 10 s: 160 ms at the 95th percentile of uploads, and 20 ms with the fix."""
    plain = load(str(directory() / "office-wifi6.toml")).with_run(duration_ns=10**10)
    first = plain.vary({"mac.edca.preset": "wmm", "mac.classify.udp": "AC_VO"})

    waits = []
    for scenario in (plain, first):
        runs = simulate(scenario, replications=4).simulation
        delays = runs.values("packet_delay_p95_s", "caller", "upload")
        waits.append(fmean(one or 0.0 for one in delays))
    assert waits[0] > 0.1
    assert waits[1] < 0.04


def test_the_line_is_what_delays_a_game_at_home() -> None:
    """A queue of 500 packets of 1500 bytes takes 150 ms at 40 Mb/s; fair queueing takes none."""
    plain = load(str(directory() / "home-evening.toml")).with_run(duration_ns=20 * 10**9)
    fair = plain.vary({"links.line.queue": {"discipline": "fq-codel"}})

    waits = []
    for scenario in (plain, fair):
        runs = simulate(scenario, replications=4).simulation
        delays = runs.values("packet_delay_p95_s", "console", "upload")
        waits.append(fmean(one or 0.0 for one in delays))
    # The path itself takes 10 ms.
    assert 0.08 < waits[0] < 0.2
    assert 0.01 < waits[1] < 0.03
