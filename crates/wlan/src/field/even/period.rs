//! A busy period as a listener of an even field senses it, frame by frame: its end, and which frame
//! is received.

use airtcp_kernel::{Duration, Time};

use super::log::{FrameId, Heard, Sent, Times};
use crate::station::StationId;

/// The part of a busy period that was read.
#[derive(Clone, Debug)]
pub(super) struct Period {
    /// The latest end of a frame.
    pub(super) end: Time,
    /// Preambles that begin before this instant are not detected: the listener was receiving or
    /// sending.
    free_from: Time,
    /// The frame being received, unless another begins before it is detected.
    pub(super) lock: Option<Reception>,
    /// The end of EIFS without its final DIFS, if a frame was received; time zero if the last
    /// received frame was not lost.
    pub(super) eifs: Option<Time>,
    pub(super) nav: Time,
}

/// A frame being received.
#[derive(Clone, Debug)]
pub(super) struct Reception {
    pub(super) of: FrameId,
    pub(super) noticed: Time,
    pub(super) end: Time,
    /// The end of the exchange, as the frame announces it.
    announced: Time,
    /// The parts of the frame, as in [`Sent::parts`].
    header_end: Time,
    first_end: Time,
    last_start: Time,
    /// The start of the first interference, and the end of the last.
    first_bad: Time,
    last_bad: Time,
}

impl Period {
    /// Extends `period`, or starts it, with a frame of the exchange.
    #[inline(always)]
    pub(super) fn hears(
        period: &mut Option<Self>,
        frame: &(Heard, &Sent),
        own: StationId,
        times: &Times,
    ) {
        match period {
            Some(period) => period.goes_on(frame, own, times),
            None => *period = Some(Self::new(frame, own, times)),
        }
    }

    #[inline]
    fn new(frame: &(Heard, &Sent), own: StationId, times: &Times) -> Self {
        let heard = frame.0;
        let is_own = heard.from == own;
        let lock = || Reception::new(frame, heard.start + times.detect);
        Self {
            end: heard.end,
            free_from: if is_own { heard.end } else { Time::ZERO },
            lock: (!is_own).then(lock),
            eifs: None,
            nav: Time::ZERO,
        }
    }

    #[inline]
    fn goes_on(&mut self, frame: &(Heard, &Sent), own: StationId, times: &Times) {
        let Heard { start, end, from, .. } = frame.0;
        if let Some(lock) = &mut self.lock {
            if start < lock.noticed {
                // Neither is detected.
                self.lock = None;
            } else if start < lock.end {
                lock.first_bad = lock.first_bad.min(start);
                lock.last_bad = lock.last_bad.max(end.min(lock.end));
            } else {
                self.reception_ends(times.eifs);
            }
        }
        let noticed = start + times.detect;
        if from == own {
            self.lock = None;
            self.free_from = self.free_from.max(end);
        } else if self.lock.is_none() && self.free_from <= start && self.end <= noticed {
            self.lock = Some(Reception::new(frame, noticed));
        }
        self.end = self.end.max(end);
    }

    /// Ends the current reception, if there is one.
    #[inline]
    pub(super) fn reception_ends(&mut self, eifs: Duration) {
        let Some(lock) = &self.lock else { return };
        self.free_from = lock.end;
        let is_understood = lock.first_bad >= lock.end
            || lock.first_bad >= lock.header_end
                && (lock.first_bad >= lock.first_end || lock.last_bad <= lock.last_start);
        if is_understood {
            self.eifs = Some(Time::ZERO);
            if lock.announced > lock.end {
                self.nav = self.nav.max(lock.announced);
            }
        } else {
            self.eifs = Some(lock.end + eifs);
        }
        self.lock = None;
    }
}

impl Reception {
    /// Creates the reception of a frame of the exchange with `data`, without interference.
    #[inline]
    fn new(&(heard, data): &(Heard, &Sent), noticed: Time) -> Self {
        let Heard { start, end, is_answer, .. } = heard;
        let of = FrameId { sender: data.sender, is_answer };
        let (header_end, first_end, last_start) =
            if is_answer { (start, end, start) } else { data.parts() };
        let announced = data.announced;
        let (first_bad, last_bad) = (Time::NEVER, Time::ZERO);
        Self { of, noticed, end, announced, header_end, first_end, last_start, first_bad, last_bad }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::hearing::Need;
    use crate::field::node::{Frame, Kind};

    const OWN: StationId = 9;

    fn at(micros: u64) -> Time {
        Time::ZERO + Duration::from_micros(micros)
    }

    /// Builds the period of data frames given as (station, start, end) in us; each announces a
    /// response of 60 us.
    fn hear(frames: &[(StationId, u64, u64)]) -> Period {
        let micros = Duration::from_micros;
        let times = Times { sifs: micros(16), detect: micros(4), eifs: micros(94) };
        let mut period: Option<Period> = None;
        for &(from, start, end) in frames {
            let (start, end) = (at(start), at(end));
            let mut data = Frame::whole((Kind::Data, 0, 0), (start, end), Need::NONE);
            data.announced += micros(60);
            let heard = Heard { start, end, from, is_answer: false };
            Period::hears(&mut period, &(heard, &Sent::new(from, &data)), OWN, &times);
        }
        let mut period = period.expect("there are frames");
        period.reception_ends(times.eifs);
        period
    }

    fn marks(frames: &[(StationId, u64, u64)]) -> (Option<Time>, Time, Time) {
        let period = hear(frames);
        (period.eifs, period.nav, period.end)
    }

    #[test]
    fn what_is_heard_alone_is_understood() {
        assert_eq!(marks(&[(1, 0, 300)]), (Some(Time::ZERO), at(360), at(300)));
    }

    #[test]
    fn eifs_follows_what_was_received_and_overlapped() {
        assert_eq!(marks(&[(1, 0, 300), (2, 200, 500)]), (Some(at(394)), Time::ZERO, at(500)));
    }

    /// The second frame begins at the instant at which the first is detected. It does not prevent
    /// the detection, but destroys the frame.
    #[test]
    fn of_two_that_begin_within_the_detection_time_neither_is_received() {
        assert_eq!(marks(&[(1, 0, 300), (2, 3, 250)]), (None, Time::ZERO, at(300)));
        assert_eq!(marks(&[(1, 0, 300), (2, 4, 250)]), (Some(at(394)), Time::ZERO, at(300)));
    }

    /// The third frame begins after the first has ended, and 2 us before the end of the second,
    /// which was not received.
    #[test]
    fn what_begins_beside_the_end_of_another_is_received() {
        let frames = [(1, 0, 300), (2, 200, 320), (3, 318, 600)];
        assert_eq!(marks(&frames), (Some(Time::ZERO), at(660), at(600)));
        let frames = [(1, 0, 300), (2, 200, 323), (3, 318, 600)];
        assert_eq!(marks(&frames), (Some(at(394)), Time::ZERO, at(600)));
    }

    #[test]
    fn who_sends_receives_nothing_that_has_begun_meanwhile() {
        assert_eq!(marks(&[(OWN, 0, 300), (1, 2, 310)]), (None, Time::ZERO, at(310)));
        assert_eq!(marks(&[(OWN, 0, 300), (1, 305, 500)]), (Some(Time::ZERO), at(560), at(500)));
    }
}
