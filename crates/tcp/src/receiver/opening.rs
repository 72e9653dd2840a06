//! The way in which Linux opens the receive window: `tcp_grow_window` and `tcp_rcv_space_adjust`, version 6.18.
//!
//! The window that is offered grows by two segments with each that comes, up to what the receive buffer has
//! room for; and the buffer grows with what comes in a round trip, by dynamic right-sizing. Knows when the window
//! opens, which is when Linux acknowledges at once; the window that the sender obeys is the configuration's.

use airtcp_kernel::{Duration, Time};

use super::FIRST_BYTE;
use crate::Config;

/// The first window: 2^16 - 1 bytes, in whole segments.
const FIRST_OFFER: u64 = 65_535;
/// The room of the first buffer: 128 KiB (`tcp_rmem`), of which a segment of 1448 bytes takes 2304.
const FIRST_ROOM: u64 = 131_072 * 1448 / 2304;
/// The segments that the first round trip is thought to bring: `TCP_INIT_CWND`.
const FIRST_SEGMENTS: u64 = 10;
/// A clock of milliseconds sees no shorter round trip.
const LEAST_ROUND_TRIP: Duration = Duration::from_millis(1);

/// The window that is offered, and the data that have come of late.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Opening {
    /// `rcv_ssthresh`, in bytes; zero before the first segment.
    offered: u64,
    /// `window_clamp`, in bytes.
    room: u64,
    /// The bytes that came in the last round trip.
    came: u64,
    /// The beginning of this round trip, and what had come by then.
    since: (Time, u64),
    /// Smoothed; zero before it is known.
    rtt: Duration,
}

impl Opening {
    /// Takes the time since an acknowledgment left that a segment with data echoes: `tcp_rcv_rtt_update`.
    pub(crate) fn on_round_trip(&mut self, rtt: Duration) {
        let sample = rtt.max(LEAST_ROUND_TRIP).as_nanos();
        let before = self.rtt.as_nanos();
        let smoothed = if before == 0 { sample } else { before - before / 8 + sample / 8 };
        self.rtt = Duration::from_nanos(smoothed);
    }

    /// Tells whether the window is to [begin](Self::begin), or a round trip is over and the room to be
    /// [adjusted](Self::adjust_room).
    #[inline]
    pub(crate) fn is_at_an_end(&self, now: Time) -> bool {
        self.offered == 0 || self.is_over(now)
    }

    /// Tells whether the round trip is over.
    #[inline]
    fn is_over(&self, now: Time) -> bool {
        self.rtt > Duration::ZERO && now.saturating_since(self.since.0) >= self.rtt
    }

    /// Offers the first window, if none was offered yet.
    pub(crate) fn begin(&mut self, config: &Config, now: Time) {
        if self.offered == 0 {
            let mss = u64::from(config.mss);
            self.offered = FIRST_OFFER.min(config.receive_window) / mss * mss;
            self.room = FIRST_ROOM.min(config.receive_window);
            self.came = (FIRST_SEGMENTS * mss).min(self.offered).max(1);
            self.since = (now, FIRST_BYTE);
        }
    }

    /// Takes a segment in order. Returns whether the window opens.
    #[inline]
    pub(crate) fn opens(&mut self, config: &Config) -> bool {
        let opens = self.offered < self.room;
        if opens {
            self.offered = (self.offered + 2 * u64::from(config.mss)).min(self.room);
        }
        opens
    }

    /// Makes room, if a round trip is over, for what has come in it and is read, of all before `next`: `tcp_rcvbuf_grow`.
    pub(crate) fn adjust_room(&mut self, config: &Config, now: Time, next: u64) {
        if !self.is_over(now) {
            return;
        }
        let came = next - self.since.1;
        if came > self.came {
            // "DRS is always one RTT late", and "slow start: allow the sender to double its rate".
            let twice = 2 * came;
            let wanted = twice + 2 * (twice * (came - self.came) / self.came);
            self.room = self.room.max(wanted.min(config.receive_window));
            self.came = came;
        }
        self.since = (now, next);
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

    /// Counts how many of `segments` segments of 1000 bytes open the window, one each millisecond.
    fn opened(opening: &mut Opening, config: &Config, segments: std::ops::Range<u64>) -> usize {
        let opens = |n: &u64| {
            opening.begin(config, at(*n));
            let opens = opening.opens(config);
            opening.adjust_room(config, at(*n), (n + 1) * 1000 + 1);
            opens
        };
        segments.filter(opens).count()
    }

    /// 65000 bytes are offered, and there is room for 82374: 17.4 segments, two at a time.
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

    /// In the first 50 ms come 51 segments, where 10 were thought to: room for 102000 + 2 * 102000 * 41 / 10 =
    /// 938400 bytes, and then no more, for each later round trip brings 50. The offer gets there in steps of 2000:
    /// from 65000 to the first room of 82374 by 9 segments, and from there by 429.
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
