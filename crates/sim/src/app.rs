//! Applications: what the programs at the two ends of a flow do, and when.
//!
//! An application is told that the time has come for which it asked, or what has reached one end of one
//! of its connections, and says what it wants: open, write, close, send, be woken. It names its
//! connections itself, by tags. Each has a file of its own. Knows no packet, no queue and no
//! clock; draws sizes and times from the streams of its flow.

mod bulk;
mod ftp;
mod page;
mod replay;
#[cfg(test)]
mod tests;
mod transfer;
mod udp;
mod web;

use airtcp_kernel::random_stream::{ARRIVAL, TRANSFER_SIZE};
use airtcp_kernel::{Duration, RandomStream, Sampler, Time};
use airtcp_tcp::Handshake;
use serde::Deserialize;

use crate::connection::Side;
use crate::e_model::Codec;
use crate::scenario::{Direction, TcpConfig};
use bulk::{Bulk, BulkConfig};
use ftp::{Ftp, FtpConfig};
use replay::{Replay, ReplayConfig};
pub(crate) use transfer::Carried;
use udp::{Udp, UdpConfig};
use web::{Web, WebConfig};

/// The application of a flow, in the resolved form of a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ApplicationConfig {
    /// One transfer.
    Bulk(BulkConfig),
    /// Transfers with think times between them.
    Web(WebConfig),
    /// Transfers that begin however many are under way.
    Ftp(FtpConfig),
    /// Transfers with given times and sizes.
    Replay(ReplayConfig),
    /// Datagrams.
    Udp(UdpConfig),
}

impl ApplicationConfig {
    /// Draws the bytes of the objects of the first pages of a flow, the document of each first: those that the
    /// flow of this name has in a replication. `None` if it transfers no pages. Where transfers are
    /// padded, objects are multiples of `pad` bytes.
    pub fn pages(
        &self,
        seed: u64,
        replication: u64,
        flow: &str,
        pad: Option<u32>,
        count: usize,
    ) -> Option<Vec<Vec<u64>>> {
        match self {
            Self::Web(web) => {
                web.pages(&mut Draws::new(seed, replication, flow, "pause"), pad, count)
            }
            Self::Bulk(_) | Self::Ftp(_) | Self::Replay(_) | Self::Udp(_) => None,
        }
    }

    /// Returns the codec of the speech that it carries, if it carries any.
    pub(crate) fn voice(&self) -> Option<Codec> {
        match self {
            Self::Udp(udp) => udp.voice(),
            _ => None,
        }
    }

    /// Checks what the types cannot say, given the TCP that it goes over.
    ///
    /// # Errors
    /// Which of its settings contradict each other.
    pub(crate) fn check(&self, tcp: Option<&TcpConfig>) -> Result<(), &'static str> {
        match (self, tcp) {
            (Self::Udp(udp), None) => udp.check(),
            (Self::Udp(_), Some(_)) | (_, None) => Err("TCP goes with all but udp"),
            (Self::Ftp(ftp), Some(tcp)) => ftp.check(tcp),
            (Self::Web(web), Some(_)) => web.check(),
            (Self::Replay(replay), Some(_)) => replay.check(),
            (Self::Bulk(_), Some(_)) => Ok(()),
        }
    }
}

/// The facts of its flow that an application knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    /// Which end the data come from.
    pub(crate) sender: Side,
    /// Which end opens the connections of transfers.
    pub(crate) opener: Side,
    /// A flag: a connection is not established as soon as it is opened.
    pub(crate) has_handshake: bool,
    /// Transfers are a multiple of so many bytes, if they are padded.
    pub(crate) pad: Option<u32>,
}

impl Setting {
    /// Makes the setting of a flow over `tcp`, or of datagrams.
    pub(crate) fn new(direction: Direction, tcp: Option<&TcpConfig>) -> Self {
        let sender = match direction {
            Direction::Download => Side::Server,
            Direction::Upload => Side::Station,
        };
        // The client opens; but the two-way handshake begins with a SYN of the data sender.
        let handshake = tcp.map(|tcp| tcp.sender.handshake);
        let is_two_way = handshake == Some(Handshake::TwoWay);
        Self {
            sender,
            opener: if is_two_way { sender } else { Side::Station },
            has_handshake: handshake != Some(Handshake::None),
            pad: tcp.filter(|tcp| tcp.packets.pad_last_segment).map(|tcp| tcp.sender.mss),
        }
    }
}

/// An event that an application is told of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AppEvent {
    /// The time has come for which it asked.
    Woken,
    /// A segment has reached end `side` of connection `tag`, which is like this now.
    Arrived { tag: u32, side: Side, end: End },
}

/// The view of an end of a connection that an application has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct End {
    /// Bytes that came from the other end, in order.
    pub(crate) delivered: u64,
    /// Bytes that the other end has acknowledged.
    pub(crate) acked: u64,
    /// A flag: data may flow.
    pub(crate) is_established: bool,
    /// A flag: the other end has closed, and all that it wrote has come.
    pub(crate) has_reached_end: bool,
}

/// An action that an application wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Be woken at this time.
    Wake { at: Time },
    /// A connection of this name between the two ends. `opener` sends the SYN; if nobody does, the
    /// connection has been open for long. Where `acks_first`, TCP acknowledges what comes before the
    /// application has answered; else an answer takes the acknowledgment along.
    Open { tag: u32, service: Service, opener: Option<Side>, acks_first: bool },
    /// `side` writes so many bytes, and closes its end after them if they are the `last`.
    Write { tag: u32, side: Side, bytes: u64, last: bool },
    /// `side` closes its end.
    Close { tag: u32, side: Side },
    /// Of this connection nothing is to be told until so many bytes of its transfer have come to their
    /// receiver, or are acknowledged to their sender.
    Await { tag: u32, bytes: u64 },
    /// Nothing more will be done with a connection that nobody closes: it is over when nothing of it
    /// is on its way.
    Abandon { tag: u32 },
    /// `side` sends a datagram with so many bytes of payload.
    Send { side: Side, bytes: u32 },
    /// From now on `side` always has one more such datagram, and waits for room in the queue with it.
    Saturate { side: Side, bytes: u32 },
    /// A transfer has begun; if `unbidden`, however many are under way.
    Began { unbidden: bool },
    /// The receiver of a transfer has all of it, that is so many bytes.
    Received { began: Time, bytes: u64 },
    /// The client begins to load a page.
    Asked,
    /// The client has all objects of a page.
    Loaded { began: Time },
    /// The sender of a transfer knows that.
    Acknowledged { began: Time },
}

/// The service of a connection to its application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    /// A transfer.
    Transfer,
    /// Messages around transfers.
    Dialogue,
    /// A file, of which a dialogue tells.
    File,
}

impl Service {
    /// Tells whether bytes from the sender of the flow are payload of transfers.
    pub(crate) fn carries_transfers(self) -> bool {
        self != Self::Dialogue
    }
}

/// The actions that an application wants at one time.
#[derive(Debug, Default)]
pub(crate) struct Actions {
    /// The actions, in this order.
    pub(crate) list: Vec<Action>,
}

impl Actions {
    fn push(&mut self, action: Action) {
        self.list.push(action);
    }

    fn wake(&mut self, at: Time) {
        self.push(Action::Wake { at });
    }
}

/// The application of one flow.
#[derive(Clone, Debug)]
pub(crate) enum App {
    Bulk(Bulk),
    Web(Web),
    Ftp(Ftp),
    Replay(Replay),
    Udp(Udp),
}

impl App {
    /// Makes an application that has not started.
    pub(crate) fn new(config: &ApplicationConfig, setting: Setting) -> Self {
        match config {
            ApplicationConfig::Bulk(config) => Self::Bulk(Bulk::new(config, setting)),
            ApplicationConfig::Web(config) => Self::Web(Web::new(config, setting)),
            ApplicationConfig::Ftp(config) => Self::Ftp(Ftp::new(config, setting)),
            ApplicationConfig::Replay(config) => Self::Replay(Replay::new(config, setting)),
            ApplicationConfig::Udp(config) => Self::Udp(Udp::new(config, setting)),
        }
    }

    /// Makes a copy for the station with this number in its group.
    pub(crate) fn at_station(&self, station: u32) -> Self {
        let mut own = self.clone();
        if let Self::Replay(replay) = &mut own {
            replay.at_station(station);
        }
        own
    }

    /// Starts the flow.
    pub(crate) fn start(&mut self, now: Time, draws: &mut Draws, actions: &mut Actions) {
        match self {
            Self::Bulk(bulk) => bulk.start(now, draws, actions),
            Self::Web(web) => web.start(now, draws, actions),
            Self::Ftp(ftp) => ftp.start(now, draws, actions),
            Self::Replay(replay) => replay.start(actions),
            Self::Udp(udp) => udp.start(now, draws, actions),
        }
    }

    /// Reacts to an event.
    pub(crate) fn on_event(
        &mut self,
        now: Time,
        event: AppEvent,
        draws: &mut Draws,
        actions: &mut Actions,
    ) {
        match self {
            Self::Bulk(bulk) => bulk.on_event(now, event, draws, actions),
            Self::Web(web) => web.on_event(now, event, draws, actions),
            Self::Ftp(ftp) => ftp.on_event(now, event, draws, actions),
            Self::Replay(replay) => replay.on_event(now, event, actions),
            Self::Udp(udp) => udp.on_event(now, event, actions),
        }
    }

    /// Forgets connection `tag`, which is over: its tag may be used again.
    pub(crate) fn on_gone(&mut self, tag: u32) {
        match self {
            Self::Bulk(bulk) => bulk.on_gone(tag),
            Self::Web(web) => web.on_gone(tag),
            Self::Ftp(ftp) => ftp.on_gone(tag),
            Self::Replay(replay) => replay.on_gone(tag),
            Self::Udp(_) => unreachable!("datagrams have no connection"),
        }
    }

    /// Returns the transfer whose data connection `tag` carries; `None` for messages.
    pub(crate) fn carried(&self, tag: u32) -> Option<&Carried> {
        match self {
            Self::Bulk(bulk) => bulk.carried(tag),
            Self::Web(web) => web.carried(tag),
            Self::Ftp(ftp) => ftp.carried(tag),
            Self::Replay(replay) => replay.carried(tag),
            Self::Udp(_) => None,
        }
    }

    /// Tells whether it always wants to send more.
    pub(crate) fn is_endless(&self) -> bool {
        match self {
            Self::Bulk(bulk) => bulk.is_endless(),
            Self::Udp(udp) => udp.is_endless(),
            Self::Web(_) | Self::Ftp(_) | Self::Replay(_) => false,
        }
    }

    /// Makes the random streams of a flow with this application.
    pub(crate) fn draws(&self, seed: u64, replication: u64, flow: &str) -> Draws {
        let times_are = match self {
            Self::Ftp(_) => ARRIVAL,
            Self::Bulk(_) | Self::Web(_) | Self::Replay(_) | Self::Udp(_) => "pause",
        };
        Draws::new(seed, replication, flow, times_are)
    }
}

/// The random numbers of one flow.
#[derive(Debug)]
pub(crate) struct Draws {
    sizes: RandomStream,
    times: RandomStream,
    pub(crate) drawn: Drawn,
}

/// Sums of the numbers that were drawn.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Drawn {
    /// Pages, or transfers where there are none.
    pub(crate) units: u64,
    /// Bytes of these.
    pub(crate) bytes: f64,
    /// Times to think, or between arrivals, but for the first of a flow.
    pub(crate) pauses: u64,
    /// The sum of these times, in seconds.
    pub(crate) paused_s: f64,
}

impl Draws {
    fn new(seed: u64, replication: u64, flow: &str, times_are: &str) -> Self {
        Self {
            sizes: RandomStream::new(seed, replication, flow, TRANSFER_SIZE),
            times: RandomStream::new(seed, replication, flow, times_are),
            drawn: Drawn::default(),
        }
    }

    /// Counts a page or transfer of so many bytes.
    fn count_unit(&mut self, bytes: u64) {
        self.drawn.units += 1;
        self.drawn.bytes += bytes as f64;
    }
}

/// Draws the time until a source begins that has such pauses. Where they are constant it begins at a random phase: such
/// sources are not in step with each other.
fn phase(law: &Sampler, draws: &mut Draws) -> Duration {
    let whole = law.draw(&mut draws.times);
    let share = if law.is_constant() { draws.times.unit() } else { 1.0 };
    Duration::from_secs_f64(share * whole)
}

/// Draws a time in seconds.
fn pause(law: &Sampler, draws: &mut Draws) -> Duration {
    let pause = Duration::from_secs_f64(law.draw(&mut draws.times));
    draws.drawn.pauses += 1;
    draws.drawn.paused_s += pause.as_secs_f64();
    pause
}
