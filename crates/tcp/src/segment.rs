//! A segment as the two ends see it: sequence numbers and flags, no header and no payload.

use std::fmt;
use std::ops::BitOr;

use crate::options::Place;

/// A TCP segment. Sequence numbers have 64 bits and start at 0, so they never wrap. A SYN has
/// number 0, the first byte of data number 1.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the SYN or of the first byte of the payload.
    pub seq: u64,
    /// The next sequence number expected from the other end; meaningless without [`Flags::ACK`].
    pub ack: u64,
    /// Bytes of payload.
    pub len: u32,
    /// Control bits, and the slot of the stored options.
    pub flags: Flags,
}

/// Size in bytes of the window scale option of a SYN, including one byte of padding (RFC 7323
/// section 2.2).
const WINDOW_SCALE_BYTES: u32 = 4;

impl Segment {
    /// Returns the sequence number after the payload and the FIN.
    #[inline]
    pub const fn end(&self) -> u64 {
        self.seq + self.len as u64 + (self.flags.0 & Flags::FIN.0) as u64
    }

    /// Returns the bytes that its options add to the connection's usual headers: 4 plus 8 per block
    /// for a SACK option, 4 for the window scale of a SYN, otherwise 0. Timestamps do not count,
    /// because every segment has them.
    #[inline]
    pub const fn option_bytes(&self) -> u32 {
        self.flags.0 >> 6 & 0x3c
    }

    /// Whether it has a timestamps option and no other, and no flag except ACK and PSH.
    #[inline]
    pub(crate) const fn has_stamps_alone(&self) -> bool {
        self.flags.0 & (0xffff & !Flags::PSH.0) == Flags::ACK.0 | Flags::STAMPED
    }

    /// Whether it may have stored options.
    #[inline]
    pub(crate) const fn has_options(&self) -> bool {
        self.flags.0 & (Flags::OPTION_WORDS | Flags::STAMPED | Flags::WINDOWED) != 0
    }

    /// Whether it has options in [`SegmentOptions`](crate::SegmentOptions).
    pub fn has_kept_options(&self) -> bool {
        self.place().is_some()
    }

    /// Whether it has a timestamps option.
    #[inline]
    pub const fn has_timestamps(&self) -> bool {
        self.flags.0 & Flags::STAMPED != 0
    }

    /// Returns the place of its stored options, if any.
    #[inline]
    pub(crate) fn place(&self) -> Option<Place> {
        let blocks = (self.option_bytes() / 8) as u8;
        (blocks > 0 || self.flags.0 & (Flags::STAMPED | Flags::WINDOWED) != 0)
            .then_some(Place { blocks, slot: self.slot() })
    }

    /// Returns the slot of its stored options; meaningless if there are none.
    #[inline]
    pub(crate) const fn slot(&self) -> u16 {
        (self.flags.0 >> 16) as u16
    }

    /// Adds a SACK option of `blocks` blocks, and timestamps if `is_stamped`, stored at this place.
    pub(crate) fn with_options(self, Place { blocks, slot }: Place, is_stamped: bool) -> Self {
        let sack = if blocks > 0 { 4 + 8 * u32::from(blocks) } else { 0 };
        let stamped = if is_stamped { Flags::STAMPED } else { 0 };
        let windowed = self.flags.0 & Flags::WINDOWED;
        let bits = u32::from(slot) << 16 | sack << 6 | stamped | windowed;
        Self { flags: Flags(self.flags.0 & Flags::SAID | bits), ..self }
    }

    /// Adds timestamps stored in this slot, to a segment without options.
    #[inline]
    pub(crate) const fn with_stamps_at(self, slot: u16) -> Self {
        let bits = (slot as u32) << 16 | Flags::STAMPED;
        Self { flags: Flags(self.flags.0 | bits), ..self }
    }

    /// Whether it advertises a window, which is stored with its options.
    #[inline]
    pub const fn has_window(&self) -> bool {
        self.flags.0 & Flags::WINDOWED != 0
    }

    /// Adds a window stored at this place.
    pub(crate) fn with_window(self, Place { slot, .. }: Place) -> Self {
        let bits = u32::from(slot) << 16 | Flags::WINDOWED;
        Self { flags: Flags(self.flags.0 & 0xffff | bits), ..self }
    }

    /// Marks the segment as having options of unknown content, for example because it was read from
    /// a real packet. [`Self::option_bytes`] then only says that there are some.
    pub fn with_unknown_options(self) -> Self {
        Self { flags: Flags(self.flags.0 & !Flags::OPTION_WORDS | 1 << 8), ..self }
    }

    /// Adds a window scale option to the SYN.
    pub(crate) fn with_window_scale(self) -> Self {
        Self { flags: Flags(self.flags.0 + (WINDOW_SCALE_BYTES << 6)), ..self }
    }
}

/// Control bits of a segment, in the lowest byte. Above it, four bits contain the length of the
/// options in 32-bit words, and four more the ECN bits of IP and what options there are. The two
/// highest bytes are the place of the options. All this is one integer, because fields of one byte
/// would be copied one by one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Flags(u32);

impl Flags {
    /// No bit set.
    pub const NONE: Self = Self(0);
    /// FIN: the end of data from this end. Takes the sequence number after the payload.
    pub const FIN: Self = Self(0x01);
    /// SYN: the first segment of each direction.
    pub const SYN: Self = Self(0x02);
    /// PSH: the sender has nothing to add to the data so far: RFC 9293 section 3.9.1.1.
    pub const PSH: Self = Self(0x08);
    /// ACK: the ACK number is valid.
    pub const ACK: Self = Self(0x10);
    /// ECN-Echo: RFC 3168 section 6.1.
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced: RFC 3168 section 6.1.
    pub const CWR: Self = Self(0x80);
    /// ECT(0), in the IP header: the transport is ECN-capable (RFC 3168 section 5).
    pub const ECT: Self = Self(1 << 13);
    /// CE, in the IP header: a queue has signaled congestion (RFC 3168 section 5).
    pub const CE: Self = Self(1 << 14);
    /// The length of the options in words; see [`Segment::option_bytes`].
    const OPTION_WORDS: u32 = 0xf00;
    /// The segment has a timestamps option.
    const STAMPED: u32 = 1 << 12;
    /// The segment advertises a window. Without this bit the window has not changed.
    const WINDOWED: u32 = 1 << 15;
    /// All bits that do not concern options.
    const SAID: u32 = 0x60ff;

    /// Returns the control bits as in the TCP header (RFC 9293 section 3.1).
    pub const fn bits(self) -> u8 {
        self.0 as u8
    }

    /// Parses the control bits of a TCP header.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits as u32)
    }

    /// Whether all bits of `other` are set.
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

/// Formats a segment as a packet trace does: `1:1001 ack 1`, `SYN 0 ack 1`, `FIN 1 ack 1`, `ack
/// 2001`. SACK blocks are stored elsewhere and not shown.
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
