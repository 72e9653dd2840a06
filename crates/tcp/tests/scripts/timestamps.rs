//! The timestamps option and its uses.

use airtcp_kernel::Duration;
use airtcp_tcp::{Config, Handshake, Timestamps, Variant};

use crate::pair::{End, Fate, Pair, Sent, config, lose_once};

fn stamped() -> Config {
    Config { timestamps: true, ..config() }
}

/// Returns sender, TSval and TSecr of each segment.
fn stamps(pair: &Pair<'_>) -> Vec<(End, u32, u32)> {
    let of = |sent: &Sent| pair.sacks.timestamps(&sent.segment).expect("timestamps");
    pair.log
        .iter()
        .map(|(sent, _)| {
            let Timestamps { value, echo } = of(sent);
            (sent.from, value, echo)
        })
        .collect()
}

#[test]
fn each_segment_says_when_it_left_and_echoes_what_came() {
    let config = Config { handshake: Handshake::ThreeWay, ..stamped() };
    let mut pair = Pair::sending(&config, 1000);
    pair.run();

    // SYN, SYN+ACK after 50 ms, the ACK with data at 100 ms, the ACK of that.
    let expected = [(End::A, 0, 0), (End::B, 50, 0), (End::A, 100, 50), (End::B, 150, 100)];
    assert_eq!(stamps(&pair), expected);
}

#[test]
fn an_acknowledgment_of_a_gap_echoes_what_came_before_it() {
    // RFC 7323 section 4.3, (B): "the timestamp from the last segment that advanced the window".
    let mut pair = Pair::sending_over(&stamped(), 4000, lose_once(&[1001]));
    pair.run_until(110);

    let from_b: Vec<u32> =
        stamps(&pair).iter().filter(|(end, ..)| *end == End::B).map(|stamp| stamp.2).collect();
    assert_eq!(from_b, [0]);
    pair.run();
    // ... and the segment that fills the gap has its own timestamp echoed.
    let (_, _, last) = stamps(&pair)[pair.log.len() - 1];
    assert!(last > 0);
}

#[test]
fn what_is_sent_again_is_timed() {
    // The only segment is lost. By Karn's algorithm its second copy gives no RTT sample, and the
    // backed-off timeout stays. Its echo gives one: 100 ms and 3 * 100 ms (RFC 6298 (2.2)).
    for (config, rtt) in [(config(), None), (stamped(), Some(Duration::from_millis(100)))] {
        for variant in [Variant::NewReno, Variant::Rack] {
            let config = Config { variant, ..config.clone() };
            let mut pair = Pair::sending_over(&config, 1000, lose_once(&[1]));
            pair.run();
            assert_eq!(pair.a.srtt(), rtt, "{variant:?}");
        }
    }
}

#[test]
fn a_late_segment_does_not_turn_the_clock_back() {
    // Segment 2 arrives after 3 and 4, 20 ms late. RFC 7323 section 4.3, (C): its own timestamp is
    // echoed, not a later one, because it fills the gap.
    let late = |sent: &Sent| {
        if sent.from == End::A && sent.segment.seq == 1001 && sent.copy == 0 {
            Fate::Late(vec![Duration::from_millis(20)])
        } else {
            Fate::Deliver
        }
    };
    let config = Config { initial_window: 4000, ..stamped() };
    let mut pair = Pair::sending_over(&config, 4000, late);
    pair.run();
    assert!(stamps(&pair).iter().filter(|(end, ..)| *end == End::B).all(|stamp| stamp.2 == 0));
    assert_eq!(pair.b.delivered(), 4000);
}
