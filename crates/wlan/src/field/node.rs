//! One station of a field: what it sends and waits for.

use airtcp_kernel::{Duration, Time};

use super::clock::Key;
use super::hearing::{GroupId, Need, Power};
use super::listener::ListenerId;
use crate::sequence::txop::Txop;
use crate::station::{ContenderId, StationId};

/// No station.
pub(super) const NONE: StationId = StationId::MAX;

/// A frame on the air, or scheduled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) kind: Kind,
    pub(super) to: StationId,
    /// The queue that owns the exchange.
    pub(super) by: ContenderId,
    pub(super) start: Time,
    pub(super) end: Time,
    /// The end of the exchange, as the frame announces it.
    pub(super) announced: Time,
    /// What the frame needs to be received, and what a control frame between the two stations
    /// needs.
    pub(super) need: Need,
    pub(super) control_need: Need,
    /// The end of preamble and header. Both must be received for anything to be received.
    pub(super) header_end: Time,
    /// The end of what is delivered next: of the next MPDU ([`Delivery::Mpdu`]), or of the frame.
    ///
    /// [`Delivery::Mpdu`]: crate::config::Delivery::Mpdu
    pub(super) next_end: Time,
    /// The end of its first MPDU, and the start of its last.
    pub(super) first_end: Time,
    pub(super) last_start: Time,
    /// The frame that overlapped it at its receiver, if any.
    pub(super) culprit: Culprit,
    /// The factor on its sender's transmit power.
    pub(super) strength: f64,
    /// Whether it carries a BSS colour (802.11ax and later).
    pub(super) has_colour: bool,
    /// Whether it carries more than bare TCP acknowledgments.
    pub(super) has_data: bool,
}

/// A frame that destroyed another at its receiver, or kept the receiver from responding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Culprit {
    /// The station that sent it; [`NONE`] if there was none.
    pub(super) station: StationId,
    /// The time between the starts of the two frames.
    pub(super) apart: Duration,
}

impl Culprit {
    pub(super) const NOBODY: Self = Self { station: NONE, apart: Duration::ZERO };
}

/// The kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A CTS-to-self before data.
    CtsToSelf,
    Rts,
    Cts,
    /// Data, or a Block ACK request.
    Data,
    /// An ACK or a Block ACK.
    Answer,
}

/// What other stations know of a frame on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Nothing,
    /// Its preamble.
    Preamble,
    /// Its cell, if the frame reveals it and it matters.
    Cell,
}

/// The state of a station's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sends {
    /// No frame.
    Nothing,
    /// Scheduled for a known instant: a response, or the next frame of its exchange.
    Soon,
    /// On the air.
    Frame,
}

/// The exchange of a station that sends or waits for a response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    pub(super) by: ContenderId,
    pub(super) txop: Txop,
    /// The response that it waits for.
    pub(super) awaits: Kind,
    /// Whether its RTS succeeded.
    pub(super) is_protected: bool,
}

/// A station.
#[derive(Debug)]
pub(super) struct Node {
    /// Its current listener: its own, which has the station's number, or its group's.
    pub(super) listener: ListenerId,
    pub(super) group: GroupId,
    /// The state of its frame.
    pub(super) sends: Sends,
    /// What other stations know of the frame that it sends.
    pub(super) known: Known,
    /// Whether the scheduled frame is the next exchange of a TXOP, which is assembled when it
    /// begins.
    pub(super) continues: bool,
    /// Whether it contended while it ignored a frame. It then sends with less power until its next
    /// TXOP has ended.
    pub(super) is_restricted: bool,
    /// The frame on the air, or scheduled.
    pub(super) frame: Frame,
    /// Its own next event: its access, or the start, detection or end of its frame.
    pub(super) acts: Key,
    pub(super) exchange: Option<Exchange>,
    /// The end of its response timeout.
    pub(super) timeout: Time,
    /// Whether it waits for the end of the frame that it receives, which may be the response.
    pub(super) waits_for_end: bool,
    /// Its first queue, and their number.
    pub(super) first: ContenderId,
    pub(super) queues: u32,
}

impl Node {
    /// Creates a station with queues.
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
        }
    }

    /// True if its own exchange keeps its queues from contending.
    #[inline]
    pub(super) fn is_engaged(&self) -> bool {
        self.sends != Sends::Nothing || self.exchange.is_some()
    }

    /// Returns the frame on the air.
    #[inline]
    pub(super) fn sending(&self) -> Option<&Frame> {
        (self.sends == Sends::Frame).then_some(&self.frame)
    }

    /// Returns the frame on the air, to change it.
    #[inline]
    pub(super) fn sending_mut(&mut self) -> Option<&mut Frame> {
        (self.sends == Sends::Frame).then_some(&mut self.frame)
    }

    /// Returns its own next event, and the end of its timeout.
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
        next_end: Time::ZERO,
        first_end: Time::ZERO,
        last_start: Time::ZERO,
        culprit: Culprit::NOBODY,
        strength: 1.0,
        has_colour: false,
        has_data: false,
    };

    /// Creates a frame of `by` for station `to` from `start` to `end`. Like a control frame it is
    /// received as a whole, and announces nothing after it.
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
            next_end: end,
            first_end: end,
            last_start: start,
            ..Self::NONE
        }
    }

    /// Creates the response to it, a SIFS after its end, for its `sender`.
    #[inline]
    pub(super) fn answer(&self, sender: StationId, sifs: Duration) -> Self {
        let from_to = (self.end + sifs, self.announced);
        Self::whole((Kind::Answer, sender, self.by), from_to, self.control_need)
    }

    /// Returns the power with which it is heard if a frame at full power is heard with `power`.
    #[inline]
    pub(super) fn heard_with(&self, power: Power) -> Power {
        // Almost always nothing has to be scaled; then skip the conversion.
        if self.strength < 1.0 { scaled(power, self.strength) } else { power }
    }

    /// True if a receiver with this interference decoded any part of it.
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
