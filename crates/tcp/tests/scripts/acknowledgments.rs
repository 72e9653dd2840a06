//! When the receiver sends ACKs.

use airtcp_kernel::Duration;
use airtcp_tcp::{AckSkip, Config, DelayedAck, Flags, Rules, Segmentation, Threshold, Variant};

use crate::pair::{End, Fate, Pair, Sent, config, lose_once};

fn every(every: u32) -> Config {
    Config {
        initial_window: 4000,
        delayed_ack: DelayedAck::every(every, Duration::from_millis(100)),
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

    // Three segments arrive at 50; the ACK of the third is delayed by 100 ms.
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
    // Three writes make three small segments, much less than two full ones; the timer of the first
    // expires.
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
    // The first of four segments is 20 ms late.
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
    // The network delivers the only segment a second time while its ACK is delayed.
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

#[test]
fn thresholds_ask_for_fewer_acks_as_the_transfer_goes_on() {
    // Altman and Jimenez 2003, as in Miorandi et al. 2006, 4.3: each segment before number 2, then
    // every second, from 5 on every third, from 9 on every fourth.
    let later = [(2, 2), (5, 3), (9, 4)]
        .map(|(from_segment, every)| Threshold { from_segment, every })
        .to_vec();
    let delayed_ack = DelayedAck { later, ..every(1).delayed_ack };
    let config = Config { initial_window: 15_000, delayed_ack, ..every(1) };
    let mut pair = Pair::sending(&config, 15_000);
    pair.run();

    pair.expect_since(
        50,
        "50 B ack 1001
         50 B ack 3001
         50 B ack 6001     // number 5 finds two unacknowledged, and three are wanted
         50 B ack 10001    // number 9 finds three, and four are wanted
         50 B ack 14001
         150 B ack 15001",
    );
}

fn skipping(skip: u32, after_segment: u64) -> Config {
    Config {
        variant: Variant::Reno,
        ack_skip: Some(AckSkip { skip, adaptive: None, after_segment }),
        ..every(1)
    }
}

#[test]
fn skipping_leaves_out_acks_after_its_segment() {
    // Gopal et al. 2004, section III: skipping starts "only after TCP sequence number crosses a
    // threshold", so the ACK of that segment itself is sent.
    let config = Config { initial_window: 10_000, ..skipping(2, 3) };
    let mut pair = Pair::sending(&config, 10_000);
    pair.run();

    // The receiver has no timer for the last segment. The sender's RTO, 300 ms from 100 on,
    // retransmits it, and the receiver acknowledges an old segment at once.
    pair.expect_since(
        50,
        "50 B ack 1001
         50 B ack 2001
         50 B ack 3001
         50 B ack 6001
         50 B ack 9001
         400 A 9001:10001 ack 1
         450 B ack 10001",
    );
}

#[test]
fn skipping_acknowledges_around_a_gap_at_once() {
    let config = Config { initial_window: 8000, ..skipping(3, 0) };
    let mut pair = Pair::sending_over(&config, 8000, lose_once(&[2001]));
    pair.run();

    pair.expect_since(
        50,
        "50 B ack 2001
         50 B ack 2001
         50 B ack 2001
         50 B ack 2001
         50 B ack 2001
         100 A 2001:3001 ack 1
         150 B ack 8001",
    );
}

#[test]
fn a_window_below_what_an_ack_takes_stalls_the_session() {
    // Gopal et al. 2004, section IV.A: "Multiple timeouts severely reduce TCP throughput". With two
    // of three ACKs omitted, two segments in flight get no ACK. The timer retransmits the first;
    // the receiver acknowledges this old segment, and with it the other one. The window, one
    // segment after a timeout, is two again, and so on. No segment gives an RTT sample, because the
    // first of each pair is sent twice. The timeout therefore doubles each time and stays at its
    // maximum: two segments a minute.
    let config = Config { initial_window: 2000, max_rto: Duration::from_secs(4), ..skipping(2, 0) };
    let mut pair = Pair::sending(&config, 10_000);
    pair.run();

    pair.expect(
        "0 A 1:1001 ack 1
         0 A 1001:2001 ack 1
         1000 A 1:1001 ack 1
         1050 B ack 2001
         1100 A 2001:3001 ack 1
         1100 A 3001:4001 ack 1
         3100 A 2001:3001 ack 1
         3150 B ack 4001
         3200 A 4001:5001 ack 1
         3200 A 5001:6001 ack 1
         7200 A 4001:5001 ack 1
         7250 B ack 6001
         7300 A 6001:7001 ack 1
         7300 A 7001:8001 ack 1
         11300 A 6001:7001 ack 1
         11350 B ack 8001
         11400 A 8001:9001 ack 1
         11400 A 9001:10001 ack 1
         15400 A 8001:9001 ack 1
         15450 B ack 10001",
    );
}

/// Six segments fit into the window, so every fourth fills more than half of it. Linux's receiver
/// sends its quick ACKs first; after that it waits for a second segment, unless the segment carries
/// PSH.
#[test]
fn a_sender_without_buffers_asks_after_half_a_window_and_at_the_end() {
    let linux = |segmentation| {
        let forty = Duration::from_millis(40);
        Config {
            variant: Variant::Sack,
            receive_window: 6000,
            initial_window: 6000,
            rules: Rules { segmentation, ..Rules::standard() },
            delayed_ack: DelayedAck { adaptive: true, ..DelayedAck::every(2, forty) },
            ..config()
        }
    };
    let asking = |segmentation| {
        let mut pair = Pair::sending(&linux(segmentation), 10_500);
        pair.run();
        let sent = pair.log.iter().map(|(sent, _)| sent);
        let asking = sent.filter(|sent| sent.segment.flags.contains(Flags::PSH));
        let asking: Vec<u64> = asking.map(|sent| sent.segment.seq).collect();
        (asking, pair)
    };

    let (none, pair) = asking(Segmentation::Single);
    assert_eq!(none, []);
    // Three quick ACKs, then pairs; the sixth and the last segment wait for 40 ms.
    assert_eq!(
        acks_of(&pair),
        [
            "50 B ack 1001",
            "50 B ack 2001",
            "50 B ack 3001",
            "50 B ack 5001",
            "90 B ack 6001",
            "150 B ack 8001",
            "150 B ack 10001",
            "190 B ack 10501",
        ],
    );

    let (some, pair) = asking(Segmentation::LinuxSingle);
    assert_eq!(some, [3001, 7001, 10_001]);
    // The fourth carries PSH, so the fifth and the sixth are a pair; the eighth completes a pair
    // anyway.
    assert_eq!(
        acks_of(&pair),
        [
            "50 B ack 1001",
            "50 B ack 2001",
            "50 B ack 3001",
            "50 B ack 4001",
            "50 B ack 6001",
            "150 B ack 8001",
            "150 B ack 10001",
            "150 B ack 10501",
        ],
    );
}

fn acks_of(pair: &Pair<'_>) -> Vec<String> {
    let transcript = pair.transcript_since(50);
    transcript.lines().filter(|line| line.contains(" B ")).map(Into::into).collect()
}
