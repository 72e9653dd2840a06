//! Contenders of a station whose only radio is on another link (eMLSR; IEEE Std 802.11be-2024,
//! 35.3.17). It does not sense the medium meanwhile, so its backoff neither goes on nor ends.

use airtcp_kernel::Time;

use super::Contention;
use super::backoffs::{Senses, Stray};
use super::contender::State;
use crate::station::ContenderId;

impl Contention {
    /// Takes the backoff of `id`, whose station does not sense the medium from `now` on. Returns
    /// the slots that are left of it, if there is one that counts.
    pub fn leave(&mut self, id: ContenderId, now: Time) -> Option<u32> {
        let Self { contenders, listener, settings, .. } = self;
        let contender = &contenders[id as usize];
        let (state, group) = (contender.state, contender.group);
        let mut left = listener.backoffs.leave(id, contenders)?;
        contenders[id as usize].state = State::Idle;
        // A backoff on a busy medium was frozen when it became busy.
        if !listener.busy {
            let origin = match state {
                State::Stray => Time::ZERO,
                _ => listener.backoffs.groups[group].origin(listener.idle_from),
            };
            let (slots, counted) = left.freeze(origin, now, settings);
            let has_ended = slots == 0 && counted > 0 && !left.has_frame;
            left = Stray { slots: slots as u32, immediate: left.immediate || has_ended, ..left };
        }
        listener.settle_next_access(settings.slot_time);
        // 10.3.4.2: a frame that found the medium idle needs a backoff if it is not sent.
        (!left.immediate).then_some(left.slots)
    }

    /// Continues the backoff of `id` with `left` slots, whose station senses the medium again from
    /// `now` on: the medium has to be idle for AIFS first. Without a backoff, a frame needs one.
    pub fn come_back(&mut self, id: ContenderId, left: Option<u32>, has_frame: bool, now: Time) {
        let Self { contenders, listener, settings, .. } = self;
        let contender = &mut contenders[id as usize];
        let slots = match left {
            Some(slots) => slots,
            None if has_frame => contender.draw_backoff(),
            None => return,
        };
        let senses = listener.senses(contender.station, now);
        let group = &listener.backoffs.groups[contender.group];
        let from = match senses {
            Senses::Idle(spaces) => group.origin(spaces).max(now + group.aifs),
            Senses::Busy | Senses::IdleBeforeAck => Time::ZERO,
        };
        let stray = Stray { contender: id, from, slots, has_frame, immediate: false };
        listener.backoffs.join(stray, contender);
        listener.settle_next_access(settings.slot_time);
    }
}
