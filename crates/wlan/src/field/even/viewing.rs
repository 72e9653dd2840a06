//! The airtime that the access points of an even field sense, updated as the logs of their groups
//! are read. Changes only counters.

use airtcp_kernel::{Duration, Time};

use super::log::{Heard, Sent};
use crate::exchange::Roles;
use crate::field::books::{Counts, Sensed};
use crate::field::hearing::GroupId;
use crate::station::StationId;

/// The access points that use a shared listener, and what they have sensed.
#[derive(Debug)]
pub(super) struct Viewers<'a> {
    pub(super) group: GroupId,
    pub(super) access_points: &'a [StationId],
    pub(super) sensed: &'a mut [Sensed],
    pub(super) roles: &'a Roles,
    /// The preamble detection time.
    pub(super) detect: Duration,
}

/// The read part of a busy period, for access points. Frames of other groups count as one block,
/// unless a frame of the own group is among them.
#[derive(Clone, Debug, Default)]
pub(super) struct Viewing {
    /// The start of the busy period, and the instant up to which it was reported.
    began: Time,
    told: Time,
    /// The time since `told` in which nothing is on the air.
    idle: Duration,
    /// Whether a frame of the own group was read; then every frame is reported separately.
    is_own: bool,
    /// The frames on the air. Of other groups' frames, only those that began with the busy period.
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

    /// Reports exchanges of other groups, as [`Sensed::others_pass`].
    pub(super) fn others_pass(&mut self, start: Time, end: Time, idle: Duration) {
        for &one in self.access_points {
            self.sensed[one as usize].others_pass(start, end, idle);
        }
    }
}

impl Viewing {
    /// Adds a frame of `sent`. `end` is the last end of all frames before it; `None` starts the
    /// busy period.
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

    /// Reports `frame` to `viewers`, and frames that ended before it. The first own frame begins
    /// before any other has ended.
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

    /// Ends the frames that are over at `limit`.
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

    /// Reports to `viewers` what has been on the air up to `now`; the last frame ends at `end`.
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
