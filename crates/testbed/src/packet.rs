//! Reads the headers of an IPv4 packet that queues, access categories and statistics need (RFC 791,
//! RFC 9293), and sets the CE mark (RFC 3168).

use std::net::Ipv4Addr;

use airtcp_tcp::Flags;

/// The TCP control bits that are used here: all except PSH and URG.
const CONTROL_BITS: u8 = 0xd7;
const TCP: u8 = 6;
const UDP: u8 = 17;
/// Kind of the SACK option (RFC 2018 section 3).
const SACK: u8 = 5;
const ECN: u8 = 0b11;
const ECT_1: u8 = 0b01;
const ECT_0: u8 = 0b10;

/// The headers of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// Source address.
    pub source: Ipv4Addr,
    /// Destination address.
    pub destination: Ipv4Addr,
    /// The payload.
    pub content: Content,
    /// Whether the transport is ECN-capable.
    pub knows_ecn: bool,
}

/// The payload of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A TCP segment.
    Tcp(Tcp),
    /// Anything else, with this many bytes of payload.
    Datagram(u32),
}

/// The header of a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// Control bits.
    pub flags: Flags,
    /// Bytes of payload.
    pub len: u32,
    /// The blocks of its SACK option as (left edge, right edge).
    pub sacked: [Option<(u32, u32)>; 4],
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Parses the headers of a packet; `None` if it is not IPv4 or is malformed.
pub fn read(packet: &[u8]) -> Option<Headers> {
    let first = *packet.first()?;
    let header = usize::from(first & 0xf) * 4;
    let length = usize::from(u16_at(packet, 2)?);
    if first >> 4 != 4 || header < 20 || length < header || length != packet.len() {
        return None;
    }
    let is_first_fragment = u16_at(packet, 6)? & 0x1fff == 0;
    let body = packet.get(header..)?;
    let content = match packet[9] {
        TCP if is_first_fragment => Content::Tcp(read_tcp(body)?),
        UDP if is_first_fragment => Content::Datagram(body.len().checked_sub(8)? as u32),
        _ => Content::Datagram(body.len() as u32),
    };
    Some(Headers {
        source: u32_at(packet, 12)?.into(),
        destination: u32_at(packet, 16)?.into(),
        content,
        knows_ecn: packet[1] & ECN != 0,
    })
}

fn read_tcp(body: &[u8]) -> Option<Tcp> {
    let header = usize::from(body.get(12)? >> 4) * 4;
    let options = body.get(20..header)?;
    Some(Tcp {
        source_port: u16_at(body, 0)?,
        destination_port: u16_at(body, 2)?,
        seq: u32_at(body, 4)?,
        ack: u32_at(body, 8)?,
        flags: Flags::from_bits(body[13] & CONTROL_BITS),
        len: (body.len() - header) as u32,
        sacked: sack_blocks(options),
    })
}

/// Returns the payload of a TCP segment, or nothing if the packet is not TCP.
pub fn payload(packet: &[u8]) -> &[u8] {
    let header = packet.first().map_or(0, |first| usize::from(first & 0xf) * 4);
    let body = match packet.get(9) {
        Some(&TCP) => packet.get(header..).unwrap_or_default(),
        _ => &[],
    };
    let header = body.get(12).map(|byte| usize::from(byte >> 4) * 4);
    header.and_then(|header| body.get(header..)).unwrap_or_default()
}

/// Returns the blocks of the SACK option in `options` (RFC 9293 section 3.1, RFC 2018 section 3).
fn sack_blocks(mut options: &[u8]) -> [Option<(u32, u32)>; 4] {
    let edges = loop {
        match *options {
            // End of options, and padding.
            [] | [0, ..] => break &[][..],
            [1, ..] => options = &options[1..],
            [kind, length, ..] if length >= 2 && usize::from(length) <= options.len() => {
                if kind == SACK {
                    break &options[2..usize::from(length)];
                }
                options = &options[usize::from(length)..];
            }
            _ => break &[],
        }
    };
    std::array::from_fn(|block| Some((u32_at(edges, 8 * block)?, u32_at(edges, 8 * block + 4)?)))
}

/// Sets Congestion Experienced and updates the checksum (RFC 1624).
pub fn mark(packet: &mut [u8]) {
    let [version, service, ..] = *packet else { return };
    if !matches!(service & ECN, ECT_0 | ECT_1) {
        return;
    }
    let before = u16::from_be_bytes([version, service]);
    packet[1] |= ECN;
    let after = u16::from_be_bytes([version, packet[1]]);
    let Some(checksum) = u16_at(packet, 10) else { return };
    let mut sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    packet[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

#[cfg(test)]
pub(crate) mod tests {
    use airtcp_kernel::RandomStream;

    use super::*;

    /// Returns the sum over the header and its checksum (RFC 791): all ones if the checksum is
    /// right.
    fn header_sum(packet: &[u8]) -> u16 {
        let words = packet[..20].chunks(2).map(|two| u32::from(u16_at(two, 0).unwrap()));
        let mut sum: u32 = words.sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }

    pub(crate) fn ip(
        from: [u8; 4],
        to: [u8; 4],
        protocol: u8,
        service: u8,
        body: &[u8],
    ) -> Vec<u8> {
        let mut packet = vec![0x45, service];
        packet.extend((20 + body.len() as u16).to_be_bytes());
        packet.extend([0, 1, 0x40, 0, 64, protocol, 0, 0]);
        packet.extend(from);
        packet.extend(to);
        let sum = !header_sum(&packet);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet.extend(body);
        packet
    }

    pub(crate) fn tcp(
        ports: (u16, u16),
        seq: u32,
        ack: u32,
        flags: u8,
        options: &[u8],
        len: usize,
    ) -> Vec<u8> {
        let mut body = Vec::new();
        body.extend(ports.0.to_be_bytes());
        body.extend(ports.1.to_be_bytes());
        body.extend(seq.to_be_bytes());
        body.extend(ack.to_be_bytes());
        body.extend([(((20 + options.len()) / 4) << 4) as u8, flags, 0xff, 0xff, 0, 0, 0, 0]);
        body.extend(options);
        body.resize(body.len() + len, 0);
        body
    }

    const FROM: [u8; 4] = [10, 7, 0, 2];
    const TO: [u8; 4] = [10, 7, 1, 1];

    #[test]
    fn a_segment_is_read_with_its_options() {
        // NOP, NOP, SACK of one block; PSH and ACK.
        let options = [1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2];
        let packet = ip(FROM, TO, TCP, 0, &tcp((5201, 40000), 7, 9, 0x18, &options, 100));

        let Headers { source, destination, content, knows_ecn } = read(&packet).unwrap();

        assert_eq!((source, destination, knows_ecn), (FROM.into(), TO.into(), false));
        let expected = Tcp {
            source_port: 5201,
            destination_port: 40000,
            seq: 7,
            ack: 9,
            flags: Flags::ACK,
            len: 100,
            sacked: [Some((1, 2)), None, None, None],
        };
        assert_eq!(content, Content::Tcp(expected));
    }

    /// The data of the timestamps option, kind 8, contain a 5 that is not an option kind.
    #[test]
    fn an_option_is_not_looked_for_within_others() {
        for none in [&[1, 1, 8, 10, 5, 5, 5, 5, 5, 5, 5, 5][..], &[8, 200], &[0, 5, 2, 0], &[5, 10]]
        {
            assert_eq!(sack_blocks(none), [None; 4]);
        }
    }

    #[test]
    fn datagrams_have_their_payload() {
        let udp = ip(FROM, TO, UDP, 0, &[0; 108]);
        let echo = ip(FROM, TO, 1, 0, &[0; 64]);

        assert_eq!(read(&udp).unwrap().content, Content::Datagram(100));
        assert_eq!(read(&echo).unwrap().content, Content::Datagram(64));
    }

    #[test]
    fn the_payload_is_behind_the_options() {
        let mut body = tcp((21, 40000), 7, 9, 0x18, &[1, 1, 1, 0], 0);
        body.extend(b"PASV");
        let packet = ip(FROM, TO, TCP, 0, &body);

        assert_eq!(payload(&packet), b"PASV");
        assert_eq!(payload(&packet[..30]), b"");
        assert_eq!(payload(&ip(FROM, TO, UDP, 0, &[0; 40])), b"");
        assert_eq!(payload(&[]), b"");
    }

    #[test]
    fn what_is_no_whole_packet_of_ipv4_is_refused() {
        let whole = ip(FROM, TO, TCP, 0, &tcp((1, 2), 0, 0, 2, &[], 0));
        assert!(read(&whole).is_some());

        for cut in 0..whole.len() {
            assert_eq!(read(&whole[..cut]), None, "{cut} bytes");
        }
        let mut version_6 = whole.clone();
        version_6[0] = 0x65;
        assert_eq!(read(&version_6), None);
        let mut long_header = whole;
        long_header[32] = 0xf0;
        assert_eq!(read(&long_header), None);
    }

    #[test]
    fn a_mark_keeps_the_checksum_right() {
        for service in [ECT_0, ECT_1 | 0xb8] {
            let mut packet = ip(FROM, TO, TCP, service, &[0; 20]);
            mark(&mut packet);
            assert_eq!(packet[1] & ECN, ECN);
            assert_eq!(header_sum(&packet), 0xffff);
        }
        let unable = ip(FROM, TO, TCP, 0, &[0; 20]);
        let mut same = unable.clone();
        mark(&mut same);
        assert_eq!(same, unable);
    }

    /// Changes, cuts or adds bytes in packets of real programs. Any input must be parsed or
    /// rejected. `AIRTCP_CASES` sets the number of cases.
    #[test]
    fn any_bytes_are_read_or_refused() {
        let cases = std::env::var("AIRTCP_CASES").map_or(20_000, |cases| cases.parse().unwrap());
        let mut draws = RandomStream::new(1, 0, "packets", "bytes");
        let (mut read_as_tcp, mut refused) = (0, 0);
        for _ in 0..cases {
            let options = [1, 1, 5, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 9];
            let options = &options[..4 * draws.up_to(5) as usize];
            let body = tcp((5201, 40_000), 7, 9, 0x18, options, draws.up_to(40) as usize);
            let mut packet = ip(FROM, TO, if draws.unit() < 0.8 { TCP } else { UDP }, ECT_0, &body);
            for _ in 0..draws.up_to(6) {
                let place = draws.up_to(packet.len() as u32 - 1) as usize;
                packet[place] = draws.up_to(255) as u8;
            }
            packet.resize(draws.up_to(2 * packet.len() as u32) as usize, 0xa5);
            if draws.unit() < 0.7 && packet.len() > 3 {
                let length = (packet.len() as u16).to_be_bytes();
                packet[2..4].copy_from_slice(&length);
            }
            match read(&packet) {
                Some(Headers { content: Content::Tcp(one), .. }) => {
                    assert_eq!(one.len as usize, payload(&packet).len());
                    read_as_tcp += 1;
                }
                Some(_) => assert!(payload(&packet).len() <= packet.len()),
                None => refused += 1,
            }
            let mut marked = packet.clone();
            mark(&mut marked);
            assert_eq!(marked.len(), packet.len());
            assert_eq!(read(&marked).is_some(), read(&packet).is_some());
        }
        assert!(read_as_tcp > cases / 10 && refused > cases / 10, "{read_as_tcp} {refused}");
    }
}
