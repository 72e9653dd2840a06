//! Counters per station group and direction of flows, and per access category, and the records of a
//! replication computed from them.
//!
//! The flows of a group in one direction are a scope. Definitions of metrics are in `metrics`.

use std::collections::BTreeMap;

use airtcp_wlan::MacCounters;

use super::World;
use super::latency::Latency;
use super::measure::Mean;
use super::metrics::{Traffic, fraction, mac_metrics, station_metrics};
use super::ppdus::PpduCounts;
use crate::medium::Medium;
use crate::outcome::{CategoryRecord, FlowRecord, GroupAirtime, GroupRecord, Metrics};
use crate::scenario::{Direction, Scenario};
use crate::statistics::{Level, ratio};

pub(super) const DIRECTIONS: [Direction; 2] = [Direction::Download, Direction::Upload];

/// Returns the scope of a station group's flows in one direction.
pub(super) fn scope(group: u32, direction: Direction) -> u32 {
    2 * group + direction as u32
}

/// Returns the number of scopes.
pub(super) fn scopes(scenario: &Scenario) -> u32 {
    2 * scenario.stations.len() as u32
}

/// Counters of one scope, in addition to those of its flows.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// Transfers in progress.
    pub(super) active: Level,
    pub(super) last_ack_times: Mean,
    /// Payload bits received over the medium.
    pub(super) payload_bits: u64,
    pub(super) latency: Latency,
}

/// Counters of what the queues of some nodes have sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SentCounts {
    pub(super) mac: MacCounters,
    pub(super) ppdus: PpduCounts,
}

impl World<'_> {
    /// Returns one record per station group.
    pub(super) fn group_records(
        &mut self,
        mac: &[MacCounters],
        flows: &[FlowRecord],
    ) -> Vec<GroupRecord> {
        let scenario = self.scenario;
        (0..)
            .zip(&scenario.stations)
            .map(|(group, stations)| {
                let own = self.nodes.iter().zip(mac).filter(|(node, _)| node.group == Some(group));
                let own = own.fold(MacCounters::default(), |sum, (_, &counted)| sum + counted);
                let [down, up] = DIRECTIONS.map(|direction| scope(group, direction));
                let mut all = self.scope_metrics(&[down, up], flows);
                all.extend(station_metrics(own, self.is_aggregated()));
                if let Some(ppdus) = &self.measures.ppdus {
                    let mut sent = PpduCounts::default();
                    for (id, transmitter) in (0..).zip(&self.transmitters) {
                        if self.nodes[transmitter.node as usize].group == Some(group) {
                            sent += ppdus.by(id);
                        }
                    }
                    all.extend(PpduCounts::metrics(ppdus.to(group), sent));
                } else {
                    all.extend(PpduCounts::metrics(PpduCounts::default(), PpduCounts::default()));
                }
                let queues = self.queue_counts(|node| node.group == Some(group));
                let lost = fraction(queues.queue_drops, queues.arrivals);
                all.insert("station_queue_drop_probability", lost);
                let [download, upload] = [down, up].map(|scope| {
                    let has_flows = self.flows.iter().any(|flow| flow.scope == scope);
                    has_flows.then(|| self.scope_metrics(&[scope], flows))
                });
                GroupRecord {
                    name: stations.name.clone(),
                    all,
                    download,
                    upload,
                    airtime: self.group_airtime(&[down, up]),
                }
            })
            .collect()
    }

    /// Returns one record per access category with a queue; none under the DCF.
    pub(super) fn category_records(&self, medium: &Medium) -> Vec<CategoryRecord> {
        let mut categories: BTreeMap<_, (SentCounts, SentCounts)> = BTreeMap::new();
        for (id, transmitter) in (0..).zip(&self.transmitters) {
            let Some(category) = transmitter.category else { continue };
            let (ap, stations) = categories.entry(category).or_default();
            let is_access_point = self.nodes[transmitter.node as usize].is_access_point();
            let sent = if is_access_point { ap } else { stations };
            sent.mac += self.mac_counted_by(id, medium);
            if let Some(ppdus) = &self.measures.ppdus {
                sent.ppdus += ppdus.by(id);
            }
        }
        categories
            .into_iter()
            .map(|(category, (ap, stations))| CategoryRecord {
                name: category.to_string(),
                metrics: {
                    let mut metrics = mac_metrics(ap.mac, stations.mac, self.is_aggregated());
                    metrics.extend(PpduCounts::metrics(ap.ppdus, stations.ppdus));
                    metrics
                },
            })
            .collect()
    }

    fn scope_metrics(&mut self, scopes: &[u32], flows: &[FlowRecord]) -> Metrics {
        let measured = self.measured();
        let mut traffic = Traffic::default();
        for (flow, record) in self.flows.iter().zip(flows) {
            if scopes.contains(&flow.scope) {
                traffic.goodputs_bps.push(record.goodput_bps);
                traffic.retransmissions += record.retransmissions;
                traffic.timeouts += record.timeouts;
                traffic.ratings.extend(flow.speech.as_ref().and_then(|speech| speech.rating()));
            }
        }
        let measures = &mut self.measures;
        let transfers = measures.transfer_times_s.iter().zip(&measures.transfer_scopes);
        traffic.transfer_times_s =
            transfers.filter(|(_, scope)| scopes.contains(scope)).map(|(&time, _)| time).collect();
        let pages = measures.page_times_s.iter().filter(|(scope, _)| scopes.contains(scope));
        traffic.page_times_s = pages.map(|&(_, time)| time).collect();
        let mut last_ack_times = Mean::default();
        for &id in scopes {
            let scope = &mut measures.scopes[id as usize];
            let bps = self.scenario.stations[id as usize / 2].data_rate.bps;
            traffic.payload_s += scope.payload_bits as f64 / bps as f64;
            traffic.active_flows += scope.active.average(self.now, measured);
            last_ack_times += scope.last_ack_times;
        }
        traffic.last_ack_time_s = last_ack_times.value();
        let mut metrics = traffic.metrics(measured);
        metrics.extend(self.latency(scopes).metrics());
        metrics.insert("airtime_share", Some(ratio(self.exchanges_of(scopes).total(), measured)));
        metrics
    }

    /// Returns the delays of packets of these scopes.
    fn latency(&self, scopes: &[u32]) -> Latency {
        let mut sum = Latency::default();
        for &scope in scopes {
            sum += &self.measures.scopes[scope as usize].latency;
        }
        sum
    }

    fn group_airtime(&self, scopes: &[u32]) -> GroupAirtime {
        let parts = self.exchanges_of(scopes);
        let measured = self.measured();
        GroupAirtime {
            data: ratio(parts.data, measured),
            tcp_ack: ratio(parts.tcp_ack, measured),
            control: ratio(parts.control, measured),
        }
    }
}
