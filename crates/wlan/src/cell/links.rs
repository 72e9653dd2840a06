//! A cell as one of several links of its access point (802.11be). The stations of all links have
//! the same numbers. What a queue shares with its receivers is lent to the link that is played.

use airtcp_kernel::Time;

use super::{Cell, Mac};
use crate::config::OtherLinks;
use crate::events::Supply;
use crate::exchange::aggregate::Aggregate;
use crate::frame::Frames;
use crate::station::{ContenderId, StationId};

impl<P: Clone> Cell<P> {
    /// Makes cells with the same stations the links of one access point. `absent` has for each link
    /// the stations that do not have it. The first link has the state of all pairs of stations.
    ///
    /// # Panics
    /// If a cell does not aggregate frames.
    pub fn link(cells: &mut [&mut Self], absent: &[Vec<StationId>]) {
        for (number, cell) in cells.iter_mut().enumerate() {
            let Self { air, mac, .. } = &mut **cell;
            let Mac::Aggregate(one) = mac else { unreachable!("links aggregate frames") };
            match number {
                0 => one.become_first_link(air, absent),
                _ => one.become_link(number),
            }
        }
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
        supply: &S,
    ) {
        let Self { air, mac, .. } = self;
        let Mac::Aggregate(exchange) = mac else { unreachable!("links aggregate frames") };
        let is_shared = exchange.other_links() == OtherLinks::Shared;
        if !air.has_frame(exchange.as_ref(), contender, supply) {
            air.contention.withdraw(contender);
        } else if is_shared && (!is_arrival || exchange.is_held(contender)) {
            air.contention.frame_of_links(contender, now, is_arrival);
        } else {
            return air.frame_ready(contender, now);
        }
        air.look_for_access();
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
