//! Aggregates in a field, and spatial reuse, compared with ns-3 3.44: 802.11ax at MCS 5 in 20 MHz,
//! 1472 bytes of UDP, AIFSN 3. An MPDU lasts 178 us, a Block ACK request 32 us.

use std::collections::BTreeMap;

use airtcp_kernel::Duration;
use airtcp_wlan::phy::HighRateTiming;
use airtcp_wlan::{
    AccessParameters, AggregationConfig, EdcaConfig, FailedBlockAck, Format, HearingConfig,
    HighRate, MacConfig, Modulation, PhyConfig, Rate,
};

use super::bench::{Floor, Got, mac, phy};

pub(crate) fn ax() -> PhyConfig {
    let rate = HighRate {
        format: Format::He,
        mcs: 5,
        spatial_streams: 1,
        channel_width_mhz: 20,
        guard_interval: Duration::from_nanos(800),
        preamble_time: Duration::from_micros(44),
    };
    PhyConfig {
        standard: "802.11ax".into(),
        data_rate: Rate { bps: rate.bps(), modulation: Modulation::High(rate) },
        high_rate: Some(HighRateTiming {
            service_bits: 16,
            tail_bits: 6,
            short_gi_rounding: false,
            signal_extension: Duration::ZERO,
        }),
        mac_header_bits: 240,
        ..phy()
    }
}

pub(crate) fn ax_mac(rts: bool) -> MacConfig {
    let mut mac = mac(rts);
    mac.short_retry_limit = 7;
    mac.edca = Some(EdcaConfig { ap: BTreeMap::new(), stations: BTreeMap::new() });
    mac.aggregation = Some(AggregationConfig {
        ampdu_bytes: 6_500_631,
        amsdu_bytes: 0,
        mpdu_bytes: 11_454,
        ppdu_time: Duration::from_micros(5_484),
        block_ack_window: 64,
        block_ack_bits: 256,
        block_ack_rate: phy().control_rate,
        block_ack_request_bits: 192,
    });
    mac.rules.failed_block_ack = FailedBlockAck::BlockAckRequest;
    mac.rules.retry_limit_under_block_ack = false;
    mac
}

fn play(floor: &Floor, rts: bool, hearing: HearingConfig, needs: Option<f64>) -> Vec<Got> {
    let phy = ax();
    let aifs = phy.sifs + phy.slot_time * 3;
    let access = AccessParameters { aifs, ..AccessParameters::dcf(&phy) };
    floor.play_on((&phy, &ax_mac(rts), access), (hearing, needs), 1_472, 1, 40)
}

fn sum(got: &[Got]) -> f64 {
    got.iter().map(|one| one.goodput).sum::<f64>() / 1e6
}

/// A hidden pair: ns-3 gives 51.36 +- 1.97 Mb/s, and 61.838 +- 0.064 with RTS. A Block ACK request
/// of one station destroys only those MPDUs of the other that it overlaps.
#[test]
fn each_mpdu_of_an_aggregate_is_judged_by_what_overlapped_it() {
    let floor = Floor::hidden_pair();
    let without = sum(&play(&floor, false, floor.hearing(), None));
    assert!((without - 51.36).abs() < 1.97, "{without}");
    let with_rts = sum(&play(&floor, true, floor.hearing(), None));
    assert!((with_rts / 61.838 - 1.0).abs() < 0.02, "{with_rts}");
}

/// Two cells that hear each other with a given power share the medium or not. At -70 dBm, above
/// OBSS-PD, ns-3 gives 67.5 +- 0.6 Mb/s; at -75 dBm 124.3 +- 0.2. At -81 dBm it gives 67.8 +- 0.9
/// without OBSS-PD and 113.1 +- 1.3 with it, because frames with less power are not sensed there.
/// At -83 dBm no preamble is detected: 126.24 +- 0.04.
#[test]
fn cells_share_the_medium_or_do_not_as_their_powers_say() {
    let floor = Floor::of_cells(2, &[(0, 1)]);
    for (between, obss_pd, expected) in [
        (-70.0, true, 67.5),
        (-75.0, true, 124.3),
        (-81.0, false, 67.8),
        (-81.0, true, 113.1),
        (-83.0, false, 126.24),
    ] {
        let mut hearing = floor.hearing_between(between);
        hearing.power_dbm = 16.02;
        hearing.obss_pd_dbm = obss_pd.then_some(-72.0);
        let got = sum(&play(&floor, false, hearing, Some(17.0)));
        assert!((got / expected - 1.0).abs() < 0.03, "{between} {obss_pd}: {got}, {expected}");
    }
}
