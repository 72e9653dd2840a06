"""The half widths of a sweep's intervals, which decide how many replications its points need.

    precision.json    for each point the relative half width of its widest headline interval
                      by numbers of replications, `null` if one has no interval

Estimates need more data than the rows of the store hold. This file keeps their half widths next to
the rows, so that a resumed sweep need not repeat runs. Without the file, or with a file of another
version, core or confidence, the runs are repeated, with the same results.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from airtcp.files import aside, read_text

if TYPE_CHECKING:
    from airtcp.results.table import Contents

_FILE: Final = "precision.json"
_MOST_BYTES: Final = 2**28


class Decided:
    """The known half widths, by point."""

    def __init__(self, folder: Path, made_by: dict[str, Any]) -> None:
        self._file = folder / _FILE
        self._made_by = made_by
        self._widths: dict[str, dict[int, float]] = {}
        self._is_written = True

    @classmethod
    def of(cls, folder: Path, about: Contents) -> Self:
        """Read them from a folder; empty if the file is missing, damaged, or of another origin."""
        found = cls(
            folder,
            {"version": about.version, "core": about.core, "confidence": about.confidence},
        )
        try:
            data = json.loads(read_text(found._file, _MOST_BYTES))
            if all(data[name] == value for name, value in found._made_by.items()):
                found._widths = {
                    point: {
                        int(n): math.inf if width is None else float(width)
                        for n, width in widths.items()
                    }
                    for point, widths in data["points"].items()
                }
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            # The file only saves time and is written again.
            found._widths = {}
        return found

    def widths(self, point: str) -> dict[int, float]:
        """Return the half widths of a point, by number of replications."""
        return dict(self._widths.get(point, {}))

    def add(self, point: str, widths: Mapping[int, float]) -> None:
        """Add half widths of a point."""
        self._widths[point] = {**self._widths.get(point, {}), **widths}
        self._is_written = False

    def write(self) -> None:
        """Write the file if there are new values. Raises OutputError."""
        if self._is_written:
            return
        points = {
            point: {str(n): width if math.isfinite(width) else None for n, width in widths.items()}
            for point, widths in sorted(self._widths.items())
        }
        text = json.dumps({**self._made_by, "points": points}, indent=1, allow_nan=False)
        with aside(self._file) as beside:
            beside.write_text(text + "\n", encoding="utf-8")
        self._is_written = True
