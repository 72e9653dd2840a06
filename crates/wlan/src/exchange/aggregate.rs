//! The exchanges of 802.11n and later: A-MPDUs to one receiver, Block ACKs, selective
//! retransmission, and release in order (IEEE Std 802.11-2020, 10.12, 10.25).
//!
//! A queue that has won access releases as many packets for one receiver as fit. Unacknowledged
//! frames go back ahead of the queue, to the frames that wait for that receiver. Block ACK
//! agreements exist from the start. Block ACKs and their requests are lost only in collisions.

mod assembly;
mod links;
mod narrow;
mod ofdma;
mod outcome;

use std::collections::BTreeMap;

use airtcp_kernel::{Duration, Time};

pub(crate) use assembly::set_arrivals;
use links::Link;
use ofdma::Ofdma;

use super::air::limit;
use super::{Air, Exchange, Failure, OnAir, Play, Roles};
use crate::config::{Delivery, FailedBlockAck, MacConfig, NarrowCollider, PairConfig};
use crate::contention::{ContenderConfig, Retry};
use crate::events::{Began, MacEvent, Supply, TriggeredPsdu};
use crate::frame::block_ack::{Books, ReorderBuffer, TransmitWindow};
use crate::frame::{Frames, Mpdu, Ppdu, UserPsdu};
use crate::peer::{Peer, Peers};
use crate::phy::{PhyConfig, Rate};
use crate::rate_control::{Choice, Cost, Minstrel, RateControlConfig};
use crate::sequence::dcf::FrameTimes;
use crate::sequence::ht::HtExchange;
use crate::station::{ContenderId, StationId};

/// The exchange logic of a cell with aggregation, and the state of its queues for each receiver.
#[derive(Debug)]
pub(crate) struct Aggregate<P> {
    /// Exchanges by rate class.
    exchanges: Vec<HtExchange>,
    /// For stations with rate control: the class of their first rate, and the loss probability of
    /// 1500-byte MPDUs at each rate.
    controlled: Vec<Option<(u32, Vec<f64>)>>,
    /// The peers of each queue.
    peers: Vec<Peers<P>>,
    queues: Vec<AggregatingQueue>,
    failed_block_ack: FailedBlockAck,
    delivery: Delivery,
    narrow_collider: NarrowCollider,
    /// The arrival times of the frames of the PPDU on the air, in order; empty if all are delivered
    /// at its end.
    arrivals: Vec<Time>,
    /// The number of frames that have arrived.
    arrived: usize,
    /// True if any of them was received.
    any_received: bool,
    /// Scratch memory for the next A-MPDU.
    spare: Vec<Mpdu<P>>,
    link: Link,
    /// The first violated invariant, if any. It would be a bug.
    broken_law: Option<String>,
    ofdma: Option<Box<Ofdma<P>>>,
}

/// What one queue sends.
#[derive(Debug)]
struct AggregatingQueue {
    /// What the last access sends.
    sends: Sends,
    times: FrameTimes,
    /// The rate class of the PPDU.
    class: u32,
    /// The duration before the Data field of the data PPDU.
    preamble: Duration,
    txop_limit: Duration,
    /// The rate control's choice for the PPDU, if there is rate control.
    choice: Option<Choice>,
}

/// What a queue sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sends {
    /// The PSDU that it holds.
    Data,
    /// A Block ACK request to this station.
    Request(StationId),
    /// A PPDU to several users.
    Users,
    /// A trigger, to which stations respond with reports or data.
    Trigger,
}

impl<P: Clone> Aggregate<P> {
    /// Creates the exchange logic; `None` without aggregation.
    pub(crate) fn new(
        phy: &PhyConfig,
        mac: &MacConfig,
        (rates, pairs): (&[(Rate, Rate)], &BTreeMap<u32, PairConfig>),
        rate_controls: Vec<Option<RateControlConfig>>,
        (roles, contenders): (&Roles, &[ContenderConfig]),
    ) -> Option<Box<Self>> {
        mac.aggregation.as_ref()?;
        let of_medium = PairConfig::of_medium(phy, mac);
        let pair_of = |class| pairs.get(&class).unwrap_or(&of_medium);
        let exchanges = (0..).zip(rates).map(|(class, &(data, control))| {
            HtExchange::new(phy, mac, pair_of(class), data, control)
        });
        let exchanges: Vec<HtExchange> = exchanges.collect();
        let minstrel = |contender: &ContenderConfig, receiver: StationId| {
            let far = roles.far(contender.station, receiver);
            let side = usize::from(!roles.is_access_point(contender.station));
            let config = rate_controls.get(far as usize)?.as_ref()?;
            let access = &contender.access;
            let mean = access.aifs + phy.slot_time * u64::from(access.cw_min / 2);
            let first = config.first_class as usize;
            let costs: Vec<Cost> = exchanges[first..first + config.error_rates.len()]
                .iter()
                .map(|exchange| exchange.cost(mean))
                .collect();
            Some(Box::new(Minstrel::new(&costs, config.rules, config.samples[side].clone())))
        };
        let peer = |contender: &ContenderConfig, receiver| {
            let class = roles.rate_class(contender.station, receiver);
            let has_block_ack = pair_of(class).aggregation.is_some();
            let has_limit = !has_block_ack || mac.rules.retry_limit_under_block_ack;
            Peer {
                has_block_ack,
                retry_limit: if has_limit { limit(mac.short_retry_limit) } else { u16::MAX },
                window: TransmitWindow::new(receiver),
                recipient: ReorderBuffer::default(),
                books: Books::default(),
                rate_control: minstrel(contender, receiver),
            }
        };
        let peers = contenders.iter().map(|contender| {
            let receivers = roles.receivers(contender.station);
            let first = receivers.start;
            Peers::new(first, receivers.map(|receiver| peer(contender, receiver)).collect())
        });
        let peers = peers.collect();
        let queues = contenders.iter().map(|contender| AggregatingQueue {
            choice: None,
            sends: Sends::Data,
            times: FrameTimes::default(),
            class: 0,
            preamble: Duration::ZERO,
            txop_limit: contender.access.txop_limit,
        });
        let queues = queues.collect();
        let controlled = rate_controls.into_iter().map(|config| {
            config.map(|RateControlConfig { first_class, error_rates, .. }| {
                (first_class, error_rates)
            })
        });
        Some(Box::new(Self {
            controlled: controlled.collect(),
            exchanges,
            peers,
            queues,
            failed_block_ack: mac.rules.failed_block_ack,
            delivery: mac.rules.delivery,
            narrow_collider: mac.rules.narrow_collider,
            arrivals: Vec::new(),
            arrived: 0,
            any_received: false,
            spare: Vec::new(),
            link: Link::new(mac.rules.other_links),
            broken_law: None,
            ofdma: Ofdma::new(phy, mac, roles, contenders),
        }))
    }

    /// Returns the frames of `by` that wait for retransmission, or are in a PPDU to several users.
    pub(crate) fn waiting(&self, by: ContenderId) -> impl Iterator<Item = &Mpdu<P>> {
        let users = self.ofdma.iter().flat_map(move |one| one.frames(by));
        let peers = self.peers.get(by as usize);
        users.flat_map(Frames::mpdus).chain(peers.into_iter().flat_map(Peers::waiting))
    }

    /// Returns the frames of `by` that wait in their receivers' reorder buffers for earlier ones.
    pub(crate) fn held_back(&self, by: ContenderId) -> impl Iterator<Item = &Mpdu<P>> {
        let peers = self.peers.get(by as usize);
        peers.into_iter().flat_map(Peers::iter).flat_map(|one| one.recipient.iter())
    }

    /// Checks the accounts of `by`; its PPDUs on the air, one on each link, have the frames `on_air`.
    pub(crate) fn check_laws(
        &self,
        by: ContenderId,
        on_air: &[Frames<'_, P>],
    ) -> Result<(), String> {
        if let Some(law) = &self.broken_law {
            return Err(law.clone());
        }
        for Peer { window, recipient, books, .. } in
            self.peers.get(by as usize).into_iter().flat_map(Peers::iter)
        {
            let sent = on_air.iter().filter(|psdu| psdu.receiver() == window.receiver);
            let waiting = window.iter().filter(|mpdu| !mpdu.is_further).count();
            let users = self.ofdma.iter().flat_map(|one| one.frames(by));
            let to_it = users.filter(|psdu| psdu.receiver() == window.receiver);
            let sent = to_it.chain(sent.copied()).map(Frames::count).sum::<usize>();
            let held = (waiting + sent) as u64;
            books.check(window.next_id(), held, recipient.received())?;
        }
        Ok(())
    }

    /// Returns the window start of `by`'s Block ACK request to `receiver`.
    pub(crate) fn window_start(&self, by: ContenderId, receiver: StationId) -> u64 {
        self.peers[by as usize].of(receiver).window.start(&[])
    }

    fn peer(&mut self, by: ContenderId, receiver: StationId) -> &mut Peer<P> {
        self.peers[by as usize].of_mut(receiver)
    }

    /// Reports to the rate control of `by`, if it has one, how many frames of `psdu` were
    /// acknowledged.
    fn report(&mut self, by: ContenderId, psdu: Frames<'_, P>, acknowledged: usize) {
        if let Some(choice) = self.queues[by as usize].choice.take()
            && let Some(minstrel) = &mut self.peer(by, psdu.receiver()).rate_control
        {
            minstrel.report(choice, psdu.count() as u32, acknowledged as u32);
        }
    }
}

impl<P: Clone> Exchange<P> for Aggregate<P> {
    #[inline(always)]
    fn gets_medium<S: Supply<P>>(play: &mut Play<'_, P, Self, S>, by: ContenderId, now: Time) {
        Self::assemble(play, by, now, None);
        Self::begins(play, by, now);
    }

    #[inline]
    fn assemble<S: Supply<P>>(
        play: &mut Play<'_, P, Self, S>,
        by: ContenderId,
        now: Time,
        left: Option<Duration>,
    ) -> bool {
        if left.is_some_and(|left| left == Duration::ZERO || !play.has_frame(by)) {
            return false;
        }
        left.is_none() && play.mac.ofdma.is_some() && play.assemble_users(by, now)
            || play.desk().assemble_at(by, now, left)
    }

    #[inline(never)]
    fn begins<S: Supply<P>>(play: &mut Play<'_, P, Self, S>, by: ContenderId, start: Time) {
        let mac = &mut *play.mac;
        let AggregatingQueue { times, class, .. } = mac.queues[by as usize];
        mac.arrivals.clear();
        mac.arrived = 0;
        mac.any_received = false;
        let began = match mac.queues[by as usize].sends {
            Sends::Users => return play.users_begin(by, start),
            Sends::Trigger => return mac.trigger_begins(play.air, by, start),
            Sends::Request(receiver) => {
                let window_start = mac.window_start(by, receiver);
                Began::Request { by, times: &times, receiver, window_start, collides: false }
            }
            Sends::Data => {
                let psdu = play.air.originators[by as usize].frames().expect("it is assembled");
                if mac.delivery == Delivery::Mpdu && psdu.count() > 1 {
                    let queue = &mac.queues[by as usize];
                    let received = start + times.data_received;
                    let data = times.data - queue.preamble;
                    set_arrivals(&mut mac.arrivals, received, data, psdu);
                }
                Began::Exchange { by, times: &times, ppdu: Ppdu::of_one(psdu, class) }
            }
        };
        play.supply.on_event(start, MacEvent::Began(began));
        let received = start + times.data_received;
        let next = mac.arrivals.first().copied().unwrap_or(received);
        play.air.medium.begin_alone(by, start + times.first());
        play.air.set_on_air(OnAir::Sending { end: start + times.total }, next);
    }

    fn arrives<S: Supply<P>>(
        play: &mut Play<'_, P, Self, S>,
        by: ContenderId,
        now: Time,
        end: Time,
    ) {
        match play.mac.queues[by as usize].sends {
            Sends::Users => play.users_receive(by, now, end),
            Sends::Trigger => play.trigger_responses(by, now, end),
            Sends::Data | Sends::Request(_) => play.ppdu_arrives(by, now, end),
        }
    }

    fn answered<S: Supply<P>>(play: &mut Play<'_, P, Self, S>, by: ContenderId, now: Time) {
        match play.mac.queues[by as usize].sends {
            Sends::Users => play.users_answered(by, now),
            Sends::Trigger => play.trigger_answered(by, now),
            Sends::Data | Sends::Request(_) => play.ppdu_answered(by, now),
        }
    }

    fn failed<S: Supply<P>>(
        play: &mut Play<'_, P, Self, S>,
        by: ContenderId,
        failure: Failure,
        now: Time,
    ) -> Retry {
        let data_sent = match failure {
            // A lost RTS causes no missed Block ACK.
            Failure::Collision => play.mac.queues[by as usize].times.rts == Duration::ZERO,
            Failure::InternalCollision => {
                // The access may have put off the next request for access.
                play.air.look_for_access();
                false
            }
            Failure::NoAnswer => true,
        };
        match play.mac.queues[by as usize].sends {
            Sends::Users => play.desk().users_failed(by, data_sent, now),
            Sends::Trigger => play.trigger_failed(by, failure == Failure::Collision, now),
            _ => play.desk().ppdu_failed(by, data_sent, now),
        }
    }

    fn has_work(&self, by: ContenderId) -> bool {
        self.has_pending(by) || self.ofdma.as_ref().is_some_and(|one| one.requests_access(by))
    }

    #[inline]
    fn may_take<S: Supply<P>>(&self, air: &Air<P>, by: ContenderId, supply: &S) -> bool {
        let of = (air.originators[by as usize].station, &air.roles);
        supply.has_next(by)
            && (!self.link.is_one_of_several || self.open_receiver(of, by, supply).is_some())
    }

    fn request(&self, by: ContenderId) -> Option<(StationId, u64)> {
        match self.queues[by as usize].sends {
            Sends::Data | Sends::Users | Sends::Trigger => None,
            Sends::Request(receiver) => Some((receiver, self.window_start(by, receiver))),
        }
    }

    fn times<'a>(&'a self, _: &'a mut Air<P>, by: ContenderId) -> &'a FrameTimes {
        &self.queues[by as usize].times
    }

    fn class(&self, _: &Air<P>, by: ContenderId, _: StationId) -> u32 {
        self.queues[by as usize].class
    }

    fn users(&self, by: ContenderId) -> Vec<UserPsdu<'_, P>> {
        match (self.queues[by as usize].sends, &self.ofdma) {
            (Sends::Users, Some(ofdma)) => ofdma.users(by),
            _ => Vec::new(),
        }
    }

    fn triggered<'a>(&'a self, air: &'a Air<P>, by: ContenderId) -> Vec<TriggeredPsdu<'a, P>> {
        match (self.queues[by as usize].sends, &self.ofdma) {
            (Sends::Trigger, Some(ofdma)) => self.triggered_by(air, ofdma.triggered()),
            _ => Vec::new(),
        }
    }

    fn trigger(&self, by: ContenderId) -> Option<(FrameTimes, StationId)> {
        let is_multi_user = self.queues[by as usize].sends == Sends::Users;
        self.ofdma.as_ref().filter(|_| is_multi_user)?.trigger(by)
    }

    fn beacon_is_due<S: Supply<P>>(play: &mut Play<'_, P, Self, S>, now: Time) {
        if play.air.beacons.requests_access(now) {
            play.access_is_due(now);
        } else {
            play.air.beacon_is_due(now);
        }
    }

    fn outlasts<S: Supply<P>>(
        play: &mut Play<'_, P, Self, S>,
        end: Time,
    ) -> Option<(ContenderId, FrameTimes)> {
        play.narrow_outlasts(end)
    }

    fn last_arrival(&self) -> Option<Time> {
        self.arrived.checked_sub(1).and_then(|last| self.arrivals.get(last)).copied()
    }
}
