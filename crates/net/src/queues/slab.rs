//! Linked lists of packets in one shared block of memory. Each list is a FIFO.
//!
//! The place that was freed last is reused first, so that few places are in use however many lists
//! there are.

use crate::Packet;

/// Index that stands for "no place".
pub(super) const NONE: u32 = u32::MAX;

/// The first and last places of a list. If the list is empty, `head` is `NONE` and `tail` is
/// meaningless.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    head: u32,
    tail: u32,
}

impl Default for Line {
    fn default() -> Self {
        Self { head: NONE, tail: NONE }
    }
}

impl Line {
    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.head == NONE
    }

    /// Whether it has at most one packet.
    pub(super) fn is_short(self) -> bool {
        self.head == NONE || self.head == self.tail
    }
}

#[derive(Debug)]
struct Node<B> {
    packet: Packet<B>,
    /// The next place in its list, or in the list of free places.
    next: u32,
    /// The previous place in its list, unless it is the first.
    previous: u32,
}

/// The shared memory of the lists.
#[derive(Debug)]
pub(super) struct Slab<B> {
    nodes: Vec<Node<B>>,
    /// The place freed last.
    free: u32,
}

impl<B> Default for Slab<B> {
    fn default() -> Self {
        Self { nodes: Vec::new(), free: NONE }
    }
}

impl<B: Copy> Slab<B> {
    /// Appends a packet to a list.
    #[inline]
    pub(super) fn push(&mut self, line: &mut Line, packet: Packet<B>) {
        let (place, previous) = (self.free, line.tail);
        let place = match self.nodes.get_mut(place as usize) {
            Some(node) => {
                self.free = node.next;
                *node = Node { packet, next: NONE, previous };
                place
            }
            None => self.add(packet, previous),
        };
        if line.is_empty() {
            line.head = place;
        } else {
            self.nodes[previous as usize].next = place;
        }
        line.tail = place;
    }

    #[cold]
    fn add(&mut self, packet: Packet<B>, previous: u32) -> u32 {
        let place = self.nodes.len() as u32;
        assert!(place < NONE, "too many packets");
        self.nodes.push(Node { packet, next: NONE, previous });
        place
    }

    /// Returns the first packet of a list.
    #[inline]
    pub(super) fn front(&self, line: Line) -> Option<&Packet<B>> {
        self.nodes.get(line.head as usize).map(|node| &node.packet)
    }

    #[inline]
    pub(super) fn front_mut(&mut self, line: Line) -> Option<&mut Packet<B>> {
        self.nodes.get_mut(line.head as usize).map(|node| &mut node.packet)
    }

    /// Removes and returns the first packet of a list.
    #[inline]
    pub(super) fn pop(&mut self, line: &mut Line) -> Option<Packet<B>> {
        let place = line.head;
        let node = self.nodes.get_mut(place as usize)?;
        line.head = node.next;
        node.next = self.free;
        self.free = place;
        Some(node.packet)
    }

    /// Removes and returns the last packet of a list.
    pub(super) fn pop_back(&mut self, line: &mut Line) -> Option<Packet<B>> {
        if line.is_short() {
            return self.pop(line);
        }
        let place = line.tail;
        let node = &mut self.nodes[place as usize];
        let packet = node.packet;
        line.tail = node.previous;
        node.next = self.free;
        self.free = place;
        self.nodes[line.tail as usize].next = NONE;
        Some(packet)
    }

    /// Removes and returns the packet of a list that has `before` packets ahead of it.
    pub(super) fn remove(&mut self, line: &mut Line, before: usize) -> Option<Packet<B>> {
        let Some(ahead) = before.checked_sub(1) else { return self.pop(line) };
        let (place, _) = self.walk(*line).nth(ahead)?;
        let removed = self.nodes[place as usize].next;
        if removed == line.tail {
            return self.pop_back(line);
        }
        let Node { packet, next, .. } = *self.nodes.get(removed as usize)?;
        self.nodes[place as usize].next = next;
        self.nodes[next as usize].previous = place;
        self.nodes[removed as usize].next = self.free;
        self.free = removed;
        Some(packet)
    }

    /// Iterates over the packets of a list from first to last.
    pub(super) fn iter(&self, line: Line) -> impl Iterator<Item = &Packet<B>> {
        self.walk(line).map(|(_, packet)| packet)
    }

    fn walk(&self, line: Line) -> impl Iterator<Item = (u32, &Packet<B>)> {
        let mut place = line.head;
        std::iter::from_fn(move || {
            let node = self.nodes.get(place as usize)?;
            Some((std::mem::replace(&mut place, node.next), &node.packet))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use airtcp_kernel::{RandomStream, Time};

    use super::*;

    /// Compares random pushes and removals with standard queues.
    #[test]
    fn lines_keep_their_order_in_shared_memory() {
        let mut stream = RandomStream::new(1, 0, "test", "slab");
        let mut slab = Slab::<u32>::default();
        let mut lines = [Line::default(); 5];
        let mut expected: [VecDeque<u32>; 5] = Default::default();
        for id in 0..50_000 {
            let at = stream.up_to(4) as usize;
            let (line, beside) = (&mut lines[at], &mut expected[at]);
            let body = |packet: Option<Packet<u32>>| packet.map(|packet| packet.body);
            match stream.up_to(6) {
                0..3 => {
                    let packet = Packet { bits: 1, arrived: Time::ZERO, flow: 0, to: 0, body: id };
                    slab.push(line, packet);
                    beside.push_back(id);
                }
                3 | 4 => assert_eq!(body(slab.pop(line)), beside.pop_front()),
                5 => assert_eq!(body(slab.pop_back(line)), beside.pop_back()),
                _ => {
                    let before = stream.up_to(3) as usize;
                    assert_eq!(body(slab.remove(line, before)), beside.remove(before));
                }
            }
            assert_eq!(slab.front(*line).map(|packet| packet.body), beside.front().copied());
            assert_eq!((line.is_empty(), line.is_short()), (beside.is_empty(), beside.len() < 2));
            assert!(slab.iter(*line).map(|packet| packet.body).eq(beside.iter().copied()));
        }
        let most = slab.nodes.len();
        let mut places: Vec<u32> =
            lines.iter().flat_map(|&line| slab.walk(line)).map(|(at, _)| at).collect();
        let mut free = slab.free;
        while free != NONE {
            places.push(free);
            free = slab.nodes[free as usize].next;
        }
        places.sort_unstable();
        assert!(places.into_iter().eq(0..most as u32), "each place is in one line, or free");
    }
}
