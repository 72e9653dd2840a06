"""A result on disk: complete, self-contained, never half written."""

import json
import re
from dataclasses import replace
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from airtcp import files
from airtcp.compare import compare, with_testbed
from airtcp.exceptions import OutputError
from airtcp.judge.recommend import advise
from airtcp.judge.verdicts import verdict
from airtcp.predict import predict
from airtcp.present import drawing, plot, report
from airtcp.results import Comparison, Lag, TestbedResult
from airtcp.run.simulate import simulate
from airtcp.scenario import loads
from bases import reading
from wing import with_papers

WRITTEN = (
    """
title = "Laptops <b>&</b> 'phones'"   # 1 < 2
phy = { standard = "802.11b" }
stations = [{ name = "laptop", count = 3 }]
run = { warmup = "1 s", duration = "20 s", replications = 4 }
[[flows]]
stations = "laptop"
direction = "download"
"""
    + f"application = {reading('20 kB')}\n"
)
#: Downloads at the lowest rate slow all others down.
WRITTEN_SLOW = """
phy = { standard = "802.11ax", mcs = 9 }
stations = [{ name = "near", count = 2 }, { name = "far", count = 1, mcs = 0 }]
run = { warmup = "1 s", duration = "2 s", replications = 3 }
flows = [
    { stations = "near", direction = "download", application = { kind = "bulk" } },
    { stations = "far", direction = "download", application = { kind = "bulk" } },
]
[targets]
"near flow_goodput" = "> 30 Mb/s"
"""

#: The charts for pages that are loaded over a fast network.
OF_PAGES = ["comparison", "airtime", "transfer-times", "active-transfers", "goodput"]


@pytest.fixture(scope="module")
def result() -> Comparison:
    return compare(loads(WRITTEN))


@pytest.fixture(scope="module")
def page(result: Comparison) -> str:
    return report.html(result, drawing.svgs(plot.pictures(result)), WRITTEN)


class Loads(HTMLParser):
    """Collects tags, and everything that a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name in {"src", "href", "srcset", "data", "action", "poster"} and value:
                self.fetched.append(value)


@pytest.fixture(scope="module")
def paths(result: Comparison, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Write the result's files into a directory that does not exist yet."""
    return report.write(result, tmp_path_factory.mktemp("written") / "new" / "out", WRITTEN)


@with_papers
def test_all_files_are_there(result: Comparison, paths: list[Path]) -> None:
    names = {path.name for path in paths[0].parent.iterdir()}
    pictures = {f"{name}.{suffix}" for name in OF_PAGES for suffix in ("png", "svg")}
    assert paths[0].name == "report.html"
    assert names == {path.name for path in paths} == {"report.html", "results.json"} | pictures
    assert all(path.stat().st_size > 1000 for path in paths)
    assert paths[0].with_name("results.json").read_text() == result.to_json() + "\n"


@with_papers
def test_the_report_stands_alone(page: str) -> None:
    seen = Loads()
    seen.feed(page)
    ids = re.findall(r"""\bid=["']([^"']+)["']""", page)

    assert all(address.startswith("#") for address in seen.fetched)
    assert not {"script", "link", "iframe", "img"} & set(seen.tags)
    assert not re.search(r"@import|url\((?!#)|https?://", page)
    assert seen.tags.count("svg") == len(OF_PAGES)
    assert len(ids) == len(set(ids))


def test_text_of_the_scenario_is_not_taken_for_html(result: Comparison) -> None:
    page = report.html(result, {}, WRITTEN)

    assert "<b>" not in page
    assert "Laptops &lt;b&gt;&amp;&lt;/b&gt; &#x27;phones&#x27;" in page
    assert "# 1 &lt; 2" in page


def test_other_files_stay_and_pictures_of_an_earlier_result_go(
    result: Comparison, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    report.write(simulate(result.scenario), tmp_path)
    assert "model" not in json.loads((tmp_path / "results.json").read_text())
    assert "class='state " not in (tmp_path / "report.html").read_text()
    assert (tmp_path / "airtime.png").exists()

    report.write(predict(result.scenario), tmp_path)

    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"report.html", "results.json", "notes.txt"}


@with_papers
def test_models_without_an_answer_are_on_the_page(result: Comparison) -> None:
    page = report.html(replace(result, unanswered={"M (10)": "no root <here>"}), {}, WRITTEN)

    assert "Models without an answer" in page
    assert "no root &lt;here&gt;" in page
    assert "Models without an answer" not in report.html(result, {}, WRITTEN)


def test_nothing_half_written_is_left_when_writing_fails(
    result: Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plot, "pictures", lambda *_, **__: {})
    report.write(result, tmp_path)
    before = (tmp_path / "report.html").read_bytes()

    def full(self: Path, content: bytes) -> int:
        with open(self, "wb") as file:
            file.write(content[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OutputError, match="No space left"):
        report.write(result, tmp_path)

    assert (tmp_path / "report.html").read_bytes() == before
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_directory_that_cannot_be_made_is_an_output_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(OutputError, match="not a directory"):
        files.prepare(tmp_path / "file")
    with pytest.raises(OutputError, match="cannot write to"):
        files.prepare(tmp_path / "file" / "below")


@with_papers
def test_a_testbed_stands_in_table_and_pictures(result: Comparison) -> None:
    other = simulate(loads(WRITTEN), seed=99, replications=1)
    lag = Lag(10, 1e-5, 1e-5, 1e-3, 5e-4, 0.02, False, 0, 0)
    deviations = ("laptop: nobody <skips> ACKs",)
    testbed = TestbedResult(other.scenario, other.provenance, other.simulation, lag, deviations)
    beside = with_testbed(result, testbed)
    figures = plot.pictures(beside)
    page = report.html(beside, drawing.svgs(figures))

    assert "simulation and testbed" in page
    assert "99 % of 10 packets are" in page
    assert "real-time priority" in page
    assert "nobody &lt;skips&gt; ACKs" in page
    for name in ("comparison", "transfer-times"):
        with_it, without = (
            {text.get_text() for legend in one[name].legends for text in legend.get_texts()}
            for one in (figures, plot.pictures(result))
        )
        assert "testbed" in with_it - without


def test_the_report_begins_with_the_verdict_and_has_what_was_tried() -> None:
    result = compare(loads(WRITTEN_SLOW))
    result = replace(result, verdict=verdict(result), advice=advise(result))
    page = report.html(result, {}, WRITTEN_SLOW)

    heads = ["class='state ", "<h2 id='targets'", "id='groups'", "id='wrong'", "id='models'"]
    places = [page.index(one) for one in heads]
    assert places[:3] == sorted(places[:3])
    assert places[3] < places[4]
    assert escape(result.advice.recommended.title) in page


def test_what_a_report_comes_from_is_told_in_words_and_its_file_in_lines() -> None:
    """The report shows the scenario with the command line's changes, and packages as plain text."""
    changed = loads(WRITTEN_SLOW).vary({"run.replications": 4})
    page = report.html(simulate(changed), {}, WRITTEN_SLOW)

    told = page[page.index("Where this comes from") :]
    assert re.search(r"<dt>packages</dt><dd>numpy [\d.]+, scipy [\d.]+</dd>", told)
    assert "<dt>file</dt>" not in told
    [file] = re.findall("<pre>(.*?)</pre>", told, re.DOTALL)
    assert loads(unescape(file)).hash() == changed.hash()
    assert loads(unescape(file)).run.replications == 4
