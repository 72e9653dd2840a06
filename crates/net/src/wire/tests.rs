//! Departure and arrival times, order and losses on wires.

use super::*;

fn packet(id: u32) -> Packet<u32> {
    Packet { bits: 12_000, arrived: Time::ZERO, flow: 0, to: 0, body: id }
}

fn at(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

fn link(rate_bps: Option<u64>, limit: Option<usize>) -> LinkConfig {
    managed(rate_bps, QueueConfig::fifo(limit))
}

fn managed(rate_bps: Option<u64>, queue: QueueConfig) -> LinkConfig {
    let rate_bps = rate_bps.map(|bps| NonZeroU64::new(bps).unwrap());
    LinkConfig { rate_bps, up_rate_bps: None, delay: Duration::from_millis(5), queue, loss: None }
}

fn per_flow(limit: Option<usize>) -> QueueConfig {
    QueueConfig { discipline: DisciplineConfig::PerFlow {}, ..QueueConfig::fifo(limit) }
}

fn add(wires: &mut Wires<u32>, config: &LinkConfig) -> u32 {
    wires.add(config, config.rate_bps, || unreachable!("not random"))
}

/// Sends a packet on a wire and returns the dropped ones.
fn offer(wires: &mut Wires<u32>, now: Time, wire: u32, packet: Packet<u32>) -> Vec<u32> {
    let mut drops = Vec::new();
    wires.offer(now, wire, &packet, &mut drops);
    drops.into_iter().map(|packet| packet.body).collect()
}

/// Executes the next event. If it is an arrival, removes the packet and returns it with its wire.
fn advance(wires: &mut Wires<u32>) -> Option<(u32, u32)> {
    if wires.is_departure_next() {
        let mut drops = Vec::new();
        wires.next_departs(&mut drops);
        assert!(drops.is_empty());
        return None;
    }
    let wire = wires.next_arrives();
    let arrived = wires.arriving(wire).body;
    assert_eq!(wires.take_arriving(wire).body, arrived);
    Some((wire, arrived))
}

/// Runs until the next arrival, and returns its wire and packet.
fn arrive(wires: &mut Wires<u32>) -> (u32, u32) {
    loop {
        if let Some(arrival) = advance(wires) {
            return arrival;
        }
    }
}

/// 12000 bits at 1 Mb/s take 12 ms, plus 5 ms of delay.
#[test]
fn packets_leave_one_after_the_other_and_overflow_the_queue() {
    let mut wires = Wires::default();
    let uplink = add(&mut wires, &link(Some(1_000_000), Some(2)));
    let offers = [(0, true), (1, true), (11, false), (12, true)];

    // At 12 ms the first has departed; the third follows the second, which departs at 24 ms.
    for (id, (millis, fits)) in (0..).zip(offers) {
        let dropped = offer(&mut wires, at(millis), uplink, packet(id));
        assert_eq!(dropped.is_empty(), fits, "{id}");
    }

    let queued = [13, 24, 25, 37].map(|millis| wires.queued_before(at(millis)).next());
    assert_eq!(queued, [2, 2, 1, 0].map(|packets| Some(Some(packets))));
    let arrivals: Vec<_> = std::iter::from_fn(|| {
        let time = wires.next_time();
        (time < Time::NEVER).then(|| (time, arrive(&mut wires).1))
    })
    .collect();
    assert_eq!(arrivals, [(at(17), 0), (at(29), 1), (at(41), 3)]);
    assert_eq!(wires.scheduled(), 3);
}

#[test]
fn a_link_without_rate_only_delays() {
    let mut wires = Wires::default();
    let wire = add(&mut wires, &link(None, None));

    offer(&mut wires, at(0), wire, packet(0));

    assert_eq!(wires.next_time(), at(5));
    assert_eq!(wires.queued_before(at(0)).next(), Some(None));
}

/// Two wires of 5 ms. A packet behind another becomes the next on its wire only after that one has
/// arrived, so it comes after the first packet of the other wire.
#[test]
fn arrivals_at_one_instant_are_in_the_order_in_which_they_became_next() {
    let mut wires = Wires::default();
    let [first, second] = [(); 2].map(|()| add(&mut wires, &link(None, None)));
    offer(&mut wires, at(0), first, packet(10));
    offer(&mut wires, at(1), first, packet(11));
    offer(&mut wires, at(1), second, packet(20));

    let order: Vec<_> = (0..3).map(|_| arrive(&mut wires)).collect();

    assert_eq!(order, [(first, 10), (second, 20), (first, 11)]);
}

/// 12000 bits at 1 Mb/s take 12 ms. The queue chooses whenever the transmitter is free: at 12 ms it
/// is the turn of flow 2, although all packets of flow 1 arrived before.
#[test]
fn a_discipline_chooses_when_the_transmitter_becomes_free() {
    let mut wires = Wires::default();
    let queue = per_flow(Some(4));
    let uplink = add(&mut wires, &managed(Some(1_000_000), queue));
    let of = |flow, id| Packet { flow, ..packet(id) };
    for id in 10..14 {
        assert!(offer(&mut wires, at(0), uplink, of(1, id)).is_empty());
    }
    assert_eq!(offer(&mut wires, at(1), uplink, of(2, 20)), [13], "of the longest");
    assert_eq!(wires.queued_before(at(1)).next(), Some(Some(4)));
    assert_eq!(wires.travelling().count(), 4);

    let arrivals: Vec<_> = std::iter::from_fn(|| {
        (wires.next_time() < Time::NEVER).then(|| {
            let id = arrive(&mut wires).1;
            (id, wires.travelling().count())
        })
    })
    .collect();

    assert_eq!(arrivals, [(10, 3), (11, 2), (20, 1), (12, 0)]);
}

/// Departures and arrivals are the same whether the times are known on entry or each is an event.
#[test]
fn a_line_takes_as_long_as_a_plain_queue() {
    let mut wires = Wires::default();
    let plain = add(&mut wires, &link(Some(1_000_000), Some(2)));
    let queue = per_flow(Some(2));
    let line = add(&mut wires, &managed(Some(1_000_000), queue));
    for wire in [plain, line] {
        for id in 0..2 {
            assert!(offer(&mut wires, at(0), wire, packet(id)).is_empty());
        }
    }

    let mut arrivals = Vec::new();
    while wires.next_time() < Time::NEVER {
        let time = wires.next_time();
        if let Some((wire, packet)) = advance(&mut wires) {
            arrivals.push((time, packet, wire));
        }
    }

    arrivals.sort_unstable();
    let expected = [(17, 0, plain), (17, 0, line), (29, 1, plain), (29, 1, line)];
    assert_eq!(arrivals, expected.map(|(millis, id, wire)| (at(millis), id, wire)));
}

fn loss(rate: Option<f64>, every: Option<u64>, acks: bool) -> Loss {
    let every = every.and_then(NonZeroU64::new);
    Loss::new(LossConfig { rate, every, acks }, RandomStream::new(1, 0, "link", "loss"))
}

#[test]
fn the_last_of_so_many_is_lost() {
    let mut loss = loss(None, Some(3), false);

    let lost: Vec<_> = (1..=9).filter(|_| loss.loses(true)).collect();

    assert_eq!(lost, [3, 6, 9]);
}

#[test]
fn what_has_no_payload_counts_only_if_that_is_said() {
    let mut with_payload = loss(None, Some(2), false);
    let mut all = loss(None, Some(2), true);
    let packets = [true, false, false, true, true, true];

    assert_eq!(
        packets.map(|has| with_payload.loses(has)),
        [false, false, false, true, false, true]
    );
    assert_eq!(packets.map(|has| all.loses(has)), [false, true, false, true, false, true]);
}

/// Of 20000 packets 5 %, 1000, are lost, ± 4 (20000 * 0.05 * 0.95)^(1/2) = 123.
#[test]
fn a_share_is_lost_at_random() {
    let mut loss = loss(Some(0.05), None, false);

    let lost = (0..20_000).filter(|_| loss.loses(true)).count();

    assert!(lost.abs_diff(1_000) < 123, "{lost}");
}
