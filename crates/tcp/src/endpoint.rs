//! One end of a connection: the handshake, then a sender and a receiver that share segments.
//!
//! Knows how the three meet: an acknowledgment rides on data if there is data, and a SACK option only
//! on a segment without, because a full segment has no room for it. What each of them
//! does is in [`handshake`](crate::handshake), [`sender`](crate::sender) and
//! [`receiver`](crate::receiver).

mod aside;
mod stamped;

use airtcp_kernel::{Duration, Time};

use crate::handshake::State;
use crate::marks::Marks;
use crate::receiver::{AckOwed, Receiver};
use crate::sender::{Sender, SentSegment};
use crate::{
    Config, Counters, EcnCounters, Flags, LossState, Opening, Segment, SegmentOptions, Segments,
    Timestamps, Variant,
};

/// One TCP endpoint. All calls must be given the configuration it was made with, and times that do
/// not decrease.
// In this order: where there are many connections, how many cache lines a segment touches is what it
// costs.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Endpoint {
    receiver: Receiver,
    state: State,
    sender: Sender,
    /// The state of the marks of its segments; `None` if they have none.
    marks: Option<Box<Marks>>,
}

impl Endpoint {
    /// Makes an endpoint that is about to send a SYN, to wait for one, or, without a handshake, is
    /// established.
    pub fn new(config: &Config, opening: Opening) -> Self {
        Self {
            state: State::new(config, opening),
            receiver: Receiver::new(config),
            sender: Sender::new(config),
            marks: config.has_marks().then(|| Box::new(Marks::new(config))),
        }
    }

    /// Puts `bytes` more bytes of the application into the send buffer, which has no end: 2^62 bytes
    /// in all is the same as for ever.
    #[inline]
    pub fn write(&mut self, bytes: u64) {
        self.sender.tcb.write(bytes);
    }

    /// Closes the direction of the application's data, which has written all it had: a FIN follows the last byte, with it if it can.
    pub fn close(&mut self) {
        self.sender.tcb.close();
    }

    /// Takes a segment of the other end, whose SACK option, if it has one, is in `sacks`. Returns how many
    /// bytes of payload the application gets, or may read.
    #[inline]
    pub fn on_segment(
        &mut self,
        config: &Config,
        now: Time,
        segment: &Segment,
        sacks: &SegmentOptions,
    ) -> u64 {
        match self.state {
            State::Established => self.take(config, now, segment, sacks),
            _ => self.take_otherwise(config, now, segment, sacks),
        }
    }

    /// Takes a segment of an established connection. Returns how many bytes of payload the application gets.
    #[inline(always)]
    fn take(
        &mut self,
        config: &Config,
        now: Time,
        segment: &Segment,
        sacks: &SegmentOptions,
    ) -> u64 {
        if segment.flags == Flags::ACK {
            // Nearly all: one comparison tells that there is nothing else to look for.
            let is_bare = segment.len == 0;
            self.sender.on_ack(config, now, segment.ack, is_bare);
            return if is_bare {
                0
            } else {
                self.receiver.on_data(config, now, segment.seq, segment.end())
            };
        }
        self.take_flagged(config, now, segment, sacks)
    }

    /// Does as [`Self::take`], but for segments with more flags than ACK, or with options.
    #[inline(never)]
    fn take_flagged(
        &mut self,
        config: &Config,
        now: Time,
        segment: &Segment,
        sacks: &SegmentOptions,
    ) -> u64 {
        if segment.flags.contains(Flags::SYN) {
            if self.receiver.ack_owed() != AckOwed::Now {
                self.receiver.owe_bare_ack();
            }
            return 0;
        }
        if segment.flags.contains(Flags::ACK) {
            let says_another = segment.has_window() && self.on_window(config, segment, sacks);
            if segment.option_bytes() > 0 {
                self.on_sack(config, now, segment, sacks);
            } else {
                // RFC 5681 section 2, (e): a duplicate ACK says the window that the last one said.
                let is_bare = segment.end() == segment.seq && !says_another;
                self.sender.on_ack_apart(config, now, segment.ack, is_bare);
            }
        }
        if segment.flags.contains(Flags::FIN) {
            self.receiver.on_fin(config, now, segment.seq, segment.end())
        } else if segment.len > 0 {
            let came = self.receiver.on_data(config, now, segment.seq, segment.end());
            if segment.flags.contains(Flags::PSH) {
                self.receiver.on_push(config);
            }
            came
        } else {
            0
        }
    }

    /// Handles the timers that are due; harmless if the time that [`Self::poll_timer`] gave has not come.
    #[inline]
    pub fn on_timer(&mut self, config: &Config, now: Time) {
        self.receiver.on_timer(config, now);
        if self.sender.tcb.deadline() <= now {
            self.on_retransmission_timer(config, now);
        }
    }

    /// Returns the next segment to send, if any: to be called until it returns `None`. Its SACK option, if it
    /// has one, is kept in `sacks`, until [`SegmentOptions::release`] is called.
    #[inline]
    pub fn poll_transmit(
        &mut self,
        config: &Config,
        now: Time,
        sacks: &mut SegmentOptions,
    ) -> Option<Segment> {
        self.poll_one(config, now, sacks).map(|(segment, _)| segment)
    }

    /// Does as [`Self::poll_transmit`], but tells also whether there may be more: if not, nothing is to be sent until something
    /// arrives or a timer expires.
    // Inlined: most of what a run does is to ask this.
    #[inline(always)]
    pub fn poll_one(
        &mut self,
        config: &Config,
        now: Time,
        sacks: &mut SegmentOptions,
    ) -> Option<(Segment, bool)> {
        match self.state {
            State::Established => self.poll_established(config, now, sacks),
            _ => self.poll_otherwise(config, now, sacks),
        }
    }

    /// Returns the next segment of an established connection without options, and whether there may be more.
    #[inline(always)]
    fn poll_established(
        &mut self,
        config: &Config,
        now: Time,
        sacks: &mut SegmentOptions,
    ) -> Option<(Segment, bool)> {
        let data = if self.receiver.ack_owed() == AckOwed::Bare {
            None
        } else {
            // An endpoint that has heard a window is not in this state.
            self.sender.poll_transmit(config, now, config.peer_window())
        };
        self.join(config, now, data, sacks)
    }

    /// Returns the next segment of an established connection, without marks: what the sender sends, which is nothing before
    /// a bare acknowledgment that is owed, joined with what the receiver has to say.
    #[inline(always)]
    fn join(
        &mut self,
        config: &Config,
        now: Time,
        data: SentSegment,
        sacks: &mut SegmentOptions,
    ) -> Option<(Segment, bool)> {
        let (seq, len, more) = match (data, self.receiver.ack_owed()) {
            (Some((seq, len, more)), _) => (seq, len.get(), more),
            (None, AckOwed::Bare) => (self.sender.tcb.snd_nxt(), 0, true),
            (None, AckOwed::Now) => (self.sender.tcb.snd_nxt(), 0, false),
            (None, AckOwed::None | AckOwed::Until(_)) => return None,
        };
        let pushes = self.sender.takes_push(config, seq, len);
        Some((self.say(config, now, (seq, len), pushes, sacks), more))
    }

    /// Returns a segment with these numbers and all that the receiver has to say, which asks for an acknowledgment if it
    /// `pushes`.
    #[inline(always)]
    fn say(
        &mut self,
        config: &Config,
        now: Time,
        (seq, len): (u64, u32),
        pushes: bool,
        sacks: &mut SegmentOptions,
    ) -> Segment {
        let mut segment = self.segment(now, seq, len);
        if pushes {
            segment.flags = segment.flags | Flags::PSH;
        }
        if len == 0 && self.receiver.has_gap() {
            segment.flags = self.with_sack(config, segment, sacks).flags;
        }
        segment
    }

    /// Tells whether it is sure that nothing is to be sent: all that was written is acknowledged, and no
    /// acknowledgment is due.
    #[inline]
    pub fn has_nothing_to_send(&self) -> bool {
        self.sender.tcb.has_nothing_out()
            && matches!(self.receiver.ack_owed(), AckOwed::None | AckOwed::Until(_))
            && matches!(self.state, State::Established | State::Stamped)
    }

    /// Returns the time at which [`Self::on_timer`] must be called next; [`Time::NEVER`] if no timer runs.
    #[inline]
    pub fn poll_timer(&self) -> Time {
        self.sender.deadline().min(self.receiver.deadline())
    }

    /// Returns a time before which [`Self::poll_timer`] gives none, which costs less to know.
    #[inline]
    pub fn poll_timer_roughly(&self) -> Time {
        self.sender.tcb.deadline().min(self.receiver.deadline())
    }

    /// Counts the payload bytes given to the application, in order; with [`Self::read_late`], those that it has read and
    /// those that it may.
    #[inline]
    pub fn delivered(&self) -> u64 {
        self.receiver.delivered()
    }

    /// Counts the payload bytes acknowledged by the other end.
    #[inline]
    pub fn acked(&self) -> u64 {
        self.sender.tcb.acked()
    }

    /// Tells whether the application has been given `bytes` bytes.
    #[inline]
    pub fn has_delivered(&self, bytes: u64) -> bool {
        // The first comparison says no most of the time, and does not have to know of a FIN.
        bytes < self.receiver.rcv_nxt() && bytes <= self.receiver.delivered()
    }

    /// Tells whether `bytes` bytes are acknowledged by the other end.
    #[inline]
    pub fn has_acked(&self, bytes: u64) -> bool {
        bytes < self.sender.tcb.snd_una() && bytes <= self.sender.tcb.acked()
    }

    /// Tells whether data may flow.
    pub fn is_established(&self) -> bool {
        matches!(self.state, State::Established | State::Stamped | State::Marked)
    }

    /// Returns the timestamps option of a segment that is sent now; `None` if segments have none.
    pub fn timestamps(&self, config: &Config, now: Time) -> Option<Timestamps> {
        let marks = self.marks.as_ref().filter(|_| config.timestamps)?;
        Some(marks.timestamps(now))
    }

    /// Returns SND.NXT, the number that a segment without data carries.
    pub fn snd_nxt(&self) -> u64 {
        self.sender.tcb.snd_nxt()
    }

    /// Tells whether the other end's FIN has come, and all its data: the end of file of its application.
    pub fn has_reached_end(&self) -> bool {
        self.receiver.has_reached_end()
    }

    /// Tells whether the own FIN is acknowledged.
    pub fn is_close_acknowledged(&self) -> bool {
        self.sender.tcb.is_close_acknowledged()
    }

    /// Returns the counters since the endpoint was made.
    pub fn counters(&self) -> Counters {
        self.sender.tcb.counters
    }

    /// Returns the counters of explicit congestion notification.
    pub fn ecn_counters(&self) -> EcnCounters {
        self.marks.as_ref().map_or_else(EcnCounters::default, |marks| marks.ecn.counters)
    }

    /// Counts the segments under way by their fates; `None` but with [`Variant::Rack`].
    pub fn segments(&self) -> Option<Segments> {
        self.sender.segments()
    }

    /// Returns the state in the face of losses.
    pub fn loss_state(&self) -> LossState {
        self.sender.state()
    }

    /// Returns the congestion window in bytes; it may exceed the advertised window.
    pub fn cwnd(&self) -> u64 {
        self.sender.tcb.window.cwnd
    }

    /// Returns the slow start threshold in bytes; `u64::MAX`: none yet.
    pub fn ssthresh(&self) -> u64 {
        self.sender.tcb.window.ssthresh
    }

    /// Returns the pace at which segments leave or would leave, in bytes a second, as soon as a round trip was measured:
    /// what Linux calls the pacing rate, with pacing or without.
    pub fn pace(&self) -> Option<u64> {
        self.sender.tcb.pacing_rate()
    }

    /// Returns the smoothed round-trip time, as soon as one was measured.
    pub fn srtt(&self) -> Option<Duration> {
        self.sender.tcb.rtt.srtt()
    }

    /// Counts the payload bytes sent and not acknowledged (FlightSize of RFC 5681); what a timeout has given
    /// up for lost counts again when it is sent again.
    pub fn flight_size(&self) -> u64 {
        self.sender.tcb.flight_size()
    }

    /// Attaches a SACK option to `ack`, if both ends have it.
    #[cold]
    fn with_sack(&self, config: &Config, ack: Segment, sacks: &mut SegmentOptions) -> Segment {
        match config.variant {
            Variant::Reno | Variant::NewReno => ack,
            Variant::Sack | Variant::Rack => {
                let (blocks, count) = self.receiver.sack_blocks();
                sacks.attach(ack, &blocks[..count], None)
            }
        }
    }

    #[inline]
    fn segment(&mut self, now: Time, seq: u64, len: u32) -> Segment {
        self.sender.tcb.counters.segments_sent += 1;
        self.receiver.on_ack_sent(now);
        let mut segment = Segment { seq, ack: self.receiver.rcv_nxt(), len, flags: Flags::ACK };
        if self.sender.tcb.is_closing() {
            let Segment { len, flags, .. } = self.with_fin(segment);
            (segment.len, segment.flags) = (len, flags);
        }
        segment
    }

    /// Marks `segment`, whose last number may be that of the FIN.
    #[cold]
    fn with_fin(&self, segment: Segment) -> Segment {
        if segment.len > 0 && self.sender.tcb.is_end(segment.end()) {
            Segment { len: segment.len - 1, flags: segment.flags | Flags::FIN, ..segment }
        } else {
            segment
        }
    }

    /// Takes the acknowledgment of a segment with a SACK option.
    #[cold]
    fn on_sack(&mut self, config: &Config, now: Time, segment: &Segment, sacks: &SegmentOptions) {
        let (blocks, is_bare) = (sacks.blocks(segment), segment.end() == segment.seq);
        self.sender.on_selective_ack(config, now, segment.ack, blocks, is_bare);
    }

    #[cold]
    fn on_retransmission_timer(&mut self, config: &Config, now: Time) {
        let Some(syn) = self.state.syn_mut() else {
            self.sender.on_timeout(config, now);
            return;
        };
        syn.on_timeout();
        self.sender.tcb.counters.timeouts += 1;
        self.sender.tcb.rtt.back_off(config);
        self.sender.tcb.stop_timer();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Block;

    const T: Time = Time::from_nanos(1_000_000_000);

    fn data(seq: u64) -> Segment {
        Segment { seq, ack: 1, len: 1000, flags: Flags::ACK }
    }

    fn drain(endpoint: &mut Endpoint, config: &Config) -> Vec<String> {
        let mut sacks = SegmentOptions::new();
        std::iter::from_fn(|| endpoint.poll_transmit(config, T, &mut sacks))
            .map(|segment| segment.to_string())
            .collect()
    }

    #[test]
    fn an_endpoint_fits_five_cache_lines() {
        assert!(size_of::<Endpoint>() <= 320, "{} bytes", size_of::<Endpoint>());
    }

    #[test]
    fn an_ack_rides_on_data_if_there_is_data() {
        let config = Config::standard();
        let mut endpoint = Endpoint::new(&config, Opening::Passive);
        endpoint.write(1500);

        endpoint.on_segment(&config, T, &data(1), &SegmentOptions::new());

        assert_eq!(drain(&mut endpoint, &config), ["1:1001 ack 1001", "1001:1501 ack 1001"]);
    }

    #[test]
    fn a_duplicate_ack_never_rides_on_data() {
        let config = Config::standard();
        let mut endpoint = Endpoint::new(&config, Opening::Passive);
        endpoint.write(500);

        endpoint.on_segment(&config, T, &data(1001), &SegmentOptions::new());

        assert_eq!(drain(&mut endpoint, &config), ["ack 1", "1:501 ack 1"]);
    }

    #[test]
    fn a_spurious_timer_changes_nothing() {
        let config = Config::standard();
        let mut endpoint = Endpoint::new(&config, Opening::Active);
        endpoint.write(1000);
        drain(&mut endpoint, &config);
        let deadline = endpoint.poll_timer();

        endpoint.on_timer(&config, T);

        assert_eq!(endpoint.poll_timer(), deadline);
        assert_eq!(drain(&mut endpoint, &config), [""; 0]);
        assert_eq!(endpoint.counters().timeouts, 0);
    }
    #[test]
    fn a_sack_option_never_rides_on_data() {
        let config = Config { variant: Variant::Sack, ..Config::standard() };
        let mut sacks = SegmentOptions::new();
        let mut endpoint = Endpoint::new(&config, Opening::Passive);
        endpoint.write(500);
        // The second segment, then the fourth, then the first, which fills a part of the gap.
        for seq in [1001, 3001, 1] {
            endpoint.on_segment(&config, T, &data(seq), &sacks);
        }

        let mut sent = std::iter::from_fn(|| endpoint.poll_transmit(&config, T, &mut sacks));
        let [ack, payload] =
            [sent.next(), sent.next()].map(|segment| segment.expect("two segments"));
        assert_eq!((ack.ack, ack.len, payload.ack, payload.len), (2001, 0, 2001, 500));
        assert!(sent.next().is_none());
        assert_eq!(sacks.blocks(&ack), [Block { start: 3001, end: 4001 }]);
        assert_eq!(sacks.blocks(&payload), []);
    }
}
