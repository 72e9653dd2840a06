//! The airtime that the access points of an even field have sensed, as the logs of their groups are read. Changes nothing but counts.

use airtcp_kernel::{Duration, Time};

use super::log::{Heard, Sent};
use crate::exchange::Roles;
use crate::field::books::{Counts, Sensed};
use crate::field::hearing::GroupId;
use crate::station::StationId;

/// The access points of a group, if it is one that listens, and what they have sensed.
#[derive(Debug)]
pub(super) struct Viewers<'a> {
    pub(super) group: GroupId,
    pub(super) access_points: &'a [StationId],
    pub(super) sensed: &'a mut [Sensed],
    pub(super) roles: &'a Roles,
    /// The time from the beginning of a frame until others know of it.
    pub(super) detect: Duration,
}

/// So much of a busy period as was read, for those who view it: the frames of other groups as one, unless one of their own
/// is among them.
#[derive(Clone, Debug, Default)]
pub(super) struct Viewing {
    /// The beginning of the busy period, and the instant up to which they are told of it.
    began: Time,
    told: Time,
    /// The time since then in which nothing is on the air.
    idle: Duration,
    /// A flag: a frame of their own group is among those that were read, and they are told of each.
    is_own: bool,
    /// The frames on the air: of others those alone that have begun with the busy period.
    frames: Vec<Viewed>,
}

/// A frame on the air.
#[derive(Clone, Copy, Debug)]
struct Viewed {
    start: Time,
    end: Time,
    cell: u32,
    counts: Counts,
}

impl Viewers<'_> {
    fn note(&mut self, frame: &Viewed, now: Time, begins: bool) {
        for &one in self.access_points {
            self.sensed[one as usize].note_counts(frame.cell, frame.counts, now, begins);
        }
    }

    /// Tells them of exchanges of others, as [`Sensed::others_pass`].
    pub(super) fn others_pass(&mut self, start: Time, end: Time, idle: Duration) {
        for &one in self.access_points {
            self.sensed[one as usize].others_pass(start, end, idle);
        }
    }
}

impl Viewing {
    /// Goes on with a frame of `sent`, where the last of all before it ends at `end`; or begins with it.
    #[inline(always)]
    pub(super) fn go_on(
        &mut self,
        end: Option<Time>,
        &(heard, sent): &(Heard, &Sent),
        viewers: &mut Viewers<'_>,
    ) {
        let start = heard.start;
        match end {
            Some(end) if start > end.max(self.told) => self.idle += start - end.max(self.told),
            Some(_) => {}
            None => {
                (self.began, self.told) = (start, start);
                (self.idle, self.is_own) = (Duration::ZERO, false);
            }
        }
        let is_own = sent.group == viewers.group;
        if self.is_own || is_own || start <= self.began + viewers.detect {
            let cell = viewers.roles.cell(sent.sender);
            let counts = if heard.is_answer { Counts::CONTROL } else { sent.counts };
            self.go_on_apart(is_own, Viewed { start, end: heard.end, cell, counts }, viewers);
        }
    }

    /// Tells `viewers` of `frame`, and of those that have ended before it. The first of their own begins before any other
    /// has ended.
    fn go_on_apart(&mut self, is_own: bool, frame: Viewed, viewers: &mut Viewers<'_>) {
        if !self.is_own && !is_own {
            return self.frames.push(frame);
        }
        if !std::mem::replace(&mut self.is_own, true) {
            debug_assert!(
                self.idle == Duration::ZERO && self.frames.iter().all(|one| one.end > frame.start)
            );
            for one in &self.frames {
                viewers.note(one, one.start.max(self.told), true);
            }
        }
        self.frames_end(frame.start, viewers);
        viewers.note(&frame, frame.start, true);
        self.frames.push(frame);
    }

    /// Ends the frames that are over before `limit`, or then.
    fn frames_end(&mut self, limit: Time, viewers: &mut Viewers<'_>) {
        let first = |frames: &[Viewed]| {
            let ended = (0..frames.len()).filter(|&one| frames[one].end <= limit);
            ended.min_by_key(|&one| frames[one].end)
        };
        while let Some(one) = first(&self.frames) {
            let frame = self.frames.swap_remove(one);
            viewers.note(&frame, frame.end, false);
        }
    }

    /// Ends the busy period.
    #[inline]
    pub(super) fn end(&mut self, end: Time, viewers: &mut Viewers<'_>) {
        if self.is_own {
            self.frames_end(end, viewers);
        } else {
            self.frames.clear();
            viewers.others_pass(self.told, end, self.idle);
        }
    }

    /// Tells `viewers` of what has been on the air up to `now`, where the last frame ends at `end`.
    pub(super) fn flush(&mut self, end: Time, now: Time, viewers: &mut Viewers<'_>) {
        if self.is_own {
            return self.frames_end(now, viewers);
        }
        if now > end.max(self.told) {
            self.idle += now - end.max(self.told);
        }
        viewers.others_pass(self.told, now, self.idle);
        (self.told, self.idle) = (now, Duration::ZERO);
    }
}
