//! What becomes of a PPDU with several frames: what arrived, what the Block ACK tells of it, and what
//! is sent again or given up (IEEE Std 802.11-2020, 10.25.6).

use airtcp_kernel::Time;

use super::{Agreement, Sends};
use crate::cell::{Cell, MacEvent, OnAir, Supply};
use crate::config::FailedBlockAck;
use crate::contention::Retry;
use crate::frame::{Mpdu, Psdu};
use crate::station::{ACCESS_POINT, ContenderId, StationId};

impl<P: Clone> Cell<P> {
    /// A frame of the PPDU on the air has arrived, or all of it has.
    #[inline(never)]
    pub(in crate::cell) fn ppdu_arrives<S: Supply<P>>(
        &mut self,
        by: ContenderId,
        now: Time,
        end: Time,
        supply: &mut S,
    ) {
        let aggregates = self.aggregates.as_mut().expect("asked where frames are aggregated");
        if let Sends::Request(receiver) = aggregates.queues[by as usize].sends {
            let Agreement { window, recipient, books, .. } = aggregates.agreement(by, receiver);
            let start = window.start(&[]);
            recipient.begin_at(start, |mpdu, came| {
                books.hand_on(mpdu);
                supply.on_event(now, MacEvent::Received { by, mpdu, came: Some(came) });
            });
            aggregates.any_received = true;
            self.answer_or_silence(by, now, end);
            return;
        }
        let station = self.originators[by as usize].station;
        let psdu = self.originators[by as usize].psdu.as_mut().expect("it was sent");
        let receiver = psdu.frames().receiver();
        let far = if station == ACCESS_POINT { receiver } else { station };
        let all = psdu.mpdus().len();
        let choice = aggregates.queues[by as usize].choice;
        let error_rate = match (choice, aggregates.controlled.get(far as usize)) {
            (Some(choice), Some(Some((_, error_rates)))) => Some(error_rates[choice.rate]),
            _ => None,
        };
        let begun = aggregates.arrived;
        let until = if aggregates.arrivals.is_empty() {
            all
        } else {
            begun + 1 + further(&psdu.mpdus()[begun + 1..])
        };
        let mut next = begun;
        let (mut frames, mut errors) = (0, 0);
        while next < until {
            let first = next;
            frames += 1;
            next += 1 + further(&psdu.mpdus()[next + 1..]);
            let frame = &mut psdu.mpdus_mut()[first..next];
            let bits = frame.iter().map(|mpdu| mpdu.bits).sum();
            let bits = self.frames.msdu_bits(bits);
            let is_lost = match error_rate {
                Some(rate) => self.errors.loses_at(far, bits, rate),
                None => self.errors.loses(far, bits),
            };
            if is_lost {
                errors += 1;
                continue;
            }
            for mpdu in &mut *frame {
                mpdu.is_received = true;
            }
            aggregates.any_received = true;
            let Agreement { recipient, books, .. } =
                aggregates.queues[by as usize].agreement(receiver);
            recipient.receive(frame, now, |mpdu, came| {
                books.hand_on(mpdu);
                supply.on_event(now, MacEvent::Received { by, mpdu, came: Some(came) });
            });
        }
        self.contention.count_mpdus(by, frames, errors);
        aggregates.arrived = until;
        if until < all {
            let next = aggregates.arrivals[until];
            self.set_on_air(OnAir::Sending { end }, next);
        } else {
            self.answer_or_silence(by, now, end);
            if !self.aggregates().any_received {
                self.tell_of_loss(by, end, supply);
            }
        }
    }

    /// The PPDU is over at its receiver, who answers if it got anything; all others wait for that.
    fn answer_or_silence(&mut self, by: ContenderId, now: Time, end: Time) {
        let ack_start = now + self.frames.phy().sifs;
        let what = if self.aggregates().any_received {
            OnAir::Acknowledging { by, ack_start }
        } else {
            OnAir::Unanswered { by }
        };
        self.set_on_air(what, end);
    }

    /// The answer to what `by` has sent has come: an ACK, or a Block ACK that tells what arrived.
    #[inline(never)]
    pub(in crate::cell) fn ppdu_answered<S: Supply<P>>(
        &mut self,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) {
        let aggregates = self.aggregates.as_mut().expect("asked where frames are aggregated");
        let receiver;
        if let Sends::Request(asked) = aggregates.queues[by as usize].sends {
            receiver = asked;
            let window = &mut aggregates.queues[by as usize].agreement(receiver).window;
            window.request_due = false;
            window.request_failures = 0;
            if std::mem::take(&mut window.missed_block_ack) {
                self.retries_failed(by, receiver, now, supply);
            }
            self.aggregates().queues[by as usize].update_pending(receiver);
        } else {
            let psdu = self.originators[by as usize].psdu.take().expect("it was sent");
            let frames = psdu.frames();
            receiver = frames.receiver();
            supply.on_event(now, MacEvent::Answered { by, psdu: frames });
            let received = frames.each().filter(|frame| frame[0].is_received).count();
            self.aggregates().agreement(by, receiver).books.acknowledged += received as u64;
            self.aggregates().report(by, frames, received);
            for mpdu in frames.mpdus().iter().filter(|mpdu| mpdu.is_received) {
                self.originators[by as usize].done += 1;
                supply.on_event(now, MacEvent::Acknowledged { by, mpdu });
            }
            self.put_back(by, psdu, now, supply);
        }
        if self.txop.is_open(now) {
            self.txop_was_for(receiver);
            let start = now + self.frames.phy().sifs;
            if !self.beacons.is_due(by)
                && self.has_frame(by, supply)
                && let Some(left) = self.txop.left(start)
                && self.assemble(by, now, Some(left), supply)
            {
                self.contention.continue_txop(by);
                self.ppdu_begins(by, start, supply);
                return;
            }
            if self.ends_early(by, now, supply) {
                return;
            }
        }
        let has_frame = self.has_frame(by, supply);
        self.contention.end_success(by, now, has_frame);
        self.fall_silent();
    }

    fn failed_block_ack(&self) -> FailedBlockAck {
        self.aggregates.as_ref().map_or(FailedBlockAck::Resend, |one| one.failed_block_ack)
    }

    /// What of `psdu` was not received goes back ahead of the queue, or is given up.
    fn put_back<S: Supply<P>>(
        &mut self,
        by: ContenderId,
        psdu: Psdu<P>,
        now: Time,
        supply: &mut S,
    ) {
        let limit = self.aggregates().retry_limit;
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
        let aggregates = self.aggregates();
        let queue = &mut aggregates.queues[by as usize];
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
        aggregates.spare = mpdus;
        self.originators[by as usize].done += given_up;
    }

    /// A Block ACK has told that all frames that wait for `receiver` failed.
    fn retries_failed<S: Supply<P>>(
        &mut self,
        by: ContenderId,
        receiver: StationId,
        now: Time,
        supply: &mut S,
    ) {
        let window = &mut self.aggregates().queues[by as usize].agreement(receiver).window;
        let mut mpdus = Vec::new();
        while window.next_retry(&mut mpdus, |_| true).is_some() {}
        if !mpdus.is_empty() {
            self.put_back(by, Psdu::of(mpdus), now, supply);
        }
    }

    /// What `by` has sent collided, lost an internal collision, or reached nobody (without
    /// `data_sent` no data were on the air): what it has assembled waits again. Tells whether it is given up.
    #[inline(never)]
    pub(in crate::cell) fn ppdu_failed<S: Supply<P>>(
        &mut self,
        by: ContenderId,
        data_sent: bool,
        now: Time,
        supply: &mut S,
    ) -> Retry {
        let limit = self.aggregates().retry_limit;
        if let Sends::Request(receiver) = self.aggregates().queues[by as usize].sends {
            let window = &mut self.aggregates().queues[by as usize].agreement(receiver).window;
            window.request_failures = window.request_failures.saturating_add(1);
            if window.request_failures < limit {
                return Retry::Again;
            }
            window.request_failures = 0;
            window.request_due = false;
            window.missed_block_ack = false;
            self.retries_failed(by, receiver, now, supply);
            self.aggregates().queues[by as usize].update_pending(receiver);
            return Retry::Dropped;
        }
        let psdu = self.originators[by as usize].psdu.take().expect("it was to be sent");
        let receiver = psdu.frames().receiver();
        if data_sent {
            self.aggregates().report(by, psdu.frames(), 0);
        }
        let asks = data_sent
            && psdu.frames().count() > 1
            && self.failed_block_ack() == FailedBlockAck::BlockAckRequest;
        if asks {
            let queue = &mut self.aggregates().queues[by as usize];
            let window = &mut queue.agreement(receiver).window;
            let mut mpdus = psdu.into_mpdus();
            while let Some(mpdu) = mpdus.pop() {
                window.put_back(mpdu);
            }
            window.request_due = true;
            window.missed_block_ack = true;
            queue.update_pending(receiver);
            self.aggregates().spare = mpdus;
            return Retry::Again;
        }
        // The oldest of them has failed most often.
        let dropped = psdu.mpdus()[0].failures.saturating_add(1) >= limit;
        self.put_back(by, psdu, now, supply);
        if dropped { Retry::Dropped } else { Retry::Again }
    }
}

/// How many packets more of the frame before them `mpdus` begin with.
fn further<P>(mpdus: &[Mpdu<P>]) -> usize {
    mpdus.iter().take_while(|mpdu| mpdu.is_further).count()
}
