"""Generate valid scenario files that combine features rarely used together.

Keys are compatible, so no file is rejected. A seed and a number determine each file.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "same"))

from scenarios import Draws, toml

CATEGORIES = ["AC_VO", "AC_VI", "AC_BE", "AC_BK"]
HIGH = ("802.11n", "802.11ac", "802.11ax")
#: Widest channel, most streams, highest MCS valid at every width, guard intervals.
PHYS: dict[str, tuple[list[str], int, int, list[str]]] = {
    "802.11n": (["20 MHz", "40 MHz"], 4, 7, ["400 ns", "800 ns"]),
    "802.11ac": (["20 MHz", "40 MHz", "80 MHz", "160 MHz"], 8, 7, ["400 ns", "800 ns"]),
    "802.11ax": (
        ["20 MHz", "40 MHz", "80 MHz", "160 MHz"],
        8,
        11,
        ["800 ns", "1600 ns", "3200 ns"],
    ),
}
#: Maximum of stations that always send: more take seconds per simulated second.
MOST_STATIONS = 60


def mixture(seed: int, index: int) -> str:
    """Return the text of scenario file number `index` of a seed."""
    draw = Draws(f"extremes {seed} {index}")
    standard = draw.one_of(["802.11b", "802.11a", "802.11g", *HIGH, *HIGH, "802.11ax", "802.11ax"])
    high = standard in HIGH
    edca = high or draw.chance(0.5)
    tables: dict[str, Any] = {"phy": _phy(draw, standard), "mac": _mac(draw, standard, edca)}
    names = [f"group{number}" for number in range(draw.one_of([1, 2, 3, 5, 8, 20, 40]))]
    tables["stations"] = [_stations(draw, name, standard, len(names)) for name in names]
    tables["links"] = {name: _link(draw) for name in ("near", "wan", "slow")}
    tables["ap"] = _ap(draw, high, edca, "pcf" in tables["mac"])
    marks = tables["ap"].get("queue", {}).get("ecn", False)
    flows = []
    for number in range(draw.one_of([1, 2, 3, 5, 8, max(8, len(names))])):
        flows.append({"name": f"flow{number}", **_flow(draw, draw.one_of(names), marks)})
    tables["flows"] = flows
    tables["run"] = {
        "warmup": draw.one_of(["0 s", "50 ms", "300 ms"]),
        "duration": draw.one_of(["100 ms", "400 ms", "1 s"]),
        "replications": draw.one_of([2, 2, 3]),
        "seed": draw.between(0, 2**40),
    }
    return "".join(f"{key} = {toml(value)}\n" for key, value in tables.items())


def _phy(draw: Draws, standard: str) -> dict[str, Any]:
    phy: dict[str, Any] = {"standard": standard}
    if standard in HIGH:
        widths, streams, mcs, intervals = PHYS[standard]
        phy["channel_width"] = draw.one_of(widths)
        phy["mcs"] = draw.one_of([0, draw.between(0, mcs), mcs])
        phy["spatial_streams"] = draw.one_of([1, 1, 2, streams])
        phy["guard_interval"] = draw.one_of(intervals)
        if draw.chance(0.2):
            phy["block_ack_rate"] = draw.one_of(["6 Mb/s", "24 Mb/s"])
    elif standard == "802.11b":
        phy["data_rate"] = draw.one_of(["1 Mb/s", "2 Mb/s", "11 Mb/s"])
    else:
        phy["data_rate"] = draw.one_of(["6 Mb/s", "24 Mb/s", "54 Mb/s"])
    if draw.chance(0.15):
        phy["cw_min"], phy["cw_max"] = draw.one_of([(0, 0), (1, 1), (0, 1023), (1023, 1023)])
    if draw.chance(0.15):
        phy["propagation_delay"] = draw.one_of(["1 ns", "3 us"])
    if draw.chance(0.1):
        phy |= {"symbol_rounding": False, "mac_header_bits": 0, "llc_bits": 0}
    return phy


def _mac(draw: Draws, standard: str, edca: bool) -> dict[str, Any]:
    mac: dict[str, Any] = {}
    if draw.chance(0.5):
        mac["rules"] = {"preset": draw.one_of(["standard", "ns-2", "ns-3", "bianchi"])}
        changes: dict[str, list[Any]] = {
            "immediate_access": [True, False],
            "post_backoff": [True, False],
            "after_collision": ["eifs", "difs", "eifs+difs"],
            "colliders": ["ack-timeout+difs", "as-others", "as-heard"],
            "failed_block_ack": ["resend", "block-ack-request"],
            "delivery": ["ppdu", "mpdu"],
            "txop_protection": ["single", "multiple", "multiple+cf-end"],
            "retry_limit_under_block_ack": [True, False],
        }
        mac["rules"] |= {key: draw.one_of(of) for key, of in changes.items() if draw.chance(0.25)}
    if draw.chance(0.4):
        mac["rts_threshold"] = draw.one_of(["0 B", "300 B", "1400 B"])
    if draw.chance(0.4):
        mac["short_retry_limit"] = draw.one_of([1, 2, 255])
        mac["long_retry_limit"] = draw.one_of([1, 4, 255])
    if draw.chance(0.3):
        mac["beacon"] = draw.one_of([{}, {"interval": "1 ms"}, {"interval": "20 ms"}])
    if edca and draw.chance(0.8):
        mac["edca"] = {"ap": _categories(draw, standard), "stations": _categories(draw, standard)}
        mac["classify"] = {kind: draw.one_of(CATEGORIES) for kind in ("tcp_ack", "tcp_data", "udp")}
    elif edca and standard not in HIGH:
        mac["edca"] = {}
    elif not edca and draw.chance(0.3):
        mac["pcf"] = draw.one_of([{}, {"interval": "204.8 ms", "max_duration": "80 ms"}])
        mac["beacon"] = {}
    if standard in HIGH and draw.chance(0.7):
        mac["aggregation"] = _aggregation(draw, standard)
    return mac


def _categories(draw: Draws, standard: str) -> dict[str, Any]:
    # The limit admits the longest packet at the lowest rate.
    limits = ["20 ms", "32 ms"] if standard in ("802.11b", "802.11g") else ["4 ms", "8 ms"]
    found: dict[str, Any] = {}
    for category in CATEGORIES:
        if draw.chance(0.5):
            low, high = draw.one_of([(0, 0), (1, 3), (3, 7), (15, 1023), (0, 2**20 - 1)])
            found[category] = {
                "aifsn": draw.one_of([1, 2, 7, 15]),
                "cw_min": low,
                "cw_max": high,
                "txop_limit": draw.one_of(["0 us", *limits]),
            }
    return found


def _aggregation(draw: Draws, standard: str) -> dict[str, Any]:
    changes: dict[str, list[Any]] = {
        "ampdu": ["0 B", "3000 B", "65535 B"],
        "amsdu": ["0 B", "3839 B", "7935 B"],
        "ppdu_time": ["1 ms", "4 ms", "5.484 ms"],
        "block_ack_window": [1, 2, 64] + ([256] if standard == "802.11ax" else []),
    }
    return {key: draw.one_of(of) for key, of in changes.items() if draw.chance(0.5)}


def _stations(draw: Draws, name: str, standard: str, groups: int) -> dict[str, Any]:
    most = max(1, MOST_STATIONS // groups)
    stations: dict[str, Any] = {
        "name": name,
        "count": draw.one_of([1, 1, 2, draw.between(1, most)]),
    }
    if standard in HIGH:
        widths, _, mcs, _ = PHYS[standard]
        if draw.chance(0.4):
            stations["mcs"] = draw.between(0, mcs)
        if draw.chance(0.3):
            stations["spatial_streams"] = 1
        if draw.chance(0.3):
            stations["channel_width"] = widths[0]
    elif draw.chance(0.4):
        slow = {"802.11b": ["1 Mb/s", "5.5 Mb/s"], "802.11a": ["6 Mb/s", "36 Mb/s"]}
        both = [*slow["802.11b"], *slow["802.11a"]]
        stations["data_rate"] = draw.one_of(slow.get(standard, both))
    if standard in HIGH and draw.chance(0.3):
        # The best MCS must deliver something: at 12 dB QPSK does, at 45 dB all do.
        low = draw.chance(0.4)
        stations["mcs"] = draw.between(0, 1) if low else draw.between(0, mcs)
        stations |= draw.one_of(
            [
                {"snr": "12 dB" if low else "45 dB"},
                {"error_table": {"0": "5 %", "1": "30 %", "4": "90 %"}},
            ]
        )
        stations["rate_control"] = draw.one_of(["fixed", "minstrel-ht"])
    elif draw.chance(0.4):
        stations["frame_errors"] = draw.one_of(
            ["1 %", "60 %", {"rate": "20 %", "of": "1500 B", "least": "100 B"}]
        )
    if draw.chance(0.4):
        stations["queue"] = _queue(draw, ap=False)
    return stations


def _ap(draw: Draws, high: bool, edca: bool, pcf: bool) -> dict[str, Any]:
    ap: dict[str, Any] = {"queue": _queue(draw, ap=True)} if draw.chance(0.8) else {}
    if high:
        quantum = {"kind": "airtime", "quantum": "100 us", "aql": "4 ms"}
        own = ap.get("queue", {}).get("discipline") == "fq-codel"
        schedulers = ["round-robin", "airtime", quantum] if own else ["round-robin"]
        if draw.chance(0.5):
            ap["scheduler"] = draw.one_of(schedulers)
    elif not edca and not pcf and draw.chance(0.4):
        ap["access"] = {
            "scheme": "adaptive-burst",
            "window_slots": draw.one_of([1, 16, 200]),
        }
        if draw.chance(0.5):
            ap["access"]["target_active"] = draw.between(1, ap["access"]["window_slots"])
    return ap


def _queue(draw: Draws, *, ap: bool) -> dict[str, Any]:
    queue: dict[str, Any] = draw.one_of(
        [
            {"limit": 1},
            {"limit": 3},
            {"limit": 3000},
            {"discipline": "per-flow", "limit": 20},
            {
                "discipline": "red",
                "limit": 60,
                "min_threshold": 1,
                "max_threshold": 50,
                "max_probability": 1.0,
                "weight": 1.0,
                "ecn": True,
            },
            {"discipline": "red", "limit": 200},
            {"discipline": "codel", "limit": 1000, "target": "100 us", "interval": "5 ms"},
            {"discipline": "codel", "ecn": True},
            {"discipline": "fq-codel"},
            {
                "discipline": "fq-codel",
                "limit": 50,
                "flows": 2,
                "quantum": "64 B",
                "drop_batch": 1,
                "control_law": "newton",
            },
            {"discipline": "fq-codel", "flows": 65536, "limit": 10240, "ecn": True},
        ]
    )
    if draw.chance(0.3):
        queue["ack_filter"] = draw.one_of([True, "aggressive"])
    if not ap and draw.chance(0.2) and queue.get("limit", 100) > 10:
        queue["mac_limit"] = 8
    return queue


def _link(draw: Draws) -> dict[str, Any]:
    link: dict[str, Any] = {"delay": draw.one_of(["0 s", "1 ns", "3 ms", "80 ms", "1 s"])}
    if draw.chance(0.8):
        link["rate"] = draw.one_of(["64 kb/s", "5 Mb/s", "1 Gb/s", "100 Gb/s"])
        if draw.chance(0.8):
            link["queue"] = draw.one_of(
                [1, 30, 5000, {"discipline": "red", "limit": 100}, {"discipline": "codel"}]
            )
    if draw.chance(0.3):
        link["loss"] = draw.one_of(["0.01 %", "30 %", {"every": 7, "acks": True}])
    return link


def _law(draw: Draws, mean: str) -> str | dict[str, Any]:
    laws: list[str | dict[str, Any]] = [
        mean,
        {"distribution": "exponential", "mean": mean},
        {"distribution": "pareto", "mean": mean, "shape": 1.01},
        {"distribution": "hyperexponential", "mean": mean, "scv": 100.0},
        {"distribution": "lognormal", "mean": mean, "scv": 50.0},
    ]
    return draw.one_of(laws)


def _application(draw: Draws) -> dict[str, Any]:
    kind = draw.one_of(["bulk", "bulk", "bulk", "web", "page", "ftp", "udp", "udp", "call"])
    application: dict[str, Any] = {"kind": "web" if kind == "page" else kind}
    if kind == "bulk":
        if draw.chance(0.3):
            application["size"] = _law(draw, draw.one_of(["1 B", "100 kB", "1 GB"]))
        if draw.chance(0.5):
            application["start"] = {"distribution": "uniform", "low": "0 s", "high": "100 ms"}
    elif kind == "web":
        application |= {"size": _law(draw, "12 kB"), "think_time": _law(draw, "10 ms")}
        application |= draw.one_of([{}, {"request": "300 B"}])
    elif kind == "page":
        application |= {"size": _law(draw, "5 kB"), "think_time": _law(draw, "50 ms")}
        application["request"] = "400 B"
        application["page"] = {
            "objects": draw.one_of([1, 40, {"distribution": "uniform", "low": 1, "high": 90}]),
            "connections": draw.one_of([1, 6, 64]),
        }
    elif kind == "ftp":
        application |= {"interarrival": _law(draw, "40 ms"), "size": _law(draw, "9 kB")}
        application["control"] = draw.one_of([True, False])
    elif kind == "call":
        application["codec"] = draw.one_of(["G.711", "G.729A"])
        application["video"] = draw.one_of(["none", "1.2 Mb/s", "20 Mb/s"])
    else:
        # Saturated flows are rejected behind a path and with early drops, so avoid both.
        application["packet"] = draw.one_of(["29 B", "200 B", "1500 B", "2296 B"])
        # Millions of queued packets without a limit end a run with an error.
        most = "4 Mb/s" if application["packet"] == "29 B" else "40 Mb/s"
        application["rate"] = draw.one_of(["8 kb/s", "2 Mb/s", most])
    return application


def _tcp(draw: Draws, kind: str, control: bool, marks: bool) -> dict[str, Any]:
    tcp: dict[str, Any] = {}
    if draw.chance(0.4):
        tcp["preset"] = "linux"
    congestion = draw.one_of(["reno", "cubic", "bbr", "bbr", "bbr1", None])
    if congestion is not None:
        tcp["congestion"] = congestion
    if congestion not in ("bbr", "bbr1"):
        if marks and draw.chance(0.5):
            tcp["ecn"] = True
        # Pacing requires `rack`, which times each segment.
        if "preset" not in tcp:
            tcp["variant"] = draw.one_of(["reno", "newreno", "sack", "rack"])
        if tcp.get("variant") == "rack":
            tcp["pacing"] = draw.one_of([True, False])
            tcp["slow_start"] = draw.one_of(["standard", "hystart", "hystart++"])
    changes: dict[str, list[Any]] = {
        "mss": ["100 B", "536 B", "1448 B"],
        "receive_window": [{"segments": 1}, {"segments": 3}, "64 KiB", "8 MB"],
        "initial_window": [1, 10, 100],
        "initial_ssthresh": [{"segments": 2}, "1 MB"],
        "rules": [{"preset": "ns-2"}, {"preset": "linux"}, {"preset": "ns-3"}],
        "handshake": ["three-way"] if control or kind != "bulk" else ["two-way", "none"],
        "min_rto": ["1 ms", "200 ms"],
        "initial_rto": ["10 ms", "3 s"],
        "clock_granularity": ["1 ms", "100 ms"],
        "small_queue": [True, False],
        "timestamps": [True, False],
        "mac_feedback": [{"give_up": "retransmit"}, {"give_up": "freeze"}],
        "pad_last_segment": [True],
    }
    tcp |= {key: draw.one_of(of) for key, of in changes.items() if draw.chance(0.25)}
    acks: list[dict[str, Any]] = [
        {"delayed_ack": {"every": 1}},
        {"delayed_ack": {"every": 200, "timeout": "1 ms"}},
        {"delayed_ack": {"every": 2, "timeout": "40 ms", "adaptive": True}},
        {"delayed_ack": {"thresholds": [[0, 1], [2, 2], [5, 3], [9, 4]], "timeout": "30 ms"}},
        {"delayed_ack": {"every": 2}, "ack_skip": {"skip": 2, "after_segment": 5}},
    ]
    if tcp.get("handshake") in (None, "three-way"):
        acks.append({"tack": {"every": 2, "beta": 4}})
    return tcp | (draw.one_of(acks) if draw.chance(0.5) else {})


def _flow(draw: Draws, stations: str, marks: bool) -> dict[str, Any]:
    application = _application(draw)
    kind = application["kind"]
    both = ["download", "upload", "both"] if kind in ("udp", "call") else ["download", "upload"]
    if "page" in application:
        both = ["download"]
    flow: dict[str, Any] = {
        "stations": stations,
        "direction": draw.one_of(both),
        "application": application,
    }
    if draw.chance(0.6):
        path: list[str | dict[str, Any]] = [
            link for link in ("near", "wan", "slow") if draw.chance(0.3)
        ]
        if draw.chance(0.3):
            path.append(_link(draw))
        if path:
            flow["path"] = path
    if kind not in ("udp", "call"):
        flow["tcp"] = _tcp(draw, kind, application.get("control", False), marks)
    return flow
