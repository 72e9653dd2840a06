//! OFDMA: PPDUs of an access point to several users, each in its resource unit (IEEE 802.11ax-2021,
//! 26.5.1), and of several stations to it ([`uplink`]). Every user has the PSDU, window and Block ACK
//! of a single-user PPDU; what differs is who is served, and what follows the PPDU.

mod scheduler;
mod uplink;

use airtcp_kernel::{Duration, Time};

use super::assembly::{Limits, breaks_window, set_arrivals};
use super::{Aggregate, Sends};
use crate::config::{Delivery, MacConfig, OfdmaAcknowledgment, OfdmaConfig};
use crate::contention::{ContenderConfig, Retry};
use crate::events::{Began, MacEvent, Supply};
use crate::exchange::{Desk, OnAir, Play, Roles};
use crate::frame::{Frames, Ppdu, Psdu, Trigger, UserPsdu};
use crate::phy::{Division, HighRate, PhyConfig, ResourceUnit};
use crate::sequence::dcf::FrameTimes;
use crate::sequence::ht::HtExchange;
use crate::station::{ContenderId, EVERYBODY, StationId};
use scheduler::Scheduler;
use uplink::Uplink;

/// OFDMA of an access point.
#[derive(Debug)]
pub(super) struct Ofdma<P> {
    config: OfdmaConfig,
    sifs: Duration,
    propagation_delay: Duration,
    /// The queues of the access point.
    queues: Vec<OfdmaQueue<P>>,
    /// Triggers; `None`: stations send only by EDCA.
    uplink: Option<Uplink>,
}

/// A queue that sends to several users at once.
#[derive(Debug)]
struct OfdmaQueue<P> {
    by: ContenderId,
    scheduler: Scheduler,
    /// The users of the PPDU that is assembled or on the air.
    users: Vec<User<P>>,
    arrivals: Arrivals,
    /// The trigger frame and its responses.
    trigger: FrameTimes,
}

/// When the frames of several PSDUs arrive, last to first: the times, the places of the PSDUs, and
/// the numbers of packets.
#[derive(Debug, Default)]
struct Arrivals(Vec<(Time, usize, usize)>);

impl Arrivals {
    /// Adds the PSDU at `place`, which is received as a whole, or by MPDUs if its Data field ends at
    /// a known time after a known duration.
    fn add<P>(
        &mut self,
        place: usize,
        psdu: Frames<'_, P>,
        received: Time,
        by_mpdus: Option<(Time, Duration)>,
    ) {
        let Some((end, data)) = by_mpdus.filter(|_| psdu.count() > 1) else {
            return self.0.push((received, place, psdu.mpdus().len()));
        };
        let (mut times, mut packets) = (Vec::new(), 0);
        set_arrivals(&mut times, end, data, psdu);
        for frame in psdu.each() {
            self.0.push((times[packets], place, frame.len()));
            packets += frame.len();
        }
    }

    /// Puts them in their order. Returns the time of the first.
    fn begin(&mut self) -> Time {
        self.0.sort_by_key(|&(time, place, _)| (time, place));
        self.0.reverse();
        self.0[self.0.len() - 1].0
    }

    /// Takes the first: its place and number of packets. Returns the time of the next, too.
    fn take(&mut self) -> ((usize, usize), Option<Time>) {
        let (_, place, packets) = self.0.pop().expect("it is to arrive");
        ((place, packets), self.0.last().map(|&(time, ..)| time))
    }
}

/// A user of a PPDU.
#[derive(Debug)]
struct User<P> {
    psdu: Psdu<P>,
    class: u32,
    unit: ResourceUnit,
    /// The Data field without padding, and the time before it.
    data: Duration,
    preamble: Duration,
    /// The number of its packets that have arrived.
    arrived: usize,
}

impl<P> Ofdma<P> {
    /// Creates the state; `None` without OFDMA.
    pub(super) fn new(
        phy: &PhyConfig,
        mac: &MacConfig,
        roles: &Roles,
        contenders: &[ContenderConfig],
    ) -> Option<Box<Self>> {
        let config = mac.ofdma.clone()?;
        let own = (0..).zip(contenders).filter(|(_, one)| roles.is_access_point(one.station));
        let stations_of = |access_point| {
            let own = roles.cell(access_point);
            let is_own = move |&one: &_| !roles.is_access_point(one) && roles.cell(one) == own;
            roles.receivers(access_point).filter(is_own).collect()
        };
        let queues = own.map(|(by, one)| OfdmaQueue {
            by,
            scheduler: Scheduler::new(&config, stations_of(one.station)),
            users: Vec::new(),
            arrivals: Arrivals::default(),
            trigger: FrameTimes::default(),
        });
        Some(Box::new(Self {
            sifs: phy.sifs,
            propagation_delay: phy.propagation_delay,
            queues: queues.collect(),
            uplink: Uplink::new(&config, roles, contenders),
            config,
        }))
    }

    /// Returns whether `by` wants access without a packet.
    pub(super) fn requests_access(&self, by: ContenderId) -> bool {
        self.uplink.as_ref().is_some_and(|one| one.by == by && one.is_requested)
    }

    /// Returns the parts of the stations of the trigger that is assembled or on the air.
    pub(super) fn triggered(&self) -> &[uplink::Unit] {
        self.uplink.as_ref().map_or(&[], |one| &one.units)
    }

    fn queue(&mut self, by: ContenderId) -> Option<&mut OfdmaQueue<P>> {
        self.queues.iter_mut().find(|one| one.by == by)
    }

    fn users_of(&self, by: ContenderId) -> impl Iterator<Item = &User<P>> {
        self.queues.iter().filter(move |one| one.by == by).flat_map(|one| &one.users)
    }

    /// Returns the frames of `by` that are assembled or on the air, for each user.
    pub(super) fn frames(&self, by: ContenderId) -> impl Iterator<Item = Frames<'_, P>> {
        self.users_of(by).map(|user| user.psdu.frames())
    }

    /// Returns the users of the PPDU of `by`.
    pub(super) fn users(&self, by: ContenderId) -> Vec<UserPsdu<'_, P>> {
        let users = self.users_of(by);
        users
            .map(|&User { ref psdu, class, unit, .. }| UserPsdu {
                frames: psdu.frames(),
                class,
                unit: Some(unit),
            })
            .collect()
    }

    /// Returns the trigger frame after the PPDU of `by` and its responses, and its first user. The
    /// data need no immediate response, so the trigger frame follows even after a collision.
    pub(super) fn trigger(&self, by: ContenderId) -> Option<(FrameTimes, StationId)> {
        let queue = self.queues.iter().find(|one| one.by == by)?;
        let receiver = queue.users.first()?.psdu.frames().receiver();
        (self.config.acknowledgment == OfdmaAcknowledgment::MuBar)
            .then_some((queue.trigger, receiver))
    }
}

impl<P: Clone> Aggregate<P> {
    /// Takes the users of `by`, whose PSDUs are then processed as those of single users.
    fn take_users(&mut self, by: ContenderId) -> Vec<User<P>> {
        self.queues[by as usize].sends = Sends::Data;
        let own = self.ofdma.as_mut().and_then(|one| one.queue(by)).expect("it sends to users");
        std::mem::take(&mut own.users)
    }
}

impl<P: Clone, S: Supply<P>> Play<'_, P, Aggregate<P>, S> {
    /// Assembles a PPDU of `by` to several users, or a trigger. Returns false if it sends to one as
    /// ever: it is no access point, has to send a Block ACK request, or has nothing for any user.
    pub(super) fn assemble_users(&mut self, by: ContenderId, now: Time) -> bool {
        let Some(chosen) = self.choose_users(by) else { return false };
        if self.mac.assemble_trigger(self.air, by, now, chosen.is_some()) {
            return true;
        }
        let Some((division, stations)) = chosen else { return false };
        let Some(ofdma) = &mut self.mac.ofdma else { return false };
        let delay = ofdma.propagation_delay;
        let hop = delay + ofdma.sifs;
        if let Some(uplink) = ofdma.uplink.as_mut().filter(|one| one.by == by) {
            uplink.follows_users = true;
        }
        let Some(own) = ofdma.queues.iter_mut().find(|one| one.by == by) else { return false };
        let queue = &mut self.mac.queues[by as usize];
        let peers = &mut self.mac.peers[by as usize];
        let class_of = |receiver| self.air.roles.class_of(receiver);
        let rate_of = |receiver| self.mac.exchanges[class_of(receiver) as usize].high_rate().0;
        let preamble = HighRate::preamble_to(stations.iter().map(|&one| rate_of(one)));
        let classes: Vec<u32> = stations.iter().map(|&one| class_of(one)).collect();
        let mut answers = UserAnswers::new(&ofdma.config, hop, stations.len());
        let mut data = Duration::ZERO;
        debug_assert!(own.users.is_empty(), "an exchange ends before the next begins");
        for (place, (&receiver, class)) in stations.iter().zip(classes).enumerate() {
            let exchange = &self.mac.exchanges[class as usize];
            let (rate, timing) = exchange.high_rate();
            let ppdus = rate.ppdus_in(division, preamble, timing);
            let room = exchange.unit_room(&ppdus, exchange.ppdu_time());
            let limits = Limits {
                frames: &self.air.frames,
                exchange,
                room,
                left: None,
                is_sample: false,
                in_unit: true,
            };
            let window = &mut peers.of_mut(receiver).window;
            let mut mpdus = Vec::new();
            let originator = &mut self.air.originators[by as usize];
            let psdu = originator.fill(by, now, window, &limits, &mut mpdus, self.supply);
            self.mac.broken_law =
                self.mac.broken_law.take().or(breaks_window(window, &mpdus, exchange));
            peers.update_pending(receiver);
            if mpdus.is_empty() {
                continue;
            }
            let ppdu = ppdus.time(exchange.psdu_bits(psdu));
            data = data.max(ppdu);
            answers.add(exchange, division);
            let (data, psdu) = (ppdu - preamble, Psdu::of(mpdus));
            let unit = division.unit(place, preamble);
            own.users.push(User { psdu, class, unit, data, preamble, arrived: 0 });
        }
        if own.users.is_empty() {
            return false;
        }
        let users = own.users.iter().map(|user| user.psdu.frames().receiver());
        own.scheduler.charge(&users.collect::<Vec<_>>(), data);
        own.trigger =
            exchange_of(answers.trigger, (answers.response, answers.response), hop, delay);
        queue.times = exchange_of(data, answers.after(), hop, delay);
        queue.sends = Sends::Users;
        queue.choice = None;
        true
    }

    /// Chooses the users of the next PPDU of `by`, if any has a frame. Returns `None` if it sends to
    /// one as ever.
    fn choose_users(&mut self, by: ContenderId) -> Option<Option<(Division, Vec<StationId>)>> {
        let ofdma = self.mac.ofdma.as_mut()?;
        if let Some(uplink) = ofdma.uplink.as_mut().filter(|one| one.by == by) {
            uplink.is_requested = false;
        }
        let own = ofdma.queue(by)?;
        let peers = &self.mac.peers[by as usize];
        if peers.pending(0).any(|one| one.window.on(0).request_due) {
            return None;
        }
        let any = own.scheduler.any()?;
        let class = self.air.roles.class_of(any);
        let width = self.mac.exchanges[class as usize].high_rate().0.channel_width_mhz;
        Some(own.scheduler.choose(width, |receiver| {
            peers.of(receiver).window.waiting() > 0 || self.supply.has_next_for(by, receiver)
        }))
    }

    /// Puts the PPDU of `by` to several users on the air at `start`.
    pub(super) fn users_begin(&mut self, by: ContenderId, start: Time) {
        let times = self.mac.queues[by as usize].times;
        let by_mpdus = self.mac.delivery == Delivery::Mpdu;
        let ofdma = self.mac.ofdma.as_mut().expect("it sends to several users");
        let delay = ofdma.propagation_delay;
        let received = start + times.data_received;
        let own = ofdma.queue(by).expect("it sends to several users");
        own.arrivals.0.clear();
        for (place, user) in own.users.iter().enumerate() {
            let data_ends = start + user.preamble + user.data + delay;
            let by_mpdus = by_mpdus.then_some((data_ends, user.data));
            own.arrivals.add(place, user.psdu.frames(), received, by_mpdus);
        }
        let next = own.arrivals.begin();
        let users = ofdma.users(by);
        let ppdu = Ppdu::of_users(&users);
        self.supply.on_event(start, MacEvent::Began(Began::Exchange { by, times: &times, ppdu }));
        self.air.medium.begin_alone(by, start + times.first());
        self.air.set_on_air(OnAir::Sending { end: start + times.total }, next);
    }

    /// Receives the next frame, or all frames, of a user of the PPDU on the air.
    pub(super) fn users_receive(&mut self, by: ContenderId, now: Time, end: Time) {
        let own = self.mac.ofdma.as_mut().and_then(|one| one.queue(by)).expect("it sends to users");
        let ((place, packets), next) = own.arrivals.take();
        // The code for one user works on the PSDU that its queue holds.
        let User { psdu, class, unit, data, preamble, arrived } = own.users.remove(place);
        self.air.originators[by as usize].psdu = Some(psdu);
        let places = arrived..arrived + packets;
        let (frames, errors) = self.desk().receive(by, now, places.clone(), |_| false);
        self.mac.any_received |= frames > errors;
        self.air.contention.count_mpdus(by, frames, errors);
        let psdu = self.air.originators[by as usize].psdu.take().expect("it was held");
        let user = User { psdu, class, unit, data, preamble, arrived: places.end };
        let ofdma = self.mac.ofdma.as_mut().expect("it sends to users");
        let waits = ofdma.config.acknowledgment == OfdmaAcknowledgment::BarSequence;
        let own = ofdma.queue(by).expect("it sends to users");
        own.users.insert(place, user);
        if let Some(next) = next {
            self.air.set_on_air(OnAir::Sending { end }, next);
        } else if self.mac.any_received || !waits {
            self.air.answers(by, EVERYBODY, now, end);
        } else {
            self.air.set_on_air(OnAir::Unanswered { by }, end);
            let ack = self.mac.queues[by as usize].times.ack;
            let to = end.as_nanos() - self.air.frames.phy().propagation_delay.as_nanos();
            let from = Time::from_nanos(to - ack.as_nanos());
            for (place, user) in own.users.iter().enumerate() {
                let part = |place| from + ack.part(place, own.users.len());
                let (psdu, answer) = (user.psdu.frames(), (part(place), part(place + 1)));
                self.supply.on_event(end, MacEvent::Lost { by, psdu, answer });
            }
        }
    }

    /// Processes the Block ACKs of all users of the PPDU of `by`.
    pub(super) fn users_answered(&mut self, by: ContenderId, now: Time) {
        let mut receiver = EVERYBODY;
        for user in self.mac.take_users(by) {
            self.air.originators[by as usize].psdu = Some(user.psdu);
            receiver = self.desk().take_answer(by, now);
        }
        self.goes_on(by, receiver, now);
    }
}

impl<P: Clone, S: Supply<P>> Desk<'_, P, Aggregate<P>, S> {
    /// Puts back the frames of all users of `by`. Returns whether all of them are given up.
    pub(super) fn users_failed(&mut self, by: ContenderId, data_sent: bool, now: Time) -> Retry {
        let mut retry = Retry::Dropped;
        for user in self.mac.take_users(by) {
            self.originators[by as usize].psdu = Some(user.psdu);
            if self.ppdu_failed(by, data_sent, now) == Retry::Again {
                retry = Retry::Again;
            }
        }
        retry
    }
}

/// What follows a PPDU to several users: a trigger frame and a common response, or Block ACKs and
/// requests in sequence.
struct UserAnswers<'a> {
    config: &'a OfdmaConfig,
    hop: Duration,
    trigger_bits: u64,
    /// The airtime of the trigger frame and of the longest Block ACK in a resource unit.
    trigger: Duration,
    response: Duration,
    /// The airtime of a sequence, and the time from its start to its end.
    sequence: Duration,
    span: Duration,
}

impl<'a> UserAnswers<'a> {
    fn new(config: &'a OfdmaConfig, hop: Duration, users: usize) -> Self {
        let trigger_bits = Trigger::MuBar.bits(users as u64);
        let [trigger, response, sequence, span] = [Duration::ZERO; 4];
        Self { config, hop, trigger_bits, trigger, response, sequence, span }
    }

    fn add(&mut self, exchange: &HtExchange, division: Division) {
        let (rate, timing) = exchange.high_rate();
        let answers = exchange.answers(self.trigger_bits);
        let mcs = self.config.block_ack_mcs;
        let response = rate.response_time(division, mcs, answers.block_ack_bits, timing);
        self.trigger = self.trigger.max(answers.trigger);
        self.response = self.response.max(response);
        if self.sequence > Duration::ZERO {
            self.sequence += answers.request;
            self.span += self.hop + answers.request + self.hop;
        }
        self.sequence += answers.block_ack;
        self.span += answers.block_ack;
    }

    /// Returns the airtime of all frames, and the time from the start to the end.
    fn after(&self) -> (Duration, Duration) {
        match self.config.acknowledgment {
            OfdmaAcknowledgment::MuBar => {
                (self.trigger + self.response, self.trigger + self.hop + self.response)
            }
            OfdmaAcknowledgment::BarSequence => (self.sequence, self.span),
        }
    }
}

/// Returns the times of a frame and what follows it: the airtime, and the time to its end.
fn exchange_of(
    data: Duration,
    (control, span): (Duration, Duration),
    hop: Duration,
    delay: Duration,
) -> FrameTimes {
    let total = data + hop + span + delay;
    let data_received = data + delay;
    FrameTimes {
        data,
        ack: control,
        control,
        first: data,
        data_received,
        total,
        ..Default::default()
    }
}
