//! How new data is divided: Linux's buffers of several segments (GSO), which the device or the last
//! step before it splits.
//!
//! It decides how many segments share a buffer, when a buffer waits for more, and that its last
//! segment carries PSH, as in `tcp_tso_autosize`, `tcp_tso_should_defer` and `__tcp_transmit_skb`
//! of Linux version 6. It also decides which segments carry PSH without buffers (`forced_push`).
//! What an application writes counts as one piece.

use airtcp_kernel::Duration;

use super::rack::Rack;
use super::tcb::{Tcb, Usage};
use crate::receiver::FIRST_BYTE;
use crate::{At, Config, Segmentation};

/// A buffer lasts this fraction of a second at the pacing rate: `sk_pacing_shift` 10.
const BUFFERS_PER_SECOND: u64 = 1 << 10;
/// The largest buffer in bytes: `sk_gso_max_size`.
const LARGEST: u64 = 1 << 16;
/// Paths with a short RTT get larger buffers: the addition halves with each this many nanoseconds
/// of RTT (`tcp_tso_rtt_log` 9).
const HALVED_EACH_NS: u64 = 512_000;
/// The smallest buffer in segments, `tcp_min_tso_segs`.
const LEAST_SEGMENTS: u64 = 2;
/// A sender waits to fill a buffer, but not if it has been silent for this long.
const PATIENCE: Duration = Duration::from_millis(1);
/// Nor if it may send this fraction of the window: `tcp_tso_win_divisor`.
const PART_OF_WINDOW: u64 = 3;

/// The buffer being sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Buffer {
    /// Segments of it that are not sent yet.
    left: u64,
    /// Whether it contains several segments.
    is_shared: bool,
    /// Whether the segment just sent carries PSH.
    pushes: bool,
    /// The round trip of the handshake, which Linux includes in its minimum RTT.
    handshake: Option<Duration>,
}

impl Buffer {
    /// Counts a segment of new data that is sent; `is_last`: there is no more data.
    pub(super) fn on_sent(&mut self, is_last: bool) {
        if self.left > 0 {
            self.left -= 1;
            self.pushes = is_last || self.left == 0 && self.is_shared;
        }
    }

    /// Records the round trip of the handshake.
    pub(super) fn note_handshake(&mut self, rtt: Option<Duration>) {
        self.handshake = rtt;
    }

    /// Returns whether the segment just sent carries PSH, and resets the flag.
    #[inline]
    pub(super) fn takes_push(&mut self) -> bool {
        std::mem::take(&mut self.pushes)
    }

    fn fill(&mut self, segments: u64) {
        *self = Self { left: segments, is_shared: segments > 1, pushes: false, ..*self };
    }
}

/// Returns the buffer size in bytes for this pacing rate and minimum RTT.
fn size_at(pace: Option<u64>, min_rtt: Option<Duration>) -> u64 {
    let Some(pace) = pace else { return LARGEST };
    let halvings = min_rtt.map_or(u64::from(u64::BITS), |rtt| rtt.as_nanos() / HALVED_EACH_NS);
    let more = u32::try_from(halvings).ok().and_then(|by| LARGEST.checked_shr(by)).unwrap_or(0);
    (pace / BUFFERS_PER_SECOND + more).min(LARGEST)
}

/// Whether `segments` segments fit into the room, the data, and half of the window, the most that a
/// buffer takes (`tcp_cwnd_test`). Avoids divisions.
#[inline]
fn fits(segments: u64, mss: u64, room: u64, cwnd: u64, unsent: u64) -> bool {
    let bytes = segments * mss;
    room >= bytes && cwnd >= 2 * bytes && unsent > bytes - mss
}

impl Tcb {
    /// Whether a segment of `len` bytes from `seq` carries PSH if there are no buffers. RFC 9293
    /// section 3.9.1.2 wants PSH on the last segment ("there is no more queued data to be sent").
    /// Linux's `forced_push` also sets it when more than half of the peer's largest window was
    /// filled since the last PSH. A retransmission carries it again.
    #[inline]
    pub(super) fn asks_alone(&self, config: &Config, seq: u64, len: u64) -> bool {
        config.rules.segmentation == Segmentation::LinuxSingle
            && len > 0
            && self.fills_half_a_window(config, seq, seq + len)
    }

    #[inline(never)]
    fn fills_half_a_window(&self, config: &Config, seq: u64, end: u64) -> bool {
        let mss = u64::from(config.mss);
        let half = (config.peer_window() / 2 / mss + 1) * mss;
        let before = |number: u64| (number - FIRST_BYTE) / half;
        self.is_end(end) || before(end) > before(seq)
    }
}

impl Rack {
    /// Starts a buffer unless one is being sent. Returns false if it is better to wait until more
    /// than `room` bytes may be sent.
    #[inline]
    pub(super) fn fill_buffer(&mut self, tcb: &mut Tcb, at: At<'_>, room: u64) -> bool {
        self.buffer.left > 0
            || at.config.rules.segmentation != Segmentation::Linux
            || self.begin_buffer(tcb, at, room)
    }

    /// Starts a buffer; see [`Self::fill_buffer`].
    // If the room allows only the smallest buffer, as it usually does, the size is not computed,
    // which saves a division and a call.
    #[inline(never)]
    fn begin_buffer(&mut self, tcb: &mut Tcb, at: At<'_>, room: u64) -> bool {
        let mss = u64::from(at.config.mss);
        let unsent = tcb.written - tcb.snd_max;
        let may_wait = unsent > mss && self.may_wait_for_more(tcb, at, room);
        let asked_from = if may_wait { LEAST_SEGMENTS } else { LEAST_SEGMENTS + 1 };
        if room >= asked_from * mss {
            return self.begin_large_buffer(tcb, at.config, room, may_wait);
        }
        if may_wait {
            return Self::wait_for_more(tcb, at.config);
        }
        let fits = fits(LEAST_SEGMENTS, mss, room, tcb.window.cwnd, unsent);
        self.buffer.fill(if fits { LEAST_SEGMENTS } else { 1 });
        true
    }

    /// Starts a buffer if the room allows more than the smallest one.
    #[inline(never)]
    fn begin_large_buffer(
        &mut self,
        tcb: &mut Tcb,
        config: &Config,
        room: u64,
        may_wait: bool,
    ) -> bool {
        let mss = u64::from(config.mss);
        let most = self.most(tcb, config);
        if may_wait && room < most * mss {
            return Self::wait_for_more(tcb, config);
        }
        let (cwnd, unsent) = (tcb.window.cwnd, tcb.written - tcb.snd_max);
        let segments = if fits(most, mss, room, cwnd, unsent) {
            most
        } else {
            (room / mss).min(most).min(cwnd / mss / 2).min(unsent.div_ceil(mss)).max(1)
        };
        self.buffer.fill(segments);
        true
    }

    /// Waits until more may be sent; there is no buffer now. A window that waits for more counts as
    /// full, so it may grow (`is_cwnd_limited`).
    #[inline(never)]
    fn wait_for_more(tcb: &mut Tcb, config: &Config) -> bool {
        if tcb.window.cwnd <= tcb.peer_window(config) {
            tcb.usage = Usage { most: u64::MAX, until: tcb.snd_nxt };
        }
        false
    }

    /// Returns the most segments that may share a buffer.
    #[inline]
    fn most(&self, tcb: &Tcb, config: &Config) -> u64 {
        let least = self.min_rtt().into_iter().chain(self.buffer.handshake).min();
        let min_rtt = least.filter(|_| !config.pacing);
        let size = size_at(tcb.pacing_rate(), min_rtt);
        (size / u64::from(config.mss)).max(LEAST_SEGMENTS)
    }

    /// Whether waiting may be better than sending `room` bytes, because more may be sent together
    /// soon.
    #[inline]
    fn may_wait_for_more(&self, tcb: &Tcb, at: At<'_>, room: u64) -> bool {
        if at.config.pacing || at.now.saturating_since(tcb.last_sent) > PATIENCE || !tcb.is_open() {
            return false;
        }
        let window = tcb.window.cwnd.min(at.config.peer_window());
        let half = || tcb.rtt.srtt().unwrap_or(Duration::ZERO).as_nanos() / 2;
        let is_old = |sent| at.now.saturating_since(sent).as_nanos() >= half();
        // The next ACK comes soon.
        room < window / PART_OF_WINDOW && self.sent.oldest().is_some_and(is_old)
    }
}

#[cfg(test)]
mod tests;
