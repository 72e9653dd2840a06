//! Tests of radiotap headers, byte by byte.

use airtcp_kernel::Duration;

use super::*;

fn rate(format: Format, mcs: u8, streams: u8, width: u16, guard: u64) -> Rate {
    let high = HighRate {
        format,
        mcs,
        spatial_streams: streams,
        channel_width_mhz: width,
        guard_interval: Duration::from_nanos(guard),
        preamble_time: Duration::from_micros(36),
    };
    Rate { bps: high.bps(), modulation: Modulation::High(high) }
}

fn with_ldpc(rate: Rate) -> Sending {
    Sending { ldpc: true, ..Sending::alone(rate) }
}

fn header(sending: &Sending) -> Vec<u8> {
    let mut record = vec![0xee; 3];
    let radio = Radio {
        megahertz: 5180,
        band: CHANNEL_5_GHZ,
        short_preamble: false,
        before_mpdu_ns: [0, 20_000],
    };
    radio.header(&mut record, 1_000_000, sending, true);
    record.split_off(3)
}

/// HT: 20 MHz (MCS 7), and 40 MHz with two streams (MCS 15). The channel is at offset 18, and
/// the MCS field follows it.
#[test]
fn ht_has_the_mcs_field() {
    let mut sending = with_ldpc(rate(Format::Ht, 7, 1, 20, 400));
    let found = header(&sending);
    assert_eq!(found[2..8], [25, 0, 0x0b, 0, 0x08, 0]);
    assert_eq!(found[22..], [0x7f, 0x14, 7]);

    sending = with_ldpc(rate(Format::Ht, 7, 2, 40, 800));
    sending.subframe = Some(Subframe { reference: 0x0102, is_last: true, is_alone: false });
    let found = header(&sending);
    assert_eq!(found[2..8], [36, 0, 0x0b, 0, 0x18, 0]);
    assert_eq!(found[22..], [0x7f, 0x11, 15, 0, 0, 0, 2, 1, 0, 0, 0x0c, 0, 0, 0]);
}

#[test]
fn vht_and_he_say_who_is_alone() {
    let subframe = Some(Subframe { reference: 9, is_last: true, is_alone: true });
    let vht = Sending { subframe, ..with_ldpc(rate(Format::Vht, 9, 2, 80, 400)) };
    let found = header(&vht);
    assert_eq!(found[2..8], [44, 0, 0x0b, 0, 0x30, 0]);
    assert_eq!(found[24..32], [9, 0, 0, 0, 0xcc, 0, 0, 0]);
    assert_eq!(found[32..], [0x45, 0, 0x04, 4, 0x92, 0, 0, 0, 1, 0, 0, 0]);

    let rate = rate(Format::He, 11, 1, 160, 1_600);
    let found = header(&Sending { rate, is_uplink: true, ldpc: true, subframe, unit: None });
    assert_eq!(found[2..8], [44, 0, 0x0b, 0, 0x90, 0]);
    assert_eq!(found[32..], [0xf0, 0x42, 2, 0, 0x80, 0x2b, 0, 0, 0x13, 0, 1, 0]);
}

/// HE MU (format 2) to station 5 in the third unit of 52 tones (size 5) of 40 MHz: both content
/// channels have one 20 MHz each, with four such units (112). A trigger-based PPDU (format 3)
/// has no HE-MU field.
#[test]
fn a_user_has_its_resource_unit() {
    let place = ResourceUnit { tones: 52, place: 2, preamble: Duration::from_micros(48) };
    let mut sending = with_ldpc(rate(Format::He, 11, 1, 40, 800));
    sending.unit = Some(Unit::of_several(place, 5));
    let found = header(&sending);
    assert_eq!(found[2..8], [46, 0, 0x0b, 0, 0x80, 1]);
    assert_eq!(found[8..16], 1_048_u64.to_le_bytes());
    assert_eq!(found[22..34], [0xf2, 0x4a, 2, 0x42, 0, 0x2b, 0x50, 0, 5, 0, 1, 0]);
    assert_eq!(found[34..], [0, 3, 5, 0, 112, 0, 0, 0, 112, 0, 0, 0]);

    (sending.unit, sending.is_uplink) = (Some(Unit::triggered(place)), true);
    let found = header(&sending);
    assert_eq!(found[2..8], [34, 0, 0x0b, 0, 0x80, 0]);
    assert_eq!(found[22..], [0xf3, 0x42, 2, 0x42, 0x80, 0x2b, 0, 0, 5, 0, 1, 0]);
}

/// U-SIG of 12 octets: bandwidth 4 from bit 15 on, uplink at bit 18. EHT of 44: guard interval 1
/// from bit 7 of the first word of data on; of the user MCS 13 from bit 20 on, one stream less
/// than two from bit 24 on, LDPC at bit 19.
#[test]
fn eht_comes_with_types_and_lengths() {
    let subframe = Some(Subframe { reference: 9, is_last: true, is_alone: true });
    let rate = rate(Format::Eht, 13, 2, 320, 1_600);
    let found = header(&Sending { rate, is_uplink: true, ldpc: true, subframe, unit: None });

    assert_eq!(found[2..8], [96, 0, 0x0b, 0, 0x10, 0x10]);
    assert_eq!(found[32..48], [33, 0, 12, 0, 0x07, 0, 0x06, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(found[48..60], [34, 0, 44, 0, 4, 0, 0, 0, 0x80, 0, 0, 0]);
    assert_eq!(found[92..], [0x96, 0, 0xd8, 1]);
}

/// An EHT PPDU to station 5 (STA-ID from bit 8 of the user on) in the third unit of 52 tones
/// (size 1, index from bit 5 on): its type, 0, is known.
#[test]
fn a_user_of_eht_has_its_resource_unit() {
    let place = ResourceUnit { tones: 52, place: 2, preamble: Duration::from_micros(48) };
    let mut sending = with_ldpc(rate(Format::Eht, 11, 1, 40, 800));
    sending.unit = Some(Unit::of_several(place, 5));
    let found = header(&sending);

    assert_eq!(found[24..40], [33, 0, 12, 0, 7, 0x80, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0]);
    assert_eq!(found[40..56], [34, 0, 44, 0, 4, 0, 0xc0, 0, 0, 0, 0, 0, 0x41, 0, 0, 0]);
    assert_eq!(found[84..], [0x97, 5, 0xb8, 0]);
}
