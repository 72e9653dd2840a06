//! Contenders that count from an instant of their own until the medium is busy the next time: those
//! whose frame found it idle, and those that took part in the last collision. Does not know what
//! makes one of them: an access (`contention`), a failure (`failures`).

use airtcp_kernel::Time;

use super::Contention;
use super::contender::State;
use crate::station::ContenderId;

/// A contender that counts from an instant of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stray {
    pub(super) contender: ContenderId,
    /// When its first slot begins.
    pub(super) from: Time,
    pub(super) slots: u32,
    pub(super) has_frame: bool,
    /// Its frame found the medium idle and needs a backoff only if that changes before `from`.
    pub(super) immediate: bool,
}

impl Contention {
    pub(super) fn access_time(&self, stray: &Stray) -> Time {
        stray.from + self.settings.slot_time * u64::from(stray.slots)
    }

    pub(super) fn frame_for_stray(&mut self, id: ContenderId, now: Time) {
        let index = self
            .strays
            .iter()
            .position(|stray| stray.contender == id)
            .expect("a contender in state Stray has an entry");
        let ended = !self.busy && self.access_time(&self.strays[index]) < now;
        if ended {
            self.strays.swap_remove(index);
            self.begin_access(id, now, false);
        } else {
            self.strays[index].has_frame = true;
            if !self.busy {
                self.next_access = self.next_access.min(self.access_time(&self.strays[index]));
            }
        }
    }

    /// The medium became busy at `now`: strays whose time has come transmit, the others join
    /// the common count of their group with what is left of their backoff.
    #[cold]
    pub(super) fn settle_strays(&mut self, now: Time) {
        let mut strays = std::mem::take(&mut self.strays);
        for stray in strays.drain(..) {
            let contender = &mut self.contenders[stray.contender as usize];
            let access = stray.from + self.settings.slot_time * u64::from(stray.slots);
            if access == now && stray.has_frame {
                self.together.push(stray.contender);
                continue;
            }
            let counted = if now < stray.from {
                0
            } else {
                (now - stray.from) / self.settings.slot_time + self.settings.boundary_slots
            };
            let left = if stray.immediate {
                // 10.3.4.2: the medium became busy before it was idle for DIFS.
                u64::from(contender.draw_backoff())
            } else {
                u64::from(stray.slots).saturating_sub(counted)
            };
            let group = &mut self.groups[contender.group as usize];
            if stray.has_frame {
                contender.state = State::Backoff;
                group.insert(stray.contender, group.slot + left);
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
