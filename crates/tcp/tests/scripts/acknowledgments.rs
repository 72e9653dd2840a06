//! When the receiver speaks.

use airtcp_kernel::Duration;
use airtcp_tcp::{Config, DelayedAck};

use crate::pair::{End, Fate, Pair, Sent, config, lose_once};

fn every(every: u32) -> Config {
    Config {
        initial_window: 4000,
        delayed_ack: DelayedAck { every, timeout: Duration::from_millis(100) },
        ..config()
    }
}

#[test]
fn every_1_acknowledges_each_segment() {
    let mut pair = Pair::sending(&every(1), 2500);
    pair.run();

    pair.expect_since(
        50,
        "50 B ack 1001
         50 B ack 2001
         50 B ack 2501",
    );
}

#[test]
fn every_2_acknowledges_every_second_full_segment_and_the_timer_the_rest() {
    let mut pair = Pair::sending(&every(2), 3000);
    pair.run();

    // Three segments at 50: the third one waits 100 ms.
    pair.expect_since(
        50,
        "50 B ack 2001
         150 B ack 3001",
    );
}

#[test]
fn every_4_with_a_window_of_one_segment_waits_for_the_timer_each_time() {
    let config = Config { receive_window: 1000, ..every(4) };
    let mut pair = Pair::sending(&config, 2000);
    pair.run();

    pair.expect(
        "0 A 1:1001 ack 1
         150 B ack 1001
         200 A 1001:2001 ack 1
         350 B ack 2001",
    );
}

#[test]
fn delayed_ack_counts_full_segments_not_crumbs() {
    // Three writes, three small segments, far less than two full ones: the timer of the first.
    let mut pair = Pair::sending(&every(2), 100);
    for millis in [10, 20] {
        pair.run_until(millis);
        pair.a.write(100);
    }
    pair.run();

    pair.expect(
        "0 A 1:101 ack 1
         10 A 101:201 ack 1
         20 A 201:301 ack 1
         150 B ack 301",
    );
}

#[test]
fn a_gap_gives_a_duplicate_ack_for_each_segment_and_its_end_an_ack_at_once() {
    // Late by 20 ms: the first of four.
    let rule = |sent: &Sent| {
        let late = sent.from == End::A && sent.segment.seq == 1;
        if late { Fate::Late(vec![Duration::from_millis(20)]) } else { Fate::Deliver }
    };
    let config = Config { initial_window: 3000, ..every(2) };
    let mut pair = Pair::sending_over(&config, 3000, rule);
    pair.run();

    pair.expect_since(
        50,
        "50 B ack 1
         50 B ack 1
         70 B ack 3001",
    );
}

#[test]
fn filling_a_part_of_a_gap_is_acknowledged_at_once() {
    // Of four segments the first is 20 ms late and the second 40 ms.
    let rule = |sent: &Sent| match (sent.from, sent.segment.seq) {
        (End::A, 1) => Fate::Late(vec![Duration::from_millis(20)]),
        (End::A, 1001) => Fate::Late(vec![Duration::from_millis(40)]),
        _ => Fate::Deliver,
    };
    let mut pair = Pair::sending_over(&every(2), 4000, rule);
    pair.run();

    pair.expect_since(
        50,
        "50 B ack 1
         50 B ack 1
         70 B ack 1001
         90 B ack 4001",
    );
}

#[test]
fn old_data_is_acknowledged_at_once() {
    // The network delivers the only segment a second time while its ACK is being delayed.
    let rule = |sent: &Sent| {
        let twice = vec![Duration::ZERO, Duration::from_millis(30)];
        if sent.from == End::A { Fate::Late(twice) } else { Fate::Deliver }
    };
    let mut pair = Pair::sending_over(&every(2), 1000, rule);
    pair.run();

    pair.expect(
        "0 A 1:1001 ack 1
         80 B ack 1001",
    );
    assert_eq!(pair.b.delivered(), 1000);
}

#[test]
fn delayed_ack_timer_starts_again_after_each_ack() {
    let mut pair = Pair::sending_over(&every(2), 1000, lose_once(&[]));
    pair.run_until(300);
    pair.a.write(1000);
    pair.run();

    pair.expect(
        "0 A 1:1001 ack 1
         150 B ack 1001
         300 A 1001:2001 ack 1
         450 B ack 2001",
    );
}
