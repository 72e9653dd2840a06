//! Very high throughput, 802.11ac (IEEE 802.11-2020, clause 21).

use airtcp_kernel::Duration;

use super::Amendment;
use crate::phy::mcs::Scheme;

pub(super) const AMENDMENT: Amendment = Amendment {
    format: "vht",
    // Table 21-5.
    subcarriers: &[(20, 52), (40, 108), (80, 234), (160, 468)],
    highest_mcs: 9,
    most_streams: 8,
    guard_intervals: &[400, 800],
    symbol: Duration::from_nanos(3_200),
    lone_delimiter: true,
    user_signal: None,
    leaves_out,
    encoders,
};

/// Omits, as 21.5 does, combinations in which the encoders and the puncturing pattern cannot share
/// the bits of a symbol evenly.
fn leaves_out(mcs: u8, streams: u8, width_mhz: u16) -> bool {
    match (width_mhz, mcs) {
        (20, 9) => !matches!(streams, 3 | 6),
        (80, 6) => matches!(streams, 3 | 7),
        (80, 9) => streams == 6,
        (160, 9) => streams == 3,
        _ => false,
    }
}

/// Returns N_ES of the tables of 21.5: one encoder per 540 Mb/s with the long guard interval, which
/// is per 2,160 bits of a symbol; then as many more as are needed to share coded and data bits
/// evenly.
fn encoders(coded_bits: u64, data_bits: u64, scheme: Scheme) -> u64 {
    let shares = |count: u64| {
        data_bits.is_multiple_of(count)
            && coded_bits.is_multiple_of(count)
            && (coded_bits / count).is_multiple_of(scheme.coding.1)
    };
    (data_bits.div_ceil(2_160)..).find(|&count| shares(count)).expect("one bit for each encoder")
}
