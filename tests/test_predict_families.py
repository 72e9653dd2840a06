"""Models beyond paper M and Bianchi: what they are asked with, and how near they come."""

import numpy as np
import pytest
from airtcp import models
from airtcp.models.airtime import Phy
from airtcp.models.leith import PAPER
from airtcp.predict import predict
from airtcp.results import Prediction
from airtcp.scenario import ResolvedScenario, loads
from airtcp.simulate import simulate

RUN = '[run]\nwarmup = "5 s"\nduration = "60 s"\nreplications = 4\n'
PHY = '[phy]\nstandard = "802.11b"\ncontrol_rate = "2 Mb/s"\n'
DATAGRAMS = '{{ kind = "udp", packet = "{packet} B", rate = "saturated" }}'


def values(said: Prediction, metric: str = "goodput_bps") -> dict[str, float]:
    answers = {}
    for entry in said.model[metric]:
        assert not isinstance(entry.value, list)
        answers[entry.source] = entry.value
    return answers


def broken(said: Prediction, source: str, metric: str = "goodput_bps") -> str:
    (entry,) = (one for one in said.model[metric] if one.source == source)
    return "\n".join(entry.broken)


def datagrams(mac: str = "", **groups: tuple[int, str, int]) -> ResolvedScenario:
    """Saturated UDP uploads: for each group its count, rate and packet; `ap` is a download."""
    text = PHY + mac
    for name, (count, rate, packet) in groups.items():
        if name != "ap":
            text += f'[[stations]]\nname = "{name}"\ncount = {count}\ndata_rate = "{rate}"\n'
        direction, of = ("download", "near") if name == "ap" else ("upload", name)
        text += (
            f'[[flows]]\nname = "{name}"\nstations = "{of}"\ndirection = "{direction}"\n'
            f"application = {DATAGRAMS.format(packet=packet)}\n"
        )
    return loads(text + RUN)


# Heusse et al.: the performance anomaly.


def test_one_slow_sender_takes_all_down_as_heusse_says() -> None:
    asked = datagrams(near=(4, "11 Mb/s", 1500), far=(1, "1 Mb/s", 1500))

    said, measured = predict(asked), simulate(asked)

    goodput = values(said)["Heusse et al. (2003), whole backoff"]
    assert goodput == pytest.approx(measured.metrics["goodput_bps"].mean, rel=0.06)
    # Every sender gets as many packets through as any other.
    jain = values(said, "jain_index")["Heusse et al. (2003), whole backoff"]
    assert jain == pytest.approx(1.0)
    assert measured.metrics["jain_index"].mean > 0.99


def test_shares_go_by_packets_not_by_time() -> None:
    # By the standard's rules the sender of the shorter of two frames that collided resumes first,
    # and gets a few per cent more packets through.
    rules = '[mac]\nrules = { preset = "bianchi" }\n'
    asked = datagrams(rules, near=(2, "11 Mb/s", 1500), small=(2, "11 Mb/s", 528))

    said, measured = predict(asked), simulate(asked)

    x = np.array([1472.0, 500.0])
    jain = values(said, "jain_index")["Heusse et al. (2003)"]
    assert jain == pytest.approx(x.sum() ** 2 / (2 * (x**2).sum()))
    assert measured.metrics["jain_index"].mean == pytest.approx(jain, rel=0.01)


def test_a_published_wait_is_named_as_half() -> None:
    said = predict(datagrams(near=(3, "11 Mb/s", 1500)))

    assert "half of what CWmin makes" in broken(said, "Heusse et al. (2003)")
    assert "half" not in broken(said, "Heusse et al. (2003), whole backoff")


# Paper G.


def test_simultaneous_send_counts_the_others() -> None:
    said = predict(datagrams(near=(3, "11 Mb/s", 1500), ap=(1, "", 1500)))

    told = values(said, "collision_probability")
    # Three uploads and the access point: N = 3, the 17.6 % of the paper (G1).
    assert told["G (1)"] == pytest.approx(0.1769, abs=1e-4)
    assert told["G (1), next transmission"] == pytest.approx(0.0615, abs=1e-4)
    assert "too high" in broken(said, "G (1)", "collision_probability")


# EDCA with AIFS classes.


def edca(ap: str, stations: str) -> str:
    return (
        f'[mac.edca.ap.AC_BE]\n{ap}\ntxop_limit = "0 us"\n'
        f'[mac.edca.stations.AC_BE]\n{stations}\ntxop_limit = "0 us"\n'
    )


@pytest.mark.parametrize(
    ("ap", "stations"),
    [
        ("aifsn = 2\ncw_min = 31\ncw_max = 1023", "aifsn = 3\ncw_min = 31\ncw_max = 1023"),
        ("aifsn = 2\ncw_min = 15\ncw_max = 63", "aifsn = 2\ncw_min = 31\ncw_max = 1023"),
        ("aifsn = 2\ncw_min = 15\ncw_max = 1023", "aifsn = 4\ncw_min = 63\ncw_max = 1023"),
    ],
)
def test_classes_that_contend_differently_are_predicted(ap: str, stations: str) -> None:
    asked = datagrams(edca(ap, stations), near=(5, "11 Mb/s", 1500), ap=(1, "", 1500))

    said, measured = predict(asked), simulate(asked).metrics

    assert said.uncovered is None
    for metric, bound in (
        ("goodput_bps", 0.03),
        ("jain_index", 0.05),
        ("collision_probability", 0.12),
        ("collision_probability_ap", 0.15),
        ("collision_probability_stations", 0.12),
    ):
        told = values(said, metric)["Ramaiyan et al. (2008)"]
        assert told == pytest.approx(measured[metric].mean, rel=bound), metric


def test_a_wait_that_is_no_whole_number_of_slots_is_said() -> None:
    said = predict(
        datagrams(
            edca('aifs = "50 us"', 'aifs = "55 us"'),
            near=(5, "11 Mb/s", 1500),
            ap=(1, "", 1500),
        )
    )

    assert said.uncovered is not None
    assert "differ by whole slots; here by 5 us" in said.uncovered


def test_an_access_point_that_always_goes_first_leaves_nothing() -> None:
    """Its only slot comes before the stations' AIFS: they starve, in model and simulation."""
    first = edca("aifsn = 2\ncw_min = 0\ncw_max = 0", "aifsn = 3\ncw_min = 31\ncw_max = 1023")
    asked = datagrams(first, near=(2, "11 Mb/s", 1500), ap=(1, "", 1500))

    said = predict(asked)

    # One download to each of two stations; both uploads get nothing.
    assert values(said, "jain_index")["Ramaiyan et al. (2008)"] == pytest.approx(0.5)
    assert values(said, "collision_probability_ap")["Ramaiyan et al. (2008)"] < 1e-12


# Paper L: uploads whose ACKs have priority.

PRIORITY = """
[mac.edca.ap.AC_VO]
aifs = "{ack_aifs}"
cw_min = {ack_cw}
cw_max = {ack_cw}
txop_limit = "0 us"
[mac.edca.stations.AC_BE]
aifs = "90 us"
cw_min = {cw_min}
cw_max = 1023
txop_limit = "0 us"
[mac.classify]
tcp_ack = "AC_VO"
"""
UPLOAD = """
[[flows]]
stations = "{stations}"
direction = "{direction}"
application = {{ kind = "bulk" }}
tcp = {{ mss = "1460 B", receive_window = {{ segments = {window} }}, delayed_ack = {{ every = {d} }}, min_rto = "200 ms"{aimd} }}
{path}
"""  # noqa: E501


def uploads(
    count: int = 5,
    *,
    d: int = 1,
    window: int = 40,
    cw_min: int = 31,
    ack_aifs: str = "50 us",
    ack_cw: int = 0,
    direction: str = "upload",
    mac: str = "",
    path: str = "",
    more: str = "",
) -> ResolvedScenario:
    priority = PRIORITY.format(ack_aifs=ack_aifs, ack_cw=ack_cw, cw_min=cw_min)
    flow = UPLOAD.format(
        stations="sta", direction=direction, window=window, d=d, path=path, aimd=""
    )
    stations = f'[[stations]]\nname = "sta"\ncount = {count}\n'
    return loads(PHY + mac + priority + stations + flow + more + RUN)


def test_prioritised_uploads_are_paper_l_s() -> None:
    asked = uploads(10, d=2)

    said = predict(asked)

    tcp = asked.flows[0].tcp
    assert tcp is not None
    times = models.leith.Parameters.from_resolved(
        asked.phy.model_dump(), tcp.model_dump(), aifs_ns=50_000
    )
    expected = models.leith.throughput(10, 32, 5, 2, times, PAPER, d=2)
    assert list(values(said)) == ["L (9)", "L (9), L4 and L5 corrected", "L, simplified model"]
    assert values(said)["L (9)"] == pytest.approx(float(expected.goodput_bps), rel=1e-12)
    assert values(said, "flow_goodput_bps")["L (9)"] == pytest.approx(values(said)["L (9)"] / 10)
    assert "several access categories" in said.unanswered["paper M"]


@pytest.mark.parametrize(("count", "d"), [(2, 1), (5, 1), (10, 1), (10, 2)])
def test_prioritised_uploads_are_near_the_simulation(count: int, d: int) -> None:
    asked = uploads(count, d=d)

    said, measured = predict(asked), simulate(asked).metrics

    # The paper's own reading is the nearest; what is left is EIFS and retries, which it names.
    assert values(said)["L (9)"] == pytest.approx(measured["goodput_bps"].mean, rel=0.03)
    assert values(said, "collision_probability_stations")["L (9)"] == pytest.approx(
        measured["collision_probability_stations"].mean, rel=0.1
    )
    assert measured["jain_index"].mean > 0.98


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"count": 20}, "40 % of frames collide"),
        ({"ack_cw": 7}, "a backoff of up to 7 slots"),
        ({"window": 1}, "the window is 1"),
        ({"window": 12, "path": 'path = [{ delay = "100 ms" }]'}, "segments are on their way"),
        ({"mac": '[mac]\nrts_threshold = "0 B"\n'}, "basic access; here RTS/CTS"),
        ({"mac": "[mac]\nshort_retry_limit = 2\n"}, "after 2 attempts"),
    ],
)
def test_what_paper_l_lacks_is_named(change: dict[str, object], words: str) -> None:
    said = predict(uploads(**change))  # type: ignore[arg-type]

    assert words in broken(said, "L (9)")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"ack_aifs": "130 us"}, "here they have none"),
        ({"ack_cw": 31, "ack_aifs": "90 us"}, "here they have none"),
        ({"ack_aifs": "65 us"}, "here 25000 ns"),
    ],
)
def test_acks_without_priority_are_none_of_paper_l_s(
    change: dict[str, object], reason: str
) -> None:
    said = predict(uploads(**change))  # type: ignore[arg-type]

    assert said.uncovered is not None
    assert reason in said.uncovered
    assert "contend alike" in said.uncovered


def test_downloads_with_priority_are_in_no_model() -> None:
    said = predict(uploads(direction="download"))

    assert said.model == {}
    assert "contend alike" in (said.uncovered or "")


# Paper L, section 5.1: the wired link is the bottleneck.

SHARED = '[links.uplink]\nrate = "{rate}"\ndelay = "{delay}"\nqueue = {queue}\n'


def wired(
    rate: str = "2 Mb/s",
    delay: str = "10 ms",
    queue: int = 40,
    window: int = 200,
    far: str = "",
    aimd: str = "",
    direction: str = "upload",
    mac: str = PRIORITY.format(ack_aifs="50 us", ack_cw=0, cw_min=31),
) -> ResolvedScenario:
    text = PHY + mac + SHARED.format(rate=rate, delay=delay, queue=queue)
    for name, extra, special in (("near", "", ""), ("far", far, aimd)):
        text += f'[[stations]]\nname = "{name}"\ncount = 1\n'
        more = f', {{ delay = "{extra}" }}' if extra else ""
        text += UPLOAD.format(
            stations=name,
            direction=direction,
            window=window,
            d=1,
            path=f'path = ["uplink"{more}]',
            aimd=special,
        )
    return loads(text + '[run]\nwarmup = "30 s"\nduration = "600 s"\nreplications = 4\n')


def test_equal_flows_share_a_wired_bottleneck_equally() -> None:
    asked = wired()

    said, measured = predict(asked), simulate(asked).metrics

    # 1460 of 1500 bytes are payload.
    assert next(iter(values(said).items())) == ("L, section 5.1", pytest.approx(2e6 * 1460 / 1500))
    assert values(said)["L, section 5.1"] == pytest.approx(measured["goodput_bps"].mean, rel=0.01)
    assert values(said, "jain_index")["L, section 5.1"] == 1.0
    assert measured["jain_index"].mean > 0.97
    assert "a wired link has 2 Mb/s" in broken(said, "L (9)")


def test_shares_go_as_the_square_of_round_trips() -> None:
    asked = wired(far="30 ms")

    said = predict(asked)

    packet, full = 12_000 / 2e6, 41 * 12_000 / 2e6
    assert packet < full
    rtt = np.array([0.02 + full, 0.08 + full])
    share = 1.0 / rtt**2
    jain = share.sum() ** 2 / (2 * (share**2).sum())
    assert values(said, "jain_index")["L, section 5.1"] == pytest.approx(jain)


def test_other_aimd_parameters_have_two_forms() -> None:
    said = predict(wired(aimd=", aimd = { increase = 0.5, decrease = 0.8 }"))

    # Peaks as alpha / (1 - beta): 1/0.5 against 0.5/0.2; means (1 + beta)/2 of them.
    peak, mean = np.array([2.0, 2.5]), np.array([2.0 * 0.75, 2.5 * 0.9])
    for source, window in (("L, section 5.1", peak), ("L, section 5.1, mean windows", mean)):
        jain = window.sum() ** 2 / (2 * (window**2).sum())
        assert values(said, "jain_index")[source] == pytest.approx(jain)


def test_without_categories_paper_m_says_what_the_air_carries() -> None:
    said = predict(wired(mac="", direction="download"))

    assert next(iter(values(said))) == "L, section 5.1"
    assert "a wired link has 2 Mb/s" in broken(said, "M (10), corrected")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"rate": "20 Mb/s"}, "faster than the air"),
        ({"window": 10}, "do not fill path and queue"),
    ],
)
def test_a_wired_link_that_is_no_bottleneck_is_said(change: dict[str, object], reason: str) -> None:
    said = predict(wired(**change))  # type: ignore[arg-type]

    assert reason in said.unanswered["L, section 5.1"]
    assert next(iter(values(said))) == "L (9)"


def test_links_of_their_own_are_shared_with_nobody() -> None:
    said = predict(uploads(path='path = [{ rate = "1 Mb/s", queue = 20 }]'))

    assert "L, section 5.1" not in values(said)
    assert "L, section 5.1" not in said.unanswered


# Paper B's limit and Heusse's cycle.


def downloads(count: int = 5, d: int = 1) -> ResolvedScenario:
    flow = UPLOAD.format(stations="sta", direction="download", window=d, d=d, path="", aimd="")
    mac = '[mac]\nrules = { preset = "bianchi" }\n'
    stations = f'[[stations]]\nname = "sta"\ncount = {count}\n'
    return loads(PHY + mac + stations + flow + RUN)


@pytest.mark.parametrize("d", [1, 2])
def test_paper_b_s_limit_is_above_all_and_never_reached(d: int) -> None:
    asked = downloads(d=d)

    said, measured = predict(asked), simulate(asked).metrics["goodput_bps"].mean

    told = values(said)
    phy = Phy.from_resolved(asked.phy.model_dump())
    limit = models.bruno.theoretical_limit(
        phy, payload_bits=11_680, header_bits=320, acks_per_segment=1 / d
    )
    assert told["B, section 2, with TCP ACKs"] == pytest.approx(limit.goodput_bps, rel=1e-9)
    alone = models.bruno.theoretical_limit(phy, payload_bits=11_680, header_bits=320)
    assert told["B, section 2"] == pytest.approx(alone.goodput_bps, rel=1e-9)
    assert measured < told["B, section 2, with TCP ACKs"] < told["B, section 2"]
    assert "this is a limit" in broken(said, "B, section 2")


@pytest.mark.parametrize("count", [2, 20])
def test_heusse_s_cycle_is_near_the_simulation(count: int) -> None:
    asked = downloads(count)

    said, measured = predict(asked), simulate(asked).metrics["goodput_bps"].mean

    assert values(said)["Heusse et al. (2003), TCP, whole backoff"] == pytest.approx(
        measured, rel=0.05
    )


# Paper H: effective service time.

BROWSING = """
[[stations]]
name = "sta"
count = {count}
[[flows]]
stations = "sta"
direction = "download"
application = {application}
tcp = {{ mss = "1460 B", initial_window = 4, receive_window = {{ segments = {window} }}, delayed_ack = {{ every = {d} }} }}
[run]
warmup = "50 s"
duration = "1000 s"
replications = 4
"""  # noqa: E501
WEB = (
    '{{ kind = "web", size = {{ distribution = "{law}", mean = "100 kB"{more} }}, '
    'think_time = {{ distribution = "exponential", mean = "{think} s" }}, request = "300 B" }}'
)
BULK = '{ kind = "bulk", size = { distribution = "deterministic", value = "200 kB" } }'


def browsing(
    count: int = 5,
    *,
    law: str = "exponential",
    more: str = "",
    think: float = 2.0,
    window: int = 20,
    d: int = 2,
    mac: str = "",
    application: str = "",
) -> ResolvedScenario:
    asked = application or WEB.format(law=law, more=more, think=think)
    return loads(PHY + mac + BROWSING.format(count=count, application=asked, window=window, d=d))


def test_few_stations_are_an_engset_queue_of_effective_service_times() -> None:
    asked = browsing()

    said, measured = predict(asked), simulate(asked).metrics

    assert said.model["transfer_time_s"][0].source == "H (19), few sources"
    for metric in ("transfer_time_s", "transfer_time_to_last_ack_s", "goodput_bps", "active_flows"):
        told = values(said, metric)["H (19), few sources"]
        assert told == pytest.approx(measured[metric].mean, rel=0.06), metric


def test_many_stations_are_a_poisson_process() -> None:
    """40 % of the channel, 200 stations that hardly wait for each other, the paper's window."""
    asked = browsing(200, think=75.0, window=6)

    said, measured = predict(asked), simulate(asked).metrics

    for metric in ("transfer_time_s", "goodput_bps", "active_flows"):
        told = values(said, metric)["H (29)"]
        assert told == pytest.approx(measured[metric].mean, rel=0.08), metric
    for metric in ("transfer_time_p50_s", "transfer_time_p90_s", "transfer_time_p99_s"):
        told = values(said, metric)["H (26)"]
        assert told == pytest.approx(measured[metric].mean, rel=0.15), metric
    assert "windows open" not in broken(said, "H (26)", "transfer_time_p90_s")


def test_windows_that_open_wide_give_long_files_more_than_their_share() -> None:
    asked = browsing(200, think=75.0, window=44)

    said, measured = predict(asked), simulate(asked).metrics

    assert "the median is too low, high" in broken(said, "H (26)", "transfer_time_p90_s")
    median, last = "transfer_time_p50_s", "transfer_time_p99_s"
    assert values(said, median)["H (26)"] < measured[median].mean
    assert values(said, last)["H (26)"] > measured[last].mean


def test_a_load_above_one_is_unstable_and_by_how_much() -> None:
    said = predict(browsing(200, think=2.0))

    assert "the system is unstable, work exceeds capacity by" in said.unanswered["H (29)"]
    assert "H (19), few sources" in values(said)


def test_quantiles_are_of_exponential_sizes_alone() -> None:
    said = predict(browsing(law="pareto", more=", shape = 1.5"))

    assert "transfer_time_p90_s" not in said.model
    assert "heavy-tailed" in broken(said, "H (19), few sources")


def test_paper_m_comes_first_where_each_segment_waits_for_its_ack() -> None:
    said = predict(browsing(window=1, d=1))

    assert said.model["transfer_time_s"][0].source == "M (17), corrected"
    sentences = broken(said, "H (19), few sources")
    assert "an ACK for every second segment; here for every 1; times are too low" in sentences
    assert "the window is 1 segment" in sentences


def test_a_transfer_that_is_alone_takes_its_effective_service_time() -> None:
    asked = browsing(1, application=BULK)
    started = asked.model_copy(
        update={
            "run": asked.run.model_copy(update={"warmup_ns": 0, "replications": 40}),
        }
    )

    said, measured = predict(started), simulate(started).metrics

    assert list(values(said, "transfer_time_s")) == ["H (19)", "M (14), corrected"]
    told = values(said, "transfer_time_s")["H (19)"]
    assert told == pytest.approx(measured["transfer_time_s"].mean, rel=0.02)
    told = values(said, "transfer_time_to_last_ack_s")["H (19)"]
    assert told == pytest.approx(measured["transfer_time_to_last_ack_s"].mean, rel=0.02)
    assert "M (14)" in values(said, "transfer_time_to_last_ack_s")


@pytest.mark.parametrize(
    ("mac", "words"),
    [
        ('[mac]\nrts_threshold = "0 B"\n', "here RTS/CTS before data"),
        ('[mac]\nrules = { preset = "bianchi" }\n', "wait 364 us (EIFS); here DIFS"),
    ],
)
def test_what_paper_h_lacks_is_named(mac: str, words: str) -> None:
    assert words in broken(predict(browsing(mac=mac)), "H (19), few sources")


def test_a_lone_transfer_with_delayed_acks_is_paper_m_s_too() -> None:
    """W* = d = 2 and no handshake: access point and station take turns, as the model has it."""
    mac = '[mac]\nrules = { preset = "bianchi" }\n'
    asked = browsing(1, application=BULK, window=2, mac=mac)

    said = predict(asked)
    run = asked.run.model_copy(update={"warmup_ns": 0, "replications": 40})
    measured = simulate(asked.model_copy(update={"run": run})).metrics

    told = values(said, "transfer_time_s")["M (14), corrected"]
    assert told == pytest.approx(measured["transfer_time_s"].mean, rel=0.01)
