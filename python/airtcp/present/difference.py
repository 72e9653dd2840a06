"""The difference of two simulations as rows of text, as a picture, and as a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, Final

from airtcp.amounts import percent
from airtcp.document.page import document, origin
from airtcp.document.page import html as html_of
from airtcp.labels import flows_of, label_of
from airtcp.messages import diff as words
from airtcp.metrics import METRICS
from airtcp.present import drawing
from airtcp.present.cells import by_cell_of_both
from airtcp.present.drawing import (
    BLUE,
    GREEN,
    GREY,
    INK,
    VERMILION,
    legend_above,
    new_figure,
    styled,
)
from airtcp.scenario.declare import name_in_files
from airtcp.units import format_rate, format_size, format_time_ns, format_time_s

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from airtcp.estimates.steadiness import Steadiness
    from airtcp.results.differences import Difference, Ranked

#: The most rows of a table for people, and bars of a picture.
MOST_ROWS: Final = 20
#: Longer lists of values are not shown.
_LONG: Final = 40
#: Follows from positions, walls, powers and channels, which are not in the resolved form.
_POWERS: Final = "air.received_dbm"
#: The most keys shown one by one.
_MOST_KEYS: Final = 6

CAPTION: Final = "What changes from A to B: paired differences relative to A, with their intervals."

_COLOURS: Final = {
    "better": GREEN,
    "worse": VERMILION,
    "different": BLUE,
    "hardly different": GREY,
    "not separated": GREY,
}


def changed_lines(difference: Difference) -> list[str]:
    """Return one line for each key that differs; titles only if nothing else differs."""
    a, b = difference.a.scenario, difference.b.scenario
    changed = [
        (key, both)
        for key, both in difference.changed.items()
        if not _follows(key, both, difference.changed)
    ]
    # Hide long lists: their differences cannot be shown, and the keys behind them differ too.
    changed = [one for one in changed if not all(map(_is_long, one[1]))] or changed
    lines = [_changed(key, *both) for key, both in changed[:_MOST_KEYS]]
    if len(changed) > _MOST_KEYS:
        lines.append(f"and {len(changed) - _MOST_KEYS} more keys")
    if a.title != b.title:
        lines = [f"{a.title or 'A'} → {b.title or 'B'}", *lines]
    if difference.precision is not None:
        lines.append(_ended(difference, difference.precision))
    return lines


def subject(difference: Difference) -> list[str]:
    """Return what is compared: the keys that differ, and the number of pairs."""
    n = difference.replications
    pairs = f"{n} pair{'s' if n > 1 else ''} of runs with seed {difference.a.scenario.run.seed}"
    return [
        *(changed_lines(difference) or ["no key differs"]),
        f"{pairs}; {100 * difference.confidence:g} % confidence intervals of paired differences",
    ]


def _ended(difference: Difference, precision: float) -> str:
    asked = f"goodput and transfer time within ± {percent(precision)} of A"
    if difference.stopped == "precision":
        return f"reached: {asked}"
    why = "interrupted" if difference.stopped == "interrupted" else "stopped at the maximum"
    return f"{why} before this precision was reached: {asked}"


def rest(difference: Difference) -> str | None:
    """Describe the metrics without a significant change; None if there are none."""
    if difference.replications < 2:
        return "One pair of replications has no confidence interval: use --replications 5."
    apart = [one for one in difference.ranked() if not one.change.separated]
    early = [one for one in apart if one.change.early is not None]
    ranked = [one for one in apart if one.change.early is None]
    words = ""
    if early:
        names = "; ".join(dict.fromkeys(_told(one) for one in early[:MOST_ROWS]))
        why = _reasons(one.change.early for one in early if one.change.early is not None)
        words = f"Inconclusive, because runs are too short ({why}): {names}."
        if not ranked:
            return words
    if not ranked:
        return None
    if all(one.change.difference.mean == 0.0 for one in difference.ranked()):
        return "Every difference is exactly 0."
    felt = [one for one in ranked if one.is_felt]
    told = [_told(one) for one in felt[:MOST_ROWS]]
    left = len(ranked) - len(told)
    if left:
        told.append(f"and {left} more" if told else f"{left} details")
    return f"{words} Differences within chance: {'; '.join(told)}.".lstrip()


def _reasons(early: Iterable[Steadiness]) -> str:
    """Give each reason once, with the longest duration required."""
    longest: dict[str | None, Steadiness] = {}
    for one in early:
        known = longest.setdefault(one.reason, one)
        if (one.simulate_s or 0.0) > (known.simulate_s or 0.0):
            longest[one.reason] = one
    return "; ".join(one.advice for one in longest.values())


def picture(difference: Difference) -> Figure | None:
    """Draw relative differences with their intervals; None if no metric has one."""
    ranked = [one for one in difference.ranked() if one.relative is not None]
    shown = [one for one in ranked if one.is_felt and one.change.separated] or ranked
    shown = shown[:MOST_ROWS]
    if not shown:
        return None
    with styled():
        figure, axes = new_figure(height=1.1 + 0.32 * len(shown))
        means = [100.0 * (one.relative or 0.0) for one in shown]
        widths = [
            100.0 * (one.change.difference.half_width or 0.0) / abs(one.change.a.mean or 1.0)
            for one in shown
        ]
        for verdict, colour in _COLOURS.items():
            mine = [y for y, one in enumerate(shown) if one.verdict == verdict]
            if mine:
                lengths = [means[y] for y in mine]
                axes.barh(mine, lengths, height=0.6, color=colour, label=verdict)
        bars: dict[str, Any] = {"fmt": "none", "ecolor": INK, "elinewidth": 1.1, "capsize": 2.5}
        axes.errorbar(means, range(len(shown)), xerr=widths, **bars)
        axes.axvline(0.0, color=INK, linewidth=0.8)
        axes.set_yticks(range(len(shown)), [_told(one) for one in shown])
        axes.set_ylim(len(shown) - 0.4, -0.6)
        if max(map(abs, means)) > 300.0:
            axes.set_xscale("symlog", linthresh=10.0)
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:+g}" if x else "0")
        axes.set_xlabel("B against A (%)")
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0)
        legend_above(figure, axes)
    return figure


def pictures(difference: Difference) -> dict[str, Figure]:
    """Return the picture, by its name, if there is one."""
    drawn = picture(difference)
    return {} if drawn is None else {"difference": drawn}


def html(difference: Difference, svgs: Mapping[str, str]) -> str:
    """Return the page of a difference as one self-contained HTML document, with an SVG picture."""
    title = "What is different"
    decision = "; ".join(text for text, _ in words.decision(difference))
    parts = [f"<h1>{title}</h1>", f"<p class='note'>{escape(decision)}</p>"]
    parts.append("<ul class='subject'>")
    parts += [f"<li>{escape(line)}</li>" for line in subject(difference)]
    parts.append("</ul>")
    changes = list(html_of(words.tables(words.separated(difference))))
    parts += changes or ["<p class='note'>No metric differs beyond chance.</p>"]
    of_cells = by_cell_of_both(difference.a.simulation, difference.b.simulation)
    if of_cells is not None:
        parts += ["<h2>Cells, A → B</h2>", *html_of([of_cells])]
    parts += [drawing.framed(svg, name, CAPTION) for name, svg in svgs.items()]
    unseparated = rest(difference)
    if unseparated is not None:
        parts.append(f"<p class='muted'>{escape(unseparated)}</p>")
    for name, one in (("A", difference.a), ("B", difference.b)):
        parts += origin(f"Where {name} comes from", one.to_dict()["provenance"])
    return document(title, parts)


def _told(one: Ranked) -> str:
    if one.group is None:
        return METRICS[one.metric].label
    return label_of(METRICS[one.metric], flows_of(one.group, one.part))


def _follows(key: str, both: tuple[Any, Any], changed: Mapping[str, tuple[Any, Any]]) -> bool:
    """Whether a key of a cell's access point only repeats a change of the same key in `[ap]`."""
    cells, _, of_all = key.partition(".ap.")
    return cells.startswith("cells.") and changed.get(f"ap.{of_all}") == both


def _changed(key: str, old: object, new: object) -> str:
    """Describe the change of a key, by its name in files. For powers, count those that differ."""
    if key == _POWERS and isinstance(old, list) and isinstance(new, list):
        return f"air, received powers: {_powers_that_differ(old, new)}"
    table, _, name = key.rpartition(".")
    in_file = f"{table}.{name_in_files(name)}" if table else name_in_files(name)
    # A rate of the resolved form is a table with further keys next to it in files.
    in_file = in_file.removesuffix(".bps").removesuffix("_mhz").replace(".data_rate.high.", ".")
    return f"{in_file}: {_value(key, old)} → {_value(key, new)}"


def _powers_that_differ(old: list[list[float | None]], new: list[list[float | None]]) -> str:
    """Describe how many received powers between node classes differ, and by how much at most."""
    if len(old) != len(new):
        return f"{len(old)} nodes with different powers → {len(new)}"
    pairs = [both for rows in zip(old, new, strict=True) for both in zip(*rows, strict=True)]
    changed = [(one, other) for one, other in pairs if one != other]
    known = [abs(other - one) for one, other in changed if one is not None and other is not None]
    most = f", by up to {max(known):.3g} dB" if known else ""
    lost = (
        f", {len(changed) - len(known)} of them from or to no power"
        if changed[len(known) :]
        else ""
    )
    return f"{len(changed)} of {len(pairs)} differ{most}{lost}"


def _value(key: str, value: object) -> str:
    """Format a value of a key of the resolved form, with its unit."""
    if value is None:
        return "–"
    unit = key.replace(".", "_").rpartition("_")[2]
    if unit in _UNITS and isinstance(value, int | float) and not isinstance(value, bool):
        return _UNITS[unit](value)
    return "a list" if _is_long(value) else str(value)


def _is_long(value: object) -> bool:
    return isinstance(value, list) and len(str(value)) > _LONG


#: Formats of quantities, by the last part of the key's name.
_UNITS: Final[dict[str, Callable[[Any], str]]] = {
    "ns": format_time_ns,
    "s": format_time_s,
    "bps": format_rate,
    "bytes": format_size,
    "mhz": "{:g} MHz".format,
    "dbm": "{:g} dBm".format,
    "db": "{:g} dB".format,
}
