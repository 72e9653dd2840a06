//! ACK policies that come from outside of this crate, under names that are registered.
//!
//! Knows what such a policy is told of data that arrives in order, and what it may decide: how long an
//! acknowledgment waits. What tells of a loss is acknowledged at once (RFC 5681, 4.2), which is the receiver's
//! business, and so is the longest delay.

use std::fmt;
use std::sync::Arc;

use airtcp_kernel::{Duration, Registry, Time};

/// Data that has arrived in order, not acknowledged yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The time of the simulation.
    pub now: Time,
    /// SMSS, in bytes.
    pub mss: u32,
    /// Bytes that were delivered to the application since the connection began, these included.
    pub delivered: u64,
    /// Bytes that no acknowledgment covers, these included.
    pub unacknowledged: u64,
    /// The time since an acknowledgment left; `None` before the first.
    pub since_ack: Option<Duration>,
}

/// A policy of one receiver.
pub trait AckPolicy: fmt::Debug + Send + Sync {
    /// Returns the delay of the acknowledgment of all that has arrived, zero to send it at once, or `None` to let it
    /// wait until the timeout of delayed ACKs. An earlier time that was set stays.
    fn delay(&mut self, arrival: Arrival) -> Option<Duration>;

    /// Makes a copy for another connection.
    fn copied(&self) -> Box<dyn AckPolicy>;
}

type Maker = dyn Fn() -> Box<dyn AckPolicy> + Send + Sync;

static REGISTERED: Registry<Maker> = Registry::new();

/// Registers a policy under a name, for configurations that are read afterwards. A name that is registered already
/// keeps its maker, for it may be in use.
pub fn register(name: &str, make: impl Fn() -> Box<dyn AckPolicy> + Send + Sync + 'static) {
    REGISTERED.register(name, Arc::new(make));
}

/// Returns the number of a name, if it is registered.
pub(crate) fn number(name: &str) -> Option<u16> {
    REGISTERED.number(name)
}

/// A registered policy, and what it is told of its own acknowledgments.
#[derive(Debug)]
pub(super) struct Registered {
    policy: Box<dyn AckPolicy>,
    /// The time at which the last acknowledgment left.
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

    /// A policy that acknowledges every third segment at once, and the second after 5 ms.
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
        receiver.on_data(&config, at(10), 1, 1 + mss);
        assert_eq!(receiver.ack_owed(), AckOwed::Until(at(210)));
        receiver.on_data(&config, at(11), 1 + mss, 1 + 2 * mss);
        assert_eq!(receiver.clone().ack_owed(), AckOwed::Until(at(16)));
        receiver.on_data(&config, at(12), 1 + 2 * mss, 1 + 3 * mss);
        assert_eq!(receiver.ack_owed(), AckOwed::Now);
        receiver.on_ack_sent(at(12));
        assert_eq!(receiver.ack_owed(), AckOwed::None);
        receiver.on_data(&config, at(20), 1 + 4 * mss, 1 + 5 * mss);
        assert_eq!(receiver.ack_owed(), AckOwed::Bare, "a gap is told at once");
    }
}
