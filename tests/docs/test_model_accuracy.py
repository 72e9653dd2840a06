"""The script of the tables of models refuses a model that is off without a reason."""

from dataclasses import replace

import make_models
import pytest
from accuracy.grids import GRIDS


def test_a_model_that_is_off_without_a_reason_is_an_error() -> None:
    grid = replace(GRIDS["alone"], why={})

    with pytest.raises(ValueError, match="nothing says why"):
        make_models.table(grid)
