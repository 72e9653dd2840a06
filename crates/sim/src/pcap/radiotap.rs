//! The radiotap header: rate and channel of a frame, and whether it was received.
//!
//! The fields are those of radiotap.org, each aligned to its size.

use airtcp_wlan::{Format, HighRate, Modulation, PhyConfig, Rate, ResourceUnit};

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
const USIG_UPLINK: u32 = 1 << 18;
/// EHT: the guard interval is known, and MCS, coding and streams of the only user; the data are
/// this user's.
const EHT_KNOWN_GI: u32 = 0x0004;
const EHT_USER_KNOWN: u32 = 0x0002 | 0x0004 | 0x0010 | 0x0080;
const EHT_USER_LDPC: u32 = 1 << 19;

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
                        he_mu(record, bandwidth_of(&high), unit.allocation());
                    }
                }
                Format::Eht => {
                    present |= PRESENT_TLV;
                    align(record, begin, 4);
                    eht(record, &high, sending.ldpc, sending.is_uplink);
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
        None => (0, 0, 0, bandwidth_of(high)),
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

/// Returns the number of a bandwidth in HE.
fn bandwidth_of(high: &HighRate) -> u16 {
    match high.channel_width_mhz {
        20 => 0,
        40 => 1,
        80 => 2,
        _ => 3,
    }
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

fn eht(record: &mut Vec<u8>, high: &HighRate, ldpc: bool, is_uplink: bool) {
    let bandwidth: u32 = match high.channel_width_mhz {
        20 => 0,
        40 => 1,
        80 => 2,
        160 => 3,
        _ => 4,
    };
    let direction = if is_uplink { USIG_UPLINK } else { 0 };
    tlv(record, TLV_USIG, &[USIG_KNOWN | bandwidth << 15 | direction, 0, 0]);
    let coding = if ldpc { EHT_USER_LDPC } else { 0 };
    let streams = u32::from(high.spatial_streams - 1);
    let user = EHT_USER_KNOWN | coding | u32::from(high.mcs) << 20 | streams << 24;
    let mut words = [0; 11];
    words[0] = EHT_KNOWN_GI;
    words[1] = guard(high) << 7;
    words[10] = user;
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
mod tests {
    use airtcp_kernel::Duration;

    use super::*;

    fn rate(format: Format, mcs: u8, streams: u8, width: u16, guard: u64) -> Rate {
        let high = HighRate {
            format,
            mcs,
            spatial_streams: streams,
            channel_width_mhz: width,
            guard_interval: Duration::from_nanos(guard),
            preamble_time: Duration::from_micros(36),
        };
        Rate { bps: high.bps(), modulation: Modulation::High(high) }
    }

    fn with_ldpc(rate: Rate) -> Sending {
        Sending { ldpc: true, ..Sending::alone(rate) }
    }

    fn header(sending: &Sending) -> Vec<u8> {
        let mut record = vec![0xee; 3];
        let radio = Radio {
            megahertz: 5180,
            band: CHANNEL_5_GHZ,
            short_preamble: false,
            before_mpdu_ns: [0, 20_000],
        };
        radio.header(&mut record, 1_000_000, sending, true);
        record.split_off(3)
    }

    /// HT: 20 MHz (MCS 7), and 40 MHz with two streams (MCS 15). The channel is at offset 18, and
    /// the MCS field follows it.
    #[test]
    fn ht_has_the_mcs_field() {
        let mut sending = with_ldpc(rate(Format::Ht, 7, 1, 20, 400));
        let found = header(&sending);
        assert_eq!(found[2..8], [25, 0, 0x0b, 0, 0x08, 0]);
        assert_eq!(found[22..], [0x7f, 0x14, 7]);

        sending = with_ldpc(rate(Format::Ht, 7, 2, 40, 800));
        sending.subframe = Some(Subframe { reference: 0x0102, is_last: true, is_alone: false });
        let found = header(&sending);
        assert_eq!(found[2..8], [36, 0, 0x0b, 0, 0x18, 0]);
        assert_eq!(found[22..], [0x7f, 0x11, 15, 0, 0, 0, 2, 1, 0, 0, 0x0c, 0, 0, 0]);
    }

    #[test]
    fn vht_and_he_say_who_is_alone() {
        let subframe = Some(Subframe { reference: 9, is_last: true, is_alone: true });
        let vht = Sending { subframe, ..with_ldpc(rate(Format::Vht, 9, 2, 80, 400)) };
        let found = header(&vht);
        assert_eq!(found[2..8], [44, 0, 0x0b, 0, 0x30, 0]);
        assert_eq!(found[24..32], [9, 0, 0, 0, 0xcc, 0, 0, 0]);
        assert_eq!(found[32..], [0x45, 0, 0x04, 4, 0x92, 0, 0, 0, 1, 0, 0, 0]);

        let rate = rate(Format::He, 11, 1, 160, 1_600);
        let found = header(&Sending { rate, is_uplink: true, ldpc: true, subframe, unit: None });
        assert_eq!(found[2..8], [44, 0, 0x0b, 0, 0x90, 0]);
        assert_eq!(found[32..], [0xf0, 0x42, 2, 0, 0x80, 0x2b, 0, 0, 0x13, 0, 1, 0]);
    }

    /// HE MU (format 2) to station 5 in the third unit of 52 tones (size 5) of 40 MHz: both content
    /// channels have one 20 MHz each, with four such units (112). A trigger-based PPDU (format 3)
    /// has no HE-MU field.
    #[test]
    fn a_user_has_its_resource_unit() {
        let place = ResourceUnit { tones: 52, place: 2, preamble: Duration::from_micros(48) };
        let mut sending = with_ldpc(rate(Format::He, 11, 1, 40, 800));
        sending.unit = Some(Unit::of_several(place, 5));
        let found = header(&sending);
        assert_eq!(found[2..8], [46, 0, 0x0b, 0, 0x80, 1]);
        assert_eq!(found[8..16], 1_048_u64.to_le_bytes());
        assert_eq!(found[22..34], [0xf2, 0x4a, 2, 0x42, 0, 0x2b, 0x50, 0, 5, 0, 1, 0]);
        assert_eq!(found[34..], [0, 3, 5, 0, 112, 0, 0, 0, 112, 0, 0, 0]);

        (sending.unit, sending.is_uplink) = (Some(Unit::triggered(place)), true);
        let found = header(&sending);
        assert_eq!(found[2..8], [34, 0, 0x0b, 0, 0x80, 0]);
        assert_eq!(found[22..], [0xf3, 0x42, 2, 0x42, 0x80, 0x2b, 0, 0, 5, 0, 1, 0]);
    }

    /// U-SIG of 12 octets: bandwidth 4 from bit 15 on, uplink at bit 18. EHT of 44: guard interval 1
    /// from bit 7 of the first word of data on; of the user MCS 13 from bit 20 on, one stream less
    /// than two from bit 24 on, LDPC at bit 19.
    #[test]
    fn eht_comes_with_types_and_lengths() {
        let subframe = Some(Subframe { reference: 9, is_last: true, is_alone: true });
        let rate = rate(Format::Eht, 13, 2, 320, 1_600);
        let found = header(&Sending { rate, is_uplink: true, ldpc: true, subframe, unit: None });

        assert_eq!(found[2..8], [96, 0, 0x0b, 0, 0x10, 0x10]);
        assert_eq!(found[32..48], [33, 0, 12, 0, 0x07, 0, 0x06, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(found[48..60], [34, 0, 44, 0, 4, 0, 0, 0, 0x80, 0, 0, 0]);
        assert_eq!(found[92..], [0x96, 0, 0xd8, 1]);
    }
}
