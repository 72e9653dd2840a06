//! Between applications and endpoints: carries out the actions of applications, and reports
//! arrivals to them.
//!
//! It handles connections and their timers; `turn` handles arrivals.

#[cfg(test)]
mod tests;

use airtcp_kernel::Time;

use super::foreign::LiveFlow;
use super::{Event, World};
use crate::app::{Action, AppEvent, Service};
use crate::connection::{Connection, Side};
use crate::control::RunError;
use crate::scenario::Direction;

/// Transfers in progress at which a flow overloads the network, if its transfers begin
/// independently of their ends. Each takes about a kilobyte; no real user waits in such a queue.
const MOST_TRANSFERS: usize = 100_000;

/// Datagrams in queues and on links at which sources of a constant rate overload the network. Each
/// takes some 60 bytes; at 11 Mb/s they take an hour to send.
const MOST_DATAGRAMS: u64 = 4_000_000;

/// The number of datagrams that a flow sends between two checks for overload.
const DATAGRAMS_BETWEEN_LOOKS: u64 = 1 << 12;

impl World<'_> {
    /// Starts the applications of these flows.
    pub(crate) fn start_applications(&mut self, of: impl Fn(LiveFlow) -> bool) {
        for id in 0..self.flows.len() {
            let flow = &mut self.flows[id];
            let (true, Some(start)) = (of(flow.live(self.access_points)), flow.start) else {
                continue;
            };
            flow.app.start(self.now + start, &mut flow.draws, &mut self.actions);
            self.carry_out(id as u32);
        }
    }

    /// Handles a timer of one end of a connection that may be due.
    pub(super) fn timer(&mut self, id: u32, side: Side) {
        let connection = &mut self.connections[id as usize];
        if connection.disarm(side, self.now) {
            if connection.end(side).poll_timer() > self.now {
                // Usually the deadline has moved since the event was scheduled.
                if let Some(deadline) = connection.arm(side) {
                    self.schedule(deadline, Event::Timer(id, side));
                }
                return;
            }
            let config = self.flows[connection.flow as usize].end(side);
            connection.endpoint(side).on_timer(config.at(self.now));
            self.drain(id, side);
        }
    }

    /// Sends on a connection for which a station has room again.
    #[cold]
    pub(super) fn resume(&mut self, id: u32) {
        if self.connections[id as usize].open {
            self.drain(id, Side::Station);
        }
    }

    /// Wakes the application of a flow.
    #[inline(never)]
    pub(super) fn wake(&mut self, flow: u32) {
        self.tell(flow, AppEvent::Woken);
    }

    /// Carries out the actions of the application of `flow`.
    #[inline(never)]
    pub(super) fn carry_out(&mut self, flow: u32) {
        // No action causes further actions at once: packets arrive later.
        let mut list = std::mem::take(&mut self.actions.list);
        for action in list.drain(..) {
            match action {
                Action::Wake { at } => self.schedule(at, Event::Wake(flow)),
                Action::Open { tag, service, opener, acks_first } => {
                    self.open(flow, tag, service, opener, acks_first);
                }
                Action::Write { tag, side, bytes, last } => {
                    let id = self.place(flow, tag);
                    let endpoint = self.connections[id as usize].endpoint(side);
                    endpoint.write(bytes);
                    if last {
                        endpoint.close();
                    }
                    self.drain(id, side);
                }
                Action::Close { tag, side } => {
                    let id = self.place(flow, tag);
                    self.connections[id as usize].endpoint(side).close();
                    self.drain(id, side);
                }
                Action::Await { tag, bytes } => {
                    let id = self.place(flow, tag);
                    self.connections[id as usize].await_bytes(bytes);
                }
                Action::Abandon { tag } => {
                    let id = self.place(flow, tag);
                    self.connections[id as usize].abandon();
                }
                Action::Send { side, bytes } => {
                    let sent = self.flows[flow as usize].books.packets.sent;
                    if sent % DATAGRAMS_BETWEEN_LOOKS == DATAGRAMS_BETWEEN_LOOKS - 1 {
                        self.look_for_a_flood(flow);
                    }
                    if self.failure.is_none() {
                        self.send_datagram(flow, side, bytes);
                    }
                }
                Action::Saturate { side, bytes } => self.saturate(flow, side, bytes),
                Action::Began { unbidden } => {
                    if unbidden && self.ledger.active_transfers() >= MOST_TRANSFERS {
                        self.overloaded(flow);
                        break;
                    }
                    let began = &mut self.flows[flow as usize];
                    began.begin_transfer(self.now);
                    self.ledger.transfer_started(self.now, began);
                    self.record_start(flow);
                }
                Action::Received { began, bytes } => self.transfer_received(flow, began, bytes),
                Action::Asked => {
                    let asking = &mut self.flows[flow as usize];
                    asking.page_asked = Some(self.now);
                    self.ledger.page_asked(self.now, asking.entry);
                }
                Action::Loaded { began } => {
                    let asking = &mut self.flows[flow as usize];
                    self.ledger.page_loaded(self.now, began, asking);
                    asking.page_asked = None;
                }
                Action::Acknowledged { began } => {
                    let scope = self.flows[flow as usize].scope;
                    self.ledger.transfer_acknowledged(self.now, began, scope);
                }
            }
        }
        self.actions.list = list;
    }

    /// Returns the slot of the connection that the application of `flow` calls `tag`.
    fn place(&self, flow: u32, tag: u32) -> u32 {
        self.flows[flow as usize].places[tag as usize]
    }

    fn open(
        &mut self,
        flow_id: u32,
        tag: u32,
        service: Service,
        opener: Option<Side>,
        acks_first: bool,
    ) {
        let flow = &mut self.flows[flow_id as usize];
        let sender = match flow.config.direction {
            Direction::Download => Side::Server,
            Direction::Upload => Side::Station,
        };
        let carried = (sender, service.carries_transfers());
        let mut connection =
            Connection::new(flow.ends(), opener, carried, flow_id, tag, acks_first);
        if flow.tcp().packets.small_queue {
            connection.keep_queue_small();
        }
        let id = match self.free_connections.pop() {
            Some(id) => {
                self.connections[id as usize] = connection;
                id
            }
            None => {
                self.connections.push(connection);
                self.connections.len() as u32 - 1
            }
        };
        let known = flow.places.len().max(tag as usize + 1);
        flow.places.resize(known, u32::MAX);
        flow.places[tag as usize] = id;
        self.record_connection(id);
        self.show(move |capture, _| capture.connection(id, flow_id, service));
        if let Some(opener) = opener {
            self.drain(id, opener);
        }
    }

    /// Fails the run: transfers in progress exceed `MOST_TRANSFERS`.
    #[cold]
    fn overloaded(&mut self, flow_id: u32) {
        let (name, now) = (&self.flows[flow_id as usize].name, self.now);
        self.failure.get_or_insert_with(|| {
            RunError::Overloaded(format!(
                "flow {name} begins transfers faster than the network carries them: \
                 {MOST_TRANSFERS} are under way after {:.3} s of simulated time; allowed: fewer or \
                 smaller transfers, or a shorter run",
                now.as_secs_f64()
            ))
        });
    }

    /// Fails the run if queued datagrams exceed `MOST_DATAGRAMS`.
    #[cold]
    fn look_for_a_flood(&mut self, flow_id: u32) {
        let udp = self.flows.iter().filter(|flow| flow.config.tcp.is_none());
        let under_way: u64 = udp.map(|flow| flow.books.under_way()).sum();
        if under_way < MOST_DATAGRAMS {
            return;
        }
        let (name, now) = (&self.flows[flow_id as usize].name, self.now);
        self.failure.get_or_insert_with(|| {
            RunError::Overloaded(format!(
                "flow {name} sends faster than the network carries: {under_way} datagrams wait \
                 after {:.3} s of simulated time; allowed: a lower rate, a limit of the queue that \
                 they wait in, or a shorter run",
                now.as_secs_f64()
            ))
        });
    }

    /// Counts a completely received transfer that began at `began`.
    pub(super) fn transfer_received(&mut self, flow_id: u32, began: Time, bytes: u64) {
        self.record_end(flow_id);
        let flow = &mut self.flows[flow_id as usize];
        flow.end_transfer(began);
        self.ledger.transfer_received(self.now, (flow_id, flow), began, bytes);
    }

    /// Closes a connection on which nothing more can happen.
    #[cold]
    pub(super) fn close(&mut self, id: u32) {
        let connection = &mut self.connections[id as usize];
        connection.open = false;
        let (tag, counted) = (connection.tag, connection.counted());
        let flow = &mut self.flows[connection.flow as usize];
        flow.measured.tcp += counted;
        flow.app.on_gone(tag);
        self.free_connections.push(id);
    }
}
