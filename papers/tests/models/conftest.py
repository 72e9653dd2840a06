"""The PHYs of `phys` as fixtures for tests of models."""

from phys import phy_80211a as phy_80211a
from phys import phy_80211b as phy_80211b
from phys import phy_80211g as phy_80211g
