//! Reports the frames that each station receives, for captures. Changes no state of the MAC.

use airtcp_kernel::Time;

use super::Field;
use super::node::{Frame, Kind, Node};
use crate::events::{HeardBy, HeardFrame, HeardKind, MacEvent, Supply};
use crate::station::StationId;

impl<P: Clone> Field<P> {
    /// Reports every frame that ends from now on, with the stations that received it.
    pub fn tell_frames(&mut self) {
        self.air.heard = Some(Vec::new());
        self.even.is_on = false;
    }

    /// Reports `frame` of `sender`, which has ended, if reports are on. This comes before the
    /// receiver gets its contents.
    #[inline]
    pub(super) fn tell_heard<S: Supply<P>>(
        &mut self,
        sender: StationId,
        frame: &Frame,
        supply: &mut S,
    ) {
        if let Some(heard) = &mut self.air.heard {
            let mut ears = std::mem::take(heard);
            // Stations of a shared listener are listed together.
            ears.sort_unstable_by_key(|ear| ear.station);
            supply.on_event(frame.end, MacEvent::Heard(self.heard_frame(sender, frame, &ears)));
            ears.clear();
            self.air.heard = Some(ears);
        }
    }

    /// Reports every frame on the air at `now` with the stations that receive it so far, if reports
    /// are on. Frames without too much interference yet count as undisturbed to their ends.
    pub fn tell_frames_on_air<S: Supply<P>>(&self, now: Time, supply: &mut S) {
        if self.air.heard.is_none() {
            return;
        }
        let stations = (0..).zip(&self.air.nodes);
        for (sender, frame) in
            stations.clone().filter_map(|(one, node)| Some((one, node.sending()?)))
        {
            let hears = |(station, node): (StationId, &Node)| {
                let lock = self.air.listeners[node.listener as usize].lock.as_ref();
                lock.filter(|lock| lock.from == sender).map(|lock| HeardBy {
                    station,
                    bad_from: lock.first_bad,
                    bad_until: if lock.bad_since == Time::NEVER {
                        lock.last_bad
                    } else {
                        frame.end
                    },
                })
            };
            let ears: Vec<_> = stations.clone().filter_map(hears).collect();
            supply.on_event(now, MacEvent::Heard(self.heard_frame(sender, frame, &ears)));
        }
    }

    fn heard_frame<'a>(
        &'a self,
        sender: StationId,
        frame: &Frame,
        ears: &'a [HeardBy],
    ) -> HeardFrame<'a, P> {
        let kind = match frame.kind {
            Kind::Rts => HeardKind::Rts,
            Kind::Cts | Kind::CtsToSelf => HeardKind::Cts,
            Kind::Data => HeardKind::Data,
            Kind::Answer => HeardKind::Answer,
        };
        HeardFrame {
            kind,
            by: frame.by,
            sender,
            to: frame.to,
            start: frame.start,
            header_end: frame.header_end,
            end: frame.end,
            psdu: self.originators[frame.by as usize].frames(),
            ears,
        }
    }
}
