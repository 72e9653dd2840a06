//! How Linux opens the receive window: `tcp_grow_window` and `tcp_rcv_space_adjust`, version 6.18.
//!
//! The offered window grows by two segments with each arriving segment, as far as the receive
//! buffer has room. The buffer grows with the data of a round trip (dynamic right-sizing). Only the
//! times at which the window opens are used, because Linux then acknowledges at once. The window
//! that limits the sender is the configured one.

use airtcp_kernel::{Duration, Time};

use super::FIRST_BYTE;
use crate::{At, Config};

/// The first window: 2^16 - 1 bytes, in whole segments.
const FIRST_OFFER: u64 = 65_535;
/// The room in the first buffer: 128 KiB (`tcp_rmem`), of which a segment of 1448 bytes takes 2304.
const FIRST_ROOM: u64 = 131_072 * 1448 / 2304;
/// The segments expected in the first round trip: `TCP_INIT_CWND`.
const FIRST_SEGMENTS: u64 = 10;
/// A millisecond clock cannot measure less.
const LEAST_ROUND_TRIP: Duration = Duration::from_millis(1);

/// The offered window, and the data of recent round trips.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Opening {
    /// `rcv_ssthresh`, in bytes; zero before the first segment.
    offered: u64,
    /// `window_clamp`, in bytes.
    room: u64,
    /// Bytes that arrived in the last round trip.
    came: u64,
    /// When this round trip began, and the bytes received by then.
    since: (Time, u64),
    /// Smoothed RTT; zero before the first sample.
    rtt: Duration,
}

impl Opening {
    /// Processes the round trip from an ACK to the data segment that echoes its timestamp:
    /// `tcp_rcv_rtt_update`.
    pub(crate) fn on_round_trip(&mut self, rtt: Duration) {
        let sample = rtt.max(LEAST_ROUND_TRIP).as_nanos();
        let before = self.rtt.as_nanos();
        let smoothed = if before == 0 { sample } else { before - before / 8 + sample / 8 };
        self.rtt = Duration::from_nanos(smoothed);
    }

    /// Whether [`Self::begin`] or, at the end of a round trip, [`Self::adjust_room`] must be
    /// called.
    #[inline]
    pub(crate) fn is_at_an_end(&self, now: Time) -> bool {
        self.offered == 0 || self.is_over(now)
    }

    /// Whether the round trip is over.
    #[inline]
    fn is_over(&self, now: Time) -> bool {
        self.rtt > Duration::ZERO && now.saturating_since(self.since.0) >= self.rtt
    }

    /// Offers the first window, unless a window was offered before.
    pub(crate) fn begin(&mut self, at: At<'_>) {
        if self.offered == 0 {
            let mss = u64::from(at.config.mss);
            self.offered = FIRST_OFFER.min(at.config.receive_window) / mss * mss;
            self.room = FIRST_ROOM.min(at.config.receive_window);
            self.came = (FIRST_SEGMENTS * mss).min(self.offered).max(1);
            self.since = (at.now, FIRST_BYTE);
        }
    }

    /// Processes a segment in order. Returns true if the window opens.
    #[inline]
    pub(crate) fn opens(&mut self, config: &Config) -> bool {
        let opens = self.offered < self.room;
        if opens {
            self.offered = (self.offered + 2 * u64::from(config.mss)).min(self.room);
        }
        opens
    }

    /// At the end of a round trip, enlarges the buffer according to the data that arrived in it, of
    /// all before `next`: `tcp_rcvbuf_grow`.
    pub(crate) fn adjust_room(&mut self, at: At<'_>, next: u64) {
        if !self.is_over(at.now) {
            return;
        }
        let came = next - self.since.1;
        if came > self.came {
            // "DRS is always one RTT late", and "slow start: allow the sender to double its rate".
            let twice = 2 * came;
            let wanted = twice + 2 * (twice * (came - self.came) / self.came);
            self.room = self.room.max(wanted.min(at.config.receive_window));
            self.came = came;
        }
        self.since = (at.now, next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Time {
        Time::from_nanos(1_000_000_000 + millis * 1_000_000)
    }

    fn config(receive_window: u64) -> Config {
        Config { receive_window, ..Config::standard() }
    }

    /// Returns how many of `segments` segments of 1000 bytes, one per millisecond, open the window.
    fn opened(opening: &mut Opening, config: &Config, segments: std::ops::Range<u64>) -> usize {
        let opens = |n: &u64| {
            opening.begin(config.at(at(*n)));
            let opens = opening.opens(config);
            opening.adjust_room(config.at(at(*n)), (n + 1) * 1000 + 1);
            opens
        };
        segments.filter(opens).count()
    }

    /// 65000 bytes are offered and there is room for 82374: 17.4 segments, two at a time.
    #[test]
    fn without_a_round_trip_the_first_buffer_is_all_there_is() {
        let mut opening = Opening::default();
        assert_eq!(opened(&mut opening, &config(10_000_000), 0..1000), 9);
    }

    #[test]
    fn a_window_that_is_open_does_not_open() {
        let mut opening = Opening::default();
        opening.on_round_trip(Duration::from_millis(50));
        assert_eq!(opened(&mut opening, &config(64_000), 0..1000), 0);
    }

    /// 51 segments arrive in the first 50 ms instead of the expected 10. That makes room for
    /// 102000 + 2 * 102000 * 41 / 10 = 938400 bytes, and no more later, because each further round
    /// trip brings 50. The offer grows in steps of 2000: 9 segments take it from 65000 to the first room
    /// of 82374, and 429 from there.
    #[test]
    fn room_grows_with_what_a_round_trip_brings() {
        let mut opening = Opening::default();
        let config = config(10_000_000);
        opening.on_round_trip(Duration::from_millis(50));
        let opens = opened(&mut opening, &config, 0..2000);
        assert_eq!(opening.room, 938_400);
        assert_eq!(opens, 9 + 429);
    }

    #[test]
    fn round_trips_are_smoothed_by_an_eighth() {
        let mut opening = Opening::default();
        opening.on_round_trip(Duration::from_millis(80));
        opening.on_round_trip(Duration::from_millis(160));
        assert_eq!(opening.rtt, Duration::from_millis(90));
        opening.on_round_trip(Duration::ZERO);
        assert_eq!(opening.rtt, Duration::from_micros(78_875));
    }
}
