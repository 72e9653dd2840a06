//! Runs a script against an endpoint in virtual time.
//!
//! It maps the language's segments and calls to those of an endpoint, and reports anything that our
//! endpoint cannot do.

use std::collections::VecDeque;

use airtcp_kernel::{Duration, Time};
use airtcp_tcp::{
    Aimd, Config, Congestion, CubicGrowth, DelayedAck, Endpoint, Flags, Handshake, Implementation,
    LossState, LossWindow, Opening, RenoGrowth, RtoFloor, Rules, Segment, SegmentOptions,
    Segmentation, SlowStart, Timers, Timestamps, Variant,
};

use crate::assertion::{self, Variables};
use crate::script::{Event, Packet, Script, Step, Timing};

/// The allowed error of a time without `--tolerance_usecs`.
const TOLERANCE: Duration = Duration::from_millis(4);
/// If larger, the allowed error is the time since the previous event divided by this: packetdrill's
/// default without `--tolerance_percent`.
const TOLERANCE_PART: u64 = 8;
/// The MSS that the local end announces (Ethernet).
const LOCAL_MSS: u32 = 1460;
/// The initial window in segments: RFC 6928.
const INITIAL_WINDOW: u64 = 10;
/// The value of `tcp_info` for "no slow start threshold".
const NO_THRESHOLD: i64 = 0x7fff_ffff;

/// Runs a script.
///
/// # Errors
/// The line number and why the script fails there.
pub fn run(script: &Script) -> Result<(), (usize, String)> {
    let mut runner = Runner::new(script).map_err(|why| (0, why))?;
    for event in &script.events {
        runner.take(event).map_err(|why| (event.line, why))?;
    }
    Ok(())
}

struct Runner {
    config: Config,
    tolerance: Duration,
    /// `None` until the connection is opened.
    endpoint: Option<Endpoint>,
    sacks: SegmentOptions,
    /// The window scale in the peer's SYN; it applies to the windows of the peer's other segments.
    window_scale: u32,
    now: Time,
    /// The time of the previous event.
    script_time: Time,
    /// Segments that were sent but not yet matched with the script.
    sent: VecDeque<(Time, Segment)>,
    /// Whether the peer had closed first.
    was_closed_second: bool,
    /// Whether the connection is closed or was given up: RFC 9293 section 3.10.7.1, "CLOSED STATE".
    is_gone: bool,
    /// Resets that the host sends: for segments without a connection, and when it closes with
    /// unread data (RFC 2525 section 2.17).
    resets: VecDeque<Reset>,
    /// Bytes that the application has read.
    read: u64,
    /// Offset of the script's timestamp clock to the endpoint's, in ticks.
    clock: Option<u32>,
    variables: Variables,
}

/// A segment with RST.
#[derive(Clone, Copy, Debug)]
struct Reset {
    seq: u64,
    timestamps: Option<Timestamps>,
}

impl Runner {
    fn new(script: &Script) -> Result<Self, String> {
        Ok(Self {
            config: config(script)?,
            window_scale: window_scale(script),
            tolerance: script.tolerance.unwrap_or(TOLERANCE),
            endpoint: None,
            sacks: SegmentOptions::new(),
            now: Time::ZERO,
            script_time: Time::ZERO,
            sent: VecDeque::new(),
            was_closed_second: false,
            is_gone: false,
            resets: VecDeque::new(),
            read: 0,
            clock: None,
            variables: Variables::new(),
        })
    }

    fn take(&mut self, event: &Event) -> Result<(), String> {
        let Timing { is_relative, from, to, is_range } = event.time;
        let base = if is_relative { self.script_time } else { Time::ZERO };
        let (from, to) = (base + from, base + to);
        if let Step::Outbound(packet) = &event.step {
            let waited = from.saturating_since(self.script_time).as_nanos();
            let tolerance = self.tolerance.max(Duration::from_nanos(waited / TOLERANCE_PART));
            let at = self.expect(packet, from, to, tolerance)?;
            self.script_time = if is_range { at } else { from };
            return Ok(());
        }
        self.advance(from);
        self.script_time = from;
        match &event.step {
            Step::Inbound(packet) => self.arrive(packet)?,
            Step::Call(name, arguments, result) => self.call(name, arguments, result)?,
            Step::Code(code) => self.check(code)?,
            Step::Outbound(_) => {}
        }
        self.flush();
        Ok(())
    }

    /// Advances the time to `until`, processing timers on the way.
    fn advance(&mut self, until: Time) {
        while let Some(endpoint) = &mut self.endpoint {
            let due = endpoint.poll_timer();
            if due > until {
                break;
            }
            self.now = self.now.max(due);
            endpoint.on_timer(self.config.at(self.now));
            self.flush();
        }
        self.now = self.now.max(until);
    }

    /// Sends all segments that may be sent now.
    fn flush(&mut self) {
        if let Some(endpoint) = &mut self.endpoint {
            while let Some(segment) =
                endpoint.poll_transmit(self.config.at(self.now), &mut self.sacks)
            {
                self.sent.push_back((self.now, segment));
            }
        }
    }

    /// Processes a segment from the peer.
    fn arrive(&mut self, packet: &Packet) -> Result<(), String> {
        let mut flags = Flags::NONE;
        for flag in packet.flags.chars() {
            flags = match flag {
                'S' => flags | Flags::SYN,
                'F' => flags | Flags::FIN,
                '.' => flags | Flags::ACK,
                'P' => flags,
                'R' => return Err("there is no RST".into()),
                'E' => flags | Flags::ECE,
                'W' => flags | Flags::CWR,
                other => return Err(format!("the flag {other}")),
            };
        }
        for mark in &packet.marks {
            flags = match mark.as_str() {
                "[noecn]" => flags,
                "[ect0]" | "[ect1]" => flags | Flags::ECT,
                "[ce]" => flags | Flags::ECT | Flags::CE,
                other => return Err(format!("there is no {other}")),
            };
        }
        if self.is_gone {
            // "SEQ=SEG.ACK": the segments of scripts always have an ACK number.
            let reset = |seq| Reset { seq, timestamps: None };
            self.resets.extend(packet.ack.map(reset));
            return Ok(());
        }
        let opening = Opening::Passive;
        let endpoint = self.endpoint.get_or_insert_with(|| Endpoint::new(&self.config, opening));
        let len = (packet.end - packet.start) as u32;
        let segment = Segment { seq: packet.start, ack: packet.ack.unwrap_or(0), len, flags };
        let stamps = packet.options.timestamps.filter(|_| self.config.timestamps);
        let segment = self.sacks.attach(
            segment,
            &packet.options.sack,
            stamps.map(|stamps| Timestamps {
                echo: stamps.echo.wrapping_sub(self.clock.unwrap_or(0)),
                ..stamps
            }),
        );
        let segment = match packet.window {
            Some(window) if !flags.contains(Flags::SYN) => {
                self.sacks.say_window(segment, window << self.window_scale)
            }
            _ => segment,
        };
        endpoint.on_segment(self.config.at(self.now), &segment, &self.sacks);
        self.sacks.release(&segment);
        // LAST-ACK: the end that closes second has no TIME-WAIT.
        self.is_gone = self.was_closed_second && endpoint.is_close_acknowledged();
        Ok(())
    }

    fn call(&mut self, name: &str, arguments: &[String], result: &str) -> Result<(), String> {
        match name {
            "socket" | "bind" | "listen" | "accept" | "fcntl" | "setsockopt" => Ok(()),
            "connect" => {
                self.endpoint = Some(Endpoint::new(&self.config, Opening::Active));
                Ok(())
            }
            "write" | "send" => {
                let bytes = arguments.get(2).and_then(|bytes| bytes.parse().ok());
                let bytes = bytes.ok_or("a write of how many bytes")?;
                self.connection()?.write(bytes);
                Ok(())
            }
            "read" if result == "0" => {
                let has_ended = self.connection()?.has_reached_end();
                if has_ended { Ok(()) } else { Err("the end of the data has not come".into()) }
            }
            "close" => {
                let (now, read) = (self.now, self.read);
                let config = self.config.clone();
                let endpoint = self.connection()?;
                if endpoint.delivered() > read {
                    let (seq, timestamps) =
                        (endpoint.snd_nxt(), endpoint.timestamps(config.at(now)));
                    self.resets.push_back(Reset { seq, timestamps });
                    self.is_gone = true;
                    self.endpoint = None;
                } else if endpoint.is_established() {
                    endpoint.close();
                    self.was_closed_second = self.connection()?.has_reached_end();
                } else {
                    self.is_gone = true;
                    self.endpoint = None;
                }
                Ok(())
            }
            _ => Err(format!("there is no {name}()")),
        }
    }

    fn connection(&mut self) -> Result<&mut Endpoint, String> {
        self.endpoint.as_mut().ok_or_else(|| "there is no connection".into())
    }

    /// Expects the next segment. A stack may pass several segments to its network card as one, so
    /// several together may match. Returns when the first was sent.
    fn expect(
        &mut self,
        packet: &Packet,
        from: Time,
        to: Time,
        tolerance: Duration,
    ) -> Result<Time, String> {
        if packet.flags.contains('R') {
            self.advance(from);
            let Reset { seq, timestamps } = self.resets.pop_front().ok_or("no reset is sent")?;
            self.compare_timestamps(packet, timestamps)?;
            let as_wanted = seq == packet.start && packet.start == packet.end;
            return if as_wanted { Ok(from) } else { Err(format!("a reset with {seq} is sent")) };
        }
        let (mut next, mut first_at) = (packet.start, None);
        loop {
            // Wait only for the first segment: later ones may depend on what arrives before them.
            while self.sent.is_empty() {
                let due = self.endpoint.as_ref().map_or(Time::NEVER, Endpoint::poll_timer);
                if due > to + tolerance {
                    return Err(format!("{next}:{} is not sent by {}", packet.end, seconds(to)));
                }
                self.advance(due);
            }
            let Some((at, segment)) = self.sent.pop_front() else {
                return Err("nothing is sent".into());
            };
            if at + tolerance < from || at > to + tolerance {
                return Err(format!(
                    "{segment} is sent at {}, not at {}",
                    seconds(at),
                    seconds(from)
                ));
            }
            self.compare(packet, next, &segment)?;
            first_at.get_or_insert(at);
            next = segment.seq + u64::from(segment.len);
            self.sacks.release(&segment);
            if next >= packet.end {
                self.now = self.now.max(from);
                return Ok(first_at.unwrap_or(at));
            }
        }
    }

    fn compare(&mut self, packet: &Packet, next: u64, segment: &Segment) -> Result<(), String> {
        let has = |flag| segment.flags.contains(flag);
        let wants = |flag| packet.flags.contains(flag);
        let end = segment.seq + u64::from(segment.len);
        let ends = end >= packet.end;
        let is_ack = packet.ack.is_none() || has(Flags::ACK) && Some(segment.ack) == packet.ack;
        let as_wanted = segment.seq == next
            && end <= packet.end
            && is_ack
            && has(Flags::SYN) == wants('S')
            && has(Flags::ECE) == wants('E')
            // The first of several segments carries CWR.
            && has(Flags::CWR) == (wants('W') && next == packet.start)
            && marks_are(packet, segment.flags)
            // The last of several segments carries FIN.
            && has(Flags::FIN) == (wants('F') && ends);
        self.compare_timestamps(packet, self.sacks.timestamps(segment))?;
        let blocks = self.sacks.blocks(segment);
        let sack = &packet.options.sack;
        if as_wanted && (sack.is_empty() || blocks == sack.as_slice()) {
            Ok(())
        } else {
            Err(format!("{segment} {blocks:?} is sent, not {next}:{}", packet.end))
        }
    }

    /// Compares timestamps. A script's clock starts at the value in its first segment.
    fn compare_timestamps(
        &mut self,
        packet: &Packet,
        sent: Option<Timestamps>,
    ) -> Result<(), String> {
        let (Some(wanted), Some(sent)) = (packet.options.timestamps, sent) else {
            // Without timestamps; `nop` if a script leaves the options out.
            return match packet.options.timestamps {
                Some(_) if packet.flags != "S" => Err("no timestamps are sent".into()),
                _ => Ok(()),
            };
        };
        let offset = *self.clock.get_or_insert(wanted.value.wrapping_sub(sent.value));
        let value = sent.value.wrapping_add(offset);
        let tolerance = self.tolerance.as_nanos() / 1_000_000;
        let is_near = u64::from(value.abs_diff(wanted.value)) <= tolerance;
        if is_near && sent.echo == wanted.echo {
            Ok(())
        } else {
            Err(format!("timestamps {value} {} are sent", sent.echo))
        }
    }

    fn check(&mut self, code: &str) -> Result<(), String> {
        self.flush();
        let mss = u64::from(self.config.mss);
        let endpoint = self.endpoint.as_ref().ok_or("there is no connection")?;
        let segments = endpoint.segments();
        let in_segments = |bytes: u64| i64::try_from(bytes / mss).unwrap_or(i64::MAX);
        assertion::check(code, &mut self.variables, |name| {
            let count = |count: usize| i64::try_from(count).ok();
            match name {
                "TCP_CA_Open" => Some(0),
                "TCP_CA_Disorder" => Some(1),
                "TCP_CA_CWR" => Some(2),
                "TCP_CA_Recovery" => Some(3),
                "TCP_CA_Loss" => Some(4),
                "tcpi_ca_state" => Some(match endpoint.loss_state() {
                    LossState::Open => 0,
                    LossState::Disorder => 1,
                    LossState::Reducing => 2,
                    LossState::Recovery => 3,
                    LossState::Loss => 4,
                }),
                "tcpi_snd_cwnd" => Some(in_segments(endpoint.cwnd())),
                "tcpi_snd_ssthresh" if endpoint.ssthresh() == u64::MAX => Some(NO_THRESHOLD),
                "tcpi_snd_ssthresh" => Some(in_segments(endpoint.ssthresh())),
                // At least DupThresh, its initial value.
                "tcpi_reordering" => segments
                    .map(|segments| in_segments(segments.reordering.next_multiple_of(mss)).max(3)),
                "tcpi_unacked" => segments.and_then(|segments| count(segments.unacknowledged)),
                "tcpi_sacked" => segments.and_then(|segments| count(segments.sacked)),
                "tcpi_lost" => segments.and_then(|segments| count(segments.lost)),
                "tcpi_retrans" => segments.and_then(|segments| count(segments.retransmitted)),
                _ => None,
            }
        })
    }
}

/// Returns the window scale in the peer's first SYN: RFC 7323 section 2.
fn window_scale(script: &Script) -> u32 {
    let of_syn = |event: &Event| match &event.step {
        Step::Inbound(packet) if packet.flags.contains('S') => Some(packet.options.wscale),
        Step::Inbound(_) | Step::Outbound(_) | Step::Call(..) | Step::Code(_) => None,
    };
    script.events.iter().find_map(of_syn).flatten().unwrap_or(0)
}

/// Derives the configuration of both ends from the script's SYNs, windows and sysctls.
fn config(script: &Script) -> Result<Config, String> {
    let arriving = |event: &Event| match &event.step {
        Step::Inbound(packet) => Some(packet.clone()),
        Step::Outbound(_) | Step::Call(..) | Step::Code(_) => None,
    };
    let inbound: Vec<Packet> = script.events.iter().filter_map(arriving).collect();
    let syn = inbound.iter().find(|packet| packet.flags.contains('S'));
    let options = syn.map(|syn| syn.options.clone()).unwrap_or_default();
    let mss = options.mss.unwrap_or(536).min(LOCAL_MSS);
    let scaled = |packet: &Packet| match (packet.window, packet.flags.contains('S')) {
        (Some(window), true) => Some(window),
        (Some(window), false) => Some(window << window_scale(script)),
        (None, _) => None,
    };
    let after_syn = inbound.iter().find(|packet| !packet.flags.contains('S'));
    let window = after_syn.and_then(scaled).or(syn.and_then(scaled)).unwrap_or(65_535);
    let sysctl = |name: &str| script.sysctls.get(name).map(String::as_str);
    let congestion = match sysctl("tcp_congestion_control") {
        None | Some("cubic") => Congestion::Cubic,
        Some("reno") => Congestion::Reno,
        Some(other) => return Err(format!("there is no congestion control {other}")),
    };
    let rules = Rules {
        preset: "linux".into(),
        loss_window: LossWindow::Cwnd,
        fast_retransmit_once_per_window: false,
        slow_start_limit: 0,
        rto_floor: RtoFloor::Variation,
        timers: Timers::Linux,
        segmentation: Segmentation::Single,
        reno_growth: RenoGrowth::PerByte,
        cubic_growth: CubicGrowth::Linux,
        hystart: Implementation::Linux,
        bbr1: Implementation::Linux,
        restart_after_idle: sysctl("tcp_slow_start_after_idle") == Some("1"),
    };
    Ok(Config {
        variant: if options.sack_permitted { Variant::Rack } else { Variant::NewReno },
        congestion,
        mss,
        receive_window: window.max(u64::from(mss)),
        initial_window: INITIAL_WINDOW * u64::from(mss),
        initial_ssthresh: None,
        aimd: Aimd::STANDARD,
        rules,
        handshake: Handshake::ThreeWay,
        initial_rto: Duration::from_secs(1),
        min_rto: Duration::from_millis(200),
        max_rto: Duration::from_secs(120),
        clock_granularity: Duration::from_millis(1),
        delayed_ack: DelayedAck::every(1, Duration::from_millis(200)),
        ack_skip: None,
        mac_feedback: None,
        tack: None,
        slow_start: if congestion == Congestion::Cubic && options.sack_permitted {
            SlowStart::Hystart
        } else {
            SlowStart::Standard
        },
        pacing: script.is_paced && options.sack_permitted,
        timestamps: options.timestamps.is_some(),
        // By default (`tcp_ecn` 2) Linux accepts ECN but does not request it; with 1 it does both.
        ecn: match sysctl("tcp_ecn") {
            Some("0") => false,
            Some("1") => true,
            _ => syn.is_some_and(|syn| !syn.flags.contains('.')),
        },
        window_scaling: false,
        peer: None,
    })
}

/// Whether the ECN bits of the IP header match those in the script, if it has any.
fn marks_are(packet: &Packet, flags: Flags) -> bool {
    packet.marks.iter().all(|mark| match mark.as_str() {
        "[noecn]" => !flags.contains(Flags::ECT),
        "[ect0]" => flags.contains(Flags::ECT) && !flags.contains(Flags::CE),
        _ => false,
    })
}

fn seconds(time: Time) -> String {
    format!("{:.6} s", time.as_secs_f64())
}
