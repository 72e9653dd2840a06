//! Contention-free periods: the access point polls the stations one after the other, and no station
//! contends. This is the point coordination function of IEEE Std 802.11-2016, clause 10.4, the last
//! edition that has it. Citations about it refer to that edition, all others to that of 2020.
//!
//! ```text
//!   target time        PIFS     SIFS            SIFS             SIFS             SIFS
//!   ----------- busy --------B------ Data+CF-Poll -- Data+CF-Ack -- CF-Ack+CF-Poll -- Null ... CF-End
//!               ended                access point    station        access point      station
//! ```
//!
//! A period begins at its target time, or a PIFS after the medium becomes idle if it is busy then.
//! It ends at the set time after the target time, or earlier if no station has anything to send.
//! Each frame acknowledges the data frame before it. A polled station responds with one data frame
//! that ends in time, or with a null frame. The next poll follows a PIFS after a poll that was lost
//! with its data, or after a lost response. Lost frames are retransmitted only at the station's
//! next turn, in this period or later. Stations choose their response when the poll ends, and the
//! access point its next frame when the response ends, before the received data are delivered: a
//! SIFS is too short to generate a TCP ACK.
//!
//! [`turns`] decides which station the access point polls.

mod fate;
mod turns;

use airtcp_kernel::{Duration, Time};

use super::roles::{Roles, first_of_access_point};
use super::txop_ends::CF_END_BITS;
use super::{Air, Exchange, OnAir, Play};
use crate::config::{MacConfig, PollOrder};
use crate::contention::ContenderConfig;
use crate::events::{Began, CfFrame, MacEvent, Supply};
use crate::frame::Frames;
use crate::phy::{Modulation, PhyConfig};
use crate::sequence::dcf::FrameTable;
use crate::station::{ACCESS_POINT, ContenderId, EVERYBODY, StationId};
use turns::{Round, Turn};

/// The exchange logic of a cell with contention-free periods.
#[derive(Debug)]
pub(crate) struct Polled {
    interval: Duration,
    max_duration: Duration,
    pifs: Duration,
    /// Airtime of a CF-End.
    cf_end: Duration,
    /// Size of a null frame: MAC header and FCS.
    empty_bits: u64,
    /// The access point's queue.
    access_point: ContenderId,
    /// The queue of each station; the access point's own entry is not used.
    queues: Vec<ContenderId>,
    round: Round,
    phase: Phase,
    /// The target time of a period that is due while the medium is busy.
    due: Option<Time>,
    /// The target time of the beacon after that one.
    next_beacon: Time,
    began: Time,
    /// When the current transmission began.
    sent_from: Time,
    /// When the period ends at the latest.
    ends: Time,
    /// The contender whose data frame the access point has received last and not acknowledged.
    unacknowledged: Option<ContenderId>,
}

/// The state of the medium in a contention-free period.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// The beacon.
    Beacon,
    /// A poll to a station.
    Poll { to: StationId, has_data: bool, acknowledges: Option<ContenderId> },
    /// A station's response to a poll, with or without data.
    Answer { by: ContenderId, has_data: bool, acknowledges: bool },
    /// Idle for a PIFS.
    Silence,
    /// A CF-End.
    End { acknowledges: Option<ContenderId> },
}

/// A frame to be sent.
struct Sending {
    by: ContenderId,
    receiver: StationId,
    has_data: bool,
    polls: bool,
    acknowledges: bool,
    class: u32,
    start: Time,
}

impl<P: Clone> Exchange<P> for Polled {
    #[cold]
    fn beacon_is_due<S: Supply<P>>(play: &mut Play<'_, P, Self, S>, now: Time) {
        if !play.begins_contention_free(now) {
            play.air.beacon_is_due(now);
        }
    }

    #[cold]
    fn contention_free_step<S: Supply<P>>(play: &mut Play<'_, P, Self, S>, now: Time) {
        play.contention_free_goes_on(now);
    }
}

impl Polled {
    /// Creates the exchange logic; `None` without contention-free periods.
    pub(crate) fn new(
        phy: &PhyConfig,
        mac: &MacConfig,
        contenders: &[ContenderConfig],
    ) -> Option<Box<Self>> {
        let config = mac.pcf?;
        debug_assert!(mac.beacon.is_some(), "a contention-free period begins with a beacon");
        let PollOrder::RoundRobin = config.poll;
        let stations = contenders.iter().map(|one| one.station + 1).max().unwrap_or(0);
        let access_point = first_of_access_point(contenders);
        let mut queues = vec![access_point; stations as usize];
        for (id, contender) in (0..).zip(contenders) {
            queues[contender.station as usize] = id;
        }
        Some(Box::new(Self {
            interval: config.interval,
            max_duration: config.max_duration,
            pifs: phy.sifs + phy.slot_time,
            cf_end: phy.ppdu_time(CF_END_BITS, mac.cf_end_rate),
            empty_bits: phy.mac_header_bits,
            round: Round::new(queues.len()),
            access_point,
            queues,
            phase: Phase::Silence,
            due: None,
            next_beacon: Time::NEVER,
            began: Time::ZERO,
            sent_from: Time::ZERO,
            ends: Time::ZERO,
            unacknowledged: None,
        }))
    }

    /// Returns whether the beacon that is due at `target` begins a period.
    fn is_target(&self, target: Time) -> bool {
        target.as_nanos().is_multiple_of(self.interval.as_nanos())
    }

    /// Returns by when a frame must have been answered, or received if it is a response itself.
    /// Then the CF-End is in time even if that frame is lost.
    fn answered_by(&self, propagation: Duration) -> Time {
        let after = self.pifs + self.cf_end + propagation;
        Time::from_nanos(self.ends.as_nanos().saturating_sub(after.as_nanos()))
    }
}

impl Polled {
    /// Returns when the current contention-free period began, if there is one.
    pub(crate) fn contention_free_since<P>(&self, air: &Air<P>) -> Option<Time> {
        matches!(air.on_air, OnAir::ContentionFree).then_some(self.began)
    }

    fn wait_to_begin<P: Clone>(&mut self, air: &mut Air<P>, until: Time) {
        air.beacons.set_next_target(until);
        air.next = until.min(air.next_step);
    }

    /// Returns when the medium, which is idle at `now`, will have been idle for a PIFS.
    fn idle_for_pifs<P: Clone>(&self, air: &Air<P>, now: Time) -> Time {
        let counted_from = air.contention.idle_from();
        let idle_from = if counted_from > now {
            // After a collision, contenders count from a later instant.
            air.medium.last_end() + air.frames.phy().propagation_delay
        } else {
            counted_from
        };
        idle_from + self.pifs
    }

    /// Returns when the data frame on the air arrives, if it is part of a contention-free period.
    pub(crate) fn receiving<P>(&self, air: &Air<P>) -> Option<(Time, Time)> {
        if !matches!(air.on_air, OnAir::ContentionFree) {
            return None;
        }
        let (Phase::Poll { has_data: true, .. } | Phase::Answer { has_data: true, .. }) =
            self.phase
        else {
            return None;
        };
        Some((self.sent_from + air.frames.phy().propagation_delay, air.next_step))
    }

    /// Waits for a PIFS after a transmission that ended at `now` and that was not decoded.
    fn wait_for_pifs<P: Clone>(&mut self, air: &mut Air<P>, now: Time) {
        self.phase = Phase::Silence;
        let until = now + self.pifs;
        air.set_on_air(OnAir::ContentionFree, until);
    }
}

impl<P: Clone, S: Supply<P>> Play<'_, P, Polled, S> {
    /// Starts a contention-free period, or waits for an idle medium to do so, if the beacon that is
    /// due begins one. Returns whether it does. From the target time on no other station starts to
    /// send.
    #[cold]
    fn begins_contention_free(&mut self, now: Time) -> bool {
        if self.mac.due.is_none() {
            if !self.mac.is_target(now) {
                return false;
            }
            self.mac.due = Some(now);
            self.mac.next_beacon = now + self.air.beacons.interval();
        } else if !matches!(self.air.on_air, OnAir::Silence) && self.air.next_step <= now {
            // The exchange on the self.air at the target time continues to its end.
            self.step(now);
        }
        if !matches!(self.air.on_air, OnAir::Silence) {
            self.mac.wait_to_begin(self.air, self.air.next_step);
            return true;
        }
        let start = self.mac.idle_for_pifs(self.air, now);
        if start <= now {
            self.contention_free_begins(now);
        } else {
            // All accesses are later, because they wait for DIFS.
            self.mac.wait_to_begin(self.air, start);
        }
        true
    }

    /// Starts a period: the medium belongs to the access point from `now` on.
    fn contention_free_begins(&mut self, now: Time) {
        let target = self.mac.due.take().expect("a period is due");
        (self.mac.began, self.mac.ends) = (now, target + self.mac.max_duration);
        self.mac.phase = Phase::Beacon;
        while self.mac.next_beacon <= now {
            self.mac.next_beacon += self.air.beacons.interval();
        }
        self.air.beacons.set_next_target(self.mac.next_beacon);
        self.mac.round.begin_period();
        self.air.contention.suspend(now);
        self.air.medium.clear();
        self.air.beacons.set_due();
        self.air.counters.beacons += 1;
        let sent = now + self.air.beacons.airtime();
        let end = sent + self.air.frames.phy().propagation_delay;
        self.tell_of_beacon(self.mac.access_point, now, sent, end, false);
        self.air.set_on_air(OnAir::ContentionFree, end);
    }

    /// Continues a contention-free period when its current transmission has ended.
    #[cold]
    fn contention_free_goes_on(&mut self, now: Time) {
        match self.mac.phase {
            Phase::Beacon => {
                self.air.beacons.end();
                self.air.contention.broadcast_without_contention(self.mac.access_point);
                let turn = self.take_turn(now, now + self.air.frames.phy().sifs);
                self.begin_turn(turn, now + self.air.frames.phy().sifs);
            }
            Phase::Poll { to, has_data, acknowledges } => {
                self.poll_ended(to, has_data, acknowledges, now);
            }
            Phase::Answer { by, has_data, acknowledges } => {
                self.answer_ended(by, has_data, acknowledges, now);
            }
            Phase::Silence => {
                let turn = self.take_turn(now, now);
                self.begin_turn(turn, now);
            }
            Phase::End { acknowledges } => {
                if let Some(by) = acknowledges {
                    self.acknowledged_without_contention(by, now);
                }
                self.contention_free_ends(now);
            }
        }
    }

    /// Puts the access point's next frame on the air at `start`.
    fn begin_turn(&mut self, turn: Turn, start: Time) {
        let acknowledged = self.mac.unacknowledged.take();
        let acknowledges = acknowledged.is_some();
        let (to, has_data) = match turn {
            Turn::Poll { to, has_data } => (to, has_data),
            Turn::End => {
                let sent = start + self.mac.cf_end;
                let end = sent + self.air.frames.phy().propagation_delay;
                self.mac.phase = Phase::End { acknowledges: acknowledged };
                let frame = CfFrame {
                    by: self.mac.access_point,
                    receiver: EVERYBODY,
                    psdu: None,
                    acknowledges,
                    polls: false,
                    ends: Some(self.mac.began),
                    class: 0,
                    sent,
                    end,
                };
                self.supply.on_event(start, MacEvent::Began(Began::ContentionFree(frame)));
                self.air.set_on_air(OnAir::ContentionFree, end);
                return;
            }
        };
        self.air.counters.polls += 1;
        self.mac.phase = Phase::Poll { to, has_data, acknowledges: acknowledged };
        let other = acknowledged.map(|by| self.air.originators[by as usize].station);
        let class = class_of_poll(&self.air.frames, &self.air.roles, to, other);
        let by = self.mac.access_point;
        let sending =
            Sending { by, receiver: to, has_data, polls: true, acknowledges, class, start };
        self.send_without_contention(&sending);
    }

    fn send_without_contention(&mut self, sending: &Sending) {
        let Sending { by, receiver, has_data, polls, acknowledges, class, start } = *sending;
        let psdu = self.air.originators[by as usize].frames().filter(|_| has_data);
        self.mac.sent_from = start;
        let bits = psdu.map_or(self.mac.empty_bits, Frames::bits);
        let sent = start + self.air.frames.times(class, bits).data;
        let end = sent + self.air.frames.phy().propagation_delay;
        let frame =
            CfFrame { by, receiver, psdu, acknowledges, polls, ends: None, class, sent, end };
        self.supply.on_event(start, MacEvent::Began(Began::ContentionFree(frame)));
        self.air.set_on_air(OnAir::ContentionFree, end);
    }

    /// Receives the poll to `to`, which has ended, and puts the response on the air.
    fn poll_ended(
        &mut self,
        to: StationId,
        has_data: bool,
        acknowledges: Option<ContenderId>,
        now: Time,
    ) {
        let is_lost = has_data && self.air.loses_held(self.mac.access_point);
        if let Some(by) = acknowledges {
            if is_lost && self.air.originators[by as usize].station == to {
                self.failed_without_contention(by, now);
            } else {
                self.acknowledged_without_contention(by, now);
            }
        }
        if is_lost {
            self.tell_of_cf_loss(self.mac.access_point, now);
            self.failed_without_contention(self.mac.access_point, now);
            self.mac.round.polled(true);
            self.mac.wait_for_pifs(self.air, now);
            return;
        }
        let by = self.mac.queues[to as usize];
        let start = now + self.air.frames.phy().sifs;
        let answers_with_data = self.has_answer(by, now, start);
        if has_data {
            self.received_without_contention(self.mac.access_point, now);
        }
        self.mac.phase = Phase::Answer { by, has_data: answers_with_data, acknowledges: has_data };
        self.air.counters.polls_without_data += u64::from(!answers_with_data);
        let sending = Sending {
            by,
            receiver: ACCESS_POINT,
            has_data: answers_with_data,
            polls: false,
            acknowledges: has_data,
            class: self.air.roles.class_of(to),
            start,
        };
        self.send_without_contention(&sending);
    }

    /// Receives the response of `by` to a poll, and continues with the access point's next frame.
    fn answer_ended(&mut self, by: ContenderId, has_data: bool, acknowledges: bool, now: Time) {
        self.mac.round.polled(has_data || acknowledges);
        if has_data && self.air.loses_held(by) {
            self.tell_of_cf_loss(by, now);
            self.failed_without_contention(by, now);
            if acknowledges {
                self.failed_without_contention(self.mac.access_point, now);
            }
            self.mac.wait_for_pifs(self.air, now);
            return;
        }
        if acknowledges {
            self.acknowledged_without_contention(self.mac.access_point, now);
        }
        let start = now + self.air.frames.phy().sifs;
        self.mac.unacknowledged = has_data.then_some(by);
        let turn = self.take_turn(now, start);
        if has_data {
            self.received_without_contention(by, now);
        }
        self.begin_turn(turn, start);
    }

    /// Ends the period, as all stations have received the CF-End; contention resumes.
    fn contention_free_ends(&mut self, now: Time) {
        self.air.counters.contention_free_periods += 1;
        for by in 0..self.air.originators.len() as ContenderId {
            let has_frame = self.has_frame(by);
            self.air.contention.settle_suspended(by, now, has_frame);
        }
        self.air.contention.medium_idle(now);
        self.air.fall_silent();
    }
}

/// Returns the rate class at which the access point polls `to`. `acknowledged`, whose frame the
/// poll acknowledges, must understand it too (IEEE Std 802.11-2016, 10.7).
fn class_of_poll(
    frames: &FrameTable,
    roles: &Roles,
    to: StationId,
    acknowledged: Option<StationId>,
) -> u32 {
    let own = roles.class_of(to);
    let Some(station) = acknowledged else { return own };
    let other = roles.class_of(station);
    let ease = |class| {
        let rate = frames.data_rate(class);
        (rate.modulation != Modulation::Dsss, rate.bps)
    };
    if ease(other) < ease(own) { other } else { own }
}
