//! Uplink OFDMA: an access point asks its stations for buffer status reports (BSRP trigger) and for
//! data (basic trigger), and they respond at once, each in its resource unit (IEEE 802.11ax-2021,
//! 26.5.2 and 26.5.5). It does so by the rules of `RrMultiUserScheduler` of ns-3 3.44.
//!
//! Stations keep their backoffs. A station that has sent everything stops contending.

mod responses;

use airtcp_kernel::{Duration, Time};

use super::super::{Aggregate, Sends};
use super::scheduler::RoundRobin;
use super::{Arrivals, exchange_of};
use crate::config::{OfdmaConfig, OfdmaUplink};
use crate::contention::ContenderConfig;
use crate::events::Supply;
use crate::exchange::{Air, OnAir, Play, Roles};
use crate::frame::{LOWEST_OFDM_RATE, Trigger};
use crate::phy::{HighRate, HighRatePpdus, ResourceUnit};
use crate::sequence::dcf::FrameTimes;
use crate::station::{ContenderId, StationId};

/// Size of the delimiter before an MPDU.
const DELIMITER_BITS: u64 = 32;
/// Size of a Multi-STA Block ACK without stations, what a station adds of which all was received, and
/// how much less than a Block ACK one with a bitmap adds (9.3.1.8.6).
const MULTI_STATION_BITS: u64 = 8 * 22;
const ALL_RECEIVED_BITS: u64 = 8 * 2;
const LESS_THAN_ALONE_BITS: u64 = 8 * 20;
/// The unit of reports, and the largest one that is not "more" (9.2.4.5.6).
const REPORT_UNIT_BITS: u64 = 8 * 256;
const MOST_REPORTED_BITS: u64 = 8 * 64_768;
/// A report of more than can be told.
const MORE: u64 = 8 * 6_500_631;
/// How long a report is used, and what an unknown queue is taken for (ns-3: `BsrLifetime`,
/// `UlPsduSize`).
const REPORT_LIFETIME: Duration = Duration::from_micros(20_000);
const UNKNOWN_BITS: u64 = 8 * 500;

/// The state of uplink OFDMA.
#[derive(Debug)]
pub(super) struct Uplink {
    /// The queue of the access point, and that of each station.
    pub(super) by: ContenderId,
    queues: Vec<ContenderId>,
    turns: RoundRobin,
    interval: Option<Duration>,
    /// The last report of each station: when it was received, and its bits.
    reports: Vec<Option<(Time, u64)>>,
    /// Whether the access point wants access without a packet.
    pub(super) is_requested: bool,
    /// Whether the last PPDU was one to several users.
    pub(super) follows_users: bool,
    /// Whether the last trigger asked for reports.
    follows_report: bool,
    /// The stations of the trigger that is assembled or on the air.
    pub(super) units: Vec<Unit>,
    /// The airtime of their PPDU.
    response: Duration,
    /// When they began to respond.
    responding: Option<Time>,
    arrivals: Arrivals,
}

/// A resource unit of a trigger-based PPDU.
#[derive(Debug)]
pub(in super::super) struct Unit {
    station: StationId,
    by: ContenderId,
    class: u32,
    unit: ResourceUnit,
    ppdus: HighRatePpdus,
    sends: Response,
}

/// What a station sends after a trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Response {
    /// A QoS Null frame.
    Nothing,
    /// A Block ACK request.
    Request,
    /// Data: the number of packets that have arrived, and that of frames received and lost.
    Data { arrived: usize, received: u64, lost: u64 },
}

impl Uplink {
    /// Creates the state; `None` if stations send only by EDCA.
    pub(super) fn new(
        config: &OfdmaConfig,
        roles: &Roles,
        contenders: &[ContenderConfig],
    ) -> Option<Self> {
        if config.uplink == OfdmaUplink::Edca {
            return None;
        }
        let stations = contenders.iter().map(|one| one.station + 1).max()?;
        let mut queues = vec![0; stations as usize];
        // Packets have one access category; only beacons have another one, which comes first.
        for (id, contender) in (0..).zip(contenders) {
            queues[contender.station as usize] = id;
        }
        let access_point = (0..stations).find(|&one| roles.is_access_point(one))?;
        Some(Self {
            by: queues[access_point as usize],
            turns: RoundRobin::new((0..stations).filter(|&one| !roles.is_access_point(one))),
            reports: vec![None; queues.len()],
            queues,
            interval: config.access_interval,
            is_requested: false,
            follows_users: false,
            follows_report: false,
            units: Vec::new(),
            response: Duration::ZERO,
            responding: None,
            arrivals: Arrivals::default(),
        })
    }

    /// Returns the last report of `station` in bits.
    fn report(&self, station: StationId, now: Time) -> u64 {
        let report = self.reports[station as usize];
        let recent = report.filter(|&(at, _)| at + REPORT_LIFETIME >= now);
        recent.map_or(UNKNOWN_BITS, |(_, bits)| bits)
    }
}

/// Returns the report of a queue of `bits`.
fn reported(bits: u64) -> u64 {
    if bits > MOST_REPORTED_BITS { MORE } else { bits.next_multiple_of(REPORT_UNIT_BITS) }
}

impl<P: Clone> Aggregate<P> {
    fn uplink(&mut self) -> &mut Uplink {
        let uplink = self.ofdma.as_mut().and_then(|one| one.uplink.as_mut());
        uplink.expect("it sends triggers")
    }

    /// Assembles a trigger of `by` if one is due: for reports after a PPDU to several users, or if the
    /// access point has no frame; for data after reports. Returns false if none is due.
    pub(super) fn assemble_trigger(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        has_frame: bool,
    ) -> bool {
        let Self { ofdma, exchanges, queues, .. } = self;
        let Some(ofdma) = ofdma else { return false };
        let (delay, sifs) = (ofdma.propagation_delay, ofdma.sifs);
        let Some(uplink) = ofdma.uplink.as_mut().filter(|one| one.by == by) else { return false };
        if let Some(interval) = uplink.interval {
            air.beacons.request_access_at(now + interval);
        }
        let asks = uplink.follows_users || !has_frame;
        if !asks && !uplink.follows_report {
            return false;
        }
        let Some(any) = uplink.turns.any() else { return false };
        let exchange_to = |station| &exchanges[air.roles.class_of(station) as usize];
        let width = exchange_to(any).high_rate().0.channel_width_mhz;
        let can = |station| asks || uplink.report(station, now) > 0;
        let Some((division, stations)) = uplink.turns.choose(width, can) else { return false };
        let streams = stations.iter().map(|&one| exchange_to(one).high_rate().0.spatial_streams);
        let preamble = HighRate::triggered_preamble(streams.max().unwrap_or(1));
        uplink.units.clear();
        for (place, &station) in stations.iter().enumerate() {
            let (rate, timing) = exchange_to(station).high_rate();
            let ppdus = rate.triggered_in(division, preamble, timing);
            let (by, class) = (uplink.queues[station as usize], air.roles.class_of(station));
            let unit = division.unit(place, preamble);
            uplink.units.push(Unit { station, by, class, unit, ppdus, sends: Response::Nothing });
        }
        let reports = stations.iter().map(|&one| uplink.report(one, now));
        let (kind, bits) = if asks {
            (Trigger::Bsrp, air.frames.phy().mac_header_bits + DELIMITER_BITS)
        } else {
            (Trigger::Basic, reports.max().unwrap_or(0))
        };
        // The rate at which ns-3 sends an RTS.
        let size = kind.bits(stations.len() as u64);
        let trigger = air.frames.phy().ppdu_time(size, LOWEST_OFDM_RATE);
        let needed = uplink.units.iter().map(|unit| unit.ppdus.time(bits)).max();
        // All users have symbols of the same length.
        let (ppdus, limit) = (uplink.units[0].ppdus, exchange_to(any).ppdu_time());
        let longest = ppdus.time(ppdus.longest_psdu(limit).unwrap_or(0));
        let response = needed.unwrap_or(longest).min(longest);
        if !asks {
            uplink.turns.charge(&stations, response);
        }
        (uplink.response, uplink.responding) = (response, None);
        (uplink.follows_users, uplink.follows_report) = (false, asks);
        let queue = &mut queues[by as usize];
        let hop = delay + sifs;
        queue.times = if asks {
            exchange_of(trigger, (response, response), hop, delay)
        } else {
            let data_received = trigger + hop + response + delay;
            FrameTimes {
                rts: trigger,
                data: response,
                control: trigger,
                first: trigger,
                data_received,
                total: data_received,
                ..FrameTimes::default()
            }
        };
        queue.sends = Sends::Trigger;
        queue.choice = None;
        true
    }

    /// Puts the trigger of `by` on the air at `start`.
    pub(in super::super) fn trigger_begins(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        start: Time,
    ) {
        let times = self.queues[by as usize].times;
        let received = start + times.first() + air.frames.phy().propagation_delay;
        air.medium.begin_alone(by, start + times.first());
        air.set_on_air(
            OnAir::Sending { end: start + times.total },
            received + air.frames.phy().sifs,
        );
    }
}

impl<P: Clone, S: Supply<P>> Play<'_, P, Aggregate<P>, S> {
    /// Lets the access point contend without a packet at `now`, unless it contends or sends anyway.
    #[cold]
    pub(in crate::exchange) fn access_is_due(&mut self, now: Time) {
        let Uplink { by, interval, .. } = *self.mac.uplink();
        self.air.beacons.request_access_at(interval.map_or(Time::NEVER, |interval| now + interval));
        let is_free = !self.air.contention.is_exchanging(by) && !self.has_frame(by);
        if is_free {
            self.mac.uplink().is_requested = true;
            self.air.access_requested(by, now);
        } else {
            self.air.look_for_access();
        }
    }
}
