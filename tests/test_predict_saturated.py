"""Models of UDP senders that always have a packet, and their accuracy."""

from typing import Any

import numpy as np
import pytest
from airtcp import models
from airtcp.models.airtime import Phy
from airtcp.predict import predict
from airtcp.results import Prediction
from airtcp.run.simulate import simulate
from airtcp.scenario import ResolvedScenario, loads
from bases import cell
from wing import with_papers

RUN = '[run]\nwarmup = "5 s"\nduration = "60 s"\nreplications = 4\n'
PHY = '[phy]\nstandard = "802.11b"\ncontrol_rate = "2 Mb/s"\n'
DATAGRAMS = '{{ kind = "udp", packet = "{packet} B", rate = "saturated" }}'


def values(said: Prediction, metric: str = "goodput_bps") -> dict[str, object]:
    return {source: entry.value for source, entry in said.by_source(metric).items()}


def broken(said: Prediction, source: str, metric: str = "goodput_bps") -> str:
    return "\n".join(said.by_source(metric)[source].broken)


def datagrams(mac: str = "", **groups: tuple[int, str, int]) -> ResolvedScenario:
    """Saturated UDP uploads: for each group its count, rate and packet; `ap` is a download."""
    text = PHY + mac
    for name, (count, rate, packet) in groups.items():
        if name != "ap":
            text += f'[[stations]]\nname = "{name}"\ncount = {count}\ndata_rate = "{rate}"\n'
        direction, of = ("download", "near") if name == "ap" else ("upload", name)
        text += (
            f'[[flows]]\nname = "{name}"\nstations = "{of}"\ndirection = "{direction}"\n'
            f"application = {DATAGRAMS.format(packet=packet)}\n"
        )
    return loads(text + RUN)


# Bianchi, and the lone sender.


def udp(count: int, rules: str = "", direction: str = "upload") -> ResolvedScenario:
    application = DATAGRAMS.format(packet=1500)
    flow = f'[[flows]]\nstations = "sta"\ndirection = "{direction}"\napplication = {application}\n'
    run = '[run]\nwarmup = "1 s"\nduration = "20 s"\nreplications = 4\n'
    stations = f'[[stations]]\nname = "sta"\ncount = {count}\n'
    return loads(PHY + rules + stations + flow + run)


@pytest.mark.parametrize("is_both", [False, True])
def test_saturated_stations_are_bianchi_s(is_both: bool) -> None:
    """An access point that also sends is one more node."""
    asked, nodes = udp(10), 10 + is_both
    if is_both:
        both: dict[str, Any] = asked.to_dict()
        both["flows"].append({**both["flows"][0], "name": "down", "direction": "download"})
        asked = ResolvedScenario.from_dict(both)
    said = predict(asked)
    point = models.bianchi.fixed_point(nodes, 32, 5, 6)
    p = values(said, "collision_probability")["Bianchi (2000) (9)"]
    assert p == pytest.approx(float(point.p), rel=1e-12)
    assert values(said, "mean_backlogged_nodes") == {"Bianchi (2000) (9)": nodes}
    assert said.model["collision_probability"][0].source == "Bianchi (2000) (9)"
    times = models.bianchi.slot_times(Phy.of(asked.phy), 12_000, rts=False, after_collision="difs")
    bps = float(models.bianchi.saturation(point, times).success_rate_per_s) * 8 * 1472
    for metric, flows in (("goodput_bps", 1), ("flow_goodput_bps", 10 * (1 + is_both))):
        told = values(said, metric)["Bianchi (2000) (13)"]
        assert told == pytest.approx(bps / flows, rel=1e-12)


@pytest.mark.parametrize("count", [2, 10, 30])
def test_saturated_predictions_are_near_the_simulation(count: int) -> None:
    asked = udp(count)
    said, measured = predict(asked), simulate(asked).metrics
    goodput, collisions = said.best("goodput_bps"), said.best("collision_probability")
    assert goodput.value == pytest.approx(measured["goodput_bps"].mean, rel=0.015)
    assert collisions.value == pytest.approx(measured["collision_probability"].mean, abs=0.02)
    # 92 us are 4.6 slots, a large head start with many senders.
    told = broken(said, "Bianchi (2000) (13)")
    assert ("slots) before the nodes" in told) is (count == 30)


@pytest.mark.parametrize(("count", "direction"), [(1, "upload"), (7, "download")])
def test_a_lone_saturated_sender_has_the_theoretical_maximum(count: int, direction: str) -> None:
    asked = udp(count, direction=direction)
    phy = Phy.of(asked.phy)
    said = predict(asked)
    alone = models.max_throughput.lone_sender(phy, 12_000, rts=False, payload_bits=8 * 1472)
    goodput = float(alone.throughput_bps)
    assert values(said, "goodput_bps") == {"Jun et al. (2003)": pytest.approx(goodput)}
    assert values(said, "flow_goodput_bps")["Jun et al. (2003)"] == pytest.approx(goodput / count)
    assert simulate(asked).metrics["goodput_bps"].mean == pytest.approx(goodput, rel=0.005)


# Heusse et al.: the performance anomaly.


def test_one_slow_sender_takes_all_down_as_heusse_says() -> None:
    asked = datagrams(near=(4, "11 Mb/s", 1500), far=(1, "1 Mb/s", 1500))
    said, measured = predict(asked), simulate(asked).metrics
    source = "Heusse et al. (2003), whole backoff"
    goodput = values(said)
    assert goodput[source] == pytest.approx(measured["goodput_bps"].mean, rel=0.06)
    # A collision lasts as long as the longer of two frames.
    bianchi = goodput["Bianchi, Tinnirello (2005)"]
    assert bianchi == pytest.approx(measured["goodput_bps"].mean, rel=0.03)
    # Every sender delivers the same number of packets.
    assert values(said, "jain_index")[source] == pytest.approx(1.0)
    assert measured["jain_index"].mean > 0.99
    assert "half the mean of CWmin" in broken(said, "Heusse et al. (2003)")
    assert "half" not in broken(said, source)


def test_shares_go_by_packets_not_by_time() -> None:
    # By the standard's rules, after a collision the sender of the shorter frame resumes first and
    # delivers a few per cent more packets.
    rules = '[mac]\nrules = { preset = "bianchi" }\n'
    asked = datagrams(rules, near=(2, "11 Mb/s", 1500), small=(2, "11 Mb/s", 528))
    said, measured = predict(asked), simulate(asked)
    x = np.array([1472.0, 500.0])
    jain = values(said, "jain_index")["Heusse et al. (2003)"]
    assert jain == pytest.approx(x.sum() ** 2 / (2 * (x**2).sum()))
    assert measured.metrics["jain_index"].mean == pytest.approx(jain, rel=0.01)


# Paper G.


@with_papers
def test_simultaneous_send_counts_the_others() -> None:
    said = predict(datagrams(near=(3, "11 Mb/s", 1500), ap=(1, "", 1500)))
    told = values(said, "collision_probability")
    # Three uploads and the access point: N = 3, the paper's 17.6 % (G1).
    assert told["G (1)"] == pytest.approx(0.1769, abs=1e-4)
    assert told["G (1), next transmission"] == pytest.approx(0.0615, abs=1e-4)
    assert "too high" in broken(said, "G (1)", "collision_probability")


@with_papers
@pytest.mark.parametrize("path", ["", 'path = [{ rate = "1 Mb/s", delay = "20 ms" }]'])
def test_simultaneous_send_is_told_of_uploads_that_wait_for_the_air_alone(path: str) -> None:
    """Behind a slow link windows wait for the link, and stations have nothing to send."""
    tcp = "tcp = { receive_window = { segments = 20 } }"
    said = predict(loads(cell(3, direction="upload", flow=f"{tcp}\n{path}")))
    assert ("G (1)" in values(said, "collision_probability")) is not bool(path)


# EDCA with AIFS classes.


def edca(ap: str, stations: str) -> str:
    sides = {"ap": ap, "stations": stations}.items()
    limit = 'txop_limit = "0 us"\n'
    return "".join(f"[mac.edca.{side}.AC_BE]\n{keys}\n{limit}" for side, keys in sides)


@pytest.mark.parametrize(
    ("ap", "stations"),
    [
        ("aifsn = 2\ncw_min = 31\ncw_max = 1023", "aifsn = 3\ncw_min = 31\ncw_max = 1023"),
        ("aifsn = 2\ncw_min = 15\ncw_max = 63", "aifsn = 2\ncw_min = 31\ncw_max = 1023"),
        ("aifsn = 2\ncw_min = 15\ncw_max = 1023", "aifsn = 4\ncw_min = 63\ncw_max = 1023"),
    ],
)
def test_classes_that_contend_differently_are_predicted(ap: str, stations: str) -> None:
    asked = datagrams(edca(ap, stations), near=(5, "11 Mb/s", 1500), ap=(1, "", 1500))
    said, measured = predict(asked), simulate(asked).metrics
    assert said.uncovered is None
    for metric, bound in (
        ("goodput_bps", 0.03),
        ("jain_index", 0.05),
        ("collision_probability", 0.12),
        ("collision_probability_ap", 0.15),
        ("collision_probability_stations", 0.12),
    ):
        told = values(said, metric)["Ramaiyan et al. (2008)"]
        assert told == pytest.approx(measured[metric].mean, rel=bound), metric


def test_a_wait_that_is_no_whole_number_of_slots_is_said() -> None:
    waits = edca('aifs = "50 us"', 'aifs = "55 us"')
    said = predict(datagrams(waits, near=(5, "11 Mb/s", 1500), ap=(1, "", 1500)))
    assert "differ by 5 us" in said.uncovered


def test_an_access_point_that_always_goes_first_leaves_nothing() -> None:
    """It sends before the stations' AIFS ends, so they starve, in model and simulation."""
    first = edca("aifsn = 2\ncw_min = 0\ncw_max = 0", "aifsn = 3\ncw_min = 31\ncw_max = 1023")
    asked = datagrams(first, near=(2, "11 Mb/s", 1500), ap=(1, "", 1500))
    said = predict(asked)
    # One download to each of two stations; both uploads get nothing.
    assert values(said, "jain_index")["Ramaiyan et al. (2008)"] == pytest.approx(0.5)
    assert values(said, "collision_probability_ap")["Ramaiyan et al. (2008)"] < 1e-12
