//! The powers with which stations hear each other.

use airtcp_kernel::Duration;

use super::alike::Groups;
use crate::config::WeakerBefore;
use crate::station::StationId;

/// How the stations of a field hear each other.
#[derive(Clone, Debug)]
pub struct HearingConfig {
    /// The class of each station, in the order of their numbers. Stations of one class are heard
    /// and hear alike.
    pub classes: Vec<u32>,
    /// `received_dbm[i][j]` is the power in dBm with which class j hears a sender of class i;
    /// `None`: not at all.
    pub received_dbm: Vec<Vec<Option<f64>>>,
    /// The SINR in dB that data and control frames of each rate class need; `None` if powers are
    /// unknown.
    pub needs_db: Vec<(Option<f64>, Option<f64>)>,
    /// The power in dBm from which a preamble is detected.
    pub sense_dbm: f64,
    /// The power in dBm from which the medium is busy, whatever the signal (energy detection).
    pub energy_dbm: f64,
    /// The noise in dBm. `None`: powers are unknown, and every overlap destroys a frame.
    pub noise_dbm: Option<f64>,
    /// The preamble detection time: until then other stations do not know of a frame.
    pub detect: Duration,
    /// How much stronger in dB a frame must be than the current one to replace it (capture);
    /// `None`: no capture.
    pub capture_db: Option<f64>,
    /// The power in dBm up to which frames of other cells are ignored (OBSS-PD of IEEE Std
    /// 802.11ax-2021, 26.10.2.2); `None`: no frames are ignored.
    pub obss_pd_dbm: Option<f64>,
    /// The transmit power of all stations in dBm.
    pub power_dbm: f64,
}

/// A power in attowatts. Integer sums can be undone without rounding.
pub(super) type Power = u64;

/// The SINR from which a preamble is detected, in dB (as in ns-3).
const PREAMBLE_DB: f64 = 4.0;

/// The time after the detection of a preamble in which a stronger frame can replace it (as in
/// ns-3).
const CAPTURE_WINDOW: Duration = Duration::from_micros(16);

/// The time from the start of an 802.11ax or later PPDU until its BSS colour is known: L-STF,
/// L-LTF, L-SIG, RL-SIG and HE-SIG-A (IEEE Std 802.11ax-2021, 27.3.4).
pub(super) const COLOUR_KNOWN: Duration = Duration::from_micros(32);

/// The transmit power in dBm allowed with an OBSS-PD of [`LEAST_OBSS_PD_DBM`]. Each dB of OBSS-PD
/// above that lowers it by 1 dB (26.10.2.4).
const OBSS_PD_POWER_DBM: f64 = 21.0;
const LEAST_OBSS_PD_DBM: f64 = -82.0;

/// A required SINR ratio that no overlapped frame meets.
const UNDISTURBED: f64 = 1e6;

/// The number of a group of stations that hear alike.
pub(super) type GroupId = u32;

/// A group of stations that hears a given station, or the stations of its own group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ear {
    pub(super) group: GroupId,
    pub(super) power: Power,
}

/// What a frame needs to be received.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need {
    /// The SINR, as a ratio.
    pub(super) ratio: f64,
    /// The lowest power with which it is detected and received if nothing else is on the air.
    pub(super) alone: Power,
}

impl Need {
    /// The need of no frame.
    pub(super) const NONE: Self = Self { ratio: 0.0, alone: 0 };
}

/// All powers, and the thresholds for frames.
#[derive(Debug)]
pub(super) struct Hearing {
    /// The groups that hear each station.
    ears: Vec<Box<[Ear]>>,
    /// For each station, the access points that sense it, including itself if it is one.
    viewers: Vec<Box<[StationId]>>,
    /// The groups of all stations.
    pub(super) groups: Groups,
    classes: Vec<u32>,
    powers: Vec<Vec<Power>>,
    /// What data and control frames of each rate class need.
    pub(super) needs: Vec<(Need, Need)>,
    pub(super) sense: Power,
    pub(super) energy: Power,
    noise: f64,
    is_known: bool,
    preamble: f64,
    pub(super) detect: Duration,
    capture: Option<f64>,
    pub(super) weaker_before: WeakerBefore,
    /// The power up to which frames of other cells are ignored, and the factor on a station's
    /// transmit power after it ignored one.
    pub(super) obss_pd: Option<(Power, f64)>,
}

impl Hearing {
    /// Computes the powers between stations of `cells`. The first `access_points` stations are
    /// access points.
    pub(super) fn new(
        config: HearingConfig,
        weaker_before: WeakerBefore,
        cells: &[u32],
        access_points: u32,
    ) -> Self {
        let powers: Vec<Vec<Power>> = config
            .received_dbm
            .iter()
            .map(|row| row.iter().map(|power| power.map_or(0, attowatts)).collect())
            .collect();
        // With OBSS-PD the cell of a frame matters.
        let kept_apart =
            |station: StationId| config.obss_pd_dbm.map_or(0, |_| cells[station as usize]);
        let groups = Groups::new(&config.classes, &powers, kept_apart);
        let stations = config.classes.len() as StationId;
        let power = |from: StationId, to: StationId| {
            let class = |station: StationId| config.classes[station as usize] as usize;
            powers[class(from)][class(to)]
        };
        let ears_of = |from| {
            let heard = (0..).zip(&groups.members).filter_map(|(group, members)| {
                let one = members.iter().copied().find(|&one| one != from)?;
                Some(Ear { group, power: power(from, one) })
            });
            heard.filter(|ear| ear.power > 0).collect()
        };
        let ears = (0..stations).map(ears_of).collect();
        let sense = attowatts(config.sense_dbm);
        let senses = |from, one| one == from || power(from, one) >= sense.max(1);
        let viewers_of = |from| (0..access_points).filter(|&one| senses(from, one)).collect();
        let viewers = (0..stations).map(viewers_of).collect();
        let mut hearing = Self {
            ears,
            viewers,
            groups,
            powers,
            needs: Vec::new(),
            sense,
            energy: attowatts(config.energy_dbm),
            noise: config.noise_dbm.map_or(0.0, |noise| attowatts(noise) as f64),
            is_known: config.noise_dbm.is_some(),
            preamble: ratio(PREAMBLE_DB),
            detect: config.detect,
            weaker_before,
            capture: config.capture_db.map(ratio),
            obss_pd: config.obss_pd_dbm.map(|level| {
                let most = OBSS_PD_POWER_DBM - (level - LEAST_OBSS_PD_DBM);
                (attowatts(level), ratio((most - config.power_dbm).min(0.0)))
            }),
            classes: config.classes,
        };
        let needs = config.needs_db.into_iter();
        hearing.needs =
            needs.map(|(data, control)| (hearing.need(data), hearing.need(control))).collect();
        hearing
    }

    /// Returns the groups that hear `station`.
    #[inline]
    pub(super) fn of(&self, station: StationId) -> &[Ear] {
        &self.ears[station as usize]
    }

    /// Returns the access points that sense `station`, including itself if it is one.
    #[inline]
    pub(super) fn viewers_of(&self, station: StationId) -> &[StationId] {
        &self.viewers[station as usize]
    }

    /// True if the field is even. Every pair that hears has one power. This power makes the medium
    /// busy whatever else is on the air. Every overlap destroys a frame. Hearing is mutual. The
    /// stations of each cell hear each other and all others alike.
    pub(super) fn is_even(&self, cells: &[u32]) -> bool {
        let mut all = self.powers.iter().flatten().copied().filter(|&power| power > 0);
        let Some(even) = all.next() else { return false };
        let is_plain = self.noise == 0.0 && !self.is_known && !self.may_capture();
        let is_loud = even >= self.sense && even >= self.energy;
        let is_mutual =
            |from: usize| (0..from).all(|to| self.powers[from][to] == self.powers[to][from]);
        let mut group_of = vec![0; cells.len()];
        for (group, members) in self.groups.members.iter().enumerate() {
            for &station in members {
                group_of[station as usize] = group;
            }
        }
        let of_cell = |cell: u32| (0..cells.len()).filter(move |&one| cells[one] == cell);
        // The access point of a cell has the cell's number.
        let are_alike = cells.iter().enumerate().all(|(one, &cell)| {
            group_of[one] == group_of[cell as usize]
                && of_cell(cell).all(|other| {
                    other == one || self.power(other as StationId, one as StationId) == even
                })
        });
        is_plain
            && is_loud
            && all.all(|power| power == even)
            && (0..self.powers.len()).all(is_mutual)
            && are_alike
    }

    /// Returns the power with which `to` hears `from`.
    pub(super) fn power(&self, from: StationId, to: StationId) -> Power {
        let class = |station: StationId| self.classes[station as usize] as usize;
        self.powers[class(from)][class(to)]
    }

    /// Converts a required SINR in dB to a linear threshold.
    fn need(&self, db: Option<f64>) -> Need {
        let ratio = match db {
            Some(db) if self.is_known => ratio(db),
            _ => UNDISTURBED,
        };
        let is_enough = |power| self.detects(power, 0) && self.comes_through(power, 0, ratio);
        let (mut least, mut most) = (0, MOST + 1);
        while least < most {
            let middle = (least + most) / 2;
            if is_enough(middle) {
                most = middle;
            } else {
                least = middle + 1;
            }
        }
        Need { ratio, alone: least }
    }

    /// True if `power` over noise and `interference` meets the SINR `need`.
    #[inline]
    pub(super) fn comes_through(&self, power: Power, interference: Power, need: f64) -> bool {
        // With neither noise nor interference, every frame that is heard is received.
        interference == 0 && self.noise == 0.0
            || float(power) >= need * (self.noise + float(interference))
    }

    /// True if a preamble with `power` is detected despite `interference`.
    #[inline]
    pub(super) fn detects(&self, power: Power, interference: Power) -> bool {
        power >= self.sense && self.comes_through(power, interference, self.preamble)
    }

    /// True if frames can capture the receiver from another frame.
    pub(super) fn may_capture(&self) -> bool {
        self.capture.is_some()
    }

    /// True if a frame with `power` replaces another with power `other` (capture). `since` is the
    /// time since the other's preamble was detected.
    #[inline]
    pub(super) fn captures(&self, power: Power, other: Power, since: Duration) -> bool {
        self.capture
            .is_some_and(|capture| since <= CAPTURE_WINDOW && float(power) > capture * float(other))
    }
}

fn ratio(db: f64) -> f64 {
    libm::exp10(db / 10.0)
}

/// The greatest power of one sender, one watt. Sums stay below the sign bit that [`float`] would
/// misread.
const MOST: Power = 1_000_000_000_000_000_000;

fn attowatts(dbm: f64) -> Power {
    ((ratio(dbm) * 1e15) as Power).min(MOST)
}

/// Converts a sum of powers. The conversion of signed integers is a single instruction.
#[inline]
fn float(power: Power) -> f64 {
    power as i64 as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// -50 dBm are 10 nW, 10 dB above -60 dBm.
    #[test]
    fn powers_add_up() {
        let config = HearingConfig {
            classes: vec![0, 1, 1],
            received_dbm: vec![vec![None, Some(-50.0)], vec![Some(-60.0), None]],
            needs_db: Vec::new(),
            sense_dbm: -82.0,
            energy_dbm: -62.0,
            noise_dbm: Some(-94.0),
            detect: Duration::from_micros(4),
            capture_db: Some(5.0),
            obss_pd_dbm: None,
            power_dbm: 20.0,
        };
        let hearing = Hearing::new(config, WeakerBefore::Interferes, &[0, 0, 0], 1);
        // The two stations that hear the first alike are one group.
        assert_eq!(hearing.of(0).len(), 1);
        assert_eq!(hearing.viewers_of(0).len(), 1);
        assert_eq!(hearing.of(1).len(), 1);
        assert_eq!(hearing.of(0)[0].power, 10_000_000_000);
        assert_eq!(hearing.power(1, 0), 1_000_000_000);
        assert_eq!(hearing.power(1, 2), 0);

        let beside = |needed| {
            let need = hearing.need(Some(needed)).ratio;
            hearing.comes_through(hearing.power(0, 1), hearing.power(1, 0), need)
        };
        // The noise is 398,107 aW. A frame that needs less SINR than a preamble must still be
        // detected.
        let alone = |needed| hearing.need(Some(needed)).alone;
        assert_eq!((alone(20.0), alone(0.0)), (39_810_700, 6_309_573));
        assert_eq!(alone(200.0), MOST + 1);
        assert!(beside(9.9));
        assert!(!beside(10.1));
        assert!(hearing.captures(400, 100, Duration::from_micros(16)));
        assert!(!hearing.captures(300, 100, Duration::from_micros(16)));
        assert!(!hearing.captures(400, 100, Duration::from_micros(17)));
    }
}
