//! Queues of packets in front of the MAC: how many fit, which goes next, which is dropped.
//!
//! The MAC asks for a packet when it has got at the medium, and no sooner: until then the packets are
//! the discipline's to order and to drop. A packet that the MAC has taken keeps its place within the
//! limit until the MAC is done with it. Each discipline is a `Policy` in a file of its own; nothing
//! here knows what is in a packet.

mod fifo;
mod lines;
mod per_flow;
pub mod red;

use airtcp_kernel::{Duration, RandomStream, Time};
use serde::Deserialize;

use crate::Packet;
use fifo::Fifo;
use lines::Lines;
pub use lines::Scheduler;
use per_flow::PerFlow;
use red::{Red, RedConfig};

/// A queue in the resolved form of a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "discipline", rename_all = "kebab-case", deny_unknown_fields)]
pub enum QueueConfig {
    /// First in, first out; what does not fit is dropped on arrival.
    Fifo {
        /// Packets that fit, those included that the MAC has taken; any number if `None`.
        limit: Option<usize>,
    },
    /// The same with random early detection.
    Red {
        /// As of [`Self::Fifo`].
        limit: Option<usize>,
        /// When to drop early.
        red: RedConfig,
    },
    /// Flows take turns, a packet each; the longest pays for an overflow.
    PerFlow {
        /// As of [`Self::Fifo`], of all flows together.
        limit: Option<usize>,
    },
}

impl QueueConfig {
    /// What the types cannot say.
    ///
    /// # Errors
    /// If no packet fits, or the parameters contradict each other.
    pub fn check(&self) -> Result<(), String> {
        if self.limit() == Some(0) {
            return Err("a queue of no packet".into());
        }
        match self {
            Self::Fifo { .. } | Self::PerFlow { .. } => Ok(()),
            Self::Red { red, .. } => red.check(),
        }
    }

    fn limit(&self) -> Option<usize> {
        match *self {
            Self::Fifo { limit } | Self::Red { limit, .. } | Self::PerFlow { limit } => limit,
        }
    }
}

/// A queue of packets that carry a `B`.
#[derive(Debug)]
pub struct Queue<B> {
    limit: usize,
    /// Packets that wait, and those that the MAC has taken and is not done with.
    len: usize,
    /// The latter alone.
    taken: usize,
    discipline: Discipline<B>,
}

#[derive(Debug)]
enum Discipline<B> {
    Fifo(Fifo<B>),
    Lines(Box<Lines<B>>),
    // Boxed: few queues have one, and it is the largest.
    Red(Box<Red<B>>),
    PerFlow(PerFlow<B>),
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
        }
    };
}

impl<B> Queue<B> {
    /// An empty queue; `stream` is what a discipline draws from that drops at random. `scheduler`
    /// chooses among several receivers where an access serves one of them with several packets;
    /// without it packets go one by one, or have one receiver.
    pub fn new(
        config: &QueueConfig,
        scheduler: Option<Scheduler>,
        stream: impl FnOnce() -> RandomStream,
    ) -> Self {
        let discipline = match config {
            QueueConfig::Fifo { .. } => match scheduler {
                None => Discipline::Fifo(Fifo::default()),
                Some(scheduler) => Discipline::Lines(Box::new(Lines::new(scheduler))),
            },
            QueueConfig::Red { red, .. } => {
                Discipline::Red(Box::new(Red::new(red.clone(), stream(), scheduler)))
            }
            QueueConfig::PerFlow { .. } => Discipline::PerFlow(PerFlow::default()),
        };
        Self { limit: config.limit().unwrap_or(usize::MAX), len: 0, taken: 0, discipline }
    }

    /// Takes a packet in, which arrives now. What is dropped for it goes to `drops`, and may be the
    /// packet itself.
    #[inline]
    pub fn enqueue(&mut self, now: Time, mut packet: Packet<B>, drops: &mut Vec<Packet<B>>) {
        packet.arrived = now;
        if let Discipline::Fifo(fifo) = &mut self.discipline
            && self.len < self.limit
        {
            // By far the most frequent case.
            fifo.push(packet);
            self.len += 1;
            return;
        }
        self.enqueue_if_it_fits(now, packet, drops);
    }

    #[cold]
    fn enqueue_if_it_fits(&mut self, now: Time, packet: Packet<B>, drops: &mut Vec<Packet<B>>) {
        let fill = Fill { len: self.len, full: !self.has_room() };
        let before = drops.len();
        policy!(&mut self.discipline, policy => policy.enqueue(now, packet, fill, drops));
        self.len = self.len + 1 - (drops.len() - before);
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

    #[cold]
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

    /// The MAC has a packet acknowledged that it had taken, or has given it up.
    ///
    /// # Panics
    /// If the MAC has none.
    #[inline]
    pub fn done(&mut self, now: Time) {
        assert!(self.taken > 0, "the MAC is done with a packet that it never took");
        self.taken -= 1;
        self.len -= 1;
        if self.len == 0 {
            policy!(&mut self.discipline, policy => policy.on_empty(now));
        }
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

    /// Whether one more packet fits.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.len < self.limit
    }

    /// All packets that the MAC has not taken, in no order to rely on.
    pub fn iter(&self) -> impl Iterator<Item = &Packet<B>> {
        policy!(&self.discipline, policy => policy.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The `id`-th packet of `flow`.
    fn packet(flow: u32, id: u32) -> Packet<u32> {
        Packet { bits: 12_000, arrived: Time::ZERO, flow, to: 1, body: id }
    }

    fn queue(config: QueueConfig) -> Queue<u32> {
        Queue::new(&config, None, || unreachable!("not random"))
    }

    /// Puts a packet in; what is dropped for it.
    fn offer(queue: &mut Queue<u32>, flow: u32, id: u32) -> Vec<u32> {
        let mut drops = Vec::new();
        queue.enqueue(Time::ZERO, packet(flow, id), &mut drops);
        drops.into_iter().map(|packet| packet.body).collect()
    }

    fn take(queue: &mut Queue<u32>) -> Option<u32> {
        let mut drops = Vec::new();
        let packet = queue.next(Time::ZERO, |_| true, &mut drops);
        assert!(drops.is_empty());
        packet.map(|packet| packet.body)
    }

    fn drain(queue: &mut Queue<u32>) -> Vec<u32> {
        std::iter::from_fn(|| take(queue).inspect(|_| queue.done(Time::ZERO))).collect()
    }

    #[test]
    fn flows_take_turns() {
        let mut queue = queue(QueueConfig::PerFlow { limit: None });
        for (flow, id) in [(7, 70), (7, 71), (7, 72), (2, 20), (2, 21), (5, 50)] {
            assert!(offer(&mut queue, flow, id).is_empty());
        }

        assert_eq!(queue.len(), 6);
        assert_eq!(drain(&mut queue), [70, 20, 50, 71, 21, 72]);
    }

    /// Flow 2 comes while the station contends for the next packet, of flow 7. That has not been taken
    /// yet, and when it is flow 7 goes behind flow 2.
    #[test]
    fn a_flow_that_comes_before_the_access_waits_for_one_packet_of_another() {
        let mut queue = queue(QueueConfig::PerFlow { limit: None });
        for id in [70, 71, 72] {
            offer(&mut queue, 7, id);
        }
        assert_eq!(take(&mut queue), Some(70));
        queue.done(Time::ZERO);

        offer(&mut queue, 2, 20);

        assert_eq!(drain(&mut queue), [71, 20, 72]);
    }

    #[test]
    fn an_overflow_costs_the_longest_flow_its_last_packet() {
        let mut queue = queue(QueueConfig::PerFlow { limit: Some(4) });
        for id in [70, 71, 72, 73] {
            assert!(offer(&mut queue, 7, id).is_empty());
        }

        assert_eq!(offer(&mut queue, 2, 20), [73]);

        assert_eq!(queue.len(), 4);
        assert_eq!(queue.iter().count(), 4);
        assert_eq!(drain(&mut queue), [70, 20, 71, 72]);
    }

    /// What the MAC has cannot be taken back; with room for that alone the newcomer goes.
    #[test]
    fn a_packet_that_the_mac_has_is_never_dropped() {
        let mut queue = queue(QueueConfig::PerFlow { limit: Some(1) });
        offer(&mut queue, 7, 70);
        assert_eq!(take(&mut queue), Some(70));

        assert_eq!(offer(&mut queue, 7, 71), [71]);
        assert_eq!((queue.len(), queue.waiting()), (1, 0));
    }

    /// A packet that the MAC has counts until the MAC is done with it.
    #[test]
    fn a_full_fifo_drops_what_arrives() {
        let mut queue = queue(QueueConfig::Fifo { limit: Some(2) });
        for id in [1, 2] {
            assert!(offer(&mut queue, 0, id).is_empty());
        }

        assert_eq!(offer(&mut queue, 0, 3), [3]);
        assert_eq!(take(&mut queue), Some(1));
        assert_eq!(offer(&mut queue, 0, 4), [4]);
        queue.done(Time::ZERO);
        assert!(offer(&mut queue, 0, 5).is_empty());
        assert_eq!(drain(&mut queue), [2, 5]);
    }

    /// A packet for which there is no room stays where it is, and the turn with it.
    #[test]
    fn what_does_not_fit_stays_first() {
        for config in [QueueConfig::Fifo { limit: None }, QueueConfig::PerFlow { limit: None }] {
            let mut queue = queue(config);
            offer(&mut queue, 7, 70);
            offer(&mut queue, 2, 20);

            assert!(queue.next(Time::ZERO, |_| false, &mut Vec::new()).is_none());
            assert_eq!((queue.len(), queue.waiting()), (2, 2));
            assert_eq!(drain(&mut queue), [70, 20]);
        }
    }

    #[test]
    fn a_packet_knows_when_it_came() {
        let mut queue = queue(QueueConfig::Fifo { limit: None });
        let now = Time::from_nanos(17);
        queue.enqueue(now, packet(0, 1), &mut Vec::new());

        assert_eq!(
            queue.next(now, |_| true, &mut Vec::new()).map(|packet| packet.arrived),
            Some(now)
        );
    }
}
