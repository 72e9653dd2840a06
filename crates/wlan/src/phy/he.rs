//! High efficiency, 802.11ax (IEEE 802.11ax-2021, clause 27), PPDUs to one user over the whole
//! channel: what a symbol of the Data field holds.

use super::high_rate::Symbol;
use super::mcs::scheme;

/// The highest MCS.
const HIGHEST: u8 = 11;

/// The symbol of MCS `mcs` in a channel of `width_mhz` with `streams` streams; None where the
/// tables of 27.5 have none.
pub(super) fn symbol(mcs: u8, streams: u8, width_mhz: u16) -> Option<Symbol> {
    // Table 27-13: N_SD of the resource unit that fills the channel.
    let subcarriers = match width_mhz {
        20 => 234,
        40 => 468,
        80 => 980,
        160 => 1_960,
        _ => return None,
    };
    if !(1..=8).contains(&streams) {
        return None;
    }
    let scheme = scheme(mcs, HIGHEST)?;
    let coded_bits = subcarriers * scheme.coded_bits * u64::from(streams);
    // Table 27-12: N_DBPS = floor(N_CBPS R).
    let data_bits = coded_bits * scheme.coding.0 / scheme.coding.1;
    Some(Symbol { data_bits, encoders: 1 })
}
