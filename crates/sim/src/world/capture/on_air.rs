//! The frames on the air of a cell that are not in the capture file yet: a data PPDU until it is
//! known what was received, and the frames of a collision until all of them are known.
//!
//! Also decides to which interfaces a frame is written if each node has its own: all nodes of a
//! cell in which all stations hear each other and no others.

use airtcp_kernel::{Duration, Time};
use airtcp_wlan::{ContenderId, Rate, StationId};

use super::super::node::NodeId;
use super::{Capture, DataFrames};
use crate::pcap::frame::Frame;
use crate::pcap::radiotap::Sending;

/// This long after the start of a response, or of a missing one, it is known whether it came.
const OUTCOME_IS_KNOWN: Duration = Duration::from_millis(5);

/// The frames on the air of one cell that are not written yet.
#[derive(Debug, Default)]
pub(in crate::world) struct OnAir {
    /// The data PPDU.
    pub(super) pending: Option<Pending>,
    /// One to several users that has collided, and after which a trigger may follow.
    pub(super) triggered: Option<Pending>,
    /// The frames of a collision, with their senders, if each node has its own interface.
    pub(super) collided: Vec<(NodeId, Time, Sending, Frame)>,
}

/// A data PPDU of which it is unknown what was received, and what follows it.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) by: ContenderId,
    pub(super) sender: NodeId,
    pub(super) start: Time,
    pub(super) trigger: Option<(Time, Rate, Frame)>,
    /// One, or those of a multi-user format.
    pub(super) users: Vec<User>,
}

/// A user of a PPDU.
#[derive(Debug)]
pub(super) struct User {
    pub(super) receiver: StationId,
    /// Its frames, with their numbers.
    pub(super) frames: Vec<(u64, Frame)>,
    pub(super) sendings: Vec<Sending>,
    /// The numbers of the frames that have come, once they are known.
    pub(super) came: Option<Vec<u64>>,
    /// The number at which a request or the trigger says that the window starts.
    pub(super) window_start: u64,
    /// The request for its Block ACK: when it begins, its rate and its duration field.
    pub(super) request: Option<(Time, Rate, u16)>,
    /// When its response begins, and how it is sent; `None` in a contention-free period, where the
    /// next frame acknowledges the data.
    pub(super) answer: Option<(Time, Sending)>,
    /// Whether that is a Block ACK.
    pub(super) has_block_ack: bool,
}

impl User {
    /// Creates the only user of a PPDU.
    pub(super) fn only(
        receiver: StationId,
        (frames, sendings): DataFrames,
        answer: Option<(Time, Sending)>,
        has_block_ack: bool,
    ) -> Self {
        let (came, window_start, request) = (None, 0, None);
        Self { receiver, frames, sendings, came, window_start, request, answer, has_block_ack }
    }
}

impl OnAir {
    /// Returns whether the results of all frames are known at `now`.
    pub(super) fn is_known(&self, now: Time) -> bool {
        let answer = self.pending.as_ref().and_then(|pending| pending.users[0].answer);
        let since = answer.map(|(start, _)| start);
        let since = since.or(self.collided.first().map(|&(_, start, ..)| start));
        since.is_some_and(|since| since + OUTCOME_IS_KNOWN <= now)
    }
}

impl Capture {
    /// Returns the frames on the air of the current medium.
    pub(super) fn on_air(&mut self) -> &mut OnAir {
        &mut self.on_air[self.part]
    }

    /// Switches to the medium with this number.
    pub(in crate::world) fn switch_to(&mut self, part: usize) {
        self.part = part;
        self.pcap.turn_to_link(part);
    }

    /// Writes the frames on the air of each medium for which `is_due` returns true.
    pub(super) fn settle_media(&mut self, is_due: impl Fn(&OnAir) -> bool) {
        let current = self.part;
        for part in 0..self.on_air.len() {
            self.switch_to(part);
            if is_due(self.on_air()) {
                self.settle(|_| true);
            }
        }
        self.switch_to(current);
    }

    /// Writes its frame, sent by `from`.
    pub(super) fn write(&mut self, from: NodeId, start: Time, rate: Rate, intact: bool) {
        self.write_own(from, start, &Sending::alone(rate), intact);
    }

    /// Writes its frame, sent by `from` as `sending` says.
    pub(super) fn write_own(&mut self, from: NodeId, start: Time, sending: &Sending, intact: bool) {
        let frame = std::mem::take(&mut self.frame);
        self.write_frame(from, start, sending, intact, &frame);
        self.frame = frame;
    }

    /// Writes a frame of `from` at the nodes that hear it, where `intact` applies; at its sender it
    /// is always intact.
    pub(super) fn write_frame(
        &mut self,
        from: NodeId,
        start: Time,
        sending: &Sending,
        intact: bool,
        frame: &Frame,
    ) {
        match self.around.get(from as usize) {
            None => self.pcap.write(start, sending, intact, frame),
            Some(nodes) => {
                for &node in nodes {
                    self.pcap.write_at(node, start, sending, intact || node == from, frame);
                }
            }
        }
    }

    /// Records its frame, sent by `from`, which collides.
    pub(super) fn write_collided(&mut self, from: NodeId, start: Time, rate: Rate) {
        let frame = std::mem::take(&mut self.frame);
        self.on_air().collided.push((from, start, Sending::alone(rate), frame));
    }

    /// Records the frames of `sender` that collide.
    pub(super) fn collide(&mut self, sender: NodeId, start: Time, (frames, sendings): DataFrames) {
        for ((_, frame), sending) in frames.into_iter().zip(sendings) {
            self.on_air().collided.push((sender, start, sending, frame));
        }
    }

    /// Writes what was on the air before what begins at `start`. Further frames of a collision may
    /// follow.
    pub(super) fn settle_before(&mut self, start: Time, collides: bool) {
        let is_further = collides
            && self.on_air().collided.first().is_some_and(|&(_, begun, ..)| begun >= start);
        if !is_further {
            self.settle(|_| true);
        }
    }

    /// Writes the frames of a collision. No other node received them, and if several cells share
    /// the medium none detected them. No sender heard another's frame.
    fn settle_collided(&mut self) {
        let collided = std::mem::take(&mut self.on_air().collided);
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

    /// Writes the frames on the air, and the responses to data. Where it is not known yet, `came`
    /// says which frames were received.
    pub(super) fn settle(&mut self, came: impl Fn(u64) -> bool) {
        self.settle_collided();
        let Some(sent) = self.on_air().pending.take() else { return };
        let Pending { by, sender, start, users, .. } = &sent;
        let mut any = sent.trigger.is_some();
        for User { receiver, frames, sendings, came: known, .. } in users {
            let window = self.window(*by, *receiver);
            for ((id, frame), sending) in frames.iter().zip(sendings) {
                let intact = known.as_ref().map_or_else(|| came(*id), |known| known.contains(id));
                self.write_frame(*sender, *start, sending, intact, frame);
                any |= intact;
                if let (true, Some(window)) = (intact, window) {
                    self.agreements.entry((*by, *receiver)).or_default().receive(*id, window);
                }
            }
        }
        if any {
            self.write_answers(sent);
        }
    }
}
