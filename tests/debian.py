"""Fetches Debian packages that are not installed, with apt-get and without installing them.

Skips the test if the packages cannot be fetched.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

_KEY = "/usr/share/keyrings/debian-archive-keyring.gpg"


def _fetch(directory: Path, kind: str, suite: str, *commands: list[str]) -> None:
    """Run commands of apt-get in a directory, with its own package lists and cache."""
    source = f"{kind} [signed-by={_KEY}] http://deb.debian.org/debian {suite} main\n"
    (directory / "sources.list").write_text(source)
    for name in ("lists/partial", "cache/archives/partial"):
        (directory / name).mkdir(parents=True)
    options = {
        "Dir::Etc::sourcelist": directory / "sources.list",
        "Dir::Etc::sourceparts": "-",
        "Dir::State::lists": directory / "lists",
        "Dir::Cache": directory / "cache",
        "APT::Sandbox::User": "root",
    }
    apt = ["apt-get", "-q"]
    apt += [word for key, one in options.items() for word in ("-o", f"{key}={one}")]
    try:
        for command in (["update"], *commands):
            subprocess.run(
                [*apt, *command], cwd=directory, check=True, capture_output=True, timeout=900
            )
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"{suite} of Debian cannot be fetched: {error}")


def fetch_source(directory: Path, suite: str, package: str) -> None:
    """Fetch the archives of a source package into a directory."""
    _fetch(directory, "deb-src", suite, ["source", "--download-only", package])


def fetch_program(directory: Path, suite: str, path: str, *packages: str) -> list[str]:
    """Fetch packages, and return the command that runs the program at `path` in one of them.

    `packages` are the program's and those of all its libraries, libc included.
    """
    _fetch(directory, "deb", suite, ["download", *packages])
    root = directory / "root"
    for package in directory.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, root], check=True, capture_output=True)
    (loader,) = (root / "usr/lib").glob("*/ld-linux*.so.*")
    return [str(loader), "--library-path", str(loader.parent), str(root / path)]
