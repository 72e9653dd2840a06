//! Packet queues in front of the MAC: how many packets fit, which one goes next, and which are
//! dropped.
//!
//! The MAC asks for a packet only when it has won access to the medium; until then the discipline
//! can reorder and drop. A packet that the MAC has dequeued keeps its place within the limit until
//! the MAC is done with it. Each discipline implements `Policy` in its own file; `discipline`
//! selects it.

mod ack_filter;
pub mod codel;
mod config;
mod discipline;
mod fifo;
pub mod fq_codel;
mod lines;
mod longest;
mod own;
mod per_flow;
pub mod plugin;
pub mod red;
mod ring;
mod scheduler;
mod slab;
mod tins;

use std::rc::Rc;

use airtcp_kernel::{Duration, RandomStream, Time};

use crate::Packet;
pub use ack_filter::{AckFilter, BareAck};
pub use config::{DisciplineConfig, QueueConfig};
use discipline::{Ask, Discipline, Fill, Fits, Policy};
pub use scheduler::Scheduler;

/// What a discipline may ask about the contents of a packet.
pub trait Inspect: Copy {
    /// Marks the packet with Congestion Experienced (CE, RFC 3168) if its transport is ECN-capable.
    /// Returns false if it is not.
    fn mark(&mut self) -> bool;

    /// Returns the bare TCP ACK in the packet, if it is one.
    fn bare_ack(&self) -> Option<BareAck>;

    /// Returns a small number of the packet's TCP connection; `None`: it has none.
    fn connection(&self) -> Option<u32> {
        None
    }
}

/// The receivers that a queue serves and how to choose among them.
#[derive(Clone, Debug, Default)]
pub struct Served {
    /// Chooses the receiver if a transmission serves one of several. `None`: packets go one by one,
    /// or all have the same receiver.
    pub scheduler: Option<Scheduler>,
    /// The receivers by number. Numbers beyond the end have the default weight and no rate.
    pub receivers: Rc<[Destination]>,
    /// The first receiver of this queue. State is kept from there on, so that queues of many access
    /// points have no state for the stations of others.
    pub first: u32,
}

impl Served {
    /// Returns the index of a receiver in what the queue keeps for each.
    #[inline]
    fn place(&self, receiver: u32) -> usize {
        (receiver - self.first) as usize
    }

    /// Returns the receiver at `place`.
    #[inline]
    fn receiver(&self, place: usize) -> Option<&Destination> {
        self.receivers.get(self.first as usize + place)
    }
}

/// A receiver of packets.
#[derive(Clone, Copy, Debug)]
pub struct Destination {
    /// Its share of airtime; 256 is the default.
    pub weight: u32,
    /// The data rate of frames to it. \[bit/s\]
    pub rate_bps: u64,
}

/// A queue of packets with contents `B`.
#[derive(Debug)]
pub struct Queue<B> {
    limit: usize,
    /// A plain queue with fewer packets than this appends an arrival without further checks.
    direct: usize,
    /// Packets in the queue, including those that the MAC holds.
    len: usize,
    /// Packets that the MAC has dequeued and is not done with.
    taken: usize,
    /// Whether the MAC takes packets for several links.
    is_shared: bool,
    ack_filter: Option<AckFilter>,
    /// Whether the packet dropped last was an ACK that a newer one covers.
    has_filtered: bool,
    discipline: Discipline<B>,
}

impl<B: Inspect> Queue<B> {
    /// Creates an empty queue for `service`. A discipline that drops or hashes at random draws from
    /// `stream`.
    pub fn new(
        config: &QueueConfig,
        service: Served,
        stream: impl FnOnce() -> RandomStream,
    ) -> Self {
        let limit = config.limit.unwrap_or(usize::MAX);
        Self {
            limit,
            direct: if config.ack_filter.is_none() { limit } else { 0 },
            len: 0,
            taken: 0,
            is_shared: false,
            ack_filter: config.ack_filter,
            has_filtered: false,
            discipline: Discipline::new(config, service, stream),
        }
    }

    /// Lets several links of the MAC take packets: while one has a packet, another one has to hear
    /// of the next.
    pub fn share(&mut self) {
        self.is_shared = true;
        self.direct = 0;
    }

    /// Whether the MAC takes packets for several links.
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Enqueues a packet that arrives now. Moves dropped packets, which may include this one, to
    /// `drops`.
    #[inline]
    pub fn enqueue(&mut self, now: Time, packet: Packet<B>, drops: &mut Vec<Packet<B>>) {
        if !self.push(now, || packet) {
            self.enqueue_if_it_fits(now, Packet { arrived: now, ..packet }, drops);
        }
    }

    /// Enqueues the packet that `make` constructs if no drop or filter decision is needed, by far
    /// the most frequent case. If it returns false, call [`Self::enqueue`].
    // A closure constructs the packet in its place in the queue instead of copying it there.
    #[inline(always)]
    pub fn push(&mut self, now: Time, make: impl Fn() -> Packet<B>) -> bool {
        if self.len >= self.direct {
            return false;
        }
        let make = || Packet { arrived: now, ..make() };
        // Keep this call out of line: inlined, it slows down the most frequent case.
        if let Discipline::Fifo(fifo) = &mut self.discipline {
            fifo.push_made(make);
        } else if !self.discipline.push(make()) {
            return false;
        }
        self.len += 1;
        true
    }

    /// Enqueues a packet, subject to the discipline and the ACK filter.
    #[inline(never)]
    fn enqueue_if_it_fits(&mut self, now: Time, packet: Packet<B>, drops: &mut Vec<Packet<B>>) {
        // A discipline that may drop the arrival although there is room must not lose an older ACK
        // for it first.
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

    /// Drops the queued ACK that `newer` makes redundant, if any.
    fn filter(&mut self, newer: &Packet<B>, drops: &mut Vec<Packet<B>>) {
        if let Some(rule) = self.ack_filter
            && let Some(older) = self.discipline.filter(rule, newer)
        {
            self.len -= 1;
            self.has_filtered = true;
            drops.push(older);
        }
    }

    /// Dequeues the next packet, among those for `to` if it is given, for the MAC, which has won
    /// access to the medium, if `fits` accepts it. Moves packets that the discipline drops now to
    /// `drops`. Returns `None` only if there is no packet, or if the next one does not fit. To
    /// aggregate, call it again with less room.
    pub fn next(
        &mut self,
        to: Option<u32>,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        drops: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>> {
        let mut taken = None;
        self.hand_over(to, now, fits, |packet| taken = Some(*packet), drops);
        taken
    }

    /// Like [`Self::next`], but passes the packet to `take`. Returns false if there was none.
    // Inlining `take`, which reads the packet in the queue, copies it once, straight to the MAC's
    // memory.
    #[inline(always)]
    pub fn hand_over(
        &mut self,
        to: Option<u32>,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        take: impl FnOnce(&Packet<B>),
        drops: &mut Vec<Packet<B>>,
    ) -> bool {
        let is_taken = if let Some(to) = to {
            match &mut self.discipline {
                Discipline::Lines(lines) => lines.hand_over(to, fits, take),
                Discipline::Fifo(fifo) => fifo.hand_over(fits, take),
                other => {
                    let before = drops.len();
                    let packet = other.next(&mut Ask { to: Some(to), now, drops }, fits);
                    self.len -= drops.len() - before;
                    packet.as_ref().map(take).is_some()
                }
            }
        } else {
            match &mut self.discipline {
                Discipline::Fifo(fifo) => fifo.hand_over(fits, take),
                Discipline::PerFlow(flows) => flows.hand_over(fits, take),
                _ => self.next_by_policy(now, fits, drops).as_ref().map(take).is_some(),
            }
        };
        self.taken += usize::from(is_taken);
        is_taken
    }

    /// Dequeues the next packet of a discipline other than the two plain ones.
    #[inline(never)]
    fn next_by_policy(
        &mut self,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        drops: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>> {
        let before = drops.len();
        let packet = self.discipline.next(&mut Ask { to: None, now, drops }, fits);
        self.len -= drops.len() - before;
        packet
    }

    /// Chooses the receiver of a transmission that may carry several packets to one receiver.
    /// `waiting` lists receivers for which the MAC already holds frames, with the arrival of the
    /// oldest packet, or `None` for a frame that is not a packet but cannot wait. Returns `None` if
    /// there is no packet.
    pub fn receiver(&mut self, waiting: impl Iterator<Item = (u32, Option<Time>)>) -> Option<u32> {
        self.discipline.receiver(waiting)
    }

    /// Returns whether the packet just dropped by [`Self::enqueue`], if it dropped exactly one, was
    /// a bare TCP ACK that a newer one covers. Resets the flag.
    pub fn take_filtered(&mut self) -> bool {
        std::mem::take(&mut self.has_filtered)
    }

    /// Releases `packet`, which the MAC has delivered or given up. Moves packets that the
    /// discipline drops now to `drops`. Returns true if the MAC may dequeue another packet.
    ///
    /// # Panics
    /// If the MAC holds no packet.
    #[inline]
    pub fn done(&mut self, now: Time, packet: &Packet<B>, drops: &mut Vec<Packet<B>>) -> bool {
        assert!(self.taken > 0, "the MAC is done with a packet that it never took");
        self.taken -= 1;
        self.len -= 1;
        if let Discipline::Fifo(_) | Discipline::PerFlow(_) = self.discipline {
            return self.len > self.taken;
        }
        self.done_by_policy(now, packet, drops)
    }

    /// Ends [`Self::done`] for a discipline other than the two plain ones.
    #[inline(never)]
    fn done_by_policy(
        &mut self,
        now: Time,
        packet: &Packet<B>,
        drops: &mut Vec<Packet<B>>,
    ) -> bool {
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

    /// Charges node `to` with the `airtime` of an exchange that begins at `now`, whether or not its
    /// packets are delivered.
    #[inline]
    pub fn charge(&mut self, now: Time, to: u32, airtime: Duration) {
        self.discipline.charge(now, to, airtime);
    }

    /// Returns the number of packets, including those that the MAC holds.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the queue is empty and the MAC holds none of its packets.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of packets that the MAC has not dequeued.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.len - self.taken
    }

    /// Whether the MAC may dequeue a packet now.
    #[inline]
    pub fn has_next(&self) -> bool {
        match &self.discipline {
            Discipline::Ring(ring) => ring.ready() > 0,
            _ => self.waiting() > 0,
        }
    }

    /// Whether the MAC may dequeue a packet for `receiver` now.
    pub fn has_next_for(&self, receiver: u32) -> bool {
        self.discipline.has_next_for(receiver)
    }

    /// Whether one more packet fits.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.len < self.limit
    }

    /// Iterates over all packets that the MAC has not dequeued, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Packet<B>> {
        self.discipline.iter()
    }
}

#[cfg(test)]
mod tests;
