//! MPDUs of IEEE 802.11-2020, clause 9, byte by byte: data, A-MSDUs, RTS, CTS, MAC ACK, Block ACK
//! and its request, CF-End, beacons and frames of contention-free periods. Those of triggered
//! exchanges are in [`triggered`].
//!
//! Payload is zeros, so it is stored as a number.

mod triggered;

pub(crate) use triggered::{Asks, StationInfo, UserInfo};

/// Octets of an address.
pub(crate) type Address = [u8; 6];

/// Size of a frame check sequence.
pub(crate) const FCS_BYTES: usize = 4;

/// 9.2.4.1: type and subtype in the first octet of Frame Control.
const DATA: u8 = 0x08;
const QOS_DATA: u8 = 0x88;
const RTS: u8 = 0xb4;
const CTS: u8 = 0xc4;
const ACK: u8 = 0xd4;
const BLOCK_ACK_REQUEST: u8 = 0x84;
const BLOCK_ACK: u8 = 0x94;
const CF_END: u8 = 0xe4;
const CF_END_AND_CF_ACK: u8 = 0xf4;
/// IEEE 802.11-2016, Table 9-1: added to the subtype of data frames without QoS.
const NULL: u8 = 0x40;
const CF_ACK: u8 = 0x10;
const CF_POLL: u8 = 0x20;
/// IEEE 802.11-2016, 9.2.4.2: the duration of all frames but CF-Ends in a contention-free period.
const DURATION_IN_CFP: u16 = 1 << 15;
const BEACON: u8 = 0x80;
/// Bits of the second octet of Frame Control.
const TO_DS: u8 = 0x01;
const FROM_DS: u8 = 0x02;
const RETRY: u8 = 0x08;
const BROADCAST: Address = [0xff; 6];
/// 9.2.4.5: the payload is an A-MSDU.
const AMSDU_PRESENT: u8 = 0x80;
/// 9.2.2: subframes of an A-MSDU are aligned to this many octets.
const AMSDU_ALIGNMENT: usize = 4;
/// 9.3.1.7 and 9.3.1.8: BAR Type and BA Type of the compressed variant.
const COMPRESSED: u16 = 2 << 1;
/// 9.3.1.8.3: sizes in bits of a Block ACK's bitmap, with their Fragment Number subfields
/// (802.11ax-2021; 512 and 1024 bits in 802.11be-2024).
const BITMAPS: [(u64, u16); 4] = [(64, 0), (256, 4), (512, 8), (1024, 10)];
/// 9.4.1.4: part of an infrastructure network.
const CAPABILITY_ESS: u16 = 1;
/// Element IDs (9.4.2.1).
const SSID: u8 = 0;
const MAX_SSID: usize = 32;
const VENDOR_SPECIFIC: u8 = 221;
const CF_PARAMETER_SET: u8 = 4;
/// Including its identifier and length.
const CF_PARAMETER_SET_BYTES: usize = 8;
/// IEEE 802.11-2016, 9.4.1.4: CF-Pollable without CF-Poll Request, for an access point that polls.
const CAPABILITY_POLLS: u16 = 1 << 2;
/// Including its identifier and length, and the three octets of an organization.
const LEAST_VENDOR_SPECIFIC: usize = 5;
/// RFC 1042: SNAP with EtherType IPv4.
const LLC_SNAP_IPV4: [u8; 8] = [0xaa, 0xaa, 0x03, 0, 0, 0, 0x08, 0x00];

/// Returns the size of the shortest bitmap that covers a window of this many frames.
pub(crate) fn bitmap_bits(window: u64) -> u64 {
    BITMAPS.into_iter().map(|(bits, _)| bits).find(|bits| window <= *bits).unwrap_or(window)
}

/// A frame without its FCS: some bytes, followed by `zeros` zeros.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    head: Vec<u8>,
    zeros: usize,
}

/// What else a data frame of a contention-free period does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cf {
    pub(crate) acknowledges: bool,
    pub(crate) polls: bool,
}

impl Cf {
    fn subtype(self) -> u8 {
        (if self.acknowledges { CF_ACK } else { 0 }) | if self.polls { CF_POLL } else { 0 }
    }
}

/// The CF Parameter Set of a beacon (IEEE 802.11-2016, 9.4.2.5).
#[derive(Clone, Copy, Debug)]
pub(crate) struct CfParameters {
    /// Beacons until the next one that begins a contention-free period; 0 in that one.
    pub(crate) count: u8,
    /// Beacons between two such beacons.
    pub(crate) period: u8,
    /// Maximum duration of a period in time units, and the rest of the current one.
    pub(crate) max_duration: u16,
    pub(crate) remaining: u16,
}

/// The header of a data frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataHeader {
    /// Whether it is sent by the access point; else it is sent by a station.
    pub(crate) from_ap: bool,
    /// Whether it was sent before and not acknowledged.
    pub(crate) retry: bool,
    /// Duration of the rest of the exchange after this frame in microseconds (9.2.5).
    pub(crate) duration: u16,
    pub(crate) station: Address,
    pub(crate) bssid: Address,
    /// The other end of the packet, beyond the access point.
    pub(crate) distant: Address,
    /// The sequence number modulo 4096.
    pub(crate) sequence_number: u16,
    /// The TID of a QoS data frame.
    pub(crate) tid: Option<u8>,
    /// Set in a contention-free period; `duration` is then ignored.
    pub(crate) contention_free: Option<Cf>,
}

impl Frame {
    /// Writes a data frame with an IPv4 packet: `head`, followed by `zeros` zeros.
    pub(crate) fn data(&mut self, header: &DataHeader, head: &[u8], zeros: usize) {
        let DataHeader { from_ap, station, bssid, distant, .. } = *header;
        let cf = header.contention_free;
        let kind = if header.tid.is_some() { QOS_DATA } else { DATA } | cf.map_or(0, Cf::subtype);
        let duration = cf.map_or(header.duration, |_| DURATION_IN_CFP);
        let direction = if from_ap { FROM_DS } else { TO_DS };
        let retry = if header.retry { RETRY } else { 0 };
        // Table 9-26: receiver, transmitter, and the source or destination behind the access point.
        let addresses = if from_ap { [station, bssid, distant] } else { [bssid, station, distant] };
        self.begin(kind, direction | retry, duration);
        self.head.extend(addresses.as_flattened());
        self.head.extend((header.sequence_number << 4).to_le_bytes());
        if let Some(tid) = header.tid {
            self.head.extend([tid, 0]);
        }
        self.head.extend(LLC_SNAP_IPV4);
        self.head.extend(head);
        self.zeros = zeros;
    }

    /// Writes a data frame of a contention-free period without data.
    pub(crate) fn without_data(&mut self, from_ap: bool, station: Address, bssid: Address, cf: Cf) {
        let (direction, addresses) = if from_ap {
            (FROM_DS, [station, bssid, bssid])
        } else {
            (TO_DS, [bssid, station, bssid])
        };
        self.begin(DATA | NULL | cf.subtype(), direction, DURATION_IN_CFP);
        self.head.extend(addresses.as_flattened());
        // Such frames need no sequence number, because they are not retransmitted.
        self.head.extend([0, 0]);
    }

    /// Writes a data frame with several IPv4 packets (9.2.2), each with its head and the number of
    /// zeros that follow.
    pub(crate) fn amsdu<'a>(
        &mut self,
        header: &DataHeader,
        packets: impl Iterator<Item = (&'a [u8], usize)>,
    ) {
        // Table 9-26: the addresses of the packets are in the subframes.
        self.data(&DataHeader { distant: header.bssid, ..*header }, &[], 0);
        self.head.truncate(self.head.len() - LLC_SNAP_IPV4.len());
        if header.tid.is_some()
            && let Some([control, _]) = self.head.last_chunk_mut::<2>()
        {
            *control |= AMSDU_PRESENT;
        }
        let begin = self.head.len();
        let (to, from) = if header.from_ap {
            (header.station, header.distant)
        } else {
            (header.distant, header.station)
        };
        for (head, zeros) in packets {
            let len = (self.head.len() - begin).next_multiple_of(AMSDU_ALIGNMENT);
            self.head.resize(begin + len, 0);
            self.head.extend([to, from].as_flattened());
            let packet = LLC_SNAP_IPV4.len() + head.len() + zeros;
            self.head.extend((packet as u16).to_be_bytes());
            self.head.extend(LLC_SNAP_IPV4);
            self.head.extend(head);
            self.head.resize(self.head.len() + zeros, 0);
        }
    }

    /// Writes an RTS of `transmitter`.
    pub(crate) fn rts(&mut self, duration: u16, receiver: Address, transmitter: Address) {
        self.begin(RTS, 0, duration);
        self.head.extend(receiver);
        self.head.extend(transmitter);
    }

    /// Writes the CTS to an RTS of `receiver`.
    pub(crate) fn cts(&mut self, duration: u16, receiver: Address) {
        self.begin(CTS, 0, duration);
        self.head.extend(receiver);
    }

    /// Writes the ACK of a frame of `receiver`.
    pub(crate) fn ack(&mut self, receiver: Address) {
        self.begin(ACK, 0, 0);
        self.head.extend(receiver);
    }

    /// Writes a Block ACK request for the frames of `tid` from `start` on.
    pub(crate) fn block_ack_request(
        &mut self,
        duration: u16,
        addresses: [Address; 2],
        tid: u8,
        start: u16,
    ) {
        self.begin(BLOCK_ACK_REQUEST, 0, duration);
        self.head.extend(addresses.as_flattened());
        self.head.extend((COMPRESSED | u16::from(tid) << 12).to_le_bytes());
        self.head.extend((start << 4).to_le_bytes());
    }

    /// Writes the Block ACK for frames of `tid` from `start` on: a bit for each, in one of
    /// [`BITMAPS`].
    pub(crate) fn block_ack(
        &mut self,
        addresses: [Address; 2],
        tid: u8,
        start: u16,
        bitmap: &[u8],
    ) {
        self.begin(BLOCK_ACK, 0, 0);
        self.head.extend(addresses.as_flattened());
        self.head.extend((COMPRESSED | u16::from(tid) << 12).to_le_bytes());
        self.bitmap(start, bitmap);
    }

    fn bitmap(&mut self, start: u16, bitmap: &[u8]) {
        let bits = 8 * bitmap.len() as u64;
        let (_, fragment) = BITMAPS.into_iter().find(|(most, _)| bits <= *most).unwrap_or_default();
        self.head.extend((start << 4 | fragment).to_le_bytes());
        self.head.extend(bitmap);
    }

    /// Writes the CF-End of a TXOP of `transmitter`, or of a contention-free period. The latter may
    /// acknowledge a data frame.
    pub(crate) fn cf_end(&mut self, transmitter: Address, acknowledges: bool) {
        self.begin(if acknowledges { CF_END_AND_CF_ACK } else { CF_END }, 0, 0);
        self.head.extend(BROADCAST);
        self.head.extend(transmitter);
    }

    /// Writes a beacon of `bytes`, including the FCS. `timestamp` is in microseconds, `interval` in
    /// time units (9.3.3.2). The rest is filled with elements without meaning.
    pub(crate) fn beacon(
        &mut self,
        bssid: Address,
        sequence_number: u16,
        timestamp: u64,
        interval: u16,
        cf: Option<CfParameters>,
        bytes: usize,
    ) {
        let begins_cfp = cf.is_some_and(|cf| cf.count == 0);
        self.begin(BEACON, 0, if begins_cfp { DURATION_IN_CFP } else { 0 });
        self.head.extend(BROADCAST);
        self.head.extend(bssid);
        self.head.extend(bssid);
        self.head.extend((sequence_number << 4).to_le_bytes());
        self.head.extend(timestamp.to_le_bytes());
        self.head.extend(interval.to_le_bytes());
        let polls = if cf.is_some() { CAPABILITY_POLLS } else { 0 };
        self.head.extend((CAPABILITY_ESS | polls).to_le_bytes());
        if let Some(cf) = cf {
            self.element(SSID, bytes - CF_PARAMETER_SET_BYTES, MAX_SSID);
            self.head.extend([CF_PARAMETER_SET, 6, cf.count, cf.period]);
            self.head.extend(cf.max_duration.to_le_bytes());
            self.head.extend(cf.remaining.to_le_bytes());
        } else {
            self.element(SSID, bytes, MAX_SSID);
        }
        while self.head.len() + FCS_BYTES < bytes {
            self.element(VENDOR_SPECIFIC, bytes, u8::MAX.into());
        }
    }

    /// Writes an element (9.4.2.1) of at most `longest` zeros, so that the frame finally has
    /// `bytes`.
    fn element(&mut self, id: u8, bytes: usize, longest: usize) {
        let room = bytes.saturating_sub(self.head.len() + 2 + FCS_BYTES);
        let mut len = room.min(longest);
        if (1..LEAST_VENDOR_SPECIFIC).contains(&(room - len)) {
            len = room.saturating_sub(LEAST_VENDOR_SPECIFIC);
        }
        self.head.extend([id, len as u8]);
        self.head.resize(self.head.len() + len, 0);
    }

    fn begin(&mut self, first: u8, second: u8, duration: u16) {
        self.zeros = 0;
        self.head.clear();
        self.head.extend([first, second]);
        self.head.extend(duration.to_le_bytes());
    }

    /// Returns the bytes before the zeros.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    pub(crate) fn zeros(&self) -> usize {
        self.zeros
    }

    /// Returns the length without FCS.
    pub(crate) fn len(&self) -> usize {
        self.head.len() + self.zeros
    }

    /// Computes the CRC-32 of everything before it (9.2.4.8), which is sent with the lowest bit of
    /// each octet first.
    pub(crate) fn fcs(&self) -> u32 {
        let zeros = std::iter::repeat_n(&0, self.zeros);
        !self
            .head
            .iter()
            .chain(zeros)
            .fold(!0, |crc: u32, &byte| CRC_TABLE[usize::from(crc as u8 ^ byte)] ^ (crc >> 8))
    }
}

/// The CRC-32 of each single octet: x^32 + x^26 + ... + 1, bits reversed.
const CRC_TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut octet = 0;
    while octet < 256 {
        let mut crc = octet as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
            bit += 1;
        }
        table[octet] = crc;
        octet += 1;
    }
    table
};

#[cfg(test)]
mod tests;
