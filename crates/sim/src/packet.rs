//! The contents of a packet: a segment of a TCP connection, a UDP datagram, or a foreign packet, which is
//! one that is not made here ([`crate::live`]).
//!
//! Knows how they are packed into a few bytes, as packets are copied often; nobody else does. Does not know
//! where a packet is, nor what becomes of it.

use airtcp_kernel::Time;
use airtcp_net::BareAck;
use airtcp_tcp::{Flags, Segment};

/// IP and UDP headers.
pub(crate) const UDP_HEADER_BYTES: u32 = 28;

/// A packet on its way.
pub(crate) type Packet = airtcp_net::Packet<Body>;

/// The contents that a packet can have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content {
    /// A segment of the TCP connection in this place among those that are simulated.
    Segment { connection: u32, segment: Segment },
    /// A UDP datagram with so many bytes of payload, and the time at which it was sent.
    Datagram { bytes: u32, sent: Time },
    /// A foreign packet, and the place in which it is kept. Of its segment the sequence number is there and
    /// not here; without a connection it is a datagram.
    Foreign { place: u32, connection: Option<u32>, segment: Segment },
}

/// The contents of a packet in their packed form, and the packet's way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    /// The segment. Of a datagram `len` is the payload and `seq` the time of sending; of a foreign packet
    /// `seq` is the place in which it is kept.
    packed: Segment,
    owner: Owner,
    /// The scope of its flow, with which it is counted.
    pub(crate) scope: u32,
    /// The number of wired links of its path that it has taken, without the one on which it is.
    pub(crate) hop: u8,
}

/// The kind of a packet, and its connection if it has one. A plain number: an enum with a hole in its
/// middle costs more to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owner(u32);

impl Owner {
    /// A datagram.
    const DATAGRAM: Self = Self(u32::MAX);
    /// A foreign packet without a connection.
    const FOREIGN_DATAGRAM: Self = Self(u32::MAX - 1);
    /// The first of the foreign connections; connections that are simulated have lower numbers.
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

/// The kinds of packets that access categories tell apart; the order is that of
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
        // Neither SYN nor FIN, nor an echo of ECN.
        let is_bare = len == 0 && flags.bits() == Flags::ACK.bits();
        let has_sack = self.packed.option_bytes() > 0;
        let is_ack = is_bare && !self.owner.is_udp();
        is_ack.then_some(BareAck { connection: self.owner.0, ack, has_sack })
    }
}

impl Body {
    /// Packs the contents of a packet of `scope` that has taken no wired link yet.
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

    /// Returns the segment and the place of its connection, if the connection is simulated here.
    #[inline(always)]
    pub(crate) fn segment(&self) -> Option<(u32, &Segment)> {
        self.owner.connection().map(|connection| (connection, &self.packed))
    }

    /// Returns the place of the packet's connection, if that is simulated here.
    #[inline]
    pub(crate) fn connection(&self) -> Option<u32> {
        self.owner.connection()
    }

    /// Returns the time at which a datagram was sent that is not foreign.
    #[inline(always)]
    pub(crate) fn datagram(&self) -> Option<Time> {
        self.is_datagram().then(|| Time::from_nanos(self.packed.seq))
    }

    /// Tells whether it is a datagram that is not foreign.
    #[inline]
    pub(crate) fn is_datagram(&self) -> bool {
        self.owner == Owner::DATAGRAM
    }

    /// Returns the place in which a foreign packet is kept.
    #[inline]
    pub(crate) fn foreign(&self) -> Option<u32> {
        let is_foreign = self.connection().is_none() && !self.is_datagram();
        is_foreign.then_some(self.packed.seq as u32)
    }

    /// Tells whether it is a segment with timestamps.
    #[inline]
    pub(crate) fn has_timestamps(&self) -> bool {
        self.packed.has_timestamps()
    }

    /// Returns the payload of TCP or UDP. \[byte\]
    #[inline]
    pub(crate) fn payload_bytes(&self) -> u32 {
        self.packed.len
    }

    /// Returns the payload and those options of TCP that not each segment of the connection has. \[byte\]
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
            // A SYN opens the way for data and acknowledges none.
            TrafficClass::TcpData
        } else {
            TrafficClass::TcpAck
        }
    }

    /// Returns the numbers of its segment, or those in which another content is packed.
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

    /// A packet is copied wherever it waits: its size is a matter of speed.
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
