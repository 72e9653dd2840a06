//! The order of several media: which of them has the next event.

use airtcp_kernel::Time;

/// The next event of each of several media, sorted with the first one last; at one instant the
/// lowest number comes first. Usually the medium with the first event gets a new one, which is
/// soon.
#[derive(Debug)]
pub(super) struct Turns(Vec<Turn>);

/// The number of turns that are compared one by one, from the first on, before a binary search of
/// the others.
const NEAR: usize = 16;

/// The next event of a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) at: Time,
    pub(super) part: u32,
}

impl Turn {
    /// Returns whether it comes before `other`.
    #[inline]
    fn is_before(self, other: Self) -> bool {
        self.at < other.at || self.at == other.at && self.part < other.part
    }
}

impl Turns {
    /// Creates the turns of media whose next events are at `times`.
    pub(super) fn new(times: impl Iterator<Item = Time>) -> Self {
        let mut turns: Vec<_> = (0..).zip(times).map(|(part, at)| Turn { at, part }).collect();
        turns.sort_unstable_by_key(|turn| std::cmp::Reverse((turn.at, turn.part)));
        Self(turns)
    }

    /// Returns the first turn, and the time of the second.
    #[inline]
    pub(super) fn first(&self) -> (Turn, Time) {
        match self.0[..] {
            [.., then, first] => (first, then.at),
            [first] => (first, Time::NEVER),
            [] => unreachable!("there are media"),
        }
    }

    /// Sets the next event of the medium with the first turn.
    #[inline]
    pub(super) fn set_first(&mut self, at: Time) {
        let turns = &mut self.0[..];
        let last = turns.len() - 1;
        let turn = Turn { at, ..turns[last] };
        let near = last.saturating_sub(NEAR);
        let mut place = last;
        while place > near && turns[place - 1].is_before(turn) {
            turns[place] = turns[place - 1];
            place -= 1;
        }
        if place == near && near > 0 {
            place = turns[..near].partition_point(|other| !other.is_before(turn));
            turns.copy_within(place..near, place + 1);
        }
        turns[place] = turn;
    }

    /// Sets the next event of the medium `part`.
    pub(super) fn set(&mut self, part: u32, at: Time) {
        let place = self.0.iter().position(|turn| turn.part == part);
        let place = place.expect("each medium has a turn");
        // Move it to the first place, then sort it in.
        self.0[place..].rotate_left(1);
        self.set_first(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With 1 to 41 media and times in pseudo-random order, often equal, the first turn has the
    /// earliest time and then the lowest number. The second is the one that would be first without
    /// it.
    #[test]
    fn first_is_the_earliest_and_of_several_the_lowest() {
        for number in 1..=41_u32 {
            let mut times = vec![Time::NEVER; number as usize];
            let mut turns = Turns::new(times.iter().copied());
            for step in 0..500_u32 {
                let part = step * 7_919 % number;
                let at = Time::from_nanos(u64::from(step * 7_717 % 13 + step / 10));
                times[part as usize] = at;
                if turns.first().0.part == part {
                    turns.set_first(at);
                } else {
                    turns.set(part, at);
                }
                let mut order: Vec<_> = (0..).zip(&times).map(|(one, &at)| (at, one)).collect();
                order.sort_unstable();
                let (first, then) = turns.first();
                assert_eq!((first.at, first.part), order[0]);
                assert_eq!(then, order.get(1).map_or(Time::NEVER, |second| second.0));
            }
        }
    }
}
