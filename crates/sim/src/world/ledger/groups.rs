//! Counters per station group and direction of flows, and per access category, and the records of a
//! replication computed from them.
//!
//! The flows of a group in one direction are a scope. Definitions of metrics are in `metrics`.

use std::collections::BTreeMap;

use airtcp_wlan::{ContenderId, MacCounters};

use super::super::node::Transmitter;
use super::latency::Latency;
use super::metrics::{Traffic, fraction, mac_metrics, station_metrics};
use super::ppdus::PpduCounts;
use super::{Entities, Ledger, Mean, QueueCounts};
use crate::medium::Medium;
use crate::outcome::{CategoryRecord, FlowRecord, GroupAirtime, GroupRecord, Metrics};
use crate::scenario::{Direction, Scenario};
use crate::statistics::{Level, ratio};

pub(super) const DIRECTIONS: [Direction; 2] = [Direction::Download, Direction::Upload];

/// Returns the scope of a station group's flows in one direction.
pub(in crate::world) fn scope(group: u32, direction: Direction) -> u32 {
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

/// The places of items by a number that each has.
pub(super) struct Places(Vec<Vec<u32>>);

impl Places {
    /// Lists the places of items by their numbers, which are below `count`; `None` is left out.
    pub(super) fn new(count: u32, numbers: impl Iterator<Item = Option<u32>>) -> Self {
        let mut places = vec![Vec::new(); count as usize];
        for (place, number) in (0..).zip(numbers) {
            if let Some(number) = number {
                places[number as usize].push(place);
            }
        }
        Self(places)
    }

    /// Returns the places of the items with this number, in ascending order.
    pub(super) fn of(&self, number: u32) -> &[u32] {
        &self.0[number as usize]
    }

    /// Returns the places of the items with one of these numbers, in ascending order.
    fn of_any(&self, numbers: &[u32]) -> Vec<u32> {
        let mut places: Vec<_> = numbers.iter().flat_map(|&one| self.of(one)).copied().collect();
        places.sort_unstable();
        places
    }
}

/// What belongs to each scope: flows, transfers and pages.
struct OfScopes {
    flows: Places,
    transfers: Places,
    pages: Places,
}

impl Ledger {
    /// Returns one record per station group.
    pub(super) fn group_records(
        &self,
        all: Entities<'_>,
        mac: &[MacCounters],
        flows: &[FlowRecord],
    ) -> Vec<GroupRecord> {
        let Entities { scenario, nodes, transmitters, .. } = all;
        let groups = scenario.stations.len() as u32;
        let nodes_of = Places::new(groups, nodes.iter().map(|node| node.group));
        let group_of = |one: &Transmitter| nodes[one.node as usize].group;
        let queues = Places::new(groups, transmitters.iter().map(group_of));
        let of_scopes = self.of_scopes(all);
        (0..)
            .zip(&scenario.stations)
            .map(|(group, stations)| {
                let own = nodes_of.of(group).iter().map(|&node| mac[node as usize]);
                let own: MacCounters = own.sum();
                let [down, up] = DIRECTIONS.map(|direction| scope(group, direction));
                let mut metrics = self.scope_metrics(all, &[down, up], &of_scopes, flows);
                metrics.extend(station_metrics(own, self.ppdus.is_some()));
                let sent = queues.of(group).iter().map(|&id| self.ppdus_by(id)).sum();
                let from_ap = self.ppdus.as_ref().map(|ppdus| ppdus.to(group)).unwrap_or_default();
                metrics.extend(PpduCounts::metrics(from_ap, sent));
                let own = queues.of(group).iter().map(|&id| &transmitters[id as usize]);
                let queues: QueueCounts = own.map(|one| one.counts).sum();
                let lost = fraction(queues.queue_drops, queues.arrivals);
                metrics.insert("station_queue_drop_probability", lost);
                let [download, upload] = [down, up].map(|scope| {
                    let has_flows = !of_scopes.flows.of(scope).is_empty();
                    has_flows.then(|| self.scope_metrics(all, &[scope], &of_scopes, flows))
                });
                GroupRecord {
                    name: stations.name.clone(),
                    all: metrics,
                    download,
                    upload,
                    airtime: self.group_airtime(all, &[down, up]),
                }
            })
            .collect()
    }

    /// Returns one record per access category with a queue; none under the DCF.
    pub(super) fn category_records(
        &self,
        all: Entities<'_>,
        medium: &Medium,
    ) -> Vec<CategoryRecord> {
        let mut categories: BTreeMap<_, (SentCounts, SentCounts)> = BTreeMap::new();
        for (id, transmitter) in (0..).zip(all.transmitters) {
            let Some(category) = transmitter.category else { continue };
            let (ap, stations) = categories.entry(category).or_default();
            let sent = if transmitter.at_access_point { ap } else { stations };
            sent.mac += self.mac_counted_by(id, medium);
            sent.ppdus += self.ppdus_by(id);
        }
        categories
            .into_iter()
            .map(|(category, (ap, stations))| CategoryRecord {
                name: category.to_string(),
                metrics: self.sent_metrics(ap, stations),
            })
            .collect()
    }

    /// Returns the MAC metrics of what access points and stations have sent.
    pub(super) fn sent_metrics(&self, ap: SentCounts, stations: SentCounts) -> Metrics {
        let mut metrics = mac_metrics(ap.mac, stations.mac, self.ppdus.is_some());
        metrics.extend(PpduCounts::metrics(ap.ppdus, stations.ppdus));
        metrics
    }

    /// Returns the PPDUs of a queue; none without aggregation.
    pub(in crate::world) fn ppdus_by(&self, id: ContenderId) -> PpduCounts {
        self.ppdus.as_ref().map(|ppdus| ppdus.by(id)).unwrap_or_default()
    }

    /// Lists what belongs to each scope.
    fn of_scopes(&self, all: Entities<'_>) -> OfScopes {
        let count = scopes(all.scenario);
        let Self { transfer_scopes, page_times_s, .. } = self;
        OfScopes {
            flows: Places::new(count, all.flows.iter().map(|flow| Some(flow.scope))),
            transfers: Places::new(count, transfer_scopes.iter().copied().map(Some)),
            pages: Places::new(count, page_times_s.iter().map(|&(scope, _)| Some(scope))),
        }
    }

    fn scope_metrics(
        &self,
        all: Entities<'_>,
        scopes: &[u32],
        of_scopes: &OfScopes,
        flows: &[FlowRecord],
    ) -> Metrics {
        let measured = self.measured(all.now);
        let mut traffic = Traffic::default();
        for place in of_scopes.flows.of_any(scopes) {
            let (flow, record) = (&all.flows[place as usize], &flows[place as usize]);
            traffic.goodputs_bps.push(record.goodput_bps);
            traffic.retransmissions += record.retransmissions;
            traffic.timeouts += record.timeouts;
            traffic.ratings.extend(flow.speech.as_ref().and_then(|speech| speech.rating()));
        }
        let transfers = of_scopes.transfers.of_any(scopes).into_iter();
        traffic.transfer_times_s =
            transfers.map(|place| self.transfer_times_s[place as usize]).collect();
        let pages = of_scopes.pages.of_any(scopes).into_iter();
        traffic.page_times_s = pages.map(|place| self.page_times_s[place as usize].1).collect();
        let mut last_ack_times = Mean::default();
        for &id in scopes {
            let scope = &self.scopes[id as usize];
            let bps = all.scenario.stations[id as usize / 2].data_rate.bps;
            traffic.payload_s += scope.payload_bits as f64 / bps as f64;
            traffic.active_flows += scope.active.average(all.now, measured);
            last_ack_times += scope.last_ack_times;
        }
        traffic.last_ack_time_s = last_ack_times.value();
        let mut metrics = traffic.metrics(measured);
        metrics.extend(self.latency_of(scopes.iter().copied()).metrics());
        metrics
            .insert("airtime_share", Some(ratio(self.exchanges_of(all, scopes).total(), measured)));
        metrics
    }

    /// Returns the delays of packets of these scopes.
    pub(super) fn latency_of(&self, scopes: impl Iterator<Item = u32>) -> Latency {
        let mut sum = Latency::default();
        for scope in scopes {
            sum += &self.scopes[scope as usize].latency;
        }
        sum
    }

    fn group_airtime(&self, all: Entities<'_>, scopes: &[u32]) -> GroupAirtime {
        let parts = self.exchanges_of(all, scopes);
        let share = |part| ratio(part, self.measured(all.now));
        GroupAirtime {
            data: share(parts.data),
            tcp_ack: share(parts.tcp_ack),
            control: share(parts.control),
        }
    }
}
