//! The sender without an endpoint: calls in, (sequence number, length) out.

use airtcp_kernel::Duration;

use super::*;
use crate::Variant;

const T: Time = Time::from_nanos(1_000_000_000);

/// Sends everything that may be sent at `T`, as (sequence number, length).
fn burst(sender: &mut Sender, config: &Config) -> Vec<(u64, u32)> {
    std::iter::from_fn(|| sender.poll_transmit(config.at(T), config.receive_window))
        .map(|(seq, len, _)| (seq, len.get()))
        .collect()
}

fn writing(config: &Config, bytes: u64) -> Sender {
    let mut sender = Sender::new(config);
    sender.tcb.write(bytes);
    sender
}

#[test]
fn only_the_last_segment_is_short() {
    let config = Config { initial_window: 10_000, ..Config::standard() };
    let mut sender = writing(&config, 2300);

    assert_eq!(burst(&mut sender, &config), [(1, 1000), (1001, 1000), (2001, 300)]);
}

#[test]
fn a_short_segment_waits_for_room_for_a_full_one() {
    let config = Config { initial_window: 2500, ..Config::standard() };
    let mut sender = writing(&config, 10_000);

    // 500 bytes of the window are left, and more than 500 bytes are waiting.
    assert_eq!(burst(&mut sender, &config), [(1, 1000), (1001, 1000)]);
}

#[test]
fn a_window_below_one_segment_is_used_when_nothing_is_in_flight() {
    let config = Config { receive_window: 300, ..Config::standard() };
    let mut sender = writing(&config, 1000);

    assert_eq!(burst(&mut sender, &config), [(1, 300)]);
}

#[test]
fn an_ack_of_what_was_never_sent_is_ignored() {
    let config = Config::standard();
    let mut sender = writing(&config, 2000);
    burst(&mut sender, &config);

    sender.on_ack(config.at(T), 2002, true);

    assert_eq!((sender.tcb.acked(), sender.tcb.flight_size()), (0, 2000));
}

#[test]
fn acks_with_data_or_without_data_in_flight_are_no_duplicates() {
    let config = Config { initial_window: 3000, ..Config::standard() };
    let mut sender = writing(&config, 3000);

    for _ in 0..3 {
        sender.on_ack(config.at(T), 1, true);
    }
    burst(&mut sender, &config);
    for _ in 0..3 {
        sender.on_ack(config.at(T), 1, false);
    }

    assert_eq!(sender.tcb.phase, Phase::NO_DUP_ACKS);
}

#[test]
fn an_endless_source_never_runs_dry() {
    let config = Config::standard();
    let mut sender = writing(&config, u64::MAX);
    sender.tcb.write(u64::MAX);

    assert_eq!(burst(&mut sender, &config).len(), 2);
}
#[test]
fn a_fast_retransmit_repeats_what_was_sent_and_no_more() {
    // Four small writes become four small segments; 1000 more bytes wait for room for a full
    // segment.
    let config = Config { receive_window: 1000, ..Config::standard() };
    let mut sender = writing(&config, 0);
    for _ in 0..4 {
        sender.tcb.write(100);
        burst(&mut sender, &config);
    }
    sender.tcb.write(1000);
    for _ in 0..3 {
        sender.on_ack(config.at(T), 1, true);
    }

    assert_eq!(burst(&mut sender, &config), [(1, 400)]);
}

#[test]
fn limited_transmit_is_for_two_duplicate_acks_where_the_third_begins_no_recovery() {
    // RFC 3042 section 2. Exactly what was sent before a timeout is acknowledged: duplicates may
    // come from segments that were sent twice (RFC 6582 section 3.2, step 2).
    let config = Config { initial_window: 4000, ..Config::standard() };
    let mut sender = writing(&config, u64::MAX);
    burst(&mut sender, &config);
    sender.on_timeout(config.at(T));
    burst(&mut sender, &config);
    sender.on_ack(config.at(T), 4001, true);
    assert_eq!(burst(&mut sender, &config), [(4001, 1000), (5001, 1000)]);

    let sent = [1, 2, 3, 4].map(|_| {
        sender.on_ack(config.at(T), 4001, true);
        burst(&mut sender, &config).len()
    });

    assert_eq!(sent, [1, 1, 0, 0]);
}

#[test]
fn duplicate_acks_in_a_go_back_n_send_nothing() {
    // RFC 3042 concerns data never sent before: after the timeout six old segments come first.
    let config = Config { initial_window: 8000, ..Config::standard() };
    let mut sender = writing(&config, u64::MAX);
    burst(&mut sender, &config);
    sender.on_timeout(config.at(T));
    assert_eq!(burst(&mut sender, &config), [(1, 1000)]);
    sender.on_ack(config.at(T), 1001, true);
    assert_eq!(burst(&mut sender, &config), [(1001, 1000), (2001, 1000)]);

    for _ in 0..3 {
        sender.on_ack(config.at(T), 1001, true);
    }

    assert_eq!(burst(&mut sender, &config), []);
    assert_eq!(sender.tcb.counters.fast_retransmits, 0);
}

/// Returns a sender with SACK in a recovery: eight segments are in flight, of which the first and
/// the third are lost.
fn recovering(config: &Config) -> Sender {
    let mut sender = writing(config, 8000);
    burst(&mut sender, config);
    let held = [segments(1, 2), segments(3, 8)];
    sender.on_selective_ack(config.at(T), 1, &held, true);
    sender
}

fn segments(first: u64, after: u64) -> Block {
    Block { start: 1 + first * 1000, end: 1 + after * 1000 }
}

#[test]
fn each_partial_ack_of_a_recovery_with_sack_starts_the_timer_anew() {
    // RFC 6298 (5.3), which RFC 6675 section 4 retains.
    let config = Config { variant: Variant::Sack, initial_window: 8000, ..Config::standard() };
    let mut sender = recovering(&config);
    assert_eq!(burst(&mut sender, &config), [(1, 1000), (2001, 1000)]);

    let rto = sender.tcb.rtt.rto();
    for (millis, ack) in [(100, 2001), (200, 2501)] {
        let now = T + Duration::from_millis(millis);
        sender.on_ack(config.at(now), ack, true);
        assert_eq!(sender.tcb.deadline, now + rto);
    }
}

#[test]
fn an_old_acknowledgment_still_tells_what_is_held() {
    // Its ACK number is old, as after reordering, but its SACK blocks are valid.
    let config = Config { variant: Variant::Sack, initial_window: 8000, ..Config::standard() };
    let mut sender = writing(&config, 8000);
    burst(&mut sender, &config);
    sender.on_ack(config.at(T), 1001, true);

    sender.on_selective_ack(config.at(T), 1, &[segments(2, 5)], true);

    assert_eq!(burst(&mut sender, &config), [(1001, 1000)]);
    assert_eq!(sender.tcb.counters.fast_retransmits, 1);
}

#[test]
fn an_ack_of_what_was_never_sent_is_ignored_with_its_blocks() {
    let config = Config { variant: Variant::Sack, initial_window: 8000, ..Config::standard() };
    let mut sender = writing(&config, 8000);
    burst(&mut sender, &config);

    sender.on_selective_ack(config.at(T), 8002, &[segments(2, 5)], true);

    assert_eq!((sender.tcb.acked(), sender.tcb.counters.fast_retransmits), (0, 0));
}

#[test]
fn a_duplicate_ack_without_news_is_none_with_sack() {
    let config = Config { variant: Variant::Sack, initial_window: 8000, ..Config::standard() };
    let mut sender = writing(&config, 8000);
    burst(&mut sender, &config);

    for _ in 0..4 {
        sender.on_ack(config.at(T), 1, true);
    }
    for _ in 0..4 {
        sender.on_selective_ack(config.at(T), 1, &[segments(1, 2)], true);
    }

    assert_eq!(sender.tcb.phase, Phase::Open { dup_acks: 1, limited_transmit: 0 });
}

#[test]
fn the_scoreboard_outlives_a_recovery() {
    // Section 5, step (A): SACKed data beyond the new HighACK "SHOULD NOT be cleared".
    let config = Config { variant: Variant::Sack, initial_window: 8000, ..Config::standard() };
    let mut sender = recovering(&config);
    burst(&mut sender, &config);
    sender.tcb.write(4000);
    // cwnd is 4 segments, of which one is in the pipe. The second loss is the first of the three
    // new segments, beyond the recovery point.
    sender.on_selective_ack(config.at(T), 2001, &[segments(3, 8)], true);
    assert_eq!(burst(&mut sender, &config), [(8001, 1000), (9001, 1000), (10_001, 1000)]);
    sender.on_selective_ack(config.at(T), 8001, &[segments(9, 10)], true);
    assert_eq!(sender.tcb.phase, Phase::NO_DUP_ACKS);
    assert_eq!(burst(&mut sender, &config), [(11_001, 1000)]);

    // Two segments beyond the hole were SACKed, during and after the recovery; the third is enough.
    sender.on_selective_ack(config.at(T), 8001, &[segments(9, 11)], true);
    assert_eq!(sender.tcb.counters.fast_retransmits, 1);
    sender.on_selective_ack(config.at(T), 8001, &[segments(9, 12)], true);
    assert_eq!(sender.tcb.counters.fast_retransmits, 2);
}

#[test]
fn a_recovery_has_one_rescue_even_when_nothing_is_sacked_any_more() {
    // Of eight segments the first, the third and the last are lost.
    let config = Config { variant: Variant::Sack, initial_window: 8000, ..Config::standard() };
    let mut sender = writing(&config, 8000);
    burst(&mut sender, &config);
    sender.on_selective_ack(config.at(T), 1, &[segments(1, 2), segments(3, 7)], true);
    assert_eq!(burst(&mut sender, &config), [(1, 1000), (2001, 1000)]);
    sender.on_selective_ack(config.at(T), 2001, &[segments(3, 7)], true);
    assert_eq!(burst(&mut sender, &config), [(7001, 1000)]);

    // Everything except the last segment is acknowledged, whose rescue retransmission is in flight.
    sender.on_ack(config.at(T), 7001, true);

    assert_eq!(burst(&mut sender, &config), []);
}

#[test]
fn the_least_round_trip_is_that_of_the_last_segment_that_an_ack_is_for() {
    // Eight segments a millisecond apart, and one ACK 10 ms after the last: the first segment has
    // waited for the others.
    let config = Config {
        variant: Variant::Rack,
        pacing: true,
        congestion: crate::Congestion::Bbr,
        initial_window: 8000,
        ..Config::standard()
    };
    let mut sender = writing(&config, 1000);
    for millis in 0..8 {
        let sent = sender
            .poll_transmit(config.at(T + Duration::from_millis(millis)), config.receive_window);
        assert_eq!(sent.map(|(seq, ..)| seq), Some(1 + 1000 * millis));
        sender.tcb.write(1000);
    }
    sender.on_selective_ack(config.at(T + Duration::from_millis(17)), 8001, &[], true);

    let Recovery::Rack(rack) = &sender.recovery else { panic!("the variant is Rack") };
    assert_eq!(rack.min_rtt(), Some(Duration::from_millis(10)));
}
