"""Items are made completely, once, and reproducibly; each error is one line."""

import json
import os
import shutil
import threading
from pathlib import Path

import pytest
from airtcp import results
from airtcp.cli.commands import app
from airtcp.results.table import locked
from airtcp.scenario import load
from airtcp.testbed import network
from airtcp.testbed.transfers import Ftp
from airtcp_papers.common import catalogue
from airtcp_papers.common.bench import Bench, Settings
from airtcp_papers.common.chart import Series, chart
from airtcp_papers.common.claims import load_claims
from airtcp_papers.common.item import Data, Item, Outcome
from airtcp_papers.common.make import make
from typer.testing import CliRunner, Result

CHEAP = "M.fig1"
FAST = ("--quick", "--replications", "2", "--threads", "1")


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


def files(out: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in out.rglob("*")
        # The id of the writing process differs each time.
        if path.is_file() and path.name != "lock"
    }


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("reproduce")
    assert call(CHEAP, *FAST, "--out", out).exit_code == 0
    return out


def test_an_item_has_picture_data_record_and_page(out: Path) -> None:
    names = set(files(out))

    assert names >= {f"M/fig1.{suffix}" for suffix in ("png", "svg", "csv", "json")}
    assert names >= {"index.html", "M/index.html"}
    page = (out / "M" / "index.html").read_text()
    assert "saturated.toml" in page
    assert "stations.node.count" in page
    assert "M.fig1" in page
    assert "quick run" in page


def test_the_runs_are_a_table_that_answers_to_sql(out: Path) -> None:
    found = results.open(out / "runs")
    question = """
        SELECT CAST("stations.node.count" AS INT) AS nodes, avg(collision_probability) AS p,
            count(*) AS runs
        FROM results WHERE paper = 'M' AND scenario = 'saturated' AND length = 'quick'
        GROUP BY ALL ORDER BY 1
    """
    rows = found.sql(question).to_pylist()
    shown = [
        float(line.split(",")[2])
        for line in (out / "M" / "fig1.csv").read_text().splitlines()
        if line.startswith("simulation")
    ]

    assert [row["runs"] for row in rows] == [2] * len(shown)
    assert [row["p"] for row in rows] == pytest.approx(shown, rel=1e-6)


def test_a_table_of_another_core_is_begun_anew(out: Path, tmp_path: Path) -> None:
    shutil.copytree(out, tmp_path, dirs_exist_ok=True)
    store = tmp_path / "runs" / "store.json"
    about = json.loads(store.read_text())
    store.write_text(json.dumps(about | {"core": "another", "version": "0.0.1"}))
    (tmp_path / "M" / "fig1.json").unlink()
    assert call(CHEAP, *FAST, "--out", tmp_path).exit_code == 0

    assert json.loads(store.read_text())["core"] == about["core"]
    assert len(results.open(tmp_path / "runs")) == len(results.open(out / "runs"))


def test_two_that_write_to_one_table_take_turns(out: Path, tmp_path: Path) -> None:
    shutil.copytree(out, tmp_path, dirs_exist_ok=True)
    (tmp_path / "M" / "fig1.json").unlink()
    waited = threading.Event()
    with locked(tmp_path / "runs" / "lock", tmp_path / "runs"):

        def make() -> None:
            call(CHEAP, *FAST, "--out", tmp_path)
            waited.set()

        thread = threading.Thread(target=make)
        thread.start()
        assert not waited.wait(1.0)
    thread.join()

    assert (tmp_path / "M" / "fig1.json").exists()


def test_data_are_those_of_the_figure(out: Path) -> None:
    header, first, *_ = (out / "M" / "fig1.csv").read_text().splitlines()

    assert header == "series,backlogged nodes,collision probability,low,high"
    assert first.startswith('"model, (1) and (2)",2,0.0602')


def test_a_second_run_gives_the_same_bytes(out: Path, tmp_path: Path) -> None:
    assert call(CHEAP, *FAST, "--out", tmp_path).exit_code == 0
    assert files(tmp_path) == files(out)


def test_what_is_there_is_not_made_again(out: Path) -> None:
    before = (out / "M" / "fig1.json").stat().st_mtime_ns
    answer = json.loads(call(CHEAP, *FAST, "--out", out, "--json").stdout)

    assert [one["how"] for one in answer["items"]] == ["kept"]
    assert (out / "M" / "fig1.json").stat().st_mtime_ns == before


def test_another_seed_is_another_result(out: Path, tmp_path: Path) -> None:
    assert call(CHEAP, *FAST, "--seed", 5, "--out", tmp_path).exit_code == 0
    assert files(tmp_path)["M/fig1.csv"] != files(out)["M/fig1.csv"]


def item(make_it: object, name: str = "M.test") -> Item:
    return Item(name, "title", "caption", "states", make_it)  # type: ignore[arg-type]


@pytest.mark.slow
def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path) -> None:
    """The second simulation is interrupted; the next run simulates only that one."""
    interrupted = True

    def two(bench: Bench) -> Outcome:
        bench.simulate("saturated", {"stations.node.count": 2})
        if interrupted:
            raise KeyboardInterrupt
        bench.simulate("saturated", {"stations.node.count": 3})
        return Outcome(Data(["a"], [[1]]), "found")

    settings = Settings(quick=True, replications=1, threads=1)
    with pytest.raises(KeyboardInterrupt):
        make([item(two)], settings, tmp_path)
    (first,) = (tmp_path / "runs").iterdir()
    made = first.stat().st_mtime_ns
    assert not (tmp_path / "M").exists()

    interrupted = False
    assert make([item(two)], settings, tmp_path)[0].how == "made"
    assert len(list((tmp_path / "runs").glob("*.gz"))) == 2
    assert first.stat().st_mtime_ns == made


def test_a_failed_item_does_not_keep_others_from_being_made(tmp_path: Path) -> None:
    def wrong(bench: Bench) -> Outcome:
        bench.simulate("saturated", {"stations.node.count": 0})
        raise AssertionError

    def right(bench: Bench) -> Outcome:
        return Outcome(Data(["a"], [[1]]), "found")

    made = make([item(wrong, "M.wrong"), item(right)], Settings(), tmp_path)

    assert [one.how for one in made] == ["failed", "made"]
    assert "stations[0]" in (made[0].reason or "")
    assert not (tmp_path / "M" / "wrong.json").exists()


def test_what_this_machine_cannot_measure_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This is not a failure: the command succeeds and says why, and so does the page."""
    monkeypatch.setattr(network, "_TUN", tmp_path / "tun")
    monkeypatch.setattr(network, "_PROGRAMS", {})
    monkeypatch.setattr(Ftp, "packages", {})
    out = tmp_path / "out"
    said = call("H.testbed-means", "H.table1", *FAST, "--out", out)
    told = json.loads(call("H.testbed-means", *FAST, "--out", out, "--json").stdout)

    assert said.exit_code == 0, said.stderr
    [note] = said.stderr.splitlines()
    assert note.startswith("airtcp: H.testbed-means not made: a testbed needs the TUN device")
    assert "H.testbed-means: not made" in said.stdout
    assert [one["how"] for one in told["items"]] == ["not made"]
    assert not (out / "H" / "testbed-means.json").exists()
    page = (out / "H" / "index.html").read_text()
    assert "H.testbed-means is not made: a testbed needs the TUN device" in page


@pytest.mark.parametrize(
    ("word", "nearest"),
    [
        ("M.fgi4", "M.fig4"),
        ("m.fig33", "M.fig"),
        ("clams", "claims"),
        ("M.two-node", "M.two-nodes"),
        ("h.mean-exponentail", "H.mean-exponential"),
    ],
)
def test_an_unknown_item_is_refused_with_the_nearest(word: str, nearest: str) -> None:
    result = call(word)

    assert result.exit_code == 2
    assert word in result.stderr
    assert nearest in result.stderr
    assert "Traceback" not in result.stderr


def test_a_claim_makes_its_item_and_is_judged_alone(out: Path) -> None:
    before = (out / "M" / "fig1.json").stat().st_mtime_ns
    shown = call("M.two-nodes", *FAST, "--out", out)
    told = json.loads(call("m.Two-nodes", *FAST, "--out", out, "--json").stdout)

    assert (out / "M" / "fig1.json").stat().st_mtime_ns == before
    assert "M.two-nodes" in shown.stdout
    assert "M.two-nodes-simulated" not in shown.stdout
    assert "1 statement (1 claim): 1 met" in shown.stdout
    assert [one["item"] for one in told["items"]] == [CHEAP]
    assert [one["id"] for one in told["claims"]] == ["M.two-nodes"]


def test_a_claim_beside_an_item_adds_to_those_of_the_item(out: Path) -> None:
    told = json.loads(call(CHEAP, "M.two-nodes", *FAST, "--out", out, "--json").stdout)

    about = {claim.id for claim in load_claims() if claim.item == CHEAP}
    assert {one["id"] for one in told["claims"]} == about


def test_a_name_of_an_item_and_a_claim_is_the_item() -> None:
    both = {claim.id for claim in load_claims()} & set(catalogue.items())

    assert both
    for name in both:
        assert catalogue.claim_of(name) is None
        assert [one.name for one in catalogue.find(name)] == [name]


def test_the_list_of_claims_names_every_claim() -> None:
    known = load_claims()
    listed = json.loads(call("claims", "--list", "--json").stdout)

    assert [one["claim"] for one in listed] == [claim.id for claim in known]
    assert all(set(one) == {"claim", "item", "where", "says"} for one in listed)
    assert all(claim.id in call("claims", "--list").stdout for claim in known[:3])


def test_capitals_do_not_matter(out: Path) -> None:
    assert "kept" in call(CHEAP.lower(), *FAST, "--out", out).stdout


def test_the_list_names_every_item() -> None:
    known = catalogue.items()
    listed = json.loads(call("--list", "--json").stdout)

    assert [one["item"] for one in listed] == list(known)
    assert {one["paper"] for one in listed} == set(catalogue.SOURCES)
    assert all(set(one) == {"item", "paper", "title"} for one in listed)
    assert all(name in call("--list").stdout for name in known)


def test_every_item_has_its_words() -> None:
    for one in catalogue.items().values():
        assert one.paper in catalogue.SOURCES
        assert len(one.title) > 5, one.name
        assert len(one.caption) > 20, one.name
        assert len(one.states) > 20, one.name


def test_scenario_files_run_as_they_are() -> None:
    """Each is a complete scenario, and begins with a description."""
    files = [one for paper in catalogue.SOURCES.values() for one in paper.scenarios]

    assert len(files) >= 7
    for file in files:
        assert load(file).title, file
        assert file.read_text(encoding="utf-8").startswith("# "), file


def test_a_folder_that_cannot_be_written_is_wrong_input(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    result = call(CHEAP, *FAST, "--out", tmp_path / "file")

    assert result.exit_code == 2
    assert "not a directory" in result.stderr
    assert (tmp_path / "file").read_text() == "mine"


def test_legends_stay_inside_their_figures() -> None:
    names = ["a rather long name of a curve that is simulated", "another one of the same length"]
    labels = [f"{name} {number}" for name in names for number in range(3)]
    series = [Series(label, [1, 2], [1.0, 2.0], "model") for label in labels]
    figure = chart(series, x="x", y="y", columns=4)

    (legend,) = figure.legends
    assert legend.get_window_extent().x1 <= figure.bbox.x1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full when the chart is written: every write of a PNG fails."""
    write = Path.write_bytes

    def full(self: Path, content: bytes) -> int:
        return write(Path("/dev/full") if ".png." in self.name else self, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    result = call(CHEAP, *FAST, "--out", tmp_path)

    assert result.exit_code == 2
    assert "No space left on device" in result.stderr
    assert not (tmp_path / "M" / "fig1.json").exists()
    assert not list(tmp_path.rglob(f".*.{os.getpid()}"))
