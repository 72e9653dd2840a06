"""The sections of OpenWrt's wireless configuration, as its programs print them.

These are the file itself, `uci show wireless`, and `ubus call network.wireless status`.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import Final

from airtcp.importer.source import Node, Source, parse_json, phrase

_UCI: Final = re.compile(r"(?m)^[ \t]*(config|package)\s+\S")
_SHOWN: Final = re.compile(r"wireless\.(@?[\w-]+(?:\[-?\d+\])?)(?:\.(\w+))?=(.*)")
#: shlex needs seconds for a longer line.
_MOST_LINE: Final = 10_000
#: Values of options in JSON.
_SCALARS: Final = (str, int, float)


@dataclass
class Section:
    """A section with its options, each with the value and the line."""

    kind: str
    name: str
    line: int
    options: dict[str, tuple[str, int]] = field(default_factory=dict)

    def get(self, *names: str) -> tuple[str, int] | None:
        """Return value and line of the first of these options that is set."""
        return next((self.options[name] for name in names if name in self.options), None)

    def text(self, name: str) -> str:
        """Return the value of an option; "" if it is not set."""
        return self.options.get(name, ("", 0))[0]

    @property
    def is_on(self) -> bool:
        """Whether it is enabled."""
        return self.text("disabled") != "1"


def is_uci(source: Source) -> bool:
    """Whether a text is a wireless configuration of OpenWrt in one of its forms."""
    return bool(_UCI.search(source.text) or _is_shown(source))


def is_status(top: Node) -> bool:
    """Whether JSON is from `ubus call network.wireless status`: radios with a config."""
    return isinstance(top.value, dict) and any(
        isinstance(one, dict) and isinstance(one.get("config"), dict) and "interfaces" in one
        for one in top.value.values()
    )


def sections_of(source: Source) -> list[Section]:
    """Return the sections. Raises ScenarioError for a line that UCI rejects."""
    if source.text.lstrip().startswith("{"):
        return _of_status(parse_json(source))
    return _shown(source) if _is_shown(source) else _configured(source)


def _is_shown(source: Source) -> bool:
    first = source.text.lstrip().partition("\n")[0]
    return _SHOWN.match(first) is not None


def _shown(source: Source) -> list[Section]:
    """Return the sections of `uci show wireless`."""
    found: dict[str, Section] = {}
    for number, line in source.lines():
        match = _SHOWN.fullmatch(line.strip())
        words = _words(source, number, match[3], comments=False) if match else []
        if match is None or (match[2] and match[1] not in found):
            raise source.error(f"line {number}", phrase("uci.not_uci_show"))
        if match[2]:
            found[match[1]].options[match[2]] = (" ".join(words), number)
        else:
            found[match[1]] = Section(" ".join(words), match[1], number)
    return list(found.values())


def _words(source: Source, number: int, text: str, *, comments: bool) -> list[str]:
    """Split a line as a shell does. Raises ScenarioError."""
    if len(text) > _MOST_LINE:
        raise source.error(f"line {number}", phrase("uci.long_line", most=_MOST_LINE))
    try:
        return shlex.split(text, comments=comments)
    except ValueError as error:
        raise source.error(f"line {number}", phrase("uci.open_quote")) from error


def _of_status(top: Node) -> list[Section]:
    """Return the sections of `ubus call network.wireless status`."""
    found = []
    for name in top.table():
        radio = top.get(name)
        found.append(_of_table("wifi-device", name, radio.get("config")))
        if radio.get("disabled").value is True:
            found[-1].options["disabled"] = ("1", 1)
        for number, one in enumerate(radio.get("interfaces").items()):
            iface = _of_table("wifi-iface", f"{name}.{number}", one.get("config"))
            iface.options["device"] = (name, 1)
            found.append(iface)
    return found


def _of_table(kind: str, name: str, node: Node) -> Section:
    one = Section(kind, name, 1)
    for key, value in node.table().items():
        if isinstance(value, bool):
            one.options[key] = (str(int(value)), 1)
        elif isinstance(value, _SCALARS):
            one.options[key] = (str(value), 1)
        elif isinstance(value, list) and all(isinstance(item, _SCALARS) for item in value):
            one.options[key] = (" ".join(map(str, value)), 1)
    return one


def _configured(source: Source) -> list[Section]:
    sections: list[Section] = []
    for number, line in enumerate(source.text.splitlines(), 1):
        words = _words(source, number, line, comments=True)
        match words:
            case []:
                continue
            case ["config", kind]:
                sections.append(Section(kind, f"@{kind}[{len(sections)}]", number))
            case ["config", kind, name]:
                sections.append(Section(kind, name, number))
            case ["option", key, value] if sections:
                sections[-1].options[key] = (value, number)
            case ["list", key, value] if sections:
                before = sections[-1].text(key)
                sections[-1].options[key] = (f"{before} {value}".strip(), number)
            case ["package", _]:
                continue
            case _:
                raise source.error(f"line {number}", phrase("uci.not_uci"))
    return sections
