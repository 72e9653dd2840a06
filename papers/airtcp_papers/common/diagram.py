"""Draw diagrams: topologies and state chains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from airtcp.present.drawing import BLUE, INK, MUTED, PAPER, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH: Final = 5.6
_FONT: Final = 9
#: Half the height of a box.
_BOX_HALF: Final = 0.2


@dataclass(frozen=True, slots=True)
class Node:
    """A circle (a state) or a box (a machine) at x, y; `size` is its radius or half width."""

    name: str
    x: float
    y: float
    label: str
    shape: Literal["circle", "box", "none"] = "circle"
    size: float = 0.3


@dataclass(frozen=True, slots=True)
class Edge:
    """A line from one node to another, with a label; `bend` is how far it curves to the left.

    "arrow" points to `end`, "wire" is a solid line, "air" a dashed one.
    """

    begin: str
    end: str
    label: str = ""
    bend: float = 0.0
    kind: Literal["arrow", "wire", "air"] = "arrow"
    #: Distance of the label to the left of the line, seen from `begin`.
    offset: float = 0.16


def diagram(nodes: Sequence[Node], edges: Sequence[Edge], height: float = 1.8) -> Figure:
    """Draw nodes and edges. Both axes have the same units."""
    with styled():
        figure, axes = new_figure(_WIDTH, height)
        axes.set_axis_off()
        axes.set_aspect("equal")
        places = {node.name: node for node in nodes}
        for edge in edges:
            _draw_edge(axes, places[edge.begin], places[edge.end], edge)
        for node in nodes:
            _draw_node(axes, node)
        # Automatic limits ignore patches: include all nodes, with room for arcs.
        room = 0.35 + max((abs(edge.bend) for edge in edges), default=0.0)
        axes.set_xlim(
            min(node.x - node.size for node in nodes) - 0.2,
            max(node.x + node.size for node in nodes) + 0.2,
        )
        axes.set_ylim(
            min(node.y for node in nodes) - room - 0.25, max(node.y for node in nodes) + room + 0.25
        )
        return figure


def _draw_node(axes: Axes, node: Node) -> None:
    from matplotlib.patches import Circle, FancyBboxPatch

    if node.shape == "circle":
        axes.add_patch(
            Circle(
                (node.x, node.y),
                node.size,
                facecolor=PAPER,
                edgecolor=BLUE,
                linewidth=1.4,
                zorder=3,
            )
        )
    elif node.shape == "box":
        axes.add_patch(
            FancyBboxPatch(
                (node.x - node.size, node.y - _BOX_HALF),
                2 * node.size,
                2 * _BOX_HALF,
                boxstyle="round,pad=0,rounding_size=0.08",
                facecolor=PAPER,
                edgecolor=BLUE,
                linewidth=1.4,
                zorder=3,
            )
        )
    axes.text(node.x, node.y, node.label, ha="center", va="center", fontsize=_FONT, zorder=4)


def _draw_edge(axes: Axes, begin: Node, end: Node, edge: Edge) -> None:
    from matplotlib.patches import FancyArrowPatch

    dx, dy = end.x - begin.x, end.y - begin.y
    length = (dx * dx + dy * dy) ** 0.5
    # To the left of the edge's direction.
    left = (-dy / length, dx / length)
    shrink = 2.0
    arrow = edge.kind == "arrow"
    patch = FancyArrowPatch(
        _border(begin, dx / length, dy / length, left, edge.bend),
        _border(end, -dx / length, -dy / length, left, edge.bend),
        arrowstyle="-|>" if arrow else "-",
        # Matplotlib counts a bend to the right as positive, as a fraction of the length.
        connectionstyle=f"arc3,rad={-2 * edge.bend / length}",
        mutation_scale=11,
        shrinkA=shrink if arrow else 0.0,
        shrinkB=shrink if arrow else 0.0,
        linewidth=1.2,
        linestyle=(0, (4, 3)) if edge.kind == "air" else "-",
        color=MUTED,
        zorder=2,
    )
    axes.add_patch(patch)
    if edge.label:
        away = edge.bend + (edge.offset if edge.bend >= 0 else -edge.offset)
        axes.text(
            (begin.x + end.x) / 2 + away * left[0],
            (begin.y + end.y) / 2 + away * left[1],
            edge.label,
            ha="center",
            va="center",
            fontsize=_FONT,
            color=INK,
        )


def _border(
    node: Node, ux: float, uy: float, left: tuple[float, float], bend: float
) -> tuple[float, float]:
    """Return where an edge in direction (ux, uy) leaves the node, shifted if it bends."""
    if node.shape == "box":
        # Where the straight line leaves the box.
        reach = min(
            node.size / abs(ux) if ux else float("inf"),
            _BOX_HALF / abs(uy) if uy else float("inf"),
        )
        return node.x + reach * ux, node.y + reach * uy
    aside = 0.55 if bend > 0 else -0.55 if bend < 0 else 0.0
    x, y = ux + aside * left[0], uy + aside * left[1]
    norm = (x * x + y * y) ** 0.5
    return node.x + node.size * x / norm, node.y + node.size * y / norm
