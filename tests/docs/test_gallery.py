"""Notebooks of the gallery are those of their stories, and were executed without an error."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def stories() -> dict[str, list[tuple[str, str]]]:
    spec = importlib.util.spec_from_file_location("gallery_stories", DOCS / "gallery_stories.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    found: dict[str, list[tuple[str, str]]] = module.STORIES
    return found


STORIES = stories()


def test_each_notebook_has_a_story() -> None:
    assert {path.stem for path in (DOCS / "gallery").glob("*.ipynb")} == set(STORIES)
    page = (DOCS / "howto" / "gallery.md").read_text(encoding="utf-8")
    assert all(f"(../gallery/{name}.ipynb)" in page for name in STORIES)


@pytest.mark.parametrize("name", STORIES)
def test_a_notebook_is_its_story_executed(name: str) -> None:
    notebook = json.loads((DOCS / "gallery" / f"{name}.ipynb").read_text(encoding="utf-8"))

    cells = notebook["cells"]
    assert ["".join(cell["source"]) for cell in cells] == [
        text.strip() for _, text in STORIES[name]
    ]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert outputs
    assert {output["output_type"] for output in outputs} <= {"display_data", "execute_result"}
