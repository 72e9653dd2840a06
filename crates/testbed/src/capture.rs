//! A capture file of what real programs send and get: the IP packets that leave the nodes of a testbed
//! and those that come to them, for Wireshark and its kin.
//!
//! The format is pcapng (draft-ietf-opsawg-pcapng), with an interface for each node, so that one file
//! has both ends of every connection. A thread of its own writes: whoever carries packets waits for no
//! disk. Knows bytes and the air's clock. Packets that are simulated have no bytes, and are not here.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use airtcp_kernel::Time;

/// Block types (section 4 of the draft).
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
/// A section begins with it, in the byte order of its writer.
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// LINKTYPE_RAW: an IP packet, with nothing before it.
const RAW_IP: u16 = 101;
/// Options: who has written the section; an interface's name and the unit of its times; a packet's flags.
const USER_APPLICATION: u16 = 4;
const NAME: u16 = 2;
const TIME_RESOLUTION: u16 = 9;
const PACKET_FLAGS: u16 = 2;
/// Times are in units of 10^-9 s.
const NANOSECONDS: u8 = 9;

/// Which way a packet goes through the device of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It has come over the air.
    In,
    /// The node has sent it.
    Out,
}

impl Way {
    /// Bits 0 and 1 of a packet's flags (section 4.3.1).
    fn flags(self) -> u32 {
        match self {
            Self::In => 1,
            Self::Out => 2,
        }
    }
}

/// A capture file under way.
#[derive(Debug)]
pub struct Capture {
    blocks: Sender<Vec<u8>>,
    writer: JoinHandle<io::Result<()>>,
    snaplen: usize,
}

impl Capture {
    /// A file of nodes with these names; of each packet the first `snaplen` bytes. The thread that
    /// writes has the priority of the caller.
    ///
    /// # Errors
    /// If there can be no thread.
    pub fn new(
        out: impl Write + Send + 'static,
        nodes: &[String],
        snaplen: u32,
    ) -> io::Result<Self> {
        let (blocks, to_write) = channel();
        let mut head = section_header();
        for node in nodes {
            head.extend(interface(node, snaplen));
        }
        let writer = Builder::new()
            .name("airtcp capture".to_owned())
            .spawn(move || write_all(out, &head, &to_write))?;
        Ok(Self { blocks, writer, snaplen: snaplen as usize })
    }

    /// A packet of the node with this number: when it left, or when it was due to come.
    pub fn packet(&self, node: usize, way: Way, at: Time, bytes: &[u8]) {
        let kept = &bytes[..bytes.len().min(self.snaplen)];
        // Who no longer listens has failed, and says so at the end.
        let _ = self.blocks.send(packet(node as u32, way, at, kept, bytes.len() as u32));
    }

    /// Waits until all is written.
    ///
    /// # Errors
    /// If something could not be written.
    ///
    /// # Panics
    /// If the thread that writes has panicked.
    pub fn finish(self) -> io::Result<()> {
        drop(self.blocks);
        self.writer.join().expect("it writes, and does nothing else")
    }
}

fn write_all(mut out: impl Write, head: &[u8], blocks: &Receiver<Vec<u8>>) -> io::Result<()> {
    out.write_all(head)?;
    for block in blocks {
        out.write_all(&block)?;
    }
    out.flush()
}

/// A block (section 3.1): type, length, body, length again. The body is a multiple of four bytes.
fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    debug_assert!(body.len().is_multiple_of(4), "bodies are padded");
    let length = (body.len() as u32 + 12).to_le_bytes();
    [&kind.to_le_bytes()[..], &length, body, &length].concat()
}

/// An option (section 3.5), padded to a multiple of four bytes.
fn option(code: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(code.to_le_bytes());
    bytes.extend((value.len() as u16).to_le_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// What ends a list of options.
const END_OF_OPTIONS: [u8; 4] = [0; 4];

fn section_header() -> Vec<u8> {
    let mut body = Vec::new();
    body.extend(BYTE_ORDER.to_le_bytes());
    body.extend(1_u16.to_le_bytes());
    body.extend(0_u16.to_le_bytes());
    // Nobody says how long the section is.
    body.extend(u64::MAX.to_le_bytes());
    body.extend(option(USER_APPLICATION, b"airtcp testbed"));
    body.extend(END_OF_OPTIONS);
    block(SECTION_HEADER, &body)
}

fn interface(name: &str, snaplen: u32) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend(RAW_IP.to_le_bytes());
    body.extend(0_u16.to_le_bytes());
    body.extend(snaplen.to_le_bytes());
    body.extend(option(NAME, name.as_bytes()));
    body.extend(option(TIME_RESOLUTION, &[NANOSECONDS]));
    body.extend(END_OF_OPTIONS);
    block(INTERFACE_DESCRIPTION, &body)
}

fn packet(interface: u32, way: Way, at: Time, kept: &[u8], length: u32) -> Vec<u8> {
    let nanos = at.as_nanos();
    let mut body = Vec::with_capacity(kept.len() + 40);
    body.extend(interface.to_le_bytes());
    body.extend(((nanos >> 32) as u32).to_le_bytes());
    body.extend((nanos as u32).to_le_bytes());
    body.extend((kept.len() as u32).to_le_bytes());
    body.extend(length.to_le_bytes());
    body.extend(kept);
    body.resize(body.len().next_multiple_of(4), 0);
    body.extend(option(PACKET_FLAGS, &way.flags().to_le_bytes()));
    body.extend(END_OF_OPTIONS);
    block(ENHANCED_PACKET, &body)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use airtcp_kernel::Duration;

    use super::*;

    /// A file that can be looked at when it is written.
    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("nobody panics").extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn u32_at(bytes: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
    }

    /// Blocks by type, each with its body; they follow one another without a gap.
    fn blocks(mut bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let mut found = Vec::new();
        while !bytes.is_empty() {
            let length = u32_at(bytes, 4) as usize;
            assert_eq!(u32_at(bytes, length - 4) as usize, length);
            found.push((u32_at(bytes, 0), bytes[8..length - 4].to_vec()));
            bytes = &bytes[length..];
        }
        found
    }

    #[test]
    fn a_file_has_an_interface_for_each_node_and_packets_with_their_times() {
        let file = Shared::default();
        let nodes = ["server".to_owned(), "laptop/0".to_owned()];
        let capture = Capture::new(file.clone(), &nodes, 64).expect("there is room for a thread");
        // More than 2^32 ns, and more than is kept.
        let at = Time::ZERO + Duration::from_nanos(5_000_000_001);
        capture.packet(1, Way::Out, at, &[0x45; 70]);
        capture.packet(0, Way::In, at, &[0x46; 3]);
        capture.finish().expect("it is written");

        let bytes = file.0.lock().expect("nobody panics").clone();
        let found = blocks(&bytes);
        let kinds: Vec<u32> = found.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [0x0a0d_0d0a, 1, 1, 6, 6]);
        assert_eq!(u32_at(&found[0].1, 0), 0x1a2b_3c4d);
        assert_eq!(u32_at(&found[1].1, 0), 101);
        assert_eq!(found[2].1[8..20], *b"\x02\0\x08\0laptop/0");

        let first = &found[3].1;
        let nanos = u64::from(u32_at(first, 4)) << 32 | u64::from(u32_at(first, 8));
        assert_eq!((u32_at(first, 0), nanos), (1, 5_000_000_001));
        assert_eq!((u32_at(first, 12), u32_at(first, 16)), (64, 70));
        assert_eq!(first[20..84], [0x45; 64]);
        // The option of flags: outbound.
        assert_eq!(first[84..92], [2, 0, 4, 0, 2, 0, 0, 0]);

        let second = &found[4].1;
        assert_eq!((u32_at(second, 12), u32_at(second, 16)), (3, 3));
        assert_eq!(second[20..32], [0x46, 0x46, 0x46, 0, 2, 0, 4, 0, 1, 0, 0, 0]);
    }

    /// A disk that is full.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::from(io::ErrorKind::StorageFull))
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_cannot_be_written_is_told_at_the_end() {
        let capture = Capture::new(Full, &[], 64).expect("there is room for a thread");
        capture.packet(0, Way::In, Time::ZERO, &[0x45; 70]);

        let error = capture.finish().expect_err("the disk is full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
