//! The event loop of one replication: the medium, the stations' queues, and time.
//!
//! Three things can happen next: the next arrival over a wire, the next pending event (a timer, the
//! start of a transfer) or the next step of the medium (an access, the end of a data frame, the end
//! of an exchange). At one instant that is their order, so that all frames that start at t are known
//! before anything reacts to one of them. What happens
//! to packets outside the air is in `traffic`.

mod beacon;
mod capture;
mod conclude;
mod dialogue;
mod flow;
mod measure;
mod node;
mod record;
mod traffic;

use airtcp_kernel::{Duration, EventQueue, Time};
use airtcp_wlan::{
    ArrivalBeforeOwnAck, CollidedFrame, ContenderId, Contention, FrameTable, FrameTimes, Retry,
    StationId,
};

use crate::airtime::{AirtimeAccount, Cargo};
use crate::connection::{Connection, Side};
use crate::control::{RunControl, RunError};
use crate::ftp::Session;
use crate::outcome::Outcome;
use crate::packet::Packet;
use crate::scenario::Scenario;
use crate::trace::Trace;
use beacon::Beacons;
use capture::Capture;
use flow::{Flow, Kind, Links};
use measure::{Drop, Measures};
use node::{Node, Transmitter};
use record::Recorder;

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
    /// When the next step of what is on the air is.
    on_air_until: Time,
    /// Until when the TXOP of the exchange on the air may last.
    txop_end: Time,
    /// Who takes part in the collision on the air, and when their own frames end.
    colliding: Vec<(ContenderId, Time)>,
    nodes: Vec<Node>,
    /// The queues that contend: one for each node under the DCF, else one for each access
    /// category that a node uses.
    transmitters: Vec<Transmitter>,
    kinds: Vec<Kind>,
    flows: Vec<Flow>,
    connections: Vec<Connection>,
    free_connections: Vec<u32>,
    /// Of all FTP flows with a dialogue.
    sessions: Vec<Session>,
    links: Links,
    /// What queues have dropped and nobody has looked at yet; empty between two events.
    drops: Vec<Packet>,
    /// The access point's.
    beacons: Beacons,
    measures: Measures,
    airtime: AirtimeAccount,
    /// Writes down what happens, if someone asked for it.
    recorder: Option<Box<Recorder>>,
    /// Why the run cannot go on, if it cannot.
    failure: Option<RunError>,
    /// Writes what is on the air, if someone asked for it.
    capture: Option<Box<Capture>>,
}

/// What can be pending.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A timer of one end of a connection may be due.
    Timer(u32, Side),
    /// A flow begins its next transfer.
    Transfer(u32),
    /// A flow of datagrams fills its place in the queue for the first time.
    Datagrams(u32),
    /// The access point is to send a beacon.
    Beacon,
}

impl Event {
    /// Among events of one instant: timers, then what users do, then beacons.
    fn class(self) -> u8 {
        match self {
            Self::Timer(..) => 1,
            Self::Transfer(_) | Self::Datagrams(_) => 2,
            Self::Beacon => 3,
        }
    }
}

/// What the medium does.
#[derive(Clone, Copy, Debug)]
enum OnAir {
    /// Nothing.
    Silence,
    /// An exchange whose data frame has not been received yet.
    Sending { by: ContenderId, start: Time, times: FrameTimes },
    /// An exchange whose data frame has been received; the MAC ACK begins at `ack_start`.
    Acknowledging { by: ContenderId, ack_start: Time },
    /// A frame to all.
    Broadcast,
    /// A collision.
    Collision { end: Time },
}

impl<'a> World<'a> {
    /// A world at time zero.
    pub(crate) fn new(scenario: &'a Scenario, seed: u64, replication: u64) -> Self {
        let (nodes, transmitters, contenders) = node::build(scenario, seed, replication);
        let classes =
            scenario.stations.iter().map(|group| (group.data_rate, group.control_rate)).collect();
        let (kinds, flows, links) = flow::build(scenario, seed, replication);
        let (from, to) = (scenario.measure_from(), scenario.end());
        let mut world = Self {
            scenario,
            seed,
            replication,
            now: Time::ZERO,
            events: EventQueue::new(),
            contention: Contention::new(&scenario.phy, &scenario.mac, contenders),
            frames: FrameTable::new(scenario.phy.clone(), scenario.mac.clone(), classes),
            on_air: OnAir::Silence,
            on_air_until: Time::NEVER,
            txop_end: Time::ZERO,
            colliding: Vec::new(),
            measures: Measures::new(scenario, transmitters.len()),
            airtime: AirtimeAccount::new(from, to),
            failure: None,
            beacons: Beacons::new(scenario),
            nodes,
            transmitters,
            kinds,
            flows,
            connections: Vec::new(),
            free_connections: Vec::new(),
            sessions: Vec::new(),
            links,
            drops: Vec::new(),
            recorder: None,
            capture: None,
        };
        world.schedule_first_transfers();
        world.schedule_beacon();
        world
    }

    /// The same world, which takes a sample every `interval`.
    pub(crate) fn traced(mut self, interval: Duration) -> Self {
        self.recorder = Some(Box::new(Recorder::new(interval, self.flows.len())));
        self
    }

    /// Simulates the warm-up and the measured time.
    pub(crate) fn run(
        mut self,
        control: &RunControl,
    ) -> Result<(Outcome, Option<Trace>), RunError> {
        let (from, to) = (self.scenario.measure_from(), self.scenario.end());
        self.run_until(from, from, to, control)?;
        self.now = from;
        self.start_measuring();
        self.run_until(to, from, to, control)?;
        self.now = to;
        self.finish_capture()?;
        let trace = self.take_trace();
        Ok((self.conclude()?, trace))
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
            self.advance(begin + Duration::from_nanos(nanos), control)?;
            control.set_progress(self.now.as_secs_f64() / to.as_secs_f64());
        }
        Ok(())
    }

    /// Simulates everything before `stop`, and takes the samples that are due by then.
    fn advance(&mut self, stop: Time, control: &RunControl) -> Result<(), RunError> {
        while let Some(due) = self.next_sample(stop) {
            self.run_step(due, control)?;
            self.sample();
        }
        self.check_capture()?;
        self.run_step(stop, control)
    }

    /// The loop proper: simulates everything before `stop`.
    fn run_step(&mut self, stop: Time, control: &RunControl) -> Result<(), RunError> {
        for iteration in 1_u64.. {
            let wire_at = self.links.wires.next_time();
            let event_at = self.events.next_time();
            let medium_at = self.medium_at();
            let next = wire_at.min(event_at).min(medium_at);
            if next >= stop {
                self.now = stop;
                break;
            }
            debug_assert!(next >= self.now);
            self.now = next;
            if wire_at == next {
                self.wire_arrival();
            } else if event_at == next {
                let (_, event) = self.events.pop().expect("its time was known");
                self.handle(event);
            } else {
                self.step_medium();
            }
            if iteration % (1 << 20) == 0 && control.is_cancelled() {
                return Err(RunError::Cancelled);
            }
        }
        match self.failure.take() {
            Some(failure) => Err(failure),
            None if control.is_cancelled() => Err(RunError::Cancelled),
            None => Ok(()),
        }
    }

    fn schedule(&mut self, time: Time, event: Event) {
        self.events.push(time, event.class(), event);
    }

    #[inline]
    fn medium_at(&self) -> Time {
        // There is no next access while something is on the air.
        self.contention.next_access().min(self.on_air_until)
    }

    #[inline]
    fn set_on_air(&mut self, what: OnAir, until: Time) {
        self.on_air = what;
        self.on_air_until = until;
    }

    fn step_medium(&mut self) {
        match self.on_air {
            OnAir::Silence => self.access_medium(),
            OnAir::Sending { by, start, times } => {
                let ack_start = self.now + self.scenario.phy.sifs;
                self.set_on_air(OnAir::Acknowledging { by, ack_start }, start + times.total);
                self.data_frame_received(by);
            }
            OnAir::Acknowledging { by, .. } => {
                self.set_on_air(OnAir::Silence, Time::NEVER);
                self.exchange_succeeded(by);
            }
            OnAir::Broadcast => {
                self.set_on_air(OnAir::Silence, Time::NEVER);
                self.beacon_ended();
            }
            OnAir::Collision { end } => {
                self.set_on_air(OnAir::Silence, Time::NEVER);
                self.collision_ended(end);
            }
        }
    }

    /// One or more stations begin to transmit now.
    fn access_medium(&mut self) {
        let start = self.now;
        if let [by] = *self.contention.begin() {
            if self.is_beacon_due(by) {
                self.beacon_begins(start);
            } else {
                self.txop_end = start + self.transmitters[by as usize].txop_limit;
                self.exchange_begins(by, start);
            }
        } else {
            self.collision_begins(start);
        }
        if !self.contention.internal_collisions().is_empty() {
            self.settle_internal_collisions();
        }
    }

    fn exchange_begins(&mut self, by: ContenderId, start: Time) {
        let packet = self.hand_over(by);
        let times = self.frame_times(&packet);
        let cargo = if packet.body.segment.len > 0 { Cargo::Data } else { Cargo::TcpAck };
        self.airtime.exchange(start, &times, cargo, self.frames.phy());
        self.capture_exchange(by, start, &times);
        self.set_on_air(OnAir::Sending { by, start, times }, start + times.data_received);
    }

    fn collision_begins(&mut self, start: Time) {
        let mut colliding = std::mem::take(&mut self.colliding);
        colliding.clear();
        colliding.extend(self.contention.transmitting().iter().map(|&id| (id, start)));
        let mut frames_end = start;
        for (id, own_end) in &mut colliding {
            *own_end = start + self.first_frame_time(*id);
            frames_end = frames_end.max(*own_end);
        }
        self.colliding = colliding;
        let end = frames_end + self.scenario.phy.propagation_delay;
        self.airtime.collision(start, frames_end, end);
        self.measures.collision(self.is_simultaneous_send());
        self.capture_collision(start);
        self.beacon_collides();
        self.set_on_air(OnAir::Collision { end }, end);
    }

    /// Airtime of the frame that `id` sends first.
    fn first_frame_time(&mut self, id: ContenderId) -> Duration {
        if let Some(beacon) = self.beacon_time(id) {
            return beacon;
        }
        let packet = self.hand_over(id);
        self.frame_times(&packet).first()
    }

    /// Whether the frames that collide are two, each for the sender of the other: the access point's
    /// and that of the station which it sends to. Neither hears the other's (paper G).
    fn is_simultaneous_send(&self) -> bool {
        let &[(first, _), (second, _)] = &self.colliding[..] else { return false };
        if self.is_beacon_due(first) || self.is_beacon_due(second) {
            return false;
        }
        let node = |id: ContenderId| self.transmitters[id as usize].node;
        self.sending(first).to == node(second) && self.sending(second).to == node(first)
    }

    /// Queues whose access a queue of higher priority of the same node took.
    #[cold]
    fn settle_internal_collisions(&mut self) {
        for id in self.contention.internal_collisions().to_vec() {
            self.hand_over(id);
            let retry = self.contention.collided_internally(id);
            let has_frame = self.after_failure(id, retry);
            self.contention.back_off_after_internal_collision(id, has_frame);
        }
    }

    /// A frame of `id` was not sent: whether `id` has a frame now, that one or another.
    fn after_failure(&mut self, id: ContenderId, retry: Retry) -> bool {
        match retry {
            Retry::Again => true,
            Retry::Broadcast => self.has_frame(id),
            Retry::Dropped => {
                let packet = self.sending(id);
                self.packet_dropped(&packet, Drop::Mac(id));
                self.remove_sent(id)
            }
        }
    }

    /// Whether queue `id` has anything to send.
    fn has_frame(&self, id: ContenderId) -> bool {
        !self.transmitters[id as usize].queue.is_empty() || self.is_beacon_due(id)
    }

    fn sending(&self, id: ContenderId) -> Packet {
        self.transmitters[id as usize].sending.expect("a sender has a packet")
    }

    /// The exchange that carries `packet` to or from its station.
    #[inline]
    fn frame_times(&mut self, packet: &Packet) -> FrameTimes {
        self.frames.times(self.flow_of(packet).rate_class, packet.bits)
    }

    #[inline]
    fn flow_of(&self, packet: &Packet) -> &Flow {
        &self.flows[packet.flow as usize]
    }

    /// Whether `node` has received a data frame and has not begun its MAC ACK. Only asked for where
    /// that matters.
    #[inline]
    fn is_before_own_ack(&self, node: StationId) -> bool {
        self.scenario.mac.rules.arrival_before_own_ack == ArrivalBeforeOwnAck::Idle
            && matches!(self.on_air, OnAir::Acknowledging { by, ack_start, .. }
                if self.now < ack_start && self.sending(by).to == node)
    }

    /// The receiver of the data frame has it, and the medium stays busy for the MAC ACK.
    fn data_frame_received(&mut self, by: ContenderId) {
        let packet = self.sending(by);
        let class = self.flow_of(&packet).rate_class;
        self.measures.payload_received(class, packet.body.segment.len);
        self.cross_air(self.transmitters[by as usize].node, packet);
    }

    /// The sender has the MAC ACK: the packet leaves its queue.
    fn exchange_succeeded(&mut self, by: ContenderId) {
        let has_frame = self.remove_sent(by);
        if self.transmitters[by as usize].node == AP {
            let active = self.measures.backlogged.value() - u64::from(self.is_backlogged(AP));
            self.measures.ap_success(active);
        }
        if has_frame && self.now < self.txop_end && !self.is_beacon_due(by) {
            let start = self.now + self.scenario.phy.sifs;
            let end = self.txop_end;
            let fits = |frames: &mut FrameTable, flows: &[Flow], packet: &Packet| {
                let class = flows[packet.flow as usize].rate_class;
                start + frames.times(class, packet.bits).total <= end
            };
            if self.take_next(by, fits) {
                self.contention.continue_txop();
                self.exchange_begins(by, start);
                return;
            }
        }
        self.contention.end_success(self.now, has_frame);
    }

    /// All frames of a collision have ended.
    fn collision_ended(&mut self, end: Time) {
        let colliding = std::mem::take(&mut self.colliding);
        let hop = self.scenario.phy.propagation_delay;
        let (last, before) = last_two(colliding.iter().map(|&(_, own_end)| own_end));
        for &(id, own_end) in &colliding {
            let others_end = if own_end == last { before } else { last };
            let own = CollidedFrame { end: own_end, outlasts: own_end > others_end + hop };
            let retry = if self.beacon_collided(id) {
                self.contention.broadcast_collided(id)
            } else {
                self.contention.collided(id)
            };
            let has_frame = self.after_failure(id, retry);
            self.contention.back_off_after_collision(id, retry, own, end, has_frame);
        }
        self.colliding = colliding;
        self.contention.end_collision(end);
    }
}

/// The latest of these times, and the latest of the others.
fn last_two(times: impl Iterator<Item = Time>) -> (Time, Time) {
    times.fold((Time::ZERO, Time::ZERO), |(last, before), time| {
        if time > last { (time, last) } else { (last, before.max(time)) }
    })
}
