//! One station of a field: what it senses, what it sends and waits for. Knows times, and no queue.

use airtcp_kernel::{Duration, Time};

use super::hearing::Power;
use crate::sequence::txop::Txop;
use crate::station::{ContenderId, StationId};

/// No station.
pub(super) const NONE: StationId = StationId::MAX;

/// A frame on the air, or to be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) kind: Kind,
    pub(super) to: StationId,
    /// The queue whose exchange it belongs to.
    pub(super) by: ContenderId,
    pub(super) start: Time,
    pub(super) end: Time,
    /// The end of the exchange, as the frame announces it.
    pub(super) announced: Time,
    /// The SINR that it needs, as a ratio.
    pub(super) need: f64,
    /// The end of what has to come through for anything to be received: preamble and header.
    pub(super) header_end: Time,
    /// Of its MPDUs the end of the first and the beginning of the last.
    pub(super) first_end: Time,
    pub(super) last_start: Time,
    /// The frame that has overlapped it at its receiver, if one has.
    pub(super) culprit: Culprit,
    /// The share of its power with which its sender sends it.
    pub(super) strength: f64,
    /// A flag: it tells its cell by a colour (802.11ax and later).
    pub(super) has_colour: bool,
    /// A flag: it carries more than bare acknowledgments of TCP.
    pub(super) has_data: bool,
}

/// A frame that has kept another from its receiver, or that receiver from answering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Culprit {
    /// The station that has sent it; [`NONE`] if nothing has.
    pub(super) station: StationId,
    /// The time from the beginning of the one to that of the other.
    pub(super) apart: Duration,
}

impl Culprit {
    pub(super) const NOBODY: Self = Self { station: NONE, apart: Duration::ZERO };
}

/// The kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A CTS of its sender to itself, before its data.
    CtsToSelf,
    Rts,
    Cts,
    /// Data, or a Block ACK request.
    Data,
    /// An ACK or a Block ACK.
    Answer,
}

/// The knowledge that others have of a frame on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Nothing,
    /// Its preamble.
    Preamble,
    /// Its cell, where it tells it and that matters.
    Cell,
}

/// A frame that is being received.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lock {
    pub(super) from: StationId,
    pub(super) power: Power,
    pub(super) need: f64,
    /// The instant at which its preamble was detected.
    pub(super) since: Time,
    /// The instant from which on interference is too strong; [`Time::NEVER`] if it is not.
    pub(super) bad_since: Time,
    /// The first such instant, and the last end of such a time.
    pub(super) first_bad: Time,
    pub(super) last_bad: Time,
}

/// The exchange of a station that waits for an answer, or sends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    pub(super) by: ContenderId,
    pub(super) txop: Txop,
    /// The answer that it waits for.
    pub(super) awaits: Kind,
    /// A flag: an RTS of it got through.
    pub(super) is_protected: bool,
}

/// A station.
#[derive(Debug)]
pub(super) struct Node {
    /// The power of all frames on the air that it hears.
    pub(super) energy: Power,
    /// The power of those of them that began at `fresh_at`.
    pub(super) fresh: Power,
    pub(super) fresh_at: Time,
    pub(super) lock: Option<Lock>,
    /// The senders of frames of other cells that it ignores, with the powers of these.
    pub(super) ignored: Vec<(StationId, Power)>,
    /// A preamble that began before this instant is not detected: it was sending or receiving.
    pub(super) free_from: Time,
    /// A flag: it knows of a busy medium, or sends.
    pub(super) is_busy: bool,
    /// The end of the last busy period or wait, of the NAV, and of what comes before DIFS in EIFS.
    pub(super) idle_from: Time,
    pub(super) nav: Time,
    pub(super) eifs: Time,
    /// The instant at which a NAV is given up that an RTS has set and no frame has followed.
    pub(super) nav_reset: Time,
    /// The station that has set the NAV.
    pub(super) nav_by: StationId,
    /// The frame that it sends.
    pub(super) sending: Option<Frame>,
    /// The knowledge that others have of that frame.
    pub(super) known: Known,
    /// The frame that it sends at an instant that is known: an answer, or the next of its exchange.
    pub(super) next_frame: Option<Frame>,
    /// A flag: that is the next exchange of a TXOP, which is made when it begins.
    pub(super) continues: bool,
    pub(super) exchange: Option<Exchange>,
    /// The instant until which it waits for an answer.
    pub(super) timeout: Time,
    /// A flag: it waits for the end of the frame that it receives, which may be the answer.
    pub(super) waits_for_end: bool,
    /// The times in which interference was too strong for a frame to it.
    pub(super) bad: Vec<(Time, Time)>,
    /// Its queues.
    pub(super) first: ContenderId,
    pub(super) queues: u32,
    /// The number of them that count slots.
    pub(super) counting: u32,
    /// The instant of its next access.
    pub(super) access: Time,
}

impl Node {
    /// Makes a station at time zero with an idle medium.
    pub(super) fn new(first: ContenderId, queues: u32) -> Self {
        Self {
            energy: 0,
            fresh: 0,
            fresh_at: Time::NEVER,
            lock: None,
            free_from: Time::ZERO,
            is_busy: false,
            idle_from: Time::ZERO,
            nav: Time::ZERO,
            eifs: Time::ZERO,
            nav_reset: Time::NEVER,
            nav_by: NONE,
            sending: None,
            known: Known::Nothing,
            ignored: Vec::new(),
            next_frame: None,
            continues: false,
            exchange: None,
            timeout: Time::NEVER,
            waits_for_end: false,
            bad: Vec::new(),
            first,
            queues,
            counting: 0,
            access: Time::NEVER,
        }
    }

    /// Returns the instant at which its inter-frame spaces begin, if the medium stays idle.
    #[inline]
    pub(super) fn spaces_begin(&self) -> Time {
        self.idle_from.max(self.nav).max(self.eifs)
    }

    /// Returns the power of all frames that it does not ignore.
    #[inline]
    pub(super) fn sensed(&self) -> Power {
        if self.ignored.is_empty() {
            return self.energy;
        }
        self.energy - self.ignored.iter().map(|&(_, power)| power).sum::<Power>()
    }

    /// Tells whether an exchange of its own keeps its queues from the medium.
    #[inline]
    pub(super) fn is_engaged(&self) -> bool {
        self.sending.is_some() || self.exchange.is_some() || self.next_frame.is_some()
    }

    /// Iterates over its queues.
    #[inline]
    pub(super) fn contenders(&self) -> std::ops::Range<ContenderId> {
        self.first..self.first + self.queues
    }

    /// Adds the power of a frame that begins `now`.
    #[inline]
    pub(super) fn hear(&mut self, power: Power, now: Time) {
        self.energy += power;
        if self.fresh_at == now {
            self.fresh += power;
        } else {
            (self.fresh_at, self.fresh) = (now, power);
        }
    }

    /// Returns the interference at `now` with a frame that is heard with `power`, without what begins just now.
    #[inline]
    pub(super) fn interference(&self, power: Power, now: Time) -> Power {
        let fresh = if self.fresh_at == now { self.fresh } else { 0 };
        self.energy - power - fresh
    }
}

impl Lock {
    /// Notes at `now` whether interference is too strong. Returns the time in which it was, if it is no more.
    #[inline]
    pub(super) fn judge(&mut self, is_bad: bool, now: Time) -> Option<(Time, Time)> {
        if is_bad {
            if self.bad_since == Time::NEVER {
                self.bad_since = now;
                self.first_bad = self.first_bad.min(now);
            }
            return None;
        }
        if self.bad_since == Time::NEVER {
            return None;
        }
        let since = std::mem::replace(&mut self.bad_since, Time::NEVER);
        self.last_bad = now;
        (since < now).then_some((since, now))
    }
}

impl Frame {
    /// Returns the power with which it is heard where one at full power is heard with `power`.
    #[inline]
    pub(super) fn heard_with(&self, power: Power) -> Power {
        if self.strength == 1.0 { power } else { (power as f64 * self.strength) as Power }
    }

    /// Tells whether whoever received it with such interference has understood any of it.
    #[inline]
    pub(super) fn is_understood(&self, first_bad: Time, last_bad: Time) -> bool {
        first_bad >= self.end
            || first_bad >= self.header_end
                && (first_bad >= self.first_end || last_bad <= self.last_start)
    }
}
