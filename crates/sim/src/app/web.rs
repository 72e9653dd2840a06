//! A web user who thinks, transfers, and thinks again. A transfer is one object or a page of many.

use std::rc::Rc;

use airtcp_kernel::Sampler;
use serde::Deserialize;

use super::page::{PageConfig, Pages};
use super::transfer::Transfers;
use super::{Actions, Draws, Setting, UnderWay, pause, phase};

/// Transfers with think times between them, in the resolved form of a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebConfig {
    /// Bytes of each transfer, or of each object of a page.
    pub(super) size: Sampler,
    /// Think time: seconds from the end of a transfer to the start of the next.
    think_time: Sampler,
    /// Size of the client's request in bytes; zero: no request.
    pub(super) request_bytes: u64,
    /// The composition of a page, if pages are transferred.
    page: Option<PageConfig>,
}

impl WebConfig {
    /// Draws the object sizes in bytes of `count` pages, if it transfers pages.
    pub(super) fn pages(
        &self,
        draws: &mut Draws,
        pad: Option<u32>,
        count: usize,
    ) -> Option<Vec<Vec<u64>>> {
        let page = self.page.as_ref()?;
        Some((0..count).map(|_| page.draw(&self.size, draws, pad)).collect())
    }

    pub(super) fn check(&self) -> Result<(), &'static str> {
        self.page.as_ref().map_or(Ok(()), |page| page.check(self.request_bytes))
    }
}

/// One user.
#[derive(Clone, Debug)]
pub(super) struct Web {
    config: Rc<WebConfig>,
    pad: Option<u32>,
}

impl Web {
    pub(super) fn new(config: &WebConfig, setting: Setting) -> Self {
        Self { config: Rc::new(config.clone()), pad: setting.pad }
    }

    /// Returns the transfers or pages of a user, of which none has begun.
    pub(super) fn under_way(&self, setting: Setting) -> UnderWay {
        match &self.config.page {
            None => UnderWay::Transfers(Transfers::new(setting)),
            Some(page) => {
                UnderWay::Pages(Pages::new(Rc::clone(&self.config), page.clone(), setting))
            }
        }
    }

    /// Starts with a think time.
    pub(super) fn start(&self, draws: &mut Draws, actions: &mut Actions) {
        let law = &self.config.think_time;
        actions.wake_in(if law.is_constant() { phase(law, draws) } else { pause(law, draws) });
    }

    /// Begins to transfer an object.
    pub(super) fn wake(&self, transfers: &mut Transfers, draws: &mut Draws, actions: &mut Actions) {
        let bytes = draws.size(&self.config.size, self.pad);
        transfers.begin(bytes, self.config.request_bytes, false, actions);
    }

    /// Thinks after a transfer or a page.
    pub(super) fn think(&self, draws: &mut Draws, actions: &mut Actions) {
        actions.wake_in(pause(&self.config.think_time, draws));
    }
}
