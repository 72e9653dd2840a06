//! Assembles a PPDU with several frames: which frames are retransmitted, which come from the queue,
//! and when each of them arrives.

use airtcp_kernel::{Duration, Time};

use super::{Aggregate, AggregatingQueue, Sends};
use crate::events::Supply;
use crate::exchange::{Desk, Originator};
use crate::frame::block_ack::TransmitWindow;
use crate::frame::{Frames, Mpdu, Msdu, Psdu};
use crate::peer::Peer;
use crate::sequence::dcf::{FrameTable, FrameTimes};
use crate::sequence::ht::{Growing, HtExchange, Packets, Room};
use crate::station::{ContenderId, StationId};

impl<P: Clone> Aggregate<P> {
    /// Returns the times of what `by` has assembled, its rate class, and the duration before its
    /// Data field. The last value is the station that it asks for a Block ACK, if it sends a
    /// request and no data.
    pub(crate) fn assembled(
        &self,
        by: ContenderId,
    ) -> (&FrameTimes, u32, Duration, Option<StationId>) {
        let AggregatingQueue { times, class, preamble, sends, .. } = &self.queues[by as usize];
        let asked = match *sends {
            Sends::Data | Sends::Users | Sends::Trigger => None,
            Sends::Request(receiver) => Some(receiver),
        };
        (times, *class, *preamble, asked)
    }

    /// Returns whether `by` has something to send in addition to its queue and the PSDU that it
    /// holds.
    pub(crate) fn has_pending(&self, by: ContenderId) -> bool {
        self.peers[by as usize].has_pending(self.link.number)
    }
}

impl<P: Clone, S: Supply<P>> Desk<'_, P, Aggregate<P>, S> {
    /// Decides what `by` sends, which has something to send: see [`crate::exchange::Exchange::assemble`].
    #[inline(never)]
    pub(crate) fn assemble_at(
        &mut self,
        by: ContenderId,
        now: Time,
        left: Option<Duration>,
    ) -> bool {
        let link = self.mac.link.number;
        let receiver = if self.mac.link.is_one_of_several {
            let Some(receiver) = self.receiver_here(by) else { return false };
            receiver
        } else {
            let waiting =
                self.mac.peers[by as usize].pending(link).map(|Peer { window, .. }| {
                    (window.receiver, window.oldest(link).map(|mpdu| &mpdu.payload))
                });
            self.supply.receiver(by, waiting).expect("who contends has a frame")
        };
        let queue = &mut self.mac.queues[by as usize];
        let peers = &mut self.mac.peers[by as usize];
        let station = self.originators[by as usize].station;
        let class = self.roles.rate_class(station, receiver);
        let (is_one_of_several, initiated) = if self.mac.link.is_one_of_several {
            let by = (by, self.roles.is_access_point(station));
            (true, self.mac.link.initiates(by, (receiver, class), left.is_some()))
        } else {
            (false, None)
        };
        let Peer { window, rate_control, .. } = peers.of_mut(receiver);
        queue.choice = None;
        if window.on(link).request_due {
            queue.times = initiated.unwrap_or(&self.mac.exchanges[class as usize]).request_times();
            queue.sends = Sends::Request(receiver);
            return left.is_none_or(|left| queue.times.total <= left);
        }
        queue.choice = rate_control.as_mut().map(|minstrel| minstrel.choose(now));
        let far = self.roles.far(station, receiver);
        let class = match (queue.choice, self.mac.controlled.get(far as usize)) {
            (Some(choice), Some(Some((first, _)))) => first + choice.rate as u32,
            _ => class,
        };
        let exchange = initiated.unwrap_or(&self.mac.exchanges[class as usize]);
        let is_sample = queue.choice.is_some_and(|choice| choice.is_sample);
        let room = exchange.room(left.unwrap_or(queue.txop_limit));
        let limits =
            Limits { frames: self.frames, exchange, room, left, is_sample, in_unit: false };
        let mut mpdus = std::mem::take(&mut self.mac.spare);
        let originator = &mut self.originators[by as usize];
        let psdu = originator.fill(by, now, window, &limits, &mut mpdus, self.supply);
        self.mac.broken_law =
            self.mac.broken_law.take().or_else(|| breaks_window(window, &mpdus, exchange));
        if is_one_of_several {
            window.on_mut(link).oldest = mpdus.first().cloned();
        }
        peers.update_pending(receiver);
        queue.sends = Sends::Data;
        if mpdus.is_empty() {
            self.mac.spare = mpdus;
            return false;
        }
        queue.times = exchange.times(psdu);
        queue.class = class;
        queue.preamble = exchange.preamble();
        originator.psdu = Some(Psdu::of(mpdus));
        self.mac.changes(by);
        true
    }
}

/// The limits of a PSDU.
pub(super) struct Limits<'a> {
    pub(super) frames: &'a FrameTable,
    pub(super) exchange: &'a HtExchange,
    pub(super) room: Room,
    /// What is left of a TXOP.
    pub(super) left: Option<Duration>,
    /// Whether it has one frame, with which rate control tries a rate.
    pub(super) is_sample: bool,
    /// Whether it is sent in a resource unit.
    pub(super) in_unit: bool,
}

impl<P: Clone> Originator<P> {
    /// Assembles a PSDU for the receiver of `window` within `limits`: frames to be retransmitted, then
    /// packets of the queue.
    // Inlined, so that single-user PPDUs do not check for resource units.
    #[inline(always)]
    pub(super) fn fill<S: Supply<P>>(
        &mut self,
        by: ContenderId,
        now: Time,
        window: &mut TransmitWindow<P>,
        &Limits { frames, exchange, room, left, is_sample, in_unit }: &Limits<'_>,
        mpdus: &mut Vec<Mpdu<P>>,
        supply: &mut S,
    ) -> Growing {
        let receiver = window.receiver;
        let fits = |psdu: Growing, grown: Growing| {
            !(is_sample && psdu.is_begun())
                && if in_unit {
                    exchange.fits_unit(grown, room)
                } else {
                    exchange.fits(grown, room)
                }
                && left.is_none_or(|left| exchange.times(grown).total <= left)
        };
        let mut psdu = Growing::default();
        while let Some(bits) = window.next_retry(mpdus, |bits| fits(psdu, psdu.with(bits))) {
            psdu = psdu.with(bits);
        }
        if window.waiting() == 0 {
            let end = window.start(mpdus) + exchange.window();
            let header_bits = frames.mac_header_bits();
            while window.next_id() < end {
                let (id, mut grown, mut bits) = (window.next_id(), psdu, 0);
                let fits_alone = |_, bits| {
                    grown = psdu.with(frames.mpdu_bits(bits));
                    fits(psdu, grown)
                };
                let take = |msdu: Msdu<P>| {
                    bits = frames.mpdu_bits(msdu.bits);
                    mpdus.push(packet_of(id, receiver, bits, msdu.payload));
                };
                if !supply.next(by, Some(receiver), now, fits_alone, take) {
                    break;
                }
                window.take_id();
                let mut packets = Packets::of(bits - header_bits);
                psdu = grown;
                self.next_id += 1;
                while exchange.has_amsdus() {
                    let grown = |bits| {
                        let grown = packets.with(frames.mpdu_bits(bits) - header_bits);
                        (grown, psdu.grown_by(grown.bits() - packets.bits()))
                    };
                    let fits_too = |_, bits| {
                        let (packets, psdu) = grown(bits);
                        exchange.fits_packets(packets, header_bits, psdu, room)
                            && left.is_none_or(|left| exchange.times(psdu).total <= left)
                    };
                    let mut with_it = (packets, psdu);
                    let take = |msdu: Msdu<P>| {
                        with_it = grown(msdu.bits);
                        let bits = with_it.0.bits() - packets.bits();
                        let further = packet_of(id, receiver, bits, msdu.payload);
                        mpdus.push(Mpdu { is_further: true, ..further });
                    };
                    if !supply.next(by, Some(receiver), now, fits_too, take) {
                        break;
                    }
                    self.next_id += 1;
                    (packets, psdu) = with_it;
                }
            }
        }
        psdu
    }
}

/// Returns the law that `mpdus` break if the last of them is beyond the window.
pub(super) fn breaks_window<P>(
    window: &TransmitWindow<P>,
    mpdus: &[Mpdu<P>],
    exchange: &HtExchange,
) -> Option<String> {
    let (last, start) = (mpdus.last()?, window.start(mpdus));
    (last.id >= start + exchange.window()).then(|| {
        format!(
            "frame {} was sent while frame {start} was not acknowledged, with a window of {}",
            last.id,
            exchange.window()
        )
    })
}

/// Creates frame `id`, or a part of it, that was never sent.
#[inline(always)]
fn packet_of<P>(id: u64, receiver: StationId, bits: u64, payload: P) -> Mpdu<P> {
    Mpdu {
        id,
        receiver,
        bits,
        is_further: false,
        failures: 0,
        failures_after_rts: 0,
        is_received: false,
        payload,
    }
}

/// Computes when the frames of an A-MPDU arrive, the last of them at `received`. The Data field,
/// which lasts `data`, carries them one after the other. Packets of one frame arrive together.
pub(crate) fn set_arrivals<P>(
    arrivals: &mut Vec<Time>,
    received: Time,
    data: Duration,
    psdu: Frames<'_, P>,
) {
    arrivals.clear();
    let size = |frame: &[Mpdu<P>]| frame.iter().map(|mpdu| mpdu.bits).sum();
    let all = psdu.each().fold(Growing::default(), |psdu, frame| psdu.with(size(frame)));
    let mut so_far = Growing::default();
    for frame in psdu.each() {
        so_far = so_far.with(size(frame));
        let rest = u128::from(data.as_nanos()) * u128::from(all.bits() - so_far.bits())
            / u128::from(all.bits());
        let before = Duration::from_nanos(rest as u64);
        let arrival = Time::from_nanos(received.as_nanos() - before.as_nanos());
        arrivals.extend(frame.iter().map(|_| arrival));
    }
}
