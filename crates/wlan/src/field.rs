//! The MAC of several cells, or of one in which not all hear all: a medium that each station senses for itself.
//!
//! A [`Field`] is told that a queue has something to send, says when something happens next, and tells what then does,
//! as a [`Cell`](crate::Cell) does. Time jumps from event to event: a transmission begins, is noticed by those that
//! hear it, or ends, or a wait is over. A station that begins within the time that it takes to detect a preamble does
//! not know of the other; one that begins to transmit lets go of what it was receiving. EIFS follows a frame of which
//! the preamble was detected and that then failed; answers are sent a SIFS after what they answer, whatever is on the
//! air; the NAV is that of the frames that a station has understood. A frame comes through where it has the SINR that
//! its rate needs during all of it; each MPDU of an aggregate is judged alone.
//!
//! Knows no beacons, contention-free periods and bursts. Announces single exchanges, also within a TXOP; who waited for
//! an answer in vain does so for the ACK timeout, whatever the rule for those that collided. The frames of an
//! aggregate are handed on at its end.
//!
//! Plays frame by frame at each listener, unless all hear each other evenly: then by exchanges (`even.rs`), with equal
//! outcomes.

mod air;
mod alike;
mod blame;
mod books;
mod clock;
mod even;
mod exchange;
mod frames;
mod heard;
mod hearing;
mod listener;
mod node;
mod order;
mod receiving;
mod sharing;
mod waiting;

use std::collections::BTreeMap;

use air::Air;
use airtcp_kernel::{Duration, RandomStream, Time};

use crate::config::{MacConfig, PairConfig};
use crate::contention::{Contender, ContenderConfig, Settings};
use crate::engine::{ByFrames, Engine};
use crate::events::Supply;
use crate::exchange::aggregate::Aggregate;
use crate::exchange::{Originator, Roles, limit};
use crate::medium::{ErrorModel, FrameErrors};
use crate::phy::{PhyConfig, Rate};
use crate::rate_control::RateControlConfig;
use crate::sequence::dcf::FrameTable;
use crate::station::{ContenderId, StationId};
pub use books::{FailureCounts, View};
use books::{OnAir, Sensed};
use clock::{Clock, Key, Rank};
use even::{Even, Times};
pub use hearing::HearingConfig;
use hearing::{Hearing, Need};
use listener::Listener;
use node::{Node, Sends};
use sharing::{Group, WORTH_SHARING};
use waiting::{Queue, Waits};

/// The parts that a field is made from.
#[derive(Debug)]
pub struct FieldConfig<'a> {
    /// Timings and sizes.
    pub phy: &'a PhyConfig,
    /// Rules.
    pub mac: &'a MacConfig,
    /// The cell of each station. The access points have the first numbers, in the order of their cells.
    pub cells: Vec<u32>,
    /// Data and control rates of each class of stations.
    pub rates: Vec<(Rate, Rate)>,
    /// The capabilities of classes that have less than the medium.
    pub pairs: BTreeMap<u32, PairConfig>,
    /// The SINR in dB that frames need at each of them; `None` where powers are not known.
    pub needs_db: Vec<(Option<f64>, Option<f64>)>,
    /// The class of each station, as in a cell.
    pub rate_classes: Vec<u32>,
    /// The error model of frames to and from each station beside the medium, as in a cell.
    pub errors: Vec<Option<(FrameErrors, RandomStream)>>,
    /// The stations whose rate is found by sending, as in a cell.
    pub rate_controls: Vec<Option<RateControlConfig>>,
    /// The queues, in the order of their numbers: those of one station follow one another, the one with
    /// the highest priority first. Each station has one.
    pub contenders: Vec<ContenderConfig>,
    /// The powers with which all hear each other.
    pub hearing: HearingConfig,
}

/// The MAC of several cells. `P` is what a packet is.
#[derive(Debug)]
pub struct Field<P> {
    hearing: Hearing,
    groups: Vec<Group>,
    air: Air,
    engine: Engine,
    even: Even,
    /// The cell of each listener; of one of a group, where that matters, all stations have the same.
    cells: Vec<u32>,
    originators: Vec<Originator<P>>,
    frames: FrameTable,
    roles: Roles,
    errors: ErrorModel,
    is_perfect: bool,
    mac: Mac<P>,
    retry_limit: u16,
    long_retry_limit: u16,
    /// The strength that a frame with data at each rate needs, and a control frame beside it.
    needs: Vec<(Need, Need)>,
    sensed: Vec<Sensed>,
    /// The frames of each cell on the air.
    cells_on_air: Vec<OnAir>,
    /// The failures of each queue.
    failures: Vec<FailureCounts>,
    /// The frame that overlapped the last one of each exchange.
    last_culprits: Vec<node::Culprit>,
    /// Memory for when the frames of an aggregate arrive.
    arrivals: Vec<Time>,
    /// The law that was broken, which should not have happened.
    broken_law: Option<String>,
}

/// The kind of a field's exchanges.
#[derive(Debug)]
enum Mac<P> {
    /// Frames go one by one.
    Single,
    /// Frames are aggregated.
    Aggregate(Box<Aggregate<P>>),
}

impl<P: Clone> Field<P> {
    /// Makes a field at time zero with an idle medium and empty queues.
    pub fn new(config: FieldConfig<'_>) -> Self {
        let FieldConfig { phy, mac, cells, rates, rate_classes, contenders, .. } = config;
        let stations = config.hearing.classes.len();
        let access_points = cells.iter().max().map_or(0, |last| last + 1);
        let hearing = Hearing::new(config.hearing, mac.rules.weaker_before, &cells, access_points);
        let roles = Roles::of_cells(cells, rate_classes);
        let (mut groups, group_of) = Group::of_all(&hearing.groups, stations, access_points);
        let shared = hearing.groups.members.iter().filter(|members| members.len() >= WORTH_SHARING);
        let of_shared = shared.map(|members| roles.cell(members[0]));
        let of_listeners = (0..stations as StationId).map(|one| roles.cell(one)).chain(of_shared);
        let of_listeners = of_listeners.collect();
        let listeners = stations + groups.iter().filter(|one| one.is_several).count();
        let kind = Aggregate::new(
            phy,
            mac,
            (&rates, &config.pairs),
            config.rate_controls,
            (&roles, &contenders),
        );
        let nodes = (0..stations as StationId).map(|station| {
            let is_of = |one: &ContenderConfig| one.station == station;
            let first = contenders.iter().position(is_of).unwrap_or(contenders.len());
            let queues = contenders[first..].iter().take_while(|one| is_of(one)).count();
            let group = group_of[station as usize];
            let of_group = &groups[group as usize];
            let listener = if of_group.is_several { of_group.listener() } else { station };
            Node::new(listener, group, first as ContenderId, queues as u32)
        });
        let nodes = nodes.collect();
        let access_points = access_points as usize;
        let may_send_rts = mac.rts_threshold_bytes.is_some() || phy.protection.is_some();
        let errors = ErrorModel::new(config.errors);
        let settings = Settings::new(phy, mac);
        let header = phy.ofdm.map(|ofdm| ofdm.preamble_time + ofdm.plcp_header_time);
        let header = header
            .or(phy.dsss.map(|dsss| dsss.preamble_time + dsss.plcp_header_time))
            .unwrap_or_default();
        let cts = rates.iter().map(|&(_, control)| phy.ppdu_time(phy.cts_bits, control)).max();
        let need = |&(data, control): &(Option<f64>, Option<f64>)| {
            (hearing.need(data), hearing.need(control))
        };
        // Neither capture nor spatial reuse ends a reception early.
        let notices_ahead = hearing.obss_pd.is_none() && !hearing.may_capture();
        // No station gets at the medium between data and their answer.
        let least = contenders.iter().map(|one| one.access.aifs).min().unwrap_or_default();
        let sits_out =
            notices_ahead && hearing.detect < phy.sifs && phy.sifs + hearing.detect < least;
        let has_txops = contenders.iter().any(|one| one.access.txop_limit > Duration::ZERO);
        let by_frames = if !notices_ahead {
            Some(ByFrames::CaptureOrReuse)
        } else if !sits_out || phy.slot_time <= hearing.detect {
            Some(ByFrames::LateDetection)
        } else if may_send_rts {
            Some(ByFrames::Protection)
        } else if !errors.is_perfect() {
            Some(ByFrames::FrameErrors)
        } else if contenders.len() != stations {
            Some(ByFrames::SeveralQueues)
        } else if has_txops {
            Some(ByFrames::Txops)
        } else if !groups.iter().all(|group| group.is_several) {
            Some(ByFrames::SingleListeners)
        } else if !hearing.is_even(roles.cells()) {
            Some(ByFrames::UnevenHearing)
        } else {
            None
        };
        let engine = by_frames.map_or(Engine::FieldExchanges, Engine::FieldFrames);
        let is_even = by_frames.is_none();
        if is_even {
            Group::hear_evenly(&mut groups, &hearing);
        }
        let settings_eifs = phy.eifs - phy.difs;
        let times = Times { sifs: phy.sifs, detect: hearing.detect, eifs: settings_eifs };
        let originators: Vec<_> = contenders.iter().map(Originator::new).collect();
        let last_culprits = vec![node::Culprit::NOBODY; contenders.len()];
        let failures = vec![FailureCounts::default(); contenders.len()];
        let queue = |config: ContenderConfig| Queue {
            aifs: config.access.aifs,
            waits: Waits::Idle,
            contender: Contender::new(config, settings.most_failures),
        };
        let air = Air {
            settings_eifs,
            phy_header: header,
            nav_timeout: phy.sifs * 2 + cts.unwrap_or_default() + header + phy.slot_time * 2,
            nodes,
            queues: contenders.into_iter().map(queue).collect(),
            // Those that listen together wait for nothing but for what follows an RTS.
            clock: Clock::new(if may_send_rts { listeners } else { stations }),
            listeners: (0..listeners).map(|_| Listener::new()).collect(),
            reached: Key::new(Time::ZERO, Rank::Start),
            reached_by: 0,
            notices_ahead,
            on_air: Vec::new(),
            last_start: Time::ZERO,
            together: Vec::new(),
            waited: Vec::new(),
            winners: Vec::new(),
            heard: None,
            settings,
        };
        let even = Even::new(is_even, (&air.nodes, &groups), (&air.queues, &roles), times);
        Self {
            needs: config.needs_db.iter().map(need).collect(),
            groups,
            air,
            engine,
            even,
            cells: of_listeners,
            originators,
            frames: FrameTable::new(phy.clone(), mac.clone(), rates),
            is_perfect: errors.is_perfect(),
            errors,
            mac: kind.map_or(Mac::Single, Mac::Aggregate),
            retry_limit: limit(mac.short_retry_limit),
            long_retry_limit: limit(mac.long_retry_limit),
            sensed: Sensed::of_all(&hearing, &roles, stations as u32, access_points),
            cells_on_air: vec![OnAir::default(); access_points],
            failures,
            last_culprits,
            arrivals: Vec::new(),
            broken_law: None,
            roles,
            hearing,
        }
    }

    /// Returns the engine that plays it, unless it was asked to tell of frames since.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// Returns when something happens next, unless a frame is ready before; [`Time::NEVER`] if nothing
    /// does.
    #[inline]
    pub fn next_time(&self) -> Time {
        if self.even.is_on { self.even.next_time() } else { self.air.clock.first().time() }
    }

    /// Lets all contenders contend for the medium that `supply` tells of, as in a cell.
    #[inline]
    pub fn frames_ready<S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        if supply.has_ready() {
            self.let_contend(now, supply);
        }
    }

    fn let_contend<S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        if self.even.is_on {
            while let Some(contender) = supply.next_ready() {
                self.contends_evenly(contender, now);
            }
            return;
        }
        while let Some(contender) = supply.next_ready() {
            self.air.frame_queued(contender, now);
        }
        self.air.clock.look_up();
    }

    /// Plays what is due at `now`, that is [`Self::next_time`], and what follows if nothing else does. One thing at a time:
    /// there may be more at the same instant.
    pub fn advance<S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        if self.even.is_on {
            return self.advance_evenly(now, supply);
        }
        let (key, station) = (self.air.clock.first(), self.air.clock.winner());
        debug_assert_eq!(key.time(), now);
        self.air.reaches(key, station);
        match key.rank() {
            Rank::Start if self.air.nodes[station as usize].sends == Sends::Soon => {
                self.next_frame_begins(station, now, supply);
            }
            Rank::Start => self.access(station, now, supply),
            Rank::Notice => self.notice(station, now),
            Rank::End => self.frame_ends(station, now, supply),
            Rank::Timeout => self.wait_ends(station, now, supply),
        }
        self.air.clock.look_up();
    }

    fn aggregate(&self) -> Option<&Aggregate<P>> {
        if let Mac::Aggregate(one) = &self.mac { Some(one) } else { None }
    }
}
