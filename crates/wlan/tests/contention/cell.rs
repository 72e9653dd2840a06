//! A cell with known backoffs: the test draws the same random numbers as the cell. 802.11b: slot 20
//! us, DIFS 50 us, EIFS 364 us, ACK timeout 222 us.

use airtcp_kernel::{Duration, RandomStream, Time};
pub(crate) use airtcp_wlan::testing::{dot11b as phy, standard_mac as standard};
use airtcp_wlan::{
    Access, AccessParameters, BurstConfig, CollidedFrame, ContenderConfig, Contention, MacConfig,
    PhyConfig, Retry, Rules, StationId,
};

pub(crate) const SLOT: u64 = 20;
pub(crate) const DIFS: u64 = 50;
pub(crate) const EIFS: u64 = 364;
pub(crate) const ACK_TIMEOUT: u64 = 222;

/// A cell, and the random stream of each station's backoffs.
pub(crate) struct Cell {
    pub(crate) contention: Contention,
    backoffs: Vec<RandomStream>,
    /// The stations on the air now or last.
    on_air: Vec<StationId>,
    /// The number of failures of the frame of each station.
    failures: Vec<u32>,
    retry_limit: u32,
}

pub(crate) fn streams(stations: usize) -> Vec<RandomStream> {
    (0..stations).map(|id| RandomStream::new(1, 0, &format!("sta/{id}"), "backoff")).collect()
}

impl Cell {
    pub(crate) fn new(stations: usize, mac: &MacConfig) -> Self {
        Self::with_phy(stations, &phy(), mac)
    }

    pub(crate) fn with_phy(stations: usize, phy: &PhyConfig, mac: &MacConfig) -> Self {
        let contenders =
            (0..stations as StationId).map(|station| (station, AccessParameters::dcf(phy)));
        Self::with_contenders(contenders.collect(), phy, mac)
    }

    /// Creates a cell of queues, each with its station and its parameters.
    pub(crate) fn with_contenders(
        queues: Vec<(StationId, AccessParameters)>,
        phy: &PhyConfig,
        mac: &MacConfig,
    ) -> Self {
        Self::build(queues, phy, mac, None)
    }

    /// Creates a cell whose station 0, the access point, sends in bursts.
    pub(crate) fn with_bursts(stations: usize, mac: &MacConfig, bursts: BurstConfig) -> Self {
        let queues = (0..stations as StationId)
            .map(|station| (station, AccessParameters::dcf(&phy())))
            .collect();
        Self::build(queues, &phy(), mac, Some(bursts))
    }

    fn build(
        queues: Vec<(StationId, AccessParameters)>,
        phy: &PhyConfig,
        mac: &MacConfig,
        bursts: Option<BurstConfig>,
    ) -> Self {
        let backoffs = streams(queues.len());
        let contenders =
            queues.into_iter().zip(streams(backoffs.len())).map(|((station, access), backoffs)| {
                ContenderConfig {
                    station,
                    access,
                    backoffs,
                    bursts: (station == 0).then_some(bursts).flatten(),
                }
            });
        Self {
            contention: Contention::new(phy, mac, contenders.collect()),
            on_air: Vec::new(),
            failures: vec![0; backoffs.len()],
            retry_limit: mac.short_retry_limit,
            backoffs,
        }
    }

    /// Creates a cell in which station 0 has sent a frame from 1,000 us to 2,000 us, and has no
    /// further one.
    pub(crate) fn after_a_frame(stations: usize, mac: &MacConfig) -> Self {
        let mut cell = Self::during_a_frame(stations, mac);
        cell.succeed(2_000, false);
        cell
    }

    /// Creates a cell in which station 0 has begun to send at 1,000 us.
    pub(crate) fn during_a_frame(stations: usize, mac: &MacConfig) -> Self {
        let mut cell = Self::new(stations, mac);
        cell.queue(0, 1_000);
        cell.begin();
        cell
    }

    /// Draws the next backoff of `station`, in slots, with contention window `cw`.
    pub(crate) fn backoff(&mut self, station: StationId, cw: u32) -> u64 {
        u64::from(self.backoffs[station as usize].up_to(cw))
    }

    pub(crate) fn queue(&mut self, station: StationId, micros: u64) {
        self.contention.frame_queued(station, at(micros), false);
    }

    /// Queues a frame at `station` after it received a data frame and before its MAC ACK.
    pub(crate) fn queue_before_own_ack(&mut self, station: StationId, micros: u64) {
        self.contention.frame_queued(station, at(micros), true);
    }

    /// Starts the next access. Returns when, and which stations send.
    pub(crate) fn begin(&mut self) -> (u64, Vec<StationId>) {
        let time = micros(self.contention.next_access());
        let access = self.contention.begin();
        self.on_air = self.senders(access);
        (time, self.on_air.clone())
    }

    /// Returns the senders of an access, in the order of their numbers.
    pub(crate) fn senders(&self, access: Access) -> Vec<StationId> {
        let mut who = match access {
            Access::Alone(one) | Access::Ahead(one) => vec![one],
            Access::Collision => self.contention.colliders().to_vec(),
        };
        who.sort_unstable();
        who
    }

    pub(crate) fn succeed(&mut self, end: u64, has_frame: bool) {
        let [station] = self.on_air[..] else { panic!("one alone succeeds") };
        self.end_success(station, end, has_frame);
    }

    /// Ends the exchange of `station` with its MAC ACK, without checking whether others are on the
    /// air.
    pub(crate) fn end_success(&mut self, station: StationId, end: u64, has_frame: bool) {
        self.failures[station as usize] = 0;
        self.contention.end_success(station, at(end), has_frame);
    }

    /// Counts one more failure of `station`'s frame, and returns what happens to the frame.
    pub(crate) fn retry(&mut self, station: StationId) -> Retry {
        let failures = &mut self.failures[station as usize];
        *failures += 1;
        if *failures < self.retry_limit {
            return Retry::Again;
        }
        *failures = 0;
        Retry::Dropped
    }

    /// Lets all transmissions on the air collide. The frames end at `ends`, and no station has a
    /// further frame.
    pub(crate) fn collide(&mut self, ends: &[(StationId, u64)]) -> Vec<Retry> {
        let end = ends.iter().map(|(_, end)| *end).max().unwrap();
        let retries = ends
            .iter()
            .map(|&(station, own_end)| {
                let mut others = ends.iter().filter(|&&(other, _)| other != station);
                let own =
                    CollidedFrame { end: at(own_end), outlasts: others.all(|o| o.1 < own_end) };
                let retry = self.retry(station);
                self.contention.collided(station, retry);
                let again = retry == Retry::Again;
                self.contention.back_off_after_collision(station, retry, own, at(end), again);
                retry
            })
            .collect();
        self.contention.end_collision(at(end));
        retries
    }

    pub(crate) fn next(&self) -> Option<u64> {
        let next = self.contention.next_access();
        (next != Time::NEVER).then(|| micros(next))
    }
}

pub(crate) fn at(micros: u64) -> Time {
    Time::ZERO + Duration::from_micros(micros)
}

pub(crate) fn micros(time: Time) -> u64 {
    assert_eq!(time.as_nanos() % 1_000, 0);
    time.as_nanos() / 1_000
}

pub(crate) fn with_rules(change: impl FnOnce(&mut Rules)) -> MacConfig {
    let mut mac = standard();
    change(&mut mac.rules);
    mac
}
