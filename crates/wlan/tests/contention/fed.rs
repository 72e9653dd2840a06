//! A whole cell whose queues the test fills, and the events that it reports. The test draws the
//! same random numbers as the cell.

use std::collections::VecDeque;

use airtcp_kernel::{Duration, RandomStream, Time};
use airtcp_wlan::{Cell, ContenderId, MacEvent, MediumConfig, Mpdu, Msdu, StationId, Supply};

/// What a test notes of the events of a cell.
pub(crate) trait Seen: Sized {
    /// The unit of the times of a test, in nanoseconds, and the slot in this unit.
    const UNIT: u64;
    const SLOT: u64;

    /// Returns what is noted of an event, if anything is.
    fn of(now: Time, event: MacEvent<'_, u32>) -> Option<Self>;

    fn acknowledged(by: ContenderId, packet: u32) -> Self;
}

/// The queues above a cell, and the reported events.
#[derive(Debug)]
struct Queues<E> {
    packets: Vec<VecDeque<Msdu<u32>>>,
    ready: Vec<ContenderId>,
    seen: Vec<(u64, E)>,
}

impl<E: Seen> Supply<u32> for Queues<E> {
    fn next(
        &mut self,
        contender: ContenderId,
        to: Option<StationId>,
        _: Time,
        fits: impl FnOnce(StationId, u64) -> bool,
        take: impl FnOnce(Msdu<u32>),
    ) -> bool {
        let queue = &mut self.packets[contender as usize];
        let place = queue.iter().position(|msdu| to.is_none_or(|to| msdu.receiver == to));
        let place = place.filter(|&place| fits(queue[place].receiver, queue[place].bits));
        place.and_then(|place| queue.remove(place)).map(take).is_some()
    }

    fn receiver<'a>(
        &mut self,
        contender: ContenderId,
        mut waiting: impl Iterator<Item = (StationId, Option<&'a u32>)>,
    ) -> Option<StationId> {
        let first = self.packets[contender as usize].front().map(|msdu| msdu.receiver);
        waiting.next().map(|(receiver, _)| receiver).or(first)
    }

    fn has_next(&self, contender: ContenderId) -> bool {
        !self.packets[contender as usize].is_empty()
    }

    fn acknowledged(&mut self, now: Time, by: ContenderId, mpdu: &Mpdu<u32>) -> bool {
        self.seen.push((now.as_nanos() / E::UNIT, E::acknowledged(by, mpdu.payload)));
        self.has_next(by)
    }

    fn next_ready(&mut self) -> Option<ContenderId> {
        self.ready.pop()
    }

    fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    fn carries_data(&self, _: &u32) -> bool {
        true
    }

    fn watches_colliders(&self) -> bool {
        true
    }

    fn on_event(&mut self, now: Time, event: MacEvent<'_, u32>) {
        self.seen.extend(E::of(now, event).map(|seen| (now.as_nanos() / E::UNIT, seen)));
    }
}

/// A cell, its queues, and the random streams of its backoffs.
pub(crate) struct Fed<E> {
    pub(crate) cell: Cell<u32>,
    queues: Queues<E>,
    backoffs: Vec<RandomStream>,
    packets: u32,
}

impl<E: Seen> Fed<E> {
    /// Creates a cell. The test draws from `backoffs` what the cell draws from the streams of its
    /// contenders.
    pub(crate) fn of(config: MediumConfig<'_>, backoffs: Vec<RandomStream>) -> Self {
        let packets = vec![VecDeque::new(); config.contenders.len()];
        Self {
            cell: Cell::new(config),
            queues: Queues { packets, ready: Vec::new(), seen: Vec::new() },
            backoffs,
            packets: 0,
        }
    }

    /// Puts a packet of `bits` for `receiver` into a queue.
    pub(crate) fn put(&mut self, contender: ContenderId, receiver: StationId, bits: u64) {
        let msdu = Msdu { receiver, bits, payload: self.packets };
        self.packets += 1;
        self.queues.packets[contender as usize].push_back(msdu);
    }

    pub(crate) fn is_empty(&self, contender: ContenderId) -> bool {
        self.queues.packets[contender as usize].is_empty()
    }

    /// Reports to the cell that a queue has a packet.
    pub(crate) fn tell_ready(&mut self, contender: ContenderId, time: u64) {
        self.queues.ready.push(contender);
        self.cell.frames_ready(Self::at(time), &mut self.queues);
    }

    /// Plays everything before `end`.
    pub(crate) fn run(&mut self, end: u64) {
        while self.cell.next_time() < Self::at(end) {
            self.cell.advance(self.cell.next_time(), &mut self.queues);
        }
    }

    /// Returns the events since the last call, up to and excluding `end`.
    pub(crate) fn seen_before(&mut self, end: u64) -> Vec<(u64, E)> {
        self.run(end);
        std::mem::take(&mut self.queues.seen)
    }

    /// Draws the next backoff of a queue with contention window `cw`.
    pub(crate) fn backoff(&mut self, contender: ContenderId, cw: u32) -> u64 {
        E::SLOT * u64::from(self.backoffs[contender as usize].up_to(cw))
    }

    pub(crate) fn laws_hold(&self) {
        for contender in 0..self.backoffs.len() as ContenderId {
            self.cell.check_laws(contender).unwrap();
        }
    }

    fn at(time: u64) -> Time {
        Time::ZERO + Duration::from_nanos(time * E::UNIT)
    }
}
