//! A collision of PPDUs of different widths. All stations have one power, which a PPDU spreads over
//! its channel: in the primary channel a narrower one is stronger.

use airtcp_kernel::Time;

use super::{Aggregate, Sends, set_arrivals};
use crate::config::NarrowCollider;
use crate::events::Supply;
use crate::exchange::Play;
use crate::sequence::dcf::FrameTimes;
use crate::station::ContenderId;

/// The SINR above which a preamble is detected: 4 dB, as in ns-3.
const DETECTED: f64 = 2.511_886_431_509_58;

impl<P: Clone> Aggregate<P> {
    /// Returns the width of the data that `by` sends first, in MHz; `None` if it begins with a
    /// control frame.
    fn width_of_data_mhz(&self, by: ContenderId) -> Option<u16> {
        let queue = &self.queues[by as usize];
        let is_data = queue.sends == Sends::Data && queue.times.first() == queue.times.data;
        is_data.then(|| self.exchanges[queue.class as usize].width_mhz())
    }
}

impl<P: Clone, S: Supply<P>> Play<'_, P, Aggregate<P>, S> {
    /// Receives the MPDUs that follow all others of a collision: see
    /// [`crate::exchange::Exchange::outlasts`].
    #[cold]
    #[inline(never)]
    pub(super) fn narrow_outlasts(&mut self, end: Time) -> Option<(ContenderId, FrameTimes)> {
        if self.mac.narrow_collider == NarrowCollider::Lost {
            return None;
        }
        let by = self.air.medium.transmissions().iter().max_by_key(|one| one.end)?.by;
        let others = || self.air.medium.transmissions().iter().filter(|one| one.by != by);
        let width = self.mac.width_of_data_mhz(by)?;
        // In its own channel, in units of its power.
        let interference: f64 = others()
            .map(|one| {
                f64::from(width) / f64::from(self.mac.width_of_data_mhz(one.by).unwrap_or(20))
            })
            .sum();
        let until = others().map(|one| one.end).max()? + self.air.frames.phy().propagation_delay;
        let receiver = self.air.originators[by as usize].frames()?.receiver();
        let is_deaf = others().any(|one| {
            let station = self.air.originators[one.by as usize].station;
            station == receiver || self.air.beacons.is_on_air(one.by)
        });
        if until >= end
            || interference * DETECTED >= 1.0
            || is_deaf
            || self.air.beacons.is_on_air(by)
        {
            return None;
        }
        let (times, preamble) =
            (self.mac.queues[by as usize].times, self.mac.queues[by as usize].preamble);
        let psdu = self.air.originators[by as usize].frames()?;
        let (mut arrivals, all) = (Vec::new(), psdu.mpdus().len());
        set_arrivals(&mut arrivals, end, times.data - preamble, psdu);
        // The first frame began with the preamble.
        let overlapped = |place: usize| {
            let before = arrivals[..place].iter().rfind(|&&one| one < arrivals[place]);
            before.is_none_or(|&begin| begin < until)
        };
        let (frames, errors) = self.desk().receive(by, end, 0..all, overlapped);
        self.air.contention.count_mpdus(by, frames, errors);
        let response = FrameTimes {
            data: times.ack,
            first: times.ack,
            data_received: times.ack + self.air.frames.phy().propagation_delay,
            total: times.ack + self.air.frames.phy().propagation_delay,
            ..FrameTimes::default()
        };
        (frames > errors).then_some((by, response))
    }
}
