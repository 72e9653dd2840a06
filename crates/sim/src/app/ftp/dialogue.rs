//! The dialogue of an FTP transfer (RFC 959, passive mode) as in paper H, section II.B: which end
//! says what when, and when a transfer has ended.
//!
//! It handles the order of messages, and the connections of a dialogue.

use airtcp_kernel::Time;

use super::FtpMessages;
use crate::app::transfer::Slots;
use crate::app::{Action, Actions, Carried, End, Service, Setting};
use crate::connection::Side;

/// The logged-in users of one station.
#[derive(Clone, Debug)]
pub(in crate::app) struct Dialogues {
    setting: Setting,
    messages: FtpMessages,
    sessions: Vec<Session>,
    /// Idle sessions, for the next transfers.
    idle: Vec<u32>,
    /// Connections by tag.
    lines: Slots<Line>,
}

/// What a connection is used for.
#[derive(Clone, Debug)]
enum Line {
    /// The dialogues of a session; it stays open.
    Control(u32),
    /// The file of a transfer of a session.
    Data(u32, Carried),
}

/// A logged-in user: a control connection, and the transfer that its dialogue is about, if any.
/// There is at most one at a time, as in RFC 959.
#[derive(Clone, Debug)]
struct Session {
    stage: Stage,
    /// When the transfer began: PASV was enqueued at the station.
    began: Time,
    /// Bytes of the file.
    bytes: u64,
    /// The control connection, and the last known state of its ends.
    control: u32,
    control_ends: [End; 2],
    /// Bytes of all messages so far, by sender.
    said: [u64; 2],
    /// The data connection, from 227 to 226, and its ends.
    data: Option<u32>,
    data_ends: [End; 2],
}

/// The next step of the dialogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Idle until the next transfer.
    Idle,
    /// PASV reaches the server, which replies 227: entering passive mode.
    Passive,
    /// 227 reaches the station, which opens the data connection.
    Open,
    /// The data connection is open at the station, which sends RETR, or STOR for an upload.
    Retrieve,
    /// RETR reaches the server, which replies 150: file status okay, and sends the file.
    Begin,
    /// For an upload: 150 reaches the station, which sends the file.
    Store,
    /// The data receiver has the file, and also closes its end of the data connection.
    Receive,
    /// The station's end of the data connection is closed, and the server sends 226: transfer
    /// complete.
    Complete,
    /// 226 reaches the station: for its user the transfer is over.
    End,
    /// The ACK of 226 reaches the server, "which concludes the data transfer" (paper H).
    Conclude,
}

impl Dialogues {
    pub(super) fn new(setting: Setting, messages: FtpMessages) -> Self {
        Self { setting, messages, sessions: Vec::new(), idle: Vec::new(), lines: Slots::default() }
    }

    /// Starts a transfer of `bytes`: a logged-in user sends PASV.
    pub(in crate::app) fn begin(&mut self, bytes: u64, actions: &mut Actions) {
        actions.push(Action::Began { unbidden: true });
        let id = match self.idle.pop() {
            Some(id) => id,
            None => self.log_in(actions),
        };
        let session = &mut self.sessions[id as usize];
        session.began = actions.now;
        session.bytes = bytes;
        session.say(Side::Station, self.messages.pasv_bytes, Stage::Passive, actions);
    }

    /// Adds a session whose user is already logged in, as paper H assumes.
    fn log_in(&mut self, actions: &mut Actions) -> u32 {
        let id = self.sessions.len() as u32;
        let control = self.lines.insert(Line::Control(id));
        self.sessions.push(Session {
            stage: Stage::Idle,
            began: Time::ZERO,
            bytes: 0,
            control,
            control_ends: [End::default(); 2],
            said: [0; 2],
            data: None,
            data_ends: [End::default(); 2],
        });
        let service = Service::Dialogue;
        actions.push(Action::Open { tag: control, service, opener: None, acks_first: false });
        id
    }

    /// Processes bytes that reached an end of a connection.
    pub(in crate::app) fn on_arrival(
        &mut self,
        tag: u32,
        side: Side,
        end: End,
        actions: &mut Actions,
    ) {
        let id = match self.lines.get_mut(tag) {
            Line::Control(id) => {
                self.sessions[*id as usize].control_ends[side as usize] = end;
                *id
            }
            Line::Data(id, carried) => {
                if side != carried.sender {
                    carried.deliver(&end);
                } else if end.acked >= carried.bytes {
                    carried.is_acknowledged = true;
                }
                let session = &mut self.sessions[*id as usize];
                // After its transfer a connection sends only TCP segments without payload.
                if session.data != Some(tag) {
                    return;
                }
                session.data_ends[side as usize] = end;
                *id
            }
        };
        while self.take_step(id, actions) {}
    }

    /// Takes the next step of the dialogue, if it is due.
    fn take_step(&mut self, id: u32, actions: &mut Actions) -> bool {
        let (sender, messages) = (self.setting.sender, self.messages);
        let session = &mut self.sessions[id as usize];
        match session.stage {
            Stage::Passive if session.has_heard(Side::Server) => {
                session.say(Side::Server, messages.reply_227_bytes, Stage::Open, actions);
            }
            Stage::Open if session.has_heard(Side::Station) => {
                self.open_data_connection(id, actions);
            }
            Stage::Retrieve if session.data_ends[Side::Station as usize].is_established => {
                session.say(Side::Station, messages.retr_bytes, Stage::Begin, actions);
            }
            Stage::Begin if session.has_heard(Side::Server) => {
                session.say(Side::Server, messages.reply_150_bytes, Stage::Store, actions);
                if sender == Side::Server {
                    session.send_file(sender, actions);
                }
            }
            Stage::Store if session.has_heard(Side::Station) => session.send_file(sender, actions),
            Stage::Receive if session.data_ends[sender.other() as usize].has_reached_end => {
                session.stage = Stage::Complete;
                actions.push(Action::Close { tag: session.data_tag(), side: sender.other() });
            }
            Stage::Complete if session.data_ends[Side::Server as usize].has_reached_end => {
                session.data = None;
                session.say(Side::Server, messages.reply_226_bytes, Stage::End, actions);
            }
            Stage::End if session.has_heard(Side::Station) => {
                session.stage = Stage::Conclude;
                let (began, bytes) = (session.began, session.bytes);
                actions.push(Action::Received { began, bytes });
            }
            Stage::Conclude if session.is_last_reply_acknowledged() => {
                session.stage = Stage::Idle;
                actions.push(Action::Acknowledged { began: session.began });
                self.idle.push(id);
            }
            _ => return false,
        }
        true
    }

    fn open_data_connection(&mut self, id: u32, actions: &mut Actions) {
        let session = &mut self.sessions[id as usize];
        let carried = Carried::new(self.setting.sender, actions.now, session.bytes);
        let tag = self.lines.insert(Line::Data(id, carried));
        session.data = Some(tag);
        let is_established = !self.setting.has_handshake;
        session.data_ends = [End { is_established, ..End::default() }; 2];
        session.stage = Stage::Retrieve;
        let (service, opener) = (Service::File, Some(Side::Station));
        actions.push(Action::Open { tag, service, opener, acks_first: true });
    }

    pub(in crate::app) fn on_gone(&mut self, tag: u32) {
        self.lines.remove(tag);
    }

    pub(in crate::app) fn carried(&self, tag: u32) -> Option<&Carried> {
        match self.lines.get(tag) {
            Line::Control(_) => None,
            Line::Data(_, carried) => Some(carried),
        }
    }
}

impl Session {
    /// Sends a message of `bytes` from `side` on the control connection; `next` follows when it
    /// arrives.
    fn say(&mut self, side: Side, bytes: u64, next: Stage, actions: &mut Actions) {
        self.stage = next;
        self.said[side as usize] += bytes;
        actions.push(Action::Write { tag: self.control, side, bytes, last: false });
    }

    /// Makes the data sender write the file, and close after it.
    fn send_file(&mut self, sender: Side, actions: &mut Actions) {
        self.stage = Stage::Receive;
        let (tag, bytes) = (self.data_tag(), self.bytes);
        actions.push(Action::Write { tag, side: sender, bytes, last: true });
    }

    /// Returns the data connection of a dialogue; it must have one.
    fn data_tag(&self) -> u32 {
        self.data.expect("the data connection is open")
    }

    /// Returns whether `side` has received all messages of the other end.
    fn has_heard(&self, side: Side) -> bool {
        self.control_ends[side as usize].delivered >= self.said[side.other() as usize]
    }

    fn is_last_reply_acknowledged(&self) -> bool {
        self.control_ends[Side::Server as usize].acked >= self.said[Side::Server as usize]
    }
}
