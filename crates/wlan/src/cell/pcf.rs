//! Contention-free periods: the access point polls the stations, one after the other, and nobody
//! contends (the point coordination function, IEEE Std 802.11-2016, clause 10.4: that edition is the
//! last one that has it, and all that is cited of it here, all else is that of 2020).
//!
//! ```text
//!   target time        PIFS     SIFS            SIFS             SIFS             SIFS
//!   ----------- busy --------B------ Data+CF-Poll -- Data+CF-Ack -- CF-Ack+CF-Poll -- Null ... CF-End
//!               ended                access point    station        access point      station
//! ```
//!
//! A period begins at its target time, or, if the medium is busy then, a PIFS after it is not; it ends
//! so long after the target time as is set, or earlier if nobody has anything to send. Each frame
//! acknowledges the data frame before it. Who is polled answers with one data frame that ends in
//! time, or with one without data; a poll that is lost with its data is followed by the next after a
//! PIFS, as is an answer that is lost. What is lost is not sent again at once, but when its turn comes
//! again, in this period or later. Stations that answer have chosen their frame when the poll ends, and
//! the access point its next when the answer does, before what has come is handed on: a SIFS is too
//! short for a TCP ACK to be made.
//!
//! Whom the access point polls is in [`turns`].

mod turns;

use airtcp_kernel::{Duration, Time};

use super::beacons::FIRST_OF_ACCESS_POINT;
use super::originator::Originator;
use super::txop_ends::CF_END_BITS;
use super::{Began, Cell, CfFrame, MacEvent, OnAir, Supply, loses};
use crate::config::{MacConfig, PollOrder};
use crate::contention::ContenderConfig;
use crate::frame::Frames;
use crate::phy::{Modulation, PhyConfig};
use crate::sequence::dcf::FrameTable;
use crate::station::{ACCESS_POINT, ALL_HEAR_ALL, ContenderId, EVERYBODY, StationId};
use turns::{Round, Turn};

/// Where the access point is with its contention-free periods.
#[derive(Debug)]
pub(super) struct Pcf {
    interval: Duration,
    max_duration: Duration,
    pifs: Duration,
    /// Airtime of a CF-End.
    cf_end: Duration,
    /// A data frame without data: MAC header and FCS.
    empty_bits: u64,
    /// The queue of each station; the first entry, the access point's own, is not used.
    queues: Vec<ContenderId>,
    round: Round,
    phase: Phase,
    /// While a period is due and the medium is busy: its target time.
    due: Option<Time>,
    /// When the beacon after that one is due.
    next_beacon: Time,
    began: Time,
    /// When what is on the air began.
    sent_from: Time,
    /// When it ends at the latest.
    ends: Time,
    /// Whose data frame the access point has received last, and has not acknowledged.
    unacknowledged: Option<ContenderId>,
}

/// What is on the air in a contention-free period.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// The beacon.
    Beacon,
    /// A poll to a station.
    Poll { to: StationId, has_data: bool, acknowledges: Option<ContenderId> },
    /// The answer of a station to a poll that had data, or had not.
    Answer { by: ContenderId, has_data: bool, acknowledges: bool },
    /// Nothing for a PIFS.
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

impl Pcf {
    /// None without contention-free periods.
    pub(super) fn new(
        phy: &PhyConfig,
        mac: &MacConfig,
        contenders: &[ContenderConfig],
    ) -> Option<Box<Self>> {
        let config = mac.pcf?;
        debug_assert!(mac.beacon.is_some(), "a contention-free period begins with a beacon");
        let PollOrder::RoundRobin = config.poll;
        let stations = contenders.iter().map(|one| one.station + 1).max().unwrap_or(0);
        let mut queues = vec![FIRST_OF_ACCESS_POINT; stations as usize];
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

    /// Whether the beacon that is due at `target` begins a period.
    fn is_target(&self, target: Time) -> bool {
        target.as_nanos().is_multiple_of(self.interval.as_nanos())
    }

    /// Until when a frame must have been answered, or heard where it is an answer itself: then the
    /// CF-End comes in time even if that one is lost.
    fn answered_by(&self, propagation: Duration) -> Time {
        let after = self.pifs + self.cf_end + propagation;
        Time::from_nanos(self.ends.as_nanos().saturating_sub(after.as_nanos()))
    }
}

impl<P: Clone> Cell<P> {
    /// Since when there is a contention-free period, if there is one at this instant.
    pub fn contention_free_since(&self) -> Option<Time> {
        let is_one = matches!(self.on_air, OnAir::ContentionFree);
        self.pcf.as_ref().filter(|_| is_one).map(|pcf| pcf.began)
    }

    /// A beacon is due, or waits for the medium to begin a contention-free period: whether it is one
    /// that does. From the target time on nobody else begins to send.
    #[cold]
    pub(super) fn begins_contention_free<S: Supply<P>>(
        &mut self,
        now: Time,
        supply: &mut S,
    ) -> bool {
        let Some(pcf) = &mut self.pcf else { return false };
        if pcf.due.is_none() {
            if !pcf.is_target(now) {
                return false;
            }
            pcf.due = Some(now);
            pcf.next_beacon = now + self.beacons.interval();
        } else if !matches!(self.on_air, OnAir::Silence) && self.next_step <= now {
            // What was on the air at the target time goes on to its end.
            self.step::<false, S>(now, supply);
        }
        if !matches!(self.on_air, OnAir::Silence) {
            self.wait_to_begin(self.next_step);
            return true;
        }
        let start = self.idle_for_pifs(now);
        if start <= now {
            self.contention_free_begins(now, supply);
        } else {
            // All accesses are later than that, for they wait for DIFS.
            self.wait_to_begin(start);
        }
        true
    }

    fn wait_to_begin(&mut self, until: Time) {
        self.beacons.set_next_target(until);
        self.next = until.min(self.next_step);
    }

    /// From when on the medium, which is idle `now`, has been so for PIFS.
    fn idle_for_pifs(&self, now: Time) -> Time {
        let counted_from = self.contention.idle_from(ALL_HEAR_ALL);
        let idle_from = if counted_from > now {
            // Those who contend count from later on after a collision.
            self.medium.last_end() + self.frames.phy().propagation_delay
        } else {
            counted_from
        };
        idle_from + self.pcf.as_ref().map_or(Duration::ZERO, |pcf| pcf.pifs)
    }

    /// The medium is the access point's from `now` on.
    fn contention_free_begins<S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        let Some(pcf) = &mut self.pcf else { return };
        let target = pcf.due.take().expect("a period is due");
        (pcf.began, pcf.ends) = (now, target + pcf.max_duration);
        pcf.phase = Phase::Beacon;
        while pcf.next_beacon <= now {
            pcf.next_beacon += self.beacons.interval();
        }
        self.beacons.set_next_target(pcf.next_beacon);
        pcf.round.begin_period();
        self.contention.suspend(ALL_HEAR_ALL, now);
        self.medium.clear();
        self.beacons.set_due();
        self.counters.beacons += 1;
        let sent = now + self.beacons.airtime();
        let end = sent + self.frames.phy().propagation_delay;
        self.tell_of_beacon(FIRST_OF_ACCESS_POINT, now, sent, end, false, supply);
        self.set_on_air(OnAir::ContentionFree, end);
    }

    /// From when to when the data frame on the air arrives, if it is one.
    pub(super) fn receiving_without_contention(&self) -> Option<(Time, Time)> {
        let pcf = self.pcf.as_ref()?;
        let (Phase::Poll { has_data: true, .. } | Phase::Answer { has_data: true, .. }) = pcf.phase
        else {
            return None;
        };
        Some((pcf.sent_from + self.frames.phy().propagation_delay, self.next_step))
    }

    /// What is on the air of a contention-free period has ended.
    #[cold]
    pub(super) fn contention_free_step<S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        let Some(pcf) = &self.pcf else { return };
        match pcf.phase {
            Phase::Beacon => {
                self.beacons.end();
                self.contention.broadcast_without_contention(FIRST_OF_ACCESS_POINT);
                let turn = self.take_turn(now, now + self.frames.phy().sifs, supply);
                self.begin_turn(turn, now + self.frames.phy().sifs, supply);
            }
            Phase::Poll { to, has_data, acknowledges } => {
                self.poll_ended(to, has_data, acknowledges, now, supply);
            }
            Phase::Answer { by, has_data, acknowledges } => {
                self.answer_ended(by, has_data, acknowledges, now, supply);
            }
            Phase::Silence => {
                let turn = self.take_turn(now, now, supply);
                self.begin_turn(turn, now, supply);
            }
            Phase::End { acknowledges } => {
                if let Some(by) = acknowledges {
                    self.acknowledged_without_contention(by, now, supply);
                }
                self.contention_free_ends(now, supply);
            }
        }
    }

    /// The access point sends from `start` on what its turn is.
    fn begin_turn<S: Supply<P>>(&mut self, turn: Turn, start: Time, supply: &mut S) {
        let Some(pcf) = &mut self.pcf else { return };
        let acknowledged = pcf.unacknowledged.take();
        let acknowledges = acknowledged.is_some();
        let (to, has_data) = match turn {
            Turn::Poll { to, has_data } => (to, has_data),
            Turn::End => {
                let sent = start + pcf.cf_end;
                let end = sent + self.frames.phy().propagation_delay;
                pcf.phase = Phase::End { acknowledges: acknowledged };
                let frame = CfFrame {
                    by: FIRST_OF_ACCESS_POINT,
                    receiver: EVERYBODY,
                    psdu: None,
                    acknowledges,
                    polls: false,
                    ends: Some(pcf.began),
                    class: 0,
                    sent,
                    end,
                };
                supply.on_event(start, MacEvent::Began(Began::ContentionFree(frame)));
                self.set_on_air(OnAir::ContentionFree, end);
                return;
            }
        };
        self.counters.polls += 1;
        pcf.phase = Phase::Poll { to, has_data, acknowledges: acknowledged };
        let other = acknowledged.map(|by| self.originators[by as usize].station);
        let class = class_of_poll(&self.frames, &self.rate_classes, to, other);
        let by = FIRST_OF_ACCESS_POINT;
        let sending =
            Sending { by, receiver: to, has_data, polls: true, acknowledges, class, start };
        self.send_without_contention(&sending, supply);
    }

    fn send_without_contention<S: Supply<P>>(&mut self, sending: &Sending, supply: &mut S) {
        let Sending { by, receiver, has_data, polls, acknowledges, class, start } = *sending;
        let psdu = self.originators[by as usize].frames().filter(|_| has_data);
        let Some(pcf) = &mut self.pcf else { return };
        pcf.sent_from = start;
        let bits = psdu.map_or(pcf.empty_bits, Frames::bits);
        let sent = start + self.frames.times(class, bits).data;
        let end = sent + self.frames.phy().propagation_delay;
        let frame =
            CfFrame { by, receiver, psdu, acknowledges, polls, ends: None, class, sent, end };
        supply.on_event(start, MacEvent::Began(Began::ContentionFree(frame)));
        self.set_on_air(OnAir::ContentionFree, end);
    }

    /// The poll to `to` has ended, which answers if it has received it.
    fn poll_ended<S: Supply<P>>(
        &mut self,
        to: StationId,
        has_data: bool,
        acknowledges: Option<ContenderId>,
        now: Time,
        supply: &mut S,
    ) {
        let is_lost = has_data && self.loses_held(FIRST_OF_ACCESS_POINT);
        if let Some(by) = acknowledges {
            if is_lost && self.originators[by as usize].station == to {
                self.failed_without_contention(by, now, supply);
            } else {
                self.acknowledged_without_contention(by, now, supply);
            }
        }
        if is_lost {
            self.tell_of_cf_loss(FIRST_OF_ACCESS_POINT, now, supply);
            self.failed_without_contention(FIRST_OF_ACCESS_POINT, now, supply);
            if let Some(pcf) = &mut self.pcf {
                pcf.round.polled(true);
            }
            self.wait_for_pifs(now);
            return;
        }
        let Some(pcf) = &self.pcf else { return };
        let by = pcf.queues[to as usize];
        let start = now + self.frames.phy().sifs;
        let answers_with_data = self.has_answer(by, now, start, supply);
        if has_data {
            self.received_without_contention(FIRST_OF_ACCESS_POINT, now, supply);
        }
        if let Some(pcf) = &mut self.pcf {
            pcf.phase = Phase::Answer { by, has_data: answers_with_data, acknowledges: has_data };
        }
        self.counters.polls_without_data += u64::from(!answers_with_data);
        let sending = Sending {
            by,
            receiver: ACCESS_POINT,
            has_data: answers_with_data,
            polls: false,
            acknowledges: has_data,
            class: self.rate_classes[to as usize],
            start,
        };
        self.send_without_contention(&sending, supply);
    }

    /// The answer of `by` to a poll has ended, and the access point goes on.
    fn answer_ended<S: Supply<P>>(
        &mut self,
        by: ContenderId,
        has_data: bool,
        acknowledges: bool,
        now: Time,
        supply: &mut S,
    ) {
        if let Some(pcf) = &mut self.pcf {
            pcf.round.polled(has_data || acknowledges);
        }
        if has_data && self.loses_held(by) {
            self.tell_of_cf_loss(by, now, supply);
            self.failed_without_contention(by, now, supply);
            if acknowledges {
                self.failed_without_contention(FIRST_OF_ACCESS_POINT, now, supply);
            }
            self.wait_for_pifs(now);
            return;
        }
        if acknowledges {
            self.acknowledged_without_contention(FIRST_OF_ACCESS_POINT, now, supply);
        }
        let start = now + self.frames.phy().sifs;
        if let Some(pcf) = &mut self.pcf {
            pcf.unacknowledged = has_data.then_some(by);
        }
        let turn = self.take_turn(now, start, supply);
        if has_data {
            self.received_without_contention(by, now, supply);
        }
        self.begin_turn(turn, start, supply);
    }

    /// Nobody has understood what ended `now`.
    fn wait_for_pifs(&mut self, now: Time) {
        let Some(pcf) = &mut self.pcf else { return };
        pcf.phase = Phase::Silence;
        let until = now + pcf.pifs;
        self.set_on_air(OnAir::ContentionFree, until);
    }

    /// Whether the frame that `by` has sent is lost by an error.
    fn loses_held(&mut self, by: ContenderId) -> bool {
        let Originator { station, psdu: Some(psdu), .. } = &mut self.originators[by as usize]
        else {
            return false;
        };
        !self.is_perfect && loses(&mut self.errors, &self.frames, *station, psdu.only())
    }

    fn tell_of_cf_loss<S: Supply<P>>(&mut self, by: ContenderId, now: Time, supply: &mut S) {
        if let Some(psdu) = self.originators[by as usize].frames() {
            // There was no time kept for an answer alone.
            supply.on_event(now, MacEvent::Lost { by, psdu, answer: (now, now) });
        }
    }

    /// The data frame of `by` has come; perhaps it had come before, and its acknowledgment was lost.
    fn received_without_contention<S: Supply<P>>(
        &mut self,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) {
        if let Some(psdu) = &mut self.originators[by as usize].psdu {
            let mpdu = psdu.only();
            if !mpdu.is_received {
                mpdu.is_received = true;
                supply.on_event(now, MacEvent::Received { by, mpdu, came: None });
            }
        }
    }

    /// `by` knows that its frame has come.
    fn acknowledged_without_contention<S: Supply<P>>(
        &mut self,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) {
        let originator = &mut self.originators[by as usize];
        if let Some(psdu) = &mut originator.psdu {
            supply.on_event(now, MacEvent::Acknowledged { by, mpdu: psdu.only() });
            originator.release();
            self.counters.contention_free_successes += 1;
            self.contention.succeeded_without_contention(by);
        }
    }

    /// The frame of `by` was not acknowledged. It is sent again another time, or given up.
    fn failed_without_contention<S: Supply<P>>(
        &mut self,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) {
        let retry = self.retry(by);
        self.contention.failed_without_contention(by, retry);
        self.after_failure(by, retry, now, supply);
    }

    /// The CF-End has been heard: all contend again.
    fn contention_free_ends<S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        self.counters.contention_free_periods += 1;
        for by in 0..self.originators.len() as ContenderId {
            let has_frame = self.has_frame(by, supply);
            self.contention.settle_suspended(by, now, has_frame);
        }
        self.contention.medium_idle(ALL_HEAR_ALL, now);
        self.fall_silent();
    }
}

/// At which rate the access point polls `to`: `acknowledged`, whose frame it acknowledges with it, must
/// understand it too (IEEE Std 802.11-2016, 10.7).
fn class_of_poll(
    frames: &FrameTable,
    rate_classes: &[u32],
    to: StationId,
    acknowledged: Option<StationId>,
) -> u32 {
    let own = rate_classes[to as usize];
    let Some(station) = acknowledged else { return own };
    let other = rate_classes[station as usize];
    let ease = |class| {
        let rate = frames.data_rate(class);
        (rate.modulation != Modulation::Dsss, rate.bps)
    };
    if ease(other) < ease(own) { other } else { own }
}
