//! Compares CoDel with a plain transcription of the pseudo-code of RFC 8289, section 5, and with
//! values computed by hand.

use std::collections::VecDeque;

use airtcp_kernel::{Duration, RandomStream, Time};

use crate::Packet;
use crate::queues::codel::{CodelConfig, ControlLaw};
use crate::queues::{DisciplineConfig, Queue, QueueConfig, Served};
use crate::testing::Body;

const TARGET_MS: u64 = 5;
const INTERVAL_MS: u64 = 100;

fn config(limit: Option<usize>, ecn: bool) -> QueueConfig {
    let codel = CodelConfig {
        target: Duration::from_millis(TARGET_MS),
        interval: Duration::from_millis(INTERVAL_MS),
        ecn,
        control_law: ControlLaw::SquareRoot,
    };
    QueueConfig { discipline: DisciplineConfig::Codel { codel }, ..QueueConfig::fifo(limit) }
}

fn queue(limit: Option<usize>, ecn: bool) -> Queue<Body> {
    Queue::new(&config(limit, ecn), Served::default(), || {
        RandomStream::new(1, 0, "ap", "early detection")
    })
}

fn data(bits: u64, flow: u32) -> Packet<Body> {
    let body = Body::Data { knows_ecn: true, is_marked: false };
    Packet { bits, arrived: Time::ZERO, flow, to: 1, body }
}

fn at(micros: u64) -> Time {
    Time::ZERO + Duration::from_micros(micros)
}

/// The queue of RFC 8289, section 5, transcribed: packets one by one, times in whole nanoseconds.
#[derive(Default)]
struct Reference {
    packets: VecDeque<(f64, u64, u32)>,
    first_above_time: f64,
    drop_next: f64,
    count: u32,
    last_count: u32,
    dropping: bool,
    dropped: Vec<u32>,
}

struct Dequeued {
    packet: Option<(f64, u64, u32)>,
    ok_to_drop: bool,
}

impl Reference {
    fn control_law(t: f64, count: u32) -> f64 {
        t + (INTERVAL_MS as f64 * 1e6 / f64::from(count).sqrt()).floor()
    }

    fn dodequeue(&mut self, now: f64) -> Dequeued {
        let mut r = Dequeued { packet: self.packets.pop_front(), ok_to_drop: false };
        if let Some((tstamp, _, _)) = r.packet {
            let sojourn_time = now - tstamp;
            let bytes: u64 = self.packets.iter().map(|packet| packet.1 / 8).sum();
            if sojourn_time < TARGET_MS as f64 * 1e6 || bytes <= 1500 {
                self.first_above_time = 0.0;
            } else if self.first_above_time == 0.0 {
                self.first_above_time = now + INTERVAL_MS as f64 * 1e6;
            } else if now >= self.first_above_time {
                r.ok_to_drop = true;
            }
        } else {
            self.first_above_time = 0.0;
        }
        r
    }

    fn deque(&mut self, now: f64) -> Option<u32> {
        let mut r = self.dodequeue(now);
        if self.dropping {
            if !r.ok_to_drop {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                self.dropped.push(r.packet.unwrap().2);
                self.count += 1;
                r = self.dodequeue(now);
                if r.ok_to_drop {
                    self.drop_next = Self::control_law(self.drop_next, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if r.ok_to_drop {
            self.dropped.push(r.packet.unwrap().2);
            r = self.dodequeue(now);
            self.dropping = true;
            let delta = self.count.wrapping_sub(self.last_count);
            self.count = 1;
            if delta > 1 && now - self.drop_next < 16.0 * INTERVAL_MS as f64 * 1e6 {
                self.count = delta;
            }
            self.drop_next = Self::control_law(now, self.count);
            self.last_count = self.count;
        }
        r.packet.map(|packet| packet.2)
    }
}

/// Random arrivals and departures for 20 s, alternating between overload and underload every few
/// hundred milliseconds. Both queues send and drop the same packets at the same times.
#[test]
fn drops_are_those_of_the_pseudo_code() {
    let mut all = 0;
    for seed in 0..8 {
        let mut random = RandomStream::new(seed, 0, "codel", "test");
        let mut ours = queue(None, false);
        let mut reference = Reference::default();
        let (mut now, mut load, mut until) = (0, 1, 0);
        let mut drops = Vec::new();
        for id in 0..20_000 {
            now += u64::from(random.up_to(2_000));
            if now > until {
                until = now + 100_000 + u64::from(random.up_to(1_500_000));
                load = random.up_to(3);
            }
            let bits = 8 * (40 + u64::from(random.up_to(1_460)));
            if random.up_to(9) < 4 + load {
                ours.enqueue(at(now), data(bits, id), &mut drops);
                reference.packets.push_back((now as f64 * 1e3, bits, id));
            } else {
                let packet = ours.next(None, at(now), |_| true, &mut drops);
                let expected = reference.deque(now as f64 * 1e3);
                assert_eq!(packet.map(|one| one.flow), expected, "at {now} us, seed {seed}");
                if let Some(packet) = packet {
                    ours.done(at(now), &packet, &mut drops);
                }
                let flows: Vec<u32> = drops.iter().map(|one| one.flow).collect();
                assert_eq!(flows, reference.dropped, "at {now} us, seed {seed}");
            }
        }
        assert_eq!(ours.len(), reference.packets.len());
        all += drops.len();
    }
    assert!(all > 500, "only {all} drops were compared");
}

/// A standing queue: one packet leaves each millisecond, 20 ms after its arrival. The first drop
/// comes 100 ms after the first packet above target, at 120 ms. The next follows after 100 /
/// 1^(1/2) ms, then 100 / 2^(1/2) = 70.7, 100 / 3^(1/2) = 57.7, 50, 44.7 and 40.8 ms: at 290.7,
/// 348.4, 398.4, 443.2 and 484.0 ms, each at the next departure.
#[test]
fn a_standing_queue_loses_packets_ever_more_often() {
    let mut queue = queue(None, false);
    let mut times = Vec::new();
    for millis in 0..500 {
        let now = at(1_000 * millis);
        let mut drops = Vec::new();
        // A drop shortens the queue; refill it to keep the delay constant.
        while queue.len() < 21 {
            let mut packet = data(12_000, millis as u32);
            packet.arrived = now;
            queue.enqueue(now, packet, &mut drops);
        }
        if millis >= 20 {
            let packet = queue.next(None, now, |_| true, &mut drops).unwrap();
            queue.done(now, &packet, &mut drops);
        }
        times.extend(drops.iter().map(|_| millis));
    }

    assert_eq!(times, [120, 220, 291, 349, 399, 444, 484]);
}

/// ECN-capable packets are marked, and kept, where the test above drops them.
#[test]
fn packets_of_who_knows_ecn_are_marked_instead() {
    let mut queue = queue(None, true);
    let mut marked = Vec::new();
    for millis in 0..500 {
        let now = at(1_000 * millis);
        let mut drops = Vec::new();
        while queue.len() < 21 {
            queue.enqueue(now, data(12_000, millis as u32), &mut drops);
        }
        if millis >= 20 {
            let packet = queue.next(None, now, |_| true, &mut drops).unwrap();
            queue.done(now, &packet, &mut drops);
            if let Body::Data { is_marked: true, .. } = packet.body {
                marked.push(millis);
            }
        }
        assert!(drops.is_empty());
    }

    assert_eq!(marked, [120, 220, 291, 349, 399, 444, 484]);
}

#[test]
fn a_full_queue_drops_what_arrives_and_the_last_packet_is_never_dropped() {
    let mut queue = queue(Some(2), false);
    let mut drops = Vec::new();
    for id in 0..3 {
        queue.enqueue(at(0), data(12_000, id), &mut drops);
    }
    assert_eq!(drops.iter().map(|one| one.flow).collect::<Vec<_>>(), [2]);
    drops.clear();

    let late: Vec<_> = (0..2)
        .map(|n| {
            let now = at(10_000_000 * (n + 1));
            let packet = queue.next(None, now, |_| true, &mut drops).unwrap();
            queue.done(now, &packet, &mut drops);
            packet.flow
        })
        .collect();

    assert_eq!(late, [0, 1]);
    assert!(drops.is_empty());
    assert!(queue.is_empty());
}
