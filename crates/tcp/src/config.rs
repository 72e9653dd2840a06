//! The configuration of an endpoint, or of both ends if they are alike. It never changes during a
//! connection, so endpoints hold no copy; the caller passes it to each call.

mod acknowledgments;
mod ends;
mod feedback;
mod rules;

use std::ops::RangeInclusive;

use airtcp_kernel::{Duration, Time};
use serde::{Deserialize, Serialize};

use crate::congestion::plugin;

pub(crate) use self::acknowledgments::LONGEST_ADAPTIVE_DELAY;
pub use self::acknowledgments::{AckSkip, DelayedAck, Tack, Threshold};
pub use self::ends::Peer;
pub use self::feedback::{AdaptiveSkip, GiveUp, MacFeedback};
pub use self::rules::{
    CubicGrowth, Implementation, LossWindow, RenoGrowth, RtoFloor, Rules, Segmentation, Timers,
};

/// The configuration of an endpoint, and the time of a call.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    /// The configuration; the same in each call.
    pub config: &'a Config,
    /// The time; no earlier than in the call before.
    pub now: Time,
}

/// The parameters of one end of a connection, as in the resolved scenario. There are no defaults
/// here.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The sender's loss recovery.
    pub variant: Variant,
    /// Congestion control: how the window grows, and what a loss leaves of it.
    pub congestion: Congestion,
    /// How the first slow start ends if nothing is lost.
    pub slow_start: SlowStart,
    /// Whether to pace segments by window and round-trip time instead of sending bursts.
    pub pacing: bool,
    /// SMSS and RMSS of RFC 5681, in bytes of payload; at least 1.
    #[serde(rename = "mss_bytes")]
    pub mss: u32,
    /// The receive window that is advertised, in bytes; at least 1, and at least one `mss` to allow
    /// full segments.
    #[serde(rename = "receive_window_bytes")]
    pub receive_window: u64,
    /// IW of RFC 5681 section 3.1, in bytes; raised to one `mss` if less.
    #[serde(rename = "initial_window_bytes")]
    pub initial_window: u64,
    /// The initial slow start threshold in bytes; `None`: arbitrarily high, as RFC 5681 section 3.1
    /// advises.
    #[serde(rename = "initial_ssthresh_bytes")]
    pub initial_ssthresh: Option<u64>,
    /// Increase and decrease of the congestion window outside slow start.
    pub aimd: Aimd,
    /// Where implementations depart from the RFCs.
    pub rules: Rules,
    /// How a connection opens.
    pub handshake: Handshake,
    /// The retransmission timeout before the first RTT sample: RFC 6298 (2.1) says 1 s.
    #[serde(rename = "initial_rto_ns")]
    pub initial_rto: Duration,
    /// The minimum retransmission timeout: RFC 6298 (2.4) says 1 s, most stacks use less.
    #[serde(rename = "min_rto_ns")]
    pub min_rto: Duration,
    /// The maximum retransmission timeout: RFC 6298 (2.5) says at least 60 s.
    #[serde(rename = "max_rto_ns")]
    pub max_rto: Duration,
    /// G of RFC 6298 section 2, the granularity of the sender's clock.
    #[serde(rename = "clock_granularity_ns")]
    pub clock_granularity: Duration,
    /// When the receiver acknowledges.
    pub delayed_ack: DelayedAck,
    /// ACKs that the receiver omits; `None`: none.
    pub ack_skip: Option<AckSkip>,
    /// How TCP reacts when its own MAC gives up a frame; `None`: not at all.
    pub mac_feedback: Option<MacFeedback>,
    /// TACK: the receiver also thins out its ACKs by time; `None`: it does not.
    pub tack: Option<Tack>,
    /// Whether each segment has a timestamps option (RFC 7323 section 3). The option's bytes are
    /// not counted here.
    pub timestamps: bool,
    /// Whether this end accepts ECN (RFC 3168).
    pub ecn: bool,
    /// Whether a SYN has a window scale option (RFC 7323 section 2). Windows are unlimited here in
    /// either case; the option only takes its bytes.
    pub window_scaling: bool,
    /// The other end; `None`: configured like this one. See [`Self::meeting`].
    #[serde(skip)]
    pub peer: Option<Peer>,
}

/// The loss recovery algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// RFC 5681 section 3.2: any acknowledgment of new data ends fast recovery.
    Reno,
    /// RFC 6582: fast recovery lasts until everything sent before it is acknowledged.
    NewReno,
    /// RFC 6675: like NewReno, but the receiver reports what it holds (RFC 2018), and only holes
    /// are retransmitted.
    Sack,
    /// RFC 8985 and RFC 9937: a segment is lost if one sent later has arrived and a reordering
    /// window has passed. Tail losses are probed. Proportional rate reduction lowers the window.
    Rack,
}

impl Variant {
    /// Whether it uses SACK (RFC 2018).
    pub fn has_sack(self) -> bool {
        matches!(self, Self::Sack | Self::Rack)
    }
}

/// How the congestion window grows without loss, and what a loss leaves of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Congestion {
    /// RFC 5681 section 3.1, with the factors of [`Aimd`].
    Reno,
    /// RFC 9438.
    Cubic,
    /// draft-cardwell-iccrg-bbr-congestion-control-00, as in Linux. Requires [`Config::pacing`].
    Bbr1,
    /// draft-ietf-ccwg-bbr, version 3. Requires [`Config::pacing`].
    Bbr,
    /// A registered congestion control, by its number in
    /// [`crate::plugin::register`].
    Plugin(u16),
}

/// The built-in congestion controls by name.
const CONTROLS: [(&str, Congestion); 4] = [
    ("reno", Congestion::Reno),
    ("cubic", Congestion::Cubic),
    ("bbr1", Congestion::Bbr1),
    ("bbr", Congestion::Bbr),
];

impl TryFrom<String> for Congestion {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        let known = CONTROLS.iter().find(|(name, _)| *name == word).map(|(_, control)| *control);
        known.or_else(|| plugin::number(&word).map(Self::Plugin)).ok_or_else(|| {
            format!("no congestion control is called `{word}`, and no plug-in of that name is registered")
        })
    }
}

impl From<Congestion> for String {
    fn from(control: Congestion) -> Self {
        if let Congestion::Plugin(number) = control {
            return plugin::name(number);
        }
        let known = CONTROLS.iter().find(|(_, one)| *one == control);
        known.expect("it has all of them").0.to_owned()
    }
}

impl Congestion {
    /// Whether window and pacing rate follow a model of the path instead of losses.
    pub(crate) fn has_model(self) -> bool {
        matches!(self, Self::Bbr1 | Self::Bbr)
    }
}

/// How slow start ends without a loss. All except `Standard` need RTT samples of single segments,
/// so they require [`Variant::Rack`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SlowStart {
    /// Only at the threshold: RFC 5681 section 3.1.
    #[serde(rename = "standard")]
    Standard,
    /// When ACKs indicate a queue, as in Linux's CUBIC: by the length of an ACK train or by rising
    /// delay.
    #[serde(rename = "hystart")]
    Hystart,
    /// RFC 9406: by rising delay, with a phase of slower growth.
    #[serde(rename = "hystart++")]
    HystartPlusPlus,
}

/// Additive increase and multiplicative decrease of the congestion window. In integer units of
/// 2^-16, so that every machine agrees. Leith and Clifford 2005, section 5, call the factors alpha
/// and beta.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "AimdFactors")]
pub struct Aimd {
    /// Segments per round trip by which congestion avoidance opens the window; 1 in RFC 5681 (3).
    increase: u32,
    /// The factor that a loss leaves of the window; one half in RFC 5681 (4).
    decrease: u32,
}

/// How a connection opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Handshake {
    /// SYN, SYN+ACK, ACK: RFC 9293 section 3.5.
    ThreeWay,
    /// As in ns-2: the data sender is the active end, and a bare ACK answers its SYN.
    TwoWay,
    /// Both ends are established from the start.
    None,
}

/// The role of an endpoint in the handshake; irrelevant with [`Handshake::None`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Sends the SYN.
    Active,
    /// Waits for the SYN.
    Passive,
    /// Already established; no handshake.
    Established,
}

/// [`Aimd`] as in the resolved scenario.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AimdFactors {
    increase: f64,
    decrease: f64,
}

/// Values that differ from nothing, and from everything, in units of [`Aimd`].
const INCREASE: RangeInclusive<f64> = 0.001..=1000.0;
const DECREASE: RangeInclusive<f64> = 0.01..=0.99;

/// Units of [`Aimd`] per 1.
const AIMD_UNITS: f64 = 65_536.0;

impl Config {
    /// Returns what a call at `now` is told.
    #[inline]
    pub fn at(&self, now: Time) -> At<'_> {
        At { config: self, now }
    }

    /// Checks what the types cannot express. Errors of users are reported earlier, with file and
    /// key.
    ///
    /// # Errors
    /// If a window is below one segment, or if a setting needs RTT samples of single segments
    /// without [`Variant::Rack`].
    pub fn check(&self) -> Result<(), &'static str> {
        if self.mss == 0 || self.receive_window.min(self.initial_window) < u64::from(self.mss) {
            return Err("a window below one segment");
        }
        let times_segments = self.slow_start != SlowStart::Standard || self.pacing;
        if times_segments && self.variant != Variant::Rack {
            return Err("hystart or pacing without the variant rack, which alone times segments");
        }
        if self.congestion.has_model() && !(self.pacing && self.slow_start == SlowStart::Standard) {
            return Err("BBR without pacing, or with another one's slow start");
        }
        if self.congestion.has_model() && self.ecn {
            return Err("ECN with BBR, which hears no echo");
        }
        Ok(())
    }

    /// Whether segments of an established connection take the slow path: they carry options or ECN
    /// bits, or the MAC reports to TCP.
    pub(crate) fn has_marks(&self) -> bool {
        self.timestamps || self.ecn || self.mac_feedback.is_some()
    }

    /// Whether timestamps are the only option of established connections, and nothing samples the
    /// delivery rate.
    pub(crate) fn has_stamps_alone(&self) -> bool {
        let is_watched = self.pacing || self.congestion.has_model() || self.tack.is_some();
        self.timestamps && !self.ecn && self.mac_feedback.is_none() && !is_watched
    }

    /// Returns the base configuration of most tests: NewReno, segments of 1000 bytes, no handshake,
    /// an ACK for each segment.
    #[cfg(any(test, feature = "testing"))]
    pub fn standard() -> Self {
        Self {
            variant: Variant::NewReno,
            congestion: Congestion::Reno,
            slow_start: SlowStart::Standard,
            pacing: false,
            mss: 1000,
            receive_window: 64_000,
            initial_window: 2000,
            initial_ssthresh: None,
            aimd: Aimd::STANDARD,
            rules: Rules::standard(),
            handshake: Handshake::None,
            initial_rto: Duration::from_secs(1),
            min_rto: Duration::from_millis(200),
            max_rto: Duration::from_secs(60),
            clock_granularity: Duration::from_millis(1),
            delayed_ack: DelayedAck::every(1, Duration::from_millis(100)),
            ack_skip: None,
            mac_feedback: None,
            tack: None,
            timestamps: false,
            ecn: false,
            window_scaling: false,
            peer: None,
        }
    }
}

impl TryFrom<AimdFactors> for Aimd {
    type Error = &'static str;

    fn try_from(factors: AimdFactors) -> Result<Self, Self::Error> {
        if !INCREASE.contains(&factors.increase) {
            Err("need 0.001 <= aimd.increase <= 1000")
        } else if !DECREASE.contains(&factors.decrease) {
            Err("need 0.01 <= aimd.decrease <= 0.99")
        } else {
            Ok(Self::new(factors.increase, factors.decrease))
        }
    }
}

impl Aimd {
    /// RFC 5681: one segment per round trip, and one half.
    pub const STANDARD: Self = Self { increase: 1 << 16, decrease: 1 << 15 };

    /// Creates the factors: `increase` segments per round trip, and the factor `decrease` of the
    /// window after a loss. Both are rounded to a multiple of 2^-16.
    pub fn new(increase: f64, decrease: f64) -> Self {
        // Scaling by a power of two is exact, and the conversion saturates.
        let units = |factor: f64| (factor * AIMD_UNITS).round() as u32;
        Self { increase: units(increase), decrease: units(decrease) }
    }

    /// Multiplies `amount` by the increase.
    #[inline]
    pub(crate) fn increased(self, amount: u64) -> u64 {
        if self.increase == Self::STANDARD.increase { amount } else { scale(amount, self.increase) }
    }

    /// Multiplies `amount` by the decrease.
    pub(crate) fn decreased(self, amount: u64) -> u64 {
        scale(amount, self.decrease)
    }
}

fn scale(amount: u64, units: u32) -> u64 {
    let product = (u128::from(amount) * u128::from(units)) >> 16;
    u64::try_from(product).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_aimd_is_one_and_one_half_to_the_last_unit() {
        assert_eq!(Aimd::new(1.0, 0.5), Aimd::STANDARD);
        assert_eq!(Aimd::STANDARD.increased(12_345), 12_345);
        assert_eq!(Aimd::STANDARD.decreased(12_345), 6172);
    }

    #[test]
    fn aimd_is_rounded_to_the_nearest_unit_and_results_down() {
        // 0.2 * 65536 = 13107.2, 0.95 * 65536 = 62259.2.
        let aimd = Aimd::new(0.2, 0.95);

        assert_eq!(aimd.increased(65_536), 13_107);
        assert_eq!(aimd.decreased(65_536), 62_259);
        // 10^6 * 13107 / 65536 = 199996.9.
        assert_eq!(aimd.increased(1_000_000), 199_996);
    }

    #[test]
    fn aimd_of_anything_does_not_overflow() {
        assert_eq!(Aimd::new(1000.0, 0.5).increased(u64::MAX), u64::MAX);
        assert_eq!(Aimd::new(1.0, 0.5).decreased(u64::MAX), u64::MAX / 2);
    }
}
