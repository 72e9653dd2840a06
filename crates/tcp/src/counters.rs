//! Event counters of an endpoint.

/// Counts since the endpoint was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments of any kind that were sent.
    pub segments_sent: u64,
    /// Segments with payload, including retransmissions.
    pub data_segments_sent: u64,
    /// Retransmitted segments, SYN or with payload: those whose first byte had been sent before.
    pub retransmissions: u64,
    /// Expirations of the retransmission timer, including that of a SYN.
    pub timeouts: u32,
    /// Entries into fast recovery.
    pub fast_retransmits: u32,
}

/// ECN counters of an endpoint (RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnCounters {
    /// Received segments with a Congestion Experienced (CE) mark.
    pub marks: u64,
    /// Window reductions in response to an ECN-Echo from the other end.
    pub reductions: u64,
}
