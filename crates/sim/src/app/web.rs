//! A web user who thinks, transfers, and thinks again. A transfer is one object or a page of many.

use std::rc::Rc;

use airtcp_kernel::{Distribution, Sampler, Time};
use serde::Deserialize;

use super::page::{PageConfig, PageLaws, Pages};
use super::transfer::{Sizes, Transfers};
use super::{Actions, AppEvent, Carried, Draws, Setting, pause, phase};

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
        let size = Sampler::new(self.size.clone());
        let laws = PageLaws::new(self.page.as_ref()?, size, self.request_bytes);
        Some(laws.draw_many(draws, pad, count))
    }

    pub(super) fn check(&self) -> Result<(), &'static str> {
        self.page.as_ref().map_or(Ok(()), |page| page.check(self.request_bytes))
    }
}

/// One user.
#[derive(Clone, Debug)]
pub(crate) struct Web {
    laws: Rc<Laws>,
    under_way: UnderWay,
}

/// The running transfers or pages.
#[derive(Clone, Debug)]
enum UnderWay {
    Transfers(Transfers),
    Pages(Pages),
}

#[derive(Debug)]
struct Laws {
    think_time: Sampler,
    transferred: Transferred,
}

/// What a user transfers.
#[derive(Debug)]
enum Transferred {
    /// One object with this size distribution, requested with `request_bytes`.
    Single {
        size: Sizes,
        request_bytes: u64,
    },
    Page(PageLaws),
}

impl Web {
    pub(super) fn new(config: &WebConfig, setting: Setting) -> Self {
        let (size, request_bytes) = (Sampler::new(config.size.clone()), config.request_bytes);
        let (transferred, under_way) = match &config.page {
            None => {
                let size = Sizes::new(size, setting);
                (
                    Transferred::Single { size, request_bytes },
                    UnderWay::Transfers(Transfers::new(setting)),
                )
            }
            Some(page) => {
                let laws = PageLaws::new(page, size, request_bytes);
                (Transferred::Page(laws), UnderWay::Pages(Pages::new(setting)))
            }
        };
        let think_time = Sampler::new(config.think_time.clone());
        Self { laws: Rc::new(Laws { think_time, transferred }), under_way }
    }

    /// Starts with a think time.
    pub(super) fn start(&mut self, now: Time, draws: &mut Draws, actions: &mut Actions) {
        let law = &self.laws.think_time;
        actions.wake(now + if law.is_constant() { phase(law, draws) } else { pause(law, draws) });
    }

    #[inline]
    pub(super) fn on_event(
        &mut self,
        now: Time,
        event: AppEvent,
        draws: &mut Draws,
        actions: &mut Actions,
    ) {
        let is_over = match (&mut self.under_way, &self.laws.transferred, event) {
            (
                UnderWay::Transfers(transfers),
                Transferred::Single { size, request_bytes },
                AppEvent::Woken,
            ) => {
                transfers.begin(now, size.draw(draws), *request_bytes, false, actions);
                false
            }
            (UnderWay::Transfers(transfers), _, AppEvent::Arrived { tag, side, end }) => {
                transfers.on_arrival(tag, side, &end, actions)
            }
            (UnderWay::Pages(pages), Transferred::Page(laws), AppEvent::Woken) => {
                pages.begin(now, laws, draws, actions);
                false
            }
            (
                UnderWay::Pages(pages),
                Transferred::Page(laws),
                AppEvent::Arrived { tag, side, end },
            ) => pages.on_arrival(now, tag, side, &end, laws, actions),
            _ => unreachable!("what is under way is what is transferred"),
        };
        if is_over {
            actions.wake(now + pause(&self.laws.think_time, draws));
        }
    }

    pub(super) fn on_gone(&mut self, tag: u32) {
        match &mut self.under_way {
            UnderWay::Transfers(transfers) => transfers.on_gone(tag),
            UnderWay::Pages(pages) => pages.on_gone(tag),
        }
    }

    pub(super) fn carried(&self, tag: u32) -> Option<&Carried> {
        Some(match &self.under_way {
            UnderWay::Transfers(transfers) => transfers.carried(tag),
            UnderWay::Pages(pages) => pages.carried(tag),
        })
    }
}
