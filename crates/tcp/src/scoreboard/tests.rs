//! Tests the rules of RFC 6675 section 4 one by one, and compares them with a model that tracks
//! single octets.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const SMSS: u64 = 1000;
/// Ten segments are outstanding, from number 1 on.
const MAX: u64 = 10_001;

/// Full-sized segment `index`, counted from 0.
fn segment(index: u64) -> Block {
    segments(index, index + 1)
}

/// Full-sized segments `first` (inclusive) to `after` (exclusive).
fn segments(first: u64, after: u64) -> Block {
    Block { start: 1 + first * SMSS, end: 1 + after * SMSS }
}

/// Returns a scoreboard with ten outstanding segments, of which `blocks` are SACKed.
fn sacked(blocks: &[Block]) -> Scoreboard {
    let mut scoreboard = Scoreboard::default();
    scoreboard.update(1, MAX, blocks);
    scoreboard
}

#[test]
fn update_tells_whether_there_is_anything_new() {
    let mut scoreboard = Scoreboard::default();

    assert!(scoreboard.update(1, MAX, &[segment(2)]));
    assert!(!scoreboard.update(1, MAX, &[segment(2)]));
    assert!(scoreboard.update(1, MAX, &[segments(2, 4), segment(2)]));
}

#[test]
fn blocks_of_what_was_never_sent_or_is_acknowledged_are_not_believed() {
    let mut scoreboard = Scoreboard::default();
    let una = 3001;

    assert!(!scoreboard.update(una, MAX, &[segments(9, 11), segments(0, 2), segments(3, 5)]));
    assert!(!scoreboard.update(una, MAX, &[Block { start: 6000, end: 5000 }]));
    assert_eq!(scoreboard.pipe(una, MAX, SMSS), 7000);
}

#[test]
fn is_lost_by_three_blocks_beyond_it_however_small() {
    let crumb = |start| Block { start, end: start + 1 };
    let two = sacked(&[crumb(5000), crumb(7000)]);
    assert!(!two.is_lost(1, SMSS));

    let three = sacked(&[crumb(5000), crumb(7000), crumb(9000)]);
    assert!(three.is_lost(1, SMSS) && three.is_lost(4999, SMSS));
    assert!(!three.is_lost(5001, SMSS));
}

#[test]
fn is_lost_by_more_than_two_segments_beyond_it() {
    // "More than (DupThresh - 1) * SMSS bytes".
    assert!(!sacked(&[segments(3, 5)]).is_lost(1, SMSS));

    let one_octet_more = sacked(&[Block { end: 5002, ..segments(3, 5) }]);
    assert!(one_octet_more.is_lost(1, SMSS) && one_octet_more.is_lost(3000, SMSS));
    assert!(!one_octet_more.is_lost(5002, SMSS));
}

#[test]
fn pipe_counts_what_is_neither_sacked_nor_lost_and_what_was_sent_again() {
    // Segments 2, 3 and 4 are SACKed: 0 and 1 are lost, 5 to 9 are in the network.
    let mut scoreboard = sacked(&[segments(2, 5)]);
    assert_eq!(scoreboard.pipe(1, MAX, SMSS), 5000);

    scoreboard.begin_recovery(segment(0).end);
    assert_eq!(scoreboard.pipe(1, MAX, SMSS), 6000);
    // HighRxt passes a SACKed segment, which is no longer in the network.
    scoreboard.raise_high_rxt(segment(5).end);
    assert_eq!(scoreboard.pipe(1, MAX, SMSS), 5000 + 2000 + 1000);
    // The retransmission of segment 0 has arrived.
    scoreboard.advance(segment(1).start);
    assert_eq!(scoreboard.pipe(1001, MAX, SMSS), 5000 + 1000 + 1000);
    // The one of segment 1 too: everything before 5 is acknowledged.
    scoreboard.advance(segment(5).start);
    assert_eq!(scoreboard.pipe(5001, MAX, SMSS), 5000 + 1000);
}

#[test]
fn rule_1_names_the_first_lost_hole_not_sent_again() {
    let mut scoreboard = sacked(&[segment(1), segment(3), segments(5, 8)]);
    scoreboard.begin_recovery(segment(0).end);

    for hole in [2, 4] {
        assert_eq!(scoreboard.next_lost(1, SMSS), Some(segment(hole)));
        scoreboard.raise_high_rxt(segment(hole).end);
    }
    assert_eq!(scoreboard.next_lost(1, SMSS), None);
}

#[test]
fn a_hole_is_sent_again_segment_by_segment_and_what_is_sacked_is_not() {
    // A hole of 1.5 segments before the SACKed data.
    let mut scoreboard = sacked(&[Block { start: 1501, end: 5001 }]);

    assert_eq!(scoreboard.next_lost(1, SMSS), Some(segment(0)));
    scoreboard.raise_high_rxt(1001);
    assert_eq!(scoreboard.next_lost(1, SMSS), Some(Block { start: 1001, end: 1501 }));
}

#[test]
fn rule_3_names_holes_that_are_not_lost_yet() {
    let mut scoreboard = sacked(&[segments(1, 4), segment(5)]);
    scoreboard.begin_recovery(segment(0).end);

    // Only one segment beyond the hole at 4 is SACKed.
    assert_eq!(scoreboard.next_lost(1, SMSS), None);
    assert_eq!(scoreboard.next_hole(1, SMSS), Some(segment(4)));
    // (1.b): nothing beyond segment 6 is SACKed.
    scoreboard.raise_high_rxt(segment(4).end);
    assert_eq!(scoreboard.next_hole(1, SMSS), None);
}

#[test]
fn rule_4_sends_the_end_once_in_a_recovery() {
    let mut scoreboard = sacked(&[segments(1, 4)]);
    scoreboard.begin_recovery(segment(0).end);

    // Not before HighACK has passed the first retransmission.
    assert_eq!(scoreboard.rescue(1, MAX, SMSS, MAX), None);
    assert_eq!(scoreboard.rescue(1001, MAX, SMSS, MAX), None);
    scoreboard.advance(4001);
    assert_eq!(scoreboard.rescue(4001, MAX, SMSS, MAX), Some(segment(9)));
    assert_eq!(scoreboard.rescue(4001, MAX, SMSS, MAX), None);
}

#[test]
fn rule_4_includes_the_highest_number_that_is_not_sacked() {
    let rescue = |blocks: &[Block]| sacked(blocks).rescue(1, MAX, SMSS, MAX);

    assert_eq!(rescue(&[]), Some(segment(9)));
    assert_eq!(rescue(&[segments(3, 10)]), Some(segment(2)));
    assert_eq!(rescue(&[segments(3, 5), segments(6, 10)]), Some(segment(5)));
    // Half a segment after the SACKed data, and half a segment before it.
    assert_eq!(
        rescue(&[Block { start: 3001, end: 9501 }]),
        Some(Block { start: 9501, end: 10_001 })
    );
    assert_eq!(rescue(&[Block { start: 501, end: 10_001 }]), Some(Block { start: 1, end: 501 }));
}

#[test]
fn skip_and_end_of_hole_walk_over_what_is_sacked() {
    let scoreboard = sacked(&[segments(1, 3), segment(5)]);

    assert_eq!(
        [1, 1001, 2500, 3001, 6001].map(|n| scoreboard.skip(n)),
        [1, 3001, 3001, 3001, 6001]
    );
    assert_eq!(scoreboard.end_of_hole(1), Some(1001));
    assert_eq!(scoreboard.end_of_hole(3001), Some(5001));
    assert_eq!(scoreboard.end_of_hole(6001), None);
}

#[test]
fn an_acknowledgment_into_a_block_takes_the_whole_block() {
    // A receiver that holds a block does not acknowledge half of it, so the rest of the block is
    // dropped.
    let mut scoreboard = sacked(&[segments(2, 5), segment(7)]);

    scoreboard.advance(3501);

    assert_eq!(scoreboard.pipe(3501, MAX, SMSS), MAX - 3501 - 1000);
}

/// A model that tracks every octet and implements RFC 6675 section 4 literally.
#[derive(Clone, Debug)]
struct Octets {
    una: u64,
    max: u64,
    smss: u64,
    sacked: BTreeSet<u64>,
    high_rxt: u64,
    rescue_rxt: u64,
}

impl Octets {
    fn is_lost(&self, number: u64) -> bool {
        let above: Vec<u64> = self.sacked.range(number..).copied().collect();
        let discontiguous = above.iter().filter(|octet| !self.sacked.contains(&(*octet - 1)));
        discontiguous.count() >= 3 || above.len() as u64 > 2 * self.smss
    }

    fn not_sacked(&self) -> impl DoubleEndedIterator<Item = u64> + '_ {
        (self.una..self.max).filter(|octet| !self.sacked.contains(octet))
    }

    fn pipe(&self) -> u64 {
        self.not_sacked()
            .map(|octet| u64::from(!self.is_lost(octet)) + u64::from(octet < self.high_rxt))
            .sum()
    }

    /// Returns the hole that begins at `start`, up to a segment of it.
    fn from(&self, start: u64) -> Block {
        let end = (start..self.max.min(start + self.smss))
            .find(|octet| self.sacked.contains(octet))
            .unwrap_or(self.max.min(start + self.smss));
        Block { start, end }
    }

    fn hole(&self, lost: bool) -> Option<Block> {
        let highest = *self.sacked.last()?;
        self.not_sacked()
            .find(|octet| {
                *octet >= self.high_rxt && *octet < highest && (!lost || self.is_lost(*octet))
            })
            .map(|start| self.from(start))
    }

    fn rescue(&self) -> Option<Block> {
        let highest = self.not_sacked().next_back()?;
        let start = (self.una..=highest)
            .rev()
            .take(self.smss as usize)
            .take_while(|octet| !self.sacked.contains(octet))
            .last()?;
        (self.una > self.rescue_rxt).then_some(Block { start, end: highest + 1 })
    }
}

#[derive(Clone, Debug)]
enum Step {
    Sack(Vec<(u64, u64)>),
    Acknowledge(u64),
    SendLost,
    SendHole,
    Rescue,
    BeginRecovery,
    Send(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => vec((1_u64..60, 1_u64..9), 1..5).prop_map(Step::Sack),
        1 => (1_u64..15).prop_map(Step::Acknowledge),
        2 => Just(Step::SendLost),
        1 => Just(Step::SendHole),
        1 => Just(Step::Rescue),
        1 => Just(Step::BeginRecovery),
        1 => (1_u64..9).prop_map(Step::Send),
    ]
}

proptest! {
    #[test]
    fn the_scoreboard_agrees_with_a_model_of_single_octets(
        smss in 1_u64..6,
        steps in vec(step(), 1..40),
    ) {
        let mut board = Scoreboard::default();
        let mut octets = Octets {
            una: 1, max: 61, smss, sacked: BTreeSet::new(), high_rxt: 0, rescue_rxt: 0,
        };
        for step in steps {
            let (una, max) = (octets.una, octets.max);
            match step {
                Step::Sack(ranges) => {
                    let blocks: Vec<Block> = ranges
                        .iter()
                        .map(|(offset, len)| Block { start: una + offset, end: una + offset + len })
                        .collect();
                    let before = octets.sacked.len();
                    for block in blocks.iter().filter(|block| block.end <= max) {
                        octets.sacked.extend(block.start..block.end);
                    }
                    prop_assert_eq!(board.update(una, max, &blocks), octets.sacked.len() > before);
                }
                Step::Acknowledge(more) => {
                    // A receiver acknowledges held data together with the data before it.
                    let next = (una + more..=max).find(|number| !octets.sacked.contains(number));
                    octets.una = next.unwrap_or(max).min(max);
                    octets.sacked = octets.sacked.split_off(&octets.una);
                    board.advance(octets.una);
                }
                Step::SendLost => {
                    let hole = octets.hole(true);
                    prop_assert_eq!(board.next_lost(una, smss), hole);
                    if let Some(hole) = hole {
                        board.raise_high_rxt(hole.end);
                        octets.high_rxt = hole.end;
                    }
                }
                Step::SendHole => {
                    let hole = octets.hole(false);
                    prop_assert_eq!(board.next_hole(una, smss), hole);
                    if let Some(hole) = hole {
                        board.raise_high_rxt(hole.end);
                        octets.high_rxt = hole.end;
                    }
                }
                Step::Rescue if una < max => {
                    let end = octets.rescue();
                    prop_assert_eq!(board.rescue(una, max, smss, max), end);
                    if end.is_some() {
                        octets.rescue_rxt = max;
                    }
                }
                Step::BeginRecovery if una < max => {
                    let first = octets.from(una);
                    octets.high_rxt = octets.high_rxt.max(first.end);
                    octets.rescue_rxt = first.end;
                    board.begin_recovery(first.end);
                }
                Step::Rescue | Step::BeginRecovery => {}
                Step::Send(len) => octets.max += len,
            }
            prop_assert_eq!(board.pipe(octets.una, octets.max, smss), octets.pipe());
            for number in octets.not_sacked() {
                prop_assert_eq!(board.is_lost(number, smss), octets.is_lost(number));
            }
        }
    }
}
