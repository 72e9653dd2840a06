"""The scenario that is written: each key with the line that it comes from, and what is not known.

Knows tables of TOML and comments. Does not know which file says what.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import Any, Final

from airtcp.exceptions import ScenarioError, one_line
from airtcp.scenario.toml_text import value_text
from airtcp.units import format_time_ns

#: Lines of this width are told from their comments by a tabulator stop.
_STOP: Final = 36
_WIDTH: Final = 96


def time_text(seconds: float) -> str:
    """A time as a scenario has it, to the millisecond, or below one second to the microsecond."""
    step_ns = 10**6 if seconds >= 1.0 else 10**3
    return format_time_ns(round(seconds * 1e9 / step_ns) * step_ns)


@dataclass(frozen=True)
class Said:
    """A value, and why it stands there: a line of a file, or an assumption."""

    value: Any
    why: str


@dataclass
class Draft:
    """A scenario in the making.

    `tables` has keys by header, such as `phy` or `mac.edca.ap`; `flows` has a table for each flow.
    `unknown` are sentences of what the files do not say and what stands instead, `unread` names of
    lines that say something of which a scenario has no key.
    """

    names: list[str] = field(default_factory=list)
    tables: dict[str, dict[str, Said]] = field(default_factory=dict)
    flows: list[dict[str, Said]] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    measured: list[str] = field(default_factory=list)

    def say(self, header: str, key: str, value: Any, why: str) -> None:
        """Write a key; one that is there already stays, for the first file stands above others."""
        self.tables.setdefault(header, {}).setdefault(key, Said(value, why))

    def has(self, header: str, key: str) -> bool:
        """Tell whether a key is written already."""
        return key in self.tables.get(header, {})

    def text(self) -> str:
        """The TOML text. Raises ScenarioError if it is none that can be loaded."""
        text = "\n".join(self._lines()) + "\n"
        from airtcp.scenario import loads

        try:
            loads(text, name="the scenario of these files")
        except ScenarioError as error:
            names = ", ".join(self.names)
            raise ScenarioError(names, error.key, f"no scenario follows: {error.message}") from None
        return text

    def _lines(self) -> list[str]:
        names = one_line(", ".join(self.names))
        lines = [f"# Written by airtcp import from {names}."]
        for head, told in (
            ("Not known from these files:", self.unknown),
            ("Not read, for no key of a scenario says it:", self.unread),
            ("Measured; airtcp run --measured sets it beside the answer:", self.measured),
        ):
            if told:
                lines += ["#", f"# {head}"]
                for one in told:
                    lines += textwrap.wrap(
                        one_line(one), _WIDTH, initial_indent="# - ", subsequent_indent="#   "
                    )
        lines += ["", f"title = {value_text(f'Imported from {names}')}"]
        for header, keys in self.tables.items():
            lines += ["", f"[[{header}]]" if header == "stations" else f"[{header}]"]
            lines += [_line(key, said) for key, said in keys.items()]
            if header == "stations":
                for flow in self.flows:
                    lines += ["", "[[flows]]", *(_line(key, said) for key, said in flow.items())]
        return lines


def _line(key: str, said: Said) -> str:
    text = f"{key} = {value_text(said.value)}"
    return f"{text:{_STOP}}  # {one_line(said.why)}" if said.why else text
