//! The segment as the two ends see it: numbers and flags, no header and no payload.

use std::fmt;
use std::ops::BitOr;

use crate::sack::SackOption;

/// A TCP segment. Sequence numbers are 64 bits and start at 0, so they never wrap; a SYN takes
/// number 0 and the first byte of data number 1.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Number of the SYN or of the first byte of the payload.
    pub seq: u64,
    /// The next number expected from the other end; means nothing without [`Flags::ACK`].
    pub ack: u64,
    /// Bytes of payload.
    pub len: u32,
    /// Control bits, and where the SACK option is.
    pub flags: Flags,
}

impl Segment {
    /// The number after the last byte of the payload, and after that of the FIN.
    #[inline]
    pub const fn end(&self) -> u64 {
        self.seq + self.len as u64 + (self.flags.0 & Flags::FIN.0) as u64
    }

    /// Bytes that its SACK option adds to the TCP header: two of padding, kind and length, and eight
    /// for each block; zero without one.
    #[inline]
    pub const fn option_bytes(&self) -> u32 {
        self.flags.0 >> 8 & 0xff
    }

    /// Its SACK option, if it has one.
    #[inline]
    pub(crate) fn sack_option(&self) -> Option<SackOption> {
        let blocks = (self.option_bytes() / 8) as u8;
        (blocks > 0).then_some(SackOption { blocks, slot: (self.flags.0 >> 16) as u16 })
    }

    /// The same segment with an option, if there is one.
    pub(crate) fn with_sack(self, option: Option<SackOption>) -> Self {
        let bits = option.map_or(0, |SackOption { blocks, slot }| {
            u32::from(slot) << 16 | (4 + 8 * u32::from(blocks)) << 8
        });
        Self { flags: Flags(self.flags.0 | bits), ..self }
    }
}

/// Control bits of a segment, in the lowest byte. Above it are the length of the SACK option, in a byte,
/// and its place, in two: one number, because fields of one byte are copied one by one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Flags(u32);

impl Flags {
    /// No bit set.
    pub const NONE: Self = Self(0);
    /// Nothing more will come from this end. Takes the number after the payload.
    pub const FIN: Self = Self(0x01);
    /// Synchronise: the first segment of each direction.
    pub const SYN: Self = Self(0x02);
    /// The acknowledgment number counts.
    pub const ACK: Self = Self(0x10);

    /// The control bits as they stand in the TCP header (RFC 9293 section 3.1).
    pub const fn bits(self) -> u8 {
        self.0 as u8
    }

    /// Whether all bits of `other` are set in `self`.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Flags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// As a packet transcript writes it: `1:1001 ack 1`, `SYN 0 ack 1`, `FIN 1 ack 1`, `ack 2001`. The blocks of a SACK
/// option are not the segment's to tell.
impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.seq + u64::from(self.len);
        let mut gap = "";
        if self.flags.contains(Flags::SYN) {
            write!(f, "SYN {}", self.seq)?;
            gap = " ";
        }
        if self.len > 0 {
            write!(f, "{gap}{}:{end}", self.seq)?;
            gap = " ";
        }
        if self.flags.contains(Flags::FIN) {
            write!(f, "{gap}FIN {end}")?;
            gap = " ";
        }
        if self.flags.contains(Flags::ACK) {
            write!(f, "{gap}ack {}", self.ack)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{self}]")
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Flags({:#04x})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_small() {
        assert!(size_of::<Segment>() <= 24);
    }

    #[test]
    fn display_reads_like_a_transcript() {
        let data = Segment { seq: 1, ack: 1, len: 1000, flags: Flags::ACK };
        let syn = Segment { seq: 0, ack: 0, len: 0, flags: Flags::SYN };
        let syn_ack = Segment { ack: 1, flags: Flags::SYN | Flags::ACK, ..syn };
        let ack = Segment { seq: 1, ack: 2001, len: 0, flags: Flags::ACK };
        let fin = Segment { flags: Flags::FIN | Flags::ACK, ..data };

        assert_eq!(data.to_string(), "1:1001 ack 1");
        assert_eq!(syn.to_string(), "SYN 0");
        assert_eq!(syn_ack.to_string(), "SYN 0 ack 1");
        assert_eq!(ack.to_string(), "ack 2001");
        assert_eq!((fin.to_string().as_str(), fin.end()), ("1:1001 FIN 1001 ack 1", 1002));
        assert_eq!(Segment { len: 0, ..fin }.to_string(), "FIN 1 ack 1");
    }

    #[test]
    fn contains_asks_for_every_bit() {
        let both = Flags::SYN | Flags::ACK;

        assert!(both.contains(Flags::ACK));
        assert!(!Flags::ACK.contains(both));
        assert!(Flags::NONE.contains(Flags::NONE));
    }
}
