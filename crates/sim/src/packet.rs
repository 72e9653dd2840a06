//! An IP packet on its way: of which connection or datagram flow, and what it carries.

use airtcp_tcp::{Flags, Segment};

/// What a packet belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A TCP connection, by its place among the connections.
    Connection(u32),
    /// A flow of datagrams, by its number.
    Datagrams(u32),
}

/// A packet. A datagram has its payload in `segment.len`, and nothing else of the segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) segment: Segment,
    pub(crate) owner: Owner,
    /// How many wired links of its path it has behind it.
    pub(crate) hop: u8,
}

/// What access categories tell apart; the order is that of
/// [`crate::scenario::Classify::categories`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrafficClass {
    TcpAck,
    TcpData,
    Udp,
}

impl Packet {
    #[inline]
    pub(crate) fn class(&self) -> TrafficClass {
        match self.owner {
            Owner::Datagrams(_) => TrafficClass::Udp,
            // A SYN opens the way for data and acknowledges none.
            Owner::Connection(_)
                if self.segment.len > 0 || self.segment.flags.contains(Flags::SYN) =>
            {
                TrafficClass::TcpData
            }
            Owner::Connection(_) => TrafficClass::TcpAck,
        }
    }
}
