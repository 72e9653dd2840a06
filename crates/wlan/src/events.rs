//! The interface between a cell and what is above it: packets that it asks for, and events that it tells.
//!
//! Knows neither queues nor exchanges, only what each tells the other.

use airtcp_kernel::Time;

use crate::frame::{Frames, Mpdu, Msdu, Ppdu};
use crate::sequence::dcf::FrameTimes;
use crate::station::{ContenderId, StationId};

/// All that is above the MAC of a cell: it has the queues, and is told what becomes of their packets.
///
/// Obeys the laws of `exchange/shortcut.rs`, "Who plays the world": it cannot call the cell from here, and what is
/// ready in consequence is told in [`Self::next_ready`], or after [`Cell::advance`](crate::Cell::advance).
pub trait Supply<P> {
    /// Dequeues what goes next from the queue of `contender`, which has got at the medium and sends one
    /// frame, and hands it over to `take` if it `fits`, as is asked with its receiver and its bits. Returns whether it did: it does not if there is
    /// nothing, or the next does not fit. The queue chooses receiver and packet in one look, and the
    /// packet is copied once; a sender of several frames asks [`Self::receiver`] and [`Self::next_for`].
    fn next(
        &mut self,
        contender: ContenderId,
        now: Time,
        fits: impl FnOnce(StationId, u64) -> bool,
        take: impl FnOnce(Msdu<P>),
    ) -> bool;

    /// Returns the station that the queue of `contender` sends to, which has got at the medium and may
    /// send several frames. `waiting` are the receivers for whom the MAC has something already: the oldest packet that is
    /// to be sent again, or none if it is a Block ACK request alone. `None` if there is nothing to
    /// send.
    fn receiver<'a>(
        &mut self,
        contender: ContenderId,
        waiting: impl Iterator<Item = (StationId, Option<&'a P>)>,
    ) -> Option<StationId>
    where
        P: 'a;

    /// Dequeues what goes next from the queue of `contender` to `receiver`, and hands it over to `take` if its
    /// size in bits `fits`. Returns whether it did: it does not if there is nothing, or the next does not
    /// fit.
    fn next_for(
        &mut self,
        contender: ContenderId,
        receiver: StationId,
        now: Time,
        fits: impl FnOnce(u64) -> bool,
        take: impl FnOnce(Msdu<P>),
    ) -> bool;

    /// Returns whether the queue of `contender` has anything to hand over.
    fn has_next(&self, contender: ContenderId) -> bool;

    /// Dequeues `mpdu` of `by` for good, which was acknowledged at `now`: the MAC no longer holds it. Returns
    /// whether the queue has anything to hand over then.
    fn acknowledged(&mut self, now: Time, by: ContenderId, mpdu: &Mpdu<P>) -> bool;

    /// Tells whether a packet has more in it than an acknowledgment of TCP.
    fn carries_data(&self, payload: &P) -> bool;

    /// Returns whether it wants to be told of each frame of a collision, and not of the collision alone.
    fn watches_colliders(&self) -> bool;

    /// Returns one contender whose queue was empty and is not any more, and forgets it. The cell asks after
    /// a data frame has come, and in [`Cell::frames_ready`](crate::Cell::frames_ready).
    fn next_ready(&mut self) -> Option<ContenderId>;

    /// Returns whether [`Self::next_ready`] has one to tell of.
    fn has_ready(&self) -> bool;

    /// Plays what happens outside of the cell, up to `time` and at `time`, in the midst of an exchange.
    /// Returns whether all of it was played and the clock stands at `time`; false at the latest as
    /// soon as a queue that was empty has a frame, which [`Self::next_ready`] then tells. The laws are in
    /// `exchange/shortcut.rs`, "Who plays the world"; a supply that always declines has every exchange played
    /// step by step.
    fn play_until(&mut self, _time: Time) -> bool {
        false
    }

    /// Takes note of an event at `now`.
    fn on_event(&mut self, now: Time, event: MacEvent<'_, P>);
}

/// An event in a cell.
#[derive(Debug)]
pub enum MacEvent<'a, P> {
    /// Frames go on the air.
    Began(Began<'a, P>),
    /// Nothing of what `by` has sent came through, and nobody answers.
    Lost {
        /// The contender that has sent it.
        by: ContenderId,
        /// The data.
        psdu: Frames<'a, P>,
        /// From when to when the answer would have been on the air.
        answer: (Time, Time),
    },
    /// An answer to a PSDU of `by` has come, where frames are aggregated.
    Answered {
        /// The contender that has sent it.
        by: ContenderId,
        /// The data, of which each frame tells whether it was received.
        psdu: Frames<'a, P>,
    },
    /// The receiver of a frame of `by` hands it on: at once, or when all that it waited for has come.
    Received {
        /// The contender whose queue it is from.
        by: ContenderId,
        /// The frame.
        mpdu: &'a Mpdu<P>,
        /// The instant at which it came, where frames are aggregated and may wait for earlier ones; else it has just
        /// come.
        came: Option<Time>,
    },
    /// A frame of `by` was given up at the retry limit: the MAC no longer holds it.
    GivenUp {
        /// The contender whose queue it is from.
        by: ContenderId,
        /// The frame.
        mpdu: &'a Mpdu<P>,
    },
    /// A frame of a [`Field`](crate::Field) that was asked to tell of it has ended, or is on the air when the run ends.
    Heard(HeardFrame<'a, P>),
}

/// A frame of a [`Field`](crate::Field), and those that have received it.
#[derive(Debug)]
pub struct HeardFrame<'a, P> {
    /// The kind of the frame.
    pub kind: HeardKind,
    /// The contender whose exchange it belongs to.
    pub by: ContenderId,
    /// Its sender.
    pub sender: StationId,
    /// The station that it is for.
    pub to: StationId,
    /// The beginning of its preamble.
    pub start: Time,
    /// The end of what has to come through for any of it to be read; its beginning, if all of it has to.
    pub header_end: Time,
    /// Its end.
    pub end: Time,
    /// The data of the exchange, unless a Block ACK is asked for. With an answer each tells whether it was received.
    pub psdu: Option<Frames<'a, P>>,
    /// The stations that detected its preamble and were receiving it at its end.
    pub ears: &'a [HeardBy],
}

/// A station that was receiving a frame to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeardBy {
    /// The station.
    pub station: StationId,
    /// The first instant at which interference was too strong; [`Time::NEVER`] if it never was.
    pub bad_from: Time,
    /// The last such instant.
    pub bad_until: Time,
}

/// The kinds of frames of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeardKind {
    /// An RTS.
    Rts,
    /// A CTS, also one of its sender to itself.
    Cts,
    /// Data, or a Block ACK request.
    Data,
    /// An ACK or a Block ACK.
    Answer,
}

/// A frame that the point coordinator sends, or who is polled (IEEE Std 802.11-2016, 10.4.4): with or
/// without data, with or without a poll, with or without the acknowledgment of the frame before it.
#[derive(Debug)]
pub struct CfFrame<'a, P> {
    /// The contender that sends it.
    pub by: ContenderId,
    /// The station that it is for; everybody, if it ends the period.
    pub receiver: StationId,
    /// The data, if it has any.
    pub psdu: Option<Frames<'a, P>>,
    /// True if it acknowledges the data frame that came just before (CF-Ack).
    pub acknowledges: bool,
    /// True if it polls its receiver (CF-Poll).
    pub polls: bool,
    /// Since when there is the period that it ends, if it does (CF-End).
    pub ends: Option<Time>,
    /// At which of the cell's rates it goes; a CF-End goes at the rate of CF-Ends.
    pub class: u32,
    /// The instant at which it has been sent.
    pub sent: Time,
    /// The instant at which all have heard it.
    pub end: Time,
}

/// A frame, or several, that go on the air.
#[derive(Debug)]
pub enum Began<'a, P> {
    /// An exchange that nothing disturbs.
    Exchange {
        /// The contender that sends the data.
        by: ContenderId,
        /// The times of its frames, from its start.
        times: &'a FrameTimes,
        /// The data.
        ppdu: Ppdu<'a, P>,
    },
    /// A beacon.
    Beacon {
        /// The contender whose queue it goes ahead of.
        by: ContenderId,
        /// The frame. Beacons have numbers of their own.
        mpdu: &'a Mpdu<()>,
        /// The instant at which it has been sent.
        sent: Time,
        /// The instant at which all have heard it.
        end: Time,
        /// True if it is one of the frames of the collision that is told of next.
        collides: bool,
    },
    /// A CF-End, which ends a TXOP before its limit.
    CfEnd {
        /// The holder of the TXOP.
        by: ContenderId,
        /// The instant at which it has been sent.
        sent: Time,
        /// The instant at which all have heard it.
        end: Time,
    },
    /// A frame of a contention-free period, which began with a beacon.
    ContentionFree(CfFrame<'a, P>),
    /// Several frames, which collide; [`Self::Collider`] and [`Self::Request`] have told of each to those who watch them,
    /// and [`Self::Beacon`] tells of that.
    Collision {
        /// The instant at which the last of them has been sent.
        sent: Time,
        /// The instant at which all have heard the last of them.
        end: Time,
    },
    /// A Block ACK request, and its answer if it does not collide.
    Request {
        /// The contender that sends it.
        by: ContenderId,
        /// The times of its frames, from its start.
        times: &'a FrameTimes,
        /// The station that it is for.
        receiver: StationId,
        /// The number of the frame that the window begins with.
        window_start: u64,
        /// True if it is one of the frames of the collision that was told of just before.
        collides: bool,
    },
    /// The first frame of an exchange, which collides.
    Collider {
        /// The contender that sends it.
        by: ContenderId,
        /// The times of what the exchange would have been.
        times: &'a FrameTimes,
        /// The data that it was to carry.
        ppdu: Ppdu<'a, P>,
    },
}
