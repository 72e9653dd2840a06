//! The segment as the two ends see it: numbers and flags, no header and no payload.

use std::fmt;
use std::ops::BitOr;

use crate::options::Place;

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
    /// Control bits, and where the options are.
    pub flags: Flags,
}

/// Bytes of the window scale option of a SYN, with one of padding (RFC 7323 section 2.2).
const WINDOW_SCALE_BYTES: u32 = 4;

impl Segment {
    /// Returns the number after the last byte of the payload, and after that of the FIN.
    #[inline]
    pub const fn end(&self) -> u64 {
        self.seq + self.len as u64 + (self.flags.0 & Flags::FIN.0) as u64
    }

    /// Counts the bytes that its options add to the headers that every segment of its connection has: four and eight
    /// for each block of a SACK option, four for the window scale of a SYN; zero without any. Timestamps
    /// are in every segment.
    #[inline]
    pub const fn option_bytes(&self) -> u32 {
        self.flags.0 >> 6 & 0x3c
    }

    /// Tells whether it has a timestamps option and no other, and no flag but ACK and PSH.
    #[inline]
    pub(crate) const fn has_stamps_alone(&self) -> bool {
        self.flags.0 & (0xffff & !Flags::PSH.0) == Flags::ACK.0 | Flags::STAMPED
    }

    /// Tells whether it may have options that are kept somewhere.
    #[inline]
    pub(crate) const fn has_options(&self) -> bool {
        self.flags.0 & (Flags::OPTION_WORDS | Flags::STAMPED | Flags::WINDOWED) != 0
    }

    /// Tells whether options of it are kept in [`SegmentOptions`](crate::SegmentOptions).
    pub fn has_kept_options(&self) -> bool {
        self.place().is_some()
    }

    /// Tells whether it has a timestamps option.
    #[inline]
    pub const fn has_timestamps(&self) -> bool {
        self.flags.0 & Flags::STAMPED != 0
    }

    /// Returns the place of its options, if it has any that are kept.
    #[inline]
    pub(crate) fn place(&self) -> Option<Place> {
        let blocks = (self.option_bytes() / 8) as u8;
        (blocks > 0 || self.flags.0 & (Flags::STAMPED | Flags::WINDOWED) != 0)
            .then_some(Place { blocks, slot: self.slot() })
    }

    /// Returns the place of its options, if there are any.
    #[inline]
    pub(crate) const fn slot(&self) -> u16 {
        (self.flags.0 >> 16) as u16
    }

    /// Returns the segment with a SACK option of so many blocks, and with timestamps or without, kept at
    /// this place.
    pub(crate) fn with_options(self, Place { blocks, slot }: Place, is_stamped: bool) -> Self {
        let sack = if blocks > 0 { 4 + 8 * u32::from(blocks) } else { 0 };
        let stamped = if is_stamped { Flags::STAMPED } else { 0 };
        let windowed = self.flags.0 & Flags::WINDOWED;
        let bits = u32::from(slot) << 16 | sack << 6 | stamped | windowed;
        Self { flags: Flags(self.flags.0 & Flags::SAID | bits), ..self }
    }

    /// Returns the segment, which has no options yet, with timestamps that are kept in this slot.
    #[inline]
    pub(crate) const fn with_stamps_at(self, slot: u16) -> Self {
        let bits = (slot as u32) << 16 | Flags::STAMPED;
        Self { flags: Flags(self.flags.0 | bits), ..self }
    }

    /// Tells whether it says a window, which is kept with its options.
    #[inline]
    pub const fn has_window(&self) -> bool {
        self.flags.0 & Flags::WINDOWED != 0
    }

    /// Returns the segment with a window that is kept at this place.
    pub(crate) fn with_window(self, Place { slot, .. }: Place) -> Self {
        let bits = u32::from(slot) << 16 | Flags::WINDOWED;
        Self { flags: Flags(self.flags.0 & 0xffff | bits), ..self }
    }

    /// Returns the segment with options that are known to nobody here, such as one that was read from a
    /// real packet: [`Self::option_bytes`] says no more than that there are some.
    pub fn with_unknown_options(self) -> Self {
        Self { flags: Flags(self.flags.0 & !Flags::OPTION_WORDS | 1 << 8), ..self }
    }

    /// Returns the SYN with a window scale option.
    pub(crate) fn with_window_scale(self) -> Self {
        Self { flags: Flags(self.flags.0 + (WINDOW_SCALE_BYTES << 6)), ..self }
    }
}

/// Control bits of a segment, in the lowest byte. Above it are the length of the options in words of 32
/// bits, in four bits, and what IP and the options say of it, in four more; the two highest bytes are the
/// place of the options: one number, because fields of one byte are copied one by one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Flags(u32);

impl Flags {
    /// No bit set.
    pub const NONE: Self = Self(0);
    /// Nothing more will come from this end. Takes the number after the payload.
    pub const FIN: Self = Self(0x01);
    /// Synchronise: the first segment of each direction.
    pub const SYN: Self = Self(0x02);
    /// The sender has no more to add to what has come so far: RFC 9293 section 3.9.1.1.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgment number counts.
    pub const ACK: Self = Self(0x10);
    /// ECE, the ECN echo: RFC 3168 section 6.1.
    pub const ECE: Self = Self(0x40);
    /// CWR, the window was reduced: RFC 3168 section 6.1.
    pub const CWR: Self = Self(0x80);
    /// Not of the TCP header but of IP's: ECT(0), the transport knows ECN (RFC 3168 section 5).
    pub const ECT: Self = Self(1 << 13);
    /// Not of the TCP header but of IP's: CE, a queue has met congestion (RFC 3168 section 5).
    pub const CE: Self = Self(1 << 14);
    /// The length of the options in words, [`Segment::option_bytes`].
    const OPTION_WORDS: u32 = 0xf00;
    /// There is a timestamps option.
    const STAMPED: u32 = 1 << 12;
    /// It says a window. Those that do not say nothing new: the window is what it was.
    const WINDOWED: u32 = 1 << 15;
    /// All that is not about options.
    const SAID: u32 = 0x60ff;

    /// Returns the control bits as they stand in the TCP header (RFC 9293 section 3.1).
    pub const fn bits(self) -> u8 {
        self.0 as u8
    }

    /// Reads the control bits of a TCP header.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits as u32)
    }

    /// Returns these flags but for those of `other`.
    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Tells whether all bits of `other` are set in `self`.
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
