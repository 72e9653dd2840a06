"""Names from other tools are accepted, or the error names the right key."""

import tomllib
from pathlib import Path
from typing import Any, Literal

import pytest
from airtcp.exceptions import ScenarioError
from airtcp.scenario import load, profiles, resolve

#: Written keys and values, their place in the error, and the helpful words of it.
WRITTEN: list[tuple[str, Any, str, str]] = [
    ("flows.0.tcp.variant", "cubic", "flows[0] (a).tcp.variant", 'congestion = "cubic"'),
    ("flows.0.application", "ping", "flows[0] (a).application", 'profile = "ping" of the flow'),
    ("flows.0.application.kind", "ping", "flows[0] (a).application.kind", 'profile = "ping"'),
    ("flows.0.application.kind", "video", "flows[0] (a).application.kind", 'profile = "video"'),
    ("flows.0.application.kind", "zoom", "flows[0] (a).application.kind", 'mean "call"'),
    ("flows.0.application.kind", "iperf3", "flows[0] (a).application.kind", '"bulk"'),
    ("flows.0.parallel", 4, "flows[0] (a).parallel", "connections"),
    ("flows.0.congestion", "bbr", "flows[0] (a).congestion", "a key of tcp of [[flows]]"),
    ("phy.standard", "Wi-Fi 6", "phy.standard", '"802.11ax"'),
    ("phy.standard", "11be", "phy.standard", '"802.11be"'),
    ("phy.ssid", "home", "phy.ssid", "networks have no names"),
    ("phy.bandwidth", "40 MHz", "phy.bandwidth", "channel_width"),
    ("flows.0.to", "b", "flows[0] (a).to", "not modelled: flows run between stations and"),
    ("hidden", True, "hidden", "hears = [] of two groups"),
    ("cells.hall.bss_color", 3, "cells.hall.bss_color", 'obss_pd = "-72 dBm" of [air]'),
    ("stations.0.rate_limit", "5 Mb/s", "stations[0] (a).rate_limit", "path = [{ rate ="),
    ("devices", [{"profile": "phone"}], "devices", "stations = [{ profile"),
    ("seed", 3, "seed", "a key of [run]"),
    ("stations.0.traffic", ["voip"], "stations[0] (a).traffic", 'did you mean "voice"?'),
    ("stations.0.profile", "iphone", "stations[0] (a).profile", 'did you mean "phone"?'),
    ("ap.queue.discipline", "fq_codel", "ap.queue.discipline", '"fq-codel"'),
    ("links.wire.bandwidth", "1 Gb/s", "links.wire.bandwidth", "(here: rate)"),
    ("mac.ampdu", "0 B", "mac.ampdu", "a key of [mac.aggregation]"),
]


def written_network() -> dict[str, Any]:
    return {
        "phy": {"standard": "802.11ax"},
        "stations": [{"name": "a", "count": 1}],
        "flows": [{"stations": "a", "direction": "download", "application": {"kind": "bulk"}}],
    }


@pytest.mark.parametrize(("path", "value", "key", "said"), WRITTEN, ids=[one[0] for one in WRITTEN])
def test_a_name_from_elsewhere_is_answered_with_the_one_of_here(
    path: str, value: Any, key: str, said: str
) -> None:
    data = written_network()
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
        ("stations.a.nss", "(here: spatial_streams)"),
        ("flows.a.tcp.cc", 'congestion = "cubic"'),
        ("phy.mscs", "is not a key of this scenario; the nearest is phy.mcs"),
        ("phi.ofdma", "is not a key of this scenario; the nearest is"),
        # No table has the first name, and many have the second, so there is no hint.
        ("phy.blorb", "the nearest is"),
        ("phy.interval", "the nearest is"),
    ],
)
def test_a_key_path_from_elsewhere_is_answered_as_a_key_of_a_file(path: str, said: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(written_network()).vary({path: 1})
    assert said in str(caught.value)
    assert ("(here: " in str(caught.value)) is not ("the nearest is" in str(caught.value))


def test_a_list_of_access_points_is_told_where_several_stand() -> None:
    with pytest.raises(ScenarioError, match=r"\[cells.NAME\]"):
        resolve(written_network() | {"ap": [{"name": "left"}, {"name": "right"}]})


@pytest.mark.parametrize("kind", ["place", "device", "traffic"])
def test_a_word_for_a_profile_stands_for_one_alone(kind: Literal["place", "device"]) -> None:
    known = tomllib.loads((Path(profiles.__file__).parent / "profiles.toml").read_text("utf-8"))
    words = [word for name, one in known[kind].items() for word in (name, *one.get("also", []))]
    assert len(words) == len(set(words))
    for name, one in known[kind].items():
        assert {profiles.record(kind, word) for word in (name, *one.get("also", []))} == {name}
    assert profiles.record(kind, "toaster") == ""
