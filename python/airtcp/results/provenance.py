"""The provenance of a result, and the keys with which its JSON begins.

Knows the scenario in both forms, and the versions that a result depends on. Does not know what was
simulated or predicted.
"""

from __future__ import annotations

import json
import platform as _platform
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airtcp.files import read_text

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

#: The size of a file of git that says where its checkout is.
_MOST_BYTES: Final = 2**24
#: The packages on which numbers depend.
_PACKAGES: Final = ("numpy", "scipy")


def canonical_json(value: Any) -> str:
    """`value` as JSON with sorted keys and two spaces of indentation, ASCII only.

    Floats are written as the shortest digits that read back to the same float, so equal values
    always give equal bytes. Raises ValueError on NaN and infinities, which JSON does not have.
    """
    return json.dumps(value, sort_keys=True, indent=2, ensure_ascii=True, allow_nan=False)


@dataclass(frozen=True, slots=True)
class Provenance:
    """The provenance of a result: with the scenario that travels with it, enough to make it again.

    `seed` and `generator` (the random generator's name) are None when nothing was simulated.
    `engine` names the engine of the simulator that played each cell, and the reason for it; None
    when that is not known.
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
        """The provenance of a result for `scenario` on this machine.

        `text` is its canonical JSON, if the caller has it already.
        """
        from airtcp._version import __version__
        from airtcp.scenario.resolved import hash_of

        python = _platform.python_version()
        machine = f"{_platform.system()} {_platform.machine()}, Python {python}"
        digest = scenario.hash() if text is None else hash_of(text)
        return cls(__version__, seed, generator, digest, machine, engine)

    def to_dict(self, scenario: ResolvedScenario) -> dict[str, Any]:
        """Return the keys of `provenance` in the JSON of a result for `scenario`.

        Beside the fields `commit`, `packages`, and `file`: the scenario as TOML, with the changes
        of the command line; None where its resolved form alone is known.
        """
        return asdict(self) | {
            "commit": _commit(),
            "packages": {name: version(name) for name in _PACKAGES},
            "file": scenario.as_file(),
        }


def head(scenario: ResolvedScenario, provenance: Provenance) -> dict[str, Any]:
    """The keys with which the JSON of every result begins."""
    return {
        "scenario": json.loads(scenario.to_json()),
        "provenance": provenance.to_dict(scenario),
    }


@cache
def _commit() -> str | None:
    """Return the commit of the checkout that this package is part of; None if it is installed."""
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
