"""Tables of docs/reference/keys.md: keys, presets, numbers of the standards."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any, get_args, get_type_hints

import tables
from airtcp.scenario import ResolvedScenario, resolve, schema
from airtcp.scenario.declare import Table, declarations, text
from airtcp.scenario.keys.mac import Rules
from airtcp.scenario.keys.tcp import TcpRules
from airtcp.scenario.schema import holds
from airtcp.standards import EDCA_CATEGORIES, STANDARDS, edca_defaults
from airtcp.units import format_time_ns

Schema = dict[str, Any]

# Where each table of the schema occurs in a file; size distributions also stand for those of times.
SECTIONS = {
    "": "The whole file",
    "Phy": "`[phy]`",
    "Mac": "`[mac]`",
    "Rules": "`[mac.rules]`",
    "Beacon": "`beacon`, of `[mac]`",
    "Pcf": "`[mac.pcf]`",
    "Aggregation": "`[mac.aggregation]`",
    "Ofdma": "`[mac.ofdma]`",
    "Edca": "`[mac.edca]`",
    "EdcaCategories": "`[mac.edca.ap]` and `[mac.edca.stations]`",
    "AccessParameters": "`[mac.edca.ap.AC_VO]`, `[mac.edca.stations.AC_BE]` and the like",
    "Classify": "`[mac.classify]`",
    "AccessPoint": "`[ap]`",
    "AnyQueue": "`queue`, of `[ap]`, of `[[stations]]` and of links",
    "AirtimeScheduler": "`scheduler`, of `[ap]`, as a table",
    "StandardAccess": "`access`, of `[ap]`",
    "Cell": "`[cells.NAME]`",
    "Air": "`[air]`",
    "PathLoss": "`path_loss`, of `[air]`",
    "Wall": "`walls`, of `path_loss`",
    "StationGroup": "`[[stations]]`",
    "Disc": "`positions`, of `[[stations]]`, as a table",
    "Emlsr": "`emlsr`, of `[[stations]]`",
    "FrameErrors": "`frame_errors`, of `[[stations]]`, as a table",
    "Flow": "`[[flows]]`",
    "Bulk": '`application`, `kind = "bulk"`',
    "Web": '`application`, `kind = "web"`',
    "Page": "`page`, of `application`",
    "Ftp": '`application`, `kind = "ftp"`',
    "Replay": '`application`, `kind = "replay"`',
    "Udp": '`application`, `kind = "udp"`',
    "Call": '`application`, `kind = "call"`',
    "Tcp": "`tcp`",
    "Aimd": "`aimd`, of `tcp`",
    "TcpRules": "`rules`, of `tcp`",
    "DelayedAck": "`delayed_ack`, of `tcp`",
    "AckSkip": "`ack_skip`, of `tcp`",
    "AdaptiveSkip": "`adaptive`, of `ack_skip`",
    "MacFeedback": "`mac_feedback`, of `tcp`",
    "Tack": "`tack`, of `tcp`",
    "Receiver": "`receiver`, of `tcp`",
    "Segments": "`receive_window` and `initial_ssthresh`, of `tcp`, as tables",
    "Link": "`[links.NAME]`, and the tables of `path`",
    "Loss": "`loss`, of a link, as a table",
    "Run": "`[run]`",
    "DeterministicSize": '`distribution = "deterministic"`',
    "ExponentialSize": '`distribution = "exponential"`',
    "ParetoSize": '`distribution = "pareto"`',
    "HyperexponentialSize": '`distribution = "hyperexponential"`',
    "LognormalSize": '`distribution = "lognormal"`',
    "UniformSize": '`distribution = "uniform"`',
    "Empirical": '`distribution = "empirical"`',
}


def _known() -> dict[str, Schema]:
    whole = schema()
    return {"": whole, **whole["$defs"]}


def _called(name: str) -> str:
    """Return the name of the CSV file for a table of the schema."""
    return "keys-" + (re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower() or "file")


def keys() -> str:
    """List the tables of a scenario file with their keys and the CSV file of each."""
    known = _known()
    sections = []
    for name, heading in SECTIONS.items():
        names = ", ".join(f"`{key}`" for key in known[name]["properties"])
        said = f"### {heading}\n\n{names}"
        sections.append(f"{said}\n\n{tables.file(_called(name))}")
    return "\n\n".join(sections)


def section(name: str) -> str:
    """List the keys of a table: type, default, source, meaning."""
    table = _known()[name]
    rows = []
    for key, its in table["properties"].items():
        source, meaning = its.get("x-source", ""), its.get("description", "")
        holds = _holds(its, name.endswith("Size"))
        rows.append((f"`{key}`", holds, _default(key, table), source, meaning))
    return tables.markdown(("key", "holds", "default", "source", "meaning"), rows)


def _default(name: str, table: Schema) -> str:
    default = table["properties"][name].get("x-default")
    if default is None:
        return "must be given"
    is_text = default.startswith('"') and default.count('"') == 2
    presets = table["properties"][name].get("x-presets")
    return (f"`{default}`" if is_text else str(default)) + (f" ({presets})" if presets else "")


def _holds(key: Schema, of_size: bool) -> str:
    """Return the type of a key, its literals as code."""
    return re.sub(r'"[^"]*"|\btrue\b|\bfalse\b', r"`\g<0>`", holds(key, of_size=of_size))


def presets(table: type[Table]) -> str:
    """List the values that each preset of a table of rules sets."""
    rules = {name: key.default.of_preset for name, key in declarations(table).items()}
    known = {name: values for name, values in rules.items() if values is not None}
    rows = [
        [
            f"`{text(name)}`",
            *(_cell(values.get(name, values["standard"])) for values in known.values()),
        ]
        for name in get_args(get_type_hints(table)["preset"])
    ]
    return tables.markdown(["`preset`", *(f"`{name}`" for name in known)], rows)


def _cell(value: Any) -> str:
    return f"`{text(value)}`" if isinstance(value, str) else text(value)


def timing() -> str:
    """List the times of each standard, including derived ones."""
    rows = []
    for name, preamble in [(name, {}) for name in STANDARDS] + [("802.11b", {"preamble": "short"})]:
        phy = _resolved({"standard": name, **preamble}).phy
        times = (phy.slot_time_ns, phy.sifs_ns, phy.difs_ns, phy.eifs_ns, phy.ack_timeout_ns)
        shown = [format_time_ns(time) for time in times]
        rows.append([f"{name}, short preamble" if preamble else name, *shown])
    return tables.markdown(["standard", "slot", "SIFS", "DIFS", "EIFS", "ACK timeout"], rows)


def _resolved(phy: dict[str, Any]) -> ResolvedScenario:
    flow = {"stations": "a", "direction": "download", "application": {"kind": "bulk"}}
    return resolve({"phy": phy, "stations": [{"name": "a", "count": 1}], "flows": [flow]})


def categories() -> str:
    """List the default EDCA parameters in 802.11b, and the TXOP limits of all standards."""
    b, a = STANDARDS["802.11b"], STANDARDS["802.11a"]
    rows = []
    for category in EDCA_CATEGORIES:
        station, ap = (
            edca_defaults(b, category, ap=ap, cw_min=b.cw_min, cw_max=b.cw_max)
            for ap in (False, True)
        )
        ofdm = edca_defaults(a, category, ap=False, cw_min=a.cw_min, cw_max=a.cw_max)
        numbers = (station.aifsn, station.cw_min, station.cw_max, ap.aifsn, ap.cw_min, ap.cw_max)
        limits = (station.txop_limit_ns, ofdm.txop_limit_ns)
        rows.append(
            [f"`{category}`", *map(str, numbers), *(format_time_ns(limit) for limit in limits)]
        )
    head = ["category", "AIFSN", "CWmin", "CWmax", "AIFSN, `ap`", "CWmin, `ap`", "CWmax, `ap`"]
    return tables.markdown([*head, "TXOP limit (b)", "TXOP limit (a, g)"], rows)


DOCS = Path(__file__).parents[1]
PAGE = DOCS / "reference" / "keys.md"
TABLES = {
    "timing": timing,
    "rules": lambda: presets(Rules),
    "categories": categories,
    "tcp-rules": lambda: presets(TcpRules),
    "keys": keys,
    **{_called(name): partial(section, name) for name in SECTIONS},
}
