//! An application that reads late: closing windows, zero-window probes, and windows too small for a
//! useful segment. RFC 9293 sections 3.8.6.1 and 3.8.6.2, and RFC 1122 sections 4.2.2.16 and
//! 4.2.2.17. The round trip is 100 ms.

use airtcp_kernel::Duration;
use airtcp_tcp::{Config, Flags, Segment, Variant};

use crate::pair::{End, Fate, Pair, Sent, config, property};

const VARIANTS: [Variant; 4] = [Variant::Reno, Variant::NewReno, Variant::Sack, Variant::Rack];

/// A buffer of four segments; the congestion window is not the limit.
fn small_buffer() -> Config {
    Config { receive_window: 4000, initial_window: 20_000, ..config() }
}

/// `A` sends, and the application at `B` reads only when the test says so.
fn reading_late<'a>(config: &Config, bytes: u64, rule: impl FnMut(&Sent) -> Fate + 'a) -> Pair<'a> {
    let mut pair = Pair::sending_over(config, bytes, rule);
    pair.read_late(config.receive_window);
    pair
}

fn deliver(_: &Sent) -> Fate {
    Fate::Deliver
}

/// Returns a line per segment since `millis`: time in ms, sender, sequence numbers, ACK number, and
/// the window if it advertises one.
fn windows(pair: &Pair<'_>, millis: u64) -> Vec<String> {
    let is_since = |sent: &&Sent| sent.time.as_nanos() >= millis * 1_000_000;
    let of = |Sent { time, from, segment, .. }: &Sent| {
        let (seq, end, ack) = (segment.seq, segment.end(), segment.ack);
        let window = pair.sacks.window(segment).map_or(String::new(), |win| format!(" win {win}"));
        format!("{} {from:?} {seq}:{end} ack {ack}{window}", time.as_nanos() / 1_000_000)
    };
    pair.log.iter().map(|(sent, _)| sent).filter(is_since).map(of).collect()
}

/// Returns when `A` has sent zero-window probes: segments without data and with the sequence number
/// before the oldest unacknowledged one.
fn probes(pair: &Pair<'_>) -> Vec<u64> {
    let is_probe =
        |sent: &&Sent| sent.from == End::A && sent.segment.len == 0 && sent.segment.seq == 4000;
    let sent = pair.log.iter().map(|(sent, _)| sent).filter(is_probe);
    sent.map(|sent| sent.time.as_nanos() / 1_000_000).collect()
}

#[test]
fn a_window_closes_as_data_waits_to_be_read_and_opens_when_it_is() {
    // Four segments fill the buffer. At 200, before any probe, everything is read: the whole window
    // opens at once.
    for variant in VARIANTS {
        let config = Config { variant, ..small_buffer() };
        let mut pair = reading_late(&config, 6000, deliver);
        pair.run_until(200);
        assert_eq!(pair.read(u64::MAX), 4000);
        pair.run_until(399);
        assert_eq!(
            windows(&pair, 50),
            [
                "50 B 1:1 ack 1001 win 3000",
                "50 B 1:1 ack 2001 win 2000",
                "50 B 1:1 ack 3001 win 1000",
                "50 B 1:1 ack 4001 win 0",
                "200 B 1:1 ack 4001 win 4000",
                "250 A 4001:5001 ack 1",
                "250 A 5001:6001 ack 1",
                "300 B 1:1 ack 5001 win 3000",
                "300 B 1:1 ack 6001 win 2000",
            ],
            "{variant:?}"
        );
        assert_eq!((pair.a.counters().timeouts, pair.a.counters().retransmissions), (0, 0));
    }
}

#[test]
fn a_zero_window_is_probed_after_the_timeout_and_then_at_twice_the_interval() {
    // RTO = 100 + 4 * 50 = 300 ms after one sample. Each response comes 100 ms after a probe, and
    // the interval restarts there. Probes are not timeouts: nothing was lost.
    for variant in VARIANTS {
        let config = Config { variant, ..small_buffer() };
        let mut pair = reading_late(&config, 8000, deliver);
        pair.run_until(6000);
        assert_eq!(probes(&pair), [400, 1100, 2400, 4900], "{variant:?}");
        let counters = pair.a.counters();
        assert_eq!((counters.timeouts, counters.retransmissions), (0, 0), "{variant:?}");
        // The congestion window is unchanged.
        assert_eq!(pair.a.cwnd(), 20_000, "{variant:?}");
        let answers = windows(&pair, 400).into_iter().filter(|line| line.contains(" B "));
        assert!(
            answers.clone().count() >= 3
                && answers.into_iter().all(|line| line.ends_with("ack 4001 win 0"))
        );
    }
}

#[test]
fn probes_are_no_further_apart_than_the_longest_timeout() {
    let config = Config { max_rto: Duration::from_secs(1), ..small_buffer() };
    let mut pair = reading_late(&config, 8000, deliver);
    pair.run_until(6000);
    // 300, 600, then 1000 ms, plus 100 ms for the response.
    assert_eq!(probes(&pair), [400, 1100, 2200, 3300, 4400, 5500]);
}

#[test]
fn what_is_written_into_a_closed_window_is_probed_for_too() {
    // Nothing waits, and no timer runs, until the application writes at 2000.
    let config = small_buffer();
    let mut pair = reading_late(&config, 4000, deliver);
    pair.run_until(2000);
    assert_eq!(probes(&pair), []);
    pair.a.write(1000);
    pair.run_until(2500);
    assert_eq!(probes(&pair), [2300]);
}

#[test]
fn a_window_update_that_is_lost_is_found_by_a_probe() {
    // RFC 9293 section 3.8.6.1: "reliably reported". The window update is sent at 500 and lost; the
    // probe at 1100 requests it again.
    for variant in [Variant::Reno, Variant::NewReno, Variant::Sack] {
        let config = Config { variant, ..small_buffer() };
        let mut pair = reading_late(&config, 8000, |sent: &Sent| {
            let is_update = sent.from == End::B && sent.time.as_nanos() == 500_000_000;
            if is_update { Fate::Lose } else { Fate::Deliver }
        });
        pair.run_until(499);
        pair.run_until(500);
        assert_eq!(pair.read(u64::MAX), 4000);
        pair.run_until(1350);
        let sent = windows(&pair, 451);
        assert_eq!(
            sent[..4],
            [
                "500 B 1:1 ack 4001 win 4000",
                "1100 A 4000:4000 ack 1",
                "1150 B 1:1 ack 4001 win 4000",
                "1200 A 4001:5001 ack 1",
            ],
            "{variant:?}"
        );
        assert_eq!(pair.b.delivered(), 8000);
    }
}

#[test]
fn a_probe_that_is_lost_is_followed_by_another() {
    let config = small_buffer();
    let mut pair = reading_late(&config, 8000, |sent: &Sent| {
        let is_first = sent.from == End::A && sent.time.as_nanos() == 400_000_000;
        if is_first { Fate::Lose } else { Fate::Deliver }
    });
    pair.run_until(1500);
    // Without a response the interval of 600 ms starts at the probe.
    assert_eq!(probes(&pair), [400, 1000]);
}

#[test]
fn the_receiver_opens_the_window_by_a_segment_or_half_the_buffer_at_least() {
    // RFC 9293 section 3.8.6.2.2: min(Fr * RCV.BUFF, Eff.snd.MSS), with Fr = 1/2.
    for (buffer, worth) in [(4000, 1000), (1600, 800)] {
        let config = Config { receive_window: buffer, ..small_buffer() };
        let mut pair = reading_late(&config, 20_000, deliver);
        pair.run_until(399);
        // 1600 bytes take one segment; the rest is too small for a useful segment for a while.
        let waiting = pair.b.delivered();
        assert!(waiting >= 1000, "{waiting}");
        let full = if buffer == 4000 { 0 } else { 600 };
        let told = pair.sacks.window(&pair.log.last().expect("segments").0.segment);
        assert_eq!(told, Some(full));
        let told_before = pair.log.len();
        assert_eq!(pair.read(worth - 1), worth - 1);
        pair.run_until(399);
        assert_eq!(pair.log.len(), told_before, "a byte too little");
        assert_eq!(pair.read(1), 1);
        pair.run_until(399);
        if buffer == 4000 {
            let (sent, _) = pair.log.last().expect("an update");
            assert_eq!((sent.from, pair.sacks.window(&sent.segment)), (End::B, Some(worth)));
        }
    }
}

#[test]
fn a_window_that_is_not_twice_as_large_is_told_of_with_the_next_acknowledgment() {
    // The buffer has room for 64 segments; two of the ten that wait are read. That is too little
    // for a window update.
    let config = config();
    let mut pair = reading_late(&config, 10_000, deliver);
    pair.run();
    let sent = pair.log.len();
    assert_eq!(pair.read(2000), 2000);
    pair.run();
    assert_eq!(pair.log.len(), sent);
    pair.a.write(1000);
    pair.run();
    // 64000 - 11000 + 2000.
    let last = pair.sacks.window(&pair.log.last().expect("segments").0.segment);
    assert_eq!(last, Some(55_000));
}

#[test]
fn the_sender_waits_with_a_silly_segment_until_the_timer_lets_it_go() {
    // A buffer of 2600 takes two segments and has 600 left: less than a segment, than half of the
    // largest window and than the waiting data. RFC 9293 section 3.8.6.2.1, (4): a segment is sent
    // when the override timer expires.
    for variant in [Variant::Reno, Variant::NewReno, Variant::Sack] {
        let config = Config { variant, receive_window: 2600, ..small_buffer() };
        let mut pair = reading_late(&config, 5000, deliver);
        pair.run_until(460);
        assert_eq!(
            windows(&pair, 0),
            [
                "0 A 1:1001 ack 1",
                "0 A 1001:2001 ack 1",
                "50 B 1:1 ack 1001 win 1600",
                "50 B 1:1 ack 2001 win 600",
                "400 A 2001:2601 ack 1",
                "450 B 1:1 ack 2601 win 0",
            ],
            "{variant:?}"
        );
    }
}

#[test]
fn half_of_the_greatest_window_is_worth_a_segment_and_so_is_all_that_waits() {
    // Section 3.8.6.2.1, (3) with Fs = 1/2, and (2), with nothing in flight. The largest window is
    // 1500 bytes.
    for variant in VARIANTS {
        for (waiting, window, goes) in [
            (4000, 749, None),
            (4000, 750, Some(750)),
            (600, 599, None),
            (600, 600, Some(600)),
            (4000, 1000, Some(1000)),
        ] {
            let config = Config { variant, receive_window: 1500, ..small_buffer() };
            let mut pair = Pair::sending(&config, 1000 + waiting);
            let sent = pair.a.poll_transmit(config.at(pair.now), &mut pair.sacks);
            assert_eq!(sent.map(|sent| sent.len), Some(1000));
            while pair.a.poll_transmit(config.at(pair.now), &mut pair.sacks).is_some() {}
            let ack = Segment { seq: 1, ack: pair.a.snd_nxt(), len: 0, flags: Flags::ACK };
            let ack = pair.sacks.say_window(ack, window);
            pair.a.on_segment(config.at(pair.now), &ack, &pair.sacks);
            let next = pair.a.poll_transmit(config.at(pair.now), &mut pair.sacks);
            assert_eq!(next.map(|next| next.len), goes, "{variant:?} {waiting} {window}");
        }
    }
}

#[test]
fn a_window_update_is_no_duplicate_ack() {
    // RFC 5681 section 2, (e). Eight segments wait; four reads while data is in flight open the
    // window by 2 each, and no fast retransmit follows.
    for variant in [Variant::Reno, Variant::NewReno] {
        let config = Config { variant, receive_window: 8000, ..small_buffer() };
        let mut pair = reading_late(&config, 20_000, deliver);
        pair.run_until(100);
        for millis in [110, 120, 130, 140] {
            assert_eq!(pair.read(2000), 2000);
            pair.run_until(millis);
        }
        pair.run_until(400);
        let counters = pair.a.counters();
        assert_eq!((counters.fast_retransmits, counters.retransmissions), (0, 0), "{variant:?}");
        assert!(pair.b.delivered() > 8000);
    }
}

#[test]
fn what_lies_beyond_the_window_is_not_taken_and_is_answered() {
    // RFC 9293 section 3.10.7.4. The other end ignores closing windows: its configuration has 64000
    // bytes. Segments are trimmed to the buffer of 2500 bytes and answered with the current window.
    let mut pair = Pair::new(&config(), deliver);
    pair.read_late(2500);
    for seq in [1, 1001, 2001, 3001] {
        pair.arrive_late(&Segment { seq, ack: 1, len: 1000, flags: Flags::ACK });
        pair.flush();
    }
    let answers: Vec<_> = pair.log.iter().map(|(sent, _)| sent.segment).collect();
    assert_eq!(answers.len(), 4);
    for answer in answers {
        assert_eq!(pair.sacks.window(&answer), Some(2500 - (answer.ack - 1)));
    }
    assert_eq!(pair.b.delivered(), 2500);
}

proptest::proptest! {
    #![proptest_config(property(48))]

    /// Whatever the application reads when, and whatever is lost: all data arrives, never beyond
    /// the advertised edge, and the edge never decreases.
    #[test]
    fn all_comes_however_late_it_is_read(
        reads in proptest::collection::vec((1_u64..400, 0_u64..3000), 1..40),
        buffer in 1000_u64..9000,
        lost in proptest::collection::vec(0_usize..60, 0..6),
        which in 0_usize..4,
    ) {
        let config = Config { variant: VARIANTS[which], receive_window: buffer, ..small_buffer() };
        let bytes = 20_000;
        let mut pair = reading_late(&config, bytes, |sent: &Sent| {
            let is_lost = lost.contains(&sent.index) && sent.index % 2 == usize::from(sent.from == End::A);
            if is_lost { Fate::Lose } else { Fate::Deliver }
        });
        let (mut millis, mut read) = (0, 0);
        for (pause, amount) in reads {
            millis += pause;
            pair.run_until(millis);
            read += pair.read(amount);
        }
        for _ in 0..200 {
            millis += 1000;
            pair.run_until(millis);
            read += pair.read(u64::MAX);
        }
        proptest::prop_assert_eq!((read, pair.a.acked()), (bytes, bytes));
        let mut edge = 1 + buffer;
        let mut sent: Vec<&Sent> = pair.log.iter().map(|(sent, _)| sent).collect();
        sent.sort_by_key(|sent| (sent.time, sent.from == End::A));
        for sent in sent {
            if let Some(window) = pair.sacks.window(&sent.segment) {
                proptest::prop_assert!(sent.segment.ack + window >= edge);
                edge = sent.segment.ack + window;
            } else if sent.from == End::A {
                proptest::prop_assert!(sent.segment.end() <= edge);
            }
        }
    }
}
