//! Counts of an endpoint's work. Counts, and knows nothing of why.

/// Events since the endpoint was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments of any kind handed to the network.
    pub segments_sent: u64,
    /// Those with payload, retransmissions included.
    pub data_segments_sent: u64,
    /// Segments, a SYN or with payload, whose first byte had been sent before.
    pub retransmissions: u64,
    /// Expirations of the retransmission timer, that of a SYN included.
    pub timeouts: u32,
    /// Entries into fast recovery.
    pub fast_retransmits: u32,
}

/// The signs of explicit congestion notification that an endpoint has seen (RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnCounters {
    /// Segments that came with a mark of congestion, CE.
    pub marks: u64,
    /// Reductions of the window since the other end had told of one.
    pub reductions: u64,
}
