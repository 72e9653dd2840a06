//! A frame that is received instead of a weaker one that began before it, and how that one
//! interferes.

use airtcp_kernel::{Duration, Time};
use airtcp_wlan::testing::standard_mac;
use airtcp_wlan::{AccessParameters, Field, HeardBy, HearingConfig, StationId, WeakerBefore};

use super::bench::{Floor, Got, Saturated, phy};

/// Plays 20 s of two access points, each sending to its own station. Frames need 20 dB. Stations of
/// one cell hear those of the other with `between` dBm, and their own with -50 dBm.
fn play(between: f64, rule: WeakerBefore) -> Vec<Got> {
    let floor = Floor::of_cells(2, &[(0, 1)]);
    let hearing = floor.hearing_between(between);
    let phy = phy();
    let mut mac = standard_mac();
    mac.rules.weaker_before = rule;
    let access = AccessParameters::dcf(&phy);
    floor.play_on((&phy, &mac, access), (hearing, Some(20.0)), 1_472, 1, 20)
}

fn failed(got: &[Got], sender: StationId) -> f64 {
    got[sender as usize].failed
}

/// Both begin in one slot with p = .11 or so. With 15 dB between the wanted frame and the other,
/// both fail. If the earlier frame does not count (`Unnoticed`), the frame that began last is
/// received; it is either of the two.
#[test]
fn of_two_frames_of_one_slot_one_may_come_through() {
    let all = play(-65.0, WeakerBefore::Interferes);
    let one = play(-65.0, WeakerBefore::Unnoticed);

    for sender in 0..2 {
        let half = failed(&one, sender) / failed(&all, sender);
        // Fewer failures make windows smaller and collisions more frequent, so the ratio is a few
        // per cent above one half.
        assert!((0.45..0.6).contains(&half), "{half}");
    }
}

/// Creates an access point, and stations that it hears with these powers in dBm and that do not hear
/// each other. Their frames need 6 dB; they have 12,304 bits, 57 symbols of 216: 20 + 57 * 4 us.
fn hidden(powers: &[f64]) -> (Field<()>, Saturated) {
    let all = 1..=powers.len() as StationId;
    let floor = Floor {
        cells: vec![0; powers.len() + 1],
        receivers: std::iter::once(None).chain(all.clone().map(|_| Some(0))).collect(),
        links: all.clone().map(|one| (0, one)).collect(),
        names: (0..).take(powers.len() + 1).collect(),
    };
    let mut hearing =
        HearingConfig { noise_dbm: Some(-94.0), capture_db: Some(5.0), ..floor.hearing() };
    for (row, &power) in hearing.received_dbm[1..].iter_mut().zip(powers) {
        row[0] = Some(power);
    }
    let phy = phy();
    let rules = (&phy, &standard_mac(), AccessParameters::dcf(&phy));
    let mut supply = Saturated::new(floor.receivers.clone(), 1_472);
    supply.ready.clear();
    (floor.field(rules, (hearing, Some(6.0)), 1), supply)
}

fn at(micros: u64) -> Time {
    Time::ZERO + Duration::from_micros(micros)
}

/// The access point detects the first frame at 4 us. The second, 4.5 dB stronger, begins at 10 us:
/// too weak to capture the receiver (5 dB), but strong enough for its preamble (4 dB). The third, 10
/// dB stronger still, begins at 14 us and captures the receiver, just when the second would be
/// detected. The second began before and is not detected, so the third is: 10 dB less the 1.3 dB
/// that the first adds are enough.
#[test]
fn a_captured_receiver_detects_nothing_that_began_before() {
    let (mut field, mut supply) = hidden(&[-60.0, -55.5, -45.5]);
    for (station, start, end) in [(1, 1_000, 1_010), (2, 1_010, 1_014), (3, 1_014, 1_263)] {
        supply.ready.push(station);
        supply.run(&mut field, at(start), at(end));
    }

    assert_eq!(supply.received, [vec![], vec![], vec![], vec![at(1_014 + 248)]]);
}

/// The first frame is too weak to be detected (-82 dBm), and ends at 1,248 us. The second, 4.2 dB above
/// it and the noise, is detected at 1,014 us and disturbed until then.
#[test]
fn what_is_on_the_air_was_disturbed_until_the_other_ended() {
    let (mut field, mut supply) = hidden(&[-84.0, -79.4]);
    field.tell_frames();
    for (station, start, end) in [(1, 1_000, 1_010), (2, 1_010, 1_250)] {
        supply.ready.push(station);
        supply.run(&mut field, at(start), at(end));
    }
    assert_eq!(supply.heard, []);

    field.tell_frames_on_air(at(1_250), &mut supply);

    let ear = HeardBy { station: 0, bad_from: at(1_014), bad_until: at(1_248) };
    assert_eq!(supply.heard, [ear]);
}

/// No preamble is detected during a frame of equal power, so the rule has no effect.
#[test]
fn frames_of_equal_power_fail_together() {
    let all = play(-50.0, WeakerBefore::Interferes);
    let one = play(-50.0, WeakerBefore::Unnoticed);

    for sender in 0..2 {
        assert_eq!(failed(&one, sender).to_bits(), failed(&all, sender).to_bits());
    }
}
