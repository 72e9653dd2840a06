//! What a queue shares with each station that it sends to: sequence numbers, the transmit window,
//! the reorder buffer and rate control.
//!
//! None of this belongs to a medium. A medium borrows the peers of its queues for an exchange.

use crate::frame::Mpdu;
use crate::frame::block_ack::{Books, ReorderBuffer, TransmitWindow};
use crate::rate_control::Minstrel;
use crate::station::StationId;

/// Both ends of a Block ACK agreement, or of an exchange of frames that are acknowledged one by
/// one.
#[derive(Debug)]
pub(crate) struct Peer<P> {
    /// Whether Block ACKs acknowledge the frames.
    pub(crate) has_block_ack: bool,
    /// The limit of failures of a frame.
    pub(crate) retry_limit: u16,
    pub(crate) window: TransmitWindow<P>,
    pub(crate) recipient: ReorderBuffer<P>,
    pub(crate) books: Books,
    /// Rate control of the station, if it has any.
    pub(crate) rate_control: Option<Box<Minstrel>>,
}

/// The peers of one queue: for an access point its stations, for a station its access point.
#[derive(Debug)]
pub(crate) struct Peers<P> {
    /// By station number, from `first` on.
    all: Vec<Peer<P>>,
    first: StationId,
    /// The peers with something to retransmit, or with a Block ACK request, by place.
    pending: Vec<u32>,
}

impl<P> Peers<P> {
    /// Creates the peers of a queue, which are consecutive stations from `first` on.
    pub(crate) fn new(first: StationId, all: Vec<Peer<P>>) -> Self {
        Self { all, first, pending: Vec::new() }
    }

    fn place(&self, station: StationId) -> usize {
        (station - self.first) as usize
    }

    /// Returns the peer with this station number.
    pub(crate) fn of(&self, station: StationId) -> &Peer<P> {
        &self.all[self.place(station)]
    }

    /// Mutable version of [`Self::of`].
    #[inline]
    pub(crate) fn of_mut(&mut self, station: StationId) -> &mut Peer<P> {
        let place = self.place(station);
        &mut self.all[place]
    }

    /// Iterates over all peers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Peer<P>> {
        self.all.iter()
    }

    /// Iterates over the peers with something to retransmit on `link`, or with a Block ACK request
    /// there.
    pub(crate) fn pending(&self, link: usize) -> impl Iterator<Item = &Peer<P>> {
        let all = self.pending.iter().map(|&place| &self.all[place as usize]);
        all.filter(move |one| one.window.has_work_on(link))
    }

    /// Returns whether any peer is pending on `link`.
    pub(crate) fn has_pending(&self, link: usize) -> bool {
        self.pending(link).next().is_some()
    }

    /// Lets `links` links share the peers. `absent` says whether a peer lacks a link.
    pub(crate) fn share(&mut self, links: usize, absent: impl Fn(StationId, usize) -> bool) {
        for Peer { window, .. } in &mut self.all {
            let receiver = window.receiver;
            window.share(links, |link| absent(receiver, link));
        }
    }

    /// Adds `station` to the pending peers if anything waits for it, else removes it.
    pub(crate) fn update_pending(&mut self, station: StationId) {
        let place = self.place(station);
        let listed = self.pending.iter().position(|&one| one as usize == place);
        match (self.all[place].window.has_work(), listed) {
            (true, None) => self.pending.push(place as u32),
            (false, Some(index)) => {
                self.pending.remove(index);
            }
            _ => {}
        }
    }

    /// Iterates over the frames that wait for retransmission.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Mpdu<P>> {
        self.all.iter().flat_map(|one| one.window.iter())
    }
}
