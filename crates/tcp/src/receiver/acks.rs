//! Registered ACK policies, from outside this crate.
//!
//! A policy learns about data that arrives in order and decides how long its ACK may wait. The
//! receiver acknowledges signs of loss at once (RFC 5681, 4.2) and enforces the maximum delay.

use std::fmt;
use std::sync::Arc;

use airtcp_kernel::{Duration, Registry, Time};

/// In-order data that has arrived and is not acknowledged yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The simulated time.
    pub now: Time,
    /// SMSS, in bytes.
    pub mss: u32,
    /// Bytes delivered to the application since the connection began, including these.
    pub delivered: u64,
    /// Unacknowledged bytes, including these.
    pub unacknowledged: u64,
    /// The time since the last ACK was sent; `None` before the first.
    pub since_ack: Option<Duration>,
}

/// An ACK policy, one instance per receiver.
pub trait AckPolicy: fmt::Debug + Send + Sync {
    /// Returns how long to delay the ACK of all data that has arrived. Zero: send it now. `None`:
    /// wait for the delayed-ACK timer. An earlier deadline stays.
    fn delay(&mut self, arrival: Arrival) -> Option<Duration>;

    /// Copies the policy and its state, for another connection.
    fn copied(&self) -> Box<dyn AckPolicy>;
}

type Maker = dyn Fn() -> Box<dyn AckPolicy> + Send + Sync;

static REGISTERED: Registry<Maker> = Registry::new();

/// Registers a policy under a name, for configurations read from now on. A name that already exists
/// keeps its constructor, because it may be in use.
pub fn register(name: &str, make: impl Fn() -> Box<dyn AckPolicy> + Send + Sync + 'static) {
    REGISTERED.register(name, Arc::new(make));
}

/// Returns the number of a registered name.
pub(crate) fn number(name: &str) -> Option<u16> {
    REGISTERED.number(name)
}

/// A registered policy, and the time of its last ACK.
#[derive(Debug)]
pub(super) struct Registered {
    policy: Box<dyn AckPolicy>,
    /// When the last ACK was sent.
    last: Option<Time>,
}

impl Registered {
    pub(super) fn new(number: u16) -> Self {
        Self { policy: REGISTERED.maker(number)(), last: None }
    }

    pub(super) fn on_ack_sent(&mut self, now: Time) {
        self.last = Some(now);
    }

    pub(super) fn delay(&mut self, arrival: Arrival) -> Option<Duration> {
        let since_ack = self.last.map(|last| arrival.now - last);
        self.policy.delay(Arrival { since_ack, ..arrival })
    }
}

impl Clone for Registered {
    fn clone(&self) -> Self {
        Self { policy: self.policy.copied(), last: self.last }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::DelayedAck;
    use crate::receiver::{AckOwed, Receiver};
    use crate::{Config, Handshake};

    /// Acknowledges every third segment at once, and the second after 5 ms.
    #[derive(Clone, Debug)]
    struct Thirds;

    impl AckPolicy for Thirds {
        fn delay(&mut self, arrival: Arrival) -> Option<Duration> {
            match arrival.unacknowledged / u64::from(arrival.mss) {
                0 | 1 => None,
                2 => Some(Duration::from_millis(5)),
                _ => Some(Duration::ZERO),
            }
        }

        fn copied(&self) -> Box<dyn AckPolicy> {
            Box::new(self.clone())
        }
    }

    #[test]
    fn a_registered_policy_sets_the_time_of_an_acknowledgment_and_the_timeout_bounds_it() {
        register("thirds", || Box::new(Thirds));
        let policy = number("thirds");
        assert!(policy.is_some() && number("fourths").is_none());
        let delayed_ack = DelayedAck { policy, ..DelayedAck::every(1, Duration::from_millis(200)) };
        let config = Config { delayed_ack, handshake: Handshake::None, ..Config::standard() };
        let mss = u64::from(config.mss);
        let at = |millis: u64| Time::from_nanos(millis * 1_000_000);
        let mut receiver = Receiver::new(&config);
        receiver.on_data(config.at(at(10)), 1, 1 + mss);
        assert_eq!(receiver.ack_owed(), AckOwed::Until(at(210)));
        receiver.on_data(config.at(at(11)), 1 + mss, 1 + 2 * mss);
        assert_eq!(receiver.clone().ack_owed(), AckOwed::Until(at(16)));
        receiver.on_data(config.at(at(12)), 1 + 2 * mss, 1 + 3 * mss);
        assert_eq!(receiver.ack_owed(), AckOwed::Now);
        receiver.on_ack_sent(at(12));
        assert_eq!(receiver.ack_owed(), AckOwed::None);
        receiver.on_data(config.at(at(20)), 1 + 4 * mss, 1 + 5 * mss);
        assert_eq!(receiver.ack_owed(), AckOwed::Bare, "a gap is told at once");
    }
}
