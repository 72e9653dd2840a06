//! FQ-CoDel (RFC 8290): a CoDel queue per flow, deficit round robin in bytes, and priority for new
//! flows.
//!
//! Flows are those of the scenario, unless a number of hash buckets is configured; then flows may
//! share a queue.

use airtcp_kernel::{Duration, RandomStream, Time};
use serde::Deserialize;

use super::Inspect;
use super::ack_filter::AckFilter;
use super::codel::{CodelConfig, CodelLine};
use super::longest::Longest;
use super::slab::{NONE, Slab};
use super::tins::{Overflow, Slow, Tin};
use crate::Packet;

/// The FQ-CoDel parameters in addition to those of CoDel.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FqConfig {
    /// Bytes that a flow may send per round.
    pub quantum_bytes: u32,
    /// Number of hash buckets; flows in one bucket share a queue. `None`: one queue per flow.
    pub flows: Option<u32>,
    /// The largest number of packets that one overflow drops from the longest queue.
    pub drop_batch: u32,
    /// Stations with a data rate below this use the slow CoDel parameters below. `None`: no station
    /// does.
    pub slow_below_bps: Option<u64>,
    /// CoDel target of slow stations.
    #[serde(rename = "slow_target_ns")]
    pub slow_target: Duration,
    /// CoDel interval of slow stations.
    #[serde(rename = "slow_interval_ns")]
    pub slow_interval: Duration,
}

impl FqConfig {
    /// Checks what the types cannot express.
    pub(super) fn check(&self, codel: &CodelConfig) -> Result<(), String> {
        if self.quantum_bytes == 0 || self.drop_batch == 0 || self.flows == Some(0) {
            return Err(format!("contradictory parameters: {self:?}"));
        }
        self.slow(codel).map_or(Ok(()), |slow| slow.codel.check())
    }

    /// Returns the settings for slow stations.
    pub(super) fn slow(&self, codel: &CodelConfig) -> Option<Slow> {
        let (target, interval) = (self.slow_target, self.slow_interval);
        let codel = CodelConfig { target, interval, ..*codel };
        self.slow_below_bps.map(|below_bps| Slow { below_bps, codel })
    }
}

/// The queue of one flow.
// Aligned to a cache line: a round often visits many flows with a packet each.
#[derive(Debug)]
#[repr(align(64))]
struct FlowLine {
    line: CodelLine,
    /// The bits that it may still send in this round; negative if it has overdrawn.
    deficit: i64,
    /// The next flow in the list of turns, if this flow is listed.
    next: u32,
    is_listed: bool,
}

/// A linked list of flows in order of turns, through [`FlowLine::next`]. `tail` is meaningless if
/// the list is empty.
#[derive(Debug)]
struct Turns {
    head: u32,
    tail: u32,
}

impl Turns {
    const NOBODY: Self = Self { head: NONE, tail: NONE };

    #[inline]
    fn is_empty(&self) -> bool {
        self.head == NONE
    }

    #[inline]
    fn push(&mut self, flows: &mut [FlowLine], flow: u32) {
        flows[flow as usize].next = NONE;
        if self.is_empty() {
            self.head = flow;
        } else {
            flows[self.tail as usize].next = flow;
        }
        self.tail = flow;
    }

    #[inline]
    fn pop(&mut self, flows: &[FlowLine]) {
        self.head = flows[self.head as usize].next;
    }
}

/// The flows of one tin.
#[derive(Debug)]
pub(super) struct FlowQueues {
    quantum_bits: i64,
    drop_batch: u32,
    flows: Vec<FlowLine>,
    buckets: Buckets,
    /// Flows that were idle before their packet arrived.
    new: Turns,
    old: Turns,
    longest: Longest,
}

/// Maps flows to queues.
#[derive(Debug)]
struct Buckets {
    /// The queue of each flow seen so far.
    of_flow: Vec<Option<u32>>,
    /// The queue of each hash bucket in use.
    of_bucket: Vec<Option<u32>>,
    stream: RandomStream,
    /// The bucket of each flow, drawn on demand.
    drawn: Vec<u32>,
}

impl Buckets {
    fn new(buckets: Option<u32>, stream: RandomStream) -> Self {
        let of_bucket = vec![None; buckets.unwrap_or(0) as usize];
        Self { of_flow: Vec::new(), of_bucket, stream, drawn: Vec::new() }
    }

    /// Returns the queue of `flow`; a new flow in an unused bucket gets queue `next`.
    #[inline]
    fn queue(&mut self, flow: u32, next: usize) -> u32 {
        match self.of_flow.get(flow as usize) {
            Some(&Some(queue)) => queue,
            _ => self.add(flow, next as u32),
        }
    }

    #[cold]
    fn add(&mut self, flow: u32, next: u32) -> u32 {
        let index = flow as usize;
        if self.of_flow.len() <= index {
            self.of_flow.resize(index + 1, None);
        }
        let queue = match self.of_bucket.len() {
            0 => next,
            buckets => {
                // Draw for all lower flow numbers too, so that a flow's bucket depends only on its
                // number, not on the order of arrival.
                while self.drawn.len() <= index {
                    self.drawn.push(self.stream.up_to(buckets as u32 - 1));
                }
                *self.of_bucket[self.drawn[index] as usize].get_or_insert(next)
            }
        };
        self.of_flow[index] = Some(queue);
        queue
    }
}

impl FlowQueues {
    #[inline]
    fn line_of(&mut self, flow: u32) -> usize {
        let queue = self.buckets.queue(flow, self.flows.len()) as usize;
        if queue == self.flows.len() {
            let line = CodelLine::default();
            self.flows.push(FlowLine { line, deficit: 0, next: NONE, is_listed: false });
        }
        queue
    }

    /// Returns the flow with the most bits.
    fn fattest_flow(&mut self) -> Option<usize> {
        let flows = &self.flows;
        self.longest.find(flows.len(), |flow| flows[flow].line.bits())
    }

    /// Returns the flow whose turn it is, and true if it is a new flow (RFC 8290, section 4.2).
    #[inline]
    fn turn(&mut self) -> Option<(u32, bool)> {
        loop {
            let is_new = !self.new.is_empty();
            let flow = if is_new { self.new.head } else { self.old.head };
            let it = self.flows.get_mut(flow as usize)?;
            if it.deficit > 0 {
                return Some((flow, is_new));
            }
            it.deficit += self.quantum_bits;
            // A flow that is the only old one comes next again.
            if is_new || flow != self.old.tail {
                self.end_turn(flow, is_new);
            }
        }
    }

    #[inline]
    fn unlist(&mut self, is_new: bool) {
        let turns = if is_new { &mut self.new } else { &mut self.old };
        turns.pop(&self.flows);
    }

    #[inline]
    fn end_turn(&mut self, flow: u32, is_new: bool) {
        self.unlist(is_new);
        self.old.push(&mut self.flows, flow);
    }
}

impl<B: Inspect> Tin<B> for FlowQueues {
    type Config = FqConfig;

    const OVERFLOW: Overflow = Overflow::Fattest;

    fn new(config: &FqConfig, stream: &RandomStream) -> Self {
        Self {
            quantum_bits: 8 * i64::from(config.quantum_bytes),
            drop_batch: config.drop_batch,
            flows: Vec::new(),
            buckets: Buckets::new(config.flows, stream.clone()),
            new: Turns::NOBODY,
            old: Turns::NOBODY,
            longest: Longest::default(),
        }
    }

    #[inline]
    fn push(&mut self, store: &mut Slab<B>, packet: Packet<B>) -> u64 {
        let queue = self.line_of(packet.flow);
        let flow = &mut self.flows[queue];
        flow.line.push(store, packet);
        let bits = flow.line.bits();
        if !flow.is_listed {
            flow.is_listed = true;
            flow.deficit = self.quantum_bits;
            self.new.push(&mut self.flows, queue as u32);
        }
        self.longest.grown(queue, bits);
        bits
    }

    #[inline]
    fn next(
        &mut self,
        store: &mut Slab<B>,
        codel: &CodelConfig,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        drops: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>> {
        loop {
            let (index, is_new) = self.turn()?;
            let flow = &mut self.flows[index as usize];
            if flow.line.settle(store, codel, now, drops) {
                if !fits(store.front(flow.line.packets())?) {
                    return None;
                }
                let packet = flow.line.pop(store)?;
                flow.deficit -= packet.bits as i64;
                return Some(packet);
            }
            // Section 4.2: an emptied new queue first goes through the list of old flows. Otherwise
            // a flow could return as new each time and starve the others.
            if is_new && !self.old.is_empty() {
                self.end_turn(index, true);
            } else {
                flow.is_listed = false;
                self.unlist(is_new);
            }
        }
    }

    fn oldest(&self, store: &Slab<B>) -> Option<Time> {
        let heads = self.flows.iter().filter_map(|flow| store.front(flow.line.packets()));
        heads.map(|packet| packet.arrived).min()
    }

    fn fattest(&mut self) -> u64 {
        self.fattest_flow().map_or(0, |flow| self.flows[flow].line.bits())
    }

    /// Drops half of the bits of the longest queue, but at most a batch of packets (section 4.1.3).
    fn drop_batch(&mut self, store: &mut Slab<B>, drops: &mut Vec<Packet<B>>) {
        let Some(index) = self.fattest_flow() else { return };
        let line = &mut self.flows[index].line;
        let half = line.bits() / 2;
        let mut dropped = 0;
        for _ in 0..self.drop_batch {
            let Some(packet) = line.pop(store) else { break };
            dropped += packet.bits;
            drops.push(packet);
            // Keep the last packet: the MAC may be contending for it.
            if dropped >= half || line.packets().is_short() {
                break;
            }
        }
    }

    fn filter(
        &mut self,
        store: &mut Slab<B>,
        rule: AckFilter,
        newer: &Packet<B>,
    ) -> Option<Packet<B>> {
        let queue = self.line_of(newer.flow);
        self.flows[queue].line.filter(store, rule, newer)
    }

    fn iter<'a>(&'a self, store: &'a Slab<B>) -> Box<dyn Iterator<Item = &'a Packet<B>> + 'a> {
        Box::new(self.flows.iter().flat_map(|flow| store.iter(flow.line.packets())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::codel::ControlLaw;

    /// The published unit test of the deficit: a quantum of 90 bytes, packets of 120 bytes. Both
    /// flows begin with 90 and have -30 after one packet, then 60, then -60. Flow 1 then has 30 and
    /// sends its last packet.
    #[test]
    fn the_deficits_are_those_of_the_published_trace() {
        let (target, interval) = (Duration::from_millis(5), Duration::from_millis(100));
        let codel =
            CodelConfig { target, interval, ecn: false, control_law: ControlLaw::SquareRoot };
        let config = FqConfig {
            quantum_bytes: 90,
            flows: None,
            drop_batch: 64,
            slow_below_bps: None,
            slow_target: target,
            slow_interval: interval,
        };
        let stream = RandomStream::new(1, 0, "ap", "early detection");
        let mut store = Slab::<u32>::default();
        let mut tin = <FlowQueues as Tin<u32>>::new(&config, &stream);
        for flow in [1, 1, 1, 2, 2] {
            let packet = Packet { bits: 8 * 120, arrived: Time::ZERO, flow, to: 1, body: 0 };
            tin.push(&mut store, packet);
        }
        let deficits = |tin: &FlowQueues| -> Vec<i64> {
            tin.flows.iter().map(|flow| flow.deficit / 8).collect()
        };

        assert_eq!(deficits(&tin), [90, 90]);
        let mut trace = Vec::new();
        for _ in 0..5 {
            let packet =
                tin.next(&mut store, &codel, Time::ZERO, |_| true, &mut Vec::new()).unwrap();
            trace.push((packet.flow, deficits(&tin)));
        }

        // A flow with a deficit of zero or less gets a quantum when its turn is skipped.
        let expected =
            [(1, [-30, 90]), (2, [60, -30]), (1, [-60, 60]), (2, [30, -60]), (1, [-90, 30])];
        let expected: Vec<_> = expected.map(|(flow, both)| (flow, both.to_vec())).into();
        assert_eq!(trace, expected);
    }
}
