//! The fast path for segments with timestamps (RFC 7323) and no other option or mark: nearly all
//! that Linux sends.
//!
//! Everything else goes to the [slow paths](super::aside). The option itself is in
//! [`marks`](crate::marks).

use super::Endpoint;
use crate::handshake::State;
use crate::receiver::AckOwed;
use crate::{At, Flags, Segment, SegmentOptions};

impl Endpoint {
    /// Like [`Self::on_segment`], but with the path for timestamps inlined and the other paths as
    /// calls.
    #[inline(always)]
    pub fn on_stamped_segment(
        &mut self,
        at: At<'_>,
        segment: &Segment,
        options: &SegmentOptions,
    ) -> u64 {
        if self.state == State::Stamped {
            self.take_stamped(at, segment, options)
        } else {
            self.take_otherwise(at, segment, options)
        }
    }

    /// Like [`Self::poll_one`], but with the path for timestamps inlined and the other paths as
    /// calls.
    #[inline(always)]
    pub fn poll_one_stamped(
        &mut self,
        at: At<'_>,
        options: &mut SegmentOptions,
    ) -> Option<(Segment, bool)> {
        if self.state == State::Stamped {
            self.poll_stamped(at, options)
        } else {
            self.poll_otherwise(at, options)
        }
    }

    /// Handles [`Self::on_segment`] in all states except the one without options.
    #[inline(never)]
    pub(super) fn take_otherwise(
        &mut self,
        at: At<'_>,
        segment: &Segment,
        options: &SegmentOptions,
    ) -> u64 {
        match self.state {
            State::Stamped => self.take_stamped(at, segment, options),
            State::Established => self.take(at, segment, options),
            _ => self.take_aside(at, segment, options),
        }
    }

    /// Handles [`Self::poll_one`] in the same states.
    #[inline(never)]
    pub(super) fn poll_otherwise(
        &mut self,
        at: At<'_>,
        options: &mut SegmentOptions,
    ) -> Option<(Segment, bool)> {
        match self.state {
            State::Stamped => self.poll_stamped(at, options),
            State::Established => self.poll_established(at, options),
            _ => self.poll_aside(at, options).map(|segment| (segment, true)),
        }
    }

    /// Processes a segment of an established connection with timestamps. Returns the number of
    /// payload bytes that the application gets.
    #[inline(always)]
    fn take_stamped(&mut self, at: At<'_>, segment: &Segment, options: &SegmentOptions) -> u64 {
        let Self { sender, receiver, marks: Some(marks), .. } = self else {
            return self.take_aside(at, segment, options);
        };
        if !segment.has_stamps_alone() {
            return self.take_aside(at, segment, options);
        }
        if segment.ack > sender.tcb.snd_max {
            // RFC 9293 section 3.10.7.4, as on the slow paths.
            return 0;
        }
        let stamps = options.stamps_of(segment);
        let rtt = marks.on_stamps(at.now, stamps, segment.seq, receiver.acknowledged());
        if sender.tcb.is_news(segment.ack) {
            sender.tcb.rtt.on_echo(at.config, rtt);
        }
        if segment.len > 0 && at.config.delayed_ack.adaptive {
            receiver.on_sender_echo(rtt);
        }
        sender.on_stamped_ack(at, segment.ack, segment.len == 0);
        if segment.len == 0 {
            return 0;
        }
        let came = receiver.on_data(at, segment.seq, segment.end());
        if segment.flags.contains(Flags::PSH) {
            receiver.on_push(at.config);
        }
        came
    }

    /// Returns the next segment of a connection with timestamps, and whether there may be more.
    #[inline(always)]
    fn poll_stamped(
        &mut self,
        at: At<'_>,
        options: &mut SegmentOptions,
    ) -> Option<(Segment, bool)> {
        let Self { sender, receiver, marks: Some(marks), .. } = self else {
            return self.poll_aside(at, options).map(|segment| (segment, true));
        };
        let (owed, next) = (receiver.ack_owed(), sender.tcb.snd_nxt);
        let data = if owed == AckOwed::Bare { None } else { sender.poll_stamped(at) };
        let (seq, len, more, pushes) = match (data, owed) {
            (Some((seq, len, more, pushes)), _) => (seq, len.get(), more, pushes),
            (None, AckOwed::Bare) => (next, 0, true, false),
            (None, AckOwed::Now) => (next, 0, false, false),
            (None, AckOwed::None | AckOwed::Until(_)) => return None,
        };
        if sender.tcb.closing || len == 0 && receiver.has_gap() {
            return Some((self.say_rarely(at, (seq, len), pushes, options), more));
        }
        sender.tcb.counters.segments_sent += 1;
        receiver.on_ack_sent(at.now);
        let flags = if pushes { Flags::ACK | Flags::PSH } else { Flags::ACK };
        let segment = Segment { seq, ack: receiver.rcv_nxt(), len, flags };
        let slot = options.keep(marks.timestamps(at.now));
        Some((slot.map_or(segment, |slot| segment.with_stamps_at(slot)), more))
    }

    /// Returns a segment with timestamps that may also have a FIN or SACK blocks.
    #[cold]
    #[inline(never)]
    fn say_rarely(
        &mut self,
        at: At<'_>,
        numbers: (u64, u32),
        pushes: bool,
        options: &mut SegmentOptions,
    ) -> Segment {
        let segment = self.say(at, numbers, pushes, options);
        let stamps = self.marks.as_ref().map(|marks| marks.timestamps(at.now));
        stamps.map_or(segment, |stamps| options.stamp(segment, stamps))
    }
}

#[cfg(test)]
mod tests {
    use airtcp_kernel::{Duration, Time};

    use super::*;
    use crate::{Config, DelayedAck, Opening, Segmentation, Timers, Variant};

    /// Returns a configuration like Linux's: RACK, timestamps, buffers, timer ticks, adaptive ACK
    /// delays.
    fn linux() -> Config {
        let forty = Duration::from_millis(40);
        let mut config = Config {
            variant: Variant::Rack,
            timestamps: true,
            receive_window: 60_000,
            clock_granularity: Duration::from_millis(4),
            delayed_ack: DelayedAck { adaptive: true, ..DelayedAck::every(2, forty) },
            ..Config::standard()
        };
        config.rules.timers = Timers::Linux;
        config.rules.segmentation = Segmentation::Linux;
        config
    }

    /// Sends a file over a path with 10 ms delay that loses the data segments for whose number
    /// `is_lost` returns true. Returns a transcript of all sent segments: time, ACK, option, and
    /// the timer's deadline.
    fn transcript(state: State, is_lost: fn(usize) -> bool) -> Vec<String> {
        let (config, mut options) = (linux(), SegmentOptions::new());
        let mut ends = [Opening::Active, Opening::Passive].map(|opening| {
            let mut end = Endpoint::new(&config, opening);
            end.state = state;
            end
        });
        ends[0].write(400_000);
        let (mut lines, mut under_way, mut data) = (Vec::new(), Vec::new(), 0);
        let mut now = Time::ZERO + Duration::from_secs(1);
        while ends[0].acked() < 400_000 {
            for (side, end) in ends.iter_mut().enumerate() {
                while let Some(segment) = end.poll_transmit(config.at(now), &mut options) {
                    let stamps = options.timestamps(&segment);
                    let expiry = end.poll_timer();
                    lines.push(format!("{now:?} {segment} {stamps:?} {expiry:?}"));
                    assert!(end.poll_timer_roughly() <= expiry);
                    data += usize::from(segment.len > 0);
                    if segment.len > 0 && is_lost(data) {
                        options.release(&segment);
                    } else {
                        // Some segments overtake earlier ones.
                        let late = Duration::from_micros(10_000 + 300 * (data as u64 % 7));
                        under_way.push((now + late, 1 - side, segment));
                    }
                }
            }
            let timers = ends.iter().map(Endpoint::poll_timer);
            now = under_way.iter().map(|one| one.0).chain(timers).min().expect("an event");
            while let Some(at) = under_way.iter().position(|one| one.0 <= now) {
                let (_, side, segment) = under_way.remove(at);
                ends[side].on_segment(config.at(now), &segment, &options);
                options.release(&segment);
            }
            ends.iter_mut().for_each(|end| end.on_timer(config.at(now)));
        }
        assert_eq!(options.under_way(), under_way.len());
        lines
    }

    #[test]
    fn the_short_way_ends_where_the_rare_ways_do() {
        // No losses; one of 37; part of a window; the tail of the file.
        let patterns: [fn(usize) -> bool; 4] = [
            |_| false,
            |data| data % 37 == 0,
            |data| (60..75).contains(&data),
            |data| (392..405).contains(&data),
        ];
        for is_lost in patterns {
            let (short, rare) =
                [State::Stamped, State::Marked].map(|state| transcript(state, is_lost)).into();
            assert!(short.len() > 400);
            assert_eq!(short, rare);
        }
    }
}
