"""List the scenarios whose outcomes must not change: the repository's, and random ones.

The random scenarios are texts of scenario files: changes of the resolved form do not
matter, and a key that is added later keeps its default in them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).parents[2]
RANDOM_SCENARIOS = 200

#: The repository's scenario files.
WRITTEN = (
    "python/airtcp/examples/*.toml",
    "benches/scenarios/*.toml",
    "tests/scenarios/valid/*.toml",
)

#: Maximum simulated time: long enough for losses and timeouts, short enough for a
#: frequent command.
LONGEST_WARMUP_NS = 1_000_000_000
LONGEST_NS = 20_000_000_000

T = TypeVar("T")


def all_scenarios(work: Path) -> Iterator[tuple[str, str]]:
    """Return names and resolved forms in the core's format; `work` is for scratch files."""
    import airtcp

    for pattern in WRITTEN:
        for path in sorted(ROOT.glob(pattern)):
            yield str(path.relative_to(ROOT)), _shortened(airtcp.load(path).to_json())
    for index in range(RANDOM_SCENARIOS):
        path = work / f"random-{index:03}.toml"
        path.write_text(random_scenario(index), encoding="utf-8")
        yield path.stem, airtcp.load(path).to_json()


def _shortened(resolved: str) -> str:
    scenario = json.loads(resolved)
    run = scenario["run"]
    # Without an explicit warm-up, pilot runs would choose it, outside of this check.
    run["warmup_ns"] = min(LONGEST_WARMUP_NS, run["warmup_ns"] or 0)
    run["duration_ns"] = min(LONGEST_NS, run["duration_ns"])
    return json.dumps(scenario)


class Draws:
    """Draws that are the same on every version of Python: all use `random.Random.random`."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed).random

    def one_of(self, choices: Sequence[T]) -> T:
        """Return any of them, with equal probability."""
        return choices[int(self._random() * len(choices))]

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self._random() < probability

    def between(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included."""
        return low + int(self._random() * (high - low + 1))


def random_scenario(index: int) -> str:
    """Return scenario file number `index`: any valid combination of features, for some seconds."""
    draw = Draws(f"same {index}")
    standard = draw.one_of(["802.11b", "802.11b", "802.11a", "802.11g"])
    edca = draw.chance(0.35)
    tables: dict[str, Any] = {
        "phy": _phy(draw, standard),
        "mac": _mac(draw, edca),
        "ap": _ap(draw, edca),
        "run": {
            "warmup": f"{draw.one_of([0, 50, 700])} ms",
            "duration": f"{draw.one_of([400, 2000, 6000])} ms",
            "replications": 1,
        },
    }
    names = ["near", "far", "other"][: draw.between(1, 3)]
    tables["stations"] = [_stations(draw, name, standard) for name in names]
    if draw.chance(0.4):
        tables["links"] = {"uplink": _link(draw), "backbone": _link(draw)}
    links = sorted(tables.get("links", {}))
    tables["flows"] = [
        {"name": f"flow{number}", **_flow(draw, draw.one_of(names), links)}
        for number in range(draw.between(1, 4))
    ]
    # Saturated flows are rejected behind a path and with early detection.
    drops_early = "'red'" in repr([tables["ap"], tables["stations"]])
    for flow in tables["flows"]:
        if flow["application"]["kind"] == "udp" and ("path" in flow or drops_early):
            flow["application"].setdefault("rate", "2 Mb/s")
    return "".join(f"{key} = {toml(value)}\n" for key, value in tables.items())


def _phy(draw: Draws, standard: str) -> dict[str, Any]:
    phy: dict[str, Any] = {"standard": standard}
    if standard == "802.11b":
        phy["data_rate"] = draw.one_of(["11 Mb/s", "11 Mb/s", "2 Mb/s", "5.5 Mb/s"])
        phy |= draw.one_of([{}, {"control_rate": "2 Mb/s"}, {"preamble": "short"}])
    else:
        phy["data_rate"] = draw.one_of(["54 Mb/s", "24 Mb/s", "6 Mb/s"])
    if draw.chance(0.2):
        phy["cw_min"], phy["cw_max"] = draw.one_of([(0, 0), (1, 7), (7, 1023), (30, 1022)])
    if draw.chance(0.2):
        phy |= {"symbol_rounding": False, "mac_header_bits": 272, "llc_bits": 0}
    if draw.chance(0.15):
        phy["propagation_delay"] = "333 ns"
    return phy


def _mac(draw: Draws, edca: bool) -> dict[str, Any]:
    mac: dict[str, Any] = {}
    if draw.chance(0.6):
        mac["rules"] = {"preset": draw.one_of(["standard", "ns-2", "ns-2", "ns-3", "bianchi"])}
        changes: dict[str, list[Any]] = {
            "immediate_access": [True, False],
            "post_backoff": [True, False],
            "post_backoff_after_drop": [True, False],
            "after_collision": ["eifs", "difs", "eifs+difs"],
            "colliders": ["ack-timeout+difs", "as-others", "as-heard"],
            "arrival_before_own_ack": ["busy", "idle"],
        }
        for key, choices in changes.items():
            if draw.chance(0.2):
                mac["rules"][key] = draw.one_of(choices)
    if draw.chance(0.4):
        mac["rts_threshold"] = draw.one_of(["0 B", "500 B"])
    if draw.chance(0.3):
        mac["short_retry_limit"] = draw.one_of([1, 2, 4])
    if draw.chance(0.25):
        mac["beacon"] = draw.one_of([{}, {"interval": "10 ms"}, {"interval": "1.7 ms"}])
    if edca:
        mac["edca"] = {}
        if draw.chance(0.5):
            mac["edca"]["ap"] = {
                "AC_VO": {"aifsn": 2, "cw_min": draw.one_of([0, 3, 7]), "cw_max": 7},
                "AC_BE": {"txop_limit": draw.one_of(["0 us", "4 ms"])},
            }
        if draw.chance(0.5):
            mac["edca"]["stations"] = {"AC_BE": {"txop_limit": draw.one_of(["0 us", "6 ms"])}}
        if draw.chance(0.7):
            categories = ["AC_VO", "AC_VI", "AC_BE", "AC_BK"]
            mac["classify"] = {
                kind: draw.one_of(categories) for kind in ("tcp_ack", "tcp_data", "udp")
            }
    return mac


def _ap(draw: Draws, edca: bool) -> dict[str, Any]:
    ap: dict[str, Any] = {}
    if draw.chance(0.6):
        ap["queue"] = _queue(draw)
    if not edca and draw.chance(0.25):
        ap["access"] = {
            "scheme": "adaptive-burst",
            "window_slots": draw.one_of([4, 16]),
            "target_active": draw.between(1, 3),
        }
    return ap


def _queue(draw: Draws) -> dict[str, Any]:
    return draw.one_of(
        [
            {"limit": 1},
            {"limit": 10},
            {"limit": 100},
            {"discipline": "per-flow", "limit": 20},
            {"discipline": "per-flow"},
            {"discipline": "red", "limit": 40},
            {
                "discipline": "red",
                "limit": 30,
                "min_threshold": 2,
                "max_threshold": 12.5,
                "max_probability": 0.2,
                "weight": 0.05,
            },
        ]
    )


def _stations(draw: Draws, name: str, standard: str) -> dict[str, Any]:
    stations: dict[str, Any] = {"name": name, "count": draw.between(1, 6)}
    if draw.chance(0.3):
        rates = {"802.11b": ["2 Mb/s", "5.5 Mb/s"]}
        stations["data_rate"] = draw.one_of(rates.get(standard, ["12 Mb/s", "36 Mb/s"]))
    if draw.chance(0.4):
        stations["queue"] = _queue(draw)
    return stations


def _link(draw: Draws) -> dict[str, Any]:
    link: dict[str, Any] = {"delay": draw.one_of(["0 ms", "2 ms", "15 ms"])}
    if draw.chance(0.8):
        link["rate"] = draw.one_of(["1 Mb/s", "5 Mb/s", "100 Mb/s"])
        if draw.chance(0.8):
            link["queue"] = draw.one_of([1, 10, 50])
    return link


def _law(draw: Draws, mean: str) -> str | dict[str, Any]:
    laws: list[str | dict[str, Any]] = [
        mean,
        {"distribution": "exponential", "mean": mean},
        {"distribution": "pareto", "mean": mean, "shape": 1.5},
        {"distribution": "hyperexponential", "mean": mean, "scv": 4.0},
        {"distribution": "lognormal", "mean": mean, "scv": 2.0},
    ]
    return draw.one_of(laws)


def _application(draw: Draws) -> dict[str, Any]:
    kind = draw.one_of(["bulk", "bulk", "bulk", "web", "web", "ftp", "ftp", "udp", "udp"])
    application: dict[str, Any] = {"kind": kind}
    if kind == "bulk":
        if draw.chance(0.3):
            application["size"] = _law(draw, "40 kB")
        if draw.chance(0.5):
            application["start"] = {"distribution": "uniform", "low": "0 s", "high": "50 ms"}
    elif kind == "web":
        application |= {"size": _law(draw, "12 kB"), "think_time": _law(draw, "30 ms")}
        if draw.chance(0.5):
            application["request"] = "300 B"
    elif kind == "ftp":
        application |= {"interarrival": _law(draw, "80 ms"), "size": _law(draw, "9 kB")}
        if draw.chance(0.6):
            application["control"] = True
    else:
        application["packet"] = draw.one_of(["60 B", "700 B", "1500 B"])
        if draw.chance(0.6):
            application["rate"] = draw.one_of(["64 kb/s", "900 kb/s", "8 Mb/s"])
    return application


def _tcp(draw: Draws, dialogue: bool) -> dict[str, Any]:
    changes: dict[str, list[Any]] = {
        "variant": ["reno", "newreno", "sack", "sack"],
        "mss": ["1000 B", "536 B"],
        "receive_window": [{"segments": 1}, {"segments": 6}, "64 KiB", "1 MB"],
        "initial_window": [1, 2, 10],
        "initial_ssthresh": ["8 KiB", "20 kB"],
        "aimd": [{"increase": 0.2, "decrease": 0.95}, {"increase": 2.0}],
        "rules": [{"preset": "ns-2"}, {"fast_retransmit_once_per_window": True}],
        "handshake": ["three-way"] if dialogue else ["three-way", "two-way", "none"],
        "min_rto": ["20 ms", "200 ms"],
        "initial_rto": ["300 ms"],
        "clock_granularity": ["10 ms"],
        "delayed_ack": [
            {"every": 1},
            {"every": 2, "timeout": "100 ms"},
            {"thresholds": [[0, 1], [2, 2], [5, 3], [9, 4]], "timeout": "30 ms"},
        ],
        "ack_skip": [{"skip": 1, "after_segment": 5}, {"skip": 2}],
        "pad_last_segment": [True],
    }
    return {key: draw.one_of(choices) for key, choices in changes.items() if draw.chance(0.3)}


def _flow(draw: Draws, stations: str, links: list[str]) -> dict[str, Any]:
    application = _application(draw)
    flow: dict[str, Any] = {
        "stations": stations,
        "direction": draw.one_of(["download", "upload"]),
        "application": application,
    }
    if draw.chance(0.5):
        path: list[str | dict[str, Any]] = [link for link in links if draw.chance(0.7)]
        if draw.chance(0.3):
            path.append(_link(draw))
        if path:
            flow["path"] = path
    if application["kind"] != "udp":
        flow["tcp"] = _tcp(draw, dialogue=application.get("control", False))
    return flow


def toml(value: object) -> str:
    """Format a value for a scenario file."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    return repr(value)
