"""`plot()` for results, without a dependency of results on drawing code.

`airtcp` registers the drawing function once when it is imported, so that results stay below
`airtcp.present` in the import order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Draws(Protocol):
    """A function that draws a picture of a result."""

    def __call__(self, result: Any, /, **options: Any) -> Figure:
        """Return the picture; raises QuestionError if there is no such picture."""


def _nobody(result: Any, /, **_: Any) -> Figure:
    raise RuntimeError(f"no module draws a {type(result).__name__}: import airtcp first")


_draws: Draws = _nobody


def drawn_by(draws: Draws) -> None:
    """Register the function that draws pictures of results."""
    global _draws  # Part of how the package is assembled, not a setting.
    _draws = draws


def figure_of(result: Any, **options: Any) -> Figure:
    """Return a picture of a result."""
    return _draws(result, **options)


class Pictured:
    """A result that can be plotted."""

    __slots__ = ()

    def plot(self, name: str | None = None) -> Figure:
        """Return a picture of the result as a Matplotlib figure, which notebooks display.

        `name` is the name of a picture in the report, such as `"transfer-times"`; the default is
        the first one. Raises QuestionError, with the available names, if there is no such picture.
        """
        return figure_of(self, name=name)
