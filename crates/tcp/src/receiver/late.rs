//! An application that reads late, and the window that its buffer leaves: RFC 9293 section
//! 3.8.6.2.2. Out-of-order data is within the window and does not change it.

use crate::receiver::FIRST_BYTE;
use crate::{Config, Flags, Segment};

/// What the application has read, and how far the other end may send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LateReader {
    /// The sequence number of the next byte that the application reads.
    next: u64,
    /// The sequence number after the last one that the advertised window allows. It never
    /// decreases: a window is not shrunk.
    edge: u64,
}

impl LateReader {
    /// Creates the reader; it has read everything before `rcv_nxt`.
    pub(crate) fn new(config: &Config, rcv_nxt: u64) -> Self {
        Self { next: rcv_nxt, edge: rcv_nxt.saturating_add(config.receive_window) }
    }

    /// Returns the edge that may be advertised now. It moves only by a full segment or half of the
    /// buffer, or more.
    fn next_edge(&self, config: &Config) -> u64 {
        let edge = self.next.saturating_add(config.receive_window);
        let worth = u64::from(config.mss).min(config.receive_window / 2);
        if edge - self.edge >= worth { edge } else { self.edge }
    }

    /// Returns the window of a segment sent now.
    pub(crate) fn window(&mut self, config: &Config, rcv_nxt: u64) -> u64 {
        self.edge = self.next_edge(config);
        self.edge.saturating_sub(rcv_nxt)
    }

    /// Reads at most `bytes` of the `delivered` in-order bytes. Returns how many were read.
    pub(crate) fn read(&mut self, bytes: u64, delivered: u64) -> u64 {
        let waiting = FIRST_BYTE + delivered - self.next;
        let read = bytes.min(waiting);
        self.next += read;
        read
    }

    /// Whether a window update is due without a segment from the other end: the window has doubled
    /// since it was advertised, as in Linux. This includes any opening from zero.
    pub(crate) fn is_update_due(&self, config: &Config, rcv_nxt: u64) -> bool {
        let known = self.edge.saturating_sub(rcv_nxt);
        let edge = self.next_edge(config);
        edge > self.edge && edge.saturating_sub(rcv_nxt) >= known.saturating_mul(2)
    }

    /// Returns `segment` without the part beyond the window (RFC 9293 section 3.10.7.4, "it should
    /// be trimmed").
    pub(crate) fn trim(&self, segment: &Segment) -> Segment {
        if segment.end() <= self.edge {
            return *segment;
        }
        let len = u64::from(segment.len).min(self.edge.saturating_sub(segment.seq));
        // Not longer than before.
        Segment { len: len as u32, flags: segment.flags.without(Flags::FIN), ..*segment }
    }
}
