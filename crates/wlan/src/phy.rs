//! The settings of the PHY, and the airtime of PPDUs.

mod amendment;
mod high_rate;
mod mcs;
mod resource_units;

use airtcp_kernel::Duration;
use serde::Deserialize;

pub use amendment::{Amendment, Format};
pub(crate) use high_rate::HighRatePpdus;
pub use high_rate::{HighRate, HighRateTiming};
pub(crate) use resource_units::Division;
pub use resource_units::ResourceUnit;

/// PHY timings and frame sizes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhyConfig {
    /// Name of the standard, for messages.
    pub standard: String,
    /// Rate of data frames to and from stations without a rate of their own.
    pub data_rate: Rate,
    /// Rate of RTS, CTS and ACK.
    pub control_rate: Rate,
    /// aSlotTime.
    #[serde(rename = "slot_time_ns")]
    pub slot_time: Duration,
    /// aSIFSTime.
    #[serde(rename = "sifs_ns")]
    pub sifs: Duration,
    /// DIFS.
    #[serde(rename = "difs_ns")]
    pub difs: Duration,
    /// EIFS.
    #[serde(rename = "eifs_ns")]
    pub eifs: Duration,
    /// The time from the end of a transmission until the missing CTS or ACK is detected.
    #[serde(rename = "ack_timeout_ns")]
    pub ack_timeout: Duration,
    /// Timing of the DSSS and CCK rates, if the standard has them.
    pub dsss: Option<DsssTiming>,
    /// Timing of the OFDM rates, if the standard has them.
    pub ofdm: Option<OfdmTiming>,
    /// The common timing of the rates of 802.11n and later, if the standard has them.
    pub high_rate: Option<HighRateTiming>,
    /// Whether payloads are rounded up to whole microseconds (DSSS) or whole symbols (OFDM).
    pub symbol_rounding: bool,
    /// The propagation delay.
    #[serde(rename = "propagation_delay_ns")]
    pub propagation_delay: Duration,
    /// aCWmin.
    pub cw_min: u32,
    /// aCWmax.
    pub cw_max: u32,
    /// Size of an RTS in bits.
    pub rts_bits: u64,
    /// Size of a CTS in bits.
    pub cts_bits: u64,
    /// Size of a MAC ACK in bits.
    pub ack_bits: u64,
    /// MAC header and FCS in bits.
    pub mac_header_bits: u64,
    /// LLC and SNAP headers in bits.
    pub llc_bits: u64,
    /// Frames that keep 802.11b stations quiet during OFDM frames, if any.
    pub protection: Option<Protection>,
}

/// Frames that 802.11b stations understand, sent before a frame that they do not (IEEE 802.11-2020,
/// 10.27).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protection {
    /// The kind of frames.
    pub kind: ProtectionKind,
    /// Their rate.
    pub rate: Rate,
}

/// The frames that protect another frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProtectionKind {
    /// A CTS-to-self.
    CtsToSelf,
    /// RTS and CTS.
    RtsCts,
}

/// A PHY rate and its modulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "ResolvedRate")]
pub struct Rate {
    /// Bits per second.
    pub bps: u64,
    /// The modulation family.
    pub modulation: Modulation,
}

impl Rate {
    /// Returns the width of its channel in MHz.
    pub fn width_mhz(self) -> u16 {
        match self.modulation {
            Modulation::High(high) => high.channel_width_mhz,
            _ => 20,
        }
    }
}

/// A family of modulations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modulation {
    /// DSSS and CCK: 1, 2, 5.5 and 11 Mb/s.
    Dsss,
    /// OFDM: 6 to 54 Mb/s.
    Ofdm,
    /// 802.11n and later: OFDM with more subcarriers.
    High(HighRate),
}

/// A rate in the resolved form of a scenario.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResolvedRate {
    bps: u64,
    modulation: String,
    high: Option<ResolvedHighRate>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResolvedHighRate {
    mcs: u8,
    spatial_streams: u8,
    channel_width_mhz: u16,
    guard_interval_ns: u64,
    preamble_time_ns: u64,
}

impl TryFrom<ResolvedRate> for Rate {
    type Error = String;

    fn try_from(resolved: ResolvedRate) -> Result<Self, String> {
        let ResolvedRate { bps, modulation, high } = resolved;
        let (format, high) = match (modulation.as_str(), high) {
            ("dsss", None) => return Ok(Self { bps, modulation: Modulation::Dsss }),
            ("ofdm", None) => return Ok(Self { bps, modulation: Modulation::Ofdm }),
            (name, high) => Format::named(name)
                .zip(high)
                .ok_or_else(|| format!("a rate contradicts its modulation {name:?}"))?,
        };
        let high = HighRate {
            format,
            mcs: high.mcs,
            spatial_streams: high.spatial_streams,
            channel_width_mhz: high.channel_width_mhz,
            guard_interval: Duration::from_nanos(high.guard_interval_ns),
            preamble_time: Duration::from_nanos(high.preamble_time_ns),
        };
        if !high.exists() {
            return Err(format!("the standard has no {high:?}"));
        }
        if high.bps() != bps {
            return Err(format!("{high:?} has {} b/s, not {bps}", high.bps()));
        }
        Ok(Self { bps, modulation: Modulation::High(high) })
    }
}

/// Timing of DSSS and CCK PPDUs (IEEE 802.11-2020, clauses 15 and 16).
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DsssTiming {
    /// aPreambleLength.
    #[serde(rename = "preamble_time_ns")]
    pub preamble_time: Duration,
    /// aPLCPHeaderLength.
    #[serde(rename = "plcp_header_time_ns")]
    pub plcp_header_time: Duration,
}

/// Timing of OFDM PPDUs (IEEE 802.11-2020, clauses 17 and 18).
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfdmTiming {
    /// Training symbols.
    #[serde(rename = "preamble_time_ns")]
    pub preamble_time: Duration,
    /// The SIGNAL symbol.
    #[serde(rename = "plcp_header_time_ns")]
    pub plcp_header_time: Duration,
    /// One data symbol with its guard interval.
    #[serde(rename = "symbol_time_ns")]
    pub symbol_time: Duration,
    /// The SERVICE field.
    pub service_bits: u64,
    /// The tail that flushes the coder.
    pub tail_bits: u64,
    /// Silence after the last symbol that belongs to the frame (ERP, 802.11g).
    #[serde(rename = "signal_extension_ns")]
    pub signal_extension: Duration,
}

impl PhyConfig {
    /// Computes the airtime of a PPDU whose PSDU (an MPDU or a control frame) has `bits` bits, by
    /// IEEE 802.11-2020, 16.3.4 (TXTIME of HR/DSSS) and 17.4.3, 18.5.3.2 (OFDM, ERP-OFDM).
    ///
    /// # Panics
    /// If the PHY has no timing for the modulation of `rate`.
    pub fn ppdu_time(&self, bits: u64, rate: Rate) -> Duration {
        match rate.modulation {
            Modulation::Dsss => {
                let timing = self.dsss.expect("a scenario with a DSSS rate has DSSS timing");
                timing.preamble_time + timing.plcp_header_time + self.dsss_payload(bits, rate.bps)
            }
            Modulation::Ofdm => {
                let timing = self.ofdm.expect("a scenario with an OFDM rate has OFDM timing");
                timing.preamble_time
                    + timing.plcp_header_time
                    + self.ofdm_payload(timing, bits, rate.bps)
                    + timing.signal_extension
            }
            Modulation::High(high) => {
                let timing = self.high_rate.expect("a scenario with a high rate has its timing");
                high.ppdu_time(&timing, bits)
            }
        }
    }

    /// Returns the protection of frames at `rate`. 802.11b stations understand DSSS rates, so these
    /// need none.
    pub fn protection_of(&self, rate: Rate) -> Option<Protection> {
        self.protection.filter(|_| rate.modulation != Modulation::Dsss)
    }

    /// Rounds the time of the PSDU up to the next microsecond (16.3.4).
    fn dsss_payload(&self, bits: u64, bps: u64) -> Duration {
        if self.symbol_rounding {
            Duration::from_micros((bits * 1_000_000).div_ceil(bps))
        } else {
            Duration::from_nanos((bits * 1_000_000_000).div_ceil(bps))
        }
    }

    /// Fills whole symbols with the SERVICE field, PSDU and tail (17.4.3).
    fn ofdm_payload(&self, timing: OfdmTiming, bits: u64, bps: u64) -> Duration {
        let bits = timing.service_bits + bits + timing.tail_bits;
        if self.symbol_rounding {
            let symbol = timing.symbol_time.as_nanos();
            // bits / (bits per symbol), without losing a fraction of a bit per symbol.
            let symbols = (bits * 1_000_000_000).div_ceil(bps * symbol);
            timing.symbol_time * symbols
        } else {
            Duration::from_nanos((bits * 1_000_000_000).div_ceil(bps))
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::testing::{dot11a, dot11b};

    pub(crate) const fn dsss(bps: u64) -> Rate {
        Rate { bps, modulation: Modulation::Dsss }
    }

    pub(crate) const fn ofdm(bps: u64) -> Rate {
        Rate { bps, modulation: Modulation::Ofdm }
    }

    fn micros(phy: &PhyConfig, bytes: u64, rate: Rate) -> f64 {
        phy.ppdu_time(bytes * 8, rate).as_nanos() as f64 / 1_000.0
    }

    #[test]
    fn hr_dsss_airtimes_are_the_standards() {
        let phy = dot11b();

        assert_eq!(micros(&phy, 1536, dsss(11_000_000)), 1310.0);
        assert_eq!(micros(&phy, 76, dsss(11_000_000)), 248.0);
        assert_eq!(micros(&phy, 14, dsss(11_000_000)), 203.0);
        assert_eq!(micros(&phy, 14, dsss(1_000_000)), 304.0);
        for (bytes, payload) in [(1023, 744.0), (1024, 745.0), (1025, 746.0), (1026, 747.0)] {
            assert_eq!(micros(&phy, bytes, dsss(11_000_000)), 192.0 + payload);
        }
    }

    #[test]
    fn ofdm_airtimes_are_the_standards() {
        let phy = dot11a();
        let mut erp = dot11a();
        erp.ofdm.as_mut().unwrap().signal_extension = Duration::from_micros(6);

        for (bytes, airtime) in [(1536, 248.0), (76, 32.0), (14, 24.0)] {
            assert_eq!(micros(&phy, bytes, ofdm(54_000_000)), airtime);
            assert_eq!(micros(&erp, bytes, ofdm(54_000_000)), airtime + 6.0);
        }
    }

    /// ns-2 does not round: 1074 bytes at 11 Mb/s last 192 + 781.0909... us.
    #[test]
    fn without_symbol_rounding_only_the_nanosecond_is_rounded() {
        let phy = PhyConfig { symbol_rounding: false, ..dot11b() };

        assert_eq!(phy.ppdu_time(1074 * 8, dsss(11_000_000)).as_nanos(), 973_091);
    }
}
