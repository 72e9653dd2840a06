"""A heat map: a number for each pair of steps of two axes, as a color, and as text if it fits."""

from __future__ import annotations

from typing import Any, Final

from airtcp.amounts import scaled
from airtcp.web.parts import Part, part

#: From dark blue to yellow with increasing lightness, so that it is readable without colors.
_STOPS: Final = (
    (0, 34, 78), (53, 69, 108), (102, 105, 112), (148, 142, 119), (200, 184, 102), (254, 232, 56),
)  # fmt: skip
_WIDTH: Final = 720
_TOP, _BOTTOM, _RIGHT, _ROW, _MOST_HIGH = 8, 48, 8, 40, 420
_LETTER: Final = 7.5


def heat(told: dict[str, Any]) -> Part:
    """Return the map of a store's values, with its scale of colors."""
    across, up, cells = told["across"], told["up"], told["cells"]
    values = [cell["value"] for row in cells for cell in row if cell] or [0.0]
    least, most = min(values), max(values)
    factor, unit = scaled(max(abs(least), abs(most)), told["unit"])
    left = min(150.0, 34 + _LETTER * max(len(one) for one in up["steps"]))
    wide = (_WIDTH - left - _RIGHT) / len(across["steps"])
    tall = max(16.0, min(_ROW, _MOST_HIGH / len(up["steps"])))
    bottom = _TOP + tall * len(up["steps"])
    every, rows = -int(-40 // wide), -int(-14 // tall)
    ends = [f"{one / factor:.3g}" for one in (least, most)]

    def cell(i: int, j: int, one: dict[str, Any] | None) -> list[Part]:
        x, y = left + wide * i, bottom - tall * (j + 1)
        size = {"x": x, "y": y, "width": max(1.0, wide - 1), "height": tall - 1}
        if one is None:
            return [part("rect", {"class": "empty"} | size, part("title", {}, "no value"))]
        colour = _colour((one["value"] - least) / (most - least) if most > least else 0.5)
        said = f"{up['label']} {up['steps'][j]}, {across['label']} {across['steps'][i]}"
        title = part("title", {}, f"{said}: {one['text']}")
        drawn = [part("rect", size | {"fill": _css(colour)}, title)]
        text = f"{one['value'] / factor:.3g}"
        if wide > _LETTER * len(text) + 4:
            ink = "#ffffff" if _is_dark(colour) else "#101317"
            place = {"x": x + wide / 2, "y": y + tall / 2 + 4, "text-anchor": "middle"}
            drawn.append(part("text", {"class": "cell", "fill": ink} | place, text))
        return drawn

    def name(text: str, **place: Any) -> Part:
        return part("text", {"class": "name", "text-anchor": "middle"} | place, text)

    middle = f"translate(12 {(_TOP + bottom) / 2}) rotate(-90)"
    label = (
        f"{told['label']} over {across['label']} and {up['label']}: from {ends[0]} to {ends[1]} "
        f"{unit}. The values are in the table below."
    )
    picture = part(
        "svg",
        {"viewBox": f"0 0 {_WIDTH} {bottom + _BOTTOM}", "role": "img", "class": "chart heat",
         "aria-label": label},
        [cell(i, j, one) for j, row in enumerate(cells) for i, one in enumerate(row)],
        [
            part("text", {"x": left + wide * (i + 0.5), "y": bottom + 16, "text-anchor": "middle"},
                 one)
            for i, one in enumerate(across["steps"]) if i % every == 0
        ],
        [
            part("text", {"x": left - 6, "y": bottom - tall * (j + 0.5) + 4, "text-anchor": "end"},
                 one if len(one) <= 15 else f"{one[:14]}…")
            for j, one in enumerate(up["steps"]) if j % rows == 0
        ],
        name(across["label"], x=left + (_WIDTH - left) / 2, y=bottom + 38),
        name(up["label"], transform=middle),
    )  # fmt: skip
    scroll = {"class": "film", "tabindex": "0", "role": "region", "aria-label": told["label"]}
    return part("div", {}, part("div", scroll, picture), _scale(ends[0], ends[1], unit))


def _scale(least: str, most: str, unit: str) -> Part:
    """Return the scale of colors."""
    steps = 40
    bars = [
        part("rect", {"x": 4 * one, "width": 5, "height": 12, "fill": _css(_colour(one / steps))})
        for one in range(steps)
    ]
    drawn = part("svg", {"width": 161, "height": 12}, bars)
    return part("p", {"class": "heat-scale", "aria-hidden": "true"}, least, drawn, f"{most} {unit}")


def _colour(share: float) -> tuple[int, ...]:
    place = share * (len(_STOPS) - 1)
    below = min(int(place), len(_STOPS) - 2)
    pairs = zip(_STOPS[below], _STOPS[below + 1], strict=True)
    return tuple(round(one + (place - below) * (other - one)) for one, other in pairs)


def _css(colour: tuple[int, ...]) -> str:
    return f"rgb({' '.join(str(one) for one in colour)})"


def _is_dark(colour: tuple[int, ...]) -> bool:
    """Return whether white is more readable on a color than black: relative luminance of WCAG 2."""
    shares = [one / 255 for one in colour]
    red, green, blue = (
        one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.179
