"""The scenario being written: each key with its origin, and what is unknown."""

from __future__ import annotations

import tempfile
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from airtcp.exceptions import ScenarioError, one_line
from airtcp.importer.source import phrase
from airtcp.scenario.toml_text import value_text
from airtcp.units import format_time_ns

#: Shorter lines have their comment at this column.
_STOP: Final = 36
_WIDTH: Final = 96
#: Linux's names of congestion controls, and their names in scenarios; its BBR is version 1.
OF_LINUX: Final = {"reno": "reno", "cubic": "cubic", "bbr": "bbr1"}
#: From this value on, an RTS threshold exceeds every frame.
_NO_RTS: Final = 2347
_TIME_UNIT_NS: Final = 1_024_000

UNKNOWN_PLACE: Final = phrase("draft.place_unknown")
UNKNOWN_AIR: Final = phrase("draft.air_unknown")


def time_text(seconds: float) -> str:
    """Format a time as in a scenario, to the millisecond, or the microsecond below one second."""
    step_ns = 10**6 if seconds >= 1.0 else 10**3
    return format_time_ns(round(seconds * 1e9 / step_ns) * step_ns)


@dataclass(frozen=True)
class Said:
    """A value, and its origin: a line of a file, or an assumption."""

    value: Any
    why: str


@dataclass
class Draft:
    """A scenario being written.

    `tables` has keys by header, such as `phy` or `mac.edca.ap`. `groups` has a table for each group
    of stations if there are several, `flows` one for each flow, and `files` the files that the
    scenario refers to, by name. `unknown` are sentences about missing information and the
    assumptions made instead. `unread` lists lines that a scenario cannot express. `legend` has the
    real names and addresses for neutral names; the text contains them only with `keep_names`.
    """

    names: list[str] = field(default_factory=list)
    tables: dict[str, dict[str, Said]] = field(default_factory=dict)
    groups: list[dict[str, Said]] = field(default_factory=list)
    flows: list[dict[str, Said]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    measured: list[str] = field(default_factory=list)
    legend: dict[str, list[str]] = field(default_factory=dict)
    keep_names: bool = False

    def names_of(self, neutral: str, names: list[str]) -> str:
        """Record the names behind a neutral name. Return the names as the text may show them."""
        self.legend[neutral] = names
        if not self.keep_names:
            return ""
        return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"

    def say(self, header: str, key: str, value: Any, why: str) -> None:
        """Set a key unless an earlier file has set it."""
        self.tables.setdefault(header, {}).setdefault(key, Said(value, why))

    def rts_threshold(self, size: int, why: str) -> None:
        """Write the RTS threshold, unless it exceeds every frame."""
        if 0 <= size < _NO_RTS:
            self.say("mac", "rts_threshold", f"{size} B", why)

    def beacons(self, units: int, why: str) -> None:
        """Write the beacon interval; configurations have it in units of 1.024 ms."""
        interval = format_time_ns(units * _TIME_UNIT_NS)
        self.say("mac", "beacon", {"interval": interval}, why)

    def close(self) -> None:
        """Write what every configuration leaves open."""
        self.unknown += [UNKNOWN_PLACE, UNKNOWN_AIR]

    def has(self, header: str, key: str) -> bool:
        """Whether a key is set."""
        return key in self.tables.get(header, {})

    def put_beside(self, stem: str) -> None:
        """Prefix the names of files with the scenario's name."""
        for flow in self.flows:
            if isinstance(table := flow["application"].value, dict):
                for law in table.values():
                    if isinstance(law, dict) and law.get("file") in self.files:
                        law["file"] = f"{stem}-{law['file']}"
        self.files = {f"{stem}-{name}": content for name, content in self.files.items()}

    def text(self) -> str:
        """Return the TOML text. Raises ScenarioError if it cannot be loaded."""
        text = "\n".join(self._lines()) + "\n"
        from airtcp.scenario import loads

        with tempfile.TemporaryDirectory(prefix="airtcp-") as directory:
            for name, content in self.files.items():
                (Path(directory) / name).write_bytes(content)
            try:
                loads(text, name=phrase("draft.name"), base=directory)
            except ScenarioError as error:
                names, said = ", ".join(self.names), f"gives no valid scenario: {error.message}"
                raise ScenarioError(names, error.key, said) from None
        return text

    def _lines(self) -> list[str]:
        names = one_line(", ".join(self.names))
        lines = [phrase("draft.written_from", names=names)]
        for head, told in (
            (phrase("draft.not_known"), self.unknown),
            ("Ignored:", self.unread),
            (phrase("draft.measured"), self.measured),
        ):
            if told:
                lines += ["#", f"# {head}"]
                for one in told:
                    lines += textwrap.wrap(
                        one_line(one), _WIDTH, initial_indent="# - ", subsequent_indent="#   "
                    )
        lines += ["", f"title = {value_text(f'Imported from {names}')}"]
        for header, keys in self.tables.items():
            for table in (self.groups or [keys]) if header == "stations" else [keys]:
                lines += ["", f"[[{header}]]" if header == "stations" else f"[{header}]"]
                lines += [_line(key, said) for key, said in table.items()]
            if header == "stations":
                for flow in self.flows:
                    lines += ["", "[[flows]]", *(_line(key, said) for key, said in flow.items())]
        return lines


def _line(key: str, said: Said) -> str:
    text = f"{key} = {value_text(said.value)}"
    return f"{text:{_STOP}}  # {one_line(said.why)}" if said.why else text
