//! Losses revealed by duplicate ACKs.

use airtcp_kernel::Duration;
use airtcp_tcp::{Config, Variant};

use crate::pair::{End, Fate, Pair, Sent, config, lose_once};

/// Eight segments in flight from the start, in congestion avoidance.
fn eight(variant: Variant) -> Config {
    Config { variant, initial_window: 8000, initial_ssthresh: Some(8000), ..config() }
}

#[test]
fn third_duplicate_ack_retransmits() {
    for variant in [Variant::Reno, Variant::NewReno] {
        let config = Config { initial_window: 4000, ..eight(variant) };
        let mut pair = Pair::sending_over(&config, 4000, lose_once(&[1]));
        pair.run();

        pair.expect(
            "0 A 1:1001 ack 1 lost
             0 A 1001:2001 ack 1
             0 A 2001:3001 ack 1
             0 A 3001:4001 ack 1
             50 B ack 1
             50 B ack 1
             50 B ack 1
             100 A 1:1001 ack 1
             150 B ack 4001",
        );
        let counters = pair.a.counters();
        assert_eq!((counters.fast_retransmits, counters.timeouts), (1, 0));
        // Half of the 4 in flight. At the end nothing is in flight, so NewReno's window is max(0,
        // 1) + 1 segments.
        assert_eq!((pair.a.ssthresh(), pair.a.cwnd()), (2000, 2000));
    }
}

#[test]
fn two_duplicate_acks_do_not_retransmit() {
    let config = Config { initial_window: 3000, ..eight(Variant::NewReno) };
    let mut pair = Pair::sending_over(&config, 3000, lose_once(&[1]));
    pair.run_until(999);

    assert_eq!(pair.a.counters().retransmissions, 0);
    // The initial RTO is 1 s.
    pair.run_until(1000);
    assert_eq!(pair.a.counters().timeouts, 1);
}

#[test]
fn limited_transmit_makes_up_the_third_duplicate_ack() {
    // Three segments are in flight and the first is lost: two duplicate ACKs. They allow two new
    // segments, which bring the third duplicate a round trip later, long before the timer.
    // FlightSize is then 3, without those two: ssthresh = max(1.5, 2) segments.
    let config = Config { initial_window: 3000, ..eight(Variant::NewReno) };
    let mut pair = Pair::sending_over(&config, 5000, lose_once(&[1]));
    pair.run();

    pair.expect_since(
        50,
        "50 B ack 1
         50 B ack 1
         100 A 3001:4001 ack 1
         100 A 4001:5001 ack 1
         150 B ack 1
         150 B ack 1
         200 A 1:1001 ack 1
         250 B ack 5001",
    );
    assert_eq!(pair.a.ssthresh(), 2000);
}

#[test]
fn what_limited_transmit_sent_is_not_in_the_flight_size() {
    // Eight segments are in flight and the first is lost: seven duplicate ACKs. Limited transmit
    // sends two new segments, and the third duplicate halves 8 segments, not 10. cwnd = 4 + 3, and
    // four more duplicates make it 11, which allows one more beyond the 10 in flight.
    let mut pair = Pair::sending_over(&eight(Variant::NewReno), u64::MAX, lose_once(&[1]));
    pair.run_until(100);

    assert_eq!((pair.a.ssthresh(), pair.a.cwnd(), pair.a.flight_size()), (4000, 11_000, 11_000));
    pair.expect_since(
        100,
        "100 A 8001:9001 ack 1
         100 A 9001:10001 ack 1
         100 A 1:1001 ack 1
         100 A 10001:11001 ack 1",
    );
}

#[test]
fn newreno_partial_ack_retransmits_next_hole() {
    // Eight segments are in flight, the first and the third are lost: six duplicate ACKs. At 200
    // the duplicates of the two segments of limited transmit arrive, then ack 2001, which is
    // partial: recover is 10001. The next hole is filled at once, without three further duplicates.
    let config = eight(Variant::NewReno);
    let mut pair = Pair::sending_over(&config, 10_000, lose_once(&[1, 2001]));
    pair.run();

    pair.expect_since(
        100,
        "100 A 8001:9001 ack 1
         100 A 9001:10001 ack 1
         100 A 1:1001 ack 1
         150 B ack 1
         150 B ack 1
         150 B ack 2001
         200 A 2001:3001 ack 1
         250 B ack 10001",
    );
    assert_eq!(pair.a.counters().fast_retransmits, 1);
    assert_eq!(pair.a.counters().timeouts, 0);
}

#[test]
fn newreno_halves_once_for_all_losses_of_a_window() {
    let config = eight(Variant::NewReno);
    let mut pair = Pair::sending_over(&config, 40_000, lose_once(&[1, 2001, 4001]));
    pair.run();

    let counters = pair.a.counters();
    assert_eq!((counters.fast_retransmits, counters.retransmissions, counters.timeouts), (1, 3, 0));
    assert_eq!(pair.a.ssthresh(), 4000);
}

#[test]
fn reno_leaves_recovery_on_partial_ack() {
    // The same losses as in `newreno_partial_ack_retransmits_next_hole`. The partial ack 2001 at
    // 200 ends Reno's recovery, cwnd = ssthresh = 4000 with 8 in flight: nothing may be sent, so
    // there are no duplicates. The timer must repair it at 1200. It was restarted at 200 with the
    // initial 1 s, because by Karn's algorithm there is no RTT sample.
    let config = eight(Variant::Reno);
    let mut pair = Pair::sending_over(&config, 10_000, lose_once(&[1, 2001]));
    pair.run_until(300);
    assert_eq!((pair.a.cwnd(), pair.a.ssthresh()), (4000, 4000));
    pair.run();

    pair.expect_since(
        100,
        "100 A 8001:9001 ack 1
         100 A 9001:10001 ack 1
         100 A 1:1001 ack 1
         150 B ack 1
         150 B ack 1
         150 B ack 2001
         1200 A 2001:3001 ack 1
         1250 B ack 10001",
    );
    assert_eq!(pair.a.counters().fast_retransmits, 1);
    assert_eq!(pair.a.counters().timeouts, 1);
}

#[test]
fn reno_halves_twice_when_duplicates_reveal_a_second_loss() {
    // Sixteen segments are in flight, the first and the ninth are lost: 14 duplicate ACKs, 2
    // segments by limited transmit, cwnd = 8 + 3 + 11 = 22 with 18 in flight: 4 more. All these
    // arrive beyond the second hole, so duplicates follow the partial ack 8001. Reno starts a
    // second fast retransmit and halves again.
    let config = Config { initial_window: 16_000, ..eight(Variant::Reno) };
    let mut pair = Pair::sending_over(&config, 60_000, lose_once(&[1, 8001]));
    pair.run();

    let counters = pair.a.counters();
    assert_eq!((counters.fast_retransmits, counters.timeouts), (2, 0));
    assert_eq!(pair.b.delivered(), 60_000);
}

#[test]
fn the_very_first_segment_can_be_retransmitted_fast() {
    // A literal reading of RFC 6582 (recover = ISN, "more than recover") would wait for the timer.
    let mut pair = Pair::sending_over(&eight(Variant::NewReno), 8000, lose_once(&[1]));
    pair.run();

    assert_eq!(pair.a.counters().timeouts, 0);
}

#[test]
fn newreno_timer_is_reset_by_the_first_partial_ack_alone() {
    // The Impatient variant. After a first exchange the RTO is 350 ms, the minimum. From T = 200 on
    // five of 16 segments are lost and repaired one per round trip, at T + 100, 200, 300, 400 and
    // 500. Only the first partial ACK, at T + 200, restarts the timer. It expires at T + 550, 50 ms
    // before the ACK of the fifth hole.
    let config = Config {
        initial_window: 16_000,
        min_rto: Duration::from_millis(350),
        ..eight(Variant::NewReno)
    };
    let numbers = &[101, 2101, 4101, 6101, 8101];
    let mut pair = Pair::sending_over(&config, 100, lose_once(numbers));
    pair.run_until(200);
    pair.a.write(16_000);
    pair.run_until(749);
    assert_eq!((pair.a.counters().retransmissions, pair.a.counters().timeouts), (5, 0));
    pair.run_until(750);

    assert_eq!(pair.a.counters().timeouts, 1);
}

#[test]
fn reordering_by_two_does_not_retransmit_and_by_three_does() {
    // `n` segments overtake the first one, which is 1 ms late.
    for (overtaking, fast_retransmits) in [(2, 0), (3, 1)] {
        let config = Config { initial_window: 1000 * (overtaking + 1), ..eight(Variant::NewReno) };
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
