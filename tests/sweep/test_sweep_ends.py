"""A sweep whose store, disk or scenario is taken away keeps its finished work."""

import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from airtcp.results.query import open as opened
from children import Children
from commands import call
from sweeping import long_sweep, under_way, wait_for_rows

#: A point takes a tenth of a second or more: the sweep is far from done at its first rows.
DURATION = "2000 s"


def goes_on(file: Path, store: Path) -> None:
    """The same command with three short points succeeds, and keeps existing rows."""
    before = opened(store).table
    text = file.read_text().replace("to = 250", "to = 3").replace(DURATION, "100 ms")
    file.write_text(text)
    done = call("sweep", file, "--to", store, "--threads", "1")
    assert done.exit_code == 0, done.output
    after = opened(store).table
    assert len(after) == len(before) + 3
    assert not list(store.glob(".*"))


def test_a_store_that_is_removed_is_said_once(
    sweep_file: Path, tmp_path: Path, started: Children
) -> None:
    store = tmp_path / "store"
    process = under_way(started, long_sweep(sweep_file, DURATION), store)
    wait_for_rows(store)

    store.rename(tmp_path / "elsewhere")
    _, said = process.communicate()

    assert process.returncode == 1
    [line] = said.splitlines()
    assert line.startswith(f"airtcp: cannot write to {store}/"), line
    assert line.endswith("No such file or directory"), line
    assert started.left(patience_s=5) == []
    assert len(opened(tmp_path / "elsewhere")) > 0


def test_a_second_sweep_into_a_store_is_refused(
    sweep_file: Path, tmp_path: Path, started: Children
) -> None:
    """A second sweep is refused while the first one writes.

    The first one goes on, and keeps its finished points on Ctrl-C.
    """
    store = tmp_path / "store"
    first = under_way(started, long_sweep(sweep_file, DURATION), store)
    wait_for_rows(store)

    second = under_way(started, sweep_file, store)
    _, said = second.communicate()

    assert second.returncode == 2
    [line] = said.splitlines()
    assert f"{store} is being written by process {first.pid} on" in line
    assert first.poll() is None
    wait_for_rows(store, at_least=2)
    first.send_signal(signal.SIGINT)
    _, said = first.communicate()
    assert first.returncode == 130
    assert "interrupted: finished" in said
    assert 0 < len(opened(store)) < 250
    goes_on(sweep_file, store)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of a megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "airtcp-test", str(folder)]
    try:
        made = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        pytest.skip(f"no disk can be mounted: {error}")
    if made.returncode != 0:
        pytest.skip(f"no disk can be mounted: {made.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Create a file that fills the rest of a disk."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    assert shutil.disk_usage(disk).free == 0
    return filler


@pytest.mark.parametrize("with_rows", [True, False])
def test_a_full_disk_costs_what_was_under_way(
    with_rows: bool, sweep_file: Path, small_disk: Path, started: Children
) -> None:
    """The disk fills up after the first rows, or before any."""
    store = small_disk / "store"
    long_sweep(sweep_file, DURATION)
    filler = None if with_rows else fill(small_disk)
    process = under_way(started, sweep_file, store)
    if with_rows:
        wait_for_rows(store)
        filler = fill(small_disk)
    _, said = process.communicate()

    assert process.returncode == 1
    [line] = said.splitlines()
    assert line.startswith("airtcp: cannot write to ")
    assert "No space left on device" in line
    assert ("earlier results" in line) == with_rows
    assert started.left(patience_s=5) == []
    filler.unlink()
    if with_rows:
        assert len(opened(store)) > 0
        goes_on(sweep_file, store)
