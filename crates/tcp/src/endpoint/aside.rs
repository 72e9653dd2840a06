//! The slow paths of an endpoint: segments before the connection is established, segments with
//! timestamps or ECN bits, and reports of the MAC.
//!
//! They are separate to keep the fast path short. See [`marks`](crate::marks) and
//! [`ecn`](crate::ecn).

use airtcp_kernel::Duration;

use super::Endpoint;
use crate::handshake::{Answer, State};
use crate::marks::Marks;
use crate::receiver::AckOwed;
use crate::{At, Block, Config, Flags, GiveUp, LossState, Segment, SegmentOptions};

impl Endpoint {
    /// Processes a segment before the connection is established, or one with marks (timestamps or
    /// ECN bits).
    #[cold]
    pub(super) fn take_aside(
        &mut self,
        at: At<'_>,
        segment: &Segment,
        options: &SegmentOptions,
    ) -> u64 {
        let was_established = self.state.is_marked();
        if !self.open(at, segment, options) {
            return 0;
        }
        let is_echo =
            was_established && self.marks.as_ref().is_some_and(|marks| marks.ecn.is_echo(segment));
        if is_echo {
            self.on_echo(at, segment.ack);
        }
        let cwnd = self.sender.tcb.window.cwnd;
        let came = self.take(at, segment, options);
        if is_echo && matches!(self.sender.state(), LossState::Open | LossState::Disorder) {
            // RFC 3168 section 6.1.2: "TCP should not increase the congestion window in response to
            // the receipt of an ECN-Echo ACK packet".
            self.sender.tcb.window.cwnd = self.sender.tcb.window.cwnd.min(cwnd);
        }
        came
    }

    /// Processes the window of a segment. Returns whether it has changed.
    #[cold]
    pub(super) fn on_window(
        &mut self,
        config: &Config,
        segment: &Segment,
        options: &SegmentOptions,
    ) -> bool {
        let Some(window) = options.window(segment) else { return false };
        // Only the slow path handles the persist timer.
        if matches!(self.state, State::Established | State::Stamped) {
            self.state = State::Marked;
        }
        self.marks.get_or_insert_with(|| Box::new(Marks::new(config)));
        self.sender.on_window(config, segment, window)
    }

    /// Processes an ECN-Echo from the other end.
    fn on_echo(&mut self, at: At<'_>, ack: u64) {
        let Some(marks) = &mut self.marks else { return };
        if self.sender.on_congestion_echo(at, ack) {
            marks.ecn.on_reduction();
        }
    }

    /// Processes a segment before the connection is established, or one with marks. Returns true if
    /// the connection is established now and the segment's data still has to be processed.
    #[cold]
    fn open(&mut self, at: At<'_>, segment: &Segment, options: &SegmentOptions) -> bool {
        let is_marked = self.state.is_marked();
        if is_marked && segment.ack > self.sender.tcb.snd_max {
            // RFC 9293 section 3.10.7.4: an ACK that "acks something not yet sent" is dropped; as
            // in Linux, no ACK is sent in reply.
            return false;
        }
        if let Some(marks) = &mut self.marks {
            if segment.flags.contains(Flags::SYN) {
                if !is_marked {
                    marks.ecn.on_syn(at.config, segment.flags);
                }
            } else {
                marks.ecn.on_segment(segment.flags);
            }
            let acknowledged = self.receiver.acknowledged();
            let echoed = options
                .timestamps(segment)
                .map(|stamps| marks.on_stamps(at.now, stamps, segment.seq, acknowledged));
            if let Some(rtt) = echoed.filter(|_| is_marked && self.sender.tcb.is_news(segment.ack))
            {
                self.sender.tcb.rtt.on_echo(at.config, rtt);
            }
            if let Some(rtt) =
                echoed.filter(|rtt| at.config.tack.is_some() && is_marked && *rtt > Duration::ZERO)
            {
                self.receiver.on_round_trip(rtt);
            }
            if let Some(rtt) =
                echoed.filter(|_| at.config.delayed_ack.adaptive && is_marked && segment.len > 0)
            {
                self.receiver.on_sender_echo(rtt);
            }
        }
        if is_marked {
            return true;
        }
        match self.state.on_segment(at.config, segment) {
            Answer::Ignore => false,
            Answer::Become(state) => {
                self.state = state;
                false
            }
            Answer::Establish { acknowledge } => {
                self.establish(at);
                if acknowledge {
                    self.receiver.owe_ack();
                }
                true
            }
        }
    }

    fn establish(&mut self, at: At<'_>) {
        if let Some(syn) = self.state.syn_mut() {
            self.sender.tcb.rtt.on_ack(at, 1);
            self.sender.note_handshake();
            if let Some(rtt) = self.sender.tcb.rtt.srtt().filter(|_| at.config.tack.is_some()) {
                self.receiver.on_round_trip(rtt);
            }
            self.sender.tcb.stop_timer();
            if syn.was_repeated() {
                // RFC 5681 section 3.1: after a lost SYN the initial window is one segment.
                self.sender.tcb.window.collapse(at.config);
            }
            if syn.has_timed_out() {
                self.sender.tcb.rtt.after_syn_timeout(at.config);
            }
        }
        self.state = match &self.marks {
            None => State::Established,
            Some(marks) if marks.are_stamps_alone(at.config) => State::Stamped,
            Some(_) => State::Marked,
        };
        if let Some(marks) = &mut self.marks {
            marks.ecn.begin(&self.sender.tcb.counters);
        }
    }

    /// Returns the next segment before the connection is established, or with marks.
    #[cold]
    pub(super) fn poll_aside(
        &mut self,
        at: At<'_>,
        options: &mut SegmentOptions,
    ) -> Option<Segment> {
        let segment = match self.state {
            State::Established | State::Stamped | State::Marked => self.poll_marked(at, options)?,
            State::Listen | State::SynSent(_) | State::SynReceived(_) => {
                let syn = self.poll_syn(at)?;
                let is_answer = syn.flags.contains(Flags::ACK);
                let ecn = self.marks.as_ref().map(|marks| marks.ecn.of_syn(at.config, is_answer));
                Segment { flags: syn.flags | ecn.unwrap_or(Flags::NONE), ..syn }
            }
        };
        let stamps = self.timestamps(at);
        let marked = stamps.map_or(segment, |stamps| options.stamp(segment, stamps));
        let is_scaled = at.config.window_scaling && marked.flags.contains(Flags::SYN);
        Some(if is_scaled { marked.with_window_scale() } else { marked })
    }

    /// Returns the next segment of an established connection, with its ECN bits.
    fn poll_marked(&mut self, at: At<'_>, options: &mut SegmentOptions) -> Option<Segment> {
        if let Some(marks) = &mut self.marks {
            marks.ecn.note_losses(&self.sender.tcb.counters);
        }
        if let Some(seq) = self.sender.tcb.poll_window_probe() {
            return Some(self.segment(at.now, seq, 0));
        }
        let before = self.sender.tcb.counters.retransmissions;
        let given_up = self.poll_given_up(at);
        let peer_window = self.sender.tcb.peer_window(at.config);
        let next = || {
            let data = if self.receiver.ack_owed() == AckOwed::Bare {
                None
            } else {
                self.sender.poll_transmit(at, peer_window)
            };
            Some(self.join(at, data, options)?.0)
        };
        let Some(segment) = given_up.or_else(next) else {
            self.sender.watch_window(at);
            return None;
        };
        if segment.len > 0 {
            self.sender.tcb.end_override();
        }
        let is_new = segment.len > 0 && self.sender.tcb.counters.retransmissions == before;
        let ecn = self.marks.as_mut().map(|marks| marks.ecn.of_segment(is_new));
        Some(Segment { flags: segment.flags | ecn.unwrap_or(Flags::NONE), ..segment })
    }

    /// Called when the MAC of this end gives up a frame with `segment`; `by_channel`: its last
    /// attempt did not collide. [`Endpoint::poll_transmit`] returns the retransmissions.
    #[cold]
    pub fn on_given_up(&mut self, at: At<'_>, segment: &Segment, by_channel: bool) {
        let Some(feedback) = at.config.mac_feedback.filter(|_| self.state == State::Marked) else {
            return;
        };
        let keeps_window = by_channel && feedback.give_up == GiveUp::Freeze;
        let block = Block { start: segment.seq, end: segment.end() };
        if let Some(again) = self.sender.on_given_up(at, block, keeps_window)
            && let Some(marks) = &mut self.marks
        {
            marks.given_up.push(again);
        }
    }

    /// Called after each frame of the station at one end of this connection: whether it got a
    /// response.
    #[cold]
    pub fn on_frame(&mut self, config: &Config, is_answered: bool) {
        self.receiver.on_frame(config, is_answered);
    }

    /// Retransmits what the MAC has given up. A duplicate ACK that is due goes first.
    fn poll_given_up(&mut self, at: At<'_>) -> Option<Segment> {
        let marks = self.marks.as_mut().filter(|marks| !marks.given_up.is_empty())?;
        if self.receiver.ack_owed() == AckOwed::Bare {
            return None;
        }
        let block = marks.given_up.remove(0);
        let (seq, len) = self.sender.resend(at, block);
        Some(self.segment(at.now, seq, len))
    }

    fn poll_syn(&mut self, at: At<'_>) -> Option<Segment> {
        let flags = match self.state {
            State::SynSent(_) => Flags::SYN,
            State::SynReceived(_) => Flags::SYN | Flags::ACK,
            State::Listen | State::Established | State::Stamped | State::Marked => return None,
        };
        let syn = self.state.syn_mut().filter(|syn| syn.is_due())?;
        syn.on_sent();
        if syn.was_repeated() {
            self.sender.tcb.counters.retransmissions += 1;
            self.sender.tcb.rtt.on_retransmission();
        } else {
            self.sender.tcb.rtt.on_sent(at.now, 1);
        }
        self.sender.tcb.start_timer_if_off(at);
        self.sender.tcb.counters.segments_sent += 1;
        let ack = if flags.contains(Flags::ACK) { self.receiver.rcv_nxt() } else { 0 };
        Some(Segment { seq: 0, ack, len: 0, flags })
    }
}
