//! Points in simulated time and spans between them, as integer nanoseconds.
//!
//! Simultaneity is physics in slotted contention: two stations collide because they transmit in the
//! same slot. With integers this is an exact comparison that needs no tolerance. Nothing here uses
//! the wall clock.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

use serde::{Deserialize, Serialize};

/// A point in simulated time: nanoseconds since the start of the run.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Time(u64);

/// A span of simulated time in nanoseconds; never negative.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Duration(u64);

impl Time {
    /// The start of every run.
    pub const ZERO: Self = Self(0);
    /// Later than every event: "no deadline".
    pub const NEVER: Self = Self(u64::MAX);

    /// Creates the point `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns the nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the seconds since the start. For reports only: never feed the value back into the
    /// simulation.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// Returns the point `span` earlier, but not before the start.
    pub const fn saturating_sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(span.0))
    }

    /// Returns the span from `earlier` to `self`, or zero if `earlier` is later than `self`.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// A span of zero.
    pub const ZERO: Self = Self(0);

    /// Creates a span of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns the first `part` of `count` parts that differ by a nanosecond at most.
    pub const fn part(self, part: usize, count: usize) -> Self {
        Self(self.0 * part as u64 / count as u64)
    }

    /// Creates a span of `micros` microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    /// Creates a span of `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// Creates a span of `secs` seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000_000)
    }

    /// Creates a span of `secs` seconds, rounded to the nearest nanosecond. Clamps it to `0 ..=
    /// 2^62` ns, so that adding it to a [`Time`] cannot overflow.
    pub fn from_secs_f64(secs: f64) -> Self {
        const LONGEST: f64 = (1_u64 << 62) as f64;
        // `clamp` keeps NaN, and `as` maps it to zero.
        Self((secs * 1e9 + 0.5).clamp(0.0, LONGEST) as u64)
    }

    /// Returns this span in nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns this span in seconds, for reports only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-9
    }
}

impl Add<Duration> for Time {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0 + span.0)
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, span: Duration) {
        self.0 += span.0;
    }
}

/// The span between two points; `earlier` must not be later than `self`.
impl Sub for Time {
    type Output = Duration;
    fn sub(self, earlier: Self) -> Duration {
        debug_assert!(earlier <= self, "time ran backwards: {earlier:?} after {self:?}");
        Duration(self.0 - earlier.0)
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Duration {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl SubAssign for Duration {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0 * factor)
    }
}

/// The number of whole spans of `unit` that fit into `self`.
impl Div for Duration {
    type Output = u64;
    fn div(self, unit: Self) -> u64 {
        self.0 / unit.0
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03} us", self.0 / 1_000, self.0 % 1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_round_to_the_nearest_nanosecond_and_clip() {
        assert_eq!(Duration::from_secs_f64(1.5e-9).as_nanos(), 2);
        assert_eq!(Duration::from_secs_f64(0.2), Duration::from_millis(200));
        assert_eq!(Duration::from_secs_f64(-1.0), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(f64::NAN), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(f64::INFINITY).as_nanos(), 1 << 62);
    }

    #[test]
    fn division_counts_whole_slots() {
        let slot = Duration::from_micros(20);

        assert_eq!(Duration::from_micros(59) / slot, 2);
        assert_eq!(Duration::from_micros(60) / slot, 3);
    }

    #[test]
    fn display_keeps_every_nanosecond() {
        assert_eq!(Time::from_nanos(1_000_000_007).to_string(), "1.000000007 s");
        assert_eq!(Duration::from_nanos(973_091).to_string(), "973.091 us");
    }
}
