//! The amendments of 802.11 from 802.11n on, one record each. A new amendment needs nothing else.
//!
//! Each file in this folder has an [`Amendment`]; [`Format`] lists them. They define channel
//! widths, MCSs, guard intervals and symbols. The duration before the Data field and the limits of
//! aggregates come with the scenario: `airtcp.amendments` has them, and a test keeps both equal.

mod ac;
mod ax;
mod be;
mod n;

use airtcp_kernel::Duration;

use super::mcs::{Scheme, scheme};
use super::resource_units::UserSignal;

/// The PPDU format of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// HT mixed, 802.11n.
    Ht,
    /// VHT, 802.11ac.
    Vht,
    /// HE single-user, 802.11ax.
    He,
    /// EHT single-user, 802.11be.
    Eht,
}

impl Format {
    /// All formats, in the order of their years.
    pub const ALL: [Self; 4] = [Self::Ht, Self::Vht, Self::He, Self::Eht];

    /// Returns the amendment that introduced the format.
    pub fn amendment(self) -> &'static Amendment {
        match self {
            Self::Ht => &n::AMENDMENT,
            Self::Vht => &ac::AMENDMENT,
            Self::He => &ax::AMENDMENT,
            Self::Eht => &be::AMENDMENT,
        }
    }

    /// Returns the format with this name in the resolved form.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.amendment().format == name)
    }
}

/// What distinguishes an amendment.
#[derive(Debug)]
pub struct Amendment {
    /// The name of its PPDU format in the resolved form.
    pub format: &'static str,
    /// N_SD, the data subcarriers, by channel width in MHz.
    pub subcarriers: &'static [(u16, u64)],
    /// The highest MCS of one stream.
    pub highest_mcs: u8,
    /// The maximum number of spatial streams.
    pub most_streams: u8,
    /// Guard intervals in nanoseconds.
    pub guard_intervals: &'static [u64],
    /// The duration of a symbol without its guard interval.
    pub symbol: Duration,
    /// Whether a single MPDU has a delimiter, because PPDUs carry only A-MPDUs.
    pub lone_delimiter: bool,
    /// The signal field of PPDUs to several users; `None`: there are no such PPDUs.
    pub(super) user_signal: Option<UserSignal>,
    /// Whether the standard's tables omit a combination of MCS, streams and width in MHz.
    leaves_out: fn(mcs: u8, streams: u8, width_mhz: u16) -> bool,
    /// N_ES: the number of convolutional encoders that share a symbol's coded bits and data bits.
    encoders: fn(coded_bits: u64, data_bits: u64, scheme: Scheme) -> u64,
}

/// The contents of a symbol of the Data field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Symbol {
    /// N_DBPS.
    pub(super) data_bits: u64,
    /// N_ES: the number of convolutional encoders, each with its own tail.
    pub(super) encoders: u64,
}

impl Amendment {
    /// Returns the symbol of MCS `mcs` (of one stream) with `width_mhz` and `streams` equal
    /// streams; `None` if the standard has no such rate.
    pub(super) fn symbol(&self, mcs: u8, streams: u8, width_mhz: u16) -> Option<Symbol> {
        let (_, subcarriers) = self.subcarriers.iter().find(|(width, _)| *width == width_mhz)?;
        if !(1..=self.most_streams).contains(&streams) || (self.leaves_out)(mcs, streams, width_mhz)
        {
            return None;
        }
        self.symbol_of(mcs, streams, *subcarriers)
    }

    /// Returns the symbol over `subcarriers` data subcarriers; `None` if there is no such MCS.
    pub(super) fn symbol_of(&self, mcs: u8, streams: u8, subcarriers: u64) -> Option<Symbol> {
        let scheme = scheme(mcs, self.highest_mcs)?;
        let coded_bits = subcarriers * scheme.coded_bits * u64::from(streams);
        // Tables 27-12 and 36-18 round down; 802.11n and ac have no fractions.
        let data_bits = coded_bits * scheme.coding.0 / scheme.coding.1;
        Some(Symbol { data_bits, encoders: (self.encoders)(coded_bits, data_bits, scheme) })
    }
}

/// Omits no combination.
fn leaves_out_nothing(_: u8, _: u8, _: u16) -> bool {
    false
}

/// Returns one encoder for all bits, as with LDPC.
fn one_encoder(_: u64, _: u64, _: Scheme) -> u64 {
    1
}
