"""The core's benchmark reads resolved forms: they must be those of the scenario files."""

from pathlib import Path

import airtcp.scenario
import pytest

ROOT = Path(__file__).parent.parent
WRITTEN = sorted((ROOT / "benches" / "scenarios").glob("*.toml"))


@pytest.mark.parametrize("written", WRITTEN, ids=lambda path: path.stem)
def test_resolved_form_is_that_of_the_scenario_file(written: Path) -> None:
    stored = ROOT / "crates" / "sim" / "benches" / "scenarios" / f"{written.stem}.json"

    resolved = airtcp.scenario.ResolvedScenario.from_json(stored.read_text())

    assert resolved.to_json() == airtcp.scenario.load(written).to_json()
