//! The amendments of 802.11 from 802.11n on, one record each: all that a new one has to say.
//!
//! Each file beside this one has an [`Amendment`]; [`Format`] names them. Knows channel widths, MCSs,
//! guard intervals and symbols. How long everything before the Data field takes, and what limits
//! aggregates, comes with the scenario: `airtcp.amendments` has it, and a test holds both equal.

mod ac;
mod ax;
mod be;
mod n;

use airtcp_kernel::Duration;

use super::mcs::{Scheme, scheme};

/// The PPDU format of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// HT mixed, 802.11n.
    Ht,
    /// VHT, 802.11ac.
    Vht,
    /// HE to one user, 802.11ax.
    He,
    /// EHT to one user, 802.11be.
    Eht,
}

impl Format {
    /// All formats, in the order of their years.
    pub const ALL: [Self; 4] = [Self::Ht, Self::Vht, Self::He, Self::Eht];

    /// Returns the amendment that brought the format.
    pub fn amendment(self) -> &'static Amendment {
        match self {
            Self::Ht => &n::AMENDMENT,
            Self::Vht => &ac::AMENDMENT,
            Self::He => &ax::AMENDMENT,
            Self::Eht => &be::AMENDMENT,
        }
    }

    /// Returns the format that the resolved form calls `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.amendment().format == name)
    }
}

/// The facts that distinguish an amendment.
#[derive(Debug)]
pub struct Amendment {
    /// The name of its PPDU format in the resolved form.
    pub format: &'static str,
    /// N_SD, the data subcarriers, by channel width in MHz.
    pub subcarriers: &'static [(u16, u64)],
    /// The highest MCS of one stream.
    pub highest_mcs: u8,
    /// The most spatial streams.
    pub most_streams: u8,
    /// Guard intervals in nanoseconds.
    pub guard_intervals: &'static [u64],
    /// A symbol without its guard interval.
    pub symbol: Duration,
    /// A flag: a single MPDU has a delimiter, for PPDUs carry A-MPDUs alone.
    pub lone_delimiter: bool,
    /// The combinations of MCS, streams and width in MHz that the standard's tables leave out.
    leaves_out: fn(mcs: u8, streams: u8, width_mhz: u16) -> bool,
    /// N_ES: the convolutional encoders that share a symbol's coded bits and data bits.
    encoders: fn(coded_bits: u64, data_bits: u64, scheme: Scheme) -> u64,
}

/// The contents of a symbol of the Data field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Symbol {
    /// N_DBPS.
    pub(super) data_bits: u64,
    /// N_ES: convolutional encoders, each with a tail of its own.
    pub(super) encoders: u64,
}

impl Amendment {
    /// Returns the symbol of MCS `mcs` (of one stream) in a channel of `width_mhz` with `streams` equal
    /// streams; None where the standard has none.
    pub(super) fn symbol(&self, mcs: u8, streams: u8, width_mhz: u16) -> Option<Symbol> {
        let (_, subcarriers) = self.subcarriers.iter().find(|(width, _)| *width == width_mhz)?;
        if !(1..=self.most_streams).contains(&streams) || (self.leaves_out)(mcs, streams, width_mhz)
        {
            return None;
        }
        let scheme = scheme(mcs, self.highest_mcs)?;
        let coded_bits = subcarriers * scheme.coded_bits * u64::from(streams);
        // Tables 27-12 and 36-18 round down; 802.11n and ac have no fractions.
        let data_bits = coded_bits * scheme.coding.0 / scheme.coding.1;
        Some(Symbol { data_bits, encoders: (self.encoders)(coded_bits, data_bits, scheme) })
    }
}

/// Leaves out no combination.
fn leaves_out_nothing(_: u8, _: u8, _: u16) -> bool {
    false
}

/// Returns one encoder for all bits, as LDPC has it.
fn one_encoder(_: u64, _: u64, _: Scheme) -> u64 {
    1
}
