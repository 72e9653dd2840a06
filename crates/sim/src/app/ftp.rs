//! FTP: transfers that begin independently of those in progress, with or without the FTP dialogue.

mod dialogue;

use std::rc::Rc;

use airtcp_kernel::{Distribution, Sampler, Time};
use airtcp_tcp::Handshake;
use serde::Deserialize;

use super::transfer::{Sizes, Transfers};
use super::{Actions, AppEvent, Carried, Draws, Setting, pause, phase};
use crate::scenario::TcpConfig;
use dialogue::Dialogues;

/// Limit of a message. Lines of text are far shorter.
const MAX_MESSAGE_BYTES: u64 = 1 << 16;

/// Transfers that begin independently of those in progress, in the resolved form of a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FtpConfig {
    /// Seconds between the starts of two transfers.
    interarrival: Distribution,
    /// Bytes of each transfer.
    size: Distribution,
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
pub(crate) struct Ftp {
    laws: Rc<Laws>,
    under_way: UnderWay,
}

/// A running transfer or dialogue.
#[derive(Clone, Debug)]
enum UnderWay {
    Transfers(Transfers),
    Dialogues(Dialogues),
}

#[derive(Debug)]
struct Laws {
    interarrival: Sampler,
    size: Sizes,
}

impl Ftp {
    pub(super) fn new(config: &FtpConfig, setting: Setting) -> Self {
        let laws = Laws {
            interarrival: Sampler::new(config.interarrival.clone()),
            size: Sizes::new(Sampler::new(config.size.clone()), setting),
        };
        let under_way = match config.control {
            None => UnderWay::Transfers(Transfers::new(setting)),
            Some(messages) => UnderWay::Dialogues(Dialogues::new(setting, messages)),
        };
        Self { laws: Rc::new(laws), under_way }
    }

    /// Starts with an interarrival time.
    pub(super) fn start(&mut self, now: Time, draws: &mut Draws, actions: &mut Actions) {
        actions.wake(now + phase(&self.laws.interarrival, draws));
    }

    #[inline]
    pub(super) fn on_event(
        &mut self,
        now: Time,
        event: AppEvent,
        draws: &mut Draws,
        actions: &mut Actions,
    ) {
        match event {
            AppEvent::Woken => {
                let bytes = self.laws.size.draw(draws);
                match &mut self.under_way {
                    UnderWay::Transfers(transfers) => {
                        transfers.begin(now, bytes, 0, true, actions);
                    }
                    UnderWay::Dialogues(dialogues) => dialogues.begin(now, bytes, actions),
                }
                actions.wake(now + pause(&self.laws.interarrival, draws));
            }
            AppEvent::Arrived { tag, side, end } => match &mut self.under_way {
                UnderWay::Transfers(transfers) => {
                    transfers.on_arrival(tag, side, &end, actions);
                }
                UnderWay::Dialogues(dialogues) => {
                    dialogues.on_arrival(now, tag, side, end, actions);
                }
            },
        }
    }

    pub(super) fn on_gone(&mut self, tag: u32) {
        match &mut self.under_way {
            UnderWay::Transfers(transfers) => transfers.on_gone(tag),
            UnderWay::Dialogues(dialogues) => dialogues.on_gone(tag),
        }
    }

    pub(super) fn carried(&self, tag: u32) -> Option<&Carried> {
        match &self.under_way {
            UnderWay::Transfers(transfers) => Some(transfers.carried(tag)),
            UnderWay::Dialogues(dialogues) => dialogues.carried(tag),
        }
    }
}
