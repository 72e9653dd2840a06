"""Names and addresses of a network stay out of scenarios, measurements, reports and messages."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from airtcp.cli.commands import app
from airtcp.exceptions import ScenarioError
from airtcp.importer.files import measurement_of
from airtcp.importer.source import without_addresses
from imported import scenario_of, written
from typer.testing import CliRunner

#: Private data in the files below: network name, hosts, interface, place, password, addresses.
PLANTED = re.compile(
    r"(?i)zebra|quokka|wombat|kitchen|hunter2|198\.51\.100|2001:db8|02[:-]?c0[:-]?ff[:-]?ee"
)
_SUMS: dict[str, Any] = {"seconds": 2.0, "bytes": 10**7, "bits_per_second": 4e7}
_START: dict[str, Any] = {
    "connected": [{"local_host": "198.51.100.7", "remote_host": "quokka.example"}],
    "accepted_connection": {"host": "2001:db8::7", "port": 5},
    "system_info": "Linux wombat",
    "cookie": "zebra",
    "connecting_to": {"host": "quokka.example", "port": 5201},
    "test_start": {"protocol": "TCP", "num_streams": 1, "blksize": 131072},
}
_IPERF3: dict[str, Any] = {
    "title": "zebra",
    "start": _START,
    "end": {"sum_sent": {**_SUMS, "retransmits": 0}, "sum_received": _SUMS},
    "server_output_text": "Accepted connection from 198.51.100.7",
}


def _flent(*names: str, **metadata: Any) -> str:
    about: dict[str, Any] = {
        "HOST": "quokka",
        "HOSTS": ["QUOKKA"],
        "LOCAL_HOST": "wombat",
        "NOTE": "zebra",
    }
    about |= {"IP_ADDRS": {"wombat": ["198.51.100.7"]}, "TITLE": "zebra", "LENGTH": 4, **metadata}
    values = {name: [25.0] * 20 for name in names}
    times = [0.2 * n for n in range(20)]
    return json.dumps({"version": 4, "x_values": times, "results": values, "metadata": about})


FILES: dict[str, str] = {
    "iperf3": json.dumps(_IPERF3),
    "iperf3 stream": "\n".join(
        json.dumps({"event": key, "data": _IPERF3[key]}) for key in ("start", "end")
    ),
    "iperf3 error": json.dumps({"start": _START, "error": "refused by 198.51.100.7, 2001:db8::7"}),
    "iperf3 host": json.dumps({"start": _START, "error": "no route to quokka.example"}),
    "flent": _flent("TCP download BE quokka", "TCP upload", "Ping (ms) ICMP quokka (extra)"),
    "flent's hosts": _flent("TCP upload BE 2001:db8::7", "Ping (ms) QUOKKA", "Ping (ms) quokka"),
    "flent's others": _flent("TCP upload::1", "UDP stream quokka", "HTTP latency::quokka"),
    "flent without TCP": _flent("UDP stream quokka", "Ping (ms) ICMP quokka"),
    "flent cut off": _flent("TCP upload quokka").replace("25.0, ", "", 1),
    "hostapd": "interface=wombat0\nssid=zebra\nbssid=02:c0:ff:ee:00:01\nhw_mode=g\nchannel=6\n"
    "ieee80211n=1\nwpa=2\nwpa_passphrase=hunter22\nrsn_pairwise=CCMP\nown_ip_addr=198.51.100.7\n"
    "nas_identifier=quokka\nfragm_threshold=800\nbss=wombat0_1\nssid=zebra-guest\n",
    "uci": "config wifi-device 'wombat'\n\toption macaddr '02:c0:ff:ee:00:01'\n\toption band 5g\n"
    "\toption channel 36\n\toption htmode VHT80\n\toption frag 800\n"
    "config wifi-iface 'zebra_guest'\n\toption device 'wombat'\n\toption mode ap\n"
    "\toption ssid 'zebra'\n\toption key 'hunter22'\n\toption encryption psk2\n"
    "config wifi-iface 'zebra_mesh'\n\toption device 'wombat'\n\toption mode mesh\n"
    "\toption mesh_id 'zebra'\n",
    "stations": "Station 02:c0:ff:ee:00:01 (on wombat)\n\ttx packets:\t1000\n\ttx retries:\t20\n"
    "\tsignal:  \t-59 dBm\n\ttx bitrate:\t72.2 MBit/s MCS 7 short GI\n",
    "link": "Connected to 02:c0:ff:ee:00:01 (on wombat)\n\tSSID: zebra\n\tfreq: 5180\n"
    "\ttx bitrate: 72.2 MBit/s MCS 7 short GI\n",
    "channels": "Survey data from wombat\n\tfrequency:\t5180 MHz [in use]\n"
    "\tchannel active time:\t1000 ms\n\tchannel busy time:\t450 ms\n",
    "ping": "PING quokka.example (198.51.100.7) 56(84) bytes of data.\n"
    "64 bytes from quokka.example (198.51.100.7): icmp_seq=1 ttl=60 time=21.0 ms\n"
    "From 198.51.100.9 icmp_seq=2 Destination Host Unreachable\n",
    "fping of two": "quokka : [0], 64 bytes, 12.5 ms (12.5 avg, 0% loss)\n"
    "wombat : [0], 64 bytes, 12.5 ms (12.5 avg, 0% loss)\n",
    "survey": "Place,SSID,BSSID,Channel,Signal (dBm)\nKitchen,zebra,02:c0:ff:ee:00:01,36,-45\n"
    "Kitchen,zebra-guest,02:c0:ff:ee:00:02,36,-55\n",
    "survey without": "Place,SSID,BSSID,Channel,Signal (dBm)\nKitchen,zebra,02:c0:ff:ee:1,36,-45\n",
    "scan": "BSS 02:c0:ff:ee:00:01(on wombat) -- associated\n\tfreq: 5180\n\tsignal: -48.00 dBm\n"
    "\tSSID: zebra\n",
    "netsh": "Interface name : Wombat\n\nSSID 1 : zebra\n    BSSID 1    : 02:c0:ff:ee:00:01\n"
    "         Signal   : 90%\n         Radio type : 802.11ac\n         Channel : 36\n",
    "nmcli": "IN-USE  BSSID              SSID   CHAN  SIGNAL\n"
    "*       02:C0:FF:EE:00:01  zebra  36    90\n",
    "nmcli cut off": "IN-USE  BSSID              SSID   CHAN  SIGNAL\n"
    "*       2:C0:FF:EE:00:01  zebra  36    90\n",
    "terse": "zebra:02\\:C0\\:FF\\:EE\\:00\\:01:36:90\n",
    "airport": "   SSID BSSID    RSSI CHANNEL HT\n  zebra 02:c0:ff:ee:00:01 -50  36,80  Y\n",
    "iwlist": "wombat     Scan completed :\n          Cell 01 - Address: 02:C0:FF:EE:00:01\n"
    "                    Frequency:5.18 GHz (Channel 36)\n"
    '                    Signal level=-40 dBm\n                    ESSID:"zebra"\n',
}


@pytest.mark.parametrize("kind", FILES)
def test_neither_scenario_nor_measurement_nor_message_has_a_name(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path, FILES[kind], "198.51.100.7.txt")
    came = 0

    for read in (lambda: scenario_of([path]), lambda: measurement_of(path)):
        try:
            said, came = repr(read()), came + 1
        except ScenarioError as error:
            said = f"{error.key}: {error.message}"
        assert not PLANTED.search(said), said

    assert came or re.search("error|host|without|cut off|of two", kind)


def test_a_report_has_no_name_and_the_legend_has_all(tmp_path: Path) -> None:
    stations = written(tmp_path, FILES["stations"], "stations.txt")
    tests = [written(tmp_path, FILES[one], one.split("'")[0]) for one in ("flent's others", "ping")]
    out, report = tmp_path / "out.toml", tmp_path / "report"
    invoke = CliRunner().invoke

    written_ = invoke(app, ["import", *map(str, [stations, *tests]), "--out", str(out)])
    short = ["--set", "run.duration=300 ms", "--set", "run.replications=2", "--out", str(report)]
    beside = [word for one in (stations, *tests) for word in ("--measured", str(one))]
    ran = invoke(app, ["run", str(out), *beside, *short, "--no-advice"])

    assert (written_.exit_code, ran.exit_code) == (0, 0), ran.output
    assert "02:c0:ff:ee:00:01" in written_.stderr
    texts = [one.read_text() for one in report.rglob("*") if one.suffix in (".html", ".json")]
    for text in (written_.stdout, out.read_text(), ran.stdout, ran.stderr, *texts):
        assert not PLANTED.search(text)
    assert any("UDP stream" in text for text in texts)


@pytest.mark.parametrize(("text", "wanted"), [
    ("192.0.2.7.json", "address.json"),
    ("ap-02-00-00-00-00-01.pcap", "ap-address.pcap"),
    ("no route to 2001:db8::1", "no route to address"),
    ("02:00:5E:00:53:01 left", "address left"),
    # Dates, times and versions are not addresses.
    ("rrul-2026-11-29T12:30:05.123456.flent.gz", "rrul-2026-11-29T12:30:05.123456.flent.gz"),
    ("iperf-3.12", "iperf-3.12"),
])  # fmt: skip
def test_addresses_in_names_of_files_and_messages_are_left_out(text: str, wanted: str) -> None:
    assert without_addresses(text) == wanted
