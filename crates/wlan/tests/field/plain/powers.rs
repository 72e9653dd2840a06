//! Received powers, and the SINR rules for detection, reception and capture.

use airtcp_kernel::Duration;

use crate::config::WeakerBefore;
use crate::field::HearingConfig;
use crate::station::StationId;

/// A power in attowatts.
pub(super) type Power = u64;

/// The time from the start of a PPDU with a BSS colour until the colour is known.
pub(super) const COLOUR_KNOWN: Duration = Duration::from_micros(32);

/// The time after a detection in which a stronger frame captures the receiver.
const CAPTURE_WINDOW: Duration = Duration::from_micros(16);

/// Received powers and thresholds.
pub(super) struct Powers {
    classes: Vec<u32>,
    received: Vec<Vec<Power>>,
    pub(super) sense: Power,
    pub(super) energy: Power,
    noise: f64,
    is_known: bool,
    pub(super) detect: Duration,
    capture: Option<f64>,
    /// The OBSS-PD level, and the factor on the transmit power of a station that ignores a frame.
    pub(super) obss_pd: Option<(Power, f64)>,
    pub(super) weaker_before: WeakerBefore,
}

impl Powers {
    pub(super) fn new(config: HearingConfig, weaker_before: WeakerBefore) -> Self {
        let row = |row: &Vec<Option<f64>>| {
            row.iter().map(|power| power.map_or(0, attowatts)).collect::<Vec<_>>()
        };
        let obss_pd = config.obss_pd_dbm.map(|level| {
            // IEEE Std 802.11ax-2021, 26.10.2.4: 21 dBm at -82 dBm, 1 dB less for each dB above.
            let most_dbm = 21.0 - (level + 82.0);
            (attowatts(level), ratio((most_dbm - config.power_dbm).min(0.0)))
        });
        Self {
            received: config.received_dbm.iter().map(row).collect(),
            classes: config.classes,
            sense: attowatts(config.sense_dbm),
            energy: attowatts(config.energy_dbm),
            noise: config.noise_dbm.map_or(0.0, |noise| attowatts(noise) as f64),
            is_known: config.noise_dbm.is_some(),
            detect: config.detect,
            capture: config.capture_db.map(ratio),
            obss_pd,
            weaker_before,
        }
    }

    /// Returns the power with which `to` hears `from` at full power.
    pub(super) fn power(&self, from: StationId, to: StationId) -> Power {
        let class = |station: StationId| self.classes[station as usize] as usize;
        self.received[class(from)][class(to)]
    }

    /// Converts a required SINR in dB. Without powers no overlapped frame is received.
    pub(super) fn need(&self, db: Option<f64>) -> f64 {
        db.filter(|_| self.is_known).map_or(1e6, ratio)
    }

    /// True if the SINR suffices.
    pub(super) fn suffices(&self, power: Power, interference: Power, need: f64) -> bool {
        let disturbance = self.noise + interference as f64;
        disturbance == 0.0 || power as f64 >= need * disturbance
    }

    /// True if a preamble is detected: loud enough, and 4 dB above noise and interference.
    pub(super) fn detects(&self, power: Power, interference: Power) -> bool {
        power >= self.sense && self.suffices(power, interference, ratio(4.0))
    }

    /// True if a frame with `power` replaces the one being received, detected `since` ago.
    pub(super) fn captures(&self, power: Power, other: Power, since: Duration) -> bool {
        self.capture
            .is_some_and(|ratio| since <= CAPTURE_WINDOW && power as f64 > ratio * other as f64)
    }
}

fn ratio(db: f64) -> f64 {
    libm::exp10(db / 10.0)
}

fn attowatts(dbm: f64) -> Power {
    (ratio(dbm) * 1e15) as Power
}
