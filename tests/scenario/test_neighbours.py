"""Names that keys and words have elsewhere are understood, or pointed to what is meant here."""

import tomllib
from pathlib import Path
from typing import Any, Literal

import pytest
from airtcp.exceptions import ScenarioError
from airtcp.scenario import load, profiles, resolve
from airtcp.scenario.declare import written
from airtcp.scenario.neighbours import ANYWHERE, meant_key
from airtcp.scenario.resolved import ResolvedScenario

#: What somebody wrote, by its place, and the words of the answer that help.
WRITTEN: list[tuple[str, Any, str, str]] = [
    ("flows.0.tcp.variant", "cubic", "flows[0] (a).tcp.variant", 'congestion = "cubic"'),
    ("flows.0.application", "ping", "flows[0] (a).application", 'profile = "ping" of the flow'),
    ("flows.0.application.kind", "ping", "flows[0] (a).application.kind", 'profile = "ping"'),
    ("flows.0.application.kind", "iperf3", "flows[0] (a).application.kind", '"bulk"'),
    ("flows.0.ping", True, "flows[0] (a).ping", 'profile = "ping"'),
    ("flows.0.parallel", 4, "flows[0] (a).parallel", "connections"),
    ("flows.0.rtt", "20 ms", "flows[0] (a).rtt", "the one-way delay"),
    ("flows.0.congestion", "bbr", "flows[0] (a).congestion", "a key of tcp of [[flows]]"),
    ("flows.0.tcp.cc", "bbr", "flows[0] (a).tcp.cc", "congestion"),
    ("phy.standard", "Wi-Fi 6", "phy.standard", '"802.11ax"'),
    ("phy.standard", "11be", "phy.standard", '"802.11be"'),
    ("phy.ssid", "home", "phy.ssid", "networks have no names"),
    ("phy.bandwidth", "40 MHz", "phy.bandwidth", "channel_width"),
    ("phy.channel", 36, "phy.channel", "channel of [cells.NAME]"),
    ("phy.ofdma", True, "phy.ofdma", "not modelled"),
    ("flows.0.dscp", 46, "flows[0] (a).dscp", "[mac.classify]"),
    ("flows.0.tos", 184, "flows[0] (a).tos", "[mac.classify]"),
    ("flows.0.category", "AC_VI", "flows[0] (a).category", "[mac.classify]"),
    ("flows.0.multicast", True, "flows[0] (a).multicast", "no A-MPDUs"),
    ("flows.0.quic", True, "flows[0] (a).quic", "same congestion control"),
    ("flows.0.to", "b", "flows[0] (a).to", "not modelled: flows run between stations and"),
    ("flows.0.tcp.mptcp", True, "flows[0] (a).tcp.mptcp", "not modelled: a connection has one"),
    ("phy.dfs", True, "phy.dfs", "a scenario for each channel"),
    ("stations.0.adhoc", True, "stations[0] (a).adhoc", "in the place of one node"),
    ("ap.min_rate", "6 Mb/s", "ap.min_rate", "control_rate of [phy]"),
    ("mac.fragmentation", 500, "mac.fragmentation", "a smaller mss"),
    ("phy.mlo", True, "phy.mlo", 'links = ["5 GHz/80 MHz", "6 GHz/160 MHz"] of [ap]'),
    ("ap.beacon_interval", 100, "ap.beacon_interval", "interval of [mac.beacon]"),
    ("mac.txop", "0 us", "mac.txop", "txop_limit of [mac.edca.ap.AC_BE]"),
    ("phy.beamforming", True, "phy.beamforming", "not modelled: a gain of the signal"),
    ("stations.0.vpn", True, "stations[0] (a).vpn", "a smaller mss of tcp"),
    ("phy.bluetooth", True, "phy.bluetooth", "nearest: frame_errors"),
    ("hidden", True, "hidden", "hears = [] of two groups"),
    ("neighbours", 2, "neighbours", "[cells.NAME] for each access point"),
    ("phy.links", 2, "phy.links", 'links = ["5 GHz/80 MHz", "6 GHz/160 MHz"] of [ap]'),
    ("phy.emlsr", True, "phy.emlsr", "not modelled: one radio for several links"),
    ("air.cca", "-82 dBm", "air.cca", "(here: sense)"),
    ("air.spatial_reuse", True, "air.spatial_reuse", 'obss_pd = "-72 dBm"'),
    ("cells.hall.bss_color", 3, "cells.hall.bss_color", 'obss_pd = "-72 dBm" of [air]'),
    ("stations.0.ap", "hall", "stations[0] (a).ap", "cell ="),
    ("stations.0.rate_limit", "5 Mb/s", "stations[0] (a).rate_limit", "path = [{ rate ="),
    ("ap.backhaul", "100 Mb/s", "ap.backhaul", "[links.NAME]"),
    ("ap.max_clients", 10, "ap.max_clients", "not modelled: a station stays in its cell"),
    ("ap.airtime_fairness", True, "ap.airtime_fairness", 'scheduler = "airtime"'),
    ("mac.retry_limit", 4, "mac.retry_limit", "short_retry_limit of [mac], and long_retry_limit"),
    ("flows.0.loss", "1 %", "flows[0] (a).loss", "frame_errors of the stations"),
    ("flows.0.quic", True, "flows[0] (a).quic", "not modelled; nearest: TCP"),
    ("mesh", True, "mesh", "not modelled: all stations communicate with an access point; nearest"),
    ("devices", [{"profile": "phone"}], "devices", "stations = [{ profile"),
    ("seed", 3, "seed", "a key of [run]"),
    ("run.runs", 10, "run.runs", "replications"),
    ("stations.0.rssi", "-60 dBm", "stations[0] (a).rssi", "positions = { disc"),
    ("stations.0.tx_power", "20 dBm", "stations[0] (a).tx_power", "power, noise, sense"),
    ("stations.0.nss", 2, "stations[0] (a).nss", "spatial_streams"),
    ("stations.0.traffic", ["voip"], "stations[0] (a).traffic", 'did you mean "voice"?'),
    ("stations.0.profile", "iphone", "stations[0] (a).profile", 'did you mean "phone"?'),
    ("ap.qdisc", "fq_codel", "ap.qdisc", "queue"),
    ("ap.queue.discipline", "fq_codel", "ap.queue.discipline", '"fq-codel"'),
    ("links.wire.bandwidth", "1 Gb/s", "links.wire.bandwidth", "(here: rate)"),
    ("mac.ampdu", "0 B", "mac.ampdu", "a key of [mac.aggregation]"),
]


@pytest.mark.parametrize(("path", "value", "key", "said"), WRITTEN, ids=[one[0] for one in WRITTEN])
def test_a_name_from_elsewhere_is_answered_with_the_one_of_here(
    path: str, value: Any, key: str, said: str
) -> None:
    data: dict[str, Any] = {
        "phy": {"standard": "802.11ax"},
        "stations": [{"name": "a", "count": 1}],
        "flows": [{"stations": "a", "direction": "download", "application": {"kind": "bulk"}}],
    }
    here: Any = data
    *way, last = path.split(".")
    for step in way:
        here = here[int(step)] if isinstance(here, list) else here.setdefault(step, {})
    here[last] = value

    with pytest.raises(ScenarioError) as caught:
        resolve(data, name="mine.toml")

    assert str(caught.value).startswith(f"mine.toml: {key}: ")
    assert said in str(caught.value)
    assert "allowed: " in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("phy.ofdma", "is not a key of this scenario (here: not modelled"),
        ("ap.neighbours", "(here: a table [cells.NAME] for each access point"),
        ("hidden", "hears = [] of two groups"),
        ("stations.a.nss", "(here: spatial_streams)"),
        ("flows.a.tcp.cc", 'congestion = "cubic"'),
        ("phy.mscs", "is not a key of this scenario; the nearest is phy.mcs"),
        ("phi.ofdma", "is not a key of this scenario; the nearest is"),
        ("mac.twt", "is not a key of this scenario (here: not modelled: stations are always awake"),
        ("phy.puncturing", "(here: not modelled: a channel is used as a whole"),
    ],
)
def test_a_key_path_from_elsewhere_is_answered_as_a_key_of_a_file(path: str, said: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(
            {
                "phy": {"standard": "802.11ax"},
                "stations": [{"name": "a", "count": 1}],
                "flows": [
                    {"stations": "a", "direction": "download", "application": {"kind": "bulk"}}
                ],
            }
        ).vary({path: 1})

    assert said in str(caught.value)
    assert ("(here: " in str(caught.value)) is not ("the nearest is" in str(caught.value))


def test_a_list_of_access_points_is_told_where_several_stand() -> None:
    with pytest.raises(ScenarioError, match=r"a list is not a table; .* a table \[cells.NAME\]"):
        resolve(
            {
                "phy": {"standard": "802.11ax"},
                "ap": [{"name": "left"}, {"name": "right"}],
                "stations": [{"profile": "office-laptop", "count": 1}],
            },
            name="mine.toml",
        )


def test_no_name_from_elsewhere_is_a_key_of_the_whole_file() -> None:
    form = written(ResolvedScenario)

    assert not set(ANYWHERE) & set(form.allowed_keys())
    # A name that nobody knows means nothing.
    assert meant_key("blorb", "phy", form) == ""
    # Many tables have it: none is meant.
    assert meant_key("interval", "phy", form) == ""


@pytest.mark.parametrize("kind", ["place", "device", "traffic"])
def test_a_word_for_a_profile_stands_for_one_alone(kind: Literal["place", "device"]) -> None:
    known = tomllib.loads((Path(profiles.__file__).parent / "profiles.toml").read_text("utf-8"))
    words = [word for name, one in known[kind].items() for word in (name, *one.get("also", []))]

    assert len(words) == len(set(words))
    for name, one in known[kind].items():
        assert {profiles.record(kind, word) for word in (name, *one.get("also", []))} == {name}
    assert profiles.record(kind, "toaster") == ""
