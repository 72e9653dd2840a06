//! PPDUs of 802.11n and later: the duration of the Data field.
//!
//! The amendments share the arithmetic: whole symbols, each with the data bits that MCS, streams
//! and width allow. [`amendment`](super::amendment) has the differences. The duration before the
//! Data field is an input, because it depends on rules that simulators implement differently.

use airtcp_kernel::Duration;
use serde::Deserialize;

use super::amendment::{Format, Symbol};

/// A rate of 802.11n and later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HighRate {
    /// The amendment that defines it.
    pub format: Format,
    /// Modulation and coding of each stream, from 0.
    pub mcs: u8,
    /// N_SS.
    pub spatial_streams: u8,
    /// The width of the channel.
    pub channel_width_mhz: u16,
    /// The guard interval.
    pub guard_interval: Duration,
    /// The duration before the Data field: preambles and signal fields.
    pub preamble_time: Duration,
}

/// The common timing of all rates of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HighRateTiming {
    /// The SERVICE field.
    pub service_bits: u64,
    /// The tail of one convolutional encoder; 0 with LDPC.
    pub tail_bits: u64,
    /// Whether symbols with a short guard interval end on a boundary of 4 us (IEEE 802.11-2020,
    /// 19.4.3 and 21.4.3).
    pub short_gi_rounding: bool,
    /// Silence after the last symbol that belongs to the frame (2.4 GHz).
    #[serde(rename = "signal_extension_ns")]
    pub signal_extension: Duration,
}

/// The duration of an HT or VHT symbol with the long guard interval, in nanoseconds.
const LONG_SYMBOL: u64 = 4_000;
const SHORT_GUARD_INTERVAL: Duration = Duration::from_nanos(400);

impl HighRate {
    /// Returns whether the standard has this combination of MCS, streams, width and guard interval.
    pub fn exists(self) -> bool {
        let guard_intervals = self.format.amendment().guard_intervals;
        self.symbol().is_some() && guard_intervals.contains(&self.guard_interval.as_nanos())
    }

    /// Returns the rate in bits per second, rounded down.
    ///
    /// # Panics
    /// If the rate does not exist.
    pub fn bps(self) -> u64 {
        self.known_symbol().data_bits * 1_000_000_000 / self.symbol_time().as_nanos()
    }

    /// Computes the airtime of a PPDU whose PSDU has `bits` bits (IEEE 802.11-2020, 19.4.3, 21.4.3;
    /// 802.11ax-2021, 27.4.3, without packet extension).
    ///
    /// # Panics
    /// If the rate does not exist.
    pub fn ppdu_time(self, timing: &HighRateTiming, bits: u64) -> Duration {
        self.ppdus(timing).time(bits)
    }

    /// Returns the precomputed PPDU parameters of this rate.
    ///
    /// # Panics
    /// If the rate does not exist.
    pub(crate) fn ppdus(self, timing: &HighRateTiming) -> HighRatePpdus {
        self.ppdus_with(self.known_symbol(), timing)
    }

    /// Handles [`Self::ppdus`] over a part of the channel with this many data subcarriers.
    pub(super) fn ppdus_of(self, subcarriers: u64, timing: &HighRateTiming) -> HighRatePpdus {
        let amendment = self.format.amendment();
        let symbol = amendment.symbol_of(self.mcs, self.spatial_streams, subcarriers);
        self.ppdus_with(symbol.unwrap_or_else(|| panic!("there is no {self:?}")), timing)
    }

    fn ppdus_with(self, symbol: Symbol, timing: &HighRateTiming) -> HighRatePpdus {
        let Symbol { data_bits, encoders } = symbol;
        HighRatePpdus {
            data_bits,
            around_bits: timing.service_bits + timing.tail_bits * encoders,
            symbol_time: self.symbol_time(),
            around_time: self.preamble_time + timing.signal_extension,
            rounds: timing.short_gi_rounding && self.guard_interval == SHORT_GUARD_INTERVAL,
        }
    }

    /// Returns the duration of a symbol of the Data field with its guard interval.
    pub fn symbol_time(self) -> Duration {
        self.format.amendment().symbol + self.guard_interval
    }

    fn symbol(self) -> Option<Symbol> {
        self.format.amendment().symbol(self.mcs, self.spatial_streams, self.channel_width_mhz)
    }

    fn known_symbol(self) -> Symbol {
        self.symbol().unwrap_or_else(|| panic!("the standard has no {self:?}"))
    }
}

/// The PPDUs of one rate: airtime by size of the PSDU. The standard's tables are looked up only
/// once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HighRatePpdus {
    /// Data bits of a symbol.
    data_bits: u64,
    /// Bits of the SERVICE field and the tails.
    around_bits: u64,
    symbol_time: Duration,
    /// The duration outside of the Data field.
    around_time: Duration,
    /// Whether Data fields end on a boundary of 4 us.
    rounds: bool,
}

impl HighRatePpdus {
    /// Computes the airtime of the PPDU whose PSDU has `bits` bits.
    #[inline]
    pub(crate) fn time(&self, bits: u64) -> Duration {
        let symbols = (self.around_bits + bits).div_ceil(self.data_bits);
        let mut data = self.symbol_time * symbols;
        if self.rounds {
            data = Duration::from_nanos(data.as_nanos().next_multiple_of(LONG_SYMBOL));
        }
        self.around_time + data
    }

    /// Returns the duration outside of the Data field.
    pub(crate) fn around(&self) -> Duration {
        self.around_time
    }

    /// Returns the longest PSDU in bits whose PPDU lasts at most `time`; `None` if even an empty
    /// one lasts longer.
    pub(crate) fn longest_psdu(&self, time: Duration) -> Option<u64> {
        let mut data = time.as_nanos().checked_sub(self.around_time.as_nanos())?;
        if self.rounds {
            data -= data % LONG_SYMBOL;
        }
        let symbols = data / self.symbol_time.as_nanos();
        (symbols * self.data_bits).checked_sub(self.around_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(format: Format, mcs: u8, streams: u8, width: u16, guard_interval: u64) -> HighRate {
        HighRate {
            format,
            mcs,
            spatial_streams: streams,
            channel_width_mhz: width,
            guard_interval: Duration::from_nanos(guard_interval),
            preamble_time: Duration::from_micros(36),
        }
    }

    /// One tail of six bits per encoder, no rounding, 5 GHz: as in ns-3.
    const TIMING: HighRateTiming = HighRateTiming {
        service_bits: 16,
        tail_bits: 6,
        short_gi_rounding: false,
        signal_extension: Duration::ZERO,
    };

    /// IEEE 802.11-2020, Tables 19-27 to 19-38 and 21-29 to 21-60; 802.11ax-2021, 27-111 ff., Mb/s.
    #[test]
    fn rates_are_those_of_the_standards_tables() {
        for (format, mcs, streams, width, guard_interval, mbps) in [
            (Format::Ht, 0, 1, 20, 800, 6.5),
            (Format::Ht, 7, 1, 20, 800, 65.0),
            (Format::Ht, 7, 1, 20, 400, 72.2),
            (Format::Ht, 7, 2, 40, 400, 300.0),
            (Format::Ht, 7, 4, 40, 400, 600.0),
            (Format::Vht, 8, 1, 20, 800, 78.0),
            (Format::Vht, 9, 3, 20, 800, 260.0),
            (Format::Vht, 9, 1, 80, 400, 433.3),
            (Format::Vht, 9, 2, 80, 400, 866.6),
            (Format::Vht, 9, 8, 160, 400, 6933.3),
            (Format::He, 0, 1, 20, 3_200, 7.3),
            (Format::He, 11, 1, 20, 800, 143.3),
            (Format::He, 11, 1, 80, 800, 600.4),
            (Format::He, 11, 8, 160, 800, 9607.8),
        ] {
            let rate = rate(format, mcs, streams, width, guard_interval);

            assert!((rate.bps() as f64 / 1e6 - mbps).abs() < 0.1, "{rate:?}: {}", rate.bps());
        }
    }

    #[test]
    fn what_the_tables_leave_out_does_not_exist() {
        for (format, mcs, streams, width, guard_interval) in [
            (Format::Ht, 8, 1, 20, 800),
            (Format::Ht, 7, 5, 20, 800),
            (Format::Ht, 7, 1, 80, 800),
            (Format::Ht, 7, 1, 20, 1_600),
            (Format::Vht, 10, 1, 80, 800),
            (Format::Vht, 9, 1, 20, 800),
            (Format::Vht, 9, 2, 20, 800),
            (Format::Vht, 6, 3, 80, 800),
            (Format::Vht, 6, 7, 80, 800),
            (Format::Vht, 9, 6, 80, 800),
            (Format::Vht, 9, 3, 160, 800),
            (Format::Vht, 0, 9, 20, 800),
            (Format::He, 12, 1, 80, 800),
            (Format::He, 0, 1, 80, 400),
            (Format::He, 0, 0, 80, 800),
        ] {
            assert!(!rate(format, mcs, streams, width, guard_interval).exists());
        }
        assert!(rate(Format::Vht, 9, 3, 20, 800).exists());
        assert!(rate(Format::Vht, 6, 4, 80, 800).exists());
    }

    /// Entries of the column N_ES for which a count by rate would not share the bits evenly: 2457
    /// bits among three, 8190 among six, 29,484 among twelve. Also ordinary entries.
    #[test]
    fn encoders_share_the_bits_evenly() {
        for (mcs, streams, width, encoders) in [
            (9, 1, 80, 1),
            (9, 2, 80, 2),
            (2, 7, 80, 3),
            (7, 7, 80, 6),
            (8, 7, 80, 6),
            (7, 8, 80, 6),
            (7, 4, 160, 6),
            (8, 5, 160, 8),
            (7, 6, 160, 8),
            (3, 7, 160, 4),
            (4, 7, 160, 6),
            (5, 7, 160, 7),
            (7, 7, 160, 9),
            (8, 7, 160, 12),
            (9, 7, 160, 12),
        ] {
            assert_eq!(
                rate(Format::Vht, mcs, streams, width, 800).known_symbol().encoders,
                encoders
            );
        }
        assert_eq!(rate(Format::Ht, 7, 2, 40, 800).known_symbol().encoders, 1);
        assert_eq!(rate(Format::Ht, 7, 3, 40, 800).known_symbol().encoders, 2);
    }

    /// 31 MPDUs of 1538 bytes: 30 subframes of 4 + 1538 + 2 bytes and a last one without padding
    /// make 47,862 bytes. 802.11n: ceil((16 + 382,896 + 6) / 260) = 1473 symbols of 3.6 us after 36
    /// us: 5338.8 us. With rounding to 4 us, 5302.8 becomes 5304.
    #[test]
    fn an_aggregate_of_31_packets_at_the_highest_mcs_of_802_11n() {
        let rate = rate(Format::Ht, 7, 1, 20, 400);
        let bits = 8 * (30 * 1_544 + 1_542);

        assert_eq!(rate.ppdu_time(&TIMING, bits).as_nanos(), 5_338_800);
        let standard = HighRateTiming { short_gi_rounding: true, ..TIMING };
        assert_eq!(rate.ppdu_time(&standard, bits).as_nanos(), 5_340_000);
    }

    /// 64 such MPDUs: 98,814 bytes, ceil(790,534 / 1560) = 507 symbols of 3.6 us. 256 of them:
    /// 395,262 bytes, ceil(3,162,118 / 8166) = 388 symbols of 13.6 us after 44 us.
    #[test]
    fn full_windows_of_802_11ac_and_ax() {
        let ac = rate(Format::Vht, 9, 1, 80, 400);
        assert_eq!(ac.ppdu_time(&TIMING, 8 * (63 * 1_544 + 1_542)).as_nanos(), 1_861_200);
        let ax = HighRate {
            preamble_time: Duration::from_micros(44),
            ..rate(Format::He, 11, 1, 80, 800)
        };
        assert_eq!(ax.ppdu_time(&TIMING, 8 * (255 * 1_544 + 1_542)).as_nanos(), 5_320_800);
    }

    /// The longest PSDU fits, and one more bit does not, with and without rounding.
    #[test]
    fn the_longest_psdu_is_the_longest() {
        for short_gi_rounding in [false, true] {
            let timing = HighRateTiming { short_gi_rounding, ..TIMING };
            for rate in [
                rate(Format::Ht, 7, 1, 20, 400),
                rate(Format::Vht, 9, 2, 80, 400),
                rate(Format::He, 11, 1, 80, 800),
            ] {
                for micros in [100, 2_528, 5_484] {
                    let time = Duration::from_micros(micros);
                    let longest = rate.ppdus(&timing).longest_psdu(time).unwrap();

                    assert!(rate.ppdu_time(&timing, longest) <= time);
                    assert!(rate.ppdu_time(&timing, longest + 1) > time);
                }
            }
        }
        assert_eq!(
            rate(Format::Ht, 7, 1, 20, 400).ppdus(&TIMING).longest_psdu(Duration::from_micros(36)),
            None
        );
    }

    #[test]
    fn in_2_4_ghz_the_signal_extension_is_part_of_the_frame() {
        let timing = HighRateTiming { signal_extension: Duration::from_micros(6), ..TIMING };
        let rate = rate(Format::Ht, 0, 1, 20, 800);

        // ceil((16 + 112 + 6) / 26) = 6 symbols of 4 us.
        assert_eq!(rate.ppdu_time(&timing, 112).as_nanos(), 36_000 + 24_000 + 6_000);
    }
}
