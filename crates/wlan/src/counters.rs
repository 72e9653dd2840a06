//! What contenders count.

use std::ops::{Add, AddAssign, Sub};

/// What a contender did in its contention for the medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MacCounters {
    /// Transmissions that began (of an RTS or a data frame).
    pub attempts: u64,
    /// Those that collided.
    pub collisions: u64,
    /// Those that led to a MAC ACK.
    pub successes: u64,
    /// Frames to all that did not collide.
    pub broadcasts: u64,
    /// Frames given up at the retry limit.
    pub drops: u64,
    /// Backoffs drawn.
    pub draws: u64,
    /// Sum of CW over the backoffs drawn.
    pub cw_sum: u64,
    /// Accesses that a queue of higher priority of the same station took.
    pub internal_collisions: u64,
}

impl MacCounters {
    /// Attempts that led to a MAC ACK, collided, or were for all: all but those on the air.
    pub fn attempts_ended(&self) -> u64 {
        self.successes + self.collisions + self.broadcasts
    }

    fn combine(self, other: Self, with: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            attempts: with(self.attempts, other.attempts),
            collisions: with(self.collisions, other.collisions),
            successes: with(self.successes, other.successes),
            broadcasts: with(self.broadcasts, other.broadcasts),
            drops: with(self.drops, other.drops),
            draws: with(self.draws, other.draws),
            cw_sum: with(self.cw_sum, other.cw_sum),
            internal_collisions: with(self.internal_collisions, other.internal_collisions),
        }
    }
}

impl Add for MacCounters {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.combine(other, |a, b| a + b)
    }
}

impl AddAssign for MacCounters {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// What was counted since `earlier`.
impl Sub for MacCounters {
    type Output = Self;
    fn sub(self, earlier: Self) -> Self {
        self.combine(earlier, |now, then| now - then)
    }
}
