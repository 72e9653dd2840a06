//! The end of a run: computes the outcome from the counters.

use airtcp_kernel::{Duration, Time};
use airtcp_wlan::{AirtimeParts, ContenderId, FailureCounts, MacCounters, View};

use super::super::node::Transmitter;
use super::groups::SentCounts;
use super::metrics::{Traffic, fraction};
use super::{Entities, Ledger, QueueCounts};
use crate::medium::Medium;
use crate::outcome::{
    AirtimeShares, Counts, FlowRecord, GroupHalfway, GroupRecord, Halfway, Metrics, Outcome,
    StationRecord,
};
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

impl Ledger {
    /// Returns the outcome of the measured time that ends now. `events` is the number of events of
    /// the world; `airtime` and `views` are those of [`Self::close`].
    pub(in crate::world) fn conclude(
        &mut self,
        all: Entities<'_>,
        medium: &Medium,
        events: u64,
        (airtime, views): (AirtimeParts, Vec<View>),
    ) -> Outcome {
        if let Some(began) = medium.contention_free_since() {
            self.contention_free(began, all.now);
        }
        let Figures { mac, counts, flows, distribution, metrics, groups } =
            self.figures(all, medium, events);
        let measured = self.measured(all.now);
        let share = |part| ratio(part, measured);
        let failures = self.failures(all, medium);
        Outcome {
            metrics,
            groups,
            halfway: self.halfway.take(),
            books: self.take_books(all),
            categories: self.category_records(all, medium),
            airtime: AirtimeShares {
                idle: share(airtime.idle),
                data: share(airtime.data),
                tcp_ack: share(airtime.tcp_ack),
                control: share(airtime.control),
                collision: share(airtime.overlapped),
            },
            counts,
            stations: station_records(all, &mac, &failures, &flows),
            cells: self.cell_records(all, medium, &views, &flows, &failures),
            flows,
            active_flows_distribution: distribution,
            goodput_series_bps: self.series.rates_bps(),
            transfer_times_s: std::mem::take(&mut self.transfer_times_s),
            transfers: self.transfers.take(),
        }
    }

    /// Records the metrics of the first half of the measured time, which ends now.
    pub(in crate::world) fn note_halfway(
        &mut self,
        all: Entities<'_>,
        medium: &Medium,
        events: u64,
    ) {
        let Figures { metrics, groups, .. } = self.figures(all, medium, events);
        let groups = groups.into_iter().map(|one| GroupHalfway {
            name: one.name,
            all: known_by_then(one.all),
            download: one.download.map(known_by_then),
            upload: one.upload.map(known_by_then),
        });
        self.halfway = Some(Halfway { metrics: known_by_then(metrics), groups: groups.collect() });
    }

    /// Returns the results measured so far.
    fn figures(&mut self, all: Entities<'_>, medium: &Medium, events: u64) -> Figures {
        let measured = self.measured(all.now);
        let mac = self.mac_counted(all, medium);
        let counts = self.counts(all, &mac, medium, events);
        let flows = flow_records(all, measured);
        let distribution = self.active.shares(all.now, measured);
        let active: f64 = distribution.iter().enumerate().map(|(k, p)| k as f64 * p).sum();
        let metrics = self.metrics(all, &flows, &mac, &counts, active);
        let groups = self.group_records(all, &mac, &flows);
        Figures { mac, counts, flows, distribution, metrics, groups }
    }

    /// Returns the time since measuring began.
    pub(super) fn measured(&self, now: Time) -> Duration {
        now - self.began
    }

    /// Returns the MAC counters of each node in the measured time.
    fn mac_counted(&self, all: Entities<'_>, medium: &Medium) -> Vec<MacCounters> {
        let mut mac = vec![MacCounters::default(); all.nodes.len()];
        for (id, transmitter) in (0..).zip(all.transmitters) {
            mac[transmitter.node as usize] += self.mac_counted_by(id, medium);
        }
        mac
    }

    /// Returns the MAC counters of a queue in the measured time. Attempts count if they ended in
    /// it, like the collisions and successes that end them. Otherwise a short run would count the
    /// collision of an attempt that it does not count.
    pub(super) fn mac_counted_by(&self, id: ContenderId, medium: &Medium) -> MacCounters {
        let counted = medium.counters(id) - self.mac_baseline[id as usize];
        MacCounters { attempts: counted.attempts_ended(), ..counted }
    }

    fn counts(
        &self,
        all: Entities<'_>,
        mac: &[MacCounters],
        medium: &Medium,
        events: u64,
    ) -> Counts {
        let drops = self.losses;
        let in_cell = medium.cell_counters() - self.cell_baseline;
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
            events,
            ..Counts::default()
        };
        for flow in all.flows {
            counts.transfers += flow.measured.transfers;
            counts.tcp_segments += flow.measured.tcp.segments;
            counts.tcp_retransmissions += flow.measured.tcp.retransmissions;
            counts.tcp_timeouts += flow.measured.tcp.timeouts;
            counts.ecn_marks += flow.measured.tcp.ecn_marks;
            counts.ecn_reductions += flow.measured.tcp.ecn_reductions;
        }
        counts
    }

    /// Returns the metrics of the whole network.
    fn metrics(
        &self,
        all: Entities<'_>,
        flows: &[FlowRecord],
        mac: &[MacCounters],
        counts: &Counts,
        active_flows: f64,
    ) -> Metrics {
        let measured = self.measured(all.now);
        let of_queues = |at_access_point| -> QueueCounts {
            let is_of = |one: &&Transmitter| one.at_access_point == at_access_point;
            all.transmitters.iter().filter(is_of).map(|one| one.counts).sum()
        };
        let (queues, station_queues) = (of_queues(true), of_queues(false));
        let (mut ap, mut stations) = (SentCounts::default(), SentCounts::default());
        for (node, &counted) in all.nodes.iter().zip(mac) {
            let sent = if node.is_access_point() { &mut ap } else { &mut stations };
            sent.mac += counted;
        }
        for (id, transmitter) in (0..).zip(all.transmitters) {
            let sent = if transmitter.at_access_point { &mut ap } else { &mut stations };
            sent.ppdus += self.ppdus_by(id);
        }
        let latency = self.latency_of(0..self.scopes.len() as u32);
        let traffic = Traffic {
            goodputs_bps: flows.iter().map(|flow| flow.goodput_bps).collect(),
            transfer_times_s: self.transfer_times_s.clone(),
            ratings: (all.flows.iter()).filter_map(|flow| flow.speech.as_ref()?.rating()).collect(),
            page_times_s: self.page_times_s.iter().map(|&(_, time)| time).collect(),
            last_ack_time_s: self.last_ack_times.value(),
            active_flows,
            payload_s: self
                .scopes
                .chunks(2)
                .zip(&all.scenario.stations)
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
        metrics.extend(self.sent_metrics(ap, stations));
        metrics.extend([
            ("ap_queue_packets", Some(self.ap_queue.average(all.now, measured))),
            ("ap_queue_drop_probability", fraction(queues.queue_drops, queues.arrivals)),
            (
                "station_queue_drop_probability",
                fraction(station_queues.queue_drops, station_queues.arrivals),
            ),
            ("mean_backlogged_nodes", Some(self.backlogged.average(all.now, measured))),
            (
                "contention_free_share",
                all.scenario.mac.pcf.map(|_| ratio(self.contention_free, measured)),
            ),
            ("active_stations_after_ap_success", self.active_after_ap_success()),
            (
                "simultaneous_send_probability",
                // A field does not report whether the receiver of one frame was the sender of the
                // other.
                fraction(counts.simultaneous_sends, counts.mac_exchanges + counts.collisions)
                    .filter(|_| !all.has_air()),
            ),
        ]);
        metrics
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

fn flow_records(all: Entities<'_>, measured: Duration) -> Vec<FlowRecord> {
    let measured_s = measured.as_secs_f64();
    // Only endless flows can starve.
    let shares: Vec<u64> = all
        .flows
        .iter()
        .filter(|flow| flow.app.is_endless())
        .map(|flow| flow.measured.delivered_bytes)
        .collect();
    let fair_share = shares.iter().sum::<u64>() as f64 / shares.len().max(1) as f64;
    all.flows
        .iter()
        .map(|flow| {
            let measured = &flow.measured;
            FlowRecord {
                name: flow.name.clone(),
                station: all.nodes[flow.station as usize].name.clone(),
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
    all: Entities<'_>,
    mac: &[MacCounters],
    failures: &[FailureCounts],
    flows: &[FlowRecord],
) -> Vec<StationRecord> {
    let mut goodput = vec![0.0; all.nodes.len()];
    for (flow, record) in all.flows.iter().zip(flows) {
        goodput[flow.station as usize] += record.goodput_bps;
        goodput[flow.access_point as usize] += record.goodput_bps;
    }
    let mut queue_drops = vec![0; all.nodes.len()];
    let mut hidden = vec![0; all.nodes.len()];
    for transmitter in all.transmitters {
        queue_drops[transmitter.node as usize] += transmitter.counts.queue_drops;
    }
    for (transmitter, failed) in all.transmitters.iter().zip(failures) {
        hidden[transmitter.node as usize] += failed.hidden;
    }
    all.nodes
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
