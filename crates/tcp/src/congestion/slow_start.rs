//! Early ends of slow start: HyStart as in Linux, and HyStart++ (RFC 9406).
//!
//! A [`Watched`] controller wraps another one and watches its first slow start.

use airtcp_kernel::{Duration, Time};

use super::{AnyController, Controller, Delivery, Moment, Window};
use crate::{Config, Implementation, SlowStart};

/// The RTT increase over the minimum that indicates a queue: lower limit, upper limit, and divisor
/// of the minimum. RFC 9406 section 4.3, and `HYSTART_DELAY_MIN`, `_MAX` and `_THRESH` of Linux's
/// tcp_cubic.c.
const LEAST_RISE: Duration = Duration::from_millis(4);
const MOST_RISE: Duration = Duration::from_millis(16);
const RISE_DIVISOR: u64 = 8;
/// ns-3's tcp-cubic.cc uses the whole minimum RTT, up to this limit: its `HyStartDelayMax`.
const MOST_RISE_NS3: Duration = Duration::from_secs(1);
/// N_RTT_SAMPLE of RFC 9406, and `HYSTART_MIN_SAMPLES` of Linux.
const SAMPLES: u32 = 8;

/// `hystart_low_window` of Linux's tcp_cubic.c, in segments.
const LOW_WINDOW: u64 = 16;
/// `hystart_ack_delta_us`: ACKs at most this far apart form a train.
const TRAIN_GAP: Duration = Duration::from_millis(2);

/// RFC 9406 section 4.3.
const CSS_GROWTH_DIVISOR: u64 = 4;
const CSS_ROUNDS: u32 = 5;
/// L: "8 for non-paced"; with pacing there is no limit.
const UNPACED_LIMIT: u64 = 8;

/// A controller with a watched first slow start.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    controller: AnyController,
    watch: Watch,
}

/// The watch on the current slow start.
#[derive(Clone, Debug)]
enum Watch {
    /// RFC 9406 section 4.3: HyStart++ applies only to the initial slow start.
    Over,
    Hystart(Hystart),
    PlusPlus(PlusPlus),
}

/// A round: it ends when everything sent before its start is acknowledged.
#[derive(Clone, Debug)]
struct Round {
    end: u64,
    samples: u32,
    /// The minimum RTT in it; `None` before the first sample.
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

/// Returns the RTT increase over `least` that indicates a queue.
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
    /// See [`Controller::on_ack`]. Rare cases are out-of-line calls with copies of the arguments,
    /// so that the fast path can keep them in registers.
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

    /// Ends the watch at a loss: RFC 9406 section 4.2, "If loss or ECN-marking is observed at any
    /// time during standard slow start or CSS, enter congestion avoidance". Linux also watches the
    /// slow start after a timeout.
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
    /// When the round began, and when the last ACK of its train arrived.
    began: Time,
    last: Time,
    /// `delay_min`; `None` before the first sample.
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
        // ns-3 uses the smoothed RTT.
        let rtt = if is_ns3 { moment.rtt.srtt() } else { delivery.rtt };
        let Some(rtt) = rtt else { return };
        let least = self.least.map_or(rtt, |least| least.min(rtt));
        self.least = Some(least);
        // Rounds begin with the first window that is not low; since Linux 6.14, and in ns-3, with
        // the first window.
        let is_low = window.cwnd < LOW_WINDOW * u64::from(moment.config.mss);
        if !is_slow_start || is_low && !is_ns3 {
            return;
        }
        self.watch_round(window, moment, delivery, (rtt, least));
    }

    /// Ends slow start if the round indicates a queue. `rtt` is the round trip of this ACK, `least`
    /// the minimum.
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
            // Without `hystart_ack_delay`, which allows for up to 1 ms of batching in a network
            // card.
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
    /// Set in conservative slow start: cssBaselineMinRtt and the number of the round.
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
            // The increase was spurious: resume slow start.
            (Some((baseline, _)), _) if least < baseline => self.conservative = None,
            // RFC 9406: "If the transition into CSS happens in the middle of a round, that partial
            // round counts".
            (None, Some(last)) if least >= last + rise(last) => {
                self.conservative = Some((least, 1));
            }
            _ => {}
        }
    }
}
