//! Random floors: who hears whom with which power, the traffic, and the rules. Plays them and
//! records everything that the field reports. No expected results are here.

use std::collections::{BTreeMap, VecDeque};

use airtcp_kernel::{Duration, RandomStream, Time};
use airtcp_wlan::{
    AccessParameters, AirtimeParts, ArrivalBeforeOwnAck, ContenderConfig, ContenderId, EdcaConfig,
    FailureCounts, Field, FrameErrors, HearingConfig, MacConfig, MacCounters, MediumConfig,
    PhyConfig, Protection, ProtectionKind, StationId, View, WeakerBefore,
};

use super::aggregates::{ax, ax_mac};
use super::bench::{mac, phy};
use super::plain::Plain;
use super::traffic::{Packet, Queues, Traffic};

/// A field, or its plain reference.
trait Medium {
    fn make(config: MediumConfig<'_>, hearing: HearingConfig) -> Self;
    fn next_time(&self) -> Time;
    fn frames_ready(&mut self, now: Time, supply: &mut Queues);
    fn advance(&mut self, now: Time, supply: &mut Queues);
    fn counters(&self, contender: ContenderId) -> &MacCounters;
    fn failures(&self) -> &[FailureCounts];
    fn views(&self, now: Time) -> Vec<View>;
    /// Brings counters and views up to `now`, so that they can be read.
    fn settle(&mut self, _: Time) {}
    fn check_laws(&self, _: ContenderId) -> Result<(), String> {
        Ok(())
    }
    /// Switches to playing every exchange frame by frame.
    fn play_in_frames(&mut self) {}
    /// Returns the number of exchanges played as a whole.
    fn whole(&self) -> u64 {
        0
    }
}

macro_rules! medium {
    ($kind:ident) => {
        fn make(config: MediumConfig<'_>, hearing: HearingConfig) -> Self {
            Self::new(config, hearing)
        }

        fn next_time(&self) -> Time {
            $kind::next_time(self)
        }

        fn frames_ready(&mut self, now: Time, supply: &mut Queues) {
            $kind::frames_ready(self, now, supply);
        }

        fn advance(&mut self, now: Time, supply: &mut Queues) {
            $kind::advance(self, now, supply);
        }

        fn counters(&self, contender: ContenderId) -> &MacCounters {
            $kind::counters(self, contender)
        }

        fn failures(&self) -> &[FailureCounts] {
            $kind::failures(self)
        }
    };
}

impl Medium for Field<Packet> {
    medium!(Field);

    fn views(&self, now: Time) -> Vec<View> {
        Field::views(self, now).collect()
    }

    fn settle(&mut self, now: Time) {
        Field::settle(self, now);
    }

    fn check_laws(&self, contender: ContenderId) -> Result<(), String> {
        Field::check_laws(self, contender)
    }

    fn play_in_frames(&mut self) {
        Field::play_in_frames(self);
    }

    fn whole(&self) -> u64 {
        Field::whole(self)
    }
}

impl Medium for Plain<Packet> {
    medium!(Plain);

    fn views(&self, now: Time) -> Vec<View> {
        Plain::views(self, now)
    }
}

/// How stations hear each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Stations of a cell hear the same: their own cell, and all stations of some other cells.
    Cells,
    /// Some pairs of stations.
    Graph,
    /// Stations of a cell hear the same, with a power for each pair of cells.
    CellPowers,
    /// Each pair of stations has a power of its own.
    Powers,
}

/// A floor.
#[derive(Debug)]
pub(crate) struct Drawn {
    cells: Vec<u32>,
    phy: PhyConfig,
    mac: MacConfig,
    hearing: HearingConfig,
    accesses: Vec<AccessParameters>,
    /// The AIFS of access points, if it differs.
    of_access_points: Option<Duration>,
    traffic: Vec<Traffic>,
    /// The probability of frame errors.
    error_rate: Option<f64>,
    seed: u64,
}

impl Drawn {
    /// Draws a floor.
    pub(crate) fn new(seed: u64) -> Self {
        let mut draws = RandomStream::new(seed, 0, "floor", "draws");
        let kind = [Kind::Cells, Kind::Graph, Kind::CellPowers, Kind::Powers][seed as usize % 4];
        let count = 1 + draws.up_to(4);
        let mut cells: Vec<u32> = (0..count).collect();
        for cell in 0..count {
            cells.extend((0..=draws.up_to(3)).map(|_| cell));
        }
        let is_aggregate = draws.unit() < 0.4;
        let rts = draws.unit() < 0.4;
        let phy = if is_aggregate { ax() } else { phy() };
        let mut mac = if is_aggregate { ax_mac(rts) } else { mac(rts) };
        mac.rules.immediate_access = draws.unit() < 0.7;
        mac.rules.post_backoff = draws.unit() < 0.8;
        mac.rules.post_backoff_after_drop = draws.unit() < 0.8;
        if draws.unit() < 0.3 {
            mac.rules.arrival_before_own_ack = ArrivalBeforeOwnAck::Idle;
        }
        let mut accesses = vec![AccessParameters::dcf(&phy)];
        if draws.unit() < 0.3 {
            mac.edca = Some(EdcaConfig { ap: BTreeMap::new(), stations: BTreeMap::new() });
            accesses[0].txop_limit = Duration::from_micros(u64::from(draws.up_to(1)) * 2_528);
            let aifs = phy.sifs + phy.slot_time * 3;
            accesses.push(AccessParameters { aifs, ..AccessParameters::dcf(&phy) });
        }
        let queues = accesses.len();
        let traffic = (0..cells.len() * queues).map(|id| {
            let station = (id / queues) as u32;
            let cell = cells[station as usize];
            let to = if station < count {
                let own: Vec<_> = (count..cells.len() as u32)
                    .filter(|&one| cells[one as usize] == cell)
                    .collect();
                own[draws.up_to(own.len() as u32 - 1) as usize]
            } else {
                cell
            };
            match draws.up_to(5) {
                0 | 1 => Traffic::Window(to, 1 + draws.up_to(8)),
                2 | 3 => {
                    Traffic::Now(to, Duration::from_micros(200 + u64::from(draws.up_to(8_000))))
                }
                _ => Traffic::None,
            }
        });
        let traffic = traffic.collect();
        let mut hearing = Self::hear(&cells, kind, &mut draws);
        let need = hearing.noise_dbm.map(|_| f64::from(10 + draws.up_to(12)));
        hearing.needs_db.push((need, need.map(|need| need - 8.0)));
        let of_access_points = None;
        Self {
            cells,
            phy,
            mac,
            hearing,
            accesses,
            of_access_points,
            traffic,
            error_rate: None,
            seed,
        }
    }

    /// Draws frame errors, CTS-to-self and whether weaker frames are noticed, too.
    pub(crate) fn with_rare_rules(mut self) -> Self {
        let mut draws = RandomStream::new(self.seed, 0, "floor", "rare rules");
        self.error_rate = (draws.unit() < 0.25).then_some(0.1);
        if draws.unit() < 0.15 {
            let rate = self.phy.control_rate;
            self.phy.protection = Some(Protection { kind: ProtectionKind::CtsToSelf, rate });
        }
        if draws.unit() < 0.5 {
            self.mac.rules.weaker_before = WeakerBefore::Unnoticed;
        }
        self
    }

    /// Gives access points an AIFS that is longer than that of their stations by 1 to 3 slots,
    /// depending on the seed.
    pub(crate) fn with_hasty_stations(mut self) -> Self {
        let slots = 1 + self.seed / 4 % 3;
        self.of_access_points = Some(self.accesses[0].aifs + self.phy.slot_time * slots);
        self
    }

    fn hear(cells: &[u32], kind: Kind, draws: &mut RandomStream) -> HearingConfig {
        let count = cells.iter().max().expect("there are cells") + 1;
        let powers = matches!(kind, Kind::CellPowers | Kind::Powers);
        let share = draws.unit();
        let power = |draws: &mut RandomStream| {
            if powers {
                (draws.unit() < 0.9).then(|| -f64::from(45 + draws.up_to(50)))
            } else {
                (draws.unit() < share).then_some(-50.0)
            }
        };
        let stations = cells.len();
        let by_cell: Vec<Vec<_>> =
            (0..count).map(|_| (0..count).map(|_| power(draws)).collect()).collect();
        let mut received_dbm = vec![vec![None; stations]; stations];
        for from in 0..stations {
            for to in 0..from {
                let (one, other) = (cells[from] as usize, cells[to] as usize);
                let is_own = one == other;
                let is_link = is_own && to < count as usize;
                let drawn = match kind {
                    Kind::Cells | Kind::CellPowers if is_own => Some(-50.0),
                    Kind::Cells | Kind::CellPowers => by_cell[one.max(other)][one.min(other)],
                    _ if is_link => Some(if powers { -55.0 } else { -50.0 }),
                    _ => power(draws),
                };
                received_dbm[from][to] = drawn;
                received_dbm[to][from] = if kind == Kind::Powers && !is_link && draws.unit() < 0.2 {
                    power(draws)
                } else {
                    drawn
                };
            }
        }
        HearingConfig {
            classes: (0..stations as u32).collect(),
            received_dbm,
            needs_db: Vec::new(),
            sense_dbm: -82.0,
            energy_dbm: if draws.unit() < 0.3 { -82.0 } else { -62.0 },
            noise_dbm: powers.then_some(-94.0),
            detect: Duration::from_micros(4),
            capture_db: (powers && draws.unit() < 0.4).then_some(5.0),
            obss_pd_dbm: (powers && draws.unit() < 0.4).then_some(-72.0),
            power_dbm: 20.0,
        }
    }

    /// Plays it for `length`. Returns the events, ordered only by time, and the counters.
    pub(crate) fn play(&self, length: Duration) -> Told {
        self.play_on::<Field<Packet>>(length, false)
    }

    /// Plays it like [`Self::play`], but frame by frame.
    pub(crate) fn play_in_frames(&self, length: Duration) -> Told {
        self.play_on::<Field<Packet>>(length, true)
    }

    /// Plays it like [`Self::play`], but in the plain reference.
    pub(crate) fn play_plainly(&self, length: Duration) -> Told {
        self.play_on::<Plain<Packet>>(length, false)
    }

    fn play_on<M: Medium>(&self, length: Duration, in_frames: bool) -> Told {
        let queues = self.accesses.len();
        let access_points = self.cells.iter().max().map_or(0, |last| *last as usize + 1);
        let access = |id: usize| {
            let mut access = self.accesses[id % queues];
            let own = self.of_access_points.filter(|_| id / queues < access_points);
            access.aifs = own.unwrap_or(access.aifs);
            access
        };
        let contender = |id: usize| ContenderConfig {
            station: (id / queues) as StationId,
            access: access(id),
            backoffs: RandomStream::new(self.seed, 1, &format!("{id}"), "backoff"),
            bursts: None,
        };
        let stations = self.cells.len();
        let config = MediumConfig {
            phy: &self.phy,
            mac: self.mac.clone(),
            cells: self.cells.clone(),
            rates: vec![(self.phy.data_rate, self.phy.control_rate)],
            pairs: BTreeMap::new(),
            rate_classes: vec![0; stations],
            errors: (0..stations).map(|station| self.errors_of(station)).collect(),
            rate_controls: Vec::new(),
            contenders: (0..stations * queues).map(contender).collect(),
        };
        let mut field = M::make(config, self.hearing.clone());
        if in_frames {
            field.play_in_frames();
        }
        let all = stations * queues;
        let of_queues: Vec<_> = (0..all).map(|id| self.cells[id / queues]).collect();
        let mut supply = Queues {
            queues: vec![VecDeque::new(); all],
            first: (0..stations).map(|one| (one * queues) as ContenderId).collect(),
            ready: Vec::new(),
            traffic: self.traffic.clone(),
            sizes: RandomStream::new(self.seed, 2, "sizes", "draws"),
            told: Vec::new(),
            received: vec![0; all],
        };
        let mut arrivals = RandomStream::new(self.seed, 3, "arrivals", "draws");
        let mut next = vec![Time::NEVER; all];
        for (id, &traffic) in self.traffic.iter().enumerate() {
            let station = (id / queues) as StationId;
            match traffic {
                Traffic::None => {}
                Traffic::Window(to, packets) => {
                    for _ in 0..packets {
                        let packet = supply.data(station, to, Time::ZERO);
                        supply.push(id as ContenderId, packet);
                    }
                }
                Traffic::Now(..) => {
                    next[id] = Time::from_nanos(u64::from(arrivals.up_to(1_000_000)))
                }
            }
        }
        let end = Time::ZERO + length;
        let half = Time::from_nanos(length.as_nanos() / 2);
        let mut at_half = None;
        field.frames_ready(Time::ZERO, &mut supply);
        loop {
            let (arrival, id) =
                next.iter().zip(0..).min().map(|(&time, id)| (time, id)).expect("there are queues");
            let now = arrival.min(field.next_time());
            if now >= half && at_half.is_none() {
                let mut digest = Digest::new();
                digest.add_counts(&mut field, half, &of_queues);
                at_half = Some(digest.0);
            }
            if now >= end {
                break;
            }
            if arrival == now {
                let Traffic::Now(to, mean) = self.traffic[id as usize] else { unreachable!() };
                let packet = supply.data(id / queues as StationId, to, now);
                supply.push(id, packet);
                let pause = -libm::log(arrivals.unit()) * mean.as_nanos() as f64;
                // Some packets arrive at the instant of others, or at slot boundaries.
                let pause = Duration::from_micros(1 + (pause / 1_000.0) as u64);
                next[id as usize] = now + pause;
            } else {
                field.advance(now, &mut supply);
            }
            field.frames_ready(now, &mut supply);
        }
        let mut told = supply.told;
        told.sort_unstable();
        let mut digest = Digest::new();
        for &(time, what, by, bits) in &told {
            digest.add(time.as_nanos());
            digest.add(u64::from(what) << 32 | u64::from(by));
            digest.add(bits);
        }
        let mut attempts = 0;
        for id in 0..all as ContenderId {
            field.check_laws(id).unwrap_or_else(|law| panic!("floor {}: {law}", self.seed));
            attempts += field.counters(id).attempts;
        }
        digest.add_counts(&mut field, end, &of_queues);
        let (told, at_half) = (told.len(), at_half.expect("half of it has passed"));
        Told { digest: digest.0, at_half, attempts, told, whole: field.whole() }
    }
}

impl Drawn {
    fn errors_of(&self, station: usize) -> Option<(FrameErrors, RandomStream)> {
        let errors = FrameErrors { rate: self.error_rate?, of_bytes: None, least_bytes: 50 };
        Some((errors, RandomStream::new(self.seed, 4, &format!("{station}"), "errors")))
    }
}

/// The results of a floor as digests, and the number of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) digest: u64,
    /// The digest of the counters at half of the time.
    pub(crate) at_half: u64,
    pub(crate) attempts: u64,
    pub(crate) told: usize,
    /// The number of exchanges played as a whole.
    pub(crate) whole: u64,
}

/// An FNV-1a digest.
struct Digest(u64);

impl Digest {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds all counters and views of `field` at `now`, and checks that airtime is conserved. The
    /// queues belong to these `cells`.
    fn add_counts(&mut self, field: &mut impl Medium, now: Time, cells: &[u32]) {
        field.settle(now);
        let last = cells.iter().max().expect("there are queues");
        let mut of_cells = vec![FailureCounts::default(); *last as usize + 1];
        for ((id, &cell), &failed) in (0..).zip(cells).zip(field.failures()) {
            self.add_text(&format!("{:?}", field.counters(id)));
            of_cells[cell as usize] += failed;
        }
        for failures in of_cells {
            self.add_text(&format!("{failures:?}"));
        }
        for view in field.views(now) {
            assert_eq!(view.parts.total(), now - Time::ZERO, "airtime is conserved");
            let AirtimeParts { idle, data, tcp_ack, control, overlapped, heard } = view.parts;
            let parts = [idle, data, tcp_ack, control, overlapped, heard];
            self.add_text(&format!("{parts:?} {:?}", view.of_cells));
        }
    }

    fn add(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    fn add_text(&mut self, text: &str) {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}
