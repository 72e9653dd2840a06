//! The busy periods of an even field: how they end, and which parts of their logs are read earlier.

use airtcp_kernel::Time;

use super::log::{Log, Times};
use super::seats::Even;
use super::viewing::Viewers;
use crate::field::Field;
use crate::field::hearing::GroupId;
use crate::field::listener::ListenerId;
use crate::station::StationId;

impl<P: Clone> Field<P> {
    /// Calls `read` with the log of `place`, a single or a shared listener, and with the access
    /// points that listen there.
    #[inline(always)]
    pub(super) fn read<R>(
        &mut self,
        place: ListenerId,
        read: impl FnOnce((&mut Log, StationId), &Times, &mut Viewers<'_>) -> R,
    ) -> R {
        let Self { even, groups, sensed, roles, .. } = self;
        let group = (place as usize).wrapping_sub(even.seats.len());
        let (own, access_points) = match groups.get(group) {
            Some(group) => (StationId::MAX, &group.cells[..]),
            None => (place, &[][..]),
        };
        let mut viewers = Viewers { access_points, sensed, roles };
        let log = &mut even.lanes[place as usize].log;
        read((log, own), &even.times, &mut viewers)
    }

    /// Ends the busy period at `place` at `now`, with the last exchange on the air.
    #[inline(always)]
    pub(super) fn settle_end(&mut self, place: ListenerId, now: Time) {
        let passed = self
            .read(place, |(log, own), times, viewers| log.read_to_end(own, (now, times), viewers));
        let Self { even: Even { lanes, .. }, air, .. } = self;
        let lane = &mut lanes[place as usize];
        lane.freezes(&mut air.queues, &air.settings);
        lane.period_ends(passed, now);
    }

    /// Ends the busy period at `place` at `now`, as [`Self::settle_end`], and schedules the next
    /// access there.
    #[inline(never)]
    pub(super) fn period_ends(&mut self, place: ListenerId, now: Time) {
        self.settle_end(place, now);
        let Self { even, air, .. } = self;
        let lane = &mut even.lanes[place as usize];
        lane.find_access(&mut air.clock, (&air.settings, &air.queues));
    }

    /// Ends an exchange of a station of `group` at `now` at all listeners that hear it, except
    /// where it has already ended.
    #[inline(always)]
    pub(super) fn exchange_is_over(&mut self, group: GroupId, now: Time) {
        let stations = self.even.seats.len();
        let mut any_apart = false;
        let mut one = 0;
        while let Some(&place) = self.groups[group as usize].heard_by().get(one) {
            let lane = &mut self.even.lanes[place as usize];
            one += 1;
            if lane.under_way > 1 {
                lane.under_way -= 1;
                continue;
            }
            lane.under_way = 0;
            any_apart |= (place as usize) < stations;
            if !lane.log.is_empty() {
                self.period_ends(place, now);
            }
        }
        if any_apart {
            self.those_apart_join(group, now);
        }
    }

    /// Brings deferred work up to `now`, so that counters and views can be read.
    pub fn settle(&mut self, now: Time) {
        let limit = self.air.place_at(now);
        for place in 0..self.even.lanes.len() as ListenerId {
            let Self { even: Even { lanes, .. }, air, .. } = self;
            let lane = &mut lanes[place as usize];
            if lane.under_way == 0 {
                continue;
            }
            if lane.is_noticed(limit) {
                lane.freezes(&mut air.queues, &air.settings);
            }
            self.read(place, |(log, own), times, viewers| {
                log.read(own, (now, times), viewers);
                log.view(now, viewers);
            });
        }
    }
}
