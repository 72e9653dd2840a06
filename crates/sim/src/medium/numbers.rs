//! The numbers of stations, contenders, cells and rate classes on one of several media. Each medium
//! numbers its own from zero, so that it stores nothing of the others. The world numbers all of
//! them.

use airtcp_kernel::Time;
use airtcp_wlan::{
    Began, ContenderId, HeardBy, HeardFrame, MacEvent, Mpdu, Msdu, Ppdu, StationId, Supply,
    TriggeredPsdu, UserPsdu,
};

use crate::packet::Packet;

/// The world's numbers of a medium's entities, by the medium's numbers. Both are in the same order.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    pub(crate) stations: Vec<StationId>,
    pub(crate) contenders: Vec<ContenderId>,
    pub(crate) cells: Vec<u32>,
    pub(crate) classes: Vec<u32>,
}

/// The medium's numbers of all stations and contenders, by the world's numbers.
#[derive(Debug, Default)]
pub(crate) struct Places {
    pub(crate) stations: Vec<StationId>,
    pub(crate) contenders: Vec<ContenderId>,
}

impl Places {
    /// Creates the inverse of `all`, which together have all stations and contenders.
    pub(crate) fn of(all: &[Numbers]) -> Self {
        let inverse = |of: fn(&Numbers) -> &[u32]| {
            let mut places = vec![0; all.iter().map(|one| of(one).len()).sum()];
            for one in all {
                for (place, &number) in (0..).zip(of(one)) {
                    places[number as usize] = place;
                }
            }
            places
        };
        Self { stations: inverse(|one| &one.stations), contenders: inverse(|one| &one.contenders) }
    }
}

/// The supply of one of several media, with the medium's numbers.
#[derive(Debug)]
pub(super) struct Renumbered<'a, S> {
    pub(super) supply: &'a mut S,
    pub(super) numbers: &'a Numbers,
    pub(super) places: &'a Places,
}

impl<S> Renumbered<'_, S> {
    #[inline(always)]
    fn contender(&self, id: ContenderId) -> ContenderId {
        self.numbers.contenders[id as usize]
    }

    #[inline(always)]
    fn station(&self, id: StationId) -> StationId {
        self.numbers.stations[id as usize]
    }

    #[inline(always)]
    fn ppdu<'a: 'b, 'b>(
        &self,
        ppdu: Ppdu<'a, Packet>,
        users: &'b mut Vec<UserPsdu<'a, Packet>>,
    ) -> Ppdu<'b, Packet> {
        ppdu.with_classes(|class| self.class(class), users)
    }

    #[inline(always)]
    fn class(&self, class: u32) -> u32 {
        self.numbers.classes[class as usize]
    }

    /// Renumbers `began`. `users` is where the PSDUs of several users are stored.
    #[inline(always)]
    fn began<'a: 'b, 'b>(
        &self,
        began: Began<'a, Packet>,
        users: &'b mut Vec<UserPsdu<'a, Packet>>,
    ) -> Began<'b, Packet> {
        match began {
            Began::Exchange { by, times, ppdu } => {
                Began::Exchange { by: self.contender(by), times, ppdu: self.ppdu(ppdu, users) }
            }
            Began::Collider { by, times, ppdu } => {
                Began::Collider { by: self.contender(by), times, ppdu: self.ppdu(ppdu, users) }
            }
            Began::Request { by, times, receiver, window_start, collides } => Began::Request {
                by: self.contender(by),
                times,
                receiver: self.station(receiver),
                window_start,
                collides,
            },
            Began::CfEnd { by, sent, end } => Began::CfEnd { by: self.contender(by), sent, end },
            Began::Collision { .. } => began,
            Began::Beacon { .. } | Began::ContentionFree(_) => {
                unreachable!("several cells have no beacons or contention-free periods")
            }
            Began::Triggered { .. } => unreachable!("`triggered` renumbers it"),
        }
    }
}

// Inlined like the supply itself.
impl<S: Supply<Packet>> Supply<Packet> for Renumbered<'_, S> {
    #[inline(always)]
    fn next(
        &mut self,
        contender: ContenderId,
        to: Option<StationId>,
        now: Time,
        fits: impl FnOnce(StationId, u64) -> bool,
        take: impl FnOnce(Msdu<Packet>),
    ) -> bool {
        let (id, to) = (self.contender(contender), to.map(|to| self.station(to)));
        let places = &self.places.stations;
        self.supply.next(
            id,
            to,
            now,
            |to, bits| fits(places[to as usize], bits),
            |msdu| take(Msdu { receiver: places[msdu.receiver as usize], ..msdu }),
        )
    }

    fn receiver<'a>(
        &mut self,
        contender: ContenderId,
        waiting: impl Iterator<Item = (StationId, Option<&'a Packet>)>,
    ) -> Option<StationId> {
        let id = self.contender(contender);
        let stations = &self.numbers.stations;
        let waiting = waiting.map(|(to, packet)| (stations[to as usize], packet));
        let receiver = self.supply.receiver(id, waiting)?;
        Some(self.places.stations[receiver as usize])
    }

    #[inline(always)]
    fn has_next(&self, contender: ContenderId) -> bool {
        self.supply.has_next(self.contender(contender))
    }

    #[inline(always)]
    fn acknowledged(&mut self, now: Time, by: ContenderId, mpdu: &Mpdu<Packet>) -> bool {
        let by = self.contender(by);
        self.supply.acknowledged(now, by, mpdu)
    }

    fn has_next_for(&self, contender: ContenderId, receiver: StationId) -> bool {
        self.supply.has_next_for(self.contender(contender), self.station(receiver))
    }

    fn queued_bits(&self, contender: ContenderId, header_bits: u64, most: u64) -> u64 {
        self.supply.queued_bits(self.contender(contender), header_bits, most)
    }

    #[inline(always)]
    fn carries_data(&self, payload: &Packet) -> bool {
        self.supply.carries_data(payload)
    }

    #[inline(always)]
    fn watches_colliders(&self) -> bool {
        self.supply.watches_colliders()
    }

    #[inline(always)]
    fn next_ready(&mut self) -> Option<ContenderId> {
        self.supply.next_ready().map(|id| self.places.contenders[id as usize])
    }

    #[inline(always)]
    fn has_ready(&self) -> bool {
        self.supply.has_ready()
    }

    #[inline(always)]
    fn play_until(&mut self, time: Time) -> bool {
        self.supply.play_until(time)
    }

    #[inline(always)]
    fn on_event(&mut self, now: Time, event: MacEvent<'_, Packet>) {
        let mut several = Vec::new();
        let event = match event {
            MacEvent::Began(Began::Triggered { by, start, times, users, collides }) => {
                let by = self.contender(by);
                let users = &self.triggered(users)[..];
                let began = Began::Triggered { by, start, times, users, collides };
                return self.supply.on_event(now, MacEvent::Began(began));
            }
            MacEvent::Began(began) => MacEvent::Began(self.began(began, &mut several)),
            MacEvent::Lost { by, psdu, answer } => {
                MacEvent::Lost { by: self.contender(by), psdu, answer }
            }
            MacEvent::Answered { by, psdu } => MacEvent::Answered { by: self.contender(by), psdu },
            MacEvent::Received { by, mpdu, came } => {
                MacEvent::Received { by: self.contender(by), mpdu, came }
            }
            MacEvent::GivenUp { by, mpdu } => MacEvent::GivenUp { by: self.contender(by), mpdu },
            MacEvent::Heard(frame) => return self.heard(now, &frame),
        };
        self.supply.on_event(now, event);
    }
}

impl<S: Supply<Packet>> Renumbered<'_, S> {
    #[cold]
    fn triggered<'a>(&self, users: &[TriggeredPsdu<'a, Packet>]) -> Vec<TriggeredPsdu<'a, Packet>> {
        let renumbered = |one: &TriggeredPsdu<'a, Packet>| TriggeredPsdu {
            by: self.contender(one.by),
            class: self.class(one.class),
            ..*one
        };
        users.iter().map(renumbered).collect()
    }

    #[cold]
    fn heard(&mut self, now: Time, frame: &HeardFrame<'_, Packet>) {
        let ears = frame.ears.iter();
        let ears: Vec<_> =
            ears.map(|ear| HeardBy { station: self.station(ear.station), ..*ear }).collect();
        let frame = HeardFrame {
            by: self.contender(frame.by),
            sender: self.station(frame.sender),
            to: self.station(frame.to),
            ears: &ears,
            ..*frame
        };
        self.supply.on_event(now, MacEvent::Heard(frame));
    }
}
