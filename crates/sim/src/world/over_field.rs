//! The airtime of a field, where several transmissions may overlap. The field itself records what each access point senses. Here the
//! successful exchanges of each group are counted, and the records of cells created.

use airtcp_kernel::{Duration, Time};
use airtcp_wlan::{
    AirtimeParts, Began, ContenderId, FailureCounts, Field, FrameTimes, MacEvent, Ppdu, View,
};

use super::World;
use super::groups::Places;
use super::node::Transmitter;
use crate::airtime::Cargo;
use crate::medium::Medium;
use crate::outcome::{CellAirtime, CellRecord, FlowRecord};
use crate::packet::Packet;
use crate::statistics::ratio;

/// Additional accounts for a field.
#[derive(Debug, Default)]
pub(super) struct FieldBooks {
    /// The current or last exchange of each queue; and start and times of its last exchange that
    /// was not certain to be fully measured.
    under_way: Vec<UnderWay>,
    at_edge: Vec<(Time, FrameTimes)>,
    /// Airtime views of access points and failures of queues, when measuring began.
    views: Vec<View>,
    failures: Vec<FailureCounts>,
}

/// An exchange of a queue: the time of its data and of its other frames, and the scope and contents
/// of its data.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    data: Duration,
    control: Duration,
    scope: u32,
    cargo: Cargo,
    counts: Counts,
}

/// Which part of an exchange counts if it succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    /// None: there is no exchange.
    Nothing,
    /// All of it: it is fully measured.
    All,
    /// The measured part, which is computed when it has succeeded.
    Part,
}

impl UnderWay {
    /// The state of a queue that has sent nothing yet.
    const NONE: Self = Self {
        data: Duration::ZERO,
        control: Duration::ZERO,
        scope: 0,
        cargo: Cargo::Data,
        counts: Counts::Nothing,
    };
}

impl World<'_> {
    /// Processes an event of a field.
    #[inline(always)]
    pub(super) fn on_field_event(&mut self, now: Time, event: MacEvent<'_, Packet>) {
        match event {
            MacEvent::Began(Began::Exchange { by, times, ppdu }) => {
                self.exchange_begins_over_field(by, now, times, ppdu);
            }
            MacEvent::Lost { by, psdu, .. } => {
                self.field.under_way[by as usize].counts = Counts::Nothing;
                if self.watchers.watch_frames() {
                    self.frame_failed(by, &psdu.first().payload, false);
                    self.record_lost_ppdu(by);
                    self.capture_unanswered(by);
                }
            }
            MacEvent::Began(Began::Request { by, times, receiver, window_start, .. }) => {
                if self.watchers.shares_airtime {
                    self.charge(by, now, receiver, times.total);
                }
                self.capture_request(by, now, times, receiver, window_start, true);
            }
            MacEvent::Heard(frame) => self.capture_heard(&frame),
            event => self.on_event(now, event),
        }
    }

    /// Prepares for a field with all queues.
    pub(super) fn prepare_for_field(&mut self) {
        let queues = self.transmitters.len();
        self.field.under_way = vec![UnderWay::NONE; queues];
        self.field.at_edge = vec![(Time::ZERO, FrameTimes::default()); queues];
    }

    /// Records an exchange of `by` that begins at `start`.
    #[inline(always)]
    fn exchange_begins_over_field(
        &mut self,
        by: ContenderId,
        start: Time,
        times: &FrameTimes,
        ppdu: Ppdu<'_, Packet>,
    ) {
        let first = &ppdu.psdus()[0].frames.first().payload;
        let is_whole = self.airtime.will_measure(start, start + times.total);
        self.field.under_way[by as usize] = UnderWay {
            data: times.data,
            control: times.control,
            scope: first.body.scope,
            cargo: super::air::cargo(ppdu.frames()),
            counts: if is_whole { Counts::All } else { Counts::Part },
        };
        if !is_whole {
            self.field.at_edge[by as usize] = (start, *times);
        }
        if self.watchers.watch_frames() {
            self.show_exchange(by, start, times, ppdu, false);
        }
    }

    /// Counts the airtime of the current exchange of `by`, which has succeeded, unless it is
    /// already counted.
    #[inline(always)]
    pub(super) fn exchange_succeeded_over_field(&mut self, by: ContenderId) {
        let one = &mut self.field.under_way[by as usize];
        match std::mem::replace(&mut one.counts, Counts::Nothing) {
            Counts::Nothing => {}
            Counts::All => self.airtime.add_apart(one.scope, one.cargo, (one.data, one.control)),
            Counts::Part => self.count_part_over_field(by),
        }
    }

    /// Counts the measured part of the exchange of `by`.
    #[cold]
    fn count_part_over_field(&mut self, by: ContenderId) {
        let (start, times) = self.field.at_edge[by as usize];
        let UnderWay { scope, cargo, .. } = self.field.under_way[by as usize];
        self.airtime.exchange_apart(start, &times, scope, cargo, self.phy);
    }

    /// Records the values at the start of measuring.
    pub(super) fn start_measuring_field(&mut self, field: &Field<Packet>) {
        self.field.views = field.views(self.now).collect();
        self.field.failures = field.failures().to_vec();
    }

    /// Returns what each access point of a field has sensed in the measured time.
    ///
    /// # Errors
    /// If the parts do not sum to the measured time.
    pub(super) fn field_views(&self, field: &Field<Packet>) -> Result<Vec<View>, String> {
        let measured = self.scenario.run.duration;
        let views = field.views(self.now).zip(&self.field.views);
        let views = views.map(|(now, before)| {
            let of_cells = now.of_cells.iter().zip(&before.of_cells);
            let of_cells = of_cells.map(|(&now, &then)| now - then).collect();
            let view = View { parts: now.parts - before.parts, of_cells };
            let all = view.parts.total();
            if all == measured {
                Ok(view)
            } else {
                Err(format!("airtime of a cell adds up to {all}, not to {measured}"))
            }
        });
        views.collect()
    }

    /// Returns the failures of the queues of a field in the measured time.
    pub(super) fn field_failures(&self, field: &Field<Packet>) -> Vec<FailureCounts> {
        let both = field.failures().iter().zip(&self.field.failures);
        both.map(|(&now, &then)| now - then).collect()
    }

    /// Returns the mean of what several access points have sensed; all that is not of their own
    /// cells is idle.
    pub(super) fn mean_airtime(&self, of_cells: &[AirtimeParts]) -> AirtimeParts {
        let mean = |part: fn(&AirtimeParts) -> Duration| {
            let sum = of_cells.iter().map(|one| part(one).as_nanos()).sum::<u64>();
            Duration::from_nanos(sum / of_cells.len() as u64)
        };
        let mut parts = AirtimeParts {
            data: mean(|one| one.data),
            tcp_ack: mean(|one| one.tcp_ack),
            control: mean(|one| one.control),
            overlapped: mean(|one| one.overlapped),
            ..AirtimeParts::default()
        };
        parts.idle = self.scenario.run.duration - parts.own();
        parts
    }

    /// Creates the record of each of several cells from what its access point has sensed.
    pub(super) fn cell_records(
        &self,
        medium: &Medium,
        views: &[View],
        flows: &[FlowRecord],
        failures: &[FailureCounts],
    ) -> Vec<CellRecord> {
        if views.is_empty() {
            return Vec::new();
        }
        let share = |part: Duration| ratio(part, self.scenario.run.duration);
        let cells = views.len() as u32;
        let cell_of = |one: &Transmitter| Some(self.nodes[one.node as usize].access_point);
        let of_flows = Places::new(cells, self.flows.iter().map(|flow| Some(flow.access_point)));
        let of_queues = Places::new(cells, self.transmitters.iter().map(cell_of));
        (0..)
            .zip(views.iter().zip(self.failures_of_cells(failures)))
            .map(|(cell, (view, failures))| {
                let goodput = of_flows.of(cell).iter();
                let attempts = of_queues.of(cell).iter();
                let AirtimeParts { idle, data, tcp_ack, control, overlapped, heard } = view.parts;
                CellRecord {
                    goodput_bps: goodput.map(|&flow| flows[flow as usize].goodput_bps).sum(),
                    airtime: CellAirtime {
                        own: share(data) + share(tcp_ack) + share(control) + share(overlapped),
                        heard: share(heard),
                        idle: share(idle),
                    },
                    attempts: attempts.map(|&id| self.mac_counted_by(id, medium).attempts).sum(),
                    failures,
                    waits_for: (0..)
                        .zip(&view.of_cells)
                        .filter(|&(other, &time)| other != cell && time > Duration::ZERO)
                        .map(|(other, &time)| (other, share(time)))
                        .collect(),
                }
            })
            .collect()
    }
}
