"""The public face: what it exports, and that importing it is cheap."""

import re
import subprocess
import sys
from pathlib import Path

import airtcp
import airtcp.results
import pytest

API = (Path(__file__).parent.parent / "docs" / "reference" / "library.md").read_text(
    encoding="utf-8"
)


NAMES = re.findall(r"^\.\. auto\w+:: (airtcp\.(?!exceptions)\w+\.\w+)", API, re.MULTILINE)
#: Tells which names are missing after `import airtcp`, each in a child of its own that has imported
#: no room of the package; packages that rooms import are there, for these take longest.
EACH_ALONE = """
import os, sys
import numpy, pydantic, scipy.optimize
for name in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        try:
            import airtcp
            assert eval(name) is not None
        except BaseException as error:
            print(name, repr(error), flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, name
assert not any(name.startswith("airtcp") for name in sys.modules)
"""


@pytest.mark.slow
def test_what_the_documentation_names_is_there_after_one_import() -> None:
    done = subprocess.run(
        [sys.executable, "-c", EACH_ALONE, *NAMES], capture_output=True, text=True, check=False
    )

    assert len(NAMES) > 10
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.slow
def test_verbs_stay_functions_whatever_is_imported() -> None:
    # The modules have the names of their verbs.
    code = (
        "import airtcp.run.simulate, airtcp.predict.cells, airtcp.compare, airtcp.scenario.load\n"
        "import airtcp\n"
        "assert all(callable(f) for f in (airtcp.simulate, airtcp.predict, airtcp.compare, "
        "airtcp.load))\n"
        "from airtcp.run.simulate import TRACE_INTERVAL_S\n"
        "assert callable(airtcp.simulate)\n"
    )

    subprocess.run([sys.executable, "-c", code], check=True)


def test_errors_have_one_root() -> None:
    for name in airtcp.__all__:
        value = getattr(airtcp, name)
        if isinstance(value, type) and issubclass(value, Exception):
            assert issubclass(value, airtcp.AirtcpError)
    assert issubclass(airtcp.ConvergenceError, airtcp.ModelError)
