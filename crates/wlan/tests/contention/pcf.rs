//! Contention-free periods, frame by frame. 802.11b: SIFS 10 us, PIFS 30 us, DIFS 50 us. A beacon
//! of 73 bytes at 1 Mb/s lasts 192 + 584 = 776 us, a CF-End of 20 bytes 192 + 160 = 352 us. At 11
//! Mb/s a null frame has 28 bytes and lasts 192 + 21 = 213 us, a frame with 1000 bytes of data 946
//! us, with 100 bytes 192 + 99 = 291 us.

use airtcp_kernel::{Duration, RandomStream};
use airtcp_wlan::{
    AccessParameters, BeaconConfig, ContenderId, FrameErrors, MacConfig, Modulation, PcfConfig,
    PollOrder, Rate, StationId,
};

use crate::cell::{DIFS, SLOT, phy, standard};
use crate::script::{ACCESS_POINT, DATA, EXCHANGE, Script, Seen, exchange};

const SIFS: u64 = 10;
const PIFS: u64 = 30;
const BEACON: u64 = 776;
const CF_END: u64 = 352;
const EMPTY: u64 = 213;
const SHORT: u64 = 291;
/// The time between the starts of two periods.
const INTERVAL: u64 = 20_000;

/// A period every 20 ms that lasts at most `max_micros`, and no other beacons.
pub(crate) fn with_pcf(max_micros: u64) -> MacConfig {
    let interval = Duration::from_micros(INTERVAL);
    let rate = Rate { bps: 1_000_000, modulation: Modulation::Dsss };
    MacConfig {
        beacon: Some(BeaconConfig { interval, size_bits: 584, rate }),
        pcf: Some(PcfConfig {
            interval,
            max_duration: Duration::from_micros(max_micros),
            poll: PollOrder::RoundRobin,
        }),
        ..standard()
    }
}

/// The access point polls `to`, perhaps with a packet, and perhaps acknowledges the previous frame.
fn poll(to: StationId, packet: Option<u32>, acknowledges: bool, micros: u64) -> Seen {
    Seen::Cf { by: 0, to, packet, acknowledges, polls: true, micros }
}

/// Station `by` responds, perhaps with a packet, and perhaps acknowledges the packet of the poll.
fn answer(by: ContenderId, packet: Option<u32>, acknowledges: bool, micros: u64) -> Seen {
    Seen::Cf { by, to: ACCESS_POINT, packet, acknowledges, polls: false, micros }
}

fn beacon(number: u64) -> Seen {
    Seen::Beacon { number, collides: false }
}

fn end(began: u64, acknowledges: bool) -> Seen {
    Seen::CfEnd { by: 0, began, acknowledges, micros: CF_END }
}

/// The frames in sequence, a SIFS apart.
fn one_after_the_other(start: u64, frames: &[Seen]) -> Vec<(u64, Seen)> {
    let mut at = start;
    let begins = |&seen: &Seen| {
        let begin = at;
        let (Seen::Cf { micros, .. } | Seen::CfEnd { micros, .. }) = seen else {
            panic!("{seen:?} is no frame of a contention-free period")
        };
        at += micros + SIFS;
        (begin, seen)
    };
    frames.iter().map(begins).collect()
}

/// The frames that were sent, without their results.
fn frames(seen: &[(u64, Seen)]) -> Vec<(u64, Seen)> {
    let is_frame =
        |seen: &Seen| matches!(seen, Seen::Beacon { .. } | Seen::Cf { .. } | Seen::CfEnd { .. });
    seen.iter().filter(|(_, seen)| is_frame(seen)).copied().collect()
}

fn errors(
    of: StationId,
    nodes: usize,
    least_bytes: u64,
) -> Vec<Option<(FrameErrors, RandomStream)>> {
    let mut errors: Vec<_> = (0..nodes).map(|_| None).collect();
    let always = FrameErrors { rate: 1.0 - f64::EPSILON, of_bytes: None, least_bytes };
    errors[of as usize] = Some((always, RandomStream::new(1, 0, "sta/1", "frame errors")));
    errors
}

fn script_with_errors(
    stations: usize,
    errors: Vec<Option<(FrameErrors, RandomStream)>>,
    mac: &MacConfig,
) -> Script {
    let access = AccessParameters::dcf(&phy());
    let queues: Vec<_> = (0..=stations as StationId).map(|id| (id, access)).collect();
    Script::with_errors(&queues, errors, &phy(), mac)
}

/// No queue has a packet. Each station is polled once and responds with a null frame, and the
/// period ends. The next period begins with the first station again, because all have been polled
/// equally often.
#[test]
fn a_period_in_which_nobody_has_anything_ends_after_a_round() {
    let mut script = Script::new(2, &phy(), &with_pcf(8_000));
    for (number, began) in [(0, INTERVAL), (1, 2 * INTERVAL)] {
        let seen = script.seen_before(began + INTERVAL);

        let polls = [
            poll(1, None, false, EMPTY),
            answer(1, None, false, EMPTY),
            poll(2, None, false, EMPTY),
            answer(2, None, false, EMPTY),
            end(began, false),
        ];
        assert_eq!(seen[0], (began, beacon(number)));
        assert_eq!(seen[1..], one_after_the_other(began + BEACON + SIFS, &polls));
    }
    let counters = script.cell.cell_counters();
    assert_eq!((counters.contention_free_periods, counters.beacons), (2, 2));
    assert_eq!((counters.polls, counters.polls_without_data), (4, 4));
    script.laws_hold();
}

/// Data in both directions. All packets were queued while the beacon was on the air, so all
/// contenders have drawn a backoff. They do not need it; it becomes the post-backoff.
#[test]
fn each_frame_acknowledges_the_one_before() {
    let mut script = Script::new(2, &phy(), &with_pcf(8_000));
    script.queue(0, 1, 1_000, INTERVAL + 100);
    script.queue(0, 2, 1_000, INTERVAL + 100);
    script.queue(1, ACCESS_POINT, 1_000, INTERVAL + 100);
    let backoff = script.backoff(0, 31);

    let sent = [
        poll(1, Some(0), false, DATA),
        answer(1, Some(2), true, DATA),
        poll(2, Some(1), true, DATA),
        answer(2, None, true, EMPTY),
        // A new round without any data.
        poll(1, None, false, EMPTY),
        answer(1, None, false, EMPTY),
        poll(2, None, false, EMPTY),
        answer(2, None, false, EMPTY),
        end(INTERVAL, false),
    ];
    let begins = one_after_the_other(INTERVAL + BEACON + SIFS, &sent);
    let ends = |place: usize| begins[place + 1].0 - SIFS;
    let over = begins[8].0 + CF_END;
    let seen = script.seen_before(over);
    assert_eq!(seen[0], (INTERVAL, beacon(0)));
    assert_eq!(
        seen[1..],
        [
            begins[0],
            (ends(0), Seen::Received { by: 0, packet: 0 }),
            begins[1],
            (ends(1), Seen::Acknowledged { by: 0, packet: 0 }),
            (ends(1), Seen::Received { by: 1, packet: 2 }),
            begins[2],
            (ends(2), Seen::Acknowledged { by: 1, packet: 2 }),
            (ends(2), Seen::Received { by: 0, packet: 1 }),
            begins[3],
            (ends(3), Seen::Acknowledged { by: 0, packet: 1 }),
            begins[4],
            begins[5],
            begins[6],
            begins[7],
            begins[8],
        ]
    );
    // An empty queue gets a packet before its backoff is over.
    script.queue(0, 1, 1_000, over + 1);
    let access = over + DIFS + backoff;
    assert_eq!(script.seen_before(access + EXCHANGE + 1), exchange(access, 0, 3, 0));
    let counters = script.cell.cell_counters();
    assert_eq!((counters.polls, counters.polls_without_data), (4, 3));
    assert_eq!(counters.contention_free_successes, 3);
    // The beacon, two packets and the exchange count. Polls and responses without data do not.
    assert_eq!(script.cell.counters(0).attempts, 4);
    assert_eq!(script.cell.counters(2).attempts, 0);
    script.laws_hold();
}

/// An exchange on the air continues to its end, which shortens the period: it is over 4 ms after
/// the target time. One of two packets fits. The rest of the exchange (1.204 - 0.5 ms), PIFS, the
/// beacon, a packet and a null response last until 2.692 ms. Another packet would last until 3.881
/// ms, which leaves no time for the CF-End.
#[test]
fn a_busy_medium_shortens_the_period() {
    let mut script = Script::new(1, &phy(), &with_pcf(4_000));
    script.queue(1, ACCESS_POINT, 1_000, INTERVAL - 500);
    script.queue(0, 1, 1_000, INTERVAL + 100);
    script.queue(0, 1, 1_000, INTERVAL + 100);

    let idle = INTERVAL - 500 + EXCHANGE;
    let began = idle + PIFS;
    let sent = [
        poll(1, Some(1), false, DATA),
        answer(1, None, true, EMPTY),
        poll(1, None, false, EMPTY),
        answer(1, None, false, EMPTY),
        end(began, false),
    ];
    let mut all = vec![(began, beacon(0))];
    all.extend(one_after_the_other(began + BEACON + SIFS, &sent));
    let over = all[5].0 + CF_END;
    assert!(over <= INTERVAL + 4_000);
    assert_eq!(frames(&script.seen_before(over)), all);
    // The other packet is sent by contention.
    let access = over + DIFS + script.backoff(0, 31);
    let seen = script.seen_before(access + 1);
    assert_eq!(seen.last(), Some(&(access, Seen::Exchange { by: 0, packet: 2, failures: 0 })));
    script.laws_hold();
}

/// In 2 ms there is no time for the packet of a polled station, which takes
/// 0.776 + 0.01 + 0.213 + 0.01 + 0.946 + 0.03 + 0.352 ms, nor for a second poll. At the target time two slots of its backoff have
/// passed since the other station's exchange and DIFS.
#[test]
fn backoffs_stand_still() {
    let mut script = Script::new(2, &phy(), &with_pcf(2_000));
    let before = INTERVAL - EXCHANGE - DIFS - 2 * SLOT - 6;
    script.queue(2, ACCESS_POINT, 1_000, before);
    script.queue(1, ACCESS_POINT, 1_000, before + 100);
    let backoff = script.backoff(1, 31);
    assert!(backoff > 2 * SLOT, "another seed");

    let seen = script.seen_before(INTERVAL + 2_000);
    let sent = [poll(1, None, false, EMPTY), answer(1, None, false, EMPTY), end(INTERVAL, false)];
    let mut all = vec![(INTERVAL, beacon(0))];
    all.extend(one_after_the_other(INTERVAL + BEACON + SIFS, &sent));
    assert_eq!(frames(&seen), all);
    let access = all[3].0 + CF_END + DIFS + backoff - 2 * SLOT;
    let seen = script.seen_before(access + 1);
    assert_eq!(seen, [(access, Seen::Exchange { by: 1, packet: 1, failures: 0 })]);
    // The next period continues with the station that was not polled.
    let seen = script.seen_before(2 * INTERVAL + 2_000);
    assert!(seen.contains(&(2 * INTERVAL + BEACON + SIFS, poll(2, None, false, EMPTY))));
    script.laws_hold();
}

/// A station whose backoff ends at the target time sees the NAV, and sends DIFS after the CF-End.
#[test]
fn nobody_sends_at_the_target_time() {
    let mut script = Script::new(1, &phy(), &with_pcf(1_700));
    script.queue(1, ACCESS_POINT, 1_000, INTERVAL);

    let over = INTERVAL + BEACON + 3 * SIFS + 2 * EMPTY + CF_END;
    let backoff = script.backoff(1, 31);
    let seen = script.seen_before(over + DIFS + backoff + 1);
    assert!(!seen.iter().any(|(_, seen)| matches!(seen, Seen::Collision { .. })), "{seen:?}");
    let access = (over + DIFS + backoff, Seen::Exchange { by: 1, packet: 0, failures: 0 });
    assert_eq!(seen.last(), Some(&access));
}

/// The queue has three packets for the first of three stations. That station is polled with the
/// first packet. Before each further packet, a station is polled that has not been polled in this
/// round.
#[test]
fn a_queue_that_is_never_empty_lets_others_be_polled() {
    let mut script = Script::new(3, &phy(), &with_pcf(15_000));
    for _ in 0..3 {
        script.queue(0, 1, 1_000, INTERVAL + 100);
    }
    let seen = script.seen_before(INTERVAL + BEACON + 10 * EMPTY + 3 * DATA + 14 * SIFS);
    let receivers: Vec<_> = seen
        .iter()
        .filter_map(|&(_, seen)| match seen {
            Seen::Cf { to, packet, polls: true, .. } => Some((to, packet)),
            _ => None,
        })
        .collect();
    // When the third packet is due, all stations have been polled, so it begins a new round.
    let all =
        [(1, Some(0)), (2, None), (1, Some(1)), (3, None), (1, Some(2)), (2, None), (3, None)];
    assert_eq!(receivers, all);
}

/// A lost poll is followed by the next poll after a PIFS, and its packet is retransmitted at its
/// next turn. With a limit of 3 it is given up after three transmissions.
#[test]
fn a_lost_poll_is_not_answered() {
    let mac = MacConfig { short_retry_limit: 3, ..with_pcf(15_000) };
    let mut script = script_with_errors(2, errors(1, 3, 500), &mac);
    script.queue(0, 1, 1_000, INTERVAL + 100);
    let seen = script.seen_before(2 * INTERVAL);

    let mut at = INTERVAL + BEACON + SIFS;
    let mut all = vec![(INTERVAL, beacon(0))];
    for time in 0..3 {
        all.extend([
            (at, poll(1, Some(0), false, DATA)),
            (at + DATA, Seen::Lost { by: 0, packet: 0 }),
        ]);
        at += DATA + PIFS;
        if time == 2 {
            all.push((at - PIFS, Seen::GivenUp { by: 0, packet: 0 }));
        }
        all.push((at, poll(2, None, false, EMPTY)));
        all.push((at + EMPTY + SIFS, answer(2, None, false, EMPTY)));
        at += 2 * (EMPTY + SIFS);
    }
    // One poll in a row moved no data. The first station is polled too before the period ends.
    assert_eq!(seen[..all.len()], all);
    let rest = [poll(1, None, false, EMPTY), answer(1, None, false, EMPTY), end(INTERVAL, false)];
    assert!(seen[all.len()..].starts_with(&one_after_the_other(at, &rest)), "{seen:?}");
    assert_eq!(script.cell.counters(0).drops, 1);
    script.laws_hold();
}

/// The station's response is lost, and with it the acknowledgment of the 100 bytes that it
/// received. They are retransmitted, in the period and after it, but not delivered again.
#[test]
fn a_lost_acknowledgment_means_a_frame_twice() {
    let mut script = script_with_errors(1, errors(1, 2, 500), &with_pcf(3_500));
    script.queue(0, 1, 100, INTERVAL + 100);
    script.queue(1, ACCESS_POINT, 1_000, INTERVAL + 100);
    let seen = script.seen_before(INTERVAL + 3_500);

    let at = INTERVAL + BEACON + SIFS;
    let lost = at + SHORT + SIFS + DATA;
    let again = lost + PIFS;
    let empty =
        one_after_the_other(again, &[poll(1, Some(0), false, SHORT), answer(1, None, true, EMPTY)]);
    let known = empty[1].0 + EMPTY;
    assert_eq!(
        seen[..8],
        [
            (INTERVAL, beacon(0)),
            (at, poll(1, Some(0), false, SHORT)),
            (at + SHORT, Seen::Received { by: 0, packet: 0 }),
            (at + SHORT + SIFS, answer(1, Some(1), true, DATA)),
            (lost, Seen::Lost { by: 1, packet: 1 }),
            empty[0],
            // There is no time for the packet.
            empty[1],
            (known, Seen::Acknowledged { by: 0, packet: 0 }),
        ]
    );
    script.laws_hold();

    // A shorter period has no time for the second poll: the packet is retransmitted with
    // contention.
    let mut script = script_with_errors(1, errors(1, 2, 500), &with_pcf(2_600));
    script.queue(0, 1, 100, INTERVAL + 100);
    script.queue(1, ACCESS_POINT, 1_000, INTERVAL + 100);
    let seen = script.seen_before(2 * INTERVAL - 1);
    let of_packet = |seen: &&(u64, Seen)| {
        let (Seen::Received { packet, .. }
        | Seen::Exchange { packet, .. }
        | Seen::Acknowledged { packet, .. }) = seen.1
        else {
            return false;
        };
        packet == 0
    };
    let told: Vec<_> = seen.iter().filter(of_packet).map(|&(_, seen)| seen).collect();
    assert_eq!(
        told,
        [
            Seen::Received { by: 0, packet: 0 },
            Seen::Exchange { by: 0, packet: 0, failures: 1 },
            Seen::Acknowledged { by: 0, packet: 0 },
        ]
    );
    script.laws_hold();
}

/// Random traffic with errors. Periods end in time, no other station sends in them, every packet is
/// delivered at most once, and is acknowledged or given up exactly once.
#[test]
fn laws_hold_for_any_traffic() {
    let (max, stations) = (9_000, 3);
    for seed in 0..40 {
        let mut draws = RandomStream::new(seed, 0, "test", "traffic");
        let errors = (0..=stations)
            .map(|id: StationId| {
                let errors = FrameErrors { rate: 0.2, of_bytes: None, least_bytes: 0 };
                let stream = RandomStream::new(seed, 0, &format!("sta/{id}"), "frame errors");
                (id > 0).then_some((errors, stream))
            })
            .collect();
        let mut script = script_with_errors(stations as usize, errors, &with_pcf(max));
        let mut now = 0;
        let mut packets = 0;
        while now < 8 * INTERVAL {
            let by = draws.up_to(stations);
            let receiver =
                if by == ACCESS_POINT { 1 + draws.up_to(stations - 1) } else { ACCESS_POINT };
            script.queue(by, receiver, u64::from(40 + draws.up_to(1_460)), now);
            packets += 1;
            now += u64::from(draws.up_to(2_500));
        }
        let seen = script.seen_before(60 * INTERVAL);
        script.laws_hold();
        let count = |what: &dyn Fn(&Seen) -> Option<u32>| {
            let mut counts = vec![0; packets];
            seen.iter()
                .filter_map(|(_, seen)| what(seen))
                .for_each(|one| counts[one as usize] += 1);
            counts
        };
        let received = count(&|seen| match *seen {
            Seen::Received { packet, .. } => Some(packet),
            _ => None,
        });
        assert!(received.iter().all(|&times| times <= 1), "{received:?}");
        let done = count(&|seen| match *seen {
            Seen::Acknowledged { packet, .. } | Seen::GivenUp { packet, .. } => Some(packet),
            _ => None,
        });
        assert!(done.iter().all(|&times| times == 1), "seed {seed}: {done:?}");
        assert!(received.iter().sum::<u32>() as usize > packets * 9 / 10);
        let mut under_way = false;
        let mut idle_from = 0;
        for &(at, seen) in &seen {
            match seen {
                Seen::Beacon { .. } => {
                    assert!(at % INTERVAL < 3_000 && at >= idle_from, "{at}");
                    under_way = true;
                }
                Seen::Cf { micros, .. } => {
                    assert!(under_way && at >= idle_from + SIFS);
                    idle_from = at + micros;
                }
                Seen::CfEnd { began, micros, .. } => {
                    assert!(at + micros <= began / INTERVAL * INTERVAL + max, "{at}");
                    under_way = false;
                    idle_from = at + micros;
                }
                Seen::Exchange { .. } | Seen::Collision { .. } => {
                    assert!(!under_way && at >= idle_from + DIFS, "{at} {seen:?}");
                }
                _ => {}
            }
        }
        assert!(script.cell.cell_counters().contention_free_successes > 20);
    }
}
