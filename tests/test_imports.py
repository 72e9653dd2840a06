"""What commands import: a budget of modules, because times mean nothing on a busy machine.

Each module named here takes tens to hundreds of milliseconds to import. `benches/around.py`
measures how long commands take.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import airtcp
import pytest
from bases import cell

pytestmark = pytest.mark.slow

EXAMPLES = sorted((Path(airtcp.__file__).parent / "examples").glob("*.toml"))
NUMERICS = {"numpy", "pydantic", "rich"}
PICTURES = {"matplotlib", "PIL"}
TABLES = {"pyarrow"}
ALWAYS = {"typer"}
#: Submodules that a package imports at first use, 20 to 50 ms each. A single call does so unnoticed
#: (`numpy.unique` imports masked arrays).
PARTS = {f"numpy.{part}" for part in ("ma", "random", "fft", "polynomial", "testing")}
PARTS |= {f"rich.{part}" for part in ("markdown", "syntax", "traceback", "progress")}
PARTS |= {"pydantic.v1", "importlib.resources.readers", "asyncio", "concurrent.futures"}
PARTS |= {"multiprocessing", "sqlite3"}


def imported(*commands: Sequence[str | Path]) -> set[str]:
    """Return all modules that these commands have imported, run in one process.

    A module that is missing was imported by none of them.
    """
    lines = [["airtcp", *map(str, arguments)] for arguments in commands]
    code = (
        "import json, sys\n"
        "from airtcp.cli import main\n"
        f"for sys.argv in {lines!r}:\n"
        "    try:\n        main()\n"
        "    except SystemExit as end:\n        assert not end.code, sys.argv\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr.splitlines()[-1]))


def packages(modules: set[str]) -> set[str]:
    """Return the third-party packages among these modules."""
    tops = {name.partition(".")[0] for name in modules}
    return tops & {"scipy", *NUMERICS, *PICTURES, *TABLES, *ALWAYS}


def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(cell(warmup="0 s", duration="1 s", replications=1))
    return path


def test_what_says_nothing_of_scenarios_imports_none() -> None:
    modules = imported(["--help"], ["--version"])

    assert packages(modules) <= ALWAYS | {"pydantic"}
    assert not modules & {"airtcp.scenario", "airtcp.results", "airtcp.models", "airtcp._core"}


def test_predictions_import_models_alone() -> None:
    """NumPy but not SciPy; no simulator, no papers, no charts."""
    commands: list[Sequence[str | Path]]
    commands = [["predict", example, "--no-glance"] for example in EXAMPLES]
    # A model covers this example, so no quick simulation runs.
    modules = imported(*commands, ["predict", EXAMPLES[0].with_name("web-hotspot.toml")])

    assert packages(modules) == ALWAYS | NUMERICS
    assert not modules & {"airtcp._core", "airtcp.run.simulate", "airtcp.run.glance"}
    assert not modules & ({"airtcp_papers.common.claims"} | PARTS)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted in /proc")
def test_a_command_waits_neither_for_threads_of_blas_nor_for_garbage() -> None:
    """BLAS starts no threads, and the garbage collector never scans 90,000 lasting objects."""
    code = (
        "import gc, json, os, sys\n"
        "from airtcp.cli import main\n"
        f"sys.argv = {['airtcp', 'predict', str(EXAMPLES[0]), '--no-glance']!r}\n"
        "try:\n    main()\n"
        "finally:\n    threads = len(os.listdir('/proc/self/task'))\n"
        "    told = [threads, gc.get_stats()[2]['collections'], len(gc.get_objects())]\n"
        "    print(json.dumps(told), file=sys.stderr)\n"
    )
    environment = {name: value for name, value in os.environ.items() if "_NUM_THREADS" not in name}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    threads, looked, left = json.loads(done.stderr.splitlines()[-1])

    assert (threads, looked) == (1, 0)
    # At exit Python scans what is left: a few objects of the test itself.
    assert left < 1000


def test_a_simulation_imports_no_model_and_pictures_only_for_a_report(tmp_path: Path) -> None:
    modules = imported(["simulate", tiny(tmp_path)])

    # SciPy for Student's t.
    assert packages(modules) <= ALWAYS | NUMERICS | {"scipy"}
    assert not modules & {"airtcp.models", "airtcp_papers.common.claims", "airtcp.present.plot"}
    report = imported(["simulate", tiny(tmp_path), "--out", tmp_path / "out"])
    assert packages(report) >= {"matplotlib"}
