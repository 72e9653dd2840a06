//! Stations that hear alike and listen together: one of them listens apart from when it sends or is sent to, until all
//! that it senses, and will do, is again that of the others. Knows what listeners sense, and no frame.

use airtcp_kernel::{Duration, Time};

use super::Field;
use super::air::Air;
use super::alike::Groups;
use super::hearing::{GroupId, Hearing, Power};
use super::listener::ListenerId;
use super::node::Frame;
use crate::station::StationId;

/// The least number of stations that are worth a listener together.
pub(super) const WORTH_SHARING: usize = 2;

/// The number of stations of a small group.
const SMALL: usize = 3;

/// A group of stations that hear alike.
#[derive(Debug)]
pub(super) struct Group {
    /// The listener of those that listen together, which none do in a group of one, and behind it those that do not.
    places: Vec<ListenerId>,
    /// The number of those that listen together.
    together: u32,
    /// The listeners that hear it, where all of them hear all of it.
    heard_by: Vec<ListenerId>,
    /// The cells whose access points it has.
    pub(super) cells: Vec<StationId>,
    /// A flag: it has enough stations to listen together.
    pub(super) is_several: bool,
    /// A flag: who has had an exchange is likely to have the next one, too.
    is_small: bool,
}

impl Group {
    /// Makes the groups of so many stations, which all listen together, and the number of the group of each station.
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

    /// Notes of each of `all`, which hear each other as a whole, by which it is heard.
    pub(super) fn hear_evenly(all: &mut [Self], hearing: &Hearing) {
        for (group, members) in hearing.groups.members.iter().enumerate() {
            let ears = hearing.of(members[0]).iter();
            let heard_by = ears.map(|ear| all[ear.group as usize].listener()).collect();
            all[group].heard_by = heard_by;
        }
    }

    /// Returns the listener of those that listen together.
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

    /// Notes that it is heard by `station`, which listens apart.
    pub(super) fn is_heard_by(&mut self, station: StationId) {
        self.heard_by.push(station);
    }

    /// Notes that it is heard no more by `station` apart.
    pub(super) fn is_heard_by_no_more(&mut self, station: StationId) {
        let place = self.heard_by.iter().rposition(|&one| one == station);
        self.heard_by.swap_remove(place.expect("it was heard"));
    }

    /// Returns the stations that listen apart.
    #[inline]
    fn apart(&self) -> &[StationId] {
        &self.places[1..]
    }

    /// Notes that `station` listens apart.
    pub(super) fn parts(&mut self, station: StationId) {
        self.together -= 1;
        self.places.push(station);
    }

    /// Notes that `station` does so no more.
    pub(super) fn joins(&mut self, station: StationId) {
        self.together += 1;
        let place = self.places.iter().rposition(|&one| one == station);
        self.places.swap_remove(place.expect("it has listened apart"));
    }
}

/// Has `visit` see to each listener that hears `frame` of `sender`, with the power with which it does.
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
    /// Has `station` listen apart.
    #[inline]
    pub(super) fn listen_apart(&mut self, station: StationId, now: Time) {
        let together = self.air.nodes[station as usize].listener;
        if together != station {
            self.air.settle_notice(together, now);
            self.leave(station, together);
        }
    }

    /// Has `station` listen apart from those that listen as `together`.
    fn leave(&mut self, station: StationId, together: ListenerId) {
        if self.air.nodes[station as usize].counting > 0 {
            self.air.moves_apart(station, together);
        }
        let Self { air: Air { nodes, listeners, .. }, groups, .. } = self;
        let node = &mut nodes[station as usize];
        node.listener = station;
        let group = &mut groups[node.group as usize];
        group.parts(station);
        // Those of groups are behind those of stations.
        let (own, of_groups) = listeners.split_at_mut(together as usize);
        let (own, shared) = (&mut own[station as usize], &mut of_groups[0]);
        own.sense_as(shared);
        // It has no frame, and no other event of its own than its access.
        if !node.acts.is_never() {
            let place = shared.winners.iter().position(|&one| one == station);
            shared.winners.swap_remove(place.expect("whose access is known wins it"));
            own.winners.push(station);
            own.access = shared.access;
            if shared.winners.is_empty() {
                shared.access = Time::NEVER;
            }
        }
    }

    /// Has those listen together again that hear `sender` and may, but for it and its `receiver`, which had just an
    /// exchange: they may have the next one, too.
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
    /// Has `station` listen with the rest of its group if it senses the same and has nothing to do.
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
        if !self.listeners[station as usize].counting.is_empty() {
            self.moves_together(station, listener);
        }
        // They have the same medium, so that each one's access is what it was.
        self.merge_access(listener, station);
        if has_reset {
            self.set_clock(station);
            self.set_clock(listener);
        }
    }
}
