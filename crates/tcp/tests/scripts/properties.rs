//! Whatever the link loses, delays, reorders or duplicates for a while, every transfer ends, and
//! the delivered data matches a plain model of the receiver.

use std::collections::BTreeSet;

use airtcp_kernel::{Duration, Time};
use airtcp_tcp::{
    AckSkip, Aimd, Block, Config, Congestion, Counters, DelayedAck, Flags, Handshake, LossWindow,
    Rules, Segment, Threshold, Variant,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::pair::{End, Fate, Pair, Sent, property};

fn fate() -> impl Strategy<Value = Fate> {
    let late = (0_u64..400).prop_map(Duration::from_millis);
    prop_oneof![
        4 => Just(Fate::Deliver),
        3 => Just(Fate::Lose),
        1 => vec(late, 1..=3).prop_map(Fate::Late),
    ]
}

pub(crate) fn variant() -> impl Strategy<Value = Variant> {
    prop_oneof![
        Just(Variant::Reno),
        Just(Variant::NewReno),
        Just(Variant::Sack),
        Just(Variant::Rack)
    ]
}

prop_compose! {
    /// An ACK per fixed number of segments, or per growing numbers.
    pub(crate) fn delayed_ack()(
        every in 1_u32..5,
        later in vec((1_u64..20, 1_u32..6), 0..3),
        timeout in 1_u64..300,
    ) -> DelayedAck {
        let later = later.iter().scan(0, |from_segment, (more, every)| {
            *from_segment += more;
            Some(Threshold { from_segment: *from_segment, every: *every })
        });
        DelayedAck { every, later: later.collect(), timeout: Duration::from_millis(timeout), adaptive: false, policy: None }
    }
}

pub(crate) fn ack_skip() -> impl Strategy<Value = Option<AckSkip>> {
    let some = (1_u32..5, 0_u64..20)
        .prop_map(|(skip, after_segment)| Some(AckSkip { skip, adaptive: None, after_segment }));
    prop_oneof![3 => Just(None), 1 => some]
}

pub(crate) fn rules() -> impl Strategy<Value = Rules> {
    let loss_window = prop_oneof![Just(LossWindow::FlightSize), Just(LossWindow::Cwnd)];
    (loss_window, any::<bool>()).prop_map(|(loss_window, fast_retransmit_once_per_window)| Rules {
        loss_window,
        fast_retransmit_once_per_window,
        ..Rules::standard()
    })
}

pub(crate) fn aimd() -> impl Strategy<Value = Aimd> {
    let other =
        (0.01..20.0, 0.01..0.99).prop_map(|(increase, decrease)| Aimd::new(increase, decrease));
    prop_oneof![Just(Aimd::STANDARD), other]
}

prop_compose! {
    fn configs()(
        variant in variant(),
        congestion in prop_oneof![Just(Congestion::Reno), Just(Congestion::Cubic)],
        handshake in
            prop_oneof![Just(Handshake::None), Just(Handshake::TwoWay), Just(Handshake::ThreeWay)],
        mss in prop_oneof![Just(100_u32), 1_u32..300],
        window_segments in 1_u64..30,
        window_crumb in 0_u64..300,
        initial_segments in 1_u64..10,
        ssthresh_segments in proptest::option::of(1_u64..20),
        delayed_ack in delayed_ack(),
        ack_skip in ack_skip(),
        aimd in aimd(),
        rules in rules(),
        min_rto in 1_u64..1000,
    ) -> Config {
        let smss = u64::from(mss);
        Config {
            variant,
            congestion,
            mss,
            receive_window: window_segments * smss + window_crumb,
            initial_window: initial_segments * smss,
            initial_ssthresh: ssthresh_segments.map(|segments| segments * smss),
            aimd,
            rules,
            handshake,
            min_rto: Duration::from_millis(min_rto),
            delayed_ack,
            ack_skip,
            ..Config::standard()
        }
    }
}

/// What one end has sent, counted by the test.
#[derive(Default)]
struct Tally {
    segments: u64,
    data_segments: u64,
    retransmissions: u64,
    /// The sequence number after the highest one sent; a SYN has number 0.
    sent_up_to: u64,
}

impl Tally {
    fn count(&mut self, segment: &Segment) {
        let syn = segment.flags.contains(Flags::SYN);
        let takes_numbers = segment.end() > segment.seq;
        self.segments += 1;
        self.data_segments += u64::from(takes_numbers);
        if syn || takes_numbers {
            self.retransmissions += u64::from(segment.seq < self.sent_up_to);
            self.sent_up_to = self.sent_up_to.max(segment.end() + u64::from(syn));
        }
    }

    fn assert_agrees(&self, counters: Counters) {
        assert_eq!(self.segments, counters.segments_sent);
        assert_eq!(self.data_segments, counters.data_segments_sent);
        assert_eq!(self.retransmissions, counters.retransmissions);
    }
}

/// The sequence numbers that have arrived at one end, including that of the FIN.
#[derive(Default)]
struct Arrived(BTreeSet<u64>);

impl Arrived {
    fn take(&mut self, segment: &Segment) {
        self.0.extend(segment.seq..segment.end());
    }

    /// Returns how many arrived without a gap, from number 1 on.
    fn in_order(&self) -> u64 {
        self.0.iter().zip(1_u64..).take_while(|(number, expected)| *number == expected).count()
            as u64
    }

    /// RFC 2018 section 3: "each block represents received bytes of data that are contiguous and
    /// isolated"; and it is beyond the ACK number.
    fn assert_isolated(&self, ack: u64, block: Block) {
        assert!(ack < block.start && block.start < block.end, "{block:?} after {ack}");
        assert!((block.start..block.end).all(|number| self.0.contains(&number)), "{block:?}");
        assert!(!self.0.contains(&(block.start - 1)) && !self.0.contains(&block.end), "{block:?}");
    }
}

/// What the other end has SACKed, since this end's last timeout.
#[derive(Default)]
struct Told {
    timeouts: u32,
    numbers: BTreeSet<u64>,
}

impl Told {
    fn take(&mut self, blocks: &[Block]) {
        self.numbers.extend(blocks.iter().flat_map(|block| block.start..block.end));
    }

    /// Clears the set if there was a timeout since the last call.
    fn forget_after(&mut self, timeouts: u32) {
        if timeouts != self.timeouts {
            *self = Self { timeouts, numbers: BTreeSet::new() };
        }
    }
}

/// Sends `upload` bytes from `A` to `B` and `download` bytes back. The link applies `fates` to the
/// first segments of each end and delivers the rest. With `close` both ends close.
fn transfer(config: &Config, upload: u64, download: u64, close: bool, fates: &[Vec<Fate>; 2]) {
    let rule =
        |sent: &Sent| fates[sent.from as usize].get(sent.index).cloned().unwrap_or(Fate::Deliver);
    let mut pair = Pair::sending_over(config, upload, rule);
    pair.b.write(download);
    if close {
        pair.a.close();
        pair.b.close();
    }

    let mut tallies = [Tally::default(), Tally::default()];
    let mut arrived = [Arrived::default(), Arrived::default()];
    let mut told = [Told::default(), Told::default()];
    let mut logged = 0;
    while pair.step(Time::NEVER) {
        // Arrivals come before the segments sent in response.
        for index in pair.take_arrived() {
            let sent = &pair.log[index].0;
            let to = 1 - sent.from as usize;
            arrived[to].take(&sent.segment);
            told[to].take(pair.sacks.blocks(&sent.segment));
        }
        let mut sent_new = [false; 2];
        for (Sent { from, segment, .. }, _) in &pair.log[logged..] {
            let end = if *from == End::A { &pair.a } else { &pair.b };
            let told = &mut told[*from as usize];
            told.forget_after(end.counters().timeouts);
            let known = told.numbers.range(segment.seq..segment.end()).count() as u64;
            // RACK tracks whole segments: one that is partly SACKed is retransmitted entirely.
            let most = match config.variant {
                Variant::Rack => (segment.end() - segment.seq).saturating_sub(1),
                Variant::Reno | Variant::NewReno | Variant::Sack => 0,
            };
            assert!(known <= most, "SACKed before");
            let blocks = pair.sacks.blocks(segment);
            assert!(blocks.is_empty() || config.variant.has_sack() && segment.len == 0);
            for block in blocks {
                arrived[*from as usize].assert_isolated(segment.ack, *block);
            }
            let tally = &mut tallies[*from as usize];
            sent_new[*from as usize] |=
                segment.end() > segment.seq && segment.seq >= tally.sent_up_to;
            tally.count(segment);
            let written = if *from == End::A { upload } else { download } + u64::from(close);
            // With SACK a hole may be shorter than a segment: the receiver trims what is beyond its
            // window.
            let full = segment.len == config.mss || config.variant.has_sack();
            assert!(full || segment.len == 0 || segment.end() == 1 + written, "a silly segment");
        }
        logged = pair.log.len();

        for end in [End::A, End::B] {
            let (me, written) = if end == End::A { (&pair.a, upload) } else { (&pair.b, download) };
            let other = if end == End::A { &pair.b } else { &pair.a };
            assert!(me.acked() <= other.delivered(), "acknowledged before it arrived");
            assert!(other.delivered() <= written);
            assert!(me.acked() + me.flight_size() <= written + u64::from(close));
            assert!(me.flight_size() <= config.receive_window);
            // At most two segments more than cwnd, those of limited transmit. In a recovery with
            // SACK, data held by the other end does not count.
            let most = me.cwnd() + 2 * u64::from(config.mss);
            let is_bounded = !config.variant.has_sack() && sent_new[end as usize];
            assert!(!is_bounded || me.flight_size() <= most, "beyond cwnd");
            assert!(me.cwnd() >= u64::from(config.mss));
            let in_order = me.delivered() + u64::from(me.has_reached_end());
            assert_eq!(in_order, arrived[end as usize].in_order(), "not what came in order");
        }
    }

    assert_eq!((pair.a.acked(), pair.b.delivered()), (upload, upload));
    assert_eq!((pair.b.acked(), pair.a.delivered()), (download, download));
    assert_eq!((pair.a.flight_size(), pair.b.flight_size()), (0, 0));
    for end in [&pair.a, &pair.b] {
        assert_eq!((end.has_reached_end(), end.is_close_acknowledged()), (close, close));
    }
    tallies[0].assert_agrees(pair.a.counters());
    tallies[1].assert_agrees(pair.b.counters());
}

proptest! {
    #![proptest_config(property(1000))]

    #[test]
    fn every_transfer_ends_complete_and_in_order(
        config in configs(),
        upload in 0_u64..6000,
        close in any::<bool>(),
        fates in [vec(fate(), 0..60), vec(fate(), 0..60)],
    ) {
        transfer(&config, upload, 0, close, &fates);
    }

    #[test]
    fn two_transfers_share_a_connection(
        config in configs(),
        upload in 0_u64..3000,
        download in 0_u64..3000,
        close in any::<bool>(),
        fates in [vec(fate(), 0..60), vec(fate(), 0..60)],
    ) {
        transfer(&config, upload, download, close, &fates);
    }
}
