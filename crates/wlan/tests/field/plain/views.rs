//! The airtime that each access point senses.

use airtcp_kernel::{Duration, Time};

use super::Plain;
use super::station::{Culprit, Frame, Kind};
use crate::field::View;
use crate::station::{ContenderId, StationId};

/// What an access point senses.
#[derive(Clone)]
pub(super) struct Sensed {
    /// The frames on the air: the sender's cell, and the kind of a frame of the own cell.
    on_air: Vec<(u32, StationId, Part)>,
    since: Time,
    view: View,
}

/// The part of the airtime of a single frame.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Data,
    TcpAck,
    Control,
    Heard,
}

impl Sensed {
    pub(super) fn new(cells: u32) -> Self {
        let view = View { of_cells: vec![Duration::ZERO; cells as usize], ..View::default() };
        Self { on_air: Vec::new(), since: Time::ZERO, view }
    }

    /// Adds the time up to `now`.
    fn settle(&mut self, now: Time) {
        let passed = now - std::mem::replace(&mut self.since, now);
        let view = &mut self.view;
        let part = match self.on_air[..] {
            [] => &mut view.parts.idle,
            [(_, _, Part::Data)] => &mut view.parts.data,
            [(_, _, Part::TcpAck)] => &mut view.parts.tcp_ack,
            [(_, _, Part::Control)] => &mut view.parts.control,
            _ if self.on_air.iter().all(|one| one.2 == Part::Heard) => &mut view.parts.heard,
            _ => &mut view.parts.overlapped,
        };
        *part += passed;
        for (cell, sum) in (0..).zip(&mut view.of_cells) {
            if self.on_air.iter().any(|one| one.0 == cell) {
                *sum += passed;
            }
        }
    }

    pub(super) fn until(&self, now: Time) -> View {
        let mut sensed = self.clone();
        sensed.settle(now);
        sensed.view
    }
}

impl<P: Clone> Plain<P> {
    /// Records the start or end of `frame` at all access points that sense its sender.
    pub(super) fn tell_views(&mut self, sender: StationId, frame: &Frame, now: Time, begins: bool) {
        let Self { sensed, powers, roles, .. } = self;
        let cell = roles.cell(sender);
        for (access_point, one) in (0..).zip(sensed) {
            let power = powers.power(sender, access_point);
            if access_point != sender && power < powers.sense.max(1) {
                continue;
            }
            one.settle(now);
            if begins {
                let part = match frame.kind {
                    _ if cell != access_point => Part::Heard,
                    Kind::Data if frame.has_data => Part::Data,
                    Kind::Data => Part::TcpAck,
                    _ => Part::Control,
                };
                one.on_air.push((cell, sender, part));
            } else {
                one.on_air.retain(|one| one.1 != sender);
            }
        }
    }

    /// Counts a failure of `by` at `station`, caused by `culprit`.
    pub(super) fn count_failure(&mut self, station: StationId, by: ContenderId, culprit: Culprit) {
        let counters = &mut self.queues[by as usize].contender.counters;
        if culprit == Culprit::NOBODY {
            counters.failures += 1;
            return;
        }
        counters.collisions += 1;
        let failures = &mut self.failures[by as usize];
        let is_heard = self.powers.power(culprit.station, station) >= self.powers.sense;
        if is_heard && culprit.apart <= self.powers.detect {
            failures.same_slot += 1;
        } else if self.roles.cell(culprit.station) == self.roles.cell(station) {
            failures.hidden += 1;
        } else {
            failures.neighbour += 1;
        }
    }
}
