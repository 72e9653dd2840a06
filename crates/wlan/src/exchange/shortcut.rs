//! The shortcut: an exchange of one frame that nothing disturbs, from the access to the MAC ACK in
//! one call.
//!
//! The rules of an exchange are those of the states ([`OnAir`]). The shortcut
//! abbreviates them for the most frequent case and never changes a result. A property test of the
//! simulator plays scenarios with and without it (`Cell::play_in_steps`), and compares bit for bit.
//! A rule that changes in one of the two must change in the other.
//!
//! **Assumptions.** One contender has won access alone. It sends one frame, and no beacon. So
//! nothing happens in the cell between three instants: the access, the end of the data frame, and
//! the end of the MAC ACK. If the TXOP continues then, its next exchange begins a SIFS later and is
//! played in the same way. Otherwise the shortcut continues with the next access, if one contender
//! wins it alone, and the world has nothing to report before.
//!
//! **When it gives up.** At the second and the third instant it stores the current state of the
//! cell, and the states take over, if
//! - the world has something to report to the cell before, or stops before (see below),
//! - a beacon is due by then,
//! - the data frame is lost, or is a duplicate, or
//! - an empty queue gets a frame because the data frame was received; the last instant is tried
//!   again after that.
//!
//! **Who plays the world.** The world is everything that is not the MAC: queues, links, endpoints,
//! applications, and the clock. It is played in two places. Between two calls of `Cell::advance`
//! the caller plays it. During a call, the shortcut calls [`Supply::play_until`] to play it up to
//! one of its instants. Both obey these laws, so that the results do not depend on which of the two
//! it was:
//! 1. *The order of an instant*: at one instant the world comes first, then the cell. The cell
//!    knows all frames that are queued at t before anything on the air begins or ends at t.
//! 2. *The cell learns everything in time*: playing ends with the event that puts a frame into an
//!    empty queue, and the cell learns of it before anything else happens. So the world never plays
//!    on while a decision of the cell is outdated.
//! 3. *The cell asks, and is not called*: code that plays the world from within `Cell::advance`
//!    cannot call the cell, which is borrowed. It returns a value, and the cell draws its
//!    conclusions.
//! 4. *The world owns the time*: after a "yes" its clock stands at the requested instant, after a
//!    "no" at the last event played. The cell stores instants, and has no clock.

use airtcp_kernel::Time;

use super::beacons::Beacons;
use super::desk::loses;
use super::{Air, Exchange, OnAir, Play};
use crate::events::{MacEvent, Supply};
use crate::station::ContenderId;

/// The maximum number of accesses in one call.
const MOST_AT_ONCE: u32 = 32;

impl<P: Clone> Air<P> {
    /// Counts an exchange that was played to its end here; for tests only.
    #[inline(always)]
    fn count_straight(&mut self) {
        #[cfg(any(test, feature = "testing"))]
        {
            self.straight += 1;
        }
    }
}

impl<P: Clone, E: Exchange<P>, S: Supply<P>> Play<'_, P, E, S> {
    /// Plays the exchange that `by` begins alone at `now`, and those that follow it (in the same
    /// TXOP, or after an access of their own), until something disturbs them. The number is
    /// limited, so that the caller can check for cancellation.
    #[inline(always)]
    pub(super) fn go_straight(&mut self, by: ContenderId, now: Time) {
        let (mut by, mut start, mut accesses) = (by, now, 1);
        loop {
            if let Some(next) = self.play_exchange(by, start) {
                start = next;
                continue;
            }
            let OnAir::Silence = self.air.on_air else { return };
            start = self.air.next_step;
            let may_go_on = accesses < MOST_AT_ONCE
                && (E::PLAIN || start < self.air.beacons.next_target())
                && !self.supply.has_ready();
            if !may_go_on || !self.supply.play_until(start) {
                return;
            }
            accesses += 1;
            match self.begin_alone(start) {
                Some(next) => by = next,
                None => return,
            }
        }
    }

    /// Plays one exchange from `now` on. Returns when the next exchange of its TXOP begins, if
    /// there is one and nothing has disturbed this one.
    #[inline(always)]
    fn play_exchange(&mut self, by: ContenderId, now: Time) -> Option<Time> {
        let Air { originators, frames, roles, beacons, errors, contention, .. } = self.air;
        // Looked up once, because this is most of a run's work.
        let originator = &mut originators[by as usize];
        let station = originator.station;
        let (mpdu, times) = originator.begin(by, now, frames, roles, self.supply);
        let (received, end) = (now + times.received, now + times.total);
        if !play_until::<P, E, S>(beacons, received, self.supply) {
            self.air.sends(by, now, times);
            return None;
        }
        if !self.air.is_perfect {
            if mpdu.is_received {
                self.air.sends(by, now, times);
                return None;
            }
            if loses(errors, roles, frames, station, mpdu) {
                self.again().data_lost(by, received, end);
                return None;
            }
        }
        mpdu.is_received = true;
        self.supply.on_event(received, MacEvent::Received { by, mpdu, came: None });
        let receiver = mpdu.receiver;
        while let Some(contender) = self.supply.next_ready() {
            // Usually this is the receiver, whose MAC ACK has not begun.
            let answering = self.air.answers_seem_to_find_it_idle.then_some(receiver);
            contention.frame_queued_meanwhile(contender, received, answering);
        }
        if !play_until::<P, E, S>(beacons, end, self.supply) {
            self.air.medium.begin_alone(by, received);
            self.air.answers(by, receiver, received, end);
            return None;
        }
        let has_next = self.supply.acknowledged(end, by, mpdu);
        originator.release();
        self.air.count_straight();
        self.exchange_succeeded(by, (receiver, has_next), end)
    }
}

/// Plays the world up to `time`, unless a beacon is due by then. Returns whether `time` was reached
/// and the cell has nothing to learn.
#[inline(always)]
fn play_until<P: Clone, E: Exchange<P>, S: Supply<P>>(
    beacons: &Beacons,
    time: Time,
    supply: &mut S,
) -> bool {
    (E::PLAIN || time < beacons.next_target()) && supply.play_until(time)
}
