"""The public API: what it exports, and that importing it is cheap."""

import subprocess
import sys

import airtcp
import airtcp.results
import pytest


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
