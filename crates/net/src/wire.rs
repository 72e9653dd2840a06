//! Wires: one direction of a wired link each, with a queue, a transmitter of constant rate, and a delay.
//!
//! Before a wire whose queue is first in, first out, packets keep their order, so when a packet leaves
//! and arrives is known when it comes: one event, its arrival, is all that happens to it. Any other
//! discipline chooses and drops whenever the transmitter becomes free: that is an event, too. The wires
//! of a network are kept together, so that whoever has the time needs to look at one instant only, that
//! of the next event on any of them. Knows what is lost on the way by rate or count, not what a packet
//! carries.

mod agenda;

use std::num::NonZeroU64;

use airtcp_kernel::{Duration, RandomStream, Time, Train};
use serde::Deserialize;

use self::agenda::{Agenda, DueKind, WIRE_BITS};
use crate::Packet;
use crate::queues::{DisciplineConfig, Inspect, Queue, QueueConfig, Served};

/// A wired link in the resolved form of a scenario, the same in both directions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Bits per second; `None` takes no time to send.
    pub rate_bps: Option<NonZeroU64>,
    /// Propagation delay.
    #[serde(rename = "delay_ns")]
    pub delay: Duration,
    /// The queue before each direction; the packet being sent counts in its limit.
    pub queue: QueueConfig,
    /// The losses on the way, if there are any.
    pub loss: Option<LossConfig>,
}

/// Which packets are lost on a link, each direction counted apart.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossConfig {
    /// The share that is lost, each packet alike; `None` if they are counted.
    pub rate: Option<f64>,
    /// One of so many is lost, the last of them.
    pub every: Option<NonZeroU64>,
    /// A flag: packets without payload are lost and counted, too.
    pub acks: bool,
}

impl LinkConfig {
    /// Checks the laws that the types cannot state.
    ///
    /// # Errors
    /// If the queue or the loss contradicts itself.
    pub fn check(&self) -> Result<(), String> {
        self.queue.check()?;
        match self.loss {
            Some(LossConfig { rate: Some(rate), every: None, .. }) if 0.0 < rate && rate < 1.0 => {
                Ok(())
            }
            None | Some(LossConfig { rate: None, every: Some(_), .. }) => Ok(()),
            Some(loss) => Err(format!("contradictory loss: {loss:?}")),
        }
    }
}

/// Decides what is lost on one wire.
#[derive(Debug)]
pub struct Loss {
    config: LossConfig,
    /// Packets that count, so far.
    counted: u64,
    stream: RandomStream,
}

impl Loss {
    /// Makes one that has seen no packet; a rate draws from `stream`.
    pub fn new(config: LossConfig, stream: RandomStream) -> Self {
        Self { config, counted: 0, stream }
    }

    /// Tells whether a packet that comes to the end of the wire is lost there.
    pub fn loses(&mut self, has_payload: bool) -> bool {
        if !has_payload && !self.config.acks {
            return false;
        }
        self.counted += 1;
        match (self.config.every, self.config.rate) {
            (Some(every), _) => self.counted.is_multiple_of(every.get()),
            (None, Some(rate)) => self.stream.unit() < rate,
            (None, None) => false,
        }
    }
}

/// The wires of a network, by number, and what is on its way on them.
#[derive(Debug)]
pub struct Wires<B> {
    wires: Vec<Wire<B>>,
    /// The next arrival on each wire that carries something, and the end of what it sends if its queue
    /// is not first in, first out.
    due: Agenda,
    /// The first of `due`, or never.
    next: Time,
}

/// One wire.
#[derive(Debug)]
struct Wire<B> {
    rate_bps: Option<NonZeroU64>,
    delay: Duration,
    /// With fewer on their way one more packet is simply taken; zero where a `line` decides.
    limit: usize,
    free_at: Time,
    /// The size of the packet that was sent last, and how long that took: most are as large.
    last: (u64, Duration),
    /// Packets that have not arrived yet, in order, each with the time at which it will. First in, first out they
    /// are here from the beginning, else when they have left.
    travelling: Train<Packet<B>>,
    /// The packets that wait before it under another discipline.
    line: Option<Box<Line<B>>>,
}

/// A queue that chooses whenever the transmitter becomes free.
#[derive(Debug)]
struct Line<B> {
    queue: Queue<B>,
    sending: Option<Packet<B>>,
}

impl<B> Default for Wires<B> {
    fn default() -> Self {
        Self { wires: Vec::new(), due: Agenda::default(), next: Time::NEVER }
    }
}

impl<B: Inspect> Wires<B> {
    /// Adds a wire, and returns its number. A discipline that drops at random draws from `stream`.
    ///
    /// # Panics
    /// If there are 2^24 already.
    pub fn add(&mut self, config: &LinkConfig, stream: impl FnOnce() -> RandomStream) -> u32 {
        let (limit, line) = match config.queue {
            QueueConfig {
                discipline: DisciplineConfig::Fifo {}, limit, ack_filter: None, ..
            } => (limit.unwrap_or(usize::MAX), None),
            _ => {
                let queue = Queue::new(&config.queue, Served::default(), stream);
                (0, Some(Box::new(Line { queue, sending: None })))
            }
        };
        self.wires.push(Wire {
            rate_bps: config.rate_bps,
            delay: config.delay,
            limit,
            free_at: Time::ZERO,
            last: (0, Duration::ZERO),
            travelling: Train::default(),
            line,
        });
        assert!(self.wires.len() <= 1 << WIRE_BITS, "too many wires");
        self.wires.len() as u32 - 1
    }

    /// Puts a packet on a wire. What its queue drops for it goes to `drops`, and may be the packet
    /// itself.
    #[inline]
    pub fn offer(&mut self, now: Time, wire: u32, packet: &Packet<B>, drops: &mut Vec<Packet<B>>) {
        let it = &mut self.wires[wire as usize];
        if it.travelling.len() >= it.limit && it.keeps_back(now, packet, drops) {
            if it.line.is_some() {
                self.send_next(now, wire as usize, drops);
            }
            return;
        }
        let was_idle = it.travelling.is_empty();
        let arrival = it.take(now, packet);
        if was_idle {
            self.schedule(arrival, DueKind::Arrival, wire as usize);
        }
    }

    /// Does as [`Queue::take_filtered`] for the queue before `wire`.
    pub fn take_filtered(&mut self, wire: u32) -> bool {
        let line = &mut self.wires[wire as usize].line;
        line.as_mut().is_some_and(|line| line.queue.take_filtered())
    }

    /// Returns the time of the next event; [`Time::NEVER`] if nothing is on its way.
    #[inline]
    pub fn next_time(&self) -> Time {
        self.next
    }

    /// Tells whether a packet leaves at [`Self::next_time`]: [`Self::next_departs`]. Else one arrives:
    /// [`Self::next_arrives`].
    ///
    /// # Panics
    /// If nothing is on its way.
    #[inline]
    pub fn is_departure_next(&self) -> bool {
        self.due.first().expect("something is on its way").is_departure()
    }

    /// Returns the wire on which a packet arrives next: [`Self::arriving`], which the caller takes with
    /// [`Self::take_arriving`] before anything else happens.
    ///
    /// # Panics
    /// If nothing is on its way.
    #[inline]
    pub fn next_arrives(&self) -> u32 {
        self.due.first().expect("something is on its way").wire() as u32
    }

    /// Returns the packet that arrives next on `wire`.
    ///
    /// # Panics
    /// If nothing travels on it.
    #[inline]
    pub fn arriving(&self, wire: u32) -> &Packet<B> {
        self.wires[wire as usize].travelling.front().expect("it arrives")
    }

    /// Takes the packet off `wire`, on which one arrives next of all.
    ///
    /// # Panics
    /// If nothing travels on it.
    #[inline(always)]
    pub fn take_arriving(&mut self, wire: u32) -> Packet<B> {
        let packet = *self.arriving(wire);
        self.deliver(wire, |_| ());
        packet
    }

    /// Hands the packet over that arrives next of all, on `wire`, and takes it off there. Returns as `to` does.
    ///
    /// # Panics
    /// If nothing travels on it.
    // Inlined with `to`, so that the packet is copied from its place here to the one that it gets.
    #[inline(always)]
    pub fn deliver<T>(&mut self, wire: u32, to: impl FnOnce(&Packet<B>) -> T) -> T {
        let travelling = &mut self.wires[wire as usize].travelling;
        let answer = to(travelling.front().expect("it arrives"));
        travelling.remove_front();
        match travelling.front() {
            Some(next) => self.due.replace_first(next.arrived, DueKind::Arrival, wire as usize),
            None => self.due.remove_first(),
        }
        self.update_next();
        answer
    }

    /// Ends the transmission of a packet, whose transmitter takes the next, and returns the wire. Moves what
    /// its queue drops when it is asked to `drops`.
    ///
    /// # Panics
    /// If nothing is on its way.
    #[cold]
    pub fn next_departs(&mut self, drops: &mut Vec<Packet<B>>) -> u32 {
        let first = self.due.first().expect("something is on its way");
        self.due.remove_first();
        self.update_next();
        self.departs(first.time(), first.wire(), drops);
        first.wire() as u32
    }

    /// Ends the transmission of a packet on `wire`, whose transmitter takes the next.
    #[cold]
    fn departs(&mut self, now: Time, wire: usize, drops: &mut Vec<Packet<B>>) {
        let it = &mut self.wires[wire];
        let line = it.line.as_mut().expect("only lines have departures");
        let packet = line.sending.take().expect("it was being sent");
        line.queue.done(now, &packet, drops);
        let arrived = now + it.delay;
        it.travelling.push_back(Packet { arrived, ..packet });
        if it.travelling.len() == 1 {
            self.schedule(arrived, DueKind::Arrival, wire);
        }
        self.send_next(now, wire, drops);
    }

    /// Gives the transmitter of `wire` the next packet, if it is free.
    #[cold]
    fn send_next(&mut self, now: Time, wire: usize, drops: &mut Vec<Packet<B>>) {
        let it = &mut self.wires[wire];
        let line = it.line.as_mut().expect("asked where there is a line");
        if line.sending.is_some() {
            return;
        }
        if let Some(packet) = line.queue.next(now, |_| true, drops) {
            line.sending = Some(packet);
            let left = now + it.sending_time(&packet);
            self.schedule(left, DueKind::Departure, wire);
        }
    }

    #[inline(always)]
    fn schedule(&mut self, time: Time, kind: DueKind, wire: usize) {
        self.due.push(time, kind, wire);
        self.next = self.next.min(time);
    }

    #[inline]
    fn update_next(&mut self) {
        self.next = self.due.first().map_or(Time::NEVER, |first| first.time());
    }

    /// Counts the events, those included that are still to come next on their wires.
    pub fn scheduled(&self) -> u64 {
        self.due.scheduled()
    }

    /// Counts, for each wire, packets that waited or were being sent just before `now`, at which nothing has
    /// been offered yet; `None` if it has no queue.
    pub fn queued_before(&self, now: Time) -> impl Iterator<Item = Option<usize>> {
        self.wires.iter().map(move |wire| match &wire.line {
            Some(line) => Some(line.queue.len()),
            None => wire.rate_bps.map(|_| wire.behind(|arrival| arrival < now + wire.delay)),
        })
    }

    /// Walks through the packets that have not arrived yet.
    pub fn travelling(&self) -> impl Iterator<Item = &Packet<B>> {
        self.wires.iter().flat_map(|wire| {
            let line = wire.line.iter().flat_map(|line| line.queue.iter().chain(&line.sending));
            wire.travelling.iter().chain(line)
        })
    }
}

impl<B: Inspect> Wire<B> {
    /// Takes a packet: when it arrives.
    #[inline]
    fn take(&mut self, now: Time, packet: &Packet<B>) -> Time {
        self.free_at = self.free_at.max(now) + self.sending_time(packet);
        let arrived = self.free_at + self.delay;
        self.travelling.push_back_with(|| Packet { arrived, ..*packet });
        arrived
    }

    /// Returns the time that the transmitter takes.
    #[inline]
    fn sending_time(&mut self, packet: &Packet<B>) -> Duration {
        if self.last.0 != packet.bits {
            self.time_to_send(packet.bits);
        }
        self.last.1
    }

    #[cold]
    fn time_to_send(&mut self, bits: u64) {
        let nanos = match self.rate_bps {
            Some(rate_bps) => (bits * 1_000_000_000).div_ceil(rate_bps.get()),
            None => 0,
        };
        self.last = (bits, Duration::from_nanos(nanos));
    }

    /// Tells whether `packet` goes into a line, or no more may wait and it goes to `drops`. Those that have
    /// left and not arrived do not wait.
    #[cold]
    fn keeps_back(&mut self, now: Time, packet: &Packet<B>, drops: &mut Vec<Packet<B>>) -> bool {
        if let Some(line) = &mut self.line {
            line.queue.enqueue(now, *packet, drops);
            return true;
        }
        let is_past = |arrival| arrival <= now + self.delay;
        let is_full = self.rate_bps.is_some() && self.behind(is_past) >= self.limit;
        if is_full {
            drops.push(*packet);
        }
        is_full
    }

    /// Counts the packets behind those whose arrivals are so.
    fn behind(&self, is_past: impl Fn(Time) -> bool) -> usize {
        let past = self.travelling.count_while(|packet| is_past(packet.arrived));
        self.travelling.len() - past
    }
}

#[cfg(test)]
mod tests;
