//! A single endpoint with an arbitrary peer: no sequence of calls makes it panic, corrupt its
//! state, or send forever.

use airtcp_kernel::{Duration, Time};
use airtcp_tcp::{Block, Config, Endpoint, Flags, Handshake, Opening, Segment, SegmentOptions};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::pair::{config, property};
use crate::properties::{ack_skip, aimd, delayed_ack, rules, variant};

/// Everything that can happen to an endpoint.
#[derive(Clone, Debug)]
enum Operation {
    Write(u64),
    /// Nothing is written after it.
    Close,
    Arrive(Segment, Vec<Block>),
    /// An ACK of this many bytes beyond those acknowledged: a plausible one.
    Acknowledge(u64),
    /// A bare ACK, which is a duplicate if anything is in flight.
    Duplicate,
    /// The same with SACK blocks at these offsets from the acknowledged bytes, with these lengths.
    Select(Vec<(u64, u64)>),
    Wait(Duration),
    /// Wait until the endpoint's deadline.
    Deadline,
}

fn operation() -> impl Strategy<Value = Operation> {
    let number = || prop_oneof![0_u64..10, 0_u64..50_000];
    let flags = prop_oneof![
        4 => Just(Flags::ACK),
        1 => Just(Flags::FIN | Flags::ACK),
        1 => Just(Flags::SYN | Flags::FIN),
        1 => Just(Flags::SYN),
        1 => Just(Flags::SYN | Flags::ACK),
        1 => Just(Flags::NONE)
    ];
    let block = (number(), number()).prop_map(|(start, end)| Block { start, end });
    let segment = (number(), number(), 0_u32..3000, flags, vec(block, 0..5)).prop_map(
        |(seq, ack, len, flags, blocks)| {
            Operation::Arrive(Segment { seq, ack, len, flags }, blocks)
        },
    );
    prop_oneof![
        prop_oneof![0_u64..5000, Just(u64::MAX)].prop_map(Operation::Write),
        Just(Operation::Close),
        segment,
        (1_u64..4000).prop_map(Operation::Acknowledge),
        Just(Operation::Duplicate),
        vec((0_u64..8000, 0_u64..3000), 1..5).prop_map(Operation::Select),
        (0_u64..3000).prop_map(|millis| Operation::Wait(Duration::from_millis(millis))),
        Just(Operation::Deadline),
    ]
}

fn any_config() -> impl Strategy<Value = Config> {
    let handshake =
        prop_oneof![Just(Handshake::None), Just(Handshake::TwoWay), Just(Handshake::ThreeWay)];
    let window = prop_oneof![4 => 1_u64..20_000, 1 => Just(u64::MAX)];
    let policies = (aimd(), rules(), delayed_ack(), ack_skip());
    (variant(), handshake, 1_u32..2000, window, 0_u64..5000, policies).prop_map(
        |(variant, handshake, mss, receive_window, initial_window, policies)| {
            let (aimd, rules, delayed_ack, ack_skip) = policies;
            Config {
                variant,
                mss,
                receive_window,
                initial_window,
                aimd,
                rules,
                handshake,
                delayed_ack,
                ack_skip,
                ..config()
            }
        },
    )
}

proptest! {
    #![proptest_config(property(2000))]

    #[test]
    fn nothing_that_arrives_breaks_an_endpoint(
        config in any_config(),
        opening in
            prop_oneof![Just(Opening::Active), Just(Opening::Passive), Just(Opening::Established)],
        operations in vec(operation(), 0..80),
    ) {
        let mut endpoint = Endpoint::new(&config, opening);
        let mut now = Time::ZERO;
        let mut sent_up_to = 0;
        let mut closed = false;
        for operation in operations {
            let acked = endpoint.acked();
            let delivered = endpoint.delivered();
            let bare = |ack| Segment { seq: 1, ack, len: 0, flags: Flags::ACK };
            let mut arrive = |segment: Segment, blocks: &[Block]| {
                let mut sacks = SegmentOptions::new();
                let segment = sacks.attach(segment, blocks, None);
                endpoint.on_segment(config.at(now), &segment, &sacks);
            };
            match operation {
                Operation::Write(bytes) if !closed => endpoint.write(bytes),
                Operation::Write(_) => {}
                Operation::Close => {
                    endpoint.close();
                    closed = true;
                }
                Operation::Arrive(segment, blocks) => arrive(segment, &blocks),
                Operation::Acknowledge(more) => arrive(bare(1 + acked + more), &[]),
                Operation::Duplicate => arrive(bare(1 + acked), &[]),
                Operation::Select(ranges) => {
                    let block = |&(offset, len): &(u64, u64)| {
                        let start = 1 + acked + offset;
                        Block { start, end: start + len }
                    };
                    let blocks: Vec<Block> = ranges.iter().map(block).collect();
                    arrive(bare(1 + acked), &blocks);
                }
                Operation::Wait(span) => {
                    now += span;
                    endpoint.on_timer(config.at(now));
                }
                Operation::Deadline if endpoint.poll_timer() != Time::NEVER => {
                    now = now.max(endpoint.poll_timer());
                    endpoint.on_timer(config.at(now));
                }
                Operation::Deadline => {}
            }
            let mut burst = 0;
            let mut sacks = SegmentOptions::new();
            while let Some(segment) = endpoint.poll_transmit(config.at(now), &mut sacks) {
                burst += 1;
                prop_assert!(burst < 50_000, "an endpoint never stops sending");
                prop_assert!(segment.len <= config.mss);
                sent_up_to = sent_up_to.max(segment.end());
            }

            prop_assert!(endpoint.poll_timer() > now, "a deadline that has passed");
            prop_assert!(endpoint.acked() >= acked && endpoint.delivered() >= delivered);
            prop_assert!(endpoint.acked() + endpoint.flight_size() < sent_up_to.max(1));
            prop_assert!(endpoint.flight_size() <= config.receive_window);
            prop_assert!(endpoint.cwnd() >= u64::from(config.mss));
            prop_assert!(endpoint.ssthresh() >= 2 * u64::from(config.mss));
            let counters = endpoint.counters();
            prop_assert!(counters.retransmissions >= u64::from(counters.fast_retransmits));
            prop_assert!(counters.data_segments_sent <= counters.segments_sent);
            // A timer runs for the segments in flight.
            prop_assert!(endpoint.flight_size() == 0 || endpoint.poll_timer() != Time::NEVER);
        }
    }
}
