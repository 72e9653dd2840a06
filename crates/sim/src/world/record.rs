//! The recorder of a run: the samples and events that become its trace.
//!
//! Each hook first checks whether there is a recorder, which is the only cost of a run without one.
//! Hooks read the world and change nothing in it. [`trace`](crate::trace) describes the records.

use airtcp_kernel::{Duration, Log, Ticks, Time};
use airtcp_tcp::{Counters, Endpoint};
use airtcp_wlan::{ContenderId, FrameTimes, Frames};

use super::World;
use super::lost::Place;
use crate::connection::{Connection, Side};
use crate::packet::Packet;
use crate::trace::{Event, EventKind, FlowSample, Ppdu, QueueSample, Trace, WindowSample};

/// Records the trace of one replication.
#[derive(Debug)]
pub(super) struct Recorder {
    ticks: Ticks,
    /// Whether events and PPDUs are recorded, and not only samples.
    keeps_events: bool,
    flows: Log<FlowSample>,
    queues: Log<QueueSample>,
    events: Log<Event>,
    /// The PPDUs with known results, and when each began.
    ppdus: Vec<(Time, Ppdu)>,
    /// The PPDUs on the air; in a cell at most one.
    on_air: Vec<(Time, Ppdu)>,
    /// Payload bytes delivered so far, by flow.
    delivered: Vec<u64>,
    /// The last recorded state of each connection's ends, by slot and side.
    seen: Vec<[Seen; 2]>,
}

/// The last recorded state of one end of a connection.
#[derive(Clone, Copy, Debug)]
struct Seen {
    window: WindowSample,
    counters: Counters,
}

impl Recorder {
    pub(super) fn new(interval: Duration, flows: usize, samples_only: bool) -> Self {
        Self {
            ticks: Ticks::new(interval),
            keeps_events: !samples_only,
            flows: Log::new(),
            queues: Log::new(),
            events: Log::new(),
            ppdus: Vec::new(),
            on_air: Vec::new(),
            delivered: vec![0; flows],
            seen: Vec::new(),
        }
    }
}

/// Returns the recorder if it keeps events.
fn of_events(recorder: &mut Option<Box<Recorder>>) -> Option<&mut Recorder> {
    recorder.as_deref_mut().filter(|recorder| recorder.keeps_events)
}

impl World<'_> {
    /// Returns the time of the next sample, if it is not later than `stop`.
    pub(crate) fn next_sample(&mut self, stop: Time) -> Option<Time> {
        self.watchers.recorder.as_mut()?.ticks.next_until(stop)
    }

    /// Returns the trace of a run that has ended.
    pub(crate) fn take_trace(&mut self) -> Option<Trace> {
        let mut recorder = *self.watchers.recorder.take()?;
        recorder.settle_ppdus(|_| Some(false));
        // Of several PPDUs on the air at once, a later one may have been completed first.
        recorder.ppdus.sort_by_key(|&(at, _)| at);
        let mut ppdus = Log::new();
        for (at, ppdu) in recorder.ppdus {
            ppdus.record(at, ppdu);
        }
        Some(Trace {
            interval: recorder.ticks.interval(),
            flow_names: self.flows.iter().map(|flow| flow.name.clone()).collect(),
            queue_names: self.queue_names(),
            flows: recorder.flows,
            queues: recorder.queues,
            events: recorder.events,
            node_names: self.node_names(),
            ppdus,
        })
    }

    /// Returns the names of all nodes, as in results.
    pub(crate) fn node_names(&self) -> Vec<String> {
        self.nodes.iter().map(|node| node.name.clone()).collect()
    }

    fn queue_names(&self) -> Vec<String> {
        let nodes = self.transmitters.iter().map(|transmitter| {
            let node = &self.nodes[transmitter.node as usize].name;
            match transmitter.category {
                None => node.clone(),
                Some(category) => format!("{node} {category}"),
            }
        });
        nodes.chain(self.links.names.iter().cloned()).collect()
    }

    /// Samples the state of all flows and queues now, before anything happens at this instant.
    pub(crate) fn sample(&mut self) {
        let Some(recorder) = &mut self.watchers.recorder else { return };
        let now = self.now;
        let mut samples: Vec<FlowSample> = (0..)
            .zip(&recorder.delivered)
            .map(|(flow, &delivered_bytes)| FlowSample {
                flow,
                delivered_bytes,
                connections: 0,
                window: None,
                srtt: None,
            })
            .collect();
        let mut began = vec![Time::ZERO; samples.len()];
        for connection in self.connections.iter().filter(|connection| connection.open) {
            let flow = connection.flow as usize;
            let carried = self.flows[flow].app.carried(connection.tag);
            let Some(carried) = carried.filter(|carried| !carried.is_acknowledged) else {
                continue;
            };
            let sender = connection.end(carried.sender);
            let sample = &mut samples[flow];
            sample.connections += 1;
            let window = window_of(sender);
            sample.window = Some(sample.window.map_or(window, |sum| WindowSample {
                cwnd: sum.cwnd + window.cwnd,
                ssthresh: None,
                flight_size: sum.flight_size + window.flight_size,
            }));
            if carried.since >= began[flow] {
                began[flow] = carried.since;
                sample.srtt = sender.srtt();
            }
        }
        for sample in samples {
            recorder.flows.record(now, sample);
        }
        let nodes = self.transmitters.iter().map(|transmitter| Some(transmitter.queue.len()));
        let wires = self.links.wires.queued_before(now);
        for (queue, packets) in (0..).zip(nodes.chain(wires)) {
            if let Some(packets) = packets {
                recorder.queues.record(now, QueueSample { queue, packets: packets as u64 });
            }
        }
    }

    /// Starts recording the connection that was stored in slot `id`.
    #[inline]
    pub(super) fn record_connection(&mut self, id: u32) {
        let Some(recorder) = of_events(&mut self.watchers.recorder) else { return };
        let connection = &self.connections[id as usize];
        let seen = [Side::Station, Side::Server].map(|side| Seen::of(connection.end(side)));
        match recorder.seen.get_mut(id as usize) {
            Some(place) => *place = seen,
            // Slots are filled in order before any is reused.
            None => recorder.seen.push(seen),
        }
    }

    /// Records that a transfer has begun.
    #[inline]
    pub(super) fn record_start(&mut self, flow: u32) {
        if let Some(recorder) = of_events(&mut self.watchers.recorder) {
            recorder.events.record(self.now, Event::of_flow(EventKind::TransferStart, flow));
        }
    }

    /// Records that a transfer was completely received.
    #[inline]
    pub(super) fn record_end(&mut self, flow: u32) {
        if let Some(recorder) = of_events(&mut self.watchers.recorder) {
            recorder.events.record(self.now, Event::of_flow(EventKind::TransferEnd, flow));
        }
    }

    /// Records that a packet of `flow` was lost.
    pub(super) fn record_loss(&mut self, flow: u32, place: Place) {
        let Some(recorder) = of_events(&mut self.watchers.recorder) else { return };
        let (kind, queue) = match place {
            Place::Queue(id) => (EventKind::QueueDrop, id),
            Place::WireQueue(wire) => (EventKind::QueueDrop, self.transmitters.len() as u32 + wire),
            Place::Filter(id) => (EventKind::AckFiltered, id),
            Place::WireFilter(wire) => {
                (EventKind::AckFiltered, self.transmitters.len() as u32 + wire)
            }
            Place::Wire(wire) => (EventKind::LinkLoss, self.transmitters.len() as u32 + wire),
            Place::Mac(id) => (EventKind::MacDrop, id),
        };
        let event = Event { queue: Some(queue), ..Event::of_flow(kind, flow) };
        recorder.events.record(self.now, event);
    }

    /// With aggregation, records that `by` sends `psdu` in a PPDU of an exchange that begins at
    /// `start`, with or without a collision.
    pub(super) fn record_ppdu(
        &mut self,
        by: ContenderId,
        start: Time,
        (times, class): (&FrameTimes, u32),
        psdu: Frames<'_, Packet>,
        collides: bool,
    ) {
        let Some(recorder) = of_events(&mut self.watchers.recorder) else { return };
        let [_, _, (begin, _), _] = times.intervals(self.phy);
        let ppdu = Ppdu {
            queue: by,
            receiver: psdu.first().payload.to,
            mpdus: psdu.count() as u32,
            bytes: psdu.bits() / 8,
            rate: self.scenario.rates_of(class).0.bps,
            airtime: times.data,
            failed: false,
        };
        // In a cell nothing else is on the air; in a field only another PPDU of the same queue must
        // have ended.
        let in_cell = self.scenario.air.is_none();
        recorder.settle_ppdus(|queue| (in_cell || queue == by).then_some(false));
        recorder.on_air.push((start + begin, ppdu));
        if collides {
            recorder.settle_ppdus(|queue| (queue == by).then_some(true));
        }
    }

    /// Records that the PPDU of `by` on the air gets no response.
    pub(super) fn record_lost_ppdu(&mut self, by: ContenderId) {
        if let Some(recorder) = of_events(&mut self.watchers.recorder) {
            recorder.settle_ppdus(|queue| (queue == by).then_some(true));
        }
    }

    /// Records the events of one end of a connection that has received a segment and sent
    /// everything it could.
    #[inline]
    pub(super) fn record_end_of_turn(&mut self, id: u32, side: Side) {
        if let Some(recorder) = of_events(&mut self.watchers.recorder) {
            let connection = &self.connections[id as usize];
            let carried = self.flows[connection.flow as usize].app.carried(connection.tag);
            let is_sender = carried.is_some_and(|carried| carried.sender == side);
            recorder.compare(self.now, id, side, connection, is_sender);
        }
    }
}

impl Recorder {
    /// Stores the PPDUs for which `failed` gives a result by queue.
    fn settle_ppdus(&mut self, failed: impl Fn(ContenderId) -> Option<bool>) {
        let Self { on_air, ppdus, .. } = self;
        on_air.retain(|&(at, ppdu)| match failed(ppdu.queue) {
            Some(failed) => {
                ppdus.push((at, Ppdu { failed, ..ppdu }));
                false
            }
            None => true,
        });
    }

    /// Counts payload delivered to an application.
    pub(super) fn delivered(&mut self, flow: u32, bytes: u64) {
        self.delivered[flow as usize] += bytes;
    }

    /// Records what one end counted since it was last recorded.
    fn compare(&mut self, at: Time, id: u32, side: Side, connection: &Connection, is_sender: bool) {
        let before = &mut self.seen[id as usize][side as usize];
        let after = Seen::of(connection.end(side));
        let Seen { window, counters } = std::mem::replace(before, after);
        let sender = is_sender.then_some((window, after.window.cwnd));
        let counted = [
            (EventKind::Timeout, u64::from(after.counters.timeouts - counters.timeouts)),
            (
                EventKind::FastRetransmit,
                u64::from(after.counters.fast_retransmits - counters.fast_retransmits),
            ),
            (EventKind::Retransmission, after.counters.retransmissions - counters.retransmissions),
        ];
        for (kind, count) in counted {
            for _ in 0..count {
                let event = Event { sender, ..Event::of_flow(kind, connection.flow) };
                self.events.record(at, event);
            }
        }
    }
}

impl Seen {
    fn of(endpoint: &Endpoint) -> Self {
        Self { window: window_of(endpoint), counters: endpoint.counters() }
    }
}

impl Event {
    fn of_flow(kind: EventKind, flow: u32) -> Self {
        Self { kind, flow, queue: None, sender: None }
    }
}

fn window_of(sender: &Endpoint) -> WindowSample {
    WindowSample {
        cwnd: sender.cwnd(),
        ssthresh: Some(sender.ssthresh()).filter(|&ssthresh| ssthresh < u64::MAX),
        flight_size: sender.flight_size(),
    }
}
