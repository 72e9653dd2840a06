//! Classes of stations that do not sense the same transmissions: each has an idle time of its own, on
//! which it counts its slots. Knows contention alone: the script says which class senses what.

use airtcp_wlan::{Access, AudibilityClass};

use crate::cell::{Cell, DIFS, SLOT, at, standard};

/// The classes of stations 0 and 1, and of 2 and 3.
const FIRST: AudibilityClass = 0;
const SECOND: AudibilityClass = 1;

/// Makes stations 0 and 1, which sense each other, and 2 and 3, which sense each other.
fn two_classes() -> Cell {
    Cell::with_classes(&[FIRST, FIRST, SECOND, SECOND], &standard())
}

/// Gives `station` a frame while the medium of its class, which is idle again at `idle`, is busy, and
/// returns the slots that it draws.
fn backs_off(cell: &mut Cell, class: AudibilityClass, station: u32, idle: u64) -> u64 {
    assert_eq!(cell.contention.medium_busy(class, at(idle - 200)), None);
    cell.queue(station, idle - 100);
    cell.contention.medium_idle(class, at(idle));
    let slots = cell.backoff(station, 31);
    assert!(slots > 2, "a seed with a backoff");
    slots
}

/// Station 0 sends from 1000 to 2000 and station 2 from 1200 to 2500: neither senses the other, and
/// those who wait count from the end of what they have sensed.
#[test]
fn classes_count_slots_on_their_own_idle_time() {
    let mut cell = two_classes();
    cell.queue(0, 1_000);
    assert_eq!(cell.begin(), (1_000, vec![0]));
    cell.queue(1, 1_100);

    // The other class finds the medium idle.
    cell.queue(2, 1_200);
    assert_eq!(cell.begin(), (1_200, vec![2]));
    cell.queue(3, 1_300);
    assert_eq!(cell.next(), None);
    cell.end_success(0, 2_000, false);
    let first = 2_000 + DIFS + SLOT * cell.backoff(1, 31);
    assert_eq!(cell.next(), Some(first));
    cell.end_success(2, 2_500, false);

    let second = 2_500 + DIFS + SLOT * cell.backoff(3, 31);
    let mut expected = [(first, vec![1]), (second, vec![3])];
    expected.sort();
    assert_eq!([cell.begin(), cell.begin()], expected);
}

/// The second class senses a transmission from within its slot 2 on, for 1000 us: its slots go on after
/// DIFS, and the other class has its access as if nothing had been.
#[test]
fn a_busy_medium_freezes_the_slots_of_its_own_class_alone() {
    let mut cell = two_classes();
    let first = 1_000 + DIFS + SLOT * backs_off(&mut cell, FIRST, 0, 1_000);
    let slots = backs_off(&mut cell, SECOND, 2, 1_000);
    let busy = 1_000 + DIFS + 2 * SLOT + 5;
    assert!(busy < first);

    assert_eq!(cell.contention.medium_busy(SECOND, at(busy)), None);
    assert_eq!(cell.next(), Some(first));
    cell.contention.medium_idle(SECOND, at(busy + 1_000));

    let second = busy + 1_000 + DIFS + SLOT * (slots - 2);
    let mut expected = [(first, vec![0]), (second, vec![2])];
    expected.sort();
    assert_eq!([cell.begin(), cell.begin()], expected);
}

/// Station 2 cannot sense a transmission of the other class that begins when its own does.
#[test]
fn a_backoff_that_ends_as_another_class_begins_is_not_frozen() {
    let mut cell = two_classes();
    let slots = backs_off(&mut cell, SECOND, 2, 1_000);
    let start = 1_000 + DIFS + SLOT * slots;
    cell.queue(0, start);
    // Both have an access at this instant; the first class comes first.
    assert_eq!(cell.begin(), (start, vec![0]));

    assert_eq!(cell.contention.medium_busy(SECOND, at(start)), Some(Access::Alone(2)));

    assert_eq!(cell.next(), None);
}
