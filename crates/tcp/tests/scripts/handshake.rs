//! Opening a connection, with and without losses.

use airtcp_kernel::Duration;
use airtcp_tcp::{Config, DelayedAck, Flags, Handshake};

use crate::pair::{End, Fate, Pair, Sent, config};

fn opening(handshake: Handshake) -> Config {
    Config { handshake, ..config() }
}

/// Loses the first `count` segments of `end`.
fn lose_first(end: End, count: usize) -> impl Fn(&Sent) -> Fate {
    move |sent| if sent.from == end && sent.index < count { Fate::Lose } else { Fate::Deliver }
}

#[test]
fn without_a_handshake_data_goes_at_once() {
    let mut pair = Pair::sending(&opening(Handshake::None), 1500);
    pair.run();

    pair.expect(
        "0 A 1:1001 ack 1
         0 A 1001:1501 ack 1
         50 B ack 1001
         50 B ack 1501",
    );
}

#[test]
fn three_way_handshake_data_rides_on_the_third_segment() {
    let mut pair = Pair::sending(&opening(Handshake::ThreeWay), 1500);
    pair.run();

    pair.expect(
        "0 A SYN 0
         50 B SYN 0 ack 1
         100 A 1:1001 ack 1
         100 A 1001:1501 ack 1
         150 B ack 1001
         150 B ack 1501",
    );
    assert_eq!((pair.a.acked(), pair.b.delivered()), (1500, 1500));
}

#[test]
fn three_way_handshake_without_a_request_acknowledges_and_the_passive_end_sends() {
    let mut pair = Pair::new(&opening(Handshake::ThreeWay), |_| Fate::Deliver);
    pair.b.write(1000);
    pair.run();

    pair.expect(
        "0 A SYN 0
         50 B SYN 0 ack 1
         100 A ack 1
         150 B 1:1001 ack 1
         200 A ack 1001",
    );
}

#[test]
fn a_page_carries_the_acknowledgment_of_the_request() {
    // With a delayed ACK the server's response comes before its timer: no segment only for the ACK.
    let delayed_ack = DelayedAck::every(2, Duration::from_millis(200));
    let config = Config { delayed_ack, ..opening(Handshake::ThreeWay) };
    let mut pair = Pair::sending(&config, 300);
    pair.run_until(160);
    pair.b.write(2000);
    pair.run();

    pair.expect_since(
        100,
        "100 A 1:301 ack 1
         160 B 1:1001 ack 301
         160 B 1001:2001 ack 301
         210 A ack 2001",
    );
}

#[test]
fn two_way_handshake_is_a_syn_and_its_ack() {
    let mut pair = Pair::sending(&opening(Handshake::TwoWay), 1000);
    pair.run();

    pair.expect(
        "0 A SYN 0
         50 B ack 1
         100 A 1:1001 ack 1
         150 B ack 1001",
    );
}

#[test]
fn the_syn_is_timed() {
    for handshake in [Handshake::ThreeWay, Handshake::TwoWay] {
        let rule = |sent: &Sent| {
            let data = sent.from == End::A && sent.segment.len > 0 && sent.copy == 0;
            if data { Fate::Lose } else { Fate::Deliver }
        };
        let mut pair = Pair::sending_over(&opening(handshake), 1000, rule);
        pair.run();

        // RTT = 100 ms: RTO = 100 + 4 * 50 = 300 ms after 100 ms.
        pair.expect_since(
            100,
            "100 A 1:1001 ack 1 lost
             400 A 1:1001 ack 1
             450 B ack 1001",
        );
    }
}

#[test]
fn syn_lost_recovers_with_one_segment_and_a_timeout_of_three_seconds() {
    // The SYN is retransmitted after 1 s. RFC 5681 section 3.1: the initial window is then one
    // segment. RFC 6298 (5.7): the RTO is 3 s when data transmission begins, so the lost segment,
    // sent at 1.1 s, is retransmitted at 4.1 s. By Karn's algorithm there is no RTT sample.
    // Meanwhile the passive end, which has received nothing since its own SYN, retransmits that
    // after 1 s.
    let rule = |sent: &Sent| {
        let lost = sent.from == End::A && (sent.index == 0 || sent.index == 2);
        if lost { Fate::Lose } else { Fate::Deliver }
    };
    let mut pair = Pair::sending_over(&opening(Handshake::ThreeWay), 3000, rule);
    pair.run();

    pair.expect(
        "0 A SYN 0 lost
         1000 A SYN 0
         1050 B SYN 0 ack 1
         1100 A 1:1001 ack 1 lost
         2050 B SYN 0 ack 1
         2100 A ack 1
         4100 A 1:1001 ack 1
         4150 B ack 1001
         4200 A 1001:2001 ack 1
         4200 A 2001:3001 ack 1
         4250 B ack 2001
         4250 B ack 3001",
    );
    assert_eq!(pair.a.counters().timeouts, 2);
    assert_eq!(pair.a.counters().retransmissions, 2);
}

#[test]
fn the_syn_timer_doubles() {
    let mut pair = Pair::sending_over(&opening(Handshake::TwoWay), 1000, lose_first(End::A, 3));
    pair.run();

    // 1, 2 and 4 seconds apart.
    pair.expect(
        "0 A SYN 0 lost
         1000 A SYN 0 lost
         3000 A SYN 0 lost
         7000 A SYN 0
         7050 B ack 1
         7100 A 1:1001 ack 1
         7150 B ack 1001",
    );
}

#[test]
fn a_lost_answer_is_repeated_by_the_timer_of_either_end() {
    // Both timers run for 1 s, and the passive one started 50 ms later. At 1050 the second SYN
    // arrives and the timer expires; each of them repeats the SYN+ACK. The active end accepts the
    // first and acknowledges the other.
    let mut pair = Pair::sending_over(&opening(Handshake::ThreeWay), 1000, lose_first(End::B, 1));
    pair.run();

    pair.expect(
        "0 A SYN 0
         50 B SYN 0 ack 1 lost
         1000 A SYN 0
         1050 B SYN 0 ack 1
         1050 B SYN 0 ack 1
         1100 A 1:1001 ack 1
         1100 A ack 1
         1150 B ack 1001",
    );
}

#[test]
fn a_lost_third_segment_is_made_good_by_the_data_that_follows() {
    // The third segment carried the first data; the second data segment opens the passive end.
    let rule = |sent: &Sent| {
        let lost = sent.from == End::A && sent.index == 1;
        if lost { Fate::Lose } else { Fate::Deliver }
    };
    let mut pair = Pair::sending_over(&opening(Handshake::ThreeWay), 2000, rule);
    pair.run();

    // RTO = 300 ms from the RTT sample of the SYN.
    pair.expect_since(
        100,
        "100 A 1:1001 ack 1 lost
         100 A 1001:2001 ack 1
         150 B ack 1
         400 A 1:1001 ack 1
         450 B ack 2001",
    );
}

#[test]
fn a_lost_third_segment_without_data_is_asked_for_again() {
    let rule = |sent: &Sent| {
        let lost = sent.from == End::A && sent.index == 1;
        if lost { Fate::Lose } else { Fate::Deliver }
    };
    let mut pair = Pair::new(&opening(Handshake::ThreeWay), rule);
    pair.b.write(2000);
    pair.run();

    // The passive end's SYN is unacknowledged for 1 s, so its initial window is one segment.
    pair.expect(
        "0 A SYN 0
         50 B SYN 0 ack 1
         100 A ack 1 lost
         1050 B SYN 0 ack 1
         1100 A ack 1
         1150 B 1:1001 ack 1
         1200 A ack 1001
         1250 B 1001:2001 ack 1
         1300 A ack 2001",
    );
}

#[test]
fn a_lost_two_way_answer_is_made_good_by_the_second_syn() {
    let mut pair = Pair::sending_over(&opening(Handshake::TwoWay), 1000, lose_first(End::B, 1));
    pair.run();

    pair.expect(
        "0 A SYN 0
         50 B ack 1 lost
         1000 A SYN 0
         1050 B ack 1
         1100 A 1:1001 ack 1
         1150 B ack 1001",
    );
}

#[test]
fn doubled_control_segments_change_nothing() {
    for handshake in [Handshake::ThreeWay, Handshake::TwoWay] {
        let twice = vec![Duration::ZERO, Duration::from_millis(5)];
        let rule = |sent: &Sent| {
            let syn = sent.segment.flags.contains(Flags::SYN);
            if syn { Fate::Late(twice.clone()) } else { Fate::Deliver }
        };
        let mut pair = Pair::sending_over(&opening(handshake), 50_000, rule);
        pair.run();

        assert_eq!(pair.b.delivered(), 50_000);
        assert_eq!(pair.a.counters().timeouts, 0);
        assert_eq!(pair.a.counters().retransmissions, 0);
    }
}
