//! ECN marks instead of drops (RFC 3168). The round trip is 100 ms.

use airtcp_kernel::Duration;
use airtcp_tcp::{Config, Congestion, Flags, Handshake, LossState, Variant};

use crate::pair::{End, Fate, Pair, Sent, config};

fn knows(segments: u64) -> Config {
    Config {
        ecn: true,
        initial_window: 1000 * segments,
        initial_ssthresh: Some(1000 * segments),
        ..config()
    }
}

/// Returns a line per segment since `millis`: time in ms, sender, segment, and the ECN bits E, W,
/// ECT and CE.
fn bits(pair: &Pair<'_>, millis: u64) -> Vec<String> {
    let is_since = |sent: &Sent| sent.time.as_nanos() >= millis * 1_000_000;
    let of = |sent: &Sent| {
        let Sent { time, from, segment, .. } = sent;
        let mut line = format!("{} {from:?} {segment}", time.as_nanos() / 1_000_000);
        for (bit, name) in
            [(Flags::ECE, " E"), (Flags::CWR, " W"), (Flags::ECT, " ECT"), (Flags::CE, " CE")]
        {
            line += if segment.flags.contains(bit) { name } else { "" };
        }
        line
    };
    pair.log.iter().map(|(sent, _)| sent).filter(|sent| is_since(sent)).map(of).collect()
}

/// Marks the data segments with these first sequence numbers.
fn mark(numbers: &'static [u64]) -> impl Fn(&Sent) -> Fate {
    move |sent| {
        let is_one = sent.from == End::A && numbers.contains(&sent.segment.seq);
        if is_one { Fate::Mark } else { Fate::Deliver }
    }
}

#[test]
fn the_handshake_agrees_and_new_data_alone_is_ect() {
    let config = Config { handshake: Handshake::ThreeWay, ..knows(2) };
    let mut pair = Pair::sending(&config, 1000);
    pair.run();
    assert_eq!(
        bits(&pair, 0),
        ["0 A SYN 0 E W", "50 B SYN 0 ack 1 E", "100 A 1:1001 ack 1 ECT", "150 B ack 1001"]
    );
}

#[test]
fn a_syn_that_was_lost_is_no_reduction() {
    let config = Config { handshake: Handshake::ThreeWay, ..knows(2) };
    let rule = |sent: &Sent| {
        if sent.from == End::A && sent.index == 0 { Fate::Lose } else { Fate::Deliver }
    };
    let mut pair = Pair::sending_over(&config, 1000, rule);
    pair.run();
    assert!(
        bits(&pair, 1100).contains(&"1100 A 1:1001 ack 1 ECT".to_owned()),
        "{:?}",
        pair.log.len()
    );
}

#[test]
fn a_mark_is_echoed_until_the_sender_says_that_its_window_is_reduced() {
    // Four segments, the first marked. Its ACK carries the echo, and the window falls from 4 to 2
    // segments: two ACKs release nothing, and each of the other two releases one segment. The first
    // of these has CWR, and its ACK, at 250, no longer has the echo. The echoes in between do not
    // reduce the window again.
    let mut pair = Pair::sending_over(&knows(4), u64::MAX, mark(&[1]));
    pair.run_until(255);
    assert_eq!(
        bits(&pair, 50),
        [
            "50 B ack 1001 E",
            "50 B ack 2001 E",
            "50 B ack 3001 E",
            "50 B ack 4001 E",
            "100 A 4001:5001 ack 1 W ECT",
            "100 A 5001:6001 ack 1 ECT",
            "150 B ack 5001",
            "150 B ack 6001",
            "200 A 6001:7001 ack 1 ECT",
            "200 A 7001:8001 ack 1 ECT",
            "250 B ack 7001",
            "250 B ack 8001",
        ]
    );
    assert_eq!(pair.a.ssthresh(), 2000);
    assert_eq!((pair.a.ecn_counters().reductions, pair.b.ecn_counters().marks), (1, 1));
    assert_eq!((pair.a.counters().retransmissions, pair.b.delivered()), (0, 8000));
}

#[test]
fn a_window_is_reduced_once_for_marks_in_it_and_again_for_one_in_the_next() {
    // 16 segments. Three marks in the first window leave 8; another one on the ninth segment after
    // it, sent at 100, leaves 4.
    let mut pair = Pair::sending_over(&knows(16), u64::MAX, mark(&[1, 5001, 15_001]));
    pair.run_until(199);
    assert_eq!((pair.a.ecn_counters().reductions, pair.a.ssthresh()), (1, 8000));

    let mut pair = Pair::sending_over(&knows(16), u64::MAX, mark(&[1, 5001, 15_001, 17_001]));
    pair.run_until(255);
    assert_eq!((pair.a.ecn_counters().reductions, pair.a.ssthresh()), (2, 4000));
}

#[test]
fn an_echo_with_an_acknowledgment_opens_no_window() {
    // In congestion avoidance 16 ACKs would add a segment. ACKs with the echo add nothing.
    let mut pair = Pair::sending_over(&knows(16), u64::MAX, mark(&[1]));
    pair.run_until(199);
    assert_eq!((pair.a.cwnd(), pair.a.ssthresh()), (8000, 8000));
    pair.run_until(255);
    assert!(pair.a.cwnd() > 8000);
}

#[test]
fn a_loss_is_told_by_cwr_too_and_a_mark_in_its_window_reduces_nothing_more() {
    // The first of eight segments is lost, and another one is marked: the fourth, whose echo comes
    // before or with the sign of the loss, or the last, whose echo comes after it. In both cases
    // the window falls once, to 4. Retransmissions are not ECT; the first new data has CWR. RACK
    // detects the loss by the first SACK.
    for marked in [3001, 7001] {
        for variant in [Variant::NewReno, Variant::Sack, Variant::Rack] {
            let rule = |sent: &Sent| match (sent.from, sent.segment.seq, sent.copy) {
                (End::A, 1, 0) => Fate::Lose,
                (End::A, seq, _) if seq == marked => Fate::Mark,
                _ => Fate::Deliver,
            };
            let config = Config { variant, ..knows(8) };
            let mut pair = Pair::sending_over(&config, u64::MAX, rule);
            pair.run_until(255);
            let reductions = u64::from(marked == 3001 && variant != Variant::Rack);
            let retransmits = pair.a.counters().fast_retransmits;
            let counted = (pair.a.ecn_counters().reductions, retransmits, pair.a.ssthresh());
            assert_eq!(counted, (reductions, 1, 4000), "{variant:?} {marked}");
            let sent = bits(&pair, 100);
            let again = sent.iter().position(|line| line == "100 A 1:1001 ack 1");
            let again = again.expect("the first goes again");
            let new = sent[again..].iter().find(|line| line.contains("ECT")).expect("new data");
            assert!(new.ends_with(" W ECT"), "{variant:?} {sent:?}");
            let cwr = sent.iter().filter(|line| line.contains(" W")).count();
            assert_eq!(cwr, 1, "{variant:?} {sent:?}");
        }
    }
}

#[test]
fn cubic_keeps_its_part_of_a_marked_window() {
    // RFC 9438 section 4.6: 0.7 of the twenty in flight.
    let config = Config { variant: Variant::Rack, congestion: Congestion::Cubic, ..knows(20) };
    let mut pair = Pair::sending_over(&config, u64::MAX, mark(&[1]));
    pair.run_until(150);
    assert_eq!((pair.a.ssthresh(), pair.a.cwnd()), (14_000, 14_000));
}

#[test]
fn a_marked_window_falls_at_once_or_in_proportion_with_rack() {
    // Sixteen segments, the first marked, with ACKs a millisecond apart. RFC 3168 section 6.1.2
    // allows nothing until eight are in flight. RFC 9937 allows half of what is delivered: one
    // segment at once, then one per two delivered, and none beyond the eight.
    let at_once: Vec<u64> = (108..116).collect();
    let in_proportion = vec![100, 103, 105, 107, 109, 111, 114, 115];
    for (variant, expected) in [
        (Variant::NewReno, at_once.clone()),
        (Variant::Sack, at_once),
        (Variant::Rack, in_proportion),
    ] {
        let rule = |sent: &Sent| match (sent.from, sent.segment.seq) {
            (End::A, 1) => Fate::Mark,
            (End::A, _) => Fate::Deliver,
            (End::B, _) => Fate::Late(vec![Duration::from_millis(sent.index as u64)]),
        };
        let config = Config { variant, ..knows(16) };
        let mut pair = Pair::sending_over(&config, u64::MAX, rule);
        pair.run_until(115);
        let state = pair.a.loss_state();
        assert_eq!(state == LossState::Reducing, variant == Variant::Rack, "{variant:?}");
        assert_eq!((pair.a.cwnd(), pair.a.ssthresh()), (8000, 8000), "{variant:?}");
        let sent = pair.log.iter().map(|(sent, _)| sent);
        let new: Vec<&Sent> =
            sent.filter(|sent| sent.from == End::A && sent.segment.seq > 16_000).collect();
        let times: Vec<u64> = new.iter().map(|sent| sent.time.as_nanos() / 1_000_000).collect();
        assert_eq!(times, expected, "{variant:?}");
        let told: Vec<bool> =
            new.iter().map(|sent| sent.segment.flags.contains(Flags::CWR)).collect();
        assert_eq!(told.iter().position(|told| *told), Some(0), "{variant:?}");
        assert_eq!(told.iter().filter(|told| **told).count(), 1, "{variant:?}");
        // Segments sent after the echo are acknowledged: the reduction is over.
        pair.run_until(280);
        assert_eq!(
            (pair.a.loss_state(), pair.a.ssthresh()),
            (LossState::Open, 8000),
            "{variant:?}"
        );
        assert!(pair.a.cwnd() >= 8000, "{variant:?}");
    }
}

#[test]
fn who_does_not_know_it_neither_marks_nor_echoes() {
    let config =
        Config { handshake: Handshake::ThreeWay, timestamps: true, ecn: false, ..knows(4) };
    let mut pair = Pair::sending_over(&config, 8000, mark(&[1, 4001]));
    pair.run();
    assert!(pair.log.iter().all(|(sent, _)| {
        let has = |bit| sent.segment.flags.contains(bit);
        !has(Flags::ECE) && !has(Flags::CWR) && !has(Flags::ECT)
    }));
    assert_eq!(pair.b.ecn_counters().marks, 0);
}
