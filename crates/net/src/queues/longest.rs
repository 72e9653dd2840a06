//! Which of many lines is the longest, without a look at each.
//!
//! Knows lengths that it was told, and asks again for those that may have shrunk since. Does not know what
//! the lines hold.

use std::collections::BinaryHeap;

/// A bound from above for the length of each line, the greatest first. Nothing is kept before it is asked
/// for the first time: most queues are never full.
#[derive(Debug, Default)]
pub(super) struct Longest {
    /// Lengths and lines; those that are no line's bound are of no use any more.
    heap: BinaryHeap<(u64, u32)>,
    /// The bound of each line.
    bounds: Vec<u64>,
    is_asked: bool,
}

impl Longest {
    /// Notes that a line has grown to this length. A growth that is not noted makes a wrong answer; a line that shrinks
    /// need not be told.
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

    /// Finds the longest of so many lines, the last one of several; `None` if all are empty.
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

    /// Lines that grow and shrink at random, and a look at all of them beside.
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
                // Not always, so that bounds grow old, and not from the start.
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
