"""No prediction exceeds a window per round trip or the rate of a link, and it names the limit."""

from typing import Any

import pytest
from airtcp import predict, simulate
from airtcp.predict.limits import least_time_s, most_goodput
from airtcp.scenario import ResolvedScenario, loads
from bases import said
from wing import with_papers

BULK = '{ kind = "bulk" }'
UDP = '{ kind = "udp", packet = "1500 B", rate = "saturated" }'
SENT = {"application": UDP, "direction": "upload"}
#: The payload of a segment of 1460 bytes, and of a datagram, in 1500 bytes.
TCP_SHARE, UDP_SHARE = 1460 / 1500, 1472 / 1500


def scenario(
    *flows: dict[str, Any], standard: str = "802.11g", count: int = 1, links: str = ""
) -> ResolvedScenario:
    mcs = "mcs = 7\n" if standard == "802.11n" else ""
    text = f'[phy]\nstandard = "{standard}"\n{mcs}{links}'
    for i, flow in enumerate(flows):
        text += f'[[stations]]\nname = "g{i}"\ncount = {count}\n[[flows]]\nstations = "g{i}"\n'
        text += f'direction = "{flow.get("direction", "download")}"\n'
        text += f"application = {flow.get('application', BULK)}\n"
        if "path" in flow:
            text += f"path = [{flow['path']}]\n"
        if "window" in flow:
            text += f"tcp = {{ receive_window = {{ segments = {flow['window']} }} }}\n"
    return loads(text + '[run]\nwarmup = "3 s"\nduration = "6 s"\nreplications = 2\nseed = 1\n')


WINDOW, RATE = "at most a window a round trip", "at most the rate of a link"
SHARED = {"path": '"up"', "application": UDP, "direction": "upload"}
CAPPED = {
    "802.11g over 50 ms": (scenario({"path": '{ delay = "50 ms" }'}), WINDOW, 0.02),
    "a wire of 30 Mb/s under 802.11n": (
        scenario({"path": '{ rate = "30 Mb/s" }'}, standard="802.11n"), RATE, 0.01,
    ),
    "links of their own": (
        scenario({"path": '{ rate = "2 Mb/s" }', "direction": "upload"}, count=3), RATE, 0.01,
    ),
    "a link that saturated datagrams share": (
        scenario(SHARED, count=5, links='[links.up]\nrate = "9 Mb/s"\n'), RATE, 0.01,
    ),
}  # fmt: skip


@with_papers
@pytest.mark.parametrize("name", CAPPED)
def test_an_answer_that_paths_bound_is_near_the_simulation_and_says_so(name: str) -> None:
    asked, source, off = CAPPED[name]
    said, measured = predict(asked), simulate(asked).metrics
    for metric in ("goodput_bps", "flow_goodput_bps"):
        for entry in said.model[metric]:
            assert entry.source.endswith(source)
            assert entry.value == pytest.approx(measured[metric].mean, rel=off)
            assert entry.assumes[-1].startswith(
                ("a flow delivers at most", "links deliver at most")
            )
            assert not [text for text in entry.broken if "one-way delay" in text]
    if source == WINDOW:
        # The collision probability assumes saturation, which breaks because windows limit the flow.
        busy = said.best("collision_probability").broken
        assert any("a window a round trip is" in text for text in busy)


def test_a_window_that_bounds_802_11n_is_answered_by_its_rounds() -> None:
    asked = scenario({"path": '{ delay = "10 ms" }', "window": 60}, standard="802.11n")
    best, measured = predict(asked).best("goodput_bps"), simulate(asked).metrics["goodput_bps"]
    assert best.source == "TCP over A-MPDUs (A9)"
    assert best.value == pytest.approx(measured.mean, rel=0.02)


def test_windows_of_flows_add_up() -> None:
    """10 segments in 20 ms, and 20 in 50 ms: 2 stations each."""
    near = {"path": '{ delay = "10 ms" }', "window": 10}
    most = most_goodput(scenario(near, {"path": '{ delay = "25 ms" }', "window": 20}, count=2))
    assert most.bps == pytest.approx(2 * 1460 * 8 * (10 / 0.02 + 20 / 0.05))
    assert most.by_window


def test_a_link_is_shared_by_all_that_name_it_in_each_direction_for_itself() -> None:
    """2 stations down and 2 up: 8 Mb/s each way. The third pair of downloads has 1 Mb/s each."""
    links = '[links.up]\nrate = "8 Mb/s"\n'
    flows = [{"path": '"up"'}, {"path": '"up"', "direction": "upload"}]
    both = most_goodput(scenario(*flows, count=2, links=links))
    more = most_goodput(scenario(*flows, {"path": '{ rate = "1 Mb/s" }'}, count=2, links=links))
    alike = most_goodput(scenario(flows[0], flows[0], count=2, links=links))
    assert both.bps == pytest.approx(16e6 * TCP_SHARE)
    assert more.bps == pytest.approx(18e6 * TCP_SHARE)
    assert alike.bps == pytest.approx(8e6 * TCP_SHARE)
    # Datagrams have a larger payload share than TCP.
    mixed = most_goodput(scenario(flows[1], SHARED, links=links))
    assert mixed.bps == pytest.approx(8e6 * UDP_SHARE)
    # With several links the slowest one counts.
    slow = most_goodput(
        scenario({"path": '"up", "low"'}, links=f'{links}[links.low]\nrate = "3 Mb/s"\n')
    )
    assert slow.bps == pytest.approx(3e6 * TCP_SHARE)


def test_datagrams_have_no_window_and_without_a_path_nothing_is_bounded() -> None:
    assert most_goodput(scenario({})) is None
    # Transfers of FTP do not wait for each other.
    ftp = {"application": '{ kind = "ftp", size = "1 MB", interarrival = "1 s" }', "window": 10}
    assert most_goodput(scenario({**ftp, "path": '{ delay = "10 ms" }'})) is None
    assert most_goodput(scenario({**SENT, "path": '{ delay = "50 ms" }'})) is None
    most = most_goodput(scenario({**SENT, "path": '{ rate = "3 Mb/s" }'}))
    assert most.bps == pytest.approx(3e6 * UDP_SHARE)


@with_papers
def test_a_transfer_takes_what_its_link_takes() -> None:
    """1 MB at 1 Mb/s: 8 s plus headers; the channel alone would take half a second."""
    size = '{ kind = "bulk", size = { distribution = "deterministic", value = "1 MB" } }'
    asked = scenario({"application": size, "path": '{ rate = "1 Mb/s" }'})
    best, measured = predict(asked).best("transfer_time_s"), 8.0 / TCP_SHARE
    assert least_time_s(asked) == pytest.approx(measured)
    assert best.value == pytest.approx(measured)
    assert said(best.source) == "predict.limits.by_path"
    # Each window of 10 segments takes a round trip of 20 ms, except the last one.
    windows = scenario({"application": size, "path": '{ delay = "10 ms" }', "window": 10})
    assert least_time_s(windows) == pytest.approx((1e6 / 14_600 - 1) * 0.02)
