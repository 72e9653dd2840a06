//! Counters of contenders and cells.

use airtcp_kernel::counters;

counters! {
    /// The MAC counters of a contender.
    // In this order, what each exchange updates is in one cache line.
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
}

counters! {
    /// The counters of a cell as a whole.
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
