"""The provenance of a result, and the first keys of its JSON."""

from __future__ import annotations

import hashlib
import json
import platform as _platform
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airtcp.files import read_text

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

#: The largest size of a git file that names the checked-out commit.
_MOST_BYTES: Final = 2**24
#: The packages that may affect numbers.
_PACKAGES: Final = ("numpy", "scipy")


def canonical_json(value: Any) -> str:
    """Return `value` as JSON with sorted keys and two spaces of indentation, ASCII only.

    Floats are written as the shortest digits that read back to the same float, so equal values
    always give equal bytes. Raises ValueError on NaN and infinities, which JSON does not have.
    """
    return json.dumps(value, sort_keys=True, indent=2, ensure_ascii=True, allow_nan=False)


class Result(ABC):
    """A result with a JSON form."""

    __slots__ = ()

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, as in its JSON."""

    def to_json(self) -> str:
        """Return the result as canonical JSON: equal results are equal bytes, except for times."""
        return canonical_json(self.to_dict())


@cache
def core_digest() -> str:
    """Return the SHA-256 of the compiled core."""
    from importlib.util import find_spec

    core = find_spec("airtcp._core")
    assert core is not None
    assert core.origin is not None
    return hashlib.sha256(Path(core.origin).read_bytes()).hexdigest()


@dataclass(frozen=True, slots=True)
class Provenance:
    """The provenance of a result. With the scenario it is enough to reproduce the result.

    `seed` and `generator` (the name of the random number generator) are None if nothing was
    simulated. `engine` names the simulation engine of each cell, and the reason for it; None if
    unknown.
    """

    version: str
    seed: int | None
    generator: str | None
    scenario_hash: str
    platform: str
    engine: str | None = None

    @classmethod
    def of(
        cls,
        scenario: ResolvedScenario,
        *,
        seed: int | None = None,
        generator: str | None = None,
        text: str | None = None,
        engine: str | None = None,
    ) -> Provenance:
        """Return the provenance of a result for `scenario` on this machine.

        `text` is its canonical JSON, if the caller already has it.
        """
        from airtcp._version import __version__
        from airtcp.scenario.resolved import hash_of

        python = _platform.python_version()
        machine = f"{_platform.system()} {_platform.machine()}, Python {python}"
        digest = scenario.hash() if text is None else hash_of(text)
        return cls(__version__, seed, generator, digest, machine, engine)

    def to_dict(self, scenario: ResolvedScenario) -> dict[str, Any]:
        """Return the keys of `provenance` in the JSON of a result for `scenario`.

        In addition to the fields: `commit`, `packages`, and `file`, the scenario as TOML with the
        changes of the command line; None if only its resolved form is known.
        """
        return asdict(self) | {
            "commit": _commit(),
            "packages": {name: version(name) for name in _PACKAGES},
            "file": scenario.as_file(),
        }


def head(scenario: ResolvedScenario, provenance: Provenance) -> dict[str, Any]:
    """Return the first keys of the JSON of every result."""
    return {
        "scenario": json.loads(scenario.to_json()),
        "provenance": provenance.to_dict(scenario),
    }


@cache
def _commit() -> str | None:
    """Return the commit of the checkout that contains this package; None if it is installed."""
    git = Path(__file__).parents[3] / ".git"
    try:
        at = read_text(git / "HEAD", _MOST_BYTES).strip()
        if not at.startswith("ref: "):
            return at
        name = at.removeprefix("ref: ")
        if (git / name).exists():
            return read_text(git / name, _MOST_BYTES).strip()
        packed = read_text(git / "packed-refs", _MOST_BYTES)
    except (OSError, UnicodeDecodeError):
        return None
    found = [line.split()[0] for line in packed.splitlines() if line.endswith(f" {name}")]
    return found[0] if found else None
