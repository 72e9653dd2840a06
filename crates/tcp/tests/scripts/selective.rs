//! Losses revealed by SACK: RFC 2018 and RFC 6675.

use airtcp_kernel::Duration;
use airtcp_tcp::{Config, Variant};

use crate::pair::{End, Fate, Pair, Sent, at, config, lose_once};

/// Eight segments in flight from the start, in congestion avoidance.
fn eight() -> Config {
    Config {
        variant: Variant::Sack,
        initial_window: 8000,
        initial_ssthresh: Some(8000),
        ..config()
    }
}

/// Loses the payload of `A` with these first sequence numbers the first time, and the segments of
/// `B` with these indices.
fn lose(numbers: &'static [u64], acks: &'static [usize]) -> impl Fn(&Sent) -> Fate {
    let data = lose_once(numbers);
    move |sent| {
        let is_lost_ack = sent.from == End::B && acks.contains(&sent.index);
        if is_lost_ack { Fate::Lose } else { data(sent) }
    }
}

#[test]
fn without_a_loss_no_segment_has_an_option() {
    let mut sack = Pair::sending(&eight(), 60_000);
    let mut newreno = Pair::sending(&Config { variant: Variant::NewReno, ..eight() }, 60_000);
    sack.run();
    newreno.run();

    assert_eq!(sack.transcript_since(0), newreno.transcript_since(0));
    assert_eq!(sack.sacks.under_way(), 0);
}

#[test]
fn other_variants_neither_tell_nor_listen() {
    let config = Config { variant: Variant::NewReno, ..eight() };
    let mut pair = Pair::sending_over(&config, 60_000, lose_once(&[1, 2001]));
    pair.run();

    assert_eq!(pair.sacks.under_way(), 0);
}

#[test]
fn the_block_with_the_latest_segment_comes_first() {
    // Every second of eight segments is lost; the last one arrives before that of the third block.
    let rule = |sent: &Sent| match (sent.from, sent.segment.seq, sent.copy) {
        (End::A, 1 | 2001 | 4001 | 6001, 0) => Fate::Lose,
        (End::A, 5001, 0) => Fate::Late(vec![Duration::from_millis(1)]),
        _ => Fate::Deliver,
    };
    let mut pair = Pair::sending_over(&eight(), 8000, rule);
    pair.run_until(60);

    pair.expect_since(
        50,
        "50 B ack 1 sack 1001:2001
         50 B ack 1 sack 3001:4001 1001:2001
         50 B ack 1 sack 7001:8001 3001:4001 1001:2001
         51 B ack 1 sack 5001:6001 7001:8001 3001:4001 1001:2001",
    );
}

#[test]
fn third_duplicate_ack_retransmits_and_the_pipe_says_when_to_go_on() {
    // Eight segments are in flight. The first two duplicates each take a segment out of the pipe,
    // which two new ones replace. The third: ssthresh = cwnd = 8 / 2. Three segments are SACKed, so
    // the first is lost: pipe = 6 not SACKed beyond it + 1 retransmitted = 7. Four duplicates later
    // it is 3, and one more is sent. At 200 each duplicate makes room for one. Then everything
    // before recover, 10001, is acknowledged: cwnd = 4 with 3 in flight, and congestion avoidance
    // adds 250.
    let mut pair = Pair::sending_over(&eight(), u64::MAX, lose_once(&[1]));
    pair.run_until(100);
    assert_eq!((pair.a.ssthresh(), pair.a.cwnd(), pair.a.flight_size()), (4000, 4000, 11_000));
    pair.run_until(200);
    assert_eq!((pair.a.ssthresh(), pair.a.cwnd(), pair.a.flight_size()), (4000, 4250, 4000));

    pair.expect_since(
        50,
        "50 B ack 1 sack 1001:2001
         50 B ack 1 sack 1001:3001
         50 B ack 1 sack 1001:4001
         50 B ack 1 sack 1001:5001
         50 B ack 1 sack 1001:6001
         50 B ack 1 sack 1001:7001
         50 B ack 1 sack 1001:8001
         100 A 8001:9001 ack 1
         100 A 9001:10001 ack 1
         100 A 1:1001 ack 1
         100 A 10001:11001 ack 1
         150 B ack 1 sack 1001:9001
         150 B ack 1 sack 1001:10001
         150 B ack 10001
         150 B ack 11001
         200 A 11001:12001 ack 1
         200 A 12001:13001 ack 1
         200 A 13001:14001 ack 1
         200 A 14001:15001 ack 1",
    );
    assert_eq!(pair.a.counters().fast_retransmits, 1);
}

#[test]
fn one_ack_that_tells_of_three_segments_is_enough() {
    // Section 5, step (2): the first two of three duplicates are lost; the third SACKs three segments.
    let config = Config { initial_window: 4000, ..eight() };
    let mut pair = Pair::sending_over(&config, 4000, lose(&[1], &[0, 1]));
    pair.run();

    pair.expect_since(
        50,
        "50 B ack 1 sack 1001:2001 lost
         50 B ack 1 sack 1001:3001 lost
         50 B ack 1 sack 1001:4001
         100 A 1:1001 ack 1
         150 B ack 4001",
    );
    assert_eq!(pair.a.counters().timeouts, 0);
}

#[test]
fn two_duplicate_acks_do_not_retransmit() {
    let config = Config { initial_window: 3000, ..eight() };
    let mut pair = Pair::sending_over(&config, 3000, lose_once(&[1]));
    pair.run_until(999);

    assert_eq!(pair.a.counters().retransmissions, 0);
    pair.run_until(1000);
    assert_eq!(pair.a.counters().timeouts, 1);
}

#[test]
fn three_crumbs_are_three_duplicates_even_if_they_do_not_say_lost() {
    // Section 5, step (1): the SACKed data is one block of 300 bytes.
    let mut pair = Pair::sending_over(&eight(), 100, lose_once(&[1]));
    for _ in 0..3 {
        pair.run_until(0);
        pair.a.write(100);
    }
    pair.run();

    pair.expect_since(
        50,
        "50 B ack 1 sack 101:201
         50 B ack 1 sack 101:301
         50 B ack 1 sack 101:401
         100 A 1:101 ack 1
         150 B ack 401",
    );
}

#[test]
fn a_duplicate_may_acknowledge_something_too() {
    // Section 2. The first of five segments is 10 ms late; the second segment and the third ACK are
    // lost. The ACK of the first segment, at 110, is the first to report the fifth one. With it
    // three segments beyond the second are SACKed.
    let rule = |sent: &Sent| match (sent.from, sent.index) {
        (End::A, 0) => Fate::Late(vec![Duration::from_millis(10)]),
        (End::A, 1) | (End::B, 2) => Fate::Lose,
        _ => Fate::Deliver,
    };
    let config = Config { initial_window: 5000, ..eight() };
    let mut pair = Pair::sending_over(&config, 8000, rule);
    pair.run_until(110);

    pair.expect_since(
        50,
        "50 B ack 1 sack 2001:3001
         50 B ack 1 sack 2001:4001
         50 B ack 1 sack 2001:5001 lost
         60 B ack 1001 sack 2001:5001
         100 A 5001:6001 ack 1
         100 A 6001:7001 ack 1
         110 A 1001:2001 ack 1",
    );
    // In slow start that ACK has added a segment to 5; FlightSize is 6.
    assert_eq!((pair.a.ssthresh(), pair.a.counters().fast_retransmits), (3000, 1));
}

#[test]
fn all_holes_are_filled_in_one_round_trip() {
    // NewReno fills one hole per round trip:
    // `fast_recovery::newreno_partial_ack_retransmits_next_hole`. Twelve segments are in flight and
    // three of them lost: nine duplicates. Two new segments replace those that the first two
    // duplicates report. The third reports a third block: ssthresh = cwnd = 12 / 2, everything
    // before 5001 is lost, pipe = 8 beyond that + 1 retransmitted. Of six more duplicates the third
    // leaves 6 in the pipe, and each of the last three makes room for one segment: both other
    // holes, then a new one. At 200: two duplicates, two new segments; two partial ACKs, each of
    // which takes a retransmission out of the pipe, two new segments; then everything before
    // recover, 14001, and one more ACK.
    let config = Config { initial_window: 12_000, initial_ssthresh: Some(12_000), ..eight() };
    let mut pair = Pair::sending_over(&config, 60_000, lose_once(&[1, 2001, 4001]));
    pair.run_until(200);

    pair.expect_since(
        100,
        "100 A 12001:13001 ack 1
         100 A 13001:14001 ack 1
         100 A 1:1001 ack 1
         100 A 2001:3001 ack 1
         100 A 4001:5001 ack 1
         100 A 14001:15001 ack 1
         150 B ack 1 sack 5001:13001 3001:4001 1001:2001
         150 B ack 1 sack 5001:14001 3001:4001 1001:2001
         150 B ack 2001 sack 5001:14001 3001:4001
         150 B ack 4001 sack 5001:14001
         150 B ack 14001
         150 B ack 15001
         200 A 15001:16001 ack 1
         200 A 16001:17001 ack 1
         200 A 17001:18001 ack 1
         200 A 18001:19001 ack 1
         200 A 19001:20001 ack 1
         200 A 20001:21001 ack 1",
    );
    pair.run();
    let counters = pair.a.counters();
    assert_eq!((counters.fast_retransmits, counters.retransmissions, counters.timeouts), (1, 3, 0));
    assert_eq!(pair.a.ssthresh(), 6000);
}

#[test]
fn with_nothing_else_to_send_a_hole_is_filled_before_it_is_lost() {
    // NextSeg (3). Twelve segments are in flight, with no more to send; the first and the eleventh
    // are lost: ten duplicates. Only one segment beyond the eleventh is SACKed, so it does not
    // count as lost. Then ack 10001, beyond RescueRxt, triggers the rescue retransmission of the
    // highest segment that is not SACKed: NextSeg (4), literally, although that segment was just
    // retransmitted.
    let config = Config { initial_window: 12_000, initial_ssthresh: Some(12_000), ..eight() };
    let mut pair = Pair::sending_over(&config, 12_000, lose_once(&[1, 10_001]));
    pair.run();

    pair.expect_since(
        100,
        "100 A 1:1001 ack 1
         100 A 10001:11001 ack 1
         150 B ack 10001 sack 11001:12001
         150 B ack 12001
         200 A 10001:11001 ack 1
         250 B ack 12001",
    );
    assert_eq!(pair.a.counters().timeouts, 0);
}

#[test]
fn the_last_segment_is_rescued() {
    // NextSeg (4). Nothing is SACKed beyond the last of eight segments, which is lost. NewReno
    // learns of it from the partial ACK, and so does the rescue retransmission. Of two lost
    // segments at the end it sends the last, whose SACK reveals the other.
    let mut pair = Pair::sending_over(&eight(), 8000, lose_once(&[1, 6001, 7001]));
    pair.run();

    pair.expect_since(
        100,
        "100 A 1:1001 ack 1
         150 B ack 6001
         200 A 7001:8001 ack 1
         250 B ack 6001 sack 7001:8001
         300 A 6001:7001 ack 1
         350 B ack 8001",
    );
    assert_eq!(pair.a.counters().timeouts, 0);
}

#[test]
fn new_data_in_a_recovery_stays_within_the_receive_window() {
    // Rule (2): "the receiver's advertised window allows". The eight in flight fill it.
    let config = Config { receive_window: 8000, ..eight() };
    let mut pair = Pair::sending_over(&config, u64::MAX, lose_once(&[1]));
    pair.run_until(199);

    pair.expect_since(100, "100 A 1:1001 ack 1\n 150 B ack 8001");
}

#[test]
fn after_a_timeout_only_what_is_not_held_goes_again() {
    // Section 5.1. Of eight segments 1, 3 and 5 are lost, and so are their retransmissions. The
    // timer, running since 0, expires at 1000. The scoreboard is cleared, but the ACK of the first
    // segment repeats the SACK blocks, so only the holes are sent as the window opens.
    let rule = |sent: &Sent| {
        let hole = sent.from == End::A && matches!(sent.segment.seq, 1 | 2001 | 4001);
        if hole && sent.copy < 2 { Fate::Lose } else { Fate::Deliver }
    };
    let config = Config { receive_window: 10_000, ..eight() };
    let mut pair = Pair::sending_over(&config, 14_000, rule);
    pair.run();

    pair.expect_since(
        100,
        "100 A 8001:9001 ack 1
         100 A 9001:10001 ack 1
         100 A 1:1001 ack 1 lost
         100 A 2001:3001 ack 1 lost
         150 B ack 1 sack 5001:9001 3001:4001 1001:2001
         150 B ack 1 sack 5001:10001 3001:4001 1001:2001
         200 A 4001:5001 ack 1 lost
         1000 A 1:1001 ack 1
         1050 B ack 2001 sack 5001:10001 3001:4001
         1100 A 2001:3001 ack 1
         1100 A 4001:5001 ack 1
         1150 B ack 4001 sack 5001:10001
         1150 B ack 10001
         1200 A 10001:11001 ack 1
         1200 A 11001:12001 ack 1
         1250 B ack 11001
         1250 B ack 12001
         1300 A 12001:13001 ack 1
         1300 A 13001:14001 ack 1
         1350 B ack 13001
         1350 B ack 14001",
    );
    // Ten segments are unacknowledged, but the window of the recovery allows four in the network:
    // half of that, which the first ACK reaches from 1. Then 2500, 2900, 3244.8, 3553.1, 3834.5,
    // 4095.3; the last two come within a round trip of a full window.
    assert_eq!((pair.a.ssthresh(), pair.a.cwnd()), (2000, 4095));
    assert_eq!((pair.a.counters().fast_retransmits, pair.a.counters().timeouts), (1, 1));
}

#[test]
fn duplicates_of_a_go_back_n_do_not_start_a_recovery() {
    // Section 5.1: "a new recovery phase ... MUST NOT be initiated until HighACK is greater than or
    // equal to the new value of RecoveryPoint". The first of eight segments and all ACKs are lost.
    // The seven others are 1000 ms late and arrive at 1050, just before the third copy of the
    // first. Their seven ACKs, all with news, arrive after the timeout.
    let rule = |sent: &Sent| match (sent.from, sent.segment.seq, sent.copy) {
        (End::A, 1, 0) => Fate::Lose,
        (End::A, 1001.., 0) if sent.time == at(0) => Fate::Late(vec![Duration::from_millis(1000)]),
        _ => Fate::Deliver,
    };
    let mut pair = Pair::sending_over(&eight(), 8000, rule);
    pair.run_until(1100);

    pair.expect_since(
        1000,
        "1000 A 1:1001 ack 1
         1050 B ack 1 sack 1001:2001
         1050 B ack 1 sack 1001:3001
         1050 B ack 1 sack 1001:4001
         1050 B ack 1 sack 1001:5001
         1050 B ack 1 sack 1001:6001
         1050 B ack 1 sack 1001:7001
         1050 B ack 1 sack 1001:8001
         1050 B ack 8001",
    );
    assert_eq!((pair.a.acked(), pair.a.counters().fast_retransmits), (8000, 0));
}

#[test]
fn reordering_by_two_does_not_retransmit_and_by_three_does() {
    for (overtaking, fast_retransmits) in [(2, 0), (3, 1)] {
        let config = Config { initial_window: 1000 * (overtaking + 1), ..eight() };
        let rule = |sent: &Sent| {
            let late = sent.from == End::A && sent.segment.seq == 1 && sent.copy == 0;
            let late_by = vec![Duration::from_millis(1)];
            if late { Fate::Late(late_by) } else { Fate::Deliver }
        };
        let mut pair = Pair::sending_over(&config, 1000 * (overtaking + 1), rule);
        pair.run();

        assert_eq!(pair.a.counters().fast_retransmits, fast_retransmits);
        assert_eq!(pair.a.counters().retransmissions, u64::from(fast_retransmits));
    }
}
