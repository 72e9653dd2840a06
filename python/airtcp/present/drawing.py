"""The style of all pictures, and their export to PNG and SVG.

The same figure always gives the same bytes, whatever the user's matplotlibrc says. The colors are
those of Okabe and Ito, which people with any color vision can tell apart.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Final

from airtcp.amounts import quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE: Final = "#0072b2"
SKY: Final = "#56b4e9"
GREEN: Final = "#009e73"
ORANGE: Final = "#e69f00"
VERMILION: Final = "#d55e00"
PURPLE: Final = "#cc79a7"
GREY: Final = "#b5bac2"
INK: Final = "#20242a"
MUTED: Final = "#5f6773"
GRID: Final = "#dfe3e8"
PAPER: Final = "#ffffff"

#: The colors of the series of a picture, in turn.
SERIES: Final = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION)

# Any: the type stubs require a mapping with exactly the known keys.
_STYLE: Final[Any] = {
    "figure.facecolor": PAPER,
    "axes.facecolor": "none",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.labelsize": 9.5,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    # Align the labels of minor and major ticks.
    "xtick.major.size": 3.5,
    "xtick.major.pad": 3.5,
    "xtick.minor.size": 2.0,
    "xtick.minor.pad": 5.0,
    "legend.fontsize": 9,
    "legend.title_fontsize": 9,
    "legend.frameon": False,
    "font.family": "DejaVu Sans",
    "savefig.facecolor": PAPER,
    # Fixed, so that the ids inside an SVG are the same in every run.
    "svg.hashsalt": "airtcp",
    "svg.fonttype": "path",
}


def png(figure: Figure) -> bytes:
    """Return the figure as PNG, 160 dots per inch."""
    with styled(), io.BytesIO() as file:
        figure.savefig(file, format="png", dpi=160, metadata={"Software": None})
        return file.getvalue()


def svg(figure: Figure) -> str:
    """Return the figure as a stand-alone SVG document without a date."""
    with styled(), io.StringIO() as file:
        figure.savefig(file, format="svg", metadata={"Date": None})
        return file.getvalue()


def svgs(figures: Mapping[str, Figure]) -> dict[str, str]:
    """Return the figures as SVG, to share between file and page: drawing is the slowest step."""
    return {name: svg(figure) for name, figure in figures.items()}


def inlined(document: str, name: str, label: str) -> str:
    """Turn an SVG document made by `svg` into an `<svg>` element for an HTML page.

    Colors become CSS variables (`--ink`, `--muted`, `--grid`, `--paper`, `--blue` ...), so that the
    page chooses between light and dark. Ids are prefixed with `name` to be unique on a page.
    `label` is for screen readers. The element contains no URLs and loads nothing.
    """
    element = document[document.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    element = re.sub(r'\s+xmlns(:\w+)?="[^"]*"', "", element)
    element = element.replace("xlink:href", "href")
    element = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', element)
    element = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', element)
    element = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", element)
    for colour, variable in _VARIABLES.items():
        element = element.replace(colour, f"var(--{variable})")
    label = label.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return element.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)


def framed(document: str, name: str, caption: str) -> str:
    """Return an SVG document as a figure of an HTML page."""
    shown = inlined(document, name, caption)
    return f"<figure>{shown}<figcaption>{escape(caption)}</figcaption></figure>"


_VARIABLES: Final = {
    BLUE: "blue",
    SKY: "sky",
    GREEN: "green",
    ORANGE: "orange",
    VERMILION: "vermilion",
    PURPLE: "purple",
    GREY: "grey",
    INK: "ink",
    MUTED: "muted",
    GRID: "grid",
    PAPER: "paper",
}


@contextmanager
def styled() -> Iterator[None]:
    """Draw in airtcp's style, and restore Matplotlib's settings afterwards."""
    import matplotlib

    # The user's matplotlibrc must not affect results.
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield


def new_figure(width: float = 7.2, height: float = 3.6) -> tuple[Figure, Axes]:
    """Create a figure of `width` and `height` inches with one pair of axes."""
    figure = _shown()(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


@cache
def _shown() -> type[Figure]:
    """Return a figure class that notebooks display automatically."""
    # Not pyplot: its registry of figures is global state.
    from matplotlib.figure import Figure

    class Shown(Figure):
        def _repr_png_(self) -> bytes:
            return png(self)

    return Shown


def legend_above(figure: Figure, axes: Axes, columns: int = 4) -> None:
    """Add a legend above the axes, where it cannot cover data, if anything has a label."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        figure.legend(
            handles,
            labels,
            loc="outside upper left",
            ncols=min(columns, len(labels)),
            handlelength=1.6,
            columnspacing=1.6,
        )


def whole_ticks(axes: Axes, values: Iterable[float]) -> None:
    """Set ticks along the x axis at integers if all of its values are integers."""
    from matplotlib.ticker import MaxNLocator

    if all(float(value).is_integer() for value in values):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def minor_label(low: float, high: float) -> Callable[[float, float], str]:
    """Label minor ticks at 2 and 5 on a logarithmic axis of seconds below two decades."""

    def label(x: float, _: float) -> str:
        digit = round(x / 10.0 ** math.floor(math.log10(x) + 1e-9))
        return quantity(x, "s", 1) if high < 100.0 * low and digit in (2, 5) else ""

    return label
