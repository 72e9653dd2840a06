//! One queue that contends: its window, and its state. Knows no time: whatever counts slots is in
//! `listener` and its groups.

use airtcp_kernel::RandomStream;

use super::BurstConfig;
use super::group::Groups;
use super::slot_ring::{Linked, NOBODY};
use crate::config::AccessParameters;
use crate::counters::MacCounters;
use crate::station::{ContenderId, StationId};

/// The parts that a contender is made from.
#[derive(Clone, Debug)]
pub struct ContenderConfig {
    /// The station whose queue it is. The contenders of one station follow one another, the one with
    /// the highest priority first.
    pub station: StationId,
    /// The parameters by which it contends.
    pub access: AccessParameters,
    /// The stream that its backoffs are drawn from.
    pub backoffs: RandomStream,
    /// Bursts that it sends in instead of backing off; one contender at most.
    pub bursts: Option<BurstConfig>,
}

/// The fate of a frame that collided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// It is sent again.
    Again,
    /// It was sent as often as the retry limit allows, and is dropped.
    Dropped,
    /// It was for all: nobody acknowledges it, and it is sent once.
    Broadcast,
}

/// A contender, and how it stands.
// In this order, what an exchange looks at is in two cache lines: what decides, and what is counted.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Contender {
    pub(crate) state: State,
    pub(crate) backoffs: RandomStream,
    pub(crate) cw: u32,
    /// The place of its group in the listener.
    pub(crate) group: u32,
    pub(crate) cw_min: u32,
    pub(crate) station: StationId,
    /// The one behind it in its slot of the ring.
    pub(crate) behind: ContenderId,
    pub(crate) counters: MacCounters,
    /// The number of failures in a row that raise CW before one more sets it back; `None`: a drop does.
    most_failures: Option<u32>,
    /// Failures in a row (QSRC) up to now; out of date while CW is CWmin, where it is zero.
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
    /// A frame that waits in the ring.
    Backoff,
    /// Counts slots from an instant of its own, see [`super::strays`].
    Stray,
    /// Sends in bursts instead of backing off, see [`super::access_scheme`].
    Bursts,
    /// Takes part in what is on the air.
    Exchanging,
}

impl Linked for &mut [Contender] {
    #[inline(always)]
    fn behind(&mut self, id: ContenderId) -> &mut ContenderId {
        &mut self[id as usize].behind
    }
}

impl Contender {
    /// Makes a contender without a frame, of the group of its inter-frame space.
    pub(super) fn of_group(
        config: ContenderConfig,
        groups: &Groups,
        most_failures: Option<u32>,
    ) -> Self {
        let group = groups.iter().position(|group| group.aifs == config.access.aifs);
        let group = group.expect("every inter-frame space has a group");
        Self { group: group as u32, ..Self::new(config, most_failures) }
    }

    /// Makes a contender without a frame, whose slots nobody counts along.
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

    /// Puts it on the air.
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.state = State::Exchanging;
        self.counters.attempts += 1;
    }

    /// Draws a backoff, in slots, from 0 to CW.
    #[inline(always)]
    pub(crate) fn draw_backoff(&mut self) -> u32 {
        self.counters.draws += 1;
        self.counters.cw_sum += u64::from(self.cw);
        self.backoffs.up_to(self.cw)
    }

    /// Changes CW after a failed transmission whose frame has this fate.
    pub(crate) fn fail(&mut self, retry: Retry) {
        if retry == Retry::Broadcast {
            // A broadcast frame is not acknowledged: its sender cannot tell that it collided.
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
