//! The next event of each station, and the first of all. Knows times and ranks, and no event.

use airtcp_kernel::Time;

use crate::station::StationId;

/// The order of events at one instant: what begins to transmit is before all that could react to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// The start of a transmission.
    Start,
    /// The end of one.
    End,
    /// The instant at which a transmission is noticed.
    Notice,
    /// The end of a wait.
    Timeout,
}

/// The time and the rank of an event as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u64);

const RANK_BITS: u32 = 2;

impl Key {
    /// The key of no event.
    pub(super) const NEVER: Self = Self(u64::MAX);

    /// Makes the key of an event of `rank` at `time`; [`Self::NEVER`] if that is [`Time::NEVER`].
    #[inline]
    pub(super) fn new(time: Time, rank: Rank) -> Self {
        if time == Time::NEVER {
            Self::NEVER
        } else {
            Self(time.as_nanos() << RANK_BITS | rank as u64)
        }
    }

    /// Returns the time of the event.
    #[inline]
    pub(super) fn time(self) -> Time {
        if self == Self::NEVER { Time::NEVER } else { Time::from_nanos(self.0 >> RANK_BITS) }
    }

    /// Returns the rank of the event.
    #[inline]
    pub(super) fn rank(self) -> Rank {
        match self.0 & 3 {
            0 => Rank::Start,
            1 => Rank::End,
            2 => Rank::Notice,
            _ => Rank::Timeout,
        }
    }
}

/// The next event of each station, or of stations that listen together: a tournament, of which each round keeps the
/// earliest of eight.
#[derive(Debug)]
pub(super) struct Clock {
    /// The keys of all, those of the first of each eight of them, and so on; the last has one.
    keys: Vec<Key>,
    /// The beginning of each round among these.
    rounds: Vec<usize>,
}

/// The number of keys of which a round keeps one.
const OF: usize = 8;

impl Clock {
    /// Makes the clock of so many, of which none has an event.
    pub(super) fn new(number: usize) -> Self {
        let (mut rounds, mut length, mut number) = (Vec::new(), 0, number);
        loop {
            rounds.push(length);
            if number == 1 && length > 0 {
                break;
            }
            // Whole eights.
            length += number.next_multiple_of(OF).max(OF);
            number = number.div_ceil(OF).max(1);
        }
        Self { keys: vec![Key::NEVER; length + 1], rounds }
    }

    /// Sets the next event of `station`.
    #[inline]
    pub(super) fn set(&mut self, station: StationId, key: Key) {
        let (mut place, mut key) = (station as usize, key);
        let mut before = std::mem::replace(&mut self.keys[place], key);
        if before == key {
            return;
        }
        for round in 1..self.rounds.len() {
            let of = self.rounds[round - 1] + place / OF * OF;
            place /= OF;
            let winner = self.keys[self.rounds[round] + place];
            if key >= winner {
                if before != winner {
                    return;
                }
                // The winner has left.
                let eight = self.keys[of..of + OF].iter();
                key = eight.copied().min().unwrap_or(Key::NEVER);
                if key == winner {
                    return;
                }
            }
            before = winner;
            self.keys[self.rounds[round] + place] = key;
        }
    }

    /// Returns the first event of all.
    #[inline]
    pub(super) fn first(&self) -> Key {
        self.keys[self.keys.len() - 1]
    }

    /// Returns the station with the first event; of several the one with the lowest number.
    #[inline]
    pub(super) fn winner(&self) -> StationId {
        let (mut place, key) = (0, self.first());
        for &round in self.rounds.iter().rev().skip(1) {
            let of = round + place * OF;
            let eight = self.keys[of..of + OF].iter();
            place = place * OF + eight.take_while(|&&one| one != key).count();
        }
        place as StationId
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_is_the_earliest_and_of_several_the_lowest() {
        let at = |nanos, rank| Key::new(Time::from_nanos(nanos), rank);
        let mut clock = Clock::new(5);
        assert_eq!(clock.first().time(), Time::NEVER);
        clock.set(4, at(7, Rank::End));
        clock.set(1, at(7, Rank::End));
        clock.set(2, at(7, Rank::Timeout));
        assert_eq!((clock.winner(), clock.first().rank()), (1, Rank::End));

        clock.set(1, Key::NEVER);
        clock.set(3, at(7, Rank::Start));
        assert_eq!((clock.winner(), clock.first().time()), (3, Time::from_nanos(7)));

        clock.set(3, at(8, Rank::Start));
        assert_eq!((clock.winner(), clock.first().rank()), (4, Rank::End));
    }

    /// Of 1 to 600 stations, whose events come in an order that looks like none, each is the first at its time.
    #[test]
    fn each_is_first_in_its_turn() {
        for stations in [1, 2, 8, 9, 64, 65, 600_u32] {
            let mut clock = Clock::new(stations as usize);
            let mut times: Vec<u64> =
                (0..stations).map(|one| u64::from(one) * 7_919 % 1_009 + 1).collect();
            for (station, &time) in (0..).zip(&times) {
                clock.set(station, Key::new(Time::from_nanos(time), Rank::Start));
            }
            for step in 0..3 * u64::from(stations) {
                let first = (0..).zip(&times).min_by_key(|&(one, &time)| (time, one));
                let (station, &time) = first.expect("there are stations");
                assert_eq!(
                    (clock.first().time(), clock.winner()),
                    (Time::from_nanos(time), station)
                );
                // It goes back, or far away.
                times[station as usize] = time + (step * 31) % 500;
                let next = Key::new(Time::from_nanos(times[station as usize]), Rank::Start);
                clock.set(station, next);
            }
        }
    }
}
