//! What a simulated packet carries: a segment of a connection, or a datagram.

use airtcp_tcp::{Flags, Segment};

/// IP and UDP headers.
pub(crate) const UDP_HEADER_BYTES: u32 = 28;

/// A packet on its way.
pub(crate) type Packet = airtcp_net::Packet<Body>;

/// What a packet carries. A datagram has its payload in `segment.len`, and nothing else of the
/// segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    pub(crate) segment: Segment,
    pub(crate) owner: Owner,
    /// How many wired links of its path it has behind it.
    pub(crate) hop: u8,
}

/// What a packet belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A TCP connection, by its place among the connections.
    Connection(u32),
    /// None: it is a datagram.
    Datagram,
}

/// What access categories tell apart; the order is that of
/// [`crate::scenario::Classify::categories`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrafficClass {
    TcpAck,
    TcpData,
    Udp,
}

impl Body {
    #[inline]
    pub(crate) fn class(&self) -> TrafficClass {
        match self.owner {
            Owner::Datagram => TrafficClass::Udp,
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
