//! The frames of a field in a self. Each frame goes to the interface of its sender, and to those
//! of the nodes that detected its preamble and received it to its end. At these nodes its FCS is
//! wrong if interference was too strong.
//!
//! Input is the order of an exchange, and what the field reports of each frame. A node that did not
//! detect the preamble has no record, nor has one that left the frame for a stronger one. The
//! contents of a data frame are created when it has been sent. The receiver's record follows with
//! the response, when it is known what was received.

use airtcp_kernel::{Duration, Time};
use airtcp_wlan::{
    ContenderId, FrameTimes, Frames, HeardBy, HeardFrame, HeardKind, Rate, StationId,
};

use super::super::parts::Entities;
use super::{Capture, micros_up, wrapped};
use crate::packet::Packet;
use crate::pcap::frame::{Address, Frame};
use crate::pcap::radiotap::Sending;

/// The exchange of a queue.
#[derive(Debug)]
pub(super) struct UnderWay {
    receiver: StationId,
    /// The addresses of the queue's node, and of the receiver.
    addresses: [Address; 2],
    data_rate: Rate,
    /// The rate of RTS and CTS.
    protection_rate: Rate,
    /// The rate of a request, and of an ACK.
    control_rate: Rate,
    /// Durations announced in RTS, CTS, and data or a request.
    durations: [u16; 3],
    /// The first number of the window, if it requests a Block ACK.
    asks_from: Option<u64>,
    /// Whether the response is a Block ACK.
    has_block_ack: bool,
    /// The sent data, until it is known what was received.
    sent: Option<Sent>,
}

/// The data of a PPDU.
#[derive(Debug)]
struct Sent {
    start: Time,
    /// Its frames, with their numbers.
    frames: Vec<(u64, Frame)>,
    sendings: Vec<Sending>,
    /// For each frame, whether interference at its receiver was low enough; `None` if the receiver
    /// was not receiving it.
    clear: Option<Vec<bool>>,
}

impl Capture {
    /// Records an exchange of `by` that begins.
    pub(super) fn note_exchange(
        &mut self,
        all: Entities<'_>,
        by: ContenderId,
        (times, class): (&FrameTimes, u32),
        psdu: Frames<'_, Packet>,
    ) {
        let (data_rate, control_rate) = all.scenario.rates_of(class);
        let protection_rate = all.protection_rate(data_rate, control_rate);
        let [rts, cts, data, ack] = times.intervals(all.phy);
        let left = |end: Duration| micros_up(ack.1 - end);
        let under_way = UnderWay {
            receiver: psdu.first().payload.to,
            addresses: all.addresses_on_air(by, psdu.first().payload.to),
            data_rate,
            protection_rate,
            control_rate,
            durations: [left(rts.1), left(cts.1), left(data.1)],
            asks_from: None,
            has_block_ack: psdu.count() > 1,
            sent: None,
        };
        self.begin_under_way(by, under_way);
    }

    /// Records that `by` requests a Block ACK of `receiver` from `window_start` on.
    pub(super) fn note_request(
        &mut self,
        all: Entities<'_>,
        by: ContenderId,
        (times, control_rate): (&FrameTimes, Rate),
        receiver: StationId,
        window_start: u64,
    ) {
        let [_, _, request, answer] = times.intervals(all.phy);
        let under_way = UnderWay {
            receiver,
            addresses: all.addresses_on_air(by, receiver),
            data_rate: control_rate,
            protection_rate: control_rate,
            control_rate,
            durations: [0, 0, micros_up(answer.1 - request.1)],
            asks_from: Some(window_start),
            has_block_ack: true,
            sent: None,
        };
        self.begin_under_way(by, under_way);
    }

    fn begin_under_way(&mut self, by: ContenderId, under_way: UnderWay) {
        self.unanswered(by);
        self.under_way.insert(by, under_way);
    }

    /// Captures that `by` got no response.
    pub(in crate::world) fn unanswered(&mut self, by: ContenderId) {
        self.settle_sent(by, |_, _| false);
    }

    /// Captures a frame of a field at the nodes that received it.
    #[cold]
    pub(in crate::world) fn heard(&mut self, all: Entities<'_>, heard: &HeardFrame<'_, Packet>) {
        if let Some(under_way) = self.under_way.remove(&heard.by) {
            let under_way = self.write_heard(all, under_way, heard);
            // The next step may need it.
            self.under_way.insert(heard.by, under_way);
        }
    }

    fn write_heard(
        &mut self,
        all: Entities<'_>,
        mut under_way: UnderWay,
        heard: &HeardFrame<'_, Packet>,
    ) -> UnderWay {
        let UnderWay { addresses: [sender, receiver], durations: [rts, cts, last], .. } = under_way;
        match heard.kind {
            HeardKind::Rts => {
                self.frame.rts(rts, receiver, sender);
                self.write_control(heard, under_way.protection_rate);
            }
            HeardKind::Cts => {
                // Addressed to the sender of the RTS or, without an RTS, to the sender itself.
                self.frame.cts(cts, sender);
                self.write_control(heard, under_way.protection_rate);
            }
            HeardKind::Data => match (under_way.asks_from, heard.psdu) {
                (Some(window_start), _) => {
                    let tid = self.tid(heard.by);
                    let addresses = [receiver, sender];
                    self.frame.block_ack_request(last, addresses, tid, wrapped(window_start));
                    self.write_control(heard, under_way.control_rate);
                    let key = (heard.by, under_way.receiver);
                    if heard.ears.iter().any(|ear| ear.station == heard.to && ear.is_whole(heard)) {
                        self.agreements.entry(key).or_default().request(window_start);
                    }
                }
                (None, Some(psdu)) => {
                    let (by, rate) = (heard.by, under_way.data_rate);
                    let (frames, sendings) = self.data_frames(all, by, psdu, rate, last, None);
                    let clear = self.write_data(heard, &frames, &sendings);
                    under_way.sent = Some(Sent { start: heard.start, frames, sendings, clear });
                }
                (None, None) => {}
            },
            HeardKind::Answer => {
                let (by, far) = (heard.by, under_way.receiver);
                if let Some(sent) = under_way.sent.take() {
                    let came = |id, _| {
                        let has_come = |psdu: Frames<'_, Packet>| {
                            psdu.mpdus().iter().any(|mpdu| mpdu.id == id && mpdu.is_received)
                        };
                        heard.psdu.is_none_or(has_come)
                    };
                    self.write_received((by, far), &sent, came);
                }
                let rate = match (all.aggregation_to(by, far), self.window(by, far)) {
                    (Some(aggregation), Some(window)) if under_way.has_block_ack => {
                        self.block_ack((by, far), [sender, receiver], window);
                        aggregation.block_ack_rate
                    }
                    _ => {
                        self.frame.ack(sender);
                        under_way.control_rate
                    }
                };
                self.write_control(heard, rate);
            }
        }
        under_way
    }
}

impl Capture {
    /// Writes its frame at the nodes that received it.
    fn write_control(&mut self, heard: &HeardFrame<'_, Packet>, rate: Rate) {
        let sending = Sending::alone(rate);
        self.pcap.write_at(heard.sender, heard.start, &sending, true, &self.frame);
        for ear in heard.ears {
            let is_whole = ear.is_whole(heard);
            self.pcap.write_at(ear.station, heard.start, &sending, is_whole, &self.frame);
        }
    }

    /// Writes data at its sender and at the nodes that received it, except the addressed receiver.
    /// If that was receiving, returns for each frame whether interference was low enough.
    fn write_data(
        &mut self,
        heard: &HeardFrame<'_, Packet>,
        frames: &[(u64, Frame)],
        sendings: &[Sending],
    ) -> Option<Vec<bool>> {
        let all: u64 = frames.iter().map(|(_, frame)| frame.len() as u64).sum();
        // Each frame of an aggregate has its share of the time; otherwise the whole frame must be
        // received.
        let span = (heard.end - heard.header_end).as_nanos();
        let mut clear = Vec::new();
        let mut before = 0;
        for ((_, frame), sending) in frames.iter().zip(sendings) {
            let after = before + frame.len() as u64;
            let at = |bytes: u64| {
                heard.header_end
                    + Duration::from_nanos(
                        (u128::from(span) * u128::from(bytes) / u128::from(all)) as u64,
                    )
            };
            let (from, until) = (at(before), at(after));
            before = after;
            self.pcap.write_at(heard.sender, heard.start, sending, true, frame);
            for ear in heard.ears {
                let is_clear = ear.bad_from >= heard.header_end && ear.is_clear(from, until);
                if ear.station == heard.to {
                    clear.push(is_clear);
                } else {
                    self.pcap.write_at(ear.station, heard.start, sending, is_clear, frame);
                }
            }
        }
        (!clear.is_empty()).then_some(clear)
    }

    /// Writes data at its receiver. `came` says which frames were received, by number and whether
    /// interference was low enough.
    fn write_received(
        &mut self,
        (by, receiver): (ContenderId, StationId),
        sent: &Sent,
        came: impl Fn(u64, bool) -> bool,
    ) {
        let window = self.window(by, receiver);
        let clear = sent.clear.iter().flatten();
        for (((id, frame), sending), &clear) in sent.frames.iter().zip(&sent.sendings).zip(clear) {
            let intact = came(*id, clear);
            self.pcap.write_at(receiver, sent.start, sending, intact, frame);
            if let (true, Some(window)) = (intact, window) {
                self.agreements.entry((by, receiver)).or_default().receive(*id, window);
            }
        }
    }

    /// Writes data without a response so far at their receivers: undisturbed frames count as
    /// received.
    pub(super) fn settle_all_sent(&mut self) {
        let senders: Vec<_> = self.under_way.keys().copied().collect();
        for by in senders {
            self.settle_sent(by, |_, clear| clear);
        }
    }

    /// Writes data of `by` at its receiver, if its reception was unknown until now.
    fn settle_sent(&mut self, by: ContenderId, came: impl Fn(u64, bool) -> bool) {
        let under_way = self.under_way.get_mut(&by);
        if let Some((receiver, sent)) =
            under_way.and_then(|one| one.sent.take().map(|sent| (one.receiver, sent)))
        {
            self.write_received((by, receiver), &sent, came);
        }
    }
}

/// Questions about the reception at one node.
trait Judged {
    /// Returns whether all of a frame was received.
    fn is_whole(&self, heard: &HeardFrame<'_, Packet>) -> bool;
    /// Returns whether interference was low enough for a span of time.
    fn is_clear(&self, from: Time, until: Time) -> bool;
}

impl Judged for HeardBy {
    fn is_whole(&self, heard: &HeardFrame<'_, Packet>) -> bool {
        self.is_clear(heard.start, heard.end)
    }

    fn is_clear(&self, from: Time, until: Time) -> bool {
        self.bad_from >= until || self.bad_until <= from
    }
}
