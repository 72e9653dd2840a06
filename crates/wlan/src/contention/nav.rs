//! The NAV: a TXOP that was announced up to its limit keeps the others quiet until then, but neither
//! its holder nor whom all its frames were for (IEEE Std 802.11-2020, 10.3.2.4).

use airtcp_kernel::Time;

use super::contender::State;
use super::{ContenderId, Contention, Stray};
use crate::station::StationId;

/// The last TXOP that ended early.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Nav {
    pub(crate) ended: Time,
    until: Time,
    /// Whom it keeps quiet: all but these two.
    holder: StationId,
    receiver: Option<StationId>,
}

impl Nav {
    /// Whether it keeps `station` quiet.
    #[inline]
    pub(crate) fn binds(&self, station: StationId) -> bool {
        station != self.holder && Some(station) != self.receiver
    }

    /// The NAV at `now`, if it is not over, and nothing was on the air since: `idle_from` is when the
    /// medium is idle for those whom the last busy period kept quiet.
    #[inline]
    pub(crate) fn at(&self, now: Time, idle_from: Time) -> Option<&Self> {
        (now < self.until && idle_from == self.until).then_some(self)
    }
}

impl Contention {
    /// The exchange of `id`, which is alone on the air, has ended with its MAC ACK at `now`, and its
    /// TXOP with it, which was announced until `until`. All frames of it were for `receiver`, or not
    /// all were for the same.
    #[cold]
    pub fn end_success_early(
        &mut self,
        id: ContenderId,
        receiver: Option<StationId>,
        now: Time,
        until: Time,
        has_frame: bool,
    ) {
        debug_assert!(self.bursts.is_none(), "TXOPs have limits under EDCA alone");
        let contender = &mut self.contenders[id as usize];
        contender.counters.successes += 1;
        contender.cw = contender.cw_min;
        let holder = contender.station;
        self.medium_idle_from::<false>(until);
        self.nav = Nav { ended: now, until, holder, receiver };
        if has_frame || self.settings.post_backoff {
            let slots = self.contenders[id as usize].draw_backoff();
            self.count_from(now, id, slots, has_frame);
        } else {
            self.contenders[id as usize].state = State::Idle;
        }
        for other in 0..self.contenders.len() as ContenderId {
            if other != id && !self.nav.binds(self.contenders[other as usize].station) {
                self.count_as_before(other, now);
            }
        }
        self.find_next_access::<false>();
    }

    /// `id`, which the NAV does not bind, goes on with its backoff from `now` on.
    fn count_as_before(&mut self, id: ContenderId, now: Time) {
        let contender = &self.contenders[id as usize];
        let group = &mut self.groups[contender.group as usize];
        let (slots, has_frame) = match contender.state {
            State::Backoff => (group.remove(id), true),
            State::PostBackoff { until, .. } if until > group.slot => {
                ((until - group.slot) as u32, false)
            }
            _ => return,
        };
        self.count_from(now, id, slots, has_frame);
    }

    fn count_from(&mut self, idle_from: Time, id: ContenderId, slots: u32, has_frame: bool) {
        let contender = &mut self.contenders[id as usize];
        let from = self.groups[contender.group as usize].origin(idle_from);
        contender.state = State::Stray;
        self.strays.push(Stray { contender: id, from, slots, has_frame, immediate: false });
    }
}
