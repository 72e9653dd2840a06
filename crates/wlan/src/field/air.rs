//! The air of a field as its stations sense it: what begins, is noticed or ends at one listener. Who begins to transmit
//! lets go of what it was receiving; who starts before a frame is noticed does not know of it. Knows neither who hears
//! whom nor what is in a frame.

use airtcp_kernel::{Duration, Time};

use super::clock::{Clock, Key, Rank};
use super::hearing::{Hearing, Power};
use super::listener::{Listener, ListenerId, Lock};
use super::node::{Frame, Kind, Known, NONE, Node};
use super::waiting::Queue;
use crate::config::WeakerBefore;
use crate::contention::Settings;
use crate::events::HeardBy;
use crate::station::{ContenderId, StationId};

/// The stations, what they sense, and when each does something next.
#[derive(Debug)]
pub(super) struct Air {
    pub(super) settings: Settings,
    /// EIFS without the DIFS or AIFS at its end.
    pub(super) settings_eifs: Duration,
    /// The time of preamble and header of a control frame.
    pub(super) phy_header: Duration,
    /// The time after an RTS in which a frame must follow, or its NAV is void.
    pub(super) nav_timeout: Duration,
    pub(super) nodes: Vec<Node>,
    /// The listeners: stations that listen apart, and groups of stations that hear alike and listen together.
    pub(super) listeners: Vec<Listener>,
    pub(super) queues: Vec<Queue>,
    pub(super) clock: Clock,
    /// The event that was played last, and its station.
    pub(super) reached: Key,
    pub(super) reached_by: StationId,
    /// A flag: what is certain to be noticed is played ahead.
    pub(super) notices_ahead: bool,
    /// The stations that send.
    pub(super) on_air: Vec<StationId>,
    /// The instant at which the last frame began.
    pub(super) last_start: Time,
    /// The queues that begin together; empty between two events.
    pub(super) together: Vec<ContenderId>,
    /// The stations that waited for the end of a frame; empty between two events.
    pub(super) waited: Vec<StationId>,
    /// Memory for those that get at the medium next.
    pub(super) winners: Vec<StationId>,
    /// Those that have received the frame that ends, if they are to be told of.
    pub(super) heard: Option<Vec<HeardBy>>,
}

/// The reception of a frame by the station that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// Nothing: it was not receiving it, or too much of it was overlapped.
    Lost,
    /// At least a part of it.
    Understood,
}

impl Air {
    /// Tells whether what `listener` receives that is for `station` is received by that.
    #[inline]
    pub(super) fn listens_as(&self, station: StationId, listener: ListenerId) -> bool {
        self.nodes[station as usize].listener == listener
    }

    /// Notes that an event of `station` is played.
    #[inline]
    pub(super) fn reaches(&mut self, key: Key, station: StationId) {
        if key >= self.reached {
            (self.reached, self.reached_by) = (key, station);
        }
    }

    /// Sets the next event of a station, or of those that listen together.
    #[inline]
    pub(super) fn set_clock(&mut self, place: ListenerId) {
        let nav_reset = self.listeners[place as usize].nav_reset;
        let (acts, timeout) =
            self.nodes.get(place as usize).map_or((Key::NEVER, Time::NEVER), Node::next);
        self.clock.set(place, acts.min(Key::new(timeout.min(nav_reset), Rank::Timeout)));
    }

    /// Begins `frame` of `sender` at `place`, which does not know of it until `notice`. Returns whether nothing is left to
    /// do there then.
    ///
    /// That is so where it is noticed for certain if nothing else happens there before, which takes so much power, and
    /// where it is certain to change nothing.
    #[inline(always)]
    pub(super) fn frame_begins(
        &mut self,
        hearing: &Hearing,
        (sender, frame): (StationId, &Frame),
        (place, power): (ListenerId, Power),
        (notice, certain): (Time, Power),
    ) -> bool {
        let Self { listeners, nodes, queues, .. } = self;
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
        let is_loud =
            power >= certain && listener.access > notice && listener.nav_reset == Time::NEVER;
        let will_draw = |&id: &ContenderId| queues[id as usize].waits.will_draw();
        let is_certain =
            is_loud && (listener.order.is_some() || !listener.counting.iter().any(will_draw));
        if is_certain {
            listener.lock = Some(Lock::new(sender, power, frame, notice));
            listener.is_busy = true;
            listener.noticed_at = notice;
            if nodes[frame.to as usize].listener == place {
                listener.bad.clear();
            }
            if listener.access <= frame.end {
                self.forget_access(place);
            }
        }
        is_certain
    }

    /// Does as [`Self::frame_begins`] where another frame is sent or received, or nothing is certain.
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
            // More interference makes it no better.
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

    /// Freezes the queues of `place` as of the instant at which it has noticed what it receives, if that was put off. If
    /// that instant is still to come, it has noticed nothing, and does so when it comes.
    #[inline(always)]
    pub(super) fn settle_notice(&mut self, place: ListenerId, now: Time) {
        let listener = &mut self.listeners[place as usize];
        let at = listener.noticed_at;
        if at == Time::NEVER {
            return;
        }
        if at < now {
            listener.noticed_at = Time::NEVER;
            if !listener.counting.is_empty() {
                self.freeze(place, at);
            }
        } else {
            self.settle_notice_at_once(place);
        }
    }

    /// Does as [`Self::settle_notice`] where that instant is now, or to come.
    #[cold]
    fn settle_notice_at_once(&mut self, place: ListenerId) {
        let listener = &mut self.listeners[place as usize];
        let at = std::mem::replace(&mut listener.noticed_at, Time::NEVER);
        if Key::new(at, Rank::Notice) <= self.reached {
            if !listener.counting.is_empty() {
                self.freeze(place, at);
            }
            return;
        }
        let lock = listener.lock.take().expect("what is noticed is received");
        listener.is_busy = false;
        self.is_to_be_noticed(lock.from, at);
        self.find_access(place);
    }

    /// Has the frame of `sender` be noticed at `at`.
    fn is_to_be_noticed(&mut self, sender: StationId, at: Time) {
        let node = &mut self.nodes[sender as usize];
        node.known = Known::Nothing;
        node.acts = Key::new(at, Rank::Notice);
        self.set_clock(sender);
    }

    /// Has a station wait no more for the end of what it received as `listener`.
    pub(super) fn receives_no_more(&mut self, listener: ListenerId, now: Time) {
        if let Some(node) = self.nodes.get_mut(listener as usize)
            && std::mem::take(&mut node.waits_for_end)
        {
            node.timeout = now;
            self.set_clock(listener);
        }
    }

    /// Has `place` notice `frame` of `sender`, which it hears with `power`.
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
            // It was certain to notice it.
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

    /// Ends a frame of `sender`, heard with `power`, at `place`.
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

    /// Does as [`Self::frame_ends_at`], with its power gone, where it may not be received.
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
            // Less interference makes it no worse, and it stays busy.
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
        // Of an aggregate its receiver judges each frame alone.
        let is_judged_apart = is_to && frame.first_end < frame.end;
        let mut has_reset = false;
        let came = if frame.is_understood(first_bad, last_bad)
            || is_judged_apart && first_bad >= frame.header_end
        {
            listener.eifs = Time::ZERO;
            if !is_to && frame.announced > listener.nav.max(now) {
                listener.nav = frame.announced;
                listener.nav_by = sender;
                if frame.kind == Kind::Rts {
                    listener.nav_reset = now + *nav_timeout;
                    has_reset = true;
                }
            }
            Came::Understood
        } else {
            listener.eifs = now + *settings_eifs;
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

    /// Makes the medium idle for `place` if it senses nothing any more.
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

/// Tells of those that listen as `place` and have received a frame, and the times in which it was overlapped.
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
