//! One TCP connection: the endpoint at the station, the endpoint at the server, and the packets
//! between them. Its purpose is the application's business.

use airtcp_kernel::{Time, counters};
use airtcp_tcp::{
    Block, Config, Counters, EcnCounters, Endpoint, Flags, Opening, Segment, SegmentOptions,
    Timestamps,
};

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

/// An application's view of one end of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct End {
    /// Bytes received from the other end, in order.
    pub(crate) delivered: u64,
    /// Bytes that the other end has acknowledged.
    pub(crate) acked: u64,
    /// Whether data may flow.
    pub(crate) is_established: bool,
    /// Whether the other end has closed, and everything that it wrote has arrived.
    pub(crate) has_reached_end: bool,
}

/// Two endpoints, and the packets between them.
// In this order, the fields that every arrival uses share a cache line, and so do the fields of
// each end that most segments use. With many connections, cache misses dominate a run.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Connection {
    pub(crate) flow: u32,
    /// The tag by which the flow's application names it.
    pub(crate) tag: u32,
    /// The number of packets in the network.
    in_network: u32,
    /// Whether TCP acknowledges data before the application has replied.
    pub(crate) acks_first: bool,
    /// The end that sends the flow's payload.
    sender: Side,
    /// Whether the application will not use it any more.
    abandoned: bool,
    /// Whether this slot holds a connection.
    pub(crate) open: bool,
    /// Whether TCP keeps the station's queue small (TCP small queues).
    keeps_queue_small: bool,
    /// Whether the payload is that of transfers.
    carries_transfers: bool,
    /// The time of the valid timer event of each end; other events are stale.
    armed: [Time; 2],
    /// The application is told only when this many bytes of its transfer have arrived or are
    /// acknowledged.
    awaited: u64,
    station: Endpoint,
    server: Endpoint,
    /// Round-trip times of the segments of `sender`.
    round_trips: RoundTrips,
    /// The station's segments below TCP, for TCP small queues.
    small_queue: SmallQueue,
    /// SACK options of the packets in the network.
    sacks: SegmentOptions,
    /// The counters of both ends when measuring began.
    baseline: [(Counters, EcnCounters); 2],
}

impl Connection {
    /// Creates a connection on which nothing has been written. `opener` sends the SYN; without an
    /// opener it has been open for long. Round trips are measured for `sender`.
    /// `carries_transfers`: the payload is that of transfers.
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

    /// Abandons it: the application will neither use nor close it any more.
    pub(crate) fn abandon(&mut self) {
        self.abandoned = true;
    }

    pub(crate) fn endpoint(&mut self, side: Side) -> &mut Endpoint {
        match side {
            Side::Station => &mut self.station,
            Side::Server => &mut self.server,
        }
    }

    /// Returns the end that acknowledges: the one that does not send the flow's payload.
    pub(crate) fn acknowledging(&self) -> Side {
        self.sender.other()
    }

    pub(crate) fn end(&self, side: Side) -> &Endpoint {
        match side {
            Side::Station => &self.station,
            Side::Server => &self.server,
        }
    }

    /// Sends the next segment of `side`, if there is one to be sent now, and returns whether there
    /// may be more. With `STAMPED` the code path of segments with timestamps is inlined, and the
    /// other is not.
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
            endpoint.poll_one_stamped(config.at(now), &mut self.sacks)?
        } else {
            endpoint.poll_one(config.at(now), &mut self.sacks)?
        };
        if keeps_queue_small {
            self.small_queue.below += u64::from(segment.len);
            // The small queue records only when it is asked that payload waits for it.
            more |= segment.len > 0;
        }
        self.in_network += 1;
        if side == self.sender {
            self.round_trips.on_sent(now, &segment);
        }
        Some((segment, more))
    }

    /// Switches TCP small queues on for the station.
    pub(crate) fn keep_queue_small(&mut self) {
        self.keeps_queue_small = true;
    }

    /// Records that payload of the station has left its queue and its MAC. Returns whether TCP
    /// waits for that to send more.
    pub(crate) fn leave_station(&mut self, bytes: u32) -> bool {
        // Bytes left over from an earlier connection in this slot do not belong to this one.
        if !self.keeps_queue_small {
            return false;
        }
        self.small_queue.below = self.small_queue.below.saturating_sub(u64::from(bytes));
        std::mem::take(&mut self.small_queue.waits)
    }

    /// Reports nothing to the application until `bytes` of its transfer have reached their
    /// receiver, or are acknowledged to their sender.
    pub(crate) fn await_bytes(&mut self, bytes: u64) {
        self.awaited = bytes;
    }

    /// Returns whether to report to the application what has reached `side`.
    #[inline]
    pub(crate) fn is_awaited(&self, side: Side) -> bool {
        let end = self.end(side);
        if side == self.sender {
            end.has_acked(self.awaited)
        } else {
            end.has_delivered(self.awaited)
        }
    }

    /// Receives a segment of the other end at `side`, and returns the new bytes of transfers.
    /// Passes each completed round trip to `sample`, with the time at which it began. `STAMPED` is
    /// as in [`Self::poll_transmit`].
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
            endpoint.on_stamped_segment(config.at(now), segment, &self.sacks)
        } else {
            endpoint.on_segment(config.at(now), segment, &self.sacks)
        };
        self.leave_network(segment);
        if self.carries_transfers && side != self.sender { came } else { 0 }
    }

    /// Removes a segment from the network that has arrived or is lost.
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

    /// Returns the blocks of the SACK option of a segment in the network; empty without such an
    /// option.
    pub(crate) fn sack_blocks(&self, segment: &Segment) -> &[Block] {
        self.sacks.blocks(segment)
    }

    /// Returns the timestamps of a segment in the network, if it has any.
    pub(crate) fn timestamps(&self, segment: &Segment) -> Option<Timestamps> {
        self.sacks.timestamps(segment)
    }

    /// Returns the number of segments in the network with a SACK option.
    pub(crate) fn sacks_in_network(&self) -> usize {
        self.sacks.under_way()
    }

    /// Returns the time for which a timer event of `side` must be scheduled, if the pending one is
    /// too late. Deadlines move later all the time, so an event that is too early stays and checks
    /// again when it is due.
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

    /// Processes a timer event of `side`, and returns whether it is the valid one.
    pub(crate) fn disarm(&mut self, side: Side, now: Time) -> bool {
        let pending = self.open && self.armed[side as usize] == now;
        if pending {
            self.armed[side as usize] = Time::NEVER;
        }
        pending
    }

    /// Resets the counters.
    pub(crate) fn start_measuring(&mut self) {
        self.baseline =
            [&self.station, &self.server].map(|end| (end.counters(), end.ecn_counters()));
    }

    /// Returns the segments, retransmissions, timeouts and marks of both ends since measuring
    /// began.
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

    /// Returns whether nothing more can happen on this connection.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        let is_closed =
            || self.station.is_close_acknowledged() && self.server.is_close_acknowledged();
        self.in_network == 0 && (self.abandoned || is_closed())
    }
}

/// `tcp_small_queue_check` of Linux 6: the limit of a socket's data in queue and driver.
#[derive(Clone, Copy, Debug, Default)]
struct SmallQueue {
    /// Bytes of payload below TCP.
    below: u64,
    /// Whether more must be sent as soon as some of them have left.
    waits: bool,
}

/// `tx_sk_pacing_shift` of mac80211: the data that leave at the pacing rate in 2^-7 s, so that
/// frames can be aggregated; the default is 2^-10 s.
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

    /// Returns the payload limit below TCP, which is at least `least`.
    #[inline(never)]
    fn limit(endpoint: &Endpoint, least: u64) -> u64 {
        let limit = endpoint.pace().map_or(MOST_BELOW, |pace| pace >> PACING_SHIFT);
        limit.clamp(least, MOST_BELOW.max(least))
    }
}

counters! {
    /// The counters of connections' ends.
    pub(crate) struct TcpCounts {
        pub(crate) segments: u64,
        pub(crate) retransmissions: u64,
        pub(crate) timeouts: u64,
        pub(crate) ecn_marks: u64,
        pub(crate) ecn_reductions: u64,
    }
}
