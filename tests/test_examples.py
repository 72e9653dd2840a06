"""The examples: they load, run, print their descriptions, and can be copied to start from."""

import json
from pathlib import Path

import pytest
from airtcp import load
from airtcp.examples import examples
from bases import example
from commands import call

NAMES = [
    *("office-wifi6", "home-evening", "cafe-wifi6", "class-wifi6", "warehouse-wifi4"),
    *("home-wifi6", "mixed-clients", "office-wifi5", "three-cells", "hidden-uploads"),
    *("three-offices", "fair-uploads", "ftp-downloads", "office-uploads"),
    *("persistent-downloads", "saturated-stations", "web-hotspot"),
]
LOG = "semicomplete-2015-05.access.log.gz"


def test_the_examples_are_listed_with_what_they_show() -> None:
    result = call("example")
    assert result.exit_code == 0
    for item in examples():
        assert item.name in result.stdout
        assert item.description in result.stdout
        assert item.description.endswith(".")
        assert len(item.description) <= 100
    assert [item.name for item in examples()] == NAMES
    listed = json.loads(call("example", "--json").stdout)
    assert [item["name"] for item in listed] == NAMES
    assert listed[-1]["files"] == ["web-hotspot.toml", LOG]


@pytest.mark.parametrize("name", NAMES)
def test_an_example_written_out_is_the_one_that_is_shown(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Snapshots hold what its run prints (test_snapshots)."""
    assert call("example", name, "--to", tmp_path / "here").exit_code == 0
    assert load(tmp_path / "here" / f"{name}.toml").to_dict() == example(name).to_dict()
    # By default the example is written to the current directory.
    monkeypatch.chdir(tmp_path)
    result = call("example", name)
    assert (tmp_path / f"{name}.toml").read_bytes() == (tmp_path / f"here/{name}.toml").read_bytes()
    assert f"airtcp run {name}.toml" in result.stdout


def test_files_that_are_there_are_not_overwritten(tmp_path: Path) -> None:
    mine = tmp_path / "web-hotspot.toml"
    mine.write_text("mine")
    refused = call("example", "web-hotspot", "--to", tmp_path)
    assert refused.exit_code == 2
    assert "file exists" in refused.stderr
    assert mine.read_text() == "mine"
    assert not (tmp_path / LOG).exists()
    assert call("example", "web-hotspot", "--to", tmp_path, "--force").exit_code == 0
    assert "[phy]" in mine.read_text()
