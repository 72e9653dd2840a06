"""hostapd.conf: a scenario has what hostapd leaves in use, and each option has a verdict."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from airtcp.exceptions import ScenarioError
from airtcp.importer.files import scenario_of
from airtcp.importer.hostapd import read_hostapd
from airtcp.importer.options import options_of
from airtcp.importer.source import Source
from debian import fetch_program

GUIDE = Path(__file__).parents[1] / "docs" / "howto" / "import" / "hostapd.conf"
_AC = (
    "hw_mode=a\nchannel=36\nieee80211n=1\nieee80211ac=1\nvht_oper_chwidth=1\n"
    "vht_oper_centr_freq_seg0_idx=42\nht_capab=[HT40+][SHORT-GI-40]\nvht_capab=[SHORT-GI-80]\n"
)
_N = "hw_mode=g\nchannel=6\nieee80211n=1\n"
_PSK = "wpa=2\nwpa_key_mgmt=WPA-PSK\nwpa_passphrase=abcdefgh\n"


def phy(directory: Path, text: str) -> dict[str, Any]:
    path = directory / "hostapd.conf"
    path.write_text(text)
    found: dict[str, Any] = tomllib.loads(scenario_of([path]))["phy"]
    return found


def test_the_guide_s_access_point_is_802_11ac_at_80_mhz() -> None:
    found = tomllib.loads(scenario_of([GUIDE]))["phy"]

    assert (found["standard"], found["channel_width"]) == ("802.11ac", "80 MHz")
    assert found["guard_interval"] == "400 ns"


#: Configurations whose HT hostapd, or stations without WMM, leave out: what stands instead.
OFF = {
    "default cipher": ("hw_mode=a\nchannel=36\nieee80211n=1\nwmm_enabled=1\n" + _PSK, "802.11a"),
    "TKIP": (_AC + _PSK + "rsn_pairwise=TKIP\n", "802.11a"),
    "WPA with GCMP": (_AC + _PSK.replace("wpa=2", "wpa=1") + "wpa_pairwise=GCMP\n", "802.11a"),
    "WEP": (_N + "wep_default_key=0\nwep_key0=1234567890\n", "802.11g"),
    "hw_mode b": (_N.replace("=g", "=b"), "802.11b"),
    "no hw_mode": (_N.replace("hw_mode=g\n", ""), "802.11b"),
    "TKIP and 802.11ax": (_AC + "ieee80211ax=1\n" + _PSK + "wpa_pairwise=TKIP\n", "802.11a"),
}
OF_STATIONS = {
    "no WMM": (_AC + "wmm_enabled=0\n", "802.11a"),
    "no 802.11n": (_AC.replace("ieee80211n=1\n", ""), "802.11a"),
    "disable_11n": (_N + "disable_11n=1\n", "802.11g"),
}
#: Configurations that hostapd leaves as they are.
ON = {
    "open": (_AC, "802.11ac"),
    "CCMP": (_AC + _PSK + "rsn_pairwise=CCMP\n", "802.11ac"),
    "both WPA": (_AC + _PSK.replace("wpa=2", "wpa=3") + "rsn_pairwise=CCMP TKIP\n", "802.11ac"),
    "GCMP": (_N + _PSK + "wpa_pairwise=GCMP\n", "802.11n"),
    "802.11n": (_N, "802.11n"),
    "VHT in 2.4 GHz": (_N + "ieee80211ac=1\n", "802.11n"),
    "802.11ax": (_AC + "ieee80211ax=1\nhe_oper_chwidth=1\n", "802.11ax"),
    "g": ("hw_mode=g\nchannel=1\n", "802.11g"),
}


@pytest.mark.parametrize("name", [*OFF, *OF_STATIONS, *ON])
def test_the_standard_is_what_is_left_in_use(tmp_path: Path, name: str) -> None:
    text, standard = (OFF | OF_STATIONS | ON)[name]

    assert phy(tmp_path, text)["standard"] == standard


@pytest.mark.parametrize(
    ("text", "width", "guard"),
    [
        (_N, "20 MHz", "800 ns"),
        (_N + "ht_capab=[SHORT-GI-20]\n", "20 MHz", "400 ns"),
        # The short guard interval of another width does not count.
        (_N + "ht_capab=[HT40+][SHORT-GI-20]\n", "40 MHz", "800 ns"),
        (_AC, "80 MHz", "400 ns"),
        (_AC.replace("[SHORT-GI-80]", "[SHORT-GI-160]"), "80 MHz", "800 ns"),
        (_AC.replace("chwidth=1", "chwidth=0").replace("=42", "=38"), "40 MHz", "400 ns"),
    ],
)
def test_width_and_guard_interval_go_together(
    tmp_path: Path, text: str, width: str, guard: str
) -> None:
    found = phy(tmp_path, text)

    assert (found["channel_width"], found["guard_interval"]) == (width, guard)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        # Pairs of 40 MHz begin at 149, 157, 165: 161 goes with 157.
        ("hw_mode=a\nchannel=161\nieee80211n=1\nht_capab=[HT40+]", "line 4: ht_capab"),
        ("hw_mode=a\nchannel=36\nieee80211n=1\nht_capab=[HT40-]", "line 4: ht_capab"),
        ("hw_mode=g\nchannel=11\nieee80211n=1\nht_capab=[HT40+]", "line 4: ht_capab"),
        ("hw_mode=g\nchannel=3\nieee80211n=1\nht_capab=[HT40-]", "line 4: ht_capab"),
        (_AC.replace("[HT40+]", ""), "line 5: vht_oper_chwidth"),
        (_AC.replace("=42", "=58"), "line 6: vht_oper_centr_freq_seg0_idx"),
        (_AC.replace("width=1", "width=2").replace("=42", "=50"), "line 5: vht_oper_chwidth"),
        ("hw_mode=g\nchannel=36\nieee80211n=1", "line 2: channel"),
        ("hw_mode=a\nchannel=36\nieee80211n=1\nieee80211be=1", "line 4: ieee80211be"),
        ("hw_mode=ad\nchannel=2", "line 1: hw_mode"),
        ("hw_mode=a\nchannel=36\nieee80211ah=1", "line 3: ieee80211ah"),
        ("op_class=131\nchannel=1\nieee80211n=1", "line 1: op_class"),
        ("hw_mode=a\nbeacon_int=9", "line 2: beacon_int"),
    ],
)
def test_what_hostapd_does_not_start_ends_the_import(tmp_path: Path, text: str, line: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(line)):
        phy(tmp_path, text)


@pytest.mark.parametrize(
    ("lines", "width"),
    [
        ("op_class=133", 80),
        ("op_class=131\nhe_oper_centr_freq_seg0_idx=15", 160),
        ("op_class=131\nhe_oper_centr_freq_seg0_idx=3", 40),
        ("op_class=134\nhe_oper_chwidth=2", 160),
        # Channels of 320 MHz begin at every second of 160 MHz.
        ("op_class=131\nieee80211be=1\neht_oper_centr_freq_seg0_idx=31", 320),
        ("op_class=131\nieee80211be=1\neht_oper_centr_freq_seg0_idx=63", 320),
    ],
)
def test_in_6_ghz_the_class_or_the_center_says_the_width(
    tmp_path: Path, lines: str, width: int
) -> None:
    found = phy(tmp_path, f"hw_mode=a\nchannel=1\nieee80211ax=1\n{lines}\n")

    assert (found["band"], found["channel_width"]) == ("6 GHz", f"{width} MHz")


def test_options_of_the_radio_hold_behind_another_bss(tmp_path: Path) -> None:
    path = tmp_path / "hostapd.conf"
    path.write_text(_N + "bss=wlan1\nchannel=1\nwmm_enabled=0\nhw_mode=g\n")

    text = scenario_of([path])

    assert tomllib.loads(text)["phy"]["standard"] == "802.11n"
    assert "1 more BSS" in text


#: A value that changes something, for each followed option; all others take "1".
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


def outcome(text: str) -> tuple[dict[str, Any], str]:
    """The keys that are written, and the lines at the head; or the refusal."""
    try:
        draft = read_hostapd(Source("hostapd.conf", text))
    except ScenarioError as error:
        return {"refused": error.key}, ""
    keys = {
        header: {key: said.value for key, said in table.items()}
        for header, table in draft.tables.items()
    }
    return keys, "\n".join([*draft.unknown, *draft.unread])


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


def test_a_number_ends_before_a_comment(tmp_path: Path) -> None:
    assert phy(tmp_path, _N.replace("channel=6", "channel=6 # six"))["band"] == "2.4 GHz"


def test_a_band_that_hostapd_chooses_is_named() -> None:
    _, said = outcome(_N.replace("=g", "=any").replace("channel=6", "channel=0"))

    assert "hostapd chooses the band" in said


def test_capabilities_that_change_what_is_sent_are_named() -> None:
    silent = outcome(_AC)[1]
    for key, flag in (
        ("ht_capab", "MAX-AMSDU-7935"),
        ("ht_capab", "SMPS-STATIC"),
        ("ht_capab", "LDPC"),
        ("vht_capab", "MAX-A-MPDU-LEN-EXP7"),
        ("vht_capab", "MU-BEAMFORMER"),
        ("vht_capab", "RX-STBC-1"),
    ):
        keys, said = outcome(_AC.replace(f"{key}=", f"{key}=[{flag}]", 1))
        assert (f"[{flag}]" in said, keys) == (True, outcome(_AC)[0])
        assert flag not in silent
    # HT has no VHT capabilities.
    assert "MAX-MPDU" not in outcome(f"{_N}vht_capab=[MAX-MPDU-11454]\n")[1]


def test_an_option_that_is_off_is_not_named() -> None:
    off = "fragm_threshold=2346\nwmm_ac_be_acm=0\nrequire_ht=0\n"

    assert outcome(_N + off) == outcome(_N)
    for one in ("fragm_threshold=800", "wmm_ac_be_acm=1", "require_ht=1"):
        assert one.partition("=")[0] in outcome(f"{_N}{one}\n")[1]


#: Not looked at while the rules were written.
HELD_OUT = {
    "TKIP second": _N + _PSK + "wpa_pairwise=TKIP\nrsn_pairwise=TKIP\n",
    "CCMP-256": _N + _PSK + "rsn_pairwise=CCMP-256\n",
    "WPA CCMP": _N + _PSK.replace("wpa=2", "wpa=1") + "wpa_pairwise=CCMP\n",
    "WPA TKIP": _N + _PSK.replace("wpa=2", "wpa=1") + "wpa_pairwise=TKIP\n",
    "ax with TKIP": _N + "ieee80211ax=1\n" + _PSK + "rsn_pairwise=TKIP\n",
    "ac default": _AC + _PSK,
    "b with ax": "hw_mode=b\nchannel=1\nieee80211n=1\nieee80211ax=1\n",
    "WEP in 5 GHz": _AC + "wep_key1=1234567890\nwep_default_key=1\n",
    "GCMP-256": _AC + _PSK + "rsn_pairwise=GCMP-256\n",
    "a comment behind a number": _N.replace("channel=6", "channel=6 # six"),
    "mixed ciphers": _AC + _PSK.replace("wpa=2", "wpa=3") + "wpa_pairwise=TKIP CCMP\n",
}


@pytest.fixture(scope="module", params=["installed", "sid"])
def hostapd(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command of hostapd 2.10 or so, and of 2.11 or later."""
    if request.param == "installed":
        found = shutil.which("hostapd", path="/usr/sbin:/sbin:/usr/bin:/usr/local/sbin")
        return [found] if found else pytest.skip("hostapd is missing")
    libraries = ["libc6", "libssl3t64", "libnl-3-200", "libnl-genl-3-200", "libnl-route-3-200"]
    libraries += ["zlib1g", "libzstd1"]
    directory = tmp_path_factory.mktemp("hostapd")
    return fetch_program(directory, "sid", "usr/sbin/hostapd", "hostapd", *libraries)


@pytest.mark.verify
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", [*OFF, *ON, *HELD_OUT, "the guide"])
def test_hostapd_turns_off_what_the_scenario_has_not(
    tmp_path: Path, hostapd: list[str], name: str
) -> None:
    texts = {key: text for key, (text, _) in (OFF | ON).items()} | HELD_OUT
    text = GUIDE.read_text() if name == "the guide" else texts[name]
    standard = phy(tmp_path, text)["standard"]
    path = tmp_path / "witness.conf"
    without = "".join(one for one in text.splitlines(True) if not re.match("driver|interface", one))
    path.write_text("interface=wlan0\ndriver=none\n" + without)

    # It runs until it is ended; what it turns off is said before that.
    command = ["timeout", "2", *hostapd, str(path)]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout

    assert "errors found" not in said
    assert ("disabling HT" in said) == (standard in ("802.11a", "802.11b", "802.11g")) or (
        standard == "802.11g" and "ieee80211n=1" not in text
    )
