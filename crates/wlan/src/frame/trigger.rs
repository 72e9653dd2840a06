//! Trigger frames (IEEE Std 802.11ax-2021, 9.3.1.22), and the one with which an access point begins
//! exchanges with a station that has one radio for several links (eMLSR).

use airtcp_kernel::Duration;
use serde::Deserialize;

use crate::phy::{Modulation, PhyConfig, Rate};

/// The lowest rate of OFDM, which all stations understand. Stations respond to an MU-RTS at this
/// rate (26.2.6.3).
pub const LOWEST_OFDM_RATE: Rate = Rate { bps: 6_000_000, modulation: Modulation::Ofdm };
/// An OFDM symbol, and its data bits at that rate (IEEE Std 802.11-2020, Table 17-4).
const SYMBOL: Duration = Duration::from_micros(4);
const SYMBOL_BITS: u64 = 24;

/// A kind of trigger frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// Asks for data.
    Basic,
    /// Asks for Block ACKs.
    MuBar,
    /// Asks for CTSs.
    MuRts,
    /// Asks for buffer status reports.
    Bsrp,
}

impl Trigger {
    /// Returns the size of a frame to this many users in bits: frame control, duration, two
    /// addresses, common information, FCS, and the information for each user.
    pub const fn bits(self, users: u64) -> u64 {
        let user = match self {
            Self::Basic => 6,
            Self::MuBar => 9,
            Self::MuRts | Self::Bsrp => 5,
        };
        8 * (28 + user * users)
    }
}

/// How a station switches its only radio between its links (eMLSR; IEEE Std 802.11be-2024,
/// 35.3.17).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Emlsr {
    /// The padding of the MU-RTS that begins an exchange with it: 32 us or a multiple.
    #[serde(rename = "padding_ns")]
    pub padding: Duration,
    /// The time after an exchange until it listens on its links again.
    #[serde(rename = "switch_ns")]
    pub switch: Duration,
}

impl Emlsr {
    /// Returns the size of the padding (35.5.2.2.3).
    pub fn padding_bits(&self) -> u64 {
        SYMBOL_BITS * (self.padding / SYMBOL)
    }

    /// Returns the airtime of the MU-RTS that begins an exchange, and of the CTS.
    pub fn control_times(&self, phy: &PhyConfig) -> (Duration, Duration) {
        let request = Trigger::MuRts.bits(1) + self.padding_bits();
        let time = |bits| phy.ppdu_time(bits, LOWEST_OFDM_RATE);
        (time(request), time(phy.cts_bits))
    }
}
