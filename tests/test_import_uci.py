"""OpenWrt's wireless file: driver dialects, interfaces other than access points, all options."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from airtcp.exceptions import ScenarioError
from airtcp.importer.options import options_of
from airtcp.importer.source import Source
from airtcp.importer.uci import read_uci
from airtcp.scenario import loads
from imported import outcome as outcome_of
from imported import scenario_of, written


def outcome(text: str) -> tuple[dict[str, Any], str]:
    return outcome_of(read_uci, "wireless", text)


def device(*options: str, kind: str = "mac80211") -> str:
    lines = [f" option {one}" for one in (f"type {kind}", *options)]
    return "\n".join(["config wifi-device radio0", *lines])


def iface(*options: str) -> str:
    lines = [f" option {one}" for one in ("device radio0", *options)]
    return "\n".join(["", "config wifi-iface", *lines])


def phy(text: str) -> dict[str, Any]:
    return {
        key: said.value for key, said in read_uci(Source("wireless", text)).tables["phy"].items()
    }


SHOWN = """wireless.radio0=wifi-device
wireless.radio0.type='mac80211'
wireless.radio0.band='5g'
wireless.radio0.channel='36'
wireless.radio0.htmode='HE80'
wireless.default_radio0=wifi-iface
wireless.default_radio0.device='radio0'
wireless.default_radio0.mode='ap'
wireless.default_radio0.key='it'\\''s secret'
wireless.default_radio0.encryption='psk2'
"""
VHT = device("band 5g", "channel 36", "htmode VHT80")


@pytest.mark.parametrize(("text", "said"), [
    *((VHT + iface(f"mode {mode}", "ssid x"), f"line 8: mode {mode}") for mode in ("adhoc", "mesh",
     "monitor", "sta")),
    (SHOWN + "nonsense\n", "line 11"),
    (SHOWN.replace("='36'", "='36"), "line 4"),
    (SHOWN.partition("\n")[2], "line 1"),
])  # fmt: skip
def test_wrong_lines_and_radios_without_an_access_point_are_refused(
    tmp_path: Path, text: str, said: str
) -> None:
    path = written(tmp_path, text, "wireless")
    with pytest.raises(ScenarioError, match=said):
        scenario_of([path])


def test_an_interface_that_is_no_access_point_is_a_line(tmp_path: Path) -> None:
    path = written(
        tmp_path, VHT + iface("mode ap") + iface("mode mesh", "mesh_id hidden-name"), "wireless"
    )

    text = scenario_of([path])

    assert tomllib.loads(text)["phy"]["channel_width"] == "80 MHz"
    assert "mode mesh (wireless:11)" in text
    assert "hidden-name" not in text


def test_the_radio_with_an_access_point_comes_first() -> None:
    other = device("band 2g", "channel 6", "htmode HT20").replace("radio0", "radio1")
    text = VHT + "\n" + other + iface("mode sta") + iface("mode ap").replace("radio0", "radio1")

    assert phy(text)["standard"] == "802.11n"


#: Configurations of drivers: type, options; standard, band, width.
DIALECTS = {
    "qca-ax": ("qcawificfg80211", ["hwmode 11axa", "htmode HT80", "channel auto"], "ax", 5, 80),
    "qca-ac": ("qcawificfg80211", ["hwmode 11ac", "htmode HT80", "channel auto"], "ac", 5, 80),
    "mtk": ("mt7981", ["band 5G", "htmode HE160", "channel 44"], "ax", 5, 160),
    "qca-axg": ("qcawificfg80211", ["hwmode 11axg", "htmode HT40"], "ax", 2.4, 40),
    "qca-na": ("qcawifi", ["hwmode 11na", "htmode HT40+"], "n", 5, 40),
    # These were not known when the rules were written.
    "qca-bea": ("qcawificfg80211", ["hwmode 11bea", "htmode HT160"], "be", 5, 160),
    "qca-ng": ("qca-wifi", ["hwmode 11ng", "htmode HT20"], "n", 2.4, 20),
    "mtk-2.4": ("mtk", ["band 2.4G", "htmode HE40"], "ax", 2.4, 40),
    "mtk-vht": ("mt_dbdc", ["band 5G", "htmode VHT80"], "ac", 5, 80),
    "by channel": ("mac80211", ["channel 149", "htmode HE80"], "ax", 5, 80),
    "6 GHz": ("mac80211", ["band 6g", "htmode EHT320"], "be", 6, 320),
    "VHT in 2.4 GHz": ("mac80211", ["band 2g", "htmode VHT40", "channel 6"], "n", 2.4, 40),
    "too wide in 2.4 GHz": ("mac80211", ["band 2g", "htmode VHT80", "channel 6"], "n", 2.4, 40),
    "HE80 in 2.4 GHz": ("mac80211", ["band 2g", "htmode HE80", "channel 6"], "ax", 2.4, 40),
    "qca 6 GHz": ("qcawificfg80211", ["hwmode 11bea", "band 3", "htmode HT320"], "be", 6, 320),
    "xiaomi": ("qcawificfg80211", ["hwmode 11axa", "bw 160"], "ax", 5, 160),
    "ralink": ("ralink", ["hwmode 11bgnax", "htmode HT40"], "ax", 2.4, 40),
    "no width": ("qcawifi", ["hwmode 11anac", "htmode auto"], "ac", 5, 20),
    "old": ("mac80211", ["hwmode 11a", "htmode HT20"], "n", 5, 20),
}


@pytest.mark.parametrize("name", DIALECTS)
def test_standard_and_width_stand_in_hwmode_and_htmode(tmp_path: Path, name: str) -> None:
    kind, options, standard, band, width = DIALECTS[name]
    path = written(tmp_path, device(*options, kind=kind), "wireless")

    scenario = loads(scenario_of([path]))

    assert scenario.phy.standard == f"802.11{standard}"
    found = phy(path.read_text())
    assert found["channel_width"] == f"{width} MHz"
    assert found["band"] == f"{band} GHz"
    # A vendor's driver has its own queue.
    is_fair = "scheduler" in tomllib.loads(scenario_of([path])).get("ap", {})
    assert is_fair == (kind == "mac80211")


def test_letters_of_hwmode_say_the_band_of_an_old_radio() -> None:
    assert phy(device("hwmode 11bg", kind="broadcom"))["standard"] == "802.11g"
    assert "the channel width, which" in outcome(device("hwmode 11axa", kind="mtk"))[1]


@pytest.mark.parametrize(("options", "standard"), [
    (["encryption psk2"], "802.11ac"),
    (["encryption psk2+tkip"], "802.11a"),
    (["encryption psk-mixed+tkip+ccmp"], "802.11ac"),
    (["encryption wep-open"], "802.11a"),
    (["wmm 0"], "802.11a"),
    (["mode ap", "encryption sae"], "802.11ac"),
])  # fmt: skip
def test_ciphers_and_wmm_decide_on_ht(options: list[str], standard: str) -> None:
    assert phy(VHT + iface(*options))["standard"] == standard


@pytest.mark.parametrize(("device_", "burst"), [
    # tx_queue_data2_burst=2.0 is OpenWrt's default with VHT. Bursts are for HT and later.
    (VHT, "2 ms"), (VHT + "\n option tx_burst 0", None), (VHT + "\n option tx_burst 5", "5 ms"),
    (device("band 5g", "channel 36", "htmode HT20"), None),
    (device("band 5g", "channel 36", "htmode HT20", "tx_burst 1.5"), "1.5 ms"),
    (device("hwmode 11a", "channel 36", "tx_burst 5"), None),
])  # fmt: skip
def test_openwrt_s_bursts_are_the_access_point_s(device_: str, burst: str | None) -> None:
    keys = outcome(device_)[0].get("mac.edca.ap")
    assert keys == (burst and {"AC_BE": {"txop_limit": burst}})


@pytest.mark.parametrize(("htmode", "option", "guard"), [
    ("VHT80", "short_gi_80 0", "800 ns"), ("VHT80", "short_gi_80 1", None),
    ("VHT80", "short_gi_40 0", None), ("HT20", "short_gi_20 0", "800 ns"),
    ("HE80", "short_gi_80 0", None),
])  # fmt: skip
def test_a_short_guard_interval_is_one_of_a_width(
    htmode: str, option: str, guard: str | None
) -> None:
    found = phy(device("band 5g", "channel 36", f"htmode {htmode}", option))
    assert found.get("guard_interval") == guard


VALUES = {
    "band": "2g",
    "hwmode|hw_mode": "11axa",
    "htmode": "HT20",
    "channel": "149",
    "basic_rates?|supported_rates": "6000",
    "cell_density": "3",
    "short_gi_.*": "0",
    "rts.*": "500",
    "beacon_int": "200",
    "type": "mt7981",
    "bw": "80",
    "tx_burst": "5",
    "mode": "mesh",
    "encryption": "wep",
    "wmm": "0",
    "device": "another",
    "wpa_pairwise": "TKIP",
}
BASES = [
    VHT,
    VHT.replace("VHT80", "HT20"),
    VHT.replace("VHT80", "HT40"),
    VHT.replace("VHT80", "VHT160"),
    VHT.replace(" option htmode VHT80", ""),
    device("channel 36"),
    device("channel 36", "htmode VHT80"),
    device("band 2g", "htmode HT20"),
    device("htmode VHT80"),
    device("hwmode 11axa", kind="qcawifi"),
    # A second radio that is off, and an interface that is not an access point.
    device("band 2g", "disabled 1").replace("radio0", "radio1") + "\n" + VHT,
    VHT + iface("mode sta"),
]


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind in ("uci-device", "uci-iface") for name in sorted(options_of(kind))],
)
def test_every_option_of_openwrt_does_what_the_table_says(kind: str, name: str) -> None:
    verdict = options_of(kind)[name].verdict
    value = next((one for key, one in VALUES.items() if re.fullmatch(key, name)), "1")

    # The option belongs to the last section.
    bases = [base for base in BASES if kind == "uci-iface" or "wifi-iface" not in base]
    for base in bases:
        whole = base if kind == "uci-device" else base + iface()
        before, after = outcome(whole), outcome(f"{whole}\n option {name} {value}")
        if verdict == "followed" and before != after:
            return
        if verdict == "harmless":
            assert after == before
        elif verdict == "named" and "refused" not in before[0]:
            assert after[0] == before[0]
            assert re.search(rf"\b{name}\b", after[1])
    assert verdict != "followed"


CONFIG = {"type": "mac80211", "band": "5g", "channel": "36", "htmode": "HE80"}
INTERFACE = {"config": {"mode": "ap", "encryption": "psk2", "key": "it's secret"}}
STATUS = {"radio0": {"up": True, "disabled": False, "config": CONFIG, "interfaces": [INTERFACE]}}


@pytest.mark.parametrize("text", [SHOWN, json.dumps(STATUS)])
def test_what_uci_show_and_ubus_print_is_the_configuration(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text, "wireless")
    told = scenario_of([path])
    found = tomllib.loads(told)

    assert found["phy"] == {"standard": "802.11ax", "band": "5 GHz", "channel_width": "80 MHz"}
    assert found["ap"]["scheduler"] == {"kind": "airtime"}
    assert "secret" not in told
    path.write_text(text.replace("'ap'", "'mesh'").replace('"ap"', '"mesh"'))
    with pytest.raises(ScenarioError, match="is a mesh"):
        scenario_of([path])


@pytest.mark.parametrize(("option", "said"), [
    ("radio0.disabled='1'", "this radio is off"),
    ("default_radio0.disabled='1'", "are disabled"),
    ("radio0.noscan='0'", ""), ("radio0.noscan='1'", "noscan"),
    ("radio0.frag='2346'", ""), ("radio0.frag='800'", "frag"),
])  # fmt: skip
def test_an_option_is_named_unless_it_changes_nothing(option: str, said: str) -> None:
    keys, head = outcome(f"{SHOWN}wireless.{option}\n")
    assert keys == outcome(SHOWN)[0]
    assert said in head if said else head == outcome(SHOWN)[1]


def test_two_halves_of_160_mhz_are_one_channel(tmp_path: Path) -> None:
    path = written(tmp_path, SHOWN.replace("HE80", "VHT80+80"), "wireless")

    text = scenario_of([path])
    assert 'channel_width = "160 MHz"' in text
    assert "80+80 MHz" in text
