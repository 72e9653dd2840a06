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

    padding_ns: int = key(_delay(0, 32, 64, 128, 256))
    switch_ns: int = key(_delay(0, 16, 32, 64, 128, 256))


class Pair(Table):
    """The capabilities that the access point shares with stations of an older standard."""

    standard: StandardName = derived()
    high_rate: HighRateTiming | None = derived()
    aggregation: Aggregation | None = derived()


class LinkRates(Sparse):
    """The rates of a group of stations on a link."""

    data_rate: Rate = derived()
    control_rate: Rate = derived()
    pair: Pair | None = derived()


class RadioLink(Table):
    """A link of an access point that has several."""

    phy: Phy = derived()
    channel_mhz: int = derived()
    cf_end_rate: Rate = derived()
    stations: tuple[LinkRates | None, ...] = derived()
