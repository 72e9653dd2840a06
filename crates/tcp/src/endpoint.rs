//! One end of a connection: the handshake, then a sender and a receiver that share segments.
//!
//! It combines the three: ACKs are piggybacked on data, and a SACK option goes only on a segment
//! without data, because a full segment has no room for it. The parts are in
//! [`handshake`](crate::handshake), [`sender`](crate::sender) and [`receiver`](crate::receiver).

mod aside;
mod stamped;

use airtcp_kernel::{Duration, Time};

use crate::handshake::State;
use crate::marks::Marks;
use crate::receiver::{AckOwed, Receiver};
use crate::sender::{Sender, SentSegment};
use crate::{
    At, Config, Counters, EcnCounters, Flags, LossState, Opening, Segment, SegmentOptions,
    Segments, Timestamps, Variant,
};

/// A TCP endpoint. Pass the configuration it was created with to every call, and times that never
/// decrease.
// The order of fields minimizes the cache lines that a segment touches, which dominates the cost
// with many connections.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Endpoint {
    receiver: Receiver,
    state: State,
    sender: Sender,
    /// Timestamps and ECN state; `None` if segments have neither.
    marks: Option<Box<Marks>>,
}

impl Endpoint {
    /// Creates an endpoint that will send a SYN, wait for one, or, without a handshake, is
    /// established.
    pub fn new(config: &Config, opening: Opening) -> Self {
        Self {
            state: State::new(config, opening),
            receiver: Receiver::new(config),
            sender: Sender::new(config),
            marks: config.has_marks().then(|| Box::new(Marks::new(config))),
        }
    }

    /// Appends `bytes` bytes to the send buffer, which is unlimited; a total of 2^62 bytes means
    /// "forever".
    #[inline]
    pub fn write(&mut self, bytes: u64) {
        self.sender.tcb.write(bytes);
    }

    /// Closes the sending direction: a FIN follows the last byte, in the same segment if possible.
    pub fn close(&mut self) {
        self.sender.tcb.close();
    }

    /// Processes a segment from the other end; its SACK option, if any, is in `sacks`. Returns the
    /// number of payload bytes that the application gets.
    #[inline]
    pub fn on_segment(&mut self, at: At<'_>, segment: &Segment, sacks: &SegmentOptions) -> u64 {
        match self.state {
            State::Established => self.take(at, segment, sacks),
            _ => self.take_otherwise(at, segment, sacks),
        }
    }

    /// Processes a segment of an established connection. Returns the number of payload bytes that
    /// the application gets.
    #[inline(always)]
    fn take(&mut self, at: At<'_>, segment: &Segment, sacks: &SegmentOptions) -> u64 {
        if segment.flags == Flags::ACK {
            // Fast path for nearly all segments, selected by a single comparison.
            let is_bare = segment.len == 0;
            self.sender.on_ack(at, segment.ack, is_bare);
            return if is_bare { 0 } else { self.receiver.on_data(at, segment.seq, segment.end()) };
        }
        self.take_flagged(at, segment, sacks)
    }

    /// Like [`Self::take`], for segments with flags other than ACK, or with options.
    #[inline(never)]
    fn take_flagged(&mut self, at: At<'_>, segment: &Segment, sacks: &SegmentOptions) -> u64 {
        if segment.flags.contains(Flags::SYN) {
            if self.receiver.ack_owed() != AckOwed::Now {
                self.receiver.owe_bare_ack();
            }
            return 0;
        }
        if segment.flags.contains(Flags::ACK) {
            let says_another = segment.has_window() && self.on_window(at.config, segment, sacks);
            if segment.option_bytes() > 0 {
                self.on_sack(at, segment, sacks);
            } else {
                // RFC 5681 section 2, (e): a duplicate ACK has an unchanged window.
                let is_bare = segment.end() == segment.seq && !says_another;
                self.sender.on_ack_apart(at, segment.ack, is_bare);
            }
        }
        if segment.flags.contains(Flags::FIN) {
            self.receiver.on_fin(at, segment.seq, segment.end())
        } else if segment.len > 0 {
            let came = self.receiver.on_data(at, segment.seq, segment.end());
            if segment.flags.contains(Flags::PSH) {
                self.receiver.on_push(at.config);
            }
            came
        } else {
            0
        }
    }

    /// Processes expired timers; harmless if none has expired.
    #[inline]
    pub fn on_timer(&mut self, at: At<'_>) {
        self.receiver.on_timer(at);
        if self.sender.tcb.deadline <= at.now {
            self.on_retransmission_timer(at);
        }
    }

    /// Returns the next segment to send. Call it until it returns `None`. A SACK option is stored
    /// in `sacks` until [`SegmentOptions::release`] is called.
    #[inline]
    pub fn poll_transmit(&mut self, at: At<'_>, sacks: &mut SegmentOptions) -> Option<Segment> {
        self.poll_one(at, sacks).map(|(segment, _)| segment)
    }

    /// Like [`Self::poll_transmit`], with a flag: if false, nothing more can be sent until a
    /// segment arrives or a timer expires.
    // Inlined, because a run spends most of its calls here.
    #[inline(always)]
    pub fn poll_one(&mut self, at: At<'_>, sacks: &mut SegmentOptions) -> Option<(Segment, bool)> {
        match self.state {
            State::Established => self.poll_established(at, sacks),
            _ => self.poll_otherwise(at, sacks),
        }
    }

    /// Returns the next segment of an established connection without options, and whether there may
    /// be more.
    #[inline(always)]
    fn poll_established(
        &mut self,
        at: At<'_>,
        sacks: &mut SegmentOptions,
    ) -> Option<(Segment, bool)> {
        let data = if self.receiver.ack_owed() == AckOwed::Bare {
            None
        } else {
            // A connection whose peer advertises windows is not in this state.
            self.sender.poll_transmit(at, at.config.peer_window())
        };
        self.join(at, data, sacks)
    }

    /// Returns the next segment of an established connection, before ECN and timestamps: the
    /// sender's data with a piggybacked ACK, or a bare ACK. A bare ACK that is due goes before
    /// data.
    #[inline(always)]
    fn join(
        &mut self,
        at: At<'_>,
        data: SentSegment,
        sacks: &mut SegmentOptions,
    ) -> Option<(Segment, bool)> {
        let (seq, len, more) = match (data, self.receiver.ack_owed()) {
            (Some((seq, len, more)), _) => (seq, len.get(), more),
            (None, AckOwed::Bare) => (self.sender.tcb.snd_nxt, 0, true),
            (None, AckOwed::Now) => (self.sender.tcb.snd_nxt, 0, false),
            (None, AckOwed::None | AckOwed::Until(_)) => return None,
        };
        let pushes = self.sender.takes_push(at.config, seq, len);
        Some((self.say(at, (seq, len), pushes, sacks), more))
    }

    /// Returns a segment with these numbers and the receiver's ACK; `pushes` sets PSH.
    #[inline(always)]
    fn say(
        &mut self,
        at: At<'_>,
        (seq, len): (u64, u32),
        pushes: bool,
        sacks: &mut SegmentOptions,
    ) -> Segment {
        let mut segment = self.segment(at.now, seq, len);
        if pushes {
            segment.flags = segment.flags | Flags::PSH;
        }
        if len == 0 && self.receiver.has_gap() {
            segment.flags = self.with_sack(at.config, segment, sacks).flags;
        }
        segment
    }

    /// Whether there is certainly nothing to send: everything written is acknowledged, and no ACK
    /// is due now.
    #[inline]
    pub fn has_nothing_to_send(&self) -> bool {
        self.sender.tcb.has_nothing_out()
            && matches!(self.receiver.ack_owed(), AckOwed::None | AckOwed::Until(_))
            && matches!(self.state, State::Established | State::Stamped)
    }

    /// Returns when [`Self::on_timer`] must be called next; [`Time::NEVER`] if no timer runs.
    #[inline]
    pub fn poll_timer(&self) -> Time {
        self.sender.deadline().min(self.receiver.deadline())
    }

    /// Returns a lower bound of [`Self::poll_timer`] that is cheaper to compute.
    #[inline]
    pub fn poll_timer_roughly(&self) -> Time {
        self.sender.tcb.deadline.min(self.receiver.deadline())
    }

    /// Returns the in-order payload bytes delivered to the application.
    #[inline]
    pub fn delivered(&self) -> u64 {
        self.receiver.delivered()
    }

    /// Returns the payload bytes that the other end has acknowledged.
    #[inline]
    pub fn acked(&self) -> u64 {
        self.sender.tcb.acked()
    }

    /// Whether the application has received `bytes` bytes.
    #[inline]
    pub fn has_delivered(&self, bytes: u64) -> bool {
        // The first comparison usually decides, and it does not have to account for a FIN.
        bytes < self.receiver.rcv_nxt() && bytes <= self.receiver.delivered()
    }

    /// Whether the other end has acknowledged `bytes` bytes.
    #[inline]
    pub fn has_acked(&self, bytes: u64) -> bool {
        bytes < self.sender.tcb.snd_una && bytes <= self.sender.tcb.acked()
    }

    /// Whether the connection is established.
    pub fn is_established(&self) -> bool {
        matches!(self.state, State::Established | State::Stamped | State::Marked)
    }

    /// Returns the timestamps option of a segment sent now; `None` without timestamps.
    pub fn timestamps(&self, at: At<'_>) -> Option<Timestamps> {
        let marks = self.marks.as_ref().filter(|_| at.config.timestamps)?;
        Some(marks.timestamps(at.now))
    }

    /// Returns SND.NXT, the sequence number of a segment without data.
    pub fn snd_nxt(&self) -> u64 {
        self.sender.tcb.snd_nxt
    }

    /// Whether the other end's FIN and all its data have arrived: the application sees end of file.
    pub fn has_reached_end(&self) -> bool {
        self.receiver.has_reached_end()
    }

    /// Whether our FIN is acknowledged.
    pub fn is_close_acknowledged(&self) -> bool {
        self.sender.tcb.is_close_acknowledged()
    }

    /// Returns the counters.
    pub fn counters(&self) -> Counters {
        self.sender.tcb.counters
    }

    /// Returns the ECN counters.
    pub fn ecn_counters(&self) -> EcnCounters {
        self.marks.as_ref().map_or_else(EcnCounters::default, |marks| marks.ecn.counters)
    }

    /// Returns the numbers of segments in flight by state; `None` unless the variant is
    /// [`Variant::Rack`].
    pub fn segments(&self) -> Option<Segments> {
        self.sender.segments()
    }

    /// Returns the loss recovery state.
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

    /// Returns the pacing rate in bytes/s once a round trip was measured, as Linux reports it: even
    /// if pacing is off.
    pub fn pace(&self) -> Option<u64> {
        self.sender.tcb.pacing_rate()
    }

    /// Returns the smoothed round-trip time once one was measured.
    pub fn srtt(&self) -> Option<Duration> {
        self.sender.tcb.rtt.srtt()
    }

    /// Returns the payload bytes sent and not acknowledged (FlightSize of RFC 5681). Bytes that a
    /// timeout declared lost count again once they are retransmitted.
    pub fn flight_size(&self) -> u64 {
        self.sender.tcb.flight_size()
    }

    /// Adds a SACK option to `ack` if both ends support SACK.
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
        if self.sender.tcb.closing {
            let Segment { len, flags, .. } = self.with_fin(segment);
            (segment.len, segment.flags) = (len, flags);
        }
        segment
    }

    /// Sets the FIN flag if the segment's last sequence number is that of the FIN.
    #[cold]
    fn with_fin(&self, segment: Segment) -> Segment {
        if segment.len > 0 && self.sender.tcb.is_end(segment.end()) {
            Segment { len: segment.len - 1, flags: segment.flags | Flags::FIN, ..segment }
        } else {
            segment
        }
    }

    /// Processes the ACK of a segment with a SACK option.
    #[cold]
    fn on_sack(&mut self, at: At<'_>, segment: &Segment, sacks: &SegmentOptions) {
        let (blocks, is_bare) = (sacks.blocks(segment), segment.end() == segment.seq);
        self.sender.on_selective_ack(at, segment.ack, blocks, is_bare);
    }

    #[cold]
    fn on_retransmission_timer(&mut self, at: At<'_>) {
        let Some(syn) = self.state.syn_mut() else {
            self.sender.on_timeout(at);
            return;
        };
        syn.on_timeout();
        self.sender.tcb.counters.timeouts += 1;
        self.sender.tcb.rtt.back_off(at.config);
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
        std::iter::from_fn(|| endpoint.poll_transmit(config.at(T), &mut sacks))
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

        endpoint.on_segment(config.at(T), &data(1), &SegmentOptions::new());

        assert_eq!(drain(&mut endpoint, &config), ["1:1001 ack 1001", "1001:1501 ack 1001"]);
    }

    #[test]
    fn a_duplicate_ack_never_rides_on_data() {
        let config = Config::standard();
        let mut endpoint = Endpoint::new(&config, Opening::Passive);
        endpoint.write(500);

        endpoint.on_segment(config.at(T), &data(1001), &SegmentOptions::new());

        assert_eq!(drain(&mut endpoint, &config), ["ack 1", "1:501 ack 1"]);
    }

    #[test]
    fn a_spurious_timer_changes_nothing() {
        let config = Config::standard();
        let mut endpoint = Endpoint::new(&config, Opening::Active);
        endpoint.write(1000);
        drain(&mut endpoint, &config);
        let deadline = endpoint.poll_timer();

        endpoint.on_timer(config.at(T));

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
        // The second segment arrives, then the fourth, then the first, which fills part of the gap.
        for seq in [1001, 3001, 1] {
            endpoint.on_segment(config.at(T), &data(seq), &sacks);
        }

        let mut sent = std::iter::from_fn(|| endpoint.poll_transmit(config.at(T), &mut sacks));
        let [ack, payload] =
            [sent.next(), sent.next()].map(|segment| segment.expect("two segments"));
        assert_eq!((ack.ack, ack.len, payload.ack, payload.len), (2001, 0, 2001, 500));
        assert!(sent.next().is_none());
        assert_eq!(sacks.blocks(&ack), [Block { start: 3001, end: 4001 }]);
        assert_eq!(sacks.blocks(&payload), []);
    }
}
