//! A queue of packets that wait for the medium: first in, first out; with random early detection;
//! or a round robin over flows. The packet being sent keeps its place until it is done.

use std::collections::VecDeque;

use airtcp_kernel::{RandomStream, Time};

use crate::packet::Packet;
use crate::red::Red;
use crate::scenario::{Discipline, QueueConfig};

/// Packets that wait for the medium; the first is the one being sent.
#[derive(Debug)]
pub(crate) struct PacketQueue {
    limit: usize,
    order: Order,
}

#[derive(Debug)]
enum Order {
    Fifo(VecDeque<Packet>),
    Red(VecDeque<Packet>, Box<Red>),
    PerFlow(RoundRobin),
}

/// One queue for each flow, and whose turn it is.
#[derive(Debug, Default)]
struct RoundRobin {
    /// The packet being sent and its flow.
    serving: Option<(u32, Packet)>,
    /// By flow number.
    flows: Vec<VecDeque<Packet>>,
    /// Flows with a packet waiting, in the order of their turns.
    turns: VecDeque<u32>,
    len: usize,
}

impl PacketQueue {
    /// An empty queue; `stream` is what random early detection draws from.
    pub(crate) fn new(config: &QueueConfig, stream: impl FnOnce() -> RandomStream) -> Self {
        let order = match &config.discipline {
            Discipline::Fifo => Order::Fifo(VecDeque::new()),
            Discipline::Red(parameters) => {
                Order::Red(VecDeque::new(), Box::new(Red::new(parameters.clone(), stream())))
            }
            Discipline::PerFlow => Order::PerFlow(RoundRobin::default()),
        };
        Self { limit: config.limit.unwrap_or(usize::MAX), order }
    }

    /// Whether one more packet fits.
    pub(crate) fn has_room(&self) -> bool {
        self.len() < self.limit
    }

    /// Puts a packet of `flow` at the end of its queue. Returns what is dropped for it: the
    /// packet itself, or, where flows have queues of their own, the last of the longest one.
    #[inline]
    pub(crate) fn offer(&mut self, now: Time, flow: u32, packet: Packet) -> Option<Packet> {
        let full = !self.has_room();
        match &mut self.order {
            Order::Fifo(packets) => {
                if full {
                    return Some(packet);
                }
                packets.push_back(packet);
                None
            }
            Order::Red(packets, red) => {
                if red.drops(now, packets.len()) || full {
                    return Some(packet);
                }
                packets.push_back(packet);
                None
            }
            Order::PerFlow(round_robin) => {
                round_robin.push(flow, packet);
                if full { round_robin.drop_from_longest() } else { None }
            }
        }
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<&Packet> {
        match &self.order {
            Order::Fifo(packets) | Order::Red(packets, _) => packets.front(),
            Order::PerFlow(round_robin) => round_robin.serving.as_ref().map(|(_, packet)| packet),
        }
    }

    #[inline]
    pub(crate) fn pop(&mut self, now: Time) -> Option<Packet> {
        match &mut self.order {
            Order::Fifo(packets) => packets.pop_front(),
            Order::Red(packets, red) => {
                let packet = packets.pop_front();
                if packets.is_empty() {
                    red.on_empty(now);
                }
                packet
            }
            Order::PerFlow(round_robin) => round_robin.pop(),
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        match &self.order {
            Order::Fifo(packets) | Order::Red(packets, _) => packets.len(),
            Order::PerFlow(round_robin) => round_robin.len,
        }
    }

    /// All packets; the one being sent comes first.
    pub(crate) fn iter(&self) -> Box<dyn Iterator<Item = &Packet> + '_> {
        match &self.order {
            Order::Fifo(packets) | Order::Red(packets, _) => Box::new(packets.iter()),
            Order::PerFlow(round_robin) => {
                let serving = round_robin.serving.iter().map(|(_, packet)| packet);
                Box::new(serving.chain(round_robin.flows.iter().flatten()))
            }
        }
    }
}

impl RoundRobin {
    fn push(&mut self, flow: u32, packet: Packet) {
        self.len += 1;
        if self.serving.is_none() {
            self.serving = Some((flow, packet));
            return;
        }
        if self.flows.len() <= flow as usize {
            self.flows.resize_with(flow as usize + 1, VecDeque::new);
        }
        let queue = &mut self.flows[flow as usize];
        if queue.is_empty() {
            self.turns.push_back(flow);
        }
        queue.push_back(packet);
    }

    fn pop(&mut self) -> Option<Packet> {
        let (_, packet) = self.serving.take()?;
        self.len -= 1;
        if let Some(flow) = self.turns.pop_front() {
            let queue = &mut self.flows[flow as usize];
            self.serving = queue.pop_front().map(|next| (flow, next));
            if !queue.is_empty() {
                self.turns.push_back(flow);
            }
        }
        Some(packet)
    }

    /// The last packet of the longest queue, that of the first turn among equals (McKenney 1990).
    fn drop_from_longest(&mut self) -> Option<Packet> {
        let flows = &self.flows;
        let place = (0..self.turns.len())
            .rev()
            .max_by_key(|&place| flows[self.turns[place] as usize].len())?;
        let queue = &mut self.flows[self.turns[place] as usize];
        let packet = queue.pop_back();
        if queue.is_empty() {
            self.turns.remove(place);
        }
        self.len -= 1;
        packet
    }
}

#[cfg(test)]
mod tests {
    use airtcp_tcp::{Flags, Segment};

    use super::*;
    use crate::packet::Owner;

    fn packet(seq: u64) -> Packet {
        let segment = Segment { seq, ack: 0, len: 1460, flags: Flags::NONE };
        Packet { segment, owner: Owner::Datagrams(0), hop: 0 }
    }

    fn queue(discipline: Discipline, limit: Option<usize>) -> PacketQueue {
        PacketQueue::new(&QueueConfig { discipline, limit }, || unreachable!("not random"))
    }

    fn drain(queue: &mut PacketQueue) -> Vec<u64> {
        std::iter::from_fn(|| queue.pop(Time::ZERO).map(|packet| packet.segment.seq)).collect()
    }

    #[test]
    fn flows_take_turns() {
        let mut queue = queue(Discipline::PerFlow, None);
        for (flow, seq) in [(7, 70), (7, 71), (7, 72), (2, 20), (2, 21), (5, 50)] {
            assert!(queue.offer(Time::ZERO, flow, packet(seq)).is_none());
        }

        assert_eq!(queue.len(), 6);
        assert_eq!(drain(&mut queue), [70, 71, 20, 50, 72, 21]);
    }

    #[test]
    fn an_overflow_costs_the_longest_flow_its_last_packet() {
        let mut queue = queue(Discipline::PerFlow, Some(4));
        for seq in [70, 71, 72, 73] {
            assert!(queue.offer(Time::ZERO, 7, packet(seq)).is_none());
        }

        let dropped = queue.offer(Time::ZERO, 2, packet(20)).unwrap();

        assert_eq!(dropped.segment.seq, 73);
        assert_eq!(queue.len(), 4);
        assert_eq!(queue.iter().count(), 4);
        assert_eq!(drain(&mut queue), [70, 71, 20, 72]);
    }

    /// The packet being sent cannot be taken back; with room for it alone the newcomer goes.
    #[test]
    fn the_packet_being_sent_is_never_dropped() {
        let mut queue = queue(Discipline::PerFlow, Some(1));
        queue.offer(Time::ZERO, 7, packet(70));

        assert_eq!(queue.offer(Time::ZERO, 7, packet(71)).unwrap().segment.seq, 71);
        assert_eq!(queue.first().unwrap().segment.seq, 70);
    }

    #[test]
    fn a_full_fifo_drops_what_arrives() {
        let mut queue = queue(Discipline::Fifo, Some(2));
        for seq in [1, 2] {
            assert!(queue.offer(Time::ZERO, 0, packet(seq)).is_none());
        }

        assert_eq!(queue.offer(Time::ZERO, 0, packet(3)).unwrap().segment.seq, 3);
        assert_eq!(drain(&mut queue), [1, 2]);
    }
}
