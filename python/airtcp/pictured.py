"""Pictures of results, of which the results know nothing.

Who draws is told from outside, once, when `airtcp` is imported: so results stay below
`airtcp.present`, which knows them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Draws(Protocol):
    """Draws a picture of a result."""

    def __call__(self, result: Any, /, **options: Any) -> Figure:
        """The picture that is asked for; raises QuestionError if there is none."""


def _nobody(result: Any, /, **_: Any) -> Figure:
    raise RuntimeError(f"nobody draws a {type(result).__name__}: airtcp itself is not imported")


_draws: Draws = _nobody


def drawn_by(draws: Draws) -> None:
    """Let pictures of results be drawn so."""
    global _draws  # part of what the package is made of, not a setting
    _draws = draws


def figure_of(result: Any, **options: Any) -> Figure:
    """A picture of a result."""
    return _draws(result, **options)


class Pictured:
    """A result of which there are pictures."""

    __slots__ = ()

    def plot(self, name: str | None = None) -> Figure:
        """A picture of the result as a Matplotlib figure, which notebooks show.

        `name` is that of a picture of the report, such as `"transfer-times"`; without it, it is the
        first. Raises QuestionError with the names that there are if there is no such picture.
        """
        return figure_of(self, name=name)
