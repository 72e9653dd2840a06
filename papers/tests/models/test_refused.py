"""Arguments that models reject, with the argument's name: the calls of `refused.toml`."""

import dataclasses
import math
import tomllib
from pathlib import Path
from typing import Any

import pytest
from airtcp import models
from airtcp.models.airtime import HOT_SPOT, Phy, Rate

TABLES = tomllib.loads(Path(__file__).with_name("refused.toml").read_text(encoding="utf-8"))
CALLS = [
    (table["module"], function + call, message)
    for table in TABLES["refused"]
    for function in table.get("functions", [""])
    for call, message in table["calls"]
]
#: Names that calls may use in addition to the public names of their module.
SHARED = {"inf": math.inf, "nan": math.nan, "replace": dataclasses.replace, "Rate": Rate}
OWN: dict[str, dict[str, Any]] = {
    "bursts": {"EXCHANGES": models.bursts.Exchanges.from_phy(HOT_SPOT, payload_bits=12_000)},
    "hoekstra": {"TESTBED": models.hoekstra.Parameters.testbed()},
    "leith": {"FIGURES": models.leith.Parameters.of_figures()},
    "miorandi": {"TABLE_1": models.miorandi.Parameters.table_1()},
}
#: A cell of paper L, for its contention and for the simplified model.
CELL = {"w0": 32, "m": 5, "hold_slots": 2, "d": 1}


@pytest.mark.parametrize(("module", "call", "message"), CALLS)
def test_bad_input_is_named(
    module: str, call: str, message: str, phy_80211a: Phy, phy_80211b: Phy
) -> None:
    names = vars(getattr(models, module)) | SHARED | OWN.get(module, {})
    cell = CELL | ({"parameters": names["FIGURES"]} if call.startswith("simplified") else {})
    names |= {"PHY_A": phy_80211a, "PHY_B": phy_80211b, "CELL": cell}

    with pytest.raises(ValueError, match=message):
        eval(call, names)
