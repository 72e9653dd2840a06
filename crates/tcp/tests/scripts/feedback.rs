//! How a sender reacts when its own MAC gives up a frame.

use airtcp_tcp::{Config, GiveUp, MacFeedback, Segment, Variant};

use crate::pair::{End, Fate, Pair, Sent, config, lose_once};

fn told(variant: Variant, give_up: GiveUp) -> Config {
    let mac_feedback = Some(MacFeedback { give_up });
    Config { variant, mac_feedback, initial_window: 8000, receive_window: 8000, ..config() }
}

/// Loses the segments in `lost`, and reports them to `A` 5 ms later; there are eight segments to
/// send.
fn run(config: &Config, by_channel: bool, lost: &'static [u64]) -> Pair<'static> {
    let mut pair = Pair::sending_over(config, 8000, lose_once(lost));
    pair.run_until(5);
    for &seq in lost {
        let segment = lost_segment(&pair, seq);
        pair.a.on_given_up(pair.configs[0].at(pair.now), &segment, by_channel);
    }
    pair
}

fn lost_segment(pair: &Pair<'_>, seq: u64) -> Segment {
    let is_lost = |(sent, fate): &&(Sent, Fate)| {
        sent.from == End::A && sent.segment.seq == seq && *fate == Fate::Lose
    };
    pair.log.iter().find(is_lost).expect("it was lost").0.segment
}

#[test]
fn what_the_mac_gives_up_goes_again_at_once_and_duplicates_tell_nothing_new() {
    for variant in [Variant::Reno, Variant::NewReno, Variant::Sack] {
        let config = told(variant, GiveUp::Retransmit);
        let mut pair = run(&config, false, &[1001]);
        assert_eq!(pair.a.cwnd(), 4000, "half of what was under way");
        pair.run();

        let again: Vec<_> = pair.log[8..].iter().filter(|(sent, _)| sent.from == End::A).collect();
        assert_eq!(again.len(), 1, "{variant:?}: nothing else was sent again");
        assert_eq!((again[0].0.time.as_nanos(), again[0].0.segment.seq), (5_000_000, 1001));
        let counters = pair.a.counters();
        assert_eq!((counters.timeouts, counters.fast_retransmits), (0, 0));
        assert_eq!(pair.b.delivered(), 8000);
    }
}

#[test]
fn with_rack_the_segment_is_lost_and_nothing_else() {
    let mut pair = run(&told(Variant::Rack, GiveUp::Retransmit), false, &[1001]);
    assert_eq!(pair.a.ssthresh(), 4000);
    pair.run();
    let counters = pair.a.counters();
    assert_eq!((counters.retransmissions, counters.timeouts), (1, 0));
    assert_eq!(pair.b.delivered(), 8000);
}

#[test]
fn the_window_stays_where_the_channel_lost_it_and_falls_after_a_collision() {
    for variant in [Variant::Reno, Variant::NewReno, Variant::Sack, Variant::Rack] {
        let config = told(variant, GiveUp::Freeze);
        let kept = run(&config, true, &[1001]);
        assert_eq!((kept.a.cwnd(), kept.a.ssthresh()), (8000, u64::MAX), "{variant:?}");
        assert_eq!(run(&config, false, &[1001]).a.ssthresh(), 4000, "{variant:?}");
    }
}

#[test]
fn several_frames_of_a_window_halve_it_once() {
    for variant in [Variant::Reno, Variant::NewReno, Variant::Sack, Variant::Rack] {
        let mut pair = run(&told(variant, GiveUp::Retransmit), false, &[1, 1001, 6001]);
        assert_eq!(pair.a.ssthresh(), 4000, "{variant:?}");
        pair.run();
        let counters = pair.a.counters();
        assert_eq!((counters.retransmissions, counters.timeouts), (3, 0), "{variant:?}");
        assert_eq!(pair.b.delivered(), 8000);
    }
}

#[test]
fn a_tail_needs_no_timer() {
    // Nothing follows the last segment: without the MAC's report only the timer detects its loss.
    for variant in [Variant::Reno, Variant::NewReno, Variant::Sack] {
        let mut pair = run(&told(variant, GiveUp::Retransmit), false, &[7001]);
        pair.run();
        assert_eq!(pair.a.counters().timeouts, 0);
        assert_eq!(pair.now.as_nanos(), 105_000_000, "{variant:?}: a round trip after the word");
    }
}

#[test]
fn what_has_arrived_all_the_same_is_not_sent_again() {
    let mut pair = Pair::sending(&told(Variant::NewReno, GiveUp::Retransmit), 2000);
    pair.run();
    let segment = pair.log[0].0.segment;
    pair.a.on_given_up(pair.configs[0].at(pair.now), &segment, false);
    pair.run();
    assert_eq!(pair.a.counters().retransmissions, 0);
}

#[test]
fn the_first_segment_after_a_window_that_was_told_of_may_be_found_lost() {
    // Eight segments are in flight when 1001 is given up. The first of the following ones is lost
    // on its way, which only duplicate ACKs reveal.
    let config = Config { receive_window: 64_000, ..told(Variant::NewReno, GiveUp::Retransmit) };
    let mut pair = Pair::sending_over(&config, 20_000, lose_once(&[1001, 8001]));
    pair.run_until(5);
    let segment = lost_segment(&pair, 1001);
    pair.a.on_given_up(pair.configs[0].at(pair.now), &segment, false);
    pair.run();
    let counters = pair.a.counters();
    assert_eq!((counters.timeouts, counters.fast_retransmits), (0, 1));
    assert_eq!(pair.b.delivered(), 20_000);
}

#[test]
fn without_the_key_nothing_happens() {
    let config = Config { mac_feedback: None, ..told(Variant::NewReno, GiveUp::Retransmit) };
    let pair = run(&config, false, &[1001]);
    assert_eq!((pair.a.cwnd(), pair.log.len()), (8000, 8));
}
