//! A log of packets sent by and received at the ends of a simulation, for tests that replay them.

use airtcp_kernel::Time;
use airtcp_tcp::{Block, Segment};

use crate::connection::Side;
use crate::packet::Packet;

/// All packets, in order.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) sent: Vec<SentPacket>,
    pub(crate) arrived: Vec<ArrivedPacket>,
    is_in_step: bool,
}

/// A sent packet.
#[derive(Clone, Debug)]
pub(crate) struct SentPacket {
    pub(crate) at: Time,
    pub(crate) side: Side,
    pub(crate) flow: u32,
    pub(crate) connection: Option<u32>,
    pub(crate) segment: Segment,
    /// The blocks of its SACK option.
    pub(crate) sacked: Vec<Block>,
    pub(crate) bits: u64,
    /// Whether it responds to a packet received over the medium at the same instant.
    pub(crate) is_reaction: bool,
}

/// A packet that has reached its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArrivedPacket {
    pub(crate) at: Time,
    pub(crate) side: Side,
    pub(crate) flow: u32,
    pub(crate) seq: u64,
    pub(crate) ack: u64,
    pub(crate) len: u32,
}

impl Log {
    pub(super) fn sent(&mut self, at: Time, side: Side, packet: &Packet) {
        self.sent.push(SentPacket {
            at,
            side,
            flow: packet.flow,
            connection: packet.body.connection(),
            segment: packet.body.packed(),
            sacked: Vec::new(),
            bits: packet.bits,
            is_reaction: !self.is_in_step,
        });
    }

    /// Adds the SACK blocks of the last sent packet.
    pub(super) fn sacked(&mut self, blocks: &[Block]) {
        self.sent.last_mut().expect("one was sent").sacked = blocks.to_vec();
    }

    pub(super) fn arrived(&mut self, at: Time, side: Side, packet: &Packet) {
        let Segment { seq, ack, len, .. } = packet.body.packed();
        self.arrived.push(ArrivedPacket { at, side, flow: packet.flow, seq, ack, len });
    }

    pub(super) fn begin_step(&mut self) {
        self.is_in_step = true;
    }

    pub(super) fn end_step(&mut self) {
        self.is_in_step = false;
    }
}
