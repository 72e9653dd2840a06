"""The examples: they load, run, say what they show, and can be written out to start from."""

import json
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from airtcp import load
from airtcp.examples import examples
from airtcp.run.simulate import simulate
from bases import example
from commands import call

NAMES = [
    *("office-wifi6", "home-evening", "cafe-wifi6", "class-wifi6", "warehouse-wifi4"),
    *("home-wifi6", "mixed-clients", "office-wifi5", "three-cells", "hidden-uploads"),
    *("three-offices", "fair-uploads", "ftp-downloads", "office-uploads"),
    *("persistent-downloads", "saturated-stations", "web-hotspot"),
]
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
    listed = json.loads(call("example", "--json").stdout)
    assert [item["name"] for item in listed] == NAMES
    assert listed[-1]["files"] == ["web-hotspot.toml", LOG]


@pytest.mark.parametrize("name", NAMES)
def test_an_example_written_out_is_the_one_that_is_shown(name: str, tmp_path: Path) -> None:
    """How it is answered is in the snapshots."""
    assert call("example", name, "--to", tmp_path / "here").exit_code == 0
    assert load(tmp_path / "here" / f"{name}.toml").to_dict() == example(name).to_dict()


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


def test_the_home_is_what_it_says() -> None:
    """In order of arrival the console gets as much as the phone; by turns many times as much."""
    ratios = []
    for scheduler in ("oldest", "round-robin"):
        groups = simulate(example("home-wifi6", **{"ap.scheduler": scheduler})).simulation.groups
        names = ("console", "phone")
        console, phone = (groups[one]["download"]["flow_goodput_bps"].mean for one in names)
        ratios.append(console / phone)
    assert ratios[0] == pytest.approx(1.0, abs=0.2)
    assert ratios[1] > 5


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


FIRST = {"mac.edca.preset": "wmm", "mac.classify.udp": "AC_VO"}
FAIR = {"links.line.queue": {"discipline": "fq-codel"}}


@pytest.mark.parametrize(
    ("name", "seconds", "changes", "of", "before_s", "after_s"),
    [
        # By 6 runs of 10 s: 160 ms at the 95th percentile of uploads, and 20 ms with the fix.
        ("office-wifi6", 10, FIRST, ("caller", "upload"), (0.1, 0.3), (0.0, 0.04)),
        # A queue of 500 packets of 1500 bytes takes 150 ms at 40 Mb/s; fair queueing takes none.
        # The path itself takes 10 ms.
        ("home-evening", 20, FAIR, ("console", "upload"), (0.08, 0.2), (0.01, 0.03)),
    ],
)
def test_delays_are_what_examples_say(
    name: str,
    seconds: int,
    changes: dict[str, Any],
    of: tuple[str, str],
    before_s: tuple[float, float],
    after_s: tuple[float, float],
) -> None:
    plain = example(name).with_run(duration_ns=seconds * 10**9)
    for scenario, (least, most) in ((plain, before_s), (plain.vary(changes), after_s)):
        runs = simulate(scenario, replications=4).simulation
        delays = runs.values("packet_delay_p95_s", *of)
        assert least < fmean(one or 0.0 for one in delays) < most


def test_the_office_is_what_it_says() -> None:
    """Thirty laptops; calls wait in the line of the downloads, and do not with AC_VO."""
    plain = example("office-wifi5")
    assert sum(group.count for group in plain.stations) == 30
    waits = [
        simulate(scenario, replications=2).simulation.groups["call"]["download"]["packet_delay_s"]
        for scenario in (plain, plain.vary({"mac.classify.udp": "AC_VO"}))
    ]
    assert waits[1].mean < waits[0].mean / 2
