"""The study of ACKs: the chart's values for 802.11b, g and n, with short runs."""

from pathlib import Path

import airtcp_papers.acks
import pytest
from airtcp_papers.acks.gain import BOUND, PHYS, row_of
from airtcp_papers.common.bench import Bench, Settings
from airtcp_papers.common.measure import mean


def test_delayed_acks_gain_more_in_g_than_in_b_and_little_with_aggregation(tmp_path: Path) -> None:
    """As in acks.md; runs of 2 s have intervals of 1 to 2 %, and gains are paired."""
    folder = Path(airtcp_papers.acks.__file__).parent
    bench = Bench(folder, tmp_path, Settings(quick=True, replications=4))
    rows = {phy.name: row_of(bench, phy, 1) for phy in PHYS if phy.name in ("b", "g", "n")}

    gain = {name: mean(row["d = 2"].gain) for name, row in rows.items()}
    assert gain["n"] < 0.08 < gain["b"] < gain["g"] < 0.2
    for row in rows.values():
        gains = [mean(cell.gain) for cell in row.values()]
        assert gains[0] == 0.0
        assert list(row)[-1] == BOUND
        # The bound exceeds all of them.
        assert max(gains) == gains[-1]
        for cell in row.values():
            assert cell.model == pytest.approx(mean(cell.simulated), rel=0.05)
