"""Lets the witnesses import what they share, the slow DCF, and the points of the peers."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
for folder in (HERE, HERE.parent / "reference", HERE.parents[1] / "validation"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
