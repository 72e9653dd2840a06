//! The exchanges on the air of an even field, and the *log* of each listener: those of its busy period, of which only the
//! first were read. A log is read when the busy period is over: all that is left of it is when the medium became busy,
//! when it is idle again, and whether the frame that was received last was lost.
//!
//! Knows when frames begin and end, and neither queues nor what is in a frame.

use airtcp_kernel::{Duration, Time};

use super::over::idle_time;
use super::period::Period;
use super::viewing::{Viewers, Viewing};
use crate::field::hearing::GroupId;
use crate::field::listener::ListenerId;
use crate::field::node::Frame;
use crate::station::StationId;

/// The number of an exchange.
pub(in crate::field) type SentId = u32;

/// An exchange: data, and their answer unless they collide.
#[derive(Clone, Debug)]
pub(in crate::field) struct Sent {
    pub(in crate::field) sender: StationId,
    pub(super) group: GroupId,
    /// Its data, which announce its end.
    pub(in crate::field) frame: Frame,
    /// A flag: another frame has begun within the detection time of the data, at the same stations.
    pub(in crate::field) collides: bool,
    /// A flag: it is over.
    has_ended: bool,
    /// The number of logs that have it, and one more while it is not over.
    holders: u32,
}

/// A frame of an exchange: its data, or the answer to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::field) struct FrameId {
    pub(super) sent: SentId,
    pub(super) is_answer: bool,
}

/// The exchanges of a field, and the logs of its listeners.
#[derive(Debug)]
pub(in crate::field) struct Journal {
    all: Vec<Sent>,
    free: Vec<SentId>,
    logs: Vec<Log>,
    times: Times,
}

/// The exchanges of the busy period of a listener, and what it has made of the first of them.
#[derive(Clone, Debug, Default)]
struct Log {
    /// Those of which nothing was read, in the order in which they begin, behind so many that were.
    unread: Vec<SentId>,
    read: usize,
    /// Those whose data were read, and whose answers were not, or that may still collide; and a flag: one may.
    open: Vec<Open>,
    may_collide: bool,
    /// So much of it as was read, if anything was.
    period: Option<Period>,
    viewing: Viewing,
}

/// An exchange whose data were read: its answer.
#[derive(Clone, Copy, Debug)]
struct Open {
    answer: Heard,
    sent: SentId,
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

impl Journal {
    /// Makes the empty logs of so many listeners.
    pub(in crate::field) fn new(listeners: usize, times: Times) -> Self {
        let logs = vec![Log::default(); listeners];
        Self { all: Vec::new(), free: Vec::new(), logs, times }
    }

    /// Adds an exchange of a station of `group` that begins.
    #[inline]
    pub(super) fn add(&mut self, (sender, group): (StationId, GroupId), frame: Frame) -> SentId {
        let (collides, has_ended) = (false, false);
        let sent = Sent { sender, group, frame, collides, has_ended, holders: 1 };
        if let Some(id) = self.free.pop() {
            self.all[id as usize] = sent;
            return id;
        }
        self.all.push(sent);
        self.all.len() as SentId - 1
    }

    /// Notes that so many logs have `id` from now on.
    #[inline]
    pub(super) fn is_held(&mut self, id: SentId, logs: usize) {
        self.all[id as usize].holders += logs as u32;
    }

    /// Writes `id`, which begins, into the log of `place`, one of those that are to have it.
    #[inline]
    pub(super) fn hears(&mut self, place: ListenerId, id: SentId) {
        self.logs[place as usize].unread.push(id);
    }

    /// Tells whether the log of `place` is so long that some of it should be read.
    #[inline]
    pub(super) fn is_long(&self, place: ListenerId) -> bool {
        const MANY: usize = 64;
        self.logs[place as usize].unread.len() > MANY
    }

    #[inline]
    pub(super) fn one(&self, id: SentId) -> &Sent {
        &self.all[id as usize]
    }

    #[inline]
    pub(super) fn one_mut(&mut self, id: SentId) -> &mut Sent {
        &mut self.all[id as usize]
    }

    /// Notes that one is over.
    #[inline]
    pub(super) fn ends(&mut self, id: SentId) {
        self.all[id as usize].has_ended = true;
        release(&mut self.all, &mut self.free, id);
    }

    /// Iterates over those that are not over.
    pub(in crate::field) fn under_way(&self) -> impl Iterator<Item = &Sent> {
        self.all.iter().filter(|one| one.holders > 0 && !one.has_ended)
    }

    /// Lists in `begun` the exchanges whose data have begun at `since` or later, as `place` hears, in that order.
    pub(super) fn list_begun(&self, place: ListenerId, since: Time, begun: &mut Vec<SentId>) {
        let log = &self.logs[place as usize];
        let open = log.open.iter().map(|one| one.sent);
        let all = open.chain(log.unread[log.read..].iter().copied());
        let start = |&id: &SentId| self.all[id as usize].frame.start;
        begun.clear();
        begun.extend(all.filter(|id| start(id) >= since));
        begun.sort_unstable_by_key(|id| (start(id), self.all[*id as usize].sender));
    }

    /// Has `station` hear for itself from now on what has begun at `together` since `since`. Returns how many that are.
    pub(super) fn part(&mut self, station: StationId, together: ListenerId, since: Time) -> u32 {
        let mut begun = std::mem::take(&mut self.logs[station as usize].unread);
        self.list_begun(together, since, &mut begun);
        for &id in &begun {
            self.all[id as usize].holders += 1;
        }
        let number = begun.len() as u32;
        let log = &mut self.logs[station as usize];
        debug_assert!(log.period.is_none() && log.open.is_empty(), "it has listened together");
        (log.unread, log.read) = (begun, 0);
        number
    }

    /// Returns the frame that `place` is receiving at `now`, where all was read, and when it has noticed that.
    pub(super) fn received(&self, place: ListenerId, now: Time) -> Option<(FrameId, Time)> {
        let lock = self.logs[place as usize].period.as_ref()?.lock.as_ref()?;
        (lock.noticed <= now && now < lock.end).then_some((lock.of, lock.noticed))
    }

    /// Reads the log of `place` up to `limit`: the frames that have begun before. `own` is the station that listens there
    /// alone.
    pub(super) fn read(
        &mut self,
        (place, own): (ListenerId, StationId),
        limit: Time,
        viewers: &mut Viewers<'_>,
    ) {
        let Self { all, free, logs, times } = self;
        logs[place as usize].read(all, free, own, (limit, times), viewers);
    }

    /// Reads the log of `place` to its end: the busy period is over `now`.
    #[inline]
    pub(super) fn read_to_end(
        &mut self,
        (place, own): (ListenerId, StationId),
        now: Time,
        viewers: &mut Viewers<'_>,
    ) -> Passed {
        let Self { all, free, logs, times } = self;
        let log = &mut logs[place as usize];
        if let [id] = log.unread[..]
            && log.read == 0
            && log.period.is_none()
        {
            let Sent { sender, ref frame, collides, .. } = all[id as usize];
            if !collides && sender != own && frame.to != own {
                viewers.exchange_passes(sender, frame, times.sifs);
                log.unread.clear();
                release(all, free, id);
                return Passed { eifs: Some(Time::ZERO), nav: Time::ZERO };
            }
        }
        if log.read == 0
            && log.period.is_none()
            && let Some(idle) = idle_time(&log.unread, all, (own, viewers.group), times.sifs, now)
        {
            viewers.others_pass(all[log.unread[0] as usize].frame.start, now, idle);
            for id in log.unread.drain(..) {
                release(all, free, id);
            }
            return Passed { eifs: Some(Time::ZERO), nav: Time::ZERO };
        }
        log.read(all, free, own, (Time::NEVER, times), viewers);
        let mut period = log.period.take().expect("something was on the air");
        period.reception_ends(times.eifs);
        debug_assert!(log.open.is_empty() && period.end == now, "it is over");
        if !viewers.access_points.is_empty() {
            log.viewing.end(now, viewers);
        }
        Passed { eifs: period.eifs, nav: period.nav }
    }

    /// Tells `viewers` of what has been on the air at `place` up to `now`, where all was read.
    pub(super) fn view(&mut self, place: ListenerId, now: Time, viewers: &mut Viewers<'_>) {
        let log = &mut self.logs[place as usize];
        if let Some(period) = &log.period {
            log.viewing.flush(period.end, now, viewers);
        }
    }
}

/// Counts that exchange `id` has a holder less, and frees its number if it has none.
#[inline]
fn release(all: &mut [Sent], free: &mut Vec<SentId>, id: SentId) {
    let holders = &mut all[id as usize].holders;
    *holders -= 1;
    if *holders == 0 {
        free.push(id);
    }
}

impl Log {
    /// Reads frame by frame up to `limit`.
    #[inline]
    fn read(
        &mut self,
        all: &mut [Sent],
        free: &mut Vec<SentId>,
        own: StationId,
        (limit, times): (Time, &Times),
        viewers: &mut Viewers<'_>,
    ) {
        if self.may_collide {
            self.look_for_collisions(all, free, (limit, times));
        }
        loop {
            let mut start = limit;
            let mut answer = usize::MAX;
            for (place, one) in self.open.iter().enumerate() {
                if one.answer.start < start {
                    (start, answer) = (one.answer.start, place);
                }
            }
            let unread = self.unread.get(self.read).map(|&id| (id, &all[id as usize]));
            let data = unread.filter(|(_, sent)| sent.frame.start <= start);
            let (id, heard) = if let Some((id, sent)) = data {
                let Sent { sender: from, frame: Frame { start, end, .. }, .. } = *sent;
                (id, Heard { start, end, from, is_answer: false })
            } else if let Some(one) = self.open.get(answer) {
                (one.sent, one.answer)
            } else {
                return;
            };
            let sent = &all[id as usize];
            if !viewers.access_points.is_empty() {
                let end = self.period.as_ref().map(|period| period.end);
                self.viewing.go_on(end, &heard, sent, viewers);
            }
            let frame = (FrameId { sent: id, is_answer: heard.is_answer }, &heard, &sent.frame);
            match &mut self.period {
                Some(period) => period.goes_on(frame, own, times),
                None => self.period = Some(Period::new(frame, own, times)),
            }
            if heard.is_answer {
                self.open.swap_remove(answer);
                release(all, free, id);
                continue;
            }
            let Frame { start, end, announced, to, .. } = sent.frame;
            let may_collide = limit <= start + times.detect;
            let collides = sent.collides;
            self.read += 1;
            if self.read == self.unread.len() {
                self.unread.clear();
                self.read = 0;
            }
            if collides && !may_collide {
                release(all, free, id);
            } else {
                let start = end + times.sifs;
                let answer = Heard { start, end: announced, from: to, is_answer: true };
                self.open.push(Open { answer, sent: id });
                self.may_collide |= may_collide;
            }
        }
    }

    /// Forgets the answers of those that have collided, if that is certain by `limit`.
    #[inline(never)]
    fn look_for_collisions(
        &mut self,
        all: &mut [Sent],
        free: &mut Vec<SentId>,
        (limit, times): (Time, &Times),
    ) {
        let mut may_collide = false;
        self.open.retain(|one| {
            let Sent { frame, collides, .. } = &all[one.sent as usize];
            let may = limit <= frame.start + times.detect;
            let is_lost = *collides && !may;
            may_collide |= may;
            if is_lost {
                release(all, free, one.sent);
            }
            !is_lost
        });
        self.may_collide = may_collide;
    }
}
