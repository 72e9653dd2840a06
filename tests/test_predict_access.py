"""Model predictions with access categories, queue disciplines, and constant rates."""

import pytest
from airtcp.predict import predict
from airtcp.predict.access import as_dcf
from airtcp.results import Prediction
from airtcp.run.simulate import simulate
from airtcp.scenario import ResolvedScenario, loads
from wing import with_papers

SCENARIO = """
phy = {{ standard = "802.11b", control_rate = "2 Mb/s"{phy} }}
ap = {{ queue = {queue}{ap} }}
stations = [{{ name = "sta", count = {count}{station} }}]
run = {{ warmup = "5 s", duration = "60 s", replications = 4 }}
[mac]
rts_threshold = "0 B"
rules = {{ preset = "bianchi" }}
{mac}
{flows}
"""
DOWNLOAD = """
[[flows]]
stations = "sta"
direction = "download"
application = {application}
[flows.tcp]
mss = "1000 B"
receive_window = {{ segments = {window} }}
delayed_ack = {{ every = 1 }}
"""
DATAGRAMS = """
[[flows]]
stations = "sta"
direction = "{direction}"
name = "{direction}"
application = {{ kind = "udp", packet = "1500 B", rate = "{rate}" }}
"""
WEB = 'kind = "web", think_time = {{ distribution = "exponential", mean = "{think}" }}, '
WEB += 'size = {{ distribution = "{law}", mean = "{mean}"{more} }}'
#: One access category with the parameters of DCF.
ALIKE = "\n".join(
    f'[mac.edca.{side}.AC_BE]\naifsn = 2\ncw_min = 31\ncw_max = 1023\ntxop_limit = "0 us"'
    for side in ("ap", "stations")
)
#: The access point has priority.
AP_FIRST = ALIKE.replace("aifsn = 2", "aifsn = 1", 1)
PLAIN = '{ discipline = "fifo" }'


def download(application: str = '{ kind = "bulk" }', window: int = 1) -> str:
    return DOWNLOAD.format(application=application, window=window)


def datagrams(direction: str = "upload", rate: str = "saturated") -> str:
    return DATAGRAMS.format(direction=direction, rate=rate)


def scenario(flows: str = "", mac: str = "", **told: object) -> ResolvedScenario:
    keys = {"queue": PLAIN, "count": 10, "phy": "", "ap": "", "station": ""} | told
    return loads(SCENARIO.format(flows=flows or download(), mac=mac, **keys))


def values(said: Prediction, metric: str = "goodput_bps") -> dict[str, object]:
    return {entry.source: entry.value for entry in said.model[metric]}


def broken(said: Prediction, metric: str = "goodput_bps") -> str:
    return "\n".join(said.model[metric][0].broken)


@with_papers
@pytest.mark.parametrize("flows", [download(), datagrams()])
def test_categories_that_are_a_dcf_are_predicted_as_one(flows: str) -> None:
    plain = predict(scenario(flows, phy=", mac_header_bits = 240"))
    said = predict(scenario(flows, mac=ALIKE))
    assert said.scenario.mac.edca is not None
    for metric in plain.model:
        # Models with categories add their own answer after these.
        told, expected = values(said, metric), values(plain, metric)
        assert list(told)[: len(expected)] == list(expected)
        assert {source: told[source] for source in expected} == expected
    assert broken(said) == broken(plain)


@with_papers
def test_one_category_of_its_own_contends_with_its_aifs_and_window() -> None:
    """Video's AIFS of 50 us and CWmin of 15 slots apply to everything in the cell."""
    mac = (
        '[mac.edca.ap.AC_VI]\naifsn = 5\ntxop_limit = "0 us"\n'
        '[mac.edca.stations.AC_VI]\naifsn = 5\ntxop_limit = "0 us"\n'
        '[mac.classify]\ntcp_ack = "AC_VI"\ntcp_data = "AC_VI"'
    )
    asked = scenario(mac=mac)
    access = as_dcf(asked)
    phy = access.scenario.phy
    assert (phy.difs_ns, phy.cw_min, phy.cw_max) == (110_000, 15, 31)
    assert phy.eifs_ns - asked.phy.eifs_ns == 110_000 - 50_000
    assert access.scenario.mac.edca is None
    # Of two values of CWmax the stations' is used, because stations collide more often.
    assert as_dcf(scenario(mac="[mac.edca]")).scenario.phy.cw_max == 1023
    assert access.broken == ()
    best = predict(asked).best("goodput_bps")
    measured = simulate(asked).metrics["goodput_bps"].mean
    assert best.value == pytest.approx(measured, rel=0.01)


RED = '{ discipline = "red", min_threshold = 5, max_threshold = 15 }'
FIVE = ["drops from a mean of 5 packets on", "allow 5 in flight", "too optimistic"]
DIFFERENT = ["a TXOP may last 3.264 ms", "CWmax is 127 at the access point and 1023 at stations"]
OF_STATION = ["drops at sta from a mean of 5 packets on, and the window is 20"]


@with_papers
@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (scenario(mac="[mac.edca]"), DIFFERENT),
        # RED breaks an assumption if all windows together can reach its threshold: 5 can, 4 cannot.
        (scenario(queue=RED, count=5), FIVE),
        (scenario(queue=RED, count=4), []),
        (scenario(download(window=20), count=2, station=f", queue = {RED}"), OF_STATION),
        (scenario(queue='{ discipline = "per-flow", limit = 7 }'), ["its limit is 7 packets"]),
    ],
)
def test_what_breaks_a_model_is_named_with_its_numbers(
    asked: ResolvedScenario, words: list[str]
) -> None:
    said = broken(predict(asked))
    assert all(word in said for word in words)
    assert words or "early detection" not in said


@with_papers
@pytest.mark.parametrize(
    ("mac", "reason"),
    [
        (ALIKE + '\n[mac.classify]\ntcp_ack = "AC_VO"', "several access categories (AC_BE, AC_VO)"),
        (AP_FIRST, "AIFS 30 us and CWmin 31 against AIFS 50 us and CWmin 31"),
        (ALIKE.replace("cw_min = 31", "cw_min = 7", 1), "AIFS 50 us and CWmin 7 against"),
    ],
)
def test_priorities_are_in_no_model(mac: str, reason: str) -> None:
    said = predict(scenario(mac=mac))
    assert said.model == {}
    assert reason in said.uncovered


@with_papers
def test_flows_that_take_turns_share_as_with_a_window_of_one() -> None:
    heavy = WEB.format(law="pareto", mean="30 kB", more=", shape = 1.5", think="10 s")
    asked, metric = download(f"{{ {heavy} }}", window=50), "transfer_time_to_last_ack_s"
    fifo, turns = (
        predict(scenario(asked, queue=q)) for q in (PLAIN, '{ discipline = "per-flow" }')
    )
    assert values(fifo, metric) == values(turns, metric)
    assert "heavy-tailed" in broken(fifo, metric)
    assert "heavy-tailed" not in broken(turns, metric)
    assert "serves flows in turn" in broken(turns, metric)


BURSTS = ', access = { scheme = "adaptive-burst" }'


@with_papers
def test_no_model_with_one_dcf_has_an_access_point_that_sends_in_bursts() -> None:
    said = predict(scenario(count=2, ap=BURSTS))
    by = {one.by for entries in said.model.values() for one in entries}
    assert by == {"models.bruno", "models.bursts"}
    assert "sends bursts" in said.unanswered["paper M"]
    # If only stations send, the parameters of the access point do not matter.
    bursts, plain = (scenario(datagrams(), count=2, ap=ap) for ap in (BURSTS, ""))
    assert predict(bursts).model == predict(plain).model != {}
    assert predict(scenario(datagrams(), mac=AP_FIRST)).uncovered is None
    # In TCP uploads the access point still sends ACKs.
    uploads = download().replace("download", "upload")
    assert "AIFS 30 us" in as_dcf(scenario(uploads, mac=AP_FIRST)).reason


def test_beacons_break_models_that_have_none() -> None:
    said, without = (predict(scenario(count=2, mac=mac)) for mac in ("beacon = {}", ""))
    # 776 us plus DIFS every 102.4 ms.
    sentence = "no beacons; here one every 102.4 ms takes 0.81 % of the time; "
    for metric, entries in said.model.items():
        for entry, plain in zip(entries, without.model[metric], strict=True):
            assert entry.value == plain.value
            assert entry.broken[-1].startswith(sentence)
            assert not any("beacons" in broken for broken in plain.broken)


@with_papers
def test_paper_h_has_beacons() -> None:
    """(22): times grow by a beacon, its DIFS and its mean backoff, divided by BI."""
    web = WEB.format(law="exponential", mean="100 kB", more="", think="100 s")
    asked = download(f"{{ {web} }}", window=40)
    with_them, without = (
        [one for one in times if one.by == "models.hoekstra.service_time"]
        for mac in ("beacon = {}", "")
        for times in [predict(scenario(asked, count=1, mac=mac)).model["transfer_time_s"]]
    )
    assert with_them
    for entry, plain in zip(with_them, without, strict=True):
        assert not any("beacons" in broken for broken in entry.broken)
        longer = (50e-6 + 776e-6 + 31 / 2 * 20e-6) / 0.1024
        assert entry.value == pytest.approx(plain.value * (1 + longer), rel=1e-3)
