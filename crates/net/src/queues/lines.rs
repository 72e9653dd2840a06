//! A FIFO per receiver.
//!
//! A transmission serves one receiver, with as many packets as fit into one A-MPDU. An access point
//! that aggregates frames therefore has a FIFO for each station, and a [`Scheduler`] chooses the
//! station. This discipline has no limit and drops nothing.

use std::collections::BTreeSet;

use airtcp_kernel::{Duration, Time, Train};

use super::ack_filter::{AckFilter, superseded};
use super::scheduler::{Scheduler, Turns};
use super::{Ask, Fill, Fits, Inspect, Policy, Served};
use crate::Packet;

/// A FIFO per receiver.
#[derive(Debug)]
pub(super) struct Lines<B> {
    turns: Turns,
    service: Served,
    /// One queue per receiver; each packet has its arrival number.
    lines: Vec<Train<(u64, Packet<B>)>>,
    /// The head of each queue that is not empty: its arrival number and its receiver.
    heads: BTreeSet<(u64, u32)>,
    /// The head that has been dequeued; `heads` is updated later, because a transmission dequeues
    /// several packets of one queue before `heads` is needed.
    taken: Option<(u64, u32)>,
    arrivals: u64,
}

impl<B: Copy> Lines<B> {
    pub(super) fn new(scheduler: Scheduler, service: &Served) -> Self {
        Self {
            turns: Turns::new(scheduler, service),
            service: service.clone(),
            lines: Vec::new(),
            heads: BTreeSet::new(),
            taken: None,
            arrivals: 0,
        }
    }

    /// Appends a packet; the caller has checked that it fits.
    #[inline]
    pub(super) fn push(&mut self, packet: Packet<B>) {
        let receiver = self.service.place(packet.to);
        if self.lines.len() <= receiver {
            self.lines.resize_with(receiver + 1, Train::default);
        }
        if self.lines[receiver].is_empty() {
            // Its last head may still be listed, and the MAC may take the new one next.
            self.update_heads();
            self.heads.insert((self.arrivals, packet.to));
        }
        self.lines[receiver].push_back((self.arrivals, packet));
        self.arrivals += 1;
    }

    /// Updates `heads` after `taken` was dequeued.
    fn update_heads(&mut self) {
        if let Some(taken) = self.taken.take() {
            self.heads.remove(&taken);
            let (_, receiver) = taken;
            if let Some(&(next, _)) = self.lines[self.service.place(receiver)].front() {
                self.heads.insert((next, receiver));
            }
        }
    }

    /// Dequeues the first packet for `receiver`, if it `fits`.
    fn take(&mut self, receiver: u32, fits: impl FnOnce(&Packet<B>) -> bool) -> Option<Packet<B>> {
        let mut taken = None;
        self.hand_over(receiver, fits, |packet| taken = Some(*packet));
        taken
    }

    /// Like [`Self::take`], but passes the packet to `take` without an extra copy. Returns false if
    /// there was none.
    #[inline(always)]
    pub(super) fn hand_over(
        &mut self,
        receiver: u32,
        fits: impl FnOnce(&Packet<B>) -> bool,
        take: impl FnOnce(&Packet<B>),
    ) -> bool {
        if self.taken.is_some_and(|(_, before)| before != receiver) {
            self.update_heads();
        }
        let Some(line) = self.lines.get_mut(self.service.place(receiver)) else { return false };
        let Some((number, packet)) = line.front().filter(|(_, head)| fits(head)) else {
            return false;
        };
        let number = *number;
        take(packet);
        line.remove_front();
        self.taken.get_or_insert((number, receiver));
        true
    }
}

impl<B: Inspect> Policy<B> for Lines<B> {
    fn enqueue(&mut self, _: Time, packet: Packet<B>, fill: Fill, drops: &mut Vec<Packet<B>>) {
        if fill.full {
            drops.push(packet);
        } else {
            self.push(packet);
        }
    }

    /// Without a receiver, dequeues the oldest packet of any, unless receivers share airtime.
    #[inline]
    fn next(&mut self, ask: &mut Ask<'_, B>, fits: impl Fits<B>) -> Option<Packet<B>> {
        let receiver = match ask.to {
            Some(to) => to,
            None => {
                self.update_heads();
                match self.turns {
                    Turns::Airtime(_) => Policy::<B>::receiver(self, std::iter::empty())?,
                    _ => self.heads.first()?.1,
                }
            }
        };
        self.take(receiver, fits)
    }

    fn receiver(&mut self, waiting: impl Iterator<Item = (u32, Option<Time>)>) -> Option<u32> {
        self.update_heads();
        let (lines, service) = (&self.lines, &self.service);
        let oldest_alone = matches!(self.turns, Turns::Oldest);
        let heads = self.heads.iter().take(if oldest_alone { 1 } else { usize::MAX });
        let here = heads.map(|&(_, receiver)| {
            let head = lines[service.place(receiver)].front();
            (receiver, head.map(|(_, packet)| packet.arrived))
        });
        self.turns.choose(waiting, here)
    }

    fn has_next_for(&self, receiver: u32) -> bool {
        self.lines.get(self.service.place(receiver)).is_some_and(|line| !line.is_empty())
    }

    fn charge(&mut self, now: Time, to: u32, airtime: Duration) {
        self.turns.charge(now, to, airtime);
    }

    fn filter(&mut self, rule: AckFilter, newer: &Packet<B>) -> Option<Packet<B>> {
        // `heads` must be current: packets may have arrived since one was dequeued.
        self.update_heads();
        let line = self.lines.get_mut(self.service.place(newer.to))?;
        let place = superseded(line.iter().map(|(_, packet)| packet), newer, rule)?;
        if place == 0 {
            return self.take(newer.to, |_| true);
        }
        Some(line.remove(place).1)
    }

    fn iter(&self) -> Box<dyn Iterator<Item = &Packet<B>> + '_> {
        Box::new(self.lines.iter().flat_map(Train::iter).map(|(_, packet)| packet))
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
        let mut lines = Lines::new(scheduler, &Served::default());
        for (to, id, micros) in [(2, 20, 1), (1, 10, 2), (2, 21, 3), (3, 30, 4), (1, 11, 5)] {
            lines.push(packet(to, id, micros));
        }
        lines
    }

    /// Drains the queue, receiver by receiver as the scheduler chooses.
    fn served(lines: &mut Lines<u32>) -> Vec<u32> {
        let mut served = Vec::new();
        while let Some(receiver) = lines.receiver(std::iter::empty()) {
            while let Some(packet) = lines.next(
                &mut Ask { to: Some(receiver), now: Time::ZERO, drops: &mut Vec::new() },
                |_| true,
            ) {
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
                    .next(
                        &mut Ask { to: Some(receiver), now: Time::ZERO, drops: &mut Vec::new() },
                        |_| true,
                    )
                    .map(|packet| packet.body),
            );
        }

        assert_eq!(turns, [10, 20, 30, 11, 21]);
    }

    /// A PPDU to several receivers takes packets without asking for a receiver first.
    #[test]
    fn an_emptied_line_that_fills_again_is_listed_once() {
        let mut lines = lines(Scheduler::Oldest {});
        for micros in [6, 7] {
            assert!(lines.take(3, |_| true).is_some());
            lines.push(packet(3, 31, micros));
        }
        assert!(lines.take(3, |_| true).is_some());

        assert!(!lines.has_next_for(3) && lines.has_next_for(2));
        assert_eq!(served(&mut lines), [20, 21, 10, 11]);
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
            lines
                .next(&mut Ask { to: None, now: Time::ZERO, drops: &mut Vec::new() }, |_| true)
                .map(|packet| packet.body)
        })
        .collect();

        assert_eq!(all, [20, 10, 21, 30, 11]);
        assert_eq!(lines.iter().count(), 0);
    }
}
