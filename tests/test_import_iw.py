"""Stations of iw: their radio, and radios that are not modelled."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from airtcp.exceptions import ScenarioError
from airtcp.importer.files import measurement_of
from imported import scenario_of, written


def dump(rate: str, lines: str = "") -> str:
    return f"Station 02:00:00:00:00:02 (on wlan0)\n\ttx bitrate:\t{rate}\n{lines}"


#: By name: the rate of a station, lines of its dump, and the expected standard, band and line.
RADIOS = {
    "HE": ("120.1 MBit/s 20MHz HE-MCS 10 HE-NSS 1 HE-GI 0", "", ("ax", "", "the band")),
    "2.4": ("72.2 MBit/s MCS 7 short GI", "\tfreq: 2437\n", ("n", "2.4 GHz", "")),
    "6": ("1201.0 MBit/s 160MHz HE-MCS 5 HE-NSS 2", "\tfreq: 6135.0\n", ("ax", "6 GHz", "")),
    "320": ("5764.7 MBit/s 320MHz EHT-MCS 13 EHT-NSS 2", "", ("be", "6 GHz", "")),
    "a": ("54.0 MBit/s", "\tfreq: 5180\n", ("a", "", "")),
    "g": ("54.0 MBit/s", "", ("g", "", "the band")),
    "none": ("(unknown)", "", ("ax", "", "the standard")),
    "four streams": ("600.0 MBit/s MCS 31 40MHz short GI", "", ("n", "", "the band")),
    "mesh": ("65.0 MBit/s MCS 7", "\tmesh plink:\tESTAB\n", ("n", "", "mesh peers")),
}


@pytest.mark.parametrize("name", RADIOS)
def test_a_dump_tells_the_radio_or_a_line_does_not(tmp_path: Path, name: str) -> None:
    rate, lines, (standard, band, said) = RADIOS[name]
    text = scenario_of([written(tmp_path, dump(rate, lines))])

    phy = tomllib.loads(text)["phy"]
    assert (phy["standard"], phy.get("band", "")) == (f"802.11{standard}", band)
    assert said in text
    assert ("the band, which" in text) == (not band and standard != "a")


def test_an_idle_station_leaves_the_configured_radio(tmp_path: Path) -> None:
    config = written(tmp_path, "hw_mode=g\nchannel=6\nieee80211n=1\n", "hostapd.conf")

    text = scenario_of([config, written(tmp_path, dump("6.0 MBit/s"))])

    phy = tomllib.loads(text)["phy"]
    assert "management frames" in text
    assert (phy["standard"], phy["band"]) == ("802.11n", "2.4 GHz")


@pytest.mark.parametrize(
    ("rate", "other"), [("4.3 MBit/s S1G-MCS 7", "802.11ah"), ("770.0 MBit/s MCS 2", "802.11ad")]
)
def test_rates_of_other_radios_are_refused(tmp_path: Path, rate: str, other: str) -> None:
    with pytest.raises(ScenarioError, match=f"{other}.* is not modelled"):
        scenario_of([written(tmp_path, dump(rate))])


@pytest.mark.parametrize(("config", "rate"), [
    # A rate of another radio, from before a change of configuration, or of a management frame.
    ("hw_mode=a\nchannel=36\nieee80211n=1\n", "300.0 MBit/s MCS 15 40MHz short GI"),
    ("hw_mode=g\nchannel=6\nieee80211n=1\nieee80211ax=1\n", "86.7 MBit/s VHT-MCS 8 short GI"),
    ("hw_mode=a\nop_class=131\nchannel=5\nieee80211ax=1\n", "6.0 MBit/s"),
    ("hw_mode=a\nchannel=36\nieee80211n=1\n", "120.1 MBit/s HE-MCS 10 HE-NSS 1"),
])  # fmt: skip
def test_a_rate_that_the_radio_does_not_have_is_a_line(
    tmp_path: Path, config: str, rate: str
) -> None:
    path = written(tmp_path, config, "hostapd.conf")

    text = scenario_of([path, written(tmp_path, dump(rate))])

    assert "not a rate of this radio" in text.replace("\n#  ", "")
    assert tomllib.loads(text)["stations"] == [{"name": "station", "count": 1}]


@pytest.mark.parametrize(("rate", "width", "is_named"), [
    ("1560.0 MBit/s VHT-MCS 8 80P80MHz short GI VHT-NSS 2", 160, False),
    ("866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2", 80, False),
    ("2401.9 MBit/s 160MHz HE-MCS 11 HE-NSS 2 HE-GI 0 HE-DCM 0", 160, False),
    ("4.3 MBit/s HE-MCS 0 HE-NSS 1 HE-GI 0 HE-DCM 1", 20, True),
    ("25.0 MBit/s HE-MCS 5 HE-NSS 1 HE-GI 0 HE-DCM 0 HE-RU-ALLOC 2", 20, True),
    ("32.5 MBit/s VHT-MCS 7 10MHz VHT-NSS 1", 20, True),
])  # fmt: skip
def test_a_rate_of_less_than_the_channel_is_named(
    tmp_path: Path, rate: str, width: int, is_named: bool
) -> None:

    text = scenario_of([written(tmp_path, dump(rate))])

    assert tomllib.loads(text)["phy"]["channel_width"] == f"{width} MHz"
    assert ("not the rate of its MCS" in text.replace("\n#  ", "")) == is_named


@pytest.mark.parametrize(("spent_us", "share"), [(0, None), (5_000_000, 0.1)])
def test_a_driver_that_counts_no_airtime_is_not_idle(
    tmp_path: Path, spent_us: int, share: float | None
) -> None:
    told = "Station 02:00:00:00:00:02 (on wlan0)\n\tconnected time:\t50 seconds\n"
    told += f"\ttx duration:\t{spent_us} us\n\trx duration:\t0 us\n"

    found = measurement_of(written(tmp_path, told)).values.get("station", {})
    assert (found["airtime_share"].mean if found else None) == share
