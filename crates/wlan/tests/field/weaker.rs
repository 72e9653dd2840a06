//! A frame that is received instead of a weaker one that began before it, and how that one
//! interferes.

use airtcp_wlan::testing::standard_mac;
use airtcp_wlan::{AccessParameters, StationId, WeakerBefore};

use super::bench::{Floor, Got, phy};

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

/// No preamble is detected during a frame of equal power, so the rule has no effect.
#[test]
fn frames_of_equal_power_fail_together() {
    let all = play(-50.0, WeakerBefore::Interferes);
    let one = play(-50.0, WeakerBefore::Unnoticed);

    for sender in 0..2 {
        assert_eq!(failed(&one, sender).to_bits(), failed(&all, sender).to_bits());
    }
}
