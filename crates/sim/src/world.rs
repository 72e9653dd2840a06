//! Everything of one replication but the MAC: time, what is pending, and the way of packets between
//! endpoints, wires and queues.
//!
//! The MAC is a cell of `airtcp-wlan`, which asks the queues here for packets and says what becomes of
//! them (`air`). Whose queue is no longer empty is written down, and the cell is told by who runs both
//! ([`Replication`](crate::replication::Replication)). What happens to packets outside the air is in
//! `traffic`, what applications want and are told in `sockets`.

mod air;
mod capture;
mod conclude;
mod feedback;
mod flow;
mod foreign;
mod groups;
mod latency;
#[cfg(test)]
pub(crate) mod log;
mod lost;
mod measure;
mod metrics;
mod network;
mod node;
mod ppdus;
mod record;
mod saturated;
mod sockets;
mod traffic;
mod turn;

use airtcp_kernel::{Duration, EventQueue, Time};
use airtcp_net::Scheduler;
use airtcp_wlan::{Cell, ContenderId, StationId};

use crate::airtime::AirtimeAccount;
use crate::app::Actions;
use crate::connection::{Connection, Side};
use crate::control::RunError;
use crate::packet::Packet;
use crate::scenario::Scenario;
use capture::Capture;
use flow::{Flow, Links};
use foreign::Foreign;
pub(crate) use foreign::HandedOut;
use measure::Measures;
use node::{Node, Transmitter};
use record::Recorder;

/// Everything that changes in one replication, but for its cell.
#[derive(Debug)]
pub(crate) struct World<'a> {
    scenario: &'a Scenario,
    /// For messages.
    seed: u64,
    replication: u64,
    now: Time,
    events: EventQueue<Event>,
    /// When the next thing happens here: on a wire, or of `events`, or the end of what is simulated
    /// for now.
    next: Time,
    horizon: Time,
    nodes: Vec<Node>,
    /// The access point, as its cell knows it.
    access_point: StationId,
    /// The queues that contend, by their numbers in the cell: one for each node under the DCF, else
    /// one for each access category that a node uses.
    transmitters: Vec<Transmitter>,
    flows: Vec<Flow<'a>>,
    connections: Vec<Connection>,
    free_connections: Vec<u32>,
    /// What an application wants; empty between two events.
    actions: Actions,
    links: Links,
    /// What queues have dropped and nobody has looked at yet; empty between two events.
    drops: Vec<Packet>,
    /// Queues that were empty and are not any more, of which the cell does not know yet.
    ready: Vec<ContenderId>,
    /// Whether the access point shares airtime out.
    shares_airtime: bool,
    /// Whether some connection is told what becomes of its station's frames.
    tells_tcp: bool,
    measures: Measures,
    airtime: AirtimeAccount,
    /// Writes down what happens, if someone asked for it.
    recorder: Option<Box<Recorder>>,
    /// Why the run cannot go on, if it cannot.
    failure: Option<RunError>,
    /// Writes what is on the air, if someone asked for it.
    capture: Option<Box<Capture>>,
    /// What has become of packets that are not made here.
    foreign: Foreign,
    #[cfg(test)]
    pub(crate) log: log::Log,
}

/// The number of events that are played in one call at most.
const MOST_AT_ONCE: u32 = 64;

/// What can be pending.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A timer of one end of a connection may be due.
    Timer(u32, Side),
    /// A station's queue has room for what this connection has to send.
    Resume(u32),
    /// The application of a flow is woken.
    Wake(u32),
}

impl Event {
    /// Among events of one instant: timers, then what users do.
    fn class(self) -> u8 {
        match self {
            Self::Timer(..) | Self::Resume(_) => 1,
            Self::Wake(_) => 2,
        }
    }
}

impl<'a> World<'a> {
    /// A world at time zero, before any application has started, and the cell that goes with it.
    pub(crate) fn new(scenario: &'a Scenario, seed: u64, replication: u64) -> (Self, Cell<Packet>) {
        let built = node::build(scenario, seed, replication);
        let (flows, links) = flow::build(scenario, &built, seed, replication);
        let node::Built { nodes, transmitters, cell, access_point, .. } = built;
        let world = Self {
            scenario,
            seed,
            replication,
            now: Time::ZERO,
            events: EventQueue::new(),
            next: Time::NEVER,
            horizon: Time::NEVER,
            measures: Measures::new(scenario, transmitters.len()),
            airtime: AirtimeAccount::new(
                scenario.measure_from(),
                scenario.end(),
                groups::scopes(scenario),
            ),
            shares_airtime: matches!(scenario.ap.scheduler, Some(Scheduler::Airtime { .. })),
            tells_tcp: feedback::is_wanted(scenario),
            failure: None,
            ready: Vec::new(),
            access_point: nodes[access_point as usize].address,
            nodes,
            transmitters,
            flows,
            connections: Vec::new(),
            free_connections: Vec::new(),
            actions: Actions::default(),
            links,
            drops: Vec::new(),
            recorder: None,
            capture: None,
            foreign: Foreign::default(),
            #[cfg(test)]
            log: log::Log::default(),
        };
        (world, Cell::new(cell))
    }

    /// Takes a sample every `interval`.
    pub(crate) fn trace(&mut self, interval: Duration) {
        self.recorder = Some(Box::new(Recorder::new(interval, self.flows.len())));
    }

    /// Keeps what each measured transfer was.
    pub(crate) fn keep_transfers(&mut self) {
        self.measures.transfers = Some(Vec::new());
    }

    /// The time so far.
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    /// Nothing happens until `time`.
    #[inline]
    pub(crate) fn wait_until(&mut self, time: Time) {
        debug_assert!(time >= self.now);
        self.now = time;
    }

    /// Nothing from `time` on is to happen.
    pub(crate) fn stop_at(&mut self, time: Time) {
        self.horizon = time;
        self.find_next();
    }

    fn find_next(&mut self) {
        let next = self.links.wires.next_time().min(self.events.next_time());
        self.next = next.min(self.horizon);
    }

    /// When the next thing happens here, or it is time to stop.
    #[inline]
    pub(crate) fn next_time(&self) -> Time {
        self.next
    }

    /// What is due at `now`, that is [`Self::next_time`], happens: what is due on wires, then what is
    /// pending.
    #[inline(always)]
    fn step(&mut self, now: Time) {
        self.now = now;
        #[cfg(test)]
        self.log.begin_step();
        if self.links.wires.next_time() == now {
            self.wire_event();
        } else {
            let (_, event) = self.events.pop().expect("its time was known");
            match event {
                Event::Timer(connection, side) => self.timer(connection, side),
                Event::Resume(id) => self.resume(id),
                Event::Wake(flow) => self.wake(flow),
            }
        }
        #[cfg(test)]
        self.log.end_step();
        self.find_next();
    }

    /// Plays the events that are due up to `time`, by the laws of `exchange/shortcut.rs` in `airtcp-wlan` ("Who
    /// plays the world"). Returns whether these are all, and no queue that was empty has a packet. Plays at
    /// most 64 events, so that the caller can check for cancellation.
    #[inline(never)]
    pub(crate) fn play_events(&mut self, time: Time) -> bool {
        if time >= self.horizon {
            return false;
        }
        for _ in 0..MOST_AT_ONCE {
            if time < self.next {
                return true;
            }
            self.step(self.next);
            if !self.ready.is_empty() {
                return false;
            }
        }
        false
    }

    /// Why the run cannot go on, if it cannot.
    pub(crate) fn check(&mut self) -> Result<(), RunError> {
        self.failure.take().map_or(Ok(()), Err)
    }

    fn schedule(&mut self, time: Time, event: Event) {
        self.events.push(time, event.class(), event);
        self.next = self.next.min(time);
    }

    fn flow_of(&self, packet: &Packet) -> &Flow<'a> {
        &self.flows[packet.flow as usize]
    }
}
