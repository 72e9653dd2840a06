//! Fields of random floors compared with stored digests, from when each station was a separate
//! listener with its own state and events.
//!
//! A change that is meant to change results stores new digests, with its reason:
//! `AIRTCP_STORE_FIELDS=1 cargo test -p airtcp-wlan --lib unchanged`.

use airtcp_kernel::Duration;

use super::drawn::Drawn;

const FLOORS: u64 = 600;

#[test]
fn fields_are_what_they_were_when_each_station_was_a_listener() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/field/digests.txt");
    let mut lines = String::new();
    let mut attempts = 0;
    for seed in 0..FLOORS {
        let told = Drawn::new(seed).play(Duration::from_millis(150));
        attempts += told.attempts;
        lines += &format!("{seed} {} {} {:016x}\n", told.attempts, told.told, told.digest);
    }
    assert!(attempts > 100 * FLOORS, "so much is sent that a difference shows: {attempts}");
    if std::env::var_os("AIRTCP_STORE_FIELDS").is_some() {
        std::fs::write(path, &lines).expect("digests can be written");
    }
    let stored = std::fs::read_to_string(path).expect("digests are there");
    let moved: Vec<_> =
        stored.lines().zip(lines.lines()).filter(|(one, other)| one != other).collect();
    assert!(
        moved.is_empty(),
        "{} floors have moved, the first of them {:?}",
        moved.len(),
        &moved[..moved.len().min(12)]
    );
    assert_eq!(stored.lines().count(), lines.lines().count());
}
