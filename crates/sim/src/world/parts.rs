//! State that a world keeps separately for each of several media that do not hear each other: the
//! airtime account, and the payload on the air when measuring began. If several cells share a
//! medium, its account has parts by cell.
//!
//! The world holds the state of the current medium, so that a world with one medium needs no
//! lookup. This module knows which medium that is, and up to when it may play the world alone.

use std::ops::Range;

use airtcp_kernel::{Duration, Time};
use airtcp_wlan::{AirtimeParts, ContenderId, FailureCounts, FrameTimes, Rate, View};

use super::World;
use super::capture::OnAir;
use super::groups::{DIRECTIONS, scope, scopes};
use super::measure::PayloadFrom;
use super::node::Node;
use crate::airtime::{AirtimeAccount, Cargo, CellParts, Colliding, ExchangeParts};
use crate::medium::Medium;
use crate::scenario::{RadioLink, Scenario};

/// The current medium, and the stored state of the others.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// Kind and scopes of each medium.
    kinds: Vec<Kind>,
    scopes: Vec<Range<u32>>,
    /// The number of the current medium.
    current: usize,
    /// The stored state of the other media.
    aside: Vec<Own>,
    /// The index in `aside` for each other medium; empty with a single cell in which all hear each
    /// other.
    places: Vec<usize>,
    /// The medium of each access point.
    of_cells: Vec<u32>,
    /// The horizon of the run, while a medium may play the world only to an earlier time.
    horizon: Time,
    /// Queues with new frames that have not been reported to their media.
    others: Vec<ContenderId>,
    /// The colliding frames reported so far, if several cells share the medium.
    colliding: Vec<Colliding>,
}

/// The kind of a medium: a single cell, several cells that all hear each other, or a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Cell,
    Cells,
    Field,
}

/// The state of one medium.
#[derive(Debug)]
struct Own {
    airtime: AirtimeAccount,
    payload: PayloadFrom,
    /// The frames that a capture has not written yet.
    on_air: OnAir,
}

impl Parts {
    /// Creates the state for access points with these media; none is created yet.
    pub(super) fn new(of_cells: Vec<u32>) -> Self {
        Self { of_cells, ..Self::default() }
    }

    /// Adds a medium of these cells.
    pub(super) fn add(&mut self, is_field: bool, cells: &[u32]) {
        self.kinds.push(match (is_field, cells.len()) {
            (true, _) => Kind::Field,
            (false, ..=1) => Kind::Cell,
            (false, _) => Kind::Cells,
        });
    }

    /// Finds the scopes of each medium.
    fn find_scopes(&mut self, scenario: &Scenario) {
        self.scopes = vec![0..0; self.kinds.len()];
        if scenario.ap.links.is_some() {
            self.scopes.fill(0..scopes(scenario));
            return;
        }
        for (group, stations) in (0..).zip(&scenario.stations) {
            let scopes = &mut self.scopes[self.of_cells[stations.cell as usize] as usize];
            let [first, last] = DIRECTIONS.map(|direction| scope(group, direction));
            if scopes.end == 0 {
                scopes.start = first;
            }
            scopes.end = last + 1;
        }
    }
}

impl World<'_> {
    /// Prepares for the media that were added.
    pub(super) fn prepare_for_parts(&mut self) {
        self.parts.find_scopes(self.scenario);
        let account = |(&kind, scopes): (&Kind, &Range<u32>)| {
            let cells = if kind == Kind::Cells { self.access_points as usize } else { 0 };
            self.airtime.alike(scopes.clone(), cells)
        };
        let mut accounts = self.parts.kinds.iter().zip(&self.parts.scopes).map(account);
        // The first one is current.
        let first = accounts.next().expect("there is a medium");
        let own =
            |airtime| Own { airtime, payload: PayloadFrom::default(), on_air: OnAir::default() };
        self.parts.aside = accounts.map(own).collect();
        self.airtime = first;
        self.parts.places = (0..self.parts.kinds.len()).map(|part| part.max(1) - 1).collect();
    }

    /// Returns the medium of each cell.
    pub(crate) fn media_of_cells(&self) -> &[u32] {
        &self.parts.of_cells
    }

    /// Returns the medium of each queue.
    pub(super) fn media_of_queues(&self) -> Vec<u32> {
        self.transmitters.iter().map(|one| self.part_of(&self.nodes[one.node as usize])).collect()
    }

    /// Returns the kind of the medium of a node.
    pub(super) fn kind_of(&self, node: &Node) -> Kind {
        self.parts.kinds[self.part_of(node) as usize]
    }

    /// Returns the medium of a node.
    pub(super) fn part_of(&self, node: &Node) -> u32 {
        self.parts.of_cells[node.access_point as usize]
    }

    /// Returns the cell of a queue's node.
    pub(super) fn cell_of(&self, queue: ContenderId) -> u32 {
        self.nodes[self.transmitters[queue as usize].node as usize].access_point
    }

    /// Returns whether a scenario with `[air]` has a medium in which all stations hear each other.
    pub(super) fn has_shared_air(&self) -> bool {
        self.has_air() && self.parts.kinds.iter().any(|&kind| kind != Kind::Field)
    }

    /// Returns whether the current medium is of this kind.
    pub(super) fn plays(&self, kind: Kind) -> bool {
        self.parts.kinds[self.parts.current] == kind
    }

    /// Records the first frame of a colliding exchange of `by`, if several cells share the medium;
    /// `None` if it has no data.
    pub(super) fn note_collider(
        &mut self,
        by: ContenderId,
        times: &FrameTimes,
        cargo: Option<Cargo>,
    ) {
        if self.plays(Kind::Cells) {
            let (cell, length) = (self.cell_of(by), times.first());
            self.parts.colliding.push(Colliding { cell, length, cargo });
        }
    }

    /// Counts the recorded frames, which begin to collide at `now`, by cell.
    pub(super) fn noted_collide(&mut self, now: Time) {
        self.airtime.cells_collide(now, &self.parts.colliding);
        self.parts.colliding.clear();
    }

    /// Switches to the medium with this number, which may play the world up to `horizon`.
    pub(crate) fn turn_to(&mut self, part: usize, horizon: Time) {
        self.take_own(part);
        self.parts.horizon = self.horizon;
        self.horizon = self.horizon.min(horizon);
        self.next = self.next.min(horizon);
    }

    /// Restores the horizon from before [`Self::turn_to`].
    pub(crate) fn turn_to_all(&mut self) {
        self.stop_at(self.parts.horizon);
    }

    /// Returns the rate of CF-Ends on the current medium.
    pub(super) fn cf_end_rate(&self) -> Rate {
        self.link().map_or(self.scenario.mac.cf_end_rate, |link| link.cf_end_rate)
    }

    /// Returns the current medium as one of several links.
    pub(super) fn link(&self) -> Option<&RadioLink> {
        self.scenario.ap.links.as_ref().map(|links| &links[self.parts.current])
    }

    /// Switches to the state of the medium with this number.
    fn take_own(&mut self, part: usize) {
        let Parts { current, aside, places, .. } = &mut self.parts;
        if part == *current {
            return;
        }
        // The state of the current medium goes to the place of the new one.
        let place = places[part];
        places[*current] = place;
        *current = part;
        let own = &mut aside[place];
        std::mem::swap(&mut self.airtime, &mut own.airtime);
        std::mem::swap(&mut self.measures.payload, &mut own.payload);
        if let Some(capture) = &mut self.watchers.capture {
            capture.swap_on_air(&mut own.on_air);
        }
        if let Some(links) = &self.scenario.ap.links {
            self.phy = &links[part].phy;
            if let Some(capture) = &mut self.watchers.capture {
                capture.turn_to_link(part);
            }
        }
    }

    /// Keeps in the list of ready queues only those of one medium, and returns this medium, if
    /// there are any. `of` is the medium of each contender.
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

    /// Calls `each` for every medium, with its state switched in.
    pub(super) fn for_each_part(&mut self, mut each: impl FnMut(&mut Self, usize)) {
        let current = self.parts.current;
        for part in 0..self.parts.kinds.len() {
            self.take_own(part);
            each(self, part);
        }
        self.take_own(current);
    }

    /// Returns the airtime of the exchanges of some scopes; with several links their mean.
    pub(super) fn exchanges_of(&self, scopes: &[u32]) -> ExchangeParts {
        if self.scenario.ap.links.is_none() {
            return scopes.iter().map(|&scope| self.account_of(scope).of(scope)).sum();
        }
        let of = |one: &AirtimeAccount| scopes.iter().map(|&scope| one.of(scope)).sum();
        let others = self.parts.aside.iter().map(|own| of(&own.airtime));
        let sum: ExchangeParts = others.chain([of(&self.airtime)]).sum();
        let mean = |sum: Duration| sum.part(1, self.parts.kinds.len());
        let [data, tcp_ack, control] = [sum.data, sum.tcp_ack, sum.control].map(mean);
        ExchangeParts { data, tcp_ack, control }
    }

    /// Closes the airtime of the cell; with several links, returns their mean.
    ///
    /// # Errors
    /// The violated invariant.
    pub(super) fn close_airtime(&mut self) -> Result<AirtimeParts, String> {
        let mut all = Vec::new();
        self.for_each_part(|world, _| all.push(world.airtime.close()));
        let all: Vec<_> = all.into_iter().collect::<Result<_, _>>()?;
        Ok(self.mean_airtime(&all))
    }

    /// Returns the account of the medium of `scope`.
    fn account_of(&self, scope: u32) -> &AirtimeAccount {
        let Parts { current, aside, places, of_cells, .. } = &self.parts;
        let group = &self.scenario.stations[scope as usize / DIRECTIONS.len()];
        let part = of_cells[group.cell as usize] as usize;
        if part == *current { &self.airtime } else { &aside[places[part]].airtime }
    }

    /// Returns what the access point of each cell has sensed in the measured time.
    ///
    /// # Errors
    /// If the parts do not sum to the measured time.
    pub(super) fn views(&mut self, medium: &Medium) -> Result<Vec<View>, String> {
        let count = self.access_points as usize;
        let mut views = vec![View::default(); count];
        let mut law = Ok(());
        self.for_each_part(|world, part| {
            let of_part = match medium.part(part) {
                Medium::Field(field) => world.field_views(field),
                _ if world.plays(Kind::Cells) => world.shared_views(part),
                _ => world.airtime.close().map(|parts| vec![View { parts, of_cells: Vec::new() }]),
            };
            match (of_part, medium.numbers(part)) {
                (Ok(of_part), Some(numbers)) => {
                    for (&cell, view) in numbers.cells.iter().zip(of_part) {
                        let of_cells = spread(&view.of_cells, &numbers.cells, count);
                        views[cell as usize] = View { of_cells, ..view };
                    }
                }
                (Ok(of_part), None) => views = of_part,
                (Err(broken), _) => law = Err(broken),
            }
        });
        law.map(|()| views)
    }

    /// Returns what the access points of cells that share the medium `part` have sensed in the
    /// measured time.
    ///
    /// # Errors
    /// If the parts do not sum to the measured time.
    fn shared_views(&mut self, part: usize) -> Result<Vec<View>, String> {
        let sums = self.airtime.close()?;
        let busy = self.scenario.run.duration - sums.idle;
        let mut own = self.airtime.cells.to_vec();
        for (group, stations) in (0..).zip(&self.scenario.stations) {
            let cell = &mut own[stations.cell as usize];
            for direction in DIRECTIONS {
                cell.alone += self.airtime.of(scope(group, direction));
            }
        }
        let mut parts = self.parts.of_cells.iter();
        own.retain(|_| parts.next().is_some_and(|&of| of as usize == part));
        let on_air = own.iter().map(|one| one.alone.total() + one.overlapped);
        let of_cells: Vec<_> = on_air.collect();
        let view = |(one, &on_air): (&CellParts, &Duration)| View {
            parts: AirtimeParts {
                idle: sums.idle,
                data: one.alone.data,
                tcp_ack: one.alone.tcp_ack,
                control: one.alone.control,
                overlapped: one.overlapped,
                heard: busy - on_air,
            },
            of_cells: of_cells.clone(),
        };
        Ok(own.iter().zip(&of_cells).map(view).collect())
    }

    /// Returns the failures of each queue in the measured time.
    pub(super) fn failures(&self, medium: &Medium) -> Vec<FailureCounts> {
        let mut failures = vec![FailureCounts::default(); self.transmitters.len()];
        for part in 0..self.parts.kinds.len() {
            if let Medium::Field(field) = medium.part(part) {
                let of_part = self.field_failures(field);
                match medium.numbers(part) {
                    Some(numbers) => {
                        for (&id, failed) in numbers.contenders.iter().zip(of_part) {
                            failures[id as usize] = failed;
                        }
                    }
                    None => failures = of_part,
                }
            }
        }
        for (id, failed) in (0..).zip(&mut failures) {
            let cell = self.cell_of(id) as usize;
            if self.parts.kinds[self.parts.of_cells[cell] as usize] != Kind::Field {
                failed.same_slot = self.mac_counted_by(id, medium).collisions;
            }
        }
        failures
    }

    /// Returns the failures of each cell, from those of each queue.
    pub(super) fn failures_of_cells(&self, of_queues: &[FailureCounts]) -> Vec<FailureCounts> {
        let mut failures = vec![FailureCounts::default(); self.access_points as usize];
        for (id, &failed) in (0..).zip(of_queues) {
            failures[self.cell_of(id) as usize] += failed;
        }
        failures
    }
}

/// Expands the times of cells on one medium to `count` cells; `cells` has the world's numbers.
/// Empty if `times` is.
fn spread(times: &[Duration], cells: &[u32], count: usize) -> Vec<Duration> {
    let mut all = vec![Duration::ZERO; if times.is_empty() { 0 } else { count }];
    for (&cell, &time) in cells.iter().zip(times) {
        all[cell as usize] = time;
    }
    all
}
