"""The page of equations names functions that there are."""

import re
from pathlib import Path

from airtcp import models

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "equations.md"


def test_functions_beside_the_equations_exist() -> None:
    named = re.findall(
        r"`(\w+)\.(\w+)`", PAGE.read_text(encoding="utf-8").replace("`airtcp.models`", "")
    )

    assert len(named) > 25
    for module, function in named:
        assert callable(getattr(getattr(models, module), function))
