//! The world of a replication, which is everything except the MAC: time, pending events, and the
//! movement of packets between endpoints, links and queues.
//!
//! The MAC is a cell of `airtcp-wlan`. It asks the queues here for packets and reports what happens
//! to them (`air`). Queues that are no longer empty are listed, and
//! [`Replication`](crate::replication::Replication), which runs both, passes this list to the cell.
//! `traffic` moves packets outside of the medium, `lost` handles lost packets, `sockets` the
//! actions of applications.

mod air;
mod capture;
mod conclude;
mod feedback;
mod flow;
mod foreign;
mod ledger;
#[cfg(test)]
pub(crate) mod log;
mod lost;
mod media;
mod network;
mod node;
mod parts;
mod record;
mod saturated;
mod sockets;
mod traffic;
mod turn;
mod watch;

use airtcp_kernel::{Duration, EventQueue, Time};
use airtcp_wlan::phy::PhyConfig;
use airtcp_wlan::{Cell, ContenderId, Field, StationId};

use crate::app::Actions;
use crate::connection::{Connection, Side};
use crate::control::RunError;
use crate::medium::{Medium, Numbers, Several};
use crate::packet::Packet;
use crate::scenario::Scenario;
use flow::{Flow, Links};
use foreign::Foreign;
pub(crate) use foreign::HandedOut;
pub use foreign::{Arrival, LiveCounts, LiveFlow};
pub(crate) use ledger::BLOCKS;
use ledger::Ledger;
use node::{Node, Transmitter};
use parts::{Kind, Parts};
use record::Recorder;
use watch::Watchers;

/// The state of one replication without its cell.
#[derive(Debug)]
pub(crate) struct World<'a> {
    scenario: &'a Scenario,
    /// The PHY of the medium that is played.
    phy: &'a PhyConfig,
    /// The seed of the run, for messages.
    seed: u64,
    replication: u64,
    now: Time,
    events: EventQueue<Event>,
    /// The time of the next event here (on a link or in `events`), or the horizon.
    next: Time,
    /// The time up to which the simulation currently runs.
    horizon: Time,
    nodes: Vec<Node>,
    /// The number of access points, which are the first stations.
    access_points: StationId,
    /// The contending queues, by their numbers in the cell: one per node under the DCF, else one
    /// per access category that a node uses.
    transmitters: Vec<Transmitter>,
    flows: Vec<Flow<'a>>,
    connections: Vec<Connection>,
    free_connections: Vec<u32>,
    /// The actions of an application; empty between events.
    actions: Actions,
    links: Links,
    /// Dropped packets that `lost` has not handled yet; empty between events.
    drops: Vec<Packet>,
    /// Queues that were empty and now have frames, and that the cell has not taken yet.
    ready: Vec<ContenderId>,
    watchers: Watchers,
    ledger: Ledger,
    /// Whether a flow always has one more datagram, and may wait for room in a queue.
    has_saturated: bool,
    /// The error that ends the run, if there is one.
    failure: Option<RunError>,
    /// Packets from outside of the simulation.
    foreign: Foreign,
    /// The media, and which of them is played now.
    parts: Parts,
    #[cfg(test)]
    pub(crate) log: log::Log,
}

/// The maximum number of events in one call.
const MOST_AT_ONCE: u32 = 64;

/// A pending event.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A timer of one end of a connection, which may be due.
    Timer(u32, Side),
    /// A station's queue has room for more of this connection.
    Resume(u32),
    /// Wakes the application of this flow.
    Wake(u32),
}

impl Event {
    /// Ranks events of one instant: timers first, then users.
    fn class(self) -> u8 {
        match self {
            Self::Timer(..) | Self::Resume(_) => 1,
            Self::Wake(_) => 2,
        }
    }
}

impl<'a> World<'a> {
    /// Creates a world at time zero, before any application has started, and its medium.
    pub(crate) fn new(scenario: &'a Scenario, seed: u64, replication: u64) -> (Self, Medium) {
        let built = node::build(scenario, seed, replication);
        let (flows, links) = flow::build(scenario, &built, seed, replication);
        let node::Built { nodes, transmitters, media, access_points, absent, .. } = built;
        let kind = |(_, hearing, own): &(_, Option<_>, Numbers)| match (hearing, own.cells.len()) {
            (Some(_), _) => Kind::Field,
            (None, ..=1) => Kind::Cell,
            (None, _) => Kind::Cells,
        };
        let parts = Parts::new(media.configs.iter().map(kind).collect(), media.of_cells);
        let world = Self {
            scenario,
            phy: &scenario.phy,
            seed,
            replication,
            now: Time::ZERO,
            events: EventQueue::new(),
            next: Time::NEVER,
            horizon: Time::NEVER,
            ledger: Ledger::new(scenario, transmitters.len(), &parts),
            watchers: Watchers::new(scenario),
            has_saturated: false,
            failure: None,
            ready: Vec::new(),
            access_points,
            nodes,
            transmitters,
            flows,
            connections: Vec::new(),
            free_connections: Vec::new(),
            actions: Actions::default(),
            links,
            drops: Vec::new(),
            foreign: Foreign::default(),
            parts,
            #[cfg(test)]
            log: log::Log::default(),
        };
        let (mut made, mut numbers) = (Vec::new(), Vec::new());
        for (config, hearing, own) in media.configs {
            numbers.push(own);
            made.push(match hearing {
                None => Medium::Cell(Box::new(Cell::new(config))),
                Some(hearing) => Medium::Field(Box::new(Field::new(config, hearing))),
            });
        }
        let medium = if scenario.ap.links.is_some() {
            let emlsr: Vec<_> = scenario.stations.iter().map(|group| group.emlsr).collect();
            let groups: Vec<_> = world.nodes.iter().map(|node| node.group).collect();
            Medium::Several(Several::of_links(made, numbers, &absent, (&emlsr, &groups)))
        } else if made.len() > 1 {
            let of_queues = (0..world.transmitters.len() as ContenderId)
                .map(|id| world.parts.of_cell(world.cell_of(id)) as u32);
            Medium::Several(Several::new(made, numbers, of_queues.collect()))
        } else {
            made.pop().expect("there is a medium")
        };
        (world, medium)
    }

    /// Takes a sample every `interval`, and records events and PPDUs unless `samples_only`.
    pub(crate) fn trace(&mut self, interval: Duration, samples_only: bool) {
        let recorder = Recorder::new(interval, self.flows.len(), samples_only);
        self.watchers.recorder = Some(Box::new(recorder));
    }

    /// Keeps a record of each measured transfer.
    pub(crate) fn keep_transfers(&mut self) {
        self.ledger.transfers = Some(Vec::new());
    }

    /// Returns whether the scenario says who hears whom: there are several cells, or hidden
    /// stations.
    pub(crate) fn has_air(&self) -> bool {
        self.scenario.air.is_some()
    }

    /// Returns the time so far.
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    /// Sets the time to `time`; nothing happens before.
    #[inline]
    pub(crate) fn wait_until(&mut self, time: Time) {
        debug_assert!(time >= self.now);
        self.now = time;
    }

    /// Sets the horizon: no event at or after `time` is played.
    pub(crate) fn stop_at(&mut self, time: Time) {
        self.horizon = time;
        self.find_next();
    }

    fn find_next(&mut self) {
        let next = self.links.wires.next_time().min(self.events.next_time());
        self.next = next.min(self.horizon);
    }

    /// Returns the time of the next event here, or the horizon.
    #[inline]
    pub(crate) fn next_time(&self) -> Time {
        self.next
    }

    /// Plays one event that is due at `now` ([`Self::next_time`]): events on links first, then
    /// pending ones.
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

    /// Plays the events that are due up to `time`, by the laws of `exchange/shortcut.rs` in
    /// `airtcp-wlan` ("Who plays the world"). Returns true if these are all, and if no empty queue
    /// got a packet. Plays at most 64 events, so that the caller can check for cancellation.
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

    /// Returns the error that ends the run, if there is one.
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
