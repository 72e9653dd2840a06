//! Captures what real programs send and receive: IP packets at the nodes of a testbed, and the
//! frames on the air between them, for Wireshark and similar tools.
//!
//! The format is pcapng ([`airtcp_sim::pcapng`]). There is an interface for each node's packets and
//! one for the medium, or several if nodes hear different frames, so one file shows both ends of
//! every connection and the frames between. A separate thread writes the file, so the packet path
//! never waits for the disk. Simulated packets have no bytes at a node; they appear on the air
//! only.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use airtcp_kernel::Time;
use airtcp_sim::live::TakesFrames;
use airtcp_sim::pcapng::{InOrder, RADIOTAP, RAW_IP, interface, packet, section_header};

/// The direction of a packet at a node's device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The node received it over the air.
    In,
    /// The node sent it.
    Out,
}

impl Way {
    /// Returns bits 0 and 1 of the packet flags (section 4.3.1).
    fn flags(self) -> u32 {
        match self {
            Self::In => 1,
            Self::Out => 2,
        }
    }
}

/// An open capture file.
#[derive(Debug)]
pub struct Capture {
    blocks: Sender<(Time, Vec<u8>)>,
    writer: JoinHandle<io::Result<()>>,
    snaplen: u32,
    /// The number of the first interface for frames.
    air: u32,
}

impl Capture {
    /// Opens a capture with one interface per name, for the packets of `nodes` and for the frames
    /// in `air`. Keeps the first `snaplen` bytes of each packet and frame. The writer thread has
    /// the priority of the caller.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn new(
        out: impl Write + Send + 'static,
        nodes: &[String],
        air: &[String],
        snaplen: u32,
    ) -> io::Result<Self> {
        let (blocks, to_write) = channel();
        let mut head = section_header("airtcp testbed");
        for node in nodes {
            head.extend(interface(RAW_IP, node, snaplen));
        }
        for one in air {
            head.extend(interface(RADIOTAP, one, snaplen));
        }
        let writer = Builder::new()
            .name("airtcp capture".to_owned())
            .spawn(move || write_all(out, &head, &to_write))?;
        Ok(Self { blocks, writer, snaplen, air: nodes.len() as u32 })
    }

    /// Returns how many bytes of a packet or frame are kept at most.
    pub fn snaplen(&self) -> u32 {
        self.snaplen
    }

    /// Returns the sink for frames. The file is finished only after the sink is dropped.
    pub fn frames(&self) -> TakesFrames {
        let (blocks, air) = (self.blocks.clone(), self.air);
        Box::new(move |node, start, kept, length| {
            let _ = blocks.send((start, packet(air + node, None, start, kept, length as u32)));
        })
    }

    /// Writes a packet of node number `node`: `at` is when it left or was due to arrive.
    pub fn packet(&self, node: usize, way: Way, at: Time, bytes: &[u8]) {
        let kept = &bytes[..bytes.len().min(self.snaplen as usize)];
        let block = packet(node as u32, Some(way.flags()), at, kept, bytes.len() as u32);
        // If the writer thread has failed, `finish` reports it.
        let _ = self.blocks.send((at, block));
    }

    /// Waits until everything is written.
    ///
    /// # Errors
    /// If a write failed.
    ///
    /// # Panics
    /// If the writer thread has panicked.
    pub fn finish(self) -> io::Result<()> {
        drop(self.blocks);
        self.writer.join().expect("it writes, and does nothing else")
    }
}

/// Writes blocks in order of time, or of arrival for equal times.
fn write_all(
    mut out: impl Write,
    head: &[u8],
    blocks: &Receiver<(Time, Vec<u8>)>,
) -> io::Result<()> {
    out.write_all(head)?;
    let mut held = InOrder::default();
    for (at, block) in blocks {
        held.push(at, block);
        while let Some(block) = held.pop() {
            out.write_all(&block)?;
        }
    }
    for block in held.rest() {
        out.write_all(&block)?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use airtcp_kernel::Duration;

    use super::*;

    /// A file that the test can inspect after it is written.
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

    /// Parses adjacent blocks; returns the type and the body of each.
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
        let air = ["air at ap".to_owned(), "air at laptop/0".to_owned()];
        let capture =
            Capture::new(file.clone(), &nodes, &air, 64).expect("there is room for a thread");
        // More than 2^32 ns, and longer than `snaplen`.
        let at = Time::ZERO + Duration::from_nanos(5_000_000_001);
        let mut frames = capture.frames();
        capture.packet(1, Way::Out, at, &[0x45; 70]);
        // It began earlier but is reported later.
        frames(1, Time::ZERO + Duration::from_secs(5), &[0x47; 64], 90);
        capture.packet(0, Way::In, at, &[0x46; 3]);
        drop(frames);
        capture.finish().expect("it is written");

        let bytes = file.0.lock().expect("nobody panics").clone();
        let found = blocks(&bytes);
        let kinds: Vec<u32> = found.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [0x0a0d_0d0a, 1, 1, 1, 1, 6, 6, 6]);
        assert_eq!(u32_at(&found[0].1, 0), 0x1a2b_3c4d);
        assert_eq!(u32_at(&found[1].1, 0), 101);
        assert_eq!(found[2].1[8..20], *b"\x02\0\x08\0laptop/0");
        assert_eq!(u32_at(&found[3].1, 0), 127);
        assert_eq!(found[3].1[8..24], *b"\x02\0\x09\0air at ap\0\0\0");
        assert_eq!(u32_at(&found[4].1, 0), 127);

        let frame = &found[5].1;
        assert_eq!((u32_at(frame, 0), u32_at(frame, 4)), (3, 1));
        assert_eq!((u32_at(frame, 12), u32_at(frame, 16)), (64, 90));
        // Frames have no direction flags.
        assert_eq!(frame[20..], [0x47; 64]);

        let first = &found[6].1;
        let nanos = u64::from(u32_at(first, 4)) << 32 | u64::from(u32_at(first, 8));
        assert_eq!((u32_at(first, 0), nanos), (1, 5_000_000_001));
        assert_eq!((u32_at(first, 12), u32_at(first, 16)), (64, 70));
        assert_eq!(first[20..84], [0x45; 64]);
        // The flags option: outbound.
        assert_eq!(first[84..92], [2, 0, 4, 0, 2, 0, 0, 0]);

        let second = &found[7].1;
        assert_eq!((u32_at(second, 12), u32_at(second, 16)), (3, 3));
        assert_eq!(second[20..32], [0x46, 0x46, 0x46, 0, 2, 0, 4, 0, 1, 0, 0, 0]);
    }

    /// A frame that began earlier is written first, even if it is reported later.
    #[test]
    fn blocks_are_in_the_order_of_their_times() {
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        let (blocks, to_write) = channel();
        for (millis, text) in [(30, "b"), (10, "a"), (30, "c"), (200, "e"), (150, "d")] {
            blocks.send((at(millis), text.as_bytes().to_vec())).expect("it is there");
        }
        drop(blocks);
        let file = Shared::default();
        write_all(file.clone(), b"", &to_write).expect("it is written");

        assert_eq!(*file.0.lock().expect("nobody panics"), b"abcde");
    }

    /// A full disk.
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
        let capture = Capture::new(Full, &[], &[], 64).expect("there is room for a thread");
        capture.packet(0, Way::In, Time::ZERO, &[0x45; 70]);

        let error = capture.finish().expect_err("the disk is full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
