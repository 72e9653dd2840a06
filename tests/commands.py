"""Run airtcp commands in the process of a test."""

import os
import re
import shlex
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

from airtcp.cli.commands import app
from typer.testing import CliRunner, Result


def call(*arguments: object, stdin: str | None = None, columns: int | None = None) -> Result:
    """Run `airtcp` with these arguments; return its output and exit status."""
    environment = None if columns is None else {"COLUMNS": str(columns)}
    told = [str(one) for one in arguments]
    return CliRunner().invoke(app, told, prog_name="airtcp", input=stdin, env=environment)


def typed(line: str, folder: Path, *, columns: int | None = None) -> str:
    """Run a shell line and return its output; check for status 0 and no trace of Python.

    An airtcp command runs in this process. A line with a pipe, a redirect or a plug-in, which would
    stay registered here, runs in bash.
    """
    words = shlex.split(line)
    if words[0] == "airtcp" and not {"|", ">", "--plugin"} & {*words}:
        with chdir(folder):
            done = call(*words[1:], columns=columns)
        status, out, err = done.exit_code, done.stdout, done.stderr
    else:
        # The airtcp of the interpreter that runs this test, whatever else is on the path.
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        wide = {} if columns is None else {"COLUMNS": str(columns)}
        ran = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", line],
            cwd=folder,
            env=os.environ | {"PATH": path} | wide,
            capture_output=True,
            text=True,
            check=False,
        )
        status, out, err = ran.returncode, ran.stdout, ran.stderr
    assert status == 0, f"{line}\n{out}\n{err}"
    assert not re.search("Traceback|leaked", err), err
    return out
