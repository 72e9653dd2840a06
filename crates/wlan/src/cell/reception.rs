//! What is being received at an instant: for those who begin to count in the middle of a frame.

use airtcp_kernel::Time;

use super::{Cell, OnAir};
use crate::medium::{Medium, Reception};

impl<P: Clone> Cell<P> {
    /// From when to when the frames arrive that are told of as received next, if their PPDU is on the
    /// air and does not collide.
    pub fn receiving(&mut self) -> Option<(Time, Time)> {
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
}
