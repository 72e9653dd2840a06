"""Commands of airtcp in the process of a test."""

from airtcp.cli.commands import app
from typer.testing import CliRunner, Result


def call(*arguments: object, stdin: str | None = None, columns: int | None = None) -> Result:
    """What `airtcp` with these arguments prints and ends with."""
    environment = None if columns is None else {"COLUMNS": str(columns)}
    told = [str(one) for one in arguments]
    return CliRunner().invoke(app, told, prog_name="airtcp", input=stdin, env=environment)
