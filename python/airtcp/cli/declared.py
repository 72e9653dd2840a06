"""Read the declarations of options and arguments (`options.toml`)."""

from __future__ import annotations

from typing import Any, Final

import typer

from airtcp.data import beside

_DECLARED: Final = beside(__file__, "options.toml")


def option(name: str, **more: Any) -> Any:
    """Return an option of a command by its name in `options.toml`.

    `more` has the parameters of `typer.Option` that code determines, such as bounds.
    """
    record = _record(name)
    # In an annotation, the first name of an option is in the place of its default.
    return typer.Option(*record.pop("flags", ()), **record, **more)  # type: ignore[misc]


def argument(name: str, **more: Any) -> Any:
    """Return an argument of a command by its name in `options.toml`; `more` as for `option`."""
    return typer.Argument(**_record(name), **more)


def _record(name: str) -> dict[str, Any]:
    module, _, own = name.partition(".")
    return dict(_DECLARED[module][own])
