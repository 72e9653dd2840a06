//! The acknowledgments of a receiver, as the resolved form of a scenario has them: of data in order, which of them are
//! left out, and those at times. When one is due is the receiver's.

use airtcp_kernel::Duration;
use serde::Deserialize;

use super::AdaptiveSkip;
use crate::acks;

/// Linux delays an acknowledgment by no more (`TCP_DELACK_MAX`).
pub(crate) const LONGEST_ADAPTIVE_DELAY: Duration = Duration::from_millis(200);

/// The acknowledgments of data that arrives in order.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "AckThresholds")]
pub struct DelayedAck {
    /// As soon as this many full-sized segments are unacknowledged; 0 and 1 both mean each segment.
    pub every: u32,
    /// The numbers in place of [`Self::every`] from later segments on, in ascending order; often none.
    pub later: Vec<Threshold>,
    /// At the latest this long after the first of them: RFC 1122 section 4.2.3.2 says 0.5 s.
    pub timeout: Duration,
    /// As in Linux: the first segments are acknowledged at once, and the timeout follows the gaps
    /// between segments, from [`Self::timeout`] on.
    pub adaptive: bool,
    /// A policy of [`acks::register`](crate::acks::register) by its number there, which decides in place of
    /// [`Self::every`]; [`Self::timeout`] bounds its delays.
    pub policy: Option<u16>,
}

/// From one segment on, an acknowledgment for every so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    /// From the segment with this number on. The first full-sized segment of data has number 1, as
    /// in ns-2, where the SYN has number 0; so 0 and 1 both mean from the start.
    pub from_segment: u64,
    /// As [`DelayedAck::every`].
    pub every: u32,
}

/// Acknowledgments that the receiver leaves out: Gopal, Paul and Raychaudhuri 2004, section II.D.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AckSkip {
    /// Of so many and one that [`DelayedAck`] asks for in a row, only the last one is sent.
    pub skip: u32,
    /// Not always so many, but as many as the MAC's experience asks for, so many at most; `None`: always.
    pub adaptive: Option<AdaptiveSkip>,
    /// From the next segment after the one with this number on, counted as in [`Threshold`].
    pub after_segment: u64,
}

/// Tame acknowledgments: Li et al., "TACK: Improving wireless transport performance by taming
/// acknowledgments", SIGCOMM 2020. [`DelayedAck::timeout`] is for what nothing follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tack {
    /// L: an acknowledgment when so many full-sized segments are unacknowledged ...
    pub every: u32,
    /// beta: ... and no more than so many in a least round trip, which the handshake tells.
    pub beta: u32,
}

/// [`DelayedAck`] as the resolved form has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AckThresholds {
    /// From which segment on, an acknowledgment for every so many; the first is from segment 0 on.
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
    /// Asks for an acknowledgment for every `every` segments, and after `timeout`.
    pub fn every(every: u32, timeout: Duration) -> Self {
        Self { every, later: Vec::new(), timeout, adaptive: false, policy: None }
    }

    /// Returns the longest delay of an acknowledgment.
    pub(crate) fn longest(&self) -> Duration {
        if self.adaptive { self.timeout.max(LONGEST_ADAPTIVE_DELAY) } else { self.timeout }
    }

    /// Returns how many segments an acknowledgment is for when `delivered` bytes have come in order.
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
    /// Tells whether acknowledgments may be left out when `delivered` bytes have come in order: some of
    /// them lie beyond the last segment whose acknowledgment is always sent.
    pub(crate) fn is_on(self, delivered: u64, mss: u32) -> bool {
        delivered > self.after_segment.saturating_mul(u64::from(mss))
    }
}

/// Tells whether full-sized segment `number` has come when `delivered` bytes have.
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
