//! Pacing: segments that the window allows are sent at a rate, in bursts of about a millisecond.
//!
//! The rate comes from the [sender](super) or its congestion controller.

use airtcp_kernel::{Duration, Time};

use super::tcb::Tcb;
use crate::congestion::{Controller, Window};

const SECOND_NS: u128 = 1_000_000_000;
/// The first segments of a connection are not paced: `tcp_update_skb_after_send` of Linux.
const UNPACED: u64 = 10;
/// A burst lasts about a millisecond: `sk_pacing_shift` 10 of Linux's `tcp_tso_autosize`, and
/// draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2.2, "BBR.send_quantum".
const BURSTS_PER_SECOND: u64 = 1 << 10;
/// ... and is at most this long, in bytes.
const LONGEST_BURST: u64 = 1 << 16;
/// ... and at least two segments, or one below this rate in bytes/s.
const SLOW: u64 = 1_200_000 / 8;

/// Earliest departure times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacer {
    /// When everything sent so far has departed at the pacing rate.
    next: Time,
    /// The rest of the current burst, in bytes.
    burst: u64,
    /// Whether each segment is a burst of its own, without credit for late segments, as in ns-3.
    is_single: bool,
    /// Bytes/s; `None` before the first RTT sample.
    pub(super) rate: Option<u64>,
}

impl Pacer {
    pub(super) fn new(is_single: bool) -> Self {
        Self { next: Time::ZERO, burst: 0, is_single, rate: None }
    }

    /// Returns when the next segment may be sent, if not now.
    #[inline]
    pub(super) fn wait(&self, now: Time) -> Option<Time> {
        (self.burst == 0 && self.next > now).then_some(self.next)
    }

    /// Charges `len` bytes that are sent, after `segments` segments with payload.
    pub(super) fn on_sent(&mut self, now: Time, len: u64, segments: u64, mss: u64) {
        let Some(rate) = self.rate.filter(|_| segments >= UNPACED) else { return };
        if self.burst == 0 && !self.is_single {
            let least = if rate < SLOW { mss } else { 2 * mss };
            self.burst = (rate / BURSTS_PER_SECOND).min(LONGEST_BURST).max(least);
        }
        self.burst = self.burst.saturating_sub(len);
        let span = (u128::from(len) * SECOND_NS).div_ceil(u128::from(rate.max(1)));
        let span = u64::try_from(span).unwrap_or(u64::MAX / 4);
        // As in Linux, a late segment gets credit for part of the time.
        let late = now.saturating_since(self.next).as_nanos();
        let credit = if self.is_single { 0 } else { late.min(span / 2) };
        self.next = self.next.max(now) + Duration::from_nanos(span - credit);
    }

    /// Ends the burst: nothing more can be sent now, for a reason other than pacing.
    #[inline]
    pub(super) fn end_burst(&mut self) {
        self.burst = 0;
    }
}

impl Tcb {
    /// Returns the pacing rate in bytes/s, even if pacing is off.
    pub(crate) fn pacing_rate(&self) -> Option<u64> {
        let Window { cwnd, ssthresh } = self.window;
        match self.controller.rate() {
            Some(rate) => Some(rate as u64),
            None => self.rtt.srtt().map(|srtt| rate_of_window(cwnd, ssthresh, srtt)),
        }
    }
}

/// Returns the rate of Linux's `tcp_update_pacing_rate`: twice the window per round trip while the
/// window may double, then 1.2 times the window (`tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`).
fn rate_of_window(cwnd: u64, ssthresh: u64, srtt: Duration) -> u64 {
    let percent = if cwnd < ssthresh / 2 { 200 } else { 120 };
    let srtt = srtt.as_nanos().max(1);
    // For windows up to some gigabytes the product fits into 64 bits, whose division takes a tenth
    // of the time.
    if let Some(bytes) = cwnd.checked_mul(percent)
        && let Some(scaled) = (bytes / 100).checked_mul(SECOND_NS as u64)
    {
        return scaled / srtt;
    }
    let rate = u128::from(cwnd) * u128::from(percent) / 100 * SECOND_NS / u128::from(srtt);
    u64::try_from(rate).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(micros: u64) -> Time {
        Time::from_nanos(micros * 1000)
    }

    #[test]
    fn a_burst_takes_a_millisecond_and_the_next_waits_for_it() {
        // 4096 segments of 1000 bytes per second: bursts of 4000 bytes, 976.6 us each.
        let mut pacer = Pacer { rate: Some(4_096_000), ..Pacer::new(false) };
        for _ in 0..4 {
            assert_eq!(pacer.wait(at(1000)), None);
            pacer.on_sent(at(1000), 1000, 10, 1000);
        }
        // The first is late by more than its duration, of which half is credited: 3.5 * 244.14 us.
        let next = pacer.wait(at(1000)).expect("the burst is over").as_nanos();
        assert!(next.abs_diff(1_000_000 + 854_492) < 10, "{next}");
    }

    #[test]
    fn the_first_ten_are_not_paced_nor_anything_before_a_round_trip() {
        let mut pacer = Pacer { rate: Some(1000), ..Pacer::new(false) };
        pacer.on_sent(at(0), 1000, 9, 1000);
        assert_eq!(pacer.wait(at(0)), None);
        pacer.on_sent(at(0), 1000, 10, 1000);
        assert_eq!(pacer.wait(at(0)), Some(at(1_000_000)));
        let mut unknown = Pacer::new(false);
        unknown.on_sent(at(0), 1000, 10, 1000);
        assert_eq!(unknown.wait(at(0)), None);
    }

    #[test]
    fn a_single_segment_waits_for_the_whole_of_the_one_before() {
        // 1000 segments of 1000 bytes per second; the first is a second late.
        let mut pacer = Pacer { rate: Some(1_000_000), ..Pacer::new(true) };
        pacer.on_sent(at(1_000_000), 1000, 10, 1000);
        assert_eq!(pacer.wait(at(1_000_000)), Some(at(1_001_000)));
        pacer.on_sent(at(1_001_000), 1000, 11, 1000);
        assert_eq!(pacer.wait(at(1_001_500)), Some(at(1_002_000)));
    }

    #[test]
    fn the_rate_is_twice_the_windows_while_it_may_double() {
        let rtt = Duration::from_millis(100);
        assert_eq!(rate_of_window(10_000, u64::MAX, rtt), 200_000);
        assert_eq!(rate_of_window(10_000, 20_002, rtt), 200_000);
        assert_eq!(rate_of_window(10_000, 20_000, rtt), 120_000);
    }
}
