//! The time for which a station keeps the medium that it has won: one exchange after the other, a SIFS apart,
//! as long as each fits into the limit of its access category (IEEE Std 802.11-2020, 10.23.2.8).

use airtcp_kernel::{Duration, Time};

/// A transmission opportunity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Txop {
    end: Time,
}

impl Txop {
    /// Makes one that begins at `start`. With a limit of zero it consists of one exchange.
    #[inline]
    pub(crate) fn new(start: Time, limit: Duration) -> Self {
        Self { end: start + limit }
    }

    /// Returns whether anything more could begin after `now`.
    #[inline]
    pub(crate) fn is_open(self, now: Time) -> bool {
        now < self.end
    }

    /// Returns when it ends at the latest.
    pub(crate) fn end(self) -> Time {
        self.end
    }

    /// Returns the time that is left from `start` on, if any; else zero.
    pub(crate) fn left(self, start: Time) -> Duration {
        if start < self.end { self.end - start } else { Duration::ZERO }
    }
}
