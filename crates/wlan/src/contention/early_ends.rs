//! TXOPs that end before their announced end. Until then the NAV binds all stations except the
//! holder and the station that received all its frames (IEEE Std 802.11-2020, 10.3.2.4).

use airtcp_kernel::Time;

use super::contender::{Contender, State};
use super::listener::Listener;
use super::{ContenderId, Contention, Stray};
use crate::medium::Nav;
use crate::station::StationId;

impl Contention {
    /// Ends the exchange of `id` with its MAC ACK at `now`, and its TXOP, which was announced until
    /// `until`. `receiver` is the station that received all its frames, if there is only one.
    #[cold]
    pub fn end_success_early(
        &mut self,
        id: ContenderId,
        receiver: Option<StationId>,
        now: Time,
        until: Time,
        has_frame: bool,
    ) {
        let Self { contenders, listener, settings, .. } = self;
        let contender = &mut contenders[id as usize];
        debug_assert!(listener.bursts.is_none(), "TXOPs have limits under EDCA alone");
        contender.counters.successes += 1;
        contender.cw = contender.cw_min;
        listener.medium_idle_from::<false>(until);
        let nav = Nav { ended: now, until, holder: contender.station, receiver };
        listener.nav = nav;
        if has_frame || settings.post_backoff {
            let slots = contender.draw_backoff();
            listener.count_from(now, id, contender, slots, has_frame);
        } else {
            contender.state = State::Idle;
        }
        for other in 0..contenders.len() as ContenderId {
            let contender = &contenders[other as usize];
            if other != id && !nav.binds(contender.station) {
                listener.count_as_before(other, contenders, now);
            }
        }
        listener.find_next_access::<false>(settings.slot_time);
    }
}

impl Listener {
    /// Continues the backoff of `id`, which the NAV does not bind, from `now` on.
    fn count_as_before(&mut self, id: ContenderId, contenders: &mut [Contender], now: Time) {
        let contender = &contenders[id as usize];
        let group = &mut self.backoffs.groups[contender.group];
        let (until, has_frame) = match contender.state {
            State::Backoff { until } => {
                group.remove(id, contenders);
                (until, true)
            }
            State::PostBackoff { until, .. } if until > group.slot => (until, false),
            _ => return,
        };
        let slots = (until - group.slot) as u32;
        self.count_from(now, id, &mut contenders[id as usize], slots, has_frame);
    }

    /// Lets `id` count `slots` on a medium that is idle from `idle_from` on.
    fn count_from(
        &mut self,
        idle_from: Time,
        id: ContenderId,
        contender: &mut Contender,
        slots: u32,
        has_frame: bool,
    ) {
        let from = self.backoffs.groups[contender.group].origin(idle_from);
        let stray = Stray { contender: id, from, slots, has_frame, immediate: false };
        self.backoffs.add_stray(stray, contender);
    }
}
