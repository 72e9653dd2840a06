//! The frames on the air of a cell that are not in the capture file yet: a data PPDU until it is
//! known what was received, and the frames of a collision until all of them are known.
//!
//! Also decides to which interfaces a frame is written if each node has its own: all nodes of a
//! cell in which all stations hear each other and no others.

use airtcp_kernel::{Duration, Time};
use airtcp_wlan::{ContenderId, Rate, StationId};

use super::super::node::NodeId;
use super::agreements::BlockAck;
use super::users::Users;
use super::{Capture, wrapped};
use crate::pcap::PcapWriter;
use crate::pcap::frame::{Address, Frame};
use crate::pcap::radiotap::Sending;

/// This long after the start of a response, or of a missing one, it is known whether it came.
const OUTCOME_IS_KNOWN: Duration = Duration::from_millis(5);

/// The frames on the air of one cell that are not written yet.
#[derive(Debug, Default)]
pub(in crate::world) struct OnAir {
    /// The data PPDU.
    pub(super) pending: Option<Pending>,
    /// A PPDU to several users instead.
    pub(super) users: Option<Users>,
    /// One that has collided, and after which a trigger may follow.
    pub(super) triggered: Option<Users>,
    /// The frames of a collision, with their senders, if each node has its own interface.
    pub(super) collided: Vec<(NodeId, Time, Sending, Frame)>,
}

/// A data PPDU of which it is unknown what was received.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) by: ContenderId,
    pub(super) sender: NodeId,
    pub(super) receiver: StationId,
    pub(super) start: Time,
    /// Its frames, with their numbers.
    pub(super) frames: Vec<(u64, Frame)>,
    pub(super) sendings: Vec<Sending>,
    /// The response; `None` in a contention-free period, where the next frame acknowledges it.
    pub(super) answer: Option<Answer>,
}

/// The response of a PPDU's receiver, and its addressee.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) start: Time,
    pub(super) rate: Rate,
    pub(super) to: Address,
    pub(super) from: Address,
    /// The TID of a Block ACK; `None` for an ACK.
    pub(super) tid: Option<u8>,
}

impl OnAir {
    /// Returns whether the results of all frames are known at `now`.
    pub(super) fn is_known(&self, now: Time) -> bool {
        let answer = self.pending.as_ref().and_then(|pending| pending.answer);
        let since = answer.map(|answer| answer.start);
        let since = since.or(self.users.as_ref().map(Users::begins_to_respond));
        let since = since.or(self.collided.first().map(|&(_, start, ..)| start));
        since.is_some_and(|since| since + OUTCOME_IS_KNOWN <= now)
    }
}

impl Capture {
    /// Swaps the frames on the air with those of another medium.
    pub(in crate::world) fn swap_on_air(&mut self, other: &mut OnAir) {
        std::mem::swap(&mut self.on_air, other);
    }

    /// Sets the link of the next frames.
    pub(in crate::world) fn turn_to_link(&mut self, link: usize) {
        self.pcap.turn_to_link(link);
    }

    /// Writes its frame, sent by `from`.
    pub(super) fn write(&mut self, from: NodeId, start: Time, rate: Rate, intact: bool) {
        let Self { pcap, around, frame, .. } = self;
        write_around(pcap, around, from, start, &Sending::alone(rate), intact, frame);
    }

    /// Records its frame, sent by `from`, which collides.
    pub(super) fn write_collided(&mut self, from: NodeId, start: Time, rate: Rate) {
        let frame = std::mem::take(&mut self.frame);
        self.on_air.collided.push((from, start, Sending::alone(rate), frame));
    }

    /// Writes what was on the air before a collision that begins at `start`; further frames of the
    /// collision may follow.
    pub(super) fn settle_before(&mut self, start: Time) {
        if self.on_air.collided.first().is_none_or(|&(_, begun, ..)| begun < start) {
            self.settle(|_| true);
        }
    }

    /// Writes the frames of a collision. No other node received them, and if several cells share
    /// the medium none detected them. No sender heard another's frame.
    fn settle_collided(&mut self) {
        let collided = std::mem::take(&mut self.on_air.collided);
        for (from, start, sending, frame) in &collided {
            if self.around.is_empty() {
                self.pcap.write(*start, sending, false, frame);
                continue;
            }
            for &node in &self.around[*from as usize] {
                let sends = collided.iter().any(|(sender, ..)| *sender == node);
                if node == *from || !sends && self.detects_collisions[node as usize] {
                    self.pcap.write_at(node, *start, sending, node == *from, frame);
                }
            }
        }
    }

    /// Writes the frames on the air, and the response to data. `came` says which frames were
    /// received.
    pub(super) fn settle(&mut self, came: impl Fn(u64) -> bool) {
        self.settle_collided();
        if let Some(users) = self.on_air.users.take() {
            self.settle_users(users, &came);
        }
        let Some(pending) = self.on_air.pending.take() else { return };
        let Pending { by, sender, receiver, start, frames, sendings, answer } = pending;
        let window = self.window(by, receiver);
        let mut any = false;
        for ((id, frame), sending) in frames.iter().zip(&sendings) {
            let intact = came(*id);
            write_around(&mut self.pcap, &self.around, sender, start, sending, intact, frame);
            any |= intact;
            if let (true, Some(window)) = (intact, window) {
                self.agreements.entry((by, receiver)).or_default().receive(*id, window);
            }
        }
        let Some(answer) = answer.filter(|_| any) else { return };
        match (answer.tid, window) {
            (Some(tid), Some(window)) => {
                let agreement = self.agreements.entry((by, receiver)).or_default();
                let BlockAck { start: first, bitmap } = agreement.block_ack(window);
                let addresses = [answer.to, answer.from];
                self.frame.block_ack(addresses, tid, wrapped(first), &bitmap);
            }
            _ => self.frame.ack(answer.to),
        }
        self.write(receiver, answer.start, answer.rate, true);
    }
}

/// Writes a frame of `from` at the nodes that hear it, where `intact` applies; at its sender it is
/// always intact.
pub(super) fn write_around(
    pcap: &mut PcapWriter,
    around: &[Vec<NodeId>],
    from: NodeId,
    start: Time,
    sending: &Sending,
    intact: bool,
    frame: &Frame,
) {
    match around.get(from as usize) {
        None => pcap.write(start, sending, intact, frame),
        Some(nodes) => {
            for &node in nodes {
                pcap.write_at(node, start, sending, intact || node == from, frame);
            }
        }
    }
}
