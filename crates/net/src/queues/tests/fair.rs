//! FQ-CoDel: round robin by bytes, priority of new flows, and which flow loses packets on overflow.

use airtcp_kernel::{Duration, RandomStream, Time};

use crate::Packet;
use crate::queues::codel::{CodelConfig, ControlLaw};
use crate::queues::fq_codel::FqConfig;
use crate::queues::scheduler::Scheduler;
use crate::queues::{Destination, DisciplineConfig, Queue, QueueConfig, Served};

fn config(quantum_bytes: u32, limit: Option<usize>) -> QueueConfig {
    let codel = CodelConfig {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        ecn: false,
        control_law: ControlLaw::SquareRoot,
    };
    let fq = FqConfig {
        quantum_bytes,
        flows: None,
        drop_batch: 64,
        slow_below_bps: None,
        slow_target: Duration::from_millis(20),
        slow_interval: Duration::from_millis(100),
    };
    QueueConfig { discipline: DisciplineConfig::FqCodel { codel, fq }, ..QueueConfig::fifo(limit) }
}

fn queue(config: &QueueConfig, service: Served) -> Queue<u32> {
    Queue::new(config, service, || RandomStream::new(1, 0, "ap", "early detection"))
}

fn packet(flow: u32, id: u32, bytes: u64) -> Packet<u32> {
    Packet { bits: 8 * bytes, arrived: Time::ZERO, flow, to: 1, body: id }
}

fn offer(queue: &mut Queue<u32>, packet: Packet<u32>) -> Vec<u32> {
    let mut drops = Vec::new();
    queue.enqueue(Time::ZERO, packet, &mut drops);
    drops.into_iter().map(|packet| packet.body).collect()
}

fn take(queue: &mut Queue<u32>, now: Time) -> Option<u32> {
    let packet = queue.next(None, now, |_| true, &mut Vec::new())?;
    queue.done(now, &packet, &mut Vec::new());
    Some(packet.body)
}

fn drain(queue: &mut Queue<u32>) -> Vec<u32> {
    std::iter::from_fn(|| take(queue, Time::ZERO)).collect()
}

/// Returns a queue with three flows of 1500-byte packets. Each has used its quantum of 1500 bytes
/// as a new flow.
fn three_old_flows() -> Queue<u32> {
    let mut queue = queue(&config(1500, None), Served::default());
    for flow in [1, 2, 3] {
        for id in 0..3 {
            offer(&mut queue, packet(flow, 10 * flow + id, 1500));
        }
    }
    for id in [10, 20, 30] {
        assert_eq!(take(&mut queue, Time::ZERO), Some(id));
    }
    queue
}

/// RFC 8290, section 4.2: the list of new flows is served before the list of old ones.
#[test]
fn a_new_flow_goes_ahead_of_old_ones() {
    let mut queue = three_old_flows();

    offer(&mut queue, packet(9, 90, 100));

    assert_eq!(drain(&mut queue), [90, 11, 21, 31, 12, 22, 32]);
}

/// RFC 8290, section 4.2: a new flow whose queue becomes empty goes to the end of the old flows.
/// Its next packet waits for flows 2 and 3, although it has used only 100 bytes of its quantum.
#[test]
fn a_new_flow_goes_ahead_once() {
    let mut queue = three_old_flows();
    offer(&mut queue, packet(9, 90, 100));
    for id in [90, 11] {
        assert_eq!(take(&mut queue, Time::ZERO), Some(id));
    }

    offer(&mut queue, packet(9, 91, 100));

    assert_eq!(drain(&mut queue), [21, 31, 91, 12, 22, 32]);
}

/// Three packets of 500 bytes are sent for each packet of 1500.
#[test]
fn flows_share_bytes() {
    let mut queue = queue(&config(1500, None), Served::default());
    for id in 0..60 {
        offer(&mut queue, packet(1, id, 500));
        offer(&mut queue, packet(2, 1_000 + id, 1500));
    }

    let first: Vec<_> = (0..40).filter_map(|_| take(&mut queue, Time::ZERO)).collect();

    let small = first.iter().filter(|&&id| id < 1_000).count();
    assert_eq!(small, 30);
}

/// Ten packets of flow 1 and two of flow 2 fill the queue. One more packet of flow 2 overflows it,
/// and flow 1 loses half of its packets, from the head.
#[test]
fn an_overflow_costs_the_fattest_flow_half_of_its_packets() {
    let mut queue = queue(&config(1514, Some(12)), Served::default());
    for id in 0..10 {
        assert!(offer(&mut queue, packet(1, id, 1000)).is_empty());
    }
    for id in [20, 21] {
        assert!(offer(&mut queue, packet(2, id, 1000)).is_empty());
    }

    assert_eq!(offer(&mut queue, packet(2, 22, 1000)), [0, 1, 2, 3, 4]);

    assert_eq!((queue.len(), queue.iter().count()), (8, 8));
    assert_eq!(drain(&mut queue).len(), 8);
}

/// Flow 2 has 4500 bytes in three packets, the most bytes, so it loses packets. Neither the flow
/// with the most packets nor the one that causes the overflow does. Half of its bytes are two
/// packets.
#[test]
fn an_overflow_costs_the_flow_with_most_bytes() {
    let mut queue = queue(&config(1514, Some(8)), Served::default());
    for (flow, id, bytes) in [(1, 10, 100), (2, 20, 1500), (3, 30, 1500)] {
        for more in 0..if flow == 3 { 1 } else { 3 } {
            assert!(offer(&mut queue, packet(flow, id + more, bytes)).is_empty());
        }
    }
    assert!(offer(&mut queue, packet(1, 13, 100)).is_empty());

    assert_eq!(offer(&mut queue, packet(3, 31, 100)), [20, 21]);
}

/// Each receiver has its own flows, but all share one limit: the flow of receiver 2 is the longest.
#[test]
fn an_overflow_costs_the_receiver_of_the_fattest_flow() {
    let scheduler = Some(Scheduler::RoundRobin {});
    let service = Served { scheduler, ..Served::default() };
    let mut queue = queue(&config(1514, Some(4)), service);
    for (to, id, bytes) in [(0, 1, 1500), (2, 20, 1500), (2, 21, 1500), (3, 30, 1500)] {
        assert!(offer(&mut queue, Packet { to, ..packet(to, id, bytes) }).is_empty());
    }

    assert_eq!(offer(&mut queue, Packet { to: 3, ..packet(3, 31, 100) }), [20]);
}

/// Half of twelve packets are six, but the batch limit is two.
#[test]
fn a_batch_has_no_more_packets_than_is_allowed() {
    let mut config = config(1514, Some(12));
    let DisciplineConfig::FqCodel { fq, .. } = &mut config.discipline else { unreachable!() };
    fq.drop_batch = 2;
    let mut queue = queue(&config, Served::default());
    for id in 0..12 {
        assert!(offer(&mut queue, packet(1, id, 1000)).is_empty());
    }

    assert_eq!(offer(&mut queue, packet(1, 12, 1000)), [0, 1]);
}

/// A batch keeps the last packet, for which the MAC may contend, although 40 bytes are less than
/// half of 1540.
#[test]
fn a_batch_leaves_a_packet() {
    let mut queue = queue(&config(1514, Some(1)), Served::default());
    offer(&mut queue, packet(1, 1, 40));

    assert_eq!(offer(&mut queue, packet(1, 2, 1500)), [1]);

    assert_eq!(drain(&mut queue), [2]);
}

/// With one bucket all flows share one queue, in order of arrival.
#[test]
fn flows_of_one_hash_bucket_share_a_queue() {
    let mut config = config(1514, None);
    let DisciplineConfig::FqCodel { fq, .. } = &mut config.discipline else { unreachable!() };
    fq.flows = Some(1);
    let mut queue = queue(&config, Served::default());
    for (flow, id) in [(1, 10), (1, 11), (2, 20), (1, 12)] {
        offer(&mut queue, packet(flow, id, 1500));
    }

    assert_eq!(drain(&mut queue), [10, 11, 20, 12]);
}

/// A packet that does not fit stays first, and its flow keeps the turn.
#[test]
fn what_does_not_fit_stays_first() {
    let mut queue = queue(&config(1514, None), Served::default());
    for (flow, id) in [(7, 70), (2, 20)] {
        offer(&mut queue, packet(flow, id, 1500));
    }

    assert!(queue.next(None, Time::ZERO, |_| false, &mut Vec::new()).is_none());
    assert_eq!((queue.len(), queue.waiting()), (2, 2));
    assert_eq!(drain(&mut queue), [70, 20]);
}

/// Each receiver has its own tin: an access serves one receiver, whose flows take turns.
#[test]
fn receivers_have_flows_of_their_own() {
    let scheduler = Some(Scheduler::RoundRobin {});
    let mut queue = queue(&config(1500, None), Served { scheduler, ..Served::default() });
    for (to, flow, id) in [(2, 7, 70), (2, 7, 71), (2, 8, 80), (1, 5, 50)] {
        offer(&mut queue, Packet { to, ..packet(flow, id, 1500) });
    }

    let mut served = Vec::new();
    while let Some(receiver) = queue.receiver(std::iter::empty()) {
        let mut drops = Vec::new();
        while let Some(packet) = queue.next(Some(receiver), Time::ZERO, |_| true, &mut drops) {
            served.push(packet.body);
        }
    }

    assert_eq!(served, [50, 70, 80, 71]);
}

/// A station at 2 Mb/s has a target of 20 ms, the others 5 ms. With a standing delay of 10 ms only
/// the others lose packets.
#[test]
fn slow_stations_have_a_target_of_their_own() {
    let mut config = config(1514, None);
    let DisciplineConfig::FqCodel { fq, .. } = &mut config.discipline else { unreachable!() };
    fq.slow_below_bps = Some(6_000_000);
    let receiver = |rate_bps| Destination { weight: 256, rate_bps };
    let receivers = [receiver(0), receiver(2_000_000), receiver(54_000_000)].into();
    let service = Served { scheduler: Some(Scheduler::Oldest {}), receivers, first: 0 };
    let mut dropped = [0, 0, 0];
    for to in [1, 2] {
        let mut queue = queue(&config, service.clone());
        for millis in 0..300 {
            let now = Time::ZERO + Duration::from_millis(millis);
            let mut drops = Vec::new();
            queue.enqueue(now, Packet { to, ..packet(to, 0, 1500) }, &mut drops);
            if millis >= 10 {
                queue.next(Some(to), now, |_| true, &mut drops).unwrap();
            }
            dropped[to as usize] += drops.len();
        }
    }

    assert_eq!(dropped[1], 0);
    assert!(dropped[2] > 0);
}
