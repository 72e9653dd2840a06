"""The sweep files in docs/howto/sweeps.md are valid, and so is each kind of axis that it lists."""

import re
import tomllib
from pathlib import Path

import pytest
import tables
from airtcp.scenario import loads
from airtcp.sweep.points import points_of
from airtcp.sweep.spec import load_sweep, sweep_of
from bases import cell

PAGE = tables.whole(Path(__file__).parents[2] / "docs" / "howto" / "sweeps.md")
BASE = cell(tables='[links.uplink]\ndelay = "1 ms"', flow='path = ["uplink"]')
AXES = re.findall(r"(?m)^\| [\w ]+ \| `([^`]+ = [^`]+)`", PAGE)


def test_the_file_at_the_top_is_a_sweep(tmp_path: Path) -> None:
    (text,) = re.findall(r"(?ms)^```toml\n(.*?)^```$", PAGE)
    (tmp_path / "base.toml").write_text(BASE)
    (tmp_path / "sweep.toml").write_text(text)

    points = points_of(load_sweep(tmp_path / "sweep.toml"))

    assert len(points) == 5 * 5
    assert points.labels(3) == (1, 316)


@pytest.mark.parametrize("text", AXES)
def test_an_axis_of_the_list_is_one(text: str) -> None:
    assert len(AXES) == 7
    axes = tomllib.loads(text.replace(", ... }", " }"))

    assert len(points_of(sweep_of(loads(BASE), axes))) > 1
