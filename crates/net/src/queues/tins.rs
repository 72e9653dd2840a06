//! Disciplines in tins: one tin for all packets, or one per receiver where a transmission serves
//! one receiver. (Linux's mac80211 has a tin per station and access category.)
//!
//! A tin decides which of its packets goes next; [`Turns`] decide which tin is served. All tins
//! share one limit.

use airtcp_kernel::{Duration, RandomStream, Time};

use super::ack_filter::AckFilter;
use super::codel::CodelConfig;
use super::longest::Longest;
use super::scheduler::Turns;
use super::slab::Slab;
use super::{Ask, Fill, Fits, Inspect, Policy, Served};
use crate::Packet;

/// Which packets are dropped when the queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overflow {
    /// The arriving packet.
    Arrival,
    /// The head of the queue with the most bits.
    Fattest,
}

/// A queue, or set of queues, that the scheduler serves as one.
pub(super) trait Tin<B> {
    type Config;

    const OVERFLOW: Overflow;

    /// Creates an empty tin; hashing draws from `stream`.
    fn new(config: &Self::Config, stream: &RandomStream) -> Self;

    /// Enqueues the packet and returns the bits now in its queue.
    fn push(&mut self, store: &mut Slab<B>, packet: Packet<B>) -> u64;

    /// See [`Policy::next`].
    fn next(
        &mut self,
        store: &mut Slab<B>,
        codel: &CodelConfig,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        drops: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>>;

    /// Returns when its oldest packet arrived; `None` if it is empty.
    fn oldest(&self, store: &Slab<B>) -> Option<Time>;

    /// Returns the bits of its longest queue.
    fn fattest(&mut self) -> u64;

    /// Drops at least one packet from the head of its longest queue.
    fn drop_batch(&mut self, store: &mut Slab<B>, drops: &mut Vec<Packet<B>>);

    /// See [`Policy::filter`].
    fn filter(
        &mut self,
        store: &mut Slab<B>,
        rule: AckFilter,
        newer: &Packet<B>,
    ) -> Option<Packet<B>>;

    fn iter<'a>(&'a self, store: &'a Slab<B>) -> Box<dyn Iterator<Item = &'a Packet<B>> + 'a>;
}

/// CoDel parameters for stations with a low data rate, where sending a packet takes a large part of
/// the target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slow {
    pub(super) below_bps: u64,
    pub(super) codel: CodelConfig,
}

#[derive(Debug)]
struct Entry<T> {
    tin: T,
    codel: CodelConfig,
    packets: usize,
}

/// A bit set of tins, iterated in ascending order.
#[derive(Debug, Default)]
struct Busy(Vec<u64>);

impl Busy {
    #[inline]
    fn insert(&mut self, tin: usize) {
        if self.0.len() <= tin / 64 {
            self.0.resize(tin / 64 + 1, 0);
        }
        self.0[tin / 64] |= 1 << (tin % 64);
    }

    #[inline]
    fn remove(&mut self, tin: usize) {
        self.0[tin / 64] &= !(1 << (tin % 64));
    }

    fn iter(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.0).flat_map(|(index, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros();
                rest &= rest.checked_sub(1)?;
                Some(64 * index + bit)
            })
        })
    }
}

/// All tins of one discipline.
#[derive(Debug)]
pub(super) struct Tins<B, T, C> {
    config: C,
    codel: CodelConfig,
    slow: Option<Slow>,
    service: Served,
    stream: RandomStream,
    /// One tin, or one per receiver.
    places: Vec<Entry<T>>,
    /// The packets of all tins.
    store: Slab<B>,
    turns: Option<Turns>,
    /// Tins with packets.
    busy: Busy,
    /// Tins by their longest queues.
    longest: Longest,
}

impl<B: Inspect, C, T: Tin<B, Config = C>> Tins<B, T, C> {
    pub(super) fn new(
        config: C,
        codel: CodelConfig,
        slow: Option<Slow>,
        service: Served,
        stream: RandomStream,
    ) -> Self {
        let turns = service.scheduler.map(|scheduler| Turns::new(scheduler, &service));
        Self {
            config,
            codel,
            slow,
            service,
            stream,
            places: Vec::new(),
            store: Slab::default(),
            turns,
            busy: Busy::default(),
            longest: Longest::default(),
        }
    }

    /// Returns the number of the tin for packets to `receiver`.
    #[inline]
    fn place(&self, receiver: u32) -> usize {
        if self.turns.is_some() { self.service.place(receiver) } else { 0 }
    }

    /// Returns the number of the tin whose turn it is.
    #[inline(never)]
    fn place_in_turn(&mut self) -> Option<usize> {
        if self.turns.is_none() {
            return Some(0);
        }
        let receiver = self.receiver(std::iter::empty())?;
        Some(self.place(receiver))
    }

    /// Creates the tins up to `place`.
    #[cold]
    fn add_up_to(&mut self, place: usize) {
        while self.places.len() <= place {
            let rate = self.service.receiver(self.places.len()).map(|one| one.rate_bps);
            let codel = match self.slow {
                Some(slow) if rate.is_some_and(|rate| rate < slow.below_bps) => slow.codel,
                _ => self.codel,
            };
            let tin = T::new(&self.config, &self.stream);
            self.places.push(Entry { tin, codel, packets: 0 });
        }
    }

    #[inline]
    fn next_of(
        &mut self,
        place: usize,
        ask: &mut Ask<'_, B>,
        fits: impl Fits<B>,
    ) -> Option<Packet<B>> {
        // Ask empty tins too: they update the state of their queues.
        let Entry { tin, codel, packets } = self.places.get_mut(place)?;
        let dropped = ask.drops.len();
        let packet = tin.next(&mut self.store, codel, ask.now, fits, ask.drops);
        *packets -= ask.drops.len() - dropped + usize::from(packet.is_some());
        if *packets == 0 {
            self.busy.remove(place);
        }
        packet
    }

    /// Enqueues a packet without checking the limit.
    #[inline]
    pub(super) fn take_in(&mut self, packet: Packet<B>) {
        let index = self.place(packet.to);
        if index >= self.places.len() {
            self.add_up_to(index);
        }
        let Entry { tin, packets, .. } = &mut self.places[index];
        if *packets == 0 {
            self.busy.insert(index);
        }
        *packets += 1;
        let bits = tin.push(&mut self.store, packet);
        self.longest.grown(index, bits);
    }

    fn drop_from_fattest(&mut self, drops: &mut Vec<Packet<B>>) {
        let places = &mut self.places;
        let fattest = match places.len() {
            1 => Some(0),
            tins => self.longest.find(tins, |tin| places[tin].tin.fattest()),
        };
        let Some(index) = fattest else { return };
        let Entry { tin, packets, .. } = &mut self.places[index];
        let dropped = drops.len();
        tin.drop_batch(&mut self.store, drops);
        *packets -= drops.len() - dropped;
        if *packets == 0 {
            self.busy.remove(index);
        }
    }
}

impl<B: Inspect, C, T: Tin<B, Config = C>> Policy<B> for Tins<B, T, C> {
    fn enqueue(&mut self, _: Time, packet: Packet<B>, fill: Fill, drops: &mut Vec<Packet<B>>) {
        if fill.full && T::OVERFLOW == Overflow::Arrival {
            drops.push(packet);
            return;
        }
        self.take_in(packet);
        if fill.full {
            self.drop_from_fattest(drops);
        }
    }

    #[inline(always)]
    fn next(&mut self, ask: &mut Ask<'_, B>, fits: impl Fits<B>) -> Option<Packet<B>> {
        let place = match ask.to {
            Some(to) => self.place(to),
            None => self.place_in_turn()?,
        };
        self.next_of(place, ask, fits)
    }

    fn receiver(&mut self, mut waiting: impl Iterator<Item = (u32, Option<Time>)>) -> Option<u32> {
        let (places, store) = (&self.places, &self.store);
        let Some(turns) = &mut self.turns else {
            let place = places.first()?;
            return waiting.next().map(|(receiver, _)| receiver).or_else(|| {
                let first = place.tin.iter(store).next();
                first.map(|packet| packet.to)
            });
        };
        let first = self.service.first;
        let here = |place: u32| (first + place, places[place as usize].tin.oldest(store));
        turns.choose(waiting, self.busy.iter().map(here))
    }

    fn has_next_for(&self, receiver: u32) -> bool {
        if self.turns.is_none() {
            return self.iter().any(|packet| packet.to == receiver);
        }
        self.places.get(self.place(receiver)).is_some_and(|one| one.packets > 0)
    }

    fn charge(&mut self, now: Time, to: u32, airtime: Duration) {
        if let Some(turns) = &mut self.turns {
            turns.charge(now, to, airtime);
        }
    }

    fn filter(&mut self, rule: AckFilter, newer: &Packet<B>) -> Option<Packet<B>> {
        let index = self.place(newer.to);
        let Entry { tin, packets, .. } = self.places.get_mut(index)?;
        let packet = tin.filter(&mut self.store, rule, newer)?;
        *packets -= 1;
        if *packets == 0 {
            self.busy.remove(index);
        }
        Some(packet)
    }

    fn iter(&self) -> Box<dyn Iterator<Item = &Packet<B>> + '_> {
        Box::new(self.places.iter().flat_map(|place| place.tin.iter(&self.store)))
    }
}
