//! High throughput, 802.11n (IEEE 802.11-2020, clause 19): what a symbol of the Data field holds.

use super::high_rate::Symbol;
use super::mcs::scheme;

/// The highest MCS of one stream.
const HIGHEST: u8 = 7;

/// The symbol of MCS `mcs` (0 to 7, whatever the number of streams) in a channel of `width_mhz`
/// with `streams` equal streams; None where clause 19.5 has none.
pub(super) fn symbol(mcs: u8, streams: u8, width_mhz: u16) -> Option<Symbol> {
    // Table 19-6: N_SD.
    let subcarriers = match width_mhz {
        20 => 52,
        40 => 108,
        _ => return None,
    };
    if !(1..=4).contains(&streams) {
        return None;
    }
    let scheme = scheme(mcs, HIGHEST)?;
    let data_bits =
        subcarriers * scheme.coded_bits * u64::from(streams) * scheme.coding.0 / scheme.coding.1;
    // 19.3.11.4: a second encoder above 300 Mb/s, which in the tables of 19.5 is that rate with the
    // long guard interval of 800 ns: 1,200 bits in 4 us.
    let encoders = if data_bits > 1_200 { 2 } else { 1 };
    Some(Symbol { data_bits, encoders })
}
