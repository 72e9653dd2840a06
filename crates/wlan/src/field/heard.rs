//! The frames of a field for those who write down what each station hears. Changes nothing.

use super::Field;
use super::node::{Frame, Kind};
use crate::events::{HeardFrame, HeardKind, MacEvent, Supply};
use crate::station::StationId;

impl<P: Clone> Field<P> {
    /// Tells from now on of each frame that ends, and of those that have received it.
    pub fn tell_frames(&mut self) {
        self.heard = Some(Vec::new());
    }

    /// Tells of `frame` of `sender`, which has ended, if that is asked for. Of an answer before its receiver has it,
    /// of others after that.
    #[inline]
    pub(super) fn tell_heard<S: Supply<P>>(
        &mut self,
        sender: StationId,
        frame: &Frame,
        supply: &mut S,
    ) {
        if let Some(heard) = &mut self.heard {
            let ears = std::mem::take(heard);
            supply.on_event(frame.end, MacEvent::Heard(self.heard_frame(sender, frame, &ears)));
            let mut ears = ears;
            ears.clear();
            self.heard = Some(ears);
        }
    }

    fn heard_frame<'a>(
        &'a self,
        sender: StationId,
        frame: &Frame,
        ears: &'a [crate::events::HeardBy],
    ) -> HeardFrame<'a, P> {
        let kind = match frame.kind {
            Kind::Rts => HeardKind::Rts,
            Kind::Cts | Kind::CtsToSelf => HeardKind::Cts,
            Kind::Data => HeardKind::Data,
            Kind::Answer => HeardKind::Answer,
        };
        let next = self.nodes[frame.to as usize].next_frame;
        let is_answered = next.is_some_and(|next| next.by == frame.by && next.kind == Kind::Answer);
        let psdu = self.originators[frame.by as usize].frames();
        HeardFrame {
            kind,
            by: frame.by,
            sender,
            to: frame.to,
            start: frame.start,
            header_end: frame.header_end,
            end: frame.end,
            psdu: psdu.filter(|_| frame.kind == Kind::Data),
            is_answered,
            ears,
        }
    }
}
