//! The straight line: an exchange of one frame that nothing disturbs, from the access to the MAC
//! ACK in one call.
//!
//! The rules of an exchange are those of the states ([`OnAir`](super::OnAir)). This is an abbreviation of them
//! for what most of a run consists of, and never changes an outcome: a property test of the
//! simulator plays scenarios with it and without it (`Cell::play_in_steps`), and compares bit for
//! bit. A rule that changes in one of the two has to change in the other.
//!
//! **What it assumes.** One contender alone has got at the medium. It sends one frame, and no
//! beacon. So nothing happens in the cell between three instants: the access, the end of the data
//! frame, and the end of the MAC ACK. If its TXOP goes on then, the next exchange of it has an access of
//! its own, a SIFS later, and is played so, too. If not, the line goes on with the next access, if one
//! contender alone gets at the medium then, and the world has nothing to tell before it.
//!
//! **When it gives up.** At the second and the third instant, it stores the state that the cell is
//! in then, and the states go on, if
//! - the world is to tell the cell something before that, or is to stop there (see below),
//! - a beacon is due by then,
//! - the data frame is lost, or had come before, or
//! - a queue that was empty has a frame because the data frame has come; the last instant is tried
//!   again after that.
//!
//! **Who plays the world.** The world is all that is not the MAC: queues, wires, endpoints,
//! applications, and the clock. It is played in two places. Between two calls of `Cell::advance`
//! the caller plays it. In the midst of one, [`Supply::play_until`] plays it, when the straight
//! line asks for it, up to one of its instants. Both obey these laws, so that nobody can tell which
//! of the two it was:
//! 1. *The order of an instant*: at one instant the world comes first, then the cell. All frames
//!    that are queued at t are known before anything on the air begins or ends at t.
//! 2. *Nothing is kept from the cell*: playing ends with the event that puts a frame into an empty
//!    queue, and the cell is told before anything else happens. So the world never plays on
//!    while a decision of the cell is out of date.
//! 3. *The cell asks, and is not called*: whoever plays the world from within `Cell::advance`
//!    cannot call the cell, which is borrowed; it answers, and the cell draws its conclusions.
//! 4. *Time is the world's*: after a "yes" its clock stands at the instant that was asked for,
//!    after a "no" at the last event played. The cell keeps instants, and no clock.

use airtcp_kernel::Time;

use super::beacons::Beacons;
use super::desk::loses;
use super::{Air, Exchange, OnAir};
use crate::events::{MacEvent, Supply};
use crate::station::ContenderId;

/// The number of accesses that are played in one call at most.
const MOST_AT_ONCE: u32 = 32;

impl<P: Clone> Air<P> {
    /// Plays the exchange that `by`, alone, begins at `now`, and those that follow it, of the same TXOP or with
    /// an access of their own, as far as nothing disturbs them; not all too many, so that the caller can look
    /// whether the run is cancelled.
    #[inline(always)]
    pub(super) fn go_straight<E: Exchange<P>, S: Supply<P>>(
        &mut self,
        exchange: &mut E,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) {
        let (mut by, mut start, mut accesses) = (by, now, 1);
        loop {
            if let Some(next) = self.play_exchange(exchange, by, start, supply) {
                start = next;
                continue;
            }
            let OnAir::Silence = self.on_air else { return };
            start = self.next_step;
            let may_go_on = accesses < MOST_AT_ONCE
                && (E::PLAIN || start < self.beacons.next_target())
                && !supply.has_ready();
            if !may_go_on || !supply.play_until(start) {
                return;
            }
            accesses += 1;
            match self.begin_alone(exchange, start, supply) {
                Some(next) => by = next,
                None => return,
            }
        }
    }

    /// Plays one exchange, from `now` on, and returns when the next one of its TXOP begins, if there is one
    /// and nothing has disturbed this one.
    #[inline(always)]
    fn play_exchange<E: Exchange<P>, S: Supply<P>>(
        &mut self,
        exchange: &mut E,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) -> Option<Time> {
        let Self { originators, frames, roles, beacons, errors, contention, .. } = self;
        // Looked up once: this is most of what a run does.
        let originator = &mut originators[by as usize];
        let station = originator.station;
        let (mpdu, times) = originator.begin(by, now, frames, roles, supply);
        let (received, end) = (now + times.received, now + times.total);
        if !play_until::<P, E, S>(beacons, received, supply) {
            self.sends(by, now, times);
            return None;
        }
        if !self.is_perfect {
            if mpdu.is_received {
                self.sends(by, now, times);
                return None;
            }
            if loses(errors, roles, frames, station, mpdu) {
                self.data_lost(exchange, by, received, end, supply);
                return None;
            }
        }
        mpdu.is_received = true;
        supply.on_event(received, MacEvent::Received { by, mpdu, came: None });
        let receiver = mpdu.receiver;
        while let Some(contender) = supply.next_ready() {
            // Most often it is the receiver, whose MAC ACK has not begun.
            let answering = self.answers_seem_to_find_it_idle.then_some(receiver);
            contention.frame_queued_meanwhile(contender, received, answering);
        }
        if !play_until::<P, E, S>(beacons, end, supply) {
            self.medium.begin_alone(by, received);
            self.answers(by, receiver, received, end);
            return None;
        }
        let has_next = supply.acknowledged(end, by, mpdu);
        originator.release();
        self.count_straight();
        self.exchange_succeeded(exchange, by, (receiver, has_next), end, supply)
    }

    /// Counts an exchange that was played to its end here, for tests alone.
    #[inline(always)]
    fn count_straight(&mut self) {
        #[cfg(any(test, feature = "testing"))]
        {
            self.straight += 1;
        }
    }
}

/// Has the world played up to `time`, unless a beacon is due by then. Returns whether `time` has
/// come, and the cell need not be told of anything.
#[inline(always)]
fn play_until<P: Clone, E: Exchange<P>, S: Supply<P>>(
    beacons: &Beacons,
    time: Time,
    supply: &mut S,
) -> bool {
    (E::PLAIN || time < beacons.next_target()) && supply.play_until(time)
}
