use super::*;
use crate::config::{DelayedAck, Threshold, Variant};

const T: Time = Time::from_nanos(1_000_000_000);
/// `T` plus the timeout of 100 ms.
const T_AND_TIMEOUT: Time = Time::from_nanos(1_100_000_000);

fn every(every: u32) -> Config {
    Config {
        delayed_ack: DelayedAck::every(every, Duration::from_millis(100)),
        ..Config::standard()
    }
}

#[test]
fn each_segment_is_acknowledged_at_once_with_every_1() {
    let config = every(1);
    let mut receiver = Receiver::new(&config);

    receiver.on_data(config.at(T), 1, 11);

    assert_eq!(receiver.ack_owed(), AckOwed::Now);
    assert_eq!(receiver.delivered(), 10);
}

#[test]
fn every_second_full_segment_is_acknowledged_at_once() {
    let config = every(2);
    let mut receiver = Receiver::new(&config);

    receiver.on_data(config.at(T), 1, 1001);
    assert_eq!(receiver.ack_owed(), AckOwed::Until(T_AND_TIMEOUT));

    receiver.on_data(config.at(T), 1001, 2001);
    assert_eq!(receiver.ack_owed(), AckOwed::Now);
    assert_eq!(receiver.deadline(), Time::NEVER);

    receiver.on_ack_sent(T);
    receiver.on_data(config.at(T), 2001, 3001);
    assert_eq!(receiver.ack_owed(), AckOwed::Until(T_AND_TIMEOUT));
}

#[test]
fn the_timer_runs_from_the_first_unacknowledged_segment() {
    let config = every(3);
    let mut receiver = Receiver::new(&config);

    receiver.on_data(config.at(T), 1, 1001);
    receiver.on_data(config.at(T + Duration::from_millis(60)), 1001, 2001);
    assert_eq!(receiver.deadline(), T_AND_TIMEOUT);

    receiver.on_timer(config.at(T + Duration::from_millis(99)));
    assert_eq!(receiver.deadline(), T_AND_TIMEOUT);
    receiver.on_timer(config.at(T_AND_TIMEOUT));
    assert_eq!(receiver.ack_owed(), AckOwed::Now);
}

#[test]
fn a_gap_gives_duplicate_acks_and_filling_any_part_an_ack_at_once() {
    let config = every(2);
    let mut receiver = Receiver::new(&config);

    receiver.on_data(config.at(T), 2001, 3001);
    assert_eq!((receiver.ack_owed(), receiver.rcv_nxt()), (AckOwed::Bare, 1));
    receiver.on_ack_sent(T);

    // Only the first half of the gap is filled: data is still out of order, and the ACK is not
    // delayed.
    receiver.on_data(config.at(T), 1, 1001);
    assert_eq!((receiver.ack_owed(), receiver.rcv_nxt()), (AckOwed::Now, 1001));
    receiver.on_ack_sent(T);

    receiver.on_data(config.at(T), 1001, 2001);
    assert_eq!((receiver.ack_owed(), receiver.rcv_nxt()), (AckOwed::Now, 3001));
}

#[test]
fn old_data_is_acknowledged_at_once_and_delivered_once() {
    let config = every(2);
    let mut receiver = Receiver::new(&config);
    receiver.on_data(config.at(T), 1, 1001);
    receiver.on_ack_sent(T);

    receiver.on_data(config.at(T), 1, 1001);
    assert_eq!((receiver.ack_owed(), receiver.delivered()), (AckOwed::Bare, 1000));
    receiver.on_ack_sent(T);

    receiver.on_data(config.at(T), 501, 1501);
    assert_eq!((receiver.ack_owed(), receiver.delivered()), (AckOwed::Now, 1500));
}

#[test]
fn what_lies_beyond_the_window_is_not_held() {
    let config = Config { receive_window: 2500, ..every(1) };
    let mut receiver = Receiver::new(&config);

    receiver.on_data(config.at(T), 1001, 2001);
    receiver.on_data(config.at(T), 2001, 3001);
    receiver.on_data(config.at(T), 3001, 4001);
    receiver.on_data(config.at(T), 1, 1001);

    assert_eq!(receiver.delivered(), 2500);
}
/// Returns whether an ACK is due after each of `segments` full-sized segments in order.
fn owed_after(receiver: &mut Receiver, config: &Config, segments: u64) -> Vec<bool> {
    (0..segments)
        .map(|_| {
            let next = receiver.rcv_nxt();
            receiver.on_data(config.at(T), next, next + 1000);
            let owed = receiver.ack_owed() == AckOwed::Now;
            if owed {
                receiver.on_ack_sent(T);
            }
            owed
        })
        .collect()
}

#[test]
fn thresholds_delay_more_as_more_arrives() {
    let later =
        [(2, 2), (5, 3)].map(|(from_segment, every)| Threshold { from_segment, every }).to_vec();
    let delayed_ack = DelayedAck { later, ..every(1).delayed_ack };
    let config = Config { delayed_ack, ..Config::standard() };

    // One ACK per segment below number 2; 2 and 3 share one; 4 waits, and from number 5 on three
    // share one.
    assert_eq!(
        owed_after(&mut Receiver::new(&config), &config, 9),
        [true, false, true, false, false, true, false, false, true]
    );
}

#[test]
fn skipping_starts_after_its_segment_and_no_timer_runs() {
    let ack_skip = Some(AckSkip { skip: 2, adaptive: None, after_segment: 3 });
    let config = Config { ack_skip, ..every(1) };
    let mut receiver = Receiver::new(&config);

    assert_eq!(
        owed_after(&mut receiver, &config, 8),
        [true, true, true, false, false, true, false, false]
    );
    assert_eq!((receiver.ack_owed(), receiver.deadline()), (AckOwed::None, Time::NEVER));
}

#[test]
fn an_acknowledgment_at_once_is_not_skipped_and_begins_the_count_anew() {
    let ack_skip = Some(AckSkip { skip: 2, adaptive: None, after_segment: 0 });
    let config = Config { ack_skip, ..every(1) };
    let mut receiver = Receiver::new(&config);
    assert_eq!(owed_after(&mut receiver, &config, 2), [false, false]);

    // Beyond a gap, into the gap, and old data.
    receiver.on_data(config.at(T), 3001, 4001);
    assert_eq!(receiver.ack_owed(), AckOwed::Bare);
    receiver.on_ack_sent(T);
    receiver.on_data(config.at(T), 2001, 3001);
    assert_eq!((receiver.ack_owed(), receiver.rcv_nxt()), (AckOwed::Now, 4001));
    receiver.on_ack_sent(T);
    receiver.on_data(config.at(T), 2001, 3001);
    assert_eq!(receiver.ack_owed(), AckOwed::Bare);
    receiver.on_ack_sent(T);

    assert_eq!(owed_after(&mut receiver, &config, 3), [false, false, true]);
}

#[test]
fn skipping_counts_what_a_delayed_acknowledgment_policy_asks_for() {
    let ack_skip = Some(AckSkip { skip: 1, adaptive: None, after_segment: 0 });
    let config = Config { ack_skip, ..every(2) };
    let mut receiver = Receiver::new(&config);

    // Due at 2, 4, 6 and 8; every second one is sent.
    let owed = [false, false, false, true, false, false, false, true];
    assert_eq!(owed_after(&mut receiver, &config, 8), owed);

    // The timer counts too: its first ACK is omitted, the second is sent.
    for owed in [AckOwed::None, AckOwed::Now] {
        let next = receiver.rcv_nxt();
        receiver.on_data(config.at(T), next, next + 1000);
        assert_eq!(receiver.ack_owed(), AckOwed::Until(T_AND_TIMEOUT));
        receiver.on_timer(config.at(T_AND_TIMEOUT));
        assert_eq!(receiver.ack_owed(), owed);
    }
}

#[test]
fn what_is_held_is_told_without_payload() {
    let config = Config { variant: Variant::Sack, ..Config::standard() };
    let mut receiver = Receiver::new(&config);
    receiver.on_data(config.at(T), 2001, 3001);
    receiver.on_data(config.at(T), 4001, 5001);
    let (blocks, count) = receiver.sack_blocks();
    let held = [Block { start: 4001, end: 5001 }, Block { start: 2001, end: 3001 }];
    assert_eq!((&blocks[..count], receiver.has_gap()), (&held[..], true));

    // Part of the gaps is filled; the ACK must report what is still held.
    receiver.on_data(config.at(T), 1, 2001);
    assert_eq!((receiver.rcv_nxt(), receiver.ack_owed()), (3001, AckOwed::Bare));
    receiver.on_data(config.at(T), 3001, 4001);
    assert_eq!((receiver.rcv_nxt(), receiver.ack_owed()), (5001, AckOwed::Now));
    assert_eq!((receiver.sack_blocks().1, receiver.has_gap()), (0, false));
}

#[test]
fn a_window_without_bound_holds_what_comes() {
    let config = Config { receive_window: u64::MAX, ..every(1) };
    let mut receiver = Receiver::new(&config);

    receiver.on_data(config.at(T), 1 << 50, (1 << 50) + 1000);
    receiver.on_data(config.at(T), 1, 1 << 50);

    assert_eq!(receiver.rcv_nxt(), (1 << 50) + 1000);
}
