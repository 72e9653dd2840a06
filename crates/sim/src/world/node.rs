//! The access points and stations, and their contending queues: one each under the DCF, one per
//! used access category under EDCA.

use std::collections::VecDeque;

use airtcp_kernel::RandomStream;
use airtcp_net::{Destination, Queue, QueueConfig, Served};
use airtcp_wlan::{
    AccessCategory, AccessParameters, ContenderConfig, ContenderId, FrameErrors, MacConfig,
    MediumConfig, MinstrelRules, RateControlConfig, StationId,
};

use super::ledger::QueueCounts;
use super::media::Media;
use crate::packet::{Body, TrafficClass};
use crate::scenario::{RadioLink, Scenario, StationGroup};

/// The number of an access point or a station.
pub(super) type NodeId = u32;

/// A station or an access point.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: String,
    /// Its station group; `None` for an access point.
    pub(super) group: Option<u32>,
    /// Its number on its medium.
    pub(super) address: StationId,
    /// The access point of its cell; itself if it is one.
    pub(super) access_point: NodeId,
    /// The queue for packets of each [`TrafficClass`].
    pub(super) routes: [ContenderId; 3],
    /// The number of its nonempty queues.
    pub(super) backlogged_queues: u32,
}

impl Node {
    #[inline]
    pub(super) fn is_access_point(&self) -> bool {
        self.group.is_none()
    }

    /// Returns the queue for packets of `class`.
    #[inline]
    pub(super) fn route(&self, class: TrafficClass) -> ContenderId {
        self.routes[class as usize]
    }
}

/// A queue that contends for the medium.
// In this order, what each packet uses occupies as few cache lines as possible.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Transmitter {
    pub(super) node: NodeId,
    pub(super) at_access_point: bool,
    /// The access category; `None` under the DCF.
    pub(super) category: Option<AccessCategory>,
    /// Whether its last frame collided; only set if TCP wants this feedback.
    pub(super) collided: bool,
    pub(super) queue: Queue<Body>,
    pub(super) counts: QueueCounts,
    /// Datagram flows that wait for room in the queue.
    pub(super) blocked: VecDeque<u32>,
}

/// The parts that [`build`] creates.
pub(super) struct Built<'a> {
    pub(super) nodes: Vec<Node>,
    /// The queues, in the order of the contenders of the medium.
    pub(super) transmitters: Vec<Transmitter>,
    /// The media; most scenarios have one.
    pub(super) media: Media<'a>,
    /// For each of several links of the access point, the stations without it.
    pub(super) absent: Vec<Vec<StationId>>,
    /// The number of access points, which are the first nodes.
    pub(super) access_points: NodeId,
    /// The first station of each group.
    pub(super) groups: Vec<NodeId>,
}

/// Builds nodes, their queues, and the media that they share. Access points come first.
pub(super) fn build<'a>(scenario: &'a Scenario, seed: u64, replication: u64) -> Built<'a> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut transmitters = Vec::new();
    let mut contenders = Vec::new();
    let mut entities = Vec::new();
    let receiver = |weight, rate: u64| Destination { weight, rate_bps: rate };
    let each = scenario.stations.iter().flat_map(|group| {
        let station = receiver(group.airtime_weight, group.data_rate.bps);
        std::iter::repeat_n(station, group.count as usize)
    });
    // An access point belongs to no station group.
    let access_points = scenario.access_points().count() as NodeId;
    let cells = scenario.cells_of_nodes();
    let slot_time = scenario.phy.slot_time;
    let airs = scenario.air.as_ref().map_or_else(Vec::new, |air| air.airs(&cells, slot_time));
    let mut cells_of_air = vec![0; access_points as usize];
    for &air in airs.iter().flatten() {
        cells_of_air[air as usize] += 1;
    }
    let mut first_of_cell = vec![0; access_points as usize];
    for (station, &cell) in cells.iter().enumerate().skip(access_points as usize).rev() {
        first_of_cell[cell as usize] = station as StationId;
    }
    let is_alone = |cell: u32| cells_of_air[cell as usize] == 1;
    let none = std::iter::repeat_n(receiver(0, 0), access_points as usize);
    let receivers: std::rc::Rc<[Destination]> = none.chain(each).collect();
    let mut add = |name: String,
                   streams: &str,
                   group: Option<(u32, &StationGroup)>,
                   queue: &QueueConfig,
                   (access_point, service): (NodeId, Served)| {
        let node = nodes.len() as NodeId;
        let address: StationId = node;
        let is_access_point = group.is_none();
        let queues = queues_of(scenario, group.map(|(_, group)| group));
        let first = transmitters.len() as ContenderId;
        let routes = scenario.classify.categories().map(|category| {
            let index = queues.iter().position(|(known, _)| known.is_none_or(|k| k == category));
            first + index.expect("every class has a queue") as ContenderId
        });
        for (category, access) in queues {
            // Under the DCF the random stream belongs to a station; under EDCA to each of its
            // queues.
            let entity = match category {
                None => streams.to_owned(),
                Some(category) => format!("{streams} {category:?}"),
            };
            contenders.push(ContenderConfig {
                station: address,
                access,
                backoffs: RandomStream::new(seed, replication, &entity, "backoff"),
                bursts: scenario.ap.access.bursts().filter(|_| is_access_point),
            });
            transmitters.push(Transmitter {
                node,
                at_access_point: is_access_point,
                category,
                queue: Queue::new(queue, service.clone(), || {
                    RandomStream::new(seed, replication, &entity, "early detection")
                }),
                counts: QueueCounts::default(),
                blocked: VecDeque::new(),
                collided: false,
            });
            entities.push(entity);
        }
        let group = group.map(|(number, _)| number);
        nodes.push(Node { name, group, address, access_point, routes, backlogged_queues: 0 });
    };
    for (cell, (name, ap)) in (0..).zip(scenario.access_points()) {
        let first = first_of_cell[cell as usize];
        let served = Served { scheduler: ap.scheduler, receivers: receivers.clone(), first };
        let streams = is_alone(cell).then(|| scenario.cells[cell as usize].streams.as_deref());
        let streams = streams.flatten();
        add(name.to_owned(), streams.unwrap_or(name), None, &ap.queue, (cell, served));
    }
    let mut groups = Vec::new();
    let mut rate_classes = vec![0; access_points as usize];
    for (class, group) in (0..).zip(&scenario.stations) {
        groups.push(rate_classes.len() as NodeId);
        for index in 0..group.count {
            let name = format!("{}/{index}", group.name);
            // Stations send only to the access point.
            let to_one = (group.cell, Served::default());
            add(name.clone(), &name, Some((class, group)), &group.queue, to_one);
            rate_classes.push(class);
        }
    }
    let of_link = |(number, link): (usize, &'a RadioLink)| {
        let on_link = format!(" on link {}", number + 1);
        let purpose = format!("backoff{on_link}");
        let contenders = contenders.iter().zip(&entities).map(|(one, entity)| {
            let backoffs = RandomStream::new(seed, replication, entity, &purpose);
            let access = one.access.on_link(&scenario.phy, &link.phy);
            ContenderConfig { access, backoffs, ..one.clone() }
        });
        let whole = MediumConfig {
            phy: &link.phy,
            mac: MacConfig { cf_end_rate: link.cf_end_rate, ..scenario.mac.clone() },
            cells: cells.clone(),
            rates: link.rates().collect(),
            pairs: link.pairs(),
            rate_classes: rate_classes.clone(),
            errors: errors(scenario, seed, replication, &on_link),
            rate_controls: cells.iter().map(|_| None).collect(),
            contenders: contenders.collect(),
        };
        let mut media = Media::of(scenario, whole, &[]).configs;
        let first_class = (number * scenario.stations.len()) as u32;
        for (_, _, numbers) in &mut media {
            numbers.classes.iter_mut().for_each(|class| *class += first_class);
        }
        media
    };
    let others: Vec<_> = (1..).zip(scenario.other_links()).flat_map(of_link).collect();
    let whole = MediumConfig {
        phy: &scenario.phy,
        mac: scenario.mac.clone(),
        rates: scenario.rates().collect(),
        pairs: scenario.pairs(),
        rate_classes,
        errors: errors(scenario, seed, replication, ""),
        rate_controls: rate_controls(scenario, seed, replication),
        contenders,
        cells,
    };
    let mut media = Media::of(scenario, whole, &airs);
    media.configs.extend(others);
    let absent = scenario.ap.links.iter().flatten().map(|link| {
        let groups = groups.iter().zip(&scenario.stations).zip(&link.stations);
        let without = groups.filter(|(_, rates)| rates.is_none());
        without.flat_map(|((&first, group), _)| first..first + group.count).collect()
    });
    let absent: Vec<Vec<StationId>> = absent.collect();
    if absent.len() > 1 {
        transmitters.iter_mut().for_each(|one| one.queue.share());
    }
    Built { nodes, transmitters, media, absent, access_points, groups }
}

/// Returns the rate control of nodes that have it; its rate classes follow those of the groups.
fn rate_controls(
    scenario: &Scenario,
    seed: u64,
    replication: u64,
) -> Vec<Option<RateControlConfig>> {
    let mut first_class = scenario.stations.len() as u32;
    let mut nodes: Vec<_> = scenario.access_points().map(|_| None).collect();
    for group in &scenario.stations {
        let error_rates: Option<Vec<f64>> = group
            .rate_control
            .as_ref()
            .map(|one| one.rates.iter().map(|rate| rate.error_rate).collect());
        let rules = group.rate_control.as_ref().map_or(MinstrelRules::Linux, |one| one.rules);
        let of_node = |index| {
            let entity = format!("{}/{index}", group.name);
            let samples = |purpose| RandomStream::new(seed, replication, &entity, purpose);
            error_rates.clone().map(|error_rates| RateControlConfig {
                first_class,
                error_rates,
                rules,
                samples: [samples("rates of downloads"), samples("rates of uploads")],
            })
        };
        nodes.extend((0..group.count).map(of_node));
        first_class += error_rates.as_ref().map_or(0, |rates| rates.len() as u32);
    }
    nodes
}

/// Returns the frame errors of each node; the access point uses those of the stations.
fn errors(
    scenario: &Scenario,
    seed: u64,
    replication: u64,
    on_link: &str,
) -> Vec<Option<(FrameErrors, RandomStream)>> {
    let purpose = &format!("frame errors{on_link}");
    let of_group = |group: &StationGroup| {
        // With rate control each rate has its own errors.
        let by_rate = FrameErrors { rate: 0.0, of_bytes: None, least_bytes: 0 };
        let errors = group.frame_errors.or(group.rate_control.as_ref().map(|_| by_rate));
        let name = group.name.clone();
        (0..group.count).map(move |index| {
            let entity = format!("{name}/{index}");
            errors.map(|errors| (errors, RandomStream::new(seed, replication, &entity, purpose)))
        })
    };
    let access_points = scenario.access_points().map(|_| None);
    access_points.chain(scenario.stations.iter().flat_map(of_group)).collect()
}

/// Returns the queues of a station of a group, or of the access point, highest priority first;
/// without a category under the DCF.
fn queues_of(
    scenario: &Scenario,
    group: Option<&StationGroup>,
) -> Vec<(Option<AccessCategory>, AccessParameters)> {
    let ap = group.is_none();
    let Some(edca) = &scenario.mac.edca else {
        let dcf = AccessParameters::dcf(&scenario.phy);
        let cw_min = group.map_or(dcf.cw_min, |group| group.cw_min);
        return vec![(None, AccessParameters { cw_min, ..dcf })];
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
