//! The flows of a scenario, one per station of a group, and the links of their paths: where packets
//! of a flow wait and go next.

use std::collections::BTreeMap;

use airtcp_kernel::{Duration, RandomStream, Time};
use airtcp_net::{LinkConfig, Loss, Wires};
use airtcp_tcp::Config;
use airtcp_wlan::{ContenderId, StationId};

use super::ledger::{Jitter, Speech, scope};
use super::node::{Built, NodeId};
use crate::app::{App, Draws, Setting};
use crate::connection::{Side, TcpCounts};
use crate::conservation::PacketBooks;
use crate::packet::{Body, Content, Packet, UDP_HEADER_BYTES};
use crate::scenario::{Direction, FlowConfig, PathElement, Scenario, TcpConfig};

/// One flow.
// In this order, the fields that every packet uses are adjacent, followed by the counters.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Flow<'a> {
    /// The TCP settings of its station and of its server; `None` for a flow without connections.
    ends: Option<[&'a Config; 2]>,
    /// The size of TCP and IP headers, or of UDP and IP headers.
    header_bits: u32,
    /// Its scope: the number that [`scope`] gives to its station group and direction.
    pub(super) scope: u32,
    way: Way,
    pub(super) books: PacketBooks,
    pub(super) measured: Measured,
    pub(super) app: App,
    pub(super) draws: Draws,
    /// The time from the start of the run to its beginning; `None` if its station is out of range.
    pub(super) start: Option<Duration>,
    pub(super) name: String,
    /// The scenario entry that it belongs to, and the entry's number.
    pub(super) config: &'a FlowConfig,
    pub(super) entry: usize,
    pub(super) station: NodeId,
    /// The access point of its cell.
    pub(super) access_point: NodeId,
    /// The number of its station group, which is also its rate class.
    pub(super) rate_class: u32,
    /// The slots of its connections, by the application's tags.
    pub(super) places: Vec<u32>,
    /// If it is saturated, the end that always has one more datagram, and its bytes.
    pub(super) saturated: Option<(Side, u32)>,
    /// The jitter of its datagrams.
    pub(super) jitter: Jitter,
    /// The call quality of its datagrams, if they are a call.
    pub(super) speech: Option<Box<Speech>>,
    /// The start times of its transfers in progress, unordered.
    pub(super) under_way: Vec<Time>,
    /// When the page that it loads was requested.
    pub(super) page_asked: Option<Time>,
}

/// The path of a flow's packets between its station and its server.
#[derive(Debug)]
#[repr(C)]
struct Way {
    /// Links from the access point to the server.
    path: Box<[u32]>,
    /// The queues of its station and of the access point, by
    /// [`TrafficClass`](crate::packet::TrafficClass).
    station_queues: [ContenderId; 3],
    access_point_queues: [ContenderId; 3],
    /// Their numbers in the cell.
    station_address: StationId,
    access_point_address: StationId,
}

/// The counters of a flow in the measured time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measured {
    pub(super) delivered_bytes: u64,
    pub(super) begun: u64,
    pub(super) transfers: u64,
    pub(super) transfer_time_sum_s: f64,
    pub(super) tcp: TcpCounts,
}

/// Builds the flows and links of a scenario.
pub(super) fn build<'a>(
    scenario: &'a Scenario,
    built: &Built<'_>,
    seed: u64,
    replication: u64,
) -> (Vec<Flow<'a>>, Links) {
    let address = |node: NodeId| built.nodes[node as usize].address;
    let routes = |node: NodeId| built.nodes[node as usize].routes;
    let mut links = Links::new(seed, replication);
    let shared: BTreeMap<&String, u32> =
        scenario.links.iter().map(|(name, link)| (name, links.add(name, link))).collect();
    let names = scenario.stations.iter().map(|group| &group.name[..]);
    let groups: BTreeMap<_, u32> = names.zip(0..).collect();
    let mut flows = Vec::new();
    for (entry, config) in scenario.flows.iter().enumerate() {
        let setting = Setting::new(config.direction, config.tcp.as_ref());
        let ends = config.tcp.as_ref().map(|tcp| tcp.ends(config.direction == Direction::Upload));
        let app = App::new(&config.application, setting);
        let rate_class = groups[&config.stations[..]];
        let (group, first) =
            (&scenario.stations[rate_class as usize], built.groups[rate_class as usize]);
        for index in 0..group.count {
            let station = first + index;
            let access_point = built.nodes[station as usize].access_point;
            let name = format!("{}/{index}", config.name);
            let path = config
                .path
                .iter()
                .enumerate()
                .map(|(hop, element)| match element {
                    PathElement::Own(link) => links.add(&format!("{name} hop {hop}"), link),
                    PathElement::Shared(name) => shared[name],
                })
                .collect();
            let begins = !group.out_of_range.contains(&index);
            flows.push(Flow {
                draws: app.draws(seed, replication, &name),
                start: begins.then(|| start(config.start_spread, seed, replication, &name)),
                app: app.at_station(index),
                places: Vec::new(),
                saturated: None,
                name,
                ends,
                config,
                entry,
                station,
                access_point,
                way: Way {
                    path,
                    station_queues: routes(station),
                    access_point_queues: routes(access_point),
                    station_address: address(station),
                    access_point_address: address(access_point),
                },
                rate_class,
                scope: scope(rate_class, config.direction),
                header_bits: header_bits(config),
                jitter: Jitter::default(),
                speech: config.application.voice().map(Speech::new).map(Box::new),
                books: PacketBooks::default(),
                measured: Measured::default(),
                under_way: Vec::new(),
                page_asked: None,
            });
        }
    }
    (flows, links)
}

/// The wired links. Each has two directions: `2 link` towards the server and `2 link + 1` towards
/// the access point.
#[derive(Debug)]
pub(super) struct Links {
    pub(super) wires: Wires<Body>,
    /// The name of each direction: link and direction.
    pub(super) names: Vec<String>,
    /// The random losses of each direction.
    losses: Vec<Option<Loss>>,
    /// Whether any direction has random losses.
    has_losses: bool,
    seed: u64,
    replication: u64,
}

impl Links {
    fn new(seed: u64, replication: u64) -> Self {
        let wires = Wires::default();
        Self { wires, names: Vec::new(), losses: Vec::new(), has_losses: false, seed, replication }
    }

    fn add(&mut self, name: &str, config: &LinkConfig) -> u32 {
        self.has_losses |= config.loss.is_some();
        for (direction, rate_bps) in ["to server", "to ap"].iter().zip(config.rates_bps()) {
            let name = format!("{name} {direction}");
            let stream = |purpose| RandomStream::new(self.seed, self.replication, &name, purpose);
            self.wires.add(config, rate_bps, || stream("early detection"));
            self.losses.push(config.loss.map(|loss| Loss::new(loss, stream("loss"))));
            self.names.push(name);
        }
        self.names.len() as u32 / 2 - 1
    }

    /// Returns whether the packet that has reached the end of `wire` is lost there.
    #[inline]
    pub(super) fn loses(&mut self, wire: u32) -> bool {
        self.has_losses && self.loses_some(wire)
    }

    #[inline(never)]
    fn loses_some(&mut self, wire: u32) -> bool {
        let has_payload = || self.wires.arriving(wire).body.payload_bytes() > 0;
        self.losses[wire as usize].as_mut().is_some_and(|loss| loss.loses(has_payload()))
    }
}

/// Draws when the flow of this name begins within `spread`, from its own random stream.
fn start(spread: Duration, seed: u64, replication: u64, name: &str) -> Duration {
    if spread == Duration::ZERO {
        return spread;
    }
    let part = RandomStream::new(seed, replication, name, "start").unit();
    Duration::from_secs_f64(part * spread.as_secs_f64())
}

/// Returns the size of the headers of a flow's packets: TCP and IP, or UDP and IP.
fn header_bits(config: &FlowConfig) -> u32 {
    match &config.tcp {
        Some(tcp) => tcp.packets.header_bits,
        None => UDP_HEADER_BYTES * 8,
    }
}

impl Flow<'_> {
    /// Records the start of a transfer.
    pub(super) fn begin_transfer(&mut self, now: Time) {
        self.under_way.push(now);
        self.measured.begun += 1;
    }

    /// Removes the transfer that began at `began`, if it was recorded.
    pub(super) fn end_transfer(&mut self, began: Time) {
        if let Some(place) = self.under_way.iter().position(|&one| one == began) {
            self.under_way.swap_remove(place);
        }
    }
}

const CONNECTIONS_ARE_TCP: &str = "connections are TCP";

impl<'a> Flow<'a> {
    /// Returns the node that receives over the medium what `side` sends.
    #[inline(always)]
    pub(super) fn receiver_from(&self, side: Side) -> StationId {
        match side {
            Side::Station => self.way.access_point_address,
            Side::Server => self.way.station_address,
        }
    }

    /// Returns the queue of its station for `packet`.
    #[inline(always)]
    pub(super) fn station_queue(&self, packet: &Packet) -> ContenderId {
        self.way.station_queues[packet.body.class() as usize]
    }

    /// Returns the queue of the access point for `packet`.
    #[inline(always)]
    pub(super) fn access_point_queue(&self, packet: &Packet) -> ContenderId {
        self.way.access_point_queues[packet.body.class() as usize]
    }

    /// Returns the link of a packet to the server after `hops` others; `None` if it has arrived.
    #[inline(always)]
    pub(super) fn link_to_server(&self, hops: u8) -> Option<u32> {
        self.way.path.get(usize::from(hops)).copied()
    }

    /// Returns the link of a packet to the access point after `hops` others; `None` if it has
    /// arrived.
    #[inline(always)]
    pub(super) fn link_to_ap(&self, hops: u8) -> Option<u32> {
        let index = self.way.path.len().checked_sub(1 + usize::from(hops));
        index.map(|index| self.way.path[index])
    }

    /// Returns the settings of its connections.
    pub(super) fn tcp(&self) -> &'a TcpConfig {
        self.config.tcp.as_ref().expect(CONNECTIONS_ARE_TCP)
    }

    /// Returns the settings of its connections at the station and at the server.
    pub(super) fn ends(&self) -> [&'a Config; 2] {
        self.ends.expect(CONNECTIONS_ARE_TCP)
    }

    /// Returns the settings of its connections at one end.
    #[inline]
    pub(super) fn end(&self, side: Side) -> &'a Config {
        self.ends.expect(CONNECTIONS_ARE_TCP)[side as usize]
    }

    /// Creates a packet of this flow, whose number is `id`, that node `to` receives over the
    /// medium.
    #[inline(always)]
    pub(super) fn packet(&self, id: u32, to: StationId, content: Content) -> Packet {
        let body = Body::new(content, self.scope);
        let bits = u64::from(self.header_bits) + u64::from(body.payload_and_option_bytes()) * 8;
        Packet { bits, arrived: Time::ZERO, flow: id, to, body }
    }
}
