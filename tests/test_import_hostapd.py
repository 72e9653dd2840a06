"""hostapd.conf: a scenario has the features that hostapd enables; each option has a verdict."""

import csv
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from airtcp.exceptions import ScenarioError
from airtcp.importer.hostapd import read_hostapd
from airtcp.importer.options import options_of
from imported import outcome as outcome_of
from imported import scenario_of


def outcome(text: str) -> tuple[dict[str, Any], str]:
    return outcome_of(read_hostapd, "hostapd.conf", text)


GUIDE = Path(__file__).parents[1] / "docs" / "howto" / "import" / "hostapd.conf"
_AC = (
    "hw_mode=a\nchannel=36\nieee80211n=1\nieee80211ac=1\nvht_oper_chwidth=1\n"
    "vht_oper_centr_freq_seg0_idx=42\nht_capab=[HT40+][SHORT-GI-40]\nvht_capab=[SHORT-GI-80]\n"
)
_AX_80 = "ieee80211ax=1\nhe_oper_chwidth=1\nhe_oper_centr_freq_seg0_idx=42\n"
_N = "hw_mode=g\nchannel=6\nieee80211n=1\n"
_N_40 = "hw_mode=a\nchannel=36\nieee80211n=1\n"
_PSK = "wpa=2\nwpa_key_mgmt=WPA-PSK\nwpa_passphrase=abcdefgh\n"
STANDARDS = {"HT": "802.11n", "VHT": "802.11ac", "HE": "802.11ax", "EHT": "802.11be"}


def phy(directory: Path, text: str) -> dict[str, Any]:
    path = directory / "hostapd.conf"
    path.write_text(text)
    found: dict[str, Any] = tomllib.loads(scenario_of([path]))["phy"]
    return found


#: Configurations that hostapd itself read (`validation/peers/hwsim.py`).
RADIOS = {
    "the guide": GUIDE.read_text(),
    "default cipher": "hw_mode=a\nchannel=36\nieee80211n=1\nwmm_enabled=1\n" + _PSK,
    "TKIP": _AC + _PSK + "rsn_pairwise=TKIP\n",
    "WPA TKIP": _N + _PSK.replace("wpa=2", "wpa=1") + "wpa_pairwise=TKIP\n",
    "WPA CCMP": _N + _PSK.replace("wpa=2", "wpa=1") + "wpa_pairwise=CCMP\n",
    "TKIP second": _N + _PSK + "wpa_pairwise=TKIP\nrsn_pairwise=TKIP\n",
    "TKIP and ax": _AC + _AX_80 + _PSK + "wpa_pairwise=TKIP\n",
    "ax with TKIP": _N + "ieee80211ax=1\n" + _PSK + "rsn_pairwise=TKIP\n",
    "ac default": _AC + _PSK,
    "CCMP": _AC + _PSK + "rsn_pairwise=CCMP\n",
    "CCMP-256": _N + _PSK + "rsn_pairwise=CCMP-256\n",
    "GCMP": _N + _PSK + "wpa_pairwise=GCMP\n",
    "GCMP-256": _AC + _PSK + "rsn_pairwise=GCMP-256\n",
    "both WPA": _AC + _PSK.replace("wpa=2", "wpa=3") + "rsn_pairwise=CCMP TKIP\n",
    "mixed ciphers": _AC + _PSK.replace("wpa=2", "wpa=3") + "wpa_pairwise=TKIP CCMP\n",
    "WEP": _N + "wep_default_key=0\nwep_key0=1234567890\n",
    "WEP in 5 GHz": _AC + "wep_key1=1234567890\nwep_default_key=1\n",
    "a": "hw_mode=a\nchannel=36\n",
    "a with WMM": "hw_mode=a\nchannel=36\nwmm_enabled=1\n",
    "b": "hw_mode=b\nchannel=1\n",
    "b with n": _N.replace("=g", "=b"),
    "b with ax": "hw_mode=b\nchannel=1\nieee80211n=1\nieee80211ax=1\n",
    "no hw_mode": _N.replace("hw_mode=g\n", ""),
    "g": "hw_mode=g\nchannel=1\n",
    "no WMM": _AC + "wmm_enabled=0\n",
    "no WMM in 2.4 GHz": _N + "wmm_enabled=0\n",
    "no 802.11n": _AC.replace("ieee80211n=1\n", ""),
    "disable_11n": _N + "disable_11n=1\n",
    "n": _N,
    "n, a comment": _N.replace("channel=6", "channel=6 # six"),
    "n, short": _N + "ht_capab=[SHORT-GI-20]\n",
    # The short guard interval of another width does not count.
    "n, 40 MHz, short in 20": _N_40 + "ht_capab=[HT40+][SHORT-GI-20]\n",
    "n, 40 MHz, short": _N_40 + "ht_capab=[HT40+][SHORT-GI-40]\n",
    "n, 40 MHz in 2.4 GHz": _N + "ht_capab=[HT40+][SHORT-GI-20]\n",
    "n, 40 MHz below": _N_40.replace("36", "161") + "ht_capab=[HT40-]\n",
    "VHT in 2.4 GHz": _N + "ieee80211ac=1\n",
    "ac": _AC,
    "ac, short in 160": _AC.replace("[SHORT-GI-80]", "[SHORT-GI-160]"),
    "ac, 40 MHz": _AC.replace("chwidth=1", "chwidth=0").replace("=42", "=38"),
    "ac, 40 MHz, no center": _AC.replace("chwidth=1", "chwidth=0").replace("=42", "=0"),
    "ax": _AC + _AX_80,
    "ax, 40 MHz": _AC + "ieee80211ax=1\n",
    "ax alone": _AX_80.join([_N_40 + "ht_capab=[HT40+]\n", ""]),
}
EXITS = {
    "WPA with GCMP": (_AC + _PSK.replace("wpa=2", "wpa=1") + "wpa_pairwise=GCMP\n",
     "line 12: wpa_pairwise"),
    "36-": (_N_40 + "ht_capab=[HT40-]\n", "line 4: ht_capab"),
    "11+": (_N.replace("=6", "=11") + "ht_capab=[HT40+]\n", "line 4: ht_capab"),
    "3-": (_N.replace("=6", "=3") + "ht_capab=[HT40-]\n", "line 4: ht_capab"),
    "80 MHz of 20": (_AC.replace("[HT40+]", ""), "line 5: vht_oper_chwidth"),
    "no center": (_AC.replace("=42", "=0"), "line 6: vht_oper_centr_freq_seg0_idx"),
    "no center of ax": (_AC + "ieee80211ax=1\nhe_oper_chwidth=1\n", "line 10: he_oper_chwidth"),
    "no width of ax": (_AC + _AX_80.replace("he_oper_chwidth=1\n", ""), "line 10: he_oper_centr"),
    "160 MHz": (_AC.replace("width=1", "width=2").replace("=42", "=50"), "line 5: vht_oper_chw"),
    "36 in g": ("hw_mode=g\nchannel=36\nieee80211n=1\n", "line 2: channel"),
    "be alone": (_N_40 + "ieee80211be=1\n", "line 4: ieee80211be"),
    "6 GHz of n": ("op_class=131\nchannel=1\nieee80211n=1\n", "line 1: op_class"),
    "beacons": ("hw_mode=a\nchannel=36\nbeacon_int=9\n", "line 3: beacon_int"),
}  # fmt: skip
#: On contradictions hostapd falls back to 20 MHz, or chooses a channel itself.
RESOLVED = {
    # Pairs of 40 MHz begin at 149, 157, 165: 161 goes with 157.
    "161+": (_N_40.replace("36", "161") + "ht_capab=[HT40+]\n", "line 4: ht_capab"),
    "another center": (_AC.replace("=42", "=58"), "line 6: vht_oper_centr_freq_seg0_idx"),
}
RADIOS |= {name: text for name, (text, _) in EXITS.items()}
with (Path(__file__).parent / "reference" / "hostapd.csv").open() as _file:
    ROWS = list(csv.DictReader(_file))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['configuration']} {row['hostapd']}")
def test_a_scenario_has_what_hostapd_and_its_stations_use(
    tmp_path: Path, row: dict[str, str]
) -> None:
    text = RADIOS[row["configuration"]]
    if row["formats"] == "exits":
        with pytest.raises(ScenarioError):
            phy(tmp_path, text)
        return
    found = phy(tmp_path, text)

    formats = row["formats"].split()
    if found.get("band") == "2.4 GHz":
        # Stations do not use VHT in 2.4 GHz.
        formats = [one for one in formats if one != "VHT"]
    if "HT" in formats and row["wmm"] == "yes":
        assert found["standard"] == STANDARDS[formats[-1]]
        assert found["channel_width"] == f"{row['width_mhz']} MHz"
        assert found.get("guard_interval", f"{row['guard_ns']} ns") == f"{row['guard_ns']} ns"
    else:
        # Stations use HT and later only with HT and WMM.
        assert found["standard"] in ("802.11a", "802.11b", "802.11g")
        assert (found["standard"] == "802.11b") == ("hw_mode=b" in text or "hw_mode" not in text)
        assert (found["standard"] == "802.11a") == ("hw_mode=a" in text)


def test_both_versions_read_the_guide_as_802_11ac_at_80_mhz_with_wmm() -> None:
    guide = [list(row.values()) for row in ROWS if row["configuration"] == "the guide"]
    read = ["HT VHT", "80", "400", "yes"]
    assert guide == [["the guide", version, *read] for version in ("2.10", "2.11")]
    assert {row["configuration"] for row in ROWS} == set(RADIOS)


@pytest.mark.parametrize("name", EXITS | RESOLVED)
def test_what_hostapd_does_not_start_as_it_stands_ends_the_import(
    tmp_path: Path, name: str
) -> None:
    text, place = (EXITS | RESOLVED)[name]

    with pytest.raises(ScenarioError, match=re.escape(place)):
        phy(tmp_path, text)


#: The lower channel of each pair of 40 MHz in 5 GHz (IEEE 802.11-2020, Table E-4).
LOWER = {36, 44, 52, 60, 100, 108, 116, 124, 132, 140, 149, 157, 165, 173}


@pytest.mark.parametrize("sign", [1, -1])
def test_channels_of_40_mhz_are_the_pairs_of_the_standard(sign: int) -> None:
    def allowed(text: str, channels: Iterable[int]) -> set[int]:
        wide = f"{text}ht_capab=[HT40{'+' if sign > 0 else '-'}]\n"
        said = {one: outcome(wide.replace("channel=N", f"channel={one}"))[0] for one in channels}
        return {one for one, keys in said.items() if "refused" not in keys}

    in_5_ghz = [*range(36, 65, 4), *range(100, 145, 4), *range(149, 178, 4)]
    lower = {one if sign > 0 else one + 4 for one in LOWER} & set(in_5_ghz)
    assert allowed("hw_mode=a\nchannel=N\nieee80211n=1\n", in_5_ghz) == lower
    below_13 = {one for one in range(1, 14) if 1 <= one + 4 * sign <= 13}
    assert allowed("hw_mode=g\nchannel=N\nieee80211n=1\n", range(1, 14)) == below_13


@pytest.mark.parametrize(("center", "width", "within"), [
    (42, 1, range(36, 49, 4)), (155, 1, range(149, 162, 4)), (50, 2, range(36, 65, 4)),
])  # fmt: skip
def test_a_wide_channel_contains_the_channel(center: int, width: int, within: range) -> None:
    text = _AC.replace("chwidth=1", f"chwidth={width}").replace("=42", f"={center}")
    text = text.replace("[SHORT-GI-80]", "[SHORT-GI-80][VHT160]").replace("[HT40+]", "")
    for channel in range(within.start - 16, within.stop + 16, 4):
        pair = "" if channel not in within else "+" if channel in LOWER else "-"
        wide = text.replace("ht_capab=", f"ht_capab=[HT40{pair or '+'}]")
        keys, _ = outcome(wide.replace("channel=36", f"channel={channel}"))
        assert ("refused" not in keys) == (channel in within), channel


@pytest.mark.parametrize(("option", "least", "most"), [
    ("beacon_int", 10, 65535), ("wmm_ac_be_txop_limit", 0, 65535),
])  # fmt: skip
def test_numbers_have_both_bounds(option: str, least: int, most: int) -> None:
    for value in (least - 1, least, most, most + 1):
        keys, _ = outcome(f"{_N}{option}={value}\n")
        assert ("refused" in keys) == (not least <= value <= most), value


def test_other_radios_are_not_modelled(tmp_path: Path) -> None:
    for mode in ("hw_mode=ad\nchannel=2", "hw_mode=a\nchannel=36\nieee80211ah=1"):
        with pytest.raises(ScenarioError, match="not modelled"):
            phy(tmp_path, mode)
    # Radio options after a second BSS still apply; a band that hostapd chooses is named.
    (tmp_path / "two.conf").write_text(_N + "bss=wlan1\nchannel=1\nwmm_enabled=0\nhw_mode=g\n")
    text = scenario_of([tmp_path / "two.conf"])
    assert tomllib.loads(text)["phy"]["standard"] == "802.11n"
    assert "1 more BSS" in text
    chosen = _N.replace("=g", "=any").replace("channel=6", "channel=0")
    assert "hostapd chooses the band" in outcome(chosen)[1]


@pytest.mark.parametrize(("lines", "width"), [
    ("op_class=133", 80),
    ("op_class=131\nhe_oper_centr_freq_seg0_idx=15", 160),
    ("op_class=131\nhe_oper_centr_freq_seg0_idx=3", 40),
    ("op_class=134\nhe_oper_chwidth=2", 160),
    # Channels of 320 MHz begin at every second channel of 160 MHz.
    ("op_class=131\nieee80211be=1\neht_oper_centr_freq_seg0_idx=31", 320),
    ("op_class=131\nieee80211be=1\neht_oper_centr_freq_seg0_idx=63", 320),
])  # fmt: skip
def test_in_6_ghz_the_class_or_the_center_says_the_width(
    tmp_path: Path, lines: str, width: int
) -> None:
    found = phy(tmp_path, f"hw_mode=a\nchannel=1\nieee80211ax=1\n{lines}\n")

    assert (found["band"], found["channel_width"]) == ("6 GHz", f"{width} MHz")


#: For each option that the import uses, a value that changes the result; others take "1".
VALUES = {
    r"hw_mode": "b",
    r"channel": "149",
    r"op_class": "131",
    r"(ht|vht)_capab": "[HT40+]",
    r"(vht|he|eht)_oper_chwidth": "0",
    r"(vht|he|eht)_oper_centr_freq_seg0_idx": "58",
    r"(vht|he|eht)_oper_centr_freq_seg1_idx": "155",
    r"basic_rates|supported_rates": "60 120",
    r"rts_threshold": "500",
    r"beacon_int": "200",
    r"w[mm]e_enabled|wmm_enabled": "0",
    r"wpa": "2",
    r"(wpa|rsn)_pairwise": "TKIP",
    r"wep_key\d": "1234567890",
    r"\w+_(cwmin|cwmax)": "7",
    r"\w+_aifs": "9",
    r"\w+_txop_limit": "47",
    r"\w+_burst": "2.5",
    r"bss": "wlan1",
}
_AX = _AC.replace("vht_oper", "he_oper") + "ieee80211ax=1\nvht_oper_chwidth=1\n"
_BE = _AC.replace("vht_oper", "eht_oper") + "ieee80211ax=1\nieee80211be=1\n"
BASES = [
    _AC,
    _AX,
    _BE,
    _AC + "wpa=2\nrsn_pairwise=CCMP\n",
    _AC + "wpa=2\nwpa_pairwise=CCMP\n",
    "hw_mode=g\nchannel=6\n",
    "hw_mode=g\nchannel=6\nieee80211ac=1\n",
    "hw_mode=a\nchannel=36\nieee80211n=1\nieee80211ac=1\n",
    "hw_mode=a\nchannel=36\nieee80211n=1\nieee80211ac=1\nieee80211ax=1\n",
]


@pytest.mark.parametrize("name", sorted(options_of("hostapd")))
def test_every_option_of_hostapd_does_what_the_table_says(name: str) -> None:
    verdict = options_of("hostapd")[name].verdict
    value = next((one for key, one in VALUES.items() if re.fullmatch(key, name)), "1")

    for base in BASES:
        (keys, said), (after, said_after) = outcome(base), outcome(f"{base}{name}={value}\n")
        if verdict == "followed" and (after != keys or said_after != said):
            return
        if verdict == "harmless":
            assert (after, said_after) == (keys, said)
        elif verdict == "refused":
            assert "refused" in after
        elif verdict == "named":
            assert after == keys
            assert re.search(rf"\b{name}\b", said_after)
    assert verdict != "followed"


@pytest.mark.parametrize(("key", "flag"), [
    ("ht_capab", "MAX-AMSDU-7935"), ("ht_capab", "SMPS-STATIC"), ("ht_capab", "LDPC"),
    ("vht_capab", "MAX-A-MPDU-LEN-EXP7"), ("vht_capab", "MU-BEAMFORMER"),
    ("vht_capab", "RX-STBC-1"),
])  # fmt: skip
def test_capabilities_that_change_what_is_sent_are_named(key: str, flag: str) -> None:
    silent, said = outcome(_AC), outcome(_AC.replace(f"{key}=", f"{key}=[{flag}]", 1))
    assert said[0] == silent[0]
    assert (f"[{flag}]" in said[1], flag in silent[1]) == (True, False)
    # HT has no VHT capabilities.
    assert flag not in outcome(f"{_N}vht_capab=[{flag}]\n")[1]


def test_an_option_that_is_off_is_not_named() -> None:
    off = "fragm_threshold=2346\nwmm_ac_be_acm=0\nrequire_ht=0\n"

    assert outcome(_N + off) == outcome(_N)
    for one in ("fragm_threshold=800", "wmm_ac_be_acm=1", "require_ht=1"):
        assert one.partition("=")[0] in outcome(f"{_N}{one}\n")[1]
