//! The medium as each listener senses it: starts, detections and ends of transmissions. A station
//! that starts to transmit abandons what it was receiving. A station that starts before it detects
//! a frame does not know of it. Who hears whom and what frames contain is elsewhere.

use airtcp_kernel::{Duration, Time};

use super::clock::{Clock, Key, Rank};
use super::hearing::{Hearing, Power};
use super::listener::{Listener, ListenerId, Lock};
use super::node::{Frame, Kind, Known, NONE, Node};
use crate::config::WeakerBefore;
use crate::contention::{Contender, Settings};
use crate::events::HeardBy;
use crate::station::{ContenderId, StationId};

/// A position in the order of all events: the key of an event, and its station.
pub(super) type Place = (Key, StationId);

/// The stations, their view of the medium, and their next events.
#[derive(Debug)]
pub(super) struct Air {
    pub(super) settings: Settings,
    /// EIFS without the final DIFS or AIFS.
    pub(super) settings_eifs: Duration,
    /// The duration of the preamble and header of a control frame.
    pub(super) phy_header: Duration,
    /// The time after an RTS within which a frame must follow; otherwise its NAV is reset.
    pub(super) nav_timeout: Duration,
    pub(super) nodes: Vec<Node>,
    /// The listeners: single stations, and groups of stations that hear alike and share a listener.
    pub(super) listeners: Vec<Listener>,
    pub(super) queues: Vec<Contender>,
    pub(super) clock: Clock,
    /// The event that was played last; its station is `reached_by`.
    pub(super) reached: Key,
    pub(super) reached_by: StationId,
    /// Whether detections that are certain are played when the frame begins.
    pub(super) notices_ahead: bool,
    /// The stations that transmit now.
    pub(super) on_air: Vec<StationId>,
    /// When the last frame began.
    pub(super) last_start: Time,
    /// The queues that begin together; empty between events.
    pub(super) together: Vec<ContenderId>,
    /// The stations that waited for the end of a frame; empty between events.
    pub(super) waited: Vec<StationId>,
    /// The stations that received the frame that ends, if the caller wants to know them.
    pub(super) heard: Option<Vec<HeardBy>>,
}

/// How the addressed station received a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// Not at all: the receiver was not receiving it, or overlaps destroyed all of it.
    Lost,
    /// At least partly.
    Understood,
}

impl Air {
    /// Whether `station` receives through `listener`.
    #[inline]
    pub(super) fn listens_as(&self, station: StationId, listener: ListenerId) -> bool {
        self.nodes[station as usize].listener == listener
    }

    /// Records that an event of `station` is played.
    #[inline]
    pub(super) fn reaches(&mut self, key: Key, station: StationId) {
        if key >= self.reached {
            (self.reached, self.reached_by) = (key, station);
        }
    }

    /// Returns the position just after the current event.
    #[inline]
    pub(super) fn place_behind(&self) -> Place {
        (self.reached, self.reached_by + 1)
    }

    /// Returns the position up to which everything is played when something else happens at `now`.
    #[inline]
    pub(super) fn place_at(&self, now: Time) -> Place {
        (Key::new(now, Rank::Start), 0).max(self.place_behind())
    }

    /// Schedules the next event of a station or of a shared listener.
    #[inline]
    pub(super) fn set_clock(&mut self, place: ListenerId) {
        let nav_reset = self.listeners[place as usize].nav_reset;
        let (acts, timeout) =
            self.nodes.get(place as usize).map_or((Key::NEVER, Time::NEVER), Node::next);
        self.clock.set(place, acts.min(Key::new(timeout.min(nav_reset), Rank::Timeout)));
    }

    /// Starts `frame` of `sender` at `place`, which detects it only at `notice`. Returns true if
    /// nothing is left to do there at `notice`.
    ///
    /// This is so if the detection is certain unless something else happens there first (the power
    /// suffices), and if it changes nothing else.
    #[inline(always)]
    pub(super) fn frame_begins(
        &mut self,
        hearing: &Hearing,
        (sender, frame): (StationId, &Frame),
        (place, power): (ListenerId, Power),
        (notice, certain): (Time, Power),
    ) -> bool {
        let Self { listeners, nodes, .. } = self;
        let listener = &mut listeners[place as usize];
        let now = frame.start;
        if listener.energy > 0 || listener.is_busy {
            if listener.lock.is_some() || listener.is_sending || certain == Power::MAX {
                return self.frame_begins_beside(hearing, sender, (place, power), frame);
            }
            listener.hear((sender, power), now, notice);
            return false;
        }
        listener.hear((sender, power), now, notice);
        let waiting = &listener.waiting;
        let is_loud =
            power >= certain && waiting.access > notice && listener.nav_reset == Time::NEVER;
        let is_certain = is_loud && !waiting.backoffs.will_draw();
        if is_certain {
            listener.lock = Some(Lock::new(sender, power, frame, notice));
            listener.is_busy = true;
            listener.noticed_at = notice;
            if nodes[frame.to as usize].listener == place {
                listener.bad.clear();
            }
            if listener.waiting.access <= frame.end {
                self.forget_access(place);
            }
        }
        is_certain
    }

    /// Handles [`Self::frame_begins`] if the listener already sends or receives, or if the
    /// detection is uncertain.
    #[inline(never)]
    fn frame_begins_beside(
        &mut self,
        hearing: &Hearing,
        sender: StationId,
        (place, power): (ListenerId, Power),
        frame: &Frame,
    ) -> bool {
        let now = frame.start;
        self.settle_notice(place, now);
        let Self { listeners, nodes, notices_ahead, .. } = self;
        let notice = now + hearing.detect;
        let listener = &mut listeners[place as usize];
        listener.hear((sender, power), now, notice);
        if listener.is_sending {
            let own = nodes[place as usize].sending();
            return *notices_ahead && own.is_some_and(|own| own.end > notice);
        }
        let Some(lock) = &mut listener.lock else { return false };
        let is_deaf = *notices_ahead && lock.end > notice;
        let from = lock.from;
        let is_bad = if *notices_ahead && lock.bad_since != Time::NEVER {
            // More interference does not repair it.
            true
        } else if hearing.captures(power, lock.power, now - lock.since) {
            listener.lock = None;
            listener.free_from = now;
            self.receives_no_more(place, now);
            true
        } else {
            let interference = listener.energy - lock.power;
            let is_bad = !hearing.comes_through(lock.power, interference, lock.need);
            lock.judge(is_bad, now);
            is_bad
        };
        if is_bad {
            self.blame(from, place, sender, now);
        }
        is_deaf
    }

    /// Freezes the queues of `place` from the instant at which it detected the current frame, if
    /// this was postponed. If the instant is still to come, the detection is undone and happens
    /// when due.
    #[inline(always)]
    pub(super) fn settle_notice(&mut self, place: ListenerId, now: Time) {
        let listener = &mut self.listeners[place as usize];
        let at = listener.noticed_at;
        if at == Time::NEVER {
            return;
        }
        if at < now {
            listener.noticed_at = Time::NEVER;
            self.freeze(place, at);
        } else {
            self.settle_notice_at_once(place);
        }
    }

    /// Handles [`Self::settle_notice`] if the detection is due now or later.
    #[cold]
    fn settle_notice_at_once(&mut self, place: ListenerId) {
        let listener = &mut self.listeners[place as usize];
        let at = std::mem::replace(&mut listener.noticed_at, Time::NEVER);
        if Key::new(at, Rank::Notice) <= self.reached {
            self.freeze(place, at);
            return;
        }
        let lock = listener.lock.take().expect("what is noticed is received");
        listener.is_busy = false;
        self.is_to_be_noticed(lock.from, at);
        self.find_access(place);
    }

    /// Schedules the detection of `sender`'s frame at `at`.
    fn is_to_be_noticed(&mut self, sender: StationId, at: Time) {
        let node = &mut self.nodes[sender as usize];
        node.known = Known::Nothing;
        node.acts = Key::new(at, Rank::Notice);
        self.set_clock(sender);
    }

    /// Stops a station from waiting for the end of what it received through `listener`.
    pub(super) fn receives_no_more(&mut self, listener: ListenerId, now: Time) {
        if let Some(node) = self.nodes.get_mut(listener as usize)
            && std::mem::take(&mut node.waits_for_end)
        {
            node.timeout = now;
            self.set_clock(listener);
        }
    }

    /// Lets `place` detect `frame` of `sender`, received with `power`.
    #[inline]
    pub(super) fn notice_at(
        &mut self,
        hearing: &Hearing,
        (sender, frame): (StationId, &Frame),
        (place, power): (ListenerId, Power),
        now: Time,
    ) {
        let listener = &self.listeners[place as usize];
        if listener.noticed_at == now
            && listener.lock.as_ref().is_some_and(|lock| lock.from == sender)
        {
            // The detection was certain and is already played.
            return;
        }
        self.settle_notice(place, now);
        let is_to = self.listens_as(frame.to, place);
        let listener = &mut self.listeners[place as usize];
        if listener.is_sending {
            return;
        }
        let mut has_reset = false;
        if listener.lock.is_none()
            && listener.free_from <= frame.start
            && hearing.detects(power, listener.interference(power, now))
        {
            let mut lock = Lock::new(sender, power, frame, now);
            let all = listener.energy - power;
            let interference = if hearing.weaker_before == WeakerBefore::Interferes {
                all
            } else {
                listener.noticed_interference((sender, power), frame)
            };
            lock.is_unaware = interference < all;
            lock.judge(!hearing.comes_through(power, interference, frame.need.ratio), now);
            listener.lock = Some(lock);
            if is_to {
                listener.bad.clear();
            }
            if listener.nav_reset != Time::NEVER
                && frame.start + self.phy_header <= listener.nav_reset
            {
                listener.nav_reset = Time::NEVER;
                has_reset = true;
            }
        }
        let gets_busy =
            !listener.is_busy && (listener.lock.is_some() || listener.sensed() >= hearing.energy);
        if has_reset {
            self.set_clock(place);
        }
        if gets_busy {
            self.medium_busy(place, now);
        }
    }

    /// Ends a frame of `sender`, received with `power`, at `place`.
    #[inline(always)]
    pub(super) fn frame_ends_at(
        &mut self,
        hearing: &Hearing,
        (sender, frame): (StationId, &Frame),
        (place, power): (ListenerId, Power),
        now: Time,
    ) -> Came {
        let listener = &mut self.listeners[place as usize];
        listener.energy -= power;
        listener.last_by = NONE;
        if !listener.ignored.is_empty() {
            return self.frame_ends_beside(hearing, (sender, frame), place, now);
        }
        match &listener.lock {
            Some(lock) if lock.from == sender => {
                self.settle_notice(place, now);
                self.reception_ends(hearing, frame, place, now)
            }
            Some(_) => self.frame_ends_beside(hearing, (sender, frame), place, now),
            None => {
                if listener.is_busy && !listener.is_sending && listener.energy < hearing.energy {
                    self.medium_idle(place, now);
                }
                Came::Lost
            }
        }
    }

    /// Handles [`Self::frame_ends_at`] after its power is removed, if the frame may not be
    /// received.
    #[inline(never)]
    fn frame_ends_beside(
        &mut self,
        hearing: &Hearing,
        (sender, frame): (StationId, &Frame),
        place: ListenerId,
        now: Time,
    ) -> Came {
        self.settle_notice(place, now);
        let Self { listeners, nodes, .. } = self;
        let listener = &mut listeners[place as usize];
        if !listener.ignored.is_empty() {
            listener.ignored.retain(|&(other, _)| other != sender);
        }
        if listener.is_sending {
            return Came::Lost;
        }
        match &mut listener.lock {
            Some(lock) if lock.from == sender => {
                return self.reception_ends(hearing, frame, place, now);
            }
            // Less interference does no harm, and the medium stays busy.
            Some(lock) if lock.bad_since == Time::NEVER && !lock.is_unaware => {}
            Some(lock) => {
                lock.is_unaware = false;
                let is_bad =
                    !hearing.comes_through(lock.power, listener.energy - lock.power, lock.need);
                let from = lock.from as usize;
                if let Some(bad) = lock.judge(is_bad, now)
                    && let Some(heard) = nodes[from].sending()
                    && nodes[heard.to as usize].listener == place
                {
                    listener.bad.push(bad);
                }
            }
            None => self.settle_idle(hearing, place, now),
        }
        Came::Lost
    }

    /// Ends the reception of `frame` at `place`.
    #[inline(always)]
    fn reception_ends(
        &mut self,
        hearing: &Hearing,
        frame: &Frame,
        place: ListenerId,
        now: Time,
    ) -> Came {
        let Self { listeners, nodes, settings_eifs, nav_timeout, waited, heard, .. } = self;
        let listener = &mut listeners[place as usize];
        let Some(lock) = &mut listener.lock else { return Came::Lost };
        let (sender, is_to) = (lock.from, place == frame.to);
        if let Some(bad) = lock.judge(false, now)
            && is_to
        {
            listener.bad.push(bad);
        }
        let (first_bad, last_bad) = (lock.first_bad, lock.last_bad);
        listener.lock = None;
        listener.free_from = now;
        if let Some(heard) = heard {
            tell_ears(nodes, place, (first_bad, last_bad), heard);
        }
        if nodes.get(place as usize).is_some_and(|node| node.waits_for_end) {
            waited.push(place);
        }
        // The receiver of an aggregate judges each MPDU separately.
        let is_judged_apart = is_to && frame.first_end < frame.end;
        let mut has_reset = false;
        let came = if frame.is_understood(first_bad, last_bad)
            || is_judged_apart && first_bad >= frame.header_end
        {
            listener.waiting.eifs = Time::ZERO;
            if !is_to && frame.announced > listener.waiting.nav.max(now) {
                listener.waiting.nav = frame.announced;
                listener.nav_by = sender;
                if frame.kind == Kind::Rts {
                    listener.nav_reset = now + *nav_timeout;
                    has_reset = true;
                }
            }
            Came::Understood
        } else {
            listener.waiting.eifs = now + *settings_eifs;
            Came::Lost
        };
        let is_idle = listener.is_busy && listener.sensed() < hearing.energy;
        if has_reset {
            self.set_clock(place);
        }
        if is_idle {
            self.medium_idle(place, now);
        }
        came
    }

    /// Sets the medium idle for `place` if it senses nothing any more.
    #[inline]
    pub(super) fn settle_idle(&mut self, hearing: &Hearing, place: ListenerId, now: Time) {
        let listener = &self.listeners[place as usize];
        if listener.is_busy
            && listener.lock.is_none()
            && !listener.is_sending
            && listener.sensed() < hearing.energy
        {
            self.medium_idle(place, now);
        }
    }
}

/// Reports the stations of listener `place` that received a frame, and when it was overlapped.
#[cold]
fn tell_ears(
    nodes: &[Node],
    place: ListenerId,
    (bad_from, bad_until): (Time, Time),
    heard: &mut Vec<HeardBy>,
) {
    let mut hears = |station| heard.push(HeardBy { station, bad_from, bad_until });
    if (place as usize) < nodes.len() {
        return hears(place);
    }
    let all = (0..).zip(nodes).filter(|(_, node)| node.listener == place);
    all.for_each(|(one, _)| hears(one));
}
