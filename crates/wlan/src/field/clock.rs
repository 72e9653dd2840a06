//! The next event of each station, and the first of all. Knows times and ranks, and no event.

use airtcp_kernel::Time;

use crate::station::StationId;

/// The order of events at one instant: what begins to transmit is before all that could react to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// The start of a transmission.
    Start = 1,
    /// The end of one.
    End,
    /// The instant at which a transmission is noticed.
    Notice,
    /// The end of a wait.
    Timeout,
}

/// The time in nanoseconds and the rank of an event as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u64);

const RANK_BITS: u32 = 3;

impl Key {
    /// The key of no event; so are those behind it.
    pub(super) const NEVER: Self = Self(u64::MAX << RANK_BITS);

    /// The key of what is to be looked up, before that of any event.
    pub(super) const UNKNOWN: Self = Self(0);

    /// Makes the key of an event of `rank` at `time`; one that is never if that is [`Time::NEVER`].
    #[inline]
    pub(super) fn new(time: Time, rank: Rank) -> Self {
        Self(time.as_nanos() << RANK_BITS | rank as u64)
    }

    /// Tells whether it is that of no event.
    #[inline]
    pub(super) fn is_never(self) -> bool {
        self >= Self::NEVER
    }

    /// Returns the time of the event.
    #[inline]
    pub(super) fn time(self) -> Time {
        if self.is_never() { Time::NEVER } else { Time::from_nanos(self.0 >> RANK_BITS) }
    }

    /// Tells whether it is that of the start of a transmission.
    #[inline]
    pub(super) fn is_start(self) -> bool {
        self.0 & ((1 << RANK_BITS) - 1) == Rank::Start as u64
    }

    /// Tells whether it is that of the end of a wait.
    #[inline]
    pub(super) fn is_timeout(self) -> bool {
        self.0 & ((1 << RANK_BITS) - 1) == Rank::Timeout as u64
    }

    /// Returns the rank of the event.
    #[inline]
    pub(super) fn rank(self) -> Rank {
        match self.0 & 7 {
            1 => Rank::Start,
            2 => Rank::End,
            3 => Rank::Notice,
            _ => Rank::Timeout,
        }
    }
}

/// The next event of each station, or of stations that listen together, and the first of all as it was when that was
/// looked up. Few of many have one at a time: they are looked through by sixty-four, where something has changed.
#[derive(Debug)]
pub(super) struct Clock {
    blocks: Vec<Block>,
    first: Key,
    winner: StationId,
}

/// The events of so many stations.
#[derive(Clone, Debug)]
struct Block {
    keys: [Key; Block::SIZE],
    /// A bit for each station that has one.
    pending: u64,
    /// The first of them, or [`Key::UNKNOWN`], and its place; of several at once the lowest.
    first: Key,
    winner: u32,
}

impl Block {
    const SIZE: usize = u64::BITS as usize;

    /// Sets the event at `place`.
    #[inline]
    fn set(&mut self, place: usize, key: Key) {
        if std::mem::replace(&mut self.keys[place], key) == key {
            return;
        }
        let bit = 1 << place;
        self.pending = if key.is_never() { self.pending & !bit } else { self.pending | bit };
        let place = place as u32;
        if key < self.first || key == self.first && place < self.winner {
            (self.first, self.winner) = (key, place);
        } else if place == self.winner && key != self.first {
            self.first = Key::UNKNOWN;
        }
    }

    /// Looks through all that there are.
    #[inline]
    fn look_up(&mut self) {
        let mut pending = self.pending;
        let (mut first, mut winner) = (Key::NEVER, 0);
        while pending != 0 {
            let place = pending.trailing_zeros();
            pending &= pending - 1;
            let key = self.keys[place as usize % Self::SIZE];
            if key < first {
                (first, winner) = (key, place);
            }
        }
        (self.first, self.winner) = (first, winner);
    }
}

impl Clock {
    /// Makes the clock of so many, of which none has an event.
    pub(super) fn new(number: usize) -> Self {
        let keys = [Key::NEVER; Block::SIZE];
        let block = Block { keys, pending: 0, first: Key::NEVER, winner: 0 };
        let blocks = vec![block; number.div_ceil(Block::SIZE)];
        Self { blocks, first: Key::NEVER, winner: 0 }
    }

    /// Sets the next event of `station`.
    #[inline]
    pub(super) fn set(&mut self, station: StationId, key: Key) {
        let place = station as usize;
        self.blocks[place / Block::SIZE].set(place % Block::SIZE, key);
    }

    /// Looks up the first event of all.
    #[inline]
    pub(super) fn look_up(&mut self) {
        let (mut first, mut winner, mut before) = (Key::NEVER, 0, 0);
        for block in &mut self.blocks {
            if block.first == Key::UNKNOWN {
                block.look_up();
            }
            if block.first < first {
                (first, winner) = (block.first, before + block.winner);
            }
            before += Block::SIZE as StationId;
        }
        (self.first, self.winner) = (first, winner);
    }

    /// Returns the first event of all.
    #[inline]
    pub(super) fn first(&self) -> Key {
        self.first
    }

    /// Returns the station with the first event; of several the one with the lowest number.
    #[inline]
    pub(super) fn winner(&self) -> StationId {
        self.winner
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
        clock.look_up();
        assert_eq!((clock.winner(), clock.first().rank()), (1, Rank::End));

        clock.set(1, Key::NEVER);
        clock.set(3, at(7, Rank::Start));
        clock.look_up();
        assert_eq!((clock.winner(), clock.first().time()), (3, Time::from_nanos(7)));

        clock.set(3, at(8, Rank::Start));
        clock.look_up();
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
            clock.look_up();
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
                if step % 5 == 0 {
                    // Others go and come back.
                    let other = (station + 1) % stations;
                    clock.set(other, Key::NEVER);
                    let time = Time::from_nanos(times[other as usize]);
                    clock.set(other, Key::new(time, Rank::Start));
                }
                clock.look_up();
            }
        }
    }
}
