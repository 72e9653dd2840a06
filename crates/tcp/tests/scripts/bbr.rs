//! BBR version 3 on a path with a bottleneck.

use airtcp_kernel::Duration;
use airtcp_tcp::Congestion;

use crate::bottleneck::{ENDLESS, delivered, paced, path as bottleneck, running as running_by};
use crate::pair::{Fate, Pair, Sent};

fn path(queue: u64, lost: impl Fn(usize) -> bool) -> impl FnMut(&Sent) -> Fate {
    bottleneck(queue, |_| Duration::ZERO, lost)
}

fn running<'a>(rule: impl FnMut(&Sent) -> Fate + 'a) -> Pair<'a> {
    running_by(Congestion::Bbr, rule)
}

/// Samples the segments in flight every 50 ms.
fn flights(pair: &mut Pair<'_>, from: u64, to: u64) -> Vec<u64> {
    (from..to)
        .step_by(50)
        .map(|time| {
            pair.run_until(time);
            pair.a.flight_size() / 1000
        })
        .collect()
}

#[test]
fn the_path_is_full_and_its_queue_is_short() {
    let mut pair = running(path(ENDLESS, |_| false));
    // Startup sends at 2.77 times the delivery rate, then drains; it is over long before 3 s.
    let carried = delivered(&mut pair, 3000, 5000);
    // All except 1 % of pacing margin, and less while it drains after a probe.
    assert!((1930..=2005).contains(&carried), "{carried}");
    // In Cruise 101 segments are in flight; a probe of some round trips adds a quarter, and three
    // of those round trips add more.
    let flights = flights(&mut pair, 6500, 9900);
    let mean = flights.iter().sum::<u64>() as f64 / flights.len() as f64;
    assert!((90.0..=130.0).contains(&mean), "{flights:?}");
}

#[test]
fn a_shallow_queue_teaches_a_bound_and_losses_stay_few() {
    // The queue holds a quarter of the bandwidth-delay product. Startup, at 2.77 times its rate,
    // loses much once. Later probes reach the inflight bound and lose at most a fiftieth of a
    // window.
    let mut pair = running(path(25, |_| false));
    let carried = delivered(&mut pair, 4000, 14_000);
    assert!(carried >= 9000, "{carried}");
    let before = pair.a.counters();
    pair.run_until(24_000);
    let after = pair.a.counters();
    let sent = after.data_segments_sent - before.data_segments_sent;
    let again = after.retransmissions - before.retransmissions;
    assert!(again as f64 <= 0.02 * sent as f64, "{again} of {sent}");
}

#[test]
fn less_than_two_per_cent_of_losses_cost_next_to_nothing() {
    // With 1 % loss Reno's window would be sqrt(1.5 / 0.01) = 12 of 101 segments. BBR keeps its
    // bandwidth estimate while it probes, and in between it follows the delivery rate.
    let mut pair = running(path(ENDLESS, |index| index % 100 == 25));
    let carried = delivered(&mut pair, 3000, 13_000);
    assert!(carried >= 8500, "{carried}");
}

#[test]
fn every_five_seconds_half_a_window_looks_for_the_least_round_trip() {
    // ProbeRTT keeps half of the bandwidth-delay product, 50 segments, for 200 ms and a round trip;
    // version 1 keeps four segments.
    let mut pair = running(path(ENDLESS, |_| false));
    pair.run_until(3000);
    let windows: Vec<u64> = (3000..20_000)
        .step_by(25)
        .map(|time| {
            pair.run_until(time);
            pair.a.cwnd() / 1000
        })
        .collect();
    let least = *windows.iter().min().expect("some");
    assert!((45..=52).contains(&least), "{least}");
    // Lengths in steps of 25 ms: three times in 17 s, each for 200 ms plus the approach.
    let looks = windows.chunk_by(|a, b| (*a <= 52) == (*b <= 52)).filter(|run| run[0] <= 52);
    let lengths: Vec<usize> = looks.map(<[u64]>::len).collect();
    assert!((2..=4).contains(&lengths.len()), "{lengths:?}");
    assert!(lengths.iter().all(|&length| (8..=20).contains(&length)), "{lengths:?}");
}

#[test]
fn who_was_idle_needs_no_look_for_the_least_round_trip() {
    let config = paced(Congestion::Bbr);
    let mut pair = Pair::sending_over(&config, 2_000_000, path(ENDLESS, |_| false));
    pair.steps_left = 10_000_000;
    pair.run_until(12_000);
    pair.a.write(500_000);
    pair.run_until(12_350);
    assert!(pair.a.cwnd() >= 90_000, "{}", pair.a.cwnd());
}
