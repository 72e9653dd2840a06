"""Each chapter of docs/howto/questions.md: its commands work, and its answer is right.

The test writes a chapter's files, runs its commands line by line in a folder of its own, and
compares its claims with the output. Long commands run shorter if the answer stays the same.
"""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import airtcp
import pytest
import tables
from airtcp.remedies import catalogue, named, together
from airtcp.scenario import load
from commands import typed

PAGE = tables.whole(Path(__file__).parents[2] / "docs" / "howto" / "questions.md")
CHAPTERS = {
    re.findall(r"\(([\w-]+)\)=$", before.strip())[-1]: chapter
    for before, chapter in zip(
        re.split(r"(?m)^## .*$", PAGE)[:-1], re.split(r"(?m)^## .*$", PAGE)[1:], strict=True
    )
}
#: The most steps of a chapter: files and commands.
MOST_STEPS = 4


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", CHAPTERS[name])


def answer(name: str) -> str:
    (text,) = re.findall(r"(?ms)^\*\*Answer\.\*\* (.*?)\n\n", CHAPTERS[name] + "\n\n")
    return " ".join(text.split())


def files(name: str, folder: Path) -> None:
    """Write the files of a chapter."""
    for text in blocks(name, "toml"):
        (file,) = re.findall(r"\A# (\S+\.toml)\n", text)
        (folder / file).write_text(text, encoding="utf-8")


def run(line: str, folder: Path) -> str:
    return typed(line, folder, columns=100)


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., list[Any]]:
    """Run the commands of a chapter, and return their output; as JSON for `run` and `diff`.

    `simulate` and `run_with` add options to `simulate` and `run`, for a shorter run, or no advice
    where it is not checked.
    """

    def of(name: str, simulate: str = "", run_with: str = "") -> list[Any]:
        files(name, tmp_path)
        lines = [line for text in blocks(name, "sh") for line in text.splitlines()]
        said: list[Any] = []
        for line in lines:
            if re.match("airtcp (run|diff) ", line):
                more = run_with if line.startswith("airtcp run ") else ""
                said.append(as_json(f"{line} {more}", tmp_path))
            else:
                more = simulate if line.startswith("airtcp simulate ") else ""
                said.append(run(f"{line} {more}", tmp_path))
        return said

    return of


def as_json(line: str, folder: Path) -> Any:
    return json.loads(run(f"{line} --json", folder))


def test_every_chapter_has_an_answer_and_few_steps() -> None:
    for name, text in CHAPTERS.items():
        commands = [line for language in ("sh", "text") for line in blocks(name, language)]
        steps = len(blocks(name, "toml")) + sum(len(one.splitlines()) for one in commands)
        assert steps <= MOST_STEPS, name
        assert answer(name)
        assert "**What to do.** " in text


def test_an_office(ask: Callable[..., list[Any]], tmp_path: Path) -> None:
    narrow, wide = (found["verdict"] for found in ask("office", run_with="--no-advice"))
    states = {one["target"]: one["state"] for one in narrow["targets"]}
    calls, pages = "caller p95 delay < 50 ms", "laptop p90 page_time < 2 s"
    assert (narrow["state"], states) == ("fails", {calls: "fails", pages: "fails"})
    assert wide["state"] == "holds"

    values = [{one["target"]: one["value"] for one in of["targets"]} for of in (narrow, wide)]
    said = answer("office")
    assert f"take up to {1e3 * values[0][calls]:.0f} ms," in said
    assert f"page time is {values[0][pages]:.1f} s." in said
    both = f"{1e3 * values[1][calls]:.0f} ms and {values[1][pages]:.1f} s"
    assert f"it meets both: {both}" in said


def test_how_many_laptops(ask: Callable[..., list[Any]]) -> None:
    (said,) = ask("how-many")

    assert answer("how-many") in said.splitlines()


def test_uneven_uploads(ask: Callable[..., list[Any]], tmp_path: Path) -> None:
    (found,) = ask("uneven-uploads")

    problem, *_ = found["advice"]
    assert problem["problem"] == "ap-queue-small"
    assert "managed-queue" in found["recommended"]["name"]
    assert found["simulation"]["metrics"]["ap_queue_drop_probability"]["mean"] > 0.5
    assert "half of the ACKs" in answer("uneven-uploads")
    before = found["simulation"]["metrics"]["jain_index"]["mean"]
    files("uneven-uploads", tmp_path)
    base = named(load(tmp_path / "uploads.toml"))
    for change in ("managed-queue", "ack-priority"):
        changed = together(base, [one for one in catalogue() if one.name == change])
        assert not isinstance(changed, str)
        jain = airtcp.simulate(changed.scenario).simulation.metrics["jain_index"]
        assert jain.mean is not None
        assert jain.mean > 0.99, change
    assert "above 0.99" in CHAPTERS["uneven-uploads"]
    assert f"The fairness index of Jain is {before:.2f}." in answer("uneven-uploads")


def test_an_own_log(ask: Callable[..., list[Any]]) -> None:
    found = ask("own-log", run_with="--no-advice")[-1]["simulation"]

    assert found["airtime"]["idle"] > 0.9
    times = {key: one["mean"] for key, one in found["metrics"].items() if "time_p" in key}
    assert times["transfer_time_p50_s"] < 0.01
    assert times["transfer_time_p99_s"] > 0.5


def test_a_far_phone(ask: Callable[..., list[Any]], tmp_path: Path) -> None:
    _, home, found = ask("far-phone", run_with="--no-advice")
    a, b = (found["metrics"]["goodput_bps"][end]["mean"] / 1e6 for end in "ab")
    phone = found["groups"]["phone"]["all"]["goodput_bps"]
    lost = [phone[end]["mean"] / 1e6 for end in "ab"]

    said = answer("far-phone")
    assert f"together get {a:.0f} Mb/s" in said
    assert f"it is {b:.0f} Mb/s" in said
    assert f"falls from {lost[0]:.0f} to {lost[1]:.0f} Mb/s" in said
    share = home["simulation"]["groups"]["phone"]["all"]["airtime_share"]["mean"]
    assert 0.78 < share < 0.86
    nearer = load(tmp_path / "home-wifi6.toml").vary({"stations.phone.mcs": 4})
    goodput = airtcp.simulate(nearer, replications=1).simulation.metrics["goodput_bps"]
    assert goodput.mean > 3 * a * 1e6


def test_latency_under_load(ask: Callable[..., list[Any]]) -> None:
    found, compared = ask("latency-under-load")
    assert found["opportunity"]["name"] == "smaller-buffer"
    assert "tc" in found["opportunity"]["apply"]

    metrics = compared["metrics"]
    a, b = (metrics["path_rtt_s"][end]["mean"] * 1e3 for end in "ab")
    goodput = [metrics["goodput_bps"][end]["mean"] for end in "ab"]
    assert f"takes {a:.0f} ms there and back" in answer("latency-under-load")
    assert f"to {b:.0f} ms at the same goodput" in CHAPTERS["latency-under-load"]
    assert goodput[1] == pytest.approx(goodput[0], rel=0.02)


def test_two_thousand_runs(tmp_path: Path) -> None:
    files("uneven-uploads", tmp_path)
    sweep, query, plot = blocks("two-thousand", "text")[0].splitlines()
    assert "100 points, 2,000 runs" in run(f"{sweep} --dry-run", tmp_path)
    # Four replications of every fifth cell give the same answer.
    short = sweep.replace("step = 1", "step = 5").replace("--replications 20", "--replications 4")
    run(short, tmp_path)

    fair = {int(row["ap.queue.limit"]): row["avg(jain_index)"] for row in as_json(query, tmp_path)}
    assert min(fair, key=fair.__getitem__) == 10
    assert min(fair[100], fair[200]) > 0.95 > fair[50]
    run(plot, tmp_path)
    assert "<svg" in (tmp_path / "fairness.svg").read_text("utf-8")


def test_a_figure_of_a_paper(ask: Callable[..., list[Any]], tmp_path: Path) -> None:
    ask("paper-figure")
    sweep = blocks("paper-figure", "sh")[0].splitlines()[1]
    run(sweep.replace("--to paper", "--to twenty").replace("count=40", "count=20"), tmp_path)
    best = {}
    for store in ("paper", "twenty"):
        found = airtcp.results.open(tmp_path / store)
        axis = found.column("cw_min")
        rows = found.sql(
            f'SELECT "{axis}" AS cw, avg(goodput_bps) AS mean FROM results GROUP BY ALL '
            "ORDER BY mean DESC"
        ).to_pylist()
        best[store] = rows[0]["cw"]

    assert f"{best['paper']} is best for forty stations" in answer("paper-figure")
    assert f"where {best['twenty']} is for twenty" in answer("paper-figure")
    assert "<svg" in (tmp_path / "cwmin.svg").read_text("utf-8")


def test_a_notebook(tmp_path: Path) -> None:
    run("airtcp example home-wifi6", tmp_path)
    (text,) = blocks("notebook", "python")
    (tmp_path / "cells.py").write_text(text, encoding="utf-8")
    said = run(f"{sys.executable} cells.py", tmp_path)

    rises = {
        name: float(value) / 1e9
        for name, value in re.findall(r"(?m)^(oldest|airtime) +([\d.e+]+)$", said)
    }
    told = f"from {rises['oldest']:.2f} to {rises['airtime']:.2f} Gb/s"
    assert told in answer("notebook")


def test_windows_and_frames(ask: Callable[..., list[Any]], tmp_path: Path) -> None:
    ask("windows", simulate="--set run.duration=2s --set run.warmup=0s")

    header, *rows = (tmp_path / "moves.csv").read_text("utf-8").splitlines()
    assert {"cwnd_bytes", "srtt_s", "queue_packets"} <= set(header.replace('"', "").split(","))
    assert len(rows) > 20 * 20
    # The magic number of a capture with nanoseconds or microseconds.
    assert (tmp_path / "air.pcap").read_bytes()[:4].hex() in {"4d3cb2a1", "d4c3b2a1"}


def test_two_and_ten_stations(ask: Callable[..., list[Any]], tmp_path: Path) -> None:
    ask("dcf")
    assert (tmp_path / "two.pcap").stat().st_size > 1000
    cell = load(tmp_path / "saturated-stations.toml")
    collide = [
        airtcp.simulate(cell.vary({"stations.sensor.count": count}), replications=2)
        .simulation.metrics["collision_probability"]
        .mean
        for count in (2, 10)
    ]

    shown = " to ".join(f"{100 * (one or 0.0):.0f}" for one in collide)
    assert f"collisions grow from {shown} % of all attempts" in CHAPTERS["dcf"]
