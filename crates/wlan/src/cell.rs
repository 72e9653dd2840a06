//! The MAC of a whole cell, from the hand-over of a packet to its acknowledgment.
//!
//! A [`Cell`] is told that a queue has something to send, says when something happens next, and tells
//! what then does. It puts together who sends when ([`contention`](crate::contention)), what follows
//! an access ([`sequence`](crate::sequence)), and what of it comes through (`medium`), and keeps the
//! frames meanwhile: a queue hands a packet over when it has got at the medium, and the MAC holds it,
//! ahead of the queue, until it is acknowledged or given up. Owns no clock, no queue and no TCP: time
//! comes with each call, packets come from a [`Supply`], which also plays the world in the midst of an
//! exchange (`exchange/shortcut.rs`, "Who plays the world").

mod books;

use std::collections::BTreeMap;

use airtcp_kernel::{RandomStream, Time};

use crate::config::{MacConfig, PairConfig};
use crate::contention::ContenderConfig;
use crate::engine::Engine;
use crate::events::Supply;
use crate::exchange::aggregate::Aggregate;
use crate::exchange::polled::Polled;
use crate::exchange::single::Single;
use crate::exchange::{Air, Exchange, Roles};
use crate::medium::FrameErrors;
use crate::phy::{PhyConfig, Rate};
use crate::rate_control::RateControlConfig;
use crate::station::StationId;

/// The parts that a cell is made from.
#[derive(Debug)]
pub struct CellConfig<'a> {
    /// Timings and sizes.
    pub phy: &'a PhyConfig,
    /// Rules.
    pub mac: MacConfig,
    /// The access point: all others send to it, and it to them. It has a queue.
    pub access_point: StationId,
    /// The cell of each station where there are others: those on other media are never ready here. The access points have
    /// the first numbers, in the order of their cells. Empty if all are of one cell.
    pub cells: Vec<u32>,
    /// Data and control rates of each class of stations.
    pub rates: Vec<(Rate, Rate)>,
    /// The capabilities of classes that have less than the medium.
    pub pairs: BTreeMap<u32, PairConfig>,
    /// The class of each station, in the order of their numbers. Frames to and from a station go at
    /// its rates; the access point's own entry is not used.
    pub rate_classes: Vec<u32>,
    /// The error model of frames to and from each station, and the stream that losses are drawn from, in
    /// the order of their numbers.
    pub errors: Vec<Option<(FrameErrors, RandomStream)>>,
    /// The stations whose rate is found by sending, in the order of their numbers; the others, and
    /// those beyond the last, have that of their class.
    pub rate_controls: Vec<Option<RateControlConfig>>,
    /// The queues, in the order of their numbers: those of one station follow one another, the one with
    /// the highest priority first.
    pub contenders: Vec<ContenderConfig>,
}

/// The MAC of one cell: of its access point and all its stations. `P` is what a packet is.
#[derive(Debug)]
pub struct Cell<P> {
    air: Air<P>,
    mac: Mac<P>,
    engine: Engine,
}

/// The kind of a cell's exchanges, with what each remembers.
#[derive(Debug)]
enum Mac<P> {
    /// Frames go one by one, and there is nothing else.
    Plain(Single<true>),
    /// Frames go one by one, with beacons, bursts or TXOPs.
    Single(Single<false>),
    /// There are contention-free periods.
    Polled(Box<Polled>),
    /// Frames are aggregated.
    Aggregate(Box<Aggregate<P>>),
}

impl<P: Clone> Mac<P> {
    fn new(engine: Engine, config: &mut CellConfig<'_>, roles: &Roles) -> Self {
        let CellConfig { phy, mac, rates, pairs, rate_controls, contenders, .. } = config;
        let access_point = config.access_point;
        let rate_controls = std::mem::take(rate_controls);
        let aggregate =
            Aggregate::new(phy, mac, (rates, pairs), rate_controls, (roles, contenders));
        if let Some(one) = aggregate {
            Self::Aggregate(one)
        } else if let Some(one) = Polled::new(phy, mac, (access_point, contenders)) {
            Self::Polled(one)
        } else if engine == Engine::CellPlain {
            Self::Plain(Single)
        } else {
            Self::Single(Single)
        }
    }
}

impl<P: Clone> Cell<P> {
    /// Makes a cell at time zero with an idle medium and empty queues.
    pub fn new(mut config: CellConfig<'_>) -> Self {
        let (cells, classes) = (&mut config.cells, &mut config.rate_classes);
        let (cells, classes) = (std::mem::take(cells), std::mem::take(classes));
        let roles = if cells.is_empty() {
            Roles::new(config.access_point, classes)
        } else {
            Roles::of_cells(cells, classes)
        };
        let engine = Engine::of_cell(&config.mac, &config.contenders);
        let kind = Mac::new(engine, &mut config, &roles);
        let CellConfig { phy, mac, rates, errors, contenders, .. } = config;
        Self { air: Air::new(phy, &mac, (rates, roles), errors, contenders), mac: kind, engine }
    }

    /// Returns the engine that plays it.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// Returns when something happens next, unless a frame is ready before; [`Time::NEVER`] if nothing
    /// does.
    #[inline]
    pub fn next_time(&self) -> Time {
        self.air.next
    }

    /// Lets all contenders contend for the medium that `supply` tells of, whose queues were empty. Packets
    /// that come to a queue while the MAC holds frames of it, or contends for it, need not be told of, but
    /// may.
    #[inline]
    pub fn frames_ready<S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        self.air.frames_ready(now, supply);
    }

    /// Plays what is due at `now`, that is [`Self::next_time`], and what follows if nothing else
    /// does. One thing at a time: there may be more at the same instant.
    #[inline(always)]
    pub fn advance<S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        let Self { air, mac, .. } = self;
        match mac {
            Mac::Plain(exchange) => air.advance(exchange, now, supply),
            Mac::Single(exchange) => air.advance(exchange, now, supply),
            Mac::Polled(exchange) => advance_apart(air, exchange.as_mut(), now, supply),
            Mac::Aggregate(exchange) => advance_apart(air, exchange.as_mut(), now, supply),
        }
    }
}

/// Does as [`Air::advance`], but out of the way of what is more frequent.
#[inline(never)]
fn advance_apart<P: Clone, E: Exchange<P>, S: Supply<P>>(
    air: &mut Air<P>,
    exchange: &mut E,
    now: Time,
    supply: &mut S,
) {
    air.advance(exchange, now, supply);
}

#[cfg(any(test, feature = "testing"))]
impl<P: Clone> Cell<P> {
    /// Switches the straight line off: every exchange is played step by step.
    pub fn play_in_steps(&mut self) {
        self.air.goes_straight = false;
        if let Mac::Plain(_) = self.mac {
            self.mac = Mac::Single(Single);
        }
    }

    /// Returns how many exchanges took the straight line to their ends.
    pub fn straight(&self) -> u64 {
        self.air.straight
    }
}
