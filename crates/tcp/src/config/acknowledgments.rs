//! ACK policies as in the resolved scenario: delayed ACKs, omitted ACKs, and ACKs by time. The
//! receiver applies them.

use airtcp_kernel::Duration;
use serde::Deserialize;

use super::AdaptiveSkip;
use crate::acks;

/// The longest delay of an ACK in Linux (`TCP_DELACK_MAX`).
pub(crate) const LONGEST_ADAPTIVE_DELAY: Duration = Duration::from_millis(200);

/// Delayed ACKs for data that arrives in order.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "AckThresholds")]
pub struct DelayedAck {
    /// Acknowledge at once when this many full-sized segments are unacknowledged; 0 and 1 both mean
    /// each segment.
    pub every: u32,
    /// Values that replace [`Self::every`] from later segments on, in ascending order; often none.
    pub later: Vec<Threshold>,
    /// The delayed-ACK timer: the longest delay after the first unacknowledged segment. RFC 1122
    /// section 4.2.3.2 says 0.5 s.
    pub timeout: Duration,
    /// As in Linux: the first segments are acknowledged at once, and the timer follows the gaps
    /// between segments, starting from [`Self::timeout`].
    pub adaptive: bool,
    /// A registered policy, by its number in [`crate::acks::register`]. It decides
    /// instead of [`Self::every`]; [`Self::timeout`] limits its delays.
    pub policy: Option<u16>,
}

/// A value for [`DelayedAck::every`] that applies from one segment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    /// The first segment it applies to. The first full-sized segment of data has number 1, as in
    /// ns-2, where the SYN has number 0; so 0 and 1 both mean from the start.
    pub from_segment: u64,
    /// See [`DelayedAck::every`].
    pub every: u32,
}

/// ACKs that the receiver omits: Gopal, Paul and Raychaudhuri 2004, section II.D.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AckSkip {
    /// Of this many plus one consecutive ACKs that [`DelayedAck`] requests, only the last is sent.
    pub skip: u32,
    /// Adapts the number of omitted ACKs, up to `skip`, to the MAC's experience; `None`: always
    /// `skip`.
    pub adaptive: Option<AdaptiveSkip>,
    /// Applies after the segment with this number, counted as in [`Threshold`].
    pub after_segment: u64,
}

/// TACK: Li et al., "TACK: Improving wireless transport performance by taming acknowledgments",
/// SIGCOMM 2020. [`DelayedAck::timeout`] applies to data that nothing follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tack {
    /// L: acknowledge when this many full-sized segments are unacknowledged ...
    pub every: u32,
    /// beta: ... but at most this often per minimum round trip, which the handshake measures.
    pub beta: u32,
}

/// [`DelayedAck`] as in the resolved scenario.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AckThresholds {
    /// Pairs of a first segment and the `every` that applies from it on; the first pair begins at
    /// segment 0.
    thresholds: Vec<(u64, u32)>,
    timeout_ns: Duration,
    adaptive: bool,
    /// The name of a registered policy.
    #[serde(default)]
    policy: Option<String>,
}

impl TryFrom<AckThresholds> for DelayedAck {
    type Error = String;

    fn try_from(resolved: AckThresholds) -> Result<Self, Self::Error> {
        let thresholds = &resolved.thresholds;
        if !thresholds.is_sorted_by(|before, after| before.0 < after.0) {
            return Err("need thresholds in ascending order".into());
        }
        if thresholds.iter().any(|(_, every)| *every == 0) {
            return Err("an ACK for every 0 segments".into());
        }
        let [(0, every), later @ ..] = thresholds.as_slice() else {
            return Err("need thresholds from segment 0 on".into());
        };
        let threshold = |&(from_segment, every): &(u64, u32)| Threshold { from_segment, every };
        let later = later.iter().map(threshold).collect();
        let every = *every;
        let policy = resolved.policy.map(|name| {
            acks::number(&name).ok_or_else(|| format!("no ACK policy `{name}` is registered"))
        });
        let AckThresholds { timeout_ns: timeout, adaptive, .. } = resolved;
        Ok(Self { every, later, timeout, adaptive, policy: policy.transpose()? })
    }
}

impl DelayedAck {
    /// Returns a policy that acknowledges every `every` segments, and after `timeout`.
    pub fn every(every: u32, timeout: Duration) -> Self {
        Self { every, later: Vec::new(), timeout, adaptive: false, policy: None }
    }

    /// Returns the longest delay of an ACK.
    pub(crate) fn longest(&self) -> Duration {
        if self.adaptive { self.timeout.max(LONGEST_ADAPTIVE_DELAY) } else { self.timeout }
    }

    /// Returns the number of segments per ACK once `delivered` bytes have arrived in order.
    #[inline]
    pub(crate) fn every_at(&self, delivered: u64, mss: u32) -> u32 {
        if self.later.is_empty() { self.every } else { self.later_at(delivered, mss) }
    }

    #[cold]
    fn later_at(&self, delivered: u64, mss: u32) -> u32 {
        let reached = |threshold: &&Threshold| is_reached(threshold.from_segment, delivered, mss);
        self.later.iter().rev().find(reached).map_or(self.every, |threshold| threshold.every)
    }
}

impl AckSkip {
    /// Whether ACKs may be omitted once `delivered` bytes have arrived in order, that is, beyond
    /// the last segment whose ACK is always sent.
    pub(crate) fn is_on(self, delivered: u64, mss: u32) -> bool {
        delivered > self.after_segment.saturating_mul(u64::from(mss))
    }
}

/// Whether full-sized segment `number` is among the `delivered` bytes.
#[inline]
fn is_reached(number: u64, delivered: u64, mss: u32) -> bool {
    delivered >= number.saturating_mul(u64::from(mss))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_count_the_segment_that_has_just_come() {
        // Altman and Jimenez 2003: 1 below number 2, 2 below 5, 3 below 9, then 4.
        let later = [(2, 2), (5, 3), (9, 4)]
            .map(|(from_segment, every)| Threshold { from_segment, every })
            .to_vec();
        let policy = DelayedAck { later, ..DelayedAck::every(1, Duration::from_millis(100)) };

        let every: Vec<u32> =
            (1..=10).map(|segment| policy.every_at(segment * 1000, 1000)).collect();

        assert_eq!(every, [1, 2, 2, 2, 3, 3, 3, 3, 4, 4]);
        assert_eq!(policy.every_at(1999, 1000), 1);
    }
}
