//! The event loop of one replication: the medium, the stations' queues, and time.
//!
//! Two things can happen next: the next pending event (a timer, an arrival over a wire, the start
//! of a transfer) or the next step of the medium (an access, the end of a data frame, the end
//! of an exchange). Events of an instant come before the medium's step of that instant, so
//! that all frames that start at t are known before anything reacts to one of them. What happens
//! to packets outside the air is in `traffic`.

mod conclude;
mod flow;
mod measure;
mod traffic;

use std::collections::VecDeque;

use airtcp_kernel::{Duration, EventQueue, RandomStream, Time};
use airtcp_wlan::{Contention, FrameTable, FrameTimes, Retry, StationId};

use crate::airtime::{AirtimeAccount, Cargo};
use crate::connection::{Connection, Side};
use crate::control::{RunControl, RunError};
use crate::outcome::Outcome;
use crate::packet::{Owner, Packet};
use crate::queue::PacketQueue;
use crate::scenario::Scenario;
use crate::wire::Wire;
use flow::{Flow, Kind};
use measure::{Drop, Measures};

/// The access point is the first station of the cell.
const AP: StationId = 0;

/// How often a long run reports how far it is, and looks whether it is cancelled.
const STEPS: u64 = 100;

/// Everything that changes in one replication.
#[derive(Debug)]
pub(crate) struct World<'a> {
    scenario: &'a Scenario,
    /// For messages.
    seed: u64,
    replication: u64,
    now: Time,
    events: EventQueue<Event>,
    contention: Contention,
    frames: FrameTable,
    on_air: OnAir,
    /// Who takes part in the collision on the air, and when their own frames end.
    colliding: Vec<(StationId, Time)>,
    nodes: Vec<Node>,
    kinds: Vec<Kind>,
    flows: Vec<Flow>,
    connections: Vec<Connection>,
    free_connections: Vec<u32>,
    /// Each link twice: towards the server, towards the access point.
    wires: Vec<Wire>,
    measures: Measures,
    airtime: AirtimeAccount,
}

/// What can be pending.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The first packet on a wire arrives.
    WireArrival(u32),
    /// A timer of one end of a connection may be due.
    Timer(u32, Side),
    /// A flow begins its next transfer.
    Transfer(u32),
    /// A flow of datagrams fills its place in the queue for the first time.
    Datagrams(u32),
}

impl Event {
    /// Among events of one instant: arrivals, then timers, then what users do.
    fn class(self) -> u8 {
        match self {
            Self::WireArrival(_) => 0,
            Self::Timer(..) => 1,
            Self::Transfer(_) | Self::Datagrams(_) => 2,
        }
    }
}

/// What the medium does.
#[derive(Clone, Copy, Debug)]
enum OnAir {
    /// Nothing.
    Silence,
    /// An exchange whose data frame has not been received yet.
    Sending { node: StationId, start: Time, times: FrameTimes },
    /// An exchange whose data frame has been received.
    Acknowledging { node: StationId, end: Time },
    /// A collision.
    Collision { end: Time },
}

/// A station or the access point.
#[derive(Debug)]
struct Node {
    name: String,
    queue: PacketQueue,
    /// Datagram flows that wait for room in the queue.
    blocked: VecDeque<u32>,
    counts: measure::NodeCounts,
}

impl<'a> World<'a> {
    /// A world at time zero.
    pub(crate) fn new(scenario: &'a Scenario, seed: u64, replication: u64) -> Self {
        let mut nodes = vec![Node::new("ap".into(), scenario.ap.queue.limit)];
        for group in &scenario.stations {
            for index in 0..group.count {
                nodes.push(Node::new(format!("{}/{index}", group.name), group.queue.limit));
            }
        }
        let classes =
            scenario.stations.iter().map(|group| (group.data_rate, group.control_rate)).collect();
        let streams = nodes
            .iter()
            .map(|node| RandomStream::new(seed, replication, &node.name, "backoff"))
            .collect();
        let (kinds, flows, wires) = flow::build(scenario, seed, replication);
        let (from, to) = (scenario.measure_from(), scenario.end());
        let mut world = Self {
            scenario,
            seed,
            replication,
            now: Time::ZERO,
            events: EventQueue::new(),
            contention: Contention::new(&scenario.phy, &scenario.mac, streams),
            frames: FrameTable::new(scenario.phy.clone(), scenario.mac.clone(), classes),
            on_air: OnAir::Silence,
            colliding: Vec::new(),
            measures: Measures::new(scenario, nodes.len()),
            airtime: AirtimeAccount::new(from, to),
            nodes,
            kinds,
            flows,
            connections: Vec::new(),
            free_connections: Vec::new(),
            wires,
        };
        world.schedule_first_transfers();
        world
    }

    /// Simulates the warm-up and the measured time.
    pub(crate) fn run(mut self, control: &RunControl) -> Result<Outcome, RunError> {
        let (from, to) = (self.scenario.measure_from(), self.scenario.end());
        self.run_until(from, from, to, control)?;
        self.now = from;
        self.start_measuring();
        self.run_until(to, from, to, control)?;
        self.now = to;
        self.conclude()
    }

    /// Simulates everything before `stop`, in steps that report progress.
    fn run_until(
        &mut self,
        stop: Time,
        from: Time,
        to: Time,
        control: &RunControl,
    ) -> Result<(), RunError> {
        let begin = if stop == from { Time::ZERO } else { from };
        let length = (stop - begin).as_nanos();
        for step in 1..=STEPS {
            let nanos = (u128::from(length) * u128::from(step) / u128::from(STEPS)) as u64;
            self.run_step(begin + Duration::from_nanos(nanos), control)?;
            control.set_progress(self.now.as_secs_f64() / to.as_secs_f64());
        }
        Ok(())
    }

    /// The loop proper: simulates everything before `stop`.
    fn run_step(&mut self, stop: Time, control: &RunControl) -> Result<(), RunError> {
        for iteration in 1_u64.. {
            let event_at = self.events.next_time();
            let medium_at = self.medium_at();
            let next = event_at.min(medium_at);
            if next >= stop {
                self.now = stop;
                break;
            }
            debug_assert!(next >= self.now);
            self.now = next;
            if event_at <= medium_at {
                let (_, event) = self.events.pop().expect("its time was known");
                self.handle(event);
            } else {
                self.step_medium();
            }
            if iteration % (1 << 20) == 0 && control.is_cancelled() {
                return Err(RunError::Cancelled);
            }
        }
        if control.is_cancelled() { Err(RunError::Cancelled) } else { Ok(()) }
    }

    fn schedule(&mut self, time: Time, event: Event) {
        self.events.push(time, event.class(), event);
    }

    #[inline]
    fn medium_at(&self) -> Time {
        match self.on_air {
            OnAir::Silence => self.contention.next_access(),
            OnAir::Sending { start, times, .. } => start + times.data_received,
            OnAir::Acknowledging { end, .. } | OnAir::Collision { end } => end,
        }
    }

    fn step_medium(&mut self) {
        match self.on_air {
            OnAir::Silence => self.access_medium(),
            OnAir::Sending { node, start, times } => {
                self.on_air = OnAir::Acknowledging { node, end: start + times.total };
                self.data_frame_received(node);
            }
            OnAir::Acknowledging { node, .. } => {
                self.on_air = OnAir::Silence;
                self.exchange_succeeded(node);
            }
            OnAir::Collision { end } => {
                self.on_air = OnAir::Silence;
                self.collision_ended(end);
            }
        }
    }

    /// One or more stations begin to transmit now.
    fn access_medium(&mut self) {
        let start = self.now;
        if let [node] = *self.contention.begin() {
            let packet = self.first_packet(node);
            let times = self.frame_times(&packet);
            let cargo = if packet.segment.len > 0 { Cargo::Data } else { Cargo::TcpAck };
            self.airtime.exchange(start, &times, cargo, self.frames.phy());
            self.on_air = OnAir::Sending { node, start, times };
        } else {
            self.collision_begins(start);
        }
    }

    fn collision_begins(&mut self, start: Time) {
        let mut colliding = std::mem::take(&mut self.colliding);
        colliding.clear();
        colliding.extend(self.contention.transmitting().iter().map(|&node| (node, start)));
        let mut frames_end = start;
        for (node, own_end) in &mut colliding {
            let packet = self.first_packet(*node);
            *own_end = start + self.frame_times(&packet).first();
            frames_end = frames_end.max(*own_end);
        }
        self.colliding = colliding;
        let end = frames_end + self.scenario.phy.propagation_delay;
        self.airtime.collision(start, frames_end, end);
        self.measures.collision();
        self.on_air = OnAir::Collision { end };
    }

    fn first_packet(&self, node: StationId) -> Packet {
        *self.nodes[node as usize].queue.first().expect("a sender has a packet")
    }

    /// The exchange that carries `packet` to or from its station.
    #[inline]
    fn frame_times(&mut self, packet: &Packet) -> FrameTimes {
        let flow = self.flow_of(packet);
        let (class, bits) = (flow.rate_class, flow.packet_bits(packet));
        self.frames.times(class, bits)
    }

    fn flow_of(&self, packet: &Packet) -> &Flow {
        let flow = match packet.owner {
            Owner::Connection(id) => self.connections[id as usize].flow,
            Owner::Datagrams(flow) => flow,
        };
        &self.flows[flow as usize]
    }

    /// The receiver of `node`'s data frame has it, and the medium stays busy for the MAC ACK.
    fn data_frame_received(&mut self, node: StationId) {
        let packet = self.first_packet(node);
        let class = self.flow_of(&packet).rate_class;
        self.measures.payload_received(class, packet.segment.len);
        self.cross_air(node, packet);
    }

    /// `node` has the MAC ACK: the packet leaves its queue.
    fn exchange_succeeded(&mut self, node: StationId) {
        let has_frame = self.remove_first(node);
        self.contention.end_success(self.now, has_frame);
        if node == AP {
            let active = self.measures.backlogged.value() - u64::from(has_frame);
            self.measures.ap_success(active);
        }
    }

    /// All frames of a collision have ended.
    fn collision_ended(&mut self, end: Time) {
        let colliding = std::mem::take(&mut self.colliding);
        for &(node, own_end) in &colliding {
            let retry = self.contention.collided(node);
            let has_frame = match retry {
                Retry::Again => true,
                Retry::Dropped => {
                    let packet = self.first_packet(node);
                    self.packet_dropped(&packet, Drop::Mac);
                    self.remove_first(node)
                }
            };
            self.contention.back_off_after_collision(node, retry, own_end, end, has_frame);
        }
        self.colliding = colliding;
        self.contention.end_collision(end);
    }
}

impl Node {
    fn new(name: String, limit: Option<usize>) -> Self {
        Self {
            name,
            queue: PacketQueue::new(limit),
            blocked: VecDeque::new(),
            counts: measure::NodeCounts::default(),
        }
    }
}
