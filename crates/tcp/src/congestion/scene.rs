//! A test bench that drives one controller.

use airtcp_kernel::{Duration, Time};

use super::{Controller, Delivery, Moment, Window};
use crate::Config;
use crate::rtt::RttEstimator;

pub(crate) struct Scene<C> {
    pub(crate) config: Config,
    pub(crate) now: Time,
    pub(crate) rtt: RttEstimator,
    pub(crate) window: Window,
    pub(crate) controller: C,
}

impl<C: Controller> Scene<C> {
    pub(crate) fn new(config: Config, controller: C, cwnd: u64, ssthresh: u64) -> Self {
        let rtt = RttEstimator::new(&config);
        let window = Window { cwnd, ssthresh };
        Self { config, now: Time::ZERO, rtt, window, controller }
    }

    pub(crate) fn tell(
        &mut self,
        event: impl FnOnce(&mut C, &mut Window, &Moment<'_>),
    ) -> &mut Self {
        let moment = Moment { config: &self.config, now: self.now, rtt: &self.rtt };
        event(&mut self.controller, &mut self.window, &moment);
        self
    }

    /// Advances the time by `span`.
    pub(crate) fn wait(&mut self, span: Duration) -> &mut Self {
        self.now += span;
        self
    }

    /// Acknowledges `acked` bytes of a full window and returns the new `cwnd`.
    pub(crate) fn ack(&mut self, acked: u64) -> u64 {
        self.ack_of(acked, u64::MAX)
    }

    /// Acknowledges `acked` bytes, with at most `most_in_flight` in flight before; returns the new
    /// `cwnd`.
    pub(crate) fn ack_of(&mut self, acked: u64, most_in_flight: u64) -> u64 {
        let delivery = Delivery { acked, most_in_flight, rtt: None, una: 0, next: 0 };
        self.tell(|controller, window, moment| controller.on_ack(window, moment, delivery))
            .window
            .cwnd
    }

    /// Reports a loss with `flight_size` bytes in flight and returns the new `ssthresh`.
    pub(crate) fn loss(&mut self, flight_size: u64) -> u64 {
        self.tell(|controller, window, moment| controller.on_loss(window, moment, flight_size))
            .window
            .ssthresh
    }

    /// Reports a timeout and returns the new `ssthresh`.
    pub(crate) fn timeout(&mut self, flight_size: Option<u64>) -> u64 {
        self.tell(|controller, window, moment| controller.on_timeout(window, moment, flight_size))
            .window
            .ssthresh
    }
}
