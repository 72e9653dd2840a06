//! The immutable settings of the MAC, as the resolved form of a scenario states them. No
//! defaults live here: the standard's values come with the scenario.

use std::collections::BTreeMap;
use std::fmt;

use airtcp_kernel::Duration;
use serde::Deserialize;

use crate::phy::{HighRateTiming, PhyConfig, Rate};

/// The contention parameters of one queue: of a DCF, or of one EDCAF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessParameters {
    /// DIFS, or the AIFS of the access category: how long the medium must be idle.
    #[serde(rename = "aifs_ns")]
    pub aifs: Duration,
    /// CWmin.
    pub cw_min: u32,
    /// CWmax.
    pub cw_max: u32,
    /// The longest TXOP; zero: one frame exchange.
    #[serde(rename = "txop_limit_ns")]
    pub txop_limit: Duration,
}

/// Settings of the MAC.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MacConfig {
    /// RTS/CTS goes before MPDUs longer than this many bytes; never if `None`
    /// (dot11RTSThreshold).
    pub rts_threshold_bytes: Option<u64>,
    /// The number of times that a frame may be sent that waits for a CTS, or for an ACK without RTS
    /// (dot11ShortRetryLimit).
    pub short_retry_limit: u32,
    /// The number of times that a data frame may be sent after its RTS got through (dot11LongRetryLimit). All
    /// hear all and there are no frame errors, so such a frame never fails: the limit is never
    /// reached.
    pub long_retry_limit: u32,
    /// The departures of papers and other simulators from the standard.
    pub rules: Rules,
    /// The access categories; `None`: the DCF.
    pub edca: Option<EdcaConfig>,
    /// The beacon of the access point; `None`: it has none.
    pub beacon: Option<BeaconConfig>,
    /// Contention-free periods; `None`: there are none. They begin with beacons.
    pub pcf: Option<PcfConfig>,
    /// The aggregation of frames; `None`: each is sent and acknowledged alone.
    pub aggregation: Option<AggregationConfig>,
    /// Rate of CF-Ends, which all have to understand.
    pub cf_end_rate: Rate,
}

impl MacConfig {
    /// Returns them for several cells on one medium, with what a [`Field`](crate::Field) has: nobody detects a preamble of
    /// frames that begin together, so that others wait DIFS, and colliders until they miss the answer, and DIFS; TXOPs and
    /// A-MPDUs are the standard's.
    pub fn shared_by_cells(&self) -> Self {
        let rules = Rules {
            after_collision: AfterCollision::Difs,
            colliders: Colliders::AckTimeoutThenDifs,
            delivery: Delivery::Ppdu,
            txop_protection: TxopProtection::Single,
            ..self.rules.clone()
        };
        Self { rules, ..self.clone() }
    }
}

/// Aggregation and block acknowledgment (IEEE 802.11-2020, 10.12 and 10.25).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AggregationConfig {
    /// The longest A-MPDU.
    pub ampdu_bytes: u64,
    /// The longest A-MSDU; zero: every MPDU carries one packet.
    pub amsdu_bytes: u64,
    /// The longest MPDU that carries several.
    pub mpdu_bytes: u64,
    /// The longest PPDU: aPPDUMaxTime.
    #[serde(rename = "ppdu_time_ns")]
    pub ppdu_time: Duration,
    /// Frames that may be outstanding for one receiver.
    pub block_ack_window: u32,
    /// Size of a Block ACK, with its bitmap.
    pub block_ack_bits: u64,
    /// Rate of Block ACKs.
    pub block_ack_rate: Rate,
    /// Size of a Block ACK request.
    pub block_ack_request_bits: u64,
}

/// The capabilities that the access point and a station share: those of the older standard of the two.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairConfig {
    /// Name of the standard of their frames, for messages.
    pub standard: String,
    /// The timing of their PPDUs from 802.11n on; `None`: they have the rates of 802.11a, b or g.
    pub high_rate: Option<HighRateTiming>,
    /// The aggregation of their frames; `None`: each is sent and acknowledged on its own.
    pub aggregation: Option<AggregationConfig>,
}

impl PairConfig {
    /// Returns the capabilities of two that have all that the medium has.
    pub(crate) fn of_medium(phy: &PhyConfig, mac: &MacConfig) -> Self {
        Self {
            standard: phy.standard.clone(),
            high_rate: phy.high_rate,
            aggregation: mac.aggregation.clone(),
        }
    }
}

/// The reaction of the originator to a Block ACK that did not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailedBlockAck {
    /// Sends the frames again, as after a missing ACK.
    Resend,
    /// Asks for it by a Block ACK request (ns-3).
    BlockAckRequest,
}

/// The time at which the recipient of an A-MPDU hands its frames on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delivery {
    /// At the end of the PPDU.
    Ppdu,
    /// Each at its own end (ns-3).
    Mpdu,
}

/// The announcement of the frames of a TXOP, and so the time for which the others keep quiet (IEEE 802.11-2020,
/// 9.2.5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum TxopProtection {
    /// The exchange that is under way.
    #[serde(rename = "single")]
    Single,
    /// The TXOP up to its limit, also where it ends before.
    #[serde(rename = "multiple")]
    Multiple,
    /// As [`Self::Multiple`]; what is left is given back by a CF-End if there is time for one (10.23.2.10;
    /// ns-3).
    #[serde(rename = "multiple+cf-end")]
    MultipleWithCfEnd,
}

/// Beacons of the access point (IEEE 802.11-2020, 11.1.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BeaconConfig {
    /// From one target beacon transmission time to the next; the first is this long after the
    /// start.
    #[serde(rename = "interval_ns")]
    pub interval: Duration,
    /// The whole frame, MAC header and FCS included.
    pub size_bits: u64,
    /// The rate at which it is sent.
    pub rate: Rate,
}

/// The point coordination function (IEEE 802.11-2016, 10.4; later editions have it no more).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PcfConfig {
    /// From the target time of one contention-free period to the next (CFPPeriod): a multiple of the
    /// beacon interval.
    #[serde(rename = "interval_ns")]
    pub interval: Duration,
    /// From that target time to the end of the period at the latest (CFPMaxDuration); it lies before
    /// the next beacon.
    #[serde(rename = "max_duration_ns")]
    pub max_duration: Duration,
    /// The order in which the access point polls stations.
    pub poll: PollOrder,
}

/// In which order stations are polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PollOrder {
    /// One after the other by their numbers; the next period goes on where one has ended (10.4, polling
    /// list).
    RoundRobin,
}

/// The access categories of EDCA, the one with the highest priority first (IEEE 802.11-2020,
/// 10.2.3.2).
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

/// As the standard writes it.
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
    /// The access point's.
    pub ap: BTreeMap<AccessCategory, AccessParameters>,
    /// Every station's.
    pub stations: BTreeMap<AccessCategory, AccessParameters>,
}

/// The rules of access that other simulators and papers have changed; each alone.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// The named set that the others were taken from, for messages.
    pub preset: String,
    /// A flag: a frame that arrives at a medium idle for DIFS goes without backoff
    /// (IEEE 802.11-2020, 10.3.4.2). Otherwise the station senses DIFS from the arrival on and
    /// backs off.
    pub immediate_access: bool,
    /// A flag: a backoff follows each success even if no frame waits (10.3.4.3).
    pub post_backoff: bool,
    /// A flag: a backoff follows a frame that was dropped at the retry limit, too.
    pub post_backoff_after_drop: bool,
    /// The wait of those who heard a collision.
    pub after_collision: AfterCollision,
    /// The wait of those who took part in it.
    pub colliders: Colliders,
    /// The state of the medium for a frame that is queued at the receiver of a data frame before that one's MAC ACK.
    pub arrival_before_own_ack: ArrivalBeforeOwnAck,
    /// The interference of a frame with a stronger one that begins before its preamble would be detected.
    pub weaker_before: WeakerBefore,
    /// The reaction to a Block ACK that did not come.
    pub failed_block_ack: FailedBlockAck,
    /// The time at which the recipient of an A-MPDU hands its frames on.
    pub delivery: Delivery,
    /// The announcement of the frames of a TXOP with a limit.
    pub txop_protection: TxopProtection,
    /// A flag: a frame under a block ack agreement is given up at the retry limit. Otherwise only
    /// CW goes back, as [`CwReset::Failures`] says.
    pub retry_limit_under_block_ack: bool,
    /// The events beside a success that set CW back.
    pub cw_reset: CwReset,
}

/// The medium as a frame finds it that is queued at the receiver of a data frame after the end of
/// that one and before the MAC ACK with which the receiver answers. A TCP ACK made at once is such a
/// frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalBeforeOwnAck {
    /// Busy: its own MAC ACK comes before the medium was idle for DIFS, so there is a backoff
    /// (IEEE 802.11-2020, 10.3.4.2).
    Busy,
    /// Idle: nothing is on the air at that instant, so there is no backoff, and the frame goes
    /// DIFS after the MAC ACK (ns-3).
    Idle,
}

/// The interference of a frame with a stronger one that begins while its preamble is not detected yet, and whose
/// preamble is detected in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeakerBefore {
    /// It counts.
    Interferes,
    /// It counts when another frame begins or ends: before that the interference is held to be what was on the air
    /// before either (`InterferenceHelper` of ns-3 under `YansWifiPhy`).
    Unnoticed,
}

/// The events beside a success that set CW back to CWmin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CwReset {
    /// A frame that is dropped at the retry limit (IEEE 802.11-2020, 10.3.3).
    Drop,
    /// One failure more in a row than the retry limit, of whatever frames (QSRC of 10.23.2.2; ns-3
    /// under the DCF, too).
    Failures,
}

/// The time for which the medium must be idle after a collision for those who heard it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum AfterCollision {
    /// EIFS, for the frame was not understood (10.3.2.3.7).
    #[serde(rename = "eifs")]
    Eifs,
    /// DIFS: energy was sensed, but no frame (ns-3 with equal powers, Bianchi's model).
    #[serde(rename = "difs")]
    Difs,
    /// EIFS and then DIFS (ns-2).
    #[serde(rename = "eifs+difs")]
    EifsThenDifs,
}

/// The wait of those who sent the frames that collided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Colliders {
    /// Until the missing answer is noticed, then DIFS (10.23.2.2 item c says so for EDCA).
    #[serde(rename = "ack-timeout+difs")]
    AckTimeoutThenDifs,
    /// As long as those who heard the collision (Bianchi's model).
    #[serde(rename = "as-others")]
    AsOthers,
    /// As long as those who heard the collision, but for who still sent when all other frames had
    /// ended: it has heard none, and waits until the missing answer is noticed, then DIFS (ns-2).
    #[serde(rename = "as-heard")]
    AsHeard,
}

impl AccessParameters {
    /// Returns the one way to contend under the DCF.
    pub fn dcf(phy: &PhyConfig) -> Self {
        Self { aifs: phy.difs, cw_min: phy.cw_min, cw_max: phy.cw_max, txop_limit: Duration::ZERO }
    }
}
