//! Strays: contenders that count from an instant of their own until the medium becomes busy again.
//! Their frame found the medium idle, or they took part in the last collision. `contention` (an
//! access), `failures` and `early_ends` (a TXOP that ended early) create them.

use airtcp_kernel::{Duration, Time};

use super::Contention;
use super::contender::{Contender, State};
use super::listener::Listener;
use super::settings::Settings;
use crate::station::ContenderId;

/// A contender that counts from an instant of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stray {
    pub(super) contender: ContenderId,
    /// When its first slot begins.
    pub(super) from: Time,
    /// The backoff.
    pub(super) slots: u32,
    pub(super) has_frame: bool,
    /// Its frame found the medium idle. It needs a backoff only if the medium becomes busy before
    /// `from`.
    pub(super) immediate: bool,
}

impl Stray {
    /// Returns when its backoff ends if the medium stays idle.
    pub(super) fn access_time(&self, slot_time: Duration) -> Time {
        self.from + slot_time * u64::from(self.slots)
    }
}

impl Contention {
    /// Gives `id`, which is a stray, a frame at `now`.
    pub(super) fn frame_for_stray(&mut self, id: ContenderId, now: Time) {
        let Self { listener, settings, .. } = self;
        let index = listener
            .strays
            .iter()
            .position(|stray| stray.contender == id)
            .expect("a contender in state Stray has an entry");
        let access = listener.strays[index].access_time(settings.slot_time);
        if !listener.busy && access < now {
            listener.strays.swap_remove(index);
            self.begin_access(id, now, false);
        } else {
            listener.strays[index].has_frame = true;
            if !listener.busy {
                listener.next_access = listener.next_access.min(access);
            }
        }
    }
}

impl Listener {
    /// Handles the strays when the medium becomes busy at `now`. Those whose backoff ends then are
    /// added to `together`. The others join their group with their remaining slots.
    #[cold]
    pub(super) fn settle_strays(
        &mut self,
        now: Time,
        settings: &Settings,
        contenders: &mut [Contender],
        together: &mut Vec<ContenderId>,
    ) {
        let mut strays = std::mem::take(&mut self.strays);
        for stray in strays.drain(..) {
            let contender = &mut contenders[stray.contender as usize];
            let access = stray.access_time(settings.slot_time);
            if access == now && stray.has_frame {
                together.push(stray.contender);
                continue;
            }
            let counted = if now < stray.from {
                0
            } else {
                (now - stray.from) / settings.slot_time + settings.boundary_slots
            };
            let left = if stray.immediate {
                // 10.3.4.2: the medium became busy before it was idle for DIFS.
                u64::from(contender.draw_backoff())
            } else {
                u64::from(stray.slots).saturating_sub(counted)
            };
            let group = &mut self.groups[contender.group];
            if stray.has_frame {
                contender.state = State::Backoff;
                group.insert(stray.contender, contender, group.slot + left);
            } else if access > now && (left > 0 || counted == 0) {
                let since = self.busy_periods;
                contender.state = State::PostBackoff { until: group.slot + left, since };
            } else {
                contender.state = State::Idle;
            }
        }
        self.strays = strays;
    }
}
