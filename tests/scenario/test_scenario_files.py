"""Whole scenario files: every valid one resolves to the values of its keys."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from airtcp.airtime import Rate
from airtcp.distributions import Deterministic, Empirical, Exponential, Pareto, Uniform
from airtcp.exceptions import ScenarioError
from airtcp.scenario import ResolvedScenario, load, loads
from airtcp.scenario.declare import written as written_form
from airtcp.scenario.expand import expand
from airtcp.scenario.keys.mac import Beacon
from airtcp.scenario.keys.queue import AdaptiveBurst, PlainQueue, StandardAccess
from airtcp.scenario.keys.traffic import Link, Loss
from pydantic import BaseModel

SCENARIOS = Path(__file__).parents[1] / "scenarios"
MINIMAL = (SCENARIOS / "valid" / "minimal.toml").read_text()
VALID = sorted((SCENARIOS / "valid").glob("*.toml"))


def valid(name: str) -> ResolvedScenario:
    return load(SCENARIOS / "valid" / f"{name}.toml")


def test_every_key_arrives() -> None:
    """The resolved form has computed and looked-up values; resolved-form.md shows all of it."""
    scenario = valid("every_key")
    pages, _, archive, _ = scenario.flows
    # 150 us, 12272 bits at 5.5 Mb/s, SIFS of 11 us, 150 us, 114 bits at 1 Mb/s; before that an RTS
    # of 180 and a CTS of 113 bits. Three SIFS, and 33 ns after each of the four frames.
    assert scenario.ap.queue.red.idle_packet_time_ns == (
        4 * 150_000 + 2_231_273 + 407_000 + 3 * 11_000 + 4 * 33
    )
    queue = PlainQueue(discipline="fifo", limit=40, mac_limit=None, ack_filter=None)
    loss = Loss(rate=0.0001, every=None, acks=False)
    uplink = Link(rate_bps=100_000_000, delay_ns=2_000_000, queue=queue, loss=loss)
    (_, ocean) = scenario.path_links(pages)
    assert isinstance(ocean, Link)
    assert ocean.loss == Loss(rate=None, every=10_000, acks=True)
    # 12000 bits at 1 Gb/s.
    assert ocean.queue.red.idle_packet_time_ns == 12_000
    assert scenario.links == {"uplink": uplink}
    assert pages.path == ("uplink", ocean)
    assert scenario.path_links(pages)[0] == uplink
    # Segments of 1000 bytes.
    assert pages.tcp.receive_window_bytes == 8000
    assert pages.tcp.initial_window_bytes == 2000
    # Paper H, Table II: 48, 392, 272, 704 and 184 bits.
    assert [*archive.application.control.model_dump().values()] == [6, 49, 34, 88, 23]


@pytest.mark.parametrize(
    ("written", "phy", "window", "target"),
    [
        ("", "", 32, 8),
        ("", "cw_min = 1", 2, 1),
        (", window_slots = 11", "", 11, 2),
        (", target_active = 5", "", 32, 5),
        (", window_slots = 7, target_active = 7", "", 7, 7),
    ],
)
def test_access_schemes(written: str, phy: str, window: int, target: int) -> None:
    """Defaults of paper B: w = aCWmin + 1 virtual slots, m* = w / 4 stations in them."""
    text = f'{MINIMAL}\n[ap]\naccess = {{ scheme = "adaptive-burst"{written} }}\n'
    assert loads(text.replace("[phy]", f"[phy]\n{phy}")).ap.access == AdaptiveBurst(
        scheme="adaptive-burst", window_slots=window, target_active=target
    )
    assert loads(MINIMAL).ap.access == StandardAccess(scheme="standard")


@pytest.mark.parametrize(
    ("phy", "bps", "modulation"),
    [
        ('standard = "802.11B"', 1_000_000, "dsss"),
        ('standard = "802.11g"', 1_000_000, "dsss"),
        ('standard = "802.11a"', 6_000_000, "ofdm"),
        ('standard = "802.11b"\npreamble = "short"', 2_000_000, "dsss"),
        ('standard = "802.11g"\npreamble = "short"', 2_000_000, "dsss"),
    ],
)
def test_beacons_are_those_of_paper_h_by_default(phy: str, bps: int, modulation: Any) -> None:
    scenario = loads(MINIMAL.replace('standard = "802.11b"', phy) + "\n[mac]\nbeacon = {}\n")
    assert scenario.mac.beacon == Beacon(
        interval_ns=102_400_000, size_bits=584, rate=Rate(bps=bps, modulation=modulation)
    )


#: Keys that exclude a key of those files, and distributions, which are the same everywhere.
ELSEWHERE = {
    ("AccessPoint", "profile"), ("Air", "received"), ("Cell", "channel_width"), ("Cell", "power"),
    ("Cell", "standard"), ("DelayedAck", "policy"), ("Disc", "centre"), ("Loss", "rate"),
    ("StationGroup", "distance"), ("StationGroup", "error_table"),
}  # fmt: skip


def forms(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield all tables of the written form."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        annotations = [field.annotation for field in annotation.model_fields.values()]
    else:
        annotations = list(get_args(annotation))
    for one in annotations:
        yield from forms(one)


def given(value: Any) -> Iterator[tuple[str, str]]:
    """Yield table and name of each key that a file has."""
    if isinstance(value, BaseModel):
        yield from ((type(value).__name__, key) for key in value.model_fields_set)
        value = {key: getattr(value, key) for key in value.model_fields_set}
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in inner:
        yield from given(one)


def test_the_valid_files_have_every_key() -> None:
    form = written_form(ResolvedScenario)
    found = set()
    for path in VALID:
        data = tomllib.loads(path.read_text())
        found |= set(given(form.model_validate(expand(data).data)))
        # Keys of profiles are replaced before validation.
        for table, key in (("StationGroup", "stations"), ("Flow", "flows")):
            found |= {(table, name) for one in data.get(key, ()) for name in one}
    every = {(one.__name__, key) for one in forms(form) for key in one.model_fields}
    assert found <= every
    missing = every - found
    assert {one for one in missing if not one[0].endswith(("Count", "Size"))} == ELSEWHERE


def test_distributions() -> None:
    flows = {flow.name: flow.application for flow in valid("every_distribution").flows}
    size, time = (
        {name: getattr(one, key) for name, one in flows.items()} for key in ("size", "think_time")
    )
    assert size["deterministic"] == size["text"] == Deterministic(value=30_000.0)
    assert time["deterministic"] == Deterministic(value=10.0)
    assert time["text"] == Deterministic(value=0.0)
    assert size["exponential"] == Exponential(mean=30_000.0)
    assert size["pareto"] == Pareto(shape=1.5, scale=10_000.0)
    assert size["uniform"] == Uniform(low=0.0, high=60_000.0)
    for of, law, mean, scv in (
        (size, "hyperexponential", 30_000, 16),
        (time, "hyperexponential", 10, 4),
        (size, "lognormal", 30_000, 4),
        (time, "lognormal", 10, 0.25),
    ):
        assert of[law].kind == law
        assert (of[law].mean(), of[law].scv()) == pytest.approx((mean, scv), rel=1e-12)
    law = size["hyperexponential"]
    assert law.probability * law.mean_1 == pytest.approx(15_000, rel=1e-12)
    assert (1 - law.probability) * law.mean_2 == pytest.approx(15_000, rel=1e-12)
    assert size["csv"] == Empirical(values=(20.0, 1500.0, 3000.5), counts=(1, 2, 1))
    assert time["csv"] == Empirical(values=(0.0, 0.5, 20.0), counts=(1, 2, 1))
    # 200 and sizes above 0: 1500, 3000, 1500, 40. Not 206, 304, 404, an empty or a torn line.
    log = Empirical(values=(40.0, 1500.0, 3000.0), counts=(1, 2, 1))
    assert size["log"] == size["log-gz"] == log


RULES = (
    *("immediate_access", "post_backoff", "post_backoff_after_drop"),
    *("after_collision", "colliders", "arrival_before_own_ack"),
)
OF_STANDARD = (True, True, True, "eifs", "ack-timeout+difs", "busy")
OF_NS_2 = (False, True, False, "eifs+difs", "as-heard", "busy")
OF_NS_3 = (True, True, True, "difs", "ack-timeout+difs", "idle")
OF_BIANCHI = (False, False, False, "difs", "as-others", "busy")


@pytest.mark.parametrize(
    ("written", "rules"),
    [
        ('preset = "standard"', OF_STANDARD),
        ('preset = "ns-2"', OF_NS_2),
        ('preset = "ns-3"', OF_NS_3),
        ('preset = "bianchi"', OF_BIANCHI),
        ('preset = "ns-3"\narrival_before_own_ack = "busy"', (*OF_NS_3[:5], "busy")),
        ('preset = "ns-2"\npost_backoff = false', (False, False, *OF_NS_2[2:])),
        ('after_collision = "difs"', (*OF_STANDARD[:3], "difs", *OF_STANDARD[4:])),
        ('after_collision = "eifs+difs"', (True, True, True, *OF_NS_2[3:])),
        (
            'after_collision = "eifs+difs"\ncolliders = "as-others"',
            (True, True, True, "eifs+difs", "as-others", "busy"),
        ),
    ],
)
def test_rules(written: str, rules: tuple[object, ...]) -> None:
    found = loads(f"{MINIMAL}\n[mac.rules]\n{written}\n").mac.rules
    assert tuple(getattr(found, key) for key in RULES) == rules


def test_file_names_are_relative_to_the_scenario(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (SCENARIOS / "valid" / "every_distribution.toml").read_text()
    scenario = loads(text, name="every_distribution.toml", base=SCENARIOS / "valid")
    assert scenario == valid("every_distribution")
    with pytest.raises(ScenarioError, match="file not found"):
        loads(text)
