//! Rules in which senders of other implementations depart from the RFCs. The effect of each is told
//! where it is applied; here they are listed.

use serde::{Deserialize, Serialize};

/// Departures of other implementations from the RFCs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// The named set that the others were taken from, for messages.
    pub preset: String,
    /// The window of which a loss leaves [`Aimd`](super::Aimd)'s part.
    pub loss_window: LossWindow,
    /// A fast retransmit sets the variable `recover` of RFC 6582 for Reno, too: no other follows until
    /// all that was sent before is acknowledged.
    pub fast_retransmit_once_per_window: bool,
    /// Segments that slow start adds to the window for an acknowledgment at most: 1 in RFC 5681 (2), 2 in
    /// RFC 3465; 0: any number, as in Linux.
    pub slow_start_limit: u32,
    /// The quantity that the least retransmission timeout bounds.
    pub rto_floor: RtoFloor,
    /// The expiry of the sender's timers.
    pub timers: Timers,
    /// In which pieces data is handed to the network.
    pub segmentation: Segmentation,
    /// A flag: a window that was not used for longer than a retransmission timeout falls to the initial
    /// one: RFC 5681 section 4.1.
    pub restart_after_idle: bool,
    /// The growth of the window of [`Congestion::Reno`](super::Congestion::Reno) in congestion avoidance.
    pub reno_growth: RenoGrowth,
    /// The growth of the window of [`Congestion::Cubic`](super::Congestion::Cubic).
    pub cubic_growth: CubicGrowth,
    /// The sign that [`SlowStart::Hystart`](super::SlowStart::Hystart) takes for a queue.
    pub hystart: Implementation,
    /// The bytes that [`Congestion::Bbr1`](super::Congestion::Bbr1) lets go beyond its model, and its way to time
    /// round trips.
    pub bbr1: Implementation,
}

/// Whose sender is followed where each has rules of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Implementation {
    /// Linux's, version 6.
    #[serde(rename = "linux")]
    Linux,
    /// That of ns-3, version 3.44.
    #[serde(rename = "ns-3")]
    Ns3,
}

/// The amount of data that makes Reno's window a segment larger in congestion avoidance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RenoGrowth {
    /// As many acknowledgments as the window has segments: RFC 5681 (3).
    PerAck,
    /// A window of acknowledged bytes, as RFC 5681 section 3.1 recommends (RFC 3465 section 2.1) and Linux does.
    PerByte,
}

/// The aim of CUBIC's window, and its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CubicGrowth {
    /// RFC 9438 sections 4.2 to 4.5.
    Standard,
    /// By the least round trip, in whole segments, and by a twentieth before the first loss.
    Linux,
}

/// The quantity that is at least [`Config::min_rto`](super::Config::min_rto).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RtoFloor {
    /// The timeout: RFC 6298 (2.4).
    Timeout,
    /// The part beside SRTT, as in Linux.
    Variation,
}

/// The expiry of a timer of the sender that is set for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Timers {
    /// After that time.
    Exact,
    /// As in Linux: with one of its ticks, of
    /// [`Config::clock_granularity`](super::Config::clock_granularity), and those of
    /// [`Variant::Rack`](super::Variant::Rack) 2 ms later. RACK.rtt, for which that waits, is the round trip of the
    /// acknowledged segment with the highest number, and not of the one sent last.
    Linux,
}

/// In which pieces a sender hands data to the network, and which of them ask for an acknowledgment (PSH).
/// [`Self::Linux`] is for [`Variant::Rack`](super::Variant::Rack), and with others as [`Self::Single`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Segmentation {
    /// Segment by segment, as soon as the window lets them, and none asks for an acknowledgment.
    Single,
    /// Segment by segment, as Linux without buffers and other old senders: the last segment of all asks for an
    /// acknowledgment, and each that fills more than half of the other end's window since the last that did.
    LinuxSingle,
    /// As in Linux: several segments in one buffer, which waits for more of them, and whose last one asks for an
    /// acknowledgment.
    Linux,
}

/// The window that a loss halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossWindow {
    /// FlightSize, and at a second timeout of a segment nothing: RFC 5681 (4).
    FlightSize,
    /// The window, which is the smaller one of cwnd and the advertised window, at every timeout.
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
