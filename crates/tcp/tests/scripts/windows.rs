//! How much is in flight: slow start, congestion avoidance, and their limits.

use airtcp_kernel::Duration;
use airtcp_tcp::{Aimd, Config, DelayedAck, Variant};

use crate::pair::{End, Fate, Pair, Sent, config, lose_once};

const ENDLESS: u64 = u64::MAX;

/// Returns the congestion window just after each of the first `rounds` round trips of 100 ms.
fn cwnd_by_round(config: &Config, rounds: u64) -> Vec<u64> {
    let mut pair = Pair::sending(config, ENDLESS);
    (0..rounds)
        .map(|round| {
            pair.run_until(100 * round);
            pair.a.cwnd()
        })
        .collect()
}

#[test]
fn slow_start_doubles_each_round_trip() {
    assert_eq!(cwnd_by_round(&config(), 5), [2000, 4000, 8000, 16_000, 32_000]);
}

#[test]
fn slow_start_with_an_ack_for_every_second_segment_grows_by_half() {
    let delayed_ack = DelayedAck::every(2, Duration::from_millis(40));
    let config = Config { initial_window: 4000, delayed_ack, ..config() };

    // 4 segments, 2 ACKs: 6. 6 segments, 3 ACKs: 9. 9 segments, 4 ACKs: 13; the ACK of the ninth
    // segment is delayed by 40 ms and not yet included.
    assert_eq!(cwnd_by_round(&config, 4), [4000, 6000, 9000, 13_000]);
}

#[test]
fn congestion_avoidance_adds_about_one_segment_each_round_trip() {
    let config = Config { initial_window: 4000, initial_ssthresh: Some(4000), ..config() };

    // Four ACKs of 10^6 / cwnd: 4250, 4485, 4708, 4920 (250.00, 235.29, 222.97, 212.40; fractions
    // accumulate: .29 + .97 = 1.26 and so on). Only full segments are sent: four are in flight
    // again.
    let rounds = cwnd_by_round(&config, 3);
    assert_eq!(rounds[..2], [4000, 4920]);
    // Four more: 203.25, 195.19, 188.02, 181.59.
    assert_eq!(rounds[2], 5688);
}

#[test]
fn slow_start_ends_at_the_threshold() {
    let config = Config { initial_ssthresh: Some(6000), ..config() };

    // 2, 4; then two ACKs to 6000 and two of congestion avoidance: 166.7 + 162.2 = 328.8.
    assert_eq!(cwnd_by_round(&config, 3), [2000, 4000, 6328]);
}

#[test]
fn a_window_that_the_receiver_does_not_let_be_used_grows_no_further() {
    let config = Config { receive_window: 5500, ..config() };
    let mut pair = Pair::sending(&config, ENDLESS);
    pair.run_until(500);

    assert_eq!(pair.a.flight_size(), 5000);
    // 2, 4, 8, then 10: in slow start half of that is in flight.
    assert_eq!(pair.a.cwnd(), 10_000);

    // Congestion avoidance from 4 on: 4.9; from 5 on five segments fit, and at 6 the window would
    // have room for another.
    let config = Config { initial_ssthresh: Some(4000), ..config };
    let mut pair = Pair::sending(&config, ENDLESS);
    pair.run_until(3000);
    assert_eq!((pair.a.flight_size(), pair.a.cwnd() / 1000), (5000, 6));
}

#[test]
fn a_window_that_the_application_does_not_use_grows_no_further() {
    // Ten segments fit, nine are written. The ACKs of two segments each open the window to twice
    // what was in flight, and no further.
    let delayed_ack = DelayedAck::every(2, Duration::from_millis(100));
    let config = Config { initial_window: 10_000, delayed_ack, ..config() };
    let mut pair = Pair::sending(&config, 9000);
    pair.run();
    // Four ACKs of two segments and one of the last: a segment each.
    assert_eq!(pair.a.cwnd(), 15_000);

    for _ in 0..10 {
        pair.a.write(9000);
        pair.run();
    }
    assert_eq!(pair.a.cwnd(), 18_000);
}

#[test]
fn a_window_of_one_segment_is_stop_and_wait() {
    let config = Config { receive_window: 1000, ..config() };
    let mut pair = Pair::sending(&config, 2500);
    pair.run();

    pair.expect(
        "0 A 1:1001 ack 1
         50 B ack 1001
         100 A 1001:2001 ack 1
         150 B ack 2001
         200 A 2001:2501 ack 1
         250 B ack 2501",
    );
}

#[test]
fn a_short_segment_goes_at_once_while_data_is_in_flight() {
    // No Nagle algorithm: the second write does not wait for the first one's ACK.
    let mut pair = Pair::sending(&config(), 100);
    pair.run_until(10);
    pair.a.write(100);
    pair.run();

    pair.expect(
        "0 A 1:101 ack 1
         10 A 101:201 ack 1
         50 B ack 101
         60 B ack 201",
    );
}

#[test]
fn limited_transmit_sends_one_new_segment_for_each_of_two_duplicate_acks() {
    // Two duplicate ACKs and no third: the first of three segments is 30 ms late.
    let rule = |sent: &Sent| {
        let late = sent.from == End::A && sent.segment.seq == 1;
        if late { Fate::Late(vec![Duration::from_millis(30)]) } else { Fate::Deliver }
    };
    let config = Config { initial_window: 3000, ..config() };
    let mut pair = Pair::sending_over(&config, 6000, rule);
    pair.run_until(120);
    let cwnd = pair.a.cwnd();
    pair.run();

    // 3000 is cwnd; 4 and 5 segments are in flight at 100.
    pair.expect(
        "0 A 1:1001 ack 1
         0 A 1001:2001 ack 1
         0 A 2001:3001 ack 1
         50 B ack 1
         50 B ack 1
         80 B ack 3001
         100 A 3001:4001 ack 1
         100 A 4001:5001 ack 1
         130 A 5001:6001 ack 1
         150 B ack 4001
         150 B ack 5001
         180 B ack 6001",
    );
    assert_eq!(cwnd, 3000);
    assert_eq!(pair.a.counters().retransmissions, 0);
}

#[test]
fn limited_transmit_stays_within_the_receive_window() {
    let rule = |sent: &Sent| {
        let late = sent.from == End::A && sent.segment.seq == 1;
        if late { Fate::Late(vec![Duration::from_millis(30)]) } else { Fate::Deliver }
    };
    let config = Config { initial_window: 3000, receive_window: 3000, ..config() };
    let mut pair = Pair::sending_over(&config, 6000, rule);
    pair.run_until(129);

    assert_eq!(pair.a.flight_size(), 3000);
}

#[test]
fn after_an_idle_time_longer_than_the_rto_the_window_is_the_initial_one() {
    // 2 + 4 + 8 segments: the last data is sent at 200, and cwnd is 16000 when everything is
    // acknowledged. RTO is the minimum, 300 ms, so the idle period exceeds it after 500.
    let config = Config { min_rto: Duration::from_millis(300), ..config() };
    for (write, in_flight) in [(500, 10_000), (501, 2000)] {
        let mut pair = Pair::sending(&config, 14_000);
        pair.run_until(write);
        assert_eq!(pair.a.cwnd(), 16_000);
        pair.a.write(10_000);
        pair.run_until(write);

        assert_eq!(pair.a.flight_size(), in_flight);
    }
}

#[test]
fn two_ends_may_send_at_once() {
    let mut pair = Pair::sending(&config(), 30_000);
    pair.b.write(20_000);
    pair.run();

    assert_eq!((pair.b.delivered(), pair.a.delivered()), (30_000, 20_000));
    assert_eq!((pair.a.acked(), pair.b.acked()), (30_000, 20_000));
    assert_eq!(pair.a.counters().retransmissions + pair.b.counters().retransmissions, 0);
}

#[test]
fn the_increase_is_so_many_segments_each_round_trip() {
    // Four ACKs of 4 * 10^6 / cwnd: 1000, 800, 689 and a remainder of 3800, so that
    // (4 * 10^6 + 3800) / 6489 = 617.
    let aimd = Aimd::new(4.0, 0.5);
    let config = Config { aimd, initial_window: 4000, initial_ssthresh: Some(4000), ..config() };
    assert_eq!(cwnd_by_round(&config, 2), [4000, 7106]);
}

#[test]
fn the_decrease_is_what_is_left_of_the_flight() {
    // Eight in flight, the first is lost: 7/8 of 8.
    for variant in [Variant::Reno, Variant::NewReno, Variant::Sack] {
        let config = Config {
            variant,
            aimd: Aimd::new(1.0, 0.875),
            initial_window: 8000,
            initial_ssthresh: Some(8000),
            ..config()
        };
        let mut pair = Pair::sending_over(&config, ENDLESS, lose_once(&[1]));
        pair.run_until(100);

        assert_eq!(pair.a.ssthresh(), 7000, "{variant:?}");
    }
}

#[test]
fn a_window_without_bound_doubles_until_the_path_loses() {
    // Ten round trips of slow start from 2 segments: 2 * 2^10. Only the congestion window limits
    // the sender.
    for variant in [Variant::Reno, Variant::NewReno, Variant::Sack] {
        let config = Config { variant, receive_window: u64::MAX, ..config() };
        let mut pair = Pair::sending(&config, ENDLESS);
        pair.run_until(1000);

        assert_eq!(pair.a.cwnd(), 2_048_000);
        assert_eq!(pair.a.flight_size(), 2_048_000);
    }
}
