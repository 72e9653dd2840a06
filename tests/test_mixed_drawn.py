"""Drawn cells of several standards: no law is broken, and threads change no bit.

The core checks its laws in every run: if bytes, airtime or frames do not add up, the run fails.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from airtcp import simulate
from airtcp.amendments import AMENDMENTS
from airtcp.scenario.load import resolve
from airtcp.standards import STANDARDS
from networks import BANDS

UDP = {"kind": "udp", "packet": "1500 B", "rate": "saturated"}
CALL = {"kind": "udp", "packet": "200 B", "rate": "80 kb/s"}


def network(number: int) -> dict[str, Any]:
    """Return drawn network `number`: two to five standards in one to three cells."""
    draw = random.Random(f"mixed {number}")
    band = draw.choice([*BANDS, "2.4 GHz", "5 GHz"])
    known = BANDS[band]
    used = draw.sample(known, draw.randint(2, len(known)))
    newest = max(used, key=list(STANDARDS).index)
    if newest not in AMENDMENTS:
        used[0] = newest = "802.11n"
    cells = [f"cell{place}" for place in range(draw.choice([1, 1, 2, 3]))]
    groups, flows = [], []
    for place, standard in enumerate([*used, *draw.choices(used, k=draw.randint(0, 2))]):
        name = f"group{place}"
        group: dict[str, Any] = {"name": name, "count": draw.randint(1, 3), "standard": standard}
        if len(cells) > 1:
            group["cell"] = cells[place % len(cells)]
        if draw.random() < 0.2:
            group["hears"] = []
        if standard in AMENDMENTS and draw.random() < 0.4:
            snr = f"{draw.randint(12, 45)} dB"
            group |= {"rate_control": draw.choice(["minstrel-ht", "ideal"]), "snr": snr}
        elif draw.random() < 0.3:
            group["frame_errors"] = {"rate": "10 %", "of": "1500 B"}
        groups.append(group)
        for direction in draw.choice([["download"], ["upload"], ["download", "upload"]]):
            application = draw.choice([UDP, CALL, {"kind": "bulk"}, {"kind": "bulk"}])
            flow = {"name": f"{name}-{direction}", "stations": name, "direction": direction}
            flows.append({**flow, "application": application})
    data: dict[str, Any] = {
        "phy": {"standard": newest, "band": band},
        "mac": {"edca": {"preset": draw.choice(["wmm", "standard"])}},
        "ap": {"scheduler": draw.choice(["oldest", "round-robin", {"kind": "airtime"}])},
        "stations": groups,
        "flows": flows,
        "run": {"warmup": "50 ms", "duration": "200 ms", "replications": 2, "seed": number},
    }
    if draw.random() < 0.5:
        categories = {"tcp_ack": draw.choice(["AC_BE", "AC_VO"]), "udp": "AC_VI"}
        data["mac"]["classify"] = categories
    if draw.random() < 0.3:
        data["mac"]["rts_threshold"] = draw.choice(["0 B", "1000 B"])
    if len(cells) > 1:
        names = [group["cell"] for group in groups]
        data["cells"] = {name: {} for name in cells if name in names}
        pairs = [[one, two] for one in data["cells"] for two in data["cells"] if one < two]
        data["air"] = {"heard": [pair for pair in pairs if draw.random() < 0.6]}
    if draw.random() < 0.5:
        data["mac"]["rules"] = {"preset": "ns-3"}
    for group in groups:
        if group["standard"] in AMENDMENTS and draw.random() < 0.4:
            group["channel_width"] = "20 MHz"
    return data


def answers(data: dict[str, Any], threads: int) -> list[str]:
    runs = simulate(resolve(data), threads=threads).simulation.runs
    return [json.dumps(run.answer, sort_keys=True, default=str) for run in runs]


@pytest.mark.parametrize(
    "numbers",
    [
        range(40),
        pytest.param(range(40, 5040), marks=[pytest.mark.verify, pytest.mark.timeout(9000)]),
    ],
    ids=["few", "many"],
)
def test_drawn_networks_keep_the_laws_on_any_number_of_threads(numbers: range) -> None:
    several, together = 0, 0
    for number in numbers:
        data = network(number)
        assert answers(data, 1) == answers(data, 2), number
        several += len({group["standard"] for group in data["stations"]}) > 2
        together += len(data.get("cells", ())) > 1
    assert several > len(numbers) / 4
    assert together > len(numbers) / 4
