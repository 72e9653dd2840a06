//! What both ends of a block ack agreement keep: which frames are outstanding, and which wait for an
//! earlier one.
//!
//! The originator may have frames outstanding within one window of numbers, from the oldest that is
//! not acknowledged on (IEEE Std 802.11-2020, 10.25.6.7). The recipient hands frames on in the order
//! of their numbers, and holds back what came before its turn (10.25.6.6). Knows no time and no
//! medium; numbers do not wrap, which changes nothing as long as a window is less than half of them.

use std::collections::VecDeque;

use crate::frame::Mpdu;
use crate::station::StationId;

/// The originator's side: frames for one receiver that were sent and not acknowledged.
#[derive(Debug)]
pub(crate) struct TransmitWindow<P> {
    pub(crate) receiver: StationId,
    /// To be sent again, by their numbers, the oldest first; none while a PPDU is on the air with
    /// them.
    retries: VecDeque<Mpdu<P>>,
    next_id: u64,
    /// The recipient is to be told by a Block ACK request where the window begins, or asked for a
    /// Block ACK that was missed.
    pub(crate) request_due: bool,
    /// It is a Block ACK that was missed: the frames that wait have failed once more.
    pub(crate) missed_block_ack: bool,
    /// How often that request failed.
    pub(crate) request_failures: u16,
}

impl<P> TransmitWindow<P> {
    pub(crate) fn new(receiver: StationId) -> Self {
        Self {
            receiver,
            retries: VecDeque::new(),
            next_id: 0,
            request_due: false,
            missed_block_ack: false,
            request_failures: 0,
        }
    }

    /// The number of the next new frame.
    pub(crate) fn take_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id - 1
    }

    /// The number of the next new frame, which is not taken yet.
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id
    }

    /// How many frames wait to be sent again.
    pub(crate) fn waiting(&self) -> usize {
        self.retries.len()
    }

    /// Whether it has anything to send that it need not ask the queue for.
    pub(crate) fn has_work(&self) -> bool {
        self.request_due || !self.retries.is_empty()
    }

    /// The oldest frame that waits to be sent again.
    pub(crate) fn oldest(&self) -> Option<&Mpdu<P>> {
        self.retries.front()
    }

    /// The next frame to be sent again, if `fits` says that there is room for it.
    pub(crate) fn next_retry(&mut self, fits: impl FnOnce(&Mpdu<P>) -> bool) -> Option<Mpdu<P>> {
        if self.retries.front().is_some_and(fits) { self.retries.pop_front() } else { None }
    }

    /// Where the window begins: WinStartO, the oldest number that is not acknowledged. `on_air` are
    /// the frames of the PPDU at hand, by their numbers.
    pub(crate) fn start(&self, on_air: &[Mpdu<P>]) -> u64 {
        let oldest = |mpdu: Option<&Mpdu<P>>| mpdu.map_or(self.next_id, |mpdu| mpdu.id);
        oldest(on_air.first()).min(oldest(self.retries.front()))
    }

    /// `mpdu` has failed and is sent again. Called from the newest to the oldest of a PPDU.
    pub(crate) fn put_back(&mut self, mpdu: Mpdu<P>) {
        debug_assert!(self.retries.front().is_none_or(|first| mpdu.id < first.id));
        self.retries.push_front(mpdu);
    }

    /// All frames that wait to be sent again, the oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Mpdu<P>> {
        self.retries.iter()
    }
}

/// The recipient's side: frames that came before an earlier one.
#[derive(Debug)]
pub(crate) struct ReorderBuffer<P> {
    /// WinStartB: the number that is handed on next.
    next: u64,
    /// By number from `next` on; the first is always missing.
    held: VecDeque<Option<Mpdu<P>>>,
}

impl<P> Default for ReorderBuffer<P> {
    fn default() -> Self {
        Self { next: 0, held: VecDeque::new() }
    }
}

impl<P: Clone> ReorderBuffer<P> {
    /// A frame has arrived. Hands it on, and what waited for it, by `release`, or holds it back.
    /// One that was there before is not handed on again.
    pub(crate) fn receive(&mut self, mpdu: &Mpdu<P>, mut release: impl FnMut(&Mpdu<P>)) {
        let Some(place) = mpdu.id.checked_sub(self.next) else { return };
        let place = place as usize;
        if place == 0 {
            release(mpdu);
            self.next += 1;
            self.held.pop_front();
            self.hand_on(release);
            return;
        }
        if self.held.len() <= place {
            self.held.resize_with(place + 1, || None);
        }
        self.held[place].get_or_insert_with(|| mpdu.clone());
    }

    /// Nothing before `start` comes any more: what waits for it is handed on (10.25.6.6.3).
    pub(crate) fn begin_at(&mut self, start: u64, mut release: impl FnMut(&Mpdu<P>)) {
        while self.next < start {
            self.next += 1;
            if let Some(Some(mpdu)) = self.held.pop_front() {
                release(&mpdu);
            }
        }
        self.hand_on(release);
    }

    fn hand_on(&mut self, mut release: impl FnMut(&Mpdu<P>)) {
        while let Some(Some(mpdu)) = self.held.front() {
            release(mpdu);
            self.next += 1;
            self.held.pop_front();
        }
    }

    /// The frames that are held back.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Mpdu<P>> {
        self.held.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mpdu(id: u64) -> Mpdu<u64> {
        Mpdu {
            id,
            receiver: 1,
            bits: 800,
            failures: 0,
            failures_after_rts: 0,
            is_received: false,
            payload: id,
        }
    }

    fn receive(buffer: &mut ReorderBuffer<u64>, id: u64) -> Vec<u64> {
        let mut released = Vec::new();
        buffer.receive(&mpdu(id), |mpdu| released.push(mpdu.id));
        released
    }

    #[test]
    fn frames_are_handed_on_in_order() {
        let mut buffer = ReorderBuffer::default();

        assert_eq!(receive(&mut buffer, 0), [0]);
        assert_eq!(receive(&mut buffer, 2), []);
        assert_eq!(receive(&mut buffer, 4), []);
        assert_eq!(buffer.iter().map(|mpdu| mpdu.id).collect::<Vec<_>>(), [2, 4]);
        assert_eq!(receive(&mut buffer, 1), [1, 2]);
        assert_eq!(receive(&mut buffer, 3), [3, 4]);
        assert_eq!(receive(&mut buffer, 5), [5]);
    }

    #[test]
    fn a_frame_that_was_there_before_is_not_handed_on_again() {
        let mut buffer = ReorderBuffer::default();
        receive(&mut buffer, 0);
        receive(&mut buffer, 2);

        assert_eq!(receive(&mut buffer, 0), []);
        assert_eq!(receive(&mut buffer, 2), []);
        assert_eq!(receive(&mut buffer, 1), [1, 2]);
    }

    /// 1 was given up: a request says that the window begins at 2, and 2 and 3 need not wait.
    #[test]
    fn what_was_given_up_holds_nothing_back() {
        let mut buffer = ReorderBuffer::default();
        receive(&mut buffer, 0);
        receive(&mut buffer, 2);
        receive(&mut buffer, 3);
        receive(&mut buffer, 5);
        let mut released = Vec::new();

        buffer.begin_at(2, |mpdu| released.push(mpdu.id));

        assert_eq!(released, [2, 3]);
        assert_eq!(receive(&mut buffer, 4), [4, 5]);
    }

    #[test]
    fn a_window_begins_with_the_oldest_that_is_not_acknowledged() {
        let mut window = TransmitWindow::new(1);
        let sent: Vec<_> = (0..4).map(|_| mpdu(window.take_id())).collect();
        assert_eq!(window.start(&sent), 0);

        // 0 and 2 were acknowledged.
        window.put_back(sent[3]);
        window.put_back(sent[1]);

        assert_eq!(window.start(&[]), 1);
        assert_eq!(window.waiting(), 2);
        assert_eq!(window.next_retry(|_| true).map(|mpdu| mpdu.id), Some(1));
        assert_eq!(window.next_retry(|_| false), None);
        assert_eq!(window.start(&[mpdu(1)]), 1);
        assert_eq!(window.next_retry(|_| true).map(|mpdu| mpdu.id), Some(3));
        assert_eq!(window.start(&[]), 4);
        assert!(!window.has_work());
    }
}
