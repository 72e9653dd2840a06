//! Slow start that ends before a loss: HyStart as Linux has it, and HyStart++ (RFC 9406).
//!
//! Knows rounds and the round trips in them. A [`Watched`] controller is another one whose first slow
//! start is watched; all else is that one's.

use airtcp_kernel::{Duration, Time};

use super::{AnyController, Controller, Delivery, Moment, Window};
use crate::{Config, Implementation, SlowStart};

/// The rise of a round trip over the least that tells of a queue: at least, at most, and as a part
/// of it. RFC 9406 section 4.3, and `HYSTART_DELAY_MIN`, `_MAX` and `_THRESH` of Linux's tcp_cubic.c.
const LEAST_RISE: Duration = Duration::from_millis(4);
const MOST_RISE: Duration = Duration::from_millis(16);
const RISE_DIVISOR: u64 = 8;
/// ns-3's tcp-cubic.cc takes the whole least round trip, up to this: its `HyStartDelayMax`.
const MOST_RISE_NS3: Duration = Duration::from_secs(1);
/// N_RTT_SAMPLE of RFC 9406, and `HYSTART_MIN_SAMPLES` of Linux.
const SAMPLES: u32 = 8;

/// `hystart_low_window` of Linux's tcp_cubic.c, in segments.
const LOW_WINDOW: u64 = 16;
/// `hystart_ack_delta_us`: acknowledgments that follow each other so closely are a train.
const TRAIN_GAP: Duration = Duration::from_millis(2);

/// RFC 9406 section 4.3.
const CSS_GROWTH_DIVISOR: u64 = 4;
const CSS_ROUNDS: u32 = 5;
/// L: "8 for non-paced"; paced there is no limit.
const UNPACED_LIMIT: u64 = 8;

/// A controller whose first slow start is watched.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    controller: AnyController,
    watch: Watch,
}

/// The slow start that is under way, as far as it is known.
#[derive(Clone, Debug)]
enum Watch {
    /// RFC 9406 section 4.3: HyStart++ is for the initial slow start alone.
    Over,
    Hystart(Hystart),
    PlusPlus(PlusPlus),
}

/// A round of acknowledgments: until all is acknowledged that was sent before it began.
#[derive(Clone, Debug)]
struct Round {
    end: u64,
    samples: u32,
    /// The least round trip in it; none yet.
    least: Option<Duration>,
}

impl Round {
    fn new(end: u64) -> Self {
        Self { end, samples: 0, least: None }
    }

    fn take(&mut self, rtt: Duration) {
        self.samples += 1;
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
    }
}

/// Returns the rise over `least` by which a round trip tells of a queue.
fn rise(least: Duration) -> Duration {
    part(least, RISE_DIVISOR).clamp(LEAST_RISE, MOST_RISE)
}

fn part(span: Duration, divisor: u64) -> Duration {
    Duration::from_nanos(span.as_nanos() / divisor)
}

impl Watched {
    pub(crate) fn new(config: &Config, controller: AnyController) -> Self {
        let watch = match config.slow_start {
            SlowStart::Standard => Watch::Over,
            SlowStart::Hystart => Watch::Hystart(Hystart::default()),
            SlowStart::HystartPlusPlus => Watch::PlusPlus(PlusPlus::default()),
        };
        Self { controller, watch }
    }
}

impl Controller for Watched {
    fn on_ack(&mut self, window: &mut Window, moment: &Moment<'_>, delivery: Delivery) {
        self.on_ack_in_line(window, *moment, delivery);
    }

    fn on_loss(&mut self, window: &mut Window, moment: &Moment<'_>, flight_size: u64) {
        self.end();
        self.controller.on_loss(window, moment, flight_size);
    }

    fn on_timeout(&mut self, window: &mut Window, moment: &Moment<'_>, flight_size: Option<u64>) {
        self.end();
        self.controller.on_timeout(window, moment, flight_size);
    }

    fn on_idle(&mut self, window: &mut Window, moment: &Moment<'_>) {
        self.controller.on_idle(window, moment);
    }

    fn on_resume(&mut self, moment: &Moment<'_>, last_sent: Time) {
        self.controller.on_resume(moment, last_sent);
    }
}

impl Watched {
    /// Does as [`Controller::on_ack`]. Rare cases get copies in calls, so that nothing of the rest has to lie in memory.
    #[inline(always)]
    pub(crate) fn on_ack_in_line(
        &mut self,
        window: &mut Window,
        moment: Moment<'_>,
        delivery: Delivery,
    ) {
        let is_slow_start = window.cwnd < window.ssthresh;
        match &mut self.watch {
            Watch::Hystart(hystart) => hystart.on_ack(window, moment, delivery, is_slow_start),
            Watch::PlusPlus(plus_plus) if is_slow_start => {
                plus_plus.on_ack(window, moment, delivery);
                if window.cwnd >= window.ssthresh {
                    self.watch = Watch::Over;
                }
                return;
            }
            Watch::PlusPlus(_) | Watch::Over => {}
        }
        match &mut self.controller {
            AnyController::Cubic(cubic) => cubic.on_ack_in_line(window, moment, delivery),
            other => other.on_ack_apart(window, moment, delivery),
        }
    }

    /// Ends at a loss: RFC 9406 section 4.2, "If loss or ECN-marking is observed at any time during standard slow
    /// start or CSS, enter congestion avoidance". Linux watches the slow start after a timeout, too.
    fn end(&mut self) {
        match &mut self.watch {
            Watch::Hystart(hystart) => *hystart = Hystart::default(),
            Watch::PlusPlus(_) | Watch::Over => self.watch = Watch::Over,
        }
    }
}

/// `hystart_update` of Linux's tcp_cubic.c, version 6, with both detectors.
#[derive(Clone, Debug, Default)]
struct Hystart {
    round: Option<Round>,
    /// The time at which the round began, and that of the last acknowledgment of its train.
    began: Time,
    last: Time,
    /// `delay_min`; none yet.
    least: Option<Duration>,
}

impl Hystart {
    #[inline(always)]
    fn on_ack(
        &mut self,
        window: &mut Window,
        moment: Moment<'_>,
        delivery: Delivery,
        is_slow_start: bool,
    ) {
        let is_ns3 = moment.config.rules.hystart == Implementation::Ns3;
        // ns-3 watches the smoothed round trip.
        let rtt = if is_ns3 { moment.rtt.srtt() } else { delivery.rtt };
        let Some(rtt) = rtt else { return };
        let least = self.least.map_or(rtt, |least| least.min(rtt));
        self.least = Some(least);
        // Rounds begin with the first window that is not low; since Linux 6.14, and in ns-3, with the first one.
        let is_low = window.cwnd < LOW_WINDOW * u64::from(moment.config.mss);
        if !is_slow_start || is_low && !is_ns3 {
            return;
        }
        self.watch_round(window, moment, delivery, (rtt, least));
    }

    /// Ends slow start where the round tells of a queue: `rtt` is the round trip of this acknowledgment, `least` the least.
    #[inline(never)]
    fn watch_round(
        &mut self,
        window: &mut Window,
        moment: Moment<'_>,
        delivery: Delivery,
        (rtt, least): (Duration, Duration),
    ) {
        let is_ns3 = moment.config.rules.hystart == Implementation::Ns3;
        let is_low = window.cwnd < LOW_WINDOW * u64::from(moment.config.mss);
        let now = moment.now;
        if self.round.as_ref().is_none_or(|round| delivery.una > round.end) {
            self.round = Some(Round::new(delivery.next));
            (self.began, self.last) = (now, now);
        }
        if is_low {
            return;
        }
        let Some(round) = &mut self.round else { return };
        let mut found = false;
        if now.saturating_since(self.last) <= TRAIN_GAP {
            self.last = now;
            // Without `hystart_ack_delay`, at most 1 ms that gather in a network card.
            let is_whole = moment.config.pacing || is_ns3;
            let threshold = if is_whole { least } else { part(least, 2) };
            found = now.saturating_since(self.began) > threshold;
        }
        let is_enough = round.samples >= SAMPLES;
        if !(is_ns3 && is_enough) {
            round.take(rtt);
        }
        let rise = if is_ns3 { least.clamp(LEAST_RISE, MOST_RISE_NS3) } else { rise(least) };
        found |= is_enough && round.least.is_some_and(|rtt| rtt > least + rise);
        if found {
            window.ssthresh = window.cwnd;
        }
    }
}

/// HyStart++: RFC 9406 section 4.2.
#[derive(Clone, Debug, Default)]
struct PlusPlus {
    round: Option<Round>,
    /// lastRoundMinRTT.
    last_least: Option<Duration>,
    /// In conservative slow start: cssBaselineMinRtt, and in which of its rounds.
    conservative: Option<(Duration, u32)>,
}

impl PlusPlus {
    #[inline(never)]
    fn on_ack(&mut self, window: &mut Window, moment: Moment<'_>, delivery: Delivery) {
        let config = moment.config;
        if self.round.as_ref().is_none_or(|round| delivery.una >= round.end) {
            self.last_least = self.round.take().and_then(|round| round.least);
            self.round = Some(Round::new(delivery.next));
            if let Some((_, rounds)) = &mut self.conservative {
                *rounds += 1;
                if *rounds > CSS_ROUNDS {
                    window.ssthresh = window.cwnd;
                    return;
                }
            }
        }
        if delivery.validates_slow_start(window) {
            let limit = UNPACED_LIMIT * u64::from(config.mss);
            let growth = if config.pacing { delivery.acked } else { delivery.acked.min(limit) };
            let divisor = if self.conservative.is_some() { CSS_GROWTH_DIVISOR } else { 1 };
            window.cwnd = window.cwnd.saturating_add(growth / divisor);
        }
        let (Some(round), Some(rtt)) = (&mut self.round, delivery.rtt) else { return };
        round.take(rtt);
        let Some(least) = round.least.filter(|_| round.samples >= SAMPLES) else { return };
        match (self.conservative, self.last_least) {
            // The rise was none: slow start goes on.
            (Some((baseline, _)), _) if least < baseline => self.conservative = None,
            // "If the transition into CSS happens in the middle of a round, that partial round counts".
            (None, Some(last)) if least >= last + rise(last) => {
                self.conservative = Some((least, 1));
            }
            _ => {}
        }
    }
}
