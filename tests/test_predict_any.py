"""Whatever a scenario says, models answer with numbers or say why not; nothing ends in an error."""

import math
from pathlib import Path

import pytest
from airtcp.exceptions import ScenarioError
from airtcp.predict import predict
from airtcp.results import Prediction
from airtcp.scenario import load, loads
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

VALID = sorted((Path(__file__).parent / "scenarios" / "valid").glob("*.toml"))
SIZES = st.sampled_from(
    [
        '{ distribution = "deterministic", value = "1 B" }',
        '{ distribution = "deterministic", value = "3 MB" }',
        '{ distribution = "exponential", mean = "30 kB" }',
        '{ distribution = "pareto", mean = "30 kB", shape = 1.2 }',
        '{ distribution = "hyperexponential", mean = "2 kB", scv = 9.0 }',
    ]
)
TIMES = st.sampled_from(
    [
        '{ distribution = "exponential", mean = "10 s" }',
        '{ distribution = "exponential", mean = "1 ms" }',
        '{ distribution = "deterministic", value = "1 s" }',
    ]
)
COUNTS = st.sampled_from([1, 2, 3, 50, 250, 2000])


@st.composite
def applications(draw: st.DrawFn) -> tuple[str, bool]:
    """An application, and whether it has TCP."""
    kind = draw(st.sampled_from(["bulk", "bulk", "sized", "web", "ftp", "udp"]))
    size, time = draw(SIZES), draw(TIMES)
    match kind:
        case "bulk":
            return '{ kind = "bulk" }', True
        case "sized":
            return f'{{ kind = "bulk", size = {size} }}', True
        case "web":
            request = draw(st.sampled_from(["", ', request = "300 B"']))
            return f'{{ kind = "web", size = {size}, think_time = {time}{request} }}', True
        case "ftp":
            control = draw(st.sampled_from(["true", "false"]))
            return (
                f'{{ kind = "ftp", size = {size}, interarrival = {time}, control = {control} }}',
                True,
            )
        case _:
            packet = draw(st.sampled_from([29, 40, 1500]))
            rate = draw(st.sampled_from(["saturated", "saturated", "100 kb/s"]))
            return f'{{ kind = "udp", packet = "{packet} B", rate = "{rate}" }}', False


@st.composite
def access(draw: st.DrawFn) -> str:
    """Access categories, or none."""
    text = ""
    for side in ("ap", "stations"):
        for category in ("AC_BE", "AC_VO"):
            low = draw(st.sampled_from([0, 1, 3, 15, 31]))
            aifs = draw(st.sampled_from(["50 us", "70 us", "90 us", "95 us"]))
            high = draw(st.sampled_from([low, 1023]))
            text += (
                f'[mac.edca.{side}.{category}]\naifs = "{aifs}"\ncw_min = {low}\ncw_max = {high}\n'
                'txop_limit = "0 us"\n'
            )
    if draw(st.booleans()):
        text += '[mac.classify]\ntcp_ack = "AC_VO"\n'
    return text if draw(st.booleans()) else ""


@st.composite
def written(draw: st.DrawFn) -> str:
    rts = draw(st.sampled_from(["", 'rts_threshold = "0 B"\n', 'rts_threshold = "500 B"\n']))
    preset = draw(st.sampled_from(["standard", "bianchi", "ns-2", "ns-3"]))
    text = '[phy]\nstandard = "802.11b"\n'
    if draw(st.booleans()):
        text += f"cw_min = {draw(st.sampled_from([0, 1, 31]))}\ncw_max = 1023\n"
    text += f"[mac]\nshort_retry_limit = {draw(st.sampled_from([1, 2, 7]))}\n{rts}"
    text += f'rules = {{ preset = "{preset}" }}\n' + draw(access())
    limit = draw(st.sampled_from(["", ", limit = 1", ", limit = 100"]))
    text += f'[ap]\nqueue = {{ discipline = "fifo"{limit} }}\n'
    wired = draw(st.booleans())
    if wired:
        text += '[links.up]\nrate = "1 Mb/s"\ndelay = "20 ms"\n'
        text += draw(st.sampled_from(["", "queue = 1\n", "queue = 30\n"]))
    shared = draw(applications())
    for name in ("a", "b")[: draw(st.integers(1, 2))]:
        rate = draw(st.sampled_from(["1 Mb/s", "11 Mb/s"]))
        text += f'[[stations]]\nname = "{name}"\ncount = {draw(COUNTS)}\ndata_rate = "{rate}"\n'
        application, tcp = shared if draw(st.booleans()) else draw(applications())
        direction = draw(st.sampled_from(["download", "upload"]))
        text += f'[[flows]]\nstations = "{name}"\ndirection = "{direction}"\n'
        text += f"application = {application}\n"
        if tcp:
            window, every = draw(st.sampled_from([1, 2, 40])), draw(st.sampled_from([1, 2, 4]))
            handshake = draw(st.sampled_from(["none", "three-way"]))
            text += (
                f"tcp = {{ receive_window = {{ segments = {window} }}, "
                f'delayed_ack = {{ every = {every} }}, handshake = "{handshake}" }}\n'
            )
            if wired:
                text += 'path = ["up"]\n'
    return text


def check(said: Prediction) -> None:
    assert bool(said.model) != bool(said.uncovered)
    for metric, entries in said.model.items():
        assert list(said.by_source(metric).values()) == entries, metric
        for entry in entries:
            numbers = entry.value if isinstance(entry.value, list) else [entry.value]
            assert all(math.isfinite(number) and number >= 0.0 for number in numbers), metric
            assert entry.assumes
            if "probability" in metric or metric == "jain_index":
                assert all(number <= 1.0 + 1e-9 for number in numbers), metric
    assert all(said.unanswered.values())


@given(written())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_scenario_gets_numbers_or_a_reason(text: str) -> None:
    try:
        scenario = loads(text)
    except ScenarioError:
        reject()
    check(predict(scenario))


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_every_valid_scenario_gets_an_answer_or_a_reason(path: Path) -> None:
    said = predict(load(path))
    check(said)
    for entry in (one for entries in said.model.values() for one in entries):
        assert entry.by.startswith("models.")
        assert entry.source
    assert said.to_json()
