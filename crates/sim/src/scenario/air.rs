//! Several cells, or one in which not all hear all, in the resolved form.

use std::collections::BTreeMap;

use airtcp_kernel::Duration;
use airtcp_wlan::HearingConfig;
use serde::Deserialize;

use super::{AccessPoint, Scenario};
use crate::scenario::AccessScheme;

/// A cell.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellConfig {
    /// Its name, which is that of the node of its access point, too.
    pub name: String,
    /// The name under which its access point draws where all of the cell hear each other and nobody else.
    pub streams: Option<String>,
    /// The channel; who hears whom says already what follows from it.
    #[expect(dead_code, reason = "cells on other channels do not hear each other: `Air` says so")]
    channel: Option<u32>,
    /// The access point.
    pub ap: AccessPoint,
}

/// The SINR in dB that the frames of a group need.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Needs {
    /// At its data rate.
    pub data_db: f64,
    /// At its control rate.
    pub control_db: f64,
}

/// The powers with which all hear each other.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Air {
    classes: Vec<u32>,
    received_dbm: Vec<Vec<Option<f64>>>,
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
    /// Returns it as the MAC wants it.
    pub(crate) fn hearing(&self) -> HearingConfig {
        HearingConfig {
            classes: self.classes.clone(),
            received_dbm: self.received_dbm.clone(),
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
    /// Tells of each cell whether it is an air of its own, in which all hear each other alike and nobody of another cell;
    /// `cells` has the cell of each node.
    pub(crate) fn are_apart(&self, cells: &[u32]) -> Vec<bool> {
        let count = cells.iter().max().map_or(0, |last| last + 1) as usize;
        // Frames also fail by what they need where powers are known, and a collision may leave one that is captured.
        if self.powers_known || self.capture_db.is_some_and(|one| one <= 0.0) {
            return vec![false; count];
        }
        // Of each class and cell the number of nodes.
        let mut nodes: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for (&class, &cell) in self.classes.iter().zip(cells) {
            *nodes.entry((class, cell)).or_default() += 1;
        }
        let mut apart = vec![true; count];
        let mut powers: Vec<Option<f64>> = vec![None; count];
        for (&(class, cell), &count) in &nodes {
            for &(other, its_cell) in nodes.keys() {
                if (class, cell) == (other, its_cell) && count == 1 {
                    continue;
                }
                let power = self.received_dbm[class as usize][other as usize];
                let (cell, its_cell) = (cell as usize, its_cell as usize);
                if cell != its_cell {
                    apart[cell] &= power.is_none();
                    apart[its_cell] &= power.is_none();
                } else {
                    let alike = *powers[cell].get_or_insert(power.unwrap_or(f64::NEG_INFINITY));
                    apart[cell] &= power == Some(alike) && alike >= self.sense_dbm;
                }
            }
        }
        apart
    }
}

/// Checks what the types cannot say of cells and the air.
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
        || air.received_dbm.iter().any(|row| row.len() != classes)
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
    Ok(())
}
