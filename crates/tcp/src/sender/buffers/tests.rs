use airtcp_kernel::Time;

use super::*;
use crate::config::DelayedAck;
use crate::{Endpoint, Flags, Opening, Rules, Segment, SegmentOptions, Variant};

const T: Time = Time::from_nanos(1_000_000_000);

/// Returns Linux's configuration for both ends, with segments of 1000 bytes and an initial window
/// of ten.
fn linux() -> Config {
    let delayed_ack =
        DelayedAck { adaptive: true, ..DelayedAck::every(2, Duration::from_millis(40)) };
    Config {
        variant: Variant::Rack,
        rules: Rules { segmentation: Segmentation::Linux, ..Rules::standard() },
        initial_window: 10_000,
        // Two quick ACKs, and none for an opening window.
        receive_window: 3000,
        delayed_ack,
        ..Config::standard()
    }
}

/// Returns, for each segment sent now, whether it carries PSH.
fn pushed(endpoint: &mut Endpoint, config: &Config, now: Time) -> Vec<bool> {
    let mut options = SegmentOptions::new();
    std::iter::from_fn(|| endpoint.poll_transmit(config.at(now), &mut options))
        .map(|segment| segment.flags.contains(Flags::PSH))
        .collect()
}

fn ack(endpoint: &mut Endpoint, config: &Config, now: Time, ack: u64) {
    let segment = Segment { seq: 1, ack, len: 0, flags: Flags::ACK };
    endpoint.on_segment(config.at(now), &segment, &SegmentOptions::new());
}

/// At most half of the window of ten share a buffer; without buffers no segment carries PSH.
#[test]
fn the_last_segment_of_a_buffer_pushes() {
    let config = Config { receive_window: 1_000_000, ..linux() };
    let mut endpoint = Endpoint::new(&config, Opening::Established);
    endpoint.write(1_000_000);
    let [no, yes] = [false, true];
    assert_eq!(pushed(&mut endpoint, &config, T), [no, no, no, no, yes, no, no, no, no, yes]);
    let single = Config { rules: Rules::standard(), ..config };
    let mut endpoint = Endpoint::new(&single, Opening::Established);
    endpoint.write(1_000_000);
    assert_eq!(pushed(&mut endpoint, &single, T), [no; 10]);
}

/// In congestion avoidance, at a rate where two segments share a buffer. The ACK of one segment
/// releases another at once, because the last was sent long ago. The next ACK comes half a
/// millisecond later, and what it releases waits for a second segment.
#[test]
fn what_may_leave_waits_for_more_if_something_has_just_left() {
    let rules = Rules { segmentation: Segmentation::Linux, ..Rules::standard() };
    for (rules, expected) in [(rules, [1, 0, 2]), (Rules::standard(), [1, 1, 1])] {
        let window = Config { receive_window: 1_000_000, initial_ssthresh: Some(2000), ..linux() };
        let config = Config { rules, ..window };
        let mut endpoint = Endpoint::new(&config, Opening::Established);
        endpoint.write(1_000_000);
        pushed(&mut endpoint, &config, T);
        let sent = [(0, 1001), (500, 2001), (900, 3001)].map(|(micros, number)| {
            let now = T + Duration::from_micros(100_000 + micros);
            ack(&mut endpoint, &config, now, number);
            pushed(&mut endpoint, &config, now).len()
        });
        assert_eq!(sent, expected);
    }
}

/// Each ACK releases one segment, which waits for a second one. The window still counts as full and
/// grows by a segment per round trip.
#[test]
fn a_window_that_waits_for_more_is_full() {
    let window = Config { receive_window: 1_000_000, initial_ssthresh: Some(2000), ..linux() };
    let rules = Rules { segmentation: Segmentation::Linux, ..Rules::standard() };
    let config = Config { rules, ..window };
    let mut endpoint = Endpoint::new(&config, Opening::Established);
    endpoint.write(1_000_000);
    pushed(&mut endpoint, &config, T);
    for count in 1..=60 {
        let now = T + Duration::from_micros(100_000 + 700 * count);
        ack(&mut endpoint, &config, now, 1 + 1000 * count);
        pushed(&mut endpoint, &config, now);
    }
    // 10 + 11 + 12 + 13 + 14 = 60 segments.
    assert!(endpoint.cwnd() >= 14_000, "{}", endpoint.cwnd());
}

/// The third segment is the first without a quick ACK. Alone it waits for another, unless it
/// carries PSH.
#[test]
fn a_pushed_segment_is_acknowledged_at_once() {
    let config = linux();
    for (flags, expected) in [(Flags::ACK, 0), (Flags::ACK | Flags::PSH, 1)] {
        let mut endpoint = Endpoint::new(&config, Opening::Established);
        let mut options = SegmentOptions::new();
        let mut came = |seq: u64, flags: Flags| {
            let segment = Segment { seq, ack: 1, len: 1000, flags };
            endpoint.on_segment(config.at(T), &segment, &SegmentOptions::new());
            let acks = std::iter::from_fn(|| endpoint.poll_transmit(config.at(T), &mut options));
            acks.count()
        };
        assert_eq!(came(1, Flags::ACK) + came(1001, Flags::ACK), 2);
        assert_eq!(came(2001, flags), expected);
    }
}

fn millis(count: u64) -> Option<Duration> {
    Some(Duration::from_millis(count))
}

#[test]
fn a_buffer_takes_a_millisecond_and_more_on_a_short_path() {
    // 10 MB/s for 1/1024 s, plus 64 KiB halved for each 512 us.
    assert_eq!(size_at(Some(10_240_000), millis(100)), 10_000);
    assert_eq!(size_at(Some(10_240_000), millis(1)), 10_000 + 32_768);
    assert_eq!(size_at(Some(10_240_000), millis(3)), 10_000 + 2048);
    assert_eq!(size_at(Some(10_240_000), None), 10_000);
    assert_eq!(size_at(None, millis(100)), 65_536);
    assert_eq!(size_at(Some(1 << 40), millis(100)), 65_536);
}

#[test]
fn the_last_of_several_pushes_and_so_does_the_last_of_all() {
    let mut buffer = Buffer::default();
    let mut pushes = |segments: u64, is_last: bool| {
        buffer.fill(segments);
        (0..segments)
            .map(|index| {
                buffer.on_sent(is_last && index + 1 == segments);
                std::mem::take(&mut buffer.pushes)
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(pushes(3, false), [false, false, true]);
    assert_eq!(pushes(1, false), [false]);
    assert_eq!(pushes(1, true), [true]);
}

/// The three comparisons give the same result as the divisions of `tcp_cwnd_test`: whole segments
/// of the room, half of those of the window, and segments of the data, of which the last may be
/// short.
#[test]
fn as_many_segments_fit_as_the_divisions_say() {
    let mss = 10_u64;
    for (room, cwnd, unsent) in (0..60_u64)
        .flat_map(|room| (0..130_u64).map(move |cwnd| (room, cwnd, 1 + (7 * cwnd + room) % 60)))
    {
        let most = (room / mss).min(cwnd / mss / 2).min(unsent.div_ceil(mss));
        for segments in 1..8 {
            let does = fits(segments, mss, room, cwnd, unsent);
            assert_eq!(does, segments <= most, "{segments} of {room}, {cwnd}, {unsent}");
        }
    }
}

/// Half of 8760 bytes are three segments of 1460, which the fourth exceeds; half of 7300 are two
/// and a half, and half of 1460 none.
#[test]
fn without_buffers_a_segment_asks_that_fills_more_than_half_a_window() {
    for (window, each) in [(8760, 4), (7300, 3), (1460, 1)] {
        let rules = Rules { segmentation: Segmentation::LinuxSingle, ..Rules::standard() };
        let config = Config { mss: 1460, receive_window: window, rules, ..linux() };
        let mut tcb = Tcb::new(&config);
        tcb.write(100 * 1460);
        let asks = |index: u64| tcb.asks_alone(&config, 1 + index * 1460, 1460);
        assert!((0..99).all(|index| asks(index) == ((index + 1) % each == 0)), "{window}");
        assert!(asks(99) && !tcb.asks_alone(&config, 1, 0));
    }
}
