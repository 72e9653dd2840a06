"""Site surveys, iw and ping: cells with received powers, rates of stations, round trips."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from airtcp.exceptions import ScenarioError
from airtcp.importer.files import measurement_of
from airtcp.importer.scans import band_of
from airtcp.scenario import loads
from bases import refused, said
from imported import read, scenario_of, written

PLANNED = """Place,SSID,BSSID,Channel,Signal (dBm),Width,PHY Mode
Hall,office,02:00:00:00:00:01,36,-45,80,a/n/ac/ax
Hall,office,02:00:00:00:00:02,36,-70,80,a/n/ac/ax
Hall,cafe,02:00:00:00:00:03,36,-80,80,a/n/ac
Desk,office,02:00:00:00:00:01,36,-68,80,a/n/ac/ax
Desk,office,02:00:00:00:00:02,36,-52,80,a/n/ac/ax
Desk,far,02:00:00:00:00:04,36,-97,80,a/n/ac
"""
SCAN = """BSS 02:00:00:00:00:01(on wlan0) -- associated
\tTSF: 1 usec (0d, 00:00:00)
\tfreq: 5180
\tbeacon interval: 100 TUs
\tsignal: -48.00 dBm
\tSSID: office
\tHT capabilities:
\t\tCapabilities: 0x9ef
\tHT operation:
\t\t * primary channel: 36
\t\t * secondary channel offset: above
\tVHT capabilities:
\t\tVHT Capabilities (0x1):
\tVHT operation:
\t\t * channel width: 1 (80 MHz)
BSS 02:00:00:00:00:09(on wlan0)
\tfreq: 5180
\tsignal: -71.00 dBm
\tSSID: next door
\tHT capabilities:
BSS 02:00:00:00:00:0a(on wlan0)
\tfreq: 2437
\tsignal: -60.00 dBm
\tSSID: other band
BSS 02:00:00:00:00:0b(on wlan0)
\tfreq: 2412
\tsignal: -65.00 dBm
\tSSID: other band
"""
STATIONS = """Station 02:00:00:00:00:02 (on wlan0)
\trx bytes:\t2177584017
\ttx packets:\t1000
\ttx retries:\t250
\ttx failed:\t3
\ttx bitrate:\t1080.6 MBit/s 80MHz HE-MCS 10 HE-NSS 2 HE-GI 0 HE-DCM 0
\ttx duration:\t4000000 us
\trx duration:\t1000000 us
\tsignal:  \t-59 dBm
\tconnected time:\t50 seconds
Station 02:00:00:00:00:03 (on wlan0)
\ttx bitrate:\t65.0 MBit/s MCS 7
\tsignal:  \t-70 [-72, -73] dBm
"""
CHANNELS = """Survey data from wlan0
\tfrequency:\t\t\t5180 MHz [in use]
\tnoise:\t\t\t\t-95 dBm
\tchannel active time:\t\t1000 ms
\tchannel busy time:\t\t450 ms
\tchannel receive time:\t\t300 ms
\tchannel transmit time:\t\t100 ms
"""


SURVEY = "SSID,BSSID,Channel,RSSI\na,02:00:00:00:00:01,36,-50\n"


def powers(found: dict[str, Any]) -> dict[tuple[str, str], float]:
    return {(one, other): dbm for one, other, dbm in found["air"]["received"]}


def test_a_survey_becomes_cells_with_received_powers(tmp_path: Path) -> None:
    found = read(tmp_path, PLANNED)
    assert found["phy"] == {"standard": "802.11ax", "band": "5 GHz", "channel_width": "80 MHz"}
    # An access point below the noise floor is ignored.
    assert found["cells"] == {f"ap-{n}": {"channel": 36} for n in (1, 2, 3)}
    assert [one["cell"] for one in found["stations"]] == ["ap-1", "ap-2", "ap-3"]
    # Next to ap-1, ap-2 is received at -70 dBm; next to ap-2, ap-1 at -68 dBm.
    told = {("ap-1", "place-1"): -45, ("ap-2", "place-1"): -70, ("ap-2", "place-2"): -52}
    assert powers(found).items() >= (told | {("ap-1", "ap-2"): -68}).items()


def test_a_scan_is_a_survey_of_one_place(tmp_path: Path) -> None:
    text = scenario_of([written(tmp_path, SCAN, "scan.txt")])
    found = tomllib.loads(text)
    assert found["phy"] == {"standard": "802.11ac", "band": "5 GHz", "channel_width": "80 MHz"}
    heard = powers(found)
    assert (heard["ap-1", "place-1"], heard["ap-2", "place-1"]) == (-48, -71)
    assert ": 2 access points" in text
    loads(text)


NETSH = """
Schnittstellenname : WLAN
Momentan sind 2 Netzwerke sichtbar.

SSID 1 : office
    Netzwerktyp             : Infrastruktur
    Authentifizierung       : WPA2-Personal
    Verschl\u00fcsselung         : CCMP
    BSSID 1                 : 02:00:00:00:00:01
         Signal             : 92%
         Funktyp            : 802.11ac
         Band               : 5 GHz
         Kanal              : 36
         BSS-Last:
             Verbundene Stationen:       6
             Kanalauslastung:            33 (12 %)
         Basisraten (MBit/s)   : 6 12 24
    BSSID 2                 : 02:00:00:00:00:02
         Signal             : 60%
         Funktyp            : 802.11n
         Kanal              : 36

SSID 2 : next door
    BSSID 1                 : 02:00:00:00:00:09
         Signal             : 40%
         Rssi               : -76
         Funktyp            : 802.11ax
         Kanal              : 36
"""
NMCLI = """IN-USE  BSSID              SSID       MODE   CHAN  RATE        SIGNAL  BARS  SECURITY
*       02:00:00:00:00:01  office     Infra  36    540 Mbit/s  90      \u2582\u2584_   WPA2
        02:00:00:00:00:02  office     Infra  36    540 Mbit/s  50      \u2582\u2584\u2586_  WPA2
        02:00:00:00:00:09  next door  Infra  36    130 Mbit/s  40      \u2582\u2584__  --
        02:00:00:00:00:0A  --         Infra  6     130 Mbit/s  30      \u2582\u2584__  --
"""
TERSE = """*:02\\:00\\:00\\:00\\:00\\:01:office:Infra:36:5180 MHz:540 Mbit/s:90:WPA2
 :02\\:00\\:00\\:00\\:00\\:02:office:Infra:36:5180 MHz:540 Mbit/s:50:WPA2
 :02\\:00\\:00\\:00\\:00\\:09::Infra:36:5180 MHz:130 Mbit/s:40:
"""


@pytest.mark.parametrize(("text", "standard", "heard"), [
    # Windows without an RSSI line: power in dBm = percent / 2 - 100.
    (NETSH, "802.11ac", {"ap-1": -54.0, "ap-2": -70.0, "ap-3": -76.0}),
    # NetworkManager: 0 % is -100 dBm, 100 % is -40 dBm.
    (NMCLI, "802.11ax", {"ap-1": -46.0, "ap-2": -70.0, "ap-3": -76.0}),
    (NMCLI.replace("CHAN", "KANAL").replace("MODE", "MODUS"), "802.11ax", {"ap-1": -46.0}),
    (TERSE, "802.11ax", {"ap-1": -46.0, "ap-2": -70.0, "ap-3": -76.0}),
    (TERSE.replace(":5180 MHz", ""), "802.11ax", {"ap-1": -46.0, "ap-2": -70.0, "ap-3": -76.0}),
    # The frequency says which of two numbers is the channel.
    (re.sub(r":36:(5180 MHz):(.*?):(\d+):", r":\3:\1:\2:36:", TERSE), "802.11ax",
     {"ap-1": -46.0, "ap-2": -70.0, "ap-3": -76.0}),
])  # fmt: skip
def test_scans_in_percent_are_powers(
    tmp_path: Path, text: str, standard: str, heard: dict[str, float]
) -> None:
    path = written(tmp_path, text)
    scenario = scenario_of([path])
    found = tomllib.loads(scenario)

    assert found["phy"]["standard"] == standard
    assert found["phy"]["band"] == "5 GHz"
    assert found["cells"] == {f"ap-{n}": {"channel": 36} for n in (1, 2, 3)}
    at_place = {one: dbm for (one, other), dbm in powers(found).items() if other == "place-1"}
    assert heard.items() <= at_place.items()
    assert "powers: in percent" in scenario
    assert not re.search("office|next door|02:00", scenario)
    path.write_bytes(text.encode("cp1252", errors="ignore") if text is NETSH else text.encode())
    assert tomllib.loads(scenario_of([path])) == found


def test_the_band_of_a_scan_in_6_ghz_is_that_of_its_frequency(tmp_path: Path) -> None:
    wide = "BSSID              SSID    CHAN  FREQ      BANDWIDTH  SIGNAL\n"
    row = "02:00:00:00:00:01  office  5     5975 MHz  160 MHz    60\n"
    phy = read(tmp_path, wide + row)["phy"]
    assert phy == {"standard": "802.11ax", "band": "6 GHz", "channel_width": "160 MHz"}
    windows = NETSH.replace("5 GHz", "6 GHz").replace("802.11ac", "802.11ax")
    windows = windows.replace("Kanal              : 36", "Kanal : 37", 1)
    assert read(tmp_path, windows)["phy"]["band"] == "6 GHz"


@pytest.mark.parametrize(("text", "key", "says"), [
    ("\nSSID 1 : office\n    Netzwerktyp : Infrastruktur\n", "", "run netsh with mode=bssid"),
    (NETSH.replace("92%", "192%"), "line 9: signal", "0 to 100 %"),
    (NETSH.replace(": 36", ": none"), "line 9: channel", "is missing"),
    (NMCLI.replace(" 90  ", " 900 "), "line 2: signal", "0 to 100 %"),
    (NMCLI.replace(":09 ", ":zz "), "line 4: bssid", "is not a MAC address"),
    (NMCLI + "*  short\n", "line 6", "fewer columns"),
    (TERSE.replace(":36:", "::", 1).replace(":90:", "::", 1), "line 1", "-f BSSID"),
    (SURVEY.replace(":01,", ":zz,"), "line 2: bssid", "."),
    (SURVEY.replace(",36,", ",0,"), "line 2: channel", "."),
    (SURVEY.replace("-50", "50"), "line 2: rssi", "."),
    (SURVEY.replace("-50", "-95"), "", "."),
])  # fmt: skip
def test_wrong_lines_of_scans_are_named(tmp_path: Path, text: str, key: str, says: str) -> None:
    with pytest.raises(ScenarioError, match=says) as caught:
        read(tmp_path, text)
    assert caught.value.key == key


def test_a_station_dump_gives_rates(tmp_path: Path) -> None:
    found = read(tmp_path, STATIONS)

    first, second = found["stations"]
    assert found["phy"]["standard"] == "802.11ax"
    assert (first["mcs"], first["spatial_streams"], first["channel_width"]) == (10, 2, "80 MHz")
    assert (second["mcs"], second["spatial_streams"], second["channel_width"]) == (7, 1, "20 MHz")
    assert [flow["stations"] for flow in found["flows"]] == ["station", "station-2"]
    link = STATIONS.partition("Station 02:00:00:00:00:03")[0]
    link = link.replace("Station 02:00:00:00:00:02", "Connected to 02:00:00:00:00:01")
    assert [one["mcs"] for one in read(tmp_path, link)["stations"]] == [10]


def test_stations_of_a_dump_have_their_own_standard_and_guard_interval(tmp_path: Path) -> None:
    rates = (
        "866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2",
        "300.0 MBit/s MCS 15 40MHz short GI",
        "6.0 MBit/s",
        "65.0 MBit/s MCS 7",
    )
    dump = "".join(
        f"Station 02:00:00:00:00:{n:02x} (on wlan0)\n\ttx bitrate:\t{rate}\n"
        for n, rate in enumerate(rates)
    )
    # The last frame of an idle station was a management frame.
    dump += "Station 02:00:00:00:00:10 (on wlan0)\n\ttx bitrate:\t6.0 MBit/s\n"
    dump += "\trx bitrate:\t780.0 MBit/s VHT-MCS 8 80MHz short GI VHT-NSS 2\n"
    found = read(tmp_path, dump)["stations"]

    assert [one.get("standard") for one in found] == [None, "802.11n", "802.11a", "802.11n", None]
    assert found[2]["data_rate"] == "6 Mb/s"
    guards = [one.get("guard_interval") for one in found]
    assert guards == ["400 ns", "400 ns", None, "800 ns", "400 ns"]
    assert (found[4]["mcs"], found[4]["spatial_streams"]) == (8, 2)


@pytest.mark.parametrize(
    ("old", "new", "band", "width"),
    [
        ("80 MHz)", "80 MHz)\n\t\t * center freq segment 1: 42\n"
         "\t\t * center freq segment 2: 50", "5 GHz", "160 MHz"),
        ("5180", "5955", "6 GHz", "80 MHz"),
        ("5180", "2412", "2.4 GHz", "40 MHz"),
    ],
)  # fmt: skip
def test_a_scan_tells_band_and_width(
    tmp_path: Path, old: str, new: str, band: str, width: str
) -> None:
    text = SCAN.replace("VHT capa", "HE capa") if band == "6 GHz" else SCAN
    phy = read(tmp_path, text.replace(old, new))["phy"]
    assert (phy["band"], phy["channel_width"]) == (band, width)


@pytest.mark.parametrize("band", ["6 GHz", "2.4 GHz"])
def test_the_band_of_a_survey_decides_where_channels_have_the_same_number(
    tmp_path: Path, band: str
) -> None:
    text = f"SSID,BSSID,RSSI,Channel,Band,Mode\noffice,02:00:00:00:00:01,-50,5,{band},ax\n"
    told = scenario_of([written(tmp_path, text)])
    assert f'band = "{band}"' in told
    assert "has no channel width" in told


def test_a_station_dump_beside_a_configuration_is_of_its_radio(tmp_path: Path) -> None:
    found = read(tmp_path, "hw_mode=a\nchannel=36\nieee80211n=1\nieee80211ac=1\n", STATIONS)

    assert found["phy"]["standard"] == "802.11ac"
    # 802.11ac has no MCS 10, so the first station gets no MCS.
    assert ["mcs" in one for one in found["stations"]] == [False, True]


def test_retries_rates_and_airtime_are_measured(tmp_path: Path) -> None:
    told = measurement_of(written(tmp_path, STATIONS))

    # Airtime: (4 s + 1 s) / 50 s. Retries: 250 of 1250 frames.
    assert told.values["station"]["airtime_share"].mean == pytest.approx(0.1)
    assert "importer.iw.retries" in map(said, told.others)
    assert not any("02:00" in one for one in told.others)


def test_a_survey_of_channels_is_measured(tmp_path: Path) -> None:
    others = "".join(
        CHANNELS.replace("5180 MHz [in use]", f"{mhz} MHz") for mhz in range(5200, 5209)
    )
    (line,) = measurement_of(written(tmp_path, others + CHANNELS)).others

    assert all(part in line for part in ("5180 MHz", "45.0%", "10.0%", "30.0%"))
    assert len(measurement_of(written(tmp_path, others)).others) == 5


def test_two_sources_of_stations_are_refused(tmp_path: Path) -> None:
    with refused("importer.files.second_stations"):
        read(tmp_path, STATIONS, SCAN)
    test = {"start": {"test_start": {"protocol": "TCP"}}}
    with refused("importer.files.survey_and_test"):
        read(tmp_path, PLANNED, json.dumps(test))


#: One access point on channel 36 at -47 dBm as each program exports it, and the file's width.
FORMS = {
    "WiFi Explorer": ("Network Name,BSSID,Signal,Channel\n"
                      'a,02:00:00:00:00:01,-47 dBm,"36,+1 (5 GHz)"\n', 40),
    "Ekahau": ("Access Point,MAC Address,Channel,Signal Strength (dBm)\n"
               "AP1,02:00:00:00:00:01,36@80,-47\n", 80),
    "inSSIDer": ("SSID,MAC Address,RSSI,Channel\na,02-00-00-00-00-01,-47,36+40\n", 40),
    "four channels": ("SSID,BSSID,RSSI,Channel\na,02:00:00:00:00:01,-47,36+40+44+48\n", 80),
    "German": ("SSID;BSSID;Kanal;RSSI\na;02:00:00:00:00:01;36;-47,0\n", 20),
    "Android": ("ssid,bssid,frequency,level\na,02:00:00:00:00:01,5180,-47\n", 20),
    "wpa_cli": ("bssid / frequency / signal level / flags / ssid\n"
                "02:00:00:00:00:01\t5180\t-47\t[ESS]\ta\n", 20),
    "Kismet": ("Network;ESSID;BSSID;Channel;BestSignal\n1;a;02:00:00:00:00:01;36;-47\n", 20),
    # The percent column comes before the dBm column.
    "Vistumbler": ("SSID,BSSID,SIGNAL,RSSI,CHANNEL\na,02:00:00:00:00:01,90,-47,36\n", 20),
    "two readings": ("SSID,BSSID,RSSI,Channel,Width\na,02:00:00:00:00:01,-44,36,80\n"
                     "a,02:00:00:00:00:01,-50,36,80\n", 80),
    "airport": ("            SSID BSSID             RSSI CHANNEL HT CC SECURITY\n"
                "      my network 02:00:00:00:00:01 -47  36,80   Y  DE WPA2(PSK/AES/AES)\n", 80),
    "Macintosh": ("SSID,BSSID,RSSI,Channel\ra,02:00:00:00:00:01,-47,36\r", 20),
    "dashes": ("SSID;BSSID;Channel;RSSI\nnet;02-00-00-00-00-01;36;-47 dBm\n", 20),
    "tabs": ("BSSID\tCh\tSignal\tSSID\n02:00:00:00:00:01\t36\t-47\tnet\n", 20),
    "quotes": ('"Network Name","MAC Address","Channel","Signal Strength"\n'
               '"net","02:00:00:00:00:01","36 (5)","-47,0"\n', 20),
    "a place": ("Location,X (m),Y (m),BSSID,SSID,Channel Number,RSSI (dBm)\n"
                "a,1,2,02:00:00:00:00:01,net,36,-47\n", 20),
    "level": ("AP MAC,ESSID,Primary Channel,Level\n02:00:00:00:00:01,net,36,-47\n", 20),
    "airodump": ("\nBSSID, First time seen, channel, Speed, Power, ESSID, Key\n"
                 "02:00:00:00:00:01, 2026-01-01 10:00:00, 36, 866, -47, office, \n\n"
                 "Station MAC, First time seen, Power, # packets, BSSID\n"
                 "02:00:00:00:00:09, 2026-01-01 10:00:00, -50, 10, 02:00:00:00:00:01,\n", 20),
    "acrylic": ("SSID;MAC Address;RSSI;Chan;Width;802.11\n"
                "office;02:00:00:00:00:01;-47;36+40;40;ac\n", 40),
    "iwlist": ("wlan0     Scan completed :\n          Cell 01 - Address: 02:00:00:00:00:01\n"
               "                    Frequency:5.18 GHz (Channel 36)\n"
               "                    Quality=60/70  Signal level=-47 dBm\n", 20),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_forms_of_surveys_say_the_same(tmp_path: Path, name: str) -> None:
    text, width = FORMS[name]

    found = read(tmp_path, text)

    assert found["cells"] == {"ap-1": {"channel": 36}}
    assert found["phy"]["channel_width"] == f"{width} MHz"
    assert found["air"]["received"] == [["ap-1", "place-1", -47.0]]


def test_access_points_without_a_name_may_be_of_several_networks(tmp_path: Path) -> None:
    powers_dbm = {("a", 1): -40, ("a", 2): -70, ("b", 1): -60, ("b", 2): -50}
    text = "Place,SSID,BSSID,Channel,RSSI\n" + "".join(
        f"{place},,02:00:00:00:00:0{ap},36,{dbm}\n" for (place, ap), dbm in powers_dbm.items()
    )

    assert [one["cell"] for one in read(tmp_path, text)["stations"][:2]] == ["ap-1", "ap-1"]


def test_the_twelve_strongest_access_points_are_cells(tmp_path: Path) -> None:
    text = "SSID,BSSID,Channel,RSSI\n"
    text += "".join(f"a,02:00:00:00:00:{n},36,-{n}\n" for n in range(50, 64))

    scenario = scenario_of([written(tmp_path, text)])

    assert len(tomllib.loads(scenario)["cells"]) == 12
    assert ": 2 access points weaker" in scenario


@pytest.mark.parametrize(("ssid", "channels"), [("net {}", [6]), ("own", [6, 11])])
def test_channels_that_overlap_in_part_are_counted(
    ssid: str, channels: list[int], tmp_path: Path
) -> None:
    """Channels 7 and 10 overlap channel 6.

    Channel 11 does not: its access point is a cell only if the SSID is the own network's.
    """
    text = "SSID,BSSID,Channel,RSSI\n" + "".join(
        f"{ssid.format(n)},02:00:00:00:00:{n:02},{n},-{40 + n}\n" for n in (6, 7, 10, 11)
    )

    scenario = scenario_of([written(tmp_path, text)]).replace("\n#  ", "")

    found = tomllib.loads(scenario)["cells"].values()
    assert [one["channel"] for one in found] == channels
    assert ": 2 access points" in scenario


@pytest.mark.parametrize(("channel", "ghz", "band"), [
    (1, 0, 2.4), (14, 0, 2.4), (16, 0, 5), (36, 0, 5), (37, 0, 6), (144, 0, 5), (149, 0, 5),
    (177, 0, 5), (181, 0, 6), (196, 0, 5), (200, 0, 6),
    # The frequency decides the band where two bands share a channel number.
    (5, 2.432, 2.4), (5, 5.975, 6), (184, 4.92, 5), (177, 5.885, 5), (1, 5.955, 6),
])  # fmt: skip
def test_a_channel_or_a_frequency_tells_the_band(channel: int, ghz: float, band: float) -> None:
    assert band_of(channel, ghz) == f"{band:g} GHz"


def test_points_of_a_zone_are_places_of_their_own(tmp_path: Path) -> None:
    text = "Zone,Point,x,BSSID,Channel,RSSI\n"
    text += "".join(f"hall,{n},{n},02:00:00:00:00:01,36,-{n}7\n" for n in (4, 5, 6))

    assert [row[2] for row in read(tmp_path, text)["air"]["received"][:3]] == [-47, -57, -67]


def test_a_driver_without_powers_receives_nothing(tmp_path: Path) -> None:
    text = "SSID,BSSID,Channel,Power\na,02:00:00:00:00:01,36,-1\nb,02:00:00:00:00:02,40,-60\n"

    assert read(tmp_path, text)["cells"] == {"ap-1": {"channel": 40}}
