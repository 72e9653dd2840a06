//! The growth of CUBIC's window in Linux (tcp_cubic.c of version 6), where it departs from RFC
//! 9438. It looks ahead by the minimum RTT instead of the smoothed RTT, and works in whole
//! segments. It grows by at least a twentieth of the acknowledged data before the first loss, and
//! recomputes only when the window has changed or 1/32 s has passed.

use airtcp_kernel::{Duration, Time};

use super::{BETA, C, seconds};

/// `HZ / 32`, in ticks of a millisecond.
const REST: Duration = Duration::from_millis(31);
/// Before the first loss the window grows by a segment for at most this many acknowledged segments.
const MOST_BEFORE_LOSS: u64 = 20;
/// The window grows by at most one segment per this many acknowledged segments, that is, by half
/// per round trip.
const LEAST: u64 = 2;

/// `beta`, and its scale.
const BETA_PARTS: (u64, u64) = (717, 1024);

/// Returns the window in bytes after a loss, in whole segments: `bictcp_recalc_ssthresh`.
pub(super) fn left_of(window: u64, mss: u64) -> u64 {
    let (part, whole) = BETA_PARTS;
    window / mss * part / whole * mss
}

/// Linux's state in addition to the curve. Windows are in segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    /// `delay_min`; `None` before the first sample.
    pub(super) least_rtt: Option<Duration>,
    /// The congestion avoidance epoch: its start, K and the window at K. `None` before its first
    /// ACK.
    stage: Option<Stage>,
    /// `cnt`, the number of acknowledged segments per segment of growth.
    each: u64,
    /// `snd_cwnd_cnt`, the acknowledged segments that have not produced growth yet.
    unpaid: u64,
}

#[derive(Clone, Debug)]
struct Stage {
    start: Time,
    k: f64,
    origin: u64,
    /// The time and the window of the last computation.
    summed: (Time, u64),
    /// `tcp_cwnd`, the Reno-friendly window, and the acknowledged segments towards its next
    /// segment.
    friend: u64,
    acked: u64,
}

impl Steps {
    /// Ends the epoch.
    pub(super) fn end_stage(&mut self) {
        self.stage = None;
    }

    /// Excludes the idle time since `since` from the epoch.
    pub(super) fn skip(&mut self, since: Time, now: Time) {
        if let Some(stage) = &mut self.stage {
            stage.start = (stage.start + now.saturating_since(since)).min(now);
        }
    }

    /// Returns the growth of the window in segments; `w_max` is zero before the first loss.
    #[inline(always)]
    pub(super) fn growth(&mut self, now: Time, cwnd: u64, w_max: f64, acked: u64) -> u64 {
        let is_new = self.stage.is_none();
        let stage = match &mut self.stage {
            Some(stage) => stage,
            none => none.insert(Stage::begin(now, cwnd, w_max as u64)),
        };
        stage.acked += acked;
        let (before, window) = stage.summed;
        if is_new || window != cwnd || now.saturating_since(before) > REST {
            stage.summed = (now, cwnd);
            self.each = stage.sum(now, self.least_rtt.unwrap_or(Duration::ZERO), cwnd, w_max < 1.0);
        }
        // Credit gathered at another `cnt` counts for at most one segment.
        let mut gained = 0;
        if self.unpaid >= self.each {
            self.unpaid = 0;
            gained = 1;
        }
        self.unpaid += acked;
        if self.unpaid >= self.each {
            gained += self.unpaid / self.each;
            self.unpaid %= self.each;
        }
        gained
    }
}

impl Stage {
    /// Begins an epoch with this window after a loss at `w_max`.
    #[cold]
    #[inline(never)]
    fn begin(now: Time, cwnd: u64, w_max: u64) -> Self {
        let below = w_max.saturating_sub(cwnd);
        let k = libm::cbrt(below as f64 / C);
        let summed = (now, cwnd);
        Self { start: now, k, origin: cwnd.max(w_max), summed, friend: cwnd, acked: 0 }
    }

    /// Returns the number of acknowledged segments per segment of growth.
    fn sum(&mut self, now: Time, ahead: Duration, cwnd: u64, is_first: bool) -> u64 {
        let d = seconds(now.saturating_since(self.start) + ahead) - self.k;
        let step = (C * d * d * d).abs() as u64;
        let target = if d < 0.0 { self.origin.saturating_sub(step) } else { self.origin + step };
        let mut each = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if is_first {
            each = each.min(MOST_BEFORE_LOSS);
        }
        // RFC 9438 section 4.3, in eighths and whole segments: (1 + beta) / (3 (1 - beta)) of a
        // window.
        let eighths = (8.0 * (1.0 + BETA) / (3.0 * (1.0 - BETA))) as u64;
        let price = (cwnd * eighths) >> 3;
        while self.acked > price {
            self.acked -= price;
            self.friend += 1;
        }
        if self.friend > cwnd {
            each = each.min(cwnd / (self.friend - cwnd));
        }
        each.max(LEAST)
    }
}
