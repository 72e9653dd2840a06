//! The time for which a station keeps the medium that it has won: exchanges a SIFS apart, as long
//! as each fits into the TXOP limit of its access category (IEEE Std 802.11-2020, 10.23.2.8).

use airtcp_kernel::{Duration, Time};

/// A transmission opportunity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Txop {
    end: Time,
}

impl Txop {
    /// Creates a TXOP that begins at `start`. With a limit of zero it has one exchange.
    #[inline]
    pub(crate) fn new(start: Time, limit: Duration) -> Self {
        Self { end: start + limit }
    }

    /// Returns whether it lasts beyond `now`.
    #[inline]
    pub(crate) fn is_open(self, now: Time) -> bool {
        now < self.end
    }

    /// Returns its latest end.
    pub(crate) fn end(self) -> Time {
        self.end
    }

    /// Returns the time that is left from `start` on, or zero.
    pub(crate) fn left(self, start: Time) -> Duration {
        if start < self.end { self.end - start } else { Duration::ZERO }
    }
}
