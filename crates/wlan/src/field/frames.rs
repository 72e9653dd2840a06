//! Frames of a field on the air at all stations that hear them: start, detection, end. Queues and
//! contents of frames are elsewhere.

use airtcp_kernel::Time;

use super::Field;
use super::air::Came;
use super::clock::{Key, Rank};
use super::hearing::{COLOUR_KNOWN, Power};
use super::node::{Frame, Kind, Known, Sends};
use super::sharing::at_each_that_hears;
use crate::events::Supply;
use crate::station::StationId;

impl<P: Clone> Field<P> {
    /// Puts `frame` of `sender` on the air at `now`. The sender must have its own listener.
    pub(super) fn send(&mut self, sender: StationId, frame: &mut Frame, now: Time) {
        let Self { air, hearing, groups, .. } = self;
        debug_assert!(air.listens_as(sender, sender));
        air.settle_notice(sender, now);
        let own = &mut air.listeners[sender as usize];
        debug_assert!(!own.is_sending, "a station sends one frame at a time");
        own.is_sending = true;
        let freezes = !std::mem::replace(&mut own.is_busy, true);
        if let Some((_, strength)) = hearing.obss_pd
            && (air.nodes[sender as usize].is_restricted || !own.ignored.is_empty())
        {
            frame.strength = strength;
        }
        if let Some(lock) = own.lock.take() {
            air.blame(lock.from, sender, sender, now);
        }
        if freezes {
            air.freeze(sender, now);
        }
        let node = &mut air.nodes[sender as usize];
        if std::mem::take(&mut node.waits_for_end) {
            node.timeout = now;
        }
        let receiver = &air.listeners[air.nodes[frame.to as usize].listener as usize];
        if receiver.energy > 0 || receiver.is_sending {
            frame.culprit = air.disturber(hearing, frame.to, sender, now);
        }
        if Key::new(air.last_start + hearing.detect, Rank::Notice) > air.reached {
            air.blame_unnoticed(hearing, sender, frame, now);
        }
        air.last_start = air.last_start.max(now);
        let notice = now + hearing.detect;
        // The lowest power with which detection is certain if nothing else is on the air.
        let certain =
            if air.notices_ahead && frame.end > notice { frame.need.alone } else { Power::MAX };
        let mut is_noticed = true;
        at_each_that_hears(hearing, groups, (sender, frame), |ear| {
            is_noticed &= air.frame_begins(hearing, (sender, frame), ear, (notice, certain));
        });
        let node = &mut air.nodes[sender as usize];
        (node.known, node.acts) = if is_noticed {
            (Known::Cell, Key::new(frame.next_end, Rank::End))
        } else {
            (Known::Nothing, Key::new(notice, Rank::Notice))
        };
        (node.frame.culprit, node.frame.strength) = (frame.culprit, frame.strength);
        node.sends = Sends::Frame;
        air.on_air.push(sender);
        air.set_clock(sender);
        self.tell_views(sender, now, frame, true);
    }

    /// Lets all stations that hear the frame of `sender` detect it.
    pub(super) fn notice(&mut self, sender: StationId, now: Time) {
        let Self { air, hearing, groups, .. } = self;
        let node = &mut air.nodes[sender as usize];
        debug_assert_eq!(node.sends, Sends::Frame, "a frame is noticed before it ends");
        let frame = node.frame;
        if node.known == Known::Preamble {
            return self.tell_cell(sender, &frame, now);
        }
        (node.known, node.acts) = if frame.has_colour {
            (Known::Preamble, Key::new(frame.start + COLOUR_KNOWN, Rank::Notice))
        } else {
            (Known::Cell, Key::new(frame.next_end, Rank::End))
        };
        air.set_clock(sender);
        at_each_that_hears(hearing, groups, (sender, &frame), |ear| {
            air.notice_at(hearing, (sender, &frame), ear, now);
        });
    }

    /// Lets stations of other cells ignore the frame of `sender`, whose cell is known, if its power
    /// is low enough (OBSS-PD). As in ns-3, control frames do not reveal their cell.
    fn tell_cell(&mut self, sender: StationId, frame: &Frame, now: Time) {
        let Self { air, hearing, groups, roles, cells, .. } = self;
        let node = &mut air.nodes[sender as usize];
        (node.known, node.acts) = (Known::Cell, Key::new(frame.next_end, Rank::End));
        air.set_clock(sender);
        let Some((level, _)) = hearing.obss_pd else { return };
        if now >= frame.end {
            return;
        }
        let of_sender = roles.cell(sender);
        at_each_that_hears(hearing, groups, (sender, frame), |(one, _)| {
            let listener = &mut air.listeners[one as usize];
            if let Some(lock) = listener.lock
                && lock.from == sender
                && lock.power < level
                && cells[one as usize] != of_sender
            {
                listener.lock = None;
                listener.free_from = now;
                listener.waiting.eifs = Time::ZERO;
                listener.ignored.push((sender, lock.power));
                let mut all = groups.iter().zip(&hearing.groups.members);
                let shared = all.find(|(group, _)| group.is_several && group.listener() == one);
                air.restrict(one, shared.map_or(&[one], |(_, members)| members));
                air.receives_no_more(one, now);
                air.settle_idle(hearing, one, now);
            }
        });
    }

    /// Checks an invariant: no station starts an access during a frame that it receives, or senses,
    /// for longer than the detection time.
    #[inline]
    pub(super) fn check_access(&mut self, station: StationId, now: Time) {
        let listener = &self.air.listeners[station as usize];
        if listener.energy > 0 || listener.lock.is_some() {
            self.check_access_beside_frames(station, now);
        }
    }

    fn check_access_beside_frames(&mut self, station: StationId, now: Time) {
        let Self { air, hearing, .. } = self;
        let listener = &air.listeners[station as usize];
        let received = listener.lock.as_ref().map(|lock| lock.from);
        let others = air.on_air.iter().filter(|&&other| {
            air.nodes[other as usize].sending().is_some_and(|frame| {
                frame.start + hearing.detect < now && now < frame.end && {
                    let power = frame.heard_with(hearing.power(other, station));
                    let is_ignored = listener.ignored.iter().any(|&(one, _)| one == other);
                    received == Some(other) || power >= hearing.energy.max(1) && !is_ignored
                }
            })
        });
        if let Some(other) = others.min()
            && self.broken_law.is_none()
        {
            self.broken_law = Some(format!(
                "station {station} began at {now} while a frame of station {other} that it hears was on the air"
            ));
        }
    }

    /// Ends the frame of `sender` at `now`.
    pub(super) fn frame_ends<S: Supply<P>>(
        &mut self,
        sender: StationId,
        now: Time,
        supply: &mut S,
    ) {
        let node = &mut self.air.nodes[sender as usize];
        debug_assert_eq!(node.sends, Sends::Frame, "a frame ends once");
        let frame = node.frame;
        node.sends = Sends::Nothing;
        node.acts = Key::NEVER;
        self.tell_views(sender, now, &frame, false);
        let Self { air, hearing, .. } = self;
        let place = air.on_air.iter().position(|&one| one == sender);
        air.on_air.swap_remove(place.expect("what is sent is on the air"));
        let own = &mut air.listeners[sender as usize];
        own.free_from = now;
        own.is_sending = false;
        if own.sensed() < hearing.energy {
            air.medium_idle(sender, now);
        }
        let receiver = air.nodes[frame.to as usize].listener;
        if receiver != frame.to
            && air.listeners[receiver as usize]
                .lock
                .as_ref()
                .is_some_and(|lock| lock.from == sender)
        {
            // The addressed station learns more from the frame than the others of its group.
            self.listen_apart(frame.to, now);
        }
        let Self { air, hearing, groups, .. } = self;
        let mut came = Came::Lost;
        at_each_that_hears(hearing, groups, (sender, &frame), |ear| {
            let here = air.frame_ends_at(hearing, (sender, &frame), ear, now);
            if ear.0 == frame.to {
                came = here;
            }
        });
        self.tell_heard(sender, &frame, supply);
        self.frame_sent(sender, &frame, now, supply);
        if came == Came::Understood {
            self.frame_came(&frame, now, supply);
        }
        self.waits_have_ended(now, supply);
        if frame.kind == Kind::Answer {
            self.listen_together(sender, frame.to, now);
        }
    }

    /// Fails the exchanges of stations that waited for the end of a frame that was not the
    /// response.
    #[inline]
    pub(super) fn waits_have_ended<S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        if self.air.waited.len() > 1 {
            self.air.waited.sort_unstable_by(|one, other| other.cmp(one));
        }
        while let Some(station) = self.air.waited.pop() {
            if self.air.nodes[station as usize].waits_for_end {
                self.answer_missing(station, now, supply);
            }
        }
    }
}
