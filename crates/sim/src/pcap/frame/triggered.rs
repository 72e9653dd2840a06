//! Trigger frames of IEEE 802.11ax-2021, and what only triggered stations send or receive.

use airtcp_kernel::Duration;

use super::{Address, BLOCK_ACK, BROADCAST, COMPRESSED, Frame, TO_DS};
use crate::pcap::he_bandwidth;

/// 9.2.4.1: type and subtype in the first octet of Frame Control.
const QOS_NULL: u8 = 0xc8;
const TRIGGER: u8 = 0x24;
/// 802.11ax-2021, 9.3.1.8.6: BA Type of the variant for several stations, and the TID and Ack Type
/// of a station of which everything was received.
const MULTI_STATION: u16 = 11 << 1;
const ALL_RECEIVED: u16 = 14 << 12 | 1 << 11;
/// 9.2.4.5.1: QoS Control has a queue size. 9.2.4.5.6: its unit, and the value of a longer queue.
const QUEUE_SIZE: u8 = 0x10;
const QUEUE_UNIT_BITS: u64 = 8 * 256;
const LONGER_QUEUE: u64 = 254;
/// 802.11ax-2021, 9.3.1.22: the type of an MU-RTS; stations sense the medium before they respond;
/// 2x HE-LTF with a guard interval of 1,600 ns; the largest power of a station.
const MU_RTS: u64 = 3;
const CARRIER_SENSE: u64 = 1 << 17;
/// The reserved bits of HE-SIG-A2 are ones; in 802.11be two zeros among them mean EHT (9.3.1.22.1).
const HE_VARIANT: u64 = 0x1ff << 54;
const TWO_LTF_1600_NS: u64 = 1;
const MOST_POWER: u64 = 127;
/// The legacy training fields and L-SIG.
const LEGACY_PREAMBLE: Duration = Duration::from_micros(20);

/// A user of a trigger (802.11ax-2021, 9.3.1.22).
#[derive(Clone, Copy, Debug)]
pub(crate) struct UserInfo {
    /// AID12.
    pub(crate) station_id: u16,
    /// RU Allocation.
    pub(crate) unit: u8,
    pub(crate) ldpc: bool,
    pub(crate) mcs: u8,
    pub(crate) streams: u8,
    pub(crate) asks: Asks,
}

/// What a trigger asks its users for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Asks {
    /// Data (basic trigger), preferably of the access category with this ACI.
    Data(u8),
    /// A Block ACK of frames with this TID, from this number on (MU-BAR).
    BlockAck(u8, u16),
    /// A buffer status report (BSRP).
    Report,
}

impl Asks {
    /// Returns the type of the trigger (Table 9-29c).
    fn trigger_type(self) -> u64 {
        match self {
            Self::Data(_) => 0,
            Self::BlockAck(..) => 2,
            Self::Report => 4,
        }
    }
}

/// The part of a Block ACK for several stations: the AID, and either the TID, start and bitmap of one
/// station's frames, or nothing if all were received.
pub(crate) type StationInfo = (u16, Option<(u8, u16, Vec<u8>)>);

impl Frame {
    /// Writes an MU-RTS to one station (802.11ax-2021, 9.3.1.22.5), to which it responds in its
    /// channel of `width_mhz`, with `padding` in bytes.
    pub(crate) fn mu_rts(
        &mut self,
        duration: u16,
        addresses: [Address; 2],
        (station_id, width_mhz): (u16, u16),
        padding: u64,
    ) {
        self.begin(TRIGGER, 0, duration);
        self.head.extend(addresses.as_flattened());
        let bandwidth = u64::from(he_bandwidth(width_mhz));
        let common = MU_RTS | CARRIER_SENSE | bandwidth << 18 | HE_VARIANT;
        self.head.extend(common.to_le_bytes());
        let unit: u64 = match width_mhz {
            20 => 61 << 1,
            40 => 65 << 1,
            80 => 67 << 1,
            160 => 68 << 1 | 1,
            _ => 69 << 1 | 1,
        };
        let info = u64::from(station_id) | unit << 12;
        self.head.extend(&info.to_le_bytes()[..5]);
        self.head.resize(self.head.len() + padding as usize, 0xff);
    }

    /// Writes a trigger to `users`, who all are asked for the same (802.11ax-2021, 9.3.1.22): in a
    /// channel of `width_mhz` they respond in a PPDU of `airtime`, without signal extension.
    pub(crate) fn trigger(
        &mut self,
        duration: u16,
        transmitter: Address,
        (width_mhz, airtime): (u16, Duration),
        users: &[UserInfo],
    ) {
        self.begin(TRIGGER, 0, duration);
        self.head.extend(BROADCAST);
        self.head.extend(transmitter);
        // (27-11): LENGTH of L-SIG, with m = 2.
        let symbols = (airtime - LEGACY_PREAMBLE).as_nanos().div_ceil(4_000);
        let length = 3 * symbols - 3 - 2;
        let bandwidth = u64::from(he_bandwidth(width_mhz));
        let kind = users.first().map_or(0, |user| user.asks.trigger_type());
        // Half of the number of long training fields: one, or an even number (Table 27-14).
        let streams = users.iter().map(|user| u64::from(user.streams)).max().unwrap_or(1);
        let fields = if streams > 1 { streams.div_ceil(2) } else { 0 };
        let common = kind
            | fields << 23
            | length << 4
            | CARRIER_SENSE
            | bandwidth << 18
            | TWO_LTF_1600_NS << 20
            | HE_VARIANT;
        self.head.extend(common.to_le_bytes());
        for user in users {
            let info = u64::from(user.station_id)
                | u64::from(user.unit) << 12
                | u64::from(user.ldpc) << 20
                | u64::from(user.mcs) << 21
                | u64::from(user.streams - 1) << 29
                | MOST_POWER << 32;
            self.head.extend(&info.to_le_bytes()[..5]);
            match user.asks {
                // Frames of one TID at most, and any distance of their starts.
                Asks::Data(category) => self.head.push(1 << 2 | category << 6),
                Asks::BlockAck(tid, start) => {
                    self.head.extend((COMPRESSED | u16::from(tid) << 12).to_le_bytes());
                    self.head.extend((start << 4).to_le_bytes());
                }
                Asks::Report => {}
            }
        }
    }

    /// Writes a QoS Null frame of a station, which reports `queued` bits in its queue.
    pub(crate) fn report(
        &mut self,
        duration: u16,
        [bssid, station]: [Address; 2],
        tid: u8,
        queued: u64,
    ) {
        self.begin(QOS_NULL, TO_DS, duration);
        self.head.extend([bssid, station, bssid].as_flattened());
        let size = queued.div_ceil(QUEUE_UNIT_BITS).min(LONGER_QUEUE);
        self.head.extend([0, 0, tid | QUEUE_SIZE, size as u8]);
    }

    /// Writes the Block ACK of `transmitter` for frames of several stations (802.11ax-2021,
    /// 9.3.1.8.6), to `only` if there is one station.
    pub(crate) fn multi_station_block_ack(
        &mut self,
        (only, transmitter): (Option<Address>, Address),
        stations: &[StationInfo],
    ) {
        self.begin(BLOCK_ACK, 0, 0);
        self.head.extend(only.unwrap_or(BROADCAST));
        self.head.extend(transmitter);
        self.head.extend(MULTI_STATION.to_le_bytes());
        for (station_id, received) in stations {
            let of = received.as_ref().map_or(ALL_RECEIVED, |(tid, ..)| u16::from(*tid) << 12);
            self.head.extend((station_id | of).to_le_bytes());
            if let Some((_, start, bitmap)) = received {
                self.bitmap(*start, bitmap);
            }
        }
    }
}
