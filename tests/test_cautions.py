"""Cautions of an answer: what a reader should know before trusting it."""

import airtcp
import pytest
from airtcp.present.cautions import cautions
from airtcp.scenario import loads


@pytest.mark.parametrize(
    ("standard", "count", "said"),
    [("802.11ax", 12, True), ("802.11ax", 3, False), ("802.11ac", 12, False)],
)
def test_missing_ofdma_is_told_where_it_matters(standard: str, count: int, said: bool) -> None:
    text = f"""
        phy = {{ standard = "{standard}", channel_width = "40 MHz" }}
        stations = [{{ name = "s", count = {count} }}]
        flows = [{{ stations = "s", direction = "both", application = {{ kind = "call" }} }}]
        run = {{ warmup = "0 s", duration = "200 ms", replications = 2 }}
    """

    result = airtcp.simulate(loads(text))

    assert any("OFDMA" in one for one in cautions(result)) == said
