//! The ACK filter in front of every discipline.

use airtcp_kernel::{Duration, RandomStream, Time};

use crate::Packet;
use crate::queues::codel::{CodelConfig, ControlLaw};
use crate::queues::fq_codel::FqConfig;
use crate::queues::scheduler::Scheduler;
use crate::queues::{AckFilter, BareAck, DisciplineConfig, Queue, QueueConfig, Served};
use crate::testing::Body;

pub(super) fn disciplines() -> Vec<DisciplineConfig> {
    let target = Duration::from_millis(5);
    let codel = CodelConfig {
        target,
        interval: Duration::from_millis(100),
        ecn: false,
        control_law: ControlLaw::SquareRoot,
    };
    let fq = FqConfig {
        quantum_bytes: 1514,
        flows: None,
        drop_batch: 64,
        slow_below_bps: None,
        slow_target: target,
        slow_interval: target,
    };
    vec![
        DisciplineConfig::Fifo {},
        DisciplineConfig::PerFlow {},
        DisciplineConfig::Codel { codel },
        DisciplineConfig::FqCodel { codel, fq },
    ]
}

fn queue(
    discipline: DisciplineConfig,
    limit: Option<usize>,
    rule: AckFilter,
    scheduler: Option<Scheduler>,
) -> Queue<Body> {
    let config = QueueConfig { discipline, ack_filter: Some(rule), ..QueueConfig::fifo(limit) };
    Queue::new(&config, Served { scheduler, ..Served::default() }, || {
        RandomStream::new(1, 0, "ap", "early detection")
    })
}

fn ack(connection: u32, number: u64) -> Packet<Body> {
    packet(Body::Ack(BareAck { connection, ack: number, has_sack: false }))
}

fn packet(body: Body) -> Packet<Body> {
    Packet { bits: 320, arrived: Time::ZERO, flow: 0, to: 1, body }
}

/// Enqueues a packet; returns the dropped ones, and whether the filter dropped one.
fn offer(queue: &mut Queue<Body>, packet: Packet<Body>) -> (Vec<Body>, bool) {
    let mut drops = Vec::new();
    queue.enqueue(Time::ZERO, packet, &mut drops);
    (drops.into_iter().map(|one| one.body).collect(), queue.take_filtered())
}

fn drain(queue: &mut Queue<Body>) -> Vec<Body> {
    std::iter::from_fn(|| {
        let packet = queue.next(None, Time::ZERO, |_| true, &mut Vec::new())?;
        queue.done(Time::ZERO, &packet, &mut Vec::new());
        Some(packet.body)
    })
    .collect()
}

const NONE: (Vec<Body>, bool) = (Vec::new(), false);

#[test]
fn the_newest_alone_stays_or_one_that_it_covers() {
    for discipline in disciplines() {
        for scheduler in [None, Some(Scheduler::Oldest {})] {
            let mut bold = queue(discipline.clone(), None, AckFilter::Aggressive, scheduler);
            assert_eq!(offer(&mut bold, ack(0, 10)), NONE);
            assert_eq!(offer(&mut bold, ack(0, 20)), (vec![ack(0, 10).body], true));
            assert_eq!(offer(&mut bold, ack(0, 30)), (vec![ack(0, 20).body], true));
            assert_eq!((bold.len(), bold.iter().count()), (1, 1));
            assert_eq!(drain(&mut bold), [ack(0, 30).body]);

            let mut careful = queue(discipline.clone(), None, AckFilter::Conservative, scheduler);
            assert_eq!(offer(&mut careful, ack(0, 10)), NONE);
            assert_eq!(offer(&mut careful, ack(0, 20)), NONE);
            assert_eq!(offer(&mut careful, ack(0, 30)), (vec![ack(0, 10).body], true));
            assert_eq!(drain(&mut careful), [ack(0, 20).body, ack(0, 30).body]);
        }
    }
}

/// The head of a queue is dequeued, others arrive, and the filter removes the first of them. The
/// scheduler must then use the new head.
#[test]
fn a_line_knows_its_head_whatever_was_filtered() {
    for discipline in disciplines() {
        let scheduler = Some(Scheduler::Oldest {});
        let mut queue = queue(discipline, None, AckFilter::Aggressive, scheduler);
        offer(&mut queue, ack(0, 10));
        let first = queue.next(Some(1), Time::ZERO, |_| true, &mut Vec::new()).unwrap();
        offer(&mut queue, ack(0, 20));
        offer(&mut queue, ack(0, 30));
        queue.done(Time::ZERO, &first, &mut Vec::new());

        assert_eq!(queue.receiver(std::iter::empty()), Some(1));
        let next = queue.next(Some(1), Time::ZERO, |_| true, &mut Vec::new());
        assert_eq!(next.map(|one| one.body), Some(ack(0, 30).body));
        assert_eq!(queue.receiver(std::iter::empty()), None);
    }
}

/// The filter keeps other connections, duplicates, SACK blocks and data.
#[test]
fn what_would_be_lost_stays() {
    let with_sack = BareAck { connection: 0, ack: 10, has_sack: true };
    let kept = [
        packet(Body::Ack(with_sack)),
        ack(1, 5),
        ack(0, 40),
        packet(Body::Data { knows_ecn: false, is_marked: false }),
    ];
    for discipline in disciplines() {
        let mut queue = queue(discipline, None, AckFilter::Aggressive, None);
        for one in kept {
            assert_eq!(offer(&mut queue, one), NONE);
        }

        assert_eq!(offer(&mut queue, ack(0, 40)), NONE, "a duplicate");

        assert_eq!(queue.len(), 5);
        assert_eq!(offer(&mut queue, ack(0, 41)), (vec![ack(0, 40).body], true));
        assert_eq!(queue.iter().count(), 5);
    }
}

/// An ACK that does not fit replaces one that it covers.
#[test]
fn a_full_queue_has_room_for_what_covers_another() {
    for discipline in disciplines() {
        let mut queue = queue(discipline, Some(1), AckFilter::Aggressive, None);
        assert_eq!(offer(&mut queue, ack(0, 10)), NONE);
        assert_eq!(offer(&mut queue, ack(0, 20)), (vec![ack(0, 10).body], true));
        assert_eq!(drain(&mut queue), [ack(0, 20).body]);
    }
}
