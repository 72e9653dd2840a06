"""The tables of options of foreign programs: complete, and with one verdict for one thing."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from airtcp.exceptions import ScenarioError
from airtcp.importer.options import options_of
from imported import scenario_of

#: Options of a command by the key of the JSON that tells of them.
KEYS = {
    "--udp": "start.test_start.protocol",
    "--bitrate": "start.test_start.target_bitrate",
    "--bandwidth": "start.test_start.target_bitrate",
    "--fq-rate": "start.test_start.fqrate",
    "--length": "start.test_start.blksize",
    "--parallel": "start.test_start.num_streams",
    "--reverse": "start.test_start.reverse",
    "--bidir": "start.test_start.bidir",
    "--tos": "start.test_start.tos",
    "--dscp": "start.test_start.tos",
    "--window": "start.sock_bufsize",
    "--congestion": "end.sender_tcp_congestion",
    "--linux-congestion": "end.sender_tcp_congestion",
    "--set-mss": "start.tcp_mss",
    "--time": "start.test_start.duration",
    "--bytes": "start.test_start.bytes",
    "--blockcount": "start.test_start.blocks",
    "--omit": "start.test_start.omit",
    "--mptcp": "start.test_start.mptcp",
    "--gsro": "start.test_start.gsro",
    "--file": "end.streams.diskfile",
    "--get-server-output": "server_output_json",
    "--interval": "start.test_start.interval",
    "--title": "title",
    "--extra-data": "extra_data",
    "--zerocopy": "start.test_start.zerocopy",
    "--skip-rx-copy": "start.test_start.skip_rx_copy",
    "--repeating-payload": "start.test_start.repeating_payload",
    "--flowlabel": "start.test_start.flowlabel",
    "--dont-fragment": "start.test_start.dont_fragment",
}
#: What 3.13 to 3.21 added to the options of 3.12.
SINCE_3_12 = "json-stream json-stream-full-output cntl-ka mptcp server-max-duration skip-rx-copy"
SINCE_3_12 += " use-pkcs1-padding gsro"


def test_options_of_a_command_have_the_verdict_of_their_key(tmp_path: Path) -> None:
    command, keys = options_of("iperf3-command"), options_of("iperf3")

    for option, key in KEYS.items():
        assert command[option].verdict == keys[key].verdict
    about = ("followed", "named")
    told = {name for name, one in command.items() if one.verdict in about}
    assert told - set(KEYS) == {"--json", "--json-stream", "--json-stream-full-output"}
    assert {f"--{one}" for one in SINCE_3_12.split()} <= set(command)
    path = tmp_path / "iperf3.json"
    path.write_text('{"start": {"test_start": {"protocol": "SCTP"}}}')
    with pytest.raises(ScenarioError, match="SCTP"):
        scenario_of([path])


@pytest.mark.skipif(shutil.which("iperf3") is None, reason="iperf3 is missing")
def test_the_table_has_every_option_of_the_iperf3_that_is_here() -> None:
    done = subprocess.run(["iperf3", "--help"], capture_output=True, text=True, check=False)
    found = set(re.findall(r"(?m)^  (?:-\w, )?(--[a-z][\w-]+)", done.stdout))

    assert len(found) > 50
    assert found <= set(options_of("iperf3-command"))


@pytest.mark.parametrize(("first", "second"), [(184, 0), (0, 184), (32, 192)])
def test_tests_at_once_with_different_marks_share_a_category(
    tmp_path: Path, first: int, second: int
) -> None:
    paths = []
    for tos, reverse in ((first, 0), (second, 1)):
        test = {"protocol": "TCP", "num_streams": 1, "reverse": reverse, "tos": tos}
        sums = {"seconds": 2.0, "bits_per_second": 5e6}
        start = {"test_start": test, "timestamp": {"timesecs": 1_795_868_451}}
        paths.append(tmp_path / f"{reverse}.json")
        paths[-1].write_text(json.dumps({"start": start, "end": {"sum_received": sums}}))

    text = scenario_of(paths)

    assert len(tomllib.loads(text)["flows"]) == 2
    assert "[mac.classify]" not in text
    assert f"1.json: start.test_start.tos = {second}: AC_" in text
    alone = tomllib.loads(scenario_of(paths[:1]))
    assert ("mac" in alone) == (first > 0)


def test_a_test_of_less_than_a_millisecond_is_refused_by_its_own_key(tmp_path: Path) -> None:
    test = {"protocol": "TCP", "num_streams": 1, "reverse": 1, "bytes": 1_048_576}
    sums = {"seconds": 0.000372, "bits_per_second": 3e9}
    path = tmp_path / "iperf3.json"
    path.write_text(json.dumps({"start": {"test_start": test}, "end": {"sum_received": sums}}))

    with pytest.raises(ScenarioError) as caught:
        scenario_of([path])
    assert caught.value.key == "end.sum_received.seconds"
