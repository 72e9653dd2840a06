"""Queues: disciplines, parameters of random early detection, and its idle packet time."""

from typing import Any

import pytest
from airtcp.scenario import ResolvedScenario, loads
from airtcp.scenario.keys.queue import AirtimeScheduler

SCENARIO = """
flows = [{{ stations = "near", direction = "upload", application = {{ kind = "bulk" }} }}]
[phy]
standard = "{standard}"
{phy}
[mac]
{mac}
[ap]
queue = {ap}
[[stations]]
name = "near"
count = 2
[[stations]]
name = "far"
count = 2
data_rate = "2 Mb/s"
queue = {far}
"""


def scenario(
    ap: str = "{}", far: str = "{}", standard: str = "802.11b", phy: str = "", mac: str = ""
) -> ResolvedScenario:
    return loads(SCENARIO.format(ap=ap, far=far, standard=standard, phy=phy, mac=mac))


PLAIN = {"mac_limit": None, "ack_filter": None}


def test_early_detection_by_default_is_that_of_its_inventors() -> None:
    found = scenario(ap='{ discipline = "red" }', far='{ discipline = "red" }')
    # 192 us and 12288 bits at 11 Mb/s, SIFS, 192 us and 112 bits at 2 Mb/s.
    idle = (192 + 1118 + 10 + 192 + 56) * 1000
    red = {"min_threshold": 5.0, "max_threshold": 15.0, "max_probability": 0.02, "weight": 0.002}
    red |= {"ecn": False, "idle_packet_time_ns": idle}
    whole = {"discipline": "red", "limit": None, **PLAIN, "red": red}
    assert found.ap.queue.model_dump() == whole
    # At the group's rates: 12288 bits at 2 Mb/s.
    slower = found.group("far").queue.red.idle_packet_time_ns
    assert slower == (192 + 6144 + 10 + 192 + 56) * 1000


def test_idle_packets_have_rts_and_qos_where_all_have_them() -> None:
    def idle_us(mac: str = "") -> float:
        return scenario('{ discipline = "red" }', mac=mac).ap.queue.red.idle_packet_time_ns / 1000

    # An RTS of 160 bits, a CTS of 112, two SIFS.
    assert idle_us('rts_threshold = "0 B"') - idle_us() == 192 + 80 + 192 + 56 + 20
    # 12304 bits at 11 Mb/s are 1118.5 us, 12288 are 1117.1: a microsecond more.
    assert idle_us("edca = {}") - idle_us() == 1


def test_codel_by_default_is_that_of_its_rfcs() -> None:
    """Defaults of RFC 8289, 4.3, and RFC 8290, 5.2: 5 ms, 100 ms, 10240 packets, 1514 bytes."""
    found = scenario('{ discipline = "fq-codel" }', '{ discipline = "codel", ack_filter = true }')
    codel: dict[str, Any] = {"target_ns": 5_000_000, "interval_ns": 100_000_000, "ecn": False}
    codel |= {"control_law": "square-root"}
    fq = {"quantum_bytes": 1514, "flows": None, "drop_batch": 64, "slow_below_bps": None}
    fq |= {"slow_target_ns": 20_000_000, "slow_interval_ns": 100_000_000}
    at_ap: dict[str, Any] = {
        "discipline": "fq-codel",
        "limit": 10_240,
        **PLAIN,
        "codel": codel,
        "fq": fq,
    }
    assert found.ap.queue.model_dump() == at_ap | {"codel": codel, "fq": fq}
    far: dict[str, Any] = {"discipline": "codel", "limit": None, "mac_limit": None, "codel": codel}
    assert found.group("far").queue.model_dump() == far | {"ack_filter": "conservative"}


@pytest.mark.parametrize("standard", ["802.11b", "802.11n"])
@pytest.mark.parametrize(
    ("written", "quantum_ns", "aql_ns"),
    [
        ('"airtime"', 300_000, None),
        ('{ kind = "airtime", quantum = "1 ms", aql = "5 ms" }', 1_000_000, 5_000_000),
    ],
)
def test_airtime_may_be_shared_in_any_standard(
    standard: str, written: str, quantum_ns: int, aql_ns: int | None
) -> None:
    text = SCENARIO.format(standard=standard, phy="", mac="", ap="{}", far="{}")
    if standard == "802.11n":
        text = text.replace('data_rate = "2 Mb/s"', "")
    found = loads(text.replace("[ap]", f"[ap]\nscheduler = {written}"))
    assert found.ap.scheduler == AirtimeScheduler(
        kind="airtime", quantum_ns=quantum_ns, aql_ns=aql_ns
    )
    assert found.group("near").airtime_weight == 256
