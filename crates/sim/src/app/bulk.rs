//! A single transfer; endless without a size.

use std::rc::Rc;

use airtcp_kernel::{Distribution, Sampler, Time};
use serde::Deserialize;

use super::transfer::{ENDLESS, Sizes, Transfers};
use super::{Actions, AppEvent, Carried, Draws, Setting, pause};

/// One transfer, in the resolved form of a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BulkConfig {
    /// Bytes to transfer; endless if `None`.
    size: Option<Distribution>,
    /// Its start time, in seconds.
    start: Distribution,
}

/// The state of a transfer, which may not have begun.
#[derive(Clone, Debug)]
pub(crate) struct Bulk {
    laws: Rc<Laws>,
    transfers: Transfers,
}

#[derive(Debug)]
struct Laws {
    size: Option<Sizes>,
    start: Sampler,
}

impl Bulk {
    pub(super) fn new(config: &BulkConfig, setting: Setting) -> Self {
        let size = config.size.clone().map(|size| Sizes::new(Sampler::new(size), setting));
        let laws = Laws { size, start: Sampler::new(config.start.clone()) };
        Self { laws: Rc::new(laws), transfers: Transfers::new(setting) }
    }

    pub(super) fn start(&mut self, now: Time, draws: &mut Draws, actions: &mut Actions) {
        actions.wake(now + pause(&self.laws.start, draws));
    }

    pub(super) fn on_event(
        &mut self,
        now: Time,
        event: AppEvent,
        draws: &mut Draws,
        actions: &mut Actions,
    ) {
        match event {
            AppEvent::Woken => {
                let bytes = self.laws.size.as_ref().map_or(ENDLESS, |size| size.draw(draws));
                self.transfers.begin(now, bytes, 0, false, actions);
            }
            AppEvent::Arrived { tag, side, end } => {
                self.transfers.on_arrival(tag, side, &end, actions);
            }
        }
    }

    pub(super) fn on_gone(&mut self, tag: u32) {
        self.transfers.on_gone(tag);
    }

    pub(super) fn carried(&self, tag: u32) -> Option<&Carried> {
        Some(self.transfers.carried(tag))
    }

    pub(super) fn is_endless(&self) -> bool {
        self.laws.size.is_none()
    }
}
