//! Counters of contenders and cells.

use std::ops::{Add, AddAssign, Sub};

/// The MAC counters of a contender.
// In this order, what each exchange updates is in one cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct MacCounters {
    /// Transmissions that began (of an RTS or a data frame).
    pub attempts: u64,
    /// Transmissions acknowledged by a MAC ACK.
    pub successes: u64,
    /// Backoffs drawn.
    pub draws: u64,
    /// Transmissions that collided.
    // Placed between the two counters that are always updated together; otherwise the compiler
    // updates them as a vector.
    pub collisions: u64,
    /// Sum of CW over the backoffs drawn.
    pub cw_sum: u64,
    /// Transmissions that failed without a collision.
    pub failures: u64,
    /// Broadcast frames that did not collide.
    pub broadcasts: u64,
    /// Broadcast frames that collided.
    pub broadcast_collisions: u64,
    /// Frames dropped at the retry limit.
    pub drops: u64,
    /// Accesses lost to a higher-priority queue of the same station.
    pub internal_collisions: u64,
    /// With aggregation, the MPDUs of PPDUs that did not collide, counted when they arrive.
    pub mpdus: u64,
    /// MPDUs lost by errors.
    pub mpdu_errors: u64,
}

impl MacCounters {
    /// Returns the number of attempts that have ended: acknowledged, lost or broadcast.
    pub fn attempts_ended(&self) -> u64 {
        self.successes + self.collisions + self.failures + self.broadcasts
    }

    /// Returns the number of ended attempts that needed a response: all but broadcasts.
    pub fn asked(&self) -> u64 {
        self.successes + self.unanswered()
    }

    /// Returns the number of ended attempts without a response.
    pub fn unanswered(&self) -> u64 {
        self.collisions - self.broadcast_collisions + self.failures
    }

    /// Checks that every attempt was acknowledged, lost or broadcast; one may still be on the air.
    pub(crate) fn check_attempts(&self, is_on_air: bool) -> Result<(), String> {
        let ended = self.attempts_ended() + u64::from(is_on_air);
        if self.attempts == ended {
            Ok(())
        } else {
            Err(format!("{} attempts were made, but {ended} ended", self.attempts))
        }
    }

    fn combine(self, other: Self, with: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            attempts: with(self.attempts, other.attempts),
            collisions: with(self.collisions, other.collisions),
            failures: with(self.failures, other.failures),
            successes: with(self.successes, other.successes),
            broadcasts: with(self.broadcasts, other.broadcasts),
            broadcast_collisions: with(self.broadcast_collisions, other.broadcast_collisions),
            drops: with(self.drops, other.drops),
            draws: with(self.draws, other.draws),
            cw_sum: with(self.cw_sum, other.cw_sum),
            internal_collisions: with(self.internal_collisions, other.internal_collisions),
            mpdus: with(self.mpdus, other.mpdus),
            mpdu_errors: with(self.mpdu_errors, other.mpdu_errors),
        }
    }
}

impl Add for MacCounters {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.combine(other, |a, b| a + b)
    }
}

impl AddAssign for MacCounters {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Returns the increase of the counters since `earlier`.
impl Sub for MacCounters {
    type Output = Self;
    fn sub(self, earlier: Self) -> Self {
        self.combine(earlier, |now, then| now - then)
    }
}

/// The counters of a cell as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellCounters {
    /// Collisions between stations.
    pub collisions: u64,
    /// Collisions of two frames, each for the sender of the other.
    pub simultaneous_sends: u64,
    /// Beacons sent.
    pub beacons: u64,
    /// Beacons that collided.
    pub beacon_collisions: u64,
    /// Contention-free periods that have ended.
    pub contention_free_periods: u64,
    /// Polls to stations in contention-free periods.
    pub polls: u64,
    /// Polls answered without data.
    pub polls_without_data: u64,
    /// Data frames acknowledged in contention-free periods.
    pub contention_free_successes: u64,
}

impl CellCounters {
    fn combine(self, other: Self, with: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            collisions: with(self.collisions, other.collisions),
            simultaneous_sends: with(self.simultaneous_sends, other.simultaneous_sends),
            beacons: with(self.beacons, other.beacons),
            beacon_collisions: with(self.beacon_collisions, other.beacon_collisions),
            contention_free_periods: with(
                self.contention_free_periods,
                other.contention_free_periods,
            ),
            polls: with(self.polls, other.polls),
            polls_without_data: with(self.polls_without_data, other.polls_without_data),
            contention_free_successes: with(
                self.contention_free_successes,
                other.contention_free_successes,
            ),
        }
    }
}

impl Add for CellCounters {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.combine(other, |a, b| a + b)
    }
}

/// Returns the increase of the counters since `earlier`.
impl Sub for CellCounters {
    type Output = Self;
    fn sub(self, earlier: Self) -> Self {
        self.combine(earlier, |now, then| now - then)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_without_an_end_is_noticed() {
        let counters = MacCounters { attempts: 3, successes: 2, ..Default::default() };

        assert!(counters.check_attempts(true).is_ok());
        assert!(counters.check_attempts(false).is_err());
    }
}
