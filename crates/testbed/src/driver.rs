//! Connects a replication to IP addresses: real packets in and out, at times that the caller sets.

use std::collections::HashMap;
use std::net::Ipv4Addr;

use airtcp_kernel::{Duration, Time};
pub use airtcp_sim::live::Side;
use airtcp_sim::live::{
    AirCapture, Arrival, HandedOver, Live, LiveCounts, LiveFlow, Purpose, TakesFrames,
};
use airtcp_sim::{Outcome, RunError, Scenario};
use airtcp_tcp::{Flags, Segment};

use crate::connections::{Connections, Key};
use crate::packet::{self, Content, Headers};
use crate::pages::{Ended, EndedKind, Pages};

/// A network stack at one end of the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// The server's stack.
    Server,
    /// The stack of a station, numbered from 1.
    Station(u32),
}

/// How the connections of a scenario entry are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UseOf {
    /// The purpose of all its connections except dialogues.
    pub purpose: Purpose,
    /// Which of its connections are dialogues.
    pub dialogues: Dialogues,
}

/// Which connections are dialogues: their payload is not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialogues {
    /// None of them.
    None,
    /// Connections to this server port, where FTP is spoken (RFC 959). A transfer begins with PASV
    /// or EPSV and ends with the reply 226.
    Ftp(u16),
    /// The first connection to each server port, as in iperf3.
    First,
    /// None. Each connection carries objects of web pages, one after the other; each object is a
    /// transfer.
    Pages,
}

/// The addresses of all ends.
#[derive(Clone, Debug)]
pub struct Site {
    /// The addresses of the stations, in order; `None` for a station that is entirely simulated.
    pub stations: Vec<Option<Ipv4Addr>>,
    /// For each scenario entry that is not simulated: the address of the server, and how its
    /// connections are used.
    pub servers: Vec<Option<(Ipv4Addr, UseOf)>>,
}

/// Transfers seen on FTP control connections, at most one per connection at a time.
#[derive(Debug, Default)]
struct Ftp {
    /// Start times of unfinished transfers, by control connection.
    under_way: HashMap<u32, Time>,
    /// Finished transfers: the flow and the duration.
    ended: Vec<(u32, Duration)>,
}

impl Ftp {
    /// Reads data from the client; returns true if it begins a transfer. Ignores repeated commands.
    fn said(&mut self, connection: u32, now: Time, text: &[u8]) -> bool {
        let begins = (text.starts_with(b"PASV") || text.starts_with(b"EPSV"))
            && !self.under_way.contains_key(&connection);
        if begins {
            self.under_way.insert(connection, now);
        }
        begins
    }

    /// Reads data sent to the client.
    fn heard(&mut self, flow: u32, connection: u32, at: Time, text: &[u8]) {
        if let Some(&began) = self.under_way.get(&connection)
            && text.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"226 "))
        {
            self.under_way.remove(&connection);
            self.ended.push((flow, at - began));
        }
    }
}

/// The medium between a server and stations.
#[derive(Debug)]
pub struct Driver<'a> {
    live: Live<'a, Vec<u8>>,
    stations: Vec<Option<Ipv4Addr>>,
    /// Flows by the addresses of station and server.
    flows: HashMap<(Ipv4Addr, Ipv4Addr), (u32, UseOf)>,
    connections: Connections,
    ftp: Ftp,
    pages: Pages,
    strays: u64,
}

impl<'a> Driver<'a> {
    /// Creates the medium at time zero. Flows whose ends have no address are simulated.
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
            ftp: Ftp::default(),
            pages: Pages::default(),
            strays: 0,
        }
    }

    /// Starts to capture frames: passes each frame, with its radiotap header, to `frames`, up to
    /// `snaplen` bytes.
    pub fn capture(&mut self, frames: TakesFrames, snaplen: u32) {
        self.live.capture(AirCapture { frames, snaplen, bytes: Vec::as_slice, mark: packet::mark });
    }

    /// Returns the time of the next event if no packet arrives before.
    pub fn next_deadline(&mut self) -> Time {
        self.live.next_deadline()
    }

    /// Returns the end of the scenario.
    pub fn end(&self) -> Time {
        self.live.end()
    }

    /// Accepts a packet that arrives at `from`, after all events due by `now`. Drops a packet that
    /// does not belong to a flow between `from` and one of its peers.
    pub fn packet_in(&mut self, now: Time, from: Node, bytes: Vec<u8>) {
        let Some((flow, use_of, side, headers)) = self.placed(from, &bytes) else {
            self.strays += 1;
            return;
        };
        let (connection, segment, sacked) = match headers.content {
            Content::Datagram(len) => {
                (None, Segment { seq: 0, ack: 0, len, flags: Flags::NONE }, Vec::new())
            }
            Content::Tcp(tcp) => {
                let (station_port, server_port) = match side {
                    Side::Station => (tcp.source_port, tcp.destination_port),
                    Side::Server => (tcp.destination_port, tcp.source_port),
                };
                let is_dialogue = match use_of.dialogues {
                    Dialogues::None | Dialogues::Pages => false,
                    Dialogues::Ftp(port) => server_port == port,
                    Dialogues::First => self.connections.opened(flow, server_port) == 0,
                };
                let purpose = if is_dialogue { Purpose::Dialogue } else { use_of.purpose };
                let key = Key { flow, station_port, server_port };
                let Self { live, pages, .. } = self;
                let has_pages = use_of.dialogues == Dialogues::Pages;
                let read = self.connections.read(key, side, &tcp, purpose, |old, purpose| {
                    if let Some(old) = old {
                        live.close(old);
                    }
                    let id = live.open(flow, purpose);
                    if has_pages && purpose == Purpose::Part {
                        pages.open(id, now);
                        live.begin_transfer(flow);
                    }
                    id
                });
                if has_pages
                    && side == Side::Station
                    && pages.said(flow, read.0, now, packet::payload(&bytes))
                {
                    live.begin_transfer(flow);
                }
                if let (Dialogues::Ftp(_), true, Side::Station) =
                    (use_of.dialogues, is_dialogue, side)
                    && self.ftp.said(read.0, now, packet::payload(&bytes))
                {
                    self.live.begin_transfer(flow);
                }
                (Some(read.0), read.1, read.2)
            }
        };
        let ect = if headers.knows_ecn { Flags::ECT } else { Flags::NONE };
        let segment = Segment { flags: segment.flags | ect, ..segment };
        let bits = bytes.len() as u64 * 8;
        let arrival = Arrival { flow, side, connection, segment, sacked, bits };
        self.live.packet_in(now, arrival, bytes);
    }

    /// Returns the flow of a packet, the end where it arrives, and its headers.
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

    /// Executes all events up to `now`. Passes each packet that reaches an end to `deliver`, with
    /// the time.
    ///
    /// # Errors
    /// If simulated flows overload the network.
    pub fn advance(
        &mut self,
        now: Time,
        mut deliver: impl FnMut(Node, Time, Vec<u8>),
    ) -> Result<(), RunError> {
        let Self { live, ftp, pages, .. } = self;
        live.advance(
            now,
            |HandedOver {
                 flow,
                 side,
                 connection,
                 at,
                 segment,
                 in_order,
                 payload: mut bytes,
                 station,
             }| {
                if side == Side::Station
                    && let Some(connection) = connection
                {
                    let text = packet::payload(&bytes);
                    ftp.heard(flow, connection, at, text);
                    pages.heard(flow, connection, at, in_order, text);
                }
                if segment.flags.contains(Flags::CE) {
                    packet::mark(&mut bytes);
                }
                let node = match side {
                    Side::Server => Node::Server,
                    Side::Station => Node::Station(station),
                };
                deliver(node, at, bytes);
            },
        )?;
        for (flow, took) in self.ftp.ended.drain(..) {
            self.live.end_transfer(flow, took);
        }
        for Ended { flow, kind, took } in self.pages.ended.drain(..) {
            match kind {
                EndedKind::Object => self.live.end_transfer(flow, took),
                EndedKind::Page => self.live.end_page(flow, took),
            }
        }
        Ok(())
    }

    /// Returns the number of packets that belonged to no flow.
    pub fn strays(&self) -> u64 {
        self.strays
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> LiveCounts {
        self.live.counts()
    }

    /// Returns the outcome if the scenario has ended.
    ///
    /// # Errors
    /// See [`Live::conclude`].
    pub fn conclude(self) -> Result<Outcome, RunError> {
        self.live.conclude()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    /// RFC 959: PASV, 227, RETR, 150, 226. Repeated commands, replies before any transfer, and
    /// lines from the other side are ignored.
    #[test]
    fn a_transfer_lasts_from_pasv_to_226() {
        let mut ftp = Ftp::default();

        ftp.heard(7, 0, at(1), b"226 Transfer complete\r\n");
        assert!(!ftp.said(0, at(1), b"USER airtcp\r\n"));
        assert!(ftp.said(0, at(2), b"PASV\r\n"));
        assert!(!ftp.said(0, at(3), b"PASV\r\n"));
        assert!(ftp.said(1, at(4), b"EPSV\r\n"));
        ftp.heard(7, 0, at(5), b"227 Entering Passive Mode (10,77,128,1,226,10)\r\n");
        assert!(!ftp.said(0, at(6), b"RETR 226 \r\n"));
        ftp.heard(7, 2, at(8), b"226 Transfer complete\r\n");
        assert_eq!(ftp.ended, []);
        ftp.heard(
            7,
            0,
            at(9),
            b"150 Opening BINARY mode data connection\r\n226 Transfer complete\r\n",
        );
        ftp.heard(7, 0, at(10), b"226 Transfer complete\r\n");

        assert_eq!(ftp.ended, [(7, Duration::from_millis(7))]);
        assert!(ftp.said(0, at(11), b"PASV\r\n"));
    }
}
