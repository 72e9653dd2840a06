//! A station's queue of packets: first in, first out, with or without a limit.

use std::collections::VecDeque;

use crate::packet::Packet;

/// Packets that wait for the medium; the first is the one being sent.
#[derive(Debug)]
pub(crate) struct PacketQueue {
    packets: VecDeque<Packet>,
    limit: usize,
}

impl PacketQueue {
    pub(crate) fn new(limit: Option<usize>) -> Self {
        Self { packets: VecDeque::new(), limit: limit.unwrap_or(usize::MAX) }
    }

    /// Whether one more packet fits.
    pub(crate) fn has_room(&self) -> bool {
        self.packets.len() < self.limit
    }

    /// Puts a packet at the end; the caller has made sure that it fits.
    pub(crate) fn push(&mut self, packet: Packet) {
        debug_assert!(self.has_room());
        self.packets.push_back(packet);
    }

    pub(crate) fn first(&self) -> Option<&Packet> {
        self.packets.front()
    }

    pub(crate) fn pop(&mut self) -> Option<Packet> {
        self.packets.pop_front()
    }

    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.packets.iter()
    }
}
