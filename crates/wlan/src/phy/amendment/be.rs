//! Extremely high throughput, 802.11be (IEEE 802.11be-2024, clause 36): PPDUs over the whole
//! channel, or in resource units, on one link.

use airtcp_kernel::Duration;

use super::{Amendment, leaves_out_nothing, one_encoder};
use crate::phy::resource_units::UserSignal;

pub(super) const AMENDMENT: Amendment = Amendment {
    format: "eht",
    // N_SD of the resource unit that fills the channel; at 320 MHz four of 996 tones.
    subcarriers: &[(20, 234), (40, 468), (80, 980), (160, 1_960), (320, 3_920)],
    highest_mcs: 13,
    most_streams: 8,
    guard_intervals: &[800, 1_600, 3_200],
    symbol: Duration::from_nanos(12_800),
    lone_delimiter: true,
    // 36.3.12.8: 17 bits and nine for each 20 MHz of a content channel, CRC and tail, twice from 160
    // MHz on; users of 22 bits.
    user_signal: Some(UserSignal {
        in_single_user: true,
        alone_bits: 52,
        common_bits: &[(20, 36), (40, 36), (80, 45), (160, 73)],
        block_bits: (54, 32),
        symbols: &[(0, 26), (1, 52), (3, 104)],
    }),
    leaves_out: leaves_out_nothing,
    encoders: one_encoder,
};
