//! Several media that do not hear each other: cells on channels of their own, and a field of the
//! cells that hear others.
//!
//! Each medium has only its own stations and contenders, with its own numbers (`numbers.rs`). They
//! share the world and its wired links. So no medium may play the world beyond the next event of
//! another.
//!
//! The links of one access point (802.11be) are media with the same stations and queues. They also
//! share the state of each pair of stations, which goes to the link that is played.

mod one_radio;

use airtcp_kernel::Time;
use airtcp_wlan::{Cell, CellCounters, ContenderId, Emlsr, StationId, Supply as _};

use one_radio::OneRadio;

use super::numbers::{Numbers, Places, Renumbered};
use super::turns::Turns;
use super::{Host, Medium, Steps};
use crate::packet::Packet;

/// Several media.
#[derive(Debug)]
pub(crate) struct Several {
    pub(crate) parts: Vec<Medium>,
    /// The world's numbers of each medium's entities, and the inverse.
    numbers: Vec<Numbers>,
    places: Places,
    /// The medium of each contender; empty if each is on all media, which are links.
    of_contenders: Vec<u32>,
    /// The next event of each medium.
    turns: Turns,
    /// The link that has the state of pairs of stations.
    holder: usize,
    /// Stations with one radio for several links, if there are any.
    one_radio: Option<Box<OneRadio>>,
}

impl Several {
    /// Combines media, with the numbers of each and the medium of each contender.
    pub(crate) fn new(parts: Vec<Medium>, numbers: Vec<Numbers>, of_contenders: Vec<u32>) -> Self {
        let turns = Turns::new(parts.iter().map(Medium::next_time));
        let places = Places::of(&numbers);
        Self { parts, numbers, places, of_contenders, turns, holder: 0, one_radio: None }
    }

    /// Combines cells that are links of one access point. `absent` has for each link the stations
    /// that do not have it; `emlsr` says of each group how its stations switch their only radio, and
    /// `groups` the group of each station.
    pub(crate) fn of_links(
        mut parts: Vec<Medium>,
        numbers: Vec<Numbers>,
        absent: &[Vec<StationId>],
        (emlsr, groups): (&[Option<Emlsr>], &[Option<u32>]),
    ) -> Self {
        let mut cells: Vec<&mut Cell<Packet>> = parts.iter_mut().map(Medium::link_mut).collect();
        let is_used = emlsr.iter().any(Option::is_some);
        Cell::link(&mut cells, absent, if is_used { emlsr } else { &[] });
        let of_stations = groups.iter().map(|group| group.and_then(|one| emlsr[one as usize]));
        let one_radio = OneRadio::new(cells[0], &of_stations.collect::<Vec<_>>(), absent);
        let turns = Turns::new(parts.iter().map(Medium::next_time));
        let places = Places::of(&numbers[..1]);
        Self { parts, numbers, places, of_contenders: Vec::new(), turns, holder: 0, one_radio }
    }

    /// Iterates over the media of `contender`, with its number there: one, or all links.
    pub(super) fn of(
        &self,
        contender: ContenderId,
    ) -> impl Iterator<Item = (&Medium, ContenderId)> {
        let only = self.of_contenders.get(contender as usize);
        let parts =
            only.map_or(&self.parts[..], |&part| &self.parts[part as usize..=part as usize]);
        parts.iter().map(move |part| (part, self.places.contenders[contender as usize]))
    }

    /// Returns the cells if they are links.
    fn links(&self) -> Option<Vec<&Cell<Packet>>> {
        self.are_links().then(|| self.parts.iter().map(Medium::link).collect())
    }

    /// Returns when the next station with one radio listens again.
    fn next_return(&self) -> Time {
        self.one_radio.as_ref().map_or(Time::NEVER, |one| one.next_return())
    }

    /// Checks the invariants of `contender`.
    pub(super) fn check_laws(&self, contender: ContenderId) -> Result<(), String> {
        self.one_radio.as_ref().map_or(Ok(()), |one| one.check_laws())?;
        match self.links() {
            Some(links) => Cell::check_laws_of(&links, contender),
            None => self.of(contender).try_for_each(|(medium, own)| medium.check_laws(own)),
        }
    }

    fn are_links(&self) -> bool {
        self.of_contenders.is_empty()
    }

    /// Gives the state of pairs of stations to a link.
    fn lend_to(&mut self, link: usize) {
        if self.holder != link {
            let (left, right) = self.parts.split_at_mut(link.max(self.holder));
            let other = &mut left[link.min(self.holder)];
            other.link_mut().lend_peers(right[0].link_mut());
            self.holder = link;
        }
    }

    /// Lets the queues `changed` contend on `link`, or no longer, as their frames say: packets have
    /// arrived, or other links have taken or returned frames.
    fn reconsider(
        &mut self,
        link: usize,
        changed: &[ContenderId],
        (now, is_arrival): (Time, bool),
        host: &mut impl Host,
    ) {
        self.lend_to(link);
        let supply = &mut host.cell();
        let mut supply = Renumbered { supply, numbers: &self.numbers[link], places: &self.places };
        let cell = self.parts[link].link_mut();
        for &contender in changed {
            cell.reconsider(contender, now, is_arrival, &mut supply);
        }
        self.turns.set(link as u32, self.parts[link].next_time());
    }

    /// Lets the queues whose frames have changed on `link` contend on the others, or no longer.
    fn tell_other_links(&mut self, link: usize, now: Time, host: &mut impl Host) {
        let changed = self.parts[link].link_mut().take_changed();
        if !changed.is_empty() {
            for other in (0..self.parts.len()).filter(|&other| other != link) {
                self.reconsider(other, &changed, (now, false), host);
            }
        }
    }

    /// Returns the world's numbers of the entities of medium `part`.
    pub(super) fn numbers(&self, part: usize) -> &Numbers {
        &self.numbers[part]
    }

    /// Reports to `host` the frames of fields on the air.
    pub(super) fn tell_frames_on_air(&self, now: Time, host: &mut impl Host) {
        for (medium, numbers) in self.parts.iter().zip(&self.numbers) {
            if let Medium::Field(field) = medium {
                let supply = &mut host.field();
                let places = &self.places;
                field.tell_frames_on_air(now, &mut Renumbered { supply, numbers, places });
            }
        }
    }

    /// Returns the sum of the counters.
    pub(super) fn cell_counters(&self) -> CellCounters {
        self.parts.iter().map(Medium::cell_counters).sum()
    }
}

impl Steps for Several {
    fn next_time(&self) -> Time {
        self.turns.first().0.at.min(self.next_return())
    }

    fn advance(&mut self, now: Time, host: &mut impl Host) {
        if self.station_returns(now, host) {
            return;
        }
        let (first, then) = self.turns.first();
        debug_assert_eq!(first.at, now);
        host.turn_to(first.part as usize, then.min(self.next_return()));
        if self.are_links() {
            self.lend_to(first.part as usize);
        }
        let (numbers, places) = (&self.numbers[first.part as usize], &self.places);
        let at = match &mut self.parts[first.part as usize] {
            Medium::Cell(cell) => {
                let supply = &mut host.cell();
                cell.advance(now, &mut Renumbered { supply, numbers, places });
                cell.next_time()
            }
            Medium::Field(field) => {
                let supply = &mut host.field();
                field.advance(now, &mut Renumbered { supply, numbers, places });
                field.next_time()
            }
            Medium::Several(_) => unreachable!("media are not nested"),
        };
        host.turn_to_all();
        self.turns.set_first(at);
        if self.are_links() {
            self.tell_other_links(first.part as usize, now, host);
            self.follow_radios(first.part as usize, now, host);
        }
    }

    fn frames_ready(&mut self, now: Time, host: &mut impl Host) {
        if !host.cell().has_ready() {
            return;
        }
        if self.are_links() {
            let ready: Vec<_> = std::iter::from_fn(|| host.cell().next_ready()).collect();
            return (0..self.parts.len())
                .for_each(|link| self.reconsider(link, &ready, (now, true), host));
        }
        let Self { parts, numbers, places, of_contenders, turns, .. } = self;
        while let Some(part) = host.select_ready(of_contenders) {
            let numbers = &numbers[part as usize];
            let (before, at) = match &mut parts[part as usize] {
                Medium::Cell(cell) => {
                    let before = cell.next_time();
                    let supply = &mut host.cell();
                    cell.frames_ready(now, &mut Renumbered { supply, numbers, places });
                    (before, cell.next_time())
                }
                Medium::Field(field) => {
                    let before = field.next_time();
                    let supply = &mut host.field();
                    field.frames_ready(now, &mut Renumbered { supply, numbers, places });
                    (before, field.next_time())
                }
                Medium::Several(_) => unreachable!("media are not nested"),
            };
            // Usually the medium is busy, and its next event does not change.
            if at != before {
                turns.set(part, at);
            }
        }
    }
}
