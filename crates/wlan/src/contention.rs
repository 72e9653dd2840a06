//! The distributed coordination function of one cell: who sends next, and when.
//!
//! All stations hear all, so the medium's idle time is the same slotted time for nearly
//! everyone: after a busy period each station counts slots from one common instant. A station's
//! backoff is therefore kept as the number of the common slot in which it ends, and the next
//! access is the smallest of them: time jumps there, and neither an idle slot nor an idle
//! station costs anything. The few stations that count from an instant of their own (they
//! took part in the last collision, or their frame arrived while the medium was idle) are
//! *strays* until the medium is busy the next time.
//!
//! A station hears a frame at the instant at which it starts; frames that start at the same
//! instant collide, and all of them are lost. Knows no queue: the caller says when a station
//! has a frame, and what a frame exchange lasts.
//!
//! ```text
//!            frame_queued            begin                 end_success / end_collision
//!   idle ----------------> backoff --------> exchanging --------------------------------> idle,
//!                          (or stray)                                     backoff or post-backoff
//! ```

use airtcp_kernel::{Duration, RandomStream, Time};

use crate::config::{Colliders, MacConfig, PhyConfig};
use crate::slot_ring::SlotRing;

/// A station, the access point included, by its number in the cell.
pub type StationId = u32;

/// What becomes of a frame that collided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// It is sent again.
    Again,
    /// It was sent as often as the retry limit allows, and is dropped.
    Dropped,
}

/// What a station did in its contention for the medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MacCounters {
    /// Transmissions that began (of an RTS or a data frame).
    pub attempts: u64,
    /// Those that collided.
    pub collisions: u64,
    /// Those that led to a MAC ACK.
    pub successes: u64,
    /// Frames given up at the retry limit.
    pub drops: u64,
    /// Backoffs drawn.
    pub draws: u64,
    /// Sum of CW over the backoffs drawn.
    pub cw_sum: u64,
}

/// The state of contention in one cell.
#[derive(Debug)]
pub struct Contention {
    settings: Settings,
    stations: Vec<Station>,
    ring: SlotRing,
    strays: Vec<Stray>,
    /// Number of the common slot that begins at `origin`.
    slot: u64,
    /// Since when, or from when on, the medium is idle for everyone's common slots to count:
    /// the end of the last busy period and the inter-frame space after it.
    origin: Time,
    /// Counts busy periods; tells a post-backoff of zero slots drawn in this one from one that
    /// has ended.
    busy_periods: u64,
    busy: bool,
    transmitting: Vec<StationId>,
    next_access: Time,
}

#[derive(Debug)]
struct Settings {
    slot_time: Duration,
    difs: Duration,
    after_collision: Duration,
    ack_timeout: Duration,
    cw_min: u32,
    cw_max: u32,
    retry_limit: u32,
    immediate_access: bool,
    post_backoff: bool,
    post_backoff_after_drop: bool,
    colliders: Colliders,
}

#[derive(Debug)]
struct Station {
    state: State,
    cw: u32,
    /// Transmissions of the current frame so far (the station short retry count).
    retry_count: u32,
    stream: RandomStream,
    counters: MacCounters,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No frame, no backoff.
    Idle,
    /// No frame; a backoff that ends in common slot `until`, drawn in busy period `since`.
    PostBackoff { until: u64, since: u64 },
    /// A frame that waits in the ring.
    Backoff,
    /// Counts slots from an instant of its own, see [`Stray`].
    Stray,
    /// Takes part in what is on the air.
    Exchanging,
}

#[derive(Clone, Copy, Debug)]
struct Stray {
    station: StationId,
    /// When its first slot begins.
    from: Time,
    slots: u32,
    has_frame: bool,
    /// Its frame found the medium idle and needs a backoff only if that changes before `from`.
    immediate: bool,
}

impl Contention {
    /// A cell at time zero with an idle medium and one station for each stream of backoffs.
    pub fn new(phy: &PhyConfig, mac: &MacConfig, streams: Vec<RandomStream>) -> Self {
        let settings = Settings {
            slot_time: phy.slot_time,
            difs: phy.difs,
            after_collision: phy.space_after_collision(mac.rules.after_collision),
            ack_timeout: phy.ack_timeout,
            cw_min: phy.cw_min,
            cw_max: phy.cw_max,
            retry_limit: mac.short_retry_limit,
            immediate_access: mac.rules.immediate_access,
            post_backoff: mac.rules.post_backoff,
            post_backoff_after_drop: mac.rules.post_backoff_after_drop,
            colliders: mac.rules.colliders,
        };
        Self {
            ring: SlotRing::new(streams.len(), phy.cw_max),
            strays: Vec::new(),
            slot: 0,
            origin: Time::ZERO + phy.difs,
            busy_periods: 0,
            busy: false,
            transmitting: Vec::new(),
            next_access: Time::NEVER,
            stations: streams
                .into_iter()
                .map(|stream| Station {
                    state: State::Idle,
                    cw: phy.cw_min,
                    retry_count: 0,
                    stream,
                    counters: MacCounters::default(),
                })
                .collect(),
            settings,
        }
    }

    /// When the next transmission starts, unless a frame is queued before; [`Time::NEVER`] while
    /// the medium is busy or nobody has a frame.
    #[inline]
    pub fn next_access(&self) -> Time {
        self.next_access
    }

    /// What `station` did so far.
    pub fn counters(&self, station: StationId) -> &MacCounters {
        &self.stations[station as usize].counters
    }

    /// `station`, whose queue was empty, has a frame to send.
    pub fn frame_queued(&mut self, station: StationId, now: Time) {
        match self.stations[station as usize].state {
            State::PostBackoff { until, since } if !self.has_ended(until, since, now) => {
                self.enter_ring(station, until);
            }
            State::Idle | State::PostBackoff { .. } => self.begin_access(station, now),
            State::Stray => {
                // Only a post-backoff after a drop leaves a stray without a frame.
                self.frame_for_stray(station, now);
            }
            State::Backoff => unreachable!("station {station} has a frame already"),
            // The queue refills after a success or drop is settled, never before.
            State::Exchanging => unreachable!("station {station} is on the air"),
        }
    }

    /// The transmissions of [`Self::next_access`] begin: freezes all backoffs and tells who is on
    /// the air. One station: its exchange succeeds. Several: they collide.
    pub fn begin(&mut self) -> &[StationId] {
        let now = self.next_access;
        debug_assert!(!self.busy && now != Time::NEVER);
        self.busy = true;
        self.next_access = Time::NEVER;
        self.transmitting.clear();

        let elapsed = now.saturating_since(self.origin);
        let slots = elapsed / self.settings.slot_time;
        let on_boundary = now >= self.origin && self.settings.slot_time * slots == elapsed;
        self.slot += slots;
        self.busy_periods += 1;
        if on_boundary && self.ring.first_from(self.slot) == Some(self.slot) {
            self.ring.take(self.slot, &mut self.transmitting);
        }
        self.settle_strays(now);
        for &station in &self.transmitting {
            let station = &mut self.stations[station as usize];
            station.state = State::Exchanging;
            station.counters.attempts += 1;
        }
        debug_assert!(!self.transmitting.is_empty());
        &self.transmitting
    }

    /// The exchange of the one station on the air has ended with its MAC ACK at `now`;
    /// `has_frame` says whether it has another frame to send.
    pub fn end_success(&mut self, now: Time, has_frame: bool) {
        let [id] = self.transmitting[..] else {
            unreachable!("an exchange succeeds for one station, not {:?}", self.transmitting)
        };
        self.medium_idle_from(now + self.settings.difs);
        let station = &mut self.stations[id as usize];
        station.counters.successes += 1;
        // IEEE 802.11-2016, 10.3.3: CW and the retry count go back after every success.
        station.cw = self.settings.cw_min;
        station.retry_count = 0;
        if has_frame || self.settings.post_backoff {
            let until = self.slot + u64::from(station.draw_backoff());
            if has_frame {
                self.enter_ring(id, until);
            } else {
                station.state = State::PostBackoff { until, since: self.busy_periods };
            }
        } else {
            station.state = State::Idle;
        }
        self.find_next_access();
    }

    /// Who is on the air, or was last.
    pub fn transmitting(&self) -> &[StationId] {
        &self.transmitting
    }

    /// The frame of `station` collided: whether it may be sent again. Then comes
    /// [`Self::back_off_after_collision`].
    pub fn collided(&mut self, station: StationId) -> Retry {
        let station = &mut self.stations[station as usize];
        station.counters.collisions += 1;
        station.retry_count += 1;
        if station.retry_count < self.settings.retry_limit {
            // IEEE 802.11-2016, 10.3.3: CW takes the next value of 2^k - 1 up to aCWmax.
            station.cw = (2 * (station.cw + 1) - 1).min(self.settings.cw_max);
            Retry::Again
        } else {
            station.counters.drops += 1;
            station.retry_count = 0;
            station.cw = self.settings.cw_min;
            Retry::Dropped
        }
    }

    /// `id` took part in a collision whose last frame ended at `end`; its own ended at `own_end`.
    /// `has_frame` says whether it has a frame, that one or another. When all colliders are
    /// settled, [`Self::end_collision`] goes on.
    pub fn back_off_after_collision(
        &mut self,
        id: StationId,
        retry: Retry,
        own_end: Time,
        end: Time,
        has_frame: bool,
    ) {
        let settings = &self.settings;
        let station = &mut self.stations[id as usize];
        if !has_frame && !settings.post_backoff_after_drop {
            debug_assert!(retry == Retry::Dropped);
            station.state = State::Idle;
            return;
        }
        let from = match settings.colliders {
            Colliders::AsOthers => end + settings.after_collision,
            Colliders::AckTimeoutThenDifs => {
                (own_end + settings.ack_timeout).max(end) + settings.difs
            }
        };
        let slots = station.draw_backoff();
        station.state = State::Stray;
        self.strays.push(Stray { station: id, from, slots, has_frame, immediate: false });
    }

    /// All frames of a collision have ended at `end`, and all colliders were settled by
    /// [`Self::collided`].
    pub fn end_collision(&mut self, end: Time) {
        self.medium_idle_from(end + self.settings.after_collision);
        self.find_next_access();
    }

    /// Begins the access of a station that has no backoff pending, at `now`.
    fn begin_access(&mut self, id: StationId, now: Time) {
        if self.busy {
            // 10.3.4.2: the medium is busy, so the backoff procedure is followed.
            let until = self.slot + u64::from(self.stations[id as usize].draw_backoff());
            self.enter_ring(id, until);
            return;
        }
        let station = &mut self.stations[id as usize];
        let stray = if self.settings.immediate_access {
            let from = now.max(self.origin);
            Stray { station: id, from, slots: 0, has_frame: true, immediate: true }
        } else {
            let from = (now + self.settings.difs).max(self.origin);
            let slots = station.draw_backoff();
            Stray { station: id, from, slots, has_frame: true, immediate: false }
        };
        station.state = State::Stray;
        self.next_access = self.next_access.min(self.access_time(&stray));
        self.strays.push(stray);
    }

    fn frame_for_stray(&mut self, id: StationId, now: Time) {
        let index = self
            .strays
            .iter()
            .position(|stray| stray.station == id)
            .expect("a station in state Stray has an entry");
        let ended = !self.busy && self.access_time(&self.strays[index]) < now;
        if ended {
            self.strays.swap_remove(index);
            self.begin_access(id, now);
        } else {
            self.strays[index].has_frame = true;
            if !self.busy {
                self.next_access = self.next_access.min(self.access_time(&self.strays[index]));
            }
        }
    }

    /// Whether a post-backoff that ends in common slot `until`, drawn in busy period `since`, has
    /// ended before `now`. One that ends at this very instant takes the frame along.
    fn has_ended(&self, until: u64, since: u64, now: Time) -> bool {
        if until <= self.slot && since != self.busy_periods {
            // Counted down to zero by the time the medium became busy the last time.
            return true;
        }
        !self.busy && self.slot_start(until) < now
    }

    /// When common slot `slot`, not before the current one, begins if the medium stays idle.
    fn slot_start(&self, slot: u64) -> Time {
        self.origin + self.settings.slot_time * slot.saturating_sub(self.slot)
    }

    fn access_time(&self, stray: &Stray) -> Time {
        stray.from + self.settings.slot_time * u64::from(stray.slots)
    }

    fn enter_ring(&mut self, id: StationId, until: u64) {
        self.stations[id as usize].state = State::Backoff;
        self.ring.insert(id, until);
        if !self.busy {
            self.next_access = self.next_access.min(self.slot_start(until));
        }
    }

    /// The medium became busy at `now`: strays whose time has come transmit, the others join
    /// the common count with what is left of their backoff.
    fn settle_strays(&mut self, now: Time) {
        let mut strays = std::mem::take(&mut self.strays);
        for stray in strays.drain(..) {
            let station = &mut self.stations[stray.station as usize];
            let access = stray.from + self.settings.slot_time * u64::from(stray.slots);
            if access == now && stray.has_frame {
                self.transmitting.push(stray.station);
                continue;
            }
            let counted = now.saturating_since(stray.from) / self.settings.slot_time;
            let left = if stray.immediate {
                // 10.3.4.2: the medium became busy before it was idle for DIFS.
                u64::from(station.draw_backoff())
            } else {
                u64::from(stray.slots).saturating_sub(counted)
            };
            if stray.has_frame {
                station.state = State::Backoff;
                self.ring.insert(stray.station, self.slot + left);
            } else if access > now {
                let since = self.busy_periods;
                station.state = State::PostBackoff { until: self.slot + left, since };
            } else {
                station.state = State::Idle;
            }
        }
        self.strays = strays;
    }

    fn medium_idle_from(&mut self, origin: Time) {
        debug_assert!(self.busy);
        self.busy = false;
        self.origin = origin;
    }

    fn find_next_access(&mut self) {
        let mut next = match self.ring.first_from(self.slot) {
            Some(slot) => self.slot_start(slot),
            None => Time::NEVER,
        };
        for stray in &self.strays {
            if stray.has_frame {
                next = next.min(self.access_time(stray));
            }
        }
        self.next_access = next;
    }
}

impl Station {
    #[inline]
    fn draw_backoff(&mut self) -> u32 {
        self.counters.draws += 1;
        self.counters.cw_sum += u64::from(self.cw);
        self.stream.up_to(self.cw)
    }
}
