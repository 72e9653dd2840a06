//! The media of a scenario: which cells share one, and the entities of each. A medium has only its
//! own stations, contenders and rates, numbered in the world's order (`medium/numbers.rs`): N
//! isolated cells take N times the memory of one.

use std::collections::BTreeMap;

use airtcp_wlan::{ContenderConfig, HearingConfig, MediumConfig, RateControlConfig};

use crate::medium::Numbers;
use crate::scenario::Scenario;

/// The media of a scenario.
pub(super) struct Media<'a> {
    /// The configuration of each medium, how the stations of a field hear each other, and the
    /// world's numbers of its entities.
    pub(super) configs: Vec<(MediumConfig<'a>, Option<HearingConfig>, Numbers)>,
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

impl<'a> Media<'a> {
    /// Divides `whole`, the configuration of all media by the world's numbers. `airs` has for each
    /// cell the first cell of its air, if all stations of the air hear each other; empty without
    /// `[air]`.
    pub(super) fn of(
        scenario: &Scenario,
        mut whole: MediumConfig<'a>,
        airs: &[Option<u32>],
    ) -> Self {
        let access_points = scenario.access_points().count() as u32;
        let (of_cells, shared) = share(airs, access_points);
        let parts = shared.len() + usize::from(airs.contains(&None));
        let medium = |part| (without_entities(&whole, shared.get(part)), Numbers::default());
        let mut media: Vec<_> = (0..parts).map(medium).collect();
        let mut places = Inverse::default();
        for (cell, &part) in (0..).zip(&of_cells) {
            places.cells.push(add(&mut media[part as usize].1.cells, cell));
        }
        let part_of = |cell: u32| of_cells[cell as usize] as usize;
        let found = scenario.stations.iter().flat_map(|group| {
            let rates = group.rate_control.as_ref().map_or(0, |one| one.rates.len());
            std::iter::repeat_n(group.cell, rates)
        });
        let own = scenario.stations.iter().map(|group| group.cell);
        for ((class, cell), rates) in (0..).zip(own.chain(found)).zip(whole.rates) {
            let (config, numbers) = &mut media[part_of(cell)];
            let place = add(&mut numbers.classes, class);
            places.classes.push(place);
            config.rates.push(rates);
            config.pairs.extend(whole.pairs.remove(&class).map(|pair| (place, pair)));
        }
        let stations = whole.cells.iter().zip(whole.rate_classes).zip(whole.errors);
        for (station, ((&cell, class), errors)) in (0..).zip(stations) {
            let (config, numbers) = &mut media[part_of(cell)];
            places.stations.push(add(&mut numbers.stations, station));
            config.cells.push(places.cells[cell as usize]);
            let is_access_point = station < access_points;
            let class = if is_access_point { 0 } else { places.classes[class as usize] };
            config.rate_classes.push(class);
            config.errors.push(errors);
        }
        for (&cell, control) in whole.cells.iter().zip(whole.rate_controls) {
            let renumbered = control.map(|one| {
                let first_class = places.classes[one.first_class as usize];
                RateControlConfig { first_class, ..one }
            });
            media[part_of(cell)].0.rate_controls.push(renumbered);
        }
        for (id, one) in (0..).zip(whole.contenders) {
            let (config, numbers) = &mut media[part_of(whole.cells[one.station as usize])];
            numbers.contenders.push(id);
            let station = places.stations[one.station as usize];
            config.contenders.push(ContenderConfig { station, ..one });
        }
        let needs_db: Vec<_> = scenario.needs_db().collect();
        let hearing = |numbers: &Numbers| {
            let needs_db = numbers.classes.iter().map(|&class| needs_db[class as usize]);
            let air = scenario.air.as_ref().expect("a field has an air");
            air.hearing(&numbers.stations, needs_db.collect())
        };
        let configs = (0..).zip(media).map(|(part, (config, numbers))| {
            let is_field = part >= shared.len();
            (config, is_field.then(|| hearing(&numbers)), numbers)
        });
        let configs = configs.collect();
        Self { configs, of_cells }
    }
}

/// Returns the configuration of a medium that `cells` cells share, or of a field, without entities.
fn without_entities<'a>(whole: &MediumConfig<'a>, cells: Option<&usize>) -> MediumConfig<'a> {
    let is_shared = cells.is_some_and(|&cells| cells > 1);
    MediumConfig {
        phy: whole.phy,
        mac: if is_shared { whole.mac.shared_by_cells() } else { whole.mac.clone() },
        cells: Vec::new(),
        rates: Vec::new(),
        pairs: BTreeMap::new(),
        rate_classes: Vec::new(),
        errors: Vec::new(),
        rate_controls: Vec::new(),
        contenders: Vec::new(),
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
