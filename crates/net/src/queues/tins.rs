//! Disciplines in tins: all packets in one, or those of each receiver in one of their own where an
//! access serves one receiver (Linux's mac80211 has a tin for each station and access category).
//!
//! A tin says which of its packets goes next, [`Turns`] whose tin. The limit is one for all.

use std::collections::{BTreeSet, VecDeque};

use airtcp_kernel::{Duration, RandomStream, Time};

use super::ack_filter::{AckFilter, superseded};
use super::codel::CodelConfig;
use super::longest::Longest;
use super::scheduler::Turns;
use super::{Fill, Inspect, Policy, Served};
use crate::Packet;

/// The packets that pay when the queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overflow {
    /// The packet that arrives.
    Arrival,
    /// The head of what has most bits.
    Fattest,
}

/// Packets that share a place in turn.
pub(super) trait Tin<B> {
    type Config;

    const OVERFLOW: Overflow;

    /// Makes an empty one; `stream` is what hashing draws from.
    fn new(config: &Self::Config, stream: &RandomStream) -> Self;

    /// Puts it into its line, and returns the bits of that.
    fn push(&mut self, packet: Packet<B>) -> u64;

    /// Does as [`Policy::next`].
    fn next(
        &mut self,
        codel: &CodelConfig,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        drops: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>>;

    /// Returns the time at which the first of its packets came; `None` if it is empty.
    fn oldest(&self) -> Option<Time>;

    /// Returns the bits of the longest line in it.
    fn fattest(&mut self) -> u64;

    /// Drops from the head of that line, one packet at least.
    fn drop_batch(&mut self, drops: &mut Vec<Packet<B>>);

    /// Takes a packet of `flow` out of its line, if `which` names a place there.
    fn remove(
        &mut self,
        which: impl FnOnce(&VecDeque<Packet<B>>) -> Option<usize>,
        flow: u32,
    ) -> Option<Packet<B>>;

    fn iter(&self) -> Box<dyn Iterator<Item = &Packet<B>> + '_>;
}

/// CoDel for stations whose data rate is low, where packets take a good part of the target to send.
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

/// Tins of one kind.
#[derive(Debug)]
pub(super) struct Tins<T, C> {
    config: C,
    codel: CodelConfig,
    slow: Option<Slow>,
    service: Served,
    stream: RandomStream,
    /// One, or by receiver.
    places: Vec<Entry<T>>,
    turns: Option<Turns>,
    /// Whose tins have packets, if there are several.
    busy: BTreeSet<u32>,
    /// By their longest lines.
    longest: Longest,
}

impl<T, C> Tins<T, C> {
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
            turns,
            busy: BTreeSet::new(),
            longest: Longest::default(),
        }
    }

    /// Returns the tin for packets to `receiver`.
    #[inline]
    fn place<B>(&mut self, receiver: u32) -> usize
    where
        T: Tin<B, Config = C>,
    {
        if self.turns.is_none() && !self.places.is_empty() { 0 } else { self.place_of(receiver) }
    }

    /// Returns the tin, and makes it if it is not there.
    #[inline(never)]
    fn place_of<B>(&mut self, receiver: u32) -> usize
    where
        T: Tin<B, Config = C>,
    {
        let place = if self.turns.is_some() { receiver as usize } else { 0 };
        while self.places.len() <= place {
            let receiver = self.places.len();
            let rate = self.service.receivers.get(receiver).map(|one| one.rate_bps);
            let codel = match self.slow {
                Some(slow) if rate.is_some_and(|rate| rate < slow.below_bps) => slow.codel,
                _ => self.codel,
            };
            let tin = T::new(&self.config, &self.stream);
            self.places.push(Entry { tin, codel, packets: 0 });
        }
        place
    }

    #[inline]
    fn count(&mut self, place: usize, before: usize) {
        if self.turns.is_some() {
            let after = self.places[place].packets;
            if before == 0 && after > 0 {
                self.busy.insert(place as u32);
            } else if before > 0 && after == 0 {
                self.busy.remove(&(place as u32));
            }
        }
    }

    #[inline]
    fn next_of<B>(
        &mut self,
        place: usize,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        drops: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>>
    where
        T: Tin<B, Config = C>,
    {
        let Entry { tin, codel, packets } = self.places.get_mut(place)?;
        let (before, dropped) = (*packets, drops.len());
        let packet = tin.next(codel, now, fits, drops);
        *packets -= drops.len() - dropped + usize::from(packet.is_some());
        self.count(place, before);
        packet
    }

    /// Puts a packet in, whatever else is there.
    #[inline(never)]
    pub(super) fn take_in<B>(&mut self, packet: Packet<B>)
    where
        T: Tin<B, Config = C>,
    {
        let index = self.place(packet.to);
        let place = &mut self.places[index];
        let bits = place.tin.push(packet);
        self.longest.grown(index, bits);
        place.packets += 1;
        let before = place.packets - 1;
        self.count(index, before);
    }

    fn drop_from_fattest<B>(&mut self, drops: &mut Vec<Packet<B>>)
    where
        T: Tin<B, Config = C>,
    {
        let places = &mut self.places;
        let fattest = match places.len() {
            1 => Some(0),
            tins => self.longest.find(tins, |tin| places[tin].tin.fattest()),
        };
        let Some(index) = fattest else { return };
        let Entry { tin, packets, .. } = &mut self.places[index];
        let (before, dropped) = (*packets, drops.len());
        tin.drop_batch(drops);
        *packets -= drops.len() - dropped;
        self.count(index, before);
    }
}

impl<B: Inspect, C, T: Tin<B, Config = C>> Policy<B> for Tins<T, C> {
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

    fn next(
        &mut self,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        drops: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>> {
        if self.turns.is_none() {
            return self.next_of(0, now, fits, drops);
        }
        let receiver = self.receiver(std::iter::empty())?;
        self.next_for(receiver, now, fits, drops)
    }

    fn receiver(&mut self, mut waiting: impl Iterator<Item = (u32, Option<Time>)>) -> Option<u32> {
        let Some(turns) = &mut self.turns else {
            let place = self.places.first()?;
            return waiting.next().map(|(receiver, _)| receiver).or_else(|| {
                let first = place.tin.iter().next();
                first.map(|packet| packet.to)
            });
        };
        let places = &self.places;
        let here =
            self.busy.iter().map(|&receiver| (receiver, places[receiver as usize].tin.oldest()));
        turns.choose(waiting, here)
    }

    fn next_for(
        &mut self,
        receiver: u32,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        drops: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>> {
        let place = if self.turns.is_some() { receiver as usize } else { 0 };
        self.next_of(place, now, fits, drops)
    }

    fn charge(&mut self, to: u32, airtime: Duration) {
        if let Some(turns) = &mut self.turns {
            turns.charge(to, airtime);
        }
    }

    fn filter(&mut self, rule: AckFilter, newer: &Packet<B>) -> Option<Packet<B>> {
        let index = self.place(newer.to);
        let Entry { tin, packets, .. } = &mut self.places[index];
        let before = *packets;
        let packet = tin.remove(|line| superseded(line.iter(), newer, rule), newer.flow)?;
        *packets -= 1;
        self.count(index, before);
        Some(packet)
    }

    fn iter(&self) -> Box<dyn Iterator<Item = &Packet<B>> + '_> {
        Box::new(self.places.iter().flat_map(|place| place.tin.iter()))
    }
}
