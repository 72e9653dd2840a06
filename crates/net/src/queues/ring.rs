//! A driver's ring below a discipline: packets that have left the discipline and wait for the MAC,
//! in one FIFO or one per receiver. The discipline can no longer reorder or drop them. A limit
//! bounds their number or their airtime (airtime queue limits, AQL).

use airtcp_kernel::{Duration, Time};

use super::ack_filter::AckFilter;
use super::{Ask, Discipline, Fill, Fits, Inspect, Policy, Served};
use crate::Packet;

/// The limit of the ring.
#[derive(Debug)]
pub(super) enum Allowance {
    /// This many packets, including those that the MAC holds.
    Packets(usize),
    /// Per receiver: packets whose airtime, at the receiver's data rate, is below this.
    Airtime(Duration),
}

/// A discipline with a ring below it.
#[derive(Debug)]
pub(super) struct Ring<B> {
    above: Discipline<B>,
    below: Discipline<B>,
    allowance: Allowance,
    /// Packets below the discipline, including those that the MAC holds.
    handed_over: usize,
    /// Packets in the ring that the MAC has not dequeued.
    waiting: usize,
    /// Their bits per receiver, if airtime is limited.
    bits: Vec<u64>,
    service: Served,
}

impl<B: Inspect> Ring<B> {
    pub(super) fn new(above: Discipline<B>, allowance: Allowance, service: Served) -> Self {
        let below = Discipline::in_order(&service);
        Self { above, below, allowance, handed_over: 0, waiting: 0, bits: Vec::new(), service }
    }

    /// Returns the number of packets that the MAC may dequeue now.
    pub(super) fn ready(&self) -> usize {
        self.waiting
    }

    pub(super) fn drops_at_random(&self) -> bool {
        self.above.drops_at_random()
    }

    /// Fills the ring up to its limit after a change for `receiver`.
    fn refill(&mut self, receiver: u32, now: Time, drops: &mut Vec<Packet<B>>) {
        match self.allowance {
            Allowance::Packets(limit) => {
                while self.handed_over < limit
                    && let Some(packet) = self.above.next(&mut Ask { to: None, now, drops }, any)
                {
                    self.hand_over(packet);
                }
            }
            Allowance::Airtime(limit) => {
                let index = self.service.place(receiver);
                if self.bits.len() <= index {
                    self.bits.resize(index + 1, 0);
                }
                let rate_bps = self.service.receiver(index).map_or(0, |one| one.rate_bps);
                let room = u128::from(limit.as_nanos()) * u128::from(rate_bps) / 1_000_000_000;
                while u128::from(self.bits[index]) < room.max(1)
                    && let Some(packet) =
                        self.above.next(&mut Ask { to: Some(receiver), now, drops }, any)
                {
                    self.bits[index] += packet.bits;
                    self.hand_over(packet);
                }
            }
        }
    }

    /// Refills the ring after the MAC is done with `packet`.
    pub(super) fn done(&mut self, now: Time, packet: &Packet<B>, drops: &mut Vec<Packet<B>>) {
        self.handed_over -= 1;
        if matches!(self.allowance, Allowance::Airtime(_)) {
            self.bits[self.service.place(packet.to)] -= packet.bits;
        }
        self.refill(packet.to, now, drops);
    }

    fn hand_over(&mut self, packet: Packet<B>) {
        self.handed_over += 1;
        self.waiting += 1;
        self.below.push(packet);
    }
}

impl<B: Inspect> Policy<B> for Ring<B> {
    fn enqueue(&mut self, now: Time, packet: Packet<B>, fill: Fill, drops: &mut Vec<Packet<B>>) {
        let receiver = packet.to;
        self.above.enqueue(now, packet, fill, drops);
        self.refill(receiver, now, drops);
    }

    #[inline(never)]
    fn next(&mut self, ask: &mut Ask<'_, B>, fits: impl Fits<B>) -> Option<Packet<B>> {
        let packet = self.below.next(ask, fits);
        self.waiting -= usize::from(packet.is_some());
        packet
    }

    fn receiver(&mut self, waiting: impl Iterator<Item = (u32, Option<Time>)>) -> Option<u32> {
        self.below.receiver(waiting)
    }

    fn has_next_for(&self, receiver: u32) -> bool {
        self.below.has_next_for(receiver)
    }

    fn charge(&mut self, now: Time, to: u32, airtime: Duration) {
        self.below.charge(now, to, airtime);
    }

    fn on_empty(&mut self, now: Time) {
        self.above.on_empty(now);
    }

    fn filter(&mut self, rule: AckFilter, newer: &Packet<B>) -> Option<Packet<B>> {
        self.above.filter(rule, newer)
    }

    fn iter(&self) -> Box<dyn Iterator<Item = &Packet<B>> + '_> {
        Box::new(self.below.iter().chain(self.above.iter()))
    }
}

/// Accepts any packet.
fn any<B>(_: &Packet<B>) -> bool {
    true
}
