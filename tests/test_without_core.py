"""Scenarios, models and predictions want no compiled core: what a Python in a browser has."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.examples import directory, examples

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
LITE = ROOT / "docs" / "lite"

#: Only what the wheel of pure Python asks for can be imported beside the standard library.
BARE = """
import importlib.abc, json, pkgutil, sys

class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in ("duckdb", "matplotlib", "pyarrow", "rich", "typer"):
            raise ImportError(name)

sys.meta_path.insert(0, Missing())
sys.path.insert(0, sys.argv[1])
import airtcp
assert airtcp.__file__.startswith(sys.argv[1])
"""
PREDICT = """
import airtcp.models
for module in pkgutil.walk_packages(airtcp.models.__path__, "airtcp.models."):
    __import__(module.name)
from airtcp.examples import directory, examples
told = {}
for one in examples():
    prediction = airtcp.predict(airtcp.load(str(directory() / f"{one.name}.toml")))
    told[one.name] = repr(prediction.model)
assert "airtcp._core" not in sys.modules
print(json.dumps(told))
"""
SIMULATE = """
from airtcp.examples import directory
try:
    airtcp.simulate(airtcp.load(str(directory() / "saturated-stations.toml")))
except ImportError as error:
    print(error)
"""


def packed(folder: Path) -> Path:
    """The wheel of pure Python."""
    spec = importlib.util.spec_from_file_location("lite_wheel", LITE / "wheel.py")
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path = module.pack(folder)
    assert isinstance(path, Path)
    return path


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pip has installed it, which holds its list of files to their hashes."""
    folder = tmp_path_factory.mktemp("site")
    wheel = packed(tmp_path_factory.mktemp("wheel"))
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
            *("--no-deps", "--no-index", "--target", str(folder), str(wheel)),
        ],
        check=True,
    )
    return folder


def said(site: Path, code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-P", "-c", BARE + code, str(site)],
        capture_output=True,
        text=True,
        cwd=site,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_predictions_without_a_core_are_those_with_one(site: Path) -> None:
    assert not list(site.rglob("_core*.so"))
    told = json.loads(said(site, PREDICT))

    assert told.keys() == {one.name for one in examples()}
    for name, model in told.items():
        prediction = airtcp.predict(airtcp.load(str(directory() / f"{name}.toml")))
        assert model == repr(prediction.model)


def test_a_simulation_without_a_core_says_what_is_missing(site: Path) -> None:
    assert "no simulator; allowed: airtcp from a package index" in said(site, SIMULATE)


def test_the_notebook_runs_without_a_core(site: Path) -> None:
    notebook = json.loads((LITE / "content" / "predict.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(one["source"]) for one in notebook["cells"] if one["cell_type"] == "code"]
    assert "piplite" in cells[0]
    code = "\n".join(cells[1:])
    script = f"import sys\nsys.path.insert(0, {str(site)!r})\nimport airtcp\n{code}\n"
    script += "print(airtcp.__file__, goodput)\n"

    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env={"MPLBACKEND": "agg", "PATH": ""},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(site))
    # What it says of TCP: a hundred stations get little less than one.
    goodput = json.loads(done.stdout.partition(" ")[2])
    assert goodput[-1] > 0.8 * goodput[0]


def test_equal_sources_are_equal_wheels(tmp_path: Path) -> None:
    one, other = packed(tmp_path / "one"), packed(tmp_path / "other")
    assert one.read_bytes() == other.read_bytes()


def test_what_is_built_from_is_there() -> None:
    settings = json.loads((LITE / "jupyter_lite_config.json").read_text())["LiteBuildConfig"]
    assert [(LITE / one).is_dir() for one in settings["contents"]] == [True]
