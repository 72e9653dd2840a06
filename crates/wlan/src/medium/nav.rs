//! The NAV of a TXOP that ended before its announced end (IEEE Std 802.11-2020, 10.3.2.4).
//! `contention` freezes the backoffs.

use airtcp_kernel::Time;

use crate::station::StationId;

/// The last TXOP that ended early.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Nav {
    /// The end of its last exchange.
    pub(crate) ended: Time,
    /// The announced end.
    pub(crate) until: Time,
    /// The TXOP holder.
    pub(crate) holder: StationId,
    /// The station that received all its frames, if there is only one.
    pub(crate) receiver: Option<StationId>,
}

impl Nav {
    /// Returns whether the NAV binds `station`: all stations but the holder and that receiver.
    #[inline]
    pub(crate) fn binds(&self, station: StationId) -> bool {
        station != self.holder && Some(station) != self.receiver
    }

    /// Returns the NAV if it is not over at `now`, and if nothing was on the air since. `idle_from`
    /// is when the medium becomes idle for the stations that the last busy period bound.
    #[inline]
    pub(crate) fn at(&self, now: Time, idle_from: Time) -> Option<&Self> {
        (now < self.until && idle_from == self.until).then_some(self)
    }
}
