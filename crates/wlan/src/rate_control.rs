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

use airtcp_kernel::{Duration, RandomStream, Time};

const INTERVAL: Duration = Duration::from_millis(100);
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
/// After this many intervals a rate is sampled even if it cannot be better.
const STALE: u32 = 20;

/// The rates of a station that has rate control.
#[derive(Clone, Debug)]
pub struct RateControlConfig {
    /// The class of its first rate; the classes of the other rates follow.
    pub first_class: u32,
    /// The loss probability of 1500-byte MPDUs at each rate; bits are lost independently.
    pub error_rates: Vec<f64>,
    /// The random streams of samples: of the access point and of the station.
    pub samples: [RandomStream; 2],
}

/// The cost of a rate: per access, and per MPDU of 1500 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) access: Duration,
    pub(crate) mpdu: Duration,
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
    rates: Vec<Rate>,
    /// The best rate, the second best, and the most reliable.
    chain: [usize; 3],
    /// The sampling order of rates, and the position in it.
    order: Vec<usize>,
    place: usize,
    since_sample: u32,
    /// Successive PPDUs without a response.
    unanswered: u32,
    next_update: Time,
    /// MPDUs and PPDUs of this interval without samples, and their average ratio.
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
    pub(crate) fn new(costs: &[Cost], samples: RandomStream) -> Self {
        assert!(!costs.is_empty(), "a station has a rate");
        let rate = |&cost| Rate { cost, attempts: 0, successes: 0, share: None, unused: STALE };
        Self {
            rates: costs.iter().map(rate).collect(),
            chain: [0; 3],
            order: (0..costs.len()).collect(),
            place: costs.len(),
            since_sample: 0,
            unanswered: 0,
            next_update: Time::ZERO + INTERVAL,
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
    }

    /// Ends an interval.
    fn update(&mut self, now: Time) {
        while self.next_update <= now {
            self.next_update += INTERVAL;
        }
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
            rate.share = Some(rate.share.map_or(share, |past| PAST * past + (1.0 - PAST) * share));
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
        let reliable = (0..self.rates.len()).filter(|&rate| share(rate) >= RELIABLE);
        let by_throughput =
            |&a: &usize, &b: &usize| self.throughput(a).total_cmp(&self.throughput(b));
        let most_reliable = || {
            (0..self.rates.len()).rev().max_by(|&a, &b| share(a).total_cmp(&share(b))).unwrap_or(0)
        };
        self.chain = [first, second, reliable.max_by(by_throughput).unwrap_or_else(most_reliable)];
    }

    /// Returns the expected MPDUs per second at a rate with the average aggregate size.
    fn throughput(&self, rate: usize) -> f64 {
        match self.rates[rate].share {
            Some(share) if share >= LEAST_SHARE => share * self.most(rate),
            _ => 0.0,
        }
    }

    /// Returns the MPDUs per second at a rate without losses.
    fn most(&self, rate: usize) -> f64 {
        let Cost { access, mpdu } = self.rates[rate].cost;
        1.0 / (access.as_secs_f64() / self.mpdus_per_ppdu.max(1.0) + mpdu.as_secs_f64())
    }

    /// Returns the next rate in random order that is worth a sample.
    fn next_sample(&mut self) -> Option<usize> {
        let best = self.throughput(self.chain[0]);
        for _ in 0..self.rates.len() {
            if self.place == self.order.len() {
                self.shuffle();
            }
            let rate = self.order[self.place];
            self.place += 1;
            let could_be_better = self.most(rate) > best || self.rates[rate].unused >= STALE;
            if rate != self.chain[0] && could_be_better {
                return Some(rate);
            }
        }
        None
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
    fn minstrel() -> Minstrel {
        let costs = [1, 2, 3, 4, 6, 8, 9, 10].map(|times| Cost {
            access: Duration::from_micros(200),
            mpdu: Duration::from_nanos(12_352 * 1_000_000 / (7_222 * times)),
        });
        Minstrel::new(&costs, RandomStream::new(1, 0, "sta/0", "rate control"))
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
            let mut minstrel = minstrel();
            let sent = run(&mut minstrel, &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, loss], 0, 5_000);

            assert_eq!(minstrel.chain[0], best, "{sent:?}");
            assert!(sent[best] >= least, "{sent:?}");
        }
    }

    /// Rates that worked lose everything at once. The rate falls within half a second, and rises
    /// again later.
    #[test]
    fn it_follows_what_changes() {
        let mut minstrel = minstrel();
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
        let mut minstrel = minstrel();
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
}
