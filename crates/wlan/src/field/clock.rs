//! The next event of each station, and the first event of all.

use airtcp_kernel::Time;

use crate::station::StationId;

/// The order of events at one instant. Starts of transmissions come before everything that could
/// react to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// The start of a transmission.
    Start = 1,
    /// The end of a transmission.
    End,
    /// The instant at which a listener detects a transmission.
    Notice,
    /// The end of a timeout or backoff.
    Timeout,
}

/// The time of an event in nanoseconds and its rank, packed into one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u64);

const RANK_BITS: u32 = 3;

impl Key {
    /// The key of no event. Greater keys mean no event, too.
    pub(super) const NEVER: Self = Self(u64::MAX << RANK_BITS);

    /// Sentinel: the minimum is stale. Sorts before every real key.
    pub(super) const UNKNOWN: Self = Self(0);

    /// Creates the key of an event of `rank` at `time`. [`Time::NEVER`] gives no event.
    #[inline]
    pub(super) fn new(time: Time, rank: Rank) -> Self {
        Self(time.as_nanos() << RANK_BITS | rank as u64)
    }

    /// True if no event is scheduled (`NEVER`).
    #[inline]
    pub(super) fn is_never(self) -> bool {
        self >= Self::NEVER
    }

    /// Returns the time of the event.
    #[inline]
    pub(super) fn time(self) -> Time {
        if self.is_never() { Time::NEVER } else { Time::from_nanos(self.0 >> RANK_BITS) }
    }

    /// True if the event is the start of a transmission.
    #[inline]
    pub(super) fn is_start(self) -> bool {
        self.0 & ((1 << RANK_BITS) - 1) == Rank::Start as u64
    }

    /// True if the event is a timeout.
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

/// The next event of each station or shared listener, and the minimum when it was last computed.
/// Few of many stations have an event at a time. They are searched in blocks of 64, and only blocks
/// that changed.
#[derive(Debug)]
pub(super) struct Clock {
    blocks: Vec<Block>,
    first: Key,
    winner: StationId,
}

/// The events of one block of stations.
#[derive(Clone, Debug)]
struct Block {
    keys: [Key; Block::SIZE],
    /// A bit for each station that has an event.
    pending: u64,
    /// The first event and its station's place, or [`Key::UNKNOWN`]. Of events with one key the
    /// lowest place counts.
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

    /// Finds the minimum of the block.
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
    /// Creates a clock for `number` stations with nothing scheduled.
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

    /// Finds the first event of all stations.
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

    /// Returns the station with the first event; if several, the lowest number.
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

    /// With 1 to 600 stations and events in pseudo-random order, each event is first at its time.
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
                // The new event is earlier or much later.
                times[station as usize] = time + (step * 31) % 500;
                let next = Key::new(Time::from_nanos(times[station as usize]), Rank::Start);
                clock.set(station, next);
                if step % 5 == 0 {
                    // Other events are cancelled and scheduled again.
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
