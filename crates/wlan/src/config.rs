//! The immutable settings of the MAC, from the resolved scenario. There are no defaults here: the
//! standard's values come with the scenario.

use std::collections::BTreeMap;
use std::fmt;

use airtcp_kernel::Duration;
use serde::Deserialize;

use crate::phy::{HighRateTiming, PhyConfig, Rate};

/// The contention parameters of a queue: of the DCF or of an EDCAF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessParameters {
    /// DIFS, or the AIFS of the access category.
    #[serde(rename = "aifs_ns")]
    pub aifs: Duration,
    /// CWmin.
    pub cw_min: u32,
    /// CWmax.
    pub cw_max: u32,
    /// The TXOP limit; zero: one frame exchange.
    #[serde(rename = "txop_limit_ns")]
    pub txop_limit: Duration,
}

/// Settings of the MAC.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MacConfig {
    /// RTS/CTS protects MPDUs longer than this many bytes; never if `None` (dot11RTSThreshold).
    pub rts_threshold_bytes: Option<u64>,
    /// The limit of transmissions of a frame that waits for a CTS, or for an ACK without RTS
    /// (dot11ShortRetryLimit).
    pub short_retry_limit: u32,
    /// The limit of transmissions of a data frame whose RTS succeeded (dot11LongRetryLimit). If all
    /// stations hear each other and there are no frame errors, such a frame never fails, so the
    /// limit is not reached.
    pub long_retry_limit: u32,
    /// Departures of papers and other simulators from the standard.
    pub rules: Rules,
    /// The access categories; `None`: DCF.
    pub edca: Option<EdcaConfig>,
    /// The beacon of the access point; `None`: no beacons.
    pub beacon: Option<BeaconConfig>,
    /// Contention-free periods; `None`: none. They begin with beacons.
    pub pcf: Option<PcfConfig>,
    /// Aggregation; `None`: every MPDU is sent and acknowledged separately.
    pub aggregation: Option<AggregationConfig>,
    /// OFDMA of the access point; `None`: every PPDU has one user.
    pub ofdma: Option<OfdmaConfig>,
    /// Rate of CF-Ends, which all stations must understand.
    pub cf_end_rate: Rate,
}

impl MacConfig {
    /// Returns the settings for several cells on one medium, with the rules that a
    /// [`Field`](crate::Field) supports. Listeners do not detect overlapping preambles, so they wait
    /// DIFS after a collision; its senders wait the ACK timeout plus DIFS. TXOPs follow the standard.
    pub fn shared_by_cells(&self) -> Self {
        let rules = Rules {
            after_collision: AfterCollision::Difs,
            colliders: Colliders::AckTimeoutThenDifs,
            txop_protection: TxopProtection::Single,
            ..self.rules.clone()
        };
        Self { rules, ..self.clone() }
    }
}

/// Aggregation and Block ACK (IEEE 802.11-2020, 10.12 and 10.25).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AggregationConfig {
    /// Maximum A-MPDU length.
    pub ampdu_bytes: u64,
    /// Maximum A-MSDU length; zero: every MPDU carries one packet.
    pub amsdu_bytes: u64,
    /// Maximum length of an MPDU with several packets.
    pub mpdu_bytes: u64,
    /// Maximum PPDU duration: aPPDUMaxTime.
    #[serde(rename = "ppdu_time_ns")]
    pub ppdu_time: Duration,
    /// Maximum number of outstanding frames for one receiver.
    pub block_ack_window: u32,
    /// Size of a Block ACK, including its bitmap.
    pub block_ack_bits: u64,
    /// Rate of Block ACKs.
    pub block_ack_rate: Rate,
    /// Size of a Block ACK request.
    pub block_ack_request_bits: u64,
}

/// OFDMA (IEEE 802.11ax-2021, 26.5.1).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfdmaConfig {
    /// Who shares a PPDU.
    pub scheduler: OfdmaScheduler,
    /// The users of each PPDU with [`OfdmaScheduler::Fixed`]: stations of the access point, from 0.
    #[serde(default)]
    pub turns: Vec<Vec<usize>>,
    /// How its users acknowledge it.
    pub acknowledgment: OfdmaAcknowledgment,
    /// The highest MCS of Block ACKs in a trigger-based PPDU.
    pub block_ack_mcs: u8,
    /// How stations send.
    pub uplink: OfdmaUplink,
    /// The time after its last access at which the access point requests the next one without a
    /// packet; `None`: it does not.
    #[serde(rename = "access_interval_ns")]
    pub access_interval: Option<Duration>,
}

/// How stations send in a cell with OFDMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OfdmaUplink {
    /// Only by EDCA.
    Edca,
    /// Also in trigger-based PPDUs (26.5.2).
    Trigger,
}

/// Who shares a PPDU, and how they share the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OfdmaScheduler {
    /// Equal resource units, in turns (`RrMultiUserScheduler` of ns-3).
    RoundRobin,
    /// As the scenario says, one PPDU after the other.
    Fixed,
}

/// How the users of a PPDU acknowledge it (IEEE 802.11ax-2021, 26.4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OfdmaAcknowledgment {
    /// All at once, each in its resource unit, after an MU-BAR trigger.
    MuBar,
    /// One after the other: the first at once, the others after Block ACK requests.
    BarSequence,
}

/// The capabilities that the access point and a station share: those of the older standard of the
/// two.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairConfig {
    /// Name of their standard, for messages.
    pub standard: String,
    /// The timing of their PPDUs from 802.11n on; `None`: they use rates of 802.11a, b or g.
    pub high_rate: Option<HighRateTiming>,
    /// Aggregation of their frames; `None`: every MPDU is sent and acknowledged separately.
    pub aggregation: Option<AggregationConfig>,
}

impl PairConfig {
    /// Returns the capabilities of a pair that supports everything the medium does.
    pub(crate) fn of_medium(phy: &PhyConfig, mac: &MacConfig) -> Self {
        Self {
            standard: phy.standard.clone(),
            high_rate: phy.high_rate,
            aggregation: mac.aggregation.clone(),
        }
    }
}

/// What the originator does when a Block ACK is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailedBlockAck {
    /// Retransmits the frames, as after a missing ACK.
    Resend,
    /// Sends a Block ACK request (ns-3).
    BlockAckRequest,
}

/// When the recipient of an A-MPDU delivers its MPDUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delivery {
    /// At the end of the PPDU.
    Ppdu,
    /// Each at its own end (ns-3).
    Mpdu,
}

/// The duration that frames of a TXOP announce, for which other stations set their NAV (IEEE
/// 802.11-2020, 9.2.5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum TxopProtection {
    /// The current exchange.
    #[serde(rename = "single")]
    Single,
    /// The TXOP up to its limit, even if it ends earlier.
    #[serde(rename = "multiple")]
    Multiple,
    /// As [`Self::Multiple`]; a CF-End returns the remainder if there is time for one (10.23.2.10;
    /// ns-3).
    #[serde(rename = "multiple+cf-end")]
    MultipleWithCfEnd,
}

/// Beacons of the access point (IEEE 802.11-2020, 11.1.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BeaconConfig {
    /// The time between target beacon transmission times; the first is one interval after the
    /// start.
    #[serde(rename = "interval_ns")]
    pub interval: Duration,
    /// The whole frame, including MAC header and FCS.
    pub size_bits: u64,
    /// The transmit rate.
    pub rate: Rate,
}

/// The point coordination function (IEEE 802.11-2016, 10.4; later editions removed it).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PcfConfig {
    /// The time between the target times of contention-free periods (CFPPeriod): a multiple of the
    /// beacon interval.
    #[serde(rename = "interval_ns")]
    pub interval: Duration,
    /// The maximum time from the target time to the end of the period (CFPMaxDuration); it ends
    /// before the next beacon.
    #[serde(rename = "max_duration_ns")]
    pub max_duration: Duration,
    /// The polling order.
    pub poll: PollOrder,
}

/// The order in which stations are polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PollOrder {
    /// Polls by station number; each period continues where the last one ended (10.4, polling
    /// list).
    RoundRobin,
}

/// The access categories of EDCA, highest priority first (IEEE 802.11-2020, 10.2.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum AccessCategory {
    /// AC_VO.
    #[serde(rename = "AC_VO")]
    Voice,
    /// AC_VI.
    #[serde(rename = "AC_VI")]
    Video,
    /// AC_BE.
    #[serde(rename = "AC_BE")]
    BestEffort,
    /// AC_BK.
    #[serde(rename = "AC_BK")]
    Background,
}

/// Formats the category as the standard writes it.
impl fmt::Display for AccessCategory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Voice => "AC_VO",
            Self::Video => "AC_VI",
            Self::BestEffort => "AC_BE",
            Self::Background => "AC_BK",
        })
    }
}

/// The contention parameters of the EDCAFs of the access point and of the stations.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EdcaConfig {
    /// EDCAFs of the access point.
    pub ap: BTreeMap<AccessCategory, AccessParameters>,
    /// EDCAFs of every station.
    pub stations: BTreeMap<AccessCategory, AccessParameters>,
}

/// The access rules that other simulators and papers have changed, each separately.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// The name of the rule set that the others come from, for messages.
    pub preset: String,
    /// Whether a frame that arrives while the medium is idle for DIFS is sent without backoff (IEEE
    /// 802.11-2020, 10.3.4.2). Otherwise the station waits DIFS from the arrival on and backs off.
    pub immediate_access: bool,
    /// Whether a backoff follows each success even if no frame is queued (10.3.4.3).
    pub post_backoff: bool,
    /// Whether a backoff also follows a frame that was dropped at the retry limit.
    pub post_backoff_after_drop: bool,
    /// How long listeners wait after a collision.
    pub after_collision: AfterCollision,
    /// How long the colliding stations wait.
    pub colliders: Colliders,
    /// The state of the medium for a frame that is queued at the receiver of a data frame before
    /// its MAC ACK.
    pub arrival_before_own_ack: ArrivalBeforeOwnAck,
    /// Whether a weaker frame interferes with a stronger one that begins before the weaker one's
    /// preamble is detected.
    pub weaker_before: WeakerBefore,
    /// Whether anything of an A-MPDU is received that collides with PPDUs of wider channels.
    pub narrow_collider: NarrowCollider,
    /// What frames that other links hold mean for the access of their queue on a link.
    pub other_links: OtherLinks,
    /// What the originator does when a Block ACK is missing.
    pub failed_block_ack: FailedBlockAck,
    /// When the recipient of an A-MPDU delivers its MPDUs.
    pub delivery: Delivery,
    /// The duration that frames of a TXOP with a limit announce.
    pub txop_protection: TxopProtection,
    /// Whether a frame under a Block ACK agreement is dropped at the retry limit. Otherwise only CW
    /// is reset, as in [`CwReset::Failures`].
    pub retry_limit_under_block_ack: bool,
    /// The events other than a success that reset CW.
    pub cw_reset: CwReset,
}

/// How a frame finds the medium that is queued at the receiver of a data frame, after the data
/// frame and before the receiver's MAC ACK. A TCP ACK generated at once is such a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalBeforeOwnAck {
    /// Busy: the receiver's MAC ACK comes before the medium was idle for DIFS, so there is a
    /// backoff (IEEE 802.11-2020, 10.3.4.2).
    Busy,
    /// Idle: nothing is on the air at this instant, so there is no backoff, and the frame is sent
    /// DIFS after the MAC ACK (ns-3).
    Idle,
}

/// The interference of a weaker frame with a stronger one that begins before the weaker one's
/// preamble is detected, and whose preamble is detected instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeakerBefore {
    /// The interference counts.
    Interferes,
    /// The interference counts only after another frame begins or ends. Until then it is taken to
    /// be what was on the air before both frames (`InterferenceHelper` of ns-3 under
    /// `YansWifiPhy`).
    Unnoticed,
}

/// What is received of an A-MPDU that collides with PPDUs of wider channels, in a cell of equal
/// powers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NarrowCollider {
    /// Nothing.
    Lost,
    /// Its MPDUs after the end of all others, if its preamble is detected: the power of a PPDU is
    /// spread over its channel, so a narrower one is stronger in its own (ns-3).
    Received,
}

/// What it means for the access of a queue on a link that other links hold frames of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OtherLinks {
    /// Nothing: each link contends if and only if it has a frame to send.
    Separate,
    /// Their queue is not empty, so that a packet that arrives needs no backoff (IEEE 802.11-2020,
    /// 10.23.2.2 item a). A link that has won access without a frame to send contends again when
    /// the next packet arrives (ns-3).
    Shared,
}

/// The events other than a success that reset CW to CWmin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CwReset {
    /// A drop at the retry limit (IEEE 802.11-2020, 10.3.3).
    Drop,
    /// More successive failures than the retry limit, of any frames (QSRC of 10.23.2.2; ns-3 under
    /// the DCF, too).
    Failures,
}

/// How long the medium must be idle after a collision for listeners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum AfterCollision {
    /// EIFS, because the frame was not decoded (10.3.2.3.7).
    #[serde(rename = "eifs")]
    Eifs,
    /// DIFS, because only energy was detected and no frame (ns-3 with equal powers, Bianchi's
    /// model).
    #[serde(rename = "difs")]
    Difs,
    /// EIFS and then DIFS (ns-2).
    #[serde(rename = "eifs+difs")]
    EifsThenDifs,
}

/// How long the colliding stations wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Colliders {
    /// Until the response timeout, then DIFS (10.23.2.2 item c says so for EDCA).
    #[serde(rename = "ack-timeout+difs")]
    AckTimeoutThenDifs,
    /// As long as the listeners (Bianchi's model).
    #[serde(rename = "as-others")]
    AsOthers,
    /// As long as the listeners. A station that still sent when all other frames had ended heard no
    /// collision, so it waits until the response timeout, then DIFS (ns-2).
    #[serde(rename = "as-heard")]
    AsHeard,
}

impl AccessParameters {
    /// Returns the contention parameters of the DCF.
    pub fn dcf(phy: &PhyConfig) -> Self {
        Self { aifs: phy.difs, cw_min: phy.cw_min, cw_max: phy.cw_max, txop_limit: Duration::ZERO }
    }

    /// Returns the parameters on another link: the AIFS has as many slots, after its SIFS.
    pub fn on_link(self, first: &PhyConfig, link: &PhyConfig) -> Self {
        let slots = (self.aifs - first.sifs) / first.slot_time;
        Self { aifs: link.sifs + link.slot_time * slots, ..self }
    }
}
