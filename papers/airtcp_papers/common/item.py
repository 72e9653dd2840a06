"""Items: an item is one figure or table of a paper, with the result of making it.

This module only defines data types; `described` registers the functions that make items.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from airtcp.stats import Interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from airtcp_papers.common.bench import Bench

#: A number of an item: exact from a model, or measured with its interval.
Value = float | Interval
#: A cell of an item's table.
Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Data:
    """The numbers behind a figure, or a table itself: named columns and rows of cells."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of making an item.

    `data` is what the figure or table shows. `values` are the numbers that claims check, by name.
    `found` states the result in words, with its numbers. A table has no figure.
    """

    data: Data
    found: str
    values: dict[str, Value] = field(default_factory=dict)
    figure: Figure | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """A figure or table: its name, such as "M.fig5" or "acks", and what its page says.

    `caption` describes the figure; `states` is what the paper claims about it. Both are in our own
    words. `still` says why it has no sliders, if it has none. `printed` says which points of the
    figure are the paper's, and where they come from, if there are any.
    """

    name: str
    title: str
    caption: str
    states: str
    make: Callable[[Bench], Outcome]
    still: str = ""
    printed: str = ""

    @property
    def paper(self) -> str:
        """The letter of the paper."""
        return self.name.partition(".")[0]

    @property
    def stem(self) -> str:
        """Return the name without its paper, as its files are called; a study may have one item."""
        return self.name.partition(".")[2] or self.name


#: Every item whose module has been imported, in order of import.
REGISTRY: dict[str, Item] = {}
