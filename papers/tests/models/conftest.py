"""The PHY of a standard, for the tests of the models."""

import pytest
from airtcp.models.airtime import Phy
from airtcp.scenario import loads
from bases import cell


@pytest.fixture
def phy_80211b() -> Phy:
    return Phy.of(loads(cell(phy='data_rate = "11 Mb/s"\ncontrol_rate = "2 Mb/s"')).phy)
