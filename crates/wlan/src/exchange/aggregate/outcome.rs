//! The outcome of a PPDU with several frames: what arrived, what the Block ACK tells of it, and what
//! is sent again or given up (IEEE Std 802.11-2020, 10.25.6).

use airtcp_kernel::Time;

use super::{Aggregate, Agreement, Sends};
use crate::config::FailedBlockAck;
use crate::contention::Retry;
use crate::events::{MacEvent, Supply};
use crate::exchange::{Air, Exchange as _, OnAir};
use crate::frame::{Mpdu, Psdu};
use crate::station::{ContenderId, StationId};

impl<P: Clone> Aggregate<P> {
    /// Receives the next frame of the PPDU on the air, or all of it.
    #[inline(never)]
    pub(super) fn ppdu_arrives<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        end: Time,
        supply: &mut S,
    ) {
        if let Sends::Request(receiver) = self.queues[by as usize].sends {
            let Agreement { window, recipient, books, .. } = self.agreement(by, receiver);
            let start = window.start(&[]);
            recipient.begin_at(start, |mpdu, came| {
                books.hand_on(mpdu);
                supply.on_event(now, MacEvent::Received { by, mpdu, came: Some(came) });
            });
            self.any_received = true;
            self.answer_or_silence(air, (by, receiver), now, end);
            return;
        }
        let station = air.originators[by as usize].station;
        let psdu = air.originators[by as usize].psdu.as_mut().expect("it was sent");
        let receiver = psdu.frames().receiver();
        let far = air.roles.far(station, receiver);
        let all = psdu.mpdus().len();
        let choice = self.queues[by as usize].choice;
        let error_rate = match (choice, self.controlled.get(far as usize)) {
            (Some(choice), Some(Some((_, error_rates)))) => Some(error_rates[choice.rate]),
            _ => None,
        };
        let begun = self.arrived;
        let until = if self.arrivals.is_empty() {
            all
        } else {
            begun + first_frame(&psdu.mpdus()[begun..]).0
        };
        let Agreement { recipient, books, .. } = self.queues[by as usize].agreement(receiver);
        let mut rest = &mut psdu.mpdus_mut()[begun..until];
        let (mut frames, mut errors) = (0, 0);
        while !rest.is_empty() {
            let (packets, bits) = first_frame(rest);
            let (frame, others) = rest.split_at_mut(packets);
            rest = others;
            frames += 1;
            let is_lost = !air.is_perfect && {
                let bits = air.frames.msdu_bits(bits);
                match error_rate {
                    Some(rate) => air.errors.loses_at(far, bits, rate),
                    None => air.errors.loses(far, bits),
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
            self.any_received = true;
            recipient.receive(frame, now, |mpdu, came| {
                books.hand_on(mpdu);
                supply.on_event(now, MacEvent::Received { by, mpdu, came: Some(came) });
            });
        }
        air.contention.count_mpdus(by, frames, errors);
        self.arrived = until;
        if until < all {
            let next = self.arrivals[until];
            air.set_on_air(OnAir::Sending { end }, next);
        } else {
            self.answer_or_silence(air, (by, receiver), now, end);
            if !self.any_received {
                air.tell_of_loss(self, by, end, supply);
            }
        }
    }

    /// Ends the PPDU at `receiver`, which answers if it got anything; all others wait for that.
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

    /// Takes the answer to what `by` has sent: an ACK, or a Block ACK that tells what arrived.
    #[inline(never)]
    pub(super) fn ppdu_answered<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) {
        let receiver;
        if let Sends::Request(asked) = self.queues[by as usize].sends {
            receiver = asked;
            let window = &mut self.queues[by as usize].agreement(receiver).window;
            window.request_due = false;
            window.request_failures = 0;
            if std::mem::take(&mut window.missed_block_ack) {
                self.retries_failed(air, by, receiver, now, supply);
            }
            self.queues[by as usize].update_pending(receiver);
        } else {
            let psdu = air.originators[by as usize].psdu.take().expect("it was sent");
            let frames = psdu.frames();
            receiver = frames.receiver();
            supply.on_event(now, MacEvent::Answered { by, psdu: frames });
            let (mut received, mut packets) = (0, 0);
            for mpdu in frames.mpdus().iter().filter(|mpdu| mpdu.is_received) {
                received += usize::from(!mpdu.is_further);
                packets += 1;
                supply.acknowledged(now, by, mpdu);
            }
            air.originators[by as usize].done += packets;
            self.agreement(by, receiver).books.acknowledged += received as u64;
            self.report(by, frames, received);
            if packets == frames.mpdus().len() as u64 {
                self.all_received(by, psdu);
            } else {
                self.put_back(air, by, psdu, now, supply);
            }
        }
        let has_next = supply.has_next(by);
        let next = air.exchange_succeeded(self, by, (receiver, has_next), now, supply);
        if let Some(start) = next {
            self.begins(air, by, start, supply);
        }
    }

    /// Forgets `psdu`, all of which was received.
    fn all_received(&mut self, by: ContenderId, psdu: Psdu<P>) {
        self.queues[by as usize].update_pending(psdu.frames().receiver());
        self.spare = psdu.into_mpdus();
        self.spare.clear();
    }

    /// Puts the frames of `psdu` that were not received back ahead of the queue, or gives them up.
    fn put_back<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        psdu: Psdu<P>,
        now: Time,
        supply: &mut S,
    ) {
        let limit = self.retry_limit;
        let receiver = psdu.frames().receiver();
        let mut mpdus = psdu.into_mpdus();
        let mut given_up = 0;
        for mpdu in mpdus.iter_mut().filter(|mpdu| !mpdu.is_received) {
            mpdu.failures = mpdu.failures.saturating_add(1);
            if mpdu.failures >= limit {
                given_up += 1;
                supply.on_event(now, MacEvent::GivenUp { by, mpdu });
            }
        }
        let queue = &mut self.queues[by as usize];
        let Agreement { window, books, .. } = queue.agreement(receiver);
        while let Some(mpdu) = mpdus.pop() {
            if mpdu.is_received {
                continue;
            }
            if mpdu.failures < limit {
                window.put_back(mpdu);
            } else if !mpdu.is_further {
                books.given_up += 1;
            }
        }
        // The recipient waits for what was given up, unless it is told (10.25.6.6.3).
        window.request_due |= given_up > 0;
        queue.update_pending(receiver);
        self.spare = mpdus;
        air.originators[by as usize].done += given_up;
    }

    /// Counts a failure of all frames that wait for `receiver`, as a Block ACK has told.
    fn retries_failed<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        receiver: StationId,
        now: Time,
        supply: &mut S,
    ) {
        let window = &mut self.queues[by as usize].agreement(receiver).window;
        let mut mpdus = Vec::new();
        while window.next_retry(&mut mpdus, |_| true).is_some() {}
        if !mpdus.is_empty() {
            self.put_back(air, by, Psdu::of(mpdus), now, supply);
        }
    }

    /// Puts back what `by` has assembled, which collided, lost an internal collision, or reached nobody
    /// (without `data_sent` no data were on the air). Returns whether it is given up.
    #[inline(never)]
    pub(super) fn ppdu_failed<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        data_sent: bool,
        now: Time,
        supply: &mut S,
    ) -> Retry {
        let limit = self.retry_limit;
        if let Sends::Request(receiver) = self.queues[by as usize].sends {
            let window = &mut self.queues[by as usize].agreement(receiver).window;
            window.request_failures = window.request_failures.saturating_add(1);
            if window.request_failures < limit {
                return Retry::Again;
            }
            window.request_failures = 0;
            window.request_due = false;
            window.missed_block_ack = false;
            self.retries_failed(air, by, receiver, now, supply);
            self.queues[by as usize].update_pending(receiver);
            return Retry::Dropped;
        }
        let psdu = air.originators[by as usize].psdu.take().expect("it was to be sent");
        let receiver = psdu.frames().receiver();
        if data_sent {
            self.report(by, psdu.frames(), 0);
        }
        let asks = data_sent
            && psdu.frames().count() > 1
            && self.failed_block_ack == FailedBlockAck::BlockAckRequest;
        if asks {
            let queue = &mut self.queues[by as usize];
            let window = &mut queue.agreement(receiver).window;
            let mut mpdus = psdu.into_mpdus();
            while let Some(mpdu) = mpdus.pop() {
                window.put_back(mpdu);
            }
            window.request_due = true;
            window.missed_block_ack = true;
            queue.update_pending(receiver);
            self.spare = mpdus;
            return Retry::Again;
        }
        // The oldest of them has failed most often.
        let dropped = psdu.mpdus()[0].failures.saturating_add(1) >= limit;
        self.put_back(air, by, psdu, now, supply);
        if dropped { Retry::Dropped } else { Retry::Again }
    }
}

/// Counts the packets of the frame that `mpdus` begin with, and adds up its bits.
#[inline(always)]
fn first_frame<P>(mpdus: &[Mpdu<P>]) -> (usize, u64) {
    let (mut packets, mut bits) = (1, mpdus[0].bits);
    while let Some(mpdu) = mpdus.get(packets).filter(|mpdu| mpdu.is_further) {
        packets += 1;
        bits += mpdu.bits;
    }
    (packets, bits)
}
