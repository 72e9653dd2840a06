//! Congestion control that comes from outside of this crate, under a name that is registered.
//!
//! Knows which events such a control is told, and what it may set: the window and the threshold, at
//! least a segment each. Knows no language that it is written in, and nothing of recovery: what a
//! loss is and how it is repaired is the sender's business, as with every controller.

use std::fmt;
use std::sync::Arc;

use airtcp_kernel::{Duration, Registry, Time};

use super::{Controller, Delivery, Moment, Window, initial_window};

/// An event that a congestion control is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// New data is acknowledged outside of fast recovery.
    Acknowledged {
        /// Bytes that are acknowledged for the first time.
        acked: u64,
        /// A flag: the window was full in the last round trip.
        was_full: bool,
        /// A flag: the window was used by more than half in the last round trip.
        was_half_used: bool,
        /// The round trip of the newest segment, where single segments are timed.
        rtt: Option<Duration>,
    },
    /// A loss was found in another way than by the timer.
    Lost {
        /// Bytes outstanding.
        flight_size: u64,
    },
    /// The retransmission timer has expired.
    TimedOut {
        /// Bytes outstanding; `None` if the segment was sent again by the timer before.
        flight_size: Option<u64>,
    },
    /// Nothing was sent for longer than the retransmission timeout, and there is data now.
    Idle,
}

/// The circumstances of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Circumstances {
    /// The time of the simulation.
    pub now: Time,
    /// SMSS, in bytes.
    pub mss: u32,
    /// IW, in bytes.
    pub initial_window: u64,
    /// The smoothed round trip; `None` before the first.
    pub srtt: Option<Duration>,
}

/// The two variables of RFC 5681, in bytes; a threshold of `u64::MAX`: none yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variables {
    /// The congestion window.
    pub cwnd: u64,
    /// The slow start threshold.
    pub ssthresh: u64,
}

/// A congestion control of one connection.
pub trait Plugin: fmt::Debug + Send + Sync {
    /// Tells an event, and returns the variables after it; those before it where it has failed, which it
    /// reports to its own maker.
    fn tell(&mut self, event: Event, at: Circumstances, before: Variables) -> Variables;

    /// Makes a copy for another connection.
    fn copied(&self) -> Box<dyn Plugin>;
}

type Maker = dyn Fn() -> Box<dyn Plugin> + Send + Sync;

static REGISTERED: Registry<Maker> = Registry::new();

/// Registers a control under a name, for configurations that are read afterwards. A name that is registered already
/// keeps its maker, for it may be in use.
pub fn register(name: &str, make: impl Fn() -> Box<dyn Plugin> + Send + Sync + 'static) {
    REGISTERED.register(name, Arc::new(make));
}

/// Returns the number of a name, if it is registered.
pub(crate) fn number(name: &str) -> Option<u16> {
    REGISTERED.number(name)
}

/// Returns the name of a number that [`number`] gave.
pub(crate) fn name(number: u16) -> String {
    REGISTERED.name(number)
}

/// A registered control as a controller.
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

    /// A control that adds a segment for each ACK, and halves at a loss.
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
