//! Registered congestion controls, from outside this crate.
//!
//! Such a control receives events, and sets the window and the threshold to at least one segment
//! each. It may be written in another language. As with every controller, loss detection and
//! recovery belong to the sender.

use std::fmt;
use std::sync::Arc;

use airtcp_kernel::{Duration, Registry, Time};

use super::{Controller, Delivery, Moment, Window, initial_window};

/// An event that a congestion control receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// New data is acknowledged outside fast recovery.
    Acknowledged {
        /// Newly acknowledged bytes.
        acked: u64,
        /// Whether the window was full in the last round trip.
        was_full: bool,
        /// Whether more than half of the window was used in the last round trip.
        was_half_used: bool,
        /// The round trip of the newest acknowledged segment, if single segments are timed.
        rtt: Option<Duration>,
    },
    /// A loss was detected without the RTO timer.
    Lost {
        /// Bytes outstanding.
        flight_size: u64,
    },
    /// The retransmission timer has expired.
    TimedOut {
        /// Bytes outstanding; `None` if the timer had already retransmitted the segment.
        flight_size: Option<u64>,
    },
    /// An idle period longer than the RTO has ended: there is data to send.
    Idle,
}

/// The state of the connection at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Circumstances {
    /// The simulated time.
    pub now: Time,
    /// SMSS, in bytes.
    pub mss: u32,
    /// IW, in bytes.
    pub initial_window: u64,
    /// The smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Duration>,
}

/// The two variables of RFC 5681, in bytes; a threshold of `u64::MAX`: none yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variables {
    /// The congestion window.
    pub cwnd: u64,
    /// The slow start threshold; `u64::MAX`: none yet.
    pub ssthresh: u64,
}

/// A congestion control, one instance per connection.
pub trait Plugin: fmt::Debug + Send + Sync {
    /// Processes an event and returns the new variables. If it fails, it returns `before` and
    /// reports the error itself.
    fn tell(&mut self, event: Event, at: Circumstances, before: Variables) -> Variables;

    /// Copies the control and its state, for another connection.
    fn copied(&self) -> Box<dyn Plugin>;
}

type Maker = dyn Fn() -> Box<dyn Plugin> + Send + Sync;

static REGISTERED: Registry<Maker> = Registry::new();

/// Registers a control under a name, for configurations read from now on. A name that already
/// exists keeps its constructor, because it may be in use.
pub fn register(name: &str, make: impl Fn() -> Box<dyn Plugin> + Send + Sync + 'static) {
    REGISTERED.register(name, Arc::new(make));
}

/// Returns the number of a registered name.
pub(crate) fn number(name: &str) -> Option<u16> {
    REGISTERED.number(name)
}

/// Returns the name with a number returned by [`number`].
pub(crate) fn name(number: u16) -> String {
    REGISTERED.name(number)
}

/// Adapts a registered control to [`Controller`].
#[derive(Debug)]
pub(crate) struct Registered(Box<dyn Plugin>);

impl Registered {
    pub(crate) fn new(number: u16) -> Self {
        let make = REGISTERED.maker(number);
        Self(make())
    }

    fn tell(&mut self, window: &mut Window, moment: &Moment<'_>, event: Event) {
        let at = Circumstances {
            now: moment.now,
            mss: moment.config.mss,
            initial_window: initial_window(moment.config),
            srtt: moment.rtt.srtt(),
        };
        let before = Variables { cwnd: window.cwnd, ssthresh: window.ssthresh };
        let after = self.0.tell(event, at, before);
        let least = u64::from(moment.config.mss);
        assert!(after.cwnd >= least.min(before.cwnd), "a window of a plug-in below a segment");
        (window.cwnd, window.ssthresh) = (after.cwnd, after.ssthresh);
    }
}

impl Clone for Registered {
    fn clone(&self) -> Self {
        Self(self.0.copied())
    }
}

impl Controller for Registered {
    fn on_ack(&mut self, window: &mut Window, moment: &Moment<'_>, delivery: Delivery) {
        let event = Event::Acknowledged {
            acked: delivery.acked,
            was_full: delivery.validates_avoidance(),
            was_half_used: delivery.validates_slow_start(window),
            rtt: delivery.rtt,
        };
        self.tell(window, moment, event);
    }

    fn on_loss(&mut self, window: &mut Window, moment: &Moment<'_>, flight_size: u64) {
        self.tell(window, moment, Event::Lost { flight_size });
    }

    fn on_timeout(&mut self, window: &mut Window, moment: &Moment<'_>, flight_size: Option<u64>) {
        self.tell(window, moment, Event::TimedOut { flight_size });
    }

    fn on_idle(&mut self, window: &mut Window, moment: &Moment<'_>) {
        self.tell(window, moment, Event::Idle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::reno::Reno;
    use crate::congestion::scene::Scene;
    use crate::{Config, Congestion};

    /// A control that adds a segment per ACK and halves the window at a loss.
    #[derive(Clone, Debug)]
    struct Greedy;

    impl Plugin for Greedy {
        fn tell(&mut self, event: Event, at: Circumstances, before: Variables) -> Variables {
            let mss = u64::from(at.mss);
            match event {
                Event::Acknowledged { .. } => Variables { cwnd: before.cwnd + mss, ..before },
                Event::Lost { flight_size } => Variables { ssthresh: flight_size / 2, ..before },
                Event::TimedOut { .. } => Variables { ssthresh: 2 * mss, ..before },
                Event::Idle => Variables { cwnd: at.initial_window, ..before },
            }
        }

        fn copied(&self) -> Box<dyn Plugin> {
            Box::new(self.clone())
        }
    }

    #[test]
    fn a_registered_name_is_a_congestion_control_and_another_is_refused() {
        assert!(serde_json_like("greedy").is_err());
        register("greedy", || Box::new(Greedy));
        let congestion = serde_json_like("greedy").expect("it is registered");
        let mut scene = Scene::new(Config::standard(), Reno::default(), 4000, 8000);
        let Congestion::Plugin(number) = congestion else { panic!("a plug-in") };
        assert_eq!(String::from(congestion), "greedy");
        let mut registered = Registered::new(number).clone();
        scene.tell(|_, window, moment| {
            let delivery = Delivery { acked: 1, most_in_flight: 0, rtt: None, una: 0, next: 0 };
            registered.on_ack(window, moment, delivery);
            registered.on_loss(window, moment, 6000);
        });
        assert_eq!((scene.window.cwnd, scene.window.ssthresh), (5000, 3000));
    }

    fn serde_json_like(name: &str) -> Result<Congestion, String> {
        Congestion::try_from(name.to_owned())
    }
}
