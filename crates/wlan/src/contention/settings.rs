//! The settings of PHY and MAC that contention needs, ready to use. Knows no state.

use airtcp_kernel::{Duration, Time};

use crate::config::{AfterCollision, ArrivalBeforeOwnAck, Colliders, CwReset, MacConfig};
use crate::phy::PhyConfig;

/// The settings of contention.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) slot_time: Duration,
    /// The wait of those that heard a collision, before their inter-frame space.
    pub(crate) wait_after_collision: Duration,
    pub(crate) ack_timeout: Duration,
    pub(crate) immediate_access: bool,
    pub(crate) post_backoff: bool,
    pub(crate) post_backoff_after_drop: bool,
    pub(crate) colliders: Colliders,
    pub(crate) arrival_before_own_ack: ArrivalBeforeOwnAck,
    /// The slots that a backoff counts beyond those that pass: under EDCA one for the boundary at which
    /// AIFS ends (IEEE 802.11-2020, 10.23.2.4).
    pub(crate) boundary_slots: u64,
    /// The number of failures in a row that raise CW before one more sets it back; `None`: a drop does.
    pub(crate) most_failures: Option<u32>,
}

impl Settings {
    /// Takes the settings of contention from those of PHY and MAC.
    pub(crate) fn new(phy: &PhyConfig, mac: &MacConfig) -> Self {
        Self {
            slot_time: phy.slot_time,
            wait_after_collision: wait_after_collision(phy, mac.rules.after_collision),
            ack_timeout: phy.ack_timeout,
            immediate_access: mac.rules.immediate_access,
            post_backoff: mac.rules.post_backoff,
            post_backoff_after_drop: mac.rules.post_backoff_after_drop,
            colliders: mac.rules.colliders,
            arrival_before_own_ack: mac.rules.arrival_before_own_ack,
            boundary_slots: u64::from(mac.edca.is_some()),
            most_failures: most_failures(mac),
        }
    }
}

impl Settings {
    /// Returns the instant at which a frame may go that came to an idle medium at `now` and needs no
    /// backoff, if slots are counted from `origin` on: at once under the DCF, and under EDCA at the
    /// next slot boundary (IEEE 802.11-2020, 10.23.2.4).
    pub(crate) fn first_boundary(&self, origin: Time, now: Time) -> Time {
        if now <= origin || self.boundary_slots == 0 {
            return now.max(origin);
        }
        origin + self.slot_time * (now - origin).as_nanos().div_ceil(self.slot_time.as_nanos())
    }
}

/// Returns the number of failures after which [`CwReset::Failures`] sets CW back. It holds also where no
/// frame is given up, for then no drop could.
fn most_failures(mac: &MacConfig) -> Option<u32> {
    let never_drops = mac.aggregation.is_some() && !mac.rules.retry_limit_under_block_ack;
    let counts = mac.rules.cw_reset == CwReset::Failures || never_drops;
    counts.then_some(mac.short_retry_limit)
}

/// Returns the wait after a collision of those that heard it, before their DIFS or AIFS begins
/// (IEEE 802.11-2020, 10.23.2.2 item b: EIFS - DIFS + AIFS).
fn wait_after_collision(phy: &PhyConfig, rule: AfterCollision) -> Duration {
    match rule {
        AfterCollision::Eifs => phy.eifs - phy.difs,
        AfterCollision::Difs => Duration::ZERO,
        AfterCollision::EifsThenDifs => phy.eifs,
    }
}
