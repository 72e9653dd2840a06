//! The NAV of a TXOP that has ended before the time up to which it was announced (IEEE Std 802.11-2020,
//! 10.3.2.4). Knows stations and times; whose backoffs stand still is the business of `contention`.

use airtcp_kernel::Time;

use crate::station::StationId;

/// The last TXOP that ended early.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Nav {
    /// The end of its last exchange.
    pub(crate) ended: Time,
    /// The end that was announced.
    pub(crate) until: Time,
    /// The station whose TXOP it was.
    pub(crate) holder: StationId,
    /// The station that all its frames were for, if there is one.
    pub(crate) receiver: Option<StationId>,
}

impl Nav {
    /// Tells whether it keeps `station` quiet: any but those two.
    #[inline]
    pub(crate) fn binds(&self, station: StationId) -> bool {
        station != self.holder && Some(station) != self.receiver
    }

    /// Returns the NAV if it is not over at `now`, and nothing was on the air since: `idle_from` is the
    /// time from which on the medium is idle for those whom the last busy period kept quiet.
    #[inline]
    pub(crate) fn at(&self, now: Time, idle_from: Time) -> Option<&Self> {
        (now < self.until && idle_from == self.until).then_some(self)
    }
}
