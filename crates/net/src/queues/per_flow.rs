//! Fair queueing by packets: flows take turns of one packet; on overflow the longest flow loses its
//! last packet (McKenney 1990).

use airtcp_kernel::{Time, Train};

use super::ack_filter::{AckFilter, superseded};
use super::{Ask, Fill, Fits, Inspect, Policy};
use crate::Packet;

/// One queue per flow, with round-robin turns. A flow is a TCP connection or, for other packets and
/// [`PerFlow::by_flow`], a flow of the scenario.
#[derive(Debug)]
pub(super) struct PerFlow<B> {
    /// Whether TCP connections have a queue each.
    by_connection: bool,
    /// The queues by [`PerFlow::number`].
    flows: Vec<Train<Packet<B>>>,
    /// Flows with a packet, in order of turns.
    turns: Train<u32>,
    /// A flow that keeps its turn although it lost its last packet, because another one is about to
    /// arrive.
    kept: Option<u32>,
}

impl<B> PerFlow<B> {
    /// Creates queues for TCP connections.
    pub(super) fn by_connection() -> Self {
        Self { by_connection: true, flows: Vec::new(), turns: Train::default(), kept: None }
    }

    /// Creates queues for the flows of the scenario.
    pub(super) fn by_flow() -> Self {
        Self { by_connection: false, ..Self::by_connection() }
    }
}

impl<B: Inspect> PerFlow<B> {
    /// Returns the number of the queue of a packet.
    #[inline(always)]
    fn number(&self, packet: &Packet<B>) -> u32 {
        if !self.by_connection {
            return packet.flow;
        }
        packet.body.connection().map_or(2 * packet.flow, |connection| 2 * connection + 1)
    }

    /// Appends a packet; the caller has checked that it fits.
    #[inline(always)]
    pub(super) fn push(&mut self, packet: Packet<B>) {
        let flow = self.number(&packet);
        if self.flows.len() <= flow as usize {
            self.add_up_to(flow);
        }
        let queue = &mut self.flows[flow as usize];
        if queue.is_empty() && self.kept.take() != Some(flow) {
            self.turns.push_back(flow);
        }
        queue.push_back(packet);
    }

    /// Creates the queues up to this flow's.
    #[cold]
    fn add_up_to(&mut self, flow: u32) {
        self.flows.resize_with(flow as usize + 1, Train::default);
    }

    /// Passes the next packet to `take` if it `fits`. Returns false if there was none.
    #[inline(always)]
    pub(super) fn hand_over(
        &mut self,
        fits: impl FnOnce(&Packet<B>) -> bool,
        take: impl FnOnce(&Packet<B>),
    ) -> bool {
        let Some(&flow) = self.turns.front() else { return false };
        let queue = &mut self.flows[flow as usize];
        let Some(packet) = queue.front().filter(|packet| fits(packet)) else { return false };
        take(packet);
        queue.remove_front();
        self.turns.remove_front();
        if !queue.is_empty() {
            self.turns.push_back(flow);
        }
        true
    }

    /// Removes and returns the last packet of the longest queue; ties go to the flow whose turn
    /// comes first.
    fn drop_from_longest(&mut self) -> Option<Packet<B>> {
        let flows = &self.flows;
        let place = (0..self.turns.len())
            .rev()
            .max_by_key(|&place| flows[self.turns[place] as usize].len())?;
        let queue = &mut self.flows[self.turns[place] as usize];
        let packet = queue.pop_back();
        if queue.is_empty() {
            self.turns.remove(place);
        }
        packet
    }
}

impl<B: Inspect> Policy<B> for PerFlow<B> {
    fn enqueue(&mut self, _: Time, packet: Packet<B>, fill: Fill, drops: &mut Vec<Packet<B>>) {
        self.push(packet);
        if fill.full {
            drops.extend(self.drop_from_longest());
        }
    }

    fn next(&mut self, ask: &mut Ask<'_, B>, fits: impl Fits<B>) -> Option<Packet<B>> {
        let first = |flow: u32| self.flows[flow as usize].front();
        let is_for = |one: &Packet<B>| ask.to.is_none_or(|to| one.to == to);
        let place = self.turns.iter().position(|&flow| first(flow).is_some_and(is_for))?;
        let packet = *first(self.turns[place]).filter(|&packet| fits(packet))?;
        let flow = self.turns.remove(place);
        let queue = &mut self.flows[flow as usize];
        queue.remove_front();
        if !queue.is_empty() {
            self.turns.push_back(flow);
        }
        Some(packet)
    }

    /// Returns the receiver of the flow whose turn it is; packets that wait in the MAC go first.
    fn receiver(&mut self, mut waiting: impl Iterator<Item = (u32, Option<Time>)>) -> Option<u32> {
        let in_turn = || Some(self.flows[*self.turns.front()? as usize].front()?.to);
        waiting.next().map(|(receiver, _)| receiver).or_else(in_turn)
    }

    fn filter(&mut self, rule: AckFilter, newer: &Packet<B>) -> Option<Packet<B>> {
        let flow = self.number(newer);
        let queue = self.flows.get_mut(flow as usize)?;
        let place = superseded(queue.iter(), newer, rule)?;
        let packet = queue.remove(place);
        self.kept = queue.is_empty().then_some(flow);
        Some(packet)
    }

    fn iter(&self) -> Box<dyn Iterator<Item = &Packet<B>> + '_> {
        Box::new(self.flows.iter().flat_map(Train::iter))
    }
}
