//! Queues of packets in front of the MAC: the number that fits, the one that goes next, those that are dropped.
//!
//! The MAC asks for a packet when it has got at the medium, and no sooner: until then the packets are
//! the discipline's to order and to drop. A packet that the MAC has taken keeps its place within the
//! limit until the MAC is done with it. Each discipline is a `Policy` in a file of its own, which
//! `discipline` chooses; nothing here knows what is in a packet.

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
use discipline::{Discipline, Fill, Policy, policy};
pub use scheduler::Scheduler;

/// The questions that a discipline may ask of the contents of a packet.
pub trait Inspect: Copy {
    /// Marks the packet as one that has met congestion (CE, RFC 3168) if its transport knows ECN, and tells
    /// whether it does.
    fn mark(&mut self) -> bool;

    /// Returns the bare TCP ACK that it is, if it is one.
    fn bare_ack(&self) -> Option<BareAck>;
}

/// The receivers that a queue serves, and the choice among them.
#[derive(Clone, Debug, Default)]
pub struct Served {
    /// Chooses among several receivers where an access serves one of them; without it packets go one
    /// by one, or have one receiver.
    pub scheduler: Option<Scheduler>,
    /// The receivers by number; those beyond have the weight of most, and no rate.
    pub receivers: Rc<[Destination]>,
}

/// A receiver of packets.
#[derive(Clone, Copy, Debug)]
pub struct Destination {
    /// Its share of airtime, 256 being that of most.
    pub weight: u32,
    /// The rate of frames to it. \[bit/s\]
    pub rate_bps: u64,
}

/// A queue of packets that carry a `B`.
#[derive(Debug)]
pub struct Queue<B> {
    limit: usize,
    /// The number of packets below which one that comes to a plain queue is put in without further questions.
    direct: usize,
    /// Packets that wait, and those that the MAC has taken and is not done with.
    len: usize,
    /// Packets that the MAC has taken and is not done with.
    taken: usize,
    ack_filter: Option<AckFilter>,
    /// A flag: the packet that was dropped last was an ACK that a newer one covers.
    has_filtered: bool,
    discipline: Discipline<B>,
}

impl<B: Inspect> Queue<B> {
    /// Makes an empty queue for `service`; a discipline that drops or hashes at random draws from `stream`.
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
            ack_filter: config.ack_filter,
            has_filtered: false,
            discipline: Discipline::new(config, service, stream),
        }
    }

    /// Enqueues a packet, which arrives now. Moves what is dropped for it to `drops`, which may be the packet
    /// itself.
    #[inline]
    pub fn enqueue(&mut self, now: Time, packet: Packet<B>, drops: &mut Vec<Packet<B>>) {
        if !self.push(now, || packet) {
            self.enqueue_if_it_fits(now, Packet { arrived: now, ..packet }, drops);
        }
    }

    /// Enqueues the packet that `make` makes if nothing else has to be done for it: by far the most frequent case.
    /// Tells whether that is so; if not, it has to be given to [`Self::enqueue`].
    // By what makes it: so it is made in the place where it waits, and not copied there.
    #[inline(always)]
    pub fn push(&mut self, now: Time, make: impl Fn() -> Packet<B>) -> bool {
        if self.len >= self.direct {
            return false;
        }
        let make = || Packet { arrived: now, ..make() };
        // The others in a call: here they would be in the way of the most frequent one.
        if let Discipline::Fifo(fifo) = &mut self.discipline {
            fifo.push_made(make);
        } else if !self.discipline.push(make()) {
            return false;
        }
        self.len += 1;
        true
    }

    /// Enqueues a packet as the discipline and the filter of ACKs decide.
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
    /// has room for it, and moves what the discipline drops now to `drops`. Returns `None` only if none
    /// waits or the next one does not fit. For several packets in one access it is asked again, with less
    /// room.
    pub fn next(
        &mut self,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        drops: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>> {
        let mut taken = None;
        self.hand_over(now, fits, |packet| taken = Some(*packet), drops);
        taken
    }

    /// Does as [`Self::next`], but gives the packet to `take`, and tells whether there was one.
    // Inlined with `take`, which looks at the packet where it waits, so that it is copied from there to where the
    // MAC holds it, once.
    #[inline(always)]
    pub fn hand_over(
        &mut self,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        take: impl FnOnce(&Packet<B>),
        drops: &mut Vec<Packet<B>>,
    ) -> bool {
        let is_taken = match &mut self.discipline {
            Discipline::Fifo(fifo) => fifo.hand_over(fits, take),
            Discipline::PerFlow(flows) => flows.hand_over(fits, take),
            _ => self.next_by_policy(now, fits, drops).as_ref().map(take).is_some(),
        };
        self.taken += usize::from(is_taken);
        is_taken
    }

    /// Dequeues the next packet of a discipline that is not plain.
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

    /// Chooses the receiver that an access serves which may carry several packets to one. `waiting` are
    /// receivers for which the MAC has something already, with the arrival of its oldest packet for them, or
    /// none if that is no packet but cannot wait. Returns `None` if there is no packet.
    pub fn receiver(&mut self, waiting: impl Iterator<Item = (u32, Option<Time>)>) -> Option<u32> {
        policy!(&mut self.discipline, policy => policy.receiver(waiting))
    }

    /// Does as [`Self::next`], but among the packets for `receiver`.
    pub fn next_for(
        &mut self,
        receiver: u32,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        drops: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>> {
        let mut taken = None;
        self.hand_over_for(receiver, now, fits, |packet| taken = Some(*packet), drops);
        taken
    }

    /// Does as [`Self::next_for`], but gives the packet to `take`, and tells whether there was one.
    // Inlined with `take`, as `hand_over` is.
    #[inline(always)]
    pub fn hand_over_for(
        &mut self,
        receiver: u32,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        take: impl FnOnce(&Packet<B>),
        drops: &mut Vec<Packet<B>>,
    ) -> bool {
        let is_taken = match &mut self.discipline {
            Discipline::Lines(lines) => lines.hand_over(receiver, fits, take),
            Discipline::Fifo(fifo) => fifo.hand_over(fits, take),
            other => {
                let before = drops.len();
                let packet = policy!(other, policy => policy.next_for(receiver, now, fits, drops));
                self.len -= drops.len() - before;
                packet.as_ref().map(take).is_some()
            }
        };
        self.taken += usize::from(is_taken);
        is_taken
    }

    /// Tells once whether the packet that [`Self::enqueue`] has just dropped, the only one then, was a bare
    /// TCP ACK that a newer one covers.
    pub fn take_filtered(&mut self) -> bool {
        std::mem::take(&mut self.has_filtered)
    }

    /// Forgets `packet`, which the MAC had taken and has acknowledged, or has given up. Moves what the
    /// discipline drops now to `drops`, and tells whether there is another packet that the MAC may take.
    ///
    /// # Panics
    /// If the MAC has none.
    #[inline]
    pub fn done(&mut self, now: Time, packet: &Packet<B>, drops: &mut Vec<Packet<B>>) -> bool {
        assert!(self.taken > 0, "the MAC is done with a packet that it never took");
        self.taken -= 1;
        self.len -= 1;
        if let Discipline::Fifo(_) | Discipline::PerFlow(_) = self.discipline {
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

    /// Charges node `to` with the `airtime` of an exchange with it that begins `now`, whether its packets come
    /// through or not.
    #[inline]
    pub fn charge(&mut self, now: Time, to: u32, airtime: Duration) {
        policy!(&mut self.discipline, policy => policy.charge(now, to, airtime));
    }

    /// Returns the number of packets, those included that the MAC has taken and is not done with.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Tells whether there is no packet.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of packets that the MAC has not taken.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.len - self.taken
    }

    /// Tells whether there is a packet that the MAC may take.
    #[inline]
    pub fn has_next(&self) -> bool {
        match &self.discipline {
            Discipline::Ring(ring) => ring.ready() > 0,
            _ => self.waiting() > 0,
        }
    }

    /// Tells whether one more packet fits.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.len < self.limit
    }

    /// Walks through all packets that the MAC has not taken, in no order to rely on.
    pub fn iter(&self) -> impl Iterator<Item = &Packet<B>> {
        self.discipline.iter()
    }
}

#[cfg(test)]
mod tests;
