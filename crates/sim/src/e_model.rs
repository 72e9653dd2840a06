//! The rating R of a call by the E-model (ITU-T G.107, 06/2015), from delays and losses of its
//! packets.
//!
//! R = Ro - Is - Idte - Idle - Idd - Ie,eff with the default of every parameter except delay, codec
//! and loss (clause 7.7, table 3): Ro - Is = 94.77 - 1.41, and R = 93.2 without delay and loss.
//! Assumptions: no advantage factor, independent losses (BurstR = 1), and the default echo
//! attenuation.

use serde::Deserialize;

use crate::delays::Delays;

/// Basic signal-to-noise ratio (7-2) and simultaneous impairment (7-8) of the default parameters.
/// With No = -61.18 dBm0p and RLR = 2 Roe of (7-20) has the value of Ro.
const RO: f64 = 94.768_8;
const IS: f64 = 1.413_6;
/// Talker echo loudness rating and weighted echo path loss, dB.
const TELR: f64 = 65.0;
const WEPL: f64 = 110.0;
/// One-way delays up to this many ms do not disturb a conversation (mT of table 1, default delay
/// sensitivity).
const UNNOTICED_MS: f64 = 100.0;

/// The codec of speech, in the resolved form of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Codec {
    /// Equipment impairment factor Ie without losses.
    impairment: f64,
    /// Packet-loss robustness factor Bpl.
    robustness: f64,
    /// The time from the first sound of a packet until the packet is sent: its duration, plus the
    /// codec's look-ahead.
    delay_s: f64,
}

impl Codec {
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let is_sound = |value: f64| value.is_finite() && value >= 0.0;
        if is_sound(self.impairment) && self.robustness > 0.0 && is_sound(self.delay_s) {
            Ok(())
        } else {
            Err("need a codec with Ie and delay of at least 0, and Bpl above 0")
        }
    }

    /// Rates speech that is heard `mouth_to_ear_s` seconds after it was said, with this packet
    /// loss.
    fn rating(&self, mouth_to_ear_s: f64, loss: f64) -> f64 {
        RO - IS - delay_impairment(1e3 * mouth_to_ear_s) - self.effective_impairment(loss)
    }

    /// Computes Ie,eff (7-29) for independent losses.
    fn effective_impairment(&self, loss: f64) -> f64 {
        let percent = 100.0 * loss;
        self.impairment + (95.0 - self.impairment) * percent / (percent + self.robustness)
    }

    /// Rates a call whose packets took `delays`, or were `lost`, with the receiver's best playout
    /// delay: later packets count as lost. `None` without packets, 0 if no packet arrives.
    pub(crate) fn best_rating(&self, delays: &Delays, lost: u64) -> Option<f64> {
        let arrived = delays.count();
        let all = (arrived + lost) as f64;
        let rate = |(delay_s, in_time): (f64, u64)| {
            self.rating(self.delay_s + delay_s, 1.0 - in_time as f64 / all)
        };
        (all > 0.0).then(|| delays.until().map(rate).fold(0.0, f64::max))
    }
}

/// Computes Id (7-18) for a one-way delay T = Ta and a round trip Tr = 2 T, in ms: talker echo,
/// listener echo, and the delay itself.
fn delay_impairment(delay: f64) -> f64 {
    let half = |difference: f64, plus: f64| {
        difference / 2.0 + libm::sqrt(difference * difference / 4.0 + plus)
    };
    // (7-22), (7-21), (7-19)
    let terv = TELR - 40.0 * libm::log10((1.0 + delay / 10.0) / (1.0 + delay / 150.0))
        + 6.0 * libm::exp(-0.3 * delay * delay);
    let re = 80.0 + 2.5 * (terv - 14.0);
    let talker =
        if delay < 1.0 { 0.0 } else { (half(RO - re, 100.0) - 1.0) * (1.0 - libm::exp(-delay)) };
    // (7-26), (7-25)
    let rle = 10.5 * (WEPL + 7.0) * libm::pow(2.0 * delay + 1.0, -0.25);
    let listener = half(RO - rle, 169.0);
    // (7-28), (7-27)
    let too_long = if delay <= UNNOTICED_MS {
        0.0
    } else {
        let x = libm::log2(delay / UNNOTICED_MS);
        let root = |x: f64| libm::pow(1.0 + libm::pow(x, 6.0), 1.0 / 6.0);
        25.0 * (root(x) - 3.0 * root(x / 3.0) + 2.0)
    };
    talker + listener + too_long
}

#[cfg(test)]
mod tests {
    use airtcp_kernel::Duration;

    use super::*;

    const G711: Codec = Codec { impairment: 0.0, robustness: 25.1, delay_s: 0.02 };
    const G729A: Codec = Codec { impairment: 11.0, robustness: 19.0, delay_s: 0.025 };

    fn assert_near(found: f64, expected: f64, within: f64) {
        assert!((found - expected).abs() <= within, "{found} for {expected}");
    }

    /// G.107, clause 7.7, states R = 93.2 with all defaults.
    #[test]
    fn the_default_is_that_of_the_recommendation() {
        assert_near(G711.rating(0.0, 0.0), 93.2, 0.05);
    }

    /// G.113, appendix I: at 2 % of random loss Ie is 7 for G.711 with concealment and 19 for G.729A.
    #[test]
    fn losses_impair_as_tabled() {
        assert_near(G711.effective_impairment(0.02), 7.0, 0.5);
        assert_near(G729A.effective_impairment(0.02), 19.0, 0.5);
        assert_near(G729A.effective_impairment(0.0), 11.0, 1e-12);
    }

    /// Ta = 200 ms: X = 1, so Idd = 25 (2^(1/6) - 3 (1 + 3^-6)^(1/6) + 2) = 3.0444; TERV = 65 -
    /// 40 log10(21 / 2.3333) = 26.8303 and Re = 112.0757; Rle = 10.5 * 117 / 401^(1/4) = 274.535.
    #[test]
    fn delay_impairs_as_worked_out_by_hand() {
        let talker = {
            let half = (94.7688_f64 - 112.0757) / 2.0;
            half + (half * half + 100.0).sqrt() - 1.0
        };
        let listener = {
            let half = (94.7688_f64 - 274.535) / 2.0;
            half + (half * half + 169.0).sqrt()
        };
        let itself = 25.0 * (1.122_462 - 3.0 * 1.000_228_5 + 2.0);
        assert_near(delay_impairment(200.0), talker + listener + itself, 0.01);
    }

    /// 98 packets take 10 ms, two 400 ms. Losing these two (2 %) is better than waiting for them.
    /// One packet of 101 never arrives.
    #[test]
    fn late_packets_are_given_up_where_waiting_is_worse() {
        let mut delays = Delays::default();
        for _ in 0..98 {
            delays.add(Duration::from_millis(10));
        }
        delays.add(Duration::from_millis(400));
        delays.add(Duration::from_millis(400));

        let found = G711.best_rating(&delays, 1).unwrap();

        let given_up = G711.rating(0.03, 3.0 / 101.0);
        assert!(given_up > G711.rating(0.42, 1.0 / 101.0) + 10.0);
        // The histogram resolves a delay to 0.8 %.
        assert_near(found, given_up, 0.05);
    }

    #[test]
    fn without_packets_there_is_no_rating() {
        assert_eq!(G711.best_rating(&Delays::default(), 0), None);
        assert_eq!(G711.best_rating(&Delays::default(), 3), Some(0.0));
    }
}
