//! One TCP connection: the endpoint in the station, the endpoint in the server, and how many packets are
//! between them. Does not know what it is for: that is its application's business.

use airtcp_kernel::Time;
use airtcp_tcp::{
    Block, Config, Counters, EcnCounters, Endpoint, Flags, Opening, Segment, SegmentOptions,
    Timestamps,
};

use crate::app::End;
use crate::round_trips::{RoundTrips, Trip};

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The station.
    Station,
    /// The server.
    Server,
}

impl Side {
    /// Returns the other end.
    pub fn other(self) -> Self {
        match self {
            Self::Station => Self::Server,
            Self::Server => Self::Station,
        }
    }
}

/// Two endpoints, and what is on its way between them.
// In this order, what is looked at whenever something arrives shares a cache line, and so does what most
// segments look at of each end: where there are many connections, a run waits for little else than for
// these lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Connection {
    pub(crate) flow: u32,
    /// The number by which the flow's application calls it.
    pub(crate) tag: u32,
    /// Packets on their way between the two ends.
    in_network: u32,
    /// A flag: TCP acknowledges what comes before the application has answered.
    pub(crate) acks_first: bool,
    /// The end that sends the flow's payload.
    sender: Side,
    /// A flag: the application will do nothing more with it.
    abandoned: bool,
    /// A flag: this place holds a connection.
    pub(crate) open: bool,
    /// A flag: little of the station's segments may wait below TCP.
    keeps_queue_small: bool,
    /// A flag: the payload that the other end gets is that of transfers.
    carries_transfers: bool,
    /// The time of the timer event of each end that counts; others are stale.
    armed: [Time; 2],
    /// The application is told once so many bytes of its transfer have come, or are acknowledged.
    awaited: u64,
    station: Endpoint,
    server: Endpoint,
    /// The round trips of the segments of `sender`.
    round_trips: RoundTrips,
    /// The station's segments below TCP, if little of them may wait.
    small_queue: SmallQueue,
    /// SACK options of the packets on their way.
    sacks: SegmentOptions,
    /// The counters of the ends when measuring began.
    baseline: [(Counters, EcnCounters); 2],
}

impl Connection {
    /// Makes a connection on which nothing has been written. `opener` sends the SYN; without one it has
    /// been open for long. The round trips are those of `sender`, and what the other end gets is of
    /// transfers if it `carries_transfers`.
    pub(crate) fn new(
        [station, server]: [&Config; 2],
        opener: Option<Side>,
        (sender, carries_transfers): (Side, bool),
        flow: u32,
        tag: u32,
        acks_first: bool,
    ) -> Self {
        let opening = |side| match opener {
            None => Opening::Established,
            Some(opener) if opener == side => Opening::Active,
            Some(_) => Opening::Passive,
        };
        Self {
            flow,
            tag,
            acks_first,
            station: Endpoint::new(station, opening(Side::Station)),
            server: Endpoint::new(server, opening(Side::Server)),
            sender,
            round_trips: RoundTrips::default(),
            sacks: SegmentOptions::new(),
            armed: [Time::NEVER; 2],
            in_network: 0,
            carries_transfers,
            awaited: 0,
            keeps_queue_small: false,
            small_queue: SmallQueue::default(),
            abandoned: false,
            baseline: Default::default(),
            open: true,
        }
    }

    /// Abandons it: the application will do nothing more with it, and not close it either.
    pub(crate) fn abandon(&mut self) {
        self.abandoned = true;
    }

    pub(crate) fn endpoint(&mut self, side: Side) -> &mut Endpoint {
        match side {
            Side::Station => &mut self.station,
            Side::Server => &mut self.server,
        }
    }

    /// Returns the end that acknowledges: not the one that sends the flow's payload.
    pub(crate) fn acknowledging(&self) -> Side {
        self.sender.other()
    }

    pub(crate) fn end(&self, side: Side) -> &Endpoint {
        match side {
            Side::Station => &self.station,
            Side::Server => &self.server,
        }
    }

    /// Sends the next segment of `side`, if there is one to be sent now, and tells whether there may be
    /// more. With `STAMPED` the way of segments with timestamps is in line, and that of others is not.
    #[inline(always)]
    pub(crate) fn poll_transmit<const STAMPED: bool>(
        &mut self,
        side: Side,
        config: &Config,
        now: Time,
    ) -> Option<(Segment, bool)> {
        let endpoint = match side {
            Side::Station => &mut self.station,
            Side::Server => &mut self.server,
        };
        let keeps_queue_small = side == Side::Station && self.keeps_queue_small;
        if keeps_queue_small && self.small_queue.must_wait(endpoint, config) {
            return None;
        }
        let (segment, mut more) = if STAMPED {
            endpoint.poll_one_stamped(config, now, &mut self.sacks)?
        } else {
            endpoint.poll_one(config, now, &mut self.sacks)?
        };
        if keeps_queue_small {
            self.small_queue.below += u64::from(segment.len);
            // Only when it is asked does the small queue know that payload waits for it.
            more |= segment.len > 0;
        }
        self.in_network += 1;
        if side == self.sender {
            self.round_trips.on_sent(now, &segment);
        }
        Some((segment, more))
    }

    /// Lets little of the station's segments wait below TCP from now on.
    pub(crate) fn keep_queue_small(&mut self) {
        self.keeps_queue_small = true;
    }

    /// Takes note that payload of the station has left its queue and its MAC, and tells whether TCP waits
    /// for that to send more.
    pub(crate) fn leave_station(&mut self, bytes: u32) -> bool {
        // Bytes left over from an earlier connection in this place are not this one's.
        if !self.keeps_queue_small {
            return false;
        }
        self.small_queue.below = self.small_queue.below.saturating_sub(u64::from(bytes));
        std::mem::take(&mut self.small_queue.waits)
    }

    /// Tells the application of nothing before so many bytes of its transfer have come to
    /// their receiver, or are acknowledged to their sender.
    pub(crate) fn await_bytes(&mut self, bytes: u64) {
        self.awaited = bytes;
    }

    /// Tells whether the application is to hear of what has come to `side`.
    #[inline]
    pub(crate) fn is_awaited(&self, side: Side) -> bool {
        let end = self.end(side);
        if side == self.sender {
            end.has_acked(self.awaited)
        } else {
            end.has_delivered(self.awaited)
        }
    }

    /// Receives a segment of the other end at `side`, and returns the bytes of transfers that came with it.
    /// Gives `sample` each round trip that ends with it, and the time at which that began. `STAMPED` is that of
    /// [`Self::poll_transmit`].
    #[inline(always)]
    pub(crate) fn arrive<const STAMPED: bool>(
        &mut self,
        side: Side,
        config: &Config,
        now: Time,
        segment: &Segment,
        sample: impl FnMut(Trip, Time),
    ) -> u64 {
        if side == self.sender && segment.flags.contains(Flags::ACK) {
            self.round_trips.on_ack(segment.ack, self.sacks.blocks(segment), sample);
        }
        let endpoint = match side {
            Side::Station => &mut self.station,
            Side::Server => &mut self.server,
        };
        let came = if STAMPED {
            endpoint.on_stamped_segment(config, now, segment, &self.sacks)
        } else {
            endpoint.on_segment(config, now, segment, &self.sacks)
        };
        self.leave_network(segment);
        if self.carries_transfers && side != self.sender { came } else { 0 }
    }

    /// Takes a segment off the network, where it has arrived or is lost.
    #[inline]
    pub(crate) fn leave_network(&mut self, segment: &Segment) {
        self.in_network -= 1;
        self.sacks.release(segment);
    }

    /// Returns the state of `side` as its application sees it.
    #[inline]
    pub(crate) fn seen_from(&self, side: Side) -> End {
        let endpoint = self.end(side);
        End {
            delivered: endpoint.delivered(),
            acked: endpoint.acked(),
            is_established: endpoint.is_established(),
            has_reached_end: endpoint.has_reached_end(),
        }
    }

    /// Returns the blocks of the SACK option of a segment on its way; none if it has no such option.
    pub(crate) fn sack_blocks(&self, segment: &Segment) -> &[Block] {
        self.sacks.blocks(segment)
    }

    /// Returns the timestamps of a segment on its way, if it has any.
    pub(crate) fn timestamps(&self, segment: &Segment) -> Option<Timestamps> {
        self.sacks.timestamps(segment)
    }

    /// Counts the segments with a SACK option that are on their way.
    pub(crate) fn sacks_in_network(&self) -> usize {
        self.sacks.under_way()
    }

    /// Returns the time for which a timer event of `side` must be scheduled, if the pending one comes too late.
    /// Deadlines move later all the time, so an event that comes too early is left to look
    /// again when it comes.
    #[inline]
    pub(crate) fn arm(&mut self, side: Side) -> Option<Time> {
        let armed = self.armed[side as usize];
        if self.end(side).poll_timer_roughly() >= armed {
            return None;
        }
        let deadline = self.end(side).poll_timer();
        let armed = &mut self.armed[side as usize];
        if deadline < *armed {
            *armed = deadline;
            Some(deadline)
        } else {
            None
        }
    }

    /// Takes a timer event of `side`, and tells whether it is the pending one.
    pub(crate) fn disarm(&mut self, side: Side, now: Time) -> bool {
        let pending = self.open && self.armed[side as usize] == now;
        if pending {
            self.armed[side as usize] = Time::NEVER;
        }
        pending
    }

    /// Forgets what was counted so far.
    pub(crate) fn start_measuring(&mut self) {
        self.baseline =
            [&self.station, &self.server].map(|end| (end.counters(), end.ecn_counters()));
    }

    /// Counts segments, retransmissions, timeouts and marks of both ends since measuring began.
    pub(crate) fn counted(&self) -> TcpCounts {
        let mut counts = TcpCounts::default();
        for (end, (then, marked)) in [&self.station, &self.server].iter().zip(&self.baseline) {
            let (now, ecn) = (end.counters(), end.ecn_counters());
            counts.segments += now.segments_sent - then.segments_sent;
            counts.retransmissions += now.retransmissions - then.retransmissions;
            counts.timeouts += u64::from(now.timeouts - then.timeouts);
            counts.ecn_marks += ecn.marks - marked.marks;
            counts.ecn_reductions += ecn.reductions - marked.reductions;
        }
        counts
    }

    /// Tells whether nothing is left to happen on this connection.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        let is_closed =
            || self.station.is_close_acknowledged() && self.server.is_close_acknowledged();
        self.in_network == 0 && (self.abandoned || is_closed())
    }
}

/// `tcp_small_queue_check` of Linux 6: what a socket may have in queue and driver.
#[derive(Clone, Copy, Debug, Default)]
struct SmallQueue {
    /// Bytes of payload.
    below: u64,
    /// More is to be sent as soon as some of that has left.
    waits: bool,
}

/// `tx_sk_pacing_shift` of mac80211: as much as leaves at its pace in 2^-7 s, that frames may be aggregated;
/// without it 2^-10 s.
const PACING_SHIFT: u32 = 7;
/// `tcp_limit_output_bytes`.
const MOST_BELOW: u64 = 4 << 20;

impl SmallQueue {
    #[inline]
    fn must_wait(&mut self, endpoint: &Endpoint, config: &Config) -> bool {
        let least = 2 * u64::from(config.mss);
        self.waits = self.below >= least && self.below >= Self::limit(endpoint, least);
        self.waits
    }

    /// Returns the payload from which on no more may wait, which is not less than `least`.
    #[inline(never)]
    fn limit(endpoint: &Endpoint, least: u64) -> u64 {
        let limit = endpoint.pace().map_or(MOST_BELOW, |pace| pace >> PACING_SHIFT);
        limit.clamp(least, MOST_BELOW.max(least))
    }
}

/// The counts of the ends of connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TcpCounts {
    pub(crate) segments: u64,
    pub(crate) retransmissions: u64,
    pub(crate) timeouts: u64,
    pub(crate) ecn_marks: u64,
    pub(crate) ecn_reductions: u64,
}

impl TcpCounts {
    pub(crate) fn add(&mut self, other: Self) {
        self.segments += other.segments;
        self.retransmissions += other.retransmissions;
        self.timeouts += other.timeouts;
        self.ecn_marks += other.ecn_marks;
        self.ecn_reductions += other.ecn_reductions;
    }
}
