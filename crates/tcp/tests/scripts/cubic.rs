//! CUBIC: the window according to RFC 9438, on a path with chosen losses.

use airtcp_tcp::{Config, Congestion, Variant};

use crate::pair::{End, Fate, Pair, Sent, config};

fn cubic() -> Config {
    Config {
        congestion: Congestion::Cubic,
        variant: Variant::Sack,
        receive_window: 1 << 30,
        ..config()
    }
}

/// Returns the congestion window after each round trip of 100 ms.
fn cwnd_by_round(pair: &mut Pair<'_>, rounds: u64) -> Vec<u64> {
    pair.steps_left = 1_000_000;
    (0..rounds)
        .map(|round| {
            pair.run_until(100 * round);
            pair.a.cwnd()
        })
        .collect()
}

#[test]
fn beyond_the_plateau_the_window_follows_the_cube_of_the_time() {
    // Without a loss W_max is the window at the start of congestion avoidance, 100 segments, and K
    // = 0. Each round trip aims at W_cubic one round trip later: C * t^3 = 0.4 * 0.1^3 and so on.
    // Until 0.4 * t^3 = 10 t, t = 5 s, that is less than Reno-friendly growth, a segment per round
    // trip.
    let config = Config { initial_window: 100_000, initial_ssthresh: Some(100_000), ..cubic() };
    let mut pair = Pair::sending(&config, u64::MAX);
    let windows = cwnd_by_round(&mut pair, 81);

    // Reno-friendly growth: 1 / cwnd for each of cwnd ACKs.
    assert!((104_800..=105_000).contains(&windows[5]), "{}", windows[5]);
    // 100 + 0.4 * 8^3 = 304.8 segments at 8 s, within half a round trip.
    assert!((297_000..=313_000).contains(&windows[80]), "{}", windows[80]);
}

#[test]
fn a_loss_leaves_seven_tenths_and_the_window_comes_back_after_k() {
    // 100 segments are in flight and one is lost: ssthresh = 70, W_max = 100, and K = cbrt(30 /
    // 0.4) = 4.217 s. Reno-friendly growth would add 0.529 segments per round trip until then: 70 +
    // 42 * 0.529 = 92. Before K the window stays below W_max; at twice K it is 100 + 30.
    let config = Config { initial_window: 100_000, initial_ssthresh: Some(100_000), ..cubic() };
    let lost = |sent: &Sent| {
        let lost = sent.from == End::A && sent.segment.seq == 1 && sent.copy == 0;
        if lost { Fate::Lose } else { Fate::Deliver }
    };
    let mut pair = Pair::sending_over(&config, u64::MAX, lost);
    let windows = cwnd_by_round(&mut pair, 100);

    assert_eq!(pair.a.ssthresh(), 70_000);
    // The loss is detected at 100 ms and repaired at 200 ms, when the epoch begins.
    assert_eq!(windows[2] / 1000, 70);
    let k = 44;
    // Near K: the curve is flat, C * (0.3 s)^3 = 0.01.
    assert!((99_800..=100_200).contains(&windows[k]), "{}", windows[k]);
    // At 2 K, within a round trip: 3 * C * K^2 * 0.1 s = 2.1 segments.
    assert!((127_900..=132_100).contains(&windows[2 * k - 2]), "{}", windows[2 * k - 2]);
    assert!(windows[2..].is_sorted());
}

#[test]
fn below_the_last_maximum_room_is_made_for_others() {
    // Section 4.7: two losses, the second about 3 s after the first, at about 400 - 0.4 * (6.69 -
    // 3)^3 = 380 segments, below the first W_max of 400. Then W_max is 0.85 of the window.
    let config = Config { initial_window: 400_000, initial_ssthresh: Some(400_000), ..cubic() };
    let lost = |sent: &Sent| {
        let is_hole = matches!(sent.segment.seq, 1 | 10_000_001);
        if sent.from == End::A && is_hole && sent.copy == 0 { Fate::Lose } else { Fate::Deliver }
    };
    let mut pair = Pair::sending_over(&config, u64::MAX, lost);
    let windows = cwnd_by_round(&mut pair, 120);
    let second = windows.windows(2).skip(3).position(|pair| pair[1] < pair[0]).expect("a loss") + 3;
    let before = windows[second] as f64 / 1000.0;
    assert!((before - 380.0).abs() < 10.0, "{before}");

    // From 0.7 to 0.85: K = cbrt(0.15 * 380 / 0.4) = 5.2 s, from the end of the recovery. During
    // the round trip of the loss the window grows by another 3 * C * (3.4 s)^2 * 0.1 s = 1.4
    // segments.
    let k = (0.15 * before / 0.4).cbrt();
    let at_k = second + 2 + (10.0 * k) as usize;
    let plateau = windows[at_k] as f64 / 1000.0;
    assert!((0.85 * before..0.85 * (before + 1.7)).contains(&plateau), "{plateau} {before}");
}
