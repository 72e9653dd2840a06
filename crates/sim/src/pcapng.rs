//! Blocks of capture files with several interfaces (pcapng, draft-ietf-opsawg-pcapng), and their
//! order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use airtcp_kernel::{Duration, Time};

/// Block types (section 4 of the draft).
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
/// Marks the start of a section, in the byte order of its writer.
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// LINKTYPE_RAW: an IP packet without a link header.
pub const RAW_IP: u16 = 101;
/// LINKTYPE_IEEE802_11_RADIOTAP: a radiotap header, and a frame with its FCS.
pub const RADIOTAP: u16 = 127;
/// A frame is written when its reception is decided, but ordered by its start. So later frames are
/// held back for this time, which is longer than any PPDU.
const HELD_BACK: Duration = Duration::from_millis(100);
/// Options: the program that wrote the section; the name and time unit of an interface; the flags
/// of a packet.
const USER_APPLICATION: u16 = 4;
const NAME: u16 = 2;
const TIME_RESOLUTION: u16 = 9;
const PACKET_FLAGS: u16 = 2;
/// Times are in units of 10^-9 s.
const NANOSECONDS: u8 = 9;
/// The end of a list of options.
const END_OF_OPTIONS: [u8; 4] = [0; 4];

/// Blocks with their times, which arrive almost in order.
#[derive(Debug, Default)]
pub struct InOrder {
    held: BinaryHeap<Reverse<(Time, u64, Vec<u8>)>>,
    number: u64,
    latest: Time,
}

impl InOrder {
    /// Adds a block.
    pub fn push(&mut self, at: Time, block: Vec<u8>) {
        self.latest = self.latest.max(at);
        self.held.push(Reverse((at, self.number, block)));
        self.number += 1;
    }

    /// Returns the first block once no earlier block can come. Blocks of equal time keep their
    /// order of arrival.
    pub fn pop(&mut self) -> Option<Vec<u8>> {
        let Reverse((first, ..)) = self.held.peek()?;
        if *first + HELD_BACK > self.latest {
            return None;
        }
        self.held.pop().map(|Reverse((.., block))| block)
    }

    /// Returns all remaining blocks in order.
    pub fn rest(&mut self) -> impl Iterator<Item = Vec<u8>> {
        std::iter::from_fn(|| self.held.pop().map(|Reverse((.., block))| block))
    }
}

/// Creates a block (section 3.1): type, length, body, length again. The body is a multiple of four
/// bytes.
fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    debug_assert!(body.len().is_multiple_of(4), "bodies are padded");
    let length = (body.len() as u32 + 12).to_le_bytes();
    [&kind.to_le_bytes()[..], &length, body, &length].concat()
}

/// Creates an option (section 3.5), padded to a multiple of four bytes.
fn option(code: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(code.to_le_bytes());
    bytes.extend((value.len() as u16).to_le_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// Creates the header of a section that `application` writes.
pub fn section_header(application: &str) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend(BYTE_ORDER.to_le_bytes());
    body.extend(1_u16.to_le_bytes());
    body.extend(0_u16.to_le_bytes());
    // The length of the section is not specified.
    body.extend(u64::MAX.to_le_bytes());
    body.extend(option(USER_APPLICATION, application.as_bytes()));
    body.extend(END_OF_OPTIONS);
    block(SECTION_HEADER, &body)
}

/// Creates the block of an interface; of its packets the first `snaplen` bytes are kept.
pub fn interface(link_type: u16, name: &str, snaplen: u32) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend(link_type.to_le_bytes());
    body.extend(0_u16.to_le_bytes());
    body.extend(snaplen.to_le_bytes());
    body.extend(option(NAME, name.as_bytes()));
    body.extend(option(TIME_RESOLUTION, &[NANOSECONDS]));
    body.extend(END_OF_OPTIONS);
    block(INTERFACE_DESCRIPTION, &body)
}

/// Creates the block of a packet of `length` bytes, of which `kept` are stored, with its flags if
/// there are any.
pub fn packet(interface: u32, flags: Option<u32>, at: Time, kept: &[u8], length: u32) -> Vec<u8> {
    let nanos = at.as_nanos();
    let mut body = Vec::with_capacity(kept.len() + 40);
    body.extend(interface.to_le_bytes());
    body.extend(((nanos >> 32) as u32).to_le_bytes());
    body.extend((nanos as u32).to_le_bytes());
    body.extend((kept.len() as u32).to_le_bytes());
    body.extend(length.to_le_bytes());
    body.extend(kept);
    body.resize(body.len().next_multiple_of(4), 0);
    if let Some(flags) = flags {
        body.extend(option(PACKET_FLAGS, &flags.to_le_bytes()));
        body.extend(END_OF_OPTIONS);
    }
    block(ENHANCED_PACKET, &body)
}
