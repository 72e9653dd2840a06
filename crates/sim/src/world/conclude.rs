//! The end of a run: checks the conservation laws, then computes the outcome from the counters.

use airtcp_kernel::Duration;
use airtcp_wlan::{AirtimeParts, ContenderId, FailureCounts, MacCounters, View};

use super::World;
use super::groups::SentCounts;
use super::latency::Latency;
use super::measure::QueueCounts;
use super::metrics::{Traffic, fraction, mac_metrics};
use super::node::{Node, Transmitter};
use super::ppdus::PpduCounts;
use crate::connection::Connection;
use crate::conservation::{Waiting, options_kept};
use crate::control::RunError;
use crate::medium::Medium;
use crate::outcome::{
    AirtimeShares, Counts, FlowRecord, GroupHalfway, GroupRecord, Halfway, Metrics, Outcome,
    StationRecord,
};
use crate::packet::Packet;
use crate::statistics::ratio;

/// The metrics that are complete only at the end, because they include or cut off what is in
/// progress.
const AT_THE_END: [&str; 4] =
    ["tcp_retransmissions", "tcp_timeouts", "contention_free_share", "airtime_share"];

/// A flow below this part of a fair share is starved.
const STARVED_BELOW: f64 = 0.1;

/// The results of a measured time, and what they are computed from.
struct Figures {
    mac: Vec<MacCounters>,
    counts: Counts,
    flows: Vec<FlowRecord>,
    /// The shares of the time with 0, 1, 2, ... transfers in progress.
    distribution: Vec<f64>,
    metrics: Metrics,
    groups: Vec<GroupRecord>,
}

impl World<'_> {
    /// Returns the outcome of the measured time that ends now, if the laws hold.
    pub(crate) fn conclude(&mut self, medium: &mut Medium) -> Result<Outcome, RunError> {
        medium.settle(self.now);
        let (airtime, views) = self.check_laws(medium).map_err(|law| {
            let (seed, replication) = (self.seed, self.replication);
            RunError::LawViolated(format!("{law} (seed {seed}, replication {replication})"))
        })?;
        for connection in &self.connections {
            if connection.open {
                let flow = &mut self.flows[connection.flow as usize];
                flow.measured.tcp += connection.counted();
            }
        }
        if let Some(began) = medium.contention_free_since() {
            self.measures.contention_free += self.airtime.measured(began, self.now);
        }
        let Figures { mac, counts, flows, distribution, metrics, groups } = self.figures(medium);
        let measured = self.measured();
        let share = |part| ratio(part, measured);
        let failures = if self.has_air() { self.failures(medium) } else { Vec::new() };
        Ok(Outcome {
            metrics,
            groups,
            halfway: self.measures.halfway.take(),
            books: self.take_books(),
            categories: self.category_records(medium),
            airtime: AirtimeShares {
                idle: share(airtime.idle),
                data: share(airtime.data),
                tcp_ack: share(airtime.tcp_ack),
                control: share(airtime.control),
                collision: share(airtime.overlapped),
            },
            counts,
            stations: self.station_records(&mac, &failures, &flows),
            cells: self.cell_records(medium, &views, &flows, &failures),
            flows,
            active_flows_distribution: distribution,
            goodput_series_bps: self.measures.series.rates_bps(),
            transfer_times_s: std::mem::take(&mut self.measures.transfer_times_s),
            transfers: self.measures.transfers.take(),
        })
    }

    /// Records the metrics of the first half of the measured time, which ends now.
    pub(crate) fn note_halfway(&mut self, medium: &mut Medium) {
        medium.settle(self.now);
        let Figures { metrics, groups, .. } = self.figures(medium);
        let groups = groups.into_iter().map(|one| GroupHalfway {
            name: one.name,
            all: known_by_then(one.all),
            download: one.download.map(known_by_then),
            upload: one.upload.map(known_by_then),
        });
        self.measures.halfway =
            Some(Halfway { metrics: known_by_then(metrics), groups: groups.collect() });
    }

    /// Returns the results measured so far.
    fn figures(&mut self, medium: &Medium) -> Figures {
        let mac = self.mac_counted(medium);
        let counts = self.counts(&mac, medium);
        let flows = self.flow_records();
        let distribution = self.measures.active.shares(self.now, self.measured());
        let active: f64 = distribution.iter().enumerate().map(|(k, p)| k as f64 * p).sum();
        let metrics = self.metrics(&flows, &mac, &counts, active);
        let groups = self.group_records(&mac, &flows);
        Figures { mac, counts, flows, distribution, metrics, groups }
    }

    /// Returns the time since measuring began.
    pub(super) fn measured(&self) -> Duration {
        self.now - self.measures.began
    }

    /// Checks the laws. Returns the total airtime, and the view of each of several cells.
    fn check_laws(&mut self, medium: &Medium) -> Result<(AirtimeParts, Vec<View>), String> {
        let mut waiting: Vec<Packet> = Vec::new();
        for (id, transmitter) in (0..).zip(&self.transmitters) {
            medium.list_waiting(id, &mut waiting);
            waiting.extend(transmitter.queue.iter());
        }
        waiting.extend(self.links.wires.travelling());
        let has_option = |packet: &&Packet| {
            packet.body.segment().is_some_and(|(_, segment)| segment.has_kept_options())
        };
        let options = waiting.iter().filter(has_option).count();
        options_kept(self.connections.iter().map(Connection::sacks_in_network).sum(), options)?;
        let mut of_flows = vec![Waiting::default(); self.flows.len()];
        for packet in waiting {
            of_flows[packet.flow as usize].add(packet.body.payload_bytes());
        }
        for (flow, waiting) in self.flows.iter().zip(of_flows) {
            flow.books.balance(waiting, &flow.name)?;
        }
        for (id, transmitter) in (0..).zip(&self.transmitters) {
            let name = &self.nodes[transmitter.node as usize].name;
            medium.check_laws(id).map_err(|law| format!("{name}: {law}"))?;
        }
        if !self.has_air() {
            return Ok((self.close_airtime()?, Vec::new()));
        }
        let views = self.views(medium)?;
        let parts: Vec<_> = views.iter().map(|view| view.parts).collect();
        Ok((self.mean_airtime(&parts), views))
    }

    /// Returns the MAC counters of each node in the measured time.
    fn mac_counted(&self, medium: &Medium) -> Vec<MacCounters> {
        let mut mac = vec![MacCounters::default(); self.nodes.len()];
        for (id, transmitter) in (0..).zip(&self.transmitters) {
            mac[transmitter.node as usize] += self.mac_counted_by(id, medium);
        }
        mac
    }

    /// Returns the MAC counters of a queue in the measured time. Attempts count if they ended in
    /// it, like the collisions and successes that end them. Otherwise a short run would count the
    /// collision of an attempt that it does not count.
    pub(super) fn mac_counted_by(&self, id: ContenderId, medium: &Medium) -> MacCounters {
        let counted = medium.counters(id) - self.measures.mac_baseline[id as usize];
        MacCounters { attempts: counted.attempts_ended(), ..counted }
    }

    fn counts(&self, mac: &[MacCounters], medium: &Medium) -> Counts {
        let drops = self.measures.losses;
        let in_cell = medium.cell_counters() - self.measures.cell_baseline;
        let mut counts = Counts {
            mac_exchanges: mac.iter().map(|node| node.successes).sum(),
            mac_attempts: mac.iter().map(|node| node.attempts).sum(),
            collisions: in_cell.collisions,
            simultaneous_sends: in_cell.simultaneous_sends,
            beacons: in_cell.beacons,
            beacon_collisions: in_cell.beacon_collisions,
            contention_free_periods: in_cell.contention_free_periods,
            contention_free_exchanges: in_cell.contention_free_successes,
            polls: in_cell.polls,
            polls_without_data: in_cell.polls_without_data,
            mac_drops: drops.mac,
            ap_queue_drops: drops.ap_queue,
            station_queue_drops: drops.station_queues,
            wired_drops: drops.wires,
            acks_filtered: drops.filtered,
            events: self.events.scheduled() + self.links.wires.scheduled(),
            ..Counts::default()
        };
        for flow in &self.flows {
            counts.transfers += flow.measured.transfers;
            counts.tcp_segments += flow.measured.tcp.segments;
            counts.tcp_retransmissions += flow.measured.tcp.retransmissions;
            counts.tcp_timeouts += flow.measured.tcp.timeouts;
            counts.ecn_marks += flow.measured.tcp.ecn_marks;
            counts.ecn_reductions += flow.measured.tcp.ecn_reductions;
        }
        counts
    }

    fn flow_records(&self) -> Vec<FlowRecord> {
        let measured_s = self.measured().as_secs_f64();
        // Only endless flows can starve.
        let shares: Vec<u64> = self
            .flows
            .iter()
            .filter(|flow| flow.app.is_endless())
            .map(|flow| flow.measured.delivered_bytes)
            .collect();
        let fair_share = shares.iter().sum::<u64>() as f64 / shares.len().max(1) as f64;
        self.flows
            .iter()
            .map(|flow| {
                let measured = &flow.measured;
                FlowRecord {
                    name: flow.name.clone(),
                    station: self.nodes[flow.station as usize].name.clone(),
                    direction: flow.config.direction.name(),
                    goodput_bps: 8.0 * measured.delivered_bytes as f64 / measured_s,
                    transfers: measured.transfers,
                    mean_transfer_time_s: (measured.transfers > 0)
                        .then(|| measured.transfer_time_sum_s / measured.transfers as f64),
                    retransmissions: measured.tcp.retransmissions,
                    timeouts: measured.tcp.timeouts,
                    starved: flow.app.is_endless()
                        && (measured.delivered_bytes as f64) < STARVED_BELOW * fair_share,
                }
            })
            .collect()
    }

    /// Creates the records of stations from their counters and the failures of queues. A cell in
    /// which all hear each other has no such failures.
    fn station_records(
        &self,
        mac: &[MacCounters],
        failures: &[FailureCounts],
        flows: &[FlowRecord],
    ) -> Vec<StationRecord> {
        let mut goodput = vec![0.0; self.nodes.len()];
        for (flow, record) in self.flows.iter().zip(flows) {
            goodput[flow.station as usize] += record.goodput_bps;
            goodput[flow.access_point as usize] += record.goodput_bps;
        }
        let mut queue_drops = vec![0; self.nodes.len()];
        let mut hidden = vec![0; self.nodes.len()];
        for transmitter in &self.transmitters {
            queue_drops[transmitter.node as usize] += transmitter.counts.queue_drops;
        }
        for (transmitter, failed) in self.transmitters.iter().zip(failures) {
            hidden[transmitter.node as usize] += failed.hidden;
        }
        self.nodes
            .iter()
            .zip(mac)
            .zip(goodput)
            .zip(queue_drops.into_iter().zip(hidden))
            .map(|(((node, mac), goodput_bps), (queue_drops, hidden))| StationRecord {
                name: node.name.clone(),
                goodput_bps,
                attempts: mac.attempts,
                successes: mac.successes,
                collisions: mac.collisions,
                hidden,
                mac_drops: mac.drops,
                queue_drops,
                mean_cw: fraction(mac.cw_sum, mac.draws),
            })
            .collect()
    }

    /// Returns the metrics of the whole network.
    fn metrics(
        &mut self,
        flows: &[FlowRecord],
        mac: &[MacCounters],
        counts: &Counts,
        active_flows: f64,
    ) -> Metrics {
        let measured = self.measured();
        let queues = self.queue_counts(Node::is_access_point);
        let station_queues = self.queue_counts(|node| !node.is_access_point());
        let (mut ap, mut stations) = (SentCounts::default(), SentCounts::default());
        for (node, &counted) in self.nodes.iter().zip(mac) {
            let sent = if node.is_access_point() { &mut ap } else { &mut stations };
            sent.mac += counted;
        }
        let aggregated = self.is_aggregated();
        if let Some(ppdus) = &self.measures.ppdus {
            for (id, transmitter) in (0..).zip(&self.transmitters) {
                let node = &self.nodes[transmitter.node as usize];
                let sent = if node.is_access_point() { &mut ap } else { &mut stations };
                sent.ppdus += ppdus.by(id);
            }
        }
        let mut latency = Latency::default();
        for scope in &self.measures.scopes {
            latency += &scope.latency;
        }
        let measures = &mut self.measures;
        let traffic = Traffic {
            goodputs_bps: flows.iter().map(|flow| flow.goodput_bps).collect(),
            transfer_times_s: measures.transfer_times_s.clone(),
            ratings: (self.flows.iter())
                .filter_map(|flow| flow.speech.as_ref()?.rating())
                .collect(),
            page_times_s: measures.page_times_s.iter().map(|&(_, time)| time).collect(),
            last_ack_time_s: measures.last_ack_times.value(),
            active_flows,
            payload_s: measures
                .scopes
                .chunks(2)
                .zip(&self.scenario.stations)
                .map(|(directions, group)| {
                    let bits: u64 = directions.iter().map(|scope| scope.payload_bits).sum();
                    bits as f64 / group.data_rate.bps as f64
                })
                .sum(),
            retransmissions: counts.tcp_retransmissions,
            timeouts: counts.tcp_timeouts,
        };
        let mut metrics = traffic.metrics(measured);
        metrics.extend(latency.metrics());
        metrics.extend(mac_metrics(ap.mac, stations.mac, aggregated));
        metrics.extend(PpduCounts::metrics(ap.ppdus, stations.ppdus));
        metrics.extend([
            ("ap_queue_packets", Some(measures.ap_queue.average(self.now, measured))),
            ("ap_queue_drop_probability", fraction(queues.queue_drops, queues.arrivals)),
            (
                "station_queue_drop_probability",
                fraction(station_queues.queue_drops, station_queues.arrivals),
            ),
            ("mean_backlogged_nodes", Some(measures.backlogged.average(self.now, measured))),
            (
                "contention_free_share",
                self.scenario.mac.pcf.map(|_| ratio(measures.contention_free, measured)),
            ),
            ("active_stations_after_ap_success", measures.active_after_ap_success()),
            (
                "simultaneous_send_probability",
                // A field does not report whether the receiver of one frame was the sender of the
                // other.
                fraction(counts.simultaneous_sends, counts.mac_exchanges + counts.collisions)
                    .filter(|_| !self.has_air()),
            ),
        ]);
        metrics
    }

    /// Returns whether there is aggregation.
    pub(super) fn is_aggregated(&self) -> bool {
        self.scenario.mac.aggregation.is_some()
    }

    /// Returns the sum of the queue counters of some nodes.
    pub(super) fn queue_counts(&self, of: impl Fn(&Node) -> bool) -> QueueCounts {
        let is_of = |one: &&Transmitter| of(&self.nodes[one.node as usize]);
        self.transmitters.iter().filter(is_of).map(|one| one.counts).sum()
    }
}

/// Removes metrics without a value, those that are complete only at the end of the measured time,
/// and those of transfers, about which the estimator sums have more.
fn known_by_then(mut metrics: Metrics) -> Metrics {
    metrics.retain(|name, value| {
        let of_transfers = name.starts_with("transfer_time") || name.starts_with("page_time");
        value.is_some() && !of_transfers && !AT_THE_END.contains(name)
    });
    metrics
}
