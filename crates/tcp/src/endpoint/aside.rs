//! What is rare: segments before the connection is established, those with marks (timestamps, ECN), and what
//! the MAC tells.
//!
//! Apart, so that the way of all others is short. What the marks are is in [`marks`](crate::marks) and
//! [`ecn`](crate::ecn).

use airtcp_kernel::{Duration, Time};

use super::Endpoint;
use crate::handshake::{Answer, State};
use crate::receiver::AckOwed;
use crate::{Block, Config, Flags, GiveUp, LossState, Segment, SegmentOptions};

impl Endpoint {
    /// A segment before the connection is established, or one with marks.
    #[cold]
    pub(super) fn take_aside(
        &mut self,
        config: &Config,
        now: Time,
        segment: &Segment,
        options: &SegmentOptions,
    ) -> u64 {
        let was_established = self.state == State::Marked;
        if !self.open(config, now, segment, options) {
            return 0;
        }
        let is_echo =
            was_established && self.marks.as_ref().is_some_and(|marks| marks.ecn.is_echo(segment));
        if is_echo {
            self.on_echo(config, now, segment.ack);
        }
        let cwnd = self.sender.window.cwnd;
        let came = self.take(config, now, segment, options);
        if is_echo && matches!(self.sender.state(), LossState::Open | LossState::Disorder) {
            // RFC 3168 section 6.1.2: "TCP should not increase the congestion window in response to the
            // receipt of an ECN-Echo ACK packet".
            self.sender.window.cwnd = self.sender.window.cwnd.min(cwnd);
        }
        came
    }

    /// The other end echoes a mark.
    fn on_echo(&mut self, config: &Config, now: Time, ack: u64) {
        let Some(marks) = &mut self.marks else { return };
        if self.sender.on_congestion_echo(config, now, ack) {
            marks.ecn.on_reduction();
        }
    }

    /// Takes a segment before the connection is established, or one with marks; returns whether it is
    /// established now and the segment is still to be looked at for data.
    #[cold]
    fn open(
        &mut self,
        config: &Config,
        now: Time,
        segment: &Segment,
        options: &SegmentOptions,
    ) -> bool {
        let is_marked = self.state == State::Marked;
        if is_marked && segment.ack > self.sender.snd_max() {
            // RFC 9293 section 3.10.7.4: it "acks something not yet sent", and is dropped; like Linux
            // without an acknowledgment in reply.
            return false;
        }
        if let Some(marks) = &mut self.marks {
            if segment.flags.contains(Flags::SYN) {
                if !is_marked {
                    marks.ecn.on_syn(config, segment.flags);
                }
            } else {
                marks.ecn.on_segment(segment.flags);
            }
            let acknowledged = self.receiver.acknowledged();
            let echoed = marks.on_segment(now, segment, options, acknowledged);
            if let Some(rtt) = echoed.filter(|_| is_marked && self.sender.is_news(segment.ack)) {
                self.sender.rtt.on_echo(config, rtt);
            }
            if let Some(rtt) =
                echoed.filter(|rtt| config.tack.is_some() && is_marked && *rtt > Duration::ZERO)
            {
                self.receiver.on_round_trip(rtt);
            }
            if let Some(rtt) =
                echoed.filter(|_| config.delayed_ack.adaptive && is_marked && segment.len > 0)
            {
                self.receiver.on_sender_echo(rtt);
            }
        }
        if is_marked {
            return true;
        }
        match self.state.on_segment(config, segment) {
            Answer::Ignore => false,
            Answer::Become(state) => {
                self.state = state;
                false
            }
            Answer::Establish { acknowledge } => {
                self.establish(config, now);
                if acknowledge {
                    self.receiver.owe_ack();
                }
                true
            }
        }
    }

    fn establish(&mut self, config: &Config, now: Time) {
        if let Some(syn) = self.state.syn_mut() {
            self.sender.rtt.on_ack(config, now, 1);
            self.sender.note_handshake();
            if let Some(rtt) = self.sender.rtt.srtt().filter(|_| config.tack.is_some()) {
                self.receiver.on_round_trip(rtt);
            }
            self.sender.stop_timer();
            if syn.was_repeated() {
                // RFC 5681 section 3.1: the initial window is one segment then.
                self.sender.window.collapse(config);
            }
            if syn.has_timed_out() {
                self.sender.rtt.after_syn_timeout(config);
            }
        }
        self.state = State::established(config);
        if let Some(marks) = &mut self.marks {
            marks.ecn.begin(&self.sender.counters);
        }
    }

    /// The next segment before the connection is established, or with marks.
    #[cold]
    pub(super) fn poll_aside(
        &mut self,
        config: &Config,
        now: Time,
        options: &mut SegmentOptions,
    ) -> Option<Segment> {
        let segment = match self.state {
            State::Established | State::Marked => self.poll_marked(config, now, options)?,
            State::Listen | State::SynSent(_) | State::SynReceived(_) => {
                let syn = self.poll_syn(config, now)?;
                let is_answer = syn.flags.contains(Flags::ACK);
                let ecn = self.marks.as_ref().map(|marks| marks.ecn.of_syn(config, is_answer));
                Segment { flags: syn.flags | ecn.unwrap_or(Flags::NONE), ..syn }
            }
        };
        let marked = match &self.marks {
            None => segment,
            Some(marks) => marks.mark(config, now, segment, options),
        };
        let is_scaled = config.window_scaling && marked.flags.contains(Flags::SYN);
        Some(if is_scaled { marked.with_window_scale() } else { marked })
    }

    /// The next segment of an established connection, with the bits of ECN.
    fn poll_marked(
        &mut self,
        config: &Config,
        now: Time,
        options: &mut SegmentOptions,
    ) -> Option<Segment> {
        if let Some(marks) = &mut self.marks {
            marks.ecn.note_losses(&self.sender.counters);
        }
        let before = self.sender.counters.retransmissions;
        let given_up = self.poll_given_up(config, now);
        let next = || Some(self.poll_data(config, now, options)?.0);
        let segment = given_up.or_else(next)?;
        let is_new = segment.len > 0 && self.sender.counters.retransmissions == before;
        let ecn = self.marks.as_mut().map(|marks| marks.ecn.of_segment(is_new));
        Some(Segment { flags: segment.flags | ecn.unwrap_or(Flags::NONE), ..segment })
    }

    /// The MAC of this end gives up a frame with `segment`; by the channel if its last try did not collide.
    /// What is to be sent again comes from [`Endpoint::poll_transmit`].
    #[cold]
    pub fn on_given_up(&mut self, config: &Config, now: Time, segment: &Segment, by_channel: bool) {
        let Some(feedback) = config.mac_feedback.filter(|_| self.state == State::Marked) else {
            return;
        };
        let keeps_window = by_channel && feedback.give_up == GiveUp::Freeze;
        let block = Block { start: segment.seq, end: segment.end() };
        if let Some(again) = self.sender.on_given_up(config, now, block, keeps_window)
            && let Some(marks) = &mut self.marks
        {
            marks.given_up.push(again);
        }
    }

    /// A frame of the station at one end of this connection was answered, or was not.
    #[cold]
    pub fn on_frame(&mut self, config: &Config, is_answered: bool) {
        self.receiver.on_frame(config, is_answered);
    }

    /// What the MAC has given up, again. A duplicate ACK that is owed goes first.
    fn poll_given_up(&mut self, config: &Config, now: Time) -> Option<Segment> {
        let marks = self.marks.as_mut().filter(|marks| !marks.given_up.is_empty())?;
        if self.receiver.ack_owed() == AckOwed::Bare {
            return None;
        }
        let block = marks.given_up.remove(0);
        let (seq, len) = self.sender.resend(config, now, block);
        Some(self.segment(now, seq, len))
    }

    fn poll_syn(&mut self, config: &Config, now: Time) -> Option<Segment> {
        let flags = match self.state {
            State::SynSent(_) => Flags::SYN,
            State::SynReceived(_) => Flags::SYN | Flags::ACK,
            State::Listen | State::Established | State::Marked => return None,
        };
        let syn = self.state.syn_mut().filter(|syn| syn.is_due())?;
        syn.on_sent();
        if syn.was_repeated() {
            self.sender.counters.retransmissions += 1;
            self.sender.rtt.on_retransmission();
        } else {
            self.sender.rtt.on_sent(now, 1);
        }
        self.sender.start_timer_if_off(config, now);
        self.sender.counters.segments_sent += 1;
        let ack = if flags.contains(Flags::ACK) { self.receiver.rcv_nxt() } else { 0 };
        Some(Segment { seq: 0, ack, len: 0, flags })
    }
}
