"""Queues: disciplines, the parameters of random early detection, and the time of its packet."""

import json

import pytest
from airtcp.scenario import PlainQueue, Red, RedQueue, ResolvedScenario, loads

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


@pytest.mark.parametrize("discipline", ["fifo", "per-flow"])
def test_plain_queues(discipline: str) -> None:
    written = f'{{ discipline = "{discipline}", limit = 7 }}'

    found = scenario(ap=written)

    assert found.ap.queue == PlainQueue(discipline=discipline, limit=7)
    assert found.group("near").queue == PlainQueue(discipline="fifo", limit=None)
    assert json.loads(found.to_json())["ap"]["queue"] == {"discipline": discipline, "limit": 7}


def test_early_detection_by_default_is_that_of_its_inventors() -> None:
    found = scenario(ap='{ discipline = "red" }').ap.queue

    # 192 us and 12288 bits at 11 Mb/s, SIFS, 192 us and 112 bits at 2 Mb/s.
    idle = (192 + 1118 + 10 + 192 + 56) * 1000
    assert found == RedQueue(
        discipline="red",
        limit=None,
        red=Red(
            min_threshold=5.0,
            max_threshold=15.0,
            max_probability=0.02,
            weight=0.002,
            idle_packet_time_ns=idle,
        ),
    )


def test_every_parameter_of_early_detection_may_be_given() -> None:
    written = (
        '{ discipline = "red", limit = 60, min_threshold = 10, max_threshold = 40.5, '
        "max_probability = 1, weight = 0.01 }"
    )

    queue = scenario(far=written).group("far").queue

    assert isinstance(queue, RedQueue)
    assert (queue.limit, queue.red.min_threshold, queue.red.max_threshold) == (60, 10.0, 40.5)
    assert (queue.red.max_probability, queue.red.weight) == (1.0, 0.01)
    # At the rates of the group: 12288 bits at 2 Mb/s.
    assert queue.red.idle_packet_time_ns == (192 + 6144 + 10 + 192 + 56) * 1000


def test_idle_packets_have_rts_and_qos_where_all_have_them() -> None:
    red = '{ discipline = "red" }'

    plain = scenario(ap=red).ap.queue
    rts = scenario(ap=red, mac='rts_threshold = "0 B"').ap.queue
    qos = scenario(ap=red, mac="edca = {}").ap.queue

    assert isinstance(plain, RedQueue)
    assert isinstance(rts, RedQueue)
    assert isinstance(qos, RedQueue)
    # An RTS of 160 bits, a CTS of 112, two SIFS.
    extra = rts.red.idle_packet_time_ns - plain.red.idle_packet_time_ns
    assert extra == (192 + 80 + 192 + 56 + 20) * 1000
    # 12304 bits at 11 Mb/s are 1118.5 us, 12288 are 1117.1: a microsecond more.
    assert qos.red.idle_packet_time_ns - plain.red.idle_packet_time_ns == 1000
