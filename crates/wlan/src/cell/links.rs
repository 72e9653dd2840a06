//! A cell as one of several links of its access point (802.11be). The stations of all links have
//! the same numbers. What a queue shares with its receivers is lent to the link that is played.

use airtcp_kernel::Time;

use super::{Cell, Mac};
use crate::config::OtherLinks;
use crate::events::Supply;
use crate::exchange::Play;
use crate::exchange::aggregate::Aggregate;
use crate::frame::{Emlsr, Frames};
use crate::station::{ContenderId, StationId};

impl<P: Clone> Cell<P> {
    /// Makes cells with the same stations the links of one access point. `absent` has for each link
    /// the stations that do not have it, and `emlsr` for each rate class how its stations switch
    /// their only radio; empty if none has to. The first link has the state of all pairs of
    /// stations.
    ///
    /// # Panics
    /// If a cell does not aggregate frames.
    pub fn link(cells: &mut [&mut Self], absent: &[Vec<StationId>], emlsr: &[Option<Emlsr>]) {
        for (number, cell) in cells.iter_mut().enumerate() {
            let Self { air, mac, .. } = &mut **cell;
            let Mac::Aggregate(one) = mac else { unreachable!("links aggregate frames") };
            match number {
                0 => one.become_first_link(air, absent),
                _ => one.become_link(number),
            }
            if !emlsr.is_empty() {
                one.initiate(emlsr);
            }
        }
    }

    /// Returns the queues of a station, in the order of their numbers.
    pub fn queues_of(&self, station: StationId) -> Vec<ContenderId> {
        let all = (0..).zip(&self.air.originators);
        all.filter(|(_, one)| one.station == station).map(|(id, _)| id).collect()
    }

    /// Iterates over the stations that send or receive what is on the air, the access point aside.
    /// The flag is false for the receiver of a frame that collides: it does not detect the frame.
    pub fn engaged(&self) -> impl Iterator<Item = (StationId, bool)> {
        self.aggregate().into_iter().flat_map(|one| one.engaged(&self.air))
    }

    /// Stops frames from and to `station`, whose radio is on another link from `now` on. Returns
    /// the slots that are left of the backoffs of its queues `own`.
    pub fn depart(
        &mut self,
        (station, own): (StationId, &[ContenderId]),
        of_access_point: &[ContenderId],
        now: Time,
    ) -> Vec<Option<u32>> {
        self.set_absent(station, own.iter().chain(of_access_point), true);
        let left = own.iter().map(|&id| self.air.contention.leave(id, now)).collect();
        self.air.look_for_access();
        left
    }

    /// Continues with `station`, which listens on this link again. `left` is what is left of the
    /// backoffs of its queues `own`.
    pub fn come_back<S: Supply<P>>(
        &mut self,
        (station, own): (StationId, &[ContenderId]),
        left: &[Option<u32>],
        of_access_point: &[ContenderId],
        now: Time,
        supply: &mut S,
    ) {
        self.set_absent(station, own.iter().chain(of_access_point), false);
        let Self { air, mac, .. } = self;
        let Mac::Aggregate(mac) = mac else { unreachable!("links aggregate frames") };
        let play = Play { air, mac: &mut **mac, supply };
        for (&id, &left) in own.iter().zip(left) {
            let has_frame = play.has_frame(id);
            play.air.contention.come_back(id, left, has_frame, now);
        }
        play.air.look_for_access();
        for &id in of_access_point {
            if play.has_frame(id) {
                play.air.frame_ready(id, now);
            }
        }
    }

    fn set_absent<'a>(
        &mut self,
        station: StationId,
        queues: impl Iterator<Item = &'a ContenderId>,
        is_absent: bool,
    ) {
        let Self { air, mac, .. } = self;
        let Mac::Aggregate(exchange) = mac else { unreachable!("links aggregate frames") };
        queues.for_each(|&id| exchange.set_absent(air, id, station, is_absent));
    }

    /// Lends the state of pairs of stations to another link.
    pub fn lend_peers(&mut self, to: &mut Self) {
        if let (Mac::Aggregate(one), Mac::Aggregate(other)) = (&mut self.mac, &mut to.mac) {
            one.swap_peers(other);
        }
    }

    /// Returns the queues whose frames other links may have gained or lost since the last call.
    pub fn take_changed(&mut self) -> Vec<ContenderId> {
        if let Mac::Aggregate(one) = &mut self.mac { one.take_changed() } else { Vec::new() }
    }

    /// Starts or ends contention for `contender`, whose frames have changed: a packet has arrived,
    /// or frames of other links have.
    pub fn reconsider<S: Supply<P>>(
        &mut self,
        contender: ContenderId,
        now: Time,
        is_arrival: bool,
        supply: &mut S,
    ) {
        let Self { air, mac, .. } = self;
        let Mac::Aggregate(mac) = mac else { unreachable!("links aggregate frames") };
        let play = Play { air, mac: &mut **mac, supply };
        let is_shared = play.mac.other_links() == OtherLinks::Shared;
        if !play.has_frame(contender) {
            play.air.contention.withdraw(contender);
        } else if is_shared && (!is_arrival || play.mac.is_held(contender)) {
            play.air.contention.frame_of_links(contender, now, is_arrival);
        } else {
            return play.air.frame_ready(contender, now);
        }
        play.air.look_for_access();
    }

    /// Checks the counters of `contender` on all its links. Every attempt has ended or is on the
    /// air. Every dequeued frame was acknowledged, given up, or is still held.
    ///
    /// # Errors
    /// The violated invariant.
    pub fn check_laws_of(links: &[&Self], contender: ContenderId) -> Result<(), String> {
        let originators = links.iter().map(|one| &one.air.originators[contender as usize]);
        let on_air: Vec<Frames<'_, P>> =
            originators.clone().filter_map(|one| one.frames()).collect();
        let (mut handed_over, mut done, mut held) = (0, 0, 0);
        for (link, originator) in links.iter().zip(originators) {
            link.counters(contender).check_attempts(link.is_on_air(contender))?;
            link.aggregate()
                .map_or(Ok(()), |one: &Aggregate<P>| one.check_laws(contender, &on_air))?;
            handed_over += originator.next_id;
            done += originator.done;
            held += link.held(contender).count() as u64;
        }
        if handed_over == done + held {
            Ok(())
        } else {
            Err(format!("of {handed_over} frames {done} are done and {held} held"))
        }
    }
}
