//! The test harness: a `Pair` carries segments between two endpoints through virtual time and logs
//! what was sent. A rule decides which segments are lost, late or duplicated.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Write;

use airtcp_kernel::{Duration, Time};
use airtcp_tcp::{Config, Endpoint, Flags, Opening, Segment, SegmentOptions};
use proptest::test_runner::{Config as ProptestConfig, FileFailurePersistence};

use crate::late_reader::LateReader;

/// More arrivals and deadlines than almost any of these transfers needs; a livelock exceeds it.
const MOST_STEPS: usize = 20_000;

/// The base configuration of most tests: 1000-byte segments, no handshake, an ACK for each segment.
pub(crate) fn config() -> Config {
    Config::standard()
}

/// Configures `cases` cases, or as many as the environment variable `PROPTEST_CASES` says.
pub(crate) fn property(cases: u32) -> ProptestConfig {
    let config = ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource(
            "proptest-regressions",
        ))),
        ..ProptestConfig::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_some() {
        config
    } else {
        ProptestConfig { cases, ..config }
    }
}

/// Returns the time `millis` milliseconds after the start.
pub(crate) const fn at(millis: u64) -> Time {
    Time::from_nanos(millis * 1_000_000)
}

/// The active end is `A`, the passive end `B`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    A,
    B,
}

/// A segment that an endpoint has just sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) time: Time,
    pub(crate) from: End,
    /// The number of segments that this end had sent before.
    pub(crate) index: usize,
    pub(crate) segment: Segment,
    /// How often this end had sent a segment with this sequence number and this payload length
    /// before.
    pub(crate) copy: usize,
}

/// What the link does with a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Deliver,
    /// Delivers it with a CE mark, if it is ECT.
    Mark,
    Lose,
    /// One arrival per entry, each with this extra delay.
    Late(Vec<Duration>),
}

/// Loses the payload with these first sequence numbers when `A` sends it for the first time.
pub(crate) fn lose_once(numbers: &'static [u64]) -> impl Fn(&Sent) -> Fate {
    move |sent| {
        let lost = sent.from == End::A
            && sent.copy == 0
            && sent.segment.len > 0
            && numbers.contains(&sent.segment.seq);
        if lost { Fate::Lose } else { Fate::Deliver }
    }
}

/// Two endpoints and the link between them.
pub(crate) struct Pair<'a> {
    /// The configurations of `A` and `B`.
    pub(crate) configs: [Config; 2],
    pub(crate) a: Endpoint,
    pub(crate) b: Endpoint,
    pub(crate) now: Time,
    pub(crate) log: Vec<(Sent, Fate)>,
    /// Options of the logged segments; never released.
    pub(crate) sacks: SegmentOptions,
    /// The application at `B`, if it reads late.
    pub(crate) late: Option<LateReader>,
    delay: Duration,
    rule: Box<dyn FnMut(&Sent) -> Fate + 'a>,
    /// Arrivals by time, then in order of sending: an index into the log, and the receiver.
    arrivals: BinaryHeap<Reverse<(Time, usize, End)>>,
    arrived: Vec<usize>,
    /// How many more arrivals and deadlines are allowed.
    pub(crate) steps_left: usize,
    /// The number of segments sent by each end, and of each sequence number and length.
    sent: [usize; 2],
    copies: BTreeMap<(End, u64, u32), usize>,
}

impl<'a> Pair<'a> {
    /// Creates two endpoints 50 ms apart that have just opened.
    pub(crate) fn new(config: &Config, rule: impl FnMut(&Sent) -> Fate + 'a) -> Self {
        Self::meeting([config.clone(), config.clone()], rule)
    }

    /// Creates two endpoints with different configurations.
    pub(crate) fn meeting([a, b]: [Config; 2], rule: impl FnMut(&Sent) -> Fate + 'a) -> Self {
        let configs = Config::meeting(a, b);
        Self {
            a: Endpoint::new(&configs[0], Opening::Active),
            b: Endpoint::new(&configs[1], Opening::Passive),
            configs,
            now: Time::ZERO,
            log: Vec::new(),
            sacks: SegmentOptions::new(),
            late: None,
            delay: Duration::from_millis(50),
            rule: Box::new(rule),
            arrivals: BinaryHeap::new(),
            arrived: Vec::new(),
            steps_left: MOST_STEPS,
            sent: [0; 2],
            copies: BTreeMap::new(),
        }
    }

    /// `A` has `bytes` to send from the start; nothing is lost.
    pub(crate) fn sending(config: &Config, bytes: u64) -> Self {
        Self::sending_over(config, bytes, |_| Fate::Deliver)
    }

    /// `A` has `bytes` to send from the start.
    pub(crate) fn sending_over(
        config: &Config,
        bytes: u64,
        rule: impl FnMut(&Sent) -> Fate + 'a,
    ) -> Self {
        let mut pair = Self::new(config, rule);
        pair.a.write(bytes);
        pair
    }

    /// Runs until nothing is in flight and no timer runs.
    pub(crate) fn run(&mut self) {
        while self.step(Time::NEVER) {}
    }

    /// Runs until everything up to and including `millis` has happened.
    pub(crate) fn run_until(&mut self, millis: u64) {
        while self.step(at(millis)) {}
        self.now = at(millis);
    }

    /// Sends what may be sent now and advances to the next arrival or deadline, arrivals first.
    /// Returns false if there is none up to `end`. [`Self::take_arrived`] returns the segments that
    /// arrived.
    pub(crate) fn step(&mut self, end: Time) -> bool {
        self.flush();
        let arrival = self.arrivals.peek().map_or(Time::NEVER, |Reverse((time, ..))| *time);
        let next = arrival.min(self.a.poll_timer()).min(self.b.poll_timer());
        if next == Time::NEVER || next > end {
            return false;
        }
        self.now = self.now.max(next);
        assert!(self.steps_left > 0, "no end in sight");
        self.steps_left -= 1;
        if arrival == next {
            let Reverse((_, index, to)) = self.arrivals.pop().expect("an arrival was seen");
            let segment = self.log[index].0.segment;
            let at = self.configs[to as usize].at(self.now);
            match to {
                End::A => drop(self.a.on_segment(at, &segment, &self.sacks)),
                End::B if self.late.is_some() => self.arrive_late(&segment),
                End::B => drop(self.b.on_segment(at, &segment, &self.sacks)),
            }
            self.arrived.push(index);
        } else {
            self.a.on_timer(self.configs[0].at(self.now));
            self.b.on_timer(self.configs[1].at(self.now));
        }
        self.flush();
        true
    }

    /// Returns the log entries that arrived since the last call.
    pub(crate) fn take_arrived(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.arrived)
    }

    /// Returns what was sent since `millis`, one line per segment.
    pub(crate) fn transcript_since(&self, millis: u64) -> String {
        let mut text = String::new();
        for (sent, fate) in self.log.iter().filter(|(sent, _)| sent.time >= at(millis)) {
            let time = sent.time.as_nanos();
            write!(text, "{}", time / 1_000_000).expect("a String takes all");
            if time % 1_000_000 != 0 {
                write!(text, ".{:06}", time % 1_000_000).expect("a String takes all");
            }
            write!(text, " {:?} {}", sent.from, sent.segment).expect("a String takes all");
            for (index, block) in self.sacks.blocks(&sent.segment).iter().enumerate() {
                let word = if index == 0 { " sack" } else { "" };
                write!(text, "{word} {}:{}", block.start, block.end).expect("a String takes all");
            }
            text += if *fate == Fate::Lose { " lost\n" } else { "\n" };
        }
        text
    }

    /// Asserts the transcript since `millis`.
    #[track_caller]
    pub(crate) fn expect_since(&self, millis: u64, transcript: &str) {
        let expected: String = transcript
            .lines()
            .map(|line| line.split("//").next().unwrap_or_default().trim())
            .filter(|line| !line.is_empty())
            .map(|line| format!("{line}\n"))
            .collect();
        let sent = self.transcript_since(millis);
        assert!(sent == expected, "expected:\n{expected}\nsent:\n{sent}");
    }

    /// Asserts the whole transcript.
    #[track_caller]
    pub(crate) fn expect(&self, transcript: &str) {
        self.expect_since(0, transcript);
    }

    pub(crate) fn flush(&mut self) {
        for end in [End::A, End::B] {
            let mut burst = 0;
            while let Some(segment) = match end {
                End::A => self.a.poll_transmit(self.configs[0].at(self.now), &mut self.sacks),
                End::B => self.b.poll_transmit(self.configs[1].at(self.now), &mut self.sacks),
            } {
                burst += 1;
                assert!(burst < 100_000, "an endpoint never stops sending");
                self.send(end, segment);
            }
        }
    }

    pub(crate) fn send(&mut self, from: End, segment: Segment) {
        let segment = if from == End::B { self.with_window(segment) } else { segment };
        let copies = self.copies.entry((from, segment.seq, segment.len)).or_default();
        let (index, copy) = (self.sent[from as usize], *copies);
        self.sent[from as usize] += 1;
        *copies += 1;
        let mut sent = Sent { time: self.now, from, index, segment, copy };
        let fate = (self.rule)(&sent);
        if fate == Fate::Mark && segment.flags.contains(Flags::ECT) {
            sent.segment.flags = segment.flags | Flags::CE;
        }
        let to = if from == End::A { End::B } else { End::A };
        let lateness: &[Duration] = match &fate {
            Fate::Deliver | Fate::Mark => &[Duration::ZERO],
            Fate::Lose => &[],
            Fate::Late(lateness) => lateness,
        };
        for &late in lateness {
            self.arrivals.push(Reverse((self.now + self.delay + late, self.log.len(), to)));
        }
        self.log.push((sent, fate));
    }
}
