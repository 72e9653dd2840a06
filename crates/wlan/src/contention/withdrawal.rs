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
            State::Backoff => {
                let group = &mut listener.groups[contenders[id as usize].group];
                let left = group.remove(id, contenders);
                let until = group.slot + u64::from(left);
                contenders[id as usize].state =
                    State::PostBackoff { until, since: listener.busy_periods };
            }
            State::Stray => {
                let place = listener.strays.iter().position(|stray| stray.contender == id);
                let place = place.expect("a contender in state Stray has an entry");
                if listener.strays[place].immediate {
                    listener.strays.swap_remove(place);
                    contenders[id as usize].state = State::Idle;
                } else {
                    listener.strays[place].has_frame = false;
                }
            }
            _ => return,
        }
        if !listener.busy {
            listener.find_next_access::<false>(settings.slot_time);
        }
    }
}
