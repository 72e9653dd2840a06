//! The interface of all queue disciplines, and the dispatch between them. A [`Discipline`] decides
//! which packet goes next and which is dropped; [`Queue`](super::Queue) enforces the limits.

use airtcp_kernel::{Duration, RandomStream, Time};

use super::ack_filter::AckFilter;
use super::codel::CodelLine;
use super::fifo::Fifo;
use super::fq_codel::{FlowQueues, FqConfig};
use super::lines::Lines;
use super::own::Own;
use super::per_flow::PerFlow;
use super::red::Red;
use super::ring::{Allowance, Ring};
use super::tins::Tins;
use super::{DisciplineConfig, Inspect, QueueConfig, Scheduler, Served};
use crate::Packet;

/// The discipline that the scenario selects.
// The larger, rarer variants are boxed. The tag stays a byte of its own, which one comparison can
// test: the variant is checked several times per packet, and a niche inside a field would be
// slower.
#[derive(Debug)]
#[repr(u8)]
pub(super) enum Discipline<B> {
    Fifo(Fifo<B>),
    PerFlow(PerFlow<B>),
    Lines(Box<Lines<B>>),
    Red(Box<Red<B>>),
    Codel(Box<Tins<B, CodelLine, ()>>),
    FqCodel(Box<Tins<B, FlowQueues, FqConfig>>),
    Ring(Box<Ring<B>>),
    Own(Box<Own<B>>),
}

/// What the MAC asks for: a packet for whom, if not for whoever is next, and when. Takes in what is
/// dropped meanwhile.
#[derive(Debug)]
pub(super) struct Ask<'a, B> {
    pub(super) to: Option<u32>,
    pub(super) now: Time,
    pub(super) drops: &'a mut Vec<Packet<B>>,
}

/// Whether a packet fits into what the MAC has left.
pub(super) trait Fits<B>: FnOnce(&Packet<B>) -> bool {}

impl<B, F: FnOnce(&Packet<B>) -> bool> Fits<B> for F {}

/// How full a queue is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fill {
    /// Packets in it, including those that the MAC holds.
    pub(super) len: usize,
    /// Whether there is no room for another packet.
    pub(super) full: bool,
}

/// The decisions of a discipline.
pub(super) trait Policy<B> {
    /// Enqueues a packet or drops it. Moves dropped packets, which may include this one, to
    /// `drops`; if the queue is full, it drops at least one.
    fn enqueue(&mut self, now: Time, packet: Packet<B>, fill: Fill, drops: &mut Vec<Packet<B>>);

    /// Dequeues the next packet, among those for `to` if it is given, if it `fits`. Moves packets
    /// dropped on the way to `drops`. Returns `None` only if there is no packet, or if the next one
    /// does not fit.
    fn next(&mut self, ask: &mut Ask<'_, B>, fits: impl Fits<B>) -> Option<Packet<B>>;

    /// Chooses a receiver; see [`Queue::receiver`](super::Queue::receiver).
    fn receiver(&mut self, waiting: impl Iterator<Item = (u32, Option<Time>)>) -> Option<u32>;

    /// Returns whether a packet for `receiver` may be next.
    fn has_next_for(&self, receiver: u32) -> bool {
        self.iter().any(|packet| packet.to == receiver)
    }

    /// Charges airtime; see [`Queue::charge`](super::Queue::charge).
    fn charge(&mut self, _now: Time, _to: u32, _airtime: Duration) {}

    /// Removes and returns the ACK that `newer` makes redundant under `rule`, if any.
    fn filter(&mut self, rule: AckFilter, newer: &Packet<B>) -> Option<Packet<B>>;

    /// Records that the queue is empty and the MAC holds none of its packets.
    fn on_empty(&mut self, _now: Time) {}

    /// Iterates over all packets in the queue.
    fn iter(&self) -> Box<dyn Iterator<Item = &Packet<B>> + '_>;
}

/// Calls one method of any discipline.
macro_rules! policy {
    ($discipline:expr, $policy:ident => $call:expr) => {
        match $discipline {
            Discipline::Fifo($policy) => $call,
            Discipline::Lines($policy) => $call,
            Discipline::Red($policy) => $call,
            Discipline::PerFlow($policy) => $call,
            Discipline::Codel($policy) => $call,
            Discipline::FqCodel($policy) => $call,
            Discipline::Ring($policy) => $call,
            Discipline::Own($policy) => $call,
        }
    };
}

impl<B: Inspect> Discipline<B> {
    pub(super) fn new(
        config: &QueueConfig,
        service: Served,
        stream: impl FnOnce() -> RandomStream,
    ) -> Self {
        if let Some(limit) = config.mac_limit {
            // The ring keeps the per-receiver FIFOs, so the discipline above needs none.
            let above = QueueConfig { mac_limit: None, ..config.clone() };
            let above = Self::new(&above, Served { scheduler: None, ..service.clone() }, stream);
            return Self::Ring(Box::new(Ring::new(above, Allowance::Packets(limit), service)));
        }
        let plain = Self::without_ring(&config.discipline, service.clone(), stream);
        match service.scheduler {
            Some(Scheduler::Airtime { aql: Some(aql), .. }) => {
                Self::Ring(Box::new(Ring::new(plain, Allowance::Airtime(aql), service)))
            }
            _ => plain,
        }
    }

    /// Creates one FIFO, or one per receiver.
    pub(super) fn in_order(service: &Served) -> Self {
        match service.scheduler {
            None => Self::Fifo(Fifo::default()),
            Some(scheduler) => Self::Lines(Box::new(Lines::new(scheduler, service))),
        }
    }

    fn without_ring(
        config: &DisciplineConfig,
        service: Served,
        stream: impl FnOnce() -> RandomStream,
    ) -> Self {
        match config {
            DisciplineConfig::Fifo {} => Self::in_order(&service),
            DisciplineConfig::Red { red } => {
                let packets = Self::in_order(&service);
                Self::Red(Box::new(Red::new(red.clone(), stream(), packets)))
            }
            DisciplineConfig::PerFlow {} => Self::PerFlow(PerFlow::by_connection()),
            DisciplineConfig::PerScenarioFlow {} => Self::PerFlow(PerFlow::by_flow()),
            DisciplineConfig::Own { name } => Self::Own(Box::new(Own::new(name.made()))),
            DisciplineConfig::Codel { codel } => {
                Self::Codel(Box::new(Tins::new((), *codel, None, service, stream())))
            }
            DisciplineConfig::FqCodel { codel, fq } => {
                let slow = fq.slow(codel);
                Self::FqCodel(Box::new(Tins::new(fq.clone(), *codel, slow, service, stream())))
            }
        }
    }

    /// Enqueues a packet that fits. Returns false if the discipline needs the full
    /// [`Policy::enqueue`].
    #[inline(never)]
    pub(super) fn push(&mut self, packet: Packet<B>) -> bool {
        match self {
            Self::Fifo(fifo) => fifo.push(packet),
            Self::Lines(lines) => lines.push(packet),
            Self::PerFlow(flows) => flows.push(packet),
            Self::FqCodel(tins) => tins.take_in(packet),
            Self::Red(_) | Self::Codel(_) | Self::Ring(_) | Self::Own(_) => return false,
        }
        true
    }

    /// Whether it may drop an arrival although there is room.
    pub(super) fn drops_at_random(&self) -> bool {
        match self {
            Self::Red(_) | Self::Own(_) => true,
            Self::Ring(ring) => ring.drops_at_random(),
            _ => false,
        }
    }
}

impl<B: Inspect> Policy<B> for Discipline<B> {
    fn enqueue(&mut self, now: Time, packet: Packet<B>, fill: Fill, drops: &mut Vec<Packet<B>>) {
        policy!(self, policy => policy.enqueue(now, packet, fill, drops));
    }

    #[inline(always)]
    fn next(&mut self, ask: &mut Ask<'_, B>, fits: impl Fits<B>) -> Option<Packet<B>> {
        policy!(self, policy => policy.next(ask, fits))
    }

    fn receiver(&mut self, waiting: impl Iterator<Item = (u32, Option<Time>)>) -> Option<u32> {
        policy!(self, policy => policy.receiver(waiting))
    }

    fn has_next_for(&self, receiver: u32) -> bool {
        policy!(self, policy => policy.has_next_for(receiver))
    }

    #[inline]
    fn charge(&mut self, now: Time, to: u32, airtime: Duration) {
        policy!(self, policy => policy.charge(now, to, airtime));
    }

    fn filter(&mut self, rule: AckFilter, newer: &Packet<B>) -> Option<Packet<B>> {
        policy!(self, policy => policy.filter(rule, newer))
    }

    fn on_empty(&mut self, now: Time) {
        policy!(self, policy => policy.on_empty(now));
    }

    fn iter(&self) -> Box<dyn Iterator<Item = &Packet<B>> + '_> {
        policy!(self, policy => policy.iter())
    }
}
