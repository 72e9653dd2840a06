//! High efficiency, 802.11ax (IEEE 802.11ax-2021, clause 27): PPDUs over the whole channel,
//! or in resource units.

use airtcp_kernel::Duration;

use super::{Amendment, leaves_out_nothing, one_encoder};
use crate::phy::resource_units::UserSignal;

pub(super) const AMENDMENT: Amendment = Amendment {
    format: "he",
    // Table 27-13: N_SD of the resource unit that fills the channel.
    subcarriers: &[(20, 234), (40, 468), (80, 980), (160, 1_960)],
    highest_mcs: 11,
    most_streams: 8,
    guard_intervals: &[800, 1_600, 3_200],
    symbol: Duration::from_nanos(12_800),
    lone_delimiter: true,
    // 27.3.11.8: eight bits for each 20 MHz of a content channel, one for the central unit of 80
    // MHz, CRC and tail; users of 21 bits.
    user_signal: Some(UserSignal {
        in_single_user: false,
        alone_bits: 31,
        common_bits: &[(20, 18), (40, 18), (80, 27), (160, 43)],
        block_bits: (52, 31),
        symbols: &[(0, 26), (1, 52), (2, 78), (3, 104), (4, 156), (5, 208)],
    }),
    leaves_out: leaves_out_nothing,
    encoders: one_encoder,
};
