//! Queues of packets in front of the MAC: how many fit, which goes next, which is dropped.
//!
//! The MAC asks for a packet when it has got at the medium, and no sooner: until then the packets are
//! the discipline's to order and to drop. A packet that the MAC has taken keeps its place within the
//! limit until the MAC is done with it. Each discipline is a `Policy` in a file of its own; nothing
//! here knows what is in a packet.

mod ack_filter;
pub mod codel;
mod fifo;
pub mod fq_codel;
mod lines;
mod longest;
mod per_flow;
pub mod red;
mod ring;
mod scheduler;
mod tins;

use std::rc::Rc;

use airtcp_kernel::{Duration, RandomStream, Time};
use serde::Deserialize;

use crate::Packet;
pub use ack_filter::{AckFilter, BareAck};
use codel::{CodelConfig, CodelLine};
use fifo::Fifo;
use fq_codel::{FlowQueues, FqConfig};
use lines::Lines;
use per_flow::PerFlow;
use red::{Red, RedConfig};
use ring::{Allowance, Ring};
pub use scheduler::Scheduler;
use tins::Tins;

/// A queue in the resolved form of a scenario.
#[derive(Clone, Debug, Deserialize)]
pub struct QueueConfig {
    /// Who goes next, and who is dropped. Unknown keys are refused by its variants.
    #[serde(flatten)]
    pub discipline: DisciplineConfig,
    /// Packets that fit, those included that the MAC has taken; any number if `None`.
    pub limit: Option<usize>,
    /// Packets that are handed over to a ring below the discipline, those included that the MAC has
    /// taken; `None`: there is no ring, and the MAC takes packets from the discipline.
    pub mac_limit: Option<usize>,
    /// How many bare TCP ACKs of a connection stay; `None`: all.
    pub ack_filter: Option<AckFilter>,
}

/// A discipline in the resolved form of a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "discipline", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DisciplineConfig {
    /// First in, first out; what does not fit is dropped on arrival.
    Fifo {},
    /// The same with random early detection.
    Red {
        /// When to drop early.
        red: RedConfig,
    },
    /// Flows take turns, a packet each; the longest pays for an overflow.
    PerFlow {},
    /// First in, first out; the head is dropped when packets wait for too long.
    Codel {
        /// For how long they may.
        codel: CodelConfig,
    },
    /// Flows take turns by bytes, each with a CoDel queue.
    FqCodel {
        /// For how long packets may wait.
        codel: CodelConfig,
        /// How flows take turns.
        fq: FqConfig,
    },
}

impl QueueConfig {
    /// What the types cannot say.
    ///
    /// # Errors
    /// If no packet fits, or the parameters contradict each other.
    pub fn check(&self) -> Result<(), String> {
        if self.limit == Some(0) || self.mac_limit == Some(0) {
            return Err("a queue of no packet".into());
        }
        match &self.discipline {
            DisciplineConfig::Fifo {} | DisciplineConfig::PerFlow {} => Ok(()),
            DisciplineConfig::Red { red } => red.check(),
            DisciplineConfig::Codel { codel } => codel.check(),
            DisciplineConfig::FqCodel { codel, fq } => codel.check().and_then(|()| fq.check(codel)),
        }
    }

    /// A queue first in, first out, of so many packets.
    pub fn fifo(limit: Option<usize>) -> Self {
        let discipline = DisciplineConfig::Fifo {};
        Self { discipline, limit, mac_limit: None, ack_filter: None }
    }
}

/// What a discipline may ask of what a packet carries.
pub trait Content: Copy {
    /// Marks it as one that has met congestion (CE, RFC 3168) if its transport knows ECN: whether it
    /// does.
    fn mark(&mut self) -> bool;

    /// The bare TCP ACK that it is, if it is one.
    fn bare_ack(&self) -> Option<BareAck>;
}

/// Whom a queue serves, and how.
#[derive(Clone, Debug, Default)]
pub struct Service {
    /// Chooses among several receivers where an access serves one of them; without it packets go one
    /// by one, or have one receiver.
    pub scheduler: Option<Scheduler>,
    /// By number; what is beyond has the weight of most, and no rate.
    pub receivers: Rc<[Receiver]>,
}

/// Someone to whom packets go.
#[derive(Clone, Copy, Debug)]
pub struct Receiver {
    /// Its share of airtime, 256 being that of most.
    pub weight: u32,
    /// The rate of frames to it. \[bit/s\]
    pub rate_bps: u64,
}

/// A queue of packets that carry a `B`.
#[derive(Debug)]
pub struct Queue<B> {
    limit: usize,
    /// With fewer packets one that comes to a plain queue is put in without further questions.
    direct: usize,
    /// Packets that wait, and those that the MAC has taken and is not done with.
    len: usize,
    /// The latter alone.
    taken: usize,
    ack_filter: Option<AckFilter>,
    /// Whether what was dropped last was an ACK that a newer one covers.
    has_filtered: bool,
    discipline: Discipline<B>,
}

// Boxed but for the two that are plain: few queues have one of the others, and they are large. It is
// asked several times for each packet which one it is: a byte says so in one comparison, where
// otherwise it would be hidden in a number of one of them.
#[derive(Debug)]
#[repr(u8)]
enum Discipline<B> {
    Fifo(Fifo<B>),
    Lines(Box<Lines<B>>),
    Red(Box<Red<B>>),
    PerFlow(PerFlow<B>),
    Codel(Box<Tins<CodelLine<B>, ()>>),
    FqCodel(Box<Tins<FlowQueues<B>, FqConfig>>),
    Ring(Box<Ring<B>>),
}

/// How full a queue is.
#[derive(Clone, Copy, Debug)]
struct Fill {
    /// Packets in it, those included that the MAC has taken.
    len: usize,
    /// Whether no more fit.
    full: bool,
}

/// What a discipline decides, and what it is told.
trait Policy<B> {
    /// A packet comes. What is dropped for it goes to `drops`: itself, or others; if the queue is
    /// full, at least one.
    fn enqueue(&mut self, now: Time, packet: Packet<B>, fill: Fill, drops: &mut Vec<Packet<B>>);

    /// Takes the next packet out, if it fits; what is dropped on the way goes to `drops`. `None`
    /// only if none waits or the next one does not fit.
    fn next(
        &mut self,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        drops: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>>;

    /// See [`Queue::receiver`].
    fn receiver(&mut self, waiting: impl Iterator<Item = (u32, Option<Time>)>) -> Option<u32>;

    /// The same as [`Self::next`] among the packets for `receiver`.
    fn next_for(
        &mut self,
        receiver: u32,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        drops: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>>;

    /// See [`Queue::charge`].
    fn charge(&mut self, _to: u32, _airtime: Duration) {}

    /// The MAC is done with a packet that it had taken.
    fn done(&mut self, _now: Time, _packet: &Packet<B>, _drops: &mut Vec<Packet<B>>) {}

    /// Takes the ACK out that goes by this rule since `newer` comes, if one does.
    fn filter(&mut self, rule: AckFilter, newer: &Packet<B>) -> Option<Packet<B>>;

    /// The queue is empty, and the MAC has nothing of it.
    fn on_empty(&mut self, _now: Time) {}

    /// All packets that wait.
    fn iter(&self) -> Box<dyn Iterator<Item = &Packet<B>> + '_>;
}

/// Calls the same method of any discipline.
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
        }
    };
}

impl<B: Content> Discipline<B> {
    fn new(config: &QueueConfig, service: Service, stream: impl FnOnce() -> RandomStream) -> Self {
        if let Some(limit) = config.mac_limit {
            // The receivers have their lines in the ring.
            let above = QueueConfig { mac_limit: None, ..config.clone() };
            let above = Self::new(&above, Service { scheduler: None, ..service.clone() }, stream);
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
        service: Service,
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
            DisciplineConfig::Codel { codel } => {
                Self::Codel(Box::new(Tins::new((), *codel, None, service, stream())))
            }
            DisciplineConfig::FqCodel { codel, fq } => {
                let slow = fq.slow(codel);
                Self::FqCodel(Box::new(Tins::new(fq.clone(), *codel, slow, service, stream())))
            }
        }
    }

    fn enqueue(&mut self, now: Time, packet: Packet<B>, fill: Fill, drops: &mut Vec<Packet<B>>) {
        policy!(self, policy => policy.enqueue(now, packet, fill, drops));
    }

    /// Takes the next packet out, of those for `receiver` if one is given.
    fn pull(
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

    fn filter(&mut self, rule: AckFilter, newer: &Packet<B>) -> Option<Packet<B>> {
        policy!(self, policy => policy.filter(rule, newer))
    }

    /// Whether a packet may be refused for which there is room.
    fn drops_at_random(&self) -> bool {
        match self {
            Self::Red(_) => true,
            Self::Ring(ring) => ring.drops_at_random(),
            _ => false,
        }
    }

    fn on_empty(&mut self, now: Time) {
        policy!(self, policy => policy.on_empty(now));
    }

    fn iter(&self) -> Box<dyn Iterator<Item = &Packet<B>> + '_> {
        policy!(self, policy => policy.iter())
    }
}

/// Whatever is next fits.
fn any<B>(_: &Packet<B>) -> bool {
    true
}

impl<B: Content> Queue<B> {
    /// An empty queue for `service`; `stream` is what a discipline draws from that drops or hashes at
    /// random.
    pub fn new(
        config: &QueueConfig,
        service: Service,
        stream: impl FnOnce() -> RandomStream,
    ) -> Self {
        let limit = config.limit.unwrap_or(usize::MAX);
        Self {
            limit,
            direct: if config.ack_filter.is_none() { limit } else { 0 },
            len: 0,
            taken: 0,
            ack_filter: config.ack_filter,
            has_filtered: false,
            discipline: Discipline::new(config, service, stream),
        }
    }

    /// Takes a packet in, which arrives now. What is dropped for it goes to `drops`, and may be the
    /// packet itself.
    #[inline]
    pub fn enqueue(&mut self, now: Time, packet: Packet<B>, drops: &mut Vec<Packet<B>>) {
        if let Err(packet) = self.push(now, packet) {
            self.enqueue_if_it_fits(now, packet, drops);
        }
    }

    /// Takes a packet in if that is all that has to be done: by far the most frequent case. Else it has
    /// to be given to [`Self::enqueue`].
    #[inline(always)]
    pub fn push(&mut self, now: Time, mut packet: Packet<B>) -> Result<(), Packet<B>> {
        packet.arrived = now;
        match &mut self.discipline {
            Discipline::Fifo(fifo) if self.len < self.direct => fifo.push(packet),
            Discipline::Lines(lines) if self.len < self.direct => lines.push(packet),
            Discipline::FqCodel(tins) if self.len < self.direct => tins.take_in(packet),
            _ => return Err(packet),
        }
        self.len += 1;
        Ok(())
    }

    #[inline(never)]
    fn enqueue_if_it_fits(&mut self, now: Time, packet: Packet<B>, drops: &mut Vec<Packet<B>>) {
        // A queue that may refuse the packet though there is room must not have lost another for it.
        let filters_first = !self.has_room() && !self.discipline.drops_at_random();
        if filters_first {
            self.filter(&packet, drops);
        }
        let fill = Fill { len: self.len, full: !self.has_room() };
        let before = drops.len();
        self.discipline.enqueue(now, packet, fill, drops);
        self.len = self.len + 1 - (drops.len() - before);
        if !filters_first && drops.len() == before {
            self.filter(&packet, drops);
        }
    }

    /// Drops the ACK that need not wait any longer since `newer` comes, if there is one.
    fn filter(&mut self, newer: &Packet<B>, drops: &mut Vec<Packet<B>>) {
        if let Some(rule) = self.ack_filter
            && let Some(older) = self.discipline.filter(rule, newer)
        {
            self.len -= 1;
            self.has_filtered = true;
            drops.push(older);
        }
    }

    /// Hands the next packet over to the MAC, which has got at the medium, if `fits` says that the MAC
    /// has room for it. What the discipline drops now goes to `drops`. `None` only if none waits or
    /// the next one does not fit. For several packets in one access it is asked again, with less
    /// room.
    pub fn next(
        &mut self,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        drops: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>> {
        let mut taken = None;
        self.hand_over(now, fits, |packet| taken = Some(packet), drops);
        taken
    }

    /// The same as [`Self::next`] for who will `take` the packet: whether there was one.
    // Inlined with `take`, so that a packet is copied to where the MAC holds it, once.
    #[inline(always)]
    pub fn hand_over(
        &mut self,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        take: impl FnOnce(Packet<B>),
        drops: &mut Vec<Packet<B>>,
    ) -> bool {
        if let Discipline::Fifo(fifo) = &mut self.discipline {
            let Some(packet) = fifo.next(now, fits, drops) else { return false };
            self.taken += 1;
            take(packet);
        } else {
            let Some(packet) = self.next_by_policy(now, fits, drops) else { return false };
            self.taken += 1;
            take(packet);
        }
        true
    }

    #[inline(never)]
    fn next_by_policy(
        &mut self,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        drops: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>> {
        let before = drops.len();
        let packet = policy!(&mut self.discipline, policy => policy.next(now, fits, drops));
        self.len -= drops.len() - before;
        packet
    }

    /// Whom an access serves that may carry several packets to one receiver. `waiting` are receivers
    /// for whom the MAC has something already, with the arrival of its oldest packet for them, or
    /// none if that is no packet but cannot wait. `None` if there is nobody.
    pub fn receiver(&mut self, waiting: impl Iterator<Item = (u32, Option<Time>)>) -> Option<u32> {
        policy!(&mut self.discipline, policy => policy.receiver(waiting))
    }

    /// The same as [`Self::next`] among the packets for `receiver`.
    #[inline]
    pub fn next_for(
        &mut self,
        receiver: u32,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        drops: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>> {
        let before = drops.len();
        let packet =
            policy!(&mut self.discipline, policy => policy.next_for(receiver, now, fits, drops));
        self.len -= drops.len() - before;
        self.taken += usize::from(packet.is_some());
        packet
    }

    /// Whether a packet that [`Self::enqueue`] has just dropped, the only one then, was a bare TCP ACK
    /// that a newer one covers. Asked once.
    pub fn take_filtered(&mut self) -> bool {
        std::mem::take(&mut self.has_filtered)
    }

    /// The MAC has `packet` acknowledged that it had taken, or has given it up. What the discipline
    /// drops now goes to `drops`. Whether there is another packet that the MAC may take.
    ///
    /// # Panics
    /// If the MAC has none.
    #[inline]
    pub fn done(&mut self, now: Time, packet: &Packet<B>, drops: &mut Vec<Packet<B>>) -> bool {
        assert!(self.taken > 0, "the MAC is done with a packet that it never took");
        self.taken -= 1;
        self.len -= 1;
        if let Discipline::Fifo(_) = self.discipline {
            return self.len > self.taken;
        }
        if let Discipline::Ring(ring) = &mut self.discipline {
            let before = drops.len();
            ring.done(now, packet, drops);
            self.len -= drops.len() - before;
        }
        if self.len == 0 {
            self.discipline.on_empty(now);
        }
        self.has_next()
    }

    /// An exchange that carries packets of this queue to node `to` takes `airtime`, whether they come
    /// through or not.
    #[inline]
    pub fn charge(&mut self, to: u32, airtime: Duration) {
        policy!(&mut self.discipline, policy => policy.charge(to, airtime));
    }

    /// Packets in it, those included that the MAC has taken and is not done with.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Packets that the MAC has not taken.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.len - self.taken
    }

    /// Whether there is a packet that the MAC may take.
    #[inline]
    pub fn has_next(&self) -> bool {
        match &self.discipline {
            Discipline::Ring(ring) => ring.ready() > 0,
            _ => self.waiting() > 0,
        }
    }

    /// Whether one more packet fits.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.len < self.limit
    }

    /// All packets that the MAC has not taken, in no order to rely on.
    pub fn iter(&self) -> impl Iterator<Item = &Packet<B>> {
        self.discipline.iter()
    }
}

#[cfg(test)]
mod tests;
