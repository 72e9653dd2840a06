//! What an endpoint is told before it starts. Both ends of a connection share one [`Config`]; it
//! never changes while they live, so the endpoints hold no copy of it.

use airtcp_kernel::Duration;
use serde::{Deserialize, Serialize};

/// The parameters of both ends of a connection. There are no defaults here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// What the sender does after a fast retransmit.
    pub variant: Variant,
    /// SMSS and RMSS of RFC 5681, in bytes of payload; at least 1.
    pub mss: u32,
    /// The advertised window, in bytes; at least 1, and at least one `mss` for full segments.
    pub receive_window: u64,
    /// IW of RFC 5681 section 3.1, in bytes; taken as one `mss` if it is less.
    pub initial_window: u64,
    /// Slow start ends here, in bytes; `None`: arbitrarily high, as RFC 5681 section 3.1 advises.
    pub initial_ssthresh: Option<u64>,
    /// How a connection opens.
    pub handshake: Handshake,
    /// The retransmission timeout before any round trip is measured: RFC 6298 (2.1) says 1 s.
    pub initial_rto: Duration,
    /// The least retransmission timeout: RFC 6298 (2.4) says 1 s, most stacks take less.
    pub min_rto: Duration,
    /// The greatest retransmission timeout: RFC 6298 (2.5) says at least 60 s.
    pub max_rto: Duration,
    /// G of RFC 6298 section 2, the resolution of the sender's clock.
    pub clock_granularity: Duration,
    /// How the receiver delays its acknowledgments.
    pub delayed_ack: DelayedAck,
}

/// What the sender does between a fast retransmit and the end of the recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// RFC 5681 section 3.2: any acknowledgment of new data ends fast recovery.
    Reno,
    /// RFC 6582: fast recovery lasts until all that was sent before it is acknowledged.
    NewReno,
}

/// How a connection opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Handshake {
    /// SYN, SYN+ACK, ACK: RFC 9293 section 3.5.
    ThreeWay,
    /// As in ns-2: the active end is the sender of the data; its SYN is answered by a bare ACK.
    TwoWay,
    /// Both ends are established from the start.
    None,
}

/// When the receiver acknowledges data that arrives in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedAck {
    /// As soon as this many full-sized segments are unacknowledged; 0 and 1 both mean each segment.
    pub every: u32,
    /// At the latest this long after the first of them: RFC 1122 section 4.2.3.2 says 0.5 s.
    pub timeout: Duration,
}

/// Which end of the handshake an endpoint takes; without a handshake both are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Sends the SYN.
    Active,
    /// Waits for a SYN.
    Passive,
}

#[cfg(test)]
pub(crate) fn example() -> Config {
    Config {
        variant: Variant::NewReno,
        mss: 1000,
        receive_window: 64_000,
        initial_window: 2000,
        initial_ssthresh: None,
        handshake: Handshake::None,
        initial_rto: Duration::from_secs(1),
        min_rto: Duration::from_millis(200),
        max_rto: Duration::from_secs(60),
        clock_granularity: Duration::from_millis(1),
        delayed_ack: DelayedAck { every: 1, timeout: Duration::from_millis(100) },
    }
}
