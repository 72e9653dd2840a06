"""The look of every picture of airtcp, and its way into PNG or SVG.

Knows colours, style and file formats: the same figure gives the same bytes, whatever the user's own
matplotlibrc says. Colours are those of Okabe and Ito, told apart with any colour vision. Does not
know what is drawn (`airtcp.present.plot`, `airtcp.reproduce`) or where pictures go.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
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

#: The colours that series of one picture take in turn.
SERIES: Final = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION)

# Any: the stubs ask for a mapping of exactly the known keys.
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
    # Labels of short ticks stand in one line with those of long ones.
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
    """The figure as PNG, 160 dots per inch."""
    with styled(), io.BytesIO() as file:
        figure.savefig(file, format="png", dpi=160, metadata={"Software": None})
        return file.getvalue()


def svg(figure: Figure) -> str:
    """The figure as a stand-alone SVG document without a date."""
    with styled(), io.StringIO() as file:
        figure.savefig(file, format="svg", metadata={"Date": None})
        return file.getvalue()


def svgs(figures: Mapping[str, Figure]) -> dict[str, str]:
    """The figures as `svg` makes them, for a file and a page alike: drawing takes longest."""
    return {name: svg(figure) for name, figure in figures.items()}


def inlined(document: str, name: str, label: str) -> str:
    """An SVG document of ours as an `<svg>` element to stand in an HTML page.

    Colours become CSS variables (`--ink`, `--muted`, `--grid`, `--paper`, `--blue` ...), so that
    the page decides between light and dark; ids start with `name`, so that pictures on one page do
    not meet; `label` is what a screen reader reads. Holds no address and loads nothing.
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
    """Draw in this style, and leave Matplotlib as it was."""
    import matplotlib

    # A user's own matplotlibrc must not change what a result looks like.
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield


def new_figure(width: float = 7.2, height: float = 3.6) -> tuple[Figure, Axes]:
    """An empty figure of `width` and `height` inches with one pair of axes, to draw on."""
    figure = _shown()(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


@cache
def _shown() -> type[Figure]:
    """A figure that notebooks show by themselves."""
    # Not pyplot: its registry of figures is global state.
    from matplotlib.figure import Figure

    class Shown(Figure):
        def _repr_png_(self) -> bytes:
            return png(self)

    return Shown


def legend_above(figure: Figure, axes: Axes, columns: int = 4) -> None:
    """A legend over the axes, where it cannot cover data; none if nothing has a label."""
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
    """Set ticks along the x axis at whole numbers alone where all of its values are."""
    from matplotlib.ticker import MaxNLocator

    if all(float(value).is_integer() for value in values):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def minor_label(low: float, high: float) -> Callable[[float, float], str]:
    """Label a logarithmic axis of seconds that spans less than two decades at 2 and 5, too."""

    def label(x: float, _: float) -> str:
        digit = round(x / 10.0 ** math.floor(math.log10(x) + 1e-9))
        return quantity(x, "s", 1) if high < 100.0 * low and digit in (2, 5) else ""

    return label
