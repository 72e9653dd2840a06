//! Tests of the bytes of frames.

use super::*;

const STATION: Address = [2, 0, 0, 0, 0, 1];
const AP: Address = [2, 0, 0, 0, 0, 0];
const SERVER: Address = [2, 1, 0, 0, 0, 9];

fn header() -> DataHeader {
    DataHeader {
        from_ap: true,
        retry: false,
        duration: 314,
        station: STATION,
        bssid: AP,
        distant: SERVER,
        sequence_number: 0x123,
        tid: None,
        contention_free: None,
    }
}

/// The check value of CRC-32/ISO-HDLC for "123456789" is CBF43926.
#[test]
fn the_fcs_is_the_crc_32() {
    let frame = Frame { head: b"123456789".to_vec(), zeros: 0 };
    assert_eq!(frame.fcs(), 0xcbf4_3926);

    let zeros = Frame { head: b"12".to_vec(), zeros: 3 };
    let written = Frame { head: b"12\0\0\0".to_vec(), zeros: 0 };
    assert_eq!(zeros.fcs(), written.fcs());
    assert_eq!(zeros.len(), 5);
}

#[test]
fn a_data_frame_has_24_octets_before_llc_and_with_qos_26() {
    let mut frame = Frame::default();
    frame.data(&header(), &[0x45], 7);

    assert_eq!(frame.head()[..4], [0x08, 0x02, 0x3a, 0x01]);
    assert_eq!(frame.head()[4..22], *[STATION, AP, SERVER].as_flattened());
    // The sequence number follows the four bits of the fragment number.
    assert_eq!(frame.head()[22..24], [0x30, 0x12]);
    assert_eq!(frame.head()[24..], [&LLC_SNAP_IPV4[..], &[0x45]].concat());
    assert_eq!((frame.zeros(), frame.len()), (7, 40));

    let uplink = DataHeader { from_ap: false, retry: true, tid: Some(6), ..header() };
    frame.data(&uplink, &[], 0);
    assert_eq!(frame.head()[..2], [0x88, 0x01 | 0x08]);
    assert_eq!(frame.head()[4..22], *[AP, STATION, SERVER].as_flattened());
    assert_eq!(frame.head()[24..26], [6, 0]);
    assert_eq!(frame.len(), 34);
}

/// A header of 26 octets, then subframes of 14 + 8 + 22 and of 14 + 8 + 1 octets: the second is
/// at 44.
#[test]
fn an_amsdu_has_its_packets_one_after_the_other() {
    let mut frame = Frame::default();
    let header = DataHeader { tid: Some(0), ..header() };
    frame.amsdu(&header, [(&[0x45][..], 20), (&[0x46][..], 0)].into_iter());

    assert_eq!(frame.head()[4..22], *[STATION, AP, AP].as_flattened());
    assert_eq!(frame.head()[24..26], [0x80, 0]);
    assert_eq!(frame.head()[26..38], *[STATION, SERVER].as_flattened());
    assert_eq!(frame.head()[38..40], [0, 29]);
    assert_eq!(frame.head()[40..49], [&LLC_SNAP_IPV4[..], &[0x45]].concat());
    assert_eq!(frame.head()[49..70], [0; 21]);
    assert_eq!(frame.head()[70..84], *[[STATION, SERVER].as_flattened(), &[0, 9]].concat());
    assert_eq!(frame.len(), 26 + 44 + 23);
}

#[test]
fn block_acks_have_32_octets_and_with_larger_bitmaps_more() {
    let mut frame = Frame::default();
    frame.block_ack_request(60, [AP, STATION], 5, 0x123);
    assert_eq!(frame.len() + FCS_BYTES, 24);
    assert_eq!(frame.head()[16..], [0x04, 0x50, 0x30, 0x12]);

    frame.block_ack([STATION, AP], 0, 0xfff, &[1; 8]);
    assert_eq!(frame.len() + FCS_BYTES, 32);
    assert_eq!(frame.head()[..4], [0x94, 0, 0, 0]);
    assert_eq!(frame.head()[16..20], [0x04, 0, 0xf0, 0xff]);
    frame.block_ack([STATION, AP], 0, 0, &[1; 32]);
    assert_eq!(frame.len() + FCS_BYTES, 56);
    assert_eq!(frame.head()[18..20], [0x04, 0]);
    for (octets, fragment) in [(64, 0x08), (128, 0x0a)] {
        frame.block_ack([STATION, AP], 0, 0, &vec![1; octets]);
        assert_eq!(frame.len() + FCS_BYTES, 24 + octets);
        assert_eq!(frame.head()[18..20], [fragment, 0]);
    }
    assert_eq!([64, 65, 257, 1024].map(bitmap_bits), [64, 256, 512, 1024]);
    frame.cf_end(AP, false);
    assert_eq!(frame.len() + FCS_BYTES, 20);
}

#[test]
fn beacons_have_the_length_that_is_asked_for_and_whole_elements() {
    let mut frame = Frame::default();
    for bytes in 42..1_000 {
        frame.beacon(AP, 7, 1_000, 100, None, bytes);

        assert_eq!(frame.len() + FCS_BYTES, bytes);
        let mut elements = &frame.head()[36..];
        while let [id, len, rest @ ..] = elements {
            assert!(*id == SSID || *len >= 3, "no organization in {bytes} bytes");
            elements = &rest[usize::from(*len)..];
        }
        assert!(elements.is_empty());
    }
    assert_eq!(frame.head()[..4], [0x80, 0, 0, 0]);
    assert_eq!(frame.head()[4..24], [&BROADCAST[..], &AP, &AP, &[0x70, 0]].concat());
}

/// In contention-free periods bit 4 of the first octet is CF-Ack, bit 5 CF-Poll, bit 6 no data (IEEE
/// 802.11-2016, Table 9-1).
#[test]
fn frames_of_contention_free_periods_have_subtypes_of_their_own() {
    let mut frame = Frame::default();
    for (acknowledges, polls, bits) in
        [(false, false, 0), (true, false, 0x10), (false, true, 0x20), (true, true, 0x30)]
    {
        let cf = Cf { acknowledges, polls };
        frame.data(&DataHeader { contention_free: Some(cf), ..header() }, &[], 0);
        assert_eq!(frame.head()[..4], [0x08 | bits, 0x02, 0, 0x80]);
        frame.without_data(true, STATION, AP, cf);
        assert_eq!(frame.head()[..4], [0x48 | bits, 0x02, 0, 0x80]);
        assert_eq!(frame.head()[4..22], *[STATION, AP, AP].as_flattened());
        assert_eq!(frame.len() + FCS_BYTES, 28);
        frame.without_data(false, STATION, AP, cf);
        assert_eq!(frame.head()[1], 0x01);
        assert_eq!(frame.head()[4..22], *[AP, STATION, AP].as_flattened());
    }
    frame.cf_end(AP, true);
    assert_eq!((frame.head()[0], frame.len() + FCS_BYTES), (0xf4, 20));
}

#[test]
fn beacons_tell_of_contention_free_periods() {
    let mut frame = Frame::default();
    let cf = CfParameters { count: 0, period: 2, max_duration: 0x1234, remaining: 0x1200 };
    for bytes in [50, 73, 77, 90, 400] {
        frame.beacon(AP, 7, 1_000, 100, Some(cf), bytes);

        assert_eq!(frame.len() + FCS_BYTES, bytes);
        assert_eq!(frame.head()[..4], [0x80, 0, 0, 0x80]);
        assert_eq!(frame.head()[34..36], [0x05, 0]);
        let after_ssid = 38 + usize::from(frame.head()[37]);
        let element = &frame.head()[after_ssid..after_ssid + 8];
        assert_eq!(element, [4, 6, 0, 2, 0x34, 0x12, 0x00, 0x12]);
    }
}

#[test]
fn control_frames_have_the_standards_lengths() {
    let mut frame = Frame::default();

    frame.rts(1, AP, STATION);
    assert_eq!(frame.len() + FCS_BYTES, 20);
    frame.cts(1, STATION);
    assert_eq!(frame.len() + FCS_BYTES, 14);
    frame.ack(STATION);
    assert_eq!(frame.len() + FCS_BYTES, 14);
    assert_eq!(frame.head(), [&[0xd4, 0, 0, 0][..], &STATION].concat());
}
