"""Bounds on the duration of a frame exchange."""

import tomllib
from pathlib import Path

import airtcp
import pytest
from airtcp.scenario import resolve
from bases import said

MINIMAL = tomllib.loads(
    (Path(__file__).parents[1] / "scenarios" / "valid" / "minimal.toml").read_text()
)
KEYS = ["slot_time", "sifs", "difs", "eifs", "ack_timeout", "preamble_time", "plcp_header_time"]
KEYS += ["propagation_delay", "aifs", "txop_limit"]


def with_phy(**keys: str) -> dict[str, object]:
    return MINIMAL | {"phy": MINIMAL["phy"] | keys}


@pytest.mark.parametrize("key", KEYS)
def test_times_above_a_second_are_refused(key: str) -> None:
    above = "1000000001 ns"
    of_phy = key not in ("aifs", "txop_limit")
    mac = {"edca": {"ap": {"AC_BE": {key: above}}}}
    with pytest.raises(airtcp.ScenarioError) as caught:
        resolve(with_phy(**{key: above}) if of_phy else with_phy() | {"mac": mac})
    assert caught.value.key == (f"phy.{key}" if of_phy else f"mac.edca.ap.AC_BE.{key}")
    assert said(caught.value) == "scenario.errors.time_too_long"
