//! One TCP connection: the endpoint in the station, the endpoint in the server, and the transfer
//! that they carry.

use airtcp_kernel::Time;
use airtcp_tcp::{Block, Config, Counters, Endpoint, Handshake, Opening, SackOptions, Segment};

use crate::scenario::Direction;

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Station,
    Server,
}

impl Side {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Station => Self::Server,
            Self::Server => Self::Station,
        }
    }
}

/// A connection and its transfer.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) flow: u32,
    pub(crate) direction: Direction,
    pub(crate) purpose: Purpose,
    station: Endpoint,
    server: Endpoint,
    /// SACK options of the packets on their way.
    sacks: SackOptions,
    /// When the timer event of each end is pending that counts; others are stale.
    armed: [Time; 2],
    /// Packets on their way between the two ends.
    in_network: u32,
    pub(crate) transfer: Transfer,
    /// What the ends had counted when measuring began.
    baseline: [Counters; 2],
    /// Whether this place holds a connection.
    pub(crate) open: bool,
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A transfer, which begins and ends with it.
    Transfer,
    /// The file of a transfer whose dialogue goes over another connection, that of this session.
    Data(u32),
    /// The dialogues of a session; stays open.
    Control(u32),
}

/// What a connection carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    pub(crate) started: Time,
    /// Payload bytes; `u64::MAX` if endless.
    pub(crate) bytes: u64,
    /// Bytes of the client's request that the server still waits for; zero if it answered.
    pub(crate) request: u64,
    /// Payload bytes that the receiver's application has.
    pub(crate) delivered: u64,
    /// Whether the receiver has everything.
    pub(crate) received: bool,
    /// Whether the sender knows.
    pub(crate) acknowledged: bool,
}

/// What the application at one end learns from a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// Nothing, or a request that it has answered at once.
    None,
    /// The sender's: the receiver has everything.
    Acknowledged,
    /// The receiver's: so many bytes more, and whether they are the last.
    Delivered { bytes: u64, last: bool },
}

/// More than any transfer, and far from overflow.
pub(crate) const ENDLESS: u64 = 1 << 60;

impl Connection {
    /// A connection that begins at `now` to carry `bytes`.
    pub(crate) fn new(
        config: &Config,
        flow: u32,
        direction: Direction,
        request: u64,
        bytes: u64,
        now: Time,
    ) -> Self {
        // The client opens; but the two-way handshake begins with a SYN of the data sender.
        let openings = match (config.handshake, direction) {
            (Handshake::TwoWay, Direction::Download) => [Opening::Passive, Opening::Active],
            _ => [Opening::Active, Opening::Passive],
        };
        let mut connection =
            Self::silent(config, openings, flow, direction, Purpose::Transfer, bytes, now);
        connection.transfer.request = request;
        if request > 0 {
            connection.station.write(request);
        } else {
            connection.sender().write(bytes);
        }
        connection
    }

    /// A connection that the client opens at `now` to carry `bytes` when it is told to, and to be
    /// closed then.
    pub(crate) fn for_data(
        config: &Config,
        flow: u32,
        direction: Direction,
        session: u32,
        bytes: u64,
        now: Time,
    ) -> Self {
        let openings = [Opening::Active, Opening::Passive];
        Self::silent(config, openings, flow, direction, Purpose::Data(session), bytes, now)
    }

    /// A connection that has been open for long, for the dialogues of `session`.
    pub(crate) fn for_control(
        config: &Config,
        flow: u32,
        direction: Direction,
        session: u32,
        now: Time,
    ) -> Self {
        let openings = [Opening::Established; 2];
        Self::silent(config, openings, flow, direction, Purpose::Control(session), 0, now)
    }

    /// A connection on which nobody has written anything.
    fn silent(
        config: &Config,
        openings: [Opening; 2],
        flow: u32,
        direction: Direction,
        purpose: Purpose,
        bytes: u64,
        now: Time,
    ) -> Self {
        let [station, server] = openings.map(|opening| Endpoint::new(config, opening));
        Self {
            flow,
            direction,
            purpose,
            station,
            server,
            sacks: SackOptions::new(),
            armed: [Time::NEVER; 2],
            in_network: 0,
            transfer: Transfer {
                started: now,
                bytes,
                request: 0,
                delivered: 0,
                received: false,
                acknowledged: false,
            },
            baseline: [Counters::default(); 2],
            open: true,
        }
    }

    /// The data sender's application sends its file, and closes after it; which end that is.
    pub(crate) fn send_file(&mut self) -> Side {
        let bytes = self.transfer.bytes;
        let sender = self.sender();
        sender.write(bytes);
        sender.close();
        self.sender_side()
    }

    /// Whether the receiver's application has the whole file.
    pub(crate) fn has_file_arrived(&self) -> bool {
        self.end(self.sender_side().other()).has_reached_end()
    }

    /// The receiver's application closes, too; which end that is.
    pub(crate) fn close_receiver(&mut self) -> Side {
        let side = self.sender_side().other();
        self.endpoint(side).close();
        side
    }

    pub(crate) fn endpoint(&mut self, side: Side) -> &mut Endpoint {
        match side {
            Side::Station => &mut self.station,
            Side::Server => &mut self.server,
        }
    }

    pub(crate) fn end(&self, side: Side) -> &Endpoint {
        match side {
            Side::Station => &self.station,
            Side::Server => &self.server,
        }
    }

    /// The next segment that `side` sends now, if any; it is on its way from then on.
    #[inline]
    pub(crate) fn poll_transmit(
        &mut self,
        side: Side,
        config: &Config,
        now: Time,
    ) -> Option<Segment> {
        let endpoint = match side {
            Side::Station => &mut self.station,
            Side::Server => &mut self.server,
        };
        let segment = endpoint.poll_transmit(config, now, &mut self.sacks)?;
        self.in_network += 1;
        Some(segment)
    }

    /// A segment of the other end has reached `side`.
    #[inline]
    pub(crate) fn arrive(&mut self, side: Side, config: &Config, now: Time, segment: &Segment) {
        let endpoint = match side {
            Side::Station => &mut self.station,
            Side::Server => &mut self.server,
        };
        endpoint.on_segment(config, now, segment, &self.sacks);
        self.leave_network(segment);
    }

    /// A segment has arrived, or is lost.
    #[inline]
    pub(crate) fn leave_network(&mut self, segment: &Segment) {
        self.in_network -= 1;
        self.sacks.release(segment);
    }

    /// What the application of `side` learns from what has arrived there.
    #[inline]
    pub(crate) fn advance(&mut self, side: Side) -> News {
        let is_sender = side == self.sender_side();
        let transfer = &mut self.transfer;
        let endpoint = match side {
            Side::Station => &mut self.station,
            Side::Server => &mut self.server,
        };
        if is_sender {
            if transfer.request > 0 && endpoint.delivered() >= transfer.request {
                transfer.request = 0;
                endpoint.write(transfer.bytes);
            }
            if transfer.acknowledged || endpoint.acked() < transfer.bytes {
                return News::None;
            }
            transfer.acknowledged = true;
            return News::Acknowledged;
        }
        let bytes = endpoint.delivered() - transfer.delivered;
        if bytes == 0 {
            return News::None;
        }
        transfer.delivered += bytes;
        let last = !transfer.received && transfer.delivered >= transfer.bytes;
        transfer.received |= last;
        News::Delivered { bytes, last }
    }

    /// The blocks of the SACK option of a segment on its way; none if it has no such option.
    pub(crate) fn sack_blocks(&self, segment: &Segment) -> &[Block] {
        self.sacks.blocks(segment)
    }

    /// How many segments with a SACK option are on their way.
    pub(crate) fn sacks_in_network(&self) -> usize {
        self.sacks.under_way()
    }

    /// The end that the data come from.
    pub(crate) fn sender_side(&self) -> Side {
        match self.direction {
            Direction::Download => Side::Server,
            Direction::Upload => Side::Station,
        }
    }

    pub(crate) fn sender(&mut self) -> &mut Endpoint {
        self.endpoint(self.sender_side())
    }

    /// When a timer event must be scheduled for `side`, if the pending one comes too late.
    /// Deadlines move later all the time, so an event that comes too early is left to look
    /// again when it comes.
    #[inline]
    pub(crate) fn arm(&mut self, side: Side) -> Option<Time> {
        let deadline = self.endpoint(side).poll_timer();
        let armed = &mut self.armed[side as usize];
        if deadline < *armed {
            *armed = deadline;
            Some(deadline)
        } else {
            None
        }
    }

    /// A timer event of `side` has come: whether it is the pending one.
    pub(crate) fn disarm(&mut self, side: Side, now: Time) -> bool {
        let pending = self.open && self.armed[side as usize] == now;
        if pending {
            self.armed[side as usize] = Time::NEVER;
        }
        pending
    }

    /// Forgets what was counted so far.
    pub(crate) fn start_measuring(&mut self) {
        self.baseline = [self.station.counters(), self.server.counters()];
    }

    /// Segments, retransmissions and timeouts of both ends since measuring began.
    pub(crate) fn counted(&self) -> TcpCounts {
        let mut counts = TcpCounts::default();
        for (now, then) in [&self.station, &self.server].iter().zip(&self.baseline) {
            let now = now.counters();
            counts.segments += now.segments_sent - then.segments_sent;
            counts.retransmissions += now.retransmissions - then.retransmissions;
            counts.timeouts += u64::from(now.timeouts - then.timeouts);
        }
        counts
    }

    /// Whether this is where the data of a transfer are, and not what is said about them.
    pub(crate) fn carries_data(&self) -> bool {
        !matches!(self.purpose, Purpose::Control(_))
    }

    /// Whether the sender of the data has some left to send, or to be acknowledged.
    pub(crate) fn is_sending(&self) -> bool {
        self.open && self.carries_data() && !self.transfer.acknowledged
    }

    /// Whether nothing is left to happen on this connection.
    pub(crate) fn is_over(&self) -> bool {
        self.in_network == 0
            && match self.purpose {
                Purpose::Transfer => self.transfer.received && self.transfer.acknowledged,
                Purpose::Data(_) => {
                    self.station.is_close_acknowledged() && self.server.is_close_acknowledged()
                }
                Purpose::Control(_) => false,
            }
    }
}

/// What the ends of connections count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TcpCounts {
    pub(crate) segments: u64,
    pub(crate) retransmissions: u64,
    pub(crate) timeouts: u64,
}

impl TcpCounts {
    pub(crate) fn add(&mut self, other: Self) {
        self.segments += other.segments;
        self.retransmissions += other.retransmissions;
        self.timeouts += other.timeouts;
    }
}
