//! The traffic of random floors: queues that are refilled, or get packets at random times, and a
//! log of everything that a field reports to them.

use std::collections::VecDeque;

use airtcp_kernel::{Duration, RandomStream, Time};
use airtcp_wlan::{ContenderId, MacEvent, Mpdu, Msdu, StationId, Supply};

/// A packet: its size in bits, and whether it is a reply to data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) bits: u64,
    pub(super) is_reply: bool,
    pub(super) from: StationId,
    pub(super) to: StationId,
    pub(super) arrived: Time,
}

/// The traffic of a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Traffic {
    None,
    /// This number of packets to this station. A new packet follows each one that was sent, and
    /// every second one gets a reply.
    Window(StationId, u32),
    /// A packet to this station after pauses with this mean.
    Now(StationId, Duration),
}

/// Queues, and their reports.
#[derive(Debug)]
pub(super) struct Queues {
    pub(super) queues: Vec<VecDeque<Packet>>,
    /// The first queue of each station.
    pub(super) first: Vec<ContenderId>,
    pub(super) ready: Vec<ContenderId>,
    pub(super) traffic: Vec<Traffic>,
    pub(super) sizes: RandomStream,
    pub(super) told: Vec<(Time, u8, ContenderId, u64)>,
    pub(super) received: Vec<u32>,
}

impl Queues {
    pub(super) fn push(&mut self, id: ContenderId, packet: Packet) {
        let queue = &mut self.queues[id as usize];
        if queue.is_empty() {
            self.ready.push(id);
        }
        queue.push_back(packet);
    }

    pub(super) fn data(&mut self, from: StationId, to: StationId, arrived: Time) -> Packet {
        let bits = if self.sizes.unit() < 0.7 { 12_000 } else { 800 };
        Packet { bits, is_reply: false, from, to, arrived }
    }
}

impl Supply<Packet> for Queues {
    fn next(
        &mut self,
        contender: ContenderId,
        to: Option<StationId>,
        _: Time,
        fits: impl FnOnce(StationId, u64) -> bool,
        take: impl FnOnce(Msdu<Packet>),
    ) -> bool {
        let queue = &mut self.queues[contender as usize];
        let is_for = |one: &Packet| to.is_none_or(|to| one.to == to);
        let place = queue.iter().position(is_for);
        let place = place.filter(|&place| fits(queue[place].to, queue[place].bits));
        let packet = place.and_then(|place| queue.remove(place));
        let msdu = packet.map(|one| Msdu { receiver: one.to, bits: one.bits, payload: one });
        msdu.map(take).is_some()
    }

    fn receiver<'a>(
        &mut self,
        contender: ContenderId,
        waiting: impl Iterator<Item = (StationId, Option<&'a Packet>)>,
    ) -> Option<StationId> {
        let front = self.queues[contender as usize].front().map(|one| (one.arrived, one.to));
        let waiting = waiting.map(|(to, one)| (one.map_or(Time::ZERO, |one| one.arrived), to));
        waiting.chain(front).min().map(|(_, to)| to)
    }

    fn has_next(&self, contender: ContenderId) -> bool {
        !self.queues[contender as usize].is_empty()
    }

    fn acknowledged(&mut self, now: Time, by: ContenderId, mpdu: &Mpdu<Packet>) -> bool {
        self.told.push((now, 0, by, mpdu.payload.bits));
        self.refill(now, by);
        self.has_next(by)
    }

    fn carries_data(&self, packet: &Packet) -> bool {
        !packet.is_reply
    }

    fn watches_colliders(&self) -> bool {
        false
    }

    fn next_ready(&mut self) -> Option<ContenderId> {
        self.ready.pop()
    }

    fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    fn on_event(&mut self, now: Time, event: MacEvent<'_, Packet>) {
        match event {
            MacEvent::Began(_) => self.told.push((now, 1, u32::MAX, 0)),
            MacEvent::Lost { by, .. } => self.told.push((now, 2, by, 0)),
            MacEvent::Answered { by, .. } => self.told.push((now, 3, by, 0)),
            MacEvent::Received { by, mpdu, .. } => {
                self.told.push((now, 4, by, mpdu.payload.bits));
                let Packet { is_reply, from, to, .. } = mpdu.payload;
                let received = &mut self.received[by as usize];
                *received += 1;
                if !is_reply
                    && received.is_multiple_of(2)
                    && matches!(self.traffic[by as usize], Traffic::Window(..))
                {
                    let reply =
                        Packet { bits: 320, is_reply: true, from: to, to: from, arrived: now };
                    self.push(self.first[to as usize], reply);
                }
            }
            MacEvent::Heard(_) => {}
            MacEvent::GivenUp { by, mpdu } => {
                self.told.push((now, 5, by, mpdu.payload.bits));
                self.refill(now, by);
            }
        }
    }
}

impl Queues {
    fn refill(&mut self, now: Time, by: ContenderId) {
        if let Traffic::Window(to, _) = self.traffic[by as usize] {
            let from = self.first.partition_point(|&first| first <= by) as StationId - 1;
            let packet = self.data(from, to, now);
            self.push(by, packet);
        }
    }
}
