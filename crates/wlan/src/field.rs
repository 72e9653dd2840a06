//! The MAC of several cells, or of one cell with hidden stations: each station senses the medium
//! for itself.
//!
//! Like a [`Cell`](crate::Cell), a [`Field`] learns that a queue has frames to send, returns when
//! the next event is due, and reports what the event does. Time jumps from event to event. An event
//! is the start or end of a transmission, the instant at which a station detects it, or the end of
//! a timeout. A station that starts within the preamble detection time does not know of the other
//! transmission. A station that starts to transmit abandons what it was receiving. EIFS follows a
//! frame that was detected and then failed. Responses start a SIFS after the frame that they
//! answer, whatever is on the air. The NAV comes from the frames that a station has decoded. A
//! frame is received if its SINR suffices for its rate during the whole frame. Each MPDU of an
//! aggregate is judged separately.
//!
//! There are no beacons, contention-free periods or bursts. Announcements protect single exchanges,
//! also within a TXOP. A sender without a response waits for the ACK timeout, whatever the rule for
//! collisions.
//!
//! The field plays frame by frame at each listener. If all stations hear each other evenly, it
//! plays by exchanges (`even.rs`), with equal results.

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
mod receiving;
mod sharing;
mod waiting;

use air::Air;
use airtcp_kernel::{Duration, Time};

use crate::config::Delivery;
use crate::contention::{Backoffs, Contender, ContenderConfig, Settings};
use crate::engine::Engine;
use crate::events::Supply;
use crate::exchange::aggregate::Aggregate;
use crate::exchange::{Originator, Roles, limit};
use crate::medium::{ErrorModel, MediumConfig};
use crate::sequence::dcf::FrameTable;
use crate::station::{ContenderId, StationId};
pub use books::{AirtimeParts, FailureCounts, View};
use books::{OnAir, Sensed};
use clock::{Clock, Key, Rank};
use even::{Even, Times};
use hearing::Hearing;
pub use hearing::HearingConfig;
use listener::Listener;
use node::{Node, Sends};
use sharing::{Group, WORTH_SHARING};

/// The maximum number of events in one call.
const MOST_AT_ONCE: u32 = 64;

/// The MAC of several cells. `P` is the type of a packet.
#[derive(Debug)]
pub struct Field<P> {
    hearing: Hearing,
    groups: Vec<Group>,
    air: Air,
    engine: Engine,
    even: Even,
    /// The cell of each listener. If the cell matters, all stations of a group have the same one.
    cells: Vec<u32>,
    originators: Vec<Originator<P>>,
    frames: FrameTable,
    roles: Roles,
    errors: ErrorModel,
    is_perfect: bool,
    mac: Mac<P>,
    retry_limit: u16,
    long_retry_limit: u16,
    sensed: Vec<Sensed>,
    /// The transmissions of each cell on the air.
    cells_on_air: Vec<OnAir>,
    /// The failures of each queue.
    failures: Vec<FailureCounts>,
    /// For each exchange, the frame that overlapped the last one.
    last_culprits: Vec<node::Culprit>,
    /// Scratch memory for the arrival times of an aggregate's MPDUs.
    arrivals: Vec<Time>,
    /// The aggregate that each station sends, if its MPDUs are delivered one by one
    /// ([`Delivery::Mpdu`]); otherwise empty.
    arriving: Vec<Arriving>,
    /// The first violated invariant, if any. It would be a bug.
    broken_law: Option<String>,
}

/// An aggregate on the air whose MPDUs are delivered one by one.
#[derive(Clone, Debug, Default)]
struct Arriving {
    /// When each of its packets arrives.
    ends: Vec<Time>,
    /// The number of packets that have arrived, or were lost.
    arrived: usize,
    /// Whether any of them was received.
    any_received: bool,
}

impl Arriving {
    /// Begins an aggregate whose packets arrive at `ends`. Returns the first of these.
    fn begin(&mut self, ends: &[Time]) -> Option<Time> {
        self.ends.clear();
        self.ends.extend_from_slice(ends);
        (self.arrived, self.any_received) = (0, false);
        ends.first().copied()
    }
}

/// The exchange logic: with or without aggregation.
#[derive(Debug)]
enum Mac<P> {
    /// One MPDU per frame.
    Single,
    /// A-MPDUs.
    Aggregate(Box<Aggregate<P>>),
}

impl<P: Clone> Field<P> {
    /// Creates a field at time zero with an idle medium and empty queues.
    pub fn new(config: MediumConfig<'_>, hearing: HearingConfig) -> Self {
        let MediumConfig { phy, mac, cells, rates, rate_classes, contenders, .. } = config;
        let stations = hearing.classes.len();
        let access_points = cells.iter().max().map_or(0, |last| last + 1);
        let hearing = Hearing::new(hearing, mac.rules.weaker_before, &cells, access_points);
        let roles = Roles::new(cells, rate_classes);
        let (mut groups, group_of) = Group::of_all(&hearing.groups, stations, access_points);
        let shared = hearing.groups.members.iter().filter(|members| members.len() >= WORTH_SHARING);
        let of_shared = shared.map(|members| roles.cell(members[0]));
        let of_listeners = (0..stations as StationId).map(|one| roles.cell(one)).chain(of_shared);
        let of_listeners = of_listeners.collect();
        let listeners = stations + groups.iter().filter(|one| one.is_several).count();
        let kind = Aggregate::new(
            phy,
            &mac,
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
        let settings = Settings::new(phy, &mac);
        let header = phy.ofdm.map(|ofdm| ofdm.preamble_time + ofdm.plcp_header_time);
        let header = header
            .or(phy.dsss.map(|dsss| dsss.preamble_time + dsss.plcp_header_time))
            .unwrap_or_default();
        let cts = rates.iter().map(|&(_, control)| phy.ppdu_time(phy.cts_bits, control)).max();
        // Neither capture nor spatial reuse ends a reception early.
        let notices_ahead = hearing.obss_pd.is_none() && !hearing.may_capture();
        // No station can access the medium between data and its response.
        let least = contenders.iter().map(|one| one.access.aifs).min().unwrap_or_default();
        let sits_out =
            notices_ahead && hearing.detect < phy.sifs && phy.sifs + hearing.detect < least;
        let has_txops = contenders.iter().any(|one| one.access.txop_limit > Duration::ZERO);
        let by_mpdus = kind.is_some() && mac.rules.delivery == Delivery::Mpdu;
        let reasons = [
            (!notices_ahead, "capture or OBSS-PD"),
            (
                !sits_out || phy.slot_time <= hearing.detect,
                "detection takes as long as a SIFS or a slot",
            ),
            (may_send_rts, "RTS threshold or protection"),
            (!errors.is_perfect(), "frame errors"),
            (contenders.len() != stations, "several access categories in use"),
            (has_txops, "TXOP limits"),
            (by_mpdus, "MPDUs are delivered one by one"),
            (
                !groups.iter().all(|group| group.is_several),
                "a station hears what no other station hears",
            ),
        ];
        let first = reasons.into_iter().find_map(|(holds, reason)| holds.then_some(reason));
        let is_uneven = || !hearing.is_even(roles.cells());
        let uneven = "received powers differ or cells hear each other in part";
        let by_frames = first.or_else(|| is_uneven().then_some(uneven));
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
        let backoffs = Backoffs::new(&contenders, false);
        let groups_of_queues = &backoffs.groups;
        let queue = |config| Contender::of_group(config, groups_of_queues, settings.most_failures);
        let air = Air {
            settings_eifs,
            phy_header: header,
            nav_timeout: phy.sifs * 2 + cts.unwrap_or_default() + header + phy.slot_time * 2,
            nodes,
            queues: contenders.into_iter().map(queue).collect(),
            // Listeners of a group only ever schedule the NAV reset after an RTS.
            clock: Clock::new(if may_send_rts { listeners } else { stations }),
            listeners: (0..listeners).map(|_| Listener::new(backoffs.clone())).collect(),
            reached: Key::new(Time::ZERO, Rank::Start),
            reached_by: 0,
            notices_ahead,
            on_air: Vec::new(),
            last_start: Time::ZERO,
            together: Vec::new(),
            waited: Vec::new(),
            heard: None,
            settings,
        };
        let even = Even::new(is_even, (&air.nodes, &groups), (&backoffs, &roles), times);
        Self {
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
            arriving: if by_mpdus { vec![Arriving::default(); stations] } else { Vec::new() },
            broken_law: None,
            roles,
            hearing,
        }
    }

    /// Returns the engine in use. It changes if the caller asks for received frames.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// Returns the time of the next event; [`Time::NEVER`] if there is none. A new frame may come
    /// earlier.
    #[inline]
    pub fn next_time(&self) -> Time {
        self.air.clock.first().time()
    }

    /// Starts contention for the queues in `supply` that have frames, as in a cell.
    #[inline]
    pub fn frames_ready<S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        if supply.has_ready() {
            self.let_contend(now, supply);
        }
    }

    #[inline(always)]
    fn let_contend<S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        while let Some(contender) = supply.next_ready() {
            if self.even.is_on {
                self.queued_evenly(contender, now);
            } else {
                self.air.frame_queued(contender, now);
            }
        }
        self.air.clock.look_up();
    }

    /// Plays the next event, which is due at `now` ([`Self::next_time`]), and its direct
    /// consequences, and the events after it until one has something to report. The number is
    /// limited, so that the caller can check for cancellation.
    pub fn advance<S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        let mut now = now;
        for _ in 0..MOST_AT_ONCE {
            self.play_first(now, supply);
            self.let_contend(now, supply);
            let next = self.next_time();
            if !supply.play_until(next) {
                return;
            }
            now = next;
        }
    }

    /// Plays the first event.
    #[inline(always)]
    fn play_first<S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        let (key, station) = (self.air.clock.first(), self.air.clock.winner());
        debug_assert_eq!(key.time(), now);
        self.air.reaches(key, station);
        if self.even.is_on {
            return self.play_evenly((key, station), now, supply);
        }
        match key.rank() {
            Rank::Start if self.air.nodes[station as usize].sends == Sends::Soon => {
                self.next_frame_begins(station, now, supply);
            }
            Rank::Start => self.access(station, now, supply),
            Rank::Notice => self.notice(station, now),
            Rank::End if now < self.air.nodes[station as usize].frame.end => {
                self.mpdus_end(station, now, supply);
            }
            Rank::End => self.frame_ends(station, now, supply),
            Rank::Timeout => self.wait_ends(station, now, supply),
        }
    }

    fn aggregate(&self) -> Option<&Aggregate<P>> {
        if let Mac::Aggregate(one) = &self.mac { Some(one) } else { None }
    }
}
