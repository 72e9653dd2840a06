//! The settings of TCP in the resolved form, and what an endpoint makes of them.

use std::ops::RangeInclusive;

use airtcp_kernel::Duration;
use airtcp_tcp::{AckSkip, Aimd, DelayedAck, LossWindow, Rules, Threshold};
use serde::Deserialize;

/// The settings of TCP at both ends of a flow.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpConfig {
    variant: TcpVariant,
    mss_bytes: u32,
    /// TCP and IP headers.
    pub(crate) header_bits: u64,
    receive_window_bytes: u64,
    initial_window_bytes: u64,
    initial_ssthresh_bytes: Option<u64>,
    pub(crate) handshake: Handshake,
    #[serde(rename = "initial_rto_ns")]
    initial_rto: Duration,
    #[serde(rename = "min_rto_ns")]
    min_rto: Duration,
    #[serde(rename = "max_rto_ns")]
    max_rto: Duration,
    #[serde(rename = "clock_granularity_ns")]
    clock_granularity: Duration,
    aimd: AimdConfig,
    rules: RulesConfig,
    delayed_ack: DelayedAckConfig,
    ack_skip: Option<AckSkipConfig>,
    pub(crate) pad_last_segment: bool,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TcpVariant {
    Reno,
    NewReno,
    Sack,
}

/// Segments a round trip, and what is left after a loss.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AimdConfig {
    increase: f64,
    decrease: f64,
}

/// Where peers do otherwise than the RFCs; `preset` is the user's name for it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesConfig {
    #[serde(rename = "preset")]
    _preset: String,
    loss_window: LossWindow,
    fast_retransmit_once_per_window: bool,
}

/// How a connection is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Handshake {
    ThreeWay,
    TwoWay,
    None,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DelayedAckConfig {
    /// From which segment on, every so many.
    thresholds: Vec<(u64, u32)>,
    #[serde(rename = "timeout_ns")]
    timeout: Duration,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AckSkipConfig {
    skip: u32,
    after_segment: u64,
}

/// So small and so large that the units of [`Aimd`] can tell it from nothing and from all.
const AIMD_INCREASE: RangeInclusive<f64> = 0.001..=1000.0;
const AIMD_DECREASE: RangeInclusive<f64> = 0.01..=0.99;

impl TcpConfig {
    pub(super) fn check(&self) -> Result<(), &'static str> {
        let window = self.receive_window_bytes.min(self.initial_window_bytes);
        let thresholds = &self.delayed_ack.thresholds;
        let from_start = thresholds.first().is_some_and(|(from_segment, _)| *from_segment == 0);
        if self.mss_bytes == 0 || window < u64::from(self.mss_bytes) {
            Err("a window below one segment")
        } else if !from_start || !thresholds.is_sorted_by(|before, after| before.0 < after.0) {
            Err("need thresholds from segment 0 on, in ascending order")
        } else if thresholds.iter().any(|(_, every)| *every == 0) {
            Err("an ACK for every 0 segments")
        } else if !AIMD_INCREASE.contains(&self.aimd.increase) {
            Err("need 0.001 <= aimd.increase <= 1000")
        } else if !AIMD_DECREASE.contains(&self.aimd.decrease) {
            Err("need 0.01 <= aimd.decrease <= 0.99")
        } else {
            Ok(())
        }
    }

    /// The advertised window in bytes.
    pub(crate) fn receive_window(&self) -> u64 {
        self.receive_window_bytes
    }

    /// The MSS as an option of a SYN can say it.
    pub(crate) fn mss(&self) -> u16 {
        u16::try_from(self.mss_bytes).unwrap_or(u16::MAX)
    }

    /// Whether both ends know SACK.
    pub(crate) fn has_sack(&self) -> bool {
        matches!(self.variant, TcpVariant::Sack)
    }

    /// The same for one endpoint.
    pub(crate) fn endpoint(&self) -> airtcp_tcp::Config {
        airtcp_tcp::Config {
            variant: match self.variant {
                TcpVariant::Reno => airtcp_tcp::Variant::Reno,
                TcpVariant::NewReno => airtcp_tcp::Variant::NewReno,
                TcpVariant::Sack => airtcp_tcp::Variant::Sack,
            },
            mss: self.mss_bytes,
            receive_window: self.receive_window_bytes,
            initial_window: self.initial_window_bytes,
            initial_ssthresh: self.initial_ssthresh_bytes,
            aimd: Aimd::new(self.aimd.increase, self.aimd.decrease),
            rules: Rules {
                loss_window: self.rules.loss_window,
                fast_retransmit_once_per_window: self.rules.fast_retransmit_once_per_window,
            },
            handshake: match self.handshake {
                Handshake::ThreeWay => airtcp_tcp::Handshake::ThreeWay,
                Handshake::TwoWay => airtcp_tcp::Handshake::TwoWay,
                Handshake::None => airtcp_tcp::Handshake::None,
            },
            initial_rto: self.initial_rto,
            min_rto: self.min_rto,
            max_rto: self.max_rto,
            clock_granularity: self.clock_granularity,
            delayed_ack: self.delayed_ack.endpoint(),
            ack_skip: self.ack_skip.map(|ack_skip| AckSkip {
                skip: ack_skip.skip,
                after_segment: ack_skip.after_segment,
            }),
        }
    }
}

impl DelayedAckConfig {
    /// The same for one endpoint. The first threshold is from the start.
    fn endpoint(&self) -> DelayedAck {
        let threshold = |&(from_segment, every): &(u64, u32)| Threshold { from_segment, every };
        DelayedAck {
            every: self.thresholds[0].1,
            later: self.thresholds[1..].iter().map(threshold).collect(),
            timeout: self.timeout,
        }
    }
}
