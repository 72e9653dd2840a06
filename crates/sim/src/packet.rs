//! The contents of a packet: a segment of a TCP connection, a UDP datagram, or a foreign packet,
//! which comes from outside of the simulation ([`crate::live`]).
//!
//! Packets are copied often, so their contents are packed into a few bytes. Only this module knows
//! the packing.

use airtcp_kernel::Time;
use airtcp_net::BareAck;
use airtcp_tcp::{Flags, Segment};

/// IP and UDP headers.
pub(crate) const UDP_HEADER_BYTES: u32 = 28;

/// A packet in the network.
pub(crate) type Packet = airtcp_net::Packet<Body>;

/// The possible contents of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content {
    /// A segment of the simulated TCP connection in slot `connection`.
    Segment { connection: u32, segment: Segment },
    /// A UDP datagram with `bytes` of payload, and when it was sent.
    Datagram { bytes: u32, sent: Time },
    /// A foreign packet, and the slot in which it is stored. The stored packet has the sequence
    /// number of its segment. Without a connection it is a datagram.
    Foreign { place: u32, connection: Option<u32>, segment: Segment },
}

/// The packed contents of a packet, and its position on its path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    /// The segment. For a datagram `len` is the payload and `seq` the time of sending. For a
    /// foreign packet `seq` is the slot in which it is stored.
    packed: Segment,
    owner: Owner,
    /// The scope in which its flow is counted.
    pub(crate) scope: u32,
    /// The number of wired links of its path that it has passed, without the current one.
    pub(crate) hop: u8,
}

/// The kind of a packet, and its connection if it has one. A plain number, because an enum with a
/// niche in the middle costs more to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owner(u32);

impl Owner {
    /// A datagram.
    const DATAGRAM: Self = Self(u32::MAX);
    /// A foreign packet without a connection.
    const FOREIGN_DATAGRAM: Self = Self(u32::MAX - 1);
    /// The first number of foreign connections; simulated connections have lower numbers.
    const FIRST_FOREIGN: u32 = 1 << 31;

    fn foreign(connection: u32) -> Self {
        debug_assert!(connection < Self::FOREIGN_DATAGRAM.0 - Self::FIRST_FOREIGN);
        Self(Self::FIRST_FOREIGN + connection)
    }

    #[inline]
    fn connection(self) -> Option<u32> {
        (self.0 < Self::FIRST_FOREIGN).then_some(self.0)
    }

    #[inline]
    fn is_udp(self) -> bool {
        self.0 >= Self::FOREIGN_DATAGRAM.0
    }
}

/// The kinds of packets that access categories distinguish, in the order of
/// [`crate::scenario::Classify::categories`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrafficClass {
    TcpAck,
    TcpData,
    Udp,
}

impl airtcp_net::Inspect for Body {
    fn mark(&mut self) -> bool {
        let flags = self.packed.flags;
        if !flags.contains(Flags::ECT) {
            return false;
        }
        self.packed.flags = flags | Flags::CE;
        true
    }

    fn bare_ack(&self) -> Option<BareAck> {
        let Segment { ack, len, flags, .. } = self.packed;
        // Without SYN, FIN and ECN echo.
        let is_bare = len == 0 && flags.bits() == Flags::ACK.bits();
        let has_sack = self.packed.option_bytes() > 0;
        let is_ack = is_bare && !self.owner.is_udp();
        is_ack.then_some(BareAck { connection: self.owner.0, ack, has_sack })
    }

    /// Simulated connections have even numbers, foreign ones odd numbers.
    #[inline]
    fn connection(&self) -> Option<u32> {
        let Owner(number) = self.owner;
        match self.owner.connection() {
            Some(connection) => Some(2 * connection),
            None if self.owner.is_udp() => None,
            None => Some(2 * (number - Owner::FIRST_FOREIGN) + 1),
        }
    }
}

impl Body {
    /// Packs the contents of a packet of `scope` that has not passed any wired link.
    #[inline(always)]
    pub(crate) fn new(content: Content, scope: u32) -> Self {
        let (packed, owner) = match content {
            Content::Segment { connection, segment } => (segment, Owner(connection)),
            Content::Datagram { bytes, sent } => {
                let seq = sent.as_nanos();
                (Segment { seq, ack: 0, len: bytes, flags: Flags::NONE }, Owner::DATAGRAM)
            }
            Content::Foreign { place, connection, segment } => {
                let owner = connection.map_or(Owner::FOREIGN_DATAGRAM, Owner::foreign);
                (Segment { seq: u64::from(place), ..segment }, owner)
            }
        };
        Self { packed, owner, scope, hop: 0 }
    }

    /// Returns the segment and the slot of its connection, if the connection is simulated.
    #[inline(always)]
    pub(crate) fn segment(&self) -> Option<(u32, &Segment)> {
        self.owner.connection().map(|connection| (connection, &self.packed))
    }

    /// Returns the slot of the packet's connection, if the connection is simulated.
    #[inline]
    pub(crate) fn connection(&self) -> Option<u32> {
        self.owner.connection()
    }

    /// Returns when a simulated datagram was sent.
    #[inline(always)]
    pub(crate) fn datagram(&self) -> Option<Time> {
        self.is_datagram().then(|| Time::from_nanos(self.packed.seq))
    }

    /// Returns whether it is a simulated datagram.
    #[inline]
    pub(crate) fn is_datagram(&self) -> bool {
        self.owner == Owner::DATAGRAM
    }

    /// Returns the slot in which a foreign packet is stored.
    #[inline]
    pub(crate) fn foreign(&self) -> Option<u32> {
        let is_foreign = self.connection().is_none() && !self.is_datagram();
        is_foreign.then_some(self.packed.seq as u32)
    }

    /// Returns whether it is a segment with timestamps.
    #[inline]
    pub(crate) fn has_timestamps(&self) -> bool {
        self.packed.has_timestamps()
    }

    /// Returns the TCP or UDP payload. \[byte\]
    #[inline]
    pub(crate) fn payload_bytes(&self) -> u32 {
        self.packed.len
    }

    /// Returns the payload plus the TCP options that only some segments of the connection have.
    /// \[byte\]
    #[inline]
    pub(crate) fn payload_and_option_bytes(&self) -> u32 {
        self.packed.len + self.packed.option_bytes()
    }

    /// Returns the control bits, and the marks of queues.
    pub(crate) fn flags(&self) -> Flags {
        self.packed.flags
    }

    /// Classifies it for the access categories.
    #[inline]
    pub(crate) fn class(&self) -> TrafficClass {
        if self.owner.is_udp() {
            TrafficClass::Udp
        } else if self.packed.len > 0 || self.packed.flags.contains(Flags::SYN) {
            // A SYN prepares for data and acknowledges none.
            TrafficClass::TcpData
        } else {
            TrafficClass::TcpAck
        }
    }

    /// Returns the packed form as a segment.
    #[cfg(test)]
    pub(crate) fn packed(&self) -> Segment {
        self.packed
    }
}

#[cfg(test)]
mod tests {
    use airtcp_net::Inspect as _;

    use super::*;

    fn segment(len: u32, flags: Flags) -> Segment {
        Segment { seq: 1, ack: 2001, len, flags }
    }

    fn body(len: u32, flags: Flags) -> Body {
        Body::new(Content::Segment { connection: 7, segment: segment(len, flags) }, 0)
    }

    /// A packet is copied into each queue, so its size matters for speed.
    #[test]
    fn a_packet_has_64_bytes() {
        assert_eq!((size_of::<Body>(), size_of::<Packet>()), (40, 64));
    }

    #[test]
    fn each_content_is_read_as_what_it_is() {
        let read = |content| {
            let body = Body::new(content, 3);
            let segment = body.segment().map(|(connection, segment)| (connection, *segment));
            (segment, body.datagram(), body.foreign(), body.class())
        };
        let data = segment(1000, Flags::ACK);
        let foreign = |connection| Content::Foreign { place: 5, connection, segment: data };
        let sent = Time::from_nanos(17);

        assert_eq!(
            read(Content::Segment { connection: 7, segment: data }),
            (Some((7, data)), None, None, TrafficClass::TcpData)
        );
        assert_eq!(
            read(Content::Datagram { bytes: 160, sent }),
            (None, Some(sent), None, TrafficClass::Udp)
        );
        assert_eq!(read(foreign(Some(0))), (None, None, Some(5), TrafficClass::TcpData));
        assert_eq!(read(foreign(None)), (None, None, Some(5), TrafficClass::Udp));
    }

    #[test]
    fn a_packet_of_a_transport_that_knows_ecn_is_marked() {
        let mut knows = body(1000, Flags::ACK | Flags::ECT);
        let mut does_not = body(1000, Flags::ACK);

        assert!(knows.mark());
        assert!(knows.flags().contains(Flags::CE));
        assert!(!does_not.mark());
        assert!(!does_not.flags().contains(Flags::CE));
    }

    #[test]
    fn a_bare_ack_is_nothing_else() {
        let bare = BareAck { connection: 7, ack: 2001, has_sack: false };

        assert_eq!(body(0, Flags::ACK).bare_ack(), Some(bare));
        for other in [Flags::ACK | Flags::SYN, Flags::ACK | Flags::FIN, Flags::ACK | Flags::ECE] {
            assert_eq!(body(0, other).bare_ack(), None);
        }
        assert_eq!(body(1, Flags::ACK).bare_ack(), None);
        let (place, segment) = (0, segment(0, Flags::ACK));
        let datagram = Content::Foreign { place, connection: None, segment };
        assert_eq!(Body::new(datagram, 0).bare_ack(), None);
    }
}
