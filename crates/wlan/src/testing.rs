//! Common setup of MAC tests: 802.11b and the rules of the standard. Only with the feature
//! `testing`.

use airtcp_kernel::Duration;

use crate::config::{
    AfterCollision, ArrivalBeforeOwnAck, Colliders, CwReset, Delivery, FailedBlockAck, MacConfig,
    Rules, TxopProtection, WeakerBefore,
};
use crate::phy::{DsssTiming, Modulation, PhyConfig, Rate};

/// Returns 802.11b at 11 Mb/s with control frames at 2 Mb/s: slot 20 us, DIFS 50 us, EIFS 364 us,
/// ACK timeout 222 us.
pub fn dot11b() -> PhyConfig {
    let rate = |bps| Rate { bps, modulation: Modulation::Dsss };
    PhyConfig {
        standard: "802.11b".into(),
        data_rate: rate(11_000_000),
        control_rate: rate(2_000_000),
        slot_time: Duration::from_micros(20),
        sifs: Duration::from_micros(10),
        difs: Duration::from_micros(50),
        eifs: Duration::from_micros(364),
        ack_timeout: Duration::from_micros(222),
        dsss: Some(DsssTiming {
            preamble_time: Duration::from_micros(144),
            plcp_header_time: Duration::from_micros(48),
        }),
        ofdm: None,
        high_rate: None,
        symbol_rounding: true,
        propagation_delay: Duration::ZERO,
        cw_min: 31,
        cw_max: 1023,
        rts_bits: 160,
        cts_bits: 112,
        ack_bits: 112,
        mac_header_bits: 224,
        llc_bits: 64,
        protection: None,
    }
}

/// Returns the DCF under the rules of the standard, without RTS, beacons and aggregation.
pub fn standard_mac() -> MacConfig {
    MacConfig {
        rts_threshold_bytes: None,
        short_retry_limit: 7,
        long_retry_limit: 4,
        rules: Rules {
            preset: "standard".into(),
            immediate_access: true,
            post_backoff: true,
            post_backoff_after_drop: true,
            after_collision: AfterCollision::Eifs,
            colliders: Colliders::AckTimeoutThenDifs,
            arrival_before_own_ack: ArrivalBeforeOwnAck::Busy,
            weaker_before: WeakerBefore::Interferes,
            failed_block_ack: FailedBlockAck::Resend,
            delivery: Delivery::Ppdu,
            txop_protection: TxopProtection::Single,
            retry_limit_under_block_ack: true,
            cw_reset: CwReset::Drop,
        },
        edca: None,
        beacon: None,
        pcf: None,
        aggregation: None,
        ofdma: None,
        cf_end_rate: Rate { bps: 1_000_000, modulation: Modulation::Dsss },
    }
}
