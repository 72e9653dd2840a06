"""Settings of Sphinx: Markdown pages, no extension of our own. `make docs` builds them."""

import tomllib
from pathlib import Path

_CARGO = Path(__file__).parents[1] / "Cargo.toml"

project = "airtcp"
author = "the airtcp authors"
project_copyright = "2026 the airtcp authors"
release = tomllib.loads(_CARGO.read_text(encoding="utf-8"))["workspace"]["package"]["version"]

extensions = ["myst_parser"]
exclude_patterns = ["_build"]
nitpicky = True

myst_heading_anchors = 3
myst_enable_extensions = ["deflist"]

html_theme = "furo"
html_title = f"airtcp {release}"
html_copy_source = False
