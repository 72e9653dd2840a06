"""Packs airtcp without its simulator: a wheel of pure Python, for where nothing can be compiled.

    .venv/bin/python docs/lite/wheel.py DIR     # writes DIR/airtcp-VERSION-py3-none-any.whl

Scenarios, models and predictions are in it, and work; what wants the compiled core says what is
missing. It is for a Python in a browser (Pyodide) and belongs on no package index, where the wheels
with the core are.
"""

from __future__ import annotations

import base64
import hashlib
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "airtcp"
#: The dependencies of the package that predictions need.
NEEDED = ("numpy", "pydantic", "scipy")
#: In the place of the compiled core.
NO_CORE = '''"""Stands where the compiled core is elsewhere: this airtcp is without it."""

raise ImportError(
    "this airtcp has scenarios, models and predictions alone, and no simulator; allowed: airtcp "
    "from a package index, on Linux, macOS or Windows"
)
'''
#: A wheel has no time of day: equal sources are equal bytes.
EPOCH = (1980, 1, 1, 0, 0, 0)


def metadata() -> tuple[str, str]:
    """Version and METADATA."""
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = cargo["workspace"]["package"]["version"]
    wanted = [one for one in project["dependencies"] if one.startswith(NEEDED)]
    assert len(wanted) == len(NEEDED), wanted
    lines = [
        "Metadata-Version: 2.1",
        "Name: airtcp",
        f"Version: {version}",
        f"Summary: {project['description']}",
        f"License: {project['license']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {one}" for one in wanted),
    ]
    return version, "\n".join(lines) + "\n"


def contents() -> Iterator[tuple[str, bytes]]:
    """The files of the package without what is compiled."""
    for path in sorted(PACKAGE.rglob("*")):
        if path.is_file() and path.suffix not in (".so", ".pyd", ".pyc", ".pyi"):
            yield path.relative_to(PACKAGE.parent).as_posix(), path.read_bytes()
    yield "airtcp/_core.py", NO_CORE.encode()


def pack(folder: Path) -> Path:
    """Write the wheel into a folder."""
    version, about = metadata()
    info = f"airtcp-{version}.dist-info"
    wheel = "Wheel-Version: 1.0\nGenerator: airtcp\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    license_ = (ROOT / "LICENSE").read_bytes()
    files = [
        *contents(),
        (f"{info}/METADATA", about.encode()),
        (f"{info}/WHEEL", wheel.encode()),
        (f"{info}/licenses/LICENSE", license_),
    ]
    record = "".join(f"{name},{_digest(content)},{len(content)}\n" for name, content in files)
    files.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode()))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"airtcp-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)
    return path


def _digest(content: bytes) -> str:
    hashed = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
    return f"sha256={hashed.rstrip(b'=').decode()}"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: docs/lite/wheel.py DIR")
    print(pack(Path(sys.argv[1])))
