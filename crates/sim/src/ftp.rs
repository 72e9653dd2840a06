//! The dialogue of an FTP transfer (RFC 959, in passive mode) as paper H, section II.B, has it.
//!
//! Knows what each end waits for, and how long the messages of one control connection have become.
//! Does not know how they travel: that is in `world::dialogue`.

use airtcp_kernel::Time;

use crate::connection::Side;

/// A user who has logged in: a control connection, and the transfer that is spoken about on it, if
/// there is one. At most one at a time, as in RFC 959.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) flow: u32,
    /// The control connection.
    pub(crate) control: u32,
    /// The data connection, from 227 to 226.
    pub(crate) data: Option<u32>,
    pub(crate) stage: Stage,
    /// When the transfer began: PASV was handed to the station's queue.
    pub(crate) started: Time,
    /// Bytes of the file.
    pub(crate) bytes: u64,
    /// Bytes of all messages so far, by who said them.
    said: [u64; 2],
}

/// What comes next in the dialogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// A transfer, some day.
    Idle,
    /// PASV reaches the server, which answers 227: entering passive mode.
    Passive,
    /// 227 reaches the station, which opens the data connection.
    Open,
    /// The data connection is open at the station, which says RETR, or STOR for an upload.
    Retrieve,
    /// RETR reaches the server, which answers 150: file status okay, and sends the file.
    Begin,
    /// Of an upload: 150 reaches the station, which sends the file.
    Store,
    /// The data receiver has the file and closes its end of the data connection too.
    Receive,
    /// The station's end of the data connection is closed, and the server says 226: transfer
    /// complete.
    Complete,
    /// 226 reaches the station: the transfer is over for its user.
    End,
    /// The ACK of 226 reaches the server, "which concludes the data transfer" (paper H).
    Conclude,
}

impl Session {
    pub(crate) fn new(flow: u32, control: u32) -> Self {
        Self {
            flow,
            control,
            data: None,
            stage: Stage::Idle,
            started: Time::ZERO,
            bytes: 0,
            said: [0; 2],
        }
    }

    /// `side` says so many bytes.
    pub(crate) fn say(&mut self, side: Side, bytes: u64) {
        self.said[side as usize] += bytes;
    }

    /// The bytes that the other end must have to know all that `side` has said.
    pub(crate) fn said(&self, side: Side) -> u64 {
        self.said[side as usize]
    }
}
