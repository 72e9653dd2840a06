//! A path with a bottleneck, for BBR: 1000 segments of 1000 bytes per second and a round trip of
//! 101 ms, so 101 segments fill it. Each test sets the queue length and the losses.

use airtcp_kernel::{Duration, Time};
use airtcp_tcp::{Config, Congestion, Variant};

use crate::pair::{End, Fate, Pair, Sent, config};

/// Transmission time of a segment at the bottleneck.
pub(crate) const TIME: Duration = Duration::from_millis(1);
/// More segments than any window has.
pub(crate) const ENDLESS: u64 = 1 << 40;

pub(crate) fn paced(congestion: Congestion) -> Config {
    Config {
        congestion,
        variant: Variant::Rack,
        pacing: true,
        receive_window: 1 << 30,
        initial_window: 10_000,
        ..config()
    }
}

/// Returns a path with room for `queue` segments in its queue. `lost` selects the segments to lose;
/// `longer` returns the extra delay at a time.
pub(crate) fn path(
    queue: u64,
    longer: impl Fn(Time) -> Duration,
    lost: impl Fn(usize) -> bool,
) -> impl FnMut(&Sent) -> Fate {
    let mut free = Time::ZERO;
    move |sent: &Sent| {
        if sent.from == End::B {
            return Fate::Deliver;
        }
        if free.saturating_since(sent.time) > TIME * queue {
            return Fate::Lose;
        }
        free = free.max(sent.time) + TIME;
        if lost(sent.index) {
            return Fate::Lose;
        }
        Fate::Late(vec![free - sent.time + longer(sent.time)])
    }
}

/// Returns an endless transfer with this congestion control.
pub(crate) fn running<'a>(
    congestion: Congestion,
    rule: impl FnMut(&Sent) -> Fate + 'a,
) -> Pair<'a> {
    let mut pair = Pair::sending_over(&paced(congestion), u64::MAX, rule);
    pair.steps_left = 10_000_000;
    pair
}

/// Returns the segments delivered between two times in milliseconds.
pub(crate) fn delivered(pair: &mut Pair<'_>, from: u64, to: u64) -> u64 {
    pair.run_until(from);
    let before = pair.b.delivered();
    pair.run_until(to);
    (pair.b.delivered() - before) / 1000
}
