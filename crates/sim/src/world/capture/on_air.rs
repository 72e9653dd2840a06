//! The frames on the air of a cell that are not in the capture file yet: a data PPDU until it is known what of it came through, and
//! the frames of a collision until all of them are known.
//!
//! Knows at whose interfaces a frame goes into a file where each node has its own: of one cell in which all hear all, and
//! which nobody else hears, at all. Knows no queue.

use airtcp_kernel::{Duration, Time};
use airtcp_wlan::{ContenderId, Rate, StationId};

use super::super::node::NodeId;
use super::agreements::BlockAck;
use super::{Capture, wrapped};
use crate::pcap::PcapWriter;
use crate::pcap::frame::{Address, Frame};
use crate::pcap::radiotap::Sending;

/// So long after an answer has begun, or would have, it is known whether there was one.
const OUTCOME_IS_KNOWN: Duration = Duration::from_millis(5);

/// The frames on the air of one cell, not written yet.
#[derive(Debug, Default)]
pub(in crate::world) struct OnAir {
    /// The data PPDU.
    pub(super) pending: Option<Pending>,
    /// The frames of a collision where each node has its own interface, with their senders.
    pub(super) collided: Vec<(NodeId, Time, Sending, Frame)>,
}

/// A data PPDU of which is not known yet what came through.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) by: ContenderId,
    pub(super) sender: NodeId,
    pub(super) receiver: StationId,
    pub(super) start: Time,
    /// Its frames, with their numbers.
    pub(super) frames: Vec<(u64, Frame)>,
    pub(super) sendings: Vec<Sending>,
    /// None in a contention-free period, where the next frame acknowledges it.
    pub(super) answer: Option<Answer>,
}

/// The answer of the receiver of a PPDU, and its own receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) start: Time,
    pub(super) rate: Rate,
    pub(super) to: Address,
    pub(super) from: Address,
    /// Of a Block ACK; an ACK otherwise.
    pub(super) tid: Option<u8>,
}

impl OnAir {
    /// Tells whether it is known at `now` what has become of all of it.
    pub(super) fn is_known(&self, now: Time) -> bool {
        let answer = self.pending.as_ref().and_then(|pending| pending.answer);
        let since = answer.map(|answer| answer.start);
        let since = since.or(self.collided.first().map(|&(_, start, ..)| start));
        since.is_some_and(|since| since + OUTCOME_IS_KNOWN <= now)
    }
}

impl Capture {
    /// Exchanges what is on the air for that of another medium.
    pub(in crate::world) fn swap_on_air(&mut self, other: &mut OnAir) {
        std::mem::swap(&mut self.on_air, other);
    }

    /// Writes its frame, which `from` sends.
    pub(super) fn write(&mut self, from: NodeId, start: Time, rate: Rate, intact: bool) {
        let Self { pcap, around, frame, .. } = self;
        write_around(pcap, around, from, start, &Sending::alone(rate), intact, frame);
    }

    /// Notes its frame, which `from` sends: it collides.
    pub(super) fn write_collided(&mut self, from: NodeId, start: Time, rate: Rate) {
        let frame = std::mem::take(&mut self.frame);
        self.on_air.collided.push((from, start, Sending::alone(rate), frame));
    }

    /// Writes what was on the air before a collision that begins at `start`, of which more frames may come.
    pub(super) fn settle_before(&mut self, start: Time) {
        if self.on_air.collided.first().is_none_or(|&(_, begun, ..)| begun < start) {
            self.settle(|_| true);
        }
    }

    /// Writes the frames of a collision: nobody else could read them, or detect them where several cells share the
    /// medium, and nobody who sent one heard another.
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

    /// Writes the frames that were on the air, and the answer to data: those frames came through of which `came` says so.
    pub(super) fn settle(&mut self, came: impl Fn(u64) -> bool) {
        self.settle_collided();
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

/// Writes a frame that `from` sends where it is heard: there it is `intact`, at its sender whole.
fn write_around(
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
