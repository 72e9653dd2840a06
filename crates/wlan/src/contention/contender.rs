//! A queue that contends: its contention window and state. Slots are counted in `listener` and its
//! groups.

use airtcp_kernel::RandomStream;

use super::BurstConfig;
use super::group::Groups;
use super::slot_ring::{Linked, NOBODY};
use crate::config::AccessParameters;
use crate::counters::MacCounters;
use crate::station::{ContenderId, StationId};

/// Configuration of a contender.
#[derive(Clone, Debug)]
pub struct ContenderConfig {
    /// The station that owns the queue. Contenders of one station are adjacent, highest priority
    /// first.
    pub station: StationId,
    /// Its contention parameters.
    pub access: AccessParameters,
    /// The random stream of its backoffs.
    pub backoffs: RandomStream,
    /// Bursts that replace its backoff; at most one contender has them.
    pub bursts: Option<BurstConfig>,
}

/// What happens to a frame after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// The frame is retransmitted.
    Again,
    /// The frame has reached the retry limit and is dropped.
    Dropped,
    /// A broadcast frame, which is sent once and never acknowledged.
    Broadcast,
}

/// A contender and its state.
// In this order, an exchange uses two cache lines: the first for decisions, the second for
// counters.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Contender {
    pub(crate) state: State,
    pub(crate) backoffs: RandomStream,
    pub(crate) cw: u32,
    /// The index of its group in the listener.
    pub(crate) group: u32,
    pub(crate) cw_min: u32,
    pub(crate) station: StationId,
    /// The next contender in its slot of the ring.
    pub(crate) behind: ContenderId,
    pub(crate) counters: MacCounters,
    /// The number of successive failures that raise CW before one more resets it; `None`: a drop
    /// resets it.
    most_failures: Option<u32>,
    /// Successive failures (QSRC); stale while CW is CWmin, where it is zero.
    failures: u32,
    cw_max: u32,
}

/// The state of a contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// No frame, no backoff.
    Idle,
    /// No frame; a backoff that ends in slot `until` of its group, drawn in busy period `since`.
    PostBackoff { until: u64, since: u64 },
    /// A frame whose backoff ends in slot `until` of its group.
    Backoff { until: u64 },
    /// Counts slots from an instant of its own, see [`super::backoffs`].
    Stray,
    /// Sends in bursts instead of backing off, see [`super::access_scheme`].
    Bursts,
    /// Takes part in the current transmission.
    Exchanging,
}

impl Linked for &mut [Contender] {
    #[inline(always)]
    fn behind(&mut self, id: ContenderId) -> &mut ContenderId {
        &mut self[id as usize].behind
    }
}

impl Contender {
    /// Creates a contender without a frame, in the group of its AIFS.
    pub(crate) fn of_group(
        config: ContenderConfig,
        groups: &Groups,
        most_failures: Option<u32>,
    ) -> Self {
        let group = groups.iter().position(|group| group.aifs == config.access.aifs);
        let group = group.expect("every inter-frame space has a group");
        Self { group: group as u32, ..Self::new(config, most_failures) }
    }

    /// Creates a contender without a frame that belongs to no group.
    pub(crate) fn new(config: ContenderConfig, most_failures: Option<u32>) -> Self {
        let ContenderConfig { station, access, backoffs, bursts } = config;
        Self {
            state: if bursts.is_some() { State::Bursts } else { State::Idle },
            station,
            group: 0,
            cw: access.cw_min,
            cw_min: access.cw_min,
            cw_max: access.cw_max,
            behind: NOBODY,
            most_failures,
            failures: 0,
            backoffs,
            counters: MacCounters::default(),
        }
    }

    /// True if it has a frame, waiting or on the air.
    pub(crate) fn has_frame(&self) -> bool {
        !matches!(self.state, State::Idle | State::PostBackoff { .. })
    }

    /// Starts a transmission.
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.state = State::Exchanging;
        self.counters.attempts += 1;
    }

    /// Draws a backoff in slots from 0 to CW.
    #[inline(always)]
    pub(crate) fn draw_backoff(&mut self) -> u32 {
        self.counters.draws += 1;
        self.counters.cw_sum += u64::from(self.cw);
        self.backoffs.up_to(self.cw)
    }

    /// Updates CW after a failed transmission of a frame with this fate.
    pub(crate) fn fail(&mut self, retry: Retry) {
        if retry == Retry::Broadcast {
            // A broadcast frame is not acknowledged, so its sender does not learn of a collision.
            self.cw = self.cw_min;
            return;
        }
        // IEEE 802.11-2020, 10.3.3: CW takes the next value of 2^k - 1 up to aCWmax.
        let raised = (2 * (self.cw + 1) - 1).min(self.cw_max);
        if let Some(most) = self.most_failures {
            self.failures = if self.cw == self.cw_min { 1 } else { self.failures + 1 };
            self.cw = if self.failures <= most { raised } else { self.cw_min };
        } else {
            self.cw = raised;
        }
        if retry == Retry::Dropped {
            self.drop_frame();
        }
    }

    /// Drops a frame at the retry limit.
    pub(crate) fn drop_frame(&mut self) {
        self.counters.drops += 1;
        if self.most_failures.is_none() {
            self.cw = self.cw_min;
        }
    }
}
