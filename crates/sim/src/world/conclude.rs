//! The measured time: begins and ends it, and checks the conservation laws.

use airtcp_wlan::{AirtimeParts, View};

use super::World;
use super::flow::Measured;
use super::ledger::QueueCounts;
use crate::app::Drawn;
use crate::connection::Connection;
use crate::conservation::{Waiting, options_kept};
use crate::control::RunError;
use crate::medium::Medium;
use crate::outcome::Outcome;
use crate::packet::Packet;

impl World<'_> {
    /// Starts measuring at the end of the warm-up.
    pub(crate) fn start_measuring(&mut self, medium: &mut Medium) {
        medium.settle(self.now);
        self.ledger.start_measuring(self.now, medium);
        for transmitter in &mut self.transmitters {
            transmitter.counts = QueueCounts::default();
        }
        for connection in &mut self.connections {
            connection.start_measuring();
        }
        for flow in &mut self.flows {
            flow.measured = Measured::default();
            flow.draws.drawn = Drawn::default();
            if let Some(speech) = &mut flow.speech {
                speech.clear();
            }
        }
    }

    /// Closes a block of the measured time, which ends now.
    pub(crate) fn close_block(&mut self, medium: &mut Medium) {
        if self.ledger.close_block(self.now, &self.flows) {
            medium.settle(self.now);
            let events = self.events_so_far();
            let (all, ledger) = self.counted();
            ledger.note_halfway(all, medium, events);
        }
    }

    /// Returns the outcome of the measured time that ends now, if the laws hold.
    pub(crate) fn conclude(&mut self, medium: &mut Medium) -> Result<Outcome, RunError> {
        medium.settle(self.now);
        let airtime = self.check_laws(medium).map_err(|law| {
            let (seed, replication) = (self.seed, self.replication);
            RunError::LawViolated(format!("{law} (seed {seed}, replication {replication})"))
        })?;
        for connection in self.connections.iter().filter(|connection| connection.open) {
            let flow = &mut self.flows[connection.flow as usize];
            flow.measured.tcp += connection.counted();
        }
        let events = self.events_so_far();
        let (all, ledger) = self.counted();
        Ok(ledger.conclude(all, medium, events, airtime))
    }

    /// Returns the number of events of the world so far.
    fn events_so_far(&self) -> u64 {
        self.events.scheduled() + self.links.wires.scheduled()
    }

    /// Checks the laws. Returns the total airtime, and the view of each of several cells.
    fn check_laws(&mut self, medium: &Medium) -> Result<(AirtimeParts, Vec<View>), String> {
        let mut waiting: Vec<Packet> = Vec::new();
        for (id, transmitter) in (0..).zip(&self.transmitters) {
            medium.list_waiting(id, &mut waiting);
            waiting.extend(transmitter.queue.iter());
        }
        waiting.extend(self.links.wires.travelling());
        let has_option = |packet: &&Packet| {
            packet.body.segment().is_some_and(|(_, segment)| segment.has_kept_options())
        };
        let options = waiting.iter().filter(has_option).count();
        options_kept(self.connections.iter().map(Connection::sacks_in_network).sum(), options)?;
        let mut of_flows = vec![Waiting::default(); self.flows.len()];
        for packet in waiting {
            of_flows[packet.flow as usize].add(packet.body.payload_bytes());
        }
        for (flow, waiting) in self.flows.iter().zip(of_flows) {
            flow.books.balance(waiting, &flow.name)?;
        }
        for (id, transmitter) in (0..).zip(&self.transmitters) {
            let name = &self.nodes[transmitter.node as usize].name;
            medium.check_laws(id).map_err(|law| format!("{name}: {law}"))?;
        }
        let (all, ledger) = self.counted();
        ledger.close(all, medium)
    }
}
