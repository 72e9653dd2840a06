//! Wires: one direction of a wired link each, with a queue, a transmitter of constant rate, and a delay.
//!
//! Packets keep their order, so when a packet leaves and arrives is known when it comes: one event,
//! its arrival, is all that happens to it. The wires of a network are kept together, so that whoever
//! has the time needs to look at one instant only, that of the next arrival on any of them.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::collections::binary_heap::{BinaryHeap, PeekMut};
use std::num::NonZeroU64;

use airtcp_kernel::{Duration, Time};
use serde::Deserialize;

use crate::Packet;

/// A wired link in the resolved form of a scenario, the same in both directions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Bits per second; `None` takes no time to send.
    pub rate_bps: Option<NonZeroU64>,
    /// Propagation delay.
    #[serde(rename = "delay_ns")]
    pub delay: Duration,
    /// Packets that fit in each direction, the one being sent included; any number if `None`.
    pub queue: Option<usize>,
}

/// The wires of a network, by number, and what is on its way on them.
#[derive(Debug)]
pub struct Wires<B> {
    wires: Vec<Wire<B>>,
    /// The next arrival on each wire that carries something.
    due: BinaryHeap<Reverse<Due>>,
    /// The first of `due`, or never.
    next: Time,
    /// How many arrivals have been put into `due`.
    scheduled: u64,
}

/// The next arrival on a wire. Of several at one instant, that comes first which was the next on its
/// wire first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    time: Time,
    /// How many arrivals had been put into order before it, above the number of the wire.
    rank: u64,
}

/// Bits of the number of a wire in [`Due::rank`].
const WIRE_BITS: u32 = 24;

impl Due {
    fn wire(self) -> usize {
        (self.rank & ((1 << WIRE_BITS) - 1)) as usize
    }
}

/// One wire.
#[derive(Debug)]
struct Wire<B> {
    rate_bps: Option<NonZeroU64>,
    delay: Duration,
    limit: usize,
    free_at: Time,
    /// The size of the packet that was sent last, and how long that took: most are as large.
    last: (u64, Duration),
    /// Packets that have not arrived yet, and when they will, in this order.
    travelling: VecDeque<(Time, Packet<B>)>,
}

impl<B> Default for Wires<B> {
    fn default() -> Self {
        Self { wires: Vec::new(), due: BinaryHeap::new(), next: Time::NEVER, scheduled: 0 }
    }
}

impl<B> Wires<B> {
    /// One more wire; its number.
    ///
    /// # Panics
    /// If there are 2^24 already.
    pub fn add(&mut self, config: &LinkConfig) -> u32 {
        self.wires.push(Wire {
            rate_bps: config.rate_bps,
            delay: config.delay,
            limit: config.queue.unwrap_or(usize::MAX),
            free_at: Time::ZERO,
            last: (0, Duration::ZERO),
            travelling: VecDeque::new(),
        });
        assert!(self.wires.len() <= 1 << WIRE_BITS, "too many wires");
        self.wires.len() as u32 - 1
    }

    /// Puts a packet on a wire. Gives it back if its queue is full.
    #[inline]
    pub fn offer(&mut self, now: Time, wire: u32, packet: Packet<B>) -> Result<(), Packet<B>> {
        let it = &mut self.wires[wire as usize];
        let was_idle = it.travelling.is_empty();
        let arrival = it.offer(now, packet)?;
        if was_idle {
            self.due.push(Reverse(due(arrival, &mut self.scheduled, wire as usize)));
            self.next = self.next.min(arrival);
        }
        Ok(())
    }

    /// When the next packet arrives; [`Time::NEVER`] if there is none on its way.
    #[inline]
    pub fn next_time(&self) -> Time {
        self.next
    }

    /// The packet that arrives at [`Self::next_time`], and on which wire.
    ///
    /// # Panics
    /// If there is none on its way.
    #[inline]
    pub fn first(&self) -> (u32, &Packet<B>) {
        let Reverse(first) = self.due.peek().expect("something is on its way");
        (first.wire() as u32, &self.wires[first.wire()].travelling[0].1)
    }

    /// Takes that packet off its wire.
    ///
    /// # Panics
    /// If there is none on its way.
    #[inline]
    pub fn remove_first(&mut self) {
        let mut first = self.due.peek_mut().expect("something is on its way");
        let wire = first.0.wire();
        let travelling = &mut self.wires[wire].travelling;
        travelling.pop_front();
        if let Some(&(next, _)) = travelling.front() {
            *first = Reverse(due(next, &mut self.scheduled, wire));
            drop(first);
        } else {
            PeekMut::pop(first);
        }
        self.next = self.due.peek().map_or(Time::NEVER, |Reverse(first)| first.time);
    }

    /// How many arrivals there were, those included that are still to come next on their wires.
    pub fn scheduled(&self) -> u64 {
        self.scheduled
    }

    /// For each wire, packets that waited or were being sent just before `now`, at which nothing has
    /// been offered yet; `None` if it has no queue.
    pub fn queued_before(&self, now: Time) -> impl Iterator<Item = Option<usize>> {
        self.wires.iter().map(move |wire| {
            wire.rate_bps.map(|_| wire.behind(|arrival| arrival < now + wire.delay))
        })
    }

    /// Packets that have not arrived yet.
    pub fn travelling(&self) -> impl Iterator<Item = &Packet<B>> {
        self.wires.iter().flat_map(|wire| wire.travelling.iter().map(|(_, packet)| packet))
    }
}

#[inline]
fn due(time: Time, scheduled: &mut u64, wire: usize) -> Due {
    let rank = *scheduled << WIRE_BITS | wire as u64;
    *scheduled += 1;
    Due { time, rank }
}

impl<B> Wire<B> {
    /// Takes a packet if it fits: when it arrives.
    #[inline]
    fn offer(&mut self, now: Time, mut packet: Packet<B>) -> Result<Time, Packet<B>> {
        if self.is_full(now) {
            return Err(packet);
        }
        let left = match self.rate_bps {
            None => now,
            Some(rate_bps) => {
                if self.last.0 != packet.bits {
                    let nanos = (packet.bits * 1_000_000_000).div_ceil(rate_bps.get());
                    self.last = (packet.bits, Duration::from_nanos(nanos));
                }
                self.free_at = self.free_at.max(now) + self.last.1;
                self.free_at
            }
        };
        let arrival = left + self.delay;
        packet.arrived = now;
        self.travelling.push_back((arrival, packet));
        Ok(arrival)
    }

    /// Whether no more packets may wait. Those that have left and not arrived do not count.
    #[inline]
    fn is_full(&self, now: Time) -> bool {
        self.travelling.len() >= self.limit
            && self.rate_bps.is_some()
            && self.behind(|arrival| arrival <= now + self.delay) >= self.limit
    }

    /// How many packets come after those whose arrivals are so.
    fn behind(&self, is_past: impl Fn(Time) -> bool) -> usize {
        let past = self.travelling.partition_point(|&(arrival, _)| is_past(arrival));
        self.travelling.len() - past
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(id: u32) -> Packet<u32> {
        Packet { bits: 12_000, arrived: Time::ZERO, flow: 0, to: 0, body: id }
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    fn link(rate_bps: Option<u64>, queue: Option<usize>) -> LinkConfig {
        let rate_bps = rate_bps.map(|bps| NonZeroU64::new(bps).unwrap());
        LinkConfig { rate_bps, delay: Duration::from_millis(5), queue }
    }

    /// Takes the next packet off its wire: which these are.
    fn arrive(wires: &mut Wires<u32>) -> (u32, u32) {
        let (wire, packet) = wires.first();
        let id = packet.body;
        wires.remove_first();
        (wire, id)
    }

    /// 12000 bits at 1 Mb/s take 12 ms each, and 5 ms to arrive.
    #[test]
    fn packets_leave_one_after_the_other_and_overflow_the_queue() {
        let mut wires = Wires::default();
        let uplink = wires.add(&link(Some(1_000_000), Some(2)));
        let offers = [(0, true), (1, true), (11, false), (12, true)];

        // At 12 ms the first has left; the third follows the second, which leaves at 24 ms.
        for (id, (millis, fits)) in (0..).zip(offers) {
            assert_eq!(wires.offer(at(millis), uplink, packet(id)).is_ok(), fits, "{id}");
        }

        let queued = [13, 24, 25, 37].map(|millis| wires.queued_before(at(millis)).next());
        assert_eq!(queued, [2, 2, 1, 0].map(|packets| Some(Some(packets))));
        let arrivals: Vec<_> = std::iter::from_fn(|| {
            let time = wires.next_time();
            (time < Time::NEVER).then(|| (time, arrive(&mut wires).1))
        })
        .collect();
        assert_eq!(arrivals, [(at(17), 0), (at(29), 1), (at(41), 3)]);
        assert_eq!(wires.scheduled(), 3);
    }

    #[test]
    fn a_link_without_rate_only_delays() {
        let mut wires = Wires::default();
        let wire = wires.add(&link(None, None));

        wires.offer(at(0), wire, packet(0)).unwrap();

        assert_eq!(wires.next_time(), at(5));
        assert_eq!(wires.queued_before(at(0)).next(), Some(None));
    }

    /// Two wires of 5 ms: a packet that was behind another is the next on its wire only when that has
    /// arrived, and so comes after the first packet of the other wire.
    #[test]
    fn arrivals_at_one_instant_are_in_the_order_in_which_they_became_next() {
        let mut wires = Wires::default();
        let [first, second] = [(); 2].map(|()| wires.add(&link(None, None)));
        wires.offer(at(0), first, packet(10)).unwrap();
        wires.offer(at(1), first, packet(11)).unwrap();
        wires.offer(at(1), second, packet(20)).unwrap();

        let order: Vec<_> = (0..3).map(|_| arrive(&mut wires)).collect();

        assert_eq!(order, [(first, 10), (second, 20), (first, 11)]);
    }
}
