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

/// The next event of each station: a tournament, of which each round keeps the earlier of two.
#[derive(Debug)]
pub(super) struct Clock {
    /// The winner of all at 1, those of the two halves at 2 and 3, ..., and the stations from `stations` on.
    keys: Vec<Key>,
    stations: usize,
}

impl Clock {
    /// Makes the clock of so many stations, of which none has an event.
    pub(super) fn new(stations: usize) -> Self {
        let stations = stations.next_power_of_two();
        Self { keys: vec![Key::NEVER; 2 * stations], stations }
    }

    /// Sets the next event of `station`.
    #[inline]
    pub(super) fn set(&mut self, station: StationId, key: Key) {
        let mut place = self.stations + station as usize;
        if self.keys[place] == key {
            return;
        }
        self.keys[place] = key;
        while place > 1 {
            place /= 2;
            let winner = self.keys[2 * place].min(self.keys[2 * place + 1]);
            if self.keys[place] == winner {
                return;
            }
            self.keys[place] = winner;
        }
    }

    /// Returns the first event of all.
    #[inline]
    pub(super) fn first(&self) -> Key {
        self.keys[1]
    }

    /// Returns the station with the first event; of several the one with the lowest number.
    #[inline]
    pub(super) fn winner(&self) -> StationId {
        let (mut place, key) = (1, self.keys[1]);
        while place < self.stations {
            place *= 2;
            if self.keys[place] != key {
                place += 1;
            }
        }
        (place - self.stations) as StationId
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
}
