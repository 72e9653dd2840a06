"""`[mac.edca]` and `[mac.classify]`: written keys, defaults of the standard, contradictions."""

import re
from pathlib import Path

import pytest
from airtcp.exceptions import ScenarioError
from airtcp.scenario import ResolvedScenario, load, loads
from airtcp.scenario.keys.mac import AccessParameters, Classify, Edca

EVERY_KEY = Path(__file__).parents[1] / "scenarios" / "valid" / "every_key.toml"
US = 1000

SCENARIO = """
stations = [{{ name = "laptop", count = 2 }}]
flows = [{{ stations = "laptop", direction = "upload", application = {{ kind = "bulk" }} }}]
[phy]
standard = "{standard}"
{phy}
[mac]
"""


def scenario(mac: str, standard: str = "802.11b", phy: str = "") -> ResolvedScenario:
    return loads(SCENARIO.format(standard=standard, phy=phy) + mac)


def edca(mac: str, standard: str = "802.11b", phy: str = "") -> Edca:
    found = scenario(mac, standard, phy).mac.edca
    assert found is not None
    return found


def access(aifs_us: int, cw_min: int, cw_max: int, txop_us: int) -> AccessParameters:
    times = {"aifs_ns": aifs_us * US, "txop_limit_ns": txop_us * US}
    return AccessParameters(cw_min=cw_min, cw_max=cw_max, **times)


@pytest.mark.parametrize("written", ["[mac.edca]", "[mac.edca.ap]", "[mac.edca.stations.AC_BK]"])
def test_any_table_switches_it_on_and_the_standard_fills_in(written: str) -> None:
    # SIFS 10, slot 20: 10 + 20 AIFSN; windows of 31 and 1023.
    background = access(150, 31, 1023, 3264)
    assert edca(written) == Edca(
        ap={
            "AC_VO": access(30, 7, 15, 3264), "AC_VI": access(30, 15, 31, 6016),
            "AC_BE": access(70, 31, 127, 3264), "AC_BK": background,
        },
        stations={
            "AC_VO": access(50, 7, 15, 3264), "AC_VI": access(50, 15, 31, 6016),
            "AC_BE": access(70, 31, 1023, 3264), "AC_BK": background,
        },
    )  # fmt: skip


def test_ofdm_has_shorter_slots_windows_and_txops() -> None:
    # SIFS 16, slot 9, windows of 15 and 1023.
    assert edca("[mac.edca]", "802.11a").stations == {
        "AC_VO": access(34, 3, 7, 2080),
        "AC_VI": access(34, 7, 15, 4096),
        "AC_BE": access(43, 15, 1023, 2528),
        "AC_BK": access(79, 15, 1023, 2528),
    }
    assert edca("[mac.edca]", "802.11g").ap["AC_VO"] == access(19, 3, 7, 2080)


def test_a_key_left_out_of_a_category_takes_the_standards() -> None:
    found = load(EVERY_KEY).mac.edca
    # SIFS 11 us, slot 21 us, windows of 30 and 1000; quotients rounded down: 31 // 4 - 1,
    # 31 // 2 - 1; 4 x 31 - 1.
    assert found.ap == {
        "AC_VO": access(50, 0, 1, 5000),
        "AC_VI": access(11 + 3 * 21, 14, 30, 6016),
        "AC_BE": access(11 + 3 * 21, 15, 123, 3264),
        "AC_BK": access(11 + 7 * 21, 30, 255, 3264),
    }
    assert found.stations["AC_VO"] == access(11 + 2 * 21, 6, 14, 3264)
    assert found.stations["AC_BE"] == access(11 + 4 * 21, 30, 1000, 0)
    # 4 x 31 - 1 is above this aCWmax; a window of one slot has no smaller one.
    assert edca("[mac.edca]", phy="cw_min = 30\ncw_max = 100").ap["AC_BE"].cw_max == 100
    assert edca("[mac.edca]", phy="cw_min = 0").stations["AC_VO"] == access(50, 0, 0, 3264)


def test_a_data_frame_has_a_qos_control_field_unless_it_is_said_how_long_it_is() -> None:
    plain = scenario("")
    assert (plain.mac.edca, plain.phy.mac_header_bits) == (None, 224)
    assert plain.classify == Classify(tcp_ack="AC_BE", tcp_data="AC_BE", udp="AC_BE")
    assert scenario("[mac.edca]").phy.mac_header_bits == 224 + 16
    assert scenario("[mac.edca]", phy="mac_header_bits = 224").phy.mac_header_bits == 224


# An upload of 1500-byte packets at 11 Mb/s: 192 us and 12304 bits (QoS, LLC), SIFS, ACK.
OF_STATIONS = '[mac.edca.stations.AC_BE]\ntxop_limit = "'
UPLOAD_US = 192 + 1119 + 10 + 192 + 56


@pytest.mark.parametrize(
    ("mac", "short_of"),
    [
        (f'{OF_STATIONS}{UPLOAD_US} us"', None),
        (f'[mac.edca.stations.AC_BE]\ntxop_limit = "{UPLOAD_US - 1} us"', UPLOAD_US),
        ('[mac.edca.stations.AC_BE]\ntxop_limit = "0 us"', None),
        # Another category; and the access point's ACKs of 40 bytes, 624 bits.
        ('[mac.edca.stations.AC_VO]\ntxop_limit = "1 us"', None),
        ('[mac.edca.ap.AC_BE]\ntxop_limit = "507 us"', None),
        ('[mac.edca.ap.AC_BE]\ntxop_limit = "506 us"', 507),
        # Plus RTS, SIFS, CTS and SIFS.
        (f'rts_threshold = "0 B"\n{OF_STATIONS}{UPLOAD_US} us"', UPLOAD_US + 272 + 248 + 20),
    ],
)
def test_a_txop_has_room_for_a_frame(mac: str, short_of: int | None) -> None:
    if short_of is None:
        assert edca(mac)
        # Nothing fragments here: a frame longer than the TXOP limit gets its own TXOP.
        assert edca("[mac.edca]", phy='data_rate = "1 Mb/s"')
        return
    with pytest.raises(ScenarioError, match=r"txop_limit: is .* takes ") as caught:
        edca(mac)
    takes = re.search(r"takes (\S+) (ms|us) with", str(caught.value))
    microseconds = float(takes[1]) * (1000 if takes[2] == "ms" else 1)
    assert microseconds == pytest.approx(short_of, rel=1e-3)
