//! The *log* of a listener of an even field: the exchanges of its busy period. A log is normally
//! read when the busy period is over. Three facts remain: when the medium became busy, when it
//! became idle again, and whether the last received frame was lost. Long logs are read earlier in
//! part.
//!
//! Only the times of frames matter here, not queues or the contents of frames.

use airtcp_kernel::{Duration, Time};

use super::period::Period;
use super::viewing::{Viewers, Viewing};
use crate::field::books::Counts;
use crate::field::node::{Frame, NONE};
use crate::sequence::dcf::FrameTimes;
use crate::station::StationId;

/// The number of exchanges from which a log is read before the busy period ends.
pub(super) const LONG: usize = 64;

/// An exchange: its data and, without a collision, the response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) sender: StationId,
    /// The receiver of the data.
    pub(super) to: StationId,
    /// The start and end of the data, and the end of the exchange that they announce.
    pub(super) start: Time,
    pub(super) end: Time,
    pub(super) announced: Time,
    /// Offsets from `start` in nanoseconds: of the ends and the start that [`Frame`] has as
    /// `header_end`, `first_end` and `last_start`.
    header: u32,
    first: u32,
    last: u32,
    /// How access points count the data.
    pub(super) counts: Counts,
    /// Whether another frame began within the detection time of the data at the same stations. In a
    /// log it is set when the data end.
    pub(super) collides: bool,
}

/// A frame of a running exchange of `sender`: its data, or the response to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameId {
    pub(super) sender: StationId,
    pub(super) is_answer: bool,
}

/// The exchanges of a listener's busy period, and the result of reading the first of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    /// Exchanges not read yet, ordered by start.
    unread: Vec<Sent>,
    /// Exchanges whose data were read, and whose responses were not. The first to end is the last.
    open: Vec<Sent>,
    /// The result of reading so far, if anything was read.
    period: Option<Period>,
    viewing: Viewing,
}

/// A frame in the log.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    pub(super) start: Time,
    pub(super) end: Time,
    pub(super) from: StationId,
    pub(super) is_answer: bool,
}

/// What a busy period leaves at its listener.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    /// The end of EIFS without its final DIFS, if a frame was received; time zero if the last
    /// received frame was not lost. `nav` is the latest announced end of exchanges without a
    /// response, or an earlier instant.
    pub(super) eifs: Option<Time>,
    pub(super) nav: Time,
}

/// PHY times that the reader of a log needs.
#[derive(Clone, Copy, Debug)]
pub(in crate::field) struct Times {
    pub(in crate::field) sifs: Duration,
    pub(in crate::field) detect: Duration,
    /// EIFS without its final DIFS.
    pub(in crate::field) eifs: Duration,
}

impl Sent {
    /// The exchange of a station that has sent nothing yet.
    pub(super) const NONE: Self = Self {
        sender: NONE,
        to: NONE,
        start: Time::ZERO,
        end: Time::ZERO,
        announced: Time::ZERO,
        header: 0,
        first: 0,
        last: 0,
        counts: Counts::CONTROL,
        collides: false,
    };

    /// Creates the exchange of `sender` that begins at `start` with a single MPDU for `to`.
    #[inline(always)]
    pub(super) fn of_one(
        sender: StationId,
        to: StationId,
        (start, times, sifs): (Time, &FrameTimes, Duration),
        has_data: bool,
    ) -> Self {
        let end = start + times.data;
        Self {
            sender,
            to,
            start,
            end,
            announced: end + (sifs + times.ack),
            header: 0,
            first: times.data.as_nanos() as u32,
            last: 0,
            counts: Counts::of_data(has_data),
            collides: false,
        }
    }

    /// Creates the exchange of `sender` that begins with `data`.
    #[inline(always)]
    pub(super) fn new(sender: StationId, data: &Frame) -> Self {
        let &Frame { to, start, end, announced, .. } = data;
        let since = |time: Time| (time - start).as_nanos() as u32;
        Self {
            sender,
            to,
            start,
            end,
            announced,
            header: since(data.header_end),
            first: since(data.first_end),
            last: since(data.last_start),
            counts: Counts::of(data),
            collides: false,
        }
    }

    /// Returns the end of preamble and header, the end of the first MPDU, and the start of the
    /// last.
    #[inline]
    pub(super) fn parts(&self) -> (Time, Time, Time) {
        let at = |since: u32| self.start + Duration::from_nanos(u64::from(since));
        (at(self.header), at(self.first), at(self.last))
    }

    /// Returns the data as a frame of the log.
    #[inline(always)]
    fn data(&self) -> Heard {
        Heard { start: self.start, end: self.end, from: self.sender, is_answer: false }
    }

    /// Returns the response as a frame of the log.
    #[inline(always)]
    fn answer(&self, sifs: Duration) -> Heard {
        Heard { start: self.end + sifs, end: self.announced, from: self.to, is_answer: true }
    }
}

impl Log {
    /// Appends `sent`, which begins now. Returns the number of unread exchanges.
    #[inline(always)]
    pub(super) fn hears(&mut self, sent: &Sent) -> usize {
        self.unread.push(*sent);
        self.unread.len()
    }

    /// Marks that the data of `sender`, which end now, have collided.
    pub(super) fn has_collided(&mut self, sender: StationId) {
        if let Some(one) = self.unread.iter_mut().rfind(|one| one.sender == sender) {
            one.collides = true;
        } else {
            let place = self.open.iter().position(|one| one.sender == sender);
            self.open.remove(place.expect("what ends was heard"));
        }
    }

    /// True if it is empty.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.unread.is_empty() && self.period.is_none()
    }

    /// Appends to `begun` the exchanges whose data began at `since` or later, ordered by start.
    pub(super) fn list_begun(&self, since: Time, begun: &mut Vec<(Time, StationId)>) {
        let all = self.open.iter().chain(&self.unread);
        let fresh = all.filter(|one| one.start >= since);
        begun.clear();
        begun.extend(fresh.map(|one| (one.start, one.sender)));
        begun.sort_unstable();
    }

    /// Copies from the shared log `together` what began since `since`. Returns the number of
    /// exchanges on the air.
    pub(super) fn part(&mut self, together: &Self, since: Time) -> u32 {
        debug_assert!(self.period.is_none() && self.open.is_empty(), "it has listened together");
        let all = together.open.iter().chain(&together.unread);
        self.unread.clear();
        self.unread.extend(all.filter(|one| one.start >= since));
        self.unread.sort_unstable_by_key(|one| (one.start, one.sender));
        self.unread.len() as u32
    }

    /// Returns the frame that is received at `now`, and when it was detected. Everything must have
    /// been read.
    pub(super) fn received(&self, now: Time) -> Option<(FrameId, Time)> {
        let lock = self.period.as_ref()?.lock.as_ref()?;
        (lock.noticed <= now && now < lock.end).then_some((lock.of, lock.noticed))
    }

    /// Reports to `viewers` what has been on the air up to `now`. Everything must have been read.
    pub(super) fn view(&mut self, now: Time, viewers: &mut Viewers<'_>) {
        self.viewing.frames_end(now, viewers);
    }

    /// Reads it to its end; the busy period is over at `now`. `own` is the station of this listener
    /// if it is not shared.
    pub(super) fn read_to_end(
        &mut self,
        own: StationId,
        (now, times): (Time, &Times),
        viewers: &mut Viewers<'_>,
    ) -> Passed {
        self.read(own, (Time::NEVER, times), viewers);
        let mut period = self.period.take().expect("something was on the air");
        period.reception_ends(times.eifs);
        debug_assert!(self.open.is_empty() && period.end == now, "it is over");
        if !viewers.access_points.is_empty() {
            self.viewing.frames_end(now, viewers);
        }
        Passed { eifs: period.eifs, nav: period.nav }
    }

    /// Reads the frames that began before `limit`. `own` is the station of this listener if it is
    /// not shared.
    #[inline(never)]
    pub(super) fn read(
        &mut self,
        own: StationId,
        (limit, times): (Time, &Times),
        viewers: &mut Viewers<'_>,
    ) {
        let Self { unread, open, period, viewing, .. } = self;
        let mut read = 0;
        loop {
            let answer = open.last().map_or(limit, |one| limit.min(one.end + times.sifs));
            let data = unread.get(read).filter(|data| data.start <= answer);
            let heard = if let Some(data) = data {
                (data.data(), data)
            } else if answer < limit {
                let data = &open[open.len() - 1];
                (data.answer(times.sifs), data)
            } else {
                break;
            };
            if !viewers.access_points.is_empty() {
                viewing.frame_begins(&heard, viewers);
            }
            Period::hears(period, &heard, own, times);
            if let Some(data) = data {
                read += 1;
                if !data.collides {
                    open.insert(open.partition_point(|one| one.end > data.end), *data);
                }
            } else {
                open.pop();
            }
        }
        if read == unread.len() {
            unread.clear();
        } else {
            unread.drain(..read);
        }
    }
}
