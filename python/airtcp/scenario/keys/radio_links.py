"""The links of an access point that has several (802.11be), and what stations share with it."""

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator

from ...airtime import Rate
from ...amendments import AMENDMENTS
from ...high_rate import HighRateTiming
from ..declare import Sparse, Table, derived
from .mac import Aggregation
from .phy import Phy, StandardName

#: The only standard whose stations have several links.
STANDARD: Final = "802.11be"
#: The channel of a link in a capture, in MHz, by band in GHz: 1, 36, 1.
CHANNELS_MHZ: Final = {2.4: 2412, 5: 5180, 6: 5955}
_KNOWN: Final = {
    f"{ghz} GHz/{width} MHz": (ghz, width)
    for ghz in CHANNELS_MHZ
    for width in AMENDMENTS[STANDARD].subcarriers
    if width <= AMENDMENTS[STANDARD].widest_mhz[ghz]
}
#: The band in GHz and the channel width in MHz of a link: "5 GHz/80 MHz" in a file.
LinkForm: Any = Annotated[Literal.__getitem__(tuple(_KNOWN)), AfterValidator(_KNOWN.__getitem__)]


def link_text(link: tuple[float, int]) -> str:
    """Return a link as a file writes it."""
    return f"{link[0]} GHz/{link[1]} MHz"


class Pair(Table):
    """The capabilities that the access point shares with stations of an older standard."""

    standard: StandardName = derived("The older standard of the two.")
    high_rate: HighRateTiming | None = derived(
        "Timing of their PPDUs from 802.11n on, as `phy.high_rate`."
    )
    aggregation: Aggregation | None = derived(
        "As `mac.aggregation`, within the limits of its standard. none: no aggregation."
    )


class LinkRates(Sparse):
    """The rates of a group of stations on a link."""

    data_rate: Rate = derived("Rate of data frames from and to these stations.")
    control_rate: Rate = derived("Rate of RTS, CTS and MAC ACK in exchanges with them.")
    pair: Pair | None = derived("As `pair` of the group.", sparse=True)


class RadioLink(Table):
    """A link of an access point that has several."""

    phy: Phy = derived("Its physical layer; that of the first link is `phy` of the scenario.")
    channel_mhz: int = derived("Frequency of its primary channel in a capture, in MHz.")
    cf_end_rate: Rate = derived("Rate of CF-Ends: the lowest mandatory rate.")
    stations: tuple[LinkRates | None, ...] = derived(
        "The rates of each group of stations. none: they do not have the link."
    )
