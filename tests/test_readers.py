"""Endless files: each reader stops at its limit, and names the file."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from airtcp.exceptions import QuestionError
from airtcp.results import sql

needs_zero = pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")

_SCENARIO = """
phy = { standard = "802.11g" }
cells = { a = {} }
air = { received = "/dev/zero" }
stations = [{ name = "s", count = 1, cell = "a" }]
flows = [{ stations = "s", direction = "download", application = { kind = "bulk" } }]
run = { warmup = "0 s", duration = "1 s" }
"""
#: Reads files with at most 4 GiB of address space, and prints what each read raised.
_CODE = """
import json, resource, sys
from pathlib import Path

resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))
import airtcp
from airtcp import labs, plugins, results

folder = Path(sys.argv[1])
reads = {
    "received": lambda: airtcp.load(sys.argv[2]),
    "plugin": lambda: plugins.load("/dev/zero"),
    "scenario": lambda: airtcp.load("/dev/zero"),
    "store": lambda: results.open(folder),
    "answers": lambda: labs.check(folder / "dcf.answers.toml"),
}
told = {}
for name, read in reads.items():
    try:
        read()
    except Exception as error:
        told[name] = [type(error).__name__, str(error)]
print(json.dumps(told))
"""


@pytest.mark.slow
@needs_zero
def test_no_reader_goes_on_for_ever(tmp_path: Path) -> None:
    for name in ("store.json", "dcf.answers.toml"):
        (tmp_path / name).symlink_to("/dev/zero")
    command: list[str | Path] = [sys.executable, "-c", _CODE, tmp_path, _SCENARIO]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    told = json.loads(done.stdout)
    kinds = {"plugin": "PluginError", "store": "OutputError", "answers": "QuestionError"}
    kinds |= dict.fromkeys(("received", "scenario"), "ScenarioError")
    assert {name: kind for name, (kind, _) in told.items()} == kinds
    assert all("MiB" in words for _, words in told.values())


def test_what_is_compressed_is_bounded_by_its_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "_MOST_BYTES", 2**20)
    (tmp_path / "table.csv.gz").write_bytes(gzip.compress(b"1\n" * 2**20))

    with pytest.raises(QuestionError, match="larger than 1 MiB"):
        sql.files_as_tables([tmp_path / "table.csv.gz"])


def test_a_table_of_few_bytes_may_not_stand_for_more_cells_than_there_is_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    monkeypatch.setattr("airtcp.results.columns._MOST_CELLS", 1000)
    parquet.write_table(pa.table({"a": [1] * 1001}), tmp_path / "table.parquet")

    with pytest.raises(QuestionError, match="cells"):
        sql.files_as_tables([tmp_path / "table.parquet"])
