"""Profiles: what they set, what overrides them, and the source of each value."""

from pathlib import Path
from typing import Any, get_args

import pytest
from airtcp.amendments import AMENDMENTS
from airtcp.exceptions import ScenarioError
from airtcp.scenario import Scenario, load, resolve
from airtcp.scenario.keys.radio_links import Emlsr
from airtcp.scenario.keys.stations import StationGroup
from airtcp.scenario.profiles import Purpose, devices, places, traffic
from airtcp.sensitivity import mcs_at, needed_dbm, rate_at
from airtcp.standards import STANDARDS
from bases import refused

VALID = Path(__file__).parents[1] / "scenarios" / "valid"


def office(*groups: dict[str, Any], standard: str = "802.11ax", **more: Any) -> Scenario:
    phy = {"standard": standard, **more.pop("phy", {})}
    return resolve({"phy": phy, "stations": list(groups), **more})


def test_a_scenario_by_profiles_is_the_one_that_says_all_itself() -> None:
    short = office({"profile": "phone", "name": "one", "place": "far", "traffic": ["call"]})
    # In 80 MHz MCS 0 needs -76 dBm; the phone receives -75 dBm.
    call = {
        "name": "one-call",
        "stations": "one",
        "direction": "both",
        "path": [{"delay": "10 ms"}],
    }
    long = office(
        {"name": "one", "count": 1, "spatial_streams": 2, "mcs": 0},
        flows=[call | {"application": {"kind": "call"}}],
    )
    assert short.to_json() == long.to_json()


def test_what_the_file_says_stands_above_a_profile() -> None:
    found = load(VALID / "profiles.toml")
    by_name = {flow.name: flow for flow in found.flows}
    # The file overrides keys of TCP, the path and the video rate.
    web = by_name["far-web"]
    assert (web.tcp.congestion, web.tcp.variant, web.path) == ("reno", "rack", ("uplink",))
    assert by_name["far-call-video-up"].application.rate_bps == 600_000
    assert by_name["far-call-speech-down"].application.rate_bps == 80_000
    assert by_name["far-call-video-up"].tcp is None
    # The scanner has only the flows of its own profile: a game has two.
    assert [flow for flow in by_name if by_name[flow].stations == "scanner"] == [
        "scanner-game-down",
        "scanner-game-up",
    ]


@pytest.mark.parametrize(
    ("name", "phy", "standard"),
    [
        ("office-laptop-2016", {"standard": "802.11ax"}, "802.11ac"),
        ("office-laptop-2010", {"standard": "802.11ac"}, "802.11n"),
        ("phone-2016", {"standard": "802.11be"}, "802.11ac"),
        # 802.11ac has no channels in 2.4 GHz; its devices use 802.11n there.
        ("phone-2016", {"standard": "802.11ax", "band": "2.4 GHz"}, "802.11n"),
        # The access point is as old as the device, or older.
        ("office-laptop-2016", {"standard": "802.11ac"}, None),
        ("office-laptop-2016", {"standard": "802.11n"}, None),
        ("office-laptop-2010", {"standard": "802.11g"}, None),
    ],
)
def test_an_old_device_has_its_own_standard(
    name: str, phy: dict[str, str], standard: str | None
) -> None:
    (group,) = resolve({"phy": phy, "stations": [{"profile": name}]}).stations
    assert (group.pair.standard if group.pair else None) == standard
    with refused("scenario.pair.no_channel", band=6.0):
        office({"profile": name}, phy={"band": "6 GHz"})


@pytest.mark.parametrize("name", [*devices()])
@pytest.mark.parametrize("standard", [*STANDARDS])
def test_each_device_fits_each_standard(name: str, standard: str) -> None:
    for place in places():
        found = office({"profile": name, "count": 2, "place": place}, standard=standard)
        assert (found.stations[0].data_rate.high is not None) == (standard in AMENDMENTS)
        assert found.flows


@pytest.mark.parametrize("name", [*traffic()])
def test_each_traffic_is_brought_by_a_group_and_by_a_flow(name: str) -> None:
    flow = {"name": f"a-{name}", "stations": "a", "profile": name}
    by_group = office({"name": "a", "count": 1, "traffic": [name]}, standard="802.11ac")
    by_flow = office({"name": "a", "count": 1}, flows=[flow], standard="802.11ac")
    assert by_group.to_dict() == by_flow.to_dict()
    assert by_group.purposes == by_flow.purposes
    assert set(by_group.purposes.values()) <= set(get_args(Purpose))


@pytest.mark.parametrize("name", ["web", "backup", "download", "video", "terminal"])
def test_traffic_by_name_has_the_tcp_of_today_also_without_a_device(name: str) -> None:
    def flow(**keys: object) -> Any:
        group = {"name": "a", "count": 1, "traffic": [name], **keys}
        (found,) = resolve({"phy": {"standard": "802.11ac"}, "stations": [group]}).flows
        return found.tcp

    assert (flow().congestion, flow().receive_window_bytes) == ("cubic", 3 * 2**20)
    assert flow() == flow(profile="office-laptop")
    # The file's own keys override the profile.
    own = flow(tcp={"congestion": "reno", "receive_window": "64 KiB"})
    assert (own.congestion, own.receive_window_bytes) == ("reno", 65536)


def test_the_place_decides_on_the_rate_as_the_receiver_of_the_standard_does() -> None:
    # Table 27-51: in 40 MHz MCS 7 needs -61 dBm and MCS 8 -56; in 80 MHz MCS 5 needs -60; in 20 MHz
    # MCS 9 needs -57 and MCS 8 -59. Table 17-18: 36 Mb/s needs -70 dBm, 48 Mb/s -66.
    assert [mcs_at(-60, width, 11) for width in (20, 40, 80, 160)] == [7, 7, 5, 4]
    assert (mcs_at(-59, 20, 11), mcs_at(-40, 20, 7), mcs_at(-99, 20, 11)) == (8, 7, 0)
    assert needed_dbm(13, 320) == -34
    rates = {-60: 54, -67: 36, -74: 24, -75: 18, -90: 6}
    assert {level: rate_at(level, "802.11a") for level in rates} == rates
    for place in places().values():
        (group,) = office({"profile": "office-laptop", "place": place.name}).stations
        assert group.data_rate.high.mcs == mcs_at(place.signal_dbm, 80, 11)


def test_a_rate_that_the_file_gives_stands_above_the_place_of_a_device() -> None:
    def mcs(group: dict[str, Any], standard: str = "802.11ax", **phy: Any) -> int:
        (found,) = office(
            {"profile": "office-laptop", **group}, standard=standard, phy=phy
        ).stations
        return found.data_rate.high.mcs

    assert mcs({"mcs": 3}) == 3
    assert mcs({"place": "far", "mcs": 3}) == 3
    assert mcs({}, mcs=9) == 9
    # The file's place for one group overrides the MCS for all.
    assert mcs({"place": "far"}, mcs=9) == 0
    # In 20 MHz 802.11ac has no MCS 9 with one or two streams (21.5), but with three.
    for streams, highest in ((1, 8), (2, 8), (3, 9)):
        near = {"place": "near", "spatial_streams": streams}
        assert mcs(near, "802.11ac", channel_width="20 MHz") == highest


def test_a_device_has_no_more_streams_and_no_wider_channel_than_the_network() -> None:
    def high(profile: str, **phy: Any) -> tuple[int, int]:
        (found,) = office({"profile": profile}, phy=phy).stations
        return found.data_rate.high.spatial_streams, found.data_rate.high.channel_width_mhz

    assert high("office-laptop", spatial_streams=1) == (1, 80)
    assert high("office-laptop", spatial_streams=4, channel_width="160 MHz") == (2, 160)
    assert high("phone", channel_width="160 MHz") == (2, 80)
    assert high("scanner", channel_width="40 MHz") == (1, 20)


def test_paths_of_keys_lead_to_what_a_profile_brought() -> None:
    scenario = office({"profile": "office-laptop", "count": 3})
    changed = scenario.vary(
        {"stations.office-laptop.count": 5, "flows.office-laptop-web.tcp.congestion": "bbr"}
    )
    assert changed.stations[0].count == 5
    assert changed.flows[0].tcp.congestion == "bbr"
    assert changed.vary({"flows.office-laptop-web.path": None}).flows[0].path == ()
    place = r"stations\[0\]\.place: there is no place"
    with pytest.raises(ScenarioError, match=place):
        scenario.vary({"stations.office-laptop.place": "moon"})


def test_another_profile_or_network_takes_the_keys_of_the_first_along() -> None:
    narrow = {"channel_width": "40 MHz"}
    scenario = office({"profile": "office-laptop", "name": "a"}, phy=narrow)
    scenario = scenario.vary({"stations.a.count": 4}).with_run(seed=9)
    phones = office({"profile": "phone", "name": "a", "count": 4}, phy=narrow).with_run(seed=9)
    assert scenario.vary({"stations.a.profile": "phone"}).to_json() == phones.to_json()
    wide = scenario.vary({"phy.channel_width": "160 MHz"})
    # -60 dBm suffice for MCS 4 in 160 MHz, and for MCS 7 in 40.
    assert (wide.stations[0].data_rate.high.mcs, wide.stations[0].count) == (4, 4)
    assert scenario.vary({"phy": {"standard": "802.11g"}}).stations[0].data_rate.bps == 54_000_000


def test_connections_are_flows_side_by_side() -> None:
    def found(**keys: Any) -> Scenario:
        flow = {"stations": "a", "direction": "both", "application": {"kind": "bulk"}, **keys}
        return office({"name": "a", "count": 2}, flows=[flow])

    two = found(connections=2)
    assert [(flow.name, flow.direction) for flow in two.flows] == [
        (f"a-{way}-{n}", f"{way}load") for way in ("down", "up") for n in (1, 2)
    ]
    assert [(name, len(flows)) for name, flows in two.flow_entries] == [("a", 4)]
    # With one connection the flow keeps its name.
    assert [flow.name for flow in found(connections=1, direction="upload").flows] == ["a"]


def test_a_device_with_one_radio_has_it_only_for_several_links() -> None:
    """-60 dBm suffice for MCS 5 in 80 MHz and 4 in 160, the widest link (Table 27-51)."""

    def laptop(ap: dict[str, Any], **group: Any) -> StationGroup:
        group |= {"profile": "wifi7-laptop"}
        return resolve({"phy": {"standard": "802.11be"}, "ap": ap, "stations": [group]}).stations[0]

    several = laptop({"links": ["5 GHz/80 MHz", "6 GHz/160 MHz"]})
    assert several.emlsr == Emlsr(padding_ns=32_000, switch_ns=64_000)
    assert several.data_rate.high.mcs == 4
    for one in (
        laptop({}),
        laptop({"links": ["5 GHz/80 MHz", "6 GHz/160 MHz"]}, links=["5 GHz/80 MHz"]),
    ):
        assert (one.emlsr, one.data_rate.high.mcs) == (None, 5)
