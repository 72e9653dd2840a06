//! The airtime that the access points of an even field sense, updated as the logs of their groups
//! are read. Changes only counters.

use airtcp_kernel::Time;

use super::log::{Heard, Sent};
use crate::exchange::Roles;
use crate::field::books::{Counts, Sensed};
use crate::station::StationId;

/// The access points that use a shared listener, and what they have sensed.
#[derive(Debug)]
pub(super) struct Viewers<'a> {
    pub(super) access_points: &'a [StationId],
    pub(super) sensed: &'a mut [Sensed],
    pub(super) roles: &'a Roles,
}

/// The frames on the air in the read part of a busy period, for access points. The first to end is
/// the last of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Viewing(Vec<Viewed>);

/// A frame on the air.
#[derive(Clone, Copy, Debug)]
struct Viewed {
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
}

impl Viewing {
    /// Reports a frame of an exchange to `viewers`, and the frames that ended before it.
    pub(super) fn frame_begins(
        &mut self,
        &(heard, sent): &(Heard, &Sent),
        viewers: &mut Viewers<'_>,
    ) {
        self.frames_end(heard.start, viewers);
        let cell = viewers.roles.cell(sent.sender);
        let counts = if heard.is_answer { Counts::CONTROL } else { sent.counts };
        let frame = Viewed { end: heard.end, cell, counts };
        viewers.note(&frame, heard.start, true);
        let place = self.0.partition_point(|one| one.end > frame.end);
        self.0.insert(place, frame);
    }

    /// Ends the frames that are over at `limit`.
    pub(super) fn frames_end(&mut self, limit: Time, viewers: &mut Viewers<'_>) {
        while let Some(frame) = self.0.pop_if(|frame| frame.end <= limit) {
            viewers.note(&frame, frame.end, false);
        }
    }
}
