//! The interface between the MAC and the queues: the MAC takes packets from them and reports
//! events, whose consequences outside of the medium are handled here.
//!
//! A packet counts towards the limit of its queue while the MAC holds it.

use airtcp_kernel::{Duration, Time};
use airtcp_wlan::{
    Began, CfFrame, ContenderId, FrameTimes, Frames, MacEvent, Mpdu, Msdu, Ppdu, StationId, Supply,
    TriggeredFrames, TriggeredPsdu, UserPsdu,
};

use super::World;
use super::lost::Place;
use super::node::Transmitter;
use super::parts::{Kind, Parts};
use crate::airtime::{Cargo, Colliding};
use crate::connection::Side;
use crate::medium::Host;
use crate::packet::Packet;

/// The world as a medium uses it: a field, or a cell. They differ in the airtime, because several
/// transmissions of a field may overlap.
#[derive(Debug)]
struct Over<'w, 'a, const FIELD: bool>(&'w mut World<'a>);

impl Host for World<'_> {
    #[inline(always)]
    fn cell(&mut self) -> impl Supply<Packet> {
        Over::<false>(self)
    }

    #[inline(always)]
    fn field(&mut self) -> impl Supply<Packet> {
        Over::<true>(self)
    }

    fn turn_to(&mut self, part: usize, horizon: Time) {
        self.switch_to(part);
        self.parts.horizon = self.horizon;
        self.horizon = self.horizon.min(horizon);
        self.next = self.next.min(horizon);
    }

    fn turn_to_all(&mut self) {
        self.stop_at(self.parts.horizon);
    }

    fn select_ready(&mut self, of: &[u32]) -> Option<u32> {
        let Self { ready, parts: Parts { others, .. }, .. } = self;
        if ready.is_empty() {
            std::mem::swap(ready, others);
        }
        let part = of[*ready.last()? as usize];
        ready.retain(|&one| {
            let is_its = of[one as usize] == part;
            if !is_its {
                others.push(one);
            }
            is_its
        });
        Some(part)
    }
}

// Inlined where a medium calls it.
impl<const FIELD: bool> Supply<Packet> for Over<'_, '_, FIELD> {
    #[inline(always)]
    fn next(
        &mut self,
        contender: ContenderId,
        to: Option<StationId>,
        now: Time,
        fits: impl FnOnce(StationId, u64) -> bool,
        take: impl FnOnce(Msdu<Packet>),
    ) -> bool {
        let queue = &mut self.0.transmitters[contender as usize].queue;
        let before = queue.len();
        let fits = |packet: &Packet| fits(packet.to, packet.bits);
        let take = |packet: &Packet| take(msdu(packet));
        let is_taken = queue.hand_over(to, now, fits, take, &mut self.0.drops);
        if !self.0.drops.is_empty() {
            self.0.settle_asked(contender, before);
        }
        is_taken
    }

    fn receiver<'a>(
        &mut self,
        contender: ContenderId,
        waiting: impl Iterator<Item = (StationId, Option<&'a Packet>)>,
    ) -> Option<StationId> {
        let waiting = waiting.map(|(receiver, packet)| (receiver, packet.map(|one| one.arrived)));
        self.0.transmitters[contender as usize].queue.receiver(waiting)
    }

    #[inline]
    fn has_next(&self, contender: ContenderId) -> bool {
        self.0.transmitters[contender as usize].queue.has_next()
    }

    fn has_next_for(&self, contender: ContenderId, receiver: StationId) -> bool {
        self.0.transmitters[contender as usize].queue.has_next_for(receiver)
    }

    fn queued_bits(&self, contender: ContenderId, header_bits: u64, most: u64) -> u64 {
        let mut bits = 0;
        for packet in self.0.transmitters[contender as usize].queue.iter() {
            bits += packet.bits + header_bits;
            if bits >= most {
                break;
            }
        }
        bits
    }

    #[inline]
    fn carries_data(&self, payload: &Packet) -> bool {
        payload.body.payload_bytes() > 0
    }

    /// Returns whether any observer needs each frame of a collision, or the cells that share the
    /// medium.
    #[inline]
    fn watches_colliders(&self) -> bool {
        self.0.watchers.watch_frames() || self.0.parts.plays(Kind::Cells)
    }

    #[inline(always)]
    fn next_ready(&mut self) -> Option<ContenderId> {
        self.0.ready.pop()
    }

    #[inline(always)]
    fn has_ready(&self) -> bool {
        !self.0.ready.is_empty()
    }

    #[inline(always)]
    fn play_until(&mut self, time: Time) -> bool {
        debug_assert!(self.0.ready.is_empty());
        let has_come = time < self.0.next || self.0.play_events(time);
        if has_come {
            self.0.now = time;
        }
        has_come
    }

    #[inline(always)]
    fn acknowledged(&mut self, _: Time, by: ContenderId, mpdu: &Mpdu<Packet>) -> bool {
        if FIELD {
            let World { ledger, phy, .. } = &mut *self.0;
            ledger.succeeded_over_field(by, phy);
        }
        self.0.packet_acknowledged(by, &mpdu.payload)
    }

    #[inline(always)]
    fn on_event(&mut self, now: Time, event: MacEvent<'_, Packet>) {
        if FIELD {
            self.0.on_field_event(now, event);
        } else {
            self.0.on_event(now, event);
        }
    }
}

impl World<'_> {
    // Each call site has one kind of event: inlined, the match disappears.
    #[inline(always)]
    fn on_event(&mut self, now: Time, event: MacEvent<'_, Packet>) {
        match event {
            MacEvent::Began(Began::Exchange { by, times, ppdu }) => {
                self.exchange_begins(by, now, times, ppdu);
            }
            MacEvent::Began(began) => self.other_begins(now, &began),
            MacEvent::Lost { by, psdu, answer: (from, to) } => {
                self.ledger.airtime.unanswered(psdu.first().payload.body.scope, from, to);
                if self.watchers.watch_frames() {
                    self.frame_failed(by, &psdu.first().payload, false);
                    self.record_lost_ppdu(by);
                    self.show(move |capture, _| capture.loss());
                }
            }
            MacEvent::Received { mpdu, came, .. } => self.received(mpdu, came),
            MacEvent::Answered { by, psdu } => {
                if self.watchers.watch_frames() {
                    self.transmitters[by as usize].collided = false;
                    self.show(move |capture, _| capture.outcome(psdu));
                }
            }
            MacEvent::Heard(_) => unreachable!("a field tells of frames"),
            MacEvent::GivenUp { by, mpdu } => {
                // It may have been received, with only the acknowledgment lost.
                if !mpdu.is_received {
                    self.lose(&mpdu.payload, Place::Mac(by));
                }
                self.packet_given_up(by, &mpdu.payload);
                self.frame_given_up(by, &mpdu.payload);
            }
        }
    }
}

/// Classifies PSDUs as TCP ACKs if they contain nothing else, else as data.
#[inline]
fn cargo<'a>(mut psdus: impl Iterator<Item = Frames<'a, Packet>>) -> Cargo {
    let carries = |mpdu: &Mpdu<Packet>| mpdu.payload.body.payload_bytes() > 0;
    // Check the first one separately: almost always there is no other.
    if psdus.any(|psdu| carries(psdu.first()) || psdu.mpdus()[1..].iter().any(carries)) {
        Cargo::Data
    } else {
        Cargo::TcpAck
    }
}

/// Copies a packet for the MAC.
// Receiver and size are read from the queued packet, so that the compiler makes only one full copy.
#[inline(always)]
fn msdu(packet: &Packet) -> Msdu<Packet> {
    Msdu { receiver: packet.to, bits: packet.bits, payload: *packet }
}

impl World<'_> {
    // Inlined like `on_event`.
    #[inline(always)]
    fn exchange_begins(
        &mut self,
        by: ContenderId,
        start: Time,
        times: &FrameTimes,
        ppdu: Ppdu<'_, Packet>,
    ) {
        let psdus = ppdu.psdus();
        if psdus.len() == 1 {
            let first = &psdus[0].frames.first().payload;
            let cargo = cargo(ppdu.frames());
            self.ledger.airtime.exchange(start, times, first.body.scope, cargo, self.phy);
        } else {
            self.users_begin(start, times, psdus);
        }
        if self.watchers.watch_frames() {
            self.show_exchange(by, start, times, ppdu, false);
        }
    }

    /// Counts an exchange with several users.
    #[cold]
    fn users_begin(&mut self, start: Time, times: &FrameTimes, psdus: &[UserPsdu<'_, Packet>]) {
        let user = |one: &UserPsdu<'_, Packet>| {
            (one.frames.first().payload.body.scope, cargo(std::iter::once(one.frames)))
        };
        let users: Vec<_> = psdus.iter().map(user).collect();
        self.ledger.airtime.exchange_of_users(start, times, &users, self.phy);
    }

    /// Processes an event of a field.
    #[inline(always)]
    fn on_field_event(&mut self, now: Time, event: MacEvent<'_, Packet>) {
        match event {
            MacEvent::Began(Began::Exchange { by, times, ppdu }) => {
                let first = &ppdu.psdus()[0].frames.first().payload;
                let sent = (first.body.scope, cargo(ppdu.frames()));
                self.ledger.began_over_field(by, now, times, sent);
                if self.watchers.watch_frames() {
                    self.show_exchange(by, now, times, ppdu, false);
                }
            }
            MacEvent::Lost { by, psdu, .. } => {
                self.ledger.lost_over_field(by);
                if self.watchers.watch_frames() {
                    self.frame_failed(by, &psdu.first().payload, false);
                    self.record_lost_ppdu(by);
                    self.show(move |capture, _| capture.unanswered(by));
                }
            }
            MacEvent::Began(Began::Request { by, times, receiver, window_start, .. }) => {
                if self.watchers.shares_airtime {
                    self.charge(by, now, receiver, times.total);
                }
                self.show(move |capture, all| {
                    capture.request(all, by, now, times, receiver, (window_start, true))
                });
            }
            MacEvent::Heard(frame) => {
                self.show(move |capture, all| capture.heard(all, &frame));
            }
            event => self.on_event(now, event),
        }
    }

    /// Reports the start of an exchange, or of one that collides, to the observers.
    // Passed by value, so that nothing is in memory without observers.
    #[inline(never)]
    fn show_exchange(
        &mut self,
        by: ContenderId,
        start: Time,
        times: &FrameTimes,
        ppdu: Ppdu<'_, Packet>,
        collides: bool,
    ) {
        let is_of_several = ppdu.psdus()[0].unit.is_some();
        if is_of_several {
            self.show(move |capture, all| {
                capture.users(all, by, start, times, ppdu.psdus(), collides)
            });
        }
        for (place, &UserPsdu { frames: psdu, class, .. }) in ppdu.psdus().iter().enumerate() {
            let packet = &psdu.first().payload;
            if collides {
                self.charge_collider(by, start, packet.to, times);
                self.frame_failed(by, packet, true);
            } else if self.watchers.shares_airtime {
                self.charge(by, start, packet.to, times.total);
            }
            // After a collision of the RTS, its PPDU is not sent.
            if self.ledger.ppdus.is_some() && (!collides || times.rts == Duration::ZERO) {
                self.count_ppdu(by, start, (times, class), (psdu, place == 0), collides);
            }
            if !is_of_several {
                self.show(move |capture, all| {
                    capture.exchange(all, by, start, (times, class), psdu, collides);
                });
            }
        }
    }

    #[inline(never)]
    fn count_ppdu(
        &mut self,
        by: ContenderId,
        start: Time,
        sent: (&FrameTimes, u32),
        (psdu, is_first): (Frames<'_, Packet>, bool),
        collides: bool,
    ) {
        let group = self.flow_of(&psdu.first().payload).rate_class;
        let node = self.transmitters[by as usize].node;
        let from_access_point = self.nodes[node as usize].is_access_point();
        if let Some(ppdus) = &mut self.ledger.ppdus {
            ppdus.add(by, group, from_access_point, (psdu, is_first));
            self.record_ppdu(by, start, sent, psdu, collides);
        }
    }

    /// Records the first frame of a colliding exchange of `by`, if several cells share the medium;
    /// `None` if it has no data.
    fn note_collider(&mut self, by: ContenderId, times: &FrameTimes, cargo: Option<Cargo>) {
        if self.parts.plays(Kind::Cells) {
            let (cell, length) = (self.cell_of(by), times.first());
            self.ledger.note_collider(Colliding { cell, length, cargo });
        }
    }

    /// Counts and reports a frame outside of exchanges, which are frequent.
    #[cold]
    fn other_begins(&mut self, now: Time, began: &Began<'_, Packet>) {
        match *began {
            Began::Exchange { .. } => unreachable!("exchanges are frequent"),
            Began::Beacon { by, mpdu, sent, end, collides } => {
                if !collides {
                    self.ledger.airtime.broadcast((now, sent, end), self.cell_of(by));
                }
                self.show(move |capture, all| capture.beacon(all, by, now, mpdu, !collides));
            }
            Began::CfEnd { by, sent, end } => {
                self.ledger.airtime.broadcast((now, sent, end), self.cell_of(by));
                self.show(move |capture, all| capture.cf_end(all, by, now));
            }
            Began::ContentionFree(ref frame) => self.contention_free(now, frame),
            Began::Request { by, times, receiver, window_start, collides } => {
                if collides {
                    self.note_collider(by, times, None);
                    self.charge_collider(by, now, receiver, times);
                } else {
                    let cell = self.cell_of(by);
                    self.ledger.airtime.request(now, times, self.phy, cell);
                    if self.watchers.shares_airtime {
                        self.charge(by, now, receiver, times.total);
                    }
                }
                self.show(move |capture, all| {
                    capture.request(all, by, now, times, receiver, (window_start, !collides))
                });
            }
            Began::Collision { sent, end } => {
                self.ledger.collision(now, sent, end);
            }
            Began::Triggered { by, start, times, users, collides } => {
                if collides {
                    self.note_collider(by, times, None);
                } else {
                    self.stations_triggered(by, start, times, users);
                }
                self.show(move |capture, all| {
                    capture.triggered(all, by, start, times, users, collides)
                });
            }
            Began::Collider { by, times, ref ppdu } => {
                let has_data = times.rts == Duration::ZERO;
                self.note_collider(by, times, has_data.then(|| cargo(ppdu.frames())));
                self.show_exchange(by, now, times, *ppdu, true);
            }
        }
    }

    /// Counts and reports an exchange of stations that the access point's queue `by` has triggered.
    fn stations_triggered(
        &mut self,
        by: ContenderId,
        start: Time,
        times: &FrameTimes,
        users: &[TriggeredPsdu<'_, Packet>],
    ) {
        let data = || {
            users.iter().filter_map(|one| match one.sends {
                TriggeredFrames::Data { frames, received, .. } => Some((one, frames, received > 0)),
                TriggeredFrames::Report(_) | TriggeredFrames::Request(_) => None,
            })
        };
        let part = |(_, frames, _): (_, Frames<'_, Packet>, _)| {
            (frames.first().payload.body.scope, cargo(std::iter::once(frames)))
        };
        let parts: Vec<_> = data().map(part).collect();
        let phy = self.phy;
        if parts.is_empty() {
            self.ledger.airtime.request(start, times, phy, self.cell_of(by));
        } else {
            self.ledger.airtime.exchange_of_users(start, times, &parts, phy);
        }
        if !self.watchers.watch_frames() {
            return;
        }
        for (&TriggeredPsdu { by, class, .. }, frames, is_answered) in data() {
            if self.ledger.ppdus.is_some() {
                self.count_ppdu(by, start, (times, class), (frames, true), !is_answered);
            }
            if !is_answered {
                self.frame_failed(by, &frames.first().payload, false);
            }
        }
    }

    /// Counts and reports a frame of a contention-free period that begins at `start`.
    fn contention_free(&mut self, start: Time, frame: &CfFrame<'_, Packet>) {
        let CfFrame { by, receiver, psdu, ends, sent, end, .. } = *frame;
        match psdu {
            Some(psdu) => {
                let scope = psdu.first().payload.body.scope;
                self.ledger.airtime.contention_free(
                    (start, sent, end),
                    scope,
                    cargo([psdu].into_iter()),
                );
            }
            None => self.ledger.airtime.broadcast((start, sent, end), self.cell_of(by)),
        }
        if let Some(began) = ends {
            self.ledger.contention_free(began, end);
        } else if self.watchers.shares_airtime {
            self.charge(by, start, receiver, end - start);
        }
        self.show(move |capture, all| capture.contention_free(all, start, frame));
    }

    /// Charges airtime to the station of an exchange between `by` and node `to` that begins at
    /// `now`, at the access point's queue with an airtime scheduler.
    #[cold]
    fn charge(&mut self, by: ContenderId, now: Time, to: StationId, airtime: Duration) {
        let sender = &self.transmitters[by as usize];
        let (queue, station) = if sender.at_access_point {
            (by as usize, to)
        } else {
            let access_point = self.nodes[sender.node as usize].access_point;
            let is_its = |(_, one): &(_, &Transmitter)| one.node == access_point;
            let mut queues = (0..).zip(&self.transmitters).filter(is_its);
            let first = queues.clone().next();
            let of_category = queues.find(|(_, one)| one.category == sender.category);
            let (queue, _) = of_category.or(first).expect("an access point has a queue");
            (queue, self.nodes[sender.node as usize].address)
        };
        self.transmitters[queue].queue.charge(now, station, airtime);
    }

    /// Charges station `to` for a frame of the access point that is lost in a collision. The access
    /// point does not know with which frame it collides.
    #[cold]
    fn charge_collider(&mut self, by: ContenderId, now: Time, to: StationId, times: &FrameTimes) {
        if self.watchers.shares_airtime && self.transmitters[by as usize].at_access_point {
            self.charge(by, now, to, times.first());
        }
    }

    #[inline(always)]
    fn received(&mut self, mpdu: &Mpdu<Packet>, came: Option<Time>) {
        let packet = &mpdu.payload;
        let scope = packet.body.scope;
        if let Some(came) = came {
            let reorder = &mut self.ledger.latency(scope).reorder;
            if came == self.now {
                reorder.add_none();
            } else {
                reorder.add(self.now - came);
            }
        }
        let at = came.unwrap_or(self.now);
        self.ledger.payload_received(at, scope, packet.body.payload_bytes());
        if packet.to < self.access_points {
            self.forward_to_server(packet);
        } else {
            self.arrive(packet, Side::Station);
        }
    }
}
