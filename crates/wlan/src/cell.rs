//! The MAC of a whole cell, from the hand-over of a packet to its acknowledgment.
//!
//! A [`Cell`] is told that a queue has something to send, says when something happens next, and tells
//! what then does. It puts together who sends when ([`contention`](crate::contention)), what follows
//! an access ([`sequence`](crate::sequence)), and what of it comes through (`medium`), and keeps the
//! frames meanwhile: a queue hands a packet over when it has got at the medium, and the MAC holds it,
//! ahead of the queue, until it is acknowledged or given up. Owns no clock, no queue and no TCP: time
//! comes with each call, packets come from a [`Supply`], which also plays the world in the midst of an
//! exchange (`shortcut`, "Who plays the world").
//!
//! ```text
//!                   access                      its PPDU ends            the MAC ACK ends
//!   silence --------------------> on the air ---------------> answer -------------------> silence,
//!                                     |                                                or TXOP goes on
//!                                     | it overlaps others
//!                                     '--------------------> silence, backoffs
//! ```

mod aggregates;
mod beacons;
mod books;
mod events;
mod failures;
mod originator;
mod pcf;
mod reception;
mod shortcut;
mod successes;
mod txop_ends;

use airtcp_kernel::{Duration, RandomStream, Time};

pub use events::{Began, CfFrame, MacEvent, Supply};

use crate::config::{ArrivalBeforeOwnAck, MacConfig};
use crate::contention::{Access, ContenderConfig, Contention};
use crate::counters::CellCounters;
use crate::frame::{Frames, Mpdu};
use crate::medium::{ErrorModel, FrameErrors, Medium, Reception};
use crate::phy::{PhyConfig, Rate};
use crate::rate_control::RateControlConfig;
use crate::sequence::dcf::{FrameTable, FrameTimes};
use crate::sequence::txop::Txop;
use crate::station::{ACCESS_POINT, ALL_HEAR_ALL, ContenderId, StationId};
use aggregates::Aggregates;
use beacons::Beacons;
use originator::{Milestones, Originator};
use pcf::Pcf;
use txop_ends::TxopEnds;

/// What a cell is made from.
#[derive(Debug)]
pub struct CellConfig<'a> {
    /// Timings and sizes.
    pub phy: &'a PhyConfig,
    /// Rules.
    pub mac: &'a MacConfig,
    /// Data and control rates of each class of stations.
    pub rates: Vec<(Rate, Rate)>,
    /// The class of each station, in the order of their numbers. Frames to and from a station go at
    /// its rates; the first entry, the access point's own, is not used.
    pub rate_classes: Vec<u32>,
    /// How likely frames to and from each station are lost, and where that is drawn from, in the
    /// order of their numbers.
    pub errors: Vec<Option<(FrameErrors, RandomStream)>>,
    /// The stations whose rate is found by sending, in the order of their numbers; the others, and
    /// those beyond the last, have that of their class.
    pub rate_controls: Vec<Option<RateControlConfig>>,
    /// The queues, in the order of their numbers: the access point's first, of each station the one
    /// with the highest priority first.
    pub contenders: Vec<ContenderConfig>,
}

/// The MAC of one cell: of its access point and all its stations. `P` is what a packet is.
#[derive(Debug)]
pub struct Cell<P> {
    contention: Contention,
    frames: FrameTable,
    medium: Medium,
    on_air: OnAir,
    /// When the next step is: of what is on the air, or else the next access.
    next_step: Time,
    /// The same, or the next beacon.
    next: Time,
    txop: Txop,
    txop_ends: TxopEnds,
    originators: Vec<Originator<P>>,
    /// Where several frames go at once.
    aggregates: Option<Box<Aggregates<P>>>,
    errors: ErrorModel,
    /// Whether frames are lost in collisions alone.
    is_perfect: bool,
    rate_classes: Vec<u32>,
    beacons: Beacons,
    /// Where there are contention-free periods.
    pcf: Option<Box<Pcf>>,
    counters: CellCounters,
    retry_limit: u16,
    /// Of data frames that were lost after their RTS had got through.
    long_retry_limit: u16,
    answers_seem_to_find_it_idle: bool,
    /// Whether all that goes on the air are exchanges of one frame, each after a backoff of its own:
    /// no beacon, contention-free period, aggregate, burst or TXOP.
    is_plain: bool,
    /// Whether exchanges may take the straight line; only tests say no.
    goes_straight: bool,
    #[cfg(any(test, feature = "testing"))]
    straight: u64,
}

/// What the medium does.
#[derive(Clone, Copy, Debug)]
enum OnAir {
    /// Nothing.
    Silence,
    /// The frames that the access began with; or, if nobody else is on the air, all up to the end of
    /// the data frame. An exchange that is not disturbed is over at `end`.
    Sending { end: Time },
    /// A data frame of `by` has been received; the MAC ACK begins at `ack_start`.
    Acknowledging { by: ContenderId, ack_start: Time },
    /// A data frame of `by` was lost: all wait for the end of an answer that does not come.
    Unanswered { by: ContenderId },
    /// A CF-End, with which `by` gives back what is left of its TXOP.
    CfEnd { by: ContenderId },
    /// A contention-free period: nobody contends.
    ContentionFree,
}

impl<P: Clone> Cell<P> {
    /// A cell at time zero with an idle medium and empty queues.
    pub fn new(config: CellConfig<'_>) -> Self {
        let CellConfig { phy, mac, rates, rate_classes, errors, rate_controls, contenders } =
            config;
        debug_assert!(contenders.iter().all(|one| one.audibility == ALL_HEAR_ALL));
        let of_stations = (rate_classes.len(), rate_controls);
        let aggregates = Aggregates::new(phy, mac, &rates, of_stations, &contenders);
        let errors = ErrorModel::new(errors);
        let originators = contenders
            .iter()
            .map(|contender| Originator {
                station: contender.station,
                txop_limit: contender.access.txop_limit,
                psdu: None,
                next_id: 0,
                done: 0,
            })
            .collect();
        let beacons = Beacons::new(phy, mac);
        let pcf = Pcf::new(phy, mac, &contenders);
        let is_plain = mac.beacon.is_none()
            && pcf.is_none()
            && aggregates.is_none()
            && contenders
                .iter()
                .all(|one| one.bursts.is_none() && one.access.txop_limit == Duration::ZERO);
        Self {
            contention: Contention::new(phy, mac, contenders),
            frames: FrameTable::new(phy.clone(), mac.clone(), rates),
            medium: Medium::new(phy.propagation_delay),
            on_air: OnAir::Silence,
            next_step: Time::NEVER,
            next: beacons.next_target(),
            txop: Txop::new(Time::ZERO, Duration::ZERO),
            txop_ends: TxopEnds::new(phy, mac),
            originators,
            aggregates,
            is_perfect: errors.is_perfect(),
            errors,
            rate_classes,
            beacons,
            pcf,
            counters: CellCounters::default(),
            retry_limit: limit(mac.short_retry_limit),
            long_retry_limit: limit(mac.long_retry_limit),
            answers_seem_to_find_it_idle: mac.rules.arrival_before_own_ack
                == ArrivalBeforeOwnAck::Idle,
            is_plain,
            goes_straight: true,
            #[cfg(any(test, feature = "testing"))]
            straight: 0,
        }
    }

    /// When something happens next, unless a frame is ready before; [`Time::NEVER`] if nothing does.
    #[inline]
    pub fn next_time(&self) -> Time {
        self.next
    }

    /// `contender`, whose queue was empty, has something to send. What its queue gets while the MAC
    /// holds frames of it, or contends for it, need not be told, but may.
    #[inline]
    pub fn frame_ready(&mut self, contender: ContenderId, now: Time) {
        let before_own_ack = self.answers_seem_to_find_it_idle
            && self.is_before_own_ack(self.originators[contender as usize].station, now);
        self.contention.frame_queued(contender, now, before_own_ack);
        self.look_for_access();
    }

    /// The same for all that `supply` tells of.
    #[inline]
    pub fn frames_ready<S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        while let Some(contender) = supply.next_ready() {
            self.frame_ready(contender, now);
        }
    }

    /// What is due at `now`, that is [`Self::next_time`], happens, and what follows if nothing else
    /// does. One thing at a time: there may be more at the same instant.
    #[inline(always)]
    pub fn advance<S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        if self.is_plain {
            self.step::<true, S>(now, supply);
        } else if self.beacons.next_target() <= now {
            self.beacon_is_due(now, supply);
        } else {
            self.step::<false, S>(now, supply);
        }
    }

    /// What is on the air goes on, or the next access begins. A `PLAIN` cell is not asked at each
    /// exchange for what it cannot have.
    #[inline(always)]
    fn step<const PLAIN: bool, S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        if let OnAir::Silence = self.on_air {
            self.access_medium::<PLAIN, S>(now, supply);
        } else {
            self.go_on::<PLAIN, S>(now, supply);
        }
    }

    /// What is on the air goes on.
    #[inline(always)]
    fn go_on<const PLAIN: bool, S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        match self.on_air {
            OnAir::Silence => unreachable!("something is on the air"),
            OnAir::Sending { end } => self.transmissions_ended(now, end, supply),
            OnAir::Acknowledging { by, .. } => {
                if !PLAIN && self.aggregates.is_some() && !self.beacons.is_on_air(by) {
                    self.ppdu_answered(by, now, supply);
                } else {
                    self.ack_ended::<PLAIN, S>(by, now, supply);
                }
            }
            OnAir::Unanswered { by } => self.exchange_failed(by, now, supply),
            OnAir::CfEnd { by } => self.cf_end_sent(by, now, supply),
            OnAir::ContentionFree => self.contention_free_step(now, supply),
        }
    }

    #[inline]
    fn set_on_air(&mut self, what: OnAir, until: Time) {
        self.set_on_air_in::<false>(what, until);
    }

    /// The same; in a `PLAIN` cell there is no beacon before.
    #[inline(always)]
    fn set_on_air_in<const PLAIN: bool>(&mut self, what: OnAir, until: Time) {
        self.on_air = what;
        self.next_step = until;
        self.next = if PLAIN { until } else { until.min(self.beacons.next_target()) };
    }

    /// Nothing is on the air any more.
    #[inline]
    fn fall_silent(&mut self) {
        self.set_on_air(OnAir::Silence, self.contention.next_access());
    }

    /// There may be another next access than there was.
    #[inline]
    fn look_for_access(&mut self) {
        if let OnAir::Silence = self.on_air {
            self.fall_silent();
        } else {
            self.next = self.next_step.min(self.beacons.next_target());
        }
    }

    /// Begins what those send who have got at the medium: an exchange of one frame on the straight line
    /// ([`shortcut`]), anything else as a state.
    #[inline(always)]
    fn access_medium<const PLAIN: bool, S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        let Some(by) = self.contention.begin_alone::<PLAIN>() else {
            return self.several_begin(now, supply);
        };
        if !PLAIN && (self.aggregates.is_some() || self.beacons.is_due(by) || !self.goes_straight) {
            return self.sends_alone(by, now, supply);
        }
        if !PLAIN {
            self.txop = Txop::new(now, self.originators[by as usize].txop_limit);
        }
        self.go_straight::<PLAIN, S>(by, now, supply);
    }

    /// Several backoffs end at the same instant.
    #[inline(never)]
    fn several_begin<S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        match self.contention.begin_together() {
            Access::Alone(by) | Access::Ahead(by) => self.sends_alone(by, now, supply),
            Access::Collision => self.collision_begins(now, supply),
        }
        self.settle_internal_collisions(now, supply);
    }

    /// `by` begins a beacon, a PPDU of several frames, or an exchange, which nothing disturbs.
    #[inline(never)]
    fn sends_alone<S: Supply<P>>(&mut self, by: ContenderId, now: Time, supply: &mut S) {
        if self.beacons.is_due(by) {
            self.beacon_begins(by, now, supply);
            return;
        }
        self.txop = Txop::new(now, self.originators[by as usize].txop_limit);
        if self.aggregates.is_some() {
            self.assemble(by, now, None, supply);
            self.ppdu_begins(by, now, supply);
        } else {
            self.sends_in_txop(by, now, supply);
        }
    }

    /// `by` begins an exchange at `start`, and nobody else does anything.
    fn sends_in_txop<S: Supply<P>>(&mut self, by: ContenderId, start: Time, supply: &mut S) {
        let Self { originators, frames, rate_classes, .. } = self;
        let originator = &mut originators[by as usize];
        let (_, times) = originator.begin(by, start, frames, rate_classes, supply);
        self.sends(by, start, times);
    }

    /// The exchange that `by` has begun at `start` is on the air.
    #[inline]
    fn sends(&mut self, by: ContenderId, start: Time, times: Milestones) {
        self.medium.begin_alone(by, start + times.sent);
        let end = start + times.total;
        self.set_on_air(OnAir::Sending { end }, start + times.received);
    }

    /// What the access began with has ended: it was received, or it was not.
    #[inline(never)]
    fn transmissions_ended<S: Supply<P>>(&mut self, now: Time, end: Time, supply: &mut S) {
        let first = &self.medium.transmissions()[0];
        let by = first.by;
        match Medium::reception(first) {
            Reception::Intact if self.beacons.is_on_air(by) => {
                self.beacon_ended(by, now, supply);
            }
            Reception::Intact if self.aggregates.is_some() => {
                self.ppdu_arrives(by, now, end, supply);
            }
            Reception::Intact => self.frame_arrives(by, now, end, supply),
            // Of those that began together, none comes through if one does not.
            Reception::Overlapped => self.collision_ended(now, supply),
        }
    }

    /// The data frame that `by` has sent alone has ended, and the exchange will at `end`.
    fn frame_arrives<S: Supply<P>>(
        &mut self,
        by: ContenderId,
        now: Time,
        end: Time,
        supply: &mut S,
    ) {
        let originator = &mut self.originators[by as usize];
        let station = originator.station;
        let mpdu = originator.psdu.as_mut().expect("it was sent").only();
        if loses(&mut self.errors, &self.frames, station, mpdu) {
            self.data_lost(by, now, end, supply);
            return;
        }
        // It may have come before, in a contention-free period, and its acknowledgment was lost.
        if !mpdu.is_received {
            mpdu.is_received = true;
            supply.on_event(now, MacEvent::Received { by, mpdu, came: None });
        }
        self.answers(by, now, end);
    }

    /// Nobody has received the data frame of `by`, which has ended `now`. Its answer would be over at
    /// `end`.
    #[cold]
    fn data_lost<S: Supply<P>>(&mut self, by: ContenderId, now: Time, end: Time, supply: &mut S) {
        self.medium.begin_alone(by, now);
        self.set_on_air(OnAir::Unanswered { by }, end);
        self.tell_of_loss(by, end, supply);
    }

    /// The receiver of the data frame of `by`, which has it `now`, answers until `end`.
    #[inline]
    fn answers(&mut self, by: ContenderId, now: Time, end: Time) {
        self.medium.begin_alone(by, now);
        let ack_start = now + self.frames.phy().sifs;
        self.set_on_air(OnAir::Acknowledging { by, ack_start }, end);
    }

    /// Whether `by` has anything to send.
    #[inline]
    fn has_frame<S: Supply<P>>(&self, by: ContenderId, supply: &S) -> bool {
        self.originators[by as usize].psdu.is_some()
            || supply.has_next(by)
            || self.aggregates.as_ref().is_some_and(|one| one.has_work(by))
            || self.beacons.is_due(by)
    }

    /// Whom the frame of `by` is for that is on the air, or was to be.
    fn sends_to(&self, by: ContenderId) -> Option<StationId> {
        let request = self.aggregates.as_ref().and_then(|one| one.request_to(by));
        request.or_else(|| self.originators[by as usize].frames().map(Frames::receiver))
    }

    /// `by` has got at the medium with others.
    #[cold]
    fn hold_frame<S: Supply<P>>(&mut self, by: ContenderId, now: Time, supply: &mut S) {
        if self.aggregates.is_some() {
            self.assemble(by, now, None, supply);
            return;
        }
        self.originators[by as usize].hold(by, now, &self.frames, supply);
    }

    /// The frames of the exchange that `by` begins or tries to.
    fn frame_times(&mut self, by: ContenderId) -> &FrameTimes {
        if let Some(aggregates) = &self.aggregates {
            return aggregates.times(by);
        }
        let originator = &self.originators[by as usize];
        let psdu = originator.frames().expect("who sends has a frame");
        let class = rate_class(&self.rate_classes, originator.station, psdu.receiver());
        self.frames.times(class, psdu.bits())
    }

    /// At which of the cell's rates `by` sends to `receiver` what it has begun or tries to.
    fn class_on_air(&self, by: ContenderId, receiver: StationId) -> u32 {
        let of_ppdu = self.aggregates.as_ref().map(|aggregates| aggregates.class(by));
        let station = self.originators[by as usize].station;
        of_ppdu.unwrap_or_else(|| rate_class(&self.rate_classes, station, receiver))
    }
}

/// Rates are a station's, whether it sends or receives.
#[inline]
fn rate_class(classes: &[u32], sender: StationId, receiver: StationId) -> u32 {
    classes[if sender == ACCESS_POINT { receiver } else { sender } as usize]
}

/// Whether `mpdu` of `sender` is lost on the way.
fn loses<P>(
    errors: &mut ErrorModel,
    frames: &FrameTable,
    sender: StationId,
    mpdu: &Mpdu<P>,
) -> bool {
    let far = if sender == ACCESS_POINT { mpdu.receiver } else { sender };
    errors.loses(far, frames.msdu_bits(mpdu.bits))
}

/// A retry limit as frames count it; one beyond that is as good as none.
fn limit(config: u32) -> u16 {
    config.try_into().unwrap_or(u16::MAX)
}
