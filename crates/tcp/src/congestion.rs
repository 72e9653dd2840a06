//! Congestion control: how the window grows, and what a loss leaves of it.
//!
//! A [`Controller`] receives a few kinds of events, each with the time, the RTT estimate and what
//! was delivered. Sequence numbers, timers, loss detection and loss recovery belong to the
//! [sender](crate::sender), which also changes the window during a recovery. Both share a
//! [`Window`]. Results are identical on every machine: integers, and floating-point operations that
//! do not differ between platforms.

mod bbr;
mod bbr1;
mod cubic;
pub mod plugin;
mod reno;
#[cfg(test)]
mod scene;
mod slow_start;

use airtcp_kernel::{Duration, Time};

use self::bbr::Bbr;
use self::bbr1::Bbr1;
use self::cubic::Cubic;
use self::plugin::Registered;
use self::reno::Reno;
use self::slow_start::Watched;
use crate::rate::{LostSegment, RateSample};
use crate::rtt::RttEstimator;
use crate::{At, Config, Congestion, Implementation, SlowStart};

/// `cwnd` and `ssthresh` of RFC 5681 in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) cwnd: u64,
    /// `u64::MAX`: no threshold yet.
    pub(crate) ssthresh: u64,
}

/// The time, and the estimates, at an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment<'a> {
    pub(crate) config: &'a Config,
    pub(crate) now: Time,
    pub(crate) rtt: &'a RttEstimator,
}

impl<'a> At<'a> {
    #[inline]
    pub(crate) fn moment(self, rtt: &'a RttEstimator) -> Moment<'a> {
        Moment { config: self.config, now: self.now, rtt }
    }
}

/// What an ACK says about outstanding data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivery {
    /// Newly acknowledged bytes.
    pub(crate) acked: u64,
    /// The most bytes in flight during the last round trip; `u64::MAX` if they filled the window. A
    /// window that is not used says nothing about the path's capacity: RFC 7661 section 4.2, in
    /// Linux's simplified form.
    pub(crate) most_in_flight: u64,
    /// The round trip of the newest acknowledged segment, if single segments are timed.
    pub(crate) rtt: Option<Duration>,
    /// SND.UNA after this ACK, and the sequence number after the highest one sent; they delimit
    /// rounds.
    pub(crate) una: u64,
    pub(crate) next: u64,
}

impl Delivery {
    /// Whether slow start may grow the window: more than half of it was used, as before a doubling.
    #[inline]
    pub(crate) fn validates_slow_start(self, window: &Window) -> bool {
        window.cwnd / 2 < self.most_in_flight
    }

    /// Whether congestion avoidance may grow the window: it was full.
    #[inline]
    pub(crate) fn validates_avoidance(self) -> bool {
        self.most_in_flight == u64::MAX
    }
}

/// A congestion control algorithm.
pub(crate) trait Controller {
    /// Grows the window for new data acknowledged outside fast recovery.
    fn on_ack(&mut self, window: &mut Window, moment: &Moment<'_>, delivery: Delivery);

    /// Sets `ssthresh` for a loss detected without the RTO timer, with `flight_size` bytes
    /// outstanding. The recovery that follows sets `cwnd`.
    fn on_loss(&mut self, window: &mut Window, moment: &Moment<'_>, flight_size: u64);

    /// Sets `ssthresh` when the retransmission timer expires with `flight_size` bytes outstanding.
    /// `None` if the timer had already retransmitted this segment: RFC 5681 section 3.1, "the value
    /// of ssthresh is held constant".
    fn on_timeout(&mut self, window: &mut Window, moment: &Moment<'_>, flight_size: Option<u64>);

    /// Reduces the window before sending after an idle period longer than the RTO: RFC 5681 section
    /// 4.1, RW = min(IW, cwnd).
    fn on_idle(&mut self, window: &mut Window, moment: &Moment<'_>) {
        window.cwnd = window.cwnd.min(initial_window(moment.config));
    }

    /// Called before sending after a shorter idle period, with nothing in flight; the last segment
    /// was sent at `last_sent`.
    fn on_resume(&mut self, _moment: &Moment<'_>, _last_sent: Time) {}

    /// Processes the delivery-rate sample of an ACK, in any phase: for controllers that set window
    /// and pacing rate themselves.
    fn on_sample(&mut self, _window: &mut Window, _moment: &Moment<'_>, _sample: &RateSample) {}

    /// Processes a segment detected as lost, before the sample of the ACK that revealed it.
    fn on_lost(&mut self, _window: &mut Window, _moment: &Moment<'_>, _lost: &LostSegment) {}

    /// Whether it now sends less than the path can deliver, so that delivery rates say nothing
    /// about the path.
    fn holds_back(&self) -> bool {
        false
    }

    /// Called at the end of a recovery: for controllers that set the window themselves.
    fn on_recovered(&mut self, _window: &mut Window) {}

    /// Returns the pacing rate in bytes/s; `None`: derived from the window.
    fn rate(&self) -> Option<f64> {
        None
    }
}

/// The controller selected in the configuration.
#[derive(Clone, Debug)]
pub(crate) enum AnyController {
    Reno(Reno),
    Cubic(Box<Cubic>),
    Watched(Box<Watched>),
    Bbr1(Box<Bbr1>),
    Bbr(Box<Bbr>),
    Registered(Box<Registered>),
}

impl AnyController {
    pub(crate) fn new(config: &Config) -> Self {
        let controller = match config.congestion {
            Congestion::Reno => Self::Reno(Reno::default()),
            Congestion::Cubic => Self::Cubic(Box::default()),
            Congestion::Bbr1 => {
                let is_ns3 = config.rules.bbr1 == Implementation::Ns3;
                Self::Bbr1(Box::new(Bbr1::new(is_ns3)))
            }
            Congestion::Bbr => Self::Bbr(Box::new(Bbr::new())),
            Congestion::Plugin(number) => Self::Registered(Box::new(Registered::new(number))),
        };
        match config.slow_start {
            SlowStart::Standard => controller,
            SlowStart::Hystart | SlowStart::HystartPlusPlus => {
                Self::Watched(Box::new(Watched::new(config, controller)))
            }
        }
    }
}

/// Evaluates an expression for the current controller.
macro_rules! controller {
    ($any:expr, $controller:ident => $call:expr) => {
        match $any {
            AnyController::Reno($controller) => $call,
            AnyController::Cubic($controller) => $call,
            AnyController::Watched($controller) => $call,
            AnyController::Bbr1($controller) => $call,
            AnyController::Bbr($controller) => $call,
            AnyController::Registered($controller) => $call,
        }
    };
}

impl AnyController {
    /// Like [`Controller::on_ack`], as an out-of-line call.
    #[inline(never)]
    fn on_ack_apart(&mut self, window: &mut Window, moment: Moment<'_>, delivery: Delivery) {
        self.on_ack(window, &moment, delivery);
    }
}

impl Controller for AnyController {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, moment: &Moment<'_>, delivery: Delivery) {
        controller!(self, one => one.on_ack(window, moment, delivery));
    }

    fn on_loss(&mut self, window: &mut Window, moment: &Moment<'_>, flight_size: u64) {
        controller!(self, one => one.on_loss(window, moment, flight_size));
    }

    fn on_timeout(&mut self, window: &mut Window, moment: &Moment<'_>, flight_size: Option<u64>) {
        controller!(self, one => one.on_timeout(window, moment, flight_size));
    }

    fn on_idle(&mut self, window: &mut Window, moment: &Moment<'_>) {
        controller!(self, one => one.on_idle(window, moment));
    }

    fn on_resume(&mut self, moment: &Moment<'_>, last_sent: Time) {
        controller!(self, one => one.on_resume(moment, last_sent));
    }

    fn on_sample(&mut self, window: &mut Window, moment: &Moment<'_>, sample: &RateSample) {
        controller!(self, one => one.on_sample(window, moment, sample));
    }

    fn on_lost(&mut self, window: &mut Window, moment: &Moment<'_>, lost: &LostSegment) {
        controller!(self, one => one.on_lost(window, moment, lost));
    }

    fn holds_back(&self) -> bool {
        controller!(self, one => one.holds_back())
    }

    fn on_recovered(&mut self, window: &mut Window) {
        controller!(self, one => one.on_recovered(window));
    }

    fn rate(&self) -> Option<f64> {
        controller!(self, one => one.rate())
    }
}

impl Window {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            cwnd: initial_window(config),
            // RFC 5681 section 3.1: "The initial value of ssthresh SHOULD be set arbitrarily high".
            ssthresh: config.initial_ssthresh.unwrap_or(u64::MAX),
        }
    }

    /// Grows the window in slow start, RFC 5681 (2): cwnd += min (N, SMSS), or by the configured
    /// limit.
    #[inline]
    pub(crate) fn slow_start(&mut self, config: &Config, delivery: Delivery) {
        if delivery.validates_slow_start(self) {
            let most = match config.rules.slow_start_limit {
                0 => u64::MAX,
                limit => u64::from(limit) * u64::from(config.mss),
            };
            self.cwnd = self.cwnd.saturating_add(delivery.acked.min(most));
        }
    }
}

/// Returns IW, at least one segment.
fn initial_window(config: &Config) -> u64 {
    config.initial_window.max(u64::from(config.mss))
}
