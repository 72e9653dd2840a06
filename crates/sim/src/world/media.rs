//! The media of a scenario: which cells share one, and the entities of each. A medium has only its
//! own stations, contenders and rates, numbered in the world's order (`medium/numbers.rs`): N
//! isolated cells take N times the memory of one.

use std::collections::BTreeMap;

use airtcp_kernel::RandomStream;
use airtcp_wlan::{
    CellConfig, ContenderConfig, FieldConfig, FrameErrors, MacConfig, PairConfig, PhyConfig, Rate,
    RateControlConfig,
};

use crate::medium::Numbers;
use crate::scenario::Scenario;

/// The configuration of a medium.
pub(super) enum MediumConfig<'a> {
    Cell(Box<CellConfig<'a>>),
    Field(Box<FieldConfig<'a>>),
}

/// The configuration of all media, by the world's numbers. Each medium takes its part.
pub(super) struct Whole<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) phy: &'a PhyConfig,
    pub(super) cf_end_rate: Rate,
    /// The cell of each station; the access points come first.
    pub(super) cells: Vec<u32>,
    /// Data and control rates of each rate class.
    pub(super) rates: Vec<(Rate, Rate)>,
    /// The capabilities of classes that support less than the medium.
    pub(super) pairs: BTreeMap<u32, PairConfig>,
    /// The rate class of each station.
    pub(super) rate_classes: Vec<u32>,
    pub(super) errors: Vec<Option<(FrameErrors, RandomStream)>>,
    pub(super) rate_controls: Vec<Option<RateControlConfig>>,
    pub(super) contenders: Vec<Option<ContenderConfig>>,
}

/// The media of a scenario.
pub(super) struct Media<'a> {
    /// The configuration of each medium, and the world's numbers of its entities.
    pub(super) configs: Vec<(MediumConfig<'a>, Numbers)>,
    /// The medium of each access point.
    pub(super) of_cells: Vec<u32>,
}

/// Returns the medium of each cell, and the number of cells that share each
/// [`Cell`](airtcp_wlan::Cell). Media are numbered: first each air in which all hear each other,
/// then one field of the other cells.
fn share(airs: &[Option<u32>], access_points: u32) -> (Vec<u32>, Vec<usize>) {
    let mut of_cells = vec![0; access_points as usize];
    if airs.is_empty() {
        return (of_cells, vec![1]);
    }
    let mut part_of_air = vec![0; airs.len()];
    let mut shared = Vec::new();
    for (cell, air) in (0..).zip(airs) {
        let Some(air) = *air else { continue };
        if air == cell {
            part_of_air[air as usize] = shared.len() as u32;
            shared.push(0);
        }
        let part = part_of_air[air as usize];
        shared[part as usize] += 1;
        of_cells[cell as usize] = part;
    }
    for (of, air) in of_cells.iter_mut().zip(airs) {
        if air.is_none() {
            *of = shared.len() as u32;
        }
    }
    (of_cells, shared)
}

impl<'a> Whole<'a> {
    /// Creates the media. `airs` has for each cell the first cell of its air, if all stations of
    /// the air hear each other; empty without `[air]`.
    pub(super) fn into_media(mut self, airs: &[Option<u32>], access_points: u32) -> Media<'a> {
        let (of_cells, shared) = share(airs, access_points);
        let has_field = airs.contains(&None);
        let mut all: Vec<Numbers> = Vec::new();
        all.resize_with(shared.len() + usize::from(has_field), Numbers::default);
        let mut places = Inverse::default();
        for (cell, &part) in (0..).zip(&of_cells) {
            places.cells.push(add(&mut all[part as usize].cells, cell));
        }
        let part_of = |cell: u32| of_cells[cell as usize] as usize;
        for (station, &cell) in (0..).zip(&self.cells) {
            places.stations.push(add(&mut all[part_of(cell)].stations, station));
        }
        for (id, contender) in (0..).zip(&self.contenders) {
            let station = contender.as_ref().expect("none is taken yet").station;
            all[part_of(self.cells[station as usize])].contenders.push(id);
        }
        let found = self.scenario.stations.iter().flat_map(|group| {
            let rates = group.rate_control.as_ref().map_or(0, |one| one.rates.len());
            std::iter::repeat_n(group.cell, rates)
        });
        let own = self.scenario.stations.iter().map(|group| group.cell);
        for (class, cell) in (0..).zip(own.chain(found)) {
            places.classes.push(add(&mut all[part_of(cell)].classes, class));
        }
        let configs = (0..).zip(all).map(|(part, numbers)| {
            let config = match shared.get(part) {
                Some(&cells) => MediumConfig::Cell(Box::new(self.cell(&numbers, &places, cells))),
                None => MediumConfig::Field(Box::new(self.field(&numbers, &places))),
            };
            (config, numbers)
        });
        let configs = configs.collect();
        Media { configs, of_cells }
    }

    fn cell(&mut self, own: &Numbers, places: &Inverse, cells: usize) -> CellConfig<'a> {
        let scenario = self.scenario;
        let mac = MacConfig { cf_end_rate: self.cf_end_rate, ..scenario.mac.clone() };
        CellConfig {
            phy: self.phy,
            mac: if cells > 1 { mac.shared_by_cells() } else { mac },
            access_point: 0,
            cells: if scenario.air.is_some() { self.cells_of(own, places) } else { Vec::new() },
            rates: own.classes.iter().map(|&class| self.rates[class as usize]).collect(),
            pairs: self.pairs_of(own),
            rate_classes: self.rate_classes_of(own, places),
            errors: self.errors_of(own),
            rate_controls: self.rate_controls_of(own, places),
            contenders: self.contenders_of(own, places),
        }
    }

    fn field(&mut self, own: &Numbers, places: &Inverse) -> FieldConfig<'a> {
        let scenario = self.scenario;
        let needs_db: Vec<_> = scenario.needs_db().collect();
        let air = scenario.air.as_ref().expect("a field has an air");
        FieldConfig {
            phy: self.phy,
            mac: &scenario.mac,
            cells: self.cells_of(own, places),
            rates: own.classes.iter().map(|&class| self.rates[class as usize]).collect(),
            pairs: self.pairs_of(own),
            needs_db: own.classes.iter().map(|&class| needs_db[class as usize]).collect(),
            rate_classes: self.rate_classes_of(own, places),
            errors: self.errors_of(own),
            rate_controls: self.rate_controls_of(own, places),
            contenders: self.contenders_of(own, places),
            hearing: air.hearing(&own.stations),
        }
    }

    fn pairs_of(&mut self, own: &Numbers) -> BTreeMap<u32, PairConfig> {
        let of_class = |(place, class): (u32, &u32)| Some((place, self.pairs.remove(class)?));
        (0..).zip(&own.classes).filter_map(of_class).collect()
    }

    fn cells_of(&self, own: &Numbers, places: &Inverse) -> Vec<u32> {
        let cell = |&station: &u32| places.cells[self.cells[station as usize] as usize];
        own.stations.iter().map(cell).collect()
    }

    /// Returns the rate classes of stations; an access point's own entry is not used.
    fn rate_classes_of(&self, own: &Numbers, places: &Inverse) -> Vec<u32> {
        let class = |&station: &u32| {
            let is_access_point = (station as usize) < places.cells.len();
            let class = self.rate_classes[station as usize] as usize;
            if is_access_point { 0 } else { places.classes[class] }
        };
        own.stations.iter().map(class).collect()
    }

    fn errors_of(&mut self, own: &Numbers) -> Vec<Option<(FrameErrors, RandomStream)>> {
        own.stations.iter().map(|&station| self.errors[station as usize].take()).collect()
    }

    fn rate_controls_of(
        &mut self,
        own: &Numbers,
        places: &Inverse,
    ) -> Vec<Option<RateControlConfig>> {
        let control = |&station: &u32| {
            let one = self.rate_controls[station as usize].take()?;
            let first_class = places.classes[one.first_class as usize];
            Some(RateControlConfig { first_class, ..one })
        };
        own.stations.iter().map(control).collect()
    }

    fn contenders_of(&mut self, own: &Numbers, places: &Inverse) -> Vec<ContenderConfig> {
        let contender = |&id: &u32| {
            let one = self.contenders[id as usize].take().expect("it is on one medium");
            ContenderConfig { station: places.stations[one.station as usize], ..one }
        };
        own.contenders.iter().map(contender).collect()
    }
}

/// The number of each cell, station and rate class on its medium.
#[derive(Default)]
struct Inverse {
    cells: Vec<u32>,
    stations: Vec<u32>,
    classes: Vec<u32>,
}

/// Appends `number` to a medium's list, and returns its index.
fn add(own: &mut Vec<u32>, number: u32) -> u32 {
    own.push(number);
    own.len() as u32 - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells 0 and 2 share an air, cell 3 has its own, and 1 and 4 are in a field.
    #[test]
    fn cells_of_one_air_share_a_medium_and_the_field_is_the_last() {
        let airs = [Some(0), None, Some(0), Some(3), None];
        assert_eq!(share(&airs, 5), (vec![0, 2, 0, 1, 2], vec![2, 1]));
        assert_eq!(share(&[], 1), (vec![0], vec![1]));
    }
}
