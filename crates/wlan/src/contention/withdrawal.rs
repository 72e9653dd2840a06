//! Frames that another link takes away, and packets that arrive while another link holds frames of
//! their queue (IEEE Std 802.11be-2024, 35.3): the backoff goes on without a frame.

use airtcp_kernel::Time;

use super::Contention;
use super::backoffs::{Senses, Stray};
use super::contender::State;
use crate::station::ContenderId;

impl Contention {
    /// Reports that `id` has no frame to send any more. Does nothing if it does not contend.
    pub fn withdraw(&mut self, id: ContenderId) {
        let Self { contenders, listener, settings, .. } = self;
        match contenders[id as usize].state {
            State::Backoff { until } => listener.backoffs.frame_left(id, until, contenders),
            State::Stray => {
                let strays = &mut listener.backoffs.strays;
                let place = strays.iter().position(|stray| stray.contender == id);
                let place = place.expect("a contender in state Stray has an entry");
                if strays[place].immediate {
                    strays.swap_remove(place);
                    contenders[id as usize].state = State::Idle;
                } else {
                    strays[place].has_frame = false;
                }
            }
            _ => return,
        }
        listener.settle_next_access(settings.slot_time);
    }

    /// Reports that `id` has a frame to send, under [`OtherLinks::Shared`]: with `is_arrival` a
    /// packet that found its queue not empty, otherwise a frame that another link has returned.
    /// Without a pending backoff the packet draws none, and the frame does not contend.
    ///
    /// [`OtherLinks::Shared`]: crate::config::OtherLinks::Shared
    pub fn frame_of_links(&mut self, id: ContenderId, now: Time, is_arrival: bool) {
        let Self { contenders, listener, settings, .. } = self;
        let contender = &mut contenders[id as usize];
        let senses = listener.senses(contender.station, now);
        let backoffs = &mut listener.backoffs;
        if contender.state == State::Stray {
            self.frame_queued(id, now, false);
        } else if backoffs.needs_access(id, contender, senses, now, settings) {
            if !is_arrival {
                return;
            }
            let group = &mut backoffs.groups[contender.group];
            if let Senses::Idle(spaces) = senses {
                // Not at a slot boundary.
                let from = now.max(group.origin(spaces));
                backoffs.add_stray(Stray::without_backoff(id, from), contender);
            } else {
                group.insert(id, contender, group.slot);
            }
        }
        self.listener.settle_next_access(self.settings.slot_time);
    }
}
