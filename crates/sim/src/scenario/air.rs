//! Several cells, or one cell with hidden stations, in the resolved form.

use std::collections::BTreeMap;
use std::fmt::{self, Formatter};

use airtcp_kernel::Duration;
use airtcp_wlan::{HearingConfig, OfdmaUplink};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{AccessPoint, Scenario};
use crate::scenario::AccessScheme;

/// A cell.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellConfig {
    /// Its name, which is also the name of its access point's node.
    pub name: String,
    /// The name of its access point's random streams if all stations of the cell hear each other
    /// and no others.
    pub streams: Option<String>,
    /// The channel. Its effects are already included in who hears whom.
    #[expect(dead_code, reason = "cells on other channels do not hear each other: `Air` says so")]
    channel: Option<u32>,
    /// The access point.
    pub ap: AccessPoint,
}

/// The SINR in dB that frames of a group need.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Needs {
    /// At its data rate.
    pub data_db: f64,
    /// At its control rate.
    pub control_db: f64,
}

/// The powers in dBm with which other classes hear the senders of a class, by class. In JSON, a list
/// with a number or null for each class, or an object with the classes that hear anything, so that
/// cells that do not hear each other take no space.
#[derive(Clone, Debug, Default)]
struct Row {
    dbm: BTreeMap<u32, f64>,
    /// The length of the list; `None` if it was an object.
    classes: Option<usize>,
}

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfBoth;

        impl<'de> Visitor<'de> for OfBoth {
            type Value = Row;

            fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of powers, or powers by class")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Row, A::Error> {
                let (mut dbm, mut class) = (BTreeMap::new(), 0);
                while let Some(power) = list.next_element::<Option<f64>>()? {
                    dbm.extend(power.map(|power| (class, power)));
                    class += 1;
                }
                Ok(Row { dbm, classes: Some(class as usize) })
            }

            fn visit_map<A: MapAccess<'de>>(self, mut classes: A) -> Result<Row, A::Error> {
                let mut dbm = BTreeMap::new();
                while let Some((class, power)) = classes.next_entry()? {
                    dbm.insert(class, power);
                }
                Ok(Row { dbm, classes: None })
            }
        }

        deserializer.deserialize_any(OfBoth)
    }
}

impl Row {
    /// True if it is a row of a table of `classes` classes.
    fn fits(&self, classes: usize) -> bool {
        self.classes.is_none_or(|own| own == classes)
            && self.dbm.last_key_value().is_none_or(|(&last, _)| (last as usize) < classes)
    }
}

/// The powers with which stations hear each other.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Air {
    classes: Vec<u32>,
    received_dbm: Vec<Row>,
    sense_dbm: f64,
    energy_dbm: f64,
    noise_dbm: f64,
    #[serde(rename = "detect_ns")]
    detect: Duration,
    capture_db: Option<f64>,
    obss_pd_dbm: Option<f64>,
    powers_known: bool,
    power_dbm: f64,
}

impl Air {
    /// Returns what the MAC needs to know of `stations`, which share a medium. Their rates need an
    /// SINR of `needs_db`.
    pub(crate) fn hearing(
        &self,
        stations: &[u32],
        needs_db: Vec<(Option<f64>, Option<f64>)>,
    ) -> HearingConfig {
        let classes = stations.iter().map(|&one| self.classes[one as usize]);
        let mut of_all: Vec<_> = classes.clone().collect();
        of_all.sort_unstable();
        of_all.dedup();
        let place = |class| of_all.binary_search(&class).expect("it is one of them") as u32;
        let row = |&from: &u32| {
            let row = &self.received_dbm[from as usize].dbm;
            of_all.iter().map(|to| row.get(to).copied()).collect()
        };
        HearingConfig {
            classes: classes.map(place).collect(),
            received_dbm: of_all.iter().map(row).collect(),
            needs_db,
            sense_dbm: self.sense_dbm,
            energy_dbm: self.energy_dbm,
            noise_dbm: self.powers_known.then_some(self.noise_dbm),
            detect: self.detect,
            capture_db: self.capture_db,
            obss_pd_dbm: self.obss_pd_dbm,
            power_dbm: self.power_dbm,
        }
    }
}

impl Air {
    /// Returns for each cell the first cell of its *air*: a set of one or several cells whose
    /// stations all hear each other alike, and no others, and detect a frame within a slot. `None`
    /// if there is no such set. `cells` has the cell of each node.
    pub(crate) fn airs(&self, cells: &[u32], slot_time: Duration) -> Vec<Option<u32>> {
        let count = cells.iter().max().map_or(0, |last| last + 1);
        // With known powers frames may also fail for lack of SINR, and a captured frame may survive
        // a collision.
        let is_plain = !self.powers_known && self.capture_db.is_none_or(|one| one > 0.0);
        if !is_plain {
            return vec![None; count as usize];
        }
        // The number of nodes of each class and cell.
        let mut nodes: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for (&class, &cell) in self.classes.iter().zip(cells) {
            *nodes.entry((class, cell)).or_default() += 1;
        }
        let row = |class: u32| &self.received_dbm[class as usize].dbm;
        let mut first: Vec<u32> = (0..count).collect();
        for &(class, cell) in nodes.keys() {
            for &other in row(class).keys() {
                for (&(_, its_cell), _) in nodes.range((other, 0)..=(other, count)) {
                    let (one, another) = (first[cell as usize], first[its_cell as usize]);
                    let (low, high) = (one.min(another), one.max(another));
                    if low != high {
                        first.iter_mut().filter(|it| **it == high).for_each(|it| *it = low);
                    }
                }
            }
        }
        let mut cells_of_air = vec![0; count as usize];
        for &air in &first {
            cells_of_air[air as usize] += 1;
        }
        let mut of_air = vec![Vec::new(); count as usize];
        for &(class, cell) in nodes.keys() {
            of_air[first[cell as usize] as usize].push((class, cell));
        }
        let mut is_even: Vec<_> =
            cells_of_air.iter().map(|&cells| self.detect < slot_time || cells <= 1).collect();
        let mut powers: Vec<Option<f64>> = vec![None; count as usize];
        for (&(class, cell), &count) in &nodes {
            let air = first[cell as usize] as usize;
            for &(other, its_cell) in &of_air[air] {
                if (class, cell) == (other, its_cell) && count == 1 {
                    continue;
                }
                let power = row(class).get(&other).copied();
                let alike = *powers[air].get_or_insert(power.unwrap_or(f64::NEG_INFINITY));
                is_even[air] &= power == Some(alike) && alike >= self.sense_dbm;
            }
        }
        first.into_iter().map(|air| is_even[air as usize].then_some(air)).collect()
    }
}

/// Checks constraints on cells and powers that the types cannot express.
pub(super) fn check(scenario: &Scenario) -> Result<(), String> {
    let Some(air) = &scenario.air else {
        return if scenario.cells.is_empty() { Ok(()) } else { Err("cells without air".into()) };
    };
    let cells = scenario.cells.len();
    if cells == 0 {
        return Err("air without cells".into());
    }
    if let Some(group) = scenario.stations.iter().find(|one| one.cell as usize >= cells) {
        return Err(format!("group {} is in cell {}, of {cells}", group.name, group.cell));
    }
    let stations = scenario.stations.iter().map(|group| group.count as usize).sum::<usize>();
    let (nodes, classes) = (cells + stations, air.received_dbm.len());
    if air.classes.len() != nodes {
        return Err(format!("{} classes of nodes for {nodes} nodes", air.classes.len()));
    }
    if air.classes.iter().any(|&class| class as usize >= classes)
        || !air.received_dbm.iter().all(|row| row.fits(classes))
    {
        return Err(format!("received_dbm is not a table of {classes} by {classes}"));
    }
    let is_standard = |ap: &super::AccessPoint| matches!(ap.access, AccessScheme::Standard {});
    if scenario.mac.pcf.is_some()
        || scenario.mac.beacon.is_some()
        || !scenario.cells.iter().all(|cell| is_standard(&cell.ap))
    {
        return Err("several cells have neither beacons nor bursts".into());
    }
    if let Some(ofdma) = &scenario.mac.ofdma {
        let airs = air.airs(&scenario.cells_of_nodes(), scenario.phy.slot_time);
        let has_triggers = ofdma.uplink == OfdmaUplink::Trigger;
        let fits = |(cell, air): (u32, Option<u32>)| air == Some(cell) || !has_triggers;
        if airs.contains(&None) || !(0..).zip(airs).all(fits) {
            return Err("OFDMA in cells that hear each other in part, or with triggers".into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates the air of cells with one node each; the cells of each pair hear each other.
    fn air(cells: usize, pairs: &[(usize, usize)], detect: Duration) -> Air {
        let mut received_dbm = vec![Row::default(); cells];
        for &(one, other) in pairs {
            received_dbm[one].dbm.insert(other as u32, -50.0);
            received_dbm[other].dbm.insert(one as u32, -50.0);
        }
        Air {
            classes: (0..cells as u32).collect(),
            received_dbm,
            sense_dbm: -82.0,
            energy_dbm: -62.0,
            noise_dbm: -94.0,
            detect,
            capture_db: None,
            obss_pd_dbm: None,
            powers_known: false,
            power_dbm: 20.0,
        }
    }

    /// Cells 0, 2 and 4 all hear each other, cell 5 hears no other, and 1, 3 and 6 are a chain.
    #[test]
    fn an_air_has_cells_that_hear_each_other_all() {
        let pairs = [(0, 2), (1, 3), (0, 4), (2, 4), (3, 6)];
        let slot = Duration::from_micros(9);
        let chain = None;
        let apart = [Some(0), chain, Some(0), chain, Some(0), Some(5), chain];

        let air = air(7, &pairs, Duration::from_micros(4));

        assert_eq!(air.airs(&[0, 1, 2, 3, 4, 5, 6], slot), apart);
        let late = Air { detect: slot, ..air };
        let apart = [None, None, None, None, None, Some(5), None];
        assert_eq!(late.airs(&[0, 1, 2, 3, 4, 5, 6], slot), apart);
    }
}
