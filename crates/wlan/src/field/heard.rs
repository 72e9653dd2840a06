//! The frames of a field for those who write down what each station hears. Changes nothing.

use super::Field;
use super::node::{Frame, Kind};
use crate::events::{HeardBy, HeardFrame, HeardKind, MacEvent, Supply};
use crate::station::StationId;

impl<P: Clone> Field<P> {
    /// Tells from now on of each frame that ends, and of those that have received it.
    pub fn tell_frames(&mut self) {
        self.air.heard = Some(Vec::new());
        self.air.sits_out = false;
        self.air.plays_whole = false;
    }

    /// Tells of `frame` of `sender`, which has ended, if that is asked for; before its receiver has what is in it.
    #[inline]
    pub(super) fn tell_heard<S: Supply<P>>(
        &mut self,
        sender: StationId,
        frame: &Frame,
        supply: &mut S,
    ) {
        if let Some(heard) = &mut self.air.heard {
            let mut ears = std::mem::take(heard);
            // Those that listen together are told of together.
            ears.sort_unstable_by_key(|ear| ear.station);
            supply.on_event(frame.end, MacEvent::Heard(self.heard_frame(sender, frame, &ears)));
            ears.clear();
            self.air.heard = Some(ears);
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
