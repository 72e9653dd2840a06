//! A user of the web, who thinks, transfers, and thinks again.

use std::rc::Rc;

use airtcp_kernel::{Distribution, Sampler, Time};
use serde::Deserialize;

use super::transfer::{Sizes, Transfers};
use super::{Actions, AppEvent, Carried, Draws, Setting, pause};

/// Transfers with think times between them, in the resolved form of a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebConfig {
    /// Bytes of each transfer.
    size: Distribution,
    /// Seconds from the end of a transfer to the start of the next.
    think_time: Distribution,
    /// Bytes that the client asks with; none if zero.
    request_bytes: u64,
}

/// One user.
#[derive(Clone, Debug)]
pub(crate) struct Web {
    laws: Rc<Laws>,
    transfers: Transfers,
}

#[derive(Debug)]
struct Laws {
    size: Sizes,
    think_time: Sampler,
    request_bytes: u64,
}

impl Web {
    pub(super) fn new(config: &WebConfig, setting: Setting) -> Self {
        let laws = Laws {
            size: Sizes::new(Sampler::new(config.size.clone()), setting),
            think_time: Sampler::new(config.think_time.clone()),
            request_bytes: config.request_bytes,
        };
        Self { laws: Rc::new(laws), transfers: Transfers::new(setting) }
    }

    /// The user thinks first.
    pub(super) fn start(&mut self, now: Time, draws: &mut Draws, actions: &mut Actions) {
        actions.wake(now + pause(&self.laws.think_time, draws));
    }

    #[inline]
    pub(super) fn on_event(
        &mut self,
        now: Time,
        event: AppEvent,
        draws: &mut Draws,
        actions: &mut Actions,
    ) {
        match event {
            AppEvent::Woken => {
                let Laws { size, request_bytes, .. } = &*self.laws;
                self.transfers.begin(now, size.draw(draws), *request_bytes, false, actions);
            }
            AppEvent::Arrived { tag, side, end } => {
                if self.transfers.on_arrival(tag, side, &end, actions) {
                    actions.wake(now + pause(&self.laws.think_time, draws));
                }
            }
        }
    }

    pub(super) fn on_gone(&mut self, tag: u32) {
        self.transfers.on_gone(tag);
    }

    pub(super) fn carried(&self, tag: u32) -> Option<&Carried> {
        Some(self.transfers.carried(tag))
    }
}
