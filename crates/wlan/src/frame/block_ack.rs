//! The state of both ends of a Block ACK agreement: outstanding frames, and frames that wait for an
//! earlier one.
//!
//! The originator may have frames outstanding within a window of numbers that starts at the oldest
//! unacknowledged frame (IEEE Std 802.11-2020, 10.25.6.7). The recipient delivers frames in the
//! order of their numbers, and holds back frames that arrive early (10.25.6.6). Numbers do not wrap
//! here, which makes no difference as long as a window is less than half of them.
//!
//! A pair of stations with several links (802.11be) has one agreement for all of them (35.3.8). Of a
//! window only [`OnLink`] belongs to one link.

use std::collections::VecDeque;

use airtcp_kernel::Time;

use crate::frame::Mpdu;
use crate::frame::on_link::OnLink;
use crate::station::StationId;

/// The originator's side: frames for one receiver that were sent and not acknowledged.
#[derive(Debug)]
pub(crate) struct TransmitWindow<P> {
    pub(crate) receiver: StationId,
    /// Frames to be retransmitted, oldest first; empty while they are in a PPDU on the air.
    retries: VecDeque<Mpdu<P>>,
    next_id: u64,
    first_link: OnLink<P>,
    other_links: Vec<OnLink<P>>,
    /// All frames before this one were reported as received, by a Block ACK on any of several links.
    reported: u64,
}

impl<P> TransmitWindow<P> {
    pub(crate) fn new(receiver: StationId) -> Self {
        Self {
            receiver,
            retries: VecDeque::new(),
            next_id: 0,
            first_link: OnLink::default(),
            other_links: Vec::new(),
            reported: 0,
        }
    }

    /// Lets `links` links share the window, except those that are `absent`.
    pub(crate) fn share(&mut self, links: usize, absent: impl Fn(usize) -> bool) {
        self.other_links.resize_with(links - 1, OnLink::default);
        (0..links).for_each(|link| self.on_mut(link).is_absent = absent(link));
    }

    /// Returns the part of a link.
    #[inline]
    pub(crate) fn on(&self, link: usize) -> &OnLink<P> {
        link.checked_sub(1).map_or(&self.first_link, |other| &self.other_links[other])
    }

    /// Mutable version of [`Self::on`].
    #[inline]
    pub(crate) fn on_mut(&mut self, link: usize) -> &mut OnLink<P> {
        match link.checked_sub(1) {
            None => &mut self.first_link,
            Some(other) => &mut self.other_links[other],
        }
    }

    fn links(&self) -> impl Iterator<Item = &OnLink<P>> {
        std::iter::once(&self.first_link).chain(&self.other_links)
    }

    /// Returns the number of the next new frame and advances it.
    pub(crate) fn take_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id - 1
    }

    /// Returns the number of the next new frame without advancing it.
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id
    }

    /// Returns the number of frames to be retransmitted.
    pub(crate) fn waiting(&self) -> usize {
        self.retries.len()
    }

    /// Returns whether it has anything to send on any link without the queue.
    pub(crate) fn has_work(&self) -> bool {
        !self.retries.is_empty()
            || self.first_link.request_due
            || self.other_links.iter().any(|one| one.request_due)
    }

    /// Returns whether it has anything to send on `link` without the queue.
    #[inline]
    pub(crate) fn has_work_on(&self, link: usize) -> bool {
        let on_link = self.on(link);
        !on_link.is_absent && (on_link.request_due || !self.retries.is_empty())
    }

    /// Returns whether `link` may send a new frame: it is within a window of `size` frames.
    pub(crate) fn is_open_on(&self, link: usize, size: u64) -> bool {
        !self.on(link).is_absent && self.next_id < self.start(&[]) + size
    }

    /// Returns the oldest frame to be retransmitted, or whose Block ACK `link` asks for.
    pub(crate) fn oldest(&self, link: usize) -> Option<&Mpdu<P>> {
        let missed = self.on(link).missed.first();
        missed.into_iter().chain(self.retries.front()).min_by_key(|mpdu| mpdu.id)
    }

    /// Returns the oldest frame that is held: to be retransmitted, without its Block ACK, or in a
    /// PPDU of any of several links.
    pub(crate) fn oldest_held(&self) -> Option<&Mpdu<P>> {
        let of_links =
            self.links().flat_map(|one| one.missed.first().into_iter().chain(&one.oldest));
        of_links.chain(self.retries.front()).min_by_key(|mpdu| mpdu.id)
    }

    /// Records that a Block ACK reported all frames before `next` as received.
    pub(crate) fn report(&mut self, next: u64) {
        self.reported = self.reported.max(next);
    }

    /// Appends the next frame to be retransmitted to `into`, with all its packets, if `fits`
    /// accepts its size. Returns this size.
    pub(crate) fn next_retry(
        &mut self,
        into: &mut Vec<Mpdu<P>>,
        fits: impl FnOnce(u64) -> bool,
    ) -> Option<u64> {
        let first = self.retries.front()?;
        let further = self.retries.iter().skip(1).take_while(|mpdu| mpdu.is_further);
        let (count, bits) =
            further.fold((1, first.bits), |(count, bits), mpdu| (count + 1, bits + mpdu.bits));
        if !fits(bits) {
            return None;
        }
        into.extend(self.retries.drain(..count));
        Some(bits)
    }

    /// Returns the start of the window, WinStartO: the oldest unacknowledged number. `on_air` has
    /// the frames of the current PPDU, in ascending order.
    pub(crate) fn start(&self, on_air: &[Mpdu<P>]) -> u64 {
        let oldest = |mpdu: Option<&Mpdu<P>>| mpdu.map_or(self.next_id, |mpdu| mpdu.id);
        let start = oldest(on_air.first())
            .min(oldest(self.retries.front()))
            .min(oldest(self.first_link.missed.first()));
        if self.other_links.is_empty() { start } else { self.start_of_links(start) }
    }

    /// Returns the start of a window of several links; `start` is that of one of them.
    #[cold]
    #[inline(never)]
    fn start_of_links(&self, start: u64) -> u64 {
        let oldest = |mpdu: Option<&Mpdu<P>>| mpdu.map_or(self.next_id, |mpdu| mpdu.id);
        let missed = self.other_links.iter().map(|one| oldest(one.missed.first()));
        let on_air = self.links().filter_map(|one| one.oldest.as_ref().map(|mpdu| mpdu.id));
        missed.chain(on_air).fold(start, u64::min).max(self.reported)
    }

    /// Puts back `mpdu`, which failed and will be retransmitted. Call this from the newest to the
    /// oldest frame of a PPDU. Frames of another link may be older.
    pub(crate) fn put_back(&mut self, mpdu: Mpdu<P>) {
        if self.retries.front().is_none_or(|first| mpdu.id <= first.id) {
            self.retries.push_front(mpdu);
        } else {
            self.put_between(mpdu);
        }
    }

    /// Puts back `mpdu` between frames of another link.
    #[cold]
    #[inline(never)]
    fn put_between(&mut self, mpdu: Mpdu<P>) {
        let place = self.retries.partition_point(|other| other.id < mpdu.id);
        self.retries.insert(place, mpdu);
    }

    /// Iterates over the frames to be retransmitted, and those whose Block ACK was missed.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Mpdu<P>> {
        self.retries.iter().chain(self.links().flat_map(|one| &one.missed))
    }
}

/// Account of the frames of an agreement, separate from what both sides do, so that each run can
/// check it. No frame is lost or invented. None is delivered twice or out of order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Books {
    pub(crate) acknowledged: u64,
    pub(crate) given_up: u64,
    /// The number after the last delivered one.
    next: u64,
    is_out_of_order: bool,
}

impl Books {
    /// Records that the recipient delivers a frame, or a further packet of it.
    #[inline]
    pub(crate) fn hand_on<P>(&mut self, mpdu: &Mpdu<P>) {
        let in_order =
            if mpdu.is_further { mpdu.id + 1 == self.next } else { mpdu.id >= self.next };
        self.is_out_of_order |= !in_order;
        self.next = mpdu.id + 1;
    }

    /// Checks the account: `offered` frames came from the queue, the originator has `held`, and
    /// `received` arrived.
    pub(crate) fn check(&self, offered: u64, held: u64, received: u64) -> Result<(), String> {
        let Self { acknowledged, given_up, is_out_of_order, .. } = *self;
        if is_out_of_order {
            return Err("a frame was handed on twice, or out of order".into());
        }
        if offered != acknowledged + given_up + held {
            return Err(format!(
                "of {offered} frames {acknowledged} were acknowledged, {given_up} given up, and \
                 {held} are held"
            ));
        }
        if acknowledged > received {
            return Err(format!("{acknowledged} frames were acknowledged, of {received} received"));
        }
        Ok(())
    }
}

/// The recipient's side: frames that arrived before an earlier one.
#[derive(Debug)]
pub(crate) struct ReorderBuffer<P> {
    /// WinStartB: the number to be delivered next.
    next: u64,
    /// Frames by number from `next` on, each with its arrival time; the first is always missing.
    held: VecDeque<Option<(Mpdu<P>, Time)>>,
    /// The further packets of held frames, by frame number.
    further: VecDeque<Mpdu<P>>,
    /// The number of delivered frames.
    handed_on: u64,
}

impl<P> Default for ReorderBuffer<P> {
    fn default() -> Self {
        Self { next: 0, held: VecDeque::new(), further: VecDeque::new(), handed_on: 0 }
    }
}

impl<P: Clone> ReorderBuffer<P> {
    /// Receives a frame with its packets. Delivers them and what waited for them, or holds them
    /// back. `release` gets each packet with its arrival time. A duplicate is not delivered again.
    pub(crate) fn receive(
        &mut self,
        frame: &[Mpdu<P>],
        now: Time,
        mut release: impl FnMut(&Mpdu<P>, Time),
    ) {
        let [first, further @ ..] = frame else { unreachable!("a frame has a packet") };
        let Some(place) = first.id.checked_sub(self.next) else { return };
        let place = place as usize;
        if place == 0 {
            frame.iter().for_each(|mpdu| release(mpdu, now));
            self.handed_on += 1;
            self.next += 1;
            self.held.pop_front();
            self.hand_on(release);
            return;
        }
        if self.held.len() <= place {
            self.held.resize_with(place + 1, || None);
        }
        if self.held[place].is_some() {
            return;
        }
        self.held[place] = Some((first.clone(), now));
        let before = self.further.partition_point(|mpdu| mpdu.id < first.id);
        for (mpdu, place) in further.iter().zip(before..) {
            self.further.insert(place, mpdu.clone());
        }
    }

    /// Delivers what waits for frames before `start`, because these will not come any more
    /// (10.25.6.6.3).
    pub(crate) fn begin_at(&mut self, start: u64, mut release: impl FnMut(&Mpdu<P>, Time)) {
        while self.next < start {
            self.next += 1;
            if let Some(Some((mpdu, came))) = self.held.pop_front() {
                self.hand_on_frame(&mpdu, came, &mut release);
            }
        }
        self.hand_on(release);
    }

    fn hand_on(&mut self, mut release: impl FnMut(&Mpdu<P>, Time)) {
        while let Some(Some(_)) = self.held.front() {
            if let Some(Some((mpdu, came))) = self.held.pop_front() {
                self.hand_on_frame(&mpdu, came, &mut release);
            }
            self.next += 1;
        }
    }

    fn hand_on_frame(
        &mut self,
        first: &Mpdu<P>,
        came: Time,
        release: &mut impl FnMut(&Mpdu<P>, Time),
    ) {
        release(first, came);
        self.handed_on += 1;
        while self.further.front().is_some_and(|mpdu| mpdu.id == first.id) {
            self.further.pop_front().iter().for_each(|mpdu| release(mpdu, came));
        }
    }

    /// Returns the number to be delivered next: all frames before it were received, or given up.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Returns the number of frames delivered or held back.
    pub(crate) fn received(&self) -> u64 {
        self.handed_on + self.held.iter().flatten().count() as u64
    }

    /// Iterates over the frames that are held back.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Mpdu<P>> {
        self.held.iter().flatten().map(|(mpdu, _)| mpdu).chain(&self.further)
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
            is_further: false,
            failures: 0,
            failures_after_rts: 0,
            is_received: false,
            payload: id,
        }
    }

    fn receive(buffer: &mut ReorderBuffer<u64>, id: u64) -> Vec<u64> {
        let mut released = Vec::new();
        buffer.receive(&[mpdu(id)], Time::ZERO, |mpdu, _| released.push(mpdu.id));
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

    /// Frames of one, two and three packets.
    #[test]
    fn packets_of_one_frame_stay_together() {
        let frame = |id, packets: u64| -> Vec<Mpdu<u64>> {
            let packet = |n| Mpdu { is_further: n > 0, payload: 10 * id + n, ..mpdu(id) };
            (0..packets).map(packet).collect()
        };
        let mut buffer = ReorderBuffer::default();
        let mut released = Vec::new();
        for id in [3, 2, 2, 1] {
            buffer.receive(&frame(id, id), Time::ZERO, |mpdu, _| released.push(mpdu.payload));
        }
        assert!(released.is_empty());
        assert_eq!(buffer.iter().count(), 6);

        buffer.receive(&frame(0, 2), Time::ZERO, |mpdu, _| released.push(mpdu.payload));

        assert_eq!(released, [0, 1, 10, 20, 21, 30, 31, 32]);
        assert_eq!(buffer.received(), 4);

        let mut window = TransmitWindow::new(1);
        for mpdu in frame(1, 3).into_iter().rev() {
            window.put_back(mpdu);
        }
        let mut again = Vec::new();
        assert_eq!(window.next_retry(&mut again, |bits| bits > 2_400), None);
        assert_eq!(window.next_retry(&mut again, |bits| bits == 2_400), Some(2_400));
        assert_eq!(again, frame(1, 3));
    }

    #[test]
    fn books_notice_what_may_not_be() {
        let mut books = Books { acknowledged: 2, given_up: 1, ..Books::default() };
        books.hand_on(&mpdu(0));
        books.hand_on(&Mpdu { is_further: true, ..mpdu(0) });
        books.hand_on(&mpdu(2));
        assert_eq!(books.check(4, 1, 2), Ok(()));

        assert!(books.check(5, 1, 2).unwrap_err().contains("of 5 frames"));
        assert!(books.check(4, 1, 1).unwrap_err().contains("of 1 received"));
        for wrong in [mpdu(2), mpdu(1), Mpdu { is_further: true, ..mpdu(3) }] {
            let mut books = books;
            books.hand_on(&wrong);
            assert!(books.check(4, 1, 2).unwrap_err().contains("out of order"));
        }
    }

    #[test]
    fn a_frame_is_handed_on_with_the_time_when_it_came() {
        let mut buffer = ReorderBuffer::default();
        let mut released = Vec::new();
        for (id, nanos) in [(1, 10), (2, 20), (0, 35)] {
            let now = Time::from_nanos(nanos);
            let release = |mpdu: &Mpdu<u64>, came: Time| released.push((mpdu.id, came.as_nanos()));
            buffer.receive(&[mpdu(id)], now, release);
        }

        assert_eq!(released, [(0, 35), (1, 10), (2, 20)]);
    }

    /// Frame 1 was given up. A request says that the window starts at 2, so that 2 and 3 need not
    /// wait.
    #[test]
    fn what_was_given_up_holds_nothing_back() {
        let mut buffer = ReorderBuffer::default();
        receive(&mut buffer, 0);
        receive(&mut buffer, 2);
        receive(&mut buffer, 3);
        receive(&mut buffer, 5);
        let mut released = Vec::new();

        buffer.begin_at(2, |mpdu, _| released.push(mpdu.id));

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
        let mut again = Vec::new();
        assert_eq!(window.next_retry(&mut again, |_| true), Some(800));
        assert_eq!(window.next_retry(&mut again, |_| false), None);
        assert_eq!(window.start(&[mpdu(1)]), 1);
        assert_eq!(window.next_retry(&mut again, |_| true), Some(800));
        assert_eq!(again.iter().map(|mpdu| mpdu.id).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(window.start(&[]), 4);
        assert!(!window.has_work());
    }

    /// Frames 0 and 1 fail on link 0, 2 and 3 on link 1, where their Block ACK was missed.
    #[test]
    fn links_share_a_window() {
        let mut window = TransmitWindow::new(1);
        window.share(2, |_| false);
        let sent: Vec<_> = (0..5).map(|_| mpdu(window.take_id())).collect();
        (window.on_mut(0).oldest, window.on_mut(1).oldest) = (None, Some(mpdu(2)));
        window.put_back(sent[4]);
        window.put_back(sent[1]);
        assert_eq!((window.start(&[]), window.oldest_held().map(|one| one.id)), (1, Some(1)));
        window.on_mut(1).oldest = None;
        (window.on_mut(1).missed, window.on_mut(1).request_due) = (sent[2..4].to_vec(), true);

        let mut again = Vec::new();
        while window.next_retry(&mut again, |_| true).is_some() {}

        assert_eq!(again.iter().map(|mpdu| mpdu.id).collect::<Vec<_>>(), [1, 4]);
        assert_eq!((window.start(&[]), window.oldest(1).map(|one| one.id)), (2, Some(2)));
        assert_eq!(window.oldest_held().map(|one| one.id), Some(2));
        assert!(window.has_work_on(1) && !window.has_work_on(0) && window.has_work());
        assert!(window.is_open_on(0, 4) && !window.is_open_on(0, 3));
        window.report(4);
        assert!(window.is_open_on(0, 3));
    }
}
