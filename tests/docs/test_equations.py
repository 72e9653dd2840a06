"""The page of equations names functions that there are."""

import importlib
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "equations.md"


def test_functions_beside_the_equations_exist() -> None:
    named = re.findall(
        r"`(\w+)\.(\w+)`", PAGE.read_text(encoding="utf-8").replace("`airtcp.models`", "")
    )

    assert len(named) > 25
    for module, function in named:
        assert callable(getattr(importlib.import_module(f"airtcp.models.{module}"), function))
