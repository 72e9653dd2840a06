//! Losses found by time (RFC 8985), and how the window falls (RFC 9937). The round trip is 100 ms.

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
    // The last two of four are lost. After the ACKs of the first two SRTT is 100 ms, and the probe goes
    // two of that after the last ACK: the last segment again. Its SACK comes at 400: the third segment
    // was sent 300 ms before what has arrived, and goes at once. The timer of RFC 6298 would have
    // sent the third segment first, and not before 400.
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

/// The other end may keep the acknowledgment of a lone segment back, if it is one of Linux up to 200 ms:
/// the probe goes two round trips and so long after the ACK at 100.
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
    // Of two segments that are under way all is lost; a third is waiting for the window. The first flight,
    // of two, has given SRTT = 100 ms; the probe goes at 100 + 200.
    let config = Config { receive_window: 2000, ..rack(2) };
    let rule = |sent: &Sent| {
        let is_lost = sent.from == End::A && matches!(sent.segment.seq, 2001 | 3001);
        if is_lost && sent.copy == 0 { Fate::Lose } else { Fate::Deliver }
    };
    let mut pair = Pair::sending_over(&config, 5000, rule);
    pair.run();

    // The advertised window is full, so that the probe is the last segment sent.
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

    // Without it the third goes, and its SACK tells of both losses; one segment has arrived, and
    // so one may go, and then the other.
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
    // The first of two segments is 20 ms late, and then 30 ms: the window is 100 / 4 = 25 ms after
    // the SACK of the second. First a round trip is measured.
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

/// Returns how many milliseconds after ten segments the first of them is sent again, which is lost. A round trip of
/// 100 ms is measured before, and a segment overtaken if `reorders`. RFC 8985 section 6.2, step 4: there is no
/// reordering window once as much is SACKed as would be three duplicate ACKs, unless reordering was seen.
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
    // A quarter of the least round trip longer.
    assert_eq!(repaired_after(true), 125);
}

/// RFC 8985 section 6.2, step 2: RACK.rtt is the round trip of what has arrived now, although something has arrived
/// that was sent later. The last of four comes first, the third 20 ms late, and what is before it waits for
/// 120 + 25 ms and not for 100 + 25.
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
    // Ten in flight, the first lost twice. Three SACKs at 100 make it lost without a wait; it goes again
    // and is lost again. The new data that follow it arrive at 200, which is later than its copy
    // would have. With `sack` the timer must repair it.
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
    // RFC 9937: twenty in flight, the first lost, Reno halves to 10. Of the nineteen SACKs the third tells
    // of the loss; RecoverFS is 20 - 2. The lost one goes at once, and what follows is sent for every
    // second SACK or so: when the recovery ends, at the ACK of the retransmission, ten are in flight.
    // RFC 6675 would wait for half a window of SACKs and then send for each.
    let mut pair = Pair::sending_over(&rack(20), u64::MAX, lose_once(&[1]));
    pair.run_until(199);
    let sent: Vec<usize> = pair
        .log
        .iter()
        .filter(|(sent, _)| sent.from == End::A && sent.time.as_nanos() >= 100_000_000)
        .map(|(sent, _)| sent.index)
        .collect();
    // 19 - 2 SACKs in the recovery, ceil(17 * 10 / 18) = 10 segments, the lost one among them.
    assert_eq!(sent.len(), 10);
    assert_eq!(pair.a.ssthresh(), 10_000);

    pair.run_until(200);
    assert_eq!(pair.a.cwnd() / 1000, 10);
}

#[test]
fn a_second_recovery_takes_its_part_of_what_is_in_the_network() {
    // The first of 20 segments is lost three times, and so is the first one that is sent meanwhile. The recovery
    // lasts three round trips, of half a window each. At its end, 400, the copy of the other one is found lost
    // with 10 segments in the network, and 20 more that the other end holds beyond the hole.
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
    // 20 segments where slow start has ended at 10: a part of the window is one of 20.
    let mut config = Config { initial_ssthresh: Some(10_000), ..rack(20) };
    config.rules.loss_window = LossWindow::Cwnd;
    let mut pair = Pair::sending_over(&config, 30_000, lose_once(&[1]));
    pair.run_until(150);
    assert_eq!(pair.a.ssthresh(), 10_000);
}
