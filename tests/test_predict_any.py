"""Any scenario: models answer with numbers or with a reason, never with an error."""

import math
from pathlib import Path
from typing import Any

import pytest
from airtcp.exceptions import ScenarioError
from airtcp.predict import predict
from airtcp.results import Prediction
from airtcp.scenario import load
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

VALID = sorted((Path(__file__).parent / "scenarios" / "valid").glob("*.toml"))
SIZES = [
    {"distribution": "deterministic", "value": "1 B"},
    {"distribution": "deterministic", "value": "3 MB"},
    {"distribution": "exponential", "mean": "30 kB"},
    {"distribution": "pareto", "mean": "30 kB", "shape": 1.2},
    {"distribution": "hyperexponential", "mean": "2 kB", "scv": 9.0},
]
TIMES = [
    {"distribution": "exponential", "mean": "10 s"},
    {"distribution": "exponential", "mean": "1 ms"},
    {"distribution": "deterministic", "value": "1 s"},
]


@st.composite
def cells(draw: st.DrawFn) -> dict[str, Any]:
    """A cell of 802.11b with one or two groups, with any access parameters and traffic."""

    def pick(*values: Any) -> Any:
        return draw(st.sampled_from(values))

    def application() -> dict[str, Any]:
        size, time = pick(*SIZES), pick(*TIMES)
        web = {"kind": "web", "size": size, "think_time": time}
        ftp = {"kind": "ftp", "size": size, "interarrival": time, "control": pick(True, False)}
        udp = {"kind": "udp", "packet": pick("29 B", "40 B", "1500 B")}
        udp["rate"] = pick("saturated", "saturated", "100 kb/s")
        one = {"kind": "bulk", "size": size}
        asking = web | {"request": "300 B"}
        found: dict[str, Any] = pick({"kind": "bulk"}, {"kind": "bulk"}, one, asking, web, ftp, udp)
        return found

    def category() -> dict[str, Any]:
        low = pick(0, 1, 3, 15, 31)
        aifs, high = pick("50 us", "70 us", "90 us", "95 us"), pick(low, 1023)
        return {"aifs": aifs, "cw_min": low, "cw_max": high, "txop_limit": "0 us"}

    mac = {"short_retry_limit": pick(1, 2, 7)}
    mac["rules"] = {"preset": pick("standard", "bianchi", "ns-2", "ns-3")}
    mac |= pick({}, {"rts_threshold": "0 B"}, {"rts_threshold": "500 B"})
    if pick(True, False):
        sides = ("ap", "stations")
        mac["edca"] = {side: {name: category() for name in ("AC_BE", "AC_VO")} for side in sides}
        mac |= pick({}, {"classify": {"tcp_ack": "AC_VO"}})
    window = pick({}, {"cw_min": pick(0, 1, 31), "cw_max": 1023})
    limit = pick({}, {"limit": 1}, {"limit": 100})
    wire = {"rate": "1 Mb/s", "delay": "20 ms"} | pick({}, {"queue": 1}, {"queue": 30})
    path, shared = pick([], ["up"]), application()
    stations, flows = [], []
    for name in pick("a", "ab"):
        group = {"name": name, "count": pick(1, 2, 3, 50, 250, 2000)}
        stations.append(group | {"data_rate": pick("1 Mb/s", "11 Mb/s")})
        flow = {"stations": name, "direction": pick("download", "upload")}
        flow["application"] = pick(shared, application())
        if flow["application"]["kind"] != "udp":
            tcp = {"delayed_ack": {"every": pick(1, 2, 4)}, "handshake": pick("none", "three-way")}
            tcp["receive_window"] = {"segments": pick(1, 2, 40)}
            flow |= {"tcp": tcp, "path": path}
        flows.append(flow)
    return {
        "phy": {"standard": "802.11b", **window},
        "mac": mac,
        "ap": {"queue": {"discipline": "fifo", **limit}},
        "links": {"up": wire} if any(flow.get("path") for flow in flows) else {},
        "stations": stations,
        "flows": flows,
    }


def check(said: Prediction) -> None:
    assert bool(said.model) != bool(said.uncovered)
    for metric, entries in said.model.items():
        assert list(said.by_source(metric).values()) == entries, metric
        for entry in entries:
            numbers = entry.value if isinstance(entry.value, list) else [entry.value]
            assert all(math.isfinite(number) and number >= 0.0 for number in numbers), metric
            assert entry.assumes
            if "probability" in metric or metric == "jain_index":
                assert all(number <= 1.0 + 1e-9 for number in numbers), metric
    assert all(said.unanswered.values())


@given(cells())
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_any_scenario_gets_numbers_or_a_reason(data: dict[str, Any]) -> None:
    try:
        scenario = load(data)
    except ScenarioError:
        reject()
    check(predict(scenario))


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_every_valid_scenario_gets_an_answer_or_a_reason(path: Path) -> None:
    said = predict(load(path))
    check(said)
    for entry in (one for entries in said.model.values() for one in entries):
        assert entry.by.startswith("models.")
        assert entry.source
    assert said.to_json()
