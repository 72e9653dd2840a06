//! The airtime of each medium, and the payload on the air when measuring began.
//!
//! In a cell everything on the air is counted in the order of exchanges. In a field several
//! transmissions may overlap: it records what each access point senses itself, and only the
//! successful exchanges of each group are counted here. If several cells share a medium, its
//! account has parts by cell.
//!
//! The ledger holds the account of the current medium, so that a world with one medium needs no
//! lookup.

use std::ops::Range;

use airtcp_kernel::{Duration, Time};
use airtcp_wlan::{AirtimeParts, ContenderId, FailureCounts, Field, FrameTimes, PhyConfig, View};

use super::super::node::Transmitter;
use super::super::parts::{Kind, Parts};
use super::groups::{DIRECTIONS, Places, scope, scopes};
use super::{Entities, Ledger, PayloadFrom};
use crate::airtime::{AirtimeAccount, Cargo, CellParts, Colliding, ExchangeParts};
use crate::medium::Medium;
use crate::outcome::{CellAirtime, CellRecord, FlowRecord};
use crate::packet::Packet;
use crate::scenario::Scenario;
use crate::statistics::ratio;

/// The accounts of the media that are not played now.
#[derive(Debug, Default)]
pub(super) struct Aside {
    /// The number of the current medium.
    current: usize,
    accounts: Vec<(AirtimeAccount, PayloadFrom)>,
    /// The index in `accounts` for each other medium.
    places: Vec<usize>,
}

impl Aside {
    pub(super) fn new(accounts: impl Iterator<Item = AirtimeAccount>) -> Self {
        let accounts: Vec<_> = accounts.map(|one| (one, PayloadFrom::default())).collect();
        let places = (0..=accounts.len()).map(|part| part.max(1) - 1).collect();
        Self { current: 0, accounts, places }
    }
}

/// Opens the account of each medium.
pub(super) fn of_media(scenario: &Scenario, parts: &Parts) -> Vec<AirtimeAccount> {
    let (from, to) = (scenario.measure_from(), scenario.end());
    let cells = scenario.access_points().count();
    let account = |(&kind, scopes): (&Kind, Range<u32>)| {
        AirtimeAccount::new(from, to, scopes, if kind == Kind::Cells { cells } else { 0 })
    };
    parts.kinds().iter().zip(scopes_of_media(scenario, parts)).map(account).collect()
}

/// Returns the scopes of each medium.
fn scopes_of_media(scenario: &Scenario, parts: &Parts) -> Vec<Range<u32>> {
    let media = parts.kinds().len();
    if media == 1 || scenario.ap.links.is_some() {
        return vec![0..scopes(scenario); media];
    }
    let mut all = vec![0..0; media];
    for (group, stations) in (0..).zip(&scenario.stations) {
        let scopes = &mut all[parts.of_cell(stations.cell)];
        let [first, last] = DIRECTIONS.map(|direction| scope(group, direction));
        if scopes.end == 0 {
            scopes.start = first;
        }
        scopes.end = last + 1;
    }
    all
}

/// Additional accounts for a field.
#[derive(Debug, Default)]
pub(super) struct FieldBooks {
    /// The current or last exchange of each queue; and start and times of its last exchange that
    /// was not certain to be fully measured.
    under_way: Vec<UnderWay>,
    at_edge: Vec<(Time, FrameTimes)>,
    /// Airtime views of access points and failures of queues, when measuring began.
    views: Vec<View>,
    failures: Vec<FailureCounts>,
}

/// An exchange of a queue: the time of its data and of its other frames, and the scope and contents
/// of its data.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    data: Duration,
    control: Duration,
    scope: u32,
    cargo: Cargo,
    counts: Counts,
}

/// Which part of an exchange counts if it succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    /// None: there is no exchange.
    Nothing,
    /// All of it: it is fully measured.
    All,
    /// The measured part, which is computed when it has succeeded.
    Part,
}

impl UnderWay {
    /// The state of a queue that has sent nothing yet.
    const NONE: Self = Self {
        data: Duration::ZERO,
        control: Duration::ZERO,
        scope: 0,
        cargo: Cargo::Data,
        counts: Counts::Nothing,
    };
}

impl FieldBooks {
    pub(super) fn new(queues: usize) -> Self {
        Self {
            under_way: vec![UnderWay::NONE; queues],
            at_edge: vec![(Time::ZERO, FrameTimes::default()); queues],
            ..Self::default()
        }
    }
}

impl Ledger {
    /// Records an exchange of `by` over a field that begins at `start`.
    #[inline(always)]
    pub(in crate::world) fn began_over_field(
        &mut self,
        by: ContenderId,
        start: Time,
        times: &FrameTimes,
        (scope, cargo): (u32, Cargo),
    ) {
        let is_whole = self.airtime.will_measure(start, start + times.total);
        self.field.under_way[by as usize] = UnderWay {
            data: times.data,
            control: times.control,
            scope,
            cargo,
            counts: if is_whole { Counts::All } else { Counts::Part },
        };
        if !is_whole {
            self.field.at_edge[by as usize] = (start, *times);
        }
    }

    /// Records that the exchange of `by` over a field has failed.
    #[inline(always)]
    pub(in crate::world) fn lost_over_field(&mut self, by: ContenderId) {
        self.field.under_way[by as usize].counts = Counts::Nothing;
    }

    /// Counts the airtime of the current exchange of `by`, which has succeeded, unless it is
    /// already counted.
    #[inline(always)]
    pub(in crate::world) fn succeeded_over_field(&mut self, by: ContenderId, phy: &PhyConfig) {
        let one = &mut self.field.under_way[by as usize];
        match std::mem::replace(&mut one.counts, Counts::Nothing) {
            Counts::Nothing => {}
            Counts::All => self.airtime.add_apart(one.scope, one.cargo, (one.data, one.control)),
            Counts::Part => self.count_part_over_field(by, phy),
        }
    }

    /// Counts the measured part of the exchange of `by`.
    #[cold]
    fn count_part_over_field(&mut self, by: ContenderId, phy: &PhyConfig) {
        let (start, times) = self.field.at_edge[by as usize];
        let UnderWay { scope, cargo, .. } = self.field.under_way[by as usize];
        self.airtime.exchange_apart(start, &times, scope, cargo, phy);
    }

    /// Records a frame that collides with others, by cell.
    pub(in crate::world) fn note_collider(&mut self, colliding: Colliding) {
        self.colliding.push(colliding);
    }

    /// Counts a collision, and the recorded frames by cell.
    pub(in crate::world) fn collision(&mut self, now: Time, sent: Time, end: Time) {
        self.airtime.collision(now, sent, end);
        self.airtime.cells_collide(now, &self.colliding);
        self.colliding.clear();
    }

    /// Counts a contention-free period from `began` to `end`.
    pub(in crate::world) fn contention_free(&mut self, began: Time, end: Time) {
        self.contention_free += self.airtime.measured(began, end);
    }

    /// Switches to the account of the medium with this number.
    pub(in crate::world) fn switch_to(&mut self, part: usize) {
        let Aside { current, accounts, places } = &mut self.aside;
        if part != *current {
            // The account of the current medium goes to the place of the new one.
            let place = places[part];
            places[*current] = place;
            *current = part;
            let (airtime, payload) = &mut accounts[place];
            std::mem::swap(&mut self.airtime, airtime);
            std::mem::swap(&mut self.payload, payload);
        }
    }

    /// Calls `each` for every medium, with its account switched in.
    fn each_medium<R>(&mut self, mut each: impl FnMut(&mut Self, usize) -> R) -> Vec<R> {
        let (current, others) = (self.aside.current, self.aside.accounts.len());
        let visit = |part| {
            self.switch_to(part);
            each(self, part)
        };
        let all = (0..=others).map(visit).collect();
        self.switch_to(current);
        all
    }

    /// Starts the accounts at the end of the warm-up.
    pub(super) fn start_accounts(&mut self, now: Time, medium: &mut Medium) {
        self.each_medium(|ledger, part| {
            let medium = medium.part_mut(part);
            ledger.payload = PayloadFrom::new(now, medium.receiving());
            if let Medium::Field(field) = medium {
                ledger.field.views = field.views(now).collect();
                ledger.field.failures = field.failures().to_vec();
            }
        });
    }

    /// Returns the airtime of the exchanges of some scopes; with several links their mean.
    pub(super) fn exchanges_of(&self, all: Entities<'_>, scopes: &[u32]) -> ExchangeParts {
        let Some(links) = &all.scenario.ap.links else {
            return scopes.iter().map(|&scope| self.account_of(all, scope).of(scope)).sum();
        };
        let of = |one: &AirtimeAccount| scopes.iter().map(|&scope| one.of(scope)).sum();
        let others = self.aside.accounts.iter().map(|(one, _)| of(one));
        let sum: ExchangeParts = others.chain([of(&self.airtime)]).sum();
        let mean = |sum: Duration| sum.part(1, links.len());
        let [data, tcp_ack, control] = [sum.data, sum.tcp_ack, sum.control].map(mean);
        ExchangeParts { data, tcp_ack, control }
    }

    /// Returns the account of the medium of `scope`.
    fn account_of(&self, all: Entities<'_>, scope: u32) -> &AirtimeAccount {
        let Aside { current, accounts, places } = &self.aside;
        let group = &all.scenario.stations[scope as usize / DIRECTIONS.len()];
        let part = all.parts.of_cell(group.cell);
        if part == *current { &self.airtime } else { &accounts[places[part]].0 }
    }

    /// Closes the airtime of all cells, and returns their mean and the view of each of several
    /// cells.
    ///
    /// # Errors
    /// The violated invariant.
    pub(in crate::world) fn close(
        &mut self,
        all: Entities<'_>,
        medium: &Medium,
    ) -> Result<(AirtimeParts, Vec<View>), String> {
        let measured = all.scenario.run.duration;
        if !all.has_air() {
            let parts = self.each_medium(|ledger, _| ledger.airtime.close());
            let parts: Vec<_> = parts.into_iter().collect::<Result<_, _>>()?;
            return Ok((mean_airtime(&parts, measured), Vec::new()));
        }
        let views = self.views(all, medium)?;
        let parts: Vec<_> = views.iter().map(|view| view.parts).collect();
        Ok((mean_airtime(&parts, measured), views))
    }

    /// Returns what the access point of each cell has sensed in the measured time.
    ///
    /// # Errors
    /// If the parts do not sum to the measured time.
    fn views(&mut self, all: Entities<'_>, medium: &Medium) -> Result<Vec<View>, String> {
        let count = all.scenario.access_points().count();
        let mut views = vec![View::default(); count];
        let of_parts = self.each_medium(|ledger, part| match medium.part(part) {
            Medium::Field(field) => ledger.field_views(all, field),
            _ if all.parts.kinds()[part] == Kind::Cells => ledger.shared_views(all, part),
            _ => ledger.airtime.close().map(|parts| vec![View { parts, of_cells: Vec::new() }]),
        });
        let mut law = Ok(());
        for (part, of_part) in of_parts.into_iter().enumerate() {
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
        }
        law.map(|()| views)
    }

    /// Returns what each access point of a field has sensed in the measured time.
    ///
    /// # Errors
    /// If the parts do not sum to the measured time.
    fn field_views(&self, all: Entities<'_>, field: &Field<Packet>) -> Result<Vec<View>, String> {
        let measured = all.scenario.run.duration;
        let views = field.views(all.now).zip(&self.field.views);
        let views = views.map(|(now, before)| {
            let of_cells = now.of_cells.iter().zip(&before.of_cells);
            let of_cells = of_cells.map(|(&now, &then)| now - then).collect();
            let view = View { parts: now.parts - before.parts, of_cells };
            let all = view.parts.total();
            if all == measured {
                Ok(view)
            } else {
                Err(format!("airtime of a cell adds up to {all}, not to {measured}"))
            }
        });
        views.collect()
    }

    /// Returns what the access points of cells that share the medium `part` have sensed in the
    /// measured time.
    ///
    /// # Errors
    /// If the parts do not sum to the measured time.
    fn shared_views(&mut self, all: Entities<'_>, part: usize) -> Result<Vec<View>, String> {
        let sums = self.airtime.close()?;
        let busy = all.scenario.run.duration - sums.idle;
        let mut own = self.airtime.cells.to_vec();
        for (group, stations) in (0..).zip(&all.scenario.stations) {
            let cell = &mut own[stations.cell as usize];
            for direction in DIRECTIONS {
                cell.alone += self.airtime.of(scope(group, direction));
            }
        }
        let mut cell = 0..;
        own.retain(|_| cell.next().is_some_and(|cell| all.parts.of_cell(cell) == part));
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

    /// Returns the failures of each queue in the measured time; none with a single cell.
    pub(super) fn failures(&self, all: Entities<'_>, medium: &Medium) -> Vec<FailureCounts> {
        if !all.has_air() {
            return Vec::new();
        }
        let of_field = |field: &Field<Packet>| -> Vec<_> {
            let both = field.failures().iter().zip(&self.field.failures);
            both.map(|(&now, &then)| now - then).collect()
        };
        let mut failures = vec![FailureCounts::default(); all.transmitters.len()];
        for part in 0..all.parts.kinds().len() {
            if let Medium::Field(field) = medium.part(part) {
                match medium.numbers(part) {
                    Some(numbers) => {
                        for (&id, failed) in numbers.contenders.iter().zip(of_field(field)) {
                            failures[id as usize] = failed;
                        }
                    }
                    None => failures = of_field(field),
                }
            }
        }
        for (id, failed) in (0..).zip(&mut failures) {
            if all.parts.kinds()[all.parts.of_cell(all.cell_of(id))] != Kind::Field {
                failed.same_slot = self.mac_counted_by(id, medium).collisions;
            }
        }
        failures
    }

    /// Creates the record of each of several cells from what its access point has sensed.
    pub(super) fn cell_records(
        &self,
        all: Entities<'_>,
        medium: &Medium,
        views: &[View],
        flows: &[FlowRecord],
        failures: &[FailureCounts],
    ) -> Vec<CellRecord> {
        if views.is_empty() {
            return Vec::new();
        }
        let share = |part: Duration| ratio(part, all.scenario.run.duration);
        let cells = views.len() as u32;
        let cell_of = |one: &Transmitter| Some(all.nodes[one.node as usize].access_point);
        let of_flows = Places::new(cells, all.flows.iter().map(|flow| Some(flow.access_point)));
        let of_queues = Places::new(cells, all.transmitters.iter().map(cell_of));
        (0..)
            .zip(views)
            .map(|(cell, view)| {
                let goodput = of_flows.of(cell).iter();
                let queues = of_queues.of(cell).iter();
                let AirtimeParts { idle, data, tcp_ack, control, overlapped, heard } = view.parts;
                CellRecord {
                    goodput_bps: goodput.map(|&flow| flows[flow as usize].goodput_bps).sum(),
                    airtime: CellAirtime {
                        own: share(data) + share(tcp_ack) + share(control) + share(overlapped),
                        heard: share(heard),
                        idle: share(idle),
                    },
                    attempts: (queues.clone())
                        .map(|&id| self.mac_counted_by(id, medium).attempts)
                        .sum(),
                    failures: queues.map(|&id| failures[id as usize]).sum(),
                    waits_for: (0..)
                        .zip(&view.of_cells)
                        .filter(|&(other, &time)| other != cell && time > Duration::ZERO)
                        .map(|(other, &time)| (other, share(time)))
                        .collect(),
                }
            })
            .collect()
    }
}

/// Returns the mean of what several access points have sensed; all that is not of their own
/// cells is idle.
fn mean_airtime(of_cells: &[AirtimeParts], measured: Duration) -> AirtimeParts {
    let mean = |part: fn(&AirtimeParts) -> Duration| {
        let sum = of_cells.iter().map(|one| part(one).as_nanos()).sum::<u64>();
        Duration::from_nanos(sum / of_cells.len() as u64)
    };
    let mut parts = AirtimeParts {
        data: mean(|one| one.data),
        tcp_ack: mean(|one| one.tcp_ack),
        control: mean(|one| one.control),
        overlapped: mean(|one| one.overlapped),
        ..AirtimeParts::default()
    };
    parts.idle = measured - parts.own();
    parts
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
