//! Minstrel-HT: a sender finds its MCS by trial.
//!
//! Each sender keeps the success probability of MPDUs at each rate for each receiver, averaged over
//! intervals of 100 ms with a weight of 75 % for the past. It uses the rate with the highest
//! expected throughput. A PPDU without a response falls back to the second best rate after two
//! tries, and to the most reliable after four. One PPDU in ten is a sample: a single MPDU at
//! another rate that might be better. The algorithm follows the documentation of Linux' mac80211;
//! the code is this crate's own. Linux 6 itself (`minstrel_ht_alloc`) has intervals of 50 ms; its
//! weight is 96 of 128, as here.
//!
//! Rates are numbered from the lowest. The algorithm does not use the SNR, and does not distinguish
//! collisions from errors.
//!
//! ns-3 3.44 (`MinstrelHtWifiManager`) has other rules, see [`MinstrelRules::Ns3`].

use airtcp_kernel::{Duration, RandomStream, Time};
use serde::Deserialize;

const INTERVAL: Duration = Duration::from_millis(100);
const NS3_INTERVAL: Duration = Duration::from_millis(50);
/// The weight of the past in the averages.
const PAST: f64 = 0.75;
/// One PPDU in this many is a sample.
const SAMPLE_EVERY: u32 = 10;
/// The number of PPDUs without a response before the next rate of the chain is tried.
const TRIES: u32 = 2;
/// A rate with a lower success probability is not used.
const LEAST_SHARE: f64 = 0.1;
/// From this success probability on, rates count as equally reliable: the other losses are
/// collisions.
const RELIABLE: f64 = 0.95;
/// The same in ns-3, which counts no higher success probability than `NS3_MOST_SHARE`.
const NS3_RELIABLE: f64 = 0.75;
const NS3_MOST_SHARE: f64 = 0.9;
/// After this many intervals a rate is sampled even if it cannot be better; in ns-3 at most
/// `NS3_SLOW` of these rates in an interval.
const STALE: u32 = 20;
const NS3_SLOW: u32 = 2;
/// In ns-3 this many PPDUs, and two for each MPDU of the average A-MPDU, are between samples. The
/// first samples follow each other.
const NS3_WAIT: u32 = 16;
const NS3_FIRST: u32 = 4;

/// The implementation whose rules Minstrel-HT follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MinstrelRules {
    /// Linux.
    #[default]
    Linux,
    /// ns-3: a sample is a whole A-MPDU, throughput is that of a single frame of 1200 bytes, and a
    /// PPDU that fails on each rate of the chain begins again with the first.
    #[serde(rename = "ns-3")]
    Ns3,
}

impl MinstrelRules {
    fn interval(self) -> Duration {
        match self {
            Self::Linux => INTERVAL,
            Self::Ns3 => NS3_INTERVAL,
        }
    }
}

/// The rates of a station that has rate control.
#[derive(Clone, Debug)]
pub struct RateControlConfig {
    /// The class of its first rate; the classes of the other rates follow.
    pub first_class: u32,
    /// The loss probability of 1500-byte MPDUs at each rate; bits are lost independently.
    pub error_rates: Vec<f64>,
    /// The rules of rate control.
    pub rules: MinstrelRules,
    /// The random streams of samples: of the access point and of the station.
    pub samples: [RandomStream; 2],
}

/// The cost of a rate: per access, and per MPDU of 1500 bytes. A PPDU with 1200 bytes takes `alone`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) access: Duration,
    pub(crate) mpdu: Duration,
    pub(crate) alone: Duration,
}

/// The rate of the next PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// Its index.
    pub(crate) rate: usize,
    /// Whether the PPDU must have only one MPDU.
    pub(crate) is_sample: bool,
}

/// A sender's rate control for one receiver.
#[derive(Debug)]
pub(crate) struct Minstrel {
    rules: MinstrelRules,
    rates: Vec<Rate>,
    /// The best rate, the second best, and the most reliable.
    chain: [usize; 3],
    /// The sampling order of rates, and the position in it.
    order: Vec<usize>,
    place: usize,
    since_sample: u32,
    /// In ns-3: PPDUs before the next sample, samples then, rates in this interval that were worth
    /// none, and whether the frames were first sent as a sample.
    wait: u32,
    due: u32,
    slow: u32,
    is_sampling: bool,
    /// Successive PPDUs without a response, and in ns-3 the rate of the last one.
    unanswered: u32,
    failed: usize,
    next_update: Time,
    /// MPDUs and PPDUs of this interval without samples of one MPDU, and their average ratio.
    interval: (u32, u32),
    mpdus_per_ppdu: f64,
    samples: RandomStream,
}

#[derive(Clone, Copy, Debug)]
struct Rate {
    cost: Cost,
    attempts: u32,
    successes: u32,
    /// The average success probability; `None` before the first try.
    share: Option<f64>,
    /// Intervals without a try.
    unused: u32,
}

impl Minstrel {
    /// Creates rate control with no knowledge of any rate.
    ///
    /// # Panics
    /// If there is no rate.
    pub(crate) fn new(costs: &[Cost], rules: MinstrelRules, samples: RandomStream) -> Self {
        assert!(!costs.is_empty(), "a station has a rate");
        let unused = if rules == MinstrelRules::Ns3 { 0 } else { STALE };
        let rate = |&cost| Rate { cost, attempts: 0, successes: 0, share: None, unused };
        Self {
            rules,
            rates: costs.iter().map(rate).collect(),
            chain: [0; 3],
            order: (0..costs.len()).collect(),
            place: costs.len(),
            since_sample: 0,
            wait: 0,
            due: NS3_FIRST,
            slow: 0,
            is_sampling: false,
            unanswered: 0,
            failed: 0,
            next_update: Time::ZERO + rules.interval(),
            interval: (0, 0),
            mpdus_per_ppdu: 1.0,
            samples,
        }
    }

    /// Chooses the rate of the PPDU that begins at `now`.
    pub(crate) fn choose(&mut self, now: Time) -> Choice {
        if now >= self.next_update {
            self.update(now);
        }
        if self.rules == MinstrelRules::Ns3 {
            return Choice { rate: self.rate_of_ns3(), is_sample: false };
        }
        let stage = (self.unanswered / TRIES).min(2) as usize;
        if stage == 0 && self.unanswered == 0 {
            self.since_sample += 1;
            if self.since_sample >= SAMPLE_EVERY
                && let Some(rate) = self.next_sample()
            {
                self.since_sample = 0;
                return Choice { rate, is_sample: true };
            }
        }
        Choice { rate: self.chain[stage], is_sample: false }
    }

    /// Chooses the rate of the next PPDU as ns-3 does.
    fn rate_of_ns3(&mut self) -> usize {
        if self.unanswered == 0 {
            let sample = self.next_sample_of_ns3();
            self.is_sampling = sample.is_some();
            self.wait = if self.is_sampling { self.wait } else { self.wait.saturating_sub(1) };
            return sample.unwrap_or(self.chain[0]);
        }
        // A sample stands for the tries at the first rate.
        let tries = self.unanswered + if self.is_sampling { TRIES - 1 } else { 0 };
        self.chain[(tries / TRIES).min(2) as usize]
    }

    /// Returns the next rate in random order if ns-3 would sample it now.
    fn next_sample_of_ns3(&mut self) -> Option<usize> {
        if self.wait > 0 || self.due == 0 {
            return None;
        }
        let rate = self.next_in_order();
        let Rate { cost, share, unused, .. } = self.rates[rate];
        if self.chain.contains(&rate) || share.is_some_and(|share| share > RELIABLE) {
            return None;
        }
        if cost.alone >= self.rates[self.chain[1]].cost.alone {
            self.slow += 1;
            if unused < STALE || self.slow > NS3_SLOW {
                return None;
            }
        }
        self.due -= 1;
        Some(rate)
    }

    /// Reports that `successes` of `attempts` MPDUs sent by this choice were acknowledged: 0 for a
    /// PPDU without a response.
    pub(crate) fn report(&mut self, choice: Choice, attempts: u32, successes: u32) {
        let rate = &mut self.rates[choice.rate];
        rate.attempts += attempts;
        rate.successes += successes;
        if !choice.is_sample {
            self.interval.0 += attempts;
            self.interval.1 += 1;
            self.unanswered = if successes == 0 { self.unanswered + 1 } else { 0 };
        }
        if self.rules == MinstrelRules::Ns3 {
            self.failed = choice.rate;
            if self.unanswered + u32::from(self.is_sampling) > 3 * TRIES {
                self.unanswered = 0;
            }
            if self.wait == 0 && self.due == 0 {
                (self.wait, self.due) = (NS3_WAIT + 2 * self.mpdus_per_ppdu as u32, 1);
            }
        }
    }

    /// Reports what the Block ACK to a request says of the last PPDU, which had no response. ns-3
    /// takes it for the result of another PPDU.
    pub(crate) fn report_late(&mut self, attempts: u32, successes: u32) {
        if self.rules == MinstrelRules::Ns3 {
            self.report(Choice { rate: self.failed, is_sample: false }, attempts, successes);
        }
    }

    /// Ends an interval.
    fn update(&mut self, now: Time) {
        while self.next_update <= now {
            self.next_update += self.rules.interval();
        }
        self.slow = 0;
        if self.interval.1 > 0 {
            let ratio = f64::from(self.interval.0) / f64::from(self.interval.1);
            self.mpdus_per_ppdu = PAST * self.mpdus_per_ppdu + (1.0 - PAST) * ratio;
        }
        self.interval = (0, 0);
        for rate in &mut self.rates {
            if rate.attempts == 0 {
                rate.unused = rate.unused.saturating_add(1);
                continue;
            }
            let share = f64::from(rate.successes) / f64::from(rate.attempts);
            // In ns-3 the average begins with the first success.
            let past = rate.share.filter(|&past| past > 0.0 || self.rules == MinstrelRules::Linux);
            rate.share = Some(past.map_or(share, |past| PAST * past + (1.0 - PAST) * share));
            (rate.attempts, rate.successes, rate.unused) = (0, 0, 0);
        }
        self.set_chain();
    }

    fn set_chain(&mut self) {
        // Of equal rates, choose the lower.
        let best_but = |but: Option<usize>| {
            let others = (0..self.rates.len()).filter(|&rate| Some(rate) != but);
            others.rev().max_by(|&a, &b| self.throughput(a).total_cmp(&self.throughput(b)))
        };
        let first = best_but(None).unwrap_or(0);
        let second = best_but(Some(first)).unwrap_or(first);
        let share = |rate: usize| self.rates[rate].share.unwrap_or(0.0);
        let least = if self.rules == MinstrelRules::Ns3 { NS3_RELIABLE } else { RELIABLE };
        let reliable = (0..self.rates.len()).filter(|&rate| share(rate) >= least);
        let by_throughput =
            |&a: &usize, &b: &usize| self.throughput(a).total_cmp(&self.throughput(b));
        let most_reliable = || {
            (0..self.rates.len()).rev().max_by(|&a, &b| share(a).total_cmp(&share(b))).unwrap_or(0)
        };
        self.chain = [first, second, reliable.max_by(by_throughput).unwrap_or_else(most_reliable)];
    }

    /// Returns the expected MPDUs per second at a rate with the average aggregate size.
    fn throughput(&self, rate: usize) -> f64 {
        let most = if self.rules == MinstrelRules::Ns3 { NS3_MOST_SHARE } else { 1.0 };
        match self.rates[rate].share {
            Some(share) if share >= LEAST_SHARE => share.min(most) * self.most(rate),
            _ => 0.0,
        }
    }

    /// Returns the MPDUs per second at a rate without losses.
    fn most(&self, rate: usize) -> f64 {
        let Cost { access, mpdu, alone } = self.rates[rate].cost;
        if self.rules == MinstrelRules::Ns3 {
            return 1.0 / alone.as_secs_f64();
        }
        1.0 / (access.as_secs_f64() / self.mpdus_per_ppdu.max(1.0) + mpdu.as_secs_f64())
    }

    /// Returns the next rate in random order that is worth a sample.
    fn next_sample(&mut self) -> Option<usize> {
        let best = self.throughput(self.chain[0]);
        for _ in 0..self.rates.len() {
            let rate = self.next_in_order();
            let could_be_better = self.most(rate) > best || self.rates[rate].unused >= STALE;
            if rate != self.chain[0] && could_be_better {
                return Some(rate);
            }
        }
        None
    }

    fn next_in_order(&mut self) -> usize {
        if self.place == self.order.len() {
            self.shuffle();
        }
        self.place += 1;
        self.order[self.place - 1]
    }

    fn shuffle(&mut self) {
        for last in (1..self.order.len()).rev() {
            let other = self.samples.up_to(last as u32) as usize;
            self.order.swap(last, other);
        }
        self.place = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates Minstrel for 802.11n at 20 MHz with the short guard interval: 1544 bytes at 7.2 to
    /// 72.2 Mb/s, and 200 us per access.
    fn minstrel(rules: MinstrelRules) -> Minstrel {
        let costs = [1, 2, 3, 4, 6, 8, 9, 10].map(|times| Cost {
            access: Duration::from_micros(200),
            mpdu: Duration::from_nanos(12_352 * 1_000_000 / (7_222 * times)),
            alone: Duration::from_nanos(36_000 + 9_622 * 1_000_000 / (7_222 * times)),
        });
        Minstrel::new(&costs, rules, RandomStream::new(1, 0, "sta/0", "rate control"))
    }

    /// Sends a PPDU of 30 MPDUs every 5 ms from `from_ms` to `to_ms`, with these loss
    /// probabilities. Returns the number of PPDUs at each rate in the last second.
    fn run(minstrel: &mut Minstrel, errors: &[f64; 8], from_ms: u64, to_ms: u64) -> [u32; 8] {
        let mut draws = RandomStream::new(2, 0, "sta/0", "frame errors");
        let mut sent = [0; 8];
        for ms in (from_ms..to_ms).step_by(5) {
            let choice = minstrel.choose(Time::from_nanos(ms * 1_000_000));
            let mpdus = if choice.is_sample { 1 } else { 30 };
            let lost = (0..mpdus).filter(|_| draws.unit() < errors[choice.rate]).count() as u32;
            minstrel.report(choice, mpdus, mpdus - lost);
            sent[choice.rate] += u32::from(ms + 1_000 >= to_ms);
        }
        sent
    }

    /// Of 200 PPDUs a second, one in ten is a sample. MCS 7 has 1.11 times the rate of MCS 6. With
    /// a loss of 20 %, MCS 6 is better (200 / 30 us of access and 190.0 us per MPDU: 196.7; 177.7 /
    /// 0.8 = 222.1). With 5 %, MCS 7 is better (187.0). Two lucky samples in an interval can
    /// overrate MCS 7, which is then used until the next interval. This costs less than a third of
    /// the time.
    #[test]
    fn it_finds_the_best_rate() {
        for (loss, best, least) in [(0.2, 6, 133), (0.05, 7, 170)] {
            let mut minstrel = minstrel(MinstrelRules::Linux);
            let sent = run(&mut minstrel, &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, loss], 0, 5_000);

            assert_eq!(minstrel.chain[0], best, "{sent:?}");
            assert!(sent[best] >= least, "{sent:?}");
        }
    }

    /// If everything is lost at all rates, each has an expected throughput of zero.
    #[test]
    fn of_equal_rates_it_takes_the_lowest() {
        let mut minstrel = minstrel(MinstrelRules::Linux);
        run(&mut minstrel, &[0.0; 8], 0, 3_000);
        run(&mut minstrel, &[1.0; 8], 3_000, 20_000);

        assert_eq!(minstrel.chain[..2], [0, 1]);
    }

    /// Rates that worked lose everything at once. The rate falls within half a second, and rises
    /// again later.
    #[test]
    fn it_follows_what_changes() {
        let mut minstrel = minstrel(MinstrelRules::Linux);
        let good = [0.0; 8];
        let bad = [0.0, 0.0, 0.05, 0.9, 1.0, 1.0, 1.0, 1.0];
        run(&mut minstrel, &good, 0, 3_000);
        assert_eq!(minstrel.chain[0], 7);

        run(&mut minstrel, &bad, 3_000, 6_000);
        assert_eq!(minstrel.chain[0], 2);

        run(&mut minstrel, &good, 6_000, 10_000);
        assert_eq!(minstrel.chain[0], 7);
    }

    #[test]
    fn without_an_answer_it_goes_down_the_chain() {
        let mut minstrel = minstrel(MinstrelRules::Linux);
        run(&mut minstrel, &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.08, 0.3], 0, 5_000);
        let [best, second, reliable] = minstrel.chain;
        assert_eq!([best, second, reliable], [6, 5, 5]);
        minstrel.since_sample = 0;

        let mut tried = Vec::new();
        for _ in 0..6 {
            let choice = minstrel.choose(Time::from_nanos(5_000_000_000));
            tried.push(choice.rate);
            minstrel.report(choice, 30, 0);
        }
        assert_eq!(tried, [6, 6, 5, 5, 5, 5]);
    }

    /// Of 200 PPDUs a second, ns-3 samples one in 77 (16, two for each of 30 MPDUs, and itself), and
    /// MCS 6 and 7, which differ by 8 % in the time of 1200 bytes, both count as lossless.
    #[test]
    fn ns3_samples_whole_ppdus_and_seldom() {
        let mut minstrel = minstrel(MinstrelRules::Ns3);
        let mut errors = [0.0; 8];
        errors[7] = 0.05;
        let sent = run(&mut minstrel, &errors, 0, 20_000);

        assert_eq!(minstrel.chain[..2], [7, 6]);
        assert!(sent[7] >= 195, "{sent:?}");
        assert!(!minstrel.choose(Time::from_nanos(20_000_000_000)).is_sample);
    }

    /// A PPDU without a response, and the Block ACK to a request that says the same, are two
    /// failures. After seven, frames begin again with the best rate.
    #[test]
    fn ns3_counts_a_lost_ppdu_twice() {
        let mut minstrel = minstrel(MinstrelRules::Ns3);
        (minstrel.chain, minstrel.wait, minstrel.due) = ([7, 6, 4], 1_000, 0);

        let mut tried = Vec::new();
        for _ in 0..8 {
            let choice = minstrel.choose(Time::ZERO);
            tried.push(choice.rate);
            minstrel.report(choice, 30, 0);
            if tried.len() == 1 {
                minstrel.report_late(30, 0);
            }
        }
        assert_eq!(tried, [7, 6, 6, 4, 4, 4, 7, 7]);
    }
}
