"""Lets the tests of the documentation import its scripts, and the experiments behind them."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2] / folder) for folder in ("docs", "validation")]
