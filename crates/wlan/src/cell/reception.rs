//! What is being received at an instant: for those who begin to count in the middle of a frame.

use airtcp_kernel::Time;

use super::{Cell, OnAir};
use crate::medium::{Medium, Reception};
use crate::station::StationId;

impl<P: Clone> Cell<P> {
    /// From when to when the frames arrive that are told of as received next, if their PPDU is on the
    /// air and does not collide.
    pub fn receiving(&mut self) -> Option<(Time, Time)> {
        if matches!(self.on_air, OnAir::ContentionFree) {
            return self.receiving_without_contention();
        }
        let OnAir::Sending { end } = self.on_air else { return None };
        let &first = self.medium.transmissions().first()?;
        let by = first.by;
        if Medium::reception(&first) == Reception::Overlapped || self.beacons.is_on_air(by) {
            return None;
        }
        let arrived = self.aggregates.as_ref().and_then(|one| one.last_arrival());
        let times = self.frame_times(by);
        let before = (times.total + times.data).as_nanos() - times.data_received.as_nanos();
        let begin = Time::from_nanos(end.as_nanos() - before);
        Some((arrived.unwrap_or(begin), self.next_step))
    }

    /// Whether `station` has received a data frame and has not begun its MAC ACK.
    pub(super) fn is_before_own_ack(&self, station: StationId, now: Time) -> bool {
        let OnAir::Acknowledging { by, ack_start } = self.on_air else { return false };
        now < ack_start && self.sends_to(by) == Some(station)
    }
}
