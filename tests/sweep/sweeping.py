"""Sweeps in processes of their own, and waiting for their first rows."""

import json
import subprocess
import sys
import time
from pathlib import Path

from children import Children


def under_way(started: Children, file: Path, store: Path) -> "subprocess.Popen[str]":
    return started.start(
        [sys.executable, "-m", "airtcp", "sweep", file, "--to", store, "--threads", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def long_sweep(file: Path, duration: str = "40 s") -> Path:
    """Write a sweep of 250 points, which takes seconds."""
    file.write_text(
        'scenario = "base.toml"\nreplications = 1\n[axes]\n'
        f'"run.duration" = ["{duration}"]\n"run.seed" = {{ from = 1, to = 250, step = 1 }}\n'
    )
    return file


def wait_for_rows(store: Path, at_least: int = 1) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        file = store / "store.json"
        if file.exists() and len(json.loads(file.read_text())["rows"]) >= at_least:
            return
        time.sleep(0.02)
    raise AssertionError("no rows came")
