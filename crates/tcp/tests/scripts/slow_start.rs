//! Slow starts that end before a loss, on a path with a bottleneck whose queue is unlimited.

use airtcp_kernel::{Duration, Time};
use airtcp_tcp::{Config, SlowStart, Variant};

use crate::pair::{End, Fate, Pair, Sent, config};

/// Transmission time of a segment of 1000 bytes at the bottleneck: 1000 segments per second.
const TIME: Duration = Duration::from_millis(1);

fn watched(slow_start: SlowStart) -> Config {
    Config {
        variant: Variant::Rack,
        slow_start,
        receive_window: 1 << 30,
        initial_window: 10_000,
        ..config()
    }
}

/// Returns the window in segments at which slow start ends.
fn exit(config: &Config) -> u64 {
    let mut free = Time::ZERO;
    let bottleneck = |sent: &Sent| {
        if sent.from == End::B {
            return Fate::Deliver;
        }
        free = free.max(sent.time) + TIME;
        Fate::Late(vec![free - sent.time])
    };
    let mut pair = Pair::sending_over(config, 5_000_000, bottleneck);
    pair.steps_left = 1_000_000;
    for millis in 0..6000 {
        pair.run_until(millis);
        if pair.a.ssthresh() < u64::MAX {
            return pair.a.ssthresh() / 1000;
        }
    }
    panic!("slow start does not end");
}

/// The round trip is 101 ms; 101 segments fill the path. Ten segments are sent at once; then each
/// ACK releases two, so before the ACK of segment n (they come one by one) 10 + 2 (n - 1) segments
/// have been sent. Blocks of 10, 20, 40, 80 and 160 ACKs return, a millisecond apart within a
/// block, and from segment 151 on the bottleneck is never idle. The ACKs of 71 to 150 come from 404
/// ms on, those from 151 on from 505 ms on.
///
/// Linux: the sixth ACK reaches the low window of 16 segments; a round begins with the first ACK
/// beyond the end of the previous one. The round that begins in the block of 80 lasts longer than
/// half of the minimum RTT, 50.5 ms, without a gap of 2 ms.
#[test]
fn linux_leaves_at_half_a_round_trip_of_acknowledgments() {
    let window = exit(&watched(SlowStart::Hystart));
    assert!((128..=136).contains(&window), "{window}");
}

/// HyStart++ has no trains. A round ends when the SND.NXT of its start is acknowledged, which
/// excludes the segments that its first ACK releases. Rounds begin with the ACKs of 10, 28, 64, 136
/// and 280, e' = 10 + 2 (e - 1), shortly before the end of a block, where round trips are long.
///
/// - The round of 136 begins with 8 round trips of 134 ms or more, compared with 101 ms in the last
///   round: conservative growth. The ACK of 151 has a round trip of 101 ms, and slow start resumes.
///   Growing by a quarter for 8 segments gives 6 less.
/// - The round of 280 begins with 166 ms: conservative growth from 287 on, at 10 + 287 - 6 = 291
///   segments. Now cwnd(n) = 291 + (n - 287) / 4, and n - 1 + cwnd(n - 1) segments have been sent
///   before the ACK of n. The rounds end at 562 (which was fixed at 280), 920, 1368, 1928 and 2628,
///   the fifth. There the window is 291 + (2627 - 287) / 4 = 876 segments.
#[test]
fn hystart_plus_plus_grows_a_quarter_as_fast_for_five_rounds() {
    let window = exit(&watched(SlowStart::HystartPlusPlus));
    assert!((874..=878).contains(&window), "{window}");
}
