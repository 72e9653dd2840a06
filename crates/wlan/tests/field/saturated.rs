//! Saturated cells compared with ns-3 3.44 (`MatrixPropagationLossModel`, 802.11a, 1472 bytes of
//! UDP, 12 batches), and a complete graph compared with [`airtcp_wlan::Cell`].

use std::collections::BTreeMap;

use airtcp_kernel::Time;
use airtcp_wlan::{
    AccessParameters, AfterCollision, Cell, ContenderConfig, ContenderId, MacConfig, MediumConfig,
    StationId,
};

use super::bench::{Floor, Got, Saturated, backoffs, mac, phy, seconds};

/// For each sender: the goodput in Mb/s with the half width of its 95 % interval, and the share of
/// failed attempts with its half width.
type Row = (&'static str, Floor, bool, u64, Vec<[f64; 4]>);

fn rows() -> Vec<Row> {
    let cells = Floor::of_cells;
    let chain = |cells: u32| -> Vec<(u32, u32)> { (1..cells).map(|one| (one - 1, one)).collect() };
    let of = |sends: &[[f64; 4]]| sends.to_vec();
    vec![
        ("one", cells(1, &[]), false, 1_472, of(&[[29.891, 0.055, 0.0, 0.0]])),
        (
            "pair",
            cells(2, &chain(2)),
            false,
            1_472,
            of(&[[15.065, 0.269, 0.1106, 0.0063], [15.156, 0.27, 0.1101, 0.0064]]),
        ),
        (
            "chain of three",
            cells(3, &chain(3)),
            false,
            1_472,
            of(&[
                [27.586, 0.152, 0.0129, 0.0015],
                [2.0045, 0.153, 0.2446, 0.0172],
                [27.617, 0.132, 0.0118, 0.0017],
            ]),
        ),
        (
            "ring of four",
            cells(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]),
            false,
            1_472,
            of(&[
                [14.568, 0.578, 0.0361, 0.0045],
                [14.449, 0.536, 0.0385, 0.0025],
                [14.53, 0.572, 0.0395, 0.0032],
                [14.503, 0.544, 0.037, 0.0039],
            ]),
        ),
        (
            "chain of four",
            cells(4, &chain(4)),
            false,
            1_472,
            of(&[
                [20.146, 0.233, 0.06, 0.004],
                [9.7545, 0.243, 0.1292, 0.0071],
                [9.5438, 0.333, 0.1328, 0.0096],
                [20.324, 0.343, 0.0597, 0.0051],
            ]),
        ),
        (
            "chain of five",
            cells(5, &chain(5)),
            false,
            1_472,
            of(&[
                [25.961, 0.29, 0.021, 0.0017],
                [3.6388, 0.338, 0.1989, 0.0187],
                [23.54, 0.378, 0.029, 0.0024],
                [3.7408, 0.227, 0.1869, 0.0141],
                [25.907, 0.204, 0.0212, 0.0013],
            ]),
        ),
        (
            "pair with RTS",
            cells(2, &chain(2)),
            true,
            1_472,
            of(&[[12.815, 0.292, 0.1079, 0.0116], [12.587, 0.228, 0.1094, 0.0095]]),
        ),
        // The stations of a hidden pair lead alternately, so each is compared with the mean of
        // both.
        (
            "hidden pair",
            Floor::hidden_pair(),
            false,
            1_472,
            of(&[[11.751, 0.51, 0.2875, 0.0132]; 2]),
        ),
        (
            "hidden pair with RTS",
            Floor::hidden_pair(),
            true,
            1_472,
            of(&[[11.721, 1.5, 0.1759, 0.0272]; 2]),
        ),
        (
            "hidden pair, 500 bytes",
            Floor::hidden_pair(),
            false,
            500,
            of(&[[7.07, 0.56, 0.1756, 0.0143]; 2]),
        ),
        (
            "access points alone hear each other, uploads",
            Floor::exposed_uploads(),
            false,
            1_472,
            of(&[[15.49, 0.52, 0.2151, 0.0131]; 2]),
        ),
        (
            "access points alone hear each other, a chain of three",
            Floor::exposed_chain(),
            false,
            1_472,
            of(&[
                [22.788, 0.398, 0.0218, 0.0027],
                [8.8379, 0.4, 0.0073, 0.0032],
                [22.872, 0.339, 0.0182, 0.0029],
            ]),
        ),
    ]
}

/// Goodputs match ns-3 within 3 % or within their intervals; shares of failed attempts within 0.02.
#[test]
fn senders_that_are_never_idle_get_what_ns_3_gives_them() {
    for (name, floor, rts, bytes, expected) in rows() {
        let got = floor.play((&phy(), &mac(rts)), bytes, 1, 60);
        let senders = got.iter().zip(&floor.receivers).filter(|(_, to)| to.is_some());
        for ((got, _), [goodput, half_width, failed, _]) in senders.zip(expected) {
            let [goodput, half_width] = [goodput, half_width].map(|mbps| 1e6 * mbps);
            let bound = half_width.max(0.03 * goodput);
            assert!((got.goodput - goodput).abs() < bound, "{name}: {got:?}, {goodput}");
            assert!((got.failed - failed).abs() < 0.02, "{name}: {got:?}, {failed}");
        }
    }
}

/// Plays `stations` that send to an access point in a [`Cell`]; all hear each other.
fn play_cell(stations: u32, mac: &MacConfig, seed: u64, played: u64) -> Vec<Got> {
    let phy = phy();
    let contender = |station: StationId| ContenderConfig {
        station,
        access: AccessParameters::dcf(&phy),
        backoffs: backoffs(seed, station),
        bursts: None,
    };
    let mut cell = Cell::new(MediumConfig {
        phy: &phy,
        mac: mac.clone(),
        cells: vec![0; stations as usize + 1],
        rates: vec![(phy.data_rate, phy.control_rate)],
        pairs: BTreeMap::new(),
        rate_classes: vec![0; stations as usize + 1],
        errors: Vec::new(),
        rate_controls: Vec::new(),
        contenders: (0..=stations).map(contender).collect(),
    });
    let receivers = (0..=stations).map(|one| (one > 0).then_some(0)).collect();
    let mut supply = Saturated::new(receivers, 1_472);
    cell.frames_ready(Time::ZERO, &mut supply);
    while cell.next_time() < seconds(played) {
        cell.advance(cell.next_time(), &mut supply);
    }
    (0..=stations as ContenderId)
        .map(|id| Got::new(cell.counters(id), &supply, id, 1_472, played))
        .collect()
}

/// In a complete graph, stations that begin together receive nothing, so all wait DIFS after a
/// collision; [`Cell`] has this rule, too. In distribution both media are equal: goodput within 1
/// %, collisions within 0.003 (half widths of 100 s are a third of that).
#[test]
fn where_all_hear_all_a_field_is_a_cell() {
    for stations in [1, 2, 3, 5, 10, 20] {
        for rts in [false, true] {
            let mut mac = mac(rts);
            mac.rules.after_collision = AfterCollision::Difs;
            let floor = Floor::all_hear_all(stations);
            let sums = |got: Vec<Got>| {
                let goodput: f64 = got.iter().map(|one| one.goodput).sum();
                let failed: f64 = got.iter().map(|one| one.failed).sum();
                (goodput, failed / f64::from(stations))
            };
            let field = sums(floor.play((&phy(), &mac), 1_472, 1, 100));
            let cell = sums(play_cell(stations, &mac, 2, 100));
            let case = (stations, rts, field, cell);
            assert!((field.0 / cell.0 - 1.0).abs() < 0.01, "{case:?}");
            assert!((field.1 - cell.1).abs() < 0.003, "{case:?}");
        }
    }
}

/// With the same backoffs, and a detection time shorter than a slot, both send the same frames at
/// the same instants, including collisions and retries.
#[test]
fn where_all_hear_all_a_field_sends_what_a_cell_sends() {
    for stations in [1, 2, 5, 20] {
        for rts in [false, true] {
            let mut mac = mac(rts);
            mac.rules.after_collision = AfterCollision::Difs;
            let floor = Floor::all_hear_all(stations);
            let field = floor.play((&phy(), &mac), 1_472, 3, 5);
            let cell = play_cell(stations, &mac, 3, 5);
            assert!(cell[1].seen.len() > 100);
            for (field, cell) in field.iter().zip(&cell) {
                let first = field.seen.iter().zip(&cell.seen).find(|(one, other)| one != other);
                assert_eq!(first, None, "{stations} {rts}");
                assert_eq!(field.seen.len(), cell.seen.len());
            }
        }
    }
}
