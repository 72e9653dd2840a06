//! The news of a station's MAC for the connections that its frames belong to: those that were answered, and those
//! that were given up (Gopal, Paul and Raychaudhuri 2004, section V).
//!
//! A connection hears of its own frames alone. The end that gives acknowledgments is told at once, also where it
//! is the server beyond a wire, where nothing would tell it in a real network: as much as can be gained. The end
//! that sends is told where it is the station, whose own MAC that is.

use airtcp_wlan::ContenderId;

use super::{Event, World};
use crate::connection::Side;
use crate::packet::Packet;
use crate::scenario::Scenario;

/// Tells whether any flow wants to be told.
pub(super) fn is_wanted(scenario: &Scenario) -> bool {
    scenario.flows.iter().filter_map(|flow| flow.tcp.as_ref()).any(|tcp| {
        let adapts = tcp.receiver.ack_skip.is_some_and(|skip| skip.adaptive.is_some());
        adapts || tcp.sender.mac_feedback.is_some()
    })
}

impl World<'_> {
    /// Tells the connection of `packet` that a frame of its station was acknowledged.
    #[cold]
    pub(super) fn frame_answered(&mut self, packet: &Packet) {
        self.tell_of_frame(packet, true);
    }

    /// Notes that a PPDU of `by`, with `packet` the first in it, gets no answer: it collides, or is lost otherwise.
    #[cold]
    pub(super) fn frame_failed(&mut self, by: ContenderId, packet: &Packet, collides: bool) {
        let transmitter = &mut self.transmitters[by as usize];
        transmitter.collided = collides;
        if self.watchers.tells_tcp && !transmitter.at_access_point {
            self.tell_of_frame(packet, false);
        }
    }

    fn tell_of_frame(&mut self, packet: &Packet, is_answered: bool) {
        let Some(id) = packet.body.connection() else { return };
        let connection = &mut self.connections[id as usize];
        let side = connection.acknowledging();
        let config = self.flows[connection.flow as usize].end(side);
        connection.endpoint(side).on_frame(config, is_answered);
    }

    /// Tells the connection of `packet` that `by` has given up its frame.
    #[cold]
    pub(super) fn frame_given_up(&mut self, by: ContenderId, packet: &Packet) {
        let transmitter = &self.transmitters[by as usize];
        let Some((id, segment)) = packet.body.segment() else { return };
        let connection = &mut self.connections[id as usize];
        if !self.watchers.tells_tcp || transmitter.at_access_point || !connection.open {
            return;
        }
        let config = self.flows[connection.flow as usize].end(Side::Station);
        let by_channel = !transmitter.collided;
        connection.endpoint(Side::Station).on_given_up(config, self.now, segment, by_channel);
        // It sends once the MAC has done all that it does now.
        self.schedule(self.now, Event::Resume(id));
    }
}
