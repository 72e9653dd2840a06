//! The exchanges of 802.11n and later: A-MPDUs to one receiver, block acknowledgment, frames that are
//! sent again one by one, and their release in order (IEEE Std 802.11-2020, 10.12, 10.25).
//!
//! A queue that has got at the medium hands over as much for one receiver as fits. What was not
//! acknowledged goes back ahead of the queue, to the frames that wait for that receiver. Agreements
//! are there from the beginning; Block ACKs and their requests are lost in collisions alone.

mod outcome;

use airtcp_kernel::{Duration, Time};

use super::air::limit;
use super::{Air, Exchange, Failure, OnAir};
use crate::config::{Delivery, FailedBlockAck, MacConfig};
use crate::contention::{ContenderConfig, Retry};
use crate::events::{Began, MacEvent, Supply};
use crate::frame::block_ack::{Books, ReorderBuffer, TransmitWindow};
use crate::frame::{Frames, Mpdu, Msdu, Ppdu, Psdu};
use crate::phy::{PhyConfig, Rate};
use crate::rate_control::{Choice, Cost, Minstrel, RateControlConfig};
use crate::sequence::dcf::FrameTimes;
use crate::sequence::ht::{Growing, HtExchange, Packets};
use crate::station::{ContenderId, StationId};

/// The exchanges of a cell that aggregates: the state of its queues with their receivers.
#[derive(Debug)]
pub(crate) struct Aggregate<P> {
    /// By rate class.
    exchanges: Vec<HtExchange>,
    /// By station, of those whose rate is found by sending: the class of their first rate, and what
    /// share of MPDUs with 1500 bytes is lost at each.
    controlled: Vec<Option<(u32, Vec<f64>)>>,
    queues: Vec<AggregatingQueue<P>>,
    window: u64,
    failed_block_ack: FailedBlockAck,
    delivery: Delivery,
    /// The number of times that a frame may fail under a block ack agreement.
    retry_limit: u16,
    /// The instants at which the frames of the PPDU on the air arrive, in order; empty if they are told of
    /// together.
    arrivals: Vec<Time>,
    /// The number of them that have.
    arrived: usize,
    /// True if any of them came through.
    any_received: bool,
    /// Memory for the next A-MPDU.
    spare: Vec<Mpdu<P>>,
    /// The law that was broken, which should not have happened.
    broken_law: Option<String>,
}

/// The sending side of one queue.
#[derive(Debug)]
struct AggregatingQueue<P> {
    /// By receiver at the access point; one at a station.
    agreements: Vec<Agreement<P>>,
    /// Which of them have something to send again, or a request.
    pending: Vec<u32>,
    /// The purpose of the last access.
    sends: Sends,
    times: FrameTimes,
    /// At which of the cell's rates the PPDU goes.
    class: u32,
    /// Of the data PPDU, everything before its Data field.
    preamble: Duration,
    txop_limit: Duration,
    /// The choice of rate control for the PPDU, if there is one.
    choice: Option<Choice>,
}

/// Both ends of a block ack agreement.
#[derive(Debug)]
struct Agreement<P> {
    window: TransmitWindow<P>,
    recipient: ReorderBuffer<P>,
    books: Books,
    /// Of a station whose rate is found by sending.
    rate_control: Option<Box<Minstrel>>,
}

/// The content of what a queue sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sends {
    /// The PSDU that it holds.
    Data,
    /// A Block ACK request to this station.
    Request(StationId),
}

impl<P: Clone> Aggregate<P> {
    /// Makes the exchanges; none if frames are not aggregated.
    pub(crate) fn new(
        phy: &PhyConfig,
        mac: &MacConfig,
        rates: &[(Rate, Rate)],
        (stations, rate_controls): (usize, Vec<Option<RateControlConfig>>),
        (access_point, contenders): (StationId, &[ContenderConfig]),
    ) -> Option<Box<Self>> {
        let aggregation = mac.aggregation.as_ref()?;
        let exchanges = rates
            .iter()
            .map(|&(data, control)| HtExchange::new(phy, mac, aggregation, data, control));
        let exchanges: Vec<HtExchange> = exchanges.collect();
        let minstrel = |contender: &ContenderConfig, receiver: StationId| {
            let is_download = contender.station == access_point;
            let (far, side) = if is_download { (receiver, 0) } else { (contender.station, 1) };
            let config = rate_controls.get(far as usize)?.as_ref()?;
            let access = &contender.access;
            let mean = access.aifs + phy.slot_time * u64::from(access.cw_min / 2);
            let first = config.first_class as usize;
            let costs: Vec<Cost> = exchanges[first..first + config.error_rates.len()]
                .iter()
                .map(|exchange| exchange.cost(mean))
                .collect();
            Some(Box::new(Minstrel::new(&costs, config.samples[side].clone())))
        };
        let agreement = |contender: &ContenderConfig, receiver| Agreement {
            window: TransmitWindow::new(receiver),
            recipient: ReorderBuffer::default(),
            books: Books::default(),
            rate_control: minstrel(contender, receiver),
        };
        let queues = contenders.iter().map(|contender| AggregatingQueue {
            agreements: if contender.station == access_point {
                (0..stations as StationId).map(|one| agreement(contender, one)).collect()
            } else {
                vec![agreement(contender, access_point)]
            },
            choice: None,
            pending: Vec::new(),
            sends: Sends::Data,
            times: FrameTimes::default(),
            class: 0,
            preamble: Duration::ZERO,
            txop_limit: contender.access.txop_limit,
        });
        let queues = queues.collect();
        let controlled = rate_controls.into_iter().map(|config| {
            config.map(|RateControlConfig { first_class, error_rates, .. }| {
                (first_class, error_rates)
            })
        });
        Some(Box::new(Self {
            controlled: controlled.collect(),
            exchanges,
            queues,
            window: u64::from(aggregation.block_ack_window),
            failed_block_ack: mac.rules.failed_block_ack,
            delivery: mac.rules.delivery,
            retry_limit: if mac.rules.retry_limit_under_block_ack {
                limit(mac.short_retry_limit)
            } else {
                u16::MAX
            },
            arrivals: Vec::new(),
            arrived: 0,
            any_received: false,
            spare: Vec::new(),
            broken_law: None,
        }))
    }

    /// Returns the frames of `by` that wait to be sent again.
    pub(crate) fn waiting(&self, by: ContenderId) -> impl Iterator<Item = &Mpdu<P>> {
        self.queues[by as usize].agreements.iter().flat_map(|one| one.window.iter())
    }

    /// Returns the frames of `by` that have arrived and wait at their receivers for earlier ones.
    pub(crate) fn held_back(&self, by: ContenderId) -> impl Iterator<Item = &Mpdu<P>> {
        self.queues[by as usize].agreements.iter().flat_map(|one| one.recipient.iter())
    }

    /// Checks the books of `by`; its PPDU on the air has `on_air`.
    pub(crate) fn check_laws(
        &self,
        by: ContenderId,
        on_air: Option<Frames<'_, P>>,
    ) -> Result<(), String> {
        if let Some(law) = &self.broken_law {
            return Err(law.clone());
        }
        for Agreement { window, recipient, books, .. } in &self.queues[by as usize].agreements {
            let sent = on_air.filter(|psdu| psdu.receiver() == window.receiver);
            let waiting = window.iter().filter(|mpdu| !mpdu.is_further).count();
            let held = (waiting + sent.map_or(0, Frames::count)) as u64;
            books.check(window.next_id(), held, recipient.received())?;
        }
        Ok(())
    }

    /// Returns the number that a Block ACK request of `by` tells `receiver`.
    pub(crate) fn window_start(&self, by: ContenderId, receiver: StationId) -> u64 {
        let queue = &self.queues[by as usize];
        queue.agreements[queue.place(receiver)].window.start(&[])
    }

    fn agreement(&mut self, by: ContenderId, receiver: StationId) -> &mut Agreement<P> {
        self.queues[by as usize].agreement(receiver)
    }

    /// Reports to the rate control of `by`, if it has one, how many frames of `psdu` were acknowledged.
    fn report(&mut self, by: ContenderId, psdu: Frames<'_, P>, acknowledged: usize) {
        let queue = &mut self.queues[by as usize];
        if let Some(choice) = queue.choice.take()
            && let Some(minstrel) = &mut queue.agreement(psdu.receiver()).rate_control
        {
            minstrel.report(choice, psdu.count() as u32, acknowledged as u32);
        }
    }
}

impl<P> AggregatingQueue<P> {
    fn place(&self, receiver: StationId) -> usize {
        if self.agreements.len() == 1 { 0 } else { receiver as usize }
    }

    fn agreement(&mut self, receiver: StationId) -> &mut Agreement<P> {
        let place = self.place(receiver);
        &mut self.agreements[place]
    }

    /// Lists `receiver` if anything waits for it, or else takes it off the list.
    fn update_pending(&mut self, receiver: StationId) {
        let place = self.place(receiver);
        let listed = self.pending.iter().position(|&one| one as usize == place);
        match (self.agreements[place].window.has_work(), listed) {
            (true, None) => self.pending.push(place as u32),
            (false, Some(index)) => {
                self.pending.remove(index);
            }
            _ => {}
        }
    }
}

impl<P: Clone> Exchange<P> for Aggregate<P> {
    #[inline(never)]
    fn assemble<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        left: Option<Duration>,
        supply: &mut S,
    ) -> bool {
        if left.is_some_and(|left| left == Duration::ZERO || !air.has_frame(self, by, supply)) {
            return false;
        }
        let queue = &mut self.queues[by as usize];
        let waiting = queue.pending.iter().map(|&place| {
            let window = &queue.agreements[place as usize].window;
            (window.receiver, window.oldest().map(|mpdu| &mpdu.payload))
        });
        let receiver = supply.receiver(by, waiting).expect("who contends has a frame");
        let station = air.originators[by as usize].station;
        let class = air.roles.rate_class(station, receiver);
        let place = queue.place(receiver);
        let Agreement { window, rate_control, .. } = &mut queue.agreements[place];
        queue.choice = None;
        if window.request_due {
            queue.times = self.exchanges[class as usize].request_times();
            queue.sends = Sends::Request(receiver);
            return left.is_none_or(|left| queue.times.total <= left);
        }
        queue.choice = rate_control.as_mut().map(|minstrel| minstrel.choose(now));
        let far = air.roles.far(station, receiver);
        let class = match (queue.choice, self.controlled.get(far as usize)) {
            (Some(choice), Some(Some((first, _)))) => first + choice.rate as u32,
            _ => class,
        };
        let exchange = &self.exchanges[class as usize];
        let is_sample = queue.choice.is_some_and(|choice| choice.is_sample);
        let room = exchange.room(left.unwrap_or(queue.txop_limit));
        let fits = |psdu: Growing, grown: Growing| {
            !(is_sample && psdu.is_begun())
                && exchange.fits(grown, room)
                && left.is_none_or(|left| exchange.times(grown).total <= left)
        };
        let mut psdu = Growing::default();
        let mut mpdus = std::mem::take(&mut self.spare);
        while let Some(bits) = window.next_retry(&mut mpdus, |bits| fits(psdu, psdu.with(bits))) {
            psdu = psdu.with(bits);
        }
        if window.waiting() == 0 {
            let originator = &mut air.originators[by as usize];
            let end = window.start(&mpdus) + self.window;
            let header_bits = air.frames.mac_header_bits();
            while window.next_id() < end {
                let (id, mut grown, mut bits) = (window.next_id(), psdu, 0);
                let fits_alone = |bits| {
                    grown = psdu.with(air.frames.mpdu_bits(bits));
                    fits(psdu, grown)
                };
                let take = |msdu: Msdu<P>| {
                    bits = air.frames.mpdu_bits(msdu.bits);
                    mpdus.push(packet_of(id, receiver, bits, msdu.payload));
                };
                if !supply.next_for(by, receiver, now, fits_alone, take) {
                    break;
                }
                window.take_id();
                let mut packets = Packets::of(bits - header_bits);
                psdu = grown;
                originator.next_id += 1;
                while exchange.has_amsdus() {
                    let grown = |bits| {
                        let grown = packets.with(air.frames.mpdu_bits(bits) - header_bits);
                        (grown, psdu.grown_by(grown.bits() - packets.bits()))
                    };
                    let fits_too = |bits| {
                        let (packets, psdu) = grown(bits);
                        exchange.fits_packets(packets, header_bits, psdu, room)
                            && left.is_none_or(|left| exchange.times(psdu).total <= left)
                    };
                    let mut with_it = (packets, psdu);
                    let take = |msdu: Msdu<P>| {
                        with_it = grown(msdu.bits);
                        let bits = with_it.0.bits() - packets.bits();
                        let further = packet_of(id, receiver, bits, msdu.payload);
                        mpdus.push(Mpdu { is_further: true, ..further });
                    };
                    if !supply.next_for(by, receiver, now, fits_too, take) {
                        break;
                    }
                    originator.next_id += 1;
                    (packets, psdu) = with_it;
                }
            }
        }
        if let (Some(last), start) = (mpdus.last(), window.start(&mpdus))
            && last.id >= start + self.window
        {
            self.broken_law = Some(format!(
                "frame {} was sent while frame {start} was not acknowledged, with a window of {}",
                last.id, self.window
            ));
        }
        queue.update_pending(receiver);
        queue.sends = Sends::Data;
        if mpdus.is_empty() {
            self.spare = mpdus;
            return false;
        }
        queue.times = exchange.times(psdu);
        queue.class = class;
        queue.preamble = exchange.preamble();
        air.originators[by as usize].psdu = Some(Psdu::of(mpdus));
        true
    }

    #[inline(never)]
    fn begins<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        start: Time,
        supply: &mut S,
    ) {
        let AggregatingQueue { times, class, .. } = self.queues[by as usize];
        self.arrivals.clear();
        self.arrived = 0;
        self.any_received = false;
        let began = match self.queues[by as usize].sends {
            Sends::Request(receiver) => {
                let window_start = self.window_start(by, receiver);
                Began::Request { by, times: &times, receiver, window_start, collides: false }
            }
            Sends::Data => {
                let psdu = air.originators[by as usize].frames().expect("it is assembled");
                if self.delivery == Delivery::Mpdu && psdu.count() > 1 {
                    let queue = &self.queues[by as usize];
                    let received = start + times.data_received;
                    let data = times.data - queue.preamble;
                    set_arrivals(&mut self.arrivals, received, data, psdu);
                }
                Began::Exchange { by, times: &times, ppdu: Ppdu::of_one(psdu, class) }
            }
        };
        supply.on_event(start, MacEvent::Began(began));
        let received = start + times.data_received;
        let next = self.arrivals.first().copied().unwrap_or(received);
        air.medium.begin_alone(by, start + times.first());
        air.set_on_air(OnAir::Sending { end: start + times.total }, next);
    }

    fn arrives<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        end: Time,
        supply: &mut S,
    ) {
        self.ppdu_arrives(air, by, now, end, supply);
    }

    fn answered<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) {
        self.ppdu_answered(air, by, now, supply);
    }

    fn failed<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        failure: Failure,
        now: Time,
        supply: &mut S,
    ) -> Retry {
        let data_sent = match failure {
            // Of an RTS, no Block ACK is missed.
            Failure::Collision => self.queues[by as usize].times.rts == Duration::ZERO,
            Failure::InternalCollision => false,
            Failure::NoAnswer => true,
        };
        self.ppdu_failed(air, by, data_sent, now, supply)
    }

    fn has_work(&self, by: ContenderId) -> bool {
        !self.queues[by as usize].pending.is_empty()
    }

    fn request(&self, by: ContenderId) -> Option<(StationId, u64)> {
        match self.queues[by as usize].sends {
            Sends::Data => None,
            Sends::Request(receiver) => Some((receiver, self.window_start(by, receiver))),
        }
    }

    fn times<'a>(&'a self, _: &'a mut Air<P>, by: ContenderId) -> &'a FrameTimes {
        &self.queues[by as usize].times
    }

    fn class(&self, _: &Air<P>, by: ContenderId, _: StationId) -> u32 {
        self.queues[by as usize].class
    }

    fn last_arrival(&self) -> Option<Time> {
        self.arrived.checked_sub(1).and_then(|last| self.arrivals.get(last)).copied()
    }
}

/// Makes frame `id`, or a part of it, that was never sent.
#[inline(always)]
fn packet_of<P>(id: u64, receiver: StationId, bits: u64, payload: P) -> Mpdu<P> {
    Mpdu {
        id,
        receiver,
        bits,
        is_further: false,
        failures: 0,
        failures_after_rts: 0,
        is_received: false,
        payload,
    }
}

/// Computes when the frames of an A-MPDU arrive, the last of them at `received`: the Data field, which
/// lasts `data`, carries them one after the other. Packets of one frame arrive with it.
fn set_arrivals<P>(arrivals: &mut Vec<Time>, received: Time, data: Duration, psdu: Frames<'_, P>) {
    let size = |frame: &[Mpdu<P>]| frame.iter().map(|mpdu| mpdu.bits).sum();
    let all = psdu.each().fold(Growing::default(), |psdu, frame| psdu.with(size(frame)));
    let mut so_far = Growing::default();
    for frame in psdu.each() {
        so_far = so_far.with(size(frame));
        let rest = u128::from(data.as_nanos()) * u128::from(all.bits() - so_far.bits())
            / u128::from(all.bits());
        let before = Duration::from_nanos(rest as u64);
        let arrival = Time::from_nanos(received.as_nanos() - before.as_nanos());
        arrivals.extend(frame.iter().map(|_| arrival));
    }
}
