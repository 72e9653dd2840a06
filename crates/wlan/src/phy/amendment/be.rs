//! Extremely high throughput, 802.11be (IEEE 802.11be-2024, clause 36): single-user PPDUs over the
//! whole channel, on one link.

use airtcp_kernel::Duration;

use super::{Amendment, leaves_out_nothing, one_encoder};

pub(super) const AMENDMENT: Amendment = Amendment {
    format: "eht",
    // N_SD of the resource unit that fills the channel; at 320 MHz four of 996 tones.
    subcarriers: &[(20, 234), (40, 468), (80, 980), (160, 1_960), (320, 3_920)],
    highest_mcs: 13,
    most_streams: 8,
    guard_intervals: &[800, 1_600, 3_200],
    symbol: Duration::from_nanos(12_800),
    lone_delimiter: true,
    leaves_out: leaves_out_nothing,
    encoders: one_encoder,
};
