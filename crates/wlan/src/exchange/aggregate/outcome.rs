//! Processes the result of a PPDU with several frames: what was received, what the Block ACK
//! reports, and what is retransmitted or given up (IEEE Std 802.11-2020, 10.25.6).

use std::ops::Range;

use airtcp_kernel::Time;

use super::{Aggregate, Sends};
use crate::config::FailedBlockAck;
use crate::contention::Retry;
use crate::events::{MacEvent, Supply};
use crate::exchange::{Air, Desk, Exchange as _, OnAir, Play};
use crate::frame::{Mpdu, Psdu};
use crate::peer::Peer;
use crate::station::{ContenderId, StationId};

impl<P: Clone> Aggregate<P> {
    /// Ends the PPDU at `receiver`, which responds if it received anything. All other stations wait
    /// for the response.
    fn answer_or_silence(
        &self,
        air: &mut Air<P>,
        (by, receiver): (ContenderId, StationId),
        now: Time,
        end: Time,
    ) {
        if self.any_received {
            air.answers(by, receiver, now, end);
        } else {
            air.set_on_air(OnAir::Unanswered { by }, end);
        }
    }

    /// Releases `psdu`, of which everything was received.
    fn all_received(&mut self, by: ContenderId, psdu: Psdu<P>) {
        self.peers[by as usize].update_pending(psdu.frames().receiver());
        self.spare = psdu.into_mpdus();
        self.spare.clear();
    }
}

impl<P: Clone, S: Supply<P>> Play<'_, P, Aggregate<P>, S> {
    /// Receives the next frame of the PPDU on the air, or all of it.
    #[inline(never)]
    pub(super) fn ppdu_arrives(&mut self, by: ContenderId, now: Time, end: Time) {
        if let Sends::Request(receiver) = self.mac.queues[by as usize].sends {
            self.desk().receive_request(by, receiver, now);
            self.mac.any_received = true;
            self.mac.answer_or_silence(self.air, (by, receiver), now, end);
            return;
        }
        let psdu = self.air.originators[by as usize].frames().expect("it was sent");
        let (receiver, all) = (psdu.receiver(), psdu.mpdus().len());
        let begun = self.mac.arrived;
        let until = if self.mac.arrivals.is_empty() {
            all
        } else {
            begun + first_frame(&psdu.mpdus()[begun..]).0
        };
        let (frames, errors) = self.desk().receive(by, now, begun..until, |_| false);
        self.mac.any_received |= frames > errors;
        self.air.contention.count_mpdus(by, frames, errors);
        self.mac.arrived = until;
        if until < all {
            let next = self.mac.arrivals[until];
            self.air.set_on_air(OnAir::Sending { end }, next);
        } else {
            self.mac.answer_or_silence(self.air, (by, receiver), now, end);
            if !self.mac.any_received {
                self.tell_of_loss(by, end);
            }
        }
    }

    /// Processes the response to `by`'s transmission: an ACK, or a Block ACK that reports what was
    /// received.
    #[inline(never)]
    pub(super) fn ppdu_answered(&mut self, by: ContenderId, now: Time) {
        let receiver = self.desk().take_answer(by, now);
        self.goes_on(by, receiver, now);
    }

    /// Ends a successful exchange of `by`, whose last response came from `receiver`, and begins the
    /// next one of its TXOP.
    #[inline(always)]
    pub(super) fn goes_on(&mut self, by: ContenderId, receiver: StationId, now: Time) {
        let has_next = self.mac.may_take(self.air, by, self.supply);
        let next = self.exchange_succeeded(by, (receiver, has_next), now);
        if let Some(start) = next {
            Aggregate::begins(self, by, start);
        }
    }
}

impl<P: Clone, S: Supply<P>> Desk<'_, P, Aggregate<P>, S> {
    /// Receives a Block ACK request of `by` at `receiver`.
    pub(crate) fn receive_request(&mut self, by: ContenderId, receiver: StationId, now: Time) {
        let Peer { window, recipient, books, .. } = self.mac.peer(by, receiver);
        let start = window.start(&[]);
        recipient.begin_at(start, |mpdu, came| {
            books.hand_on(mpdu);
            self.supply.on_event(now, MacEvent::Received { by, mpdu, came: Some(came) });
        });
    }

    /// Receives the packets at `places` of `by`'s PSDU. Frames are lost if `overlapped` says so for
    /// the place of their first packet, or by an error. Returns the number of frames without an
    /// overlap, and how many of them had errors.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        by: ContenderId,
        now: Time,
        places: Range<usize>,
        overlapped: impl Fn(usize) -> bool,
    ) -> (u64, u64) {
        let Desk { originators, frames: sizes, roles, errors: draws, is_perfect, .. } = self;
        let originator = &mut originators[by as usize];
        let psdu = originator.psdu.as_mut().expect("it was sent");
        let receiver = psdu.frames().receiver();
        let far = roles.far(originator.station, receiver);
        let choice = self.mac.queues[by as usize].choice;
        let error_rate = match (choice, self.mac.controlled.get(far as usize)) {
            (Some(choice), Some(Some((_, error_rates)))) => Some(error_rates[choice.rate]),
            _ => None,
        };
        let Peer { recipient, books, .. } = self.mac.peers[by as usize].of_mut(receiver);
        let mut place = places.start;
        let mut rest = &mut psdu.mpdus_mut()[places];
        let (mut frames, mut errors) = (0, 0);
        while !rest.is_empty() {
            let (packets, bits) = first_frame(rest);
            let (frame, others) = rest.split_at_mut(packets);
            rest = others;
            place += packets;
            if overlapped(place - packets) {
                continue;
            }
            frames += 1;
            let is_lost = !*is_perfect && {
                let bits = sizes.msdu_bits(bits);
                match error_rate {
                    Some(rate) => draws.loses_at(far, bits, rate),
                    None => draws.loses(far, bits),
                }
            };
            if is_lost {
                errors += 1;
                continue;
            }
            frame[0].is_received = true;
            for mpdu in &mut frame[1..] {
                mpdu.is_received = true;
            }
            recipient.receive(frame, now, |mpdu, came| {
                books.hand_on(mpdu);
                self.supply.on_event(now, MacEvent::Received { by, mpdu, came: Some(came) });
            });
        }
        (frames, errors)
    }

    /// Processes the response as in [`Self::ppdu_answered`]. Returns its sender.
    pub(crate) fn take_answer(&mut self, by: ContenderId, now: Time) -> StationId {
        let link = self.mac.link.number;
        let receiver;
        if let Sends::Request(asked) = self.mac.queues[by as usize].sends {
            receiver = asked;
            if self.mac.link.is_one_of_several {
                self.mac.link_is_answered(by, receiver, true);
            }
            let Peer { window, rate_control, .. } = self.mac.peers[by as usize].of_mut(receiver);
            let on_link = window.on_mut(link);
            on_link.request_due = false;
            on_link.request_failures = 0;
            if let Some(minstrel) = rate_control
                && !on_link.missed.is_empty()
            {
                let all = || on_link.missed.iter().filter(|mpdu| !mpdu.is_further);
                let received = all().filter(|mpdu| mpdu.is_received).count();
                minstrel.report_late(all().count() as u32, received as u32);
            }
            self.settle_missed(by, receiver, (now, true));
            self.mac.peers[by as usize].update_pending(receiver);
        } else {
            let psdu = self.originators[by as usize].psdu.take().expect("it was sent");
            let frames = psdu.frames();
            receiver = frames.receiver();
            if self.mac.link.is_one_of_several {
                self.mac.link_is_answered(by, receiver, frames.count() > 1);
            }
            self.supply.on_event(now, MacEvent::Answered { by, psdu: frames });
            let received = frames.mpdus().iter().filter(|one| one.is_received && !one.is_further);
            self.mac.report(by, frames, received.count());
            self.settle(by, psdu, now);
        }
        receiver
    }

    /// Processes the frames of `psdu` that a Block ACK reports: received ones are acknowledged, the
    /// others are put back.
    fn settle(&mut self, by: ContenderId, psdu: Psdu<P>, now: Time) {
        let frames = psdu.frames();
        let (mut received, mut packets) = (0, 0);
        for mpdu in frames.mpdus().iter().filter(|mpdu| mpdu.is_received) {
            received += u64::from(!mpdu.is_further);
            packets += 1;
            self.supply.acknowledged(now, by, mpdu);
        }
        self.originators[by as usize].done += packets;
        self.mac.peer(by, frames.receiver()).books.acknowledged += received;
        if packets == frames.mpdus().len() as u64 {
            self.mac.all_received(by, psdu);
        } else {
            self.put_back(by, psdu, (now, true));
        }
    }

    /// Puts unacknowledged frames of `psdu` back ahead of the queue, or gives them up: frames that
    /// were not received, or all of them if no Block ACK has come.
    fn put_back(&mut self, by: ContenderId, psdu: Psdu<P>, (now, has_answer): (Time, bool)) {
        let receiver = psdu.frames().receiver();
        let limit = self.mac.peer(by, receiver).retry_limit;
        let mut mpdus = psdu.into_mpdus();
        let mut given_up = 0;
        for mpdu in mpdus.iter_mut().filter(|mpdu| !(has_answer && mpdu.is_received)) {
            mpdu.failures = mpdu.failures.saturating_add(1);
            if mpdu.failures >= limit {
                given_up += 1;
                self.supply.on_event(now, MacEvent::GivenUp { by, mpdu });
            }
        }
        let (peers, link) = (&mut self.mac.peers[by as usize], self.mac.link.number);
        let Peer { window, recipient, books, has_block_ack, .. } = peers.of_mut(receiver);
        while let Some(mpdu) = mpdus.pop() {
            if has_answer && mpdu.is_received {
                continue;
            }
            if mpdu.failures < limit {
                window.put_back(mpdu);
            } else if !mpdu.is_further {
                books.given_up += 1;
            }
        }
        if *has_block_ack {
            // The recipient waits for frames that were given up until it is told (10.25.6.6.3).
            window.on_mut(link).request_due |= given_up > 0;
        } else {
            // The recipient delivers frames as they come, so nothing waits for frames that were
            // given up.
            recipient.begin_at(window.start(&[]), |_, _| {});
        }
        peers.update_pending(receiver);
        self.mac.spare = mpdus;
        self.originators[by as usize].done += given_up;
    }

    /// Processes the frames for `receiver` whose Block ACK was missed, as the Block ACK reports, or
    /// counts one more failure of each if none has come.
    fn settle_missed(
        &mut self,
        by: ContenderId,
        receiver: StationId,
        (now, has_answer): (Time, bool),
    ) {
        let link = self.mac.link.number;
        let mpdus = std::mem::take(&mut self.mac.peer(by, receiver).window.on_mut(link).missed);
        if mpdus.is_empty() {
            return;
        }
        if has_answer {
            self.settle(by, Psdu::of(mpdus), now);
        } else {
            self.put_back(by, Psdu::of(mpdus), (now, false));
        }
    }

    /// Puts back what `by` has assembled after a collision, an internal collision, or a missing
    /// response. Without `data_sent` no data were on the air. Returns whether it is given up.
    #[inline(never)]
    pub(crate) fn ppdu_failed(&mut self, by: ContenderId, data_sent: bool, now: Time) -> Retry {
        self.mac.changes(by);
        let link = self.mac.link.number;
        if let Sends::Request(receiver) = self.mac.queues[by as usize].sends {
            let Peer { window, retry_limit, .. } = self.mac.peers[by as usize].of_mut(receiver);
            let on_link = window.on_mut(link);
            on_link.request_failures = on_link.request_failures.saturating_add(1);
            if on_link.request_failures < *retry_limit {
                return Retry::Again;
            }
            on_link.request_failures = 0;
            on_link.request_due = false;
            self.settle_missed(by, receiver, (now, false));
            self.mac.peers[by as usize].update_pending(receiver);
            return Retry::Dropped;
        }
        let psdu = self.originators[by as usize].psdu.take().expect("it was to be sent");
        let receiver = psdu.frames().receiver();
        let limit = self.mac.peer(by, receiver).retry_limit;
        if self.mac.link.is_one_of_several {
            self.mac.peer(by, receiver).window.on_mut(link).oldest = None;
        }
        if data_sent {
            self.mac.report(by, psdu.frames(), 0);
        }
        let asks = data_sent
            && psdu.frames().count() > 1
            && self.mac.failed_block_ack == FailedBlockAck::BlockAckRequest;
        if asks {
            let peers = &mut self.mac.peers[by as usize];
            let window = &mut peers.of_mut(receiver).window;
            let on_link = window.on_mut(link);
            on_link.missed = psdu.into_mpdus();
            on_link.request_due = true;
            peers.update_pending(receiver);
            return Retry::Again;
        }
        // The oldest frame has failed most often.
        let dropped = psdu.mpdus()[0].failures.saturating_add(1) >= limit;
        self.put_back(by, psdu, (now, false));
        if dropped { Retry::Dropped } else { Retry::Again }
    }
}

/// Returns the number of packets of the first frame in `mpdus`, and its bits.
#[inline(always)]
fn first_frame<P>(mpdus: &[Mpdu<P>]) -> (usize, u64) {
    let (mut packets, mut bits) = (1, mpdus[0].bits);
    while let Some(mpdu) = mpdus.get(packets).filter(|mpdu| mpdu.is_further) {
        packets += 1;
        bits += mpdu.bits;
    }
    (packets, bits)
}
