//! A capture file: what was on the air, frame by frame, as Wireshark reads it.
//!
//! Knows the pcap format. What the radiotap header says of a frame is in [`radiotap`], what is in a
//! frame in [`frame`], what is in a packet in [`packet`]; which frames there are, `world::capture`
//! knows.

pub(crate) mod frame;
pub(crate) mod packet;
pub(crate) mod radiotap;

use std::io::Write;

use airtcp_kernel::{ByteSink, Time};
use airtcp_wlan::PhyConfig;

use frame::{FCS_BYTES, Frame};
use radiotap::{Radio, Sending};

/// Times in nanoseconds (`pcap-savefile(5)`), little-endian.
const MAGIC: u32 = 0xa1b2_3c4d;
/// LINKTYPE_IEEE802_11_RADIOTAP.
const LINK_TYPE: u32 = 127;

/// Writes a capture file.
#[derive(Debug)]
pub(crate) struct PcapWriter {
    sink: ByteSink,
    radio: Radio,
    /// Bytes of a record that are kept, radiotap header included.
    snaplen: usize,
    record: Vec<u8>,
    header: Vec<u8>,
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
        Self {
            sink,
            radio: Radio::new(phy),
            snaplen: snaplen as usize,
            record: Vec::new(),
            header: Vec::new(),
        }
    }

    /// A frame whose PPDU began at `start`; one that nobody could read is `intact` no more, and has a
    /// wrong FCS.
    pub(crate) fn write(&mut self, start: Time, sending: &Sending, intact: bool, frame: &Frame) {
        let nanos = start.as_nanos();
        self.header.clear();
        self.radio.header(&mut self.header, nanos, sending, intact);
        let len = self.header.len() + frame.len() + FCS_BYTES;
        let kept = len.min(self.snaplen);
        let record = &mut self.record;
        record.clear();
        // Seconds since 1970 have 32 bits, which is 136 years of simulation.
        record.extend(((nanos / 1_000_000_000) as u32).to_le_bytes());
        record.extend(((nanos % 1_000_000_000) as u32).to_le_bytes());
        record.extend((kept as u32).to_le_bytes());
        record.extend((len as u32).to_le_bytes());
        let end = record.len() + kept;
        record.extend(&self.header);
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
