//! Metrics computed from counters of any scope: the whole network, a station group, its flows in
//! one direction, an access category. What counts is decided elsewhere.

use airtcp_kernel::Duration;
use airtcp_wlan::MacCounters;

use crate::outcome::Metrics;
use crate::statistics::quantile;

/// The traffic of some flows in the measured time.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    /// The goodput of each flow.
    pub(super) goodputs_bps: Vec<f64>,
    /// R of the E-model for each call.
    pub(super) ratings: Vec<f64>,
    /// Durations of the ended transfers, in the order of their ends.
    pub(super) transfer_times_s: Vec<f64>,
    /// Load times of pages.
    pub(super) page_times_s: Vec<f64>,
    /// The mean time to the last ACK.
    pub(super) last_ack_time_s: Option<f64>,
    /// The mean number of transfers in progress.
    pub(super) active_flows: f64,
    /// The airtime of the received payload at the data rates of its stations.
    pub(super) payload_s: f64,
    pub(super) retransmissions: u64,
    pub(super) timeouts: u64,
}

impl Traffic {
    pub(super) fn metrics(mut self, measured: Duration) -> Metrics {
        let goodput: f64 = self.goodputs_bps.iter().sum();
        let squares: f64 = self.goodputs_bps.iter().map(|bps| bps * bps).sum();
        let flows = self.goodputs_bps.len() as f64;
        let mean_of = |times: &[f64]| {
            (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
        };
        let (times, pages) = (&mut self.transfer_times_s, &mut self.page_times_s);
        let (mean_time, mean_page_time) = (mean_of(times), mean_of(pages));
        times.sort_unstable_by(f64::total_cmp);
        pages.sort_unstable_by(f64::total_cmp);
        Metrics::from([
            ("goodput_bps", Some(goodput)),
            ("flow_goodput_bps", (flows > 0.0).then(|| goodput / flows)),
            // Jain, Chiu and Hawe 1984.
            ("jain_index", (squares > 0.0).then(|| goodput * goodput / (flows * squares))),
            ("transfer_time_s", mean_time),
            ("transfer_time_p50_s", quantile(times, 0.5)),
            ("transfer_time_p90_s", quantile(times, 0.9)),
            ("transfer_time_p95_s", quantile(times, 0.95)),
            ("transfer_time_p99_s", quantile(times, 0.99)),
            ("transfer_time_to_last_ack_s", self.last_ack_time_s),
            ("r_factor", mean_of(&self.ratings)),
            ("page_time_s", mean_page_time),
            ("page_time_p50_s", quantile(pages, 0.5)),
            ("page_time_p90_s", quantile(pages, 0.9)),
            ("page_time_p95_s", quantile(pages, 0.95)),
            ("page_time_p99_s", quantile(pages, 0.99)),
            ("active_flows", Some(self.active_flows)),
            ("channel_utilization", Some(self.payload_s / measured.as_secs_f64())),
            ("tcp_retransmissions", Some(self.retransmissions as f64)),
            ("tcp_timeouts", Some(self.timeouts as f64)),
        ])
    }
}

/// Computes the MAC metrics of some stations, with or without aggregation.
pub(super) fn station_metrics(stations: MacCounters, aggregated: bool) -> Metrics {
    Metrics::from([
        ("failed_ppdu_ratio_stations", fraction(stations.unanswered(), stations.asked())),
        ("mpdu_error_ratio", mpdu_error_ratio(stations, aggregated)),
        ("collision_probability_stations", fraction(stations.collisions, stations.attempts)),
        ("drop_probability_mac", fraction(stations.drops, stations.drops + stations.successes)),
        ("mean_cw_stations", fraction(stations.cw_sum, stations.draws)),
    ])
}

/// Computes the MAC metrics of the access point and some stations.
pub(super) fn mac_metrics(ap: MacCounters, stations: MacCounters, aggregated: bool) -> Metrics {
    let all = ap + stations;
    let mut metrics = station_metrics(stations, aggregated);
    metrics.extend([
        ("failed_ppdu_ratio", fraction(all.unanswered(), all.asked())),
        ("failed_ppdu_ratio_ap", fraction(ap.unanswered(), ap.asked())),
        ("mpdu_error_ratio", mpdu_error_ratio(all, aggregated)),
        ("collision_probability", fraction(all.collisions, all.attempts)),
        ("collision_probability_ap", fraction(ap.collisions, ap.attempts)),
        ("drop_probability_mac", fraction(all.drops, all.drops + all.successes)),
        ("mean_cw_ap", fraction(ap.cw_sum, ap.draws)),
    ]);
    metrics
}

/// Computes the share of MPDUs with errors. Without aggregation a transmission without a collision
/// is one MPDU, and an ACK shows that it was received.
fn mpdu_error_ratio(counted: MacCounters, aggregated: bool) -> Option<f64> {
    if aggregated {
        fraction(counted.mpdu_errors, counted.mpdus)
    } else {
        fraction(counted.failures, counted.failures + counted.successes)
    }
}

pub(super) fn fraction(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
