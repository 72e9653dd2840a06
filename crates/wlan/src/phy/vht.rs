//! Very high throughput, 802.11ac (IEEE 802.11-2020, clause 21): what a symbol of the Data field
//! holds.

use super::high_rate::Symbol;
use super::mcs::{Scheme, scheme};

/// The highest MCS.
const HIGHEST: u8 = 9;

/// The symbol of MCS `mcs` in a channel of `width_mhz` with `streams` streams; None where the
/// tables of 21.5 have none.
pub(super) fn symbol(mcs: u8, streams: u8, width_mhz: u16) -> Option<Symbol> {
    // Table 21-5: N_SD.
    let subcarriers = match width_mhz {
        20 => 52,
        40 => 108,
        80 => 234,
        160 => 468,
        _ => return None,
    };
    if !(1..=8).contains(&streams) || is_missing(mcs, streams, width_mhz) {
        return None;
    }
    let scheme = scheme(mcs, HIGHEST)?;
    let coded_bits = subcarriers * scheme.coded_bits * u64::from(streams);
    let data_bits = coded_bits * scheme.coding.0 / scheme.coding.1;
    Some(Symbol { data_bits, encoders: encoders(coded_bits, data_bits, scheme) })
}

/// What 21.5 leaves out: there the bits of a symbol cannot be shared evenly among the encoders and
/// the pattern of puncturing.
fn is_missing(mcs: u8, streams: u8, width_mhz: u16) -> bool {
    match (width_mhz, mcs) {
        (20, 9) => !matches!(streams, 3 | 6),
        (80, 6) => matches!(streams, 3 | 7),
        (80, 9) => streams == 6,
        (160, 9) => streams == 3,
        _ => false,
    }
}

/// N_ES of the tables of 21.5: one encoder for each 540 Mb/s with the long guard interval, that is
/// for each 2,160 bits of a symbol; then as many more as it takes to share coded and data bits
/// evenly.
fn encoders(coded_bits: u64, data_bits: u64, scheme: Scheme) -> u64 {
    let shares = |count: u64| {
        data_bits.is_multiple_of(count)
            && coded_bits.is_multiple_of(count)
            && (coded_bits / count).is_multiple_of(scheme.coding.1)
    };
    (data_bits.div_ceil(2_160)..).find(|&count| shares(count)).expect("one bit for each encoder")
}
