//! High efficiency, 802.11ax (IEEE 802.11ax-2021, clause 27): single-user PPDUs over the whole
//! channel.

use airtcp_kernel::Duration;

use super::{Amendment, leaves_out_nothing, one_encoder};

pub(super) const AMENDMENT: Amendment = Amendment {
    format: "he",
    // Table 27-13: N_SD of the resource unit that fills the channel.
    subcarriers: &[(20, 234), (40, 468), (80, 980), (160, 1_960)],
    highest_mcs: 11,
    most_streams: 8,
    guard_intervals: &[800, 1_600, 3_200],
    symbol: Duration::from_nanos(12_800),
    lone_delimiter: true,
    leaves_out: leaves_out_nothing,
    encoders: one_encoder,
};
