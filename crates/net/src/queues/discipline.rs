//! The face that all disciplines have, and the choice among them: which of several packets goes next, and
//! which is dropped, is asked of one [`Discipline`]. Knows no limit but by what it is told.

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

/// A discipline, the one that a scenario names.
// Boxed but for the two that are plain: few queues have one of the others, and they are large. Which one it
// is, is asked several times for each packet: a byte tells it in one comparison, where otherwise it would be
// hidden in a number of one of them.
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

/// The fill of a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fill {
    /// The packets in it, those included that the MAC has taken.
    pub(super) len: usize,
    /// A flag: no more fit.
    pub(super) full: bool,
}

/// The decisions of a discipline.
pub(super) trait Policy<B> {
    /// Enqueues a packet, or drops it. Moves what is dropped to `drops`, the packet or others; if the queue is
    /// full, at least one.
    fn enqueue(&mut self, now: Time, packet: Packet<B>, fill: Fill, drops: &mut Vec<Packet<B>>);

    /// Dequeues the next packet, if it fits, and moves what is dropped on the way to `drops`. Returns `None`
    /// only if none waits or the next one does not fit.
    fn next(
        &mut self,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        drops: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>>;

    /// Chooses as [`Queue::receiver`](super::Queue::receiver) does.
    fn receiver(&mut self, waiting: impl Iterator<Item = (u32, Option<Time>)>) -> Option<u32>;

    /// Does as [`Self::next`] among the packets for `receiver`.
    fn next_for(
        &mut self,
        receiver: u32,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        drops: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>>;

    /// Charges as [`Queue::charge`](super::Queue::charge) does.
    fn charge(&mut self, _now: Time, _to: u32, _airtime: Duration) {}

    /// Forgets a packet that the MAC had taken and is done with.
    fn done(&mut self, _now: Time, _packet: &Packet<B>, _drops: &mut Vec<Packet<B>>) {}

    /// Takes the ACK out that goes by this rule since `newer` comes, if one does.
    fn filter(&mut self, rule: AckFilter, newer: &Packet<B>) -> Option<Packet<B>>;

    /// Notes that the queue is empty, and that the MAC has nothing of it.
    fn on_empty(&mut self, _now: Time) {}

    /// Walks through all packets that wait.
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

pub(super) use policy;

impl<B: Inspect> Discipline<B> {
    pub(super) fn new(
        config: &QueueConfig,
        service: Served,
        stream: impl FnOnce() -> RandomStream,
    ) -> Self {
        if let Some(limit) = config.mac_limit {
            // The receivers have their lines in the ring.
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

    fn without_ring(
        config: &DisciplineConfig,
        service: Served,
        stream: impl FnOnce() -> RandomStream,
    ) -> Self {
        match config {
            DisciplineConfig::Fifo {} => match service.scheduler {
                None => Self::Fifo(Fifo::default()),
                Some(scheduler) => Self::Lines(Box::new(Lines::new(scheduler, &service))),
            },
            DisciplineConfig::Red { red } => {
                Self::Red(Box::new(Red::new(red.clone(), stream(), &service)))
            }
            DisciplineConfig::PerFlow {} => Self::PerFlow(PerFlow::default()),
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

    /// Enqueues a packet for which there is room, if that is all there is to do, and tells whether it is.
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

    pub(super) fn enqueue(
        &mut self,
        now: Time,
        packet: Packet<B>,
        fill: Fill,
        drops: &mut Vec<Packet<B>>,
    ) {
        policy!(self, policy => policy.enqueue(now, packet, fill, drops));
    }

    /// Takes the next packet out, of those for `receiver` if one is given.
    pub(super) fn pull(
        &mut self,
        receiver: Option<u32>,
        now: Time,
        drops: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>> {
        match receiver {
            None => policy!(self, policy => policy.next(now, any, drops)),
            Some(receiver) => {
                policy!(self, policy => policy.next_for(receiver, now, any, drops))
            }
        }
    }

    pub(super) fn filter(&mut self, rule: AckFilter, newer: &Packet<B>) -> Option<Packet<B>> {
        policy!(self, policy => policy.filter(rule, newer))
    }

    /// Tells whether a packet may be refused for which there is room.
    pub(super) fn drops_at_random(&self) -> bool {
        match self {
            Self::Red(_) | Self::Own(_) => true,
            Self::Ring(ring) => ring.drops_at_random(),
            _ => false,
        }
    }

    pub(super) fn on_empty(&mut self, now: Time) {
        policy!(self, policy => policy.on_empty(now));
    }

    pub(super) fn iter(&self) -> Box<dyn Iterator<Item = &Packet<B>> + '_> {
        policy!(self, policy => policy.iter())
    }
}

/// Lets any packet fit.
fn any<B>(_: &Packet<B>) -> bool {
    true
}
