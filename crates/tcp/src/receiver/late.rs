//! An application that does not read at once, and the window that its buffer leaves.
//!
//! Knows RFC 9293 section 3.8.6.2.2. Does not know what has arrived beyond a gap: that is within the
//! window.

use crate::receiver::FIRST_BYTE;
use crate::{Config, Flags, Segment};

/// The part that has been read, and how far the other end may send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LateReader {
    /// The number of the next byte that the application reads.
    next: u64,
    /// The number after the last one that the window last advertised lets the other end send. It never falls:
    /// a window is not shrunk.
    edge: u64,
}

impl LateReader {
    /// Makes an application that has read all before `rcv_nxt`.
    pub(crate) fn new(config: &Config, rcv_nxt: u64) -> Self {
        Self { next: rcv_nxt, edge: rcv_nxt.saturating_add(config.receive_window) }
    }

    /// Returns the edge that may be advertised now. It stays where it is until it can move by a full segment
    /// or half of the buffer.
    fn next_edge(&self, config: &Config) -> u64 {
        let edge = self.next.saturating_add(config.receive_window);
        let worth = u64::from(config.mss).min(config.receive_window / 2);
        if edge - self.edge >= worth { edge } else { self.edge }
    }

    /// Returns the window of a segment that is sent now.
    pub(crate) fn window(&mut self, config: &Config, rcv_nxt: u64) -> u64 {
        self.edge = self.next_edge(config);
        self.edge.saturating_sub(rcv_nxt)
    }

    /// Reads at most `bytes` of `delivered` bytes that came in order. Returns how many were read.
    pub(crate) fn read(&mut self, bytes: u64, delivered: u64) -> u64 {
        let waiting = FIRST_BYTE + delivered - self.next;
        let read = bytes.min(waiting);
        self.next += read;
        read
    }

    /// Tells whether the other end should hear of the window without having sent anything: it has become twice
    /// what was advertised, as in Linux, and so whenever it was zero and no longer is.
    pub(crate) fn is_update_due(&self, config: &Config, rcv_nxt: u64) -> bool {
        let known = self.edge.saturating_sub(rcv_nxt);
        let edge = self.next_edge(config);
        edge > self.edge && edge.saturating_sub(rcv_nxt) >= known.saturating_mul(2)
    }

    /// Returns `segment` without what lies beyond the window (RFC 9293 section 3.10.7.4, "it should be
    /// trimmed").
    pub(crate) fn trim(&self, segment: &Segment) -> Segment {
        if segment.end() <= self.edge {
            return *segment;
        }
        let len = u64::from(segment.len).min(self.edge.saturating_sub(segment.seq));
        // At most what it was.
        Segment { len: len as u32, flags: segment.flags.without(Flags::FIN), ..*segment }
    }
}
