//! Congestion control: how the window grows, and what a loss leaves of it.
//!
//! A [`Controller`] is told what happens in a few events, each with the time, the estimate of the
//! round trip and what was delivered. It knows no sequence number, no timer, and not how a loss was
//! found or is repaired: that is the [sender](crate::sender)'s business, which also moves the window
//! during a recovery, and both keep it in a [`Window`]. Every machine agrees to the
//! last bit: integers, and floating point without functions that differ between platforms.

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
use crate::{Config, Congestion, Implementation, SlowStart};

/// `cwnd` and `ssthresh` of RFC 5681 in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) cwnd: u64,
    /// `u64::MAX`: none yet.
    pub(crate) ssthresh: u64,
}

/// The time and the estimates that every event comes with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment<'a> {
    pub(crate) config: &'a Config,
    pub(crate) now: Time,
    pub(crate) rtt: &'a RttEstimator,
}

/// The news of an acknowledgment about the data under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivery {
    /// Bytes that it acknowledges for the first time.
    pub(crate) acked: u64,
    /// Most bytes that were under way in the last round trip, and `u64::MAX` if they filled the
    /// window. One that is not used says nothing about what the path holds: RFC 7661 section 4.2,
    /// in the simpler way of Linux.
    pub(crate) most_in_flight: u64,
    /// The round trip of the newest segment that it is for, where single segments are timed.
    pub(crate) rtt: Option<Duration>,
    /// SND.UNA with this acknowledgment, and the number after the highest one ever sent: they tell rounds
    /// apart.
    pub(crate) una: u64,
    pub(crate) next: u64,
}

impl Delivery {
    /// Tells whether the window grows in slow start: it was used by half, as it is before it doubles.
    #[inline]
    pub(crate) fn validates_slow_start(self, window: &Window) -> bool {
        window.cwnd / 2 < self.most_in_flight
    }

    /// Tells whether the window grows in congestion avoidance: it was full.
    #[inline]
    pub(crate) fn validates_avoidance(self) -> bool {
        self.most_in_flight == u64::MAX
    }
}

/// One way to grow and to shrink the window.
pub(crate) trait Controller {
    /// Lets the window grow for new data acknowledged outside of fast recovery.
    fn on_ack(&mut self, window: &mut Window, moment: &Moment<'_>, delivery: Delivery);

    /// Sets `ssthresh` for a loss found in another way than by the timer, with `flight_size` bytes outstanding.
    /// The recovery that follows sets `cwnd`.
    fn on_loss(&mut self, window: &mut Window, moment: &Moment<'_>, flight_size: u64);

    /// Sets `ssthresh` when the retransmission timer has expired with `flight_size` bytes outstanding. `None`
    /// if this segment was sent again by the timer before: RFC 5681 section 3.1, "the value of
    /// ssthresh is held constant".
    fn on_timeout(&mut self, window: &mut Window, moment: &Moment<'_>, flight_size: Option<u64>);

    /// Shrinks the window when nothing was sent for longer than the RTO, and there is data now: RFC 5681 section 4.1,
    /// RW = min(IW, cwnd).
    fn on_idle(&mut self, window: &mut Window, moment: &Moment<'_>) {
        window.cwnd = window.cwnd.min(initial_window(moment.config));
    }

    /// Takes word that nothing was under way, not for so long, and there is data now; the last was sent at `last_sent`.
    fn on_resume(&mut self, _moment: &Moment<'_>, _last_sent: Time) {}

    /// Takes the sample of the path that an acknowledgment gives, in whichever phase: for controllers that own window
    /// and pace.
    fn on_sample(&mut self, _window: &mut Window, _moment: &Moment<'_>, _sample: &RateSample) {}

    /// Takes a segment that was found lost, before the sample of the acknowledgment that told of it.
    fn on_lost(&mut self, _window: &mut Window, _moment: &Moment<'_>, _lost: &LostSegment) {}

    /// Tells whether it sends less than the path delivers now, so that what is delivered tells nothing of the path.
    fn holds_back(&self) -> bool {
        false
    }

    /// Takes the end of a recovery: for controllers that own the window.
    fn on_recovered(&mut self, _window: &mut Window) {}

    /// Returns the pace at which segments leave, in bytes a second; `None`: that follows from the window.
    fn rate(&self) -> Option<f64> {
        None
    }
}

/// The controller that a configuration names.
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

/// Evaluates an expression for the controller that there is.
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
    /// Does as [`Controller::on_ack`], in a call.
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

    /// Grows the window in slow start, RFC 5681 (2): cwnd += min (N, SMSS), or more segments at once.
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
