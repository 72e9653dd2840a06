//! IPv4 packets with TCP or UDP, byte by byte (RFC 791, RFC 9293, RFC 768), with correct checksums.
//!
//! Payload is zeros, of which only the length enters a checksum.

use airtcp_tcp::Block;

/// An IPv4 address.
pub(crate) type Ip = [u8; 4];

/// An IPv4 header without options.
const IP_BYTES: usize = 20;
/// A TCP header without options.
const TCP_BYTES: usize = 20;
/// "The 40 bytes available for TCP options" (RFC 2018 section 3).
const MOST_OPTION_BYTES: usize = 40;
const UDP_BYTES: usize = 8;
const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;
const DO_NOT_FRAGMENT: u16 = 0x4000;
const TIME_TO_LIVE: u8 = 64;
const NO_OPERATION: u8 = 1;

/// The addresses and ports of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Endpoints {
    pub(crate) from: Ip,
    pub(crate) to: Ip,
    pub(crate) from_port: u16,
    pub(crate) to_port: u16,
    /// Identification of the IP packet.
    pub(crate) id: u16,
    /// The two bits of ECN (RFC 3168 section 5).
    pub(crate) ecn: u8,
}

/// A TCP header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TcpHeader<'a> {
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    pub(crate) flags: u8,
    pub(crate) window: u16,
    pub(crate) options: &'a [u8],
}

/// Writes the headers of a TCP segment with `payload` bytes.
pub(crate) fn tcp(out: &mut Vec<u8>, ends: &Endpoints, header: &TcpHeader<'_>, payload: usize) {
    let tcp_bytes = TCP_BYTES + header.options.len();
    ip(out, ends, PROTOCOL_TCP, tcp_bytes + payload);
    let begin = out.len();
    out.extend(ends.from_port.to_be_bytes());
    out.extend(ends.to_port.to_be_bytes());
    out.extend(header.seq.to_be_bytes());
    out.extend(header.ack.to_be_bytes());
    // The data offset counts words of 32 bits.
    out.extend([((tcp_bytes / 4) << 4) as u8, header.flags]);
    out.extend(header.window.to_be_bytes());
    out.extend([0; 4]);
    out.extend(header.options);
    let sum = checksum(&[&pseudo_header(ends, PROTOCOL_TCP, tcp_bytes + payload), &out[begin..]]);
    out[begin + 16..begin + 18].copy_from_slice(&sum.to_be_bytes());
}

/// Writes the headers of a UDP datagram with `payload` bytes.
pub(crate) fn udp(out: &mut Vec<u8>, ends: &Endpoints, payload: usize) {
    let len = UDP_BYTES + payload;
    ip(out, ends, PROTOCOL_UDP, len);
    let begin = out.len();
    out.extend(ends.from_port.to_be_bytes());
    out.extend(ends.to_port.to_be_bytes());
    out.extend((len as u16).to_be_bytes());
    out.extend([0; 2]);
    let sum = checksum(&[&pseudo_header(ends, PROTOCOL_UDP, len), &out[begin..]]);
    // RFC 768: zero would mean that there is no checksum.
    let sum = if sum == 0 { 0xffff } else { sum };
    out[begin + 6..begin + 8].copy_from_slice(&sum.to_be_bytes());
}

/// The bytes of a timestamps option, with its padding.
pub(crate) const TIMESTAMPS_BYTES: u64 = 12;

/// Writes a timestamps option, padded as in RFC 7323 appendix A.
pub(crate) fn timestamps_option(out: &mut Vec<u8>, value: u32, echo: u32) {
    out.extend([NO_OPERATION, NO_OPERATION, 8, 10]);
    out.extend(value.to_be_bytes());
    out.extend(echo.to_be_bytes());
}

/// Writes the options of a SYN (MSS, SACK permitted, window scale), padded to at least `len` bytes.
pub(crate) fn syn_options(out: &mut Vec<u8>, mss: u16, sack: bool, shift: u8, len: usize) {
    let begin = out.len();
    out.extend([2, 4]);
    out.extend(mss.to_be_bytes());
    if sack {
        out.extend([NO_OPERATION, NO_OPERATION, 4, 2]);
    }
    if shift > 0 {
        out.extend([NO_OPERATION, 3, 3, shift]);
    }
    fill(out, begin + len);
}

/// Writes the options of any other segment: SACK `blocks` (RFC 2018), if any, and `len` bytes of
/// padding.
pub(crate) fn options(
    out: &mut Vec<u8>,
    blocks: impl ExactSizeIterator<Item = (u32, u32)>,
    len: usize,
) {
    if blocks.len() > 0 {
        out.extend([NO_OPERATION, NO_OPERATION, 5, 2 + 8 * blocks.len() as u8]);
        for (start, end) in blocks {
            out.extend(start.to_be_bytes());
            out.extend(end.to_be_bytes());
        }
    }
    fill(out, out.len() + len);
}

/// Fills up to `len` bytes in whole words with the end of the options and padding (RFC 9293 section
/// 3.1), which are both zeros.
fn fill(out: &mut Vec<u8>, len: usize) {
    let len = len.min(MOST_OPTION_BYTES) & !3;
    if out.len() < len {
        out.resize(len, 0);
    }
}

/// Returns a block in sequence numbers of a connection that began at `first`.
pub(crate) fn on_wire(first: u32, block: &Block) -> (u32, u32) {
    (wrapped(first, block.start), wrapped(first, block.end))
}

/// Converts a number that begins at 0 to one that begins at `first` and wraps.
pub(crate) fn wrapped(first: u32, number: u64) -> u32 {
    first.wrapping_add(number as u32)
}

fn ip(out: &mut Vec<u8>, ends: &Endpoints, protocol: u8, payload: usize) {
    let begin = out.len();
    out.extend([0x45, ends.ecn]);
    out.extend(((IP_BYTES + payload) as u16).to_be_bytes());
    out.extend(ends.id.to_be_bytes());
    out.extend(DO_NOT_FRAGMENT.to_be_bytes());
    out.extend([TIME_TO_LIVE, protocol, 0, 0]);
    out.extend(ends.from);
    out.extend(ends.to);
    let sum = checksum(&[&out[begin..]]);
    out[begin + 10..begin + 12].copy_from_slice(&sum.to_be_bytes());
}

fn pseudo_header(ends: &Endpoints, protocol: u8, len: usize) -> [u8; 12] {
    let [high, low] = (len as u16).to_be_bytes();
    let ([a, b, c, d], [e, f, g, h]) = (ends.from, ends.to);
    [a, b, c, d, e, f, g, h, 0, protocol, high, low]
}

/// Computes the Internet checksum (RFC 1071) of parts of even length.
fn checksum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks_exact(2));
    let mut sum: u32 = words.map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends() -> Endpoints {
        Endpoints {
            from: [192, 0, 2, 1],
            to: [10, 0, 0, 7],
            from_port: 80,
            to_port: 49_152,
            id: 0xbeef,
            ecn: 0b11,
        }
    }

    /// RFC 1071 section 3: 0001 f203 f4f5 f6f7 add up to ddf0, with the carries to ddf2.
    #[test]
    fn the_checksum_is_that_of_the_rfcs_example() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];

        assert_eq!(checksum(&[&bytes]), !0xddf2);
        assert_eq!(checksum(&[&bytes[..2], &bytes[2..]]), !0xddf2);
    }

    /// A receiver adds everything up, including the checksum, and expects zero.
    #[test]
    fn checksums_are_right_for_a_payload_of_zeros() {
        let mut options = Vec::new();
        super::options(&mut options, [(7, 9)].into_iter(), 0);
        let header = TcpHeader { seq: 1, ack: 2, flags: 0x10, window: 3, options: &options };
        for payload in [0, 2, 1460] {
            let mut packet = Vec::new();
            tcp(&mut packet, &ends(), &header, payload);

            assert_eq!(packet.len(), 20 + 20 + 12);
            assert_eq!(usize::from(u16::from_be_bytes([packet[2], packet[3]])), 52 + payload);
            assert_eq!(packet[32] >> 4, 8);
            assert_eq!(checksum(&[&packet[..20]]), 0);
            let pseudo = pseudo_header(&ends(), PROTOCOL_TCP, 32 + payload);
            assert_eq!(checksum(&[&pseudo, &packet[20..], &vec![0; payload]]), 0);

            packet.clear();
            udp(&mut packet, &ends(), payload);
            let pseudo = pseudo_header(&ends(), PROTOCOL_UDP, 8 + payload);
            assert_eq!(packet.len(), 28);
            assert_eq!(checksum(&[&pseudo, &packet[20..], &vec![0; payload]]), 0);
        }
    }

    #[test]
    fn options_are_whole_words_and_fit() {
        let syn = |sack, shift, len| {
            let mut out = Vec::new();
            syn_options(&mut out, 1460, sack, shift, len);
            out
        };
        assert_eq!(syn(false, 0, 0), [2, 4, 5, 180]);
        assert_eq!(syn(true, 3, 0), [2, 4, 5, 180, 1, 1, 4, 2, 1, 3, 3, 3]);
        assert_eq!(syn(false, 0, 14).len(), 12);

        let other = |blocks: usize, len| {
            let mut out = Vec::new();
            options(&mut out, vec![(1, 2); blocks].into_iter(), len);
            out
        };
        assert!(other(0, 0).is_empty());
        assert_eq!(other(0, 12), [0; 12]);
        assert_eq!(other(1, 0), [1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
        assert_eq!(other(1, 7)[..12], other(1, 0));
        assert_eq!(other(1, 7)[12..], [0; 4]);
        assert_eq!(other(3, 24).len(), 40);
        assert_eq!(other(4, 12).len(), 4 + 36);
    }

    #[test]
    fn numbers_wrap() {
        assert_eq!(wrapped(0xffff_ff00, 0x200), 0x100);
        assert_eq!(wrapped(5, 1 << 32), 5);
        assert_eq!(on_wire(10, &Block { start: 1, end: 3 }), (11, 13));
    }
}
