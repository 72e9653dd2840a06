//! Losses that only the retransmission timer repairs.

use airtcp_kernel::Duration;
use airtcp_tcp::{Config, DelayedAck, Variant};

use crate::pair::{End, Fate, Pair, Sent, at, config, lose_once};

/// Loses the segments of `A` with these indices.
fn lose_sent(indices: &'static [usize]) -> impl Fn(&Sent) -> Fate {
    move |sent| {
        let lost = sent.from == End::A && indices.contains(&sent.index);
        if lost { Fate::Lose } else { Fate::Deliver }
    }
}

fn stop_and_wait() -> Config {
    Config { receive_window: 1000, ..config() }
}

#[test]
fn rto_doubles_and_karn_ignores_retransmitted() {
    // The second segment is lost three times. One sample of 100 ms: RTO = 300; then 600, 1200 and
    // 2400. That value stays for the next new segment, because a retransmitted one gives no sample.
    // When the new one is lost too, it is retransmitted 2400 ms later, and RTO = 4800.
    let mut pair = Pair::sending_over(&stop_and_wait(), 5000, lose_sent(&[1, 2, 3, 5]));
    pair.run();

    pair.expect(
        "0 A 1:1001 ack 1
         50 B ack 1001
         100 A 1001:2001 ack 1 lost
         400 A 1001:2001 ack 1 lost
         1000 A 1001:2001 ack 1 lost
         2200 A 1001:2001 ack 1
         2250 B ack 2001
         2300 A 2001:3001 ack 1 lost
         4700 A 2001:3001 ack 1
         4750 B ack 3001
         4800 A 3001:4001 ack 1
         4850 B ack 4001
         4900 A 4001:5001 ack 1
         4950 B ack 5001",
    );
    let counters = pair.a.counters();
    assert_eq!((counters.timeouts, counters.retransmissions), (4, 4));
    assert_eq!((counters.segments_sent, counters.data_segments_sent), (9, 9));
}

#[test]
fn a_new_sample_ends_the_back_off() {
    // One timeout (RTO 300, then 600), then a segment that is delivered and timed: RTTVAR = 3/4 *
    // 50 = 37.5, RTO = 100 + 150. The next retransmission comes after 250 ms.
    let mut pair = Pair::sending_over(&stop_and_wait(), 4000, lose_sent(&[1, 4]));
    pair.run();

    pair.expect_since(
        100,
        "100 A 1001:2001 ack 1 lost
         400 A 1001:2001 ack 1
         450 B ack 2001
         500 A 2001:3001 ack 1
         550 B ack 3001
         600 A 3001:4001 ack 1 lost
         850 A 3001:4001 ack 1
         900 B ack 4001",
    );
}

#[test]
fn the_timeout_never_exceeds_its_maximum() {
    let config = Config { max_rto: Duration::from_millis(500), ..stop_and_wait() };
    let mut pair = Pair::sending_over(&config, 2000, lose_sent(&[1, 2, 3]));
    pair.run();

    // RTO = 300, then always 500.
    pair.expect_since(
        100,
        "100 A 1001:2001 ack 1 lost
         400 A 1001:2001 ack 1 lost
         900 A 1001:2001 ack 1 lost
         1400 A 1001:2001 ack 1
         1450 B ack 2001",
    );
}

#[test]
fn an_ack_of_new_data_restarts_the_timer_and_the_last_one_stops_it() {
    // RFC 6298 (5.3): two segments at 0, the second is lost. The timer of 1 s starts at 0, and
    // again at 100 with the RTO of the sample, 300 ms.
    let mut pair = Pair::sending_over(&config(), 2000, lose_once(&[1001]));
    pair.run_until(99);
    assert_eq!(pair.a.poll_timer(), at(1000));
    pair.run_until(100);
    assert_eq!(pair.a.poll_timer(), at(400));
    pair.run();

    // RFC 6298 (5.2).
    assert_eq!(pair.now, at(500));
    assert_eq!(pair.a.poll_timer(), airtcp_kernel::Time::NEVER);
}

#[test]
fn after_a_timeout_everything_goes_again_in_slow_start() {
    // Eight segments, all lost, but none of their retransmissions: go-back-N with 1, 2, 4 and then
    // the last one, and ssthresh = 4 segments. RTO = 1 s, because there is no sample.
    let config = Config { initial_window: 8000, ..config() };
    let numbers = &[1, 1001, 2001, 3001, 4001, 5001, 6001, 7001];
    let mut pair = Pair::sending_over(&config, 8000, lose_once(numbers));
    pair.run_until(1000);
    assert_eq!((pair.a.cwnd(), pair.a.ssthresh(), pair.a.flight_size()), (1000, 4000, 1000));
    pair.run();

    pair.expect_since(
        1000,
        "1000 A 1:1001 ack 1
         1050 B ack 1001
         1100 A 1001:2001 ack 1
         1100 A 2001:3001 ack 1
         1150 B ack 2001
         1150 B ack 3001
         1200 A 3001:4001 ack 1
         1200 A 4001:5001 ack 1
         1200 A 5001:6001 ack 1
         1200 A 6001:7001 ack 1
         1250 B ack 4001
         1250 B ack 5001
         1250 B ack 6001
         1250 B ack 7001
         1300 A 7001:8001 ack 1
         1350 B ack 8001",
    );
    assert_eq!(pair.a.counters().retransmissions, 8);
}

#[test]
fn go_back_n_skips_what_the_receiver_holds() {
    // The first two of four segments are lost: two duplicate ACKs and nothing new to send. After
    // the timeout the ACK of the second segment covers the third, already retransmitted and
    // answered with a duplicate ACK, and the fourth, which is not retransmitted.
    let config = Config { initial_window: 4000, ..config() };
    let mut pair = Pair::sending_over(&config, 4000, lose_once(&[1, 1001]));
    pair.run();

    pair.expect_since(
        1000,
        "1000 A 1:1001 ack 1
         1050 B ack 1001
         1100 A 1001:2001 ack 1
         1100 A 2001:3001 ack 1
         1150 B ack 4001
         1150 B ack 4001",
    );
}

#[test]
fn ssthresh_is_held_when_the_same_segment_times_out_again() {
    // Eight in flight: 4 segments at the first timeout. At the second one FlightSize is one
    // segment, and the threshold would fall to its minimum of 2.
    let config = Config { initial_window: 8000, ..config() };
    let rule = |sent: &Sent| {
        let lost = sent.from == End::A && sent.time < at(1001);
        if lost { Fate::Lose } else { Fate::Deliver }
    };
    let mut pair = Pair::sending_over(&config, 8000, rule);
    pair.run_until(3000);

    assert_eq!(pair.a.counters().timeouts, 2);
    assert_eq!(pair.a.ssthresh(), 4000);
}

#[test]
fn duplicates_of_a_go_back_n_do_not_start_a_fast_retransmit() {
    // 16 segments fill the receive window. The first four are lost, and so is the fast retransmit
    // of the first: a timeout at 1 s. Go-back-N sends 1; 2, 3; 4 to 7. The fourth is answered by
    // ack 16001, and the other three, which the receiver held, by three duplicates of it while new
    // data is in flight. These do not indicate a loss.
    for variant in [Variant::Reno, Variant::NewReno] {
        let config = Config { variant, initial_window: 16_000, receive_window: 16_000, ..config() };
        let rule = |sent: &Sent| {
            let first_four = sent.from == End::A && sent.segment.seq <= 3001 && sent.copy == 0;
            let fast_retransmit = sent.from == End::A && sent.segment.seq == 1 && sent.copy == 1;
            if first_four || fast_retransmit { Fate::Lose } else { Fate::Deliver }
        };
        let mut pair = Pair::sending_over(&config, 40_000, rule);
        pair.run();

        let counters = pair.a.counters();
        assert_eq!((counters.fast_retransmits, counters.timeouts), (1, 1));
        // The fast retransmit, and the seven segments of go-back-N.
        assert_eq!(counters.retransmissions, 8);
        let duplicates = pair.log.iter().filter(|(sent, _)| {
            sent.from == End::B && sent.time > at(1000) && sent.segment.ack == 16_001
        });
        assert_eq!(duplicates.count(), 4);
    }
}

#[test]
fn delayed_ack_timer_fires_before_the_least_timeout() {
    // Stop and wait with every = 2: each ACK is 100 ms late, each round trip takes 200 ms. The RTT
    // sample includes the delay, so there is no timeout.
    let delayed_ack = DelayedAck::every(2, Duration::from_millis(100));
    let config = Config { delayed_ack, ..stop_and_wait() };
    let mut pair = Pair::sending(&config, 20_000);
    pair.run();

    assert_eq!(pair.now, at(20 * 200));
    assert_eq!(pair.a.counters().timeouts, 0);
}
