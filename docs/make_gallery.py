"""Make the notebooks of the gallery: write each from its cells here, and execute it.

Notebooks show only output of their code. This takes seconds.

    .venv/bin/python docs/make_gallery.py                  # all of them
    .venv/bin/python docs/make_gallery.py trace sweep      # only the named ones
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat
from gallery_stories import STORIES
from nbclient import NotebookClient

FOLDER = Path(__file__).parent / "gallery"


def notebook(cells: list[tuple[str, str]]) -> nbformat.NotebookNode:
    """Return a notebook to execute; cells have numbers instead of random names."""
    made = []
    for number, (kind, text) in enumerate(cells):
        new = nbformat.v4.new_markdown_cell if kind == "text" else nbformat.v4.new_code_cell
        cell = new(text.strip())
        cell["id"] = f"cell-{number}"
        made.append(cell)
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return nbformat.v4.new_notebook(cells=made, metadata=metadata)


def execute(name: str, cells: list[tuple[str, str]]) -> None:
    """Execute the notebook of a story in an empty directory, and write it."""
    made = notebook(cells)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(made, timeout=600, resources={"metadata": {"path": folder}})
        client.execute()
    for cell in made["cells"]:
        cell.get("metadata", {}).pop("execution", None)
    made["metadata"].pop("language_info", None)
    nbformat.write(made, FOLDER / f"{name}.ipynb")
    print(f"{name}: {sum(cell['cell_type'] == 'code' for cell in made['cells'])} cells executed")


def main() -> None:
    """Make all notebooks, or the named ones."""
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or STORIES:
        execute(name, STORIES[name])


if __name__ == "__main__":
    main()
