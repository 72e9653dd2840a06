"""The tables of options of foreign programs: complete, and with consistent verdicts."""

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

#: Options of a command by the JSON key that reports them; most are in `start.test_start`.
IN_TEST = {
    "protocol": "udp", "target_bitrate": "bitrate bandwidth", "fqrate": "fq-rate",
    "blksize": "length", "num_streams": "parallel", "reverse": "reverse", "bidir": "bidir",
    "tos": "tos dscp", "duration": "time", "bytes": "bytes", "blocks": "blockcount", "omit": "omit",
    "mptcp": "mptcp", "gsro": "gsro", "interval": "interval", "zerocopy": "zerocopy",
    "skip_rx_copy": "skip-rx-copy", "repeating_payload": "repeating-payload",
    "flowlabel": "flowlabel", "dont_fragment": "dont-fragment",
}  # fmt: skip
KEYS = {f"start.test_start.{key}": options for key, options in IN_TEST.items()} | {
    "start.sock_bufsize": "window", "end.sender_tcp_congestion": "congestion linux-congestion",
    "start.tcp_mss": "set-mss", "end.streams.diskfile": "file", "title": "title",
    "server_output_json": "get-server-output", "extra_data": "extra-data",
}  # fmt: skip
#: Options that versions 3.13 to 3.21 added.
SINCE_3_12 = "json-stream json-stream-full-output cntl-ka mptcp server-max-duration skip-rx-copy"
SINCE_3_12 += " use-pkcs1-padding gsro"


def test_options_of_a_command_have_the_verdict_of_their_key() -> None:
    command, keys = options_of("iperf3-command"), options_of("iperf3")

    known = {f"--{option}": key for key, options in KEYS.items() for option in options.split()}
    for option, key in known.items():
        assert command[option].verdict == keys[key].verdict
    about = ("followed", "named")
    told = {name for name, one in command.items() if one.verdict in about}
    assert told - set(known) == {"--json", "--json-stream", "--json-stream-full-output"}
    assert {f"--{one}" for one in SINCE_3_12.split()} <= set(command)


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
