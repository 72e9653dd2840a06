"""What a page may choose of a store: metric, axes, kind of picture, and steps of other axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from airtcp.document.page import element

Json = Mapping[str, Any]

#: The metrics shown if none is chosen, the first that a store has.
_FIRST: Final = ("transfer_time_s", "goodput_bps", "flow_goodput_bps")
_OWN: Final = (
    "airtcp sweep scenario.toml --to out/store --axis 'stations.laptop.count=[1, 2, 5, 10]'",
    "airtcp web --store out/store",
)


def pickers(
    known: Sequence[Json], asked: Json, *, is_sample: bool, most_lines: int
) -> dict[str, Any]:
    """Return what a page shows above the picture of a store.

    Args:
        known: the stores.
        asked: the choices of the page: `name`, `y`, `x`, `by`, `kind`, `where`; None if open.
        is_sample: whether the store is the sample.
        most_lines: the most lines of a picture.

    Returns:
        `now`: the choices with defaults for open ones, None if there is nothing to show;
        `pickers`: each with `role`, `label`, `value` and `options`, whose third part is what they
        change in the choices; `title` as parts; `problem`: what is wrong with the choices.
    """
    here = next((one for one in known if one["name"] == asked["name"]), known[0])
    wrong = asked["name"] not in (None, here["name"])
    problem = f'There is no store "{asked["name"]}". Showing {here["name"]} instead.'
    fresh: dict[str, Any] = {"y": None, "x": None, "by": None, "where": {}}
    stores = _picker(
        "store",
        "Store",
        here["name"],
        [(one["name"], one["name"], fresh | {"name": one["name"]}) for one in known],
    )
    told: dict[str, Any] = {
        "now": None,
        "pickers": [stores] if len(known) > 1 else [],
        "title": here["problem"] or "This store has no rows yet.",
        "problem": problem if wrong else "",
    }
    if here["problem"] or not here["axes"] or not here["metrics"]:
        return told
    now = _filled(here, asked, most_lines)
    told["pickers"] += _of_axes(here, now, most_lines)
    names = ", ".join(one["name"] for one in here["axes"])
    made = f"made by airtcp {here['version']}."
    sample = [
        element("strong", {}, "A sample. "),
        "Your own: ",
        element("code", {}, _OWN[0]),
        ", then ",
        element("code", {}, _OWN[1]),
        ". ",
    ]
    rows = f"{here['rows']} rows of {here['points']} points over {names}; {made}"
    return told | {"now": now, "title": [*(sample if is_sample else []), rows]}


def _picker(
    role: str, label: str, value: str, options: Sequence[tuple[str, str, Json]]
) -> dict[str, Any]:
    return {"role": role, "label": label, "value": value, "options": options}


def _filled(here: Json, asked: Json, most_lines: int) -> dict[str, Any]:
    """Return the current choices, with defaults for open ones."""
    counts = {one["name"]: one["count"] for one in here["axes"]}
    metrics = [one["name"] for one in here["metrics"]]
    over = asked["x"] if asked["x"] in counts else next(iter(counts))
    others = [name for name in counts if name != over]
    is_map = asked["kind"] == "heat" and bool(others)
    by = asked["by"] if asked["by"] in others else None
    if by is None and (is_map or asked["by"] is None):
        by = next((one for one in others if is_map or 1 < counts[one] <= most_lines), None)
    if by is not None and not is_map and counts[by] > most_lines:
        by = None
    steps = {one["name"]: [step["value"] for step in one["steps"]] for one in here["axes"]}
    where = {
        name: value
        for name, value in asked["where"].items()
        if name in others and name != by and value in steps[name]
    }
    known = [*(name for name in _FIRST if name in metrics), *metrics]
    return {
        "store": here["name"],
        "x": over,
        "by": by,
        "kind": "heat" if is_map else "line",
        "where": where,
        "y": asked["y"] if asked["y"] in metrics else known[0],
    }


def _of_axes(here: Json, now: Json, most_lines: int) -> list[dict[str, Any]]:
    """Return the choices of a metric, of axes, and of steps of the other axes."""
    axes, x, by, is_map = here["axes"], now["x"], now["by"], now["kind"] == "heat"
    found = [
        _picker(
            "metric",
            "Show",
            now["y"],
            [(one["name"], one["label"], {"y": one["name"]}) for one in here["metrics"]],
        ),
        _picker(
            "x",
            "Over",
            x,
            # An axis that was the other one changes places with it.
            [
                (one["name"], one["name"], {"x": one["name"], "by": x if by == one["name"] else by})
                for one in axes
            ],
        ),
    ]
    if len(axes) > 1:
        lines = [
            (one["name"], one["name"], {"by": one["name"]})
            for one in axes
            if one["name"] != x and (is_map or one["count"] <= most_lines)
        ]
        none = [] if is_map else [("", "none (average)", {"by": ""})]
        label = "Vertical axis" if is_map else "One line per"
        kinds = [("line", "lines", {"kind": "line"}), ("heat", "a heat map", {"kind": "heat"})]
        found += [
            _picker("by", label, by or "", [*none, *lines]),
            _picker("kind", "As", now["kind"], kinds),
        ]
    for axis in axes:
        name, where = axis["name"], now["where"]
        if name in (x, by) or axis["count"] < 2 or not axis["steps"]:
            continue
        rest = {other: value for other, value in where.items() if other != name}
        options = [("", "all (average)", {"where": rest})]
        options += [
            (str(place), step["text"], {"where": rest | {name: step["value"]}})
            for place, step in enumerate(axis["steps"])
        ]
        values = [step["value"] for step in axis["steps"]]
        value = str(values.index(where[name])) if name in where else ""
        found.append(_picker(f"where {name}", f"Where {name} is", value, options))
    return found
