//! A plain reference of [`Field`](crate::Field), slow and short. Each station senses the medium for
//! itself, each event is played at its instant, and the next event is searched among all stations.
//! There are no shared listeners, logs, orders of queues or stored accesses.
//!
//! What a frame contains, how long it lasts and what is retransmitted comes from
//! [`exchange`](crate::exchange), as in the product. Who hears, receives, waits and sends is written
//! here a second time, on purpose, so that the two can be compared.

mod air;
mod contention;
mod exchange;
mod powers;
mod station;
mod views;

use airtcp_kernel::{Duration, Time};

use crate::contention::{Contender, ContenderConfig, Settings};
use crate::counters::MacCounters;
use crate::events::Supply;
use crate::exchange::aggregate::Aggregate;
use crate::exchange::{Originator, Roles, limit};
use crate::field::{FailureCounts, HearingConfig, View};
use crate::medium::{ErrorModel, MediumConfig};
use crate::sequence::dcf::FrameTable;
use crate::station::{ContenderId, StationId};
use contention::{Queue, Waits};
use powers::Powers;
use station::{Culprit, Known, Station};
use views::Sensed;

/// The order of events at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// A station starts to transmit.
    Start,
    /// A frame ends.
    End,
    /// Stations detect a frame, or learn its cell.
    Notice,
    /// A response timeout ends, or a NAV is reset.
    Timeout,
}

/// The reference. `P` is the type of a packet.
pub(crate) struct Plain<P> {
    powers: Powers,
    settings: Settings,
    /// EIFS without its final DIFS.
    eifs: Duration,
    /// The duration of the preamble and header of a control frame.
    phy_header: Duration,
    /// The time after an RTS within which a frame must follow; otherwise its NAV is reset.
    nav_timeout: Duration,
    stations: Vec<Station>,
    queues: Vec<Queue>,
    /// The required SINR of data and control frames of each rate class.
    needs: Vec<(f64, f64)>,
    frames: FrameTable,
    originators: Vec<Originator<P>>,
    roles: Roles,
    errors: ErrorModel,
    aggregate: Option<Box<Aggregate<P>>>,
    retry_limits: (u16, u16),
    /// For each queue, the frame that overlapped its last one.
    culprits: Vec<Culprit>,
    failures: Vec<FailureCounts>,
    sensed: Vec<Sensed>,
}

impl<P: Clone> Plain<P> {
    pub(crate) fn new(config: MediumConfig<'_>, hearing: HearingConfig) -> Self {
        let MediumConfig { phy, mac, rates, contenders, .. } = config;
        let needs_db = hearing.needs_db.clone();
        let powers = Powers::new(hearing, mac.rules.weaker_before);
        let access_points = config.cells.iter().max().map_or(0, |last| last + 1);
        let count = config.cells.len() as StationId;
        let roles = Roles::new(config.cells, config.rate_classes);
        let aggregate = Aggregate::new(
            phy,
            &mac,
            (&rates, &config.pairs),
            config.rate_controls,
            (&roles, &contenders),
        );
        let of_ofdm = phy.ofdm.map(|ofdm| ofdm.preamble_time + ofdm.plcp_header_time);
        let of_dsss = phy.dsss.map(|dsss| dsss.preamble_time + dsss.plcp_header_time);
        let phy_header = of_ofdm.or(of_dsss).unwrap_or_default();
        let cts = rates.iter().map(|&(_, control)| phy.ppdu_time(phy.cts_bits, control)).max();
        let settings = Settings::new(phy, &mac);
        let station = |station| {
            let of = (0..).zip(&contenders).filter(|(_, one)| one.station == station);
            Station::new(of.map(|(id, _)| id).collect())
        };
        let queue = |one: &ContenderConfig| Queue {
            aifs: one.access.aifs,
            waits: Waits::Idle,
            contender: Contender::new(one.clone(), settings.most_failures),
        };
        Self {
            eifs: phy.eifs - phy.difs,
            phy_header,
            nav_timeout: phy.sifs * 2 + cts.unwrap_or_default() + phy_header + phy.slot_time * 2,
            stations: (0..count).map(station).collect(),
            queues: contenders.iter().map(queue).collect(),
            needs: (needs_db.iter())
                .map(|&(data, control)| (powers.need(data), powers.need(control)))
                .collect(),
            originators: contenders.iter().map(Originator::new).collect(),
            frames: FrameTable::new(phy.clone(), mac.clone(), rates),
            errors: ErrorModel::new(config.errors),
            aggregate,
            retry_limits: (limit(mac.short_retry_limit), limit(mac.long_retry_limit)),
            culprits: vec![Culprit::NOBODY; contenders.len()],
            failures: vec![FailureCounts::default(); contenders.len()],
            sensed: vec![Sensed::new(access_points); access_points as usize],
            settings,
            powers,
            roles,
        }
    }

    /// Returns the first event of all stations.
    fn first(&self) -> (Time, Rank, StationId) {
        let all = (0..).zip(&self.stations).flat_map(|(id, station)| {
            let acts = match (&station.sending, &station.next_frame) {
                (Some(frame), _) => match station.known {
                    Known::Nothing => (frame.start + self.powers.detect, Rank::Notice, id),
                    Known::Preamble => (frame.start + powers::COLOUR_KNOWN, Rank::Notice, id),
                    Known::All => (frame.end, Rank::End, id),
                },
                (None, Some(frame)) => (frame.start, Rank::Start, id),
                (None, None) => (self.access_of(id), Rank::Start, id),
            };
            [acts, (station.timeout.min(station.nav_reset), Rank::Timeout, id)]
        });
        all.min().expect("there are stations")
    }

    pub(crate) fn next_time(&self) -> Time {
        self.first().0
    }

    pub(crate) fn frames_ready<S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        while let Some(contender) = supply.next_ready() {
            self.frame_queued(contender, now);
        }
    }

    /// Plays the first event.
    pub(crate) fn advance<S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        let (_, rank, id) = self.first();
        match rank {
            Rank::Start if self.stations[id as usize].next_frame.is_some() => {
                self.next_frame_begins(id, now, supply);
            }
            Rank::Start => self.access(id, now, supply),
            Rank::End => self.frame_ends(id, now, supply),
            Rank::Notice => self.notice(id, now),
            Rank::Timeout => self.timeout(id, now, supply),
        }
    }

    pub(crate) fn counters(&self, contender: ContenderId) -> &MacCounters {
        &self.queues[contender as usize].contender.counters
    }

    pub(crate) fn failures(&self) -> &[FailureCounts] {
        &self.failures
    }

    pub(crate) fn views(&self, now: Time) -> Vec<View> {
        self.sensed.iter().map(|one| one.until(now)).collect()
    }
}
