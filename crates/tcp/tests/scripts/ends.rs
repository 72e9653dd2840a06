//! Two ends with different configurations. The round trip is 100 ms.

use airtcp_kernel::Duration;
use airtcp_tcp::{Config, DelayedAck, Flags, Handshake, Variant};

use crate::pair::{End, Fate, Pair, config, lose_once};

/// Returns an end with all options, which may send four segments after the handshake.
fn full() -> Config {
    Config {
        variant: Variant::Sack,
        timestamps: true,
        ecn: true,
        handshake: Handshake::ThreeWay,
        initial_window: 6000,
        ..config()
    }
}

fn plain() -> Config {
    Config { variant: Variant::NewReno, timestamps: false, ecn: false, ..full() }
}

#[test]
fn a_sack_sender_that_meets_an_end_without_sack_recovers_as_newreno() {
    // Segments 1 and 3 are lost: a partial ACK reveals the second loss, ...
    let run = |receiver: Config| {
        let mut pair = Pair::meeting([full(), receiver], lose_once(&[1, 2001]));
        pair.a.write(6000);
        pair.run();
        pair
    };
    let plain = run(plain());
    plain.expect_since(
        150,
        "150 B ack 1
         150 B ack 1
         150 B ack 1
         150 B ack 1
         200 A 1:1001 ack 1
         250 B ack 2001
         300 A 2001:3001 ack 1
         350 B ack 6001",
    );
    let selective = run(full());
    // ... and both with SACK: NextSeg() (4) of RFC 6675 repeats the last hole once more.
    selective.expect_since(
        150,
        "150 B ack 1 sack 1001:2001
         150 B ack 1 sack 3001:4001 1001:2001
         150 B ack 1 sack 3001:5001 1001:2001
         150 B ack 1 sack 3001:6001 1001:2001
         200 A 1:1001 ack 1
         200 A 2001:3001 ack 1
         250 B ack 2001 sack 3001:6001
         250 B ack 6001
         300 A 2001:3001 ack 1
         350 B ack 6001",
    );
}

#[test]
fn timestamps_are_in_segments_if_both_ends_know_them() {
    for [one, other] in [[full(), plain()], [plain(), full()], [full(), full()]] {
        let both = one.timestamps && other.timestamps;
        let mut pair = Pair::meeting([one, other], |_| Fate::Deliver);
        pair.a.write(1000);
        pair.run();
        assert_eq!(pair.a.acked(), 1000);
        let stamped = pair.log.iter().filter(|(sent, _)| sent.segment.has_timestamps()).count();
        assert_eq!(stamped, if both { pair.log.len() } else { 0 });
    }
}

#[test]
fn marks_are_for_ends_that_both_know_ecn() {
    for [one, other] in [[full(), plain()], [plain(), full()], [full(), full()]] {
        let both = one.ecn && other.ecn;
        let asks = one.ecn;
        let mut pair = Pair::meeting([one, other], |_| Fate::Mark);
        pair.a.write(1000);
        pair.run();
        let has = |bits| pair.log.iter().any(|(sent, _)| sent.segment.flags.contains(bits));
        // The SYN requests ECN (RFC 3168 section 6.1.1); the SYN+ACK accepts or declines.
        assert_eq!(has(Flags::SYN | Flags::ECE | Flags::CWR), asks);
        assert_eq!(has(Flags::SYN | Flags::ACK | Flags::ECE), both);
        assert_eq!(has(Flags::ECT), both);
        assert_eq!(pair.b.ecn_counters().marks > 0, both);
    }
}

#[test]
fn each_end_acknowledges_by_its_own_policy() {
    // A sends four segments, then B does. B gets an ACK per two segments, A one per segment.
    let every = |count| DelayedAck::every(count, Duration::from_millis(100));
    let a = Config { delayed_ack: every(1), initial_window: 4000, ..config() };
    let b = Config { delayed_ack: every(2), ..a.clone() };
    let mut pair = Pair::meeting([a, b], |_| Fate::Deliver);
    pair.a.write(4000);
    pair.run();
    pair.b.write(1000);
    pair.run();
    pair.expect(
        "0 A 1:1001 ack 1
         0 A 1001:2001 ack 1
         0 A 2001:3001 ack 1
         0 A 3001:4001 ack 1
         50 B ack 2001
         50 B ack 4001
         100 B 1:1001 ack 4001
         150 A ack 1001",
    );
}

#[test]
fn a_sender_fills_the_window_of_the_other_end_and_not_its_own() {
    let large = Config { receive_window: 64_000, initial_window: 8000, ..config() };
    let small = Config { receive_window: 3000, ..large.clone() };
    let mut pair = Pair::meeting([large, small], |_| Fate::Deliver);
    pair.a.write(20_000);
    pair.b.write(20_000);
    pair.run_until(0);
    let first = |end| pair.log.iter().filter(|(sent, _)| sent.from == end).count();
    assert_eq!([first(End::A), first(End::B)], [3, 8]);
}
