//! The radiotap header: rate and channel of a frame, and whether it was received.
//!
//! The fields are those of radiotap.org, each aligned to its size.

use airtcp_wlan::{Format, HighRate, Modulation, PhyConfig, Rate, ResourceUnit};

use super::{bandwidth, he_bandwidth};

/// Bits of the word that lists the present fields.
const PRESENT_TSFT_FLAGS: u32 = 0b11;
const PRESENT_RATE: u32 = 1 << 2;
const PRESENT_CHANNEL: u32 = 1 << 3;
const PRESENT_MCS: u32 = 1 << 19;
const PRESENT_AMPDU: u32 = 1 << 20;
const PRESENT_VHT: u32 = 1 << 21;
const PRESENT_HE: u32 = 1 << 23;
const PRESENT_HE_MU: u32 = 1 << 24;
/// Fields beyond these follow as type, length and value.
const PRESENT_TLV: u32 = 1 << 28;
const TLV_USIG: u16 = 33;
const TLV_EHT: u16 = 34;
const FLAG_SHORT_PREAMBLE: u8 = 0x02;
const FLAG_FCS_AT_END: u8 = 0x10;
const FLAG_BAD_FCS: u8 = 0x40;
const CHANNEL_CCK: u16 = 0x0020;
const CHANNEL_OFDM: u16 = 0x0040;
const CHANNEL_2_GHZ: u16 = 0x0080;
const CHANNEL_5_GHZ: u16 = 0x0100;
/// A-MPDU status: the last subframe is known, and this is the last; the EOF bit of its delimiter is
/// known, and set for a single MPDU.
const AMPDU_LAST_KNOWN: u16 = 0x0004;
const AMPDU_LAST: u16 = 0x0008;
const AMPDU_EOF: u16 = 0x0040;
const AMPDU_EOF_KNOWN: u16 = 0x0080;
/// MCS: bandwidth, index, guard interval, format and coding are known; there is neither STBC nor an
/// extension stream.
const MCS_KNOWN: u8 = 0x7f;
const MCS_SHORT_GI: u8 = 0x04;
const MCS_LDPC: u8 = 0x10;
/// VHT: STBC (none), guard interval and bandwidth are known.
const VHT_KNOWN: u16 = 0x0045;
const VHT_SHORT_GI: u8 = 0x04;
const VHT_LDPC: u8 = 0x01;
/// HE SU PPDU: direction, MCS, DCM (none), coding, STBC (none) and bandwidth are known (data 1),
/// and guard interval (data 2).
const HE_DATA1: u16 = 0x0010 | 0x0020 | 0x0040 | 0x0080 | 0x0200 | 0x4000;
const HE_DATA2: u16 = 0x0002;
const HE_UPLINK: u16 = 0x0080;
const HE_LDPC: u16 = 0x2000;
/// HE MU and trigger-based PPDUs: the format (data 1); the STA-ID of MU is known (data 1), and is in
/// data 4; the number of the resource unit is known and in data 2.
const HE_MU: u16 = 0x0002 | 0x0800;
const HE_TRIGGERED: u16 = 0x0003;
const HE_STATION_ID_SHIFT: u16 = 4;
const HE_UNIT_KNOWN: u16 = 0x4000;
const HE_UNIT_SHIFT: u16 = 8;
/// HE-MU: resource units of both content channels are known (flags 1), and the bandwidth (flags 2).
const HE_MU_UNITS: u16 = 0x0100;
const HE_MU_UNITS_2: u16 = 0x0200;
const HE_MU_BANDWIDTH: u16 = 0x0004;
/// U-SIG: PHY version (0: EHT), bandwidth and direction are known.
const USIG_KNOWN: u32 = 0x0007;
const USIG_BANDWIDTH_SHIFT: u32 = 15;
const USIG_UPLINK: u32 = 1 << 18;
/// The bits of the PPDU type in the value and the mask of U-SIG.
const USIG_TYPE: u32 = 0x00c0;
/// EHT: the guard interval is known, and MCS, coding and streams of the only user; the data are
/// this user's.
const EHT_KNOWN_GI: u32 = 0x0004;
const EHT_USER_KNOWN: u32 = 0x0002 | 0x0004 | 0x0010 | 0x0080;
const EHT_USER_LDPC: u32 = 1 << 19;
/// Size and index of the resource unit are known (data 1, whose numbers of sizes are those of HE
/// less 4), and the STA-ID of the user.
const EHT_UNIT_KNOWN: u32 = 0x0040_0000 | 0x0080_0000;
const EHT_UNIT_SHIFT: u32 = 5;
const EHT_STATION_ID_KNOWN: u32 = 0x0001;

/// The fields that all headers of a cell share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Radio {
    megahertz: u16,
    band: u16,
    short_preamble: bool,
    /// The time from the start of a frame to its first bit, by modulation: DSSS, OFDM.
    before_mpdu_ns: [u64; 2],
}

/// Rate and format of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending {
    pub(crate) rate: Rate,
    /// Whether it is sent by a station to the access point.
    pub(crate) is_uplink: bool,
    /// Whether 802.11n and later use LDPC instead of convolutional codes.
    pub(crate) ldpc: bool,
    /// Its position in an A-MPDU.
    pub(crate) subframe: Option<Subframe>,
    /// Its place in a PPDU to or from several stations.
    pub(crate) unit: Option<Unit>,
}

/// The place of a station in a PPDU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    unit: ResourceUnit,
    /// The station of a PPDU to several users; `None` in a trigger-based PPDU.
    station_id: Option<u16>,
}

impl Unit {
    /// Creates the place of a station in a PPDU to several users.
    pub(crate) fn of_several(unit: ResourceUnit, station_id: u16) -> Self {
        Self { unit, station_id: Some(station_id) }
    }

    /// Creates the place of a station in a trigger-based PPDU.
    pub(crate) fn triggered(unit: ResourceUnit) -> Self {
        Self { unit, station_id: None }
    }

    /// Returns the RU Allocation subfield of each 20 MHz (Table 27-26), with one user in each of its
    /// units; `None` for units that are wider.
    fn allocation(self) -> Option<u8> {
        match self.unit.tones {
            26 => Some(0b0000_0000),
            52 => Some(0b0111_0000),
            106 => Some(0b0110_0000),
            242 => Some(0b1100_0000),
            _ => None,
        }
    }
}

/// A subframe of an A-MPDU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subframe {
    /// The number of the A-MPDU in the capture.
    pub(crate) reference: u32,
    pub(crate) is_last: bool,
    /// Whether it is the only one: then an ACK follows it.
    pub(crate) is_alone: bool,
}

impl Sending {
    /// Creates a frame outside of an A-MPDU.
    pub(crate) fn alone(rate: Rate) -> Self {
        Self { rate, is_uplink: false, ldpc: false, subframe: None, unit: None }
    }
}

impl Radio {
    pub(super) fn new(phy: &PhyConfig) -> Self {
        // 2.4 GHz has DSSS, or a signal extension.
        let extension = phy.ofdm.is_some_and(|ofdm| ofdm.signal_extension.as_nanos() > 0);
        let (megahertz, band) = if phy.dsss.is_some() || extension {
            (2412, CHANNEL_2_GHZ)
        } else {
            (5180, CHANNEL_5_GHZ)
        };
        let dsss =
            phy.dsss.map_or(0, |dsss| (dsss.preamble_time + dsss.plcp_header_time).as_nanos());
        let ofdm =
            phy.ofdm.map_or(0, |ofdm| (ofdm.preamble_time + ofdm.plcp_header_time).as_nanos());
        Self {
            megahertz,
            band,
            // The long preamble and its header last 192 us, the short ones 96 us.
            short_preamble: dsss <= 96_000,
            before_mpdu_ns: [dsss, ofdm],
        }
    }

    /// Returns the same on another channel of the band, or in 6 GHz, which has no flag of its own.
    pub(super) fn on_channel(self, megahertz: u16) -> Self {
        Self { megahertz, ..self }
    }

    /// Appends the header of a frame whose preamble begins at `start_ns`.
    pub(super) fn header(
        &self,
        record: &mut Vec<u8>,
        start_ns: u64,
        sending: &Sending,
        intact: bool,
    ) {
        let begin = record.len();
        let (modulation, short_preamble, before_mpdu) = match sending.rate.modulation {
            Modulation::Dsss => (CHANNEL_CCK, self.short_preamble, self.before_mpdu_ns[0]),
            Modulation::Ofdm => (CHANNEL_OFDM, false, self.before_mpdu_ns[1]),
            Modulation::High(high) => {
                let preamble = sending.unit.map_or(high.preamble_time, |one| one.unit.preamble);
                (CHANNEL_OFDM, false, preamble.as_nanos())
            }
        };
        let mut flags = FLAG_FCS_AT_END;
        if short_preamble {
            flags |= FLAG_SHORT_PREAMBLE;
        }
        if !intact {
            flags |= FLAG_BAD_FCS;
        }
        // Length and fields are filled in at the end.
        record.extend([0; 8]);
        let mut present = PRESENT_TSFT_FLAGS | PRESENT_CHANNEL;
        // TSFT: "when the first bit of the MPDU arrived", in whole microseconds.
        record.extend(((start_ns + before_mpdu) / 1_000).to_le_bytes());
        record.push(flags);
        if !matches!(sending.rate.modulation, Modulation::High(_)) {
            present |= PRESENT_RATE;
            // Legacy rates are multiples of 500 kb/s, up to 54 Mb/s.
            record.push((sending.rate.bps / 500_000) as u8);
        }
        align(record, begin, 2);
        record.extend(self.megahertz.to_le_bytes());
        record.extend((modulation | self.band).to_le_bytes());
        if let Modulation::High(high) = sending.rate.modulation {
            if high.format == Format::Ht {
                present |= PRESENT_MCS;
                mcs(record, &high, sending.ldpc);
            }
            if let Some(subframe) = &sending.subframe {
                present |= PRESENT_AMPDU;
                align(record, begin, 4);
                ampdu_status(record, subframe);
            }
            match high.format {
                Format::Ht => {}
                Format::Vht => {
                    present |= PRESENT_VHT;
                    align(record, begin, 2);
                    vht(record, &high, sending.ldpc);
                }
                Format::He => {
                    present |= PRESENT_HE;
                    align(record, begin, 2);
                    he(record, &high, sending);
                    if let Some(unit) = sending.unit.filter(|one| one.station_id.is_some()) {
                        present |= PRESENT_HE_MU;
                        he_mu(record, he_bandwidth(high.channel_width_mhz), unit.allocation());
                    }
                }
                Format::Eht => {
                    present |= PRESENT_TLV;
                    align(record, begin, 4);
                    eht(record, &high, sending);
                }
            }
        }
        let len = (record.len() - begin) as u16;
        record[begin + 2..begin + 4].copy_from_slice(&len.to_le_bytes());
        record[begin + 4..begin + 8].copy_from_slice(&present.to_le_bytes());
    }
}

/// Appends zeros up to a multiple of `size` from `begin` on.
fn align(record: &mut Vec<u8>, begin: usize, size: usize) {
    let len = (record.len() - begin).next_multiple_of(size);
    record.resize(begin + len, 0);
}

fn mcs(record: &mut Vec<u8>, high: &HighRate, ldpc: bool) {
    let bandwidth = u8::from(high.channel_width_mhz == 40);
    let guard = if has_short_gi(high) { MCS_SHORT_GI } else { 0 };
    let coding = if ldpc { MCS_LDPC } else { 0 };
    record.extend([
        MCS_KNOWN,
        bandwidth | guard | coding,
        high.mcs + 8 * (high.spatial_streams - 1),
    ]);
}

fn ampdu_status(record: &mut Vec<u8>, subframe: &Subframe) {
    let mut flags = AMPDU_LAST_KNOWN;
    if subframe.is_last {
        flags |= AMPDU_LAST;
    }
    if subframe.is_alone {
        flags |= AMPDU_EOF | AMPDU_EOF_KNOWN;
    }
    record.extend(subframe.reference.to_le_bytes());
    record.extend(flags.to_le_bytes());
    record.extend([0; 2]);
}

fn vht(record: &mut Vec<u8>, high: &HighRate, ldpc: bool) {
    record.extend(VHT_KNOWN.to_le_bytes());
    let bandwidth = match high.channel_width_mhz {
        20 => 0,
        40 => 1,
        80 => 4,
        _ => 11,
    };
    record.extend([if has_short_gi(high) { VHT_SHORT_GI } else { 0 }, bandwidth]);
    // One user: MCS and streams, and coding; group and partial AID are unknown.
    record.extend([(high.mcs << 4) | high.spatial_streams, 0, 0, 0]);
    record.extend([if ldpc { VHT_LDPC } else { 0 }, 0, 0, 0]);
}

fn he(record: &mut Vec<u8>, high: &HighRate, sending: &Sending) {
    let Sending { ldpc, is_uplink, unit, .. } = *sending;
    let (format, number, station, size) = match unit {
        None => (0, 0, 0, he_bandwidth(high.channel_width_mhz)),
        Some(Unit { unit, station_id }) => (
            if station_id.is_some() { HE_MU } else { HE_TRIGGERED },
            HE_UNIT_KNOWN | (unit.place as u16) << HE_UNIT_SHIFT,
            station_id.unwrap_or(0) << HE_STATION_ID_SHIFT,
            size_of(unit),
        ),
    };
    let data = [
        HE_DATA1 | format,
        HE_DATA2 | number,
        u16::from(high.mcs) << 8
            | if is_uplink { HE_UPLINK } else { 0 }
            | if ldpc { HE_LDPC } else { 0 },
        station,
        size | (guard(high) as u16) << 4,
        high.spatial_streams.into(),
    ];
    record.extend(data.iter().flat_map(|word| word.to_le_bytes()));
}

/// Appends the HE-MU field. `allocation` is that of each 20 MHz; content channel 1 has the first
/// 20 MHz of each pair, and channel 2 the second.
fn he_mu(record: &mut Vec<u8>, bandwidth: u16, allocation: Option<u8>) {
    let parts = 1 << bandwidth;
    let second = if bandwidth > 0 { HE_MU_UNITS_2 } else { 0 };
    let known = if allocation.is_some() { HE_MU_UNITS | second } else { 0 };
    record.extend(known.to_le_bytes());
    record.extend((HE_MU_BANDWIDTH | bandwidth).to_le_bytes());
    let of = |channel: usize| (0..4).map(move |one| 2 * one + channel < parts);
    let is_there = of(0).chain(of(1));
    record.extend(is_there.map(|one| if one { allocation.unwrap_or(0) } else { 0 }));
}

/// Returns the number of the size of a resource unit in HE.
fn size_of(unit: ResourceUnit) -> u16 {
    match unit.tones {
        26 => 4,
        52 => 5,
        106 => 6,
        242 => 7,
        484 => 8,
        996 => 9,
        _ => 10,
    }
}

/// Appends U-SIG and EHT. A PPDU to several users has the resource unit of this one.
fn eht(record: &mut Vec<u8>, high: &HighRate, sending: &Sending) {
    let Sending { ldpc, is_uplink, unit, .. } = *sending;
    let bandwidth = u32::from(bandwidth(high.channel_width_mhz)) << USIG_BANDWIDTH_SHIFT;
    let direction = if is_uplink { USIG_UPLINK } else { 0 };
    // The type of a PPDU to several users is 0.
    let of_several = if unit.is_some() { USIG_TYPE } else { 0 };
    tlv(record, TLV_USIG, &[USIG_KNOWN | bandwidth | direction, 0, of_several]);
    let coding = if ldpc { EHT_USER_LDPC } else { 0 };
    let streams = u32::from(high.spatial_streams - 1);
    let mut words = [0; 11];
    words[0] = EHT_KNOWN_GI;
    words[1] = guard(high) << 7;
    words[10] = EHT_USER_KNOWN | coding | u32::from(high.mcs) << 20 | streams << 24;
    if let Some(Unit { unit, station_id }) = unit {
        words[0] |= EHT_UNIT_KNOWN;
        words[2] = (u32::from(size_of(unit)) - 4) | (unit.place as u32) << EHT_UNIT_SHIFT;
        let station = station_id.map(|one| EHT_STATION_ID_KNOWN | u32::from(one) << 8);
        words[10] |= station.unwrap_or(0);
    }
    tlv(record, TLV_EHT, &words);
}

/// Appends a field with its type and length, aligned to four octets.
fn tlv(record: &mut Vec<u8>, kind: u16, words: &[u32]) {
    record.extend(kind.to_le_bytes());
    record.extend((4 * words.len() as u16).to_le_bytes());
    record.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

/// Returns the number of the guard interval in HE and EHT.
fn guard(high: &HighRate) -> u32 {
    match high.guard_interval.as_nanos() {
        800 => 0,
        1_600 => 1,
        _ => 2,
    }
}

fn has_short_gi(high: &HighRate) -> bool {
    high.guard_interval.as_nanos() == 400
}

#[cfg(test)]
mod tests;
