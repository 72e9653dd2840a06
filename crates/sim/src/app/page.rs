//! Web pages: many objects over a limited number of connections, as a browser loads them with
//! HTTP/1.1 (RFC 9112, sections 9.3 and 9.4). The document comes first, then the objects that it
//! names. A connection carries objects one after the other, each after its own request (no
//! pipelining), and is not reused for another page.

use std::rc::Rc;

use airtcp_kernel::{Sampler, Time};
use serde::Deserialize;

use super::transfer::{Carried, Slots, whole_bytes};
use super::web::WebConfig;
use super::{Action, Actions, Draws, End, Service, Setting};
use crate::connection::Side;

/// The maximum number of objects of a page.
const MOST_OBJECTS: f64 = 100_000.0;

/// The composition of a page, in the resolved form of a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PageConfig {
    /// The number of objects of a page, including its document.
    objects: Sampler,
    /// Bytes of a whole page; `None`: the sum of its objects.
    size: Option<Sampler>,
    /// The maximum number of simultaneous connections.
    connections: u32,
}

impl PageConfig {
    pub(super) fn check(&self, request_bytes: u64) -> Result<(), &'static str> {
        if self.connections == 0 || request_bytes == 0 {
            Err("the objects of a page are asked for, over one connection or more")
        } else {
            Ok(())
        }
    }

    /// Draws the object sizes in bytes of the next page, the document first. If the page as a whole
    /// has a size distribution, its size is split in proportion to the drawn object sizes, which
    /// follow `object`.
    pub(super) fn draw(&self, object: &Sampler, draws: &mut Draws, pad: Option<u32>) -> Vec<u64> {
        let count = self.objects.draw(&mut draws.sizes).round().clamp(1.0, MOST_OBJECTS) as usize;
        let page = self.size.as_ref().map(|law| law.draw(&mut draws.sizes));
        let mut objects: Vec<f64> = (0..count).map(|_| object.draw(&mut draws.sizes)).collect();
        if let Some(page) = page {
            let share = page / objects.iter().sum::<f64>();
            if share.is_finite() {
                objects.iter_mut().for_each(|bytes| *bytes *= share);
            }
        }
        let objects: Vec<u64> = objects.into_iter().map(|bytes| whole_bytes(bytes, pad)).collect();
        draws.count_unit(objects.iter().sum());
        objects
    }
}

/// The pages of one user: the current one, and connections of earlier pages that wait for their
/// last acknowledgment.
#[derive(Clone, Debug)]
pub(super) struct Pages {
    config: Rc<WebConfig>,
    page: Rc<PageConfig>,
    setting: Setting,
    slots: Slots<Connection>,
    /// When the page was requested.
    began: Time,
    /// Sizes in bytes of the objects not yet requested, the next one last.
    unasked: Vec<u64>,
    /// The number of objects not yet received.
    missing: usize,
    /// Whether the document was received, which names the other objects.
    has_document: bool,
}

/// A connection of a page.
#[derive(Clone, Debug)]
struct Connection {
    carried: Carried,
    /// Bytes of all requests on it.
    requested: u64,
    /// When the current object was requested, and its size in bytes.
    began: Time,
    bytes: u64,
    /// Size in bytes of the object whose request has not reached the server; zero if it has.
    unheard: u64,
    /// The last object that the server wrote and whose arrival it does not know: when it was
    /// requested, and the bytes written up to its end.
    unacknowledged: Option<(Time, u64)>,
    /// Whether no more objects will be requested.
    is_done: bool,
}

impl Pages {
    pub(super) fn new(config: Rc<WebConfig>, page: PageConfig, setting: Setting) -> Self {
        Self {
            config,
            page: Rc::new(page),
            setting,
            slots: Slots::default(),
            began: Time::ZERO,
            unasked: Vec::new(),
            missing: 0,
            has_document: false,
        }
    }

    /// Starts a page: requests its document.
    pub(super) fn begin(&mut self, draws: &mut Draws, actions: &mut Actions) {
        debug_assert_eq!(self.missing, 0, "one page after the other");
        self.began = actions.now;
        self.has_document = false;
        self.unasked = self.page.draw(&self.config.size, draws, self.setting.pad);
        self.missing = self.unasked.len();
        self.unasked.reverse();
        actions.push(Action::Asked);
        self.open(actions);
    }

    /// Requests the next object on a new connection.
    fn open(&mut self, actions: &mut Actions) {
        let tag = self.slots.insert(Connection {
            carried: Carried::new(Side::Server, actions.now, 0),
            requested: 0,
            began: actions.now,
            bytes: 0,
            unheard: 0,
            unacknowledged: None,
            is_done: false,
        });
        let (service, opener) = (Service::Transfer, Some(self.setting.opener));
        actions.push(Action::Began { unbidden: false });
        actions.push(Action::Open { tag, service, opener, acks_first: false });
        self.ask(tag, actions);
    }

    /// Requests the next object on an idle connection.
    fn ask(&mut self, tag: u32, actions: &mut Actions) {
        let bytes = self.unasked.pop().expect("there is one more");
        let connection = self.slots.get_mut(tag);
        connection.began = actions.now;
        connection.bytes = bytes;
        connection.unheard = bytes;
        connection.requested += self.config.request_bytes;
        connection.carried.ask_for(bytes);
        let (side, bytes) = (Side::Station, self.config.request_bytes);
        actions.push(Action::Write { tag, side, bytes, last: false });
    }

    /// Processes bytes that reached an end. Returns whether the client now has the whole page.
    pub(super) fn on_arrival(
        &mut self,
        tag: u32,
        side: Side,
        end: &End,
        actions: &mut Actions,
    ) -> bool {
        if side == Side::Server {
            self.serve(tag, end, actions);
            return false;
        }
        let connection = self.slots.get_mut(tag);
        let fresh = connection.carried.deliver(end);
        if fresh == 0 || !connection.carried.is_received() {
            return false;
        }
        let &mut Connection { began, bytes, .. } = connection;
        actions.push(Action::Received { began, bytes });
        self.missing -= 1;
        self.go_on(tag, actions);
        let is_loaded = self.missing == 0;
        if is_loaded {
            actions.push(Action::Loaded { began: self.began });
        }
        is_loaded
    }

    /// Requests the next object after the client has received one.
    fn go_on(&mut self, tag: u32, actions: &mut Actions) {
        if self.unasked.is_empty() {
            self.slots.get_mut(tag).is_done = true;
            self.abandon_if_over(tag, actions);
            return;
        }
        actions.push(Action::Began { unbidden: false });
        self.ask(tag, actions);
        if !std::mem::replace(&mut self.has_document, true) {
            for _ in 1..self.page.connections {
                if !self.unasked.is_empty() {
                    self.open(actions);
                }
            }
        }
    }

    /// Processes a request or an acknowledgment that reached the server.
    fn serve(&mut self, tag: u32, end: &End, actions: &mut Actions) {
        let connection = self.slots.get_mut(tag);
        if let Some((began, bytes)) = connection.unacknowledged
            && end.acked >= bytes
        {
            connection.unacknowledged = None;
            actions.push(Action::Acknowledged { began });
        }
        if connection.unheard > 0 && end.delivered >= connection.requested {
            let bytes = std::mem::take(&mut connection.unheard);
            connection.unacknowledged = Some((connection.began, connection.carried.bytes));
            actions.push(Action::Write { tag, side: Side::Server, bytes, last: false });
        }
        let connection = self.slots.get_mut(tag);
        connection.carried.is_acknowledged =
            connection.unheard == 0 && connection.unacknowledged.is_none();
        self.abandon_if_over(tag, actions);
    }

    fn abandon_if_over(&self, tag: u32, actions: &mut Actions) {
        let connection = self.slots.get(tag);
        if connection.is_done && connection.unacknowledged.is_none() {
            actions.push(Action::Abandon { tag });
        }
    }

    pub(super) fn on_gone(&mut self, tag: u32) {
        self.slots.remove(tag);
    }

    pub(super) fn carried(&self, tag: u32) -> &Carried {
        &self.slots.get(tag).carried
    }
}
