//! Linux's ACK delay: `tcp_event_data_recv` and `tcp_send_delayed_ack`, version 6.
//!
//! The first segments, those after a pause, and those that open the [window](super::opening) are
//! acknowledged at once. Later the delay follows the gaps between segments. "Pingpong" mode, with
//! longer delays for applications that reply, is left out.

use airtcp_kernel::{Duration, Time};

use super::opening::Opening;
use crate::config::LONGEST_ADAPTIVE_DELAY as LONGEST;
use crate::{At, Config};

/// `TCP_MAX_QUICKACKS`: the most quick ACKs in a row.
const MOST_QUICK: u64 = 16;
/// ... and the fewest.
const LEAST_QUICK: u64 = 2;

/// State of the adaptive delay.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Adaptive {
    /// Quick ACKs that remain.
    quick: u32,
    /// `ato`, the delay; zero before the first segment.
    delay: Duration,
    /// When the last segment arrived.
    last: Time,
    opening: Opening,
}

impl Adaptive {
    /// Processes the round trip from an ACK to the data segment that echoes its timestamp.
    pub(crate) fn on_round_trip(&mut self, rtt: Duration) {
        self.opening.on_round_trip(rtt);
    }

    /// Processes a segment in order; everything before `next` has arrived. Returns the delay of its
    /// ACK, zero for none.
    // Nearly all segments come in mid-round-trip and not after a pause; their path has no call.
    #[inline(always)]
    pub(crate) fn on_data(&mut self, at: At<'_>, next: u64) -> Duration {
        let is_pause = at.now.saturating_since(self.last) > at.config.min_rto;
        if is_pause || self.delay == Duration::ZERO || self.opening.is_at_an_end(at.now) {
            self.on_rare_data(at, next)
        } else {
            self.on_data_by::<false>(at, next)
        }
    }

    #[inline(never)]
    fn on_rare_data(&mut self, at: At<'_>, next: u64) -> Duration {
        self.on_data_by::<true>(at, next)
    }

    /// Implements [`Self::on_data`]. `RARE`: the segment is the first one, or comes after a pause
    /// or at the end of a round trip.
    #[inline(always)]
    fn on_data_by<const RARE: bool>(&mut self, at: At<'_>, next: u64) -> Duration {
        let least = at.config.delayed_ack.timeout;
        let gap = at.now.saturating_since(self.last);
        self.last = at.now;
        let half = |span: Duration| Duration::from_nanos(span.as_nanos() / 2);
        if RARE && self.delay == Duration::ZERO {
            self.delay = least;
            self.be_quick(at.config);
        } else if gap <= half(least) {
            self.delay = half(self.delay) + half(least);
        } else if gap < self.delay {
            self.delay = half(self.delay) + gap;
        } else if RARE && gap > at.config.min_rto {
            // After a pause the other end's window may have fallen to one segment.
            self.be_quick(at.config);
        }
        if RARE {
            self.opening.begin(at);
        }
        if self.opening.opens(at.config) {
            // `tcp_grow_window`.
            self.quick |= 1;
        }
        if RARE {
            self.opening.adjust_room(at, next);
        }
        if self.quick > 0 {
            self.quick -= 1;
            Duration::ZERO
        } else {
            self.delay.min(LONGEST)
        }
    }

    /// Allows quick ACKs as `tcp_incr_quickack` does: half of the receive window in segments,
    /// within limits.
    fn be_quick(&mut self, config: &Config) {
        let half_window = config.receive_window / (2 * u64::from(config.mss));
        let quick = half_window.clamp(LEAST_QUICK, MOST_QUICK) as u32;
        self.quick = self.quick.max(quick);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::DelayedAck;

    const fn at(millis: u64) -> Time {
        Time::from_nanos(1_000_000_000 + millis * 1_000_000)
    }

    fn config() -> Config {
        let forty = Duration::from_millis(40);
        let delayed_ack = DelayedAck { adaptive: true, ..DelayedAck::every(2, forty) };
        Config { delayed_ack, ..Config::standard() }
    }

    /// Passes no new in-order data, because window opening is tested in `opening`.
    fn delay(adaptive: &mut Adaptive, config: &Config, millis: u64) -> Duration {
        adaptive.on_data(config.at(at(millis)), 1)
    }

    #[test]
    fn sixteen_acknowledgments_are_quick_and_again_after_a_pause() {
        let config = Config { receive_window: 64_000, ..config() };
        let mut adaptive = Adaptive::default();
        for millis in 0..16 {
            assert_eq!(delay(&mut adaptive, &config, millis), Duration::ZERO);
        }
        assert_eq!(delay(&mut adaptive, &config, 16), Duration::from_millis(40));
        // Longer than the minimum RTO, 200 ms.
        assert_eq!(delay(&mut adaptive, &config, 217), Duration::ZERO);
    }

    /// With segments of 1000 bytes 65000 are offered at first, and the buffer has room for 82374.
    /// Nine segments open the window by two each. The sixteen quick ACKs remain, except that the
    /// first makes their number odd.
    #[test]
    fn what_opens_the_window_is_acknowledged_at_once() {
        let config = Config { receive_window: 1_000_000, ..config() };
        let mut adaptive = Adaptive::default();
        let quick =
            (0..100).take_while(|millis| delay(&mut adaptive, &config, *millis) == Duration::ZERO);
        assert_eq!(quick.count(), 9 + 16);
    }

    #[test]
    fn the_delay_follows_the_gaps() {
        let config = Config { receive_window: 1000, ..config() };
        let mut adaptive = Adaptive::default();
        for _ in 0..LEAST_QUICK {
            assert_eq!(delay(&mut adaptive, &config, 0), Duration::ZERO);
        }
        // 40 / 2 + 30, 50 / 2 + 30, then 55 / 2 + 20 after a short gap.
        for (millis, expected) in [(30, 50_000), (60, 55_000), (61, 47_500)] {
            let expected = Duration::from_micros(expected);
            assert_eq!(delay(&mut adaptive, &config, millis), expected, "{millis}");
        }
    }
}
