"""The first answer of the README is what its scenario and its command give."""

import re
import tomllib
from pathlib import Path

import airtcp
from airtcp.present.plan import answer_line

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_first_answer_is_that_of_the_first_scenario() -> None:
    scenario = re.findall(r"(?ms)^```toml\n(.*?)^```$", README)[0]
    until = re.findall(r'airtcp plan cafe.toml --until "([^"]+)"', README)[0]
    assert len(scenario.splitlines()) == 5

    found = airtcp.plan(
        airtcp.load(tomllib.loads(scenario)), vary="stations", until=until, remedies=False
    )

    assert answer_line(found) in " ".join(README.split())
