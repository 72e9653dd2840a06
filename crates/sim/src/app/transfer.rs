//! Transfers, each with its own connection: what is requested and sent, and when each end has it.

use airtcp_kernel::Time;

use super::{Action, Actions, End, Service, Setting};
use crate::connection::Side;

/// More than any transfer, and far from overflow.
pub(super) const ENDLESS: u64 = 1 << 60;

/// The maximum size of a finite transfer, which keeps sums far from overflow.
const LARGEST: f64 = (1_u64 << 50) as f64;

/// Rounds a drawn size up to whole bytes, at least one, and to a multiple of `pad` if segments are
/// padded.
pub(super) fn whole_bytes(drawn: f64, pad: Option<u32>) -> u64 {
    let bytes = drawn.ceil().clamp(1.0, LARGEST) as u64;
    pad.map_or(bytes, |pad| bytes.next_multiple_of(u64::from(pad)))
}

/// The data of a transfer on a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried {
    /// The end that sends the data.
    pub(crate) sender: Side,
    /// When the connection was opened for the data.
    pub(crate) since: Time,
    /// Whether the sender has the last acknowledgment.
    pub(crate) is_acknowledged: bool,
    pub(super) bytes: u64,
    /// The number of bytes received.
    pub(super) delivered: u64,
}

impl Carried {
    pub(super) fn new(sender: Side, since: Time, bytes: u64) -> Self {
        Self { sender, since, is_acknowledged: false, bytes, delivered: 0 }
    }

    /// Returns the bytes received since the last call.
    #[inline]
    pub(super) fn deliver(&mut self, end: &End) -> u64 {
        let fresh = end.delivered - self.delivered;
        self.delivered = end.delivered;
        fresh
    }

    /// Adds `bytes` that will come on the same connection.
    pub(super) fn ask_for(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.is_acknowledged = false;
    }

    pub(super) fn is_received(&self) -> bool {
        self.delivered >= self.bytes
    }
}

/// Items with numbers that are reused.
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
    /// Remaining bytes of the client's request that the server waits for; zero if it has responded.
    request: u64,
}

impl Transfers {
    pub(super) fn new(setting: Setting) -> Self {
        Self { setting, slots: Slots::default() }
    }

    /// Starts a transfer. The client of a download requests it with `request` bytes.
    pub(super) fn begin(
        &mut self,
        bytes: u64,
        request: u64,
        unbidden: bool,
        actions: &mut Actions,
    ) {
        let sender = self.setting.sender;
        let request = if sender == Side::Server { request } else { 0 };
        let tag = self.open(bytes, request, unbidden, actions);
        if request > 0 {
            let side = Side::Station;
            actions.push(Action::Write { tag, side, bytes: request, last: false });
        } else {
            send(tag, sender, bytes, actions);
        }
    }

    /// Starts a transfer whose program writes later, and returns its tag.
    pub(super) fn begin_empty(&mut self, bytes: u64, actions: &mut Actions) -> u32 {
        let tag = self.open(bytes, 0, false, actions);
        actions.push(Action::Await { tag, bytes });
        tag
    }

    fn open(&mut self, bytes: u64, request: u64, unbidden: bool, actions: &mut Actions) -> u32 {
        let Setting { sender, opener, .. } = self.setting;
        let carried = Carried::new(sender, actions.now, bytes);
        let tag = self.slots.insert(Transfer { carried, request });
        actions.push(Action::Began { unbidden });
        let service = Service::Transfer;
        actions.push(Action::Open { tag, service, opener: Some(opener), acks_first: false });
        tag
    }

    /// Processes bytes that reached an end. Returns whether the receiver now has the whole
    /// transfer.
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

    /// Responds to a transfer's request that reached its sender, or ends a transfer that is
    /// acknowledged.
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

    /// Ends a transfer whose last byte was received.
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

/// Sends a whole transfer. No report is needed until it is complete at one end.
fn send(tag: u32, side: Side, bytes: u64, actions: &mut Actions) {
    actions.push(Action::Await { tag, bytes });
    actions.push(Action::Write { tag, side, bytes, last: false });
}
