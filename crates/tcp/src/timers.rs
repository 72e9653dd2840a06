//! When a sender's timers expire: exactly on time, or at Linux's ticks. The receiver's delayed-ACK
//! timer is elsewhere.

use airtcp_kernel::{Duration, Time};

use crate::{Config, Timers};

/// Linux adds this to the timeouts of probes and of the reordering window (`TCP_TIMEOUT_MIN_US`).
const LINUX_ALLOWANCE: Duration = Duration::from_millis(2);
/// From this many ticks on, Linux's timers are on the next level of its wheel (`LVL_START`), whose
/// steps are 2^3 times as long.
const LINUX_LEVEL: u64 = 63;
const LINUX_LEVEL_SHIFT: u32 = 3;

impl Config {
    /// Returns when a timer set now for `wait` expires.
    #[inline]
    pub(crate) fn expiry(&self, now: Time, wait: Duration) -> Time {
        expiry(self.tick(), now, wait)
    }

    /// Returns the timer tick; zero for exact timers.
    #[inline]
    pub(crate) fn tick(&self) -> Duration {
        match self.rules.timers {
            Timers::Exact => Duration::ZERO,
            Timers::Linux => self.clock_granularity.max(Duration::from_nanos(1)),
        }
    }

    /// Returns PTO of RFC 8985 section 7.2 for the round trip `srtt`, before it is limited to the
    /// RTO.
    pub(crate) fn probe_timeout(&self, srtt: Duration, is_lone: bool) -> Duration {
        // The RFC's WCDelAckT, the other end's longest ACK delay, is known here; Linux uses the
        // minimum RTO.
        let allowance = match (self.rules.timers, is_lone) {
            (Timers::Exact, true) => self.peer_delay(),
            (Timers::Exact, false) => Duration::ZERO,
            (Timers::Linux, true) => self.min_rto,
            (Timers::Linux, false) => LINUX_ALLOWANCE,
        };
        srtt * 2 + allowance
    }

    /// Returns when the reordering timer for a segment that is lost at `due` expires (RFC 8985
    /// section 6.2, step 5).
    pub(crate) fn reordering_expiry(&self, now: Time, due: Time) -> Time {
        match self.rules.timers {
            Timers::Exact => due,
            Timers::Linux => self.expiry(now, due.saturating_since(now) + LINUX_ALLOWANCE),
        }
    }
}

/// Returns when a timer set now for `wait` expires. A nonzero `tick` rounds it up, so it never
/// expires early.
#[inline]
pub(crate) fn expiry(tick: Duration, now: Time, wait: Duration) -> Time {
    if tick == Duration::ZERO { now + wait } else { linux_expiry(tick, now, wait) }
}

/// Rounds like Linux, which counts whole ticks, rounded up, from the last tick before now. That
/// tick has partly passed, so the timer expires one tick later (`calc_wheel_index` in
/// kernel/time/timer.c). Ticks begin at time zero here; on a host they begin at any time.
fn linux_expiry(tick: Duration, now: Time, wait: Duration) -> Time {
    let tick = tick.as_nanos();
    let ticks = wait.as_nanos().div_ceil(tick);
    let mut level = 0;
    while ticks >> level >= LINUX_LEVEL {
        level += LINUX_LEVEL_SHIFT;
    }
    let last = (now.as_nanos() / tick).saturating_add(ticks);
    Time::from_nanos((((last >> level) + 1) << level).saturating_mul(tick))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linux() -> Config {
        let mut config = Config {
            clock_granularity: Duration::from_millis(4),
            min_rto: Duration::from_millis(200),
            ..Config::standard()
        };
        config.rules.timers = Timers::Linux;
        config
    }

    /// Returns the duration of a timer in tenths of a millisecond.
    fn tenths(set: u64, wait: Duration) -> u64 {
        let now = Time::from_nanos(set * 100_000);
        linux().expiry(now, wait).saturating_since(now).as_nanos() / 100_000
    }

    /// Measured on Linux 6.18 with ticks of 4 ms, by packetdrill scripts whose time begins at a
    /// tick, to within a few tenths of a millisecond. Two segments are sent after a handshake of
    /// 10, 20, 50 or 80 ms; the tail loss probe follows 25.2, 47.2, 105.2 or 167.2 ms later.
    #[test]
    fn probes_go_when_those_of_linux_do() {
        for (handshake, measured) in [(10, 252), (20, 472), (50, 1052), (80, 1672)] {
            // The handshake takes a few tenths of a millisecond longer, and so does everything
            // after it.
            let srtt = Duration::from_micros(handshake * 1000 + 200);
            let took = tenths(handshake * 10 + 4, linux().probe_timeout(srtt, false));
            assert!(took.abs_diff(measured) <= 5, "{handshake}: {took}");
        }
    }

    /// The last of four segments is SACKed one round trip after it was sent; retransmissions follow
    /// 11.0, 11.0, 18.9 and 26.9 ms later.
    #[test]
    fn late_segments_are_lost_when_those_of_linux_are() {
        for (handshake, measured) in [(10, 110), (20, 110), (50, 189), (80, 269)] {
            let now = Time::from_nanos(handshake * 2_000_000 + 600_000);
            let due = now + Duration::from_micros(handshake * 1000 / 4);
            let expires = linux().reordering_expiry(now, due);
            let took = expires.saturating_since(now).as_nanos() / 100_000;
            assert!(took.abs_diff(measured) <= 5, "{handshake}: {took}");
        }
    }

    /// The tail loss probe of a single segment: two round trips plus the minimum RTO, unless the
    /// RTO is shorter. After 10 and 20 ms that is 213 and 227 ms. After 50 ms the RTO, 50 + 200 ms,
    /// is 63 ticks, which are on a coarser level: 253 to 281 ms in steps of 4 ms, depending on the
    /// phase of the ticks.
    #[test]
    fn long_timers_are_coarser() {
        for (handshake, measured) in [(10, 2132), (20, 2272)] {
            let srtt = Duration::from_micros(handshake * 1000 + 200);
            let rto = srtt + Duration::from_millis(200);
            let took = tenths(handshake * 10 + 4, linux().probe_timeout(srtt, true).min(rto));
            assert!(took.abs_diff(measured) <= 5, "{handshake}: {took}");
        }
        let rto = Duration::from_micros(250_200);
        let took: Vec<u64> = (0..8).map(|tick| tenths(504 + 40 * tick, rto)).collect();
        assert_eq!(took.iter().min(), Some(&2536));
        assert_eq!(took.iter().max(), Some(&2816));
    }

    #[test]
    fn exact_timers_expire_when_they_are_said_to() {
        let config = Config::standard();
        let (now, wait) = (Time::from_nanos(123_456), Duration::from_micros(7));
        assert_eq!(config.expiry(now, wait), now + wait);
        assert_eq!(config.reordering_expiry(now, now + wait), now + wait);
        assert_eq!(config.probe_timeout(wait, false), wait * 2);
        let lone = wait * 2 + Duration::from_millis(100);
        assert_eq!(config.probe_timeout(wait, true), lone);
    }

    #[test]
    fn no_time_is_too_long_and_no_tick_too_short() {
        let config = Config { clock_granularity: Duration::ZERO, ..linux() };
        assert!(
            config.expiry(Time::ZERO, Duration::from_secs(120))
                >= Time::from_nanos(120_000_000_000)
        );
        let long = Duration::from_nanos(u64::MAX);
        assert_eq!(linux().expiry(Time::from_nanos(1), long), Time::NEVER);
    }
}
