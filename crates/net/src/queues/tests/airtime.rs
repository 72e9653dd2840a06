//! Receivers that share airtime; rings limited in packets or airtime below a discipline.

use airtcp_kernel::{Duration, RandomStream, Time};

use crate::Packet;
use crate::queues::scheduler::{Scheduler, Turns};
use crate::queues::{Destination, DisciplineConfig, Queue, QueueConfig, Served};

const QUANTUM: Duration = Duration::from_nanos(300_000);

fn service(weights: &[u32], rates_bps: &[u64], aql: Option<Duration>) -> Served {
    let receivers = weights.iter().zip(rates_bps);
    Served {
        scheduler: Some(Scheduler::Airtime { quantum: QUANTUM, aql }),
        receivers: receivers.map(|(&weight, &rate_bps)| Destination { weight, rate_bps }).collect(),
        first: 0,
    }
}

fn queue(config: &QueueConfig, service: Served) -> Queue<u32> {
    Queue::new(config, service, || unreachable!("not random"))
}

fn packet(to: u32, id: u32) -> Packet<u32> {
    Packet { bits: 12_000, arrived: Time::ZERO, flow: to, to, body: id }
}

fn offer(queue: &mut Queue<u32>, packet: Packet<u32>) {
    queue.enqueue(Time::ZERO, packet, &mut Vec::new());
}

/// Serves backlogged receivers, whose transmissions take `airtime` each, and returns the total
/// airtime of each receiver.
fn serve(weights: &[u32], airtime: &[u64]) -> Vec<u64> {
    let rates = vec![1; weights.len()];
    let mut queue = queue(&QueueConfig::fifo(None), service(weights, &rates, None));
    let mut used = vec![0; weights.len()];
    for to in 1..weights.len() as u32 {
        for id in 0..4 {
            offer(&mut queue, packet(to, id));
        }
    }
    for _ in 0..20_000 {
        let to = queue.receiver(std::iter::empty()).unwrap();
        let one = queue.next(Some(to), Time::ZERO, |_| true, &mut Vec::new()).unwrap();
        queue.charge(Time::ZERO, to, Duration::from_micros(airtime[to as usize]));
        used[to as usize] += airtime[to as usize];
        queue.done(Time::ZERO, &one, &mut Vec::new());
        offer(&mut queue, packet(to, 9));
    }
    used
}

/// Transmissions of 4 ms, 0.3 ms and 0.1 ms: all receivers get the same airtime, within one
/// transmission.
#[test]
fn airtime_is_shared_equally() {
    let used = serve(&[256; 4], &[0, 4_000, 300, 100]);

    let (least, most) = (used[1..].iter().min().unwrap(), used[1..].iter().max().unwrap());
    assert!(most - least <= 4_000 + 300, "{used:?}");
    assert!(*least > 500_000);
}

#[test]
fn airtime_is_shared_by_weight() {
    let used = serve(&[256, 512, 256, 128], &[0, 2_000, 2_000, 700]);

    let [_, double, plain, half] = used[..] else { unreachable!() };
    assert!((double as f64 / plain as f64 - 2.0).abs() < 0.01, "{used:?}");
    assert!((half as f64 / plain as f64 - 0.5).abs() < 0.01, "{used:?}");
}

/// The frames that a receiver itself sends are charged while packets wait for it. Receiver 1 has
/// used 30 ms, so the other receiver goes first.
#[test]
fn a_debt_is_paid_by_waiting() {
    let mut queue = queue(&QueueConfig::fifo(None), service(&[256; 3], &[1; 3], None));
    for to in [1, 2] {
        for id in 0..100 {
            offer(&mut queue, packet(to, id));
        }
    }
    assert_eq!(queue.receiver(std::iter::empty()), Some(1));
    queue.charge(Time::ZERO, 1, Duration::from_millis(30));

    let turns: Vec<_> = (0..60).map(|_| serve_next(&mut queue, Duration::from_millis(1))).collect();

    let first = turns.iter().position(|&to| to == 1).unwrap();
    assert!((29..=31).contains(&first), "{turns:?}");
}

/// Frames that a receiver sends are not charged while nothing waits for it, or later than 100 ms
/// after.
#[test]
fn a_receiver_that_only_sends_owes_nothing() {
    let mut queue = queue(&QueueConfig::fifo(None), service(&[256; 3], &[1; 3], None));
    queue.charge(Time::ZERO, 1, Duration::from_secs(1));
    for _ in 0..2 {
        offer(&mut queue, packet(1, 0));
        offer(&mut queue, packet(2, 0));
        let turns = [0; 2].map(|_| serve_next(&mut queue, QUANTUM));
        assert_eq!(turns, [1, 2]);
        queue.charge(Time::from_nanos(100_000_001), 1, Duration::from_secs(1));
    }
}

/// While receiver 1 pays off its debt alone, receiver 2, which has no packets, gets no credit. Each
/// gets half of the ten accesses that follow.
#[test]
fn a_debt_of_one_is_no_credit_of_another() {
    let mut queue = queue(&QueueConfig::fifo(None), service(&[256; 3], &[1; 3], None));
    offer(&mut queue, packet(2, 0));
    for id in 0..11 {
        offer(&mut queue, packet(1, id));
    }
    assert_eq!(serve_next(&mut queue, Duration::from_micros(100)), 2);
    assert_eq!(serve_next(&mut queue, Duration::from_millis(30)), 1);
    assert_eq!(serve_next(&mut queue, QUANTUM), 1);
    for id in 0..10 {
        offer(&mut queue, packet(2, id));
    }

    let turns: Vec<_> = (0..10).map(|_| serve_next(&mut queue, QUANTUM)).collect();

    assert!((4..=6).contains(&turns.iter().filter(|&&to| to == 1).count()), "{turns:?}");
}

/// Algorithm 3 as published, one step at a time.
#[derive(Default)]
struct Plain {
    quanta: Vec<i64>,
    deficits: Vec<i64>,
    new: Vec<usize>,
    old: Vec<usize>,
    known: Vec<bool>,
}

impl Plain {
    fn choose(&mut self, here: &[usize]) -> usize {
        for &one in here {
            self.known[one] = true;
            if !self.new.contains(&one) && !self.old.contains(&one) {
                self.new.push(one);
            }
        }
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let first = list[0];
            if self.deficits[first] <= 0 {
                list.remove(0);
                self.deficits[first] += self.quanta[first];
                self.old.push(first);
            } else if here.contains(&first) {
                return first;
            } else {
                list.remove(0);
                if is_new {
                    self.old.push(first);
                }
            }
        }
    }

    fn charge(&mut self, to: usize, nanos: u64) {
        if self.known[to] {
            self.deficits[to] -= nanos as i64;
        }
    }
}

/// Random receivers and exchanges of random length in both directions: skipping rounds in one step
/// changes nothing.
#[test]
fn receivers_are_those_of_the_algorithm_step_by_step() {
    let mut state = 1_u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    for _ in 0..100 {
        let weights: Vec<u32> = (0..6).map(|_| [64, 256, 700][draw(3) as usize]).collect();
        let quanta: Vec<i64> = weights.iter().map(|&one| 300_000 * i64::from(one) / 256).collect();
        let service = service(&weights, &[1; 6], None);
        let mut turns = Turns::new(service.scheduler.unwrap(), &service);
        let mut plain =
            Plain { deficits: quanta.clone(), quanta, known: vec![false; 6], ..Plain::default() };
        for _ in 0..300 {
            let mut here: Vec<usize> = (0..6).filter(|_| draw(3) == 0).collect();
            if here.is_empty() {
                here.push(draw(6) as usize);
            }
            let waiting = here.iter().map(|&one| (one as u32, Some(Time::ZERO)));
            let chosen = plain.choose(&here);
            assert_eq!(turns.choose(std::iter::empty(), waiting), Some(chosen as u32));
            let mut charges = vec![(chosen, 50_000 + draw(5_000_000))];
            if draw(4) == 0 {
                charges.push((draw(6) as usize, draw(50_000_000)));
            }
            for (to, nanos) in charges {
                plain.charge(to, nanos);
                turns.charge(Time::ZERO, to as u32, Duration::from_nanos(nanos));
            }
        }
    }
}

/// Sends the next receiver one packet that takes `airtime`.
fn serve_next(queue: &mut Queue<u32>, airtime: Duration) -> u32 {
    let to = queue.receiver(std::iter::empty()).unwrap();
    queue.next(Some(to), Time::ZERO, |_| true, &mut Vec::new()).unwrap();
    queue.charge(Time::ZERO, to, airtime);
    to
}

/// Algorithm 3 moves on to the next receiver once a deficit is not above zero, so also after
/// exactly one quantum.
#[test]
fn a_deficit_that_is_used_up_ends_the_turn() {
    let mut queue = queue(&QueueConfig::fifo(None), service(&[256; 3], &[1; 3], None));
    for to in [1, 1, 1, 2, 2, 2] {
        offer(&mut queue, packet(to, 0));
    }

    let turns: Vec<_> = (0..6).map(|_| serve_next(&mut queue, QUANTUM)).collect();

    assert_eq!(turns, [1, 2, 1, 2, 1, 2]);
}

/// Receiver 3 gets its first packet when 1 and 2 have used their quanta as new receivers, so it
/// goes first. When its next packet arrives, it has been empty. Most of its deficit is left, but it
/// is no longer new, so receiver 2 goes first.
#[test]
fn a_new_receiver_goes_ahead_of_old_ones_once() {
    let mut queue = queue(&QueueConfig::fifo(None), service(&[256; 4], &[1; 4], None));
    for to in [1, 1, 1, 2, 2, 2] {
        offer(&mut queue, packet(to, 0));
    }
    let mut turns = vec![serve_next(&mut queue, QUANTUM), serve_next(&mut queue, QUANTUM)];

    offer(&mut queue, packet(3, 0));
    turns.push(serve_next(&mut queue, Duration::from_micros(100)));
    turns.push(serve_next(&mut queue, QUANTUM));
    offer(&mut queue, packet(3, 1));
    turns.push(serve_next(&mut queue, QUANTUM));
    turns.push(serve_next(&mut queue, QUANTUM));

    assert_eq!(turns, [1, 2, 3, 1, 2, 3]);
}

/// A receiver without competitors is served, whatever its debt.
#[test]
fn a_debtor_alone_is_served() {
    let mut queue = queue(&QueueConfig::fifo(None), service(&[256; 2], &[1; 2], None));
    offer(&mut queue, packet(1, 0));
    offer(&mut queue, packet(1, 1));
    serve_next(&mut queue, Duration::from_secs(3_600));

    assert_eq!(queue.receiver(std::iter::empty()), Some(1));
}

/// A ring of two packets is first in, first out; the flows above it take turns.
#[test]
fn a_ring_keeps_the_order_in_which_packets_were_handed_over() {
    let discipline = DisciplineConfig::PerFlow {};
    let config = QueueConfig { discipline, mac_limit: Some(2), ..QueueConfig::fifo(None) };
    let mut queue = queue(&config, Served::default());
    for (flow, id) in [(7, 70), (7, 71), (7, 72), (7, 73), (2, 20)] {
        offer(&mut queue, Packet { flow, ..packet(1, id) });
    }

    let mut order = Vec::new();
    while queue.has_next() {
        let one = queue.next(None, Time::ZERO, |_| true, &mut Vec::new()).unwrap();
        order.push(one.body);
        // Only when the MAC is done with a packet is there room for another.
        let waiting = queue.waiting();
        queue.done(Time::ZERO, &one, &mut Vec::new());
        assert_eq!((queue.waiting(), queue.len()), (waiting, waiting));
    }

    assert_eq!(order, [70, 71, 72, 20, 73]);
}

/// Packets that the MAC holds count towards the ring's limit.
#[test]
fn a_ring_counts_what_the_mac_has_taken() {
    let config = QueueConfig { mac_limit: Some(1), ..QueueConfig::fifo(None) };
    let mut queue = queue(&config, Served::default());
    offer(&mut queue, packet(1, 1));
    offer(&mut queue, packet(1, 2));

    let first = queue.next(None, Time::ZERO, |_| true, &mut Vec::new()).unwrap();

    assert!(!queue.has_next());
    assert!(queue.next(None, Time::ZERO, |_| true, &mut Vec::new()).is_none());
    queue.done(Time::ZERO, &first, &mut Vec::new());
    assert!(queue.has_next());
}

/// 5 ms are five packets of 12000 bits at 12 Mb/s, and one at 1.2 Mb/s. The ring takes no more
/// until the MAC is done with one.
#[test]
fn a_ring_of_airtime_holds_as_much_as_the_rate_sends_in_time() {
    let aql = Some(Duration::from_millis(5));
    let service = service(&[256; 3], &[0, 12_000_000, 1_200_000], aql);
    let mut queue = queue(&QueueConfig::fifo(None), service);
    for id in 0..20 {
        for to in [1, 2] {
            offer(&mut queue, packet(to, id));
        }
    }

    let mut aggregate = |to| {
        let mut drops = Vec::new();
        std::iter::from_fn(|| queue.next(Some(to), Time::ZERO, |_| true, &mut drops)).count()
    };
    assert_eq!((aggregate(1), aggregate(2)), (5, 1));

    queue.done(Time::ZERO, &packet(1, 0), &mut Vec::new());
    let next = queue.next(Some(1), Time::ZERO, |_| true, &mut Vec::new());
    assert_eq!(next.map(|one| one.body), Some(5));
}

/// Packets above a full ring are not available to the MAC: with several links (802.11be) an access
/// would find nothing to send.
#[test]
fn packets_above_a_ring_are_not_next_for_their_receiver() {
    let aql = Some(Duration::from_millis(5));
    let mut queue = queue(&QueueConfig::fifo(None), service(&[256; 2], &[0, 1_200_000], aql));
    for id in 0..2 {
        offer(&mut queue, packet(1, id));
    }
    assert!(queue.has_next_for(1));

    let first = queue.next(Some(1), Time::ZERO, |_| true, &mut Vec::new());
    assert!(first.is_some());
    assert!(!queue.has_next_for(1));

    queue.done(Time::ZERO, &packet(1, 0), &mut Vec::new());
    assert!(queue.has_next_for(1));
}

/// In one queue for all receivers, or in one for each: of packets to 2, 2 and 3, those to 2 go first.
#[test]
fn disciplines_know_for_whom_packets_wait() {
    let all = super::acks::disciplines().into_iter();
    for discipline in all.filter(|one| !matches!(one, DisciplineConfig::PerFlow {})) {
        let config = QueueConfig { discipline, ..QueueConfig::fifo(None) };
        for scheduler in [None, Some(Scheduler::Oldest {})] {
            let stream = || RandomStream::new(1, 0, "ap", "");
            let served = Served { scheduler, ..service(&[256; 4], &[0, 1, 1, 1], None) };
            let mut queue = Queue::new(&config, served, stream);
            for (id, to) in (0..).zip([2, 2, 3]) {
                offer(&mut queue, packet(to, id));
            }
            let mut seen = Vec::new();
            for to in [2, 2, 3] {
                seen.push([1, 2, 3].map(|one| queue.has_next_for(one)));
                let taken = queue.next(Some(to), Time::ZERO, |_| true, &mut Vec::new()).unwrap();
                queue.done(Time::ZERO, &taken, &mut Vec::new());
            }
            assert_eq!(seen, [[false, true, true], [false, true, true], [false, false, true]]);
            assert!(![1, 2, 3].iter().any(|&one| queue.has_next_for(one)));
        }
    }
}
