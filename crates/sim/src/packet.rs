//! What a packet carries: a segment of a connection, or a datagram; or the place of a packet that is
//! not made here, a foreign one ([`crate::live`]).

use airtcp_kernel::Time;
use airtcp_net::{BareAck, Content};
use airtcp_tcp::{Flags, Segment};

/// IP and UDP headers.
pub(crate) const UDP_HEADER_BYTES: u32 = 28;

/// A packet on its way.
pub(crate) type Packet = airtcp_net::Packet<Body>;

/// What a packet carries. A datagram has its payload in `segment.len`, in `segment.seq` when it was
/// sent, and nothing else of the segment. A foreign packet has in `segment.seq` where it is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    pub(crate) segment: Segment,
    pub(crate) owner: Owner,
    /// Which flows it is counted with: its flow's scope.
    pub(crate) scope: u32,
    /// How many wired links of its path it has behind it, with the one on which it is.
    pub(crate) hop: u8,
}

/// What a packet belongs to. A plain number: packets are copied often, and an enum with a hole in its
/// middle costs more to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner(u32);

impl Owner {
    /// No connection: it is a datagram.
    pub(crate) const DATAGRAM: Self = Self(u32::MAX);
    /// The same, and it is foreign.
    pub(crate) const FOREIGN_DATAGRAM: Self = Self(u32::MAX - 1);
    /// The first of the foreign connections.
    const FIRST_FOREIGN: u32 = 1 << 31;

    /// A TCP connection, by its place among the connections.
    #[inline]
    pub(crate) fn of(connection: u32) -> Self {
        Self(connection)
    }

    /// A TCP connection of others.
    pub(crate) fn foreign(connection: u32) -> Self {
        debug_assert!(connection < Self::FOREIGN_DATAGRAM.0 - Self::FIRST_FOREIGN);
        Self(Self::FIRST_FOREIGN + connection)
    }

    /// The connection that it belongs to, if it is one of those simulated here.
    #[inline]
    pub(crate) fn connection(self) -> Option<u32> {
        (self.0 < Self::FIRST_FOREIGN).then_some(self.0)
    }

    /// Whether the packet was not made here.
    pub(crate) fn is_foreign(self) -> bool {
        self.0 >= Self::FIRST_FOREIGN && self != Self::DATAGRAM
    }

    #[inline]
    pub(crate) fn is_datagram(self) -> bool {
        self.0 >= Self::FOREIGN_DATAGRAM.0
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
        let has_sack = self.segment.option_bytes() > 0;
        let is_ack = is_bare && !self.owner.is_datagram();
        is_ack.then_some(BareAck { connection: self.owner.0, ack, has_sack })
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

    /// Where it is kept; of foreign packets alone.
    pub(crate) fn place(&self) -> u32 {
        self.segment.seq as u32
    }

    #[inline]
    pub(crate) fn class(&self) -> TrafficClass {
        if self.owner.is_datagram() {
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
