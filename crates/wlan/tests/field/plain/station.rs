//! The state of a station: the frames that it hears, receives and sends, and what it waits for.

use airtcp_kernel::{Duration, Time};

use super::powers::Power;
use crate::sequence::txop::Txop;
use crate::station::{ContenderId, StationId};

/// The kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    CtsToSelf,
    Rts,
    Cts,
    /// Data, or a Block ACK request.
    Data,
    /// An ACK or a Block ACK.
    Answer,
}

/// A frame on the air, or scheduled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) kind: Kind,
    pub(super) to: StationId,
    /// The queue that owns the exchange.
    pub(super) by: ContenderId,
    pub(super) start: Time,
    pub(super) end: Time,
    /// The end of the exchange, for the NAV.
    pub(super) announced: Time,
    /// The required SINR.
    pub(super) need: f64,
    /// The end of preamble and header, of the first MPDU, and the start of the last MPDU.
    pub(super) header_end: Time,
    pub(super) first_end: Time,
    pub(super) last_start: Time,
    /// The frame that overlapped it at its receiver first.
    pub(super) culprit: Culprit,
    /// The factor on the transmit power.
    pub(super) strength: f64,
    pub(super) has_colour: bool,
    /// Whether it carries more than TCP acknowledgments.
    pub(super) has_data: bool,
}

impl Frame {
    /// Returns the received power if a frame at full power has `power`.
    pub(super) fn heard_with(&self, power: Power) -> Power {
        if self.strength < 1.0 { (power as f64 * self.strength) as Power } else { power }
    }
}

/// A frame that destroyed another, or kept its receiver from responding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Culprit {
    pub(super) station: StationId,
    /// The time between the starts of the two frames.
    pub(super) apart: Duration,
}

impl Culprit {
    pub(super) const NOBODY: Self = Self { station: StationId::MAX, apart: Duration::ZERO };
}

/// What other stations know of a frame on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Nothing,
    /// Its preamble; its colour follows.
    Preamble,
    All,
}

/// The frame that a station receives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lock {
    pub(super) from: StationId,
    pub(super) power: Power,
    pub(super) need: f64,
    /// When it was detected.
    pub(super) since: Time,
    /// Since when interference is too strong, if it is.
    pub(super) bad_since: Option<Time>,
    /// The start of the first time of too strong interference, and the end of the last.
    pub(super) first_bad: Time,
    pub(super) last_bad: Time,
}

impl Lock {
    /// Records whether interference is too strong. Returns the time in which it was, if it ends.
    pub(super) fn judge(&mut self, is_bad: bool, now: Time) -> Option<(Time, Time)> {
        if is_bad {
            self.bad_since.get_or_insert(now);
            self.first_bad = self.first_bad.min(now);
            return None;
        }
        let since = self.bad_since.take()?;
        self.last_bad = now;
        (since < now).then_some((since, now))
    }
}

/// The exchange that a station has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    pub(super) by: ContenderId,
    pub(super) txop: Txop,
    /// The response that it waits for.
    pub(super) awaits: Kind,
    /// Whether its RTS succeeded.
    pub(super) is_protected: bool,
}

/// A station.
pub(super) struct Station {
    /// Its queues, highest priority first.
    pub(super) queues: Vec<ContenderId>,
    /// The frames on the air that it hears: senders and powers.
    pub(super) hears: Vec<(StationId, Power)>,
    pub(super) lock: Option<Lock>,
    /// The times of too strong interference for a frame to this station.
    pub(super) bad: Vec<(Time, Time)>,
    /// The senders of ignored frames (OBSS-PD), with their powers.
    pub(super) ignored: Vec<(StationId, Power)>,
    /// Preambles that began before are not detected, because it was sending or receiving.
    pub(super) free_from: Time,
    pub(super) is_busy: bool,
    /// The ends of the last busy period or timeout, of the NAV, and of EIFS before its DIFS.
    pub(super) idle_from: Time,
    pub(super) nav: Time,
    pub(super) eifs: Time,
    /// When a NAV set by an RTS is reset because nothing followed, and who set the NAV.
    pub(super) nav_reset: Time,
    pub(super) nav_by: StationId,
    pub(super) sending: Option<Frame>,
    pub(super) known: Known,
    /// A response, or the next frame of its exchange.
    pub(super) next_frame: Option<Frame>,
    /// Whether that frame is assembled only when it begins (the next exchange of a TXOP).
    pub(super) continues: bool,
    pub(super) exchange: Option<Exchange>,
    pub(super) timeout: Time,
    /// Whether it waits for the end of the frame that it receives, which may be the response.
    pub(super) waits_for_end: bool,
    /// Whether it contended while it ignored a frame, and so sends with less power.
    pub(super) is_restricted: bool,
    /// What `WeakerBefore::Unnoticed` takes to be the interference: the power before the frames
    /// that may be detected until `undetected_until`.
    pub(super) before: Power,
    pub(super) undetected_until: Time,
    /// The sender of the frame that began last, if no frame has ended since.
    pub(super) last_by: Option<StationId>,
    /// The power of the frames that began last, at `fresh_at`.
    pub(super) fresh: Power,
    pub(super) fresh_at: Time,
}

impl Station {
    pub(super) fn new(queues: Vec<ContenderId>) -> Self {
        Self {
            queues,
            hears: Vec::new(),
            lock: None,
            bad: Vec::new(),
            ignored: Vec::new(),
            free_from: Time::ZERO,
            is_busy: false,
            idle_from: Time::ZERO,
            nav: Time::ZERO,
            eifs: Time::ZERO,
            nav_reset: Time::NEVER,
            nav_by: StationId::MAX,
            sending: None,
            known: Known::Nothing,
            next_frame: None,
            continues: false,
            exchange: None,
            timeout: Time::NEVER,
            waits_for_end: false,
            is_restricted: false,
            before: 0,
            undetected_until: Time::ZERO,
            last_by: None,
            fresh: 0,
            fresh_at: Time::NEVER,
        }
    }

    /// Returns the power of all frames on the air that it hears.
    pub(super) fn energy(&self) -> Power {
        self.hears.iter().map(|&(_, power)| power).sum()
    }

    /// Returns this power without the frames that it ignores.
    pub(super) fn sensed(&self) -> Power {
        self.energy() - self.ignored.iter().map(|&(_, power)| power).sum::<Power>()
    }

    /// Returns when inter-frame spaces begin if the medium stays idle.
    pub(super) fn spaces_begin(&self) -> Time {
        self.idle_from.max(self.nav).max(self.eifs)
    }

    /// True if its own exchange or response keeps its queues from contending.
    pub(super) fn is_engaged(&self) -> bool {
        self.sending.is_some() || self.next_frame.is_some() || self.exchange.is_some()
    }

    /// Gives up waiting for the end of the received frame.
    pub(super) fn receives_no_more(&mut self, now: Time) {
        if std::mem::take(&mut self.waits_for_end) {
            self.timeout = now;
        }
    }
}
