//! Tests of the limits of an A-MPDU, and of the duration of an exchange.

use super::*;
use crate::config::AggregationConfig;
use crate::phy::Format;
use crate::phy::tests::ofdm;
use crate::testing::{dot11n, standard_mac};

pub(crate) fn aggregation(ampdu_bytes: u64, window: u32) -> AggregationConfig {
    AggregationConfig {
        ampdu_bytes,
        amsdu_bytes: 0,
        mpdu_bytes: 11_454,
        ppdu_time: Duration::from_micros(5_484),
        block_ack_window: window,
        block_ack_bits: if window > 64 { 448 } else { 256 },
        block_ack_rate: ofdm(24_000_000),
        block_ack_request_bits: 192,
    }
}

fn exchange(phy: &PhyConfig, aggregation: &AggregationConfig) -> HtExchange {
    HtExchange::new(phy, &standard_mac(), &pair(phy, aggregation), phy.data_rate, phy.control_rate)
}

fn pair(phy: &PhyConfig, aggregation: &AggregationConfig) -> PairConfig {
    let mac = MacConfig { aggregation: Some(aggregation.clone()), ..standard_mac() };
    PairConfig::of_medium(phy, &mac)
}

/// Returns the largest A-MPDU of MPDUs of 1538 bytes, and its exchange.
fn full(exchange: &HtExchange, txop: Duration) -> (u32, FrameTimes) {
    let room = exchange.room(txop);
    let mut psdu = Growing::default().with(8 * 1_538);
    while exchange.fits(psdu.with(8 * 1_538), room) {
        psdu = psdu.with(8 * 1_538);
    }
    (psdu.mpdus, exchange.times(psdu))
}

/// 31 MPDUs: 47,862 bytes, PPDU 5338.8 us; 32 would last 5511.6 us. Then 16 + 32 us. At 40 MHz
/// 42 MPDUs: 64,846 bytes; 43 would have 66,390, above 65,535. ac and ax: the window, 64 and
/// 256, and Block ACKs of 32 and 40 us.
#[test]
fn what_limits_an_aggregate() {
    for (phy, bytes, window, mpdus, data, total) in [
        (dot11n(Format::Ht, 7, 20, 400), 65_535, 64, 31, 5_338_800, 5_386_800),
        (dot11n(Format::Ht, 7, 40, 400), 65_535, 64, 42, 3_495_600, 3_543_600),
        (dot11n(Format::Vht, 9, 80, 400), 1_048_575, 64, 64, 1_861_200, 1_909_200),
        (dot11n(Format::He, 11, 80, 800), 6_500_631, 256, 256, 5_320_800, 5_376_800),
    ] {
        let exchange = exchange(&phy, &aggregation(bytes, window));

        let (count, times) = full(&exchange, Duration::ZERO);

        assert_eq!(count, mpdus);
        assert_eq!(times.data.as_nanos(), data);
        assert_eq!(times.total.as_nanos(), total);
    }
}

/// One sender with a full queue of packets of 1472 bytes of payload: AIFS 43 us and 7.5 slots
/// of 9 us before each exchange. 31 * 1472 * 8 / 5497.3 = 66.406 Mb/s; 64 and 256 packets in
/// 2019.7 and 5487.3 us: 373.156 and 549.388 Mb/s.
#[test]
fn the_most_that_a_lone_sender_gets_through() {
    for (phy, bytes, window, mbps) in [
        (dot11n(Format::Ht, 7, 20, 400), 65_535, 64, 66.406),
        (dot11n(Format::Vht, 9, 80, 400), 1_048_575, 64, 373.156),
        (dot11n(Format::He, 11, 80, 800), 6_500_631, 256, 549.388),
    ] {
        let exchange = exchange(&phy, &aggregation(bytes, window));

        let (count, times) = full(&exchange, Duration::ZERO);

        let cycle_us = 43.0 + 67.5 + times.total.as_nanos() as f64 / 1e3;
        let goodput = f64::from(count) * 1_472.0 * 8.0 / cycle_us;
        assert!((goodput - mbps).abs() < 5e-4, "{goodput} for {mbps}");
    }
}

/// 2528 us for PPDU, SIFS and Block ACK leave 2480 us for the PPDU: 14 MPDUs, 36 + 666 * 3.6 =
/// 2433.6 us.
#[test]
fn a_txop_limit_bounds_the_ppdu() {
    let exchange = exchange(&dot11n(Format::Ht, 7, 20, 400), &aggregation(65_535, 64));

    let (count, times) = full(&exchange, Duration::from_micros(2_528));

    assert_eq!(count, 14);
    assert_eq!(times.data.as_nanos(), 2_433_600);
}

/// A single TCP ACK of 90 bytes: 36 + ceil(742 / 260) * 3.6 = 46.8 us, answered by an ACK of 28
/// us. In VHT its delimiter makes 774 bits, which are one symbol of 1560.
#[test]
fn a_single_frame_is_answered_by_an_ack() {
    let lone = Growing::default().with(720);
    let phy = dot11n(Format::Ht, 7, 20, 400);
    let times = exchange(&phy, &aggregation(65_535, 64)).times(lone);
    assert_eq!((times.data.as_nanos(), times.ack.as_nanos()), (46_800, 28_000));

    let phy = dot11n(Format::Vht, 9, 80, 400);
    let times = exchange(&phy, &aggregation(1_048_575, 64)).times(lone);
    assert_eq!((times.data.as_nanos(), times.ack.as_nanos()), (39_600, 28_000));
}

/// Packets of 1500 bytes with 8 bytes of LLC. In an A-MSDU each takes 14 + 1508 = 1522, padded
/// to 1524 except for the last: 3046 for two, 7618 for five, 9142 for six. So 7935 bytes hold
/// five, 3839 two.
#[test]
fn packets_share_an_mpdu() {
    let grow = |packets: Packets| packets.with(8 * 1_508);
    let two = grow(Packets::of(8 * 1_508));
    let five = grow(grow(grow(two)));
    assert_eq!([two, five, grow(five)].map(Packets::bits), [3_046, 7_618, 9_142].map(|b| 8 * b));

    let aggregation = AggregationConfig { amsdu_bytes: 7_935, ..aggregation(65_535, 64) };
    let phy = dot11n(Format::Ht, 7, 20, 400);
    let exchange = exchange(&phy, &aggregation);
    let fits = |packets: Packets| {
        let psdu = Growing::default().with(240 + packets.bits());
        exchange.fits_packets(packets, 240, psdu, exchange.room(Duration::ZERO))
    };
    assert!(fits(five) && !fits(grow(five)));
    let exchange = HtExchange {
        aggregation: Some(AggregationConfig { mpdu_bytes: 4_095, ..aggregation }),
        ..exchange.clone()
    };
    let fits = |packets: Packets| {
        let psdu = Growing::default().with(240 + packets.bits());
        exchange.fits_packets(packets, 240, psdu, exchange.room(Duration::ZERO))
    };
    assert!(fits(two) && !fits(grow(two)));
}

#[test]
fn rts_goes_before_a_long_psdu() {
    let phy = dot11n(Format::Ht, 7, 20, 400);
    let mac = MacConfig { rts_threshold_bytes: Some(500), ..standard_mac() };
    let pair = pair(&phy, &aggregation(65_535, 64));
    let exchange = HtExchange::new(&phy, &mac, &pair, phy.data_rate, phy.control_rate);

    assert_eq!(exchange.times(Growing::default().with(8 * 500)).rts, Duration::ZERO);
    let long = exchange.times(Growing::default().with(8 * 501));
    // 20 + ceil(182 / 96) * 4 and 20 + ceil(134 / 96) * 4 us.
    assert_eq!((long.rts.as_nanos(), long.cts.as_nanos()), (28_000, 28_000));
    assert_eq!(long.first(), long.rts);
}

/// An MU-RTS of 33 bytes: 20 + 4 * ceil((16 + 264 + 6) / 24) = 68 us, and its padding. Then 16 us, a
/// CTS of 20 + 4 * ceil((16 + 112 + 6) / 24) = 44 us, and 16 us, also before a Block ACK request.
#[test]
fn exchanges_with_one_radio_begin_with_an_initial_control_frame() {
    let alone = exchange(&dot11n(Format::He, 11, 80, 800), &aggregation(6_500_631, 256));
    for micros in [0, 32, 256] {
        let (padding, switch) = (Duration::from_micros(micros), Duration::ZERO);
        let initiated = alone.initiated(&Emlsr { padding, switch });
        let before = Duration::from_micros(68 + micros + 16 + 44 + 16);

        let packet = Growing::default().with(8 * 1_538);
        for (after, then) in [
            (alone.times(packet), initiated.times(packet)),
            (alone.request_times(), initiated.request_times()),
        ] {
            assert_eq!(then.first, Duration::from_micros(68 + micros));
            assert_eq!(then.control, after.control + then.first + Duration::from_micros(44));
            assert_eq!((then.data, then.ack), (after.data, after.ack));
            assert_eq!(then.data_received, before + after.data_received);
            assert_eq!(then.total, before + after.total);
        }
    }
}
