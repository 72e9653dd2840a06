//! Losses detected by time (RFC 8985), and how the window falls (RFC 9937). The round trip is 100
//! ms.

use airtcp_kernel::Duration;
use airtcp_tcp::{Config, DelayedAck, LossWindow, Variant};

use crate::pair::{End, Fate, Pair, Sent, config, lose_once};

fn rack(segments: u64) -> Config {
    Config {
        variant: Variant::Rack,
        initial_window: 1000 * segments,
        initial_ssthresh: Some(1000 * segments),
        ..config()
    }
}

#[test]
fn a_lost_tail_is_probed_long_before_the_timer() {
    // The last two of four segments are lost. After the ACKs of the first two SRTT is 100 ms, and
    // the probe, the last segment again, is sent 2 SRTT after the last ACK. Its SACK arrives at
    // 400: the third segment was sent 300 ms before one that has arrived, so it is retransmitted at
    // once. The RTO of RFC 6298 would have sent the third segment first, and not before 400.
    let mut pair = Pair::sending_over(&rack(4), 4000, lose_once(&[2001, 3001]));
    pair.run();

    pair.expect_since(
        100,
        "300 A 3001:4001 ack 1
         350 B ack 2001 sack 3001:4001
         400 A 2001:3001 ack 1
         450 B ack 4001",
    );
    let counters = pair.a.counters();
    assert_eq!((counters.timeouts, counters.fast_retransmits), (0, 1));
}

/// The other end may delay the ACK of a single segment; if it is Linux, by up to 200 ms. The probe
/// follows the ACK at 100 after two round trips plus that delay.
#[test]
fn a_lone_segment_is_probed_when_its_delayed_ack_is_late_too() {
    let delayed_ack =
        DelayedAck { adaptive: true, ..DelayedAck::every(2, Duration::from_millis(40)) };
    let config = Config { min_rto: Duration::from_millis(1000), delayed_ack, ..rack(1) };
    let mut pair = Pair::sending_over(&config, 2000, lose_once(&[1001]));
    pair.run();

    pair.expect_since(
        100,
        "100 A 1001:2001 ack 1 lost
         500 A 1001:2001 ack 1
         550 B ack 2001",
    );
}

#[test]
fn a_probe_is_new_data_if_there_is_some() {
    // Two segments are in flight and both are lost; a third waits for the window. The first flight
    // of two gave SRTT = 100 ms; the probe is sent at 100 + 200.
    let config = Config { receive_window: 2000, ..rack(2) };
    let rule = |sent: &Sent| {
        let is_lost = sent.from == End::A && matches!(sent.segment.seq, 2001 | 3001);
        if is_lost && sent.copy == 0 { Fate::Lose } else { Fate::Deliver }
    };
    let mut pair = Pair::sending_over(&config, 5000, rule);
    pair.run();

    // The advertised window is full, so the probe is the last segment sent.
    pair.expect_since(
        100,
        "100 A 2001:3001 ack 1 lost
         100 A 3001:4001 ack 1 lost
         300 A 3001:4001 ack 1
         350 B ack 2001 sack 3001:4001
         400 A 2001:3001 ack 1
         450 B ack 4001
         500 A 4001:5001 ack 1
         550 B ack 5001",
    );

    // Otherwise the third segment is sent, and its SACK reveals both losses. One segment was
    // delivered, so one may be sent, then the other.
    let mut pair = Pair::sending_over(&rack(2), 5000, rule);
    pair.run();
    pair.expect_since(
        100,
        "100 A 2001:3001 ack 1 lost
         100 A 3001:4001 ack 1 lost
         300 A 4001:5001 ack 1
         350 B ack 2001 sack 4001:5001
         400 A 2001:3001 ack 1
         450 B ack 3001 sack 4001:5001
         500 A 3001:4001 ack 1
         550 B ack 5001",
    );
}

#[test]
fn what_is_late_by_less_than_a_quarter_of_a_round_trip_is_not_sent_again() {
    // The first of two segments is 20 ms late, then 30 ms. The reordering window ends 100 / 4 = 25
    // ms after the SACK of the second. First a round trip is measured.
    let late = |millis| {
        move |sent: &Sent| {
            let is_late = sent.from == End::A && sent.segment.seq == 1001 && sent.copy == 0;
            let late = Duration::from_millis(millis);
            if is_late { Fate::Late(vec![late]) } else { Fate::Deliver }
        }
    };
    for (millis, retransmissions) in [(20, 0), (30, 1)] {
        let mut pair = Pair::sending_over(&rack(1), 1000, late(millis));
        pair.run();
        pair.a.write(2000);
        let config = Config { initial_window: 2000, ..pair.configs[0].clone() };
        pair.configs = [config.clone(), config];
        pair.run();
        assert_eq!(pair.a.counters().retransmissions, retransmissions, "{millis}");
        assert_eq!(pair.a.counters().timeouts, 0);
    }
}

/// Returns how many milliseconds after ten segments the first of them, which is lost, is
/// retransmitted. A round trip of 100 ms is measured before, and a segment is reordered if
/// `reorders`. RFC 8985 section 6.2, step 4: there is no reordering window once as many segments
/// are SACKed as three duplicate ACKs report, unless reordering was seen.
fn repaired_after(reorders: bool) -> u64 {
    let rule = move |sent: &Sent| match (sent.from, sent.segment.seq) {
        (End::A, 1001) if reorders => Fate::Late(vec![Duration::from_millis(10)]),
        (End::A, 3001) if sent.copy == 0 => Fate::Lose,
        _ => Fate::Deliver,
    };
    let mut pair = Pair::sending_over(&rack(10), 1000, rule);
    pair.run();
    pair.a.write(2000);
    pair.run();
    assert_eq!(pair.a.counters().retransmissions, 0);
    let began = pair.now;
    pair.a.write(10_000);
    pair.run();
    let again = pair.log.iter().find(|(sent, _)| sent.segment.seq == 3001 && sent.copy == 1);
    let (again, _) = again.expect("what is lost goes again");
    again.time.saturating_since(began).as_nanos() / 1_000_000
}

#[test]
fn three_sacked_segments_close_the_reordering_window() {
    assert_eq!(repaired_after(false), 100);
}

#[test]
fn the_reordering_window_stays_open_where_reordering_was_seen() {
    // A quarter of the minimum RTT longer.
    assert_eq!(repaired_after(true), 125);
}

/// RFC 8985 section 6.2, step 2: RACK.rtt is the round trip of the segment that has just arrived,
/// even if one sent later arrived before. The last of four segments comes first, the third 20 ms
/// late. The earlier ones wait for 120 + 25 ms, not for 100 + 25.
#[test]
fn a_segment_that_is_late_makes_those_before_it_wait_for_as_long() {
    let late = |sent: &Sent| match (sent.from, sent.segment.seq) {
        (End::A, 1001 | 2001) if sent.copy == 0 => Fate::Late(vec![Duration::from_millis(40)]),
        (End::A, 3001) => Fate::Late(vec![Duration::from_millis(20)]),
        _ => Fate::Deliver,
    };
    let mut pair = Pair::sending_over(&rack(5), 1000, late);
    pair.run();
    pair.a.write(4000);
    pair.run();

    assert_eq!(pair.a.counters().retransmissions, 0);
    assert_eq!(pair.b.delivered(), 5000);
}

#[test]
fn a_lost_retransmission_is_found_within_a_round_trip() {
    // Ten segments are in flight; the first is lost twice. Three SACKs at 100 mark it lost without
    // a wait; its retransmission is lost too. The new data sent after it arrives at 200, which is
    // later than the copy would have. With `Sack` the timer must repair it.
    let rule = |sent: &Sent| {
        let is_lost = sent.from == End::A && sent.segment.seq == 1 && sent.copy < 2;
        if is_lost { Fate::Lose } else { Fate::Deliver }
    };
    for (variant, timeouts) in [(Variant::Rack, 0), (Variant::Sack, 1)] {
        let config = Config { variant, ..rack(10) };
        let mut pair = Pair::sending_over(&config, 30_000, rule);
        pair.run();
        assert_eq!(pair.a.counters().timeouts, timeouts, "{variant:?}");
        assert_eq!(pair.b.delivered(), 30_000);
    }
}

#[test]
fn the_window_falls_in_proportion_to_what_arrives() {
    // RFC 9937: twenty segments are in flight and the first is lost; Reno halves to 10. Of nineteen
    // SACKs the third reveals the loss; RecoverFS is 20 - 2. The lost segment is retransmitted at
    // once, and about one segment is sent per two SACKs. When the ACK of the retransmission ends
    // the recovery, ten are in flight. RFC 6675 would wait for half a window of SACKs and then send
    // one segment for each.
    let mut pair = Pair::sending_over(&rack(20), u64::MAX, lose_once(&[1]));
    pair.run_until(199);
    let sent: Vec<usize> = pair
        .log
        .iter()
        .filter(|(sent, _)| sent.from == End::A && sent.time.as_nanos() >= 100_000_000)
        .map(|(sent, _)| sent.index)
        .collect();
    // 19 - 2 SACKs in the recovery, ceil(17 * 10 / 18) = 10 segments, including the lost one.
    assert_eq!(sent.len(), 10);
    assert_eq!(pair.a.ssthresh(), 10_000);

    pair.run_until(200);
    assert_eq!(pair.a.cwnd() / 1000, 10);
}

#[test]
fn a_second_recovery_takes_its_part_of_what_is_in_the_network() {
    // The first of 20 segments is lost three times, and so is the first new one sent in between.
    // The recovery lasts three round trips of half a window each. At its end, at 400, the copy of
    // the second lost segment is detected as lost. Then 10 segments are in the network, and the
    // other end holds 20 more beyond the hole.
    let rule = |sent: &Sent| {
        let is_lost = matches!(sent.segment.seq, 1 | 20_001) && sent.copy < 3;
        if sent.from == End::A && is_lost { Fate::Lose } else { Fate::Deliver }
    };
    let mut pair = Pair::sending_over(&rack(20), u64::MAX, rule);
    pair.run_until(399);
    assert_eq!(pair.a.ssthresh(), 10_000);
    assert_eq!(pair.a.counters().fast_retransmits, 1);
    pair.run_until(401);
    assert_eq!(pair.a.counters().fast_retransmits, 2);
    assert!(pair.a.flight_size() >= 25_000, "{}", pair.a.flight_size());
    assert_eq!(pair.a.ssthresh(), 5000);
}

#[test]
fn what_is_left_of_the_window_is_left_of_all_of_it() {
    // 20 segments, but slow start has ended at 10: a loss halves a window of 20.
    let mut config = Config { initial_ssthresh: Some(10_000), ..rack(20) };
    config.rules.loss_window = LossWindow::Cwnd;
    let mut pair = Pair::sending_over(&config, 30_000, lose_once(&[1]));
    pair.run_until(150);
    assert_eq!(pair.a.ssthresh(), 10_000);
}
