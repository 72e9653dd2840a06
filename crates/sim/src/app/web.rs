//! A web user who thinks, transfers, and thinks again. A transfer is one object or a page of many.

use std::rc::Rc;

use airtcp_kernel::{Distribution, Sampler};
use serde::Deserialize;

use super::page::{PageConfig, PageLaws, Pages};
use super::transfer::{Sizes, Transfers};
use super::{Actions, Draws, Setting, UnderWay, pause, phase};

/// Transfers with think times between them, in the resolved form of a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebConfig {
    /// Bytes of each transfer, or of each object of a page.
    size: Distribution,
    /// Think time: seconds from the end of a transfer to the start of the next.
    think_time: Distribution,
    /// Size of the client's request in bytes; zero: no request.
    request_bytes: u64,
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
        let laws = self.page_laws()?;
        Some((0..count).map(|_| laws.draw(draws, pad)).collect())
    }

    fn page_laws(&self) -> Option<PageLaws> {
        let size = Sampler::new(self.size.clone());
        Some(PageLaws::new(self.page.as_ref()?, size, self.request_bytes))
    }

    pub(super) fn check(&self) -> Result<(), &'static str> {
        self.page.as_ref().map_or(Ok(()), |page| page.check(self.request_bytes))
    }
}

/// One user.
#[derive(Clone, Debug)]
pub(super) struct Web(Rc<Laws>);

#[derive(Debug)]
struct Laws {
    think_time: Sampler,
    /// The size of an object that is transferred alone.
    size: Sizes,
    request_bytes: u64,
}

impl Web {
    pub(super) fn new(config: &WebConfig, setting: Setting) -> Self {
        Self(Rc::new(Laws {
            think_time: Sampler::new(config.think_time.clone()),
            size: Sizes::new(Sampler::new(config.size.clone()), setting),
            request_bytes: config.request_bytes,
        }))
    }

    /// Returns the transfers or pages of a user, of which none has begun.
    pub(super) fn under_way(config: &WebConfig, setting: Setting) -> UnderWay {
        match config.page_laws() {
            None => UnderWay::Transfers(Transfers::new(setting)),
            Some(laws) => UnderWay::Pages(Pages::new(laws, setting)),
        }
    }

    /// Starts with a think time.
    pub(super) fn start(&self, draws: &mut Draws, actions: &mut Actions) {
        let law = &self.0.think_time;
        actions.wake_in(if law.is_constant() { phase(law, draws) } else { pause(law, draws) });
    }

    /// Begins to transfer an object.
    pub(super) fn wake(&self, transfers: &mut Transfers, draws: &mut Draws, actions: &mut Actions) {
        transfers.begin(self.0.size.draw(draws), self.0.request_bytes, false, actions);
    }

    /// Thinks after a transfer or a page.
    pub(super) fn think(&self, draws: &mut Draws, actions: &mut Actions) {
        actions.wake_in(pause(&self.0.think_time, draws));
    }
}
