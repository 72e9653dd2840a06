//! First in, first out, with a line for each receiver.
//!
//! An access to the medium serves one receiver, with as many packets as the MAC can send at once: the
//! access point of a cell that aggregates frames has a line for each of its stations, and a
//! [`Scheduler`] says whose turn it is. Knows no limit and drops nothing.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use airtcp_kernel::Time;
use serde::Deserialize;

use super::{Fill, Policy};
use crate::Packet;

/// Whose packets go next where an access serves one receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Scheduler {
    /// Those of the receiver whose oldest packet came first.
    Oldest {},
    /// Receivers take turns, an access each.
    RoundRobin {},
}

/// First in, first out, with a line for each receiver.
#[derive(Debug)]
pub(super) struct Lines<B> {
    scheduler: Scheduler,
    /// By receiver; each packet with the number of its arrival.
    lines: BTreeMap<u32, VecDeque<(u64, Packet<B>)>>,
    /// The first of each line that is not empty: the number of its arrival, and whose it is.
    heads: BTreeSet<(u64, u32)>,
    arrivals: u64,
    /// Who was served last.
    last: Option<u32>,
}

impl<B> Lines<B> {
    pub(super) fn new(scheduler: Scheduler) -> Self {
        Self { scheduler, lines: BTreeMap::new(), heads: BTreeSet::new(), arrivals: 0, last: None }
    }

    fn push(&mut self, packet: Packet<B>) {
        let receiver = packet.to;
        let line = self.lines.entry(receiver).or_default();
        if line.is_empty() {
            self.heads.insert((self.arrivals, receiver));
        }
        line.push_back((self.arrivals, packet));
        self.arrivals += 1;
    }

    /// What waits in the MAC was taken before what waits here, and goes first if both came at once.
    fn oldest(&self, waiting: impl Iterator<Item = (u32, Option<Time>)>) -> Option<u32> {
        let here = self.heads.first().map(|&(_, receiver)| {
            let head = self.lines[&receiver].front();
            (head.map(|(_, packet)| packet.arrived), receiver)
        });
        let in_mac = waiting.map(|(receiver, arrived)| (arrived, receiver));
        in_mac.chain(here).min_by_key(|&(arrived, _)| arrived).map(|(_, receiver)| receiver)
    }

    fn next_in_turn(&self, waiting: impl Iterator<Item = (u32, Option<Time>)>) -> Option<u32> {
        let last = self.last.unwrap_or(u32::MAX);
        let here = self.heads.iter().map(|&(_, receiver)| receiver);
        let in_mac = waiting.map(|(receiver, _)| receiver);
        // Those behind the last one served come before those up to it.
        in_mac.chain(here).min_by_key(|&receiver| (receiver <= last, receiver))
    }
}

impl<B> Policy<B> for Lines<B> {
    fn enqueue(&mut self, _: Time, packet: Packet<B>, fill: Fill, drops: &mut Vec<Packet<B>>) {
        if fill.full {
            drops.push(packet);
        } else {
            self.push(packet);
        }
    }

    /// The oldest, whoever it is for.
    fn next(
        &mut self,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        drops: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>> {
        let &(_, receiver) = self.heads.first()?;
        self.next_for(receiver, now, fits, drops)
    }

    fn receiver(&mut self, waiting: impl Iterator<Item = (u32, Option<Time>)>) -> Option<u32> {
        let receiver = match self.scheduler {
            Scheduler::Oldest {} => self.oldest(waiting),
            Scheduler::RoundRobin {} => self.next_in_turn(waiting),
        };
        self.last = receiver.or(self.last);
        receiver
    }

    fn next_for(
        &mut self,
        receiver: u32,
        _: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        _: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>> {
        let line = self.lines.get_mut(&receiver)?;
        if !line.front().is_some_and(|(_, packet)| fits(packet)) {
            return None;
        }
        let (number, packet) = line.pop_front()?;
        self.heads.remove(&(number, receiver));
        if let Some(&(next, _)) = line.front() {
            self.heads.insert((next, receiver));
        }
        Some(packet)
    }

    fn iter(&self) -> Box<dyn Iterator<Item = &Packet<B>> + '_> {
        Box::new(self.lines.values().flatten().map(|(_, packet)| packet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(to: u32, id: u32, micros: u64) -> Packet<u32> {
        Packet { bits: 12_000, arrived: at(micros), flow: to, to, body: id }
    }

    fn at(micros: u64) -> Time {
        Time::from_nanos(1_000 * micros)
    }

    fn lines(scheduler: Scheduler) -> Lines<u32> {
        let mut lines = Lines::new(scheduler);
        for (to, id, micros) in [(2, 20, 1), (1, 10, 2), (2, 21, 3), (3, 30, 4), (1, 11, 5)] {
            lines.push(packet(to, id, micros));
        }
        lines
    }

    /// Serves receivers with all they have, by the scheduler.
    fn served(lines: &mut Lines<u32>) -> Vec<u32> {
        let mut served = Vec::new();
        while let Some(receiver) = lines.receiver(std::iter::empty()) {
            while let Some(packet) = lines.next_for(receiver, Time::ZERO, |_| true, &mut Vec::new())
            {
                served.push(packet.body);
            }
        }
        served
    }

    #[test]
    fn the_oldest_packet_brings_others_for_its_receiver_along() {
        assert_eq!(served(&mut lines(Scheduler::Oldest {})), [20, 21, 10, 11, 30]);
    }

    #[test]
    fn receivers_take_turns() {
        let mut lines = lines(Scheduler::RoundRobin {});
        let mut turns = Vec::new();
        while let Some(receiver) = lines.receiver(std::iter::empty()) {
            turns.extend(
                lines
                    .next_for(receiver, Time::ZERO, |_| true, &mut Vec::new())
                    .map(|packet| packet.body),
            );
        }

        assert_eq!(turns, [10, 20, 30, 11, 21]);
    }

    #[test]
    fn what_is_sent_again_counts_as_it_came() {
        let mut lines = lines(Scheduler::Oldest {});

        assert_eq!(lines.receiver([(3, Some(at(2)))].into_iter()), Some(2));
        assert_eq!(lines.receiver([(3, Some(at(1)))].into_iter()), Some(3));
        assert_eq!(lines.receiver([(1, Some(at(0))), (3, None)].into_iter()), Some(3));
    }

    #[test]
    fn packets_alone_go_in_order() {
        let mut lines = lines(Scheduler::Oldest {});
        let all: Vec<_> = std::iter::from_fn(|| {
            lines.next(Time::ZERO, |_| true, &mut Vec::new()).map(|packet| packet.body)
        })
        .collect();

        assert_eq!(all, [20, 10, 21, 30, 11]);
        assert_eq!(lines.iter().count(), 0);
    }
}
