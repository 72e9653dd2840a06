"""The commands of `airtcp`, put together."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from airtcp.cli import ask, examples, traffic
from airtcp.cli.diff import diff
from airtcp.cli.outcome import outcome
from airtcp.cli.plan import plan
from airtcp.cli.reproduce import reproduce
from airtcp.cli.results import plot, results
from airtcp.cli.sweep import sweep
from airtcp.cli.testbed import bench, shell
from airtcp.cli.web import web


class _Commands(TyperGroup):
    """The commands; an interruption while their words are read is told as a later one is."""

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        with outcome():
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: Any) -> Any:
        with outcome():
            return super().invoke(ctx)


app: Final = typer.Typer(
    name="airtcp",
    cls=_Commands,
    help="How TCP performs over Wi-Fi: models and a packet-level simulation, side by side.",
    no_args_is_help=True,
    # Plain messages: no boxes around an error, nothing that a pipe could not take.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

app.command("run")(ask.run)
app.command("predict")(ask.predict)
app.command("simulate")(ask.simulate)
app.command("diff")(diff)
app.command("plan")(plan)
app.command("sweep")(sweep)
app.command("results")(results)
app.command("plot")(plot)
app.command("testbed")(bench)
app.command("shell")(shell)
app.add_typer(traffic.app, name="traffic")
app.command("reproduce")(reproduce)
app.command("web")(web)
app.command("schema")(examples.schema)
app.command("example")(examples.example)


def _version(wanted: bool) -> None:
    if wanted:
        from airtcp._version import __version__

        typer.echo(f"airtcp {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass
