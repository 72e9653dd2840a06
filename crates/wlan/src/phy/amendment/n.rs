//! High throughput, 802.11n (IEEE 802.11-2020, clause 19).

use airtcp_kernel::Duration;

use super::{Amendment, leaves_out_nothing};
use crate::phy::mcs::Scheme;

pub(super) const AMENDMENT: Amendment = Amendment {
    format: "ht",
    // Table 19-6.
    subcarriers: &[(20, 52), (40, 108)],
    highest_mcs: 7,
    most_streams: 4,
    guard_intervals: &[400, 800],
    symbol: Duration::from_nanos(3_200),
    lone_delimiter: false,
    user_signal: None,
    leaves_out: leaves_out_nothing,
    encoders,
};

/// Returns 2 encoders above 300 Mb/s (19.3.11.4). In the tables of 19.5 this is the rate with the
/// long guard interval of 800 ns: 1,200 bits in 4 us.
fn encoders(_: u64, data_bits: u64, _: Scheme) -> u64 {
    if data_bits > 1_200 { 2 } else { 1 }
}
