//! The frames of an exchange, with their starts and ends: DATA-ACK, or RTS-CTS-DATA-ACK, each after
//! a SIFS (IEEE 802.11-2020, 10.3.2).

use airtcp_kernel::Duration;

use crate::config::MacConfig;
use crate::phy::{Format, Modulation, PhyConfig, ProtectionKind, Rate};

/// The times of one frame exchange, from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameTimes {
    /// Airtime of the RTS; zero if none is sent.
    pub rts: Duration,
    /// Airtime of the CTS; zero if none is sent. Without an RTS it is a CTS-to-self.
    pub cts: Duration,
    /// Airtime of the data frame.
    pub data: Duration,
    /// Airtime of the MAC ACK.
    pub ack: Duration,
    /// Airtime of RTS, CTS and MAC ACK.
    pub control: Duration,
    /// The time from the start to the end of what is sent before a response.
    pub first: Duration,
    /// The time from the start until the receiver has the data frame.
    pub data_received: Duration,
    /// The time from the start until the sender has the MAC ACK.
    pub total: Duration,
}

impl FrameTimes {
    /// Creates the exchange of an MPDU of `mpdu_bits`, including header and FCS, at `data_rate`,
    /// with control frames at `control_rate`.
    pub fn new(
        phy: &PhyConfig,
        mac: &MacConfig,
        mpdu_bits: u64,
        data_rate: Rate,
        control_rate: Rate,
    ) -> Self {
        let is_long =
            mac.rts_threshold_bytes.is_some_and(|threshold| mpdu_bits.div_ceil(8) > threshold);
        let protection = phy.protection_of(data_rate);
        let rate = protection.map_or(control_rate, |one| one.rate);
        let kind =
            if is_long { Some(ProtectionKind::RtsCts) } else { protection.map(|one| one.kind) };
        let rts = phy.ppdu_time(phy.rts_bits, rate);
        let cts = phy.ppdu_time(phy.cts_bits, rate);
        let data = phy.ppdu_time(mpdu_bits, data_rate);
        let ack = phy.ppdu_time(phy.ack_bits, control_rate);
        BeforeData::new(phy, kind, rts, cts).exchange(phy, data, ack)
    }

    /// Returns the time from the start to the end of what is sent before a response. This part is
    /// lost in a collision.
    #[inline]
    pub fn first(&self) -> Duration {
        self.first
    }

    /// Returns the frames as intervals from the start of the exchange: RTS, CTS, DATA, ACK. RTS and
    /// CTS are empty if not sent.
    pub fn intervals(&self, phy: &PhyConfig) -> [(Duration, Duration); 4] {
        let data_end = self.data_received - phy.propagation_delay;
        let ack_end = self.total - phy.propagation_delay;
        let cts_start = if self.rts == Duration::ZERO {
            Duration::ZERO
        } else {
            self.rts + phy.propagation_delay + phy.sifs
        };
        [
            (Duration::ZERO, self.rts),
            (cts_start, cts_start + self.cts),
            (data_end - self.data, data_end),
            (ack_end - self.ack, ack_end),
        ]
    }
}

/// The frames before data, and the time until the data begin.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BeforeData {
    rts: Duration,
    cts: Duration,
    pub(super) total: Duration,
}

impl BeforeData {
    /// Creates the frames of a kind of protection: an RTS and a CTS, a CTS-to-self, or none.
    pub(super) fn new(
        phy: &PhyConfig,
        kind: Option<ProtectionKind>,
        rts: Duration,
        cts: Duration,
    ) -> Self {
        let hop = phy.propagation_delay + phy.sifs;
        match kind {
            Some(ProtectionKind::RtsCts) => Self { rts, cts, total: rts + hop + cts + hop },
            Some(ProtectionKind::CtsToSelf) => {
                Self { rts: Duration::ZERO, cts, total: cts + phy.sifs }
            }
            None => Self::default(),
        }
    }

    /// Returns the whole exchange, with data and a response that last as long.
    pub(super) fn exchange(self, phy: &PhyConfig, data: Duration, ack: Duration) -> FrameTimes {
        let Self { rts, cts, total: before } = self;
        let data_received = before + data + phy.propagation_delay;
        let total = data_received + phy.sifs + ack + phy.propagation_delay;
        // A CTS-to-self has no response: the data follow whatever happened to it.
        let first = if rts == Duration::ZERO { before + data } else { rts };
        FrameTimes { rts, cts, data, ack, control: rts + cts + ack, first, data_received, total }
    }
}

/// Caches [`FrameTimes`] by size and rates: a run uses a few of them millions of times.
#[derive(Debug)]
pub struct FrameTable {
    phy: PhyConfig,
    mac: MacConfig,
    /// Data and control rate of each rate class.
    classes: Vec<(Rate, Rate)>,
    /// Direct-mapped cache: the key (class and size) and its times.
    slots: Box<[(u64, FrameTimes); TABLE_SLOTS]>,
    /// The size of MAC and LLC headers and FCS.
    header_bits: u64,
}

const TABLE_SLOTS: usize = 256;

/// 2^64 over the golden ratio: the upper bits of its multiples are evenly spread (Knuth, volume 3,
/// 6.4).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The key of an empty slot.
const NO_KEY: u64 = u64::MAX;

impl FrameTable {
    /// Creates an empty table. `classes` has the (data, control) rates of each rate class.
    pub fn new(phy: PhyConfig, mac: MacConfig, classes: Vec<(Rate, Rate)>) -> Self {
        let header_bits = phy.mac_header_bits + phy.llc_bits;
        let slots = Box::new([(NO_KEY, FrameTimes::default()); TABLE_SLOTS]);
        Self { phy, mac, classes, slots, header_bits }
    }

    /// Returns the exchange of an MPDU of `mpdu_bits` to or from a station of `class`.
    #[inline]
    pub fn times(&mut self, class: u32, mpdu_bits: u64) -> &FrameTimes {
        let key = (u64::from(class) << 40) | mpdu_bits;
        let slot = (key.wrapping_mul(SPREAD) >> (64 - TABLE_SLOTS.ilog2())) as usize;
        if self.slots[slot].0 != key {
            self.compute(slot, class, mpdu_bits);
            self.slots[slot].0 = key;
        }
        &self.slots[slot].1
    }

    #[cold]
    fn compute(&mut self, slot: usize, class: u32, mpdu_bits: u64) {
        let (data_rate, control_rate) = self.classes[class as usize];
        self.slots[slot].1 =
            FrameTimes::new(&self.phy, &self.mac, mpdu_bits, data_rate, control_rate);
    }

    /// Returns the size of the MPDU that carries an MSDU of `msdu_bits`.
    #[inline]
    pub fn mpdu_bits(&self, msdu_bits: u64) -> u64 {
        self.header_bits + msdu_bits
    }

    /// Returns the size of an MPDU's MAC header and FCS in bits.
    #[inline]
    pub fn mac_header_bits(&self) -> u64 {
        self.phy.mac_header_bits
    }

    /// Returns the size of the MSDU that an MPDU of `mpdu_bits` carries.
    #[inline]
    pub fn msdu_bits(&self, mpdu_bits: u64) -> u64 {
        mpdu_bits - self.header_bits
    }

    /// Returns the data rate of a class.
    pub(crate) fn data_rate(&self, class: u32) -> Rate {
        self.classes[class as usize].0
    }

    /// Returns whether PPDUs at the data rate of a class carry a BSS colour.
    pub(crate) fn has_colour(&self, class: u32) -> bool {
        let Modulation::High(rate) = self.data_rate(class).modulation else { return false };
        matches!(rate.format, Format::He | Format::Eht)
    }

    /// Returns the settings of the PHY.
    pub fn phy(&self) -> &PhyConfig {
        &self.phy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{OfdmTiming, Protection};
    use crate::testing::{dot11b, standard_mac};

    /// Paper M's table 1 with an RTS of 160 bits: 272 + 10 + 248 + 10 + 973.091 + 10 + 248 us.
    #[test]
    fn rts_exchange_adds_up() {
        let phy =
            PhyConfig { symbol_rounding: false, mac_header_bits: 272, llc_bits: 0, ..dot11b() };
        let mac = MacConfig { rts_threshold_bytes: Some(0), ..standard_mac() };

        let times = FrameTimes::new(&phy, &mac, 8320 + 272, phy.data_rate, phy.control_rate);

        assert_eq!(times.rts, Duration::from_micros(272));
        assert_eq!(times.data_received.as_nanos(), 540_000 + 973_091);
        assert_eq!(times.total.as_nanos(), 1_771_091);
        assert_eq!(times.first(), times.rts);
        let on_air: u64 =
            times.intervals(&phy).iter().map(|(from, to)| (*to - *from).as_nanos()).sum();
        assert_eq!(on_air, (times.control + times.data).as_nanos());
    }

    /// 1536 bytes at 54 Mb/s last 248 + 6 us, and their ACK at 24 Mb/s 28 + 6 us. A CTS at 2 Mb/s
    /// lasts 192 + 56 us, an RTS 192 + 80 us. If a CTS-to-self collides, the data are sent anyway.
    #[test]
    fn ofdm_frames_may_be_protected() {
        let dsss = Rate { bps: 2_000_000, modulation: Modulation::Dsss };
        let ofdm = |mbps: u64| Rate { bps: mbps * 1_000_000, modulation: Modulation::Ofdm };
        let times = |kind| {
            let phy = PhyConfig {
                protection: Some(Protection { kind, rate: dsss }),
                ofdm: Some(OfdmTiming {
                    preamble_time: Duration::from_micros(16),
                    plcp_header_time: Duration::from_micros(4),
                    symbol_time: Duration::from_micros(4),
                    service_bits: 16,
                    tail_bits: 6,
                    signal_extension: Duration::from_micros(6),
                }),
                ..dot11b()
            };
            let of =
                |data, control| FrameTimes::new(&phy, &standard_mac(), 8 * 1536, data, control);
            let slow = of(Rate { bps: 11_000_000, ..dsss }, dsss);
            assert_eq!((slow.rts, slow.cts), (Duration::ZERO, Duration::ZERO));
            let times = of(ofdm(54), ofdm(24));
            let on_air = times.intervals(&phy).map(|(from, to)| (to - from).as_nanos());
            assert_eq!(on_air.iter().sum::<u64>(), (times.control + times.data).as_nanos());
            times
        };

        let own = times(ProtectionKind::CtsToSelf);
        assert_eq!(own.cts, Duration::from_micros(248));
        assert_eq!(own.first(), Duration::from_micros(248 + 10 + 254));
        assert_eq!(own.total, Duration::from_micros(248 + 10 + 254 + 10 + 34));
        let both = times(ProtectionKind::RtsCts);
        assert_eq!(both.first(), Duration::from_micros(272));
        assert_eq!(both.total, Duration::from_micros(272 + 10 + 248 + 10 + 254 + 10 + 34));
    }

    #[test]
    fn rts_goes_before_frames_longer_than_the_threshold_only() {
        let phy = dot11b();
        for (threshold, uses_rts) in [(1035, true), (1036, false)] {
            let mac = MacConfig { rts_threshold_bytes: Some(threshold), ..standard_mac() };
            let times = FrameTimes::new(&phy, &mac, 8 * 1036, phy.data_rate, phy.control_rate);

            assert_eq!(times.rts > Duration::ZERO, uses_rts);
        }
    }

    #[test]
    fn table_gives_what_is_computed() {
        let phy = dot11b();
        let classes = vec![
            (phy.data_rate, phy.control_rate),
            (Rate { bps: 1_000_000, ..phy.data_rate }, phy.control_rate),
        ];
        let mut table = FrameTable::new(phy.clone(), standard_mac(), classes.clone());
        for _ in 0..2 {
            for (class, (data_rate, control_rate)) in classes.iter().enumerate() {
                for mpdu_bits in (320..20_000).step_by(8) {
                    let computed = FrameTimes::new(
                        &phy,
                        &standard_mac(),
                        mpdu_bits,
                        *data_rate,
                        *control_rate,
                    );

                    assert_eq!(*table.times(class as u32, mpdu_bits), computed);
                }
            }
        }
    }
}
