//! The frame exchange of 802.11n and later: an A-MPDU and its Block ACK, or a single MPDU and its
//! ACK, with RTS and CTS before a long one (IEEE Std 802.11-2020, 10.12, 10.25.6).
//!
//! Contains the limits of an A-MPDU, and the duration of an exchange.

use airtcp_kernel::Duration;

use super::dcf::{BeforeData, FrameTimes};
use crate::config::{AggregationConfig, MacConfig, PairConfig};
use crate::frame::{Emlsr, Frames, Mpdu};
use crate::phy::{
    HighRate, HighRatePpdus, HighRateTiming, Modulation, PhyConfig, ProtectionKind, Rate,
};
use crate::rate_control::Cost;

/// Size of the delimiter before each MPDU of an A-MPDU (9.7.1), in bits.
const DELIMITER_BITS: u64 = 32;
/// MPDUs of an A-MPDU, and packets of an A-MSDU, are aligned to this many bits.
const ALIGNMENT_BITS: u64 = 32;
/// Size of the subframe header before each packet of an A-MSDU: two addresses and a length
/// (9.3.2.2.2).
const SUBFRAME_HEADER_BITS: u64 = 112;

/// Exchanges at the rates of one rate class.
#[derive(Clone, Debug)]
pub(crate) struct HtExchange {
    phy: PhyConfig,
    data_rate: Rate,
    control_rate: Rate,
    timing: Option<HighRateTiming>,
    /// The airtime of data PPDUs; `None` for rates of 802.11a, b or g.
    ppdus: Option<HighRatePpdus>,
    /// The size limits without a TXOP.
    room: Room,
    /// Aggregation; `None`: every frame has its own exchange.
    aggregation: Option<AggregationConfig>,
    /// The maximum number of outstanding MPDUs for one receiver.
    window: u32,
    rts_threshold_bits: Option<u64>,
    /// Frames before each PPDU that keep stations quiet which cannot decode it.
    protection: Option<ProtectionKind>,
    /// Airtime of RTS and CTS.
    rts: Duration,
    cts: Duration,
    ack: Duration,
    block_ack: Duration,
    request: Duration,
    /// Whether RTS and CTS come before everything, Block ACK requests included.
    is_initiated: bool,
    /// A single MPDU has a delimiter from VHT on, where PPDUs carry only A-MPDUs (10.12.7).
    lone_delimiter: bool,
}

/// What follows a PPDU to several users.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answers {
    pub(crate) trigger: Duration,
    pub(crate) request: Duration,
    pub(crate) block_ack: Duration,
    pub(crate) block_ack_bits: u64,
}

/// Size limits of a PSDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// The limit of an A-MPDU.
    psdu_bits: u64,
    /// The limit up to which a single MPDU may grow.
    lone_bits: u64,
}

/// The packets of one MPDU, including LLC headers: a single packet, or an A-MSDU that grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packets {
    count: u32,
    /// The size of the only packet. From the second on, the size of the A-MSDU up to its last
    /// packet, without the padding after it.
    bits: u64,
}

impl Packets {
    /// Starts with one packet and its LLC header.
    #[inline]
    pub(crate) fn of(bits: u64) -> Self {
        Self { count: 1, bits }
    }

    /// Returns the A-MSDU with one more packet.
    pub(crate) fn with(self, bits: u64) -> Self {
        let before = match self.count {
            1 => SUBFRAME_HEADER_BITS + self.bits,
            _ => self.bits,
        };
        let bits = before.next_multiple_of(ALIGNMENT_BITS) + SUBFRAME_HEADER_BITS + bits;
        Self { count: self.count + 1, bits }
    }

    /// Returns its size in bits.
    pub(crate) fn bits(self) -> u64 {
        self.bits
    }
}

/// A PSDU that grows by one MPDU at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Growing {
    mpdus: u32,
    /// The size of the only MPDU. From the second on, the size of the A-MPDU up to its last MPDU,
    /// without the padding after it.
    bits: u64,
}

impl Growing {
    /// Returns the A-MPDU with one more MPDU.
    #[inline]
    pub(crate) fn with(self, mpdu_bits: u64) -> Self {
        let bits = match self.mpdus {
            0 => mpdu_bits,
            1 => {
                let first = (DELIMITER_BITS + self.bits).next_multiple_of(ALIGNMENT_BITS);
                first + DELIMITER_BITS + mpdu_bits
            }
            _ => self.bits.next_multiple_of(ALIGNMENT_BITS) + DELIMITER_BITS + mpdu_bits,
        };
        Self { mpdus: self.mpdus + 1, bits }
    }

    /// Returns the A-MPDU after its last MPDU has grown by `bits`.
    pub(crate) fn grown_by(self, bits: u64) -> Self {
        Self { bits: self.bits + bits, ..self }
    }

    /// Returns its size in bits.
    pub(crate) fn bits(self) -> u64 {
        self.bits
    }

    /// Returns whether it has an MPDU.
    pub(crate) fn is_begun(self) -> bool {
        self.mpdus > 0
    }
}

impl HtExchange {
    /// Creates the exchanges of stations with these rates.
    pub(crate) fn new(
        phy: &PhyConfig,
        mac: &MacConfig,
        pair: &PairConfig,
        data_rate: Rate,
        control_rate: Rate,
    ) -> Self {
        let control = |bits| phy.ppdu_time(bits, control_rate);
        let protection = phy.protection_of(data_rate);
        let before = |bits| phy.ppdu_time(bits, protection.map_or(control_rate, |one| one.rate));
        let ppdus = match (data_rate.modulation, &pair.high_rate) {
            (Modulation::High(rate), Some(timing)) => Some(rate.ppdus(timing)),
            _ => None,
        };
        let nothing = Room { psdu_bits: 0, lone_bits: 0 };
        let aggregation = pair.aggregation.as_ref();
        let ack = control(phy.ack_bits);
        let mut exchange = Self {
            data_rate,
            control_rate,
            timing: pair.high_rate,
            ppdus,
            room: nothing,
            aggregation: aggregation.cloned(),
            window: aggregation.map_or(1, |one| one.block_ack_window),
            rts_threshold_bits: mac.rts_threshold_bytes.map(|bytes| 8 * bytes),
            protection: protection.map(|one| one.kind),
            rts: before(phy.rts_bits),
            cts: before(phy.cts_bits),
            ack,
            block_ack: aggregation
                .map_or(ack, |one| phy.ppdu_time(one.block_ack_bits, one.block_ack_rate)),
            request: control(aggregation.map_or(0, |one| one.block_ack_request_bits)),
            is_initiated: false,
            lone_delimiter: matches!(
                data_rate.modulation,
                Modulation::High(rate) if rate.format.amendment().lone_delimiter
            ),
            phy: phy.clone(),
        };
        exchange.room = exchange.room_within(exchange.ppdu_time());
        exchange
    }

    /// Returns the exchanges with stations that have one radio for several links: an MU-RTS and its
    /// CTS come before everything.
    pub(crate) fn initiated(&self, emlsr: &Emlsr) -> Self {
        let (rts, cts) = emlsr.control_times(&self.phy);
        Self { rts, cts, is_initiated: true, ..self.clone() }
    }

    /// Returns the width of the channel of its data, in MHz.
    pub(crate) fn width_mhz(&self) -> u16 {
        self.data_rate.width_mhz()
    }

    /// Returns the maximum number of outstanding MPDUs for one receiver.
    #[inline]
    pub(crate) fn window(&self) -> u64 {
        self.window.into()
    }

    /// Returns the maximum duration of a PPDU with several MPDUs.
    pub(crate) fn ppdu_time(&self) -> Duration {
        self.aggregation.as_ref().map_or(Duration::ZERO, |one| one.ppdu_time)
    }

    /// Returns the size limits that follow from the limits of bytes and time, within `txop` if it
    /// is not zero.
    pub(crate) fn room(&self, txop: Duration) -> Room {
        if txop == Duration::ZERO {
            return self.room;
        }
        let after_data = self.phy.sifs + self.block_ack + self.phy.propagation_delay;
        let around = self.before_data(u64::MAX).total + after_data;
        let left = txop.as_nanos().saturating_sub(around.as_nanos());
        self.room_within(self.ppdu_time().min(Duration::from_nanos(left)))
    }

    /// Returns the size limits of a PPDU that lasts at most `time`.
    fn room_within(&self, time: Duration) -> Room {
        self.room_of(self.ppdus.as_ref(), time)
    }

    /// Returns the size limits of `ppdus` that last at most `time`.
    fn room_of(&self, ppdus: Option<&HighRatePpdus>, time: Duration) -> Room {
        let psdu_bits = self.aggregation.as_ref().map_or(0, |one| 8 * one.ampdu_bytes);
        let Some(ppdus) = ppdus else { return Room { psdu_bits, lone_bits: u64::MAX } };
        let longest = ppdus.longest_psdu(time).unwrap_or(0);
        let delimiter = if self.lone_delimiter { DELIMITER_BITS } else { 0 };
        Room { psdu_bits: psdu_bits.min(longest), lone_bits: longest.saturating_sub(delimiter) }
    }

    /// Returns whether `packets` may be the body of one MPDU of `psdu` within `room`. A single
    /// packet always may.
    pub(crate) fn fits_packets(
        &self,
        packets: Packets,
        header_bits: u64,
        psdu: Growing,
        room: Room,
    ) -> bool {
        let Some(AggregationConfig { amsdu_bytes, mpdu_bytes, .. }) = self.aggregation else {
            return false;
        };
        let most = if psdu.mpdus == 1 { room.lone_bits } else { room.psdu_bits };
        packets.bits <= 8 * amsdu_bytes
            && header_bits + packets.bits <= 8 * mpdu_bytes
            && psdu.bits <= most
    }

    /// Returns whether MPDUs may carry several packets.
    pub(crate) fn has_amsdus(&self) -> bool {
        self.aggregation.as_ref().is_some_and(|one| one.amsdu_bytes > 0)
    }

    /// Returns whether `psdu` is within `room`. A single MPDU always is: it may exceed a TXOP limit
    /// (10.23.2.9), and need not become an A-MPDU.
    #[inline]
    pub(crate) fn fits(&self, psdu: Growing, room: Room) -> bool {
        psdu.mpdus <= 1 || psdu.mpdus <= self.window && psdu.bits <= room.psdu_bits
    }

    /// Returns the size limits in a resource unit, in which `ppdus` last at most `time`.
    pub(crate) fn unit_room(&self, ppdus: &HighRatePpdus, time: Duration) -> Room {
        self.room_of(Some(ppdus), time)
    }

    /// Returns whether `psdu` is within the `room` of a resource unit, to which a single MPDU is no
    /// exception.
    pub(crate) fn fits_unit(&self, psdu: Growing, room: Room) -> bool {
        psdu.bits <= if psdu.mpdus == 1 { room.lone_bits } else { room.psdu_bits }
            && psdu.mpdus <= self.window
    }

    /// Returns the size of `psdu` on the air.
    pub(crate) fn psdu_bits(&self, psdu: Growing) -> u64 {
        let lone = psdu.mpdus == 1;
        psdu.bits + if lone && self.lone_delimiter { DELIMITER_BITS } else { 0 }
    }

    /// Returns the size of `psdu` on the air.
    pub(crate) fn bits_of<P>(&self, psdu: Frames<'_, P>) -> u64 {
        let size = |frame: &[Mpdu<P>]| frame.iter().map(|mpdu| mpdu.bits).sum();
        self.psdu_bits(psdu.each().fold(Growing::default(), |all, frame| all.with(size(frame))))
    }

    /// Returns the size of a Block ACK, and its rate.
    pub(crate) fn block_ack(&self) -> (u64, Rate) {
        let one = self.aggregation.as_ref();
        one.map_or((0, self.control_rate), |one| (one.block_ack_bits, one.block_ack_rate))
    }

    /// Returns the data rate and the timing of its PPDUs.
    ///
    /// # Panics
    /// If it is a rate of 802.11a, b or g.
    pub(crate) fn high_rate(&self) -> (HighRate, &HighRateTiming) {
        match (self.data_rate.modulation, &self.timing) {
            (Modulation::High(rate), Some(timing)) => (rate, timing),
            _ => unreachable!("OFDMA is of 802.11ax and later"),
        }
    }

    /// Returns the airtime of a control frame of `bits`, a Block ACK request, and a Block ACK; and
    /// the size of a Block ACK in an A-MPDU.
    pub(crate) fn answers(&self, bits: u64) -> Answers {
        let block_ack_bits = self.aggregation.as_ref().map_or(0, |one| one.block_ack_bits);
        Answers {
            trigger: self.phy.ppdu_time(bits, self.control_rate),
            request: self.request,
            block_ack: self.block_ack,
            block_ack_bits: DELIMITER_BITS + block_ack_bits,
        }
    }

    /// Returns the frame times of the exchange that carries `psdu`.
    pub(crate) fn times(&self, psdu: Growing) -> FrameTimes {
        let lone = psdu.mpdus == 1;
        let bits = self.psdu_bits(psdu);
        let data = match &self.ppdus {
            Some(ppdus) => ppdus.time(bits),
            None => self.phy.ppdu_time(bits, self.data_rate),
        };
        let ack = if lone { self.ack } else { self.block_ack };
        self.before_data(bits).exchange(&self.phy, data, ack)
    }

    /// Returns the cost of 1500-byte MPDUs; each access takes `access` in addition to its frames.
    pub(crate) fn cost(&self, access: Duration) -> Cost {
        let bits = self.phy.mac_header_bits + self.phy.llc_bits + 8 * 1_500;
        let in_ampdu = (DELIMITER_BITS + bits).next_multiple_of(ALIGNMENT_BITS);
        let mpdu = Duration::from_nanos(in_ampdu * 1_000_000_000 / self.data_rate.bps);
        let alone = access + self.times(Growing::default().with(bits)).total;
        let rest = alone.as_nanos().saturating_sub(mpdu.as_nanos());
        let single = Duration::from_nanos((22 + 8 * 1_200) * 1_000_000_000 / self.data_rate.bps);
        Cost { access: Duration::from_nanos(rest), mpdu, alone: self.preamble() + single }
    }

    /// Returns the duration before the Data field of a data PPDU.
    pub(crate) fn preamble(&self) -> Duration {
        match self.data_rate.modulation {
            Modulation::High(rate) => rate.preamble_time,
            Modulation::Dsss | Modulation::Ofdm => Duration::ZERO,
        }
    }

    /// Returns the times of a Block ACK request and its response.
    pub(crate) fn request_times(&self) -> FrameTimes {
        let before = if self.is_initiated { self.before_data(0) } else { BeforeData::default() };
        before.exchange(&self.phy, self.request, self.block_ack)
    }

    /// Returns the frames before a PSDU of `bits`: RTS and CTS, a CTS-to-self, or none.
    fn before_data(&self, bits: u64) -> BeforeData {
        let is_long = self.rts_threshold_bits.is_some_and(|threshold| bits > threshold);
        let uses_rts = is_long || self.is_initiated;
        let kind = if uses_rts { Some(ProtectionKind::RtsCts) } else { self.protection };
        BeforeData::new(&self.phy, kind, self.rts, self.cts)
    }
}

#[cfg(test)]
pub(crate) mod tests;
