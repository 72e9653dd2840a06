//! An application at `B` that reads late, and the window that its buffer leaves: RFC 9293 section
//! 3.8.6.2.2. Out-of-order data is within the window and does not change it.

use airtcp_tcp::{Config, Flags, Segment};

use crate::pair::{End, Pair};

/// The first byte of data.
const FIRST_BYTE: u64 = 1;

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
    fn new(config: &Config, rcv_nxt: u64) -> Self {
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
    fn window(&mut self, config: &Config, rcv_nxt: u64) -> u64 {
        self.edge = self.next_edge(config);
        self.edge.saturating_sub(rcv_nxt)
    }

    /// Reads at most `bytes` of the `delivered` in-order bytes. Returns how many were read.
    fn read(&mut self, bytes: u64, delivered: u64) -> u64 {
        let waiting = FIRST_BYTE + delivered - self.next;
        let read = bytes.min(waiting);
        self.next += read;
        read
    }

    /// Whether a window update is due without a segment from the other end: the window has doubled
    /// since it was advertised, as in Linux. This includes any opening from zero.
    fn is_update_due(&self, config: &Config, rcv_nxt: u64) -> bool {
        let known = self.edge.saturating_sub(rcv_nxt);
        let edge = self.next_edge(config);
        edge > self.edge && edge.saturating_sub(rcv_nxt) >= known.saturating_mul(2)
    }

    /// Returns `segment` without the part beyond the window (RFC 9293 section 3.10.7.4, "it should
    /// be trimmed").
    fn trim(&self, segment: &Segment) -> Segment {
        if segment.end() <= self.edge {
            return *segment;
        }
        let len = u64::from(segment.len).min(self.edge.saturating_sub(segment.seq)) as u32;
        // Without FIN, which is beyond the window too.
        Segment { len, flags: Flags::ACK, ..*segment }
    }
}

impl Pair<'_> {
    /// Lets the application at `B` read only with [`Self::read`], from a buffer of `buffer` bytes.
    pub(crate) fn read_late(&mut self, buffer: u64) {
        self.configs[1].receive_window = buffer;
        self.late = Some(LateReader::new(&self.configs[1], FIRST_BYTE));
    }

    /// Reads at most `bytes` of the data that has arrived in order at `B`. Returns how many bytes
    /// the application gets. If the window opens enough, `B` sends a window update.
    pub(crate) fn read(&mut self, bytes: u64) -> u64 {
        let delivered = self.b.delivered();
        let Some(reader) = &mut self.late else { return 0 };
        let read = reader.read(bytes, delivered);
        if reader.is_update_due(&self.configs[1], FIRST_BYTE + delivered) {
            self.send_bare_ack();
        }
        read
    }

    /// Delivers the part of a segment in the window to `B`. RFC 9293 section 3.10.7.4: "If an
    /// incoming segment is not acceptable, an acknowledgment should be sent in reply". This also
    /// answers window probes.
    pub(crate) fn arrive_late(&mut self, segment: &Segment) {
        let Some(reader) = &self.late else { return };
        let trimmed = reader.trim(segment);
        let is_beyond = trimmed.end() == trimmed.seq && segment.end() > segment.seq;
        let is_old = segment.end() == segment.seq && segment.seq < FIRST_BYTE + self.b.delivered();
        if !is_beyond {
            self.b.on_segment(self.configs[1].at(self.now), &trimmed, &self.sacks);
        }
        if is_beyond || is_old {
            self.send_bare_ack();
        }
    }

    fn send_bare_ack(&mut self) {
        let ack = FIRST_BYTE + self.b.delivered();
        self.send(End::B, Segment { seq: self.b.snd_nxt(), ack, len: 0, flags: Flags::ACK });
    }

    /// Returns a segment of `B` with its window, if the application reads late.
    pub(crate) fn with_window(&mut self, segment: Segment) -> Segment {
        match &mut self.late {
            None => segment,
            Some(reader) => {
                let window = reader.window(&self.configs[1], segment.ack);
                self.sacks.say_window(segment, window)
            }
        }
    }
}
