//! The access point and the stations, and the queues with which they contend: one each under
//! the DCF, one for each access category that traffic is put into under EDCA.

use std::collections::VecDeque;
use std::ops::Range;

use airtcp_kernel::{Duration, RandomStream};
use airtcp_net::{Queue, QueueConfig};
use airtcp_wlan::{
    AccessCategory, AccessParameters, AccessScheme, ContenderConfig, ContenderId, StationId,
};

use super::AP;
use super::measure::NodeCounts;
use crate::packet::{Body, Packet, TrafficClass};
use crate::scenario::Scenario;

/// A station or the access point.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: String,
    /// Where packets of each [`TrafficClass`] wait.
    routes: [ContenderId; 3],
    /// Its queues.
    pub(super) transmitters: Range<usize>,
    pub(super) counts: NodeCounts,
}

impl Node {
    /// The queue for packets of `class`.
    #[inline]
    pub(super) fn route(&self, class: TrafficClass) -> ContenderId {
        self.routes[class as usize]
    }
}

/// A queue that contends for the medium.
#[derive(Debug)]
pub(super) struct Transmitter {
    pub(super) node: StationId,
    /// None under the DCF.
    pub(super) category: Option<AccessCategory>,
    pub(super) queue: Queue<Body>,
    /// The packet that it sends, or is to send again; it has its place in the queue still.
    pub(super) sending: Option<Packet>,
    /// Datagram flows that wait for room in the queue.
    pub(super) blocked: VecDeque<u32>,
    pub(super) txop_limit: Duration,
}

/// Nodes, their queues, and how these contend, in the same order.
pub(super) fn build(
    scenario: &Scenario,
    seed: u64,
    replication: u64,
) -> (Vec<Node>, Vec<Transmitter>, Vec<ContenderConfig>) {
    let mut nodes = Vec::new();
    let mut transmitters = Vec::new();
    let mut contenders = Vec::new();
    let mut add = |name: String, queue: &QueueConfig| {
        let node = nodes.len() as StationId;
        let queues = queues_of(scenario, node == AP);
        let first = transmitters.len() as ContenderId;
        let routes = scenario.classify.categories().map(|category| {
            let index = queues.iter().position(|(known, _)| known.is_none_or(|k| k == category));
            first + index.expect("every class has a queue") as ContenderId
        });
        for (category, access) in queues {
            // Under the DCF a station is one entity; under EDCA each of its queues is.
            let entity = match category {
                None => name.clone(),
                Some(category) => format!("{name} {category:?}"),
            };
            contenders.push(ContenderConfig {
                station: node,
                access,
                backoffs: RandomStream::new(seed, replication, &entity, "backoff"),
                bursts: match scenario.ap.access {
                    AccessScheme::AdaptiveBurst(bursts) if node == AP => Some(bursts),
                    _ => None,
                },
            });
            transmitters.push(Transmitter {
                node,
                category,
                queue: Queue::new(queue, || {
                    RandomStream::new(seed, replication, &entity, "early detection")
                }),
                sending: None,
                blocked: VecDeque::new(),
                txop_limit: access.txop_limit,
            });
        }
        nodes.push(Node {
            name,
            routes,
            transmitters: first as usize..transmitters.len(),
            counts: NodeCounts::default(),
        });
    };
    add("ap".into(), &scenario.ap.queue);
    for group in &scenario.stations {
        for index in 0..group.count {
            add(format!("{}/{index}", group.name), &group.queue);
        }
    }
    (nodes, transmitters, contenders)
}

/// The queues of a node, the one with the highest priority first; no category under the DCF.
fn queues_of(scenario: &Scenario, ap: bool) -> Vec<(Option<AccessCategory>, AccessParameters)> {
    let Some(edca) = &scenario.mac.edca else {
        return vec![(None, AccessParameters::dcf(&scenario.phy))];
    };
    let parameters = if ap { &edca.ap } else { &edca.stations };
    let used = scenario.classify.categories();
    let sends_beacons = ap && scenario.mac.beacon.is_some();
    // The map is ordered by priority.
    parameters
        .iter()
        .filter(|&(category, _)| {
            used.contains(category) || sends_beacons && *category == AccessCategory::Voice
        })
        .map(|(&category, &access)| (Some(category), access))
        .collect()
}
