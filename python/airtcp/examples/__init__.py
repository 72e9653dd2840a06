"""Example scenarios that come with the package, and the files that they need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["Example", "directory", "examples"]

#: The modern networks, most common first. Lists continue with the networks of the papers, by name.
_FIRST = (
    "office-wifi6",
    "home-evening",
    "cafe-wifi6",
    "class-wifi6",
    "warehouse-wifi4",
    "home-wifi6",
    "mixed-clients",
    "office-wifi5",
    "three-cells",
    "hidden-uploads",
    "three-offices",
)


@dataclass(frozen=True, slots=True)
class Example:
    """A scenario file of the package: its name, its purpose, and the files that it needs.

    `is_of_today` is False for the networks of the papers, which use 802.11b and g.
    """

    name: str
    title: str
    description: str
    files: list[str]

    @property
    def is_of_today(self) -> bool:
        """Whether it is a modern network."""
        return self.name in _FIRST


def examples() -> list[Example]:
    """Return the examples in the package: modern networks first, then the papers' networks."""
    found = {
        item.name: item
        for item in (_read(file) for file in directory().iterdir() if file.name.endswith(".toml"))
    }
    return [found[name] for name in dict.fromkeys((*_FIRST, *sorted(found)))]


def directory() -> Traversable:
    """Return the directory of the examples and of the files that they need."""
    from importlib import resources

    return resources.files("airtcp") / "examples"


def _read(file: Traversable) -> Example:
    import tomllib

    text = file.read_text(encoding="utf-8")
    scenario = tomllib.loads(text)
    name = file.name.removesuffix(".toml")
    # The first line of an example is a comment with its description.
    description = text.partition("\n")[0].removeprefix("#").strip()
    return Example(name, scenario["title"], description, [file.name, *sorted(_needed(scenario))])


def _needed(value: Any) -> Iterator[str]:
    """Yield the files of a scenario's empirical distributions."""
    if isinstance(value, dict):
        if value.get("distribution") == "empirical":
            yield value["file"]
        for part in value.values():
            yield from _needed(part)
    elif isinstance(value, list):
        for part in value:
            yield from _needed(part)
