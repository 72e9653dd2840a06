//! The Block ACK agreements of a capture: frames that have been sent, and the contents of the
//! recipient's Block ACKs (IEEE Std 802.11-2020, 10.25.6.3 and 10.25.6.5, full-state operation).
//!
//! Numbers are those of the MAC, which do not wrap; in frames they do.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// A queue and one of its receivers.
#[derive(Debug, Default)]
pub(super) struct Agreement {
    /// Sent frames that may be retransmitted, with the contents of their packets.
    sent: BTreeMap<u64, Vec<Told>>,
    scoreboard: Scoreboard,
}

/// The parts of a packet that a retransmission must repeat.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// The identification of a simulated IP packet.
    Identification(u16),
    /// The first bytes of a foreign packet, and the number of the other bytes. They are stored here
    /// because the packet's slot may be reused: the packet may have arrived without the sender
    /// knowing.
    Bytes(Vec<u8>, usize),
}

/// The recipient's record of received frames.
#[derive(Debug, Default)]
struct Scoreboard {
    /// WinStartR.
    start: u64,
    received: BTreeSet<u64>,
}

/// The contents of a Block ACK.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BlockAck {
    pub(super) start: u64,
    /// A bit for each number from `start` on, lowest bit of each octet first.
    pub(super) bitmap: Vec<u8>,
}

impl Agreement {
    /// Returns whether frame `id`, which is sent now, was sent before, and the contents of its
    /// packets. `new` creates those of a new frame.
    pub(super) fn send(&mut self, id: u64, new: impl FnOnce() -> Vec<Told>) -> (bool, &[Told]) {
        match self.sent.entry(id) {
            Entry::Occupied(sent) => (true, sent.into_mut()),
            Entry::Vacant(place) => (false, place.insert(new())),
        }
    }

    /// Removes frames before `start`, which will not be retransmitted.
    pub(super) fn forget_before(&mut self, start: u64) {
        self.sent = self.sent.split_off(&start);
    }

    /// Records that frame `id` was received, with a window of `window` frames.
    pub(super) fn receive(&mut self, id: u64, window: u64) {
        let board = &mut self.scoreboard;
        if id >= board.start + window {
            board.begin_at(id + 1 - window);
        }
        board.received.insert(id);
    }

    /// Processes a Block ACK request, which says where the window begins.
    pub(super) fn request(&mut self, start: u64) {
        if start > self.scoreboard.start {
            self.scoreboard.begin_at(start);
        }
    }

    /// Creates the Block ACK for a window of `window` frames.
    pub(super) fn block_ack(&self, window: u64) -> BlockAck {
        let Scoreboard { start, received } = &self.scoreboard;
        let mut bitmap = vec![0; window.div_ceil(8) as usize];
        for id in received.range(start..&(start + window)) {
            let place = (id - start) as usize;
            bitmap[place / 8] |= 1 << (place % 8);
        }
        BlockAck { start: *start, bitmap }
    }
}

impl Scoreboard {
    fn begin_at(&mut self, start: u64) {
        self.start = start;
        self.received = self.received.split_off(&start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of frames 0 to 9, 1 and 4 are missing: bits 1 and 4 of the first octet are clear (ed), and
    /// the next octet has two bits.
    #[test]
    fn a_block_ack_has_a_bit_for_each_frame() {
        let mut agreement = Agreement::default();
        for id in [0, 2, 3, 5, 6, 7, 8, 9] {
            agreement.receive(id, 64);
        }

        let told = agreement.block_ack(64);
        assert_eq!((told.start, &told.bitmap[..3]), (0, &[0b1110_1101, 0b11, 0][..]));
        assert_eq!(told.bitmap.len(), 8);

        agreement.request(4);
        let told = agreement.block_ack(64);
        assert_eq!((told.start, told.bitmap[0]), (4, 0b0011_1110));
        agreement.request(2);
        assert_eq!(agreement.block_ack(64).start, 4);
    }

    /// WinStartR follows the received frames: 70 is the last of a window that begins at 7.
    #[test]
    fn the_window_moves_with_what_comes() {
        let mut agreement = Agreement::default();
        for id in [3, 7, 70] {
            agreement.receive(id, 64);
        }

        let told = agreement.block_ack(64);
        assert_eq!(told.start, 7);
        assert_eq!((told.bitmap[0], told.bitmap[7]), (1, 0x80));
    }

    #[test]
    fn a_frame_that_goes_again_keeps_its_packets() {
        let mut agreement = Agreement::default();
        let of = |number| vec![Told::Identification(number), Told::Bytes(vec![7], 3)];

        assert_eq!(agreement.send(5, || of(1)), (false, &of(1)[..]));
        assert_eq!(agreement.send(6, || of(2)), (false, &of(2)[..]));
        assert_eq!(agreement.send(5, || of(3)), (true, &of(1)[..]));
        agreement.forget_before(6);
        assert_eq!(agreement.send(6, || of(4)), (true, &of(2)[..]));
        assert_eq!(agreement.send(5, || of(5)), (false, &of(5)[..]));
    }
}
