//! The state machine and its model, compared with the arithmetic of the draft.

use airtcp_kernel::Duration;

use super::{Bbr, State, model};
use crate::config::{Config, Congestion, Variant};
use crate::congestion::scene::Scene;
use crate::rate::{LostSegment, RateSample};

const RTT: Duration = Duration::from_millis(100);

fn scene() -> Scene<Bbr> {
    let config = Config {
        congestion: Congestion::Bbr,
        variant: Variant::Rack,
        pacing: true,
        initial_window: 10_000,
        ..Config::standard()
    };
    Scene::new(config, Bbr::new(), 10_000, u64::MAX)
}

/// Returns a sample of a round of its own, at `rate` bytes/s, with `delivered` bytes after `before`
/// bytes.
fn sample(rate: f64, before: u64, delivered: u64) -> RateSample {
    RateSample {
        rate: Some(rate),
        delivered: before + delivered,
        prior_delivered: Some(before),
        is_app_limited: false,
        rtt: Some(RTT),
        newly_acked: delivered,
        newly_lost: 0,
        in_flight: 100_000,
        tx_in_flight: 100_000,
        lost: 0,
        is_cwnd_limited: true,
    }
}

impl Scene<Bbr> {
    /// Simulates one round trip with this delivery rate and volume.
    fn round(&mut self, rate: f64, delivered: u64, edit: impl FnOnce(&mut RateSample)) {
        let mut sample = sample(rate, self.controller.model_delivered(), delivered);
        edit(&mut sample);
        self.wait(RTT).tell(|bbr, window, moment| {
            super::Controller::on_sample(bbr, window, moment, &sample);
        });
    }

    /// Runs Startup to the plateau at 1 MB/s, and then Drain.
    fn fill(&mut self) {
        for rate in [125e3, 250e3, 500e3, 1e6, 1e6, 1e6] {
            self.round(rate, (rate / 10.0) as u64, |_| {});
            assert_eq!(self.controller.state, State::Startup);
        }
        self.round(1e6, 100_000, |sample| sample.in_flight = 300_000);
    }
}

impl Bbr {
    fn model_delivered(&self) -> u64 {
        self.model.delivered()
    }
}

#[test]
fn three_rounds_without_growth_by_a_quarter_end_startup_and_a_drained_queue_the_drain() {
    let mut scene = scene();
    scene.fill();
    assert!(matches!(scene.controller.state, State::Drain(_)));
    // 0.5 * 1 MB/s minus 1 %; the bandwidth-delay product is 100,000 B.
    assert_eq!(scene.controller.rate, Some(0.5 * 1e6 * 0.99));
    scene.round(1e6, 100_000, |sample| sample.in_flight = 100_001);
    assert!(matches!(scene.controller.state, State::Drain(_)));
    scene.round(1e6, 100_000, |sample| sample.in_flight = 100_000);
    // Straight to Cruise, because no queue is left.
    assert_eq!(scene.controller.state, State::Cruise);
    assert_eq!(scene.controller.rate, Some(1e6 * 0.99));
}

#[test]
fn a_drain_lasts_three_rounds_at_most() {
    let mut scene = scene();
    scene.fill();
    for _ in 0..3 {
        scene.round(1e6, 100_000, |sample| sample.in_flight = 150_000);
        assert!(matches!(scene.controller.state, State::Drain(_)));
    }
    scene.round(1e6, 100_000, |sample| sample.in_flight = 150_000);
    assert_eq!(scene.controller.state, State::Down);
    assert_eq!(scene.controller.rate, Some(0.9 * 1e6 * 0.99));
}

#[test]
fn what_an_application_holds_back_ends_no_startup() {
    let mut scene = scene();
    for _ in 0..20 {
        scene.round(1e5, 10_000, |sample| sample.is_app_limited = true);
    }
    assert_eq!(scene.controller.state, State::Startup);
}

#[test]
fn a_loss_in_cruise_bounds_rate_and_window_by_what_is_delivered_or_seven_tenths() {
    let mut scene = scene();
    scene.fill();
    scene.round(1e6, 100_000, |sample| sample.in_flight = 100_000);
    assert_eq!(scene.controller.state, State::Cruise);
    let lost = LostSegment {
        start: 1,
        size: 1000,
        tx_in_flight: 100_000,
        lost: 1000,
        is_app_limited: false,
        delivered: scene.controller.model_delivered(),
    };
    let cwnd = scene.window.cwnd;
    scene.tell(|bbr, window, moment| super::Controller::on_lost(bbr, window, moment, &lost));
    // The round with the loss ends: 0.8 MB/s and 80,000 B were delivered in it. The rate is above
    // 0.7 MB/s; the volume is below 0.7 of the window if the window exceeds 114,286 B.
    scene.controller.model.reset_congestion_latest();
    scene.round(0.8e6, 80_000, |_| {});
    assert_eq!(scene.controller.model.bandwidth(), 0.8e6);
    let expected = ((0.7 * cwnd as f64) as u64).max(80_000);
    assert_eq!(scene.controller.model.inflight_short, Some(expected));
    assert_eq!(scene.window.cwnd, expected);
    // Another round with losses takes 0.7 of that, unless more was delivered.
    let lost = LostSegment { delivered: scene.controller.model_delivered(), ..lost };
    scene.tell(|bbr, window, moment| super::Controller::on_lost(bbr, window, moment, &lost));
    scene.controller.model.reset_congestion_latest();
    scene.round(0.1e6, 10_000, |_| {});
    assert!((scene.controller.model.bandwidth() - 0.56e6).abs() < 1e-6);
}

#[test]
fn a_probe_that_loses_a_fiftieth_bounds_what_is_under_way() {
    // Of 125,000 B in flight first 1000 B are lost, then 2000, then 3000; 2 % are 2500.
    let lost = |lost: u64| LostSegment {
        start: lost,
        size: 1000,
        tx_in_flight: 125_000,
        lost,
        is_app_limited: false,
        delivered: 0,
    };
    assert!(!model::exceeds_threshold(2000, 125_000));
    assert!(model::exceeds_threshold(3000, 125_000));
    // (0.02 * 124,000 - 2000) / 0.98 = 489.8 more than the 124,000 before it.
    assert_eq!(model::inflight_at_loss(&lost(3000)), 124_489);

    let mut scene = scene();
    scene.fill();
    scene.controller.state = State::Up;
    scene.controller.probe.is_sample = true;
    for bytes in [1000, 2000, 3000] {
        let lost = lost(bytes);
        scene.tell(|bbr, window, moment| super::Controller::on_lost(bbr, window, moment, &lost));
    }
    assert_eq!(scene.controller.state, State::Down);
    assert_eq!(scene.controller.model.inflight_long, Some(124_489));
    assert!(scene.controller.probe.was_too_high);
    // In Cruise the bound is 15 % lower: 124,489 - 18,673.
    assert_eq!(scene.controller.with_headroom(&scene.config), 105_816);
}

#[test]
fn the_bound_grows_by_one_segment_in_the_first_round_of_a_probe_and_by_two_in_the_next() {
    let mut scene = scene();
    scene.fill();
    scene.window.cwnd = 100_000;
    scene.controller.model.inflight_long = Some(100_000);
    scene.controller.state = State::Up;
    let (config, window) = (scene.config.clone(), scene.window.clone());
    scene.controller.raise_slope(&config, &window);
    scene.controller.model.is_round_start = false;
    let mut grown = |acked: u64, starts: bool| {
        scene.controller.model.is_round_start = starts;
        let mut sample = sample(1e6, 0, acked);
        sample.tx_in_flight = 0;
        let window = super::Window { cwnd: 200_000, ..window.clone() };
        scene.controller.raise_long_term(&window, &config, &sample);
        scene.controller.model.inflight_long
    };
    assert_eq!(grown(99_999, false), Some(100_000));
    assert_eq!(grown(1, false), Some(101_000));
    // The next round raises it by twice the window of 200,000, in two steps.
    grown(0, true);
    assert_eq!(grown(200_000, false), Some(103_000));
}

#[test]
fn aggregates_are_counted_beyond_the_bandwidth_for_ten_rounds() {
    let mut scene = scene();
    scene.fill();
    // 100,000 B in zero time: all of it is extra.
    let now = scene.now;
    let mut burst = sample(1e6, scene.controller.model_delivered(), 100_000);
    burst.in_flight = 0;
    let model = &mut scene.controller.model;
    model.restart_aggregation(now);
    model.count_aggregation(now, &burst, 1 << 20, true);
    model.count_aggregation(now, &burst, 1 << 20, true);
    let most = model.extra_acked();
    assert!(most >= 200_000, "{most}");
    for round in 1..=11 {
        model.round += 1;
        let later = now + Duration::from_secs(round);
        model.count_aggregation(later, &sample(1e6, 0, 1000), 1 << 20, true);
    }
    assert_eq!(scene.controller.model.extra_acked(), 1000);
}
