//! Transfers that have a connection of their own each: what is asked for, what is sent, and when each
//! end has it. Does not know why they begin.

use airtcp_kernel::{Sampler, Time};

use super::{Action, Actions, Draws, End, Service, Setting};
use crate::connection::Side;

/// More than any transfer, and far from overflow.
pub(super) const ENDLESS: u64 = 1 << 60;

/// A transfer that ends is never larger: the sums stay far from overflow.
const LARGEST: f64 = (1_u64 << 50) as f64;

/// The law of the sizes of transfers.
#[derive(Debug)]
pub(super) struct Sizes {
    law: Sampler,
    pad: Option<u32>,
}

impl Sizes {
    pub(super) fn new(law: Sampler, setting: Setting) -> Self {
        Self { law, pad: setting.pad }
    }

    /// Draws the bytes of the next transfer, whole and at least one.
    pub(super) fn draw(&self, draws: &mut Draws) -> u64 {
        let bytes = whole_bytes(self.law.draw(&mut draws.sizes), self.pad);
        draws.count_unit(bytes);
        bytes
    }
}

/// Rounds a drawn size to whole bytes, at least one, and a multiple of `pad` where segments are padded.
pub(super) fn whole_bytes(drawn: f64, pad: Option<u32>) -> u64 {
    let bytes = drawn.ceil().clamp(1.0, LARGEST) as u64;
    pad.map_or(bytes, |pad| bytes.next_multiple_of(u64::from(pad)))
}

/// The data of a transfer on a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried {
    /// Which end they come from.
    pub(crate) sender: Side,
    /// The time at which the connection was opened for them.
    pub(crate) since: Time,
    /// A flag: the sender knows that all have come.
    pub(crate) is_acknowledged: bool,
    pub(super) bytes: u64,
    /// The number of them that the receiver has.
    pub(super) delivered: u64,
}

impl Carried {
    pub(super) fn new(sender: Side, since: Time, bytes: u64) -> Self {
        Self { sender, since, is_acknowledged: false, bytes, delivered: 0 }
    }

    /// Counts the bytes that have come to the receiver since the last call.
    #[inline]
    pub(super) fn deliver(&mut self, end: &End) -> u64 {
        let fresh = end.delivered - self.delivered;
        self.delivered = end.delivered;
        fresh
    }

    /// Adds so many bytes that are to come on the same connection.
    pub(super) fn ask_for(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.is_acknowledged = false;
    }

    pub(super) fn is_received(&self) -> bool {
        self.delivered >= self.bytes
    }
}

/// Things with numbers that are used again.
#[derive(Clone, Debug)]
pub(super) struct Slots<T> {
    items: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { items: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slots<T> {
    pub(super) fn insert(&mut self, item: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.items[number as usize] = item;
            return number;
        }
        self.items.push(item);
        self.items.len() as u32 - 1
    }

    pub(super) fn remove(&mut self, number: u32) {
        self.free.push(number);
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> &T {
        &self.items[number as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, number: u32) -> &mut T {
        &mut self.items[number as usize]
    }
}

/// Transfers of one flow, by the tags of their connections.
#[derive(Clone, Debug)]
pub(super) struct Transfers {
    setting: Setting,
    slots: Slots<Transfer>,
}

#[derive(Clone, Debug)]
struct Transfer {
    carried: Carried,
    /// Bytes of the client's request that the server still waits for; zero if it answered.
    request: u64,
}

impl Transfers {
    pub(super) fn new(setting: Setting) -> Self {
        Self { setting, slots: Slots::default() }
    }

    /// Begins a transfer, which the client of a download asks for with `request` bytes.
    pub(super) fn begin(
        &mut self,
        now: Time,
        bytes: u64,
        request: u64,
        unbidden: bool,
        actions: &mut Actions,
    ) {
        let Setting { sender, opener, .. } = self.setting;
        let request = if sender == Side::Server { request } else { 0 };
        let carried = Carried::new(sender, now, bytes);
        let tag = self.slots.insert(Transfer { carried, request });
        actions.push(Action::Began { unbidden });
        let service = Service::Transfer;
        actions.push(Action::Open { tag, service, opener: Some(opener), acks_first: false });
        if request > 0 {
            let side = Side::Station;
            actions.push(Action::Write { tag, side, bytes: request, last: false });
        } else {
            send(tag, sender, bytes, actions);
        }
    }

    /// Reacts to bytes that have reached an end, and tells whether the receiver has all of the transfer now.
    #[inline]
    pub(super) fn on_arrival(
        &mut self,
        tag: u32,
        side: Side,
        end: &End,
        actions: &mut Actions,
    ) -> bool {
        let transfer = self.slots.get_mut(tag);
        if side == transfer.carried.sender {
            let is_asked = transfer.request > 0 && end.delivered >= transfer.request;
            let is_acknowledged = end.acked >= transfer.carried.bytes;
            if is_asked || is_acknowledged {
                self.answer_or_end(tag, side, is_asked, is_acknowledged, actions);
            }
            return false;
        }
        let fresh = transfer.carried.deliver(end);
        let is_received = fresh > 0 && transfer.carried.is_received();
        if is_received {
            self.receive(tag, actions);
        }
        is_received
    }

    /// Answers the request for a transfer that has come to its sender, or ends one that is acknowledged.
    #[cold]
    fn answer_or_end(
        &mut self,
        tag: u32,
        side: Side,
        is_asked: bool,
        is_acknowledged: bool,
        actions: &mut Actions,
    ) {
        let transfer = self.slots.get_mut(tag);
        if is_asked {
            transfer.request = 0;
            send(tag, side, transfer.carried.bytes, actions);
        }
        if is_acknowledged && !transfer.carried.is_acknowledged {
            transfer.carried.is_acknowledged = true;
            actions.push(Action::Acknowledged { began: transfer.carried.since });
            self.abandon_if_over(tag, actions);
        }
    }

    /// Ends a transfer whose last byte has come to its receiver.
    #[cold]
    fn receive(&mut self, tag: u32, actions: &mut Actions) {
        let &Carried { since: began, bytes, .. } = self.carried(tag);
        actions.push(Action::Received { began, bytes });
        self.abandon_if_over(tag, actions);
    }

    fn abandon_if_over(&self, tag: u32, actions: &mut Actions) {
        let carried = self.carried(tag);
        if carried.is_received() && carried.is_acknowledged {
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

/// Sends a whole transfer: nothing is to be done until it is over at one end.
fn send(tag: u32, side: Side, bytes: u64, actions: &mut Actions) {
    actions.push(Action::Await { tag, bytes });
    actions.push(Action::Write { tag, side, bytes, last: false });
}
