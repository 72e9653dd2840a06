//! The access point is a role, not a number: with any number, the same happens at the same times.
//! The tests rotate the numbers of the stations, with the random numbers that each draws.

use airtcp_kernel::{Duration, RandomStream};
use airtcp_wlan::{AccessParameters, FrameErrors, MacConfig, StationId};

use crate::cell::{phy, standard, streams};
use crate::exchanges::with_beacon;
use crate::pcf::with_pcf;
use crate::script::{Script, Seen, edca};

/// The access point and its stations, with one queue each.
const NODES: usize = 5;

/// Plays random traffic with station `access_point` as the access point. Returns the events, with
/// the station numbers mapped to a cell whose access point is 0.
fn seen_with(access_point: StationId, mac: &MacConfig, txop_micros: u64) -> Vec<(u64, Seen)> {
    let count = NODES as StationId;
    let turned = |number: StationId| (number + access_point) % count;
    let number = |turned: StationId| (turned + count - access_point) % count;
    let txop_limit = Duration::from_micros(txop_micros);
    let access = AccessParameters { txop_limit, ..AccessParameters::dcf(&phy()) };
    let queues: Vec<_> = (0..count).map(|station| (station, access)).collect();
    let mut backoffs = streams(NODES);
    backoffs.rotate_right(access_point as usize);
    let errors = (0..count).map(|station| {
        let errors = FrameErrors { rate: 0.1, of_bytes: None, least_bytes: 0 };
        let entity = format!("sta/{}", number(station));
        let stream = RandomStream::new(2, 0, &entity, "frame errors");
        (station != access_point).then_some((errors, stream))
    });
    let draws = (backoffs, errors.collect());
    let mut script = Script::with_roles(access_point, &queues, draws, &phy(), mac);
    let mut traffic = RandomStream::new(4, 0, "test", "traffic");
    let mut now = 0;
    for _ in 0..200 {
        let by = traffic.up_to(count - 1);
        let to = if by == 0 { 1 + traffic.up_to(count - 2) } else { 0 };
        script.queue(turned(by), turned(to), u64::from(40 + traffic.up_to(1_460)), now);
        now += u64::from(traffic.up_to(2_500));
    }
    let mut seen = script.seen_before(now + 1_000_000);
    script.laws_hold();
    for (_, one) in &mut seen {
        let (Seen::Exchange { by, .. }
        | Seen::Collider { by, .. }
        | Seen::Cf { by, .. }
        | Seen::CfEnd { by, .. }
        | Seen::Lost { by, .. }
        | Seen::Received { by, .. }
        | Seen::Acknowledged { by, .. }
        | Seen::GivenUp { by, .. }) = one
        else {
            continue;
        };
        *by = number(*by);
        if let Seen::Cf { to, .. } = one {
            *to = number(*to);
        }
    }
    // Frames that collide are reported in the order of their senders' numbers.
    seen.sort_by_key(|(at, one)| (*at, format!("{one:?}")));
    seen
}

#[test]
fn the_access_point_may_be_any_station() {
    let with_rts = MacConfig { rts_threshold_bytes: Some(500), ..standard() };
    for (mac, txop_micros) in
        [(standard(), 0), (with_rts, 0), (with_beacon(10), 0), (edca(), 3_000)]
    {
        let expected = seen_with(0, &mac, txop_micros);
        let count =
            |which: fn(&Seen) -> bool| expected.iter().filter(|(_, one)| which(one)).count();
        assert!(count(|one| matches!(one, Seen::Acknowledged { .. })) > 150);
        assert!(count(|one| matches!(one, Seen::Collision { .. })) > 2);
        assert!(count(|one| matches!(one, Seen::Lost { .. })) > 10);
        for access_point in 1..NODES as StationId {
            assert_eq!(seen_with(access_point, &mac, txop_micros), expected);
        }
    }
}

/// Stations are polled in the order of their numbers. This order does not change if the access
/// point is the last station.
#[test]
fn the_access_point_that_polls_may_be_the_last_station() {
    let expected = seen_with(0, &with_pcf(9_000), 0);
    assert!(expected.iter().filter(|(_, one)| matches!(one, Seen::Cf { .. })).count() > 50);

    assert_eq!(seen_with(NODES as StationId - 1, &with_pcf(9_000), 0), expected);
}
