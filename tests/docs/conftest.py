"""What the tests of the documentation share: its pages, and the scripts that make numbers."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]

# The scripts share a module of their own.
sys.path.insert(0, str(ROOT / "docs"))


def script(name: str) -> ModuleType:
    """The script docs/`name`.py as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look for their annotations
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def make_readme() -> ModuleType:
    return script("make_readme")


@pytest.fixture(scope="session")
def make_validation() -> ModuleType:
    return script("make_validation")


@pytest.fixture(scope="session")
def make_models() -> ModuleType:
    return script("make_models")


@pytest.fixture(scope="session")
def make_aggregation() -> ModuleType:
    return script("make_aggregation")


@pytest.fixture(scope="session")
def make_paper_b() -> ModuleType:
    return script("make_paper_b")


@pytest.fixture(scope="session")
def make_paper_g() -> ModuleType:
    return script("make_paper_g")


@pytest.fixture(scope="session")
def make_paper_h() -> ModuleType:
    return script("make_paper_h")


@pytest.fixture(scope="session")
def make_concurrent_access() -> ModuleType:
    return script("make_concurrent_access")


@pytest.fixture(scope="session")
def make_scoreboard() -> ModuleType:
    return script("make_scoreboard")


@pytest.fixture(scope="session")
def make_keys() -> ModuleType:
    return script("make_keys")


@pytest.fixture(scope="session")
def make_cards() -> ModuleType:
    return script("make_cards")


@pytest.fixture(scope="session")
def make_resolved_form() -> ModuleType:
    return script("make_resolved_form")


@pytest.fixture(scope="session")
def make_results() -> ModuleType:
    return script("make_results")


@pytest.fixture(scope="session")
def make_diff() -> ModuleType:
    return script("make_diff")


@pytest.fixture(scope="session")
def make_acks() -> ModuleType:
    return script("make_acks")
