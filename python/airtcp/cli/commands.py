"""The `airtcp` command line app: registers all commands."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from airtcp.cli import ask, examples, traffic
from airtcp.cli.diff import diff
from airtcp.cli.importing import import_
from airtcp.cli.lab import lab
from airtcp.cli.outcome import outcome
from airtcp.cli.plan import plan
from airtcp.cli.results import plot, results
from airtcp.cli.sweep import sweep
from airtcp.cli.testbed import bench, shell
from airtcp.cli.web import web
from airtcp.extensions import ANSWER, EXPLORE, PAPERS, verbs

#: Groups of commands, in the order of `airtcp --help`.
_MEASURE: Final = "Measure real programs"
_WRITE: Final = "Write scenario files"
_OTHERS: Final = "Others"
_GROUPS: Final = (ANSWER, EXPLORE, _WRITE, _MEASURE, PAPERS, _OTHERS)
#: Longer than any first sentence of a command's help.
_NO_LIMIT: Final = 1000


class _Commands(TyperGroup):
    """The group of commands. Handles interruptions during argument parsing like later ones."""

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        with outcome():
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: Any) -> Any:
        with outcome():
            return super().invoke(ctx)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands by group, with the complete first sentence of their help."""
        groups = {name: self._group(command) for name, command in self.commands.items()}
        for group in dict.fromkeys((*_GROUPS, *groups.values())):
            rows = [
                (name, command.get_short_help_str(_NO_LIMIT))
                for name, command in self.commands.items()
                if groups[name] == group
            ]
            if rows:
                widest = max(len(name) for name, _ in rows)
                with formatter.section(group):
                    formatter.write_dl(rows, col_spacing=max(2, 11 - widest))

    @staticmethod
    def _group(command: Any) -> str:
        return getattr(command, "rich_help_panel", None) or _OTHERS


def _plug_in(files: list[str]) -> None:
    if files:
        from airtcp.plugins import load

        for file in files:
            load(file)


_Plugins = Annotated[
    list[str],
    typer.Option(
        "--plugin",
        metavar="FILE",
        callback=_plug_in,
        is_eager=True,
        help="Load algorithms from a file of Python, or an entry point. Repeatable.",
    ),
]


def _with_plugins(command: Callable[..., None]) -> Callable[..., None]:
    """Add a `--plugin` option to a command; plug-ins are loaded before it reads scenarios."""

    @wraps(command)
    def plugged(*arguments: Any, plugin: list[str], **options: Any) -> None:
        command(*arguments, **options)

    before = signature(command, eval_str=True)
    option = Parameter("plugin", Parameter.KEYWORD_ONLY, default=[], annotation=_Plugins)
    parameters = [*before.parameters.values(), option]
    plugged.__signature__ = before.replace(parameters=parameters)  # type: ignore[attr-defined]
    plugged.__annotations__ = {one.name: one.annotation for one in parameters}
    return plugged


app: Final = typer.Typer(
    name="airtcp",
    cls=_Commands,
    help="Predict TCP performance over Wi-Fi from a scenario file.",
    epilog="Begin with: airtcp example; airtcp example NAME; airtcp run NAME.toml",
    no_args_is_help=True,
    # Plain messages: no boxes around errors, only characters that any pipe can encode.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

app.command("run", rich_help_panel=ANSWER)(_with_plugins(ask.run))
app.command("plan", rich_help_panel=ANSWER)(_with_plugins(plan))
app.command("diff", rich_help_panel=ANSWER)(_with_plugins(diff))
app.command("predict", rich_help_panel=ANSWER)(_with_plugins(ask.predict))
app.command("simulate", rich_help_panel=ANSWER)(_with_plugins(ask.simulate))
app.command("web", rich_help_panel=EXPLORE)(web)
for _verb in verbs():
    app.command(_verb.name, rich_help_panel=_verb.group)(_verb.run)
app.command("sweep", rich_help_panel=EXPLORE)(_with_plugins(sweep))
app.command("results", rich_help_panel=EXPLORE)(results)
app.command("plot", rich_help_panel=EXPLORE)(plot)
app.command("lab", rich_help_panel=EXPLORE)(lab)
app.command("example", rich_help_panel=_WRITE)(examples.example)
app.command("show", rich_help_panel=_WRITE)(_with_plugins(examples.show))
app.command("import", rich_help_panel=_WRITE)(import_)
app.add_typer(traffic.app, name="traffic", rich_help_panel=_WRITE)
app.command("schema", rich_help_panel=_WRITE)(examples.schema)
app.command("testbed", rich_help_panel=_MEASURE)(bench)
app.command("shell", rich_help_panel=_MEASURE)(shell)


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
