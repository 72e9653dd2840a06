//! Shared listeners of stations that hear alike. A station gets its own listener when it sends or
//! is addressed. It returns when it senses, and will do, the same as the others of its group.

use airtcp_kernel::{Duration, Time};

use super::Field;
use super::air::Air;
use super::alike::Groups;
use super::hearing::{GroupId, Hearing, Power};
use super::listener::ListenerId;
use super::node::{Frame, NONE};
use crate::station::StationId;

/// The smallest group that is worth a shared listener.
pub(super) const WORTH_SHARING: usize = 2;

/// The size up to which a group is small.
const SMALL: usize = 3;

/// A group of stations that hear alike.
#[derive(Debug)]
pub(super) struct Group {
    /// The shared listener (unused in a group of one), followed by the listeners of stations with
    /// their own.
    places: Vec<ListenerId>,
    /// The number of stations on the shared listener.
    together: u32,
    /// The listeners that hear the group, in a field where they hear all of it.
    heard_by: Vec<ListenerId>,
    /// The cells whose access points are in the group.
    pub(super) cells: Vec<StationId>,
    /// Whether it has enough stations to share a listener.
    pub(super) is_several: bool,
    /// Whether a station that had an exchange is likely to have the next one, too.
    is_small: bool,
}

impl Group {
    /// Creates the groups of `stations` stations, all on shared listeners, and the number of each
    /// station's group.
    pub(super) fn of_all(
        groups: &Groups,
        stations: usize,
        access_points: StationId,
    ) -> (Vec<Self>, Vec<GroupId>) {
        let mut group_of = vec![0; stations];
        let mut listener = stations as ListenerId;
        let of_members = |(group, members): (GroupId, &Vec<StationId>)| {
            for &station in members {
                group_of[station as usize] = group;
            }
            let is_several = members.len() >= WORTH_SHARING;
            let mut places = vec![listener];
            let together = if is_several { members.len() as u32 } else { 0 };
            if is_several {
                listener += 1;
            } else {
                places.extend_from_slice(members);
            }
            let cells = members.iter().copied().filter(|&one| one < access_points).collect();
            let is_small = members.len() <= SMALL;
            Self { places, together, heard_by: Vec::new(), cells, is_several, is_small }
        };
        let all = (0..).zip(&groups.members).map(of_members).collect();
        (all, group_of)
    }

    /// Records for each group which listeners hear it. Each group must hear the others as a whole.
    pub(super) fn hear_evenly(all: &mut [Self], hearing: &Hearing) {
        for (group, members) in hearing.groups.members.iter().enumerate() {
            let ears = hearing.of(members[0]).iter();
            let heard_by = ears.map(|ear| all[ear.group as usize].listener()).collect();
            all[group].heard_by = heard_by;
        }
    }

    /// Returns the shared listener.
    #[inline]
    pub(super) fn listener(&self) -> ListenerId {
        self.places[0]
    }

    /// Returns all listeners of its stations.
    #[inline]
    pub(super) fn listeners(&self) -> &[ListenerId] {
        if self.together > 0 { &self.places } else { self.apart() }
    }

    /// Returns all listeners that hear it in an even field.
    #[inline]
    pub(super) fn heard_by(&self) -> &[ListenerId] {
        &self.heard_by
    }

    /// Adds the own listener of `station` to those that hear the group.
    pub(super) fn is_heard_by(&mut self, station: StationId) {
        self.heard_by.push(station);
    }

    /// Removes the own listener of `station` from those that hear the group.
    pub(super) fn is_heard_by_no_more(&mut self, station: StationId) {
        let place = self.heard_by.iter().rposition(|&one| one == station);
        self.heard_by.swap_remove(place.expect("it was heard"));
    }

    /// Returns the stations with their own listeners.
    #[inline]
    fn apart(&self) -> &[StationId] {
        &self.places[1..]
    }

    /// Records that `station` has its own listener now.
    pub(super) fn parts(&mut self, station: StationId) {
        self.together -= 1;
        self.places.push(station);
    }

    /// Records that `station` is back on the shared listener.
    pub(super) fn joins(&mut self, station: StationId) {
        self.together += 1;
        let place = self.places.iter().rposition(|&one| one == station);
        self.places.swap_remove(place.expect("it has listened apart"));
    }
}

/// Calls `visit` for each listener that hears `frame` of `sender`, with the received power.
#[inline(always)]
pub(super) fn at_each_that_hears(
    hearing: &Hearing,
    groups: &[Group],
    (sender, frame): (StationId, &Frame),
    mut visit: impl FnMut((ListenerId, Power)),
) {
    for ear in hearing.of(sender) {
        let power = frame.heard_with(ear.power);
        for &listener in groups[ear.group as usize].listeners() {
            if listener != sender {
                visit((listener, power));
            }
        }
    }
}

impl<P: Clone> Field<P> {
    /// Gives `station` its own listener.
    #[inline]
    pub(super) fn listen_apart(&mut self, station: StationId, now: Time) {
        let together = self.air.nodes[station as usize].listener;
        if together != station {
            self.air.settle_notice(together, now);
            self.leave(station, together);
        }
    }

    /// Moves `station` from its group's shared listener to one of its own.
    fn leave(&mut self, station: StationId, together: ListenerId) {
        self.air.move_backoffs(station, (together, station));
        let Self { air: Air { nodes, listeners, .. }, groups, .. } = self;
        let node = &mut nodes[station as usize];
        node.listener = station;
        let group = &mut groups[node.group as usize];
        group.parts(station);
        // Shared listeners come after those of stations.
        let (own, of_groups) = listeners.split_at_mut(together as usize);
        let (own, shared) = (&mut own[station as usize], &mut of_groups[0]);
        own.sense_as(shared);
        let (own, shared) = (&mut own.waiting, &mut shared.waiting);
        if shared.winner == station {
            (own.access, own.winner) = (shared.access, station);
            (shared.access, shared.winner) = (Time::NEVER, NONE);
        }
    }

    /// Moves stations that hear `sender` back to their shared listeners if possible. Excludes
    /// `sender` and `receiver` after their exchange, because they may have the next one, too.
    #[inline]
    pub(super) fn listen_together(&mut self, sender: StationId, receiver: StationId, now: Time) {
        let Self { air, hearing, groups, roles, .. } = self;
        for ear in hearing.of(sender) {
            let group = &mut groups[ear.group as usize];
            if !group.is_several {
                continue;
            }
            let mut place = group.apart().len();
            while place > 0 {
                let station = group.places[place];
                let is_of_exchange = station == sender || station == receiver;
                if !(is_of_exchange && (group.is_small || roles.is_access_point(station))) {
                    air.may_join(group, station, hearing.detect, now);
                }
                place -= 1;
            }
        }
    }
}

impl Air {
    /// Moves `station` to its group's shared listener if it senses the same and has nothing to do.
    fn may_join(&mut self, group: &mut Group, station: StationId, detect: Duration, now: Time) {
        let Self { nodes, listeners, .. } = self;
        let node = &mut nodes[station as usize];
        if node.is_engaged() || node.timeout != Time::NEVER || node.waits_for_end {
            return;
        }
        let (own, of_groups) = listeners.split_at_mut(group.listener() as usize);
        let (own, shared) = (&mut own[station as usize], &mut of_groups[0]);
        if own.lock.is_some() || !own.ignored.is_empty() {
            return;
        }
        if group.together == 0 {
            shared.sense_as(own);
        } else {
            let recent = now.saturating_sub(detect);
            if !own.will_do_as(shared, now, recent) {
                return;
            }
        }
        group.joins(station);
        let listener = group.listener();
        node.listener = listener;
        let has_reset = std::mem::replace(&mut own.nav_reset, Time::NEVER) != Time::NEVER;
        if self.move_backoffs(station, (station, listener)) {
            self.forget_access(station);
            self.find_access(listener);
        }
        if has_reset {
            self.set_clock(station);
            self.set_clock(listener);
        }
    }
}
