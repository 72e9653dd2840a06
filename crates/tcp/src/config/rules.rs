//! Rules by which other implementations depart from the RFCs. Each effect is described where it is
//! applied.

use serde::{Deserialize, Serialize};

/// Departures of other implementations from the RFCs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// The name of the preset that provided the other values, for messages.
    pub preset: String,
    /// Which window [`Aimd`](super::Aimd) reduces after a loss.
    pub loss_window: LossWindow,
    /// Whether Reno also sets `recover` of RFC 6582 at a fast retransmit: no other one follows
    /// until everything sent before is acknowledged.
    pub fast_retransmit_once_per_window: bool,
    /// The most segments that slow start adds per ACK: 1 in RFC 5681 (2), 2 in RFC 3465. 0: no
    /// limit, as in Linux.
    pub slow_start_limit: u32,
    /// What the minimum retransmission timeout limits.
    pub rto_floor: RtoFloor,
    /// When the sender's timers expire.
    pub timers: Timers,
    /// How the sender divides data into segments and buffers.
    pub segmentation: Segmentation,
    /// Whether the window falls to the initial window after an idle period longer than the RTO: RFC
    /// 5681 section 4.1.
    pub restart_after_idle: bool,
    /// How [`Congestion::Reno`](super::Congestion::Reno) grows in congestion avoidance.
    pub reno_growth: RenoGrowth,
    /// How [`Congestion::Cubic`](super::Congestion::Cubic) grows.
    pub cubic_growth: CubicGrowth,
    /// How [`SlowStart::Hystart`](super::SlowStart::Hystart) detects a queue.
    pub hystart: Implementation,
    /// How many bytes [`Congestion::Bbr1`](super::Congestion::Bbr1) sends beyond its model, and how
    /// it measures round trips.
    pub bbr1: Implementation,
}

/// The implementation to follow where the two differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Implementation {
    /// Linux, version 6.
    #[serde(rename = "linux")]
    Linux,
    /// ns-3, version 3.44.
    #[serde(rename = "ns-3")]
    Ns3,
}

/// How much data opens Reno's window by one segment in congestion avoidance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RenoGrowth {
    /// As many ACKs as the window has segments: RFC 5681 (3).
    PerAck,
    /// One window of acknowledged bytes, as RFC 5681 section 3.1 recommends (RFC 3465 section 2.1)
    /// and Linux does.
    PerByte,
}

/// The target of CUBIC's window and the size of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CubicGrowth {
    /// RFC 9438 sections 4.2 to 4.5.
    Standard,
    /// Looks ahead by the minimum RTT, grows in whole segments, and by at least a twentieth before
    /// the first loss.
    Linux,
}

/// What [`Config::min_rto`](super::Config::min_rto) limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RtoFloor {
    /// The whole timeout: RFC 6298 (2.4).
    Timeout,
    /// The variance term added to SRTT, as in Linux.
    Variation,
}

/// When a timer expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Timers {
    /// Exactly on time.
    Exact,
    /// As in Linux: at a tick of [`Config::clock_granularity`](super::Config::clock_granularity),
    /// and for timers of [`Variant::Rack`](super::Variant::Rack) 2 ms later. RACK.rtt, on which the
    /// reordering timer is based, is the round trip of the acknowledged segment with the highest
    /// sequence number, not of the one sent last.
    Linux,
}

/// How a sender divides data into segments and buffers, and which segments carry PSH, which
/// requests an ACK. [`Self::Linux`] requires [`Variant::Rack`](super::Variant::Rack); with other
/// variants it acts like [`Self::Single`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Segmentation {
    /// Segment by segment, as soon as the window allows; no segment carries PSH.
    Single,
    /// Segment by segment, as in Linux without buffers and in other old senders. PSH is set on the
    /// last segment of all, and whenever more than half of the peer's window was filled since the
    /// last PSH.
    LinuxSingle,
    /// As in Linux: several segments per buffer, which waits for more data; the last segment of a
    /// buffer carries PSH.
    Linux,
}

/// The window that a loss halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossWindow {
    /// FlightSize, but at a repeated timeout of a segment no reduction: RFC 5681 (4).
    FlightSize,
    /// The smaller of cwnd and the advertised window, at every timeout.
    Cwnd,
}

#[cfg(any(test, feature = "testing"))]
impl Rules {
    /// Returns the rules of RFC 5681.
    pub fn standard() -> Self {
        Self {
            preset: "standard".into(),
            loss_window: LossWindow::FlightSize,
            fast_retransmit_once_per_window: false,
            slow_start_limit: 1,
            rto_floor: RtoFloor::Timeout,
            timers: Timers::Exact,
            segmentation: Segmentation::Single,
            restart_after_idle: true,
            reno_growth: RenoGrowth::PerAck,
            cubic_growth: CubicGrowth::Standard,
            hystart: Implementation::Linux,
            bbr1: Implementation::Linux,
        }
    }
}
