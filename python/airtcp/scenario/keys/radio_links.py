"""The links of an access point that has several (802.11be), and what stations share with it."""

from functools import partial
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from ...airtime import Rate
from ...amendments import AMENDMENTS
from ...high_rate import HighRateTiming
from ..declare import Sparse, Table, derived, key
from ..quantities import TimeNs
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


def _delay(*micros: int) -> Any:
    """Return the type of a delay with one of a few values."""
    return Annotated[TimeNs, AfterValidator(partial(_one_of, micros))]


def _one_of(micros: tuple[int, ...], delay_ns: int) -> int:
    if delay_ns not in {1_000 * one for one in micros}:
        allowed = ", ".join(f'"{one} us"' for one in micros)
        raise PydanticCustomError("not_offered", "must be one of {allowed}", {"allowed": allowed})
    return delay_ns


class Emlsr(Table):
    """How stations switch their only radio between their links (eMLSR)."""

    padding_ns: int = key(
        "Padding of the trigger frame (MU-RTS) with which the access point begins each exchange "
        "with these stations: the time for which their radio gets ready.",
        default="32 us",
        reads=_delay(0, 32, 64, 128, 256),
        source="IEEE 802.11be-2024, Table 9-417i; Linux, iwlwifi",
    )
    switch_ns: int = key(
        "Time after an exchange until these stations listen on all their links again.",
        default="64 us",
        reads=_delay(0, 16, 32, 64, 128, 256),
        source="IEEE 802.11be-2024, Table 9-417j; Linux, iwlwifi",
    )


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
