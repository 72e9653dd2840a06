//! The way of segments that have timestamps (RFC 7323) and nothing else that is rare: nearly all that Linux sends.
//!
//! Knows what of the [rare ways](super::aside) is left then, and hands everything else to them. What the option does is in
//! [`marks`](crate::marks).

use airtcp_kernel::Time;

use super::Endpoint;
use crate::{Config, Flags, Segment, SegmentOptions};

impl Endpoint {
    /// Takes a segment of an established connection whose segments have timestamps. Returns how many bytes of payload the
    /// application gets.
    #[inline(never)]
    pub(super) fn take_stamped(
        &mut self,
        config: &Config,
        now: Time,
        segment: &Segment,
        options: &SegmentOptions,
    ) -> u64 {
        let Some(marks) = self.marks.as_deref_mut().filter(|_| segment.has_stamps_alone()) else {
            return self.take_aside(config, now, segment, options);
        };
        let Self { sender, receiver, .. } = self;
        if segment.ack > sender.tcb.snd_max() {
            // RFC 9293 section 3.10.7.4, as on the rare ways.
            return 0;
        }
        if let Some(rtt) = marks.on_segment(now, segment, options, receiver.acknowledged()) {
            if sender.tcb.is_news(segment.ack) {
                sender.tcb.rtt.on_echo(config, rtt);
            }
            if segment.len > 0 && config.delayed_ack.adaptive {
                receiver.on_sender_echo(rtt);
            }
        }
        sender.on_stamped_ack(config, now, segment.ack, segment.len == 0);
        if segment.len == 0 {
            return 0;
        }
        let came = receiver.on_data(config, now, segment.seq, segment.end());
        if segment.flags.contains(Flags::PSH) {
            receiver.on_push(config);
        }
        came
    }

    /// Returns the next segment of such a connection, and whether there may be more.
    #[inline(never)]
    pub(super) fn poll_stamped(
        &mut self,
        config: &Config,
        now: Time,
        options: &mut SegmentOptions,
    ) -> Option<(Segment, bool)> {
        let peer_window = self.sender.tcb.peer_window(config);
        let (segment, more) = self.poll_data(config, now, peer_window, options)?;
        let stamps = self.marks.as_ref().map(|marks| marks.timestamps(now));
        let stamped = stamps.map_or(segment, |stamps| options.stamp(segment, stamps));
        Some((stamped, more))
    }
}
