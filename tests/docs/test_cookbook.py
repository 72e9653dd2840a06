"""Each entry of docs/howto/traffic.md works in a scenario, and so does the one of limits.md."""

import re
from pathlib import Path

import airtcp
import pytest
from airtcp.scenario import loads

DOCS = Path(__file__).parents[2] / "docs"
TRAFFIC = (DOCS / "howto" / "traffic.md").read_text("utf-8")
LIMITS = (DOCS / "explanation" / "limits.md").read_text("utf-8")
ENTRIES = re.findall(r"(?m)^\| [^|]* \| `(\{ stations = .*)` \|$", TRAFFIC)
MEASURED = re.findall(r"(?m)^\| [^|]* \| `((?:size|application) = .*)` \|$", TRAFFIC)
LOG = '1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 {} "-" "-"\n'
CELL = """
phy = {{ standard = "802.11ax" }}
stations = [{{ name = "laptop", count = 2 }}]
flows = [{entry}]
run = {{ warmup = "0 s", duration = "2 s", replications = 1 }}
"""


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_is_one_of_a_scenario_and_sends(entry: str) -> None:
    """Two seconds are enough for traffic without pauses; readers think for up to two minutes."""
    assert len(ENTRIES) == 16
    scenario = loads(CELL.format(entry=entry))

    assert any(
        airtcp.simulate(scenario.vary({"run.duration": duration})).simulation.counts[
            "mac_exchanges"
        ]
        for duration in ("2 s", "2 min")
    )


@pytest.mark.parametrize("written", MEASURED)
def test_what_was_measured_may_be_named(written: str, tmp_path: Path) -> None:
    assert len(MEASURED) == 4
    (tmp_path / "access.log").write_text("".join(map(LOG.format, (100, 900, 5000))), "utf-8")
    (tmp_path / "sizes.csv").write_text("bytes\n100\n900\n", "utf-8")
    written = written.replace("access.log.gz", "access.log")
    if written.startswith("size"):
        written = f'application = {{ kind = "web", think_time = "1 s", {written} }}'
    entry = f'{{ stations = "laptop", direction = "download", {written} }}'

    assert loads(CELL.format(entry=entry), base=tmp_path).flows


def test_a_neighbour_takes_air() -> None:
    (text,) = re.findall(r"(?ms)^```toml\n(.*?)^```$", LIMITS)
    crowded = loads(text)
    (change,) = re.findall(r"diff neighbour.toml --set ([\w.]+)=\"1 kb/s\"", LIMITS)
    found = airtcp.diff(crowded, crowded.vary({change: "1 kb/s"}), replications=2)

    mine = found.groups["laptop"]["all"]["goodput_bps"]
    assert mine.difference.low > 0
