//! Frames of a field that reach their receivers: what is answered, and what data deliver.

use std::ops::Range;

use airtcp_kernel::{Duration, Time};

use super::clock::{Key, Rank};
use super::node::{Culprit, Frame, Kind, Sends};
use super::{Field, Mac};
use crate::events::{MacEvent, Supply};
use crate::exchange::{Desk, loses, set_arrivals};
use crate::frame::Psdu;
use crate::station::{ContenderId, StationId};

impl<P: Clone> Field<P> {
    /// Processes `frame`, which its receiver has decoded at least partly.
    #[inline]
    pub(super) fn frame_came<S: Supply<P>>(&mut self, frame: &Frame, now: Time, supply: &mut S) {
        let station = frame.to;
        let node = &self.air.nodes[station as usize];
        let awaited = node.exchange.is_some_and(|exchange| {
            exchange.by == frame.by && exchange.awaits == frame.kind && node.sends != Sends::Soon
        });
        match frame.kind {
            Kind::CtsToSelf => {}
            Kind::Rts => {
                // 10.3.2.9: no CTS while the NAV is set.
                let listener = &self.air.listeners[station as usize];
                if listener.waiting.nav <= now {
                    self.gives_up_waiting(station, now, supply);
                    self.sends_next(station, (Kind::Cts, frame.by), now, supply);
                } else {
                    let apart = Duration::from_nanos(u64::MAX);
                    let culprit = Culprit { station: listener.nav_by, apart };
                    self.last_culprits[frame.by as usize] = culprit;
                }
            }
            Kind::Data => {
                if self.data_came((frame.by, frame.to, frame.end), now, supply) {
                    self.answers(frame, now, supply);
                } else {
                    self.last_culprits[frame.by as usize] = frame.culprit;
                }
            }
            Kind::Cts if awaited => {
                let node = &mut self.air.nodes[station as usize];
                (node.timeout, node.waits_for_end) = (Time::NEVER, false);
                if let Some(exchange) = &mut node.exchange {
                    exchange.is_protected = true;
                }
                self.sends_next(station, (Kind::Data, frame.by), now, supply);
            }
            Kind::Answer if awaited => self.answer_came(station, frame.by, now, supply),
            Kind::Cts | Kind::Answer => {}
        }
    }

    /// Makes the receiver of `frame` respond to it.
    #[inline(always)]
    pub(super) fn answers<S: Supply<P>>(&mut self, frame: &Frame, now: Time, supply: &mut S) {
        self.gives_up_waiting(frame.to, now, supply);
        let sender = self.originators[frame.by as usize].station;
        self.sends_soon(frame.to, &frame.answer(sender, self.frames.phy().sifs));
    }

    /// Cancels the response timeout of `station`, because it has to respond to a frame itself.
    fn gives_up_waiting<S: Supply<P>>(&mut self, station: StationId, now: Time, supply: &mut S) {
        let node = &self.air.nodes[station as usize];
        if node.exchange.is_some() && node.sends != Sends::Soon {
            self.answer_missing(station, now, supply);
        }
    }

    /// Delivers what was received of data of `by` for `to` that end at `end`. Returns whether
    /// anything was received.
    #[inline(always)]
    pub(super) fn data_came<S: Supply<P>>(
        &mut self,
        (by, to, end): (ContenderId, StationId, Time),
        now: Time,
        supply: &mut S,
    ) -> bool {
        if let Some(mut desk) = self.desk(supply) {
            let (_, _, _, asked) = desk.mac.assembled(by);
            if let Some(receiver) = asked {
                desk.receive_request(by, receiver, now);
                return true;
            }
            let arriving = self.arriving.get(self.originators[by as usize].station as usize);
            let (arrived, any_received) =
                arriving.map_or((0, false), |one| (one.arrived, one.any_received));
            return self.mpdus_came((by, to, end), arrived..usize::MAX, now, supply)
                || any_received;
        }
        let originator = &mut self.originators[by as usize];
        let station = originator.station;
        let mpdu = Psdu::only_of(&mut originator.psdu);
        let is_lost =
            !self.is_perfect && loses(&mut self.errors, &self.roles, &self.frames, station, mpdu);
        // A duplicate if only its acknowledgment was lost.
        if !is_lost && !mpdu.is_received {
            mpdu.is_received = true;
            supply.on_event(now, MacEvent::Received { by, mpdu, came: None });
        }
        !is_lost
    }

    /// Delivers the MPDUs of the aggregate of `sender` that end at `now`, before its last.
    #[inline(never)]
    pub(super) fn mpdus_end<S: Supply<P>>(&mut self, sender: StationId, now: Time, supply: &mut S) {
        let Self { air, arriving, .. } = self;
        let (node, arriving) = (&mut air.nodes[sender as usize], &mut arriving[sender as usize]);
        let until = arriving.ends.partition_point(|&end| end <= now);
        let places = std::mem::replace(&mut arriving.arrived, until)..until;
        node.frame.next_end = arriving.ends[until];
        node.acts = Key::new(node.frame.next_end, Rank::End);
        let frame = node.frame;
        air.set_clock(sender);
        let place = air.nodes[frame.to as usize].listener;
        if let Some(lock) = &air.listeners[place as usize].lock
            && lock.from == sender
            && lock.first_bad >= frame.header_end
            && self.mpdus_came((frame.by, frame.to, frame.end), places, now, supply)
        {
            self.arriving[sender as usize].any_received = true;
        }
    }

    /// Delivers what was received of the packets at `places` of the aggregate of `by` for `to` that
    /// ends at `end`. Returns whether anything was received.
    #[inline(always)]
    fn mpdus_came<S: Supply<P>>(
        &mut self,
        (by, to, end): (ContenderId, StationId, Time),
        places: Range<usize>,
        now: Time,
        supply: &mut S,
    ) -> bool {
        let Self { originators, frames, roles, errors, is_perfect, mac, arrivals, air, .. } = self;
        let Mac::Aggregate(mac) = mac else { unreachable!("only it has aggregates") };
        let is_perfect = *is_perfect;
        let mac = &mut **mac;
        let mut desk = Desk { mac, supply, originators, frames, roles, errors, is_perfect };
        let (times, _, preamble, _) = desk.mac.assembled(by);
        let data = times.data - preamble;
        let psdu = desk.originators[by as usize].frames().expect("it was sent");
        let places = places.start..places.end.min(psdu.mpdus().len());
        let listener = &air.listeners[air.nodes[to as usize].listener as usize];
        let bad = &listener.bad;
        // Of a frame that is still being received.
        let bad_since = listener.lock.map_or(Time::NEVER, |lock| lock.bad_since);
        let is_clean = bad.is_empty() && bad_since == Time::NEVER;
        let data_start = end.as_nanos() - data.as_nanos();
        if !is_clean {
            set_arrivals(arrivals, end, data, psdu);
        }
        let overlapped = |place: usize| {
            if is_clean {
                return false;
            }
            let before = arrivals[..place].iter().rfind(|&&one| one < arrivals[place]);
            let from = before.copied().unwrap_or(Time::from_nanos(data_start));
            bad_since < arrivals[place]
                || bad.iter().any(|&(since, until)| since < arrivals[place] && until > from)
        };
        let (whole, errors) = desk.receive(by, now, places, overlapped);
        let counters = &mut air.queues[by as usize].counters;
        counters.mpdus += whole;
        counters.mpdu_errors += errors;
        whole > errors
    }
}
