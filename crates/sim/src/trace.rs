//! The trace of a run: samples of flows and queues at equal intervals, and events with their times.
//!
//! Every record has the state just before its time. `world::record` takes the samples.

use airtcp_kernel::{Duration, Log};

/// The trace of one replication.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The time between two samples.
    pub interval: Duration,
    /// Names `flow/index`, by flow number.
    pub flow_names: Vec<String>,
    /// Names of the queues of nodes, then of wired links, by queue number.
    pub queue_names: Vec<String>,
    /// One record per flow and interval.
    pub flows: Log<FlowSample>,
    /// One record per queue and interval.
    pub queues: Log<QueueSample>,
    /// The events.
    pub events: Log<Event>,
    /// Names of the nodes, by node number.
    pub node_names: Vec<String>,
    /// With aggregation, a record of each data PPDU at its start.
    pub ppdus: Log<Ppdu>,
}

/// A flow at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSample {
    /// Its number.
    pub flow: u32,
    /// Payload bytes delivered in order to the application since the start of the run.
    pub delivered_bytes: u64,
    /// TCP connections whose data sender has data unsent or unacknowledged.
    pub connections: u32,
    /// The windows of their senders; `None` without a connection.
    pub window: Option<WindowSample>,
    /// Smoothed round-trip time of the connection that began last; `None` if not yet measured.
    pub srtt: Option<Duration>,
}

/// The sender of one connection, or the sums over several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSample {
    /// The congestion window in bytes.
    pub cwnd: u64,
    /// The slow start threshold in bytes; `None` if there is none yet, or if there are several
    /// connections.
    pub ssthresh: Option<u64>,
    /// Payload bytes sent and not acknowledged.
    pub flight_size: u64,
}

/// A queue at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSample {
    /// Its number.
    pub queue: u32,
    /// Packets in it, including the one being sent.
    pub packets: u64,
}

/// A PPDU with packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ppdu {
    /// The queue that sends it.
    pub queue: u32,
    /// The receiving node.
    pub receiver: u32,
    /// The number of its MPDUs.
    pub mpdus: u32,
    /// Bytes of these, without delimiters and padding.
    pub bytes: u64,
    /// The data rate in bits per second.
    pub rate: u64,
    /// Its airtime, including the preamble.
    pub airtime: Duration,
    /// Whether it got no response.
    pub failed: bool,
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The kind of event.
    pub kind: EventKind,
    /// The flow that it happened to.
    pub flow: u32,
    /// The queue that lost a packet.
    pub queue: Option<u32>,
    /// The window of the sender, and its congestion window after the event.
    pub sender: Option<(WindowSample, u64)>,
}

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A transfer began.
    TransferStart,
    /// The receiver has the last byte of a transfer.
    TransferEnd,
    /// The retransmission timer expired.
    Timeout,
    /// The sender learned of a loss and entered fast recovery.
    FastRetransmit,
    /// A segment was sent again.
    Retransmission,
    /// A queue dropped a packet.
    QueueDrop,
    /// A frame was given up at the retry limit.
    MacDrop,
    /// A packet was lost on a wired link.
    LinkLoss,
    /// A bare TCP ACK was removed from a queue because a newer one covers it.
    AckFiltered,
}

impl EventKind {
    /// All kinds; the index of each is its number.
    pub const ALL: [Self; 9] = [
        Self::TransferStart,
        Self::TransferEnd,
        Self::Timeout,
        Self::FastRetransmit,
        Self::Retransmission,
        Self::QueueDrop,
        Self::MacDrop,
        Self::LinkLoss,
        Self::AckFiltered,
    ];

    /// Returns its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TransferStart => "transfer_start",
            Self::TransferEnd => "transfer_end",
            Self::Timeout => "timeout",
            Self::FastRetransmit => "fast_retransmit",
            Self::Retransmission => "retransmission",
            Self::QueueDrop => "queue_drop",
            Self::MacDrop => "mac_drop",
            Self::LinkLoss => "link_loss",
            Self::AckFiltered => "ack_filtered",
        }
    }
}
