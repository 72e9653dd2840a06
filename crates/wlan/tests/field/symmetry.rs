//! Fields that differ only in what must not matter: additional cells that are not heard, and the
//! numbers of cells.

use airtcp_wlan::StationId;

use super::bench::{Floor, mac, phy};

/// Appends a cell of an access point and a station that sends to it, which no other station hears.
fn with_an_inaudible_cell(floor: &Floor) -> Floor {
    let access_points = floor.cells.iter().max().unwrap() + 1;
    // The new access point follows the others, and its station is the last.
    let moved = |one: StationId| if one < access_points { one } else { one + 1 };
    let last = floor.cells.len() as StationId + 1;
    let behind = |all: &[u32], new: [u32; 2]| {
        let (before, after) = all.split_at(access_points as usize);
        [before, &new[..1], after, &new[1..]].concat()
    };
    let mut receivers: Vec<_> = floor.receivers.iter().map(|to| to.map(moved)).collect();
    receivers.insert(access_points as usize, None);
    receivers.push(Some(access_points));
    let links = floor.links.iter().map(|&(one, other)| (moved(one), moved(other)));
    Floor {
        cells: behind(&floor.cells, [access_points; 2]),
        receivers,
        links: links.chain([(access_points, last)]).collect(),
        names: behind(&floor.names, [1_000, 1_001]),
    }
}

/// All frames are received at the same instants, to the nanosecond.
#[test]
fn an_inaudible_cell_changes_nothing() {
    let chain = Floor::of_cells(3, &[(0, 1), (1, 2)]);
    for floor in [Floor::all_hear_all(5), Floor::hidden_pair(), Floor::exposed_uploads(), chain] {
        for rts in [false, true] {
            let access_points = floor.cells.iter().max().unwrap() + 1;
            let alone = floor.play((&phy(), &mac(rts)), 1_472, 1, 5);
            let both = with_an_inaudible_cell(&floor).play((&phy(), &mac(rts)), 1_472, 1, 5);
            assert!(alone.iter().any(|one| one.seen.len() > 1_000));
            assert!(both.last().unwrap().seen.len() > 10_000);
            for (station, one) in alone.iter().enumerate() {
                let moved = station + usize::from(station as u32 >= access_points);
                assert_eq!(one.seen, both[moved].seen, "{station} {rts}");
                assert_eq!(one.failed, both[moved].failed);
            }
        }
    }
}

/// A chain of three cells mirrored: each cell gets the same results frame by frame. Cell numbers do
/// not decide anything when frames begin at one instant.
#[test]
fn a_chain_is_what_it_is_from_the_other_end() {
    let chain = || Floor::of_cells(3, &[(0, 1), (1, 2)]);
    let mut mirrored = chain();
    mirrored.names = vec![2, 1, 0, 5, 4, 3];
    for rts in [false, true] {
        let one = chain().play((&phy(), &mac(rts)), 1_472, 1, 10);
        let other = mirrored.play((&phy(), &mac(rts)), 1_472, 1, 10);
        for (place, from) in [(0, 2), (1, 1), (2, 0)] {
            assert!(one[place].seen.len() > 500);
            assert_eq!(one[place].seen, other[from].seen, "cell {place}, {rts}");
        }
    }
}
