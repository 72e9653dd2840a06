//! What a simulated packet carries: a segment of a connection, or a datagram.

use airtcp_kernel::Time;
use airtcp_net::{BareAck, Content};
use airtcp_tcp::{Flags, Segment};

/// IP and UDP headers.
pub(crate) const UDP_HEADER_BYTES: u32 = 28;

/// A packet on its way.
pub(crate) type Packet = airtcp_net::Packet<Body>;

/// What a packet carries. A datagram has its payload in `segment.len`, in `segment.seq` when it was
/// sent, and nothing else of the segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    pub(crate) segment: Segment,
    pub(crate) owner: Owner,
    /// Which flows it is counted with: its flow's scope.
    pub(crate) scope: u32,
    /// How many wired links of its path it has behind it.
    pub(crate) hop: u8,
}

/// What a packet belongs to. A plain number: packets are copied often, and an enum with a hole in its
/// middle costs more to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner(u32);

impl Owner {
    /// No connection: it is a datagram.
    pub(crate) const DATAGRAM: Self = Self(u32::MAX);

    /// A TCP connection, by its place among the connections.
    #[inline]
    pub(crate) fn of(connection: u32) -> Self {
        Self(connection)
    }

    /// The connection that it belongs to, if any.
    #[inline]
    pub(crate) fn connection(self) -> Option<u32> {
        (self != Self::DATAGRAM).then_some(self.0)
    }
}

/// What access categories tell apart; the order is that of
/// [`crate::scenario::Classify::categories`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrafficClass {
    TcpAck,
    TcpData,
    Udp,
}

impl Content for Body {
    fn mark(&mut self) -> bool {
        let flags = self.segment.flags;
        if !flags.contains(Flags::ECT) {
            return false;
        }
        self.segment.flags = flags | Flags::CE;
        true
    }

    fn bare_ack(&self) -> Option<BareAck> {
        let Segment { ack, len, flags, .. } = self.segment;
        // Neither SYN nor FIN, nor an echo of ECN.
        let is_bare = len == 0 && flags.bits() == Flags::ACK.bits();
        let connection = self.owner.connection().filter(|_| is_bare)?;
        Some(BareAck { connection, ack, has_sack: self.segment.option_bytes() > 0 })
    }
}

impl Body {
    /// A datagram of so many bytes that is sent at `now`.
    #[inline]
    pub(crate) fn datagram(bytes: u32, now: Time) -> Segment {
        Segment { seq: now.as_nanos(), ack: 0, len: bytes, flags: Flags::NONE }
    }

    /// When it was sent; of datagrams alone.
    #[inline]
    pub(crate) fn sent(&self) -> Time {
        Time::from_nanos(self.segment.seq)
    }

    #[inline]
    pub(crate) fn class(&self) -> TrafficClass {
        if self.owner == Owner::DATAGRAM {
            TrafficClass::Udp
        } else if self.segment.len > 0 || self.segment.flags.contains(Flags::SYN) {
            // A SYN opens the way for data and acknowledges none.
            TrafficClass::TcpData
        } else {
            TrafficClass::TcpAck
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(len: u32, flags: Flags) -> Body {
        let segment = Segment { seq: 1, ack: 2001, len, flags };
        Body { segment, owner: Owner::of(7), scope: 0, hop: 0 }
    }

    #[test]
    fn who_knows_ecn_is_marked() {
        let mut knows = body(1000, Flags::ACK | Flags::ECT);
        let mut does_not = body(1000, Flags::ACK);

        assert!(knows.mark());
        assert!(knows.segment.flags.contains(Flags::CE));
        assert!(!does_not.mark());
        assert!(!does_not.segment.flags.contains(Flags::CE));
    }

    #[test]
    fn a_bare_ack_is_nothing_else() {
        let bare = BareAck { connection: 7, ack: 2001, has_sack: false };

        assert_eq!(body(0, Flags::ACK).bare_ack(), Some(bare));
        for other in [Flags::ACK | Flags::SYN, Flags::ACK | Flags::FIN, Flags::ACK | Flags::ECE] {
            assert_eq!(body(0, other).bare_ack(), None);
        }
        assert_eq!(body(1, Flags::ACK).bare_ack(), None);
        assert_eq!(Body { owner: Owner::DATAGRAM, ..body(0, Flags::ACK) }.bare_ack(), None);
    }
}
