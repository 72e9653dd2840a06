//! The books that a world keeps apart for each of several media that do not hear each other: the account of its airtime, and the
//! payload that was on the air when measuring began.
//!
//! The world has that of the medium that is played, so that a world with one medium never asks which. Knows which medium
//! that is, and up to when it may play the world alone. Knows no MAC.

use airtcp_kernel::{Duration, Time};
use airtcp_wlan::{ContenderId, FailureCounts, View};

use super::World;
use super::capture::OnAir;
use super::measure::PayloadFrom;
use super::node::Transmitter;
use crate::airtime::{AirtimeAccount, AirtimeParts, ExchangeParts};
use crate::medium::Medium;

/// The medium that is played, and what is kept of others meanwhile.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// Of each medium a flag: it is a field.
    pub(super) fields: Vec<bool>,
    /// The number of the medium that is played.
    current: usize,
    /// Of each other medium what is its own; empty where there is one medium.
    aside: Vec<Own>,
    /// The medium of each access point.
    of_cells: Vec<u32>,
    /// The end of what is simulated for now, while a medium may not play the world as far.
    horizon: Time,
    /// Queues that are not empty any more, which have not been told to their media.
    others: Vec<ContenderId>,
}

/// The books of one medium.
#[derive(Debug)]
struct Own {
    airtime: AirtimeAccount,
    payload: PayloadFrom,
    /// The frames that a capture has not written yet.
    on_air: OnAir,
}

impl Parts {
    /// Makes those of access points with these media, of which none is made yet.
    pub(super) fn new(of_cells: Vec<u32>) -> Self {
        Self { of_cells, ..Self::default() }
    }
}

impl World<'_> {
    /// Prepares for several media. Returns that of each contender.
    pub(super) fn prepare_for_parts(&mut self) -> Vec<u32> {
        let own = |_: &bool| Own {
            airtime: self.airtime.alike(),
            payload: PayloadFrom::default(),
            on_air: OnAir::default(),
        };
        self.parts.aside = self.parts.fields.iter().map(own).collect();
        let part = |one: &Transmitter| self.parts.of_cells[self.cell_of(one)];
        self.transmitters.iter().map(part).collect()
    }

    /// Returns the cell of a queue's node.
    fn cell_of(&self, transmitter: &Transmitter) -> usize {
        self.nodes[transmitter.node as usize].access_point as usize
    }

    /// Tells whether there are several media, of which each has its own frames on the air.
    pub(super) fn has_parts(&self) -> bool {
        !self.parts.aside.is_empty()
    }

    /// Tells whether the medium that is played is a field.
    pub(super) fn plays_field(&self) -> bool {
        self.parts.fields[self.parts.current]
    }

    /// Turns to the medium of this number, which may play the world up to `horizon`.
    pub(crate) fn turn_to(&mut self, part: usize, horizon: Time) {
        self.take_own(part);
        self.parts.horizon = self.horizon;
        self.stop_at(self.horizon.min(horizon));
    }

    /// Takes back the horizon that the world had before [`Self::turn_to`].
    pub(crate) fn turn_to_all(&mut self) {
        self.stop_at(self.parts.horizon);
    }

    /// Takes what the medium of this number has of its own.
    fn take_own(&mut self, part: usize) {
        let Parts { current, aside, .. } = &mut self.parts;
        if part != *current {
            for place in [*current, part] {
                std::mem::swap(&mut self.airtime, &mut aside[place].airtime);
                std::mem::swap(&mut self.measures.payload, &mut aside[place].payload);
                if let Some(capture) = &mut self.watchers.capture {
                    capture.swap_on_air(&mut aside[place].on_air);
                }
            }
            *current = part;
        }
    }

    /// Leaves of the queues that are ready those on one medium, and returns that, if there are any; `of` is the medium of
    /// each contender.
    pub(crate) fn select_ready(&mut self, of: &[u32]) -> Option<u32> {
        let Self { ready, parts: Parts { others, .. }, .. } = self;
        if ready.is_empty() {
            std::mem::swap(ready, others);
        }
        let part = of[*ready.last()? as usize];
        ready.retain(|&one| {
            let is_its = of[one as usize] == part;
            if !is_its {
                others.push(one);
            }
            is_its
        });
        Some(part)
    }

    /// Calls `each` for every medium, with what it has of its own taken up.
    pub(super) fn for_each_part(&mut self, mut each: impl FnMut(&mut Self, usize)) {
        let current = self.parts.current;
        for part in 0..self.parts.fields.len() {
            self.take_own(part);
            each(self, part);
        }
        self.take_own(current);
    }

    /// Returns the time that the exchanges of some scopes took.
    pub(super) fn exchanges_of(&self, scopes: &[u32]) -> ExchangeParts {
        let aside = self.parts.aside.iter().map(|own| &own.airtime);
        let mut sum = ExchangeParts::default();
        for account in aside.chain([&self.airtime]) {
            for &scope in scopes {
                sum += account.of(scope);
            }
        }
        sum
    }

    /// Returns what the access point of each cell has sensed in the measured time, if that adds up to it.
    pub(super) fn views(&mut self, medium: &Medium) -> Result<Vec<View>, String> {
        let mut views = vec![View::default(); self.access_points as usize];
        let mut law = Ok(());
        self.for_each_part(|world, part| {
            let of_part = match medium.part(part) {
                Medium::Field(field) => world.field_views(field),
                _ => world.airtime.close().map(|parts| vec![view_of(&parts); views.len()]),
            };
            match of_part {
                Ok(of_part) => {
                    let of_cells = views.iter_mut().zip(of_part).zip(&world.parts.of_cells);
                    for ((known, view), _) in of_cells.filter(|(_, of)| **of as usize == part) {
                        *known = view;
                    }
                }
                Err(broken) => law = Err(broken),
            }
        });
        law.map(|()| views)
    }

    /// Returns the failures of each cell in the measured time.
    pub(super) fn failures_of_cells(&self, medium: &Medium) -> Vec<FailureCounts> {
        let mut failures = vec![FailureCounts::default(); self.access_points as usize];
        for part in 0..self.parts.fields.len() {
            if let Medium::Field(field) = medium.part(part) {
                failures = self.field_failures(field);
            }
        }
        for (id, transmitter) in (0..).zip(&self.transmitters) {
            let cell = self.cell_of(transmitter);
            if !self.parts.fields[self.parts.of_cells[cell] as usize] {
                failures[cell].same_slot += self.mac_counted_by(id, medium).collisions;
            }
        }
        failures
    }
}

/// Makes the view of an access point that hears its own cell alone.
fn view_of(parts: &AirtimeParts) -> View {
    let &AirtimeParts { idle, data, tcp_ack, control, collision } = parts;
    View {
        idle,
        data,
        tcp_ack,
        control,
        overlapped: collision,
        heard: Duration::ZERO,
        of_cells: Vec::new(),
    }
}
