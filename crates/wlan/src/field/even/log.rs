//! The *log* of a listener of an even field: the exchanges of its busy period, of which only the first were read. A log is
//! read when the busy period is over: all that is left of it is when the medium became busy, when it is idle again, and
//! whether the frame that was received last was lost.
//!
//! Knows when frames begin and end, and neither queues nor what is in a frame.

use airtcp_kernel::{Duration, Time};

use super::over::{Survey, survey};
use super::period::Period;
use super::viewing::{Viewers, Viewing};
use crate::field::books::Counts;
use crate::field::hearing::GroupId;
use crate::field::node::{Frame, NONE};
use crate::sequence::dcf::FrameTimes;
use crate::station::StationId;

/// The number of exchanges in a log from which on it is read before its end.
pub(super) const LONG: usize = 64;

/// An exchange: its data, and their answer unless they collide.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) sender: StationId,
    pub(super) group: GroupId,
    /// The receiver of the data.
    pub(super) to: StationId,
    /// The beginning and end of the data, and the end of the exchange, which they announce.
    pub(super) start: Time,
    pub(super) end: Time,
    pub(super) announced: Time,
    /// The times in nanoseconds from the beginning until the ends and the beginning of which [`Frame`] tells.
    header: u32,
    first: u32,
    last: u32,
    /// The kind of the data among what access points sense.
    pub(super) counts: Counts,
    /// A flag: another frame has begun within the detection time of the data, at the same stations. In a log it is set when
    /// the data end.
    pub(super) collides: bool,
}

/// A frame of the exchange of a sender that is under way: its data, or the answer to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameId {
    pub(super) sender: StationId,
    pub(super) is_answer: bool,
}

/// The exchanges of the busy period of a listener, and what it has made of the first of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    /// Those of which nothing was read, in the order in which they begin.
    unread: Vec<Sent>,
    /// A flag: among them is an exchange of those who listen, or one for them; of those of a group who listen together one
    /// that has collided.
    has_own: bool,
    /// Those whose data were read, and whose answers were not.
    open: Vec<Sent>,
    /// Memory for the beginnings of answers, and the places of their exchanges.
    answers: Vec<(Time, u32)>,
    /// So much of it as was read, if anything was.
    period: Option<Period>,
    viewing: Viewing,
}

/// A frame as it is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    pub(super) start: Time,
    pub(super) end: Time,
    pub(super) from: StationId,
    pub(super) is_answer: bool,
}

/// The marks of a busy period on its listener.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    /// The end of EIFS but for the space at its end, if a frame was received: the beginning of time if the last was not
    /// lost; and the last end that was announced of an exchange that was not answered, or before.
    pub(super) eifs: Option<Time>,
    pub(super) nav: Time,
}

/// The times by which a log is read.
#[derive(Clone, Copy, Debug)]
pub(in crate::field) struct Times {
    pub(in crate::field) sifs: Duration,
    pub(in crate::field) detect: Duration,
    /// EIFS without the space at its end.
    pub(in crate::field) eifs: Duration,
}

impl Sent {
    /// That of a station which has sent nothing yet.
    pub(super) const NONE: Self = Self {
        sender: NONE,
        group: 0,
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

    /// Makes that of a station of `group` that begins at `start` with one frame for `to`, of such times.
    #[inline(always)]
    pub(super) fn of_one(
        (sender, group): (StationId, GroupId),
        to: StationId,
        (start, times, sifs): (Time, &FrameTimes, Duration),
        has_data: bool,
    ) -> Self {
        let end = start + times.data;
        Self {
            sender,
            group,
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

    /// Makes that of a station of `group` that begins with such data.
    #[inline(always)]
    pub(super) fn new((sender, group): (StationId, GroupId), data: &Frame) -> Self {
        let &Frame { to, start, end, announced, .. } = data;
        let since = |time: Time| (time - start).as_nanos() as u32;
        Self {
            sender,
            group,
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

    /// Returns the end of preamble and header, that of the first MPDU, and the beginning of the last.
    #[inline]
    pub(super) fn parts(&self) -> (Time, Time, Time) {
        let at = |since: u32| self.start + Duration::from_nanos(u64::from(since));
        (at(self.header), at(self.first), at(self.last))
    }

    /// Returns the data as they are heard.
    #[inline(always)]
    fn data(&self) -> Heard {
        Heard { start: self.start, end: self.end, from: self.sender, is_answer: false }
    }

    /// Returns the answer as it is heard.
    #[inline(always)]
    fn answer(&self, sifs: Duration) -> Heard {
        Heard { start: self.end + sifs, end: self.announced, from: self.to, is_answer: true }
    }
}

impl Log {
    /// Writes `sent` into it, which begins. Returns the number of exchanges that were not read as a whole.
    #[inline(always)]
    pub(super) fn hears(&mut self, sent: &Sent) -> usize {
        self.unread.push(*sent);
        self.unread.len()
    }

    /// Notes that the exchange which was written last is one of those who listen, or one for them.
    #[inline]
    pub(super) fn last_is_own(&mut self) {
        self.has_own = true;
    }

    /// Notes that the data of `sender`, which end, have collided.
    pub(super) fn has_collided(&mut self, sender: StationId) {
        if let Some(one) = self.unread.iter_mut().rfind(|one| one.sender == sender) {
            one.collides = true;
        } else {
            let place = self.open.iter().position(|one| one.sender == sender);
            self.open.swap_remove(place.expect("what ends was heard"));
        }
    }

    /// Tells whether it has only what began before any of it could be detected, so that nothing is received.
    #[inline]
    pub(super) fn is_one_collision(&self, detect: Duration) -> bool {
        match self.unread[..] {
            [first, .., last] => self.period.is_none() && last.start < first.start + detect,
            _ => false,
        }
    }

    /// Tells whether some of it was read, and not all.
    #[inline]
    pub(super) fn is_in_part_read(&self) -> bool {
        self.period.is_some()
    }

    /// Tells whether nothing is in it.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.unread.is_empty() && self.period.is_none()
    }

    /// Ends it: nothing but one exchange was on the air, of which nothing else is left.
    #[inline]
    pub(super) fn passes_alone(&mut self) {
        debug_assert!(self.unread.len() == 1 && self.period.is_none());
        self.unread.clear();
        self.has_own = false;
    }

    /// Lists in `begun` the senders of the exchanges whose data have begun at `since` or later, in the order in which they
    /// have.
    pub(super) fn list_begun(&self, since: Time, begun: &mut Vec<(Time, StationId)>) {
        let all = self.open.iter().chain(&self.unread);
        let fresh = all.filter(|one| one.start >= since);
        begun.clear();
        begun.extend(fresh.map(|one| (one.start, one.sender)));
        begun.sort_unstable();
    }

    /// Takes in what has begun since `since` of what those have heard that have listened `together` with whom this is. Returns
    /// how many exchanges that are.
    pub(super) fn part(&mut self, together: &Self, own: StationId, since: Time) -> u32 {
        debug_assert!(self.period.is_none() && self.open.is_empty(), "it has listened together");
        let all = together.open.iter().chain(&together.unread);
        self.unread.clear();
        self.unread.extend(all.filter(|one| one.start >= since));
        self.unread.sort_unstable_by_key(|one| (one.start, one.sender));
        self.has_own = self.unread.iter().any(|one| one.sender == own || one.to == own);
        self.unread.len() as u32
    }

    /// Returns the frame that is received at `now`, where all was read, and when that was noticed.
    pub(super) fn received(&self, now: Time) -> Option<(FrameId, Time)> {
        let lock = self.period.as_ref()?.lock.as_ref()?;
        (lock.noticed <= now && now < lock.end).then_some((lock.of, lock.noticed))
    }

    /// Tells `viewers` of what has been on the air up to `now`, where all was read.
    pub(super) fn view(&mut self, now: Time, viewers: &mut Viewers<'_>) {
        if let Some(period) = &self.period {
            self.viewing.flush(period.end, now, viewers);
        }
    }

    /// Reads it to its end: the busy period is over `now`. `own` is the station that listens there alone.
    #[inline(always)]
    pub(super) fn read_to_end(
        &mut self,
        own: StationId,
        (now, times): (Time, &Times),
        viewers: &mut Viewers<'_>,
    ) -> Passed {
        if self.is_one_collision(times.detect) && self.unread.iter().all(|one| one.collides) {
            if viewers.access_points.is_empty() || !self.has_own {
                viewers.others_pass(self.unread[0].start, now, Duration::ZERO);
                self.unread.clear();
                self.has_own = false;
                return Passed { eifs: None, nav: Time::ZERO };
            }
        } else if !self.has_own
            && self.period.is_none()
            && let Some(survey) = survey(&self.unread, times.sifs, now)
            && let Some(passed) = self.read_tail(survey, times)
        {
            viewers.others_pass(self.unread[0].start, now, survey.idle);
            self.unread.clear();
            return passed;
        }
        self.read_all(own, (now, times), viewers)
    }

    #[inline(never)]
    fn read_all(
        &mut self,
        own: StationId,
        (now, times): (Time, &Times),
        viewers: &mut Viewers<'_>,
    ) -> Passed {
        self.read(own, (Time::NEVER, times), viewers);
        self.has_own = false;
        let mut period = self.period.take().expect("something was on the air");
        period.reception_ends(times.eifs);
        debug_assert!(self.open.is_empty() && period.end == now, "it is over");
        if !viewers.access_points.is_empty() {
            self.viewing.end(now, viewers);
        }
        Passed { eifs: period.eifs, nav: period.nav }
    }

    /// Reads the tail of a busy period that is over, as of those who have sent nothing in it. None if nothing was received
    /// in it.
    #[inline(always)]
    fn read_tail(&mut self, survey: Survey, times: &Times) -> Option<Passed> {
        match survey.tail {
            None => Some(Passed { eifs: Some(Time::ZERO), nav: Time::ZERO }),
            Some(start) => self.read_from(start, times),
        }
    }

    #[inline(never)]
    fn read_from(&mut self, start: Time, times: &Times) -> Option<Passed> {
        let Self { unread, answers, .. } = self;
        let sifs = times.sifs;
        let mut read = unread.partition_point(|one| one.start < start);
        for (place, one) in (0..).zip(&unread[..read]) {
            if !one.collides && one.end + sifs >= start {
                answers.push((one.end + sifs, place));
            }
        }
        let mut period: Option<Period> = None;
        loop {
            let mut answer = (Time::NEVER, 0);
            let mut place = 0;
            for (one, &other) in answers.iter().enumerate() {
                if other.0 < answer.0 {
                    (answer, place) = (other, one);
                }
            }
            match unread.get(read) {
                Some(data) if data.start <= answer.0 => {
                    Period::hears(&mut period, &(data.data(), data), StationId::MAX, times);
                    if !data.collides {
                        answers.push((data.end + sifs, read as u32));
                    }
                    read += 1;
                }
                _ if answer.0 == Time::NEVER => break,
                _ => {
                    answers.swap_remove(place);
                    let data = &unread[answer.1 as usize];
                    Period::hears(&mut period, &(data.answer(sifs), data), StationId::MAX, times);
                }
            }
        }
        let mut period = period.expect("it does not end with silence");
        period.reception_ends(times.eifs);
        period.eifs.map(|eifs| Passed { eifs: Some(eifs), nav: period.nav })
    }

    /// Reads the frames that have begun before `limit`. `own` is the station that listens there alone.
    #[inline(never)]
    pub(super) fn read(
        &mut self,
        own: StationId,
        (limit, times): (Time, &Times),
        viewers: &mut Viewers<'_>,
    ) {
        let Self { unread, open, period, viewing, .. } = self;
        let mut read = 0;
        while let Some((heard, place)) = next(&unread[read..], open, limit, times.sifs) {
            let heard = (heard, place.map_or_else(|| &unread[read], |place| &open[place]));
            if !viewers.access_points.is_empty() {
                let end = period.as_ref().map(|period| period.end);
                viewing.go_on(end, &heard, viewers);
            }
            Period::hears(period, &heard, own, times);
            if let Some(place) = place {
                open.swap_remove(place);
                continue;
            }
            if !unread[read].collides {
                open.push(unread[read]);
            }
            read += 1;
        }
        unread.drain(..read);
    }
}

/// Returns the next frame that begins before `limit`: the data of the first exchange that is unread, or the answer of one that
/// is open, with the place of that.
#[inline(always)]
fn next(
    unread: &[Sent],
    open: &[Sent],
    limit: Time,
    sifs: Duration,
) -> Option<(Heard, Option<usize>)> {
    let mut first = limit;
    let mut place = None;
    for (one, sent) in open.iter().enumerate() {
        if sent.end + sifs < first {
            (first, place) = (sent.end + sifs, Some(one));
        }
    }
    match unread.first() {
        Some(data) if data.start <= first => Some((data.data(), None)),
        _ => place.map(|one| (open[one].answer(sifs), place)),
    }
}
