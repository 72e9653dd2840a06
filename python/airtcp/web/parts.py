"""Parts of the page that a document does not have: buttons, bars, charts, changes.

They are elements of `document.page`, from which the page makes its own. Buttons with `data-apply`
and `data-copy` work wherever they are: one changes the scenario, one copies.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from airtcp.amounts import percent
from airtcp.document.page import Element as Part
from airtcp.document.page import element as part
from airtcp.document.page import listed
from airtcp.present.cells import AIRTIME

Json = Mapping[str, Any]

_WIDE: Final = 1000
_TONES: Final = {
    "helps": "good",
    "gains": "good",
    "better": "good",
    "costs others": "mixed",
    "harms": "bad",
    "loses": "bad",
    "worse": "bad",
}


def muted(text: str) -> Part:
    """Return a paragraph of less importance."""
    return part("p", {"class": "muted"}, text)


def fold(summary: Any, *children: Any, opened: bool = False) -> Part:
    """Return parts below a line that opens them."""
    return part("details", {"open": opened}, part("summary", {}, summary), *children)


def doing(count: int, what: str) -> str:
    """Return "3 that do not apply" and the like."""
    return f"{count} that {'does' if count == 1 else 'do'} not {what}"


def code(label: str, text: str, level: str = "h4") -> Part:
    """Return lines to copy, under a heading of a level."""
    copy = part("button", {"type": "button", "class": "quiet", "data-copy": text}, "Copy")
    return part(
        "div",
        {"class": "code"},
        part("div", {"class": "code-head"}, part(level, {}, label), copy),
        part("pre", {"tabindex": "0", "aria-label": label}, part("code", {}, text)),
    )


def applies(title: str, settings: Json, *, best: bool = False) -> Part:
    """Return the button that applies a change to the file."""
    about = {"data-apply": json.dumps(settings), "data-what": title}
    kind = {"type": "button", "class": "primary" if best else "", "aria-label": f"Apply: {title}"}
    return part("button", kind | about, "Apply")


def bars(rows: Sequence[Json], label: str) -> Part:
    """Return bars on a common scale from zero, with intervals, such as values before and after.

    Each row has `name`, `mean`, `low`, `high`, `text` and `tone`. With only a lower bound, the bar
    ends at `low` and is open.
    """
    ends = [one[end] for one in rows for end in ("mean", "low", "high") if one[end] is not None]
    most = 1.04 * max([0.0, *ends]) or 1.0
    said = ", ".join(f"{one['name']} {one['text']}" for one in rows)
    return part(
        "div",
        {"class": "bars", "role": "img", "aria-label": f"{label}: {said}"},
        [
            part(
                "div",
                {"class": "bars-row", "aria-hidden": "true"},
                part("span", {"class": "bars-name"}, one["name"]),
                _bar(one, most),
                part("span", {"class": "bars-text"}, one["text"]),
            )
            for one in rows
        ],
    )


def _bar(one: Json, most: float) -> Part:
    def at(value: float) -> float:
        return round(_WIDE * min(max(value, 0.0), most) / most, 1)

    mean, low, high = one["mean"], one["low"], one["high"]
    known = low if mean is None else mean
    inside = []
    if known is not None:
        size = {"x": 0, "y": 3, "width": max(2.0, at(known)), "height": 14}
        inside.append(part("rect", {"class": "open" if mean is None else None} | size))
    if mean is not None and low is not None and high is not None:
        left, right = at(low), at(high)
        path = f"M{left} 10H{right}M{left} 5V15M{right} 5V15"
        inside.append(part("path", {"class": "whisker", "d": path}))
    kind = f"bars-bar {one.get('tone') or ''}"
    return part(
        "svg", {"viewBox": f"0 0 {_WIDE} 20", "preserveAspectRatio": "none", "class": kind}, inside
    )


def change(before: Json, after: Json, outcome: str, label: str) -> Part:
    """Return bars of a value before and after a change."""
    toned = {"name": "after", "tone": tone(outcome)}
    return bars([dict(before) | {"name": "before"}, dict(after) | toned], label)


def tone(outcome: str) -> str:
    """Return the color of a bar after a change with an outcome."""
    return _TONES.get(outcome, "")


def curves(label: str, height: int = 260, *, legend: bool = True, **about: Any) -> Part:
    """Return a chart with `series` over `x` and `y`, as `curves` of chart.js draws them."""
    return ["curves", {"label": label, "height": height, "legend": legend} | about]


def airtime(rows: Sequence[tuple[str, Json]]) -> Part:
    """Return airtime as stacked bars: a name and its parts per row."""

    def bar(name: str, shares: Json) -> Part:
        known = [(key, shares[key]) for key in AIRTIME if (shares.get(key) or 0) > 0]
        said = ", ".join(f"{AIRTIME[key]} {percent(share)}" for key, share in known)
        of = f" of {name}" if len(rows) > 1 else ""
        left, rects = 0.0, []
        for key, share in known:
            size = {"x": round(left, 2), "width": round(_WIDE * share, 2), "y": 0, "height": 30}
            title = part("title", {}, f"{AIRTIME[key]} {percent(share)}")
            rects.append(part("rect", {"class": f"part-{key}"} | size, title))
            left += _WIDE * share
        drawn = part(
            "svg",
            {
                "class": "bar",
                "viewBox": f"0 0 {_WIDE} 30",
                "preserveAspectRatio": "none",
                "role": "img",
                "aria-label": f"Airtime{of}: {said}",
            },
            rects,
        )
        named = part("span", {"class": "bar-name"}, name) if len(rows) > 1 else None
        return part("div", {"class": "bar-row"}, named, drawn)

    def key_of(key: str) -> Part:
        swatch = part("rect", {"class": f"part-{key}", "width": 12, "height": 12, "rx": 2})
        only = f" {percent(rows[0][1].get(key) or 0)}" if len(rows) == 1 else ""
        drawn = part("svg", {"width": 12, "height": 12, "class": "chart"}, swatch)
        return part("li", {}, drawn, f"{AIRTIME[key]}{only}")

    present = [key for key in AIRTIME if any((shares.get(key) or 0) > 0 for _, shares in rows)]
    return part(
        "div",
        {"class": "airtime"},
        [bar(name, shares) for name, shares in rows],
        part("ul", {"class": "legend", "aria-hidden": "true"}, [key_of(key) for key in present]),
    )


def remedy(one: Json, *, best: bool = False, picture: Any = None, what: str = "") -> Part:
    """Return a change with its picture, its effects on groups, and how to apply it."""
    outcome = one.get("outcome", "")
    research = "research idea, no product has it" if one.get("research") else ""
    about = "; ".join(filter(None, [*one.get("where", []), research, one.get("source", "")]))
    lines = "\n".join(one.get("equipment") or [])
    return part(
        "article",
        {"class": f"remedy is-{outcome.split()[0]}" if outcome else "remedy"},
        part(
            "div",
            {"class": "card-head"},
            part(
                "h3", {}, part("span", {"class": "best"}, "Best: ") if best else None, one["title"]
            ),
            part("span", {"class": f"verdict {outcome}"}, one.get("words", "")),
        ),
        muted(what) if what else None,
        picture,
        _felt("Also better", one.get("wins")),
        _felt("Worse", one.get("loses")),
        part("p", {"class": "harms"}, f"Cost: {one['cost']}") if one.get("cost") else None,
        part(
            "div",
            {"class": "buttons"},
            applies(one["title"], one["set"], best=best) if one.get("set") else None,
            part("span", {"class": "muted"}, about),
        ),
        fold(
            "Configuration lines" if lines else "Command-line option",
            code("Configuration", lines) if lines else None,
            code("Command-line option", one["settings"]) if one.get("settings") else None,
        ),
    )


def _felt(word: str, effects: Sequence[Json] | None) -> Part | None:
    if not effects:
        return None
    lines = [f"{one['label']}: {one['before_text']} → {one['after_text']}" for one in effects]
    kind = "felt harms" if word == "Worse" else "felt helps"
    return part("div", {"class": kind}, part("p", {}, f"{word}:"), listed(lines))
