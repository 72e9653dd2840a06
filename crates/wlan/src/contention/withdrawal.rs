//! Frames that another link takes away (IEEE Std 802.11be-2024, 35.3): the backoff goes on without
//! one.

use super::Contention;
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
}
