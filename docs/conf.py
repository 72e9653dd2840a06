"""Sphinx settings for Markdown pages that show CSV files as tables. `make docs` builds them."""

import sys
import tomllib
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import tables

_CARGO = Path(__file__).parents[1] / "Cargo.toml"
#: The page that needs no server (`make lite`), which `make docs` copies next to the documentation.
_LITE = Path(__file__).parents[1] / "out" / "lite"
_TRY = (
    '<p><a href="try/index.html"><b>Try airtcp in this browser</b></a>: nothing to install, no '
    "server; it loads 30 MB once.</p>"
)

project = "airtcp"
author = "the airtcp authors"
project_copyright = "2026 the airtcp authors"
release = tomllib.loads(_CARGO.read_text(encoding="utf-8"))["workspace"]["package"]["version"]

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "jupyter_execute", "lite", "publication"]
nitpicky = True
# Names in docstrings without a target: the standard library and internal classes.
nitpick_ignore_regex = [("py:.*", ".*")]
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
default_role = "code"
# Notebooks are executed by make_gallery.py.
nb_execution_mode = "off"

myst_heading_anchors = 3
myst_enable_extensions = ["deflist", "dollarmath"]

html_theme = "furo"
html_title = f"airtcp {release}"
html_copy_source = False


def setup(app: Any) -> None:
    """Show a CSV file as a table at each link that is alone on its line."""

    def read(_app: Any, page: str, source: list[str]) -> None:
        source[0] = tables.directives(source[0])
        if page == "index" and _LITE.is_dir():
            source[0] = source[0].replace("\n\n", f"\n\n{_TRY}\n\n", 1)

    app.connect("source-read", read)
