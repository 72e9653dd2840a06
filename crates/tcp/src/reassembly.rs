//! Data that arrived ahead of a gap: which ranges of sequence numbers are held.
//!
//! Knows ranges, not bytes, and not what is acknowledged. On a path that keeps the order and loses
//! nothing the list is empty and nothing is ever allocated.

/// Disjoint ranges that do not touch, ascending.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly {
    ranges: Vec<Range>,
}

/// From `start` up to, not including, `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    start: u64,
    end: u64,
}

impl Reassembly {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Holds `start .. end`, joined with the ranges it overlaps or touches.
    pub(crate) fn insert(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let first = self.ranges.partition_point(|range| range.end < start);
        let after = self.ranges.partition_point(|range| range.start <= end);
        let mut joined = Range { start, end };
        for range in &self.ranges[first..after] {
            joined.start = joined.start.min(range.start);
            joined.end = joined.end.max(range.end);
        }
        self.ranges.splice(first..after, [joined]);
    }

    /// Everything before `next` has arrived in order: returns how far the data now reaches without
    /// a gap, and forgets what lies before that.
    pub(crate) fn advance(&mut self, next: u64) -> u64 {
        let passed = self.ranges.partition_point(|range| range.start <= next);
        // Ranges do not touch, so only the last one passed can reach beyond `next`.
        let reached = self.ranges[..passed].last().map_or(next, |range| range.end.max(next));
        self.ranges.drain(..passed);
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(ranges: &[(u64, u64)]) -> Reassembly {
        let mut reassembly = Reassembly::default();
        for &(start, end) in ranges {
            reassembly.insert(start, end);
        }
        reassembly
    }

    fn ranges(reassembly: &Reassembly) -> Vec<(u64, u64)> {
        reassembly.ranges.iter().map(|range| (range.start, range.end)).collect()
    }

    #[test]
    fn apart_stays_apart_in_order() {
        assert_eq!(ranges(&held(&[(30, 40), (10, 20)])), [(10, 20), (30, 40)]);
    }

    #[test]
    fn touching_and_overlapping_ranges_join() {
        assert_eq!(ranges(&held(&[(10, 20), (20, 30)])), [(10, 30)]);
        assert_eq!(ranges(&held(&[(20, 30), (10, 20)])), [(10, 30)]);
        assert_eq!(ranges(&held(&[(10, 20), (30, 40), (15, 35)])), [(10, 40)]);
        assert_eq!(ranges(&held(&[(10, 40), (20, 30)])), [(10, 40)]);
        assert_eq!(ranges(&held(&[(10, 20), (30, 40), (50, 60), (5, 55)])), [(5, 60)]);
    }

    #[test]
    fn empty_ranges_are_not_held() {
        assert!(held(&[(10, 10), (20, 15)]).is_empty());
    }

    #[test]
    fn advance_swallows_what_it_meets_and_keeps_what_lies_beyond_a_gap() {
        let mut reassembly = held(&[(10, 20), (30, 40)]);

        assert_eq!(reassembly.advance(5), 5);
        assert_eq!(reassembly.advance(10), 20);
        assert_eq!(ranges(&reassembly), [(30, 40)]);
        assert_eq!(reassembly.advance(45), 45);
        assert!(reassembly.is_empty());
    }
}
