//! RFC 9438, Tables 1 and 2: the mean window with periodic losses, for round trips of 100 and 10
//! ms.
//!
//! The mean of CUBIC's saw tooth is (3 + beta) / 4 of W_max. With strictly periodic losses W_max
//! hardly changes: a late loss comes on the flat part of the curve. A run therefore remembers its
//! initial window, which is set to the W_max for the mean. Reno's cells are 1.2 / sqrt(p),
//! truncated from sqrt(1.5 / p), which is 2 % more. Reno-friendly growth equals Reno's from
//! cwnd_prior on (section 4.3), which the formula for the cells ignores.
//!
//! The path has a delay and no bottleneck. With windows of thousands of segments and one loss in a
//! million, nothing is logged.

use std::collections::VecDeque;

use airtcp_kernel::{Duration, Time};
use airtcp_tcp::{Config, Congestion, Endpoint, Opening, Segment, SegmentOptions, Variant};

use crate::pair::config;

/// Two endpoints, the segments in flight to each, and the number of segments with payload so far.
struct Path {
    config: Config,
    ends: [Endpoint; 2],
    on_way: [VecDeque<(Time, Segment)>; 2],
    options: SegmentOptions,
    delay: Duration,
    lost_of: u64,
    sent: u64,
}

impl Path {
    fn new(config: Config, rtt: Duration, lost_of: u64) -> Self {
        let mut sender = Endpoint::new(&config, Opening::Active);
        sender.write(u64::MAX);
        let ends = [sender, Endpoint::new(&config, Opening::Passive)];
        let delay = Duration::from_nanos(rtt.as_nanos() / 2);
        let (on_way, options) = (Default::default(), SegmentOptions::new());
        Self { config, ends, on_way, options, delay, lost_of, sent: 0 }
    }

    fn flush(&mut self, now: Time) {
        for end in 0..2 {
            while let Some(segment) =
                self.ends[end].poll_transmit(self.config.at(now), &mut self.options)
            {
                self.sent += u64::from(segment.len > 0);
                if segment.len > 0 && self.sent % self.lost_of == 1 {
                    self.options.release(&segment);
                } else {
                    self.on_way[1 - end].push_back((now + self.delay, segment));
                }
            }
        }
    }

    /// Runs everything before `until`.
    fn run(&mut self, mut now: Time, until: Time) {
        loop {
            self.flush(now);
            let arrival = |end: usize| self.on_way[end].front().map_or(Time::NEVER, |(at, _)| *at);
            let arrivals = [arrival(0), arrival(1)];
            let timer = self.ends[0].poll_timer().min(self.ends[1].poll_timer());
            now = now.max(arrivals[0].min(arrivals[1]).min(timer));
            if now >= until {
                return;
            }
            match arrivals.iter().position(|at| *at == now) {
                Some(end) => {
                    let (_, segment) = self.on_way[end].pop_front().expect("it was seen");
                    self.ends[end].on_segment(self.config.at(now), &segment, &self.options);
                    self.options.release(&segment);
                }
                None => self.ends.iter_mut().for_each(|end| end.on_timer(self.config.at(now))),
            }
        }
    }
}

/// Returns the mean window in segments over `periods` loss periods, after as many to warm up. The
/// first segment is lost at the window whose mean is that of the cell, because a run with periodic
/// losses remembers it.
fn mean_window(congestion: Congestion, rtt_ms: u64, lost_of: u64, cell: u64, periods: u64) -> f64 {
    let bytes = cell * 40 / 37 * 1000;
    let config = Config {
        congestion,
        variant: Variant::Sack,
        receive_window: 1 << 30,
        initial_window: bytes,
        initial_ssthresh: Some(bytes),
        ..config()
    };
    let rtt = Duration::from_millis(rtt_ms);
    let mut path = Path::new(config, rtt, lost_of);
    let (mut windows, mut now) = (Vec::new(), Time::ZERO);
    while path.sent < 2 * periods * lost_of {
        path.run(now, now + rtt);
        now += rtt;
        if path.sent >= periods * lost_of {
            windows.push(path.ends[0].cwnd());
        }
    }
    windows.iter().sum::<u64>() as f64 / 1000.0 / windows.len() as f64
}

/// Checks Reno's and CUBIC's cells (C = 0.4) of both tables.
fn check(lost_of: u64, cells: [u64; 3], periods: u64) {
    let [reno, at_100_ms, at_10_ms] = cells;
    for (congestion, rtt_ms, cell) in [
        (Congestion::Reno, 100, reno),
        (Congestion::Cubic, 100, at_100_ms),
        (Congestion::Cubic, 10, at_10_ms),
    ] {
        let measured = mean_window(congestion, rtt_ms, lost_of, cell, periods);
        let ratio = measured / cell as f64;
        assert!((0.92..=1.08).contains(&ratio), "{congestion:?} {rtt_ms} ms: {measured} of {cell}");
    }
}

#[test]
fn one_of_a_thousand_is_lost() {
    check(1000, [38, 38, 38], 6);
}

#[test]
fn one_of_ten_thousand_is_lost() {
    check(10_000, [120, 187, 120], 6);
}

#[test]
#[ignore = "long: make verify"]
fn one_of_a_hundred_thousand_is_lost() {
    check(100_000, [379, 1054, 379], 6);
}

#[test]
#[ignore = "long: make verify"]
fn one_of_a_million_is_lost() {
    check(1_000_000, [1200, 5926, 1200], 4);
}
