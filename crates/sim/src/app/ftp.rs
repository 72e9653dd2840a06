//! FTP: transfers that begin independently of those in progress, with or without the FTP dialogue.

mod dialogue;

use std::rc::Rc;

use airtcp_kernel::{Duration, Sampler};
use airtcp_tcp::Handshake;
use serde::Deserialize;

use super::transfer::Transfers;
use super::{Actions, Draws, Setting, UnderWay, pause, phase};
use crate::scenario::TcpConfig;
pub(super) use dialogue::Dialogues;

/// Limit of a message. Lines of text are far shorter.
const MAX_MESSAGE_BYTES: u64 = 1 << 16;

/// Transfers that begin independently of those in progress, in the resolved form of a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FtpConfig {
    /// Seconds between the starts of two transfers.
    interarrival: Sampler,
    /// Bytes of each transfer.
    size: Sampler,
    /// The dialogue of each transfer; `None`: no dialogue.
    control: Option<FtpMessages>,
}

/// Sizes in bytes of the commands and replies of an FTP transfer (RFC 959), without headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FtpMessages {
    pasv_bytes: u64,
    reply_227_bytes: u64,
    /// RETR, or STOR for an upload.
    retr_bytes: u64,
    reply_150_bytes: u64,
    reply_226_bytes: u64,
}

impl FtpConfig {
    pub(super) fn check(&self, tcp: &TcpConfig) -> Result<(), &'static str> {
        let Some(messages) = self.control else { return Ok(()) };
        let FtpMessages {
            pasv_bytes,
            reply_227_bytes,
            retr_bytes,
            reply_150_bytes,
            reply_226_bytes,
        } = messages;
        let sizes = [pasv_bytes, reply_227_bytes, retr_bytes, reply_150_bytes, reply_226_bytes];
        if tcp.sender.handshake == Handshake::TwoWay {
            Err("the client opens the data connection, not the data sender")
        } else if !sizes.iter().all(|bytes| (1..=MAX_MESSAGE_BYTES).contains(bytes)) {
            Err("need FTP messages of 1 to 65536 bytes")
        } else {
            Ok(())
        }
    }
}

/// The users of one station.
#[derive(Clone, Debug)]
pub(super) struct Ftp {
    config: Rc<FtpConfig>,
    pad: Option<u32>,
}

impl Ftp {
    pub(super) fn new(config: &FtpConfig, setting: Setting) -> Self {
        Self { config: Rc::new(config.clone()), pad: setting.pad }
    }

    /// Returns the transfers of its users, of which none has begun.
    pub(super) fn under_way(config: &FtpConfig, setting: Setting) -> UnderWay {
        match config.control {
            None => UnderWay::Transfers(Transfers::new(setting)),
            Some(messages) => UnderWay::Dialogues(Dialogues::new(setting, messages)),
        }
    }

    /// Starts with an interarrival time.
    pub(super) fn start(&self, draws: &mut Draws, actions: &mut Actions) {
        actions.wake_in(phase(&self.config.interarrival, draws));
    }

    /// Draws the bytes of a transfer, and when the next one begins.
    pub(super) fn draw(&self, draws: &mut Draws) -> (u64, Duration) {
        (draws.size(&self.config.size, self.pad), pause(&self.config.interarrival, draws))
    }
}
