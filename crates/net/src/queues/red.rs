//! FIFO with random early detection (Floyd and Jacobson 1993): drops arrivals at random before the
//! queue is full, with a probability that rises with the average length.

use airtcp_kernel::{Duration, RandomStream, Time};
use serde::Deserialize;

use super::ack_filter::AckFilter;
use super::{Ask, Discipline, Fill, Fits, Inspect, Policy};
use crate::Packet;

/// The parameters of random early detection.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedConfig {
    /// No early drops while the average length, in packets, is below this.
    pub min_threshold: f64,
    /// All arrivals are dropped while the average length, in packets, is at least this.
    pub max_threshold: f64,
    /// The drop probability as the average approaches `max_threshold`.
    pub max_probability: f64,
    /// The weight of a new sample in the average.
    pub weight: f64,
    /// Transmission time of a typical packet. An idle period counts as one sample of length zero
    /// per packet that it had room for.
    #[serde(rename = "idle_packet_time_ns")]
    pub idle_packet_time: Duration,
    /// Whether to mark ECN-capable packets instead of dropping them early.
    pub ecn: bool,
}

impl RedConfig {
    /// Checks what the types cannot express.
    pub(super) fn check(&self) -> Result<(), String> {
        let thresholds = 0.0 <= self.min_threshold && self.min_threshold < self.max_threshold;
        let weight = 0.0 < self.weight && self.weight <= 1.0;
        let probability = 0.0 < self.max_probability && self.max_probability <= 1.0;
        if thresholds && weight && probability && self.idle_packet_time > Duration::ZERO {
            Ok(())
        } else {
            Err(format!("contradictory parameters: {self:?}"))
        }
    }
}

/// A queue with random early detection.
#[derive(Debug)]
pub(super) struct Red<B> {
    /// The packets, in order or per receiver.
    packets: Discipline<B>,
    detection: Detection,
}

impl<B> Red<B> {
    pub(super) fn new(config: RedConfig, stream: RandomStream, packets: Discipline<B>) -> Self {
        Self { packets, detection: Detection::new(config, stream) }
    }
}

impl<B: Inspect> Policy<B> for Red<B> {
    fn enqueue(
        &mut self,
        now: Time,
        mut packet: Packet<B>,
        fill: Fill,
        drops: &mut Vec<Packet<B>>,
    ) {
        let verdict = self.detection.judge(now, fill.len);
        let marks = verdict == Verdict::Early && self.detection.config.ecn && !fill.full;
        let is_marked = marks && packet.body.mark();
        if is_marked {
            self.detection.empty_since = None;
        }
        let full = fill.full || verdict != Verdict::Take && !is_marked;
        let fill = Fill { full, ..fill };
        self.packets.enqueue(now, packet, fill, drops);
    }

    #[inline(never)]
    fn next(&mut self, ask: &mut Ask<'_, B>, fits: impl Fits<B>) -> Option<Packet<B>> {
        self.packets.next(ask, fits)
    }

    fn receiver(&mut self, waiting: impl Iterator<Item = (u32, Option<Time>)>) -> Option<u32> {
        self.packets.receiver(waiting)
    }

    fn has_next_for(&self, receiver: u32) -> bool {
        self.packets.has_next_for(receiver)
    }

    fn charge(&mut self, now: Time, to: u32, airtime: Duration) {
        self.packets.charge(now, to, airtime);
    }

    fn on_empty(&mut self, now: Time) {
        self.detection.on_empty(now);
    }

    fn filter(&mut self, rule: AckFilter, newer: &Packet<B>) -> Option<Packet<B>> {
        self.packets.filter(rule, newer)
    }

    fn iter(&self) -> Box<dyn Iterator<Item = &Packet<B>> + '_> {
        self.packets.iter()
    }
}

/// What happens to an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Take,
    /// Signal congestion with this packet: mark or drop it. RFC 3168, section 7: a queue marks
    /// "rather than" drops below the upper threshold.
    Early,
    /// The average is above the upper threshold: drop in any case.
    Drop,
}

/// The algorithm that judges arrivals, from queue lengths and times only.
#[derive(Debug)]
struct Detection {
    config: RedConfig,
    average: f64,
    /// Packets since the last early drop; `None` while the average is below both thresholds.
    since_drop: Option<u32>,
    empty_since: Option<Time>,
    stream: RandomStream,
}

impl Detection {
    fn new(config: RedConfig, stream: RandomStream) -> Self {
        Self { config, average: 0.0, since_drop: None, empty_since: Some(Time::ZERO), stream }
    }

    /// Judges a packet that arrives when the queue has `len` packets.
    fn judge(&mut self, now: Time, len: usize) -> Verdict {
        if let Some(since) = self.empty_since.take() {
            let missed = (now - since) / self.config.idle_packet_time;
            self.average *= libm::pow(1.0 - self.config.weight, missed as f64);
        }
        self.average += self.config.weight * (len as f64 - self.average);
        let verdict = self.decides();
        if verdict != Verdict::Take && len == 0 {
            // The queue stays empty unless the packet is marked. Its idle time continues, otherwise
            // the average would never decay.
            self.empty_since = Some(now);
        }
        verdict
    }

    /// Judges the arrival at the current average.
    fn decides(&mut self) -> Verdict {
        let RedConfig { min_threshold, max_threshold, max_probability, .. } = self.config;
        if self.average < min_threshold {
            self.since_drop = None;
            return Verdict::Take;
        }
        if self.average >= max_threshold {
            self.since_drop = Some(0);
            return Verdict::Drop;
        }
        let count = self.since_drop.map_or(0, |count| count + 1);
        let share = (self.average - min_threshold) / (max_threshold - min_threshold);
        let initial = max_probability * share;
        // Spread drops evenly: the gap between two drops is uniform, not geometric.
        let rest = 1.0 - f64::from(count) * initial;
        let drops = rest <= 0.0 || self.stream.unit() <= initial / rest;
        self.since_drop = Some(if drops { 0 } else { count });
        if drops { Verdict::Early } else { Verdict::Take }
    }

    /// Records that the queue became empty.
    fn on_empty(&mut self, now: Time) {
        self.empty_since = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn red(weight: f64) -> Detection {
        let config = RedConfig {
            min_threshold: 5.0,
            max_threshold: 15.0,
            max_probability: 0.1,
            weight,
            idle_packet_time: Duration::from_millis(1),
            ecn: false,
        };
        Detection::new(config, RandomStream::new(1, 0, "ap", "red"))
    }

    impl Detection {
        fn drops(&mut self, now: Time, len: usize) -> bool {
            self.judge(now, len) != Verdict::Take
        }
    }

    #[test]
    fn a_short_queue_loses_nothing_and_a_long_one_everything() {
        let mut red = red(1.0);

        assert!((0..1_000).all(|_| !red.drops(Time::ZERO, 4)));
        assert!((0..1_000).all(|_| red.drops(Time::ZERO, 15)));
    }

    /// Halfway between the thresholds the probability is 0.05. After a drop the chances are 1/19,
    /// 1/18, ..., so the gap is uniform over 1 .. 19, with mean 10 and standard deviation 5.48. Of
    /// 20000 packets 2000 are dropped, ± 4 * 2000^(1/2) * 5.48 / 10 = 98.
    #[test]
    fn between_the_thresholds_drops_are_spread_evenly() {
        let mut red = red(1.0);
        let mut gaps = Vec::new();
        let mut gap = 0;
        for _ in 0..20_000 {
            gap += 1;
            if red.drops(Time::ZERO, 10) {
                gaps.push(gap);
                gap = 0;
            }
        }

        assert!(gaps.len().abs_diff(2_000) < 98, "{}", gaps.len());
        assert!(gaps.iter().all(|&gap| gap <= 19), "{:?}", gaps.iter().max());
    }

    /// Halfway between the thresholds a count of 19 makes a drop certain, with probability
    /// 0.05 / (1 - 19 * 0.05), which is 1. An average below the thresholds leaves a count of 0, probability 0.05; a forced drop
    /// leaves a count of 1, probability 0.05 / 0.95.
    #[test]
    fn the_count_since_the_last_drop_begins_anew_below_and_above_the_thresholds() {
        let after = |lengths: &[usize]| {
            let mut red = Detection { since_drop: Some(18), ..red(1.0) };
            lengths.iter().map(|&len| red.drops(Time::ZERO, len)).collect::<Vec<_>>()
        };

        assert_eq!(after(&[10]), [true]);
        assert_eq!(after(&[4, 10]), [false, false]);
        assert_eq!(after(&[15, 10]), [true, false]);
    }

    /// After three idle packet times 0.5^3 of the average is left.
    #[test]
    fn an_empty_queue_forgets() {
        let mut red = red(0.5);
        red.drops(Time::ZERO, 8);
        assert_eq!(red.average, 4.0);
        red.on_empty(Time::ZERO);

        red.drops(Time::ZERO + Duration::from_micros(3_500), 0);

        assert_eq!(red.average, 4.0 * 0.125 * 0.5);
    }

    /// One packet time and an arrival leave a quarter of the average; two packet times and an
    /// arrival leave an eighth.
    #[test]
    fn an_empty_queue_that_drops_goes_on_forgetting() {
        let mut red = Detection { average: 64.0, empty_since: Some(Time::ZERO), ..red(0.5) };
        let at = |ms| Time::ZERO + Duration::from_millis(ms);

        assert!(red.drops(at(1), 0), "64 becomes 16");
        assert_eq!(red.average, 16.0);
        assert!(!red.drops(at(3), 0), "16 becomes 2");
        assert_eq!(red.average, 2.0);
    }
}
