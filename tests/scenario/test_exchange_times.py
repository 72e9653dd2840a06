"""The times of a frame exchange: how long they may be, and that the longest has an answer."""

import tomllib
from pathlib import Path

import airtcp
import pytest
from airtcp.scenario import resolve
from wing import with_papers

MINIMAL = tomllib.loads(
    (Path(__file__).parents[1] / "scenarios" / "valid" / "minimal.toml").read_text()
)
KEYS = [
    "slot_time",
    "sifs",
    "difs",
    "eifs",
    "ack_timeout",
    "preamble_time",
    "plcp_header_time",
    "propagation_delay",
]


def with_phy(**keys: str) -> dict[str, object]:
    run = {"warmup": "0 s", "duration": "20 s", "replications": 2}
    return MINIMAL | {"phy": MINIMAL["phy"] | keys, "run": run}


@pytest.mark.parametrize("key", KEYS)
def test_times_above_a_second_are_refused(key: str) -> None:
    with pytest.raises(airtcp.ScenarioError) as caught:
        resolve(with_phy(**{key: "1000000001 ns"}))

    assert caught.value.key == f"phy.{key}"
    assert caught.value.message == '"1000000001 ns" is too long; allowed: "1 s" at most'


def test_so_are_those_of_access_categories() -> None:
    for key in ("aifs", "txop_limit"):
        edca = {"edca": {"ap": {"AC_BE": {key: "2 s"}}}}
        with pytest.raises(airtcp.ScenarioError, match='allowed: "1 s" at most'):
            resolve(with_phy() | {"mac": edca})


@with_papers
@pytest.mark.parametrize(
    "keys",
    [
        {"slot_time": "1 s"},
        {"difs": "1 s"},
        {"eifs": "1 s"},
        {"preamble_time": "1 s", "plcp_header_time": "1 s", "propagation_delay": "1 s"},
        {"sifs": "900 ms", "difs": "1 s", "eifs": "1 s", "ack_timeout": "1 s"},
    ],
    ids=lambda keys: ", ".join(keys),
)
def test_up_to_there_models_and_simulator_answer(keys: dict[str, str]) -> None:
    """Nothing is said about the numbers: a second is far from what any of them is made for."""
    result = airtcp.compare(resolve(with_phy(**keys)))

    assert None not in result.simulation.values("goodput_bps")
    assert result.model["goodput_bps"] or result.unanswered
