//! CoDel (RFC 8289): drops from the head once the queueing delay has exceeded a target throughout
//! an interval, and drops faster the longer this lasts.
//!
//! `Control` is the control law, in times and bits only; a `CodelLine` is a FIFO that applies it.

use airtcp_kernel::{Duration, RandomStream, Time};
use serde::Deserialize;

use super::Inspect;
use super::ack_filter::{AckFilter, superseded};
use super::slab::{Line, Slab};
use super::tins::{Overflow, Tin};
use crate::Packet;

/// The parameters of CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodelConfig {
    /// The acceptable standing queueing delay: `TARGET`.
    #[serde(rename = "target_ns")]
    pub target: Duration,
    /// How long the delay must exceed the target before the first drop: `INTERVAL`.
    #[serde(rename = "interval_ns")]
    pub interval: Duration,
    /// Whether to mark ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// How the time between drops shrinks.
    pub control_law: ControlLaw,
}

/// The divisor of the interval between two drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ControlLaw {
    /// The square root of the number of drops: RFC 8289, section 4.4.
    SquareRoot,
    /// As in Linux (codel_impl.h) and ns-3: one step of Newton's method per drop, in 16 bits. The
    /// second gap is half of the interval instead of 1 / 2^(1/2) of it.
    Newton,
}

impl CodelConfig {
    /// Checks what the types cannot express.
    pub(super) fn check(&self) -> Result<(), String> {
        if Duration::ZERO < self.target && self.target <= self.interval {
            Ok(())
        } else {
            Err(format!("contradictory parameters: {self:?}"))
        }
    }
}

/// A queue of at most this many bits is never too long: one packet of the interface, `maxpacket_`.
const MAX_PACKET_BITS: u64 = 8 * 1500;

/// The state variables of RFC 8289, section 5.
#[derive(Debug)]
pub(super) struct Control {
    /// When the delay will have been above target for a full interval; `NEVER` if it is below
    /// target.
    first_above: Time,
    drop_next: Time,
    /// Drops since entering the dropping state.
    count: u32,
    /// `count` when the dropping state was last entered.
    last_count: u32,
    dropping: bool,
    /// An approximation of 1 / `count`^(1/2) for [`ControlLaw::Newton`], in units of 2^-16.
    reciprocal_root: u16,
}

impl Default for Control {
    fn default() -> Self {
        Self {
            first_above: Time::NEVER,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
            reciprocal_root: 0,
        }
    }
}

impl Control {
    /// Whether the head packet may be dropped (section 5.5, `dodequeue`), given its `sojourn` time
    /// and the `rest` bits behind it.
    #[inline]
    fn may_drop(&mut self, config: &CodelConfig, now: Time, sojourn: Duration, rest: u64) -> bool {
        if sojourn < config.target || rest <= MAX_PACKET_BITS {
            self.first_above = Time::NEVER;
            return false;
        }
        if self.first_above == Time::NEVER {
            self.first_above = now + config.interval;
            return false;
        }
        now >= self.first_above
    }

    /// Enters the dropping state (section 5.5). If the last one was recent, it resumes near the
    /// last drop rate.
    fn begin(&mut self, config: &CodelConfig, now: Time) {
        self.dropping = true;
        let delta = self.count.saturating_sub(self.last_count);
        let recently = now.saturating_since(self.drop_next) < config.interval * 16;
        if delta > 1 && recently {
            self.count = delta;
            self.step();
        } else {
            self.count = 1;
            self.reciprocal_root = u16::MAX;
        }
        self.drop_next = self.law(config, now);
        self.last_count = self.count;
    }

    /// Counts one more drop.
    fn count_on(&mut self) {
        self.count += 1;
        self.step();
    }

    /// Takes Newton's step from x towards 1 / `count`^(1/2): x (3 - `count` x^2) / 2. Starting from
    /// 1, x stays below the root and 3 - `count` x^2 above zero.
    fn step(&mut self) {
        let x = u64::from(self.reciprocal_root);
        let three = (3 << 32_u64) - (u64::from(self.count) * x * x).min(3 << 32_u64);
        // Below 2^16 for x < 2^16, except after `count` has fallen; Linux lets it overflow then.
        self.reciprocal_root = u16::try_from(((three >> 16) * x) >> 17).unwrap_or(u16::MAX);
    }

    /// Computes `control_law` of section 4.4.
    fn law(&self, config: &CodelConfig, from: Time) -> Time {
        let interval = config.interval.as_nanos();
        let nanos = match config.control_law {
            ControlLaw::SquareRoot => (interval as f64 / f64::from(self.count).sqrt()) as u64,
            ControlLaw::Newton => {
                ((u128::from(interval) * u128::from(self.reciprocal_root)) >> 16) as u64
            }
        };
        from + Duration::from_nanos(nanos)
    }
}

/// A FIFO with CoDel state.
#[derive(Debug, Default)]
pub(super) struct CodelLine {
    packets: Line,
    bits: u64,
    control: Control,
}

impl CodelLine {
    #[inline]
    pub(super) fn push<B: Inspect>(&mut self, store: &mut Slab<B>, packet: Packet<B>) {
        self.bits += packet.bits;
        store.push(&mut self.packets, packet);
    }

    #[inline]
    pub(super) fn pop<B: Inspect>(&mut self, store: &mut Slab<B>) -> Option<Packet<B>> {
        let packet = store.pop(&mut self.packets)?;
        self.bits -= packet.bits;
        Some(packet)
    }

    pub(super) fn bits(&self) -> u64 {
        self.bits
    }

    #[inline]
    pub(super) fn packets(&self) -> Line {
        self.packets
    }

    /// Removes and returns the ACK that `newer` makes redundant under `rule`, if any.
    pub(super) fn filter<B: Inspect>(
        &mut self,
        store: &mut Slab<B>,
        rule: AckFilter,
        newer: &Packet<B>,
    ) -> Option<Packet<B>> {
        let before = superseded(store.iter(self.packets), newer, rule)?;
        let packet = store.remove(&mut self.packets, before)?;
        self.bits -= packet.bits;
        Some(packet)
    }

    /// Drops or marks packets at the head until the head may be sent. Moves dropped packets to
    /// `drops`. Returns false if the queue is empty.
    #[inline]
    pub(super) fn settle<B: Inspect>(
        &mut self,
        store: &mut Slab<B>,
        config: &CodelConfig,
        now: Time,
        drops: &mut Vec<Packet<B>>,
    ) -> bool {
        if self.packets.is_empty() {
            self.control.first_above = Time::NEVER;
            self.control.dropping = false;
            return false;
        }
        // Fast path: most queues have not been above target for an interval.
        if !self.control.dropping && !self.may_drop(store, config, now) {
            return true;
        }
        self.settle_late(store, config, now, drops)
    }

    /// Drops or marks packets of a queue that is in the dropping state or may now enter it.
    #[inline(never)]
    fn settle_late<B: Inspect>(
        &mut self,
        store: &mut Slab<B>,
        config: &CodelConfig,
        now: Time,
        drops: &mut Vec<Packet<B>>,
    ) -> bool {
        let mut may_drop = self.may_drop(store, config, now);
        if self.control.dropping {
            self.control.dropping = may_drop;
            while self.control.dropping && now >= self.control.drop_next {
                self.control.count_on();
                if self.mark(store, config) {
                    self.control.drop_next = self.control.law(config, self.control.drop_next);
                    break;
                }
                drops.extend(self.pop(store));
                may_drop = self.may_drop(store, config, now);
                if may_drop {
                    self.control.drop_next = self.control.law(config, self.control.drop_next);
                } else {
                    self.control.dropping = false;
                }
            }
        } else if may_drop {
            if !self.mark(store, config) {
                drops.extend(self.pop(store));
                self.may_drop(store, config, now);
            }
            self.control.begin(config, now);
        }
        !self.packets.is_empty()
    }

    #[inline]
    fn may_drop<B: Inspect>(&mut self, store: &Slab<B>, config: &CodelConfig, now: Time) -> bool {
        let Some(head) = store.front(self.packets) else {
            self.control.first_above = Time::NEVER;
            return false;
        };
        self.control.may_drop(config, now, now - head.arrived, self.bits - head.bits)
    }

    /// Marks the head packet instead of dropping it, if ECN allows. Returns true if it did.
    fn mark<B: Inspect>(&self, store: &mut Slab<B>, config: &CodelConfig) -> bool {
        config.ecn && store.front_mut(self.packets).is_some_and(|head| head.body.mark())
    }
}

impl<B: Inspect> Tin<B> for CodelLine {
    type Config = ();

    const OVERFLOW: Overflow = Overflow::Arrival;

    fn new(_: &(), _: &RandomStream) -> Self {
        Self::default()
    }

    fn push(&mut self, store: &mut Slab<B>, packet: Packet<B>) -> u64 {
        self.push(store, packet);
        self.bits
    }

    fn next(
        &mut self,
        store: &mut Slab<B>,
        config: &CodelConfig,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        drops: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>> {
        self.settle(store, config, now, drops);
        if fits(store.front(self.packets)?) { self.pop(store) } else { None }
    }

    fn oldest(&self, store: &Slab<B>) -> Option<Time> {
        store.front(self.packets).map(|packet| packet.arrived)
    }

    fn fattest(&mut self) -> u64 {
        self.bits
    }

    fn drop_batch(&mut self, store: &mut Slab<B>, drops: &mut Vec<Packet<B>>) {
        drops.extend(self.pop(store));
    }

    fn filter(
        &mut self,
        store: &mut Slab<B>,
        rule: AckFilter,
        newer: &Packet<B>,
    ) -> Option<Packet<B>> {
        self.filter(store, rule, newer)
    }

    fn iter<'a>(&'a self, store: &'a Slab<B>) -> Box<dyn Iterator<Item = &'a Packet<B>> + 'a> {
        Box::new(store.iter(self.packets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: CodelConfig = CodelConfig {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        ecn: false,
        control_law: ControlLaw::Newton,
    };

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    /// RFC 8289, section 5.5: only a sojourn below the target counts as good.
    #[test]
    fn a_packet_that_waits_exactly_for_the_target_may_be_dropped_an_interval_later() {
        for (micros, drops) in [(4_999, false), (5_000, true)] {
            let mut control = Control::default();
            let mut asked =
                |now| control.may_drop(&CONFIG, now, Duration::from_micros(micros), 1_000_000);
            assert_eq!((asked(at(0)), asked(at(99)), asked(at(100))), (false, false, drops));
        }
    }

    /// RFC 8289, section 5.5: the last drop rate needs more than one drop beyond the last state. Two
    /// drops: from 1/4, x (3 - 2 x^2) / 2 is .359.
    #[test]
    fn one_drop_more_than_before_starts_the_drop_rate_anew() {
        for (last_count, count, root) in [(3, 1, u16::MAX), (2, 2, 0x5c00)] {
            let mut control = Control { count: 4, last_count, ..Control::default() };
            (control.reciprocal_root, control.drop_next) = (0x4000, at(1_000));
            control.begin(&CONFIG, at(1_001));
            assert_eq!(control.count, count);
            assert!(control.reciprocal_root.abs_diff(root) < 4, "{}", control.reciprocal_root);
        }
    }

    #[test]
    fn a_step_of_newton_halves_the_second_gap_and_comes_near_the_root() {
        let mut control = Control::default();
        control.begin(&CONFIG, Time::ZERO);
        let gap = |control: &mut Control| {
            let nanos = control.law(&CONFIG, Time::ZERO).as_nanos();
            control.count_on();
            nanos as f64 / 1e6
        };
        // Each Newton step for 1 / sqrt(count) goes from x to x (3 - count x^2) / 2. From x = 1: (3
        // - 2) / 2 = 0.5, then 0.5 (3 - 3 / 4) / 2 = 0.5625, then 0.5625 (3 - 4 * 0.3164) / 2 =
        // 0.4878.
        for expected in [100.0, 50.0, 56.25, 48.78] {
            let found = gap(&mut control);
            assert!((found - expected).abs() < 0.01, "{found} {expected}");
        }
        let later = (5..=100).map(|_| gap(&mut control)).last().expect("some");
        assert!((later - 10.0).abs() < 0.01, "{later}");
    }
}
