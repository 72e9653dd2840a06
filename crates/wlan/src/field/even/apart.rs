//! Separate listeners in an even field: a station moves to its own listener after a collision, and
//! back to the shared one later. Only backoffs and busy periods matter here.

use airtcp_kernel::Time;

use super::seats::{Does, Even};
use crate::field::Field;
use crate::field::hearing::GroupId;
use crate::station::StationId;

impl<P: Clone> Field<P> {
    /// Moves `station`, whose data collide, to its own listener as of the start of its data.
    pub(super) fn part(&mut self, station: StationId) {
        let Self { even: Even { seats, lanes, .. }, groups, hearing, .. } = self;
        let seat = &mut seats[station as usize];
        let together = seat.lane;
        if together == station {
            return;
        }
        seat.lane = station;
        groups[seat.group as usize].parts(station);
        let start = seat.sent.start;
        for ear in hearing.of(station) {
            groups[ear.group as usize].is_heard_by(station);
        }
        let since = start.saturating_sub(hearing.detect);
        let (own, of_groups) = lanes.split_at_mut(together as usize);
        let (own, shared) = (&mut own[station as usize], &of_groups[0]);
        let under_way = own.log.part(&shared.log, since);
        (own.waiting.idle_from, own.waiting.nav, own.waiting.eifs) =
            (start, Time::ZERO, Time::ZERO);
        (own.under_way, own.noticed, own.is_frozen) = (under_way, shared.noticed, false);
    }

    /// Moves stations that hear `group` back to their shared listeners if their busy period is over
    /// at `now` and nothing prevents it.
    #[cold]
    pub(super) fn those_apart_join(&mut self, group: GroupId, now: Time) {
        let stations = self.even.seats.len();
        for one in (0..self.groups[group as usize].heard_by().len()).rev() {
            let place = self.groups[group as usize].heard_by()[one];
            if (place as usize) < stations && self.even.lanes[place as usize].under_way == 0 {
                self.join(place, now);
            }
        }
    }

    /// Moves `station`, whose busy period is over at `now`, back to its group's shared listener.
    /// Does so only if both have the same state and the station waits for nothing.
    fn join(&mut self, station: StationId, now: Time) {
        let Self { even: Even { seats, lanes, .. }, groups, hearing, air, .. } = self;
        let seat = &mut seats[station as usize];
        if seat.does != Does::Nothing {
            return;
        }
        let (group, by) = (seat.group, seat.by);
        let together = groups[group as usize].listener();
        let (own, of_groups) = lanes.split_at_mut(together as usize);
        let (own, shared) = (&mut own[station as usize], &mut of_groups[0]);
        if shared.under_way > 0
            || own.waiting.spaces_begin() != shared.waiting.spaces_begin()
            || !own.waiting.is_bound_as(&shared.waiting, now)
        {
            return;
        }
        groups[group as usize].joins(station);
        for ear in hearing.of(station) {
            groups[ear.group as usize].is_heard_by_no_more(station);
        }
        seat.lane = together;
        own.forget_access(&mut air.clock);
        own.waiting.move_to(&mut shared.waiting, by, &mut air.queues);
        shared.find_access(&mut air.clock, (&air.settings, &air.queues));
    }
}
