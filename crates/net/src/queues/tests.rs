//! Order and drops of the disciplines, packet by packet.

mod acks;
mod airtime;
mod codel;
mod fair;

use super::*;

/// Returns the `id`-th packet of `flow`.
fn packet(flow: u32, id: u32) -> Packet<u32> {
    Packet { bits: 12_000, arrived: Time::ZERO, flow, to: 1, body: id }
}

fn per_flow(limit: Option<usize>) -> QueueConfig {
    QueueConfig { discipline: DisciplineConfig::PerFlow {}, ..QueueConfig::fifo(limit) }
}

fn queue(config: QueueConfig) -> Queue<u32> {
    Queue::new(&config, Served::default(), || unreachable!("not random"))
}

/// Enqueues a packet and returns the dropped ones.
fn offer(queue: &mut Queue<u32>, flow: u32, id: u32) -> Vec<u32> {
    let mut drops = Vec::new();
    queue.enqueue(Time::ZERO, packet(flow, id), &mut drops);
    drops.into_iter().map(|packet| packet.body).collect()
}

fn take(queue: &mut Queue<u32>) -> Option<u32> {
    let mut drops = Vec::new();
    let packet = queue.next(None, Time::ZERO, |_| true, &mut drops);
    assert!(drops.is_empty());
    packet.map(|packet| packet.body)
}

fn done(queue: &mut Queue<u32>) {
    queue.done(Time::ZERO, &packet(0, 0), &mut Vec::new());
}

fn drain(queue: &mut Queue<u32>) -> Vec<u32> {
    std::iter::from_fn(|| take(queue).inspect(|_| done(queue))).collect()
}

fn per_scenario_flow(limit: Option<usize>) -> QueueConfig {
    QueueConfig { discipline: DisciplineConfig::PerScenarioFlow {}, ..QueueConfig::fifo(limit) }
}

/// A packet of a TCP connection, or a datagram.
#[derive(Clone, Copy)]
struct Of(Option<u32>, u32);

impl Inspect for Of {
    fn mark(&mut self) -> bool {
        false
    }

    fn bare_ack(&self) -> Option<BareAck> {
        None
    }

    fn connection(&self) -> Option<u32> {
        self.0
    }
}

/// One flow of the scenario with connections 4 and 9, and a datagram of the flow.
#[test]
fn connections_of_a_flow_take_turns_only_per_flow() {
    let offered = [(Some(4), 40), (Some(4), 41), (Some(4), 42), (Some(9), 90), (None, 1)];
    for (config, order) in
        [(per_flow(None), [40, 90, 1, 41, 42]), (per_scenario_flow(None), [40, 41, 42, 90, 1])]
    {
        let mut queue = Queue::new(&config, Served::default(), || unreachable!("not random"));
        let mut drops = Vec::new();
        for (connection, id) in offered {
            let body = Of(connection, id);
            let packet = Packet { bits: 12_000, arrived: Time::ZERO, flow: 3, to: 1, body };
            queue.enqueue(Time::ZERO, packet, &mut drops);
        }
        let taken = std::iter::from_fn(|| queue.next(None, Time::ZERO, |_| true, &mut drops));
        assert_eq!(taken.map(|packet| packet.body.1).collect::<Vec<_>>(), order);
        assert!(drops.is_empty());
    }
}

#[test]
fn flows_take_turns() {
    let mut queue = queue(per_flow(None));
    for (flow, id) in [(7, 70), (7, 71), (7, 72), (2, 20), (2, 21), (5, 50)] {
        assert!(offer(&mut queue, flow, id).is_empty());
    }

    assert_eq!(queue.len(), 6);
    assert_eq!(drain(&mut queue), [70, 20, 50, 71, 21, 72]);
}

/// A packet of flow 2 arrives while the station contends for the next packet, of flow 7. That
/// packet is still in the queue; once it is dequeued, flow 7 goes behind flow 2.
#[test]
fn a_flow_that_comes_before_the_access_waits_for_one_packet_of_another() {
    let mut queue = queue(per_flow(None));
    for id in [70, 71, 72] {
        offer(&mut queue, 7, id);
    }
    assert_eq!(take(&mut queue), Some(70));
    done(&mut queue);

    offer(&mut queue, 2, 20);

    assert_eq!(drain(&mut queue), [71, 20, 72]);
}

#[test]
fn an_overflow_costs_the_longest_flow_its_last_packet() {
    let mut queue = queue(per_flow(Some(4)));
    for id in [70, 71, 72, 73] {
        assert!(offer(&mut queue, 7, id).is_empty());
    }

    assert_eq!(offer(&mut queue, 2, 20), [73]);

    assert_eq!(queue.len(), 4);
    assert_eq!(queue.iter().count(), 4);
    assert_eq!(drain(&mut queue), [70, 20, 71, 72]);
}

/// The queue cannot drop packets that the MAC holds. If those fill it, it drops the arrival.
#[test]
fn a_packet_that_the_mac_has_is_never_dropped() {
    let mut queue = queue(per_flow(Some(1)));
    offer(&mut queue, 7, 70);
    assert_eq!(take(&mut queue), Some(70));

    assert_eq!(offer(&mut queue, 7, 71), [71]);
    assert_eq!((queue.len(), queue.waiting()), (1, 0));
}

/// A packet that the MAC holds counts towards the limit until the MAC is done with it, in a single
/// FIFO and in per-receiver FIFOs.
#[test]
fn a_full_fifo_drops_what_arrives() {
    for scheduler in [None, Some(Scheduler::Oldest {})] {
        let service = Served { scheduler, ..Served::default() };
        let mut queue =
            Queue::new(&QueueConfig::fifo(Some(2)), service, || unreachable!("not random"));
        for id in [1, 2] {
            assert!(offer(&mut queue, 0, id).is_empty());
        }

        assert_eq!(offer(&mut queue, 0, 3), [3]);
        assert_eq!(take(&mut queue), Some(1));
        assert_eq!(offer(&mut queue, 0, 4), [4]);
        done(&mut queue);
        assert!(offer(&mut queue, 0, 5).is_empty());
        assert_eq!(drain(&mut queue), [2, 5]);
    }
}

/// A packet that does not fit stays first, and its flow keeps the turn.
#[test]
fn what_does_not_fit_stays_first() {
    for config in [QueueConfig::fifo(None), per_flow(None)] {
        let mut queue = queue(config);
        offer(&mut queue, 7, 70);
        offer(&mut queue, 2, 20);

        assert!(queue.next(None, Time::ZERO, |_| false, &mut Vec::new()).is_none());
        assert_eq!((queue.len(), queue.waiting()), (2, 2));
        assert_eq!(drain(&mut queue), [70, 20]);
    }
}

#[test]
fn a_packet_knows_when_it_came() {
    let mut queue = queue(QueueConfig::fifo(None));
    let now = Time::from_nanos(17);
    queue.enqueue(now, packet(0, 1), &mut Vec::new());

    assert_eq!(
        queue.next(None, now, |_| true, &mut Vec::new()).map(|packet| packet.arrived),
        Some(now)
    );
}
