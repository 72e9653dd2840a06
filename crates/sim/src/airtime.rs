//! Accounts for the measured time to the nanosecond: every frame on the air, and idle time.
//!
//! Exchanges and collisions are reported as a whole, in order. The account cuts off what lies
//! outside the measured time.

use std::ops::Range;

use airtcp_kernel::{Duration, Time, counters};
use airtcp_wlan::{AirtimeParts, FrameTimes, PhyConfig};

counters! {
    /// Nanoseconds of the measured time, by the contents of exchanges' frames.
    pub(crate) struct ExchangeParts {
        pub(crate) data: Duration,
        pub(crate) tcp_ack: Duration,
        pub(crate) control: Duration,
    }
}

impl ExchangeParts {
    pub(crate) fn total(&self) -> Duration {
        self.data + self.tcp_ack + self.control
    }

    /// Adds the time of a frame with this cargo, or without data.
    #[inline(always)]
    fn add(&mut self, cargo: Option<Cargo>, time: Duration) {
        match cargo {
            Some(Cargo::Data) => self.data += time,
            Some(Cargo::TcpAck) => self.tcp_ack += time,
            None => self.control += time,
        }
    }
}

/// The contents of the data frame of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cargo {
    /// TCP or UDP payload.
    Data,
    /// A TCP segment without payload.
    TcpAck,
}

/// Airtime of one of several cells outside of successful exchanges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CellParts {
    /// Frames without an overlap, by contents.
    pub(crate) alone: ExchangeParts,
    /// Overlapped with other frames, of any cell.
    pub(crate) overlapped: Duration,
}

/// One of several frames that begin together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Colliding {
    pub(crate) cell: u32,
    pub(crate) length: Duration,
    /// The contents of its data; `None` without data.
    pub(crate) cargo: Option<Cargo>,
}

/// Adds up the [`AirtimeParts`] from `from` to `to`.
#[derive(Debug, Default)]
pub(crate) struct AirtimeAccount {
    from: Time,
    to: Time,
    /// Exchanges by scope, from the first scope of the medium on.
    exchanges: Vec<ExchangeParts>,
    first_scope: u32,
    /// Everything but exchanges.
    parts: AirtimeParts,
    /// Everything but exchanges, by cell if several share the medium; else empty.
    pub(crate) cells: Vec<CellParts>,
    /// The time up to which the account is complete.
    settled: Time,
    /// `settled`, if it lies in the measured time; else [`Time::NEVER`].
    clear_from: Time,
    /// Whether something began before the previous transmission had ended.
    overlapped: bool,
}

impl AirtimeAccount {
    /// Opens an account of a medium with these scopes. `cells` is the number of cells that share it,
    /// 0 for one.
    pub(crate) fn new(from: Time, to: Time, scopes: Range<u32>, cells: usize) -> Self {
        Self {
            from,
            to,
            exchanges: vec![ExchangeParts::default(); scopes.len()],
            first_scope: scopes.start,
            parts: AirtimeParts::default(),
            cells: vec![CellParts::default(); cells],
            settled: Time::ZERO,
            clear_from: if from == Time::ZERO { Time::ZERO } else { Time::NEVER },
            overlapped: false,
        }
    }

    /// Counts an exchange of `times` for a flow of `scope` that began at `start`.
    // Not inlined, this costs each exchange of 10 downloads some 28 instructions.
    #[inline(always)]
    pub(crate) fn exchange(
        &mut self,
        start: Time,
        times: &FrameTimes,
        scope: u32,
        cargo: Cargo,
        phy: &PhyConfig,
    ) {
        let end = start + times.total;
        let is_clear = start >= self.clear_from;
        let (data, control) = if is_clear & (end <= self.to) {
            // Almost always, all time since the last exchange is measured and nothing overlaps.
            let (data, control) = (times.data, times.control);
            self.parts.idle += (end - self.settled) - (data + control);
            (self.settled, self.clear_from) = (end, end);
            (data, control)
        } else {
            self.settle_exchange(start, end, times, phy)
        };
        self.add_apart(scope, cargo, (data, control));
    }

    /// Counts an exchange with several users in equal parts for their flows. A trigger frame may be
    /// in place of the RTS.
    pub(crate) fn exchange_of_users(
        &mut self,
        start: Time,
        times: &FrameTimes,
        users: &[(u32, Cargo)],
        phy: &PhyConfig,
    ) {
        let end = start + times.total;
        self.settle_exchange(start, end, times, phy);
        let [trigger, _, data, answer] = times.intervals(phy);
        for (place, &(scope, cargo)) in users.iter().enumerate() {
            let [trigger, data, answer] = [trigger, data, answer].map(|(begin, finish)| {
                let part = |place| start + begin + (finish - begin).part(place, users.len());
                self.measured(part(place), part(place + 1))
            });
            let parts = self.of_mut(scope);
            parts.add(Some(cargo), data);
            parts.control += trigger + answer;
        }
    }

    /// Returns whether everything from `start` to `end` is measured, and ends before the account
    /// does.
    #[inline]
    pub(crate) fn will_measure(&self, start: Time, end: Time) -> bool {
        start >= self.from && end < self.to
    }

    /// Counts a fully measured exchange only for its scope: the time of its data, and of its other
    /// frames.
    #[inline]
    pub(crate) fn add_apart(
        &mut self,
        scope: u32,
        cargo: Cargo,
        (data, control): (Duration, Duration),
    ) {
        let parts = self.of_mut(scope);
        parts.add(Some(cargo), data);
        parts.control += control;
    }

    /// Counts an exchange only for its scope: other frames may be on the air with it.
    pub(crate) fn exchange_apart(
        &mut self,
        start: Time,
        times: &FrameTimes,
        scope: u32,
        cargo: Cargo,
        phy: &PhyConfig,
    ) {
        self.add_apart(scope, cargo, self.measured_parts(start, times, phy));
    }

    /// Counts an exchange that is partly measured, or overlaps: the measured parts of its data
    /// frame and of its other frames.
    #[cold]
    fn settle_exchange(
        &mut self,
        start: Time,
        end: Time,
        times: &FrameTimes,
        phy: &PhyConfig,
    ) -> (Duration, Duration) {
        let (data, control) = self.measured_parts(start, times, phy);
        self.settle(start, end, data + control);
        (data, control)
    }

    /// Returns the measured time of the data and of the control frames of an exchange that begins at
    /// `start`.
    fn measured_parts(
        &self,
        start: Time,
        times: &FrameTimes,
        phy: &PhyConfig,
    ) -> (Duration, Duration) {
        let [rts, cts, data, ack] = times
            .intervals(phy)
            .map(|(begin, finish)| self.measured(start + begin, start + finish));
        (data, rts + cts + ack)
    }

    /// Counts a Block ACK request and its response that begin at `start` in `cell`.
    pub(crate) fn request(&mut self, start: Time, times: &FrameTimes, phy: &PhyConfig, cell: u32) {
        let (data, control) = self.measured_parts(start, times, phy);
        let sent = data + control;
        self.settle(start, start + times.total, sent);
        self.control(sent, cell);
    }

    /// Adds the time of frames of `cell` without data.
    fn control(&mut self, time: Duration, cell: u32) {
        self.parts.control += time;
        if let Some(one) = self.cells.get_mut(cell as usize) {
            one.alone.control += time;
        }
    }

    /// Subtracts the response from `from` to `to` of an exchange of `scope` that was already
    /// counted: it did not come.
    pub(crate) fn unanswered(&mut self, scope: u32, from: Time, to: Time) {
        let silent = self.measured(from, to);
        self.of_mut(scope).control -= silent;
        self.parts.idle += silent;
    }

    /// Counts a broadcast frame of `cell`, on the air from `start` to `frame_end`. It occupies the
    /// medium until `end` (a propagation delay later).
    pub(crate) fn broadcast(&mut self, (start, frame_end, end): (Time, Time, Time), cell: u32) {
        let sent = self.measured(start, frame_end);
        self.settle(start, end, sent);
        self.control(sent, cell);
    }

    /// Counts a frame of a contention-free period for a flow of `scope`, with data or a TCP ACK.
    /// Its times are as in [`Self::broadcast`].
    pub(crate) fn contention_free(
        &mut self,
        (start, frame_end, end): (Time, Time, Time),
        scope: u32,
        cargo: Cargo,
    ) {
        let sent = self.measured(start, frame_end);
        self.settle(start, end, sent);
        self.of_mut(scope).add(Some(cargo), sent);
    }

    /// Counts collided frames that lasted from `start` to `frames_end`. They occupied the medium
    /// until `end` (a propagation delay later).
    pub(crate) fn collision(&mut self, start: Time, frames_end: Time, end: Time) {
        let lost = self.measured(start, frames_end);
        self.settle(start, end, lost);
        self.parts.overlapped += lost;
    }

    /// Counts `frames` that begin together at `start` and collide, by cell.
    pub(crate) fn cells_collide(&mut self, start: Time, frames: &[Colliding]) {
        let Some(longest) = (0..frames.len()).max_by_key(|&one| frames[one].length) else { return };
        let last = &frames[longest];
        let end = start + last.length;
        let longest_of = |any: &dyn Fn(usize) -> bool| {
            let lengths = (0..frames.len()).filter(|&one| any(one)).map(|one| frames[one].length);
            start + lengths.max().unwrap_or(Duration::ZERO)
        };
        let second = longest_of(&|one| one != longest);
        for cell in 0..self.cells.len() {
            let own = longest_of(&|one| frames[one].cell as usize == cell);
            let overlapped = self.measured(start, own.min(second));
            self.cells[cell].overlapped += overlapped;
        }
        let left = self.measured(second, end);
        self.cells[last.cell as usize].alone.add(last.cargo, left);
    }

    /// Closes the account of the whole measured time.
    ///
    /// # Errors
    /// The violated invariant.
    pub(crate) fn close(&mut self) -> Result<AirtimeParts, String> {
        self.settle(self.to, self.to, Duration::ZERO);
        if self.overlapped {
            return Err("two transmissions overlap that did not collide".into());
        }
        let mut parts = self.parts;
        for exchanges in &self.exchanges {
            parts.data += exchanges.data;
            parts.tcp_ack += exchanges.tcp_ack;
            parts.control += exchanges.control;
        }
        let sum = parts.total();
        if sum != self.to - self.from {
            return Err(format!("airtime adds up to {sum}, not to {}", self.to - self.from));
        }
        Ok(parts)
    }

    /// Returns the airtime of the exchanges of one scope; zero for a scope of another medium.
    pub(crate) fn of(&self, scope: u32) -> ExchangeParts {
        let place = scope.wrapping_sub(self.first_scope) as usize;
        self.exchanges.get(place).copied().unwrap_or_default()
    }

    #[inline(always)]
    fn of_mut(&mut self, scope: u32) -> &mut ExchangeParts {
        &mut self.exchanges[(scope - self.first_scope) as usize]
    }

    /// Accounts for the time up to `end`; `on_air` of the time from `start` on was not idle.
    #[inline]
    fn settle(&mut self, start: Time, end: Time, on_air: Duration) {
        self.overlapped |= start < self.settled && start < self.to;
        let passed = self.measured(self.settled, end);
        self.overlapped |= on_air > passed;
        self.parts.idle +=
            Duration::from_nanos(passed.as_nanos().saturating_sub(on_air.as_nanos()));
        self.settled = end;
        self.clear_from = if self.from <= end { end } else { Time::NEVER };
    }

    /// Returns the measured part of the time from `from` to `to`.
    pub(crate) fn measured(&self, from: Time, to: Time) -> Duration {
        to.min(self.to).saturating_since(from.max(self.from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::ZERO + Duration::from_micros(micros)
    }

    #[test]
    fn what_lies_outside_the_measured_time_is_cut_off() {
        let mut account = AirtimeAccount::new(at(100), at(200), 0..0, 0);
        account.collision(at(90), at(110), at(110));
        account.collision(at(150), at(160), at(161));
        account.collision(at(195), at(205), at(205));

        let parts = account.close().unwrap();

        assert_eq!(parts.overlapped, Duration::from_micros(10 + 10 + 5));
        assert_eq!(parts.idle, Duration::from_micros(40 + 35));
    }

    /// Cells 0 and 1 overlap for 20 us. The longer frame of cell 0 continues without overlap for 10
    /// us, of which 5 are measured.
    #[test]
    fn frames_that_collide_overlap_until_the_last_but_one_has_ended() {
        let mut account = AirtimeAccount::new(at(0), at(125), 0..0, 3);
        let micros = Duration::from_micros;
        let frame = |cell, length, cargo| Colliding { cell, length: micros(length), cargo };
        account.cells_collide(
            at(100),
            &[
                frame(0, 30, Some(Cargo::Data)),
                frame(1, 20, Some(Cargo::TcpAck)),
                frame(1, 10, None),
            ],
        );

        let [first, second, third] = account.cells[..] else { panic!("there are three") };

        assert_eq!((first.overlapped, second.overlapped), (micros(20), micros(20)));
        assert_eq!(first.alone, ExchangeParts { data: micros(5), ..ExchangeParts::default() });
        assert_eq!((second.alone, third), (ExchangeParts::default(), CellParts::default()));
    }

    #[test]
    fn overlap_breaks_the_law() {
        let mut account = AirtimeAccount::new(at(0), at(200), 0..0, 0);
        account.collision(at(10), at(20), at(20));
        account.collision(at(19), at(30), at(30));

        assert!(account.close().unwrap_err().contains("overlap"));
    }
}
