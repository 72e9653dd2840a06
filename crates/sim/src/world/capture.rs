//! Which frames a capture file contains, and their sequence numbers.
//!
//! Hooks first check whether there is a file, and change nothing in the world. The contents of a
//! PPDU are created when it is sent, and written when it is known what was received: no other frame
//! is on the air before that. Addresses and numbers of packets are in [`packets`], contents of
//! Block ACKs in [`agreements`], and frames to be written in [`on_air`]. Frames of contention-free
//! periods are in [`contention_free`], frames without data in [`management`], and frames of a field
//! at each node in [`heard`]. The bytes are in [`pcap`](crate::pcap).

mod agreements;
mod contention_free;
mod heard;
mod management;
mod on_air;
mod packets;
mod rates;
mod triggered;
mod users;

use std::collections::BTreeMap;

use airtcp_kernel::{Duration, Time};
use airtcp_wlan::{
    AccessCategory, ContenderId, EVERYBODY, Emlsr, FrameTimes, Frames, LOWEST_OFDM_RATE,
    Modulation, Mpdu, Rate, StationId,
};

use super::World;
use super::node::{Node, NodeId};
use super::parts::{Entities, Kind};
use super::watch::Watchers;
use crate::app::Service;
use crate::connection::Side;
use crate::control::RunError;
use crate::packet::Packet;
use crate::pcap::frame::{Address, Cf, DataHeader, Frame, bitmap_bits};
use crate::pcap::packet::Ip;
use crate::pcap::radiotap::{Sending, Subframe};
use crate::pcap::{Out, PcapWriter};
use agreements::{Agreement, BlockAck, Told};
use heard::UnderWay;
use on_air::{OnAir, Pending, User};
use packets::{ForeignBytes, Names, ip_of, server_address};

/// Sequence numbers of MSDUs wrap here (IEEE 802.11-2020, 9.2.4.4.2).
const SEQUENCE_NUMBERS: u64 = 1 << 12;
/// A TU (IEEE 802.11-2020, 3.1).
const TIME_UNIT_NS: u64 = 1_024_000;

/// The frames of a PSDU with their numbers, and how each is sent.
type DataFrames = (Vec<(u64, Frame)>, Vec<Sending>);

/// Writes the capture file of one replication.
#[derive(Debug)]
pub(super) struct Capture {
    pcap: PcapWriter,
    frame: Frame,
    packet: Vec<u8>,
    names: Names,
    foreign: ForeignBytes,
    /// The frames on the air of each medium, and the number of the current one.
    on_air: Vec<OnAir>,
    part: usize,
    /// For each node, the nodes that hear it, and itself; empty if there is only one medium in
    /// which all hear each other.
    around: Vec<Vec<NodeId>>,
    /// For each node, whether it detects frames that begin together.
    detects_collisions: Vec<bool>,
    /// For a field, the exchange of each queue.
    under_way: BTreeMap<ContenderId, UnderWay>,
    /// The state of Block ACK agreements by queue and receiver. Without aggregation a queue has one
    /// for all receivers, because it sends one frame at a time.
    agreements: BTreeMap<(ContenderId, StationId), Agreement>,
    /// The last sequence number without aggregation: by node, or under EDCA by queue and receiver.
    sequence_numbers: BTreeMap<(ContenderId, StationId), u16>,
    /// The last identification of an IP packet, by sender.
    ids: BTreeMap<Ip, u16>,
    /// The number of A-MPDUs.
    ampdus: u32,
    /// Whether there is aggregation.
    is_aggregated: bool,
    /// For each station, the number of frames that a Block ACK between it and its access point
    /// reports; `None` without Block ACKs.
    windows: Vec<Option<u64>>,
    /// For each queue, its node, and the TID of its frames.
    senders: Vec<NodeId>,
    tids: Vec<u8>,
}

impl World<'_> {
    /// Captures the medium; of each frame the first `snaplen` bytes are kept.
    pub(crate) fn capture(&mut self, out: Out, snaplen: u32) {
        let (all, _, watchers) = self.seen();
        watchers.add_capture(Capture::new(all, out, snaplen));
    }

    /// Lets the capture, if there is one, show something.
    // Apart, with closures that own what they need, so that nothing is in memory without a capture.
    #[cold]
    #[inline(never)]
    pub(super) fn show(&mut self, show: impl FnOnce(&mut Capture, Entities<'_>)) {
        if let (all, _, Watchers { capture: Some(capture), .. }) = self.seen() {
            show(capture, all);
        }
    }

    /// Checks that writing to the file has not failed.
    pub(crate) fn check_capture(&self) -> Result<(), RunError> {
        let failure = self.watchers.capture.as_ref().and_then(|capture| capture.pcap.failure());
        failure.map_or(Ok(()), |failure| Err(RunError::CaptureFailed(failure)))
    }

    /// Writes the last frames of each cell whose reception is known at `now`. A live capture of an
    /// idle cell then has them in time.
    #[inline]
    pub(crate) fn settle_capture(&mut self, now: Time) {
        if let Some(capture) = &mut self.watchers.capture {
            capture.settle_media(|on_air| on_air.is_known(now));
        }
    }

    /// Writes the rest. Frames on the air count as received.
    pub(crate) fn finish_capture(&mut self) -> Result<(), RunError> {
        if let Some(capture) = &mut self.watchers.capture {
            capture.settle_media(|_| true);
            capture.settle_all_sent();
            capture.pcap.finish();
        }
        self.check_capture()
    }

    /// Sets how a queue's ECN mark is written to the bytes of a foreign packet.
    pub(crate) fn capture_marks(&mut self, mark: fn(&mut [u8])) {
        if let Some(capture) = &mut self.watchers.capture {
            capture.foreign.mark = mark;
        }
    }

    /// Stores the bytes of a foreign packet in slot `place`.
    pub(crate) fn capture_foreign(&mut self, place: u32, bytes: &[u8]) {
        if let Some(capture) = &mut self.watchers.capture {
            capture.foreign.keep(place, bytes, capture.pcap.snaplen());
        }
    }
}

/// Returns for each node the nodes on its medium and itself. Outside of a field these nodes hear
/// it.
fn nodes_around(all: Entities<'_>) -> Vec<Vec<NodeId>> {
    let part_of = |node: &Node| all.parts.of_cell(node.access_point);
    let mut around = vec![Vec::new(); all.nodes.len()];
    for (node, one) in (0..).zip(all.nodes) {
        around[part_of(one)].push(node);
    }
    all.nodes.iter().map(|one| around[part_of(one)].clone()).collect()
}

impl Capture {
    fn new(all: Entities<'_>, out: Out, snaplen: u32) -> Self {
        let kind_of = |node: &Node| all.parts.kinds()[all.parts.of_cell(node.access_point)];
        let window = |node: &Node| {
            all.aggregation_of(node).map(|one| bitmap_bits(one.block_ack_window.into()))
        };
        let kinds = all.parts.kinds();
        let is_shared = all.has_air() && kinds.iter().any(|&kind| kind != Kind::Field);
        Self {
            pcap: PcapWriter::new(out, snaplen, all.scenario),
            frame: Frame::default(),
            packet: Vec::new(),
            names: Names::new(all.flows.len()),
            foreign: ForeignBytes::default(),
            part: all.parts.current,
            on_air: kinds.iter().map(|_| OnAir::default()).collect(),
            around: if is_shared { nodes_around(all) } else { Vec::new() },
            detects_collisions: all.nodes.iter().map(|one| kind_of(one) == Kind::Cell).collect(),
            under_way: BTreeMap::new(),
            agreements: BTreeMap::new(),
            sequence_numbers: BTreeMap::new(),
            ids: BTreeMap::new(),
            ampdus: 0,
            // 9.3.1.8.3: bitmaps have 64 or 256 bits.
            windows: all.nodes.iter().map(window).collect(),
            is_aggregated: all.scenario.mac.aggregation.is_some(),
            senders: all.transmitters.iter().map(|one| one.node).collect(),
            tids: all.transmitters.iter().map(|one| one.category.map_or(0, tid)).collect(),
        }
    }

    /// Records that a connection of `flow` for `service` was stored in slot `id`.
    pub(super) fn connection(&mut self, id: u32, flow: u32, service: Service) {
        self.names.open(id, flow, service);
    }

    /// Captures `psdu`, which `by` sends in an exchange that begins at `start`; of one that collides,
    /// its first frame.
    #[cold]
    pub(super) fn exchange(
        &mut self,
        all: Entities<'_>,
        by: ContenderId,
        start: Time,
        (times, class): (&FrameTimes, u32),
        psdu: Frames<'_, Packet>,
        collides: bool,
    ) {
        if all.parts.plays(Kind::Field) {
            return self.note_exchange(all, by, (times, class), psdu);
        }
        self.settle_before(start, collides);
        let (data_rate, control_rate) = all.scenario.rates_of(class);
        let protection_rate = all.protection_rate(data_rate, control_rate);
        let sender = all.sender(by);
        let receiver = psdu.first().payload.to;
        let [_, _, data, ack] = times.intervals(all.phy);
        let protection = (times, protection_rate);
        self.before(all, (by, receiver), start, protection, collides);
        if !collides || times.rts == Duration::ZERO {
            let duration = micros_up(ack.1 - data.1);
            let (frames, sendings) = self.data_frames(all, by, psdu, data_rate, duration, None);
            if collides {
                self.collide(sender, start + data.0, (frames, sendings));
            } else {
                let has_block_ack = frames.len() > 1;
                let rate = match all.aggregation_to(by, receiver) {
                    Some(aggregation) if has_block_ack => aggregation.block_ack_rate,
                    _ => control_rate,
                };
                let answer = Some((start + ack.0, Sending::alone(rate)));
                let user = User::only(receiver, (frames, sendings), answer, has_block_ack);
                let (start, users) = (start + data.0, vec![user]);
                self.on_air().pending = Some(Pending { by, sender, start, trigger: None, users });
            }
        }
    }

    /// Captures the received frames of the data PPDU on the air: its receiver responds if it
    /// received any.
    #[cold]
    pub(super) fn outcome(&mut self, psdu: Frames<'_, Packet>) {
        let received = psdu.mpdus().iter().filter(|mpdu| mpdu.is_received);
        self.came_to(psdu.receiver(), received.map(|mpdu| mpdu.id).collect());
    }

    /// Captures that nothing on the air was received.
    #[cold]
    pub(super) fn loss(&mut self) {
        self.settle(|_| false);
    }

    /// Captures RTS and CTS, or a CTS-to-self, of `by` before frames to `to`; one that `collides` alone.
    fn before(
        &mut self,
        all: Entities<'_>,
        (by, to): (ContenderId, StationId),
        start: Time,
        (times, mut rate): (&FrameTimes, Rate),
        collides: bool,
    ) {
        let node = all.sender(by);
        let [sender, receiver] = all.addresses_on_air(by, to);
        let [rts, cts, _, ack] = times.intervals(all.phy);
        let left = |end: Duration| micros_up(ack.1 - end);
        let has_rts = times.rts > Duration::ZERO;
        if has_rts {
            let is_from_ap = all.nodes[node as usize].is_access_point();
            let emlsr = all.station_of(by, to).and_then(|one| one.emlsr);
            let begins = |one: &Emlsr| is_from_ap && one.control_times(all.phy).0 == times.rts;
            if let Some(emlsr) = emlsr.filter(begins) {
                let padding = emlsr.padding_bits() / 8;
                let width = all.phy.data_rate.width_mhz();
                rate = LOWEST_OFDM_RATE;
                self.frame.mu_rts(left(rts.1), [receiver, sender], (to as u16, width), padding);
            } else {
                self.frame.rts(left(rts.1), receiver, sender);
            }
            if collides {
                return self.write_collided(node, start, rate);
            }
            self.write(node, start, rate, true);
        }
        if times.cts > Duration::ZERO {
            // Addressed to the sender of the RTS or, without an RTS, to the sender itself.
            self.frame.cts(left(cts.1), sender);
            if collides {
                return self.write_collided(node, start, rate);
            }
            self.write(if has_rts { to } else { node }, start + cts.0, rate, true);
        }
    }

    /// Creates the frames of a PPDU of `by` with their numbers, and how each is sent.
    fn data_frames(
        &mut self,
        all: Entities<'_>,
        by: ContenderId,
        psdu: Frames<'_, Packet>,
        rate: Rate,
        duration: u16,
        contention_free: Option<Cf>,
    ) -> DataFrames {
        let count = psdu.count();
        // From VHT on PPDUs carry only A-MPDUs (10.12.7).
        let is_ampdu = count > 1
            || matches!(rate.modulation, Modulation::High(high) if high.format.amendment().lone_delimiter);
        self.ampdus += u32::from(is_ampdu);
        let receiver = psdu.first().payload.to;
        let is_uplink = all.nodes[receiver as usize].is_access_point();
        let ldpc = all.has_ldpc(by, receiver);
        let window_start = psdu.first().id;
        let mut frames = Vec::with_capacity(count);
        let mut sendings = Vec::with_capacity(count);
        for (place, packets) in psdu.each().enumerate() {
            let announced = (duration, contention_free);
            let frame = self.data_frame(all, by, packets, window_start, announced);
            frames.push((packets[0].id, frame));
            let subframe = is_ampdu.then_some(Subframe {
                reference: self.ampdus,
                is_last: place + 1 == count,
                is_alone: count == 1,
            });
            sendings.push(Sending { rate, is_uplink, ldpc, subframe, unit: None });
        }
        (frames, sendings)
    }

    /// Creates the data frame of `by` with these packets.
    fn data_frame(
        &mut self,
        all: Entities<'_>,
        by: ContenderId,
        packets: &[Mpdu<Packet>],
        window_start: u64,
        (duration, contention_free): (u16, Option<Cf>),
    ) -> Frame {
        let Mpdu { id, payload: ref packet, .. } = packets[0];
        let transmitter = &all.transmitters[by as usize];
        let from_ap = all.nodes[transmitter.node as usize].is_access_point();
        let flow = all.flow_of(packet);
        let side = if from_ap { Side::Server } else { Side::Station };
        // 10.3.2.11.2: one count per receiver and TID, or one for all without QoS.
        let counted = match transmitter.category {
            None => (by, EVERYBODY),
            Some(_) => (by, packet.to),
        };
        let key = if self.is_aggregated { (by, packet.to) } else { (by, EVERYBODY) };
        let agreement = self.agreements.entry(key).or_default();
        agreement.forget_before(window_start);
        let (ids, foreign) = (&mut self.ids, &self.foreign);
        let told = |mpdu: &Mpdu<Packet>| match mpdu.payload.body.foreign() {
            Some(place) => {
                let (head, more) = foreign.packet(place, mpdu.payload.body.flags());
                Told::Bytes(head, more)
            }
            None => {
                let flow = all.flow_of(&mpdu.payload);
                Told::Identification(next(ids, ip_of(flow.entry, flow.station, side)))
            }
        };
        let (retry, told) = agreement.send(id, || packets.iter().map(told).collect());
        let last = self.sequence_numbers.entry(counted).or_insert(u16::MAX);
        if !retry {
            *last = if self.is_aggregated { wrapped(id) } else { last.wrapping_add(1) };
        }
        let sequence_number = if self.is_aggregated { wrapped(id) } else { *last };
        let header = DataHeader {
            from_ap,
            retry,
            duration,
            station: address_of(flow.station),
            bssid: address_of(flow.access_point),
            distant: server_address(flow.entry),
            sequence_number: sequence_number % SEQUENCE_NUMBERS as u16,
            tid: transmitter.category.map(tid),
            contention_free,
        };
        let mut frame = Frame::default();
        let mut heads = Vec::with_capacity(packets.len());
        for (mpdu, told) in packets.iter().zip(told) {
            heads.push(match told {
                Told::Bytes(head, more) => (head.clone(), *more),
                Told::Identification(id) => {
                    self.packet.clear();
                    self.names.build_packet(all, &mut self.packet, &mpdu.payload, side, *id);
                    (self.packet.clone(), mpdu.payload.body.payload_bytes() as usize)
                }
            });
        }
        match &heads[..] {
            [(head, zeros)] => frame.data(&header, head, *zeros),
            several => {
                frame.amsdu(&header, several.iter().map(|(head, zeros)| (&head[..], *zeros)))
            }
        }
        frame
    }

    /// Returns the TID of a queue's frames under a Block ACK agreement.
    fn tid(&self, by: ContenderId) -> u8 {
        self.tids[by as usize]
    }

    /// Writes into its frame the Block ACK of `receiver` for frames of `by`, with these addresses
    /// and a window of `window` frames.
    fn block_ack(
        &mut self,
        (by, receiver): (ContenderId, StationId),
        addresses: [Address; 2],
        window: u64,
    ) {
        let agreement = self.agreements.entry((by, receiver)).or_default();
        let BlockAck { start, bitmap } = agreement.block_ack(window);
        self.frame.block_ack(addresses, self.tids[by as usize], wrapped(start), &bitmap);
    }

    /// Returns the number of frames that a Block ACK between `by` and `receiver` reports, if there
    /// are Block ACKs.
    fn window(&self, by: ContenderId, receiver: StationId) -> Option<u64> {
        // Access points have no entry of their own.
        self.windows[receiver as usize].or(self.windows[self.senders[by as usize] as usize])
    }
}

/// Returns the address of a node: locally administered, with its number.
fn address_of(node: NodeId) -> Address {
    let [a, b, c, d] = node.to_be_bytes();
    [2, 0, a, b, c, d]
}

/// Returns the first user priority of the category (IEEE 802.11-2020, Table 10-1), which is its TID
/// under EDCA.
fn tid(category: AccessCategory) -> u8 {
    match category {
        AccessCategory::Voice => 6,
        AccessCategory::Video => 5,
        AccessCategory::BestEffort => 0,
        AccessCategory::Background => 1,
    }
}

/// Wraps a number of the MAC to its size in a frame.
fn wrapped(number: u64) -> u16 {
    (number % SEQUENCE_NUMBERS) as u16
}

/// Returns the next number of a count that begins with 0.
fn next<K: Ord>(counts: &mut BTreeMap<K, u16>, key: K) -> u16 {
    let count = counts.entry(key).or_insert(u16::MAX);
    *count = count.wrapping_add(1);
    *count
}

fn micros_up(span: Duration) -> u16 {
    u16::try_from(span.as_nanos().div_ceil(1_000)).unwrap_or(i16::MAX as u16).min(i16::MAX as u16)
}
