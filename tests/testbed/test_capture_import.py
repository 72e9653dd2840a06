"""Captures of a testbed become scenarios that reproduce the measured values."""

import tomllib
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.scenario import Scenario, loads
from airtcp.testbed.bench import measure
from bases import cell, reading
from imported import draft_of

WEB = cell(
    4,
    standard="802.11g",
    application=reading("60 kB", "500 ms"),
    flow='tcp = { preset = "linux" }',
    warmup="2 s",
    duration="30 s",
)
BULK = """
phy = { standard = "802.11g" }
stations = [
  { name = "laptop", count = 2 },
  { name = "phone", count = 1, data_rate = "24 Mb/s" },
]
run = { warmup = "2 s", duration = "20 s" }
[[flows]]
name = "download"
stations = "laptop"
direction = "download"
application = { kind = "bulk" }
tcp = { preset = "linux" }
[[flows]]
name = "upload"
stations = "phone"
direction = "upload"
application = { kind = "bulk" }
tcp = { preset = "linux" }
"""
METRICS = ("goodput_bps", "transfer_time_s", "transfer_time_p50_s")


def came_back(scenario: Scenario, directory: Path) -> tuple[str, dict[str, tuple[float, float]]]:
    """Return the scenario of a capture as text, and each metric as measured and as simulated."""
    file = directory / "bench.pcapng"
    measured = measure(scenario, pcap=file, snaplen=128)
    draft = draft_of([file])
    for name, content in draft.files.items():
        (directory / name).write_bytes(content)
    again = loads(draft.text(), base=directory).vary({"run.replications": 10})
    simulated = airtcp.simulate(again)
    values = {}
    for name in METRICS:
        one = measured.metrics.get(name)
        if one is not None and one.mean is not None:
            then = simulated.metrics[name].mean
            assert then is not None
            values[name] = (one.mean, then)
    return draft.text(), values


def kept(table: dict[str, Any]) -> tuple[Any, ...]:
    """Return the parts of a group or flow that must be imported exactly."""
    rate = table.get("data_rate", "54 Mb/s")
    if "count" in table:
        return table["count"], rate
    return table["direction"], table["application"]["kind"], table["tcp"]["preset"]


@pytest.mark.verify
@pytest.mark.timeout(1200)
@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("text", [WEB, BULK], ids=["web", "bulk"])
def test_a_testbed_comes_back(tmp_path: Path, text: str) -> None:
    scenario = loads(text)
    each = []
    for seed in range(1, 6):
        found, metrics = came_back(scenario.vary({"run.seed": seed}), tmp_path)
        each.append(metrics)
        text_ = tomllib.loads(found)
        assert text_["phy"]["standard"] == "802.11g"
        for name, wanted in tomllib.loads(text).items():
            if name in ("stations", "flows"):
                assert [kept(one) for one in text_[name]] == [kept(one) for one in wanted]

    for name, bound in zip(METRICS, (0.05, 0.1, 0.1), strict=True):
        if name not in each[0]:
            continue
        measured, again = (sum(one[name][side] for one in each) for side in (0, 1))
        print(f"{name} {100 * (again / measured - 1):+.1f} %")
        assert again == pytest.approx(measured, rel=bound)
