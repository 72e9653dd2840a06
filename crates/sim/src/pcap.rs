//! A capture file: frames on the air, in a format that Wireshark reads.
//!
//! This file has the pcap format; other writers may use other formats for the same frames. The
//! radiotap header is in [`radiotap`], the contents of a frame in [`frame`], the contents of a
//! packet in [`packet`]. `world::capture` decides which frames there are.

pub(crate) mod frame;
pub(crate) mod packet;
pub(crate) mod radiotap;

use std::fmt;

use airtcp_kernel::{ByteSink, Time};

use crate::pcapng::{self, InOrder};
use crate::scenario::Scenario;
use frame::{FCS_BYTES, Frame};
use radiotap::{Radio, Sending};

/// Times in nanoseconds (`pcap-savefile(5)`), little-endian.
const MAGIC: u32 = 0xa1b2_3c4d;
/// The name of the program in files with several interfaces.
const APPLICATION: &str = "airtcp simulate";
/// LINKTYPE_IEEE802_11_RADIOTAP.
const LINK_TYPE: u32 = 127;

/// Receives the frames of a capture, in the order in which they become known. Arguments: the node
/// of the interface (0 if all nodes share one), when the PPDU began, the kept bytes of radiotap
/// header, frame and FCS, and their full length.
pub type TakesFrames = Box<dyn FnMut(u32, Time, &[u8], usize) + Send>;

/// Where frames go.
pub(crate) enum Out {
    /// A pcap file.
    File(ByteSink),
    /// A pcapng file with an interface for each node, by name.
    Nodes(ByteSink, Vec<String>, InOrder),
    /// A callback that writes its own file.
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

/// Writes a capture file, or passes its frames to a callback.
#[derive(Debug)]
pub(crate) struct PcapWriter {
    out: Out,
    /// The channels: one for each link.
    radios: Vec<Radio>,
    /// The channel of the next frames.
    channel: usize,
    /// Bytes kept of a record, including the radiotap header.
    snaplen: usize,
    record: Vec<u8>,
}

impl PcapWriter {
    /// Opens a file for the frames of a cell; of each the first `snaplen` bytes are kept.
    pub(crate) fn new(mut out: Out, snaplen: u32, scenario: &Scenario) -> Self {
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
        let radios = scenario.ap.links.as_ref().map_or_else(
            || vec![Radio::new(&scenario.phy)],
            |links| {
                links.iter().map(|one| Radio::new(&one.phy).on_channel(one.channel_mhz)).collect()
            },
        );
        Self { out, radios, channel: 0, snaplen: snaplen as usize, record: Vec::new() }
    }

    /// Sets the link of the next frames; without links there is only one channel.
    pub(crate) fn turn_to_link(&mut self, link: usize) {
        self.channel = link.min(self.radios.len() - 1);
    }

    /// Returns the bytes kept of a record, including the radiotap header.
    pub(crate) fn snaplen(&self) -> usize {
        self.snaplen
    }

    /// Writes a frame whose PPDU began at `start`. A frame that no station received is not
    /// `intact`, and gets a wrong FCS.
    pub(crate) fn write(&mut self, start: Time, sending: &Sending, intact: bool, frame: &Frame) {
        self.write_at(0, start, sending, intact, frame);
    }

    /// Writes as [`Self::write`] to the interface of the node with this number.
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
        self.radios[self.channel].header(record, start.as_nanos(), sending, intact);
        let len = record.len() + frame.len() + FCS_BYTES;
        let kept = len.min(self.snaplen);
        record.extend(frame.head());
        if record.len() < kept {
            record.resize(kept.min(record.len() + frame.zeros()), 0);
        }
        if kept + FCS_BYTES > len {
            // The snap length may cut the FCS. A collision destroys all bits; an FCS with all bits
            // inverted is certainly wrong.
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

    /// Returns the error of the first failed write, if there is one.
    pub(crate) fn failure(&self) -> Option<String> {
        match &self.out {
            Out::File(sink) | Out::Nodes(sink, ..) => sink.failure().map(ToString::to_string),
            Out::Taker(_) => None,
        }
    }

    /// Writes everything that is still buffered.
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

/// Returns the code of a channel width in MHz in EHT.
fn bandwidth(width_mhz: u16) -> u16 {
    match width_mhz {
        20 => 0,
        40 => 1,
        80 => 2,
        160 => 3,
        _ => 4,
    }
}

/// Returns the code of a channel width in HE, whose widest channel has 160 MHz.
fn he_bandwidth(width_mhz: u16) -> u16 {
    bandwidth(width_mhz).min(3)
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
    // Seconds since 1970 have 32 bits, enough for 136 years of simulation.
    let words =
        [(nanos / 1_000_000_000) as u32, (nanos % 1_000_000_000) as u32, kept as u32, len as u32];
    let mut header = [0; 16];
    for (to, word) in header.chunks_exact_mut(4).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    header
}
