//! One station of a field: what it sends and waits for. Knows times, and neither what it senses nor its queues.

use airtcp_kernel::{Duration, Time};

use super::clock::Key;
use super::hearing::{GroupId, Need, Power};
use super::listener::ListenerId;
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
    /// The strength that it needs, and a control frame between the two stations.
    pub(super) need: Need,
    pub(super) control_need: Need,
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

/// The state of a station's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sends {
    /// It has none.
    Nothing,
    /// It is to send it at an instant that is known: an answer, or the next of its exchange.
    Soon,
    /// It is on the air.
    Frame,
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
    /// The listener that it is now: its own, which has its number, or that of its group.
    pub(super) listener: ListenerId,
    pub(super) group: GroupId,
    /// The state of its frame.
    pub(super) sends: Sends,
    /// The knowledge that others have of the frame that it sends.
    pub(super) known: Known,
    /// A flag: what it is to send is the next exchange of a TXOP, which is made when it begins.
    pub(super) continues: bool,
    /// A flag: it contended while it ignored a frame, and sends with less power until its next TXOP has ended.
    pub(super) is_restricted: bool,
    /// The frame that it sends, or is to send.
    pub(super) frame: Frame,
    /// The event that it makes itself: its access, or the beginning, notice or end of its frame.
    pub(super) acts: Key,
    pub(super) exchange: Option<Exchange>,
    /// The instant until which it waits for an answer.
    pub(super) timeout: Time,
    /// A flag: it waits for the end of the frame that it receives, which may be the answer.
    pub(super) waits_for_end: bool,
    /// Its queues.
    pub(super) first: ContenderId,
    pub(super) queues: u32,
    /// The number of them that count slots.
    pub(super) counting: u32,
}

impl Node {
    /// Makes a station with such queues.
    pub(super) fn new(
        listener: ListenerId,
        group: GroupId,
        first: ContenderId,
        queues: u32,
    ) -> Self {
        Self {
            listener,
            group,
            sends: Sends::Nothing,
            known: Known::Nothing,
            continues: false,
            is_restricted: false,
            frame: Frame::NONE,
            acts: Key::NEVER,
            exchange: None,
            timeout: Time::NEVER,
            waits_for_end: false,
            first,
            queues,
            counting: 0,
        }
    }

    /// Tells whether an exchange of its own keeps its queues from the medium.
    #[inline]
    pub(super) fn is_engaged(&self) -> bool {
        self.sends != Sends::Nothing || self.exchange.is_some()
    }

    /// Returns the frame that it sends.
    #[inline]
    pub(super) fn sending(&self) -> Option<&Frame> {
        (self.sends == Sends::Frame).then_some(&self.frame)
    }

    /// Returns the frame that it sends, to change it.
    #[inline]
    pub(super) fn sending_mut(&mut self) -> Option<&mut Frame> {
        (self.sends == Sends::Frame).then_some(&mut self.frame)
    }

    /// Returns the event that it makes itself, and the instant until which it waits.
    #[inline]
    pub(super) fn next(&self) -> (Key, Time) {
        (self.acts, self.timeout)
    }

    /// Iterates over its queues.
    #[inline]
    pub(super) fn contenders(&self) -> std::ops::Range<ContenderId> {
        self.first..self.first + self.queues
    }
}

impl Frame {
    /// The frame of a station that has none yet.
    const NONE: Self = Self {
        kind: Kind::Data,
        to: NONE,
        by: 0,
        start: Time::ZERO,
        end: Time::ZERO,
        announced: Time::ZERO,
        need: Need::NONE,
        control_need: Need::NONE,
        header_end: Time::ZERO,
        first_end: Time::ZERO,
        last_start: Time::ZERO,
        culprit: Culprit::NOBODY,
        strength: 1.0,
        has_colour: false,
        has_data: false,
    };

    /// Makes one of `by` for the station `to` from `start` to `end`, which is received as a whole, as control frames are,
    /// and announces nothing behind it.
    #[inline]
    pub(super) fn whole(
        (kind, to, by): (Kind, StationId, ContenderId),
        (start, end): (Time, Time),
        need: Need,
    ) -> Self {
        Self {
            kind,
            to,
            by,
            start,
            end,
            announced: end,
            need,
            control_need: need,
            header_end: start,
            first_end: end,
            last_start: start,
            ..Self::NONE
        }
    }

    /// Makes the answer to it, a SIFS after its end, for its `sender`.
    #[inline]
    pub(super) fn answer(&self, sender: StationId, sifs: Duration) -> Self {
        let from_to = (self.end + sifs, self.announced);
        Self::whole((Kind::Answer, sender, self.by), from_to, self.control_need)
    }

    /// Returns the power with which it is heard where one at full power is heard with `power`.
    #[inline]
    pub(super) fn heard_with(&self, power: Power) -> Power {
        // No conversion where nothing is to be scaled, which is nearly always.
        if self.strength < 1.0 { scaled(power, self.strength) } else { power }
    }

    /// Tells whether whoever received it with such interference has understood any of it.
    #[inline]
    pub(super) fn is_understood(&self, first_bad: Time, last_bad: Time) -> bool {
        first_bad >= self.end
            || first_bad >= self.header_end
                && (first_bad >= self.first_end || last_bad <= self.last_start)
    }
}

#[cold]
fn scaled(power: Power, strength: f64) -> Power {
    (power as f64 * strength) as Power
}
