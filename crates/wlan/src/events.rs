//! The interface between a cell and the layers above it: the packets that it dequeues, and the
//! events that it reports.

use airtcp_kernel::Time;

use crate::frame::{Frames, Mpdu, Msdu, Ppdu};
use crate::phy::ResourceUnit;
use crate::sequence::dcf::FrameTimes;
use crate::station::{ContenderId, StationId};

/// The layers above the MAC of a cell. They own the queues and learn what happens to their packets.
///
/// An implementation obeys the laws of `exchange/shortcut.rs`, "Who plays the world". It must not
/// call the cell from here. Queues that get a frame as a consequence are reported by
/// [`Self::next_ready`], or after [`Cell::advance`](crate::Cell::advance).
pub trait Supply<P> {
    /// Dequeues the next packet of `contender`, which has won access. If `to` is given, as by a
    /// sender of several frames ([`Self::receiver`]), it is the next packet for this station.
    /// Passes the packet to `take` if `fits` accepts its receiver and size in bits. Returns false
    /// if there is no packet, or if it does not fit. The packet is copied once.
    fn next(
        &mut self,
        contender: ContenderId,
        to: Option<StationId>,
        now: Time,
        fits: impl FnOnce(StationId, u64) -> bool,
        take: impl FnOnce(Msdu<P>),
    ) -> bool;

    /// Returns the station that the queue of `contender` sends to; it has won access and may send
    /// several frames. `waiting` lists the receivers for which the MAC already holds something: the
    /// oldest packet to be retransmitted, or `None` for only a Block ACK request. Returns `None` if
    /// there is nothing to send.
    fn receiver<'a>(
        &mut self,
        contender: ContenderId,
        waiting: impl Iterator<Item = (StationId, Option<&'a P>)>,
    ) -> Option<StationId>
    where
        P: 'a;

    /// Returns whether the queue of `contender` has a packet.
    fn has_next(&self, contender: ContenderId) -> bool;

    /// Returns whether the queue of `contender` has a packet for `receiver`. Only asked with OFDMA.
    fn has_next_for(&self, _contender: ContenderId, _receiver: StationId) -> bool {
        unreachable!("a supply without OFDMA is not asked")
    }

    /// Returns the size in bits of the packets in the queue of `contender`, each with `header_bits`,
    /// at least up to `most`. Only asked with uplink OFDMA.
    fn queued_bits(&self, _contender: ContenderId, _header_bits: u64, _most: u64) -> u64 {
        unreachable!("a supply without OFDMA is not asked")
    }

    /// Reports that `mpdu` of `by` was acknowledged at `now`, so that the MAC no longer holds it.
    /// Returns whether the queue has a packet.
    fn acknowledged(&mut self, now: Time, by: ContenderId, mpdu: &Mpdu<P>) -> bool;

    /// Returns whether a packet carries more than a TCP acknowledgment.
    fn carries_data(&self, payload: &P) -> bool;

    /// Returns whether it wants an event for each frame of a collision, and not only for the
    /// collision.
    fn watches_colliders(&self) -> bool;

    /// Returns and removes a contender whose queue was empty and now has a frame. The cell calls
    /// this after a data frame was received, and in
    /// [`Cell::frames_ready`](crate::Cell::frames_ready).
    fn next_ready(&mut self) -> Option<ContenderId>;

    /// Returns whether [`Self::next_ready`] has a contender.
    fn has_ready(&self) -> bool;

    /// Plays everything outside of the cell up to and including `time`, during an exchange. Returns
    /// true if all was played and the clock stands at `time`. Must return false as soon as an empty
    /// queue gets a frame, which [`Self::next_ready`] then returns. The laws are in
    /// `exchange/shortcut.rs`, "Who plays the world". If it always returns false, every exchange is
    /// played step by step.
    fn play_until(&mut self, _time: Time) -> bool {
        false
    }

    /// Processes an event at `now`.
    fn on_event(&mut self, now: Time, event: MacEvent<'_, P>);
}

/// An event in a cell.
#[derive(Debug)]
pub enum MacEvent<'a, P> {
    /// Frames begin.
    Began(Began<'a, P>),
    /// No receiver decoded the transmission of `by`, so there is no response.
    Lost {
        /// The sender.
        by: ContenderId,
        /// The data.
        psdu: Frames<'a, P>,
        /// When the response would have begun and ended.
        answer: (Time, Time),
    },
    /// With aggregation: a response to a PSDU of `by` was received.
    Answered {
        /// The sender of the PSDU.
        by: ContenderId,
        /// The data; each frame says whether it was received.
        psdu: Frames<'a, P>,
    },
    /// The receiver delivers a frame of `by`: at once, or when all earlier frames have been
    /// received.
    Received {
        /// The contender that sent the frame.
        by: ContenderId,
        /// The frame.
        mpdu: &'a Mpdu<P>,
        /// With aggregation, when the frame was received, which may be earlier; otherwise it was
        /// received now.
        came: Option<Time>,
    },
    /// A frame of `by` was dropped at the retry limit; the MAC no longer holds it.
    GivenUp {
        /// The contender that sent the frame.
        by: ContenderId,
        /// The frame.
        mpdu: &'a Mpdu<P>,
    },
    /// A frame of a [`Field`](crate::Field) has ended, or is on the air when the run ends. Only if
    /// the field was asked to report frames.
    Heard(HeardFrame<'a, P>),
}

/// A frame of a [`Field`](crate::Field), and the stations that received it.
#[derive(Debug)]
pub struct HeardFrame<'a, P> {
    /// The kind of the frame.
    pub kind: HeardKind,
    /// The contender whose exchange it belongs to.
    pub by: ContenderId,
    /// Its sender.
    pub sender: StationId,
    /// The addressed station.
    pub to: StationId,
    /// The start of its preamble.
    pub start: Time,
    /// The end of the part that must be received for any of it to be decoded; equal to `start` if
    /// all of it must be received.
    pub header_end: Time,
    /// Its end.
    pub end: Time,
    /// The data of the exchange, unless a Block ACK is requested. With a response each frame says
    /// whether it was received.
    pub psdu: Option<Frames<'a, P>>,
    /// The stations that detected its preamble and were receiving it at its end.
    pub ears: &'a [HeardBy],
}

/// A station that received a frame to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeardBy {
    /// The station.
    pub station: StationId,
    /// The first instant with too much interference; [`Time::NEVER`] if there was none.
    pub bad_from: Time,
    /// The last instant with too much interference.
    pub bad_until: Time,
}

/// The kinds of frames of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeardKind {
    /// An RTS.
    Rts,
    /// A CTS, also a CTS-to-self.
    Cts,
    /// Data, or a Block ACK request.
    Data,
    /// An ACK or a Block ACK.
    Answer,
}

/// A frame of the point coordinator or of a polled station (IEEE Std 802.11-2016, 10.4.4). It may
/// carry data, poll a station, and acknowledge the previous frame, in any combination.
#[derive(Debug)]
pub struct CfFrame<'a, P> {
    /// The sender.
    pub by: ContenderId,
    /// The addressed station; everybody if it ends the period.
    pub receiver: StationId,
    /// The data, if it has any.
    pub psdu: Option<Frames<'a, P>>,
    /// True if it acknowledges the previous data frame (CF-Ack).
    pub acknowledges: bool,
    /// True if it polls its receiver (CF-Poll).
    pub polls: bool,
    /// When the period began that it ends (CF-End); `None` for other frames.
    pub ends: Option<Time>,
    /// The rate class; a CF-End uses the rate of CF-Ends.
    pub class: u32,
    /// When its transmission ended.
    pub sent: Time,
    /// When all stations have received it.
    pub end: Time,
}

/// The part of one station in the PPDU that responds to a trigger frame.
#[derive(Debug)]
pub struct TriggeredPsdu<'a, P> {
    /// The contender.
    pub by: ContenderId,
    /// The rate class.
    pub class: u32,
    /// Its resource unit.
    pub unit: ResourceUnit,
    /// What it sends.
    pub sends: TriggeredFrames<'a, P>,
}

/// What a station sends after a trigger frame.
#[derive(Clone, Copy, Debug)]
pub enum TriggeredFrames<'a, P> {
    /// A QoS Null frame that reports these bits in its queue.
    Report(u64),
    /// A Block ACK request with this first number of the window.
    Request(u64),
    /// Data.
    Data {
        /// The MPDUs, oldest first.
        frames: Frames<'a, P>,
        /// The number of MPDUs received, and of those lost.
        received: u64,
        /// See `received`.
        lost: u64,
    },
}

/// One or several frames that begin.
#[derive(Debug)]
pub enum Began<'a, P> {
    /// An exchange that nothing disturbs.
    Exchange {
        /// The sender of the data.
        by: ContenderId,
        /// The times of its frames, from its start.
        times: &'a FrameTimes,
        /// The data.
        ppdu: Ppdu<'a, P>,
    },
    /// A beacon.
    Beacon {
        /// The contender whose queue it precedes.
        by: ContenderId,
        /// The frame. Beacons have their own numbers.
        mpdu: &'a Mpdu<()>,
        /// When its transmission ended.
        sent: Time,
        /// When all stations have received it.
        end: Time,
        /// True if it is part of the collision that the next event reports.
        collides: bool,
    },
    /// A CF-End that ends a TXOP before its limit.
    CfEnd {
        /// The holder of the TXOP.
        by: ContenderId,
        /// When its transmission ended.
        sent: Time,
        /// When all stations have received it.
        end: Time,
    },
    /// A frame of a contention-free period, which began with a beacon.
    ContentionFree(CfFrame<'a, P>),
    /// Several frames collide. [`Self::Collider`] and [`Self::Request`] have reported each of them
    /// if the supply watches colliders, and [`Self::Beacon`] a beacon.
    Collision {
        /// When the last of them ended.
        sent: Time,
        /// When all stations have received the last of them.
        end: Time,
    },
    /// A Block ACK request and, without a collision, its response.
    Request {
        /// The sender.
        by: ContenderId,
        /// The times of its frames, from its start.
        times: &'a FrameTimes,
        /// The addressed station.
        receiver: StationId,
        /// The first number of the window.
        window_start: u64,
        /// True if it is part of the collision that the previous event reported.
        collides: bool,
    },
    /// A trigger frame, and what several stations send at once; it ends with their acknowledgment if
    /// they send data. Reported when the stations have sent, or if the trigger frame collides, when it
    /// begins.
    Triggered {
        /// The sender of the trigger frame.
        by: ContenderId,
        /// When the exchange began.
        start: Time,
        /// The times of its frames. The trigger frame is in place of the RTS, or of the data if it
        /// asks for reports.
        times: &'a FrameTimes,
        /// The parts of the stations.
        users: &'a [TriggeredPsdu<'a, P>],
        /// True if the trigger frame is part of the collision that the next event reports.
        collides: bool,
    },
    /// The first frame of an exchange; it collides.
    Collider {
        /// The sender.
        by: ContenderId,
        /// The times that the exchange would have had.
        times: &'a FrameTimes,
        /// The data that it was to carry.
        ppdu: Ppdu<'a, P>,
    },
}
