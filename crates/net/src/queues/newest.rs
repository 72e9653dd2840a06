//! Last in, first out; what does not fit is dropped on arrival.

use airtcp_kernel::Time;

use super::{Fill, Policy};
use crate::Packet;

/// Packets in the order of their arrival.
#[derive(Debug)]
pub(super) struct Newest<B>(Vec<Packet<B>>);

impl<B> Default for Newest<B> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<B> Policy<B> for Newest<B> {
    fn enqueue(&mut self, _: Time, packet: Packet<B>, fill: Fill, drops: &mut Vec<Packet<B>>) {
        if fill.full {
            drops.push(packet);
        } else {
            self.0.push(packet);
        }
    }

    fn next(
        &mut self,
        _: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        _: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>> {
        if fits(self.0.last()?) { self.0.pop() } else { None }
    }

    fn receiver(&mut self, mut waiting: impl Iterator<Item = (u32, Option<Time>)>) -> Option<u32> {
        let newest = self.0.last().map(|packet| packet.to);
        waiting.next().map(|(receiver, _)| receiver).or(newest)
    }

    fn next_for(
        &mut self,
        receiver: u32,
        _: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        _: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>> {
        let place = self.0.iter().rposition(|packet| packet.to == receiver)?;
        if fits(&self.0[place]) { Some(self.0.remove(place)) } else { None }
    }

    fn iter(&self) -> Box<dyn Iterator<Item = &Packet<B>> + '_> {
        Box::new(self.0.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_goes_first_and_of_one_receiver_too() {
        let mut queue = Newest::default();
        for (to, body) in [(1, 10), (2, 20), (1, 11), (2, 21)] {
            let packet = Packet { bits: 8, arrived: Time::ZERO, flow: 0, to, body };
            queue.enqueue(Time::ZERO, packet, Fill { len: 0, full: false }, &mut Vec::new());
        }

        let drops = &mut Vec::new();
        assert_eq!(queue.next_for(1, Time::ZERO, |_| true, drops).map(|p| p.body), Some(11));
        let rest: Vec<_> = std::iter::from_fn(|| queue.next(Time::ZERO, |_| true, drops))
            .map(|packet| packet.body)
            .collect();
        assert_eq!(rest, [21, 20, 10]);
    }
}
