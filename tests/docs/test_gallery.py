"""Notebooks of the gallery match their stories and ran without an error."""

import json
from pathlib import Path

import gallery_stories
import pytest

DOCS = Path(__file__).parents[2] / "docs"
STORIES = gallery_stories.STORIES


def test_each_notebook_has_a_story() -> None:
    assert {path.stem for path in (DOCS / "gallery").glob("*.ipynb")} == set(STORIES)
    page = (DOCS / "howto" / "gallery.md").read_text(encoding="utf-8")
    assert all(f"(../gallery/{name}.ipynb)" in page for name in STORIES)


@pytest.mark.parametrize("name", STORIES)
def test_a_notebook_is_its_story_executed(name: str) -> None:
    cells = json.loads((DOCS / "gallery" / f"{name}.ipynb").read_text("utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]

    written = [text.strip() for _, text in STORIES[name]]
    assert ["".join(cell["source"]) for cell in cells] == written
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = {output["output_type"] for cell in code for output in cell["outputs"]}
    assert outputs
    assert outputs <= {"display_data", "execute_result"}
