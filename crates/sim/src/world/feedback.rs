//! Tells TCP connections what their station's MAC did with their frames: which were acknowledged,
//! and which were given up (Gopal, Paul and Raychaudhuri 2004, section V).
//!
//! A connection learns only about its own frames. The end that sends acknowledgments learns at
//! once, even if it is the server, where a real network could not tell it: this is the upper bound
//! of the gain. The data sender learns if it is the station, because the MAC is its own.
//!
//! In one cell a connection learns of a collision when it begins. In several cells it learns when
//! the response is missing, as a real station does. An ACK that the delayed-ACK timer sends in
//! between may be skipped in one of them and not in the other.

use airtcp_wlan::ContenderId;

use super::{Event, World};
use crate::connection::Side;
use crate::packet::Packet;
use crate::scenario::Scenario;

/// Returns whether any flow wants this feedback.
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

    /// Records that a PPDU of `by`, whose first packet is `packet`, gets no response, because it
    /// collides or is lost otherwise.
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
        connection.endpoint(Side::Station).on_given_up(config.at(self.now), segment, by_channel);
        // It sends after the MAC has finished its current work.
        self.schedule(self.now, Event::Resume(id));
    }
}
