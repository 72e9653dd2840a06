//! BBR version 1 on a path with a bottleneck whose queue is unlimited.

use airtcp_kernel::{Duration, Time};
use airtcp_tcp::Congestion;

use crate::bottleneck::{ENDLESS, delivered, path as bottleneck, running as running_by};
use crate::pair::{End, Fate, Pair, Sent, at};

/// A path that loses each segment for which `lost` returns true, and that becomes `longer` after 2
/// s.
fn path(longer: Duration, lost: impl Fn(usize) -> bool) -> impl FnMut(&Sent) -> Fate {
    bottleneck(ENDLESS, move |time| if time > at(2000) { longer } else { Duration::ZERO }, lost)
}

fn running<'a>(rule: impl FnMut(&Sent) -> Fate + 'a) -> Pair<'a> {
    running_by(Congestion::Bbr1, rule)
}

#[test]
fn the_path_is_full_and_its_queue_is_short() {
    let mut pair = running(path(Duration::ZERO, |_| false));
    // Startup sends at 2.885 times the delivery rate. It fills 101 segments in log2 (10.1) = 3.3
    // round trips, needs three more to see that the rate no longer grows, and then drains.
    let carried = delivered(&mut pair, 3000, 8000);
    // All except 1 % of pacing margin.
    assert!((4900..=5010).contains(&carried), "{carried}");
    // Twice the bandwidth-delay product, three bursts of two, and at most a tenth of a second of
    // aggregated ACKs: 202 + 6 + 2 = 210 to 310.
    let window = pair.a.cwnd() / 1000;
    assert!((202..=310).contains(&window), "{window}");
    // The path's 101 segments are in flight and, in one of eight round trips, a quarter more.
    let flights: Vec<u64> = (0..40)
        .map(|step| {
            pair.run_until(8000 + 50 * step);
            pair.a.flight_size() / 1000
        })
        .collect();
    let mean = flights.iter().sum::<u64>() as f64 / flights.len() as f64;
    assert!((95.0..=135.0).contains(&mean), "{flights:?}");
}

#[test]
fn losses_do_not_enter_the_model() {
    // With 2 % loss Reno's window would be sqrt(1.5 / 0.02) = 8.7 of 101 segments.
    let mut pair = running(path(Duration::ZERO, |index| index % 50 == 25));
    let carried = delivered(&mut pair, 3000, 8000);
    assert!((4600..=4910).contains(&carried), "{carried}");
}

#[test]
fn after_ten_seconds_without_a_shorter_round_trip_four_segments_look_for_it() {
    // From 2 s on the path is 50 ms longer. At most 10 s after the last round trip of 101 ms ...
    let mut pair = running(path(Duration::from_millis(50), |_| false));
    let least = (0..120)
        .map(|step| {
            pair.run_until(10_000 + 25 * step);
            pair.a.cwnd() / 1000
        })
        .min();
    assert_eq!(least, Some(4));
    // ... twice 151 segments fit into the window.
    pair.run_until(16_000);
    let window = pair.a.cwnd() / 1000;
    assert!((300..=460).contains(&window), "{window}");
}

#[test]
fn the_pace_bounds_what_leaves_at_once() {
    let mut pair = running(path(Duration::ZERO, |_| false));
    pair.run_until(6000);
    let times: Vec<Time> = pair
        .log
        .iter()
        .filter(|(sent, _)| sent.from == End::A && sent.time > at(4000))
        .map(|(sent, _)| sent.time)
        .collect();
    // Bursts of two segments.
    let most = times.chunk_by(|a, b| a == b).map(<[Time]>::len).max();
    assert!(most <= Some(4), "{most:?}");
}
