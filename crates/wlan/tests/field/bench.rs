//! Stations of several cells with full queues, and their results. 802.11a at 54 Mb/s with control
//! frames at 24 Mb/s: slot 9 us, SIFS 16 us, DIFS 34 us, EIFS 94 us.

use std::collections::BTreeMap;

use airtcp_kernel::{Duration, RandomStream, Time};
pub(crate) use airtcp_wlan::testing::dot11a as phy;
use airtcp_wlan::testing::standard_mac;
use airtcp_wlan::{
    AccessParameters, ContenderConfig, ContenderId, Field, HeardBy, HearingConfig, MacConfig,
    MacCounters, MacEvent, MediumConfig, Mpdu, Msdu, PhyConfig, StationId, Supply,
};

/// Returns the rules of the standard, with eight transmissions of a frame (ns-3's limit of 7).
pub(crate) fn mac(rts: bool) -> MacConfig {
    MacConfig {
        short_retry_limit: 8,
        long_retry_limit: 8,
        rts_threshold_bytes: rts.then_some(0),
        ..standard_mac()
    }
}

/// Queues that are never empty: each sends datagrams to one station, or is unused.
pub(crate) struct Saturated {
    receivers: Vec<Option<StationId>>,
    bits: u64,
    pub(crate) ready: Vec<ContenderId>,
    pub(crate) received: Vec<Vec<Time>>,
    /// The stations that received the reported frames.
    pub(crate) heard: Vec<HeardBy>,
}

impl Saturated {
    /// Creates queues of datagrams of `bytes` bytes.
    pub(crate) fn new(receivers: Vec<Option<StationId>>, bytes: u64) -> Self {
        let queues = receivers.len();
        Self {
            bits: 8 * (bytes + 28),
            ready: (0..).zip(&receivers).filter_map(|(id, to)| to.map(|_| id)).collect(),
            received: vec![Vec::new(); queues],
            heard: Vec::new(),
            receivers,
        }
    }

    /// Reports at `now` the queues that are ready, and plays everything before `end`.
    pub(crate) fn run(&mut self, field: &mut Field<()>, now: Time, end: Time) {
        field.frames_ready(now, self);
        while field.next_time() < end {
            field.advance(field.next_time(), self);
        }
    }
}

impl Supply<()> for Saturated {
    fn next(
        &mut self,
        contender: ContenderId,
        _: Option<StationId>,
        _: Time,
        fits: impl FnOnce(StationId, u64) -> bool,
        take: impl FnOnce(Msdu<()>),
    ) -> bool {
        let Some(receiver) = self.receivers[contender as usize] else { return false };
        let is_next = fits(receiver, self.bits);
        if is_next {
            take(Msdu { receiver, bits: self.bits, payload: () });
        }
        is_next
    }

    fn receiver<'a>(
        &mut self,
        contender: ContenderId,
        _: impl Iterator<Item = (StationId, Option<&'a ()>)>,
    ) -> Option<StationId> {
        self.receivers[contender as usize]
    }

    fn has_next(&self, contender: ContenderId) -> bool {
        self.receivers[contender as usize].is_some()
    }

    fn acknowledged(&mut self, _: Time, by: ContenderId, _: &Mpdu<()>) -> bool {
        self.has_next(by)
    }

    fn carries_data(&self, (): &()) -> bool {
        true
    }

    fn watches_colliders(&self) -> bool {
        false
    }

    fn next_ready(&mut self) -> Option<ContenderId> {
        self.ready.pop()
    }

    fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    fn on_event(&mut self, now: Time, event: MacEvent<'_, ()>) {
        match event {
            MacEvent::Received { by, .. } => self.received[by as usize].push(now),
            MacEvent::Heard(frame) => self.heard.extend(frame.ears),
            _ => {}
        }
    }
}

/// The stations of a field: the access points `A`, `B`, ... first, then their stations.
pub(crate) struct Floor {
    pub(crate) cells: Vec<u32>,
    pub(crate) receivers: Vec<Option<StationId>>,
    /// The pairs of stations that hear each other.
    pub(crate) links: Vec<(StationId, StationId)>,
    /// The name of each station, which determines its random stream.
    pub(crate) names: Vec<u32>,
}

/// The goodput in b/s of a queue, and the share of its attempts that failed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Got {
    pub(crate) goodput: f64,
    pub(crate) failed: f64,
    /// When its frames were received.
    pub(crate) seen: Vec<Time>,
}

impl Got {
    pub(crate) fn new(
        counters: &MacCounters,
        supply: &Saturated,
        id: ContenderId,
        bytes: u64,
        seconds: u64,
    ) -> Self {
        let seen = supply.received[id as usize].clone();
        Self {
            goodput: 8.0 * bytes as f64 * seen.len() as f64 / seconds as f64,
            seen,
            failed: counters.unanswered() as f64 / counters.asked().max(1) as f64,
        }
    }
}

pub(crate) fn backoffs(seed: u64, station: StationId) -> RandomStream {
    RandomStream::new(seed, 0, &format!("sta/{station}"), "backoff")
}

pub(crate) fn seconds(seconds: u64) -> Time {
    Time::ZERO + Duration::from_secs(seconds)
}

impl Floor {
    /// Creates cells with an access point that sends to one station. Cells in `pairs` hear each
    /// other entirely.
    pub(crate) fn of_cells(cells: u32, pairs: &[(u32, u32)]) -> Self {
        let of = |cell| [cell, cells + cell];
        let mut links: Vec<_> = (0..cells).map(|cell| (cell, cells + cell)).collect();
        for &(one, other) in pairs {
            links.extend(of(one).into_iter().flat_map(|a| of(other).map(|b| (a, b))));
        }
        Self {
            cells: (0..cells).chain(0..cells).collect(),
            receivers: (0..2 * cells).map(|one| (one < cells).then_some(cells + one)).collect(),
            links,
            names: (0..2 * cells).collect(),
        }
    }

    /// Creates an access point and two stations that send to it and do not hear each other.
    pub(crate) fn hidden_pair() -> Self {
        Self {
            cells: vec![0; 3],
            receivers: vec![None, Some(0), Some(0)],
            links: vec![(0, 1), (0, 2)],
            names: (0..3).collect(),
        }
    }

    /// Creates an access point and stations that send to it. All hear each other.
    pub(crate) fn all_hear_all(stations: u32) -> Self {
        Self {
            cells: vec![0; stations as usize + 1],
            receivers: (0..=stations).map(|one| (one > 0).then_some(0)).collect(),
            links: (0..=stations).flat_map(|a| (0..a).map(move |b| (a, b))).collect(),
            names: (0..=stations).collect(),
        }
    }

    /// Creates two cells with an upload each; only their access points hear each other.
    pub(crate) fn exposed_uploads() -> Self {
        Self {
            cells: vec![0, 1, 0, 1],
            receivers: vec![None, None, Some(0), Some(1)],
            links: vec![(0, 2), (1, 3), (0, 1)],
            names: (0..4).collect(),
        }
    }

    /// Creates three cells with a download each; only neighbouring access points hear each other.
    pub(crate) fn exposed_chain() -> Self {
        let links = vec![(0, 3), (1, 4), (2, 5), (0, 1), (1, 2)];
        Self { links, ..Self::of_cells(3, &[]) }
    }

    pub(crate) fn hearing(&self) -> HearingConfig {
        let stations = self.cells.len();
        let mut received_dbm = vec![vec![None; stations]; stations];
        for &(one, other) in &self.links {
            received_dbm[one as usize][other as usize] = Some(-50.0);
            received_dbm[other as usize][one as usize] = Some(-50.0);
        }
        HearingConfig {
            classes: (0..stations as u32).collect(),
            received_dbm,
            needs_db: Vec::new(),
            sense_dbm: -82.0,
            energy_dbm: -62.0,
            noise_dbm: None,
            detect: Duration::from_micros(4),
            capture_db: None,
            obss_pd_dbm: None,
            power_dbm: 20.0,
        }
    }

    /// Returns who hears whom with known powers: `dbm` between cells, and -50 dBm within each cell.
    pub(crate) fn hearing_between(&self, dbm: f64) -> HearingConfig {
        let mut hearing = self.hearing();
        for (row, from) in hearing.received_dbm.iter_mut().zip(&self.cells) {
            for (power, to) in row.iter_mut().zip(&self.cells) {
                if from != to {
                    *power = Some(dbm);
                }
            }
        }
        HearingConfig { noise_dbm: Some(-94.0), energy_dbm: -82.0, ..hearing }
    }

    /// Plays `seconds` of it with the DCF.
    pub(crate) fn play(
        &self,
        (phy, mac): (&PhyConfig, &MacConfig),
        bytes: u64,
        seed: u64,
        seconds: u64,
    ) -> Vec<Got> {
        let access = AccessParameters::dcf(phy);
        self.play_on((phy, mac, access), (self.hearing(), None), bytes, seed, seconds)
    }

    /// Plays `seconds` of it with the given hearing and required SINR in dB.
    pub(crate) fn play_on(
        &self,
        (phy, mac, access): (&PhyConfig, &MacConfig, AccessParameters),
        (hearing, needs_db): (HearingConfig, Option<f64>),
        bytes: u64,
        seed: u64,
        seconds: u64,
    ) -> Vec<Got> {
        let mut field = self.field((phy, mac, access), (hearing, needs_db), seed);
        let mut supply = Saturated::new(self.receivers.clone(), bytes);
        supply.run(&mut field, Time::ZERO, self::seconds(seconds));
        (0..self.cells.len())
            .map(|id| {
                field.check_laws(id as ContenderId).unwrap();
                let id = id as ContenderId;
                Got::new(field.counters(id), &supply, id, bytes, seconds)
            })
            .collect()
    }

    /// Creates its field, as [`Self::play_on`] plays it.
    pub(crate) fn field(
        &self,
        (phy, mac, access): (&PhyConfig, &MacConfig, AccessParameters),
        (hearing, needs_db): (HearingConfig, Option<f64>),
        seed: u64,
    ) -> Field<()> {
        let stations = self.cells.len();
        let contender = |station| ContenderConfig {
            station,
            access,
            backoffs: backoffs(seed, self.names[station as usize]),
            bursts: None,
        };
        let needs_db = vec![(needs_db, needs_db.map(|need| need - 8.0))];
        let config = MediumConfig {
            phy,
            mac: mac.clone(),
            cells: self.cells.clone(),
            rates: vec![(phy.data_rate, phy.control_rate)],
            pairs: BTreeMap::new(),
            rate_classes: vec![0; stations],
            errors: Vec::new(),
            rate_controls: Vec::new(),
            contenders: (0..stations as StationId).map(contender).collect(),
        };
        Field::new(config, HearingConfig { needs_db, ..hearing })
    }
}
