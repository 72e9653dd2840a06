"""Resolved forms that are stored are those of their scenario files.

The core's benchmark and tests read some; the others say what all defaults are (`minimal`) and where
every key goes (`every_key`), and a change of them is reviewed as code.
"""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def stored() -> dict[Path, str]:
    spec = importlib.util.spec_from_file_location("resolve", ROOT / "benches" / "resolve.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return dict(module.stored())


STORED = stored()


@pytest.mark.parametrize("path", STORED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_stored_resolved_form_is_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == STORED[path], "run: make resolved"


def test_the_core_reads_those_of_all_benchmarks() -> None:
    scenarios = ROOT / "crates" / "sim" / "benches" / "scenarios"

    assert {path for path in STORED if path.parent == scenarios} == set(scenarios.iterdir())
