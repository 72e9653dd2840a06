//! The block ack agreements of a capture: frames that have been on the air, and the contents of the
//! recipient's Block ACKs say (IEEE Std 802.11-2020, 10.25.6.3 and 10.25.6.5, full-state operation).
//!
//! Numbers are those of the MAC, which do not wrap; on the air they do.

use std::collections::{BTreeMap, BTreeSet};

/// A queue and one of its receivers.
#[derive(Debug, Default)]
pub(super) struct Agreement {
    /// Frames that have been on the air and may go again: the identifications of their IP packets.
    sent: BTreeMap<u64, Vec<u16>>,
    scoreboard: Scoreboard,
}

/// The recipient's record of what it has received.
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
    /// A bit for each number from `start` on, the lowest of each octet first.
    pub(super) bitmap: Vec<u8>,
}

impl Agreement {
    /// Returns the identifications of the IP packets of frame `id`, which goes on the air, and whether it has
    /// been there before; `number` gives new ones.
    pub(super) fn send(
        &mut self,
        id: u64,
        packets: usize,
        mut number: impl FnMut() -> u16,
    ) -> (bool, Vec<u16>) {
        if let Some(ids) = self.sent.get(&id) {
            return (true, ids.clone());
        }
        let ids: Vec<u16> = (0..packets).map(|_| number()).collect();
        self.sent.insert(id, ids.clone());
        (false, ids)
    }

    /// Forgets frames before `start`, which do not go again.
    pub(super) fn forget_before(&mut self, start: u64) {
        self.sent = self.sent.split_off(&start);
    }

    /// Notes that frame `id` has come, under a window of so many.
    pub(super) fn receive(&mut self, id: u64, window: u64) {
        let board = &mut self.scoreboard;
        if id >= board.start + window {
            board.begin_at(id + 1 - window);
        }
        board.received.insert(id);
    }

    /// Takes a Block ACK request, which says where the window begins.
    pub(super) fn request(&mut self, start: u64) {
        if start > self.scoreboard.start {
            self.scoreboard.begin_at(start);
        }
    }

    /// Makes the Block ACK that tells of a window of so many.
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

    /// Of 0 to 9 frame 1 and 4 are missing: fd ef with bits 1 and 4 of the first octet off, and two of
    /// the next.
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

    /// WinStartR follows what has come: 70 is the last of a window that begins at 7.
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
    fn a_frame_that_goes_again_keeps_its_numbers() {
        let mut agreement = Agreement::default();
        let mut last = 0;
        let mut number = || {
            last += 1;
            last
        };

        assert_eq!(agreement.send(5, 2, &mut number), (false, vec![1, 2]));
        assert_eq!(agreement.send(6, 1, &mut number), (false, vec![3]));
        assert_eq!(agreement.send(5, 2, &mut number), (true, vec![1, 2]));
        agreement.forget_before(6);
        assert_eq!(agreement.send(6, 1, &mut number), (true, vec![3]));
        assert_eq!(agreement.send(5, 1, &mut number), (false, vec![4]));
    }
}
