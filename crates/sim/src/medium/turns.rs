//! The order of several media: which of them has the next event.

use std::collections::BTreeSet;

use airtcp_kernel::Time;

/// The next event of each of several media; at one instant the lowest number comes first. Usually
/// the medium with the first event gets a new one, which is soon.
#[derive(Debug)]
pub(super) struct Turns {
    /// The first turns, sorted with the first one last; at least two of several.
    near: Vec<Turn>,
    /// All later ones.
    far: BTreeSet<Turn>,
    /// The time of each medium's turn.
    times: Vec<Time>,
}

/// The number of turns that are compared one by one, from the first on, before a binary search of
/// the others.
const STEPS: usize = 16;

/// The numbers of near turns after which some move away, and up to which far ones come near.
const MOST_NEAR: usize = 64;
const NEAR: usize = 32;

/// The next event of a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    pub(super) at: Time,
    pub(super) part: u32,
}

impl Turns {
    /// Creates the turns of media whose next events are at `times`.
    pub(super) fn new(times: impl Iterator<Item = Time>) -> Self {
        let times: Vec<_> = times.collect();
        let far = (0..).zip(&times).map(|(part, &at)| Turn { at, part }).collect();
        let mut turns = Self { near: Vec::new(), far, times };
        turns.come_near();
        turns
    }

    /// Returns the first turn, and the time of the second.
    #[inline]
    pub(super) fn first(&self) -> (Turn, Time) {
        match self.near[..] {
            [.., then, first] => (first, then.at),
            [first] => (first, Time::NEVER),
            [] => unreachable!("there are media"),
        }
    }

    /// Sets the next event of the medium with the first turn.
    #[inline]
    pub(super) fn set_first(&mut self, at: Time) {
        let turns = &mut self.near[..];
        let last = turns.len() - 1;
        let turn = Turn { at, ..turns[last] };
        self.times[turn.part as usize] = at;
        if self.far.first().is_some_and(|far| *far < turn) {
            return self.first_goes_far(turn);
        }
        let near = last.saturating_sub(STEPS);
        let mut place = last;
        while place > near && turns[place - 1] < turn {
            turns[place] = turns[place - 1];
            place -= 1;
        }
        if place == near && near > 0 {
            place = turns[..near].partition_point(|other| *other > turn);
            turns.copy_within(place..near, place + 1);
        }
        turns[place] = turn;
    }

    /// Makes the first turn a far one, `turn`.
    fn first_goes_far(&mut self, turn: Turn) {
        self.near.pop();
        self.far.insert(turn);
        if self.near.len() < 2 {
            self.come_near();
        }
    }

    /// Moves the first of the far turns behind the near ones.
    #[inline(never)]
    fn come_near(&mut self) {
        let free = NEAR - self.near.len();
        let mut first: Vec<_> = std::iter::from_fn(|| self.far.pop_first()).take(free).collect();
        first.reverse();
        self.near.splice(0..0, first);
    }

    /// Sets the next event of the medium `part`.
    pub(super) fn set(&mut self, part: u32, at: Time) {
        let before = Turn { at: self.times[part as usize], part };
        if self.far.remove(&before) {
            self.near.push(before);
            if self.near.len() > MOST_NEAR {
                self.far.extend(self.near.drain(..MOST_NEAR - NEAR));
            }
        } else {
            let place = self.near.iter().position(|turn| turn.part == part);
            // Move it to the first place, then sort it in.
            self.near[place.expect("each medium has a turn")..].rotate_left(1);
        }
        self.set_first(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With 1 to 41 media, and some more, and times in pseudo-random order, often equal, the first
    /// turn has the earliest time and then the lowest number. The second is the one that would be
    /// first without it.
    #[test]
    fn first_is_the_earliest_and_of_several_the_lowest() {
        for number in (1..=41_u32).chain([64, 65, 150, 1_000]) {
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
