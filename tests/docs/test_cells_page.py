"""The quotes of docs/howto/cells.md, held to what `airtcp run` says."""

import re
from pathlib import Path

import airtcp
import tables
from airtcp.examples import directory
from airtcp.present.cells import sentences

PAGE = tables.whole(Path(__file__).parents[2] / "docs" / "howto" / "cells.md")


def test_the_middle_cell_is_told_as_it_is_simulated() -> None:
    scenario = airtcp.load(str(directory() / "three-cells.toml"))
    told = sentences(scenario, airtcp.compare(scenario).simulation.cells)

    assert re.findall(r"\*(Cell middle gets .*?\.)\*", PAGE) == told
