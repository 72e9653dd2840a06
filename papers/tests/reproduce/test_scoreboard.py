"""The scoreboard: complete from stored numbers, right after a partial run, with small charts."""

import io
from pathlib import Path

from airtcp_papers.common import catalogue
from airtcp_papers.common.bench import Settings
from airtcp_papers.common.claims import load_claims
from airtcp_papers.common.make import make
from airtcp_papers.common.pages import judgements, write_pages
from airtcp_papers.common.scoreboard import kept, picture, rows, thumbnail, with_kept
from PIL import Image


def test_every_claim_has_a_kept_number_and_a_row() -> None:
    known = catalogue.items()
    board = rows(known.values(), kept())
    named = [claim for row in board for claim in row.verdicts]

    assert "not made" not in {one.verdict for one in kept()}
    assert sorted(named) == sorted(claim.id for claim in load_claims())
    for row in board:
        assert sum(row.counts.values()) == len(row.verdicts)
        assert bool(row.line) == bool(row.verdicts)
        assert len(row.line) <= 210


def test_a_line_ends_with_its_sentence() -> None:
    board = {row.item.name: row for row in rows(catalogue.items().values(), kept())}

    assert "two uploads of Fig. 6, B = 10 Mb/s: 0 (paper" in board["L.fig11a"].line


def test_a_row_says_why_its_worst_claim_is_not_met() -> None:
    board = {row.item.name: row for row in rows(catalogue.items().values(), kept())}

    assert board["M.fig4"].named("not met")[0] == "M.collisions-downloads"
    assert board["M.fig4"].line.startswith("collisions-downloads: The distance of the stations")
    assert "(paper: 0.06" in board["M.fig1"].line


def test_a_partial_run_judges_its_own_and_keeps_the_rest(tmp_path: Path) -> None:
    known = catalogue.items()
    make([known["M.fig2"]], Settings(quick=True, replications=2), tmp_path)
    write_pages(tmp_path)
    here = judgements(tmp_path)
    whole = with_kept(here)
    made = [one for one in here if one.verdict != "not made"]
    page = (tmp_path / "index.html").read_text()

    assert {one.claim.item for one in made} == {"M.fig2"}
    assert [one for one in whole if one.claim.item == "M.fig2"] == made
    assert "not made" not in {one.verdict for one in whole}
    assert f"{len(made)} of {len(here)} claims are judged by what was made" in page
    assert "not made" not in page
    for letter in catalogue.PAPERS:
        of_paper = (tmp_path / letter / "index.html").read_text()
        assert "not made" not in of_paper
        assert all(f"<td>{name}" in of_paper for name in known if name.startswith(f"{letter}.t"))
    drawn = [one for one in known.values() if picture(one) is not None]
    assert page.count("data:image/png;base64,") == len(drawn) > 60
    small = thumbnail((tmp_path / "M" / "fig2.png").read_bytes())
    assert len(small) < 10_000
    with Image.open(io.BytesIO(small)) as opened:
        assert opened.width == 180
