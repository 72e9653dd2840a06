//! Finds the longest of many queues without comparing all of them.
//!
//! It keeps upper bounds on the lengths, and asks for a current length only when a bound may be
//! stale.

use std::collections::BinaryHeap;

/// Upper bounds on the length of each queue, largest first. Nothing is tracked before the first
/// query: most queues never overflow.
#[derive(Debug, Default)]
pub(super) struct Longest {
    /// Lengths and queues. Entries that no longer equal the queue's bound are stale and are
    /// skipped.
    heap: BinaryHeap<(u64, u32)>,
    /// The bound of each queue.
    bounds: Vec<u64>,
    is_asked: bool,
}

impl Longest {
    /// Records that queue `line` has grown to `length`. Every growth must be recorded; shrinking
    /// need not be.
    #[inline]
    pub(super) fn grown(&mut self, line: usize, length: u64) {
        if self.is_asked {
            self.raise(line, length);
        }
    }

    fn raise(&mut self, line: usize, length: u64) {
        if self.bounds.len() <= line {
            self.bounds.resize(line + 1, 0);
        }
        if length > self.bounds[line] {
            self.bounds[line] = length;
            self.heap.push((length, line as u32));
        }
    }

    /// Returns the longest of `lines` queues (the last one on a tie), or `None` if all are empty.
    pub(super) fn find(
        &mut self,
        lines: usize,
        mut length: impl FnMut(usize) -> u64,
    ) -> Option<usize> {
        if !self.is_asked || self.heap.len() > 4 * lines + 64 {
            self.is_asked = true;
            self.heap.clear();
            self.bounds.clear();
            for line in 0..lines {
                self.raise(line, length(line));
            }
        }
        loop {
            let &(bound, line) = self.heap.peek()?;
            let line = line as usize;
            let actual = length(line);
            if bound == actual {
                return Some(line);
            }
            self.heap.pop();
            if bound == self.bounds[line] {
                self.bounds[line] = 0;
                self.raise(line, actual);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use airtcp_kernel::RandomStream;

    use super::*;

    /// Compares random growth and shrinking with a full scan.
    #[test]
    fn the_longest_is_that_of_a_look_at_all() {
        let mut stream = RandomStream::new(1, 0, "test", "longest");
        for lines in [1, 2, 7, 40] {
            let mut lengths = vec![0_u64; lines];
            let mut longest = Longest::default();
            for step in 0..20_000 {
                let line = stream.up_to(lines as u32 - 1) as usize;
                if stream.up_to(1) == 0 {
                    lengths[line] += u64::from(stream.up_to(3));
                    longest.grown(line, lengths[line]);
                } else {
                    lengths[line] = lengths[line].saturating_sub(u64::from(stream.up_to(4)));
                }
                // Query only sometimes, so that bounds become stale, and not from the start.
                if step > 100 && stream.up_to(2) == 0 {
                    let all = lengths.iter().enumerate().filter(|(_, length)| **length > 0);
                    let expected = all.max_by_key(|(_, length)| **length).map(|(line, _)| line);
                    assert_eq!(longest.find(lines, |line| lengths[line]), expected, "{step}");
                }
            }
        }
    }

    #[test]
    fn bounds_of_long_ago_are_thrown_away() {
        let mut longest = Longest::default();
        let mut lengths = [0_u64; 2];
        for _ in 0..10_000 {
            for (line, length) in lengths.iter_mut().enumerate() {
                *length += 3;
                longest.grown(line, *length);
            }
            assert_eq!(longest.find(2, |line| lengths[line]), Some(1));
            lengths = [2, 0];
            assert_eq!(longest.find(2, |line| lengths[line]), Some(0));
            lengths = [0, 0];
        }
        assert!(longest.heap.len() < 100);
    }
}
