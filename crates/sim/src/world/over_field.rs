//! The world as a field sees it: as a cell does, but for its airtime, of which several things may happen at once. What
//! each access point senses is the field's own account; here the exchanges of each group that have succeeded are
//! counted, and the records of cells are made.

use airtcp_kernel::{Duration, Time};
use airtcp_wlan::{
    Began, ContenderId, FailureCounts, Field, FrameTimes, MacEvent, Mpdu, Msdu, StationId, Supply,
    View,
};

use super::World;
use crate::airtime::{AirtimeParts, Cargo};
use crate::outcome::{CellAirtime, CellFailures, CellRecord, FlowRecord};
use crate::packet::Packet;
use crate::statistics::ratio;

/// The world, over a field.
#[derive(Debug)]
pub(crate) struct OverField<'w, 'a>(pub(crate) &'w mut World<'a>);

/// The books that are kept beside for a field.
#[derive(Debug, Default)]
pub(super) struct FieldBooks {
    /// The exchange of each queue that is under way: its beginning, the times of its frames, and the scope and contents
    /// of its data.
    under_way: Vec<Option<(Time, FrameTimes, u32, Cargo)>>,
    /// The airtime that access points had sensed, and the failures of cells, when measuring began.
    views: Vec<View>,
    failures: Vec<FailureCounts>,
}

impl Supply<Packet> for OverField<'_, '_> {
    fn next(
        &mut self,
        contender: ContenderId,
        now: Time,
        fits: impl FnOnce(StationId, u64) -> bool,
        take: impl FnOnce(Msdu<Packet>),
    ) -> bool {
        self.0.next(contender, now, fits, take)
    }

    fn receiver<'a>(
        &mut self,
        contender: ContenderId,
        waiting: impl Iterator<Item = (StationId, Option<&'a Packet>)>,
    ) -> Option<StationId> {
        self.0.receiver(contender, waiting)
    }

    fn next_for(
        &mut self,
        contender: ContenderId,
        receiver: StationId,
        now: Time,
        fits: impl FnOnce(u64) -> bool,
        take: impl FnOnce(Msdu<Packet>),
    ) -> bool {
        self.0.next_for(contender, receiver, now, fits, take)
    }

    fn has_next(&self, contender: ContenderId) -> bool {
        self.0.has_next(contender)
    }

    fn acknowledged(&mut self, now: Time, by: ContenderId, mpdu: &Mpdu<Packet>) -> bool {
        self.0.exchange_succeeded_over_field(by);
        self.0.acknowledged(now, by, mpdu)
    }

    fn carries_data(&self, payload: &Packet) -> bool {
        self.0.carries_data(payload)
    }

    fn watches_colliders(&self) -> bool {
        self.0.watches_colliders()
    }

    fn next_ready(&mut self) -> Option<ContenderId> {
        self.0.next_ready()
    }

    fn has_ready(&self) -> bool {
        self.0.has_ready()
    }

    fn on_event(&mut self, now: Time, event: MacEvent<'_, Packet>) {
        match event {
            MacEvent::Began(Began::Exchange { by, times, ppdu }) => {
                let first = ppdu.psdus()[0].frames.first().payload;
                let cargo = super::air::cargo(ppdu.frames());
                let under_way = (now, *times, first.body.scope, cargo);
                self.0.field.under_way[by as usize] = Some(under_way);
                if self.0.watchers.watch_frames() {
                    self.0.show_exchange(by, now, times, ppdu);
                }
            }
            MacEvent::Lost { by, psdu, .. } => {
                self.0.field.under_way[by as usize] = None;
                if self.0.watchers.watch_frames() {
                    self.0.frame_failed(by, &psdu.first().payload, false);
                    self.0.record_lost_ppdu(by);
                    self.0.capture_unanswered(by);
                }
            }
            MacEvent::Began(Began::Request { by, times, receiver, window_start, .. }) => {
                if self.0.watchers.shares_airtime {
                    self.0.charge(by, receiver, times.total);
                }
                self.0.capture_request(by, now, times, receiver, window_start, true);
            }
            MacEvent::Heard(frame) => self.0.capture_heard(&frame),
            event => self.0.on_event(now, event),
        }
    }
}

impl World<'_> {
    /// Prepares for a field with so many queues.
    pub(super) fn prepare_for_field(&mut self) {
        self.field.under_way = vec![None; self.transmitters.len()];
    }

    /// Counts the airtime of the exchange of `by` that is under way, if it was not counted: it has succeeded.
    #[inline]
    fn exchange_succeeded_over_field(&mut self, by: ContenderId) {
        if let Some((start, times, scope, cargo)) = self.field.under_way[by as usize].take() {
            self.airtime.exchange_apart(start, &times, scope, cargo, &self.scenario.phy);
        }
    }

    /// Notes what has been sensed before measuring begins.
    pub(super) fn start_measuring_field(&mut self, field: &Field<Packet>) {
        self.field.views = field.views(self.now).collect();
        self.field.failures = field.failures().to_vec();
    }

    /// Checks that what each access point has sensed adds up to the measured time, and returns the means of all.
    pub(super) fn field_airtime(&self, field: &Field<Packet>) -> Result<AirtimeParts, String> {
        let measured = self.scenario.run.duration;
        let mut sum = AirtimeParts::default();
        let mut cells = 0;
        for (view, before) in field.views(self.now).zip(&self.field.views) {
            let of = |part: fn(&View) -> Duration| part(&view) - part(before);
            let heard = of(|view| view.heard);
            let idle = of(|view| view.idle) + heard;
            let parts = [
                of(|view| view.data),
                of(|view| view.tcp_ack),
                of(|view| view.control),
                of(|view| view.overlapped),
            ];
            let all = parts.iter().fold(idle, |sum, &part| sum + part);
            if all != measured {
                return Err(format!("airtime of a cell adds up to {all}, not to {measured}"));
            }
            let [data, tcp_ack, control, collision] = parts;
            sum.idle += idle;
            sum.data += data;
            sum.tcp_ack += tcp_ack;
            sum.control += control;
            sum.collision += collision;
            cells += 1;
        }
        let mean = |part: Duration| Duration::from_nanos(part.as_nanos() / cells);
        let AirtimeParts { idle: _, data, tcp_ack, control, collision } = sum;
        let [data, tcp_ack, control, collision] = [data, tcp_ack, control, collision].map(mean);
        let rest = measured - data - tcp_ack - control - collision;
        Ok(AirtimeParts { idle: rest, data, tcp_ack, control, collision })
    }

    /// Makes the record of each cell.
    pub(super) fn cell_records(
        &self,
        field: &Field<Packet>,
        flows: &[FlowRecord],
    ) -> Vec<CellRecord> {
        let measured = self.scenario.run.duration;
        let views = field.views(self.now).zip(&self.field.views);
        let failures = field.failures().iter().zip(&self.field.failures);
        (0..)
            .zip(views.zip(failures))
            .map(|(cell, ((view, before), (failed, failed_before)))| {
                let share =
                    |part: fn(&View) -> Duration| ratio(part(&view) - part(before), measured);
                let own = share(|view| view.data)
                    + share(|view| view.tcp_ack)
                    + share(|view| view.control)
                    + share(|view| view.overlapped);
                let is_own = |node: u32| self.nodes[node as usize].access_point == cell;
                let goodput = self.flows.iter().zip(flows);
                let goodput = goodput.filter(|(flow, _)| flow.access_point == cell);
                let attempts = (0..).zip(&self.transmitters).filter(|(_, one)| is_own(one.node));
                let of_cells = view.of_cells.iter().zip(&before.of_cells);
                CellRecord {
                    goodput_bps: goodput.map(|(_, record)| record.goodput_bps).sum(),
                    airtime: CellAirtime {
                        own,
                        heard: share(|view| view.heard),
                        idle: share(|view| view.idle),
                    },
                    attempts: attempts
                        .map(|(id, _)| {
                            let counted = *field.counters(id);
                            (counted - self.measures.mac_baseline[id as usize]).attempts_ended()
                        })
                        .sum(),
                    failures: CellFailures {
                        same_slot: failed.same_slot - failed_before.same_slot,
                        hidden: failed.hidden - failed_before.hidden,
                        neighbour: failed.neighbour - failed_before.neighbour,
                    },
                    waits_for: (0..)
                        .zip(of_cells)
                        .filter(|&(other, (now, then))| other != cell && now > then)
                        .map(|(other, (&now, &then))| (other, ratio(now - then, measured)))
                        .collect(),
                }
            })
            .collect()
    }
}
