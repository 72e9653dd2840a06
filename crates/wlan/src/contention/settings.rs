//! The settings of PHY and MAC that contention needs, precomputed.

use airtcp_kernel::{Duration, Time};

use crate::config::{AfterCollision, ArrivalBeforeOwnAck, Colliders, CwReset, MacConfig};
use crate::phy::PhyConfig;

/// The settings of contention.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) slot_time: Duration,
    /// The wait of listeners after a collision, before their AIFS.
    pub(crate) wait_after_collision: Duration,
    pub(crate) ack_timeout: Duration,
    pub(crate) immediate_access: bool,
    pub(crate) post_backoff: bool,
    pub(crate) post_backoff_after_drop: bool,
    pub(crate) colliders: Colliders,
    pub(crate) arrival_before_own_ack: ArrivalBeforeOwnAck,
    /// Slots that a backoff counts in addition to those that pass: under EDCA one for the slot
    /// boundary at which AIFS ends (IEEE 802.11-2020, 10.23.2.4).
    pub(crate) boundary_slots: u64,
    /// The number of successive failures that raise CW before one more resets it; `None`: a drop
    /// resets it.
    pub(crate) most_failures: Option<u32>,
}

impl Settings {
    /// Derives the settings of contention from those of PHY and MAC.
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
    /// Returns when a frame is sent that arrived on an idle medium at `now` and needs no backoff;
    /// slots count from `origin` on. This is at once under the DCF, and at the next slot boundary
    /// under EDCA (IEEE 802.11-2020, 10.23.2.4).
    pub(crate) fn first_boundary(&self, origin: Time, now: Time) -> Time {
        if now <= origin || self.boundary_slots == 0 {
            return now.max(origin);
        }
        origin + self.slot_time * (now - origin).as_nanos().div_ceil(self.slot_time.as_nanos())
    }
}

/// Returns the number of failures after which [`CwReset::Failures`] resets CW. The rule also
/// applies if no frame is ever dropped, because then no drop resets CW.
fn most_failures(mac: &MacConfig) -> Option<u32> {
    let never_drops = mac.aggregation.is_some() && !mac.rules.retry_limit_under_block_ack;
    let counts = mac.rules.cw_reset == CwReset::Failures || never_drops;
    counts.then_some(mac.short_retry_limit)
}

/// Returns the wait of listeners after a collision, before their DIFS or AIFS begins (IEEE
/// 802.11-2020, 10.23.2.2 item b: EIFS - DIFS + AIFS).
fn wait_after_collision(phy: &PhyConfig, rule: AfterCollision) -> Duration {
    match rule {
        AfterCollision::Eifs => phy.eifs - phy.difs,
        AfterCollision::Difs => Duration::ZERO,
        AfterCollision::EifsThenDifs => phy.eifs,
    }
}
