//! Common setup of MAC tests: 802.11b, 802.11a, 802.11n and the rules of the standard. Only with the feature
//! `testing`.

use airtcp_kernel::Duration;

use crate::config::{
    AfterCollision, ArrivalBeforeOwnAck, Colliders, CwReset, Delivery, FailedBlockAck, MacConfig,
    NarrowCollider, OtherLinks, Rules, TxopProtection, WeakerBefore,
};
use crate::phy::{
    DsssTiming, Format, HighRate, HighRateTiming, Modulation, OfdmTiming, PhyConfig, Rate,
};

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

/// Returns 802.11a at 54 Mb/s with control frames at 24 Mb/s: slot 9 us, SIFS 16 us, DIFS 34 us,
/// EIFS 94 us, ACK timeout 45 us.
pub fn dot11a() -> PhyConfig {
    let rate = |bps| Rate { bps, modulation: Modulation::Ofdm };
    PhyConfig {
        standard: "802.11a".into(),
        data_rate: rate(54_000_000),
        control_rate: rate(24_000_000),
        slot_time: Duration::from_micros(9),
        sifs: Duration::from_micros(16),
        difs: Duration::from_micros(34),
        eifs: Duration::from_micros(94),
        ack_timeout: Duration::from_micros(45),
        dsss: None,
        ofdm: Some(OfdmTiming {
            preamble_time: Duration::from_micros(16),
            plcp_header_time: Duration::from_micros(4),
            symbol_time: Duration::from_micros(4),
            service_bits: 16,
            tail_bits: 6,
            signal_extension: Duration::ZERO,
        }),
        cw_min: 15,
        ..dot11b()
    }
}

/// Returns 802.11n, or a later format, with the timing and the control rate of [`dot11a`]; `width`
/// in MHz, `guard` in ns.
pub fn dot11n(format: Format, mcs: u8, width: u16, guard: u64) -> PhyConfig {
    let rate = HighRate {
        format,
        mcs,
        spatial_streams: 1,
        channel_width_mhz: width,
        guard_interval: Duration::from_nanos(guard),
        preamble_time: Duration::from_micros(if format == Format::He { 44 } else { 36 }),
    };
    PhyConfig {
        standard: "802.11n".into(),
        data_rate: Rate { bps: rate.bps(), modulation: Modulation::High(rate) },
        high_rate: Some(HighRateTiming {
            service_bits: 16,
            tail_bits: 6,
            short_gi_rounding: false,
            signal_extension: Duration::ZERO,
        }),
        mac_header_bits: 240,
        ..dot11a()
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
            narrow_collider: NarrowCollider::Lost,
            other_links: OtherLinks::Separate,
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
