//! A single transfer; endless without a size. Its program writes as fast as TCP takes, or at a rate.

use std::rc::Rc;

use airtcp_kernel::{Duration, Sampler, Time};
use serde::Deserialize;

use super::transfer::{ENDLESS, Transfers};
use super::{Action, Actions, Draws, Setting, pause};

/// One transfer, in the resolved form of a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BulkConfig {
    /// Bytes to transfer; endless if `None`.
    size: Option<Sampler>,
    /// Its start time, in seconds.
    start: Sampler,
    /// Payload bits per second that the program writes; as fast as TCP takes if `None`.
    #[serde(default)]
    rate_bps: Option<u64>,
    /// Bytes per write; given exactly with a rate.
    #[serde(default)]
    block_bytes: Option<u64>,
}

impl BulkConfig {
    pub(super) fn check(&self) -> Result<(), &'static str> {
        match (self.rate_bps, self.block_bytes) {
            (None, None) => Ok(()),
            (Some(rate), Some(block)) if rate > 0 && (1..=LARGEST_BLOCK).contains(&block) => Ok(()),
            _ => Err("a rate without a block, or a rate or block out of bounds"),
        }
    }
}

/// Larger blocks would overflow times.
const LARGEST_BLOCK: u64 = 1 << 32;

/// The state of a transfer, which may not have begun.
#[derive(Clone, Debug)]
pub(super) struct Bulk {
    config: Rc<BulkConfig>,
    pad: Option<u32>,
    /// What a program with a rate has written; `None` before the transfer began, or without a rate.
    written: Option<Written>,
}

/// A program that writes blocks at a rate.
#[derive(Clone, Copy, Debug)]
struct Rate {
    bps: u64,
    block: u64,
}

/// The progress of a program that writes at a rate.
#[derive(Clone, Copy, Debug)]
struct Written {
    tag: u32,
    since: Time,
    blocks: u64,
    /// Bytes that are not written yet.
    left: u64,
}

impl Rate {
    /// Returns when the next block is due: the average since the beginning never exceeds the rate
    /// by more than a block.
    fn next(&self, written: &Written) -> Time {
        let bits = u128::from(written.blocks) * u128::from(self.block) * 8;
        let nanos = (bits * 1_000_000_000).div_ceil(u128::from(self.bps));
        written.since + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX >> 2))
    }
}

impl Bulk {
    pub(super) fn new(config: &BulkConfig, setting: Setting) -> Self {
        Self { config: Rc::new(config.clone()), pad: setting.pad, written: None }
    }

    pub(super) fn start(&self, draws: &mut Draws, actions: &mut Actions) {
        actions.wake_in(pause(&self.config.start, draws));
    }

    /// Begins the transfer, or writes a block; the first one begins the transfer.
    pub(super) fn wake(
        &mut self,
        transfers: &mut Transfers,
        draws: &mut Draws,
        actions: &mut Actions,
    ) {
        let Some(rate) = self.rate() else {
            return transfers.begin(self.draw(draws), 0, false, actions);
        };
        let mut written = self.written.unwrap_or_else(|| {
            let bytes = self.draw(draws);
            let tag = transfers.begin_empty(bytes, actions);
            Written { tag, since: actions.now, blocks: 0, left: bytes }
        });
        let bytes = rate.block.min(written.left);
        let side = transfers.carried(written.tag).sender;
        actions.push(Action::Write { tag: written.tag, side, bytes, last: false });
        written.left -= bytes;
        written.blocks += 1;
        if written.left > 0 {
            actions.wake(rate.next(&written));
        }
        self.written = Some(written);
    }

    fn rate(&self) -> Option<Rate> {
        let rate = self.config.rate_bps.zip(self.config.block_bytes);
        rate.map(|(bps, block)| Rate { bps, block })
    }

    fn draw(&self, draws: &mut Draws) -> u64 {
        self.config.size.as_ref().map_or(ENDLESS, |law| draws.size(law, self.pad))
    }

    pub(super) fn is_endless(&self) -> bool {
        self.config.size.is_none() && self.config.rate_bps.is_none()
    }
}
