//! The media of a world that do not hear each other, and the world's entities as its accounts and
//! captures see them.
//!
//! This module knows which medium is played, and up to when it may play the world alone.

use airtcp_kernel::Time;
use airtcp_wlan::{ContenderId, PhyConfig, Rate};

use super::World;
use super::flow::Flow;
use super::ledger::Ledger;
use super::node::{Node, Transmitter};
use super::watch::Watchers;
use crate::connection::Connection;
use crate::packet::Packet;
use crate::scenario::{RadioLink, Scenario};

/// The media, and the current one of them.
#[derive(Debug)]
pub(super) struct Parts {
    kinds: Vec<Kind>,
    /// The number of the current medium.
    pub(super) current: usize,
    /// The medium of each access point.
    pub(super) of_cells: Vec<u32>,
    /// The horizon of the run, while a medium may play the world only to an earlier time.
    pub(super) horizon: Time,
    /// Queues with new frames that have not been reported to their media.
    pub(super) others: Vec<ContenderId>,
}

/// The kind of a medium: a single cell, several cells that all hear each other, or a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Cell,
    Cells,
    Field,
}

impl Parts {
    /// Creates media of these kinds for access points with these media.
    pub(super) fn new(kinds: Vec<Kind>, of_cells: Vec<u32>) -> Self {
        Self { kinds, current: 0, of_cells, horizon: Time::ZERO, others: Vec::new() }
    }

    /// Returns the kind of each medium.
    pub(super) fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// Returns the medium of a cell.
    pub(super) fn of_cell(&self, cell: u32) -> usize {
        self.of_cells[cell as usize] as usize
    }

    /// Returns whether the current medium is of this kind.
    pub(super) fn plays(&self, kind: Kind) -> bool {
        self.kinds[self.current] == kind
    }
}

/// The entities of a world, for accounts and captures, which change none of them.
#[derive(Clone, Copy)]
pub(super) struct Entities<'w> {
    pub(super) now: Time,
    pub(super) scenario: &'w Scenario,
    /// The PHY of the current medium.
    pub(super) phy: &'w PhyConfig,
    pub(super) parts: &'w Parts,
    pub(super) nodes: &'w [Node],
    pub(super) transmitters: &'w [Transmitter],
    pub(super) flows: &'w [Flow<'w>],
    pub(super) connections: &'w [Connection],
}

impl<'w> Entities<'w> {
    /// Returns whether the scenario says who hears whom: there are several cells, or hidden
    /// stations.
    pub(super) fn has_air(self) -> bool {
        self.scenario.air.is_some()
    }

    pub(super) fn flow_of(self, packet: &Packet) -> &'w Flow<'w> {
        &self.flows[packet.flow as usize]
    }

    /// Returns the cell of a queue's node.
    pub(super) fn cell_of(self, queue: ContenderId) -> u32 {
        self.nodes[self.transmitters[queue as usize].node as usize].access_point
    }

    /// Returns the rate of CF-Ends on the current medium.
    pub(super) fn cf_end_rate(self) -> Rate {
        self.link().map_or(self.scenario.mac.cf_end_rate, |link| link.cf_end_rate)
    }

    /// Returns the current medium as one of several links.
    pub(super) fn link(self) -> Option<&'w RadioLink> {
        self.scenario.ap.links.as_ref().map(|links| &links[self.parts.current])
    }
}

impl World<'_> {
    /// Returns the entities, and what observes them.
    pub(super) fn seen(&mut self) -> (Entities<'_>, &mut Ledger, &mut Watchers) {
        let all = Entities {
            now: self.now,
            scenario: self.scenario,
            phy: self.phy,
            parts: &self.parts,
            nodes: &self.nodes,
            transmitters: &self.transmitters,
            flows: &self.flows,
            connections: &self.connections,
        };
        (all, &mut self.ledger, &mut self.watchers)
    }

    /// Returns the entities, and the ledger in which they are counted.
    pub(super) fn counted(&mut self) -> (Entities<'_>, &mut Ledger) {
        let (all, ledger, _) = self.seen();
        (all, ledger)
    }

    /// Returns the medium of each cell.
    pub(crate) fn media_of_cells(&self) -> &[u32] {
        &self.parts.of_cells
    }

    /// Returns the cell of a queue's node.
    pub(super) fn cell_of(&self, queue: ContenderId) -> u32 {
        self.nodes[self.transmitters[queue as usize].node as usize].access_point
    }

    /// Switches to the medium with this number.
    pub(super) fn switch_to(&mut self, part: usize) {
        if part == self.parts.current {
            return;
        }
        self.parts.current = part;
        self.ledger.switch_to(part);
        if let Some(capture) = &mut self.watchers.capture {
            capture.switch_to(part);
        }
        if let Some(links) = &self.scenario.ap.links {
            self.phy = &links[part].phy;
        }
    }
}
