//! A replication behind addresses: real packets in, real packets out, at times that the caller says.

use std::collections::HashMap;
use std::net::Ipv4Addr;

use airtcp_kernel::Time;
pub use airtcp_sim::live::Side;
use airtcp_sim::live::{Arrival, Delivery, Live, LiveCounts, LiveFlow, Purpose};
use airtcp_sim::{Outcome, RunError, Scenario};
use airtcp_tcp::{Flags, Segment};

use crate::connections::{Connections, Key};
use crate::packet::{self, Content, Headers};

/// A network stack at one end of the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// The server's.
    Server,
    /// That of a station, which are numbered from 1.
    Station(u32),
}

/// What the connections of an entry of the scenario are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UseOf {
    /// All of them, but for dialogues.
    pub purpose: Purpose,
    /// Which of them are dialogues.
    pub dialogues: Dialogues,
}

/// Which connections do not carry what is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialogues {
    /// None of them.
    None,
    /// Those with this port of the server, as those of FTP with port 21.
    Port(u16),
    /// The first that comes to a port of the server, as those of iperf3.
    First,
}

/// Where everything is.
#[derive(Clone, Debug)]
pub struct Site {
    /// The addresses of the stations, in order; none if all about a station is simulated.
    pub stations: Vec<Option<Ipv4Addr>>,
    /// The address of the server for each entry of the scenario that is not simulated, and what it is
    /// for.
    pub servers: Vec<Option<(Ipv4Addr, UseOf)>>,
}

/// The air between a server and stations.
#[derive(Debug)]
pub struct Driver<'a> {
    live: Live<'a, Vec<u8>>,
    stations: Vec<Option<Ipv4Addr>>,
    /// By the addresses of station and server.
    flows: HashMap<(Ipv4Addr, Ipv4Addr), (u32, UseOf)>,
    connections: Connections,
    strays: u64,
}

impl<'a> Driver<'a> {
    /// Air at time zero. Flows are simulated of whose ends one has no address.
    pub fn new(scenario: &'a Scenario, seed: u64, site: &Site) -> Self {
        let ends = |flow: &LiveFlow| {
            let (server, use_of) = site.servers[flow.entry]?;
            let station = site.stations[flow.station as usize - 1]?;
            Some(((station, server), use_of))
        };
        let live = Live::new(scenario, seed, 0, |flow| ends(flow).is_some());
        let flows = (0..).zip(live.flows()).filter_map(|(number, flow)| {
            let (ends, use_of) = ends(flow)?;
            Some((ends, (number, use_of)))
        });
        Self {
            flows: flows.collect(),
            live,
            stations: site.stations.clone(),
            connections: Connections::default(),
            strays: 0,
        }
    }

    /// When something happens next, if no packet comes before.
    pub fn next_deadline(&mut self) -> Time {
        self.live.next_deadline()
    }

    /// When the scenario ends.
    pub fn end(&self) -> Time {
        self.live.end()
    }

    /// A packet comes in at `from`, when all that is due by `now` has happened. What is not from there
    /// to one of its peers is dropped.
    pub fn packet_in(&mut self, now: Time, from: Node, bytes: Vec<u8>) {
        let Some((flow, use_of, side, headers)) = self.placed(from, &bytes) else {
            self.strays += 1;
            return;
        };
        let (connection, segment) = match headers.content {
            Content::Datagram(len) => (None, Segment { seq: 0, ack: 0, len, flags: Flags::NONE }),
            Content::Tcp(tcp) => {
                let (station_port, server_port) = match side {
                    Side::Station => (tcp.source_port, tcp.destination_port),
                    Side::Server => (tcp.destination_port, tcp.source_port),
                };
                let is_dialogue = match use_of.dialogues {
                    Dialogues::None => false,
                    Dialogues::Port(port) => server_port == port,
                    Dialogues::First => self.connections.opened(flow, server_port) == 0,
                };
                let purpose = if is_dialogue { Purpose::Dialogue } else { use_of.purpose };
                let key = Key { flow, station_port, server_port };
                let live = &mut self.live;
                let read = self.connections.read(key, side, &tcp, purpose, |old, purpose| {
                    if let Some(old) = old {
                        live.close(old);
                    }
                    live.open(flow, purpose)
                });
                (Some(read.0), read.1)
            }
        };
        let ect = if headers.knows_ecn { Flags::ECT } else { Flags::NONE };
        let segment = Segment { flags: segment.flags | ect, ..segment };
        let bits = bytes.len() as u64 * 8;
        self.live.packet_in(now, Arrival { flow, side, connection, segment, bits }, bytes);
    }

    /// The flow of a packet, the end where it comes in, and its headers.
    fn placed(&self, from: Node, bytes: &[u8]) -> Option<(u32, UseOf, Side, Headers)> {
        let headers = packet::read(bytes)?;
        let Headers { source, destination, .. } = headers;
        let (side, ends) = match from {
            Node::Server => (Side::Server, (destination, source)),
            Node::Station(_) => (Side::Station, (source, destination)),
        };
        if let Node::Station(number) = from
            && self.stations.get(number as usize - 1) != Some(&Some(source))
        {
            return None;
        }
        let &(flow, use_of) = self.flows.get(&ends)?;
        Some((flow, use_of, side, headers))
    }

    /// All that is due up to `now` happens: `deliver` is told which packets come to which end, and when
    /// they do.
    ///
    /// # Errors
    /// If simulated flows overload the network.
    pub fn advance(
        &mut self,
        now: Time,
        mut deliver: impl FnMut(Node, Time, Vec<u8>),
    ) -> Result<(), RunError> {
        self.live.advance(
            now,
            |Delivery { side, at, segment, payload: mut bytes, station, .. }| {
                if segment.flags.contains(Flags::CE) {
                    packet::mark(&mut bytes);
                }
                let node = match side {
                    Side::Server => Node::Server,
                    Side::Station => Node::Station(station),
                };
                deliver(node, at, bytes);
            },
        )
    }

    /// Packets that came in and were for nobody.
    pub fn strays(&self) -> u64 {
        self.strays
    }

    /// What has been so far.
    pub fn counts(&self) -> LiveCounts {
        self.live.counts()
    }

    /// What was measured, if the end has come.
    ///
    /// # Errors
    /// See [`Live::conclude`].
    pub fn conclude(self) -> Result<Outcome, RunError> {
        self.live.conclude()
    }
}
