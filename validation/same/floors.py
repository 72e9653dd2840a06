"""Draw random scenario files of several cells, with any valid combination of features of `[air]`.

Some drawn files are invalid; callers skip those that `airtcp.load` rejects.
"""

from __future__ import annotations

from typing import Any

from scenarios import Draws, toml

#: PHY settings of a floor.
PHYS: tuple[dict[str, Any], ...] = (
    {"standard": "802.11a"},
    {"standard": "802.11a", "data_rate": "24 Mb/s"},
    {"standard": "802.11g"},
    {"standard": "802.11n", "channel_width": "20 MHz", "mcs": 7},
    {"standard": "802.11ac", "channel_width": "40 MHz", "mcs": 5},
    {"standard": "802.11ax", "channel_width": "20 MHz", "mcs": 7},
    {"standard": "802.11ax", "channel_width": "80 MHz", "mcs": 9},
)


def random_floor(index: int) -> str:
    """Return the text of floor number `index`, a few hundred milliseconds of simulated time."""
    draw = Draws(f"floor {index}")
    phy = dict(draw.one_of(PHYS))
    aggregates = "mcs" in phy
    cells = [f"c{number}" for number in range(draw.between(1, 5))]
    tables: dict[str, Any] = {"phy": phy, "mac": _mac(draw)}
    tables["ap"] = {"queue": _queue(draw)}
    tables["cells"] = {name: {} for name in cells}
    kind = draw.one_of(["heard", "heard", "positions", "received"])
    groups: list[dict[str, Any]] = []
    for cell in cells:
        for number in range(draw.between(1, 2)):
            group: dict[str, Any] = {"name": f"{cell}s{number}", "cell": cell}
            group["count"] = draw.between(1, 4)
            groups.append(group)
    tables["air"] = _air(draw, kind, tables["cells"], groups, aggregates)
    for group in groups:
        if draw.chance(0.15):
            group["frame_errors"] = draw.one_of([{"rate": "10 %"}, {"rate": "30 %"}])
    tables["stations"] = groups
    tables["flows"] = [
        {"name": f"f{number}", **_flow(draw, draw.one_of(groups)["name"])}
        for number in range(draw.between(1, 2 * len(cells) + 1))
    ]
    duration = draw.one_of([200, 500, 1000])
    warmup = draw.one_of([0, 100])
    tables["run"] = {
        "warmup": f"{warmup} ms",
        "duration": f"{duration} ms",
        "replications": 1,
    }
    return "".join(f"{key} = {toml(value)}\n" for key, value in tables.items())


def _mac(draw: Draws) -> dict[str, Any]:
    mac: dict[str, Any] = {}
    if draw.chance(0.3):
        mac["rts_threshold"] = draw.one_of(["0 B", "500 B", "60000 B"])
    if draw.chance(0.3):
        changes: dict[str, list[Any]] = {
            "immediate_access": [True, False],
            "post_backoff": [True, False],
            "post_backoff_after_drop": [True, False],
            "arrival_before_own_ack": ["busy", "idle"],
        }
        rules = {key: draw.one_of(all_) for key, all_ in changes.items() if draw.chance(0.5)}
        if rules:
            mac["rules"] = rules
    if draw.chance(0.25):
        mac["edca"] = {}
        if draw.chance(0.5):
            mac["edca"] = {"ap": {"AC_BE": {"txop_limit": "4 ms"}}}
        categories = ["AC_VO", "AC_VI", "AC_BE", "AC_BK"]
        mac["classify"] = {kind: draw.one_of(categories) for kind in ("tcp_ack", "tcp_data", "udp")}
    if draw.chance(0.15):
        mac["short_retry_limit"] = draw.one_of([1, 2])
    return mac


def _queue(draw: Draws) -> dict[str, Any]:
    return draw.one_of(
        [
            {"limit": 20},
            {"limit": 100},
            {"discipline": "per-flow", "limit": 20},
            {"discipline": "red", "limit": 40},
            {"discipline": "codel"},
            {"discipline": "fq-codel"},
        ]
    )


def _air(
    draw: Draws,
    kind: str,
    cells: dict[str, dict[str, Any]],
    groups: list[dict[str, Any]],
    aggregates: bool,
) -> dict[str, Any]:
    air: dict[str, Any] = {}
    names = list(cells)
    if kind == "heard":
        share = draw.one_of([0.0, 0.3, 0.6, 1.0])
        pairs = [(one, two) for at, two in enumerate(names) for one in names[:at]]
        air["heard"] = [list(pair) for pair in pairs if draw.chance(share)]
        for group in groups:
            if draw.chance(0.15):
                own = [one["name"] for one in groups if one["cell"] == group["cell"]]
                group["hears"] = [one for one in own if draw.chance(0.5)]
    elif kind == "positions":
        for cell in cells.values():
            cell["position"] = [draw.between(0, 60), draw.between(0, 30)]
        for group in groups:
            group["positions"] = {"disc": f"{draw.between(3, 12)} m", "seed": draw.between(0, 99)}
        air["path_loss"] = {"exponent": draw.one_of([3, 3.5, 4])}
    else:
        nodes = names + [one["name"] for one in groups]
        links = {(one["cell"], one["name"]) for one in groups}
        rows = []
        for at, two in enumerate(nodes):
            for one in nodes[:at]:
                if (one, two) in links:
                    rows.append([one, two, float(-draw.between(45, 60))])
                elif draw.chance(0.7):
                    rows.append([one, two, float(-draw.between(50, 92))])
        rows += [[one["name"], one["name"], -55.0] for one in groups if draw.chance(0.8)]
        air["received"] = rows
    if kind == "heard":
        return air
    if draw.chance(0.3):
        air["capture"] = "5 dB"
    if aggregates and draw.chance(0.4):
        air["obss_pd"] = draw.one_of(["-72 dBm", "-78 dBm"])
    if draw.chance(0.2):
        air["energy"] = "-82 dBm"
    return air


def _flow(draw: Draws, stations: str) -> dict[str, Any]:
    flow: dict[str, Any] = {
        "stations": stations,
        "direction": draw.one_of(["download", "upload"]),
    }
    kind = draw.one_of(["bulk", "bulk", "bulk", "web", "udp"])
    if kind == "udp":
        rate = draw.one_of(["100 kb/s", "2 Mb/s", "saturated"])
        flow["application"] = {"kind": "udp", "packet": "1000 B", "rate": rate}
        return flow
    flow["application"] = {"kind": kind}
    if kind == "web":
        flow["application"] |= {"size": "12 kB", "think_time": "20 ms"}
    if draw.chance(0.4):
        flow["path"] = [{"rate": "50 Mb/s", "delay": "2 ms", "queue": 50}]
    if draw.chance(0.5):
        flow["tcp"] = draw.one_of([{"preset": "linux"}, {"variant": "sack"}, {"variant": "reno"}])
    return flow
