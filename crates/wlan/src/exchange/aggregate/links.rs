//! Several links of a pair of stations (IEEE Std 802.11be-2024, 35.3): each link is a medium with
//! its own contention, and one set of peers is lent to the link that has the next event.

use super::{Aggregate, Sends};
use crate::config::OtherLinks;
use crate::events::Supply;
use crate::exchange::{Air, Desk, OnAir, Roles};
use crate::frame::Emlsr;
use crate::peer::Peer;
use crate::sequence::ht::HtExchange;
use crate::station::{ACCESS_POINT, ContenderId, EVERYBODY, StationId};

/// The place of a medium among the links of its access point.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) number: usize,
    /// Whether there are other links.
    pub(super) is_one_of_several: bool,
    /// The contenders whose frames other links may have gained or lost.
    changed: Vec<ContenderId>,
    others: OtherLinks,
    /// By rate class, the exchanges of the access point with stations that have one radio for
    /// several links; empty if there are none.
    initiated: Vec<Option<HtExchange>>,
    /// By contender, the receiver of its last exchange, if there are such stations.
    served: Vec<StationId>,
}

impl Link {
    /// Creates the place of a medium that is not one of several links.
    pub(super) fn new(others: OtherLinks) -> Self {
        let (changed, initiated, served) = (Vec::new(), Vec::new(), Vec::new());
        Self { number: 0, is_one_of_several: false, changed, others, initiated, served }
    }

    /// Returns the exchanges of `by`, the access point or not, with `receiver` if the next one
    /// begins with an initial control frame (IEEE Std 802.11be-2024, 35.3.17): not if it `continues`
    /// a TXOP in which the receiver was the last one.
    #[inline]
    pub(super) fn initiates(
        &mut self,
        (by, is_access_point): (ContenderId, bool),
        (receiver, class): (StationId, u32),
        continues: bool,
    ) -> Option<&HtExchange> {
        let exchange = self.initiated.get(class as usize)?.as_ref();
        let last = std::mem::replace(&mut self.served[by as usize], receiver);
        exchange.filter(|_| is_access_point && !(continues && last == receiver))
    }

    #[cold]
    #[inline(never)]
    fn add(&mut self, by: ContenderId) {
        self.changed.push(by);
    }
}

impl<P: Clone> Aggregate<P> {
    /// Makes this the first of several links, each with the stations that do not have it. The first
    /// link has the peers of all links.
    pub(crate) fn become_first_link(&mut self, air: &Air<P>, absent: &[Vec<StationId>]) {
        self.link.is_one_of_several = absent.len() > 1;
        for (peers, originator) in self.peers.iter_mut().zip(&air.originators) {
            peers.share(absent.len(), |receiver, link| {
                absent[link].contains(&air.roles.far(originator.station, receiver))
            });
        }
    }

    /// Makes this the link with this number, which is not the first.
    pub(crate) fn become_link(&mut self, number: usize) {
        self.link.number = number;
        self.link.is_one_of_several = true;
        self.peers.clear();
    }

    /// Lets exchanges of the access point with stations of these rate classes begin with an initial
    /// control frame.
    pub(crate) fn initiate(&mut self, emlsr: &[Option<Emlsr>]) {
        let initiated = self.exchanges.iter().zip(emlsr);
        let initiated = initiated.map(|(one, emlsr)| Some(one.initiated(emlsr.as_ref()?)));
        self.link.initiated = initiated.collect();
        self.link.served = vec![EVERYBODY; self.queues.len()];
    }

    /// Sets whether the link is absent for frames of `by`, the access point or a station, from or
    /// to `station`.
    pub(crate) fn set_absent(
        &mut self,
        air: &Air<P>,
        by: ContenderId,
        station: StationId,
        is_absent: bool,
    ) {
        let from_it = air.originators[by as usize].station == station;
        let receiver = if from_it { ACCESS_POINT } else { station };
        let window = &mut self.peers[by as usize].of_mut(receiver).window;
        window.on_mut(self.link.number).is_absent = is_absent;
    }

    /// Iterates over the stations that send or receive what is on the air, each with whether its
    /// radio detects the frame: a receiver does not detect a frame that collides.
    pub(crate) fn engaged<'a>(
        &'a self,
        air: &'a Air<P>,
    ) -> impl Iterator<Item = (StationId, bool)> {
        let is_silent = matches!(air.on_air, OnAir::Silence);
        let all = if is_silent { &[] } else { air.medium.transmissions() };
        all.iter().filter_map(move |one| {
            let sender = air.originators[one.by as usize].station;
            if air.roles.is_access_point(sender) {
                let receiver = match self.queues[one.by as usize].sends {
                    Sends::Request(receiver) => receiver,
                    _ => air.originators[one.by as usize].frames()?.receiver(),
                };
                Some((receiver, all.len() == 1))
            } else {
                Some((sender, true))
            }
        })
    }

    /// Exchanges the peers with another link. One of the two has them.
    pub(crate) fn swap_peers(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.peers, &mut other.peers);
    }

    /// Returns and forgets the contenders whose frames other links may have gained or lost.
    pub(crate) fn take_changed(&mut self) -> Vec<ContenderId> {
        std::mem::take(&mut self.link.changed)
    }

    /// Returns what frames that other links hold mean for the access of their queue.
    pub(crate) fn other_links(&self) -> OtherLinks {
        self.link.others
    }

    /// Returns whether any link holds frames of `by`.
    pub(crate) fn is_held(&self, by: ContenderId) -> bool {
        self.peers[by as usize].iter().any(|peer| peer.window.oldest_held().is_some())
    }

    /// Records that frames of `by` were taken or returned, or that its window has moved.
    #[inline]
    pub(super) fn changes(&mut self, by: ContenderId) {
        if self.link.is_one_of_several {
            self.link.add(by);
        }
    }

    /// Records that `receiver` has responded to `by`. A Block ACK on any of several links reports
    /// what was received on all of them (IEEE Std 802.11be-2024, 35.3.8).
    #[cold]
    #[inline(never)]
    pub(super) fn link_is_answered(
        &mut self,
        by: ContenderId,
        receiver: StationId,
        is_block_ack: bool,
    ) {
        let link = self.link.number;
        let Peer { window, recipient, .. } = self.peers[by as usize].of_mut(receiver);
        window.on_mut(link).oldest = None;
        if is_block_ack {
            window.report(recipient.next());
        }
        self.link.add(by);
    }

    /// Returns a receiver of `by` to which this link may send a new packet.
    // Out of line, like all that only several links need: the code of one link is faster without.
    #[cold]
    #[inline(never)]
    pub(super) fn open_receiver<S: Supply<P>>(
        &self,
        (station, roles): (StationId, &Roles),
        by: ContenderId,
        supply: &S,
    ) -> Option<StationId> {
        let mut peers = self.peers[by as usize].iter();
        let open = peers.find(|peer| self.is_open((station, roles), by, peer, supply))?;
        Some(open.window.receiver)
    }

    fn is_open<S: Supply<P>>(
        &self,
        (station, roles): (StationId, &Roles),
        by: ContenderId,
        Peer { window, .. }: &Peer<P>,
        supply: &S,
    ) -> bool {
        let receiver = window.receiver;
        let class = roles.rate_class(station, receiver);
        window.is_open_on(self.link.number, self.exchanges[class as usize].window())
            && supply.has_next_for(by, receiver)
    }
}

impl<P: Clone, S: Supply<P>> Desk<'_, P, Aggregate<P>, S> {
    /// Returns the receiver of `by` on this link: the one that its queue chooses, or another one if
    /// that has no room in its window. A packet that another link sends still waits in the queue, so
    /// the receiver of the oldest packet is often the same on all links.
    #[cold]
    #[inline(never)]
    pub(super) fn receiver_here(&mut self, by: ContenderId) -> Option<StationId> {
        let (peers, link) = (&self.mac.peers[by as usize], self.mac.link.number);
        let of = (self.originators[by as usize].station, self.roles);
        let waiting: Vec<(StationId, Option<P>)> = peers
            .iter()
            .filter_map(|peer| {
                let (window, oldest) = (&peer.window, peer.window.oldest_held());
                let oldest = if window.has_work_on(link) {
                    window.oldest(link).and(oldest)
                } else {
                    Some(oldest.filter(|_| self.mac.is_open(of, by, peer, self.supply))?)
                };
                Some((window.receiver, oldest.map(|mpdu| mpdu.payload.clone())))
            })
            .collect();
        let oldest = waiting.iter().map(|(receiver, payload)| (*receiver, payload.as_ref()));
        let chosen = self.supply.receiver(by, oldest).expect("who contends has a frame");
        let peer = peers.of(chosen);
        if peer.window.has_work_on(link) || self.mac.is_open(of, by, peer, self.supply) {
            return Some(chosen);
        }
        let pending = peers.pending(link).next().map(|one| one.window.receiver);
        pending.or_else(|| self.mac.open_receiver(of, by, self.supply))
    }
}
