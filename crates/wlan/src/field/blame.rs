//! Attributes lost frames to the frame that caused the loss: the first that overlapped at the
//! receiver, or that kept the receiver from receiving.
//!
//! Whether a frame is received is decided elsewhere, and `books` counts the losses.

use airtcp_kernel::Time;

use super::air::Air;
use super::clock::{Key, Rank};
use super::hearing::{Hearing, Power};
use super::listener::ListenerId;
use super::node::{Culprit, Frame};
use crate::station::StationId;

impl Air {
    /// Blames a frame of `culprit` that begins at `now` for the loss of `sender`'s frame to
    /// `listener`, unless another frame is already blamed.
    #[inline]
    pub(super) fn blame(
        &mut self,
        sender: StationId,
        listener: ListenerId,
        culprit: StationId,
        now: Time,
    ) {
        let Some(frame) = self.nodes[sender as usize].sending() else { return };
        if self.listens_as(frame.to, listener)
            && frame.culprit == Culprit::NOBODY
            && frame.end > now
            && let Some(frame) = self.nodes[sender as usize].sending_mut()
        {
            frame.culprit = Culprit { station: culprit, apart: now - frame.start };
        }
    }

    /// Blames the frame that `sender` begins at `now` for the loss of frames that began just
    /// before. Their receivers have not detected them yet, so no receiver abandons them.
    pub(super) fn blame_unnoticed(
        &mut self,
        hearing: &Hearing,
        sender: StationId,
        frame: &Frame,
        now: Time,
    ) {
        for place in 0..self.on_air.len() {
            let other = self.on_air[place];
            let Some(begun) = self.nodes[other as usize].sending() else { continue };
            if Key::new(begun.start + hearing.detect, Rank::Notice) <= self.reached {
                continue;
            }
            let power = frame.heard_with(hearing.power(sender, begun.to));
            let own = begun.heard_with(hearing.power(other, begun.to));
            let is_lost = begun.to == sender
                || power > 0 && !hearing.comes_through(own, power, begun.need.ratio);
            if is_lost && begun.culprit == Culprit::NOBODY {
                let culprit = Culprit { station: sender, apart: now - begun.start };
                if let Some(begun) = self.nodes[other as usize].sending_mut() {
                    begun.culprit = culprit;
                }
            }
        }
    }

    /// Returns the transmission that disturbs `station` when a frame of `sender` begins at `now`:
    /// its own, or the loudest.
    pub(super) fn disturber(
        &self,
        hearing: &Hearing,
        station: StationId,
        sender: StationId,
        now: Time,
    ) -> Culprit {
        if hearing.power(sender, station) == 0 {
            return Culprit::NOBODY;
        }
        let power = |from| {
            if from == station { Power::MAX } else { hearing.power(from, station) }
        };
        let others = self.on_air.iter().filter_map(|&other| {
            let frame = self.nodes[other as usize].sending()?;
            let is_heard = frame.end > now && power(other) > 0 && other != sender;
            is_heard.then_some((power(other), other, frame.start))
        });
        others
            .max()
            .map_or(Culprit::NOBODY, |(_, station, start)| Culprit { station, apart: now - start })
    }
}
