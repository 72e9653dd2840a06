//! A capture file: what was on the air, frame by frame, as Wireshark reads it.
//!
//! Knows the pcap format and the radiotap header, which says at what rate a frame was sent and
//! whether it arrived. What is in a frame is in [`frame`], what is in a packet in [`packet`]; which
//! frames there are, `world::capture` knows.

pub(crate) mod frame;
pub(crate) mod packet;

use std::io::Write;

use airtcp_kernel::{ByteSink, Time};
use airtcp_wlan::{Modulation, PhyConfig, Rate};

use frame::{FCS_BYTES, Frame};

/// Times in nanoseconds (`pcap-savefile(5)`), little-endian.
const MAGIC: u32 = 0xa1b2_3c4d;
/// LINKTYPE_IEEE802_11_RADIOTAP.
const LINK_TYPE: u32 = 127;
/// Time, flags, rate and channel, each where its size wants it to be.
const RADIOTAP_BYTES: u16 = 22;
/// Which fields those are: TSFT, Flags, Rate, Channel (radiotap.org, defined fields).
const RADIOTAP_PRESENT: u32 = 0b1111;
const FLAG_SHORT_PREAMBLE: u8 = 0x02;
const FLAG_FCS_AT_END: u8 = 0x10;
const FLAG_BAD_FCS: u8 = 0x40;
const CHANNEL_CCK: u16 = 0x0020;
const CHANNEL_OFDM: u16 = 0x0040;
const CHANNEL_2_GHZ: u16 = 0x0080;
const CHANNEL_5_GHZ: u16 = 0x0100;

/// Writes a capture file.
#[derive(Debug)]
pub(crate) struct PcapWriter {
    sink: ByteSink,
    radio: Radio,
    /// Bytes of a record that are kept, radiotap header included.
    snaplen: usize,
    record: Vec<u8>,
}

/// What the radiotap headers of a cell have in common.
#[derive(Clone, Copy, Debug)]
struct Radio {
    megahertz: u16,
    band: u16,
    short_preamble: bool,
    /// From the start of a frame to its first bit, by modulation: DSSS, OFDM.
    before_mpdu_ns: [u64; 2],
}

impl PcapWriter {
    /// A file of the frames of a cell; of each the first `snaplen` bytes.
    pub(crate) fn new(out: Box<dyn Write + Send>, snaplen: u32, phy: &PhyConfig) -> Self {
        let mut header = Vec::new();
        header.extend(MAGIC.to_le_bytes());
        header.extend(2_u16.to_le_bytes());
        header.extend(4_u16.to_le_bytes());
        header.extend([0; 8]);
        header.extend(snaplen.to_le_bytes());
        header.extend(LINK_TYPE.to_le_bytes());
        let mut sink = ByteSink::new(out);
        sink.write(&header);
        Self { sink, radio: Radio::new(phy), snaplen: snaplen as usize, record: Vec::new() }
    }

    /// A frame whose first symbol was sent at `start`; one that nobody could read is `intact` no
    /// more, and has a wrong FCS.
    pub(crate) fn write(&mut self, start: Time, rate: Rate, intact: bool, frame: &Frame) {
        let len = usize::from(RADIOTAP_BYTES) + frame.len() + FCS_BYTES;
        let kept = len.min(self.snaplen);
        let record = &mut self.record;
        record.clear();
        let nanos = start.as_nanos();
        // Seconds since 1970 have 32 bits, which is 136 years of simulation.
        record.extend(((nanos / 1_000_000_000) as u32).to_le_bytes());
        record.extend(((nanos % 1_000_000_000) as u32).to_le_bytes());
        record.extend((kept as u32).to_le_bytes());
        record.extend((len as u32).to_le_bytes());
        let end = record.len() + kept;
        self.radio.header(record, nanos, rate, intact);
        record.extend(frame.head());
        if record.len() < end {
            record.resize(end.min(record.len() + frame.zeros()), 0);
        }
        if kept == len {
            // A collision leaves no right bit; an FCS with all bits turned is wrong for sure.
            let fcs = if intact { frame.fcs() } else { !frame.fcs() };
            record.extend(fcs.to_le_bytes());
        }
        record.truncate(end);
        self.sink.write(record);
    }

    /// Why something could not be written, if so.
    pub(crate) fn failure(&self) -> Option<String> {
        self.sink.failure().map(ToString::to_string)
    }

    /// Writes all that is left to write.
    pub(crate) fn finish(&mut self) {
        self.sink.flush();
    }
}

impl Radio {
    fn new(phy: &PhyConfig) -> Self {
        let (megahertz, band) =
            if phy.standard == "802.11a" { (5180, CHANNEL_5_GHZ) } else { (2412, CHANNEL_2_GHZ) };
        let dsss =
            phy.dsss.map_or(0, |dsss| (dsss.preamble_time + dsss.plcp_header_time).as_nanos());
        let ofdm =
            phy.ofdm.map_or(0, |ofdm| (ofdm.preamble_time + ofdm.plcp_header_time).as_nanos());
        // The long preamble and its header last 192 us, the short ones 96 us.
        Self { megahertz, band, short_preamble: dsss <= 96_000, before_mpdu_ns: [dsss, ofdm] }
    }

    fn header(&self, record: &mut Vec<u8>, start_ns: u64, rate: Rate, intact: bool) {
        let (modulation, short_preamble, before_mpdu) = match rate.modulation {
            Modulation::Dsss => (CHANNEL_CCK, self.short_preamble, self.before_mpdu_ns[0]),
            Modulation::Ofdm => (CHANNEL_OFDM, false, self.before_mpdu_ns[1]),
            Modulation::High(high) => (CHANNEL_OFDM, false, high.preamble_time.as_nanos()),
        };
        let mut flags = FLAG_FCS_AT_END;
        if short_preamble {
            flags |= FLAG_SHORT_PREAMBLE;
        }
        if !intact {
            flags |= FLAG_BAD_FCS;
        }
        record.extend([0, 0]);
        record.extend(RADIOTAP_BYTES.to_le_bytes());
        record.extend(RADIOTAP_PRESENT.to_le_bytes());
        // TSFT: "when the first bit of the MPDU arrived", in whole microseconds.
        record.extend(((start_ns + before_mpdu) / 1_000).to_le_bytes());
        // Rates of the standards are multiples of 500 kb/s, of 54 Mb/s at most.
        record.extend([flags, (rate.bps / 500_000) as u8]);
        record.extend(self.megahertz.to_le_bytes());
        record.extend((modulation | self.band).to_le_bytes());
    }
}
