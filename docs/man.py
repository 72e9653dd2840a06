"""Write manual pages of `airtcp` and of each of its commands, in section 1.

The pages contain the help of the command line, word for word, formatted as in groff_man(7).

    python docs/man.py out/man
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import airtcp
from airtcp.cli.commands import app
from typer.main import get_command

#: The exit statuses of every command.
CHECKED = (
    ("3", "With --check: a target fails."),
    ("4", "With --check: targets cannot be told apart from chance yet."),
)
STATUSES = (
    ("0", "The answer was given."),
    ("1", "The run failed, or its answer could not be written."),
    ("2", "The input was wrong: the message names the file, the key and what is allowed."),
    ("130", "The command was interrupted; what had ended is on disk."),
)


def main() -> int:
    """Write the pages into the man1 folder of a directory; exit status 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    folder = parser.parse_args().directory / "man1"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages():
        (folder / f"{name}.1").write_text(text, encoding="utf-8")
    print(f"{len(list(folder.glob('*.1')))} pages in {folder}")
    return 0


def pages() -> Iterator[tuple[str, str]]:
    """Return names and texts of all pages, that of `airtcp` first."""
    whole: Any = get_command(app)
    context = whole.make_context("airtcp", [], resilient_parsing=True)
    commands = [(name, whole.get_command(context, name)) for name in whole.list_commands(context)]
    told = [(name, of_it) for name, of_it in commands if not of_it.hidden]
    listed = [(f"airtcp-{name}(1)", of_it.get_short_help_str(1000)) for name, of_it in told]
    yield "airtcp", page("airtcp", whole, context, [("COMMANDS", listed)])
    for name, of_it in told:
        inner = type(context)(of_it, info_name=name, parent=context)
        below = [
            (one, of_it.get_command(inner, one).get_short_help_str(1000))
            for one in (of_it.list_commands(inner) if hasattr(of_it, "list_commands") else [])
        ]
        yield (
            f"airtcp-{name}",
            page(f"airtcp-{name}", of_it, inner, [("COMMANDS", below)] if below else []),
        )


def page(name: str, command: Any, context: Any, more: list[tuple[str, list[Any]]]) -> str:
    """Return the text of a page: name, synopsis, description, options, exit statuses."""
    help_text = (command.help or "").strip()
    # `apropos` expects the first sentence next to the name.
    summary = " ".join(help_text.split("\n\n")[0].split()).rstrip(".")
    usage = " ".join(command.collect_usage_pieces(context))
    records = [one.get_help_record(context) for one in command.get_params(context)]
    lines = [
        f'.TH "{name.upper()}" "1" "" "airtcp {airtcp.__version__}" "airtcp"',
        ".SH NAME",
        f"{escaped(name)} \\- {escaped(summary)}",
        ".SH SYNOPSIS",
        f".B {escaped(context.command_path)}",
        escaped(usage),
        ".SH DESCRIPTION",
        *("\n.PP\n".join(escaped(" ".join(one.split())) for one in help_text.split("\n\n")),),
    ]
    for title, rows in [*more, ("OPTIONS", [one for one in records if one])]:
        lines += [f".SH {title}", *entries(rows)]
    checks = any("--check" in one.opts for one in command.params)
    lines += [".SH EXIT STATUS", *entries(STATUSES[:3] + CHECKED * checks + STATUSES[3:])]
    if context.parent:
        lines += [".SH SEE ALSO", ".BR airtcp (1)"]
    return "\n".join(lines) + "\n"


def entries(rows: Any) -> Iterator[str]:
    """Return terms and their meanings as paragraphs with a hanging indent."""
    for term, meaning in rows:
        yield f".TP\n.B {escaped(term)}\n{escaped(' '.join(meaning.split()))}"


def escaped(text: str) -> str:
    """Return a text with roff's requests and escapes escaped."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"(?m)^([.'])", r"\\&\1", plain)


if __name__ == "__main__":
    sys.exit(main())
