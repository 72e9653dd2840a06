//! One direction of a wired link: a queue, a transmitter of constant rate, and a delay.
//!
//! Packets keep their order, so when a packet leaves and arrives is known when it comes; one
//! pending event, for the first arrival, is enough.

use std::collections::VecDeque;

use airtcp_kernel::{Duration, Time};

use crate::packet::Packet;
use crate::scenario::LinkConfig;

/// One direction of a wired link.
#[derive(Debug)]
pub(crate) struct Wire {
    name: String,
    rate_bps: Option<u64>,
    delay: Duration,
    limit: usize,
    free_at: Time,
    /// When those packets leave that wait or are being sent.
    departures: VecDeque<Time>,
    /// Packets that have not arrived yet, and when they will.
    travelling: VecDeque<(Time, Packet)>,
}

/// What became of a packet offered to a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offered {
    /// The queue was full.
    Dropped,
    /// It arrives after others, for which an event is pending.
    Behind,
    /// It arrives next, at this time.
    Next(Time),
}

impl Wire {
    pub(crate) fn new(name: String, config: &LinkConfig) -> Self {
        Self {
            name,
            rate_bps: config.rate_bps,
            delay: config.delay,
            limit: config.queue.unwrap_or(usize::MAX),
            free_at: Time::ZERO,
            departures: VecDeque::new(),
            travelling: VecDeque::new(),
        }
    }

    /// The name of its link and its direction.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Packets that waited or were being sent just before `now`; `None` if it has no queue.
    pub(crate) fn queued_before(&self, now: Time) -> Option<usize> {
        let gone = self.departures.partition_point(|&departure| departure < now);
        self.rate_bps.map(|_| self.departures.len() - gone)
    }

    /// Takes a packet of `bits` bits, if it fits.
    pub(crate) fn offer(&mut self, now: Time, packet: Packet, bits: u64) -> Offered {
        let left = match self.rate_bps {
            None => now,
            Some(rate_bps) => {
                while self.departures.front().is_some_and(|&departure| departure <= now) {
                    self.departures.pop_front();
                }
                if self.departures.len() >= self.limit {
                    return Offered::Dropped;
                }
                let airtime = Duration::from_nanos((bits * 1_000_000_000).div_ceil(rate_bps));
                self.free_at = self.free_at.max(now) + airtime;
                self.departures.push_back(self.free_at);
                self.free_at
            }
        };
        let arrival = left + self.delay;
        self.travelling.push_back((arrival, packet));
        if self.travelling.len() == 1 { Offered::Next(arrival) } else { Offered::Behind }
    }

    /// The packet that arrives now, and when the next one will.
    pub(crate) fn arrive(&mut self) -> (Packet, Option<Time>) {
        let (_, packet) = self.travelling.pop_front().expect("an arrival has a packet");
        (packet, self.travelling.front().map(|(arrival, _)| *arrival))
    }

    /// Packets that have not arrived yet.
    pub(crate) fn travelling(&self) -> impl Iterator<Item = &Packet> {
        self.travelling.iter().map(|(_, packet)| packet)
    }
}

#[cfg(test)]
mod tests {
    use airtcp_tcp::{Flags, Segment};

    use super::*;
    use crate::packet::Owner;

    fn packet() -> Packet {
        let segment = Segment { seq: 0, ack: 0, len: 1460, flags: Flags::NONE };
        Packet { segment, owner: Owner::Connection(0), hop: 0 }
    }

    /// 12000 bits at 1 Mb/s take 12 ms each, and 5 ms to arrive.
    #[test]
    fn packets_leave_one_after_the_other_and_overflow_the_queue() {
        let link = LinkConfig {
            rate_bps: Some(1_000_000),
            delay: Duration::from_millis(5),
            queue: Some(2),
        };
        let mut wire = Wire::new("uplink".into(), &link);
        let at = |millis| Time::ZERO + Duration::from_millis(millis);

        assert_eq!(wire.offer(at(0), packet(), 12_000), Offered::Next(at(17)));
        assert_eq!(wire.offer(at(1), packet(), 12_000), Offered::Behind);
        assert_eq!(wire.offer(at(11), packet(), 12_000), Offered::Dropped);
        // At 12 ms the first has left; the third follows the second, which leaves at 24 ms.
        assert_eq!(wire.offer(at(12), packet(), 12_000), Offered::Behind);
        let queued = [12, 13, 24, 25].map(|millis| wire.queued_before(at(millis)));
        assert_eq!(queued, [2, 2, 2, 1].map(Some));
        assert_eq!(wire.arrive().1, Some(at(29)));
        assert_eq!(wire.arrive().1, Some(at(41)));
        assert_eq!(wire.arrive().1, None);
    }

    #[test]
    fn a_link_without_rate_only_delays() {
        let link = LinkConfig { rate_bps: None, delay: Duration::from_millis(5), queue: None };
        let mut wire = Wire::new("uplink".into(), &link);

        let offered = wire.offer(Time::ZERO, packet(), 12_000);

        assert_eq!(offered, Offered::Next(Time::ZERO + Duration::from_millis(5)));
        assert_eq!(wire.queued_before(Time::ZERO), None);
    }
}
