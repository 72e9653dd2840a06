//! The whole exchanges that each group of stations hears and has not been told of: its *log*. While one is under way none
//! of the group gets at the medium, so nothing is done until the last has ended: then all that is left of them is that
//! the medium is idle from then on, and whether the frame that was received last was lost.
//!
//! Knows when frames begin and end, and not what is sensed of one (`telling.rs`).

use airtcp_kernel::{Duration, Time};

use super::clock::{Key, Rank};
use super::hearing::GroupId;
use super::node::Frame;
use crate::station::StationId;

/// The number of a whole exchange.
pub(super) type WholeId = u32;

/// A place in the order of all events: the key of one, and its station.
pub(super) type Place = (Key, StationId);

/// A whole exchange.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    pub(super) sender: StationId,
    /// Its data, which announce its end.
    pub(super) frame: Frame,
    /// The number of logs that have it.
    pub(super) logs: u32,
    /// A flag: it has ended.
    pub(super) has_ended: bool,
}

/// The whole exchanges that a group has not been told of.
#[derive(Clone, Debug)]
pub(super) struct Log {
    /// In the order in which they began. One of them at least is under way, or there are none.
    pub(super) entries: Vec<WholeId>,
    pub(super) under_way: u32,
    /// The instant at which the first is noticed.
    pub(super) noticed: Time,
    /// A flag: its queues are frozen as of the first notice.
    pub(super) is_frozen: bool,
    /// The place up to which their frames were told, if any were.
    pub(super) told: Option<Place>,
}

impl Log {
    #[inline]
    fn begins_anew_if_empty(&mut self) {
        if self.entries.is_empty() {
            (self.is_frozen, self.told) = (false, None);
        }
    }
}

/// Counts that exchange `id` is in one of `logs` less, and frees its number if it is in none.
#[inline]
fn leaves_log(logs: &mut u32, id: WholeId, free: &mut Vec<WholeId>) {
    *logs -= 1;
    if *logs == 0 {
        free.push(id);
    }
}

/// The whole exchanges of a field, and the logs of its groups.
#[derive(Debug)]
pub(super) struct Wholes {
    all: Vec<Whole>,
    free: Vec<WholeId>,
    pub(super) logs: Vec<Log>,
    /// Memory for what is told, and for frames.
    pub(super) steps: Vec<(Place, Step, WholeId)>,
    frames: Vec<(Time, Time)>,
}

/// The steps of an exchange that a group is told of, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    DataBegin,
    DataNoticed,
    DataEnd,
    AnswerBegins,
    AnswerNoticed,
    AnswerEnds,
}

impl Wholes {
    /// Makes those of so many groups.
    pub(super) fn new(groups: usize) -> Self {
        let log = Log {
            entries: Vec::new(),
            under_way: 0,
            noticed: Time::NEVER,
            is_frozen: false,
            told: None,
        };
        let logs = vec![log; groups];
        Self { all: Vec::new(), free: Vec::new(), logs, steps: Vec::new(), frames: Vec::new() }
    }

    /// Adds one that begins.
    #[inline]
    pub(super) fn add(&mut self, whole: Whole) -> WholeId {
        if let Some(id) = self.free.pop() {
            self.all[id as usize] = whole;
            return id;
        }
        self.all.push(whole);
        self.all.len() as WholeId - 1
    }

    #[inline]
    pub(super) fn one(&self, id: WholeId) -> &Whole {
        &self.all[id as usize]
    }

    /// Notes that one has ended.
    #[inline]
    pub(super) fn ends(&mut self, id: WholeId) {
        self.all[id as usize].has_ended = true;
    }

    /// Iterates over the data of those under way, and their senders.
    pub(super) fn under_way(&self) -> impl Iterator<Item = (&Frame, StationId)> {
        let under_way = self.all.iter().filter(|one| one.logs > 0 && !one.has_ended);
        under_way.map(|one| (&one.frame, one.sender))
    }

    /// Lists the beginnings and ends of frames before `now` of which `group` has not been told, in their order: each with
    /// its time, whether it is a beginning, and the sender of the data.
    pub(super) fn list_untold(
        &self,
        group: GroupId,
        now: Time,
        sifs: Duration,
    ) -> Vec<(Time, bool, StationId, Frame)> {
        let log = &self.logs[group as usize];
        let mut all = Vec::new();
        for &id in &log.entries {
            let Whole { sender, frame, .. } = &self.all[id as usize];
            let answer = frame.answer(*sender, sifs);
            let told = |time, rank, from| {
                time >= now || log.told.is_some_and(|told| (Key::new(time, rank), from) < told)
            };
            for (from, frame) in [(*sender, *frame), (frame.to, answer)] {
                for (time, rank) in [(frame.start, Rank::Start), (frame.end, Rank::End)] {
                    if !told(time, rank, from) {
                        all.push((time, rank == Rank::Start, *sender, frame));
                    }
                }
            }
        }
        all.sort_by_key(|&(time, ..)| time);
        all
    }

    /// Tells whether any are in logs.
    #[inline]
    pub(super) fn are_any(&self) -> bool {
        self.free.len() < self.all.len()
    }

    /// Tells whether `group` has any in its log.
    #[inline]
    pub(super) fn are_heard_by(&self, group: GroupId) -> bool {
        !self.logs[group as usize].entries.is_empty()
    }

    /// Tells whether `group` has been told nothing of what is in its log.
    #[inline]
    pub(super) fn is_plain(&self, group: GroupId) -> bool {
        self.logs[group as usize].told.is_none()
    }

    /// Notes that `group` is told of frames as they begin and end, from `place` on.
    pub(super) fn is_told(&mut self, group: GroupId, place: Place) {
        self.logs[group as usize].told = Some(place);
    }

    /// Notes that one begins that `group` hears, and notices at `notice`. Returns whether it is the first.
    #[inline]
    pub(super) fn begins_at(&mut self, group: GroupId, id: WholeId, notice: Time) -> bool {
        self.all[id as usize].logs += 1;
        let log = &mut self.logs[group as usize];
        log.entries.push(id);
        log.under_way += 1;
        let is_first = log.entries.len() == 1;
        if is_first {
            log.noticed = notice;
        }
        is_first
    }

    /// Notes that one ends that `group` hears. Returns whether none is left under way.
    #[inline]
    pub(super) fn ends_at(&mut self, group: GroupId) -> bool {
        let log = &mut self.logs[group as usize];
        log.under_way -= 1;
        log.under_way == 0
    }

    /// Releases from the log of `group` those that have ended and were told of, up to `limit`.
    pub(super) fn release_told(&mut self, group: GroupId, limit: Place) {
        let Self { all, free, logs, .. } = self;
        let log = &mut logs[group as usize];
        log.entries.retain(|&id| {
            let Whole { frame, has_ended, logs, .. } = &mut all[id as usize];
            let is_told = *has_ended && (Key::new(frame.announced, Rank::End), frame.to) < limit;
            if is_told {
                leaves_log(logs, id, free);
            }
            !is_told
        });
        log.begins_anew_if_empty();
    }

    /// Takes one that has not ended out of the log of `group`.
    pub(super) fn take_out(&mut self, group: GroupId, id: WholeId) {
        let Self { all, free, logs, .. } = self;
        let log = &mut logs[group as usize];
        log.entries.retain(|&one| one != id);
        log.under_way -= 1;
        leaves_log(&mut all[id as usize].logs, id, free);
        log.begins_anew_if_empty();
    }

    /// Empties the log of `group`.
    #[inline]
    pub(super) fn clear(&mut self, group: GroupId) {
        let Self { all, free, logs, .. } = self;
        let log = &mut logs[group as usize];
        for id in log.entries.drain(..) {
            leaves_log(&mut all[id as usize].logs, id, free);
        }
        log.begins_anew_if_empty();
    }

    /// Returns the first exchange that has begun before `limit`, and that `group` has not noticed when `played` is reached.
    pub(super) fn unnoticed(
        &self,
        group: GroupId,
        limit: Place,
        played: Place,
        detect: Duration,
    ) -> Option<WholeId> {
        let is_unnoticed = |&id: &WholeId| {
            let Whole { sender, frame, .. } = &self.all[id as usize];
            (Key::new(frame.start, Rank::Start), *sender) < limit
                && played <= (Key::new(frame.start + detect, Rank::Notice), *sender)
        };
        self.logs[group as usize].entries.iter().copied().find(is_unnoticed)
    }

    /// Returns the instant from which on the last notice is over of those under way at `group`, or the first that is to
    /// come.
    pub(super) fn first_notice(&self, group: GroupId, now: Time, detect: Duration) -> Time {
        let entries = self.logs[group as usize].entries.iter().map(|&id| &self.all[id as usize]);
        let under_way = entries.filter(|one| one.frame.announced > now);
        under_way.map(|one| one.frame.start + detect).min().unwrap_or(Time::NEVER)
    }

    /// Lists in their order the steps at `group` from the place on up to which it was told, before `limit`.
    pub(super) fn list_steps(
        &mut self,
        group: GroupId,
        limit: Place,
        (sifs, detect): (Duration, Duration),
    ) {
        let Self { all, logs, steps, .. } = self;
        let log = &logs[group as usize];
        steps.clear();
        for &id in &log.entries {
            let Whole { sender, frame, .. } = &all[id as usize];
            let answer = frame.end + sifs;
            let of_whole = [
                (frame.start, Rank::Start, *sender, Step::DataBegin),
                (frame.start + detect, Rank::Notice, *sender, Step::DataNoticed),
                (frame.end, Rank::End, *sender, Step::DataEnd),
                (answer, Rank::Start, frame.to, Step::AnswerBegins),
                (answer + detect, Rank::Notice, frame.to, Step::AnswerNoticed),
                (frame.announced, Rank::End, frame.to, Step::AnswerEnds),
            ];
            for (time, rank, station, step) in of_whole {
                let place = (Key::new(time, rank), station);
                if place < limit && log.told.is_none_or(|told| told <= place) {
                    steps.push((place, step, id));
                }
            }
        }
        steps.sort_unstable();
    }
}

/// The marks of several exchanges, which overlap, on one that has heard them all and nothing else.
pub(super) struct Passed {
    /// The time between them in which none of their frames is on the air.
    pub(super) idle: Duration,
    /// A flag: the last frame that it has received was lost, if it has received any; and the end of that.
    pub(super) lost: Option<bool>,
    pub(super) until: Time,
}

impl Wholes {
    /// Returns whether `group` has one in its log, and whether it was told of any of its frames.
    #[inline]
    pub(super) fn is_one(&self, group: GroupId) -> (bool, bool) {
        let log = &self.logs[group as usize];
        (log.entries.len() == 1, log.told.is_some())
    }

    /// Returns what those in the log of `group` have left, which have ended; `None` if frames of them are understood in
    /// part.
    pub(super) fn pass(
        &mut self,
        group: GroupId,
        (sifs, detect): (Duration, Duration),
    ) -> Option<Passed> {
        let Self { all, logs, frames, .. } = self;
        frames.clear();
        for &id in &logs[group as usize].entries {
            let one = &all[id as usize];
            if one.frame.header_end > one.frame.start {
                return None;
            }
            let [start, data_end, answer, end] = one.frame.times(sifs);
            frames.extend([(start, data_end), (answer, end)]);
        }
        frames.sort_unstable();
        let mut passed = Passed { idle: Duration::ZERO, lost: None, until: Time::ZERO };
        let mut covered = frames[0].0;
        for (place, &(start, end)) in frames.iter().enumerate() {
            if start > covered {
                passed.idle += start - covered;
            }
            let noticed = start + detect;
            let next = frames.get(place + 1).map_or(Time::NEVER, |next| next.0);
            // It is received if it is heard alone when it is noticed, and nothing was received while it began.
            if covered <= noticed && next >= noticed && passed.until <= start {
                (passed.lost, passed.until) = (Some(next < end), end);
            }
            covered = covered.max(end);
        }
        Some(passed)
    }
}
