//! The part of a transmit window that belongs to one of several links.

use crate::frame::Mpdu;

/// The part of a window that belongs to one link.
#[derive(Debug)]
pub(crate) struct OnLink<P> {
    /// With several links, the oldest frame of the PPDU that is assembled or on the air.
    pub(crate) oldest: Option<Mpdu<P>>,
    /// Whether one of the two stations lacks the link, or has its only radio on another link.
    pub(crate) is_absent: bool,
    /// Frames whose Block ACK was missed, oldest first. A request on this link asks for it.
    pub(crate) missed: Vec<Mpdu<P>>,
    /// Whether a Block ACK request is due: to announce the start of the window, or to ask for a
    /// Block ACK that was missed.
    pub(crate) request_due: bool,
    /// How often that request failed.
    pub(crate) request_failures: u16,
}

impl<P> Default for OnLink<P> {
    fn default() -> Self {
        Self {
            oldest: None,
            is_absent: false,
            missed: Vec::new(),
            request_due: false,
            request_failures: 0,
        }
    }
}
