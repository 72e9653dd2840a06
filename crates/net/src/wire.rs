//! Wired links. A `Wire` is one direction of a link: a queue, a transmitter of constant rate, and a
//! delay.
//!
//! On a wire with a FIFO queue packets keep their order, so their departure and arrival times are
//! known when they enter; the arrival is the only event. Other disciplines choose and drop whenever
//! the transmitter becomes free, so each departure is an event too. All wires of a network share
//! one agenda: the caller needs to look at one time only, the next event on any wire. Packets can
//! be lost at random or by count.

mod agenda;

use std::num::NonZeroU64;

use airtcp_kernel::{Duration, RandomStream, Time, Train};
use serde::Deserialize;

use self::agenda::{Agenda, DueKind, WIRE_BITS};
use crate::Packet;
use crate::queues::{DisciplineConfig, Inspect, Queue, QueueConfig, Served};

/// A wired link in the resolved scenario. Its two directions differ at most in their rate.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Bits per second; `None`: transmission takes no time.
    pub rate_bps: Option<NonZeroU64>,
    /// Bits per second towards the server; `None`: as towards the access point.
    #[serde(default)]
    pub up_rate_bps: Option<NonZeroU64>,
    /// Propagation delay.
    #[serde(rename = "delay_ns")]
    pub delay: Duration,
    /// The queue of each direction. Its limit includes the packet in transmission.
    pub queue: QueueConfig,
    /// Packet loss on the link, if any.
    pub loss: Option<LossConfig>,
}

/// Which packets a link loses; the two directions count separately.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossConfig {
    /// The loss probability; `None` if losses are counted.
    pub rate: Option<f64>,
    /// The last of every this many packets is lost.
    pub every: Option<NonZeroU64>,
    /// Whether packets without payload count and can be lost too.
    pub acks: bool,
}

impl LinkConfig {
    /// Returns the bits per second of its two directions, the one towards the server first.
    pub fn rates_bps(&self) -> [Option<NonZeroU64>; 2] {
        [self.up_rate_bps.or(self.rate_bps), self.rate_bps]
    }

    /// Checks what the types cannot express.
    ///
    /// # Errors
    /// If the queue or the loss parameters contradict each other.
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

/// Decides which packets one wire loses.
#[derive(Debug)]
pub struct Loss {
    config: LossConfig,
    /// Packets counted so far.
    counted: u64,
    stream: RandomStream,
}

impl Loss {
    /// Creates the loss process; random losses draw from `stream`.
    pub fn new(config: LossConfig, stream: RandomStream) -> Self {
        Self { config, counted: 0, stream }
    }

    /// Whether a packet at the end of the wire is lost there.
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

/// The wires of a network, by number, and the packets on them.
#[derive(Debug)]
pub struct Wires<B> {
    wires: Vec<Wire<B>>,
    /// For each busy wire, its next arrival; for wires without a FIFO queue, also the end of the
    /// current transmission.
    due: Agenda,
    /// The time of the first event of `due`, or `NEVER`.
    next: Time,
}

/// One wire.
#[derive(Debug)]
struct Wire<B> {
    rate_bps: Option<NonZeroU64>,
    delay: Duration,
    /// With fewer packets than this on the wire an arrival needs no check. Zero if the wire has a
    /// `line`.
    limit: usize,
    free_at: Time,
    /// Size and transmission time of the packet sent last; most packets have the same size.
    last: (u64, Duration),
    /// Packets that have not arrived yet, in order, with their arrival times. A FIFO wire lists a
    /// packet as soon as it enters, other wires when it departs.
    travelling: Train<Packet<B>>,
    /// Queue and transmitter, if the discipline is not FIFO.
    line: Option<Box<Line<B>>>,
}

/// A queue that chooses a packet whenever the transmitter becomes free.
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
    /// Adds a direction of a link, which has this rate, and returns the number of the wire. A
    /// discipline that drops at random draws from `stream`.
    ///
    /// # Panics
    /// If there are 2^24 wires already.
    pub fn add(
        &mut self,
        config: &LinkConfig,
        rate_bps: Option<NonZeroU64>,
        stream: impl FnOnce() -> RandomStream,
    ) -> u32 {
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
            rate_bps,
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

    /// Sends a packet on a wire. Packets that the queue drops go to `drops`, which may include this
    /// one.
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

    /// See [`Queue::take_filtered`], for the queue of `wire`.
    pub fn take_filtered(&mut self, wire: u32) -> bool {
        let line = &mut self.wires[wire as usize].line;
        line.as_mut().is_some_and(|line| line.queue.take_filtered())
    }

    /// Returns the time of the next event, or [`Time::NEVER`] if all wires are idle.
    #[inline]
    pub fn next_time(&self) -> Time {
        self.next
    }

    /// Whether the next event is a departure (call [`Self::next_departs`]) and not an arrival (call
    /// [`Self::next_arrives`]).
    ///
    /// # Panics
    /// If all wires are idle.
    #[inline]
    pub fn is_departure_next(&self) -> bool {
        self.due.first().expect("something is on its way").is_departure()
    }

    /// Returns the wire of the next arrival. The packet is [`Self::arriving`]; the caller must
    /// remove it with [`Self::take_arriving`] before any other call.
    ///
    /// # Panics
    /// If all wires are idle.
    #[inline]
    pub fn next_arrives(&self) -> u32 {
        self.due.first().expect("something is on its way").wire() as u32
    }

    /// Returns the packet that arrives next on `wire`.
    ///
    /// # Panics
    /// If `wire` carries no packet.
    #[inline]
    pub fn arriving(&self, wire: u32) -> &Packet<B> {
        self.wires[wire as usize].travelling.front().expect("it arrives")
    }

    /// Removes and returns the packet that arrives on `wire`, which must have the next event.
    ///
    /// # Panics
    /// If `wire` carries no packet.
    #[inline(always)]
    pub fn take_arriving(&mut self, wire: u32) -> Packet<B> {
        let packet = *self.arriving(wire);
        self.deliver(wire, |_| ());
        packet
    }

    /// Passes the packet that arrives on `wire`, which must have the next event, to `to`, and
    /// removes it. Returns the result of `to`.
    ///
    /// # Panics
    /// If `wire` carries no packet.
    // Inlining `to` copies the packet straight to its destination.
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

    /// Ends the transmission that is the next event and starts the next one on the same wire.
    /// Returns the wire. Moves packets that the queue drops to `drops`.
    ///
    /// # Panics
    /// If all wires are idle.
    #[cold]
    pub fn next_departs(&mut self, drops: &mut Vec<Packet<B>>) -> u32 {
        let first = self.due.first().expect("something is on its way");
        self.due.remove_first();
        self.update_next();
        self.departs(first.time(), first.wire(), drops);
        first.wire() as u32
    }

    /// Ends the transmission on `wire` and starts the next one.
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

    /// Starts transmitting the next packet on `wire` if the transmitter is free.
    #[cold]
    fn send_next(&mut self, now: Time, wire: usize, drops: &mut Vec<Packet<B>>) {
        let it = &mut self.wires[wire];
        let line = it.line.as_mut().expect("asked where there is a line");
        if line.sending.is_some() {
            return;
        }
        if let Some(packet) = line.queue.next(None, now, |_| true, drops) {
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

    /// Returns the number of events scheduled so far, including pending ones.
    pub fn scheduled(&self) -> u64 {
        self.due.scheduled()
    }

    /// Returns, for each wire, the packets queued or in transmission just before `now`; `None` if
    /// it has no queue. Call it before offering packets at `now`.
    pub fn queued_before(&self, now: Time) -> impl Iterator<Item = Option<usize>> {
        self.wires.iter().map(move |wire| match &wire.line {
            Some(line) => Some(line.queue.len()),
            None => wire.rate_bps.map(|_| wire.behind(|arrival| arrival < now + wire.delay)),
        })
    }

    /// Iterates over the packets that have not arrived yet.
    pub fn travelling(&self) -> impl Iterator<Item = &Packet<B>> {
        self.wires.iter().flat_map(|wire| {
            let line = wire.line.iter().flat_map(|line| line.queue.iter().chain(&line.sending));
            wire.travelling.iter().chain(line)
        })
    }
}

impl<B: Inspect> Wire<B> {
    /// Accepts a packet and returns its arrival time.
    #[inline]
    fn take(&mut self, now: Time, packet: &Packet<B>) -> Time {
        self.free_at = self.free_at.max(now) + self.sending_time(packet);
        let arrived = self.free_at + self.delay;
        self.travelling.push_back_with(|| Packet { arrived, ..*packet });
        arrived
    }

    /// Returns the transmission time of `packet`.
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

    /// Handles a packet that may not go straight onto the wire, and returns true if it was queued
    /// or dropped. Packets that have departed but not arrived do not count towards the limit.
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

    /// Returns the number of packets behind those whose arrival time satisfies `is_past`.
    fn behind(&self, is_past: impl Fn(Time) -> bool) -> usize {
        let past = self.travelling.count_while(|packet| is_past(packet.arrived));
        self.travelling.len() - past
    }
}

#[cfg(test)]
mod tests;
