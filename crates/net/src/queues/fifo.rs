//! First in, first out; an arrival that does not fit is dropped.

use airtcp_kernel::{Time, Train};

use super::ack_filter::{AckFilter, superseded};
use super::{Ask, Fill, Fits, Inspect, Policy};
use crate::Packet;

/// Packets in order of arrival.
#[derive(Debug)]
pub(super) struct Fifo<B>(Train<Packet<B>>);

impl<B> Default for Fifo<B> {
    fn default() -> Self {
        Self(Train::default())
    }
}

impl<B: Copy> Fifo<B> {
    /// Appends a packet; the caller has checked that it fits.
    #[inline]
    pub(super) fn push(&mut self, packet: Packet<B>) {
        self.0.push_back(packet);
    }

    /// Like [`Self::push`], with the packet that `make` constructs.
    #[inline(always)]
    pub(super) fn push_made(&mut self, make: impl Fn() -> Packet<B>) {
        self.0.push_back_with(make);
    }

    /// Passes the next packet to `take` if it `fits`. Returns false if there was none.
    // Inlining `take` copies the packet straight from the queue to the MAC's memory.
    #[inline(always)]
    pub(super) fn hand_over(
        &mut self,
        fits: impl FnOnce(&Packet<B>) -> bool,
        take: impl FnOnce(&Packet<B>),
    ) -> bool {
        let Some(packet) = self.0.front().filter(|packet| fits(packet)) else { return false };
        take(packet);
        self.0.remove_front();
        true
    }
}

impl<B: Inspect> Policy<B> for Fifo<B> {
    #[inline]
    fn enqueue(&mut self, _: Time, packet: Packet<B>, fill: Fill, drops: &mut Vec<Packet<B>>) {
        if fill.full {
            drops.push(packet);
        } else {
            self.push(packet);
        }
    }

    #[inline]
    fn next(&mut self, _: &mut Ask<'_, B>, fits: impl Fits<B>) -> Option<Packet<B>> {
        let mut next = None;
        self.hand_over(fits, |packet| next = Some(*packet));
        next
    }

    /// Returns the receiver, which is the same for all packets of this queue.
    fn receiver(&mut self, mut waiting: impl Iterator<Item = (u32, Option<Time>)>) -> Option<u32> {
        let first = self.0.front().map(|packet| packet.to);
        waiting.next().map(|(receiver, _)| receiver).or(first)
    }

    fn filter(&mut self, rule: AckFilter, newer: &Packet<B>) -> Option<Packet<B>> {
        let place = superseded(self.0.iter(), newer, rule)?;
        Some(self.0.remove(place))
    }

    fn iter(&self) -> Box<dyn Iterator<Item = &Packet<B>> + '_> {
        Box::new(self.0.iter())
    }
}
