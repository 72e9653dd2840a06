//! Resource units of 802.11ax and later, the signal field of a PPDU to several users, and the
//! response of each user in its resource unit (IEEE 802.11ax-2021, clause 27; 802.11be-2024, clause
//! 36). The central resource unit of 26 tones of a 20 MHz or 80 MHz channel counts as any other.

use airtcp_kernel::Duration;

use super::Format;
use super::high_rate::{HighRate, HighRatePpdus, HighRateTiming};

/// A division of the channel into equal resource units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Division {
    /// N_SD of each resource unit.
    subcarriers: u64,
    /// The number of resource units.
    pub(crate) units: usize,
}

/// A resource unit of a PPDU to several users or of a trigger-based one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceUnit {
    /// Its subcarriers, with pilots: 26 to 1992 tones.
    pub tones: usize,
    /// Its place among the units of this size, from the lowest frequency on.
    pub place: usize,
    /// The duration before the Data field of the PPDU.
    pub preamble: Duration,
}

/// Tones of resource units, in the order of [`SUBCARRIERS`].
const TONES: [usize; 7] = [26, 52, 106, 242, 484, 996, 1_992];

/// N_SD of resource units of 26, 52, 106, 242, 484, 996 and 2 x 996 tones (Table 27-13).
const SUBCARRIERS: [u64; 7] = [24, 48, 102, 234, 468, 980, 1_960];

/// The numbers of such resource units in a channel, by its width in MHz (Table 27-8).
const UNITS: [(u16, &[usize]); 4] = [
    (20, &[9, 4, 2, 1]),
    (40, &[18, 8, 4, 2, 1]),
    (80, &[37, 16, 8, 4, 2, 1]),
    (160, &[74, 32, 16, 8, 4, 2, 1]),
];

/// The duration before the long training fields of a trigger-based PPDU: legacy preamble 20 us,
/// repeated L-SIG 4 us, signal field 8 us, short training field 8 us (27.3.4, 36.3.4). The duration
/// of each of them, with the guard interval.
const TRIGGER_BASED_PREAMBLE: Duration = Duration::from_micros(40);
const TRIGGER_BASED_TRAINING: Duration = Duration::from_micros(8);
const TRIGGER_BASED_GUARD_INTERVAL: Duration = Duration::from_nanos(1_600);

impl Division {
    /// Returns the division of a channel with the smallest resource units, but at most one unit for
    /// each of `users`; `None` if the channel cannot be divided, or without users.
    pub(crate) fn among(width_mhz: u16, users: usize) -> Option<Self> {
        let (_, units) = UNITS.iter().find(|(width, _)| *width == width_mhz)?;
        let fits = |&(_, &units): &(u64, &usize)| units <= users;
        let (subcarriers, &units) = SUBCARRIERS.into_iter().zip(*units).find(fits)?;
        Some(Self { subcarriers, units })
    }

    /// Returns one of its resource units, in a PPDU with this duration before the Data field.
    pub(crate) fn unit(self, place: usize, preamble: Duration) -> ResourceUnit {
        let sizes = SUBCARRIERS.into_iter().zip(TONES);
        let (_, tones) =
            sizes.into_iter().find(|&(one, _)| one == self.subcarriers).expect("a size");
        ResourceUnit { tones, place, preamble }
    }

    /// Returns the division of a channel with the largest resource units of which there is one for
    /// each of `users`; `None` if there are never as many.
    pub(crate) fn for_all(width_mhz: u16, users: usize) -> Option<Self> {
        let (_, units) = UNITS.iter().find(|(width, _)| *width == width_mhz)?;
        let fits = |&(_, &units): &(u64, &usize)| units >= users;
        let (subcarriers, &units) = SUBCARRIERS.into_iter().zip(*units).rfind(fits)?;
        Some(Self { subcarriers, units })
    }
}

/// The signal field that describes the users of a PPDU: HE-SIG-B (27.3.11.8) or EHT-SIG
/// (36.3.12.8). Its MCS is the highest that is allowed and no higher than that of any user.
#[derive(Debug)]
pub(super) struct UserSignal {
    /// Whether PPDUs of the single-user format have it, too.
    pub(super) in_single_user: bool,
    /// Its bits for one user of the whole channel.
    pub(super) alone_bits: u64,
    /// The bits of the common field by channel width, with CRC and tail.
    pub(super) common_bits: &'static [(u16, u64)],
    /// The bits of a block of two users, and of a last block of one, with CRC and tail.
    pub(super) block_bits: (u64, u64),
    /// N_DBPS in 20 MHz by MCS, in ascending order.
    pub(super) symbols: &'static [(u8, u64)],
}

/// The duration of a symbol of the signal field.
const SIGNAL_SYMBOL: Duration = Duration::from_micros(4);

impl UserSignal {
    fn time(&self, width_mhz: u16, users: usize, lowest_mcs: u8) -> Duration {
        // Two content channels share the users from 40 MHz on.
        let users = users as u64;
        let bits = if users == 1 {
            self.alone_bits
        } else {
            let users = if width_mhz == 20 { users } else { users.div_ceil(2) };
            let common = self.common_bits.iter().find(|(width, _)| *width == width_mhz);
            let (_, common) = common.expect("a channel that can be divided");
            common + users / 2 * self.block_bits.0 + users % 2 * self.block_bits.1
        };
        let symbols = self.symbols.iter().rev().find(|(mcs, _)| *mcs <= lowest_mcs);
        let (_, symbol_bits) = symbols.unwrap_or(&self.symbols[0]);
        SIGNAL_SYMBOL * bits.div_ceil(*symbol_bits)
    }

    fn time_in_single_user(&self, mcs: u8) -> Duration {
        // EHT-SIG of a single-user PPDU is sent at MCS 0 or 1.
        if self.in_single_user { self.time(20, 1, mcs.min(1)) } else { Duration::ZERO }
    }
}

impl HighRate {
    /// Returns the duration before the Data field of a PPDU to users at `rates`.
    pub(crate) fn preamble_to(rates: impl Iterator<Item = Self> + Clone) -> Duration {
        let count = rates.clone().count();
        let lowest_mcs = rates.clone().map(|rate| rate.mcs).min().unwrap_or(0);
        let preamble = |rate: Self| {
            let signal = rate.user_signal();
            let before = rate.preamble_time - signal.time_in_single_user(rate.mcs);
            before + signal.time(rate.channel_width_mhz, count, lowest_mcs)
        };
        rates.map(preamble).max().unwrap_or(Duration::ZERO)
    }

    /// Returns the PPDUs of a user of this rate in a resource unit, after a given preamble.
    pub(crate) fn ppdus_in(
        self,
        division: Division,
        preamble_time: Duration,
        timing: &HighRateTiming,
    ) -> HighRatePpdus {
        Self { preamble_time, ..self }.ppdus_of(division.subcarriers, timing)
    }

    /// Returns the airtime of a response of `bits` in a trigger-based PPDU, in the resource unit of
    /// the user, at `mcs` or the user's own MCS if that is lower.
    pub(crate) fn response_time(
        self,
        division: Division,
        mcs: u8,
        bits: u64,
        timing: &HighRateTiming,
    ) -> Duration {
        let preamble = Self::triggered_preamble(1);
        self.responding(mcs).triggered_in(division, preamble, timing).time(bits)
    }

    /// Returns the rate of a response with one stream in a trigger-based PPDU, at `mcs` or its own
    /// MCS if that is lower. To a trigger of 802.11ax stations of 802.11be respond in the same format.
    pub fn responding(self, mcs: u8) -> Self {
        Self {
            format: Format::He,
            mcs: mcs.min(self.mcs),
            spatial_streams: 1,
            guard_interval: TRIGGER_BASED_GUARD_INTERVAL,
            preamble_time: Self::triggered_preamble(1),
            ..self
        }
    }

    /// Returns the duration before the Data field of a trigger-based PPDU in which no user has more
    /// than `most_streams`.
    pub(crate) fn triggered_preamble(most_streams: u8) -> Duration {
        // N_LTF of Table 27-14.
        let fields = match most_streams {
            0..=2 => most_streams,
            more => more.next_multiple_of(2),
        };
        TRIGGER_BASED_PREAMBLE + TRIGGER_BASED_TRAINING * u64::from(fields)
    }

    /// Returns the trigger-based PPDUs of a user of this rate in its resource unit.
    pub(crate) fn triggered_in(
        self,
        division: Division,
        preamble: Duration,
        timing: &HighRateTiming,
    ) -> HighRatePpdus {
        let rate = Self { guard_interval: TRIGGER_BASED_GUARD_INTERVAL, ..self };
        rate.ppdus_in(division, preamble, timing)
    }

    fn user_signal(self) -> &'static UserSignal {
        let signal = &self.format.amendment().user_signal;
        signal.as_ref().expect("a format with PPDUs to several users")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::Format;

    const TIMING: HighRateTiming = HighRateTiming {
        service_bits: 16,
        tail_bits: 6,
        short_gi_rounding: false,
        signal_extension: Duration::ZERO,
    };

    fn rate(format: Format, mcs: u8, width: u16) -> HighRate {
        // A single-user PPDU of one stream with a long training field of 8 us; EHT-SIG has 52 bits.
        let signal = match (format, mcs) {
            (Format::Eht, 0) => 8,
            (Format::Eht, _) => 4,
            _ => 0,
        };
        HighRate {
            format,
            mcs,
            spatial_streams: 1,
            channel_width_mhz: width,
            guard_interval: Duration::from_nanos(800),
            preamble_time: Duration::from_micros(44 + signal),
        }
    }

    #[test]
    fn a_channel_is_divided_into_no_more_units_than_users() {
        for (width, users, units, subcarriers) in [
            (20, 9, 9, 24),
            (20, 8, 4, 48),
            (20, 3, 2, 102),
            (20, 1, 1, 234),
            (40, 4, 4, 102),
            (40, 1, 1, 468),
            (80, 36, 16, 48),
            (80, 8, 8, 102),
            (80, 1, 1, 980),
            (160, 74, 74, 24),
            (160, 1, 1, 1_960),
        ] {
            assert_eq!(Division::among(width, users), Some(Division { subcarriers, units }));
        }
        assert_eq!(Division::among(20, 0), None);
        assert_eq!(Division::among(320, 4), None);
    }

    /// Table 27-13 with Table 27-111 ff.: Mb/s at MCS 11, guard interval 800 ns, one stream.
    #[test]
    fn rates_of_resource_units_are_those_of_the_tables() {
        for (users, width, mbps) in [
            (9, 20, 14.7),
            (4, 20, 29.4),
            (2, 20, 62.5),
            (1, 20, 143.4),
            (1, 40, 286.8),
            (1, 80, 600.5),
        ] {
            let division = Division::among(width, users).unwrap();
            let ppdus = rate(Format::He, 11, width).ppdus_in(division, Duration::ZERO, &TIMING);
            let bits = ppdus.longest_psdu(Duration::from_nanos(13_600)).unwrap() + 22;
            assert!((bits as f64 / 13.6 - mbps).abs() < 0.1, "{bits}");
        }
    }

    /// HE-SIG-B in 20 MHz: 18 bits and 52 for each two users, 26 bits in a symbol at MCS 0 and 208
    /// at MCS 5. Four users: 122 bits. Nine: 18 + 4 * 52 + 31 = 257. At 80 MHz four of eight users
    /// in each channel: 27 + 104 bits. EHT-SIG: 36 + 2 * 54 bits in symbols of 104.
    #[test]
    fn the_signal_field_grows_with_the_users() {
        for (format, width, mcs, users, micros) in [
            (Format::He, 20, 11, 1, 48),
            (Format::He, 20, 11, 4, 48),
            (Format::He, 20, 11, 9, 52),
            (Format::He, 20, 0, 4, 64),
            (Format::He, 80, 5, 8, 48),
            (Format::Eht, 20, 11, 1, 48),
            (Format::Eht, 20, 11, 4, 52),
            (Format::Eht, 20, 0, 1, 52),
        ] {
            let rates = std::iter::repeat_n(rate(format, mcs, width), users);
            assert_eq!(HighRate::preamble_to(rates), Duration::from_micros(micros));
        }
    }

    /// 60 bytes at MCS 5: 502 bits. 52 tones carry 192 bits in 14.4 us, 242 tones 936.
    #[test]
    fn block_acks_fill_few_symbols() {
        for (users, mcs, symbols) in [(4, 11, 3), (1, 11, 1), (4, 0, 21)] {
            let division = Division::among(20, users).unwrap();
            let time = rate(Format::He, mcs, 20).response_time(division, 5, 480, &TIMING);
            assert_eq!(time, Duration::from_nanos(48_000 + 14_400 * symbols));
        }
    }
}
