//! The MAC of a whole cell, from the dequeuing of a packet to its acknowledgment.
//!
//! A [`Cell`] learns that a queue has frames to send, returns when the next event is due, and
//! reports what the event does. It combines who sends when ([`contention`](crate::contention)),
//! what follows an access ([`sequence`](crate::sequence)), and what is received (`medium`). A queue
//! releases a packet when it wins access to the medium. The MAC then holds the packet, ahead of the
//! queue, until it is acknowledged or given up. The cell owns no clock, no queue and no TCP. Time
//! comes with each call. Packets come from a [`Supply`], which also plays the world during an
//! exchange (`exchange/shortcut.rs`, "Who plays the world").

mod books;
mod links;

use airtcp_kernel::Time;

use crate::engine::Engine;
use crate::events::Supply;
use crate::exchange::aggregate::Aggregate;
use crate::exchange::polled::Polled;
use crate::exchange::single::Single;
use crate::exchange::{Air, Exchange, Play, Roles};
use crate::medium::MediumConfig;

/// The MAC of one cell: its access point and all its stations. `P` is the type of a packet.
#[derive(Debug)]
pub struct Cell<P> {
    air: Air<P>,
    mac: Mac<P>,
    engine: Engine,
}

/// The exchange logic of a cell, with its state.
#[derive(Debug)]
enum Mac<P> {
    /// One MPDU per frame; no beacons, bursts or TXOPs.
    Plain(Single<true>),
    /// One MPDU per frame, with beacons, bursts or TXOPs.
    Single(Single<false>),
    /// Contention-free periods.
    Polled(Box<Polled>),
    /// A-MPDUs.
    Aggregate(Box<Aggregate<P>>),
}

impl<P: Clone> Mac<P> {
    fn new(engine: Engine, config: &mut MediumConfig<'_>, roles: &Roles) -> Self {
        let MediumConfig { phy, mac, rates, pairs, contenders, .. } = config;
        let rate_controls = std::mem::take(&mut config.rate_controls);
        let aggregate =
            Aggregate::new(phy, mac, (rates, pairs), rate_controls, (roles, contenders));
        if let Some(one) = aggregate {
            Self::Aggregate(one)
        } else if let Some(one) = Polled::new(phy, mac, contenders) {
            Self::Polled(one)
        } else if engine == Engine::CellPlain {
            Self::Plain(Single)
        } else {
            Self::Single(Single)
        }
    }
}

impl<P: Clone> Cell<P> {
    /// Creates a cell at time zero with an idle medium and empty queues.
    pub fn new(mut config: MediumConfig<'_>) -> Self {
        let (cells, classes) = (&mut config.cells, &mut config.rate_classes);
        let roles = Roles::new(std::mem::take(cells), std::mem::take(classes));
        let engine = Engine::of_cell(&config.mac, &config.contenders);
        let mac = Mac::new(engine, &mut config, &roles);
        Self { air: Air::new(config, roles), mac, engine }
    }

    /// Returns the engine in use.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// Returns the time of the next event; [`Time::NEVER`] if there is none. A new frame may come
    /// earlier.
    #[inline]
    pub fn next_time(&self) -> Time {
        self.air.next
    }

    /// Starts contention for the queues in `supply` that were empty and now have frames. Further
    /// packets of a queue that contends, or of which the MAC holds frames, may be reported but need
    /// not be.
    #[inline]
    pub fn frames_ready<S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        self.air.frames_ready(now, supply);
    }

    /// Plays the next event, which is due at `now` ([`Self::next_time`]), and its direct
    /// consequences. One event per call: more may be due at the same instant.
    #[inline(always)]
    pub fn advance<S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        let Self { air, mac, .. } = self;
        match mac {
            Mac::Plain(mac) => Play { air, mac, supply }.advance(now),
            Mac::Single(mac) => Play { air, mac, supply }.advance(now),
            Mac::Polled(mac) => advance_apart(Play { air, mac: &mut **mac, supply }, now),
            Mac::Aggregate(mac) => advance_apart(Play { air, mac: &mut **mac, supply }, now),
        }
    }
}

/// Calls [`Air::advance`] out of line, away from the most frequent code.
#[inline(never)]
fn advance_apart<P: Clone, E: Exchange<P>, S: Supply<P>>(mut play: Play<'_, P, E, S>, now: Time) {
    play.advance(now);
}

#[cfg(any(test, feature = "testing"))]
impl<P: Clone> Cell<P> {
    /// Switches the shortcut off: every exchange is played step by step.
    pub fn play_in_steps(&mut self) {
        self.air.goes_straight = false;
        if let Mac::Plain(_) = self.mac {
            self.mac = Mac::Single(Single);
        }
    }

    /// Returns how many exchanges the shortcut played to their ends.
    pub fn straight(&self) -> u64 {
        self.air.straight
    }
}
