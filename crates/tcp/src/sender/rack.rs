//! Loss recovery by time: RACK and tail loss probes (RFC 8985), with proportional rate reduction
//! (RFC 9937). This file processes ACKs, `timer` timers, and `sending` selects segments to send.
//!
//! A segment is lost if one sent later has arrived and a reordering window has passed since. A tail
//! that no later segment follows is probed. The state of each segment is in [`sent`](crate::sent).
//! There are no DSACK blocks, so the reordering window does not grow, and only ACKs reveal what a
//! probe repaired.

use airtcp_kernel::{Duration, Time};

mod in_order;
mod sending;
mod timer;

use super::buffers::Buffer;
use super::pacing::Pacer;
use super::prr::Prr;
use super::tcb::{Phase, Tcb};
use crate::congestion::{Controller, Delivery};
use crate::rate::Rates;
use crate::scoreboard::DUP_THRESH;
use crate::sent::{Latest, News, Sent};
use crate::{At, Block, Config, Congestion, Implementation};
use timer::Timer;

/// State of RFC 8985 and RFC 9937.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    pub(super) sent: Sent,
    /// RACK.segment: of all segments that have arrived, the one sent last.
    latest: Option<Latest>,
    /// RACK.reordering_seen.
    reordering_seen: bool,
    /// The minimum RTT of the connection; `None` before the first sample.
    min_rtt: Option<Duration>,
    /// What `due` is for; there is a single recovery timer.
    timer: Timer,
    /// When that timer expires. The sender's deadline is earlier if a segment waits for pacing, or
    /// if the time is not rounded yet.
    due: Time,
    /// When it was last set to expire with a probe, and after which time.
    restarted: Time,
    wait: Duration,
    /// Whether `due` is computed from `wait` and still has to be rounded. ACKs restart the timer
    /// long before it expires, so most of its values are never needed.
    is_rough: bool,
    /// The tick of Linux's timers; zero for exact timers.
    tick: Duration,
    /// `None` without pacing.
    pacer: Option<Pacer>,
    /// The outstanding probe.
    probe: Option<Probe>,
    /// Whether a probe must be sent now.
    probe_is_due: bool,
    /// Whether the first lost segment must be sent now, whatever the window, because the timer has
    /// expired.
    resend_is_due: bool,
    prr: Prr,
    /// The delivery rate; `None` unless the controller needs it.
    rates: Option<Box<Rates>>,
    pub(super) buffer: Buffer,
    /// Whether there is a pacer or a delivery rate to update.
    is_watched: bool,
}

/// An outstanding tail loss probe.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// TLP.end_seq.
    end: u64,
    /// Whether it is a retransmission.
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
            restarted: Time::NEVER,
            wait: Duration::ZERO,
            is_rough: false,
            tick: config.tick(),
            pacer: config.pacing.then(|| Pacer::new(is_ns3)),
            probe: None,
            probe_is_due: false,
            resend_is_due: false,
            prr: Prr::default(),
            rates: config.congestion.has_model().then(|| Box::new(Rates::new(is_ns3))),
            buffer: Buffer::default(),
            is_watched: config.pacing || config.congestion.has_model(),
        }
    }

    pub(super) fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt
    }

    /// Returns RACK.reo_wnd. RFC 8985 section 6.2, step 4: a quarter of the minimum RTT. It is zero
    /// once RFC 6675 would declare a loss, as long as no reordering was seen.
    fn reordering_window(&self, is_repairing: bool, srtt: Duration) -> Duration {
        let is_certain = is_repairing || self.sent.sacked_segments >= usize::from(DUP_THRESH);
        if !self.reordering_seen && is_certain {
            return Duration::ZERO;
        }
        Duration::from_nanos(self.min_rtt.map_or(0, Duration::as_nanos) / 4).min(srtt)
    }

    /// Processes an ACK, with or without SACK blocks.
    pub(super) fn on_ack(&mut self, tcb: &mut Tcb, at: At<'_>, ack: u64, sacked: &[Block]) {
        if ack > tcb.snd_max {
            return;
        }
        if sacked.is_empty() && self.is_in_order(tcb) {
            self.on_ack_in_order(tcb, at, ack);
        } else {
            self.on_ack_in_disorder(tcb, at, ack, sacked);
        }
    }

    /// Processes an ACK when something may be missing or was sent twice, or if delivery rates are
    /// sampled.
    #[inline(never)]
    fn on_ack_in_disorder(&mut self, tcb: &mut Tcb, at: At<'_>, ack: u64, sacked: &[Block]) {
        let (una, advances) = (tcb.snd_una.max(ack), ack > tcb.snd_una);
        tcb.note_usage(at.config);
        let least = self.min_rtt.unwrap_or(Duration::ZERO);
        let news = self.sent.on_ack(at.now, una, sacked, least);
        // Use the acknowledged segment that was sent last. If an ACK covers many, the first has
        // waited for the others. ns-3 uses the echoed timestamp, which is that of the first.
        let is_ns3 = self.rates.as_ref().is_some_and(|rates| rates.is_ns3());
        if let Some(rtt) = if is_ns3 { news.rtt } else { news.newest_rtt } {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        self.reordering_seen |= news.reordered;
        if let Some(latest) = news.latest
            && self.latest.is_none_or(|before| latest.is_after(before.sent, before.end))
        {
            self.latest = Some(latest);
        }
        if let (Some(latest), Some(rtt)) = (&mut self.latest, news.rack_rtt(at.config.rules.timers))
        {
            latest.rtt = rtt;
        }
        if advances {
            tcb.snd_una = una;
            tcb.rtt.on_ack(at, una);
        }
        let lost_before = self.sent.lost_octets;
        let lost = self.detect_losses(tcb, at);
        self.on_probe_ack(tcb, at, ack, advances, sacked.is_empty());
        let acked = Delivery {
            acked: news.delivered,
            most_in_flight: tcb.usage.most,
            rtt: news.newest_rtt,
            una,
            next: tcb.snd_max,
        };
        self.move_window(tcb, at, acked, advances, lost);
        let newly_lost = self.sent.lost_octets.saturating_sub(lost_before);
        self.take_sample(tcb, at, &news, newly_lost);
        self.set_pace(tcb);
        if advances || news.newly_sacked > 0 || self.due == Time::NEVER {
            self.restart_timer(tcb, at);
        }
    }

    /// Marks segments that are lost by now; returns true if there is a new loss.
    fn detect_losses(&mut self, tcb: &mut Tcb, at: At<'_>) -> bool {
        let is_repairing = !tcb.is_open();
        let srtt = tcb.rtt.srtt().unwrap_or(Duration::ZERO);
        let is_in_order = self.sent.sacked_segments == 0 && !is_repairing;
        let reo_wnd = self.reordering_window(is_repairing, srtt);
        let (lost, next) = match self.latest {
            Some(latest) if !is_in_order => self.sent.detect_losses(at.now, &latest, reo_wnd),
            _ => (0, None),
        };
        if let Some(next) = next {
            self.timer = Timer::Reordering;
            self.arm(tcb, at.config.reordering_expiry(at.now, next));
        } else if self.timer == Timer::Reordering {
            self.timer = Timer::Retransmission;
            self.arm(tcb, Time::NEVER);
        }
        lost > 0
    }

    /// Ends a probe if the ACK reveals its outcome: RFC 8985 section 7.4.
    fn on_probe_ack(&mut self, tcb: &mut Tcb, at: At<'_>, ack: u64, advances: bool, bare: bool) {
        let Some(probe) = self.probe.filter(|probe| ack >= probe.end) else { return };
        if !probe.is_repeated {
            self.probe = None;
        } else if ack > probe.end {
            // No duplicate resulted, so the probe has repaired a loss.
            self.probe = None;
            if tcb.is_open() {
                if at.config.congestion.has_model() {
                    return;
                }
                let halved = tcb.part_of(at.config, self.in_network(tcb));
                tcb.shrink(at, halved);
                tcb.window.cwnd = tcb.window.cwnd.min(tcb.window.ssthresh);
                tcb.end_reduction();
            }
        } else if !advances && bare {
            // Both copies have arrived.
            self.probe = None;
        }
    }

    /// Updates phase and window after an ACK.
    fn move_window(
        &mut self,
        tcb: &mut Tcb,
        at: At<'_>,
        acked: Delivery,
        advances: bool,
        lost: bool,
    ) {
        let delivered = acked.acked;
        match tcb.phase {
            Phase::Open { .. } if lost => self.enter_recovery(tcb, at, delivered),
            Phase::Open { .. } if tcb.is_reducing() => {
                self.move_reduced_window(tcb, at, acked, advances);
            }
            Phase::Open { .. } if advances => tcb.grow_by(at, acked),
            Phase::Open { .. } => {}
            Phase::FastRecovery { .. } if tcb.snd_una >= tcb.recover => {
                tcb.phase = Phase::NO_DUP_ACKS;
                if at.config.congestion.has_model() {
                    tcb.controller.on_recovered(&mut tcb.window);
                } else {
                    tcb.window.cwnd = tcb.window.ssthresh;
                }
            }
            Phase::FastRecovery { .. } => self.reduce(tcb, at.config, delivered, advances && !lost),
            Phase::Loss { .. } => {
                if tcb.snd_una >= tcb.recover {
                    tcb.phase = Phase::NO_DUP_ACKS;
                    tcb.controller.on_recovered(&mut tcb.window);
                }
                if advances {
                    tcb.grow_by(at, acked);
                }
            }
        }
    }

    /// Marks a segment lost because the MAC has given up its frame; reduces the window or keeps it.
    #[cold]
    pub(super) fn lose_given_up(
        &mut self,
        tcb: &mut Tcb,
        at: At<'_>,
        block: Block,
        keeps_window: bool,
    ) {
        let is_lost = self.sent.lose(block);
        if is_lost && !keeps_window && tcb.is_open() {
            self.enter_recovery(tcb, at, 0);
        }
    }

    /// Starts a recovery, triggered by an ACK that delivers `delivered` bytes.
    fn enter_recovery(&mut self, tcb: &mut Tcb, at: At<'_>, delivered: u64) {
        tcb.counters.fast_retransmits += 1;
        tcb.recover = tcb.snd_max;
        let recover_fs = self.in_network(tcb) + delivered;
        let told = if at.config.congestion.has_model() {
            self.sent.pipe(tcb.snd_una, tcb.snd_max) + delivered
        } else {
            tcb.part_of(at.config, recover_fs)
        };
        if !tcb.was_reduced() {
            tcb.end_reduction();
            tcb.shrink(at, told);
        }
        tcb.phase = Phase::FastRecovery { resend: false, partial_acks: 0 };
        // If an ECN mark has already reduced this window, continue that single response to
        // congestion.
        if !tcb.stop_reducing() {
            self.prr = Prr::new(recover_fs);
        }
        self.probe = None;
        self.reduce(tcb, at.config, delivered, false);
    }

    /// Starts the reduction after an ECN mark: the window falls to the threshold by RFC 9937, which
    /// lets the congestion control decide what starts a reduction.
    #[cold]
    pub(super) fn begin_reduction(&mut self, tcb: &mut Tcb) {
        self.prr = Prr::new(self.in_network(tcb));
        tcb.rare.get_or_insert_default().is_reducing = true;
    }

    /// Updates the window after an ACK during a reduction for an ECN mark. As in Linux it ends with
    /// the ACK of data sent after the echo arrived.
    #[cold]
    fn move_reduced_window(&mut self, tcb: &mut Tcb, at: At<'_>, acked: Delivery, advances: bool) {
        if tcb.snd_una <= tcb.reduced() {
            self.reduce(tcb, at.config, acked.acked, advances);
        } else {
            tcb.end_reduction();
            tcb.grow_by(at, acked);
        }
    }

    /// Sets `cwnd` to the octets in the network plus what may be sent now: RFC 9937.
    fn reduce(&mut self, tcb: &mut Tcb, config: &Config, delivered: u64, safe: bool) {
        if config.congestion.has_model() || delivered == 0 && self.prr.out > 0 {
            return;
        }
        let pipe = self.sent.pipe(tcb.snd_una, tcb.snd_max);
        let smss = u64::from(config.mss);
        let allowed = self.prr.allowance(delivered, pipe, tcb.window.ssthresh, safe, smss);
        tcb.window.cwnd = (pipe + allowed).max(smss);
    }

    /// Returns the bytes in the network, lost or not, before the current ACK: RecoverFS of RFC 9937
    /// section 5, without the data that this ACK delivers. FlightSize of RFC 5681 would include
    /// octets SACKed before; in the second of two consecutive recoveries these are more than a
    /// window.
    pub(super) fn in_network(&self, tcb: &Tcb) -> u64 {
        tcb.flight_size() - self.sent.sacked_octets
    }

    /// Passes a rate sample of the ACK to a controller that needs it.
    fn take_sample(&mut self, tcb: &mut Tcb, at: At<'_>, news: &News, newly_lost: u64) {
        let Some(rates) = &mut self.rates else { return };
        // ns-3 uses the echoed timestamp: that of the first segment of a delayed ACK (RFC 7323
        // section 4.3).
        let rtt = if rates.is_ns3() { news.rtt } else { news.newest_rtt };
        let mut sample = rates.on_ack(at.now, news.record, news.delivered, rtt, self.min_rtt);
        sample.newly_lost = newly_lost;
        sample.in_flight = self.sent.pipe(tcb.snd_una, tcb.snd_max);
        sample.is_cwnd_limited = tcb.usage.most == u64::MAX;
        let moment = at.moment(&tcb.rtt);
        for (block, record) in self.sent.take_lost() {
            let lost = rates.on_lost(block.start, block.end - block.start, &record);
            tcb.controller.on_lost(&mut tcb.window, &moment, &lost);
        }
        sample.lost = news.record.map_or(0, |record| rates.lost_since(&record));
        tcb.controller.on_sample(&mut tcb.window, &moment, &sample);
        if tcb.controller.holds_back() {
            rates.on_app_limited(sample.in_flight);
        }
    }
}
