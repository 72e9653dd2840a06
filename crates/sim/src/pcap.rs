//! A capture file: what was on the air, frame by frame, as Wireshark reads it.
//!
//! Knows the pcap format, and that somebody else may have another for the same frames. What the radiotap
//! header says of a frame is in [`radiotap`], what is in a frame in [`frame`], what is in a packet in
//! [`packet`]; which frames there are, `world::capture` knows.

pub(crate) mod frame;
pub(crate) mod packet;
pub(crate) mod radiotap;

use std::fmt;

use airtcp_kernel::{ByteSink, Time};
use airtcp_wlan::PhyConfig;

use crate::pcapng::{self, InOrder};
use frame::{FCS_BYTES, Frame};
use radiotap::{Radio, Sending};

/// Times in nanoseconds (`pcap-savefile(5)`), little-endian.
const MAGIC: u32 = 0xa1b2_3c4d;
/// The writer of files of several interfaces, as they name it.
const APPLICATION: &str = "airtcp simulate";
/// LINKTYPE_IEEE802_11_RADIOTAP.
const LINK_TYPE: u32 = 127;

/// Takes the frames of a capture, in the order in which they are known: of which node's interface each is (0 where
/// all nodes have one), when its PPDU began, what is kept of radiotap header, frame and FCS, and how many bytes these
/// have in all.
pub type TakesFrames = Box<dyn FnMut(u32, Time, &[u8], usize) + Send>;

/// The sink of frames.
pub(crate) enum Out {
    /// A pcap file.
    File(ByteSink),
    /// A pcapng file with an interface for each node, by their names.
    Nodes(ByteSink, Vec<String>, InOrder),
    /// A reader that has a file of its own.
    Taker(TakesFrames),
}

impl fmt::Debug for Out {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(sink) => f.debug_tuple("File").field(sink).finish(),
            Self::Nodes(sink, names, _) => f.debug_tuple("Nodes").field(sink).field(names).finish(),
            Self::Taker(_) => f.debug_tuple("Taker").finish_non_exhaustive(),
        }
    }
}

/// Writes a capture file, or gives its frames to who does.
#[derive(Debug)]
pub(crate) struct PcapWriter {
    out: Out,
    radio: Radio,
    /// Bytes of a record that are kept, radiotap header included.
    snaplen: usize,
    record: Vec<u8>,
}

impl PcapWriter {
    /// Opens a file of the frames of a cell; of each the first `snaplen` bytes.
    pub(crate) fn new(mut out: Out, snaplen: u32, phy: &PhyConfig) -> Self {
        match &mut out {
            Out::File(sink) => sink.write(&file_header(snaplen)),
            Out::Nodes(sink, names, _) => {
                sink.write(&pcapng::section_header(APPLICATION));
                for name in names {
                    sink.write(&pcapng::interface(pcapng::RADIOTAP, name, snaplen));
                }
            }
            Out::Taker(_) => {}
        }
        Self { out, radio: Radio::new(phy), snaplen: snaplen as usize, record: Vec::new() }
    }

    /// Returns the bytes of a record that are kept, radiotap header included.
    pub(crate) fn snaplen(&self) -> usize {
        self.snaplen
    }

    /// Writes a frame whose PPDU began at `start`; one that nobody could read is `intact` no more, and has a
    /// wrong FCS.
    pub(crate) fn write(&mut self, start: Time, sending: &Sending, intact: bool, frame: &Frame) {
        self.write_at(0, start, sending, intact, frame);
    }

    /// Does as [`Self::write`] for the node with this number, where each has its own interface.
    pub(crate) fn write_at(
        &mut self,
        node: u32,
        start: Time,
        sending: &Sending,
        intact: bool,
        frame: &Frame,
    ) {
        let record = &mut self.record;
        record.clear();
        self.radio.header(record, start.as_nanos(), sending, intact);
        let len = record.len() + frame.len() + FCS_BYTES;
        let kept = len.min(self.snaplen);
        record.extend(frame.head());
        if record.len() < kept {
            record.resize(kept.min(record.len() + frame.zeros()), 0);
        }
        if kept + FCS_BYTES > len {
            // Some of the FCS is kept, if not all. A collision leaves no right bit; an FCS with all bits
            // turned is wrong for sure.
            let fcs = if intact { frame.fcs() } else { !frame.fcs() };
            record.extend(fcs.to_le_bytes());
        }
        record.truncate(kept);
        match &mut self.out {
            Out::Taker(taker) => taker(node, start, record, len),
            Out::File(sink) => {
                sink.write(&record_header(start, kept, len));
                sink.write(record);
            }
            Out::Nodes(sink, _, held) => {
                held.push(start, pcapng::packet(node, None, start, record, len as u32));
                while let Some(block) = held.pop() {
                    sink.write(&block);
                }
            }
        }
    }

    /// Returns the error of the first write that failed, if one did.
    pub(crate) fn failure(&self) -> Option<String> {
        match &self.out {
            Out::File(sink) | Out::Nodes(sink, ..) => sink.failure().map(ToString::to_string),
            Out::Taker(_) => None,
        }
    }

    /// Writes all that is left to write.
    pub(crate) fn finish(&mut self) {
        match &mut self.out {
            Out::File(sink) => sink.flush(),
            Out::Nodes(sink, _, held) => {
                for block in held.rest() {
                    sink.write(&block);
                }
                sink.flush();
            }
            Out::Taker(_) => {}
        }
    }
}

fn file_header(snaplen: u32) -> Vec<u8> {
    let mut header = Vec::new();
    header.extend(MAGIC.to_le_bytes());
    header.extend(2_u16.to_le_bytes());
    header.extend(4_u16.to_le_bytes());
    header.extend([0; 8]);
    header.extend(snaplen.to_le_bytes());
    header.extend(LINK_TYPE.to_le_bytes());
    header
}

fn record_header(start: Time, kept: usize, len: usize) -> [u8; 16] {
    let nanos = start.as_nanos();
    // Seconds since 1970 have 32 bits, which is 136 years of simulation.
    let words =
        [(nanos / 1_000_000_000) as u32, (nanos % 1_000_000_000) as u32, kept as u32, len as u32];
    let mut header = [0; 16];
    for (to, word) in header.chunks_exact_mut(4).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    header
}
