//! Loss recovery by time: RACK and tail loss probes (RFC 8985), with proportional rate reduction
//! (RFC 9937).
//!
//! A segment is lost when one that was sent later has arrived, and a reordering window has passed
//! since; a tail that nothing follows is probed. What is known of each segment is in
//! [`sent`](crate::sent). There are no DSACK blocks here, so the reordering window does not widen, and
//! what a probe repaired is told from the acknowledgments alone.

use airtcp_kernel::{Duration, Time};

use super::buffers::Buffer;
use super::pacing::{Pacer, rate_of_window};
use super::prr::Prr;
use super::{Phase, Sender};
use crate::congestion::{Controller, Delivery, Moment, Window};
use crate::rate::Rates;
use crate::scoreboard::DUP_THRESH;
use crate::sent::{Latest, News, Sent};
use crate::{Block, Config, Congestion, Implementation, LossWindow};

/// The state of RFC 8985 and of RFC 9937.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    pub(super) sent: Sent,
    /// RACK.segment, the segment sent last of all that have arrived.
    latest: Option<Latest>,
    /// RACK.reordering_seen.
    reordering_seen: bool,
    /// The least round trip of the connection; `None` before the first.
    min_rtt: Option<Duration>,
    /// What `due` is for: there is one timer of recovery.
    timer: Timer,
    /// When that timer expires. [`Sender::deadline`] comes before it if something waits for its pace.
    due: Time,
    /// `None` without pacing.
    pacer: Option<Pacer>,
    /// TLP.end_seq, while a probe is under way, and whether it repeats what was sent before.
    probe: Option<Probe>,
    /// A probe is to be sent now.
    probe_is_due: bool,
    /// The first lost segment is to be sent now, whatever the window says: the timer has expired.
    resend_is_due: bool,
    prr: Prr,
    /// A mark has reduced the window, and `prr` is for that: nothing was found lost since.
    is_reducing: bool,
    /// How much is delivered how fast; `None` unless the controller asks.
    rates: Option<Box<Rates>>,
    pub(super) buffer: Buffer,
}

/// What the timer is for: RFC 8985 section 8, "RACK-TLP reordering and RTO timers" are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    Retransmission,
    Reordering,
    Probe,
}

#[derive(Clone, Copy, Debug)]
struct Probe {
    end: u64,
    is_repeated: bool,
}

impl Rack {
    pub(super) fn new(config: &Config) -> Self {
        let is_ns3 =
            config.congestion == Congestion::Bbr1 && config.rules.bbr1 == Implementation::Ns3;
        Self {
            sent: Sent::new(is_ns3),
            latest: None,
            reordering_seen: false,
            min_rtt: None,
            timer: Timer::Retransmission,
            due: Time::NEVER,
            pacer: config.pacing.then(|| Pacer::new(is_ns3)),
            probe: None,
            probe_is_due: false,
            resend_is_due: false,
            prr: Prr::default(),
            is_reducing: false,
            rates: config.congestion.has_model().then(|| Box::new(Rates::new(is_ns3))),
            buffer: Buffer::default(),
        }
    }

    pub(super) fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt
    }

    /// RFC 8985 section 6.2, step 4: a quarter of the least round trip, and nothing once so much is
    /// known to be missing that RFC 6675 would call it lost, as long as no reordering was seen.
    fn reordering_window(&self, is_repairing: bool, srtt: Duration) -> Duration {
        let is_certain = is_repairing || self.sent.sacked_segments() >= usize::from(DUP_THRESH);
        if !self.reordering_seen && is_certain {
            return Duration::ZERO;
        }
        Duration::from_nanos(self.min_rtt.map_or(0, Duration::as_nanos) / 4).min(srtt)
    }
}

impl Sender {
    /// An acknowledgment, with or without SACK blocks.
    pub(super) fn on_rack_ack(&mut self, config: &Config, now: Time, ack: u64, sacked: &[Block]) {
        if ack > self.snd_max {
            return;
        }
        let (una, advances) = (self.snd_una.max(ack), ack > self.snd_una);
        self.note_usage(config);
        let Some(rack) = &mut self.rack else { return };
        let least = rack.min_rtt.unwrap_or(Duration::ZERO);
        let news = rack.sent.on_ack(now, una, sacked, least);
        // Of the segment sent last of those that arrive: the first one has waited for the others where an
        // acknowledgment is for many. ns-3 takes what a timestamp echoes, that of the first.
        let is_ns3 = rack.rates.as_ref().is_some_and(|rates| rates.is_ns3());
        if let Some(rtt) = if is_ns3 { news.rtt } else { news.newest_rtt } {
            rack.min_rtt = Some(rack.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        rack.reordering_seen |= news.reordered;
        if let Some(latest) = news.latest
            && rack.latest.is_none_or(|before| latest.is_after(before.sent, before.end))
        {
            rack.latest = Some(latest);
        }
        if let (Some(latest), Some(rtt)) = (&mut rack.latest, news.rack_rtt(config.rules.timers)) {
            latest.rtt = rtt;
        }
        if advances {
            self.snd_una = una;
            self.rtt.on_ack(config, now, una);
        }
        let lost_before = self.lost_octets();
        let lost = self.detect_losses(config, now);
        self.on_probe_ack(config, now, ack, advances, sacked.is_empty());
        let acked = Delivery {
            acked: news.delivered,
            most_in_flight: self.usage.most,
            rtt: news.newest_rtt,
            una,
            next: self.snd_max,
        };
        self.move_window(config, now, acked, advances, lost);
        let newly_lost = self.lost_octets().saturating_sub(lost_before);
        self.take_sample(config, now, &news, newly_lost);
        self.set_pace();
        let is_off = self.rack.as_ref().is_none_or(|rack| rack.due == Time::NEVER);
        if advances || news.newly_sacked > 0 || is_off {
            self.restart_rack_timer(config, now);
        }
    }

    /// Marks what is lost by now; returns whether anything is for the first time.
    fn detect_losses(&mut self, config: &Config, now: Time) -> bool {
        let is_repairing = !matches!(self.phase, Phase::Open { .. });
        let srtt = self.rtt.srtt().unwrap_or(Duration::ZERO);
        let Some(rack) = &mut self.rack else { return false };
        let is_in_order = rack.sent.sacked_segments() == 0 && !is_repairing;
        let reo_wnd = rack.reordering_window(is_repairing, srtt);
        let (lost, next) = match rack.latest {
            Some(latest) if !is_in_order => rack.sent.detect_losses(now, &latest, reo_wnd),
            _ => (0, None),
        };
        if let Some(next) = next {
            rack.timer = Timer::Reordering;
            self.arm(config.reordering_expiry(now, next));
        } else if rack.timer == Timer::Reordering {
            rack.timer = Timer::Retransmission;
            self.arm(Time::NEVER);
        }
        lost > 0
    }

    /// RFC 8985 section 7.4: what an acknowledgment tells of a probe.
    fn on_probe_ack(&mut self, config: &Config, now: Time, ack: u64, advances: bool, bare: bool) {
        let Some(rack) = &mut self.rack else { return };
        let Some(probe) = rack.probe.filter(|probe| ack >= probe.end) else { return };
        if !probe.is_repeated {
            rack.probe = None;
        } else if ack > probe.end {
            // No duplicate came of it: the probe has repaired a loss.
            rack.probe = None;
            if matches!(self.phase, Phase::Open { .. }) {
                if config.congestion.has_model() {
                    return;
                }
                let halved = self.part_of(config, self.in_network());
                let moment = Moment { config, now, rtt: &self.rtt };
                self.controller.on_loss(&mut self.window, &moment, halved);
                self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
                self.end_reduction();
            }
        } else if !advances && bare {
            // Both copies have arrived.
            rack.probe = None;
        }
    }

    /// The phase and the window after an acknowledgment.
    fn move_window(
        &mut self,
        config: &Config,
        now: Time,
        acked: Delivery,
        advances: bool,
        lost: bool,
    ) {
        let delivered = acked.acked;
        match self.phase {
            Phase::Open { .. } if lost => self.enter_rack_recovery(config, now, delivered),
            Phase::Open { .. } if self.is_reducing() => {
                self.move_reduced_window(config, now, acked, advances);
            }
            Phase::Open { .. } if advances => self.grow_by(config, now, acked),
            Phase::Open { .. } => {}
            Phase::FastRecovery { .. } if self.snd_una >= self.recover => {
                self.phase = Phase::NO_DUP_ACKS;
                if config.congestion.has_model() {
                    self.controller.on_recovered(&mut self.window);
                } else {
                    self.window.cwnd = self.window.ssthresh;
                }
            }
            Phase::FastRecovery { .. } => self.reduce(config, delivered, advances && !lost),
            Phase::Loss { .. } => {
                if self.snd_una >= self.recover {
                    self.phase = Phase::NO_DUP_ACKS;
                    self.controller.on_recovered(&mut self.window);
                }
                if advances {
                    self.grow_by(config, now, acked);
                }
            }
        }
    }

    /// The MAC has given up a frame with a segment: that is lost, and the window falls or stays.
    #[cold]
    pub(super) fn lose_given_up(
        &mut self,
        config: &Config,
        now: Time,
        block: Block,
        keeps_window: bool,
    ) {
        let Some(rack) = &mut self.rack else { return };
        let is_lost = rack.sent.lose(block);
        if is_lost && !keeps_window && matches!(self.phase, Phase::Open { .. }) {
            self.enter_rack_recovery(config, now, 0);
        }
    }

    fn enter_rack_recovery(&mut self, config: &Config, now: Time, delivered: u64) {
        self.counters.fast_retransmits += 1;
        self.recover = self.snd_max;
        let recover_fs = self.in_network() + delivered;
        let told = if config.congestion.has_model() {
            let pipe = self.rack.as_ref().map(|rack| rack.sent.pipe(self.snd_una, self.snd_max));
            pipe.unwrap_or(0) + delivered
        } else {
            self.part_of(config, recover_fs)
        };
        if !self.was_reduced() {
            self.end_reduction();
            let moment = Moment { config, now, rtt: &self.rtt };
            self.controller.on_loss(&mut self.window, &moment, told);
        }
        self.phase = Phase::FastRecovery { resend: false, partial_acks: 0 };
        if let Some(rack) = &mut self.rack {
            // A mark that has reduced this window began one response to congestion, which goes on.
            if !std::mem::take(&mut rack.is_reducing) {
                rack.prr = Prr::new(recover_fs);
            }
            rack.probe = None;
        }
        self.reduce(config, delivered, false);
    }

    /// A mark was told of: the window falls to the threshold by RFC 9937, which leaves to the congestion control what
    /// begins a reduction.
    #[cold]
    pub(super) fn begin_reduction(&mut self) {
        let recover_fs = self.in_network();
        if let Some(rack) = &mut self.rack {
            rack.prr = Prr::new(recover_fs);
            rack.is_reducing = true;
        }
    }

    /// The window after an acknowledgment while a mark reduces it. As in Linux that is over when something is
    /// acknowledged that left after the mark was told of.
    #[cold]
    fn move_reduced_window(&mut self, config: &Config, now: Time, acked: Delivery, advances: bool) {
        if self.snd_una <= self.reduced() {
            self.reduce(config, acked.acked, advances);
        } else {
            self.end_reduction();
            self.grow_by(config, now, acked);
        }
    }

    /// The reduction after a mark is over, if there is one: the window is the threshold.
    #[inline(never)]
    pub(super) fn end_reduction(&mut self) {
        if let Some(rack) = &mut self.rack
            && std::mem::take(&mut rack.is_reducing)
        {
            self.window.cwnd = self.window.ssthresh;
        }
    }

    #[inline]
    pub(super) fn is_reducing(&self) -> bool {
        self.rack.as_ref().is_some_and(|rack| rack.is_reducing)
    }

    /// RFC 9937: `cwnd` is what is in the network and what may follow now.
    fn reduce(&mut self, config: &Config, delivered: u64, safe: bool) {
        let Some(rack) = &mut self.rack else { return };
        if config.congestion.has_model() || delivered == 0 && rack.prr.out > 0 {
            return;
        }
        let pipe = rack.sent.pipe(self.snd_una, self.snd_max);
        let smss = u64::from(config.mss);
        let allowed = rack.prr.allowance(delivered, pipe, self.window.ssthresh, safe, smss);
        self.window.cwnd = (pipe + allowed).max(smss);
    }

    /// What a loss leaves a part of, with so much in the network.
    pub(super) fn part_of(&self, config: &Config, in_network: u64) -> u64 {
        match config.rules.loss_window {
            LossWindow::FlightSize => in_network,
            LossWindow::Cwnd => self.window_to_halve(config),
        }
    }

    /// What was in the network, lost or not, before the acknowledgment at hand: RecoverFS of RFC 9937
    /// section 5 but for what that one delivers. FlightSize of RFC 5681 would count what was SACKed before, in
    /// the second of two recoveries in a row more than a window of it.
    pub(super) fn in_network(&self) -> u64 {
        self.flight_size() - self.rack.as_ref().map_or(0, |rack| rack.sent.sacked_octets())
    }

    /// The one timer has expired, for one reason or another.
    #[cold]
    pub(super) fn on_rack_timer(&mut self, config: &Config, now: Time) {
        let Some(rack) = &mut self.rack else { return };
        if rack.due > now {
            // What waited for its pace may leave.
            self.deadline = rack.due;
            return;
        }
        rack.due = Time::NEVER;
        self.deadline = Time::NEVER;
        match std::mem::replace(&mut rack.timer, Timer::Retransmission) {
            Timer::Retransmission => self.on_rack_timeout(config, now),
            Timer::Reordering => {
                if self.detect_losses(config, now) && matches!(self.phase, Phase::Open { .. }) {
                    self.enter_rack_recovery(config, now, 0);
                }
                self.restart_rack_timer(config, now);
            }
            Timer::Probe => {
                rack.probe_is_due = true;
                // RFC 8985 section 7.3: "the sender then starts the RTO timer".
                self.arm(config.expiry(now, self.rtt.rto()));
            }
        }
    }

    /// RFC 8985 section 6.3 and RFC 5681 section 3.1.
    fn on_rack_timeout(&mut self, config: &Config, now: Time) {
        self.counters.timeouts += 1;
        self.end_reduction();
        let again = self.phase == Phase::Loss { head: self.snd_una };
        let halved = (!again && !self.was_reduced()).then(|| match config.rules.loss_window {
            LossWindow::FlightSize => self.flight_size().min(self.window.cwnd),
            LossWindow::Cwnd => self.window_to_halve(config),
        });
        let moment = Moment { config, now, rtt: &self.rtt };
        self.controller.on_timeout(&mut self.window, &moment, halved);
        self.window.collapse(config);
        self.recover = self.snd_max;
        self.phase = Phase::Loss { head: self.snd_una };
        let srtt = self.rtt.srtt().unwrap_or(Duration::ZERO);
        if let Some(rack) = &mut self.rack {
            let rtt = rack.latest.map_or(srtt, |latest| latest.rtt);
            let wait = rtt + rack.reordering_window(true, srtt);
            rack.sent.lose_at_timeout(now, wait);
            rack.probe = None;
            rack.probe_is_due = false;
            rack.resend_is_due = true;
        }
        self.rtt.on_retransmission();
        self.rtt.back_off(config);
        // RFC 6298 (5.6).
        self.arm(config.expiry(now, self.rtt.rto()));
    }

    /// The timer after something was acknowledged or sent: the probe's where a tail may be probed, else
    /// that of RFC 6298 (5.3), unless it is needed for the reordering window.
    fn restart_rack_timer(&mut self, config: &Config, now: Time) {
        let is_open = matches!(self.phase, Phase::Open { .. });
        let in_flight = self.snd_max - self.snd_una;
        let rto = self.rtt.rto();
        let srtt = self.rtt.srtt();
        let Some(rack) = &mut self.rack else { return };
        if in_flight == 0 {
            rack.timer = Timer::Retransmission;
            rack.probe = None;
            self.arm(Time::NEVER);
            return;
        }
        if rack.timer == Timer::Reordering {
            return;
        }
        let may_probe = is_open
            && rack.probe.is_none()
            && rack.sent.sacked_segments() == 0
            && !rack.sent.has_lost();
        let Some(srtt) = srtt.filter(|_| may_probe) else {
            rack.timer = Timer::Retransmission;
            self.arm(config.expiry(now, rto));
            return;
        };
        // RFC 8985 section 7.2: PTO = 2 * SRTT, and the other end's delayed ACK if one segment is all
        // there is; at most as long as the RTO.
        let probe = config.probe_timeout(srtt, rack.sent.len() == 1).min(rto);
        rack.timer = Timer::Probe;
        self.arm(config.expiry(now, probe));
    }

    /// The next segment to send: a probe, what is lost, then what was never sent.
    #[inline(never)]
    pub(super) fn poll_rack(&mut self, config: &Config, now: Time) -> Option<(u64, u32)> {
        let rack = self.rack.as_mut()?;
        if std::mem::take(&mut rack.probe_is_due) {
            return self.send_probe(config, now);
        }
        let Some(pacer) = &rack.pacer else { return self.send_next_by_rack(config, now) };
        if let Some(wait) = pacer.wait(now) {
            self.deadline = rack.due.min(wait);
            return None;
        }
        let sent = self.send_next_by_rack(config, now);
        if let Some((_, len)) = sent {
            self.pace(config, now, u64::from(len));
        } else if let Some(Rack { pacer: Some(pacer), .. }) = self.rack.as_deref_mut() {
            pacer.end_burst();
        }
        sent
    }

    /// What is lost, then what was never sent.
    fn send_next_by_rack(&mut self, config: &Config, now: Time) -> Option<(u64, u32)> {
        let (una, max) = (self.snd_una, self.snd_max);
        let rack = self.rack.as_mut()?;
        let smss = u64::from(config.mss);
        let pipe = rack.sent.pipe(una, max);
        let room = self.window.cwnd.saturating_sub(pipe);
        if rack.sent.has_lost() {
            // RFC 6675: "if cwnd - pipe >= 1 SMSS". A window below a segment still sends one.
            let resend_is_due = std::mem::take(&mut rack.resend_is_due);
            if room < smss && pipe > 0 && !resend_is_due {
                return None;
            }
            let lost = rack.sent.resend_lost(now)?;
            rack.prr.out += lost.end - lost.start;
            let sent = self.retransmit(config, now, lost);
            self.record(now, lost.start, lost.end - lost.start);
            self.restart_rack_timer(config, now);
            return Some(sent);
        }
        let unsent = self.written - max;
        if unsent == 0 {
            if room > 0
                && let Some(rates) = &mut rack.rates
            {
                rates.on_app_limited(pipe);
            }
            return None;
        }
        if max == una {
            self.restart_if_idle(config, now);
        }
        let room = self.window.cwnd.saturating_sub(pipe);
        self.send_new(config, now, room)
    }

    /// A segment that was never sent, as long as both windows allow.
    fn send_new(&mut self, config: &Config, now: Time, room: u64) -> Option<(u64, u32)> {
        let smss = u64::from(config.mss);
        let unsent = self.written - self.snd_max;
        let in_flight = self.snd_max - self.snd_una;
        let advertised = self.peer_window(config).saturating_sub(in_flight);
        let len = self.longest(smss, unsent).min(room).min(advertised);
        let is_silly = len < smss && len < unsent && (in_flight > 0 || self.is_silly(len));
        if len == 0 || is_silly || !self.fill_buffer(config, now, room.min(advertised)) {
            return None;
        }
        let start = self.snd_max;
        let sent = self.transmit(config, now, len);
        if let Some(rack) = &mut self.rack {
            rack.sent.push(now, start, start + len);
            rack.buffer.on_sent(len == unsent);
            rack.prr.out += len;
        }
        self.record(now, start, len);
        self.restart_rack_timer(config, now);
        Some(sent)
    }

    /// RFC 8985 section 7.3: new data if there is any and the other end lets it, else the last segment
    /// again.
    fn send_probe(&mut self, config: &Config, now: Time) -> Option<(u64, u32)> {
        let sent = self.send_new(config, now, u64::from(config.mss));
        let is_repeated = sent.is_none();
        let sent = sent.or_else(|| {
            let last = self.rack.as_mut()?.sent.resend_last(now)?;
            self.record(now, last.start, last.end - last.start);
            Some(self.retransmit(config, now, last))
        });
        let end = self.snd_max;
        if let Some(rack) = &mut self.rack {
            rack.probe = sent.map(|_| Probe { end, is_repeated });
            rack.timer = Timer::Retransmission;
        }
        self.arm(config.expiry(now, self.rtt.rto()));
        sent
    }

    /// The timer of recovery expires then.
    pub(super) fn arm(&mut self, due: Time) {
        if let Some(rack) = &mut self.rack {
            rack.due = due;
        }
        self.deadline = due;
    }

    /// The rate at which segments leave from now on.
    fn set_pace(&mut self) {
        let pace = self.pacing_rate();
        if let Some(Rack { pacer: Some(pacer), .. }) = self.rack.as_deref_mut() {
            pacer.rate = pace;
        }
    }

    /// That rate, whether segments are paced or not.
    pub(crate) fn pacing_rate(&self) -> Option<u64> {
        let Window { cwnd, ssthresh } = self.window;
        match self.controller.rate() {
            Some(rate) => Some(rate as u64),
            None => self.rtt.srtt().map(|srtt| rate_of_window(cwnd, ssthresh, srtt)),
        }
    }

    fn lost_octets(&self) -> u64 {
        self.rack.as_ref().map_or(0, |rack| rack.sent.lost_octets())
    }

    /// What an acknowledgment tells of the path goes to a controller that asks.
    fn take_sample(&mut self, config: &Config, now: Time, news: &News, newly_lost: u64) {
        let Some(rack) = self.rack.as_deref_mut() else { return };
        let Some(rates) = &mut rack.rates else { return };
        // ns-3 takes what a timestamp echoes: the first segment of a delayed ACK (RFC 7323 section 4.3).
        let rtt = if rates.is_ns3() { news.rtt } else { news.newest_rtt };
        let mut sample = rates.on_ack(now, news.record, news.delivered, rtt, rack.min_rtt);
        sample.newly_lost = newly_lost;
        sample.in_flight = rack.sent.pipe(self.snd_una, self.snd_max);
        sample.is_cwnd_limited = self.usage.most == u64::MAX;
        let moment = Moment { config, now, rtt: &self.rtt };
        for (block, record) in rack.sent.take_lost() {
            let lost = rates.on_lost(block.start, block.end - block.start, &record);
            self.controller.on_lost(&mut self.window, &moment, &lost);
        }
        sample.lost = news.record.map_or(0, |record| rates.lost_since(&record));
        self.controller.on_sample(&mut self.window, &moment, &sample);
        if self.controller.holds_back() {
            rates.on_app_limited(sample.in_flight);
        }
    }

    /// The segment that begins there has just been sent.
    fn record(&mut self, now: Time, start: u64, len: u64) {
        let (una, max) = (self.snd_una, self.snd_max);
        if let Some(rack) = self.rack.as_deref_mut()
            && let Some(rates) = &mut rack.rates
        {
            let before = rack.sent.pipe(una, max).saturating_sub(len);
            let record = rates.on_sent(now, before, len);
            rack.sent.record(start, record);
        }
    }

    /// `len` bytes of payload leave.
    fn pace(&mut self, config: &Config, now: Time, len: u64) {
        let before = self.counters.data_segments_sent - 1;
        if let Some(Rack { pacer: Some(pacer), .. }) = self.rack.as_deref_mut() {
            pacer.on_sent(now, len, before, u64::from(config.mss));
        }
    }
}
