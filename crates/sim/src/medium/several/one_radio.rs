//! Stations with one radio for several links (eMLSR; IEEE Std 802.11be-2024, 35.3.17). They listen
//! on all their links. An exchange on one takes the radio, and the access point sends nothing to
//! them on others until they have switched back.
//!
//! The access point knows at once when such a station sends, and a station when a frame on another
//! link is for it. If exchanges begin on two links at the same instant, the station is on the first.

use std::collections::BTreeSet;

use airtcp_kernel::{Duration, Time};
use airtcp_wlan::{ACCESS_POINT, Cell, ContenderId, Emlsr, StationId};

use super::Several;
use crate::medium::Host;
use crate::medium::numbers::Renumbered;
use crate::packet::Packet;

/// The radios of stations that have one radio for several links.
#[derive(Debug)]
pub(super) struct OneRadio {
    /// The radios by station; `None` for stations with a radio for each link.
    radios: Vec<Option<Radio>>,
    of_access_point: Vec<ContenderId>,
    /// By link, the stations in an exchange, and whether their radios have detected its frame.
    engaged: Vec<Vec<(StationId, bool)>>,
    /// When stations listen on all links again.
    returns: BTreeSet<(Time, StationId)>,
    broken_law: Option<String>,
}

/// The radio of one station.
#[derive(Debug)]
struct Radio {
    switch: Duration,
    /// The links that the station has, and its queues.
    links: Vec<usize>,
    queues: Vec<ContenderId>,
    /// The links on which it does not listen, each with the remaining backoffs of its queues.
    away: Vec<(usize, Vec<Option<u32>>)>,
}

impl OneRadio {
    /// Creates the radios of stations; `None` if none has to switch. `absent` has for each link the
    /// stations that do not have it.
    pub(super) fn new(
        cell: &Cell<Packet>,
        of_stations: &[Option<Emlsr>],
        absent: &[Vec<StationId>],
    ) -> Option<Box<Self>> {
        of_stations.iter().flatten().next()?;
        let radio = |(station, emlsr): (StationId, &Option<Emlsr>)| {
            let has = |&link: &usize| !absent[link].contains(&station);
            Some(Radio {
                switch: emlsr.as_ref()?.switch,
                links: (0..absent.len()).filter(has).collect(),
                queues: cell.queues_of(station),
                away: Vec::new(),
            })
        };
        Some(Box::new(Self {
            radios: (0..).zip(of_stations).map(radio).collect(),
            of_access_point: cell.queues_of(ACCESS_POINT),
            engaged: vec![Vec::new(); absent.len()],
            returns: BTreeSet::new(),
            broken_law: None,
        }))
    }

    /// Returns when the next station listens again.
    pub(super) fn next_return(&self) -> Time {
        self.returns.first().map_or(Time::NEVER, |&(at, _)| at)
    }

    /// Checks that no station began an exchange while it was in one on another link, or switched.
    pub(super) fn check_laws(&self) -> Result<(), String> {
        self.broken_law.clone().map_or(Ok(()), Err)
    }

    fn radio(&mut self, station: StationId) -> &mut Radio {
        self.radios[station as usize].as_mut().expect("it has one radio")
    }

    /// Returns the stations whose exchanges on `link` have begun, now that those of `on_air` are in
    /// one, and the stations whose exchanges have ended, with whether their radios knew.
    fn changes(
        &mut self,
        link: usize,
        on_air: impl Iterator<Item = (StationId, bool)>,
    ) -> (Vec<StationId>, Vec<(StationId, bool)>) {
        let mut now: Vec<(StationId, bool)> = Vec::new();
        for (station, knows) in on_air.filter(|&(one, _)| self.radios[one as usize].is_some()) {
            match now.iter_mut().find(|(one, _)| *one == station) {
                Some((_, known)) => *known |= knows,
                None => now.push((station, knows)),
            }
        }
        let before = std::mem::replace(&mut self.engaged[link], now);
        let now = &self.engaged[link];
        let lack = |all: &[(StationId, bool)], one| all.iter().all(|&(other, _)| other != one);
        let begun: Vec<_> =
            now.iter().map(|&(one, _)| one).filter(|&one| lack(&before, one)).collect();
        let ended = before.iter().copied().filter(|&(one, _)| lack(now, one)).collect();
        for &station in &begun {
            if !self.radio(station).away.is_empty() {
                let law =
                    format!("station {station} sent or received on link {link} without radio");
                self.broken_law.get_or_insert(law);
            }
        }
        (begun, ended)
    }
}

impl Several {
    /// Lets a station listen again that is due at `now`. Returns false if none is.
    pub(super) fn station_returns(&mut self, now: Time, host: &mut impl Host) -> bool {
        let Some(one_radio) = self.one_radio.as_mut().filter(|one| one.next_return() <= now) else {
            return false;
        };
        if let Some((_, station)) = one_radio.returns.pop_first() {
            self.come_back(station, now, host);
        }
        true
    }

    /// Follows the radios after an event on `link`.
    pub(super) fn follow_radios(&mut self, link: usize, now: Time, host: &mut impl Host) {
        let Some(one_radio) = &mut self.one_radio else { return };
        let (begun, ended) = one_radio.changes(link, self.parts[link].link().engaged());
        for station in begun {
            let links = self.one_radio().radio(station).links.clone();
            for other in links.into_iter().filter(|&other| other != link) {
                self.depart(other, station, now, host);
            }
        }
        for (station, knew) in ended {
            let switch = self.one_radio().radio(station).switch;
            if knew && switch > Duration::ZERO {
                self.depart(link, station, now, host);
                self.one_radio().returns.insert((now + switch, station));
            } else {
                self.come_back(station, now, host);
            }
        }
    }

    fn one_radio(&mut self) -> &mut OneRadio {
        self.one_radio.as_mut().expect("stations have one radio")
    }

    /// Stops frames from and to `station` on `link`.
    fn depart(&mut self, link: usize, station: StationId, now: Time, host: &mut impl Host) {
        self.lend_to(link);
        let of_access_point = self.one_radio().of_access_point.clone();
        let queues = self.one_radio().radio(station).queues.clone();
        let cell = self.parts[link].link_mut();
        let left = cell.depart((station, &queues), &of_access_point, now);
        self.one_radio().radio(station).away.push((link, left));
        self.reconsider(link, &of_access_point, (now, false), host);
    }

    /// Continues with `station` on all links on which it did not listen.
    fn come_back(&mut self, station: StationId, now: Time, host: &mut impl Host) {
        let of_access_point = self.one_radio().of_access_point.clone();
        let radio = self.one_radio().radio(station);
        let (queues, away) = (radio.queues.clone(), std::mem::take(&mut radio.away));
        for (link, left) in away {
            self.lend_to(link);
            let supply = &mut host.cell();
            let mut supply =
                Renumbered { supply, numbers: &self.numbers[link], places: &self.places };
            let cell = self.parts[link].link_mut();
            cell.come_back((station, &queues), &left, &of_access_point, now, &mut supply);
            self.turns.set(link as u32, self.parts[link].next_time());
        }
    }
}
