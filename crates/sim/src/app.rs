//! Applications: what the programs at the two ends of a flow do, and when.
//!
//! An application learns that a requested time has come, or what has reached one end of one of its
//! connections. It returns actions: open, write, close, send, wake. It names its connections by
//! tags. Each application has its own file. It draws sizes and times from the random streams of its
//! flow.

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

pub(crate) use crate::connection::End;
use crate::connection::Side;
use crate::e_model::Codec;
use crate::scenario::{Direction, TcpConfig};
use bulk::{Bulk, BulkConfig};
use ftp::{Dialogues, Ftp, FtpConfig};
use page::Pages;
use replay::{Replay, ReplayConfig};
pub(crate) use transfer::Carried;
use transfer::{Transfers, whole_bytes};
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
    /// Transfers that begin independently of those in progress.
    Ftp(FtpConfig),
    /// Transfers with given times and sizes.
    Replay(ReplayConfig),
    /// Datagrams.
    Udp(UdpConfig),
}

impl ApplicationConfig {
    /// Draws the object sizes in bytes of the first pages of a flow, the document of each page
    /// first. A flow of this name has the same pages in the simulation of this replication. `None`
    /// if it transfers no pages. With padded transfers, sizes are multiples of `pad` bytes.
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

    /// Returns the speech codec of its traffic, if it is a call.
    pub(crate) fn voice(&self) -> Option<Codec> {
        match self {
            Self::Udp(udp) => udp.voice(),
            _ => None,
        }
    }

    /// Checks the combination of settings with the flow's TCP.
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
            (Self::Bulk(bulk), Some(_)) => bulk.check(),
        }
    }
}

/// What an application knows about its flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    /// The end that sends the data.
    pub(crate) sender: Side,
    /// The end that opens the connections of transfers.
    pub(crate) opener: Side,
    /// Whether a connection needs a handshake before it is established.
    pub(crate) has_handshake: bool,
    /// The unit of padded transfers in bytes.
    pub(crate) pad: Option<u32>,
}

impl Setting {
    /// Creates the setting of a flow over `tcp`, or of datagrams.
    pub(crate) fn new(direction: Direction, tcp: Option<&TcpConfig>) -> Self {
        let sender = match direction {
            Direction::Download => Side::Server,
            Direction::Upload => Side::Station,
        };
        // The client opens. However, the two-way handshake begins with a SYN of the data sender.
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

/// An event for an application.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AppEvent {
    /// The requested time has come.
    Woken,
    /// A segment has reached end `side` of connection `tag`; `end` is its state now.
    Arrived { tag: u32, side: Side, end: End },
}

/// An action that an application requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Wake the application at this time.
    Wake { at: Time },
    /// Open a connection of this name between the two ends. `opener` sends the SYN; without an
    /// opener the connection has been open for long. With `acks_first`, TCP acknowledges data
    /// before the application has replied; otherwise a reply carries the acknowledgment.
    Open { tag: u32, service: Service, opener: Option<Side>, acks_first: bool },
    /// `side` writes `bytes`, and closes its end after them if they are the `last`.
    Write { tag: u32, side: Side, bytes: u64, last: bool },
    /// `side` closes its end.
    Close { tag: u32, side: Side },
    /// Report nothing of this connection until `bytes` of its transfer have reached their receiver,
    /// or are acknowledged to their sender.
    Await { tag: u32, bytes: u64 },
    /// The application will not use or close this connection any more. It ends when nothing of it
    /// is in the network.
    Abandon { tag: u32 },
    /// `side` sends a datagram with `bytes` of payload.
    Send { side: Side, bytes: u32 },
    /// From now on `side` always has one more such datagram, and waits for room in the queue for
    /// it.
    Saturate { side: Side, bytes: u32 },
    /// A transfer has begun. `unbidden`: it starts independently of those in progress.
    Began { unbidden: bool },
    /// The receiver of a transfer has all its bytes.
    Received { began: Time, bytes: u64 },
    /// The client starts to load a page.
    Asked,
    /// The client has all objects of a page.
    Loaded { began: Time },
    /// The sender of a transfer has received its last acknowledgment.
    Acknowledged { began: Time },
}

/// What an application uses a connection for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    /// A transfer.
    Transfer,
    /// Messages that accompany transfers.
    Dialogue,
    /// A file that a dialogue announces.
    File,
}

impl Service {
    /// Returns whether bytes from the sender of the flow are payload of transfers.
    pub(crate) fn carries_transfers(self) -> bool {
        self != Self::Dialogue
    }
}

/// The actions that an application requests at one time.
#[derive(Debug, Default)]
pub(crate) struct Actions {
    /// The time.
    now: Time,
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

    fn wake_in(&mut self, time: Duration) {
        self.wake(self.now + time);
    }
}

/// The application of one flow.
#[derive(Clone, Debug)]
pub(crate) struct App {
    source: Source,
    under_way: UnderWay,
}

/// When and what an application transfers.
#[derive(Clone, Debug)]
enum Source {
    Bulk(Bulk),
    Web(Web),
    Ftp(Ftp),
    Replay(Replay),
    Udp(Udp),
}

/// What an application has on its connections.
#[derive(Clone, Debug)]
enum UnderWay {
    Transfers(Transfers),
    Pages(Pages),
    Dialogues(Dialogues),
    /// Nothing: datagrams have no connection.
    Datagrams,
}

impl App {
    /// Creates an application that has not started.
    pub(crate) fn new(config: &ApplicationConfig, setting: Setting) -> Self {
        let transfers = || UnderWay::Transfers(Transfers::new(setting));
        let (source, under_way) = match config {
            ApplicationConfig::Bulk(config) => {
                (Source::Bulk(Bulk::new(config, setting)), transfers())
            }
            ApplicationConfig::Web(config) => {
                let web = Web::new(config, setting);
                let under_way = web.under_way(setting);
                (Source::Web(web), under_way)
            }
            ApplicationConfig::Ftp(config) => {
                (Source::Ftp(Ftp::new(config, setting)), Ftp::under_way(config, setting))
            }
            ApplicationConfig::Replay(config) => {
                (Source::Replay(Replay::new(config, setting)), transfers())
            }
            ApplicationConfig::Udp(config) => {
                (Source::Udp(Udp::new(config, setting)), UnderWay::Datagrams)
            }
        };
        Self { source, under_way }
    }

    /// Creates a copy for the station with this number in its group.
    pub(crate) fn at_station(&self, station: u32) -> Self {
        let mut own = self.clone();
        if let Source::Replay(replay) = &mut own.source {
            replay.at_station(station);
        }
        own
    }

    /// Starts the flow.
    pub(crate) fn start(&mut self, now: Time, draws: &mut Draws, actions: &mut Actions) {
        actions.now = now;
        match &self.source {
            Source::Bulk(bulk) => bulk.start(draws, actions),
            Source::Web(web) => web.start(draws, actions),
            Source::Ftp(ftp) => ftp.start(draws, actions),
            Source::Replay(replay) => replay.start(actions),
            Source::Udp(udp) => udp.start(draws, actions),
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
        actions.now = now;
        let AppEvent::Arrived { tag, side, end } = event else { return self.wake(draws, actions) };
        let is_over = match &mut self.under_way {
            UnderWay::Transfers(transfers) => transfers.on_arrival(tag, side, &end, actions),
            UnderWay::Pages(pages) => pages.on_arrival(tag, side, &end, actions),
            UnderWay::Dialogues(dialogues) => {
                dialogues.on_arrival(tag, side, end, actions);
                false
            }
            UnderWay::Datagrams => unreachable!("datagrams have no connection"),
        };
        if let (true, Source::Web(web)) = (is_over, &self.source) {
            web.think(draws, actions);
        }
    }

    /// Begins what was waited for.
    fn wake(&mut self, draws: &mut Draws, actions: &mut Actions) {
        match (&mut self.source, &mut self.under_way) {
            (Source::Bulk(bulk), UnderWay::Transfers(all)) => bulk.wake(all, draws, actions),
            (Source::Web(web), UnderWay::Transfers(all)) => web.wake(all, draws, actions),
            (Source::Web(_), UnderWay::Pages(pages)) => pages.begin(draws, actions),
            (Source::Ftp(ftp), under_way) => {
                let (bytes, pause) = ftp.draw(draws);
                match under_way {
                    UnderWay::Transfers(all) => all.begin(bytes, 0, true, actions),
                    UnderWay::Dialogues(dialogues) => dialogues.begin(bytes, actions),
                    _ => unreachable!("FTP has no pages and no datagrams"),
                }
                actions.wake_in(pause);
            }
            (Source::Replay(replay), UnderWay::Transfers(all)) => replay.wake(all, actions),
            (Source::Udp(udp), _) => udp.wake(actions),
            _ => unreachable!("what is under way belongs to the source"),
        }
    }

    /// Forgets connection `tag`, which has ended: its tag may be reused.
    pub(crate) fn on_gone(&mut self, tag: u32) {
        match &mut self.under_way {
            UnderWay::Transfers(transfers) => transfers.on_gone(tag),
            UnderWay::Pages(pages) => pages.on_gone(tag),
            UnderWay::Dialogues(dialogues) => dialogues.on_gone(tag),
            UnderWay::Datagrams => unreachable!("datagrams have no connection"),
        }
    }

    /// Returns the transfer whose data connection `tag` carries; `None` for messages.
    pub(crate) fn carried(&self, tag: u32) -> Option<&Carried> {
        match &self.under_way {
            UnderWay::Transfers(transfers) => Some(transfers.carried(tag)),
            UnderWay::Pages(pages) => Some(pages.carried(tag)),
            UnderWay::Dialogues(dialogues) => dialogues.carried(tag),
            UnderWay::Datagrams => None,
        }
    }

    /// Returns whether it always has more to send.
    pub(crate) fn is_endless(&self) -> bool {
        match &self.source {
            Source::Bulk(bulk) => bulk.is_endless(),
            Source::Udp(udp) => udp.is_endless(),
            Source::Web(_) | Source::Ftp(_) | Source::Replay(_) => false,
        }
    }

    /// Creates the random streams of a flow with this application.
    pub(crate) fn draws(&self, seed: u64, replication: u64, flow: &str) -> Draws {
        let times_are = if let Source::Ftp(_) = self.source { ARRIVAL } else { "pause" };
        Draws::new(seed, replication, flow, times_are)
    }
}

/// The random streams of one flow.
#[derive(Debug)]
pub(crate) struct Draws {
    sizes: RandomStream,
    times: RandomStream,
    pub(crate) drawn: Drawn,
}

/// Sums of the drawn numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Drawn {
    /// Pages, or transfers if there are no pages.
    pub(crate) units: u64,
    /// Bytes of these pages or transfers.
    pub(crate) bytes: f64,
    /// Think times or interarrival times, without the first of a flow.
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

    /// Draws the size of the next transfer in whole bytes, at least one.
    fn size(&mut self, law: &Sampler, pad: Option<u32>) -> u64 {
        let bytes = whole_bytes(law.draw(&mut self.sizes), pad);
        self.count_unit(bytes);
        bytes
    }

    /// Counts a page or transfer of `bytes`.
    fn count_unit(&mut self, bytes: u64) {
        self.drawn.units += 1;
        self.drawn.bytes += bytes as f64;
    }
}

/// Draws the time until a source with these pauses begins. With constant pauses it begins at a
/// random phase, so that such sources are not synchronized.
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
