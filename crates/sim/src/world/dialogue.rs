//! FTP transfers with their dialogue: which end says what when, and when a transfer has ended.
//!
//! Knows the order of messages, the data connection and the sessions of a flow. What a dialogue
//! consists of is in `ftp`; packets and queues are in `traffic`.

use airtcp_tcp::Endpoint;

use super::World;
use crate::connection::{Connection, News, Side};
use crate::ftp::{Session, Stage};
use crate::scenario::{Direction, FtpMessages};

impl World<'_> {
    /// A transfer of `bytes` begins: a user who is logged in says PASV.
    pub(super) fn begin_dialogue(&mut self, flow: u32, bytes: u64) {
        let id = match self.flows[flow as usize].idle_sessions.pop() {
            Some(id) => id,
            None => self.log_in(flow),
        };
        let session = &mut self.sessions[id as usize];
        session.started = self.now;
        session.bytes = bytes;
        self.transfer_started(flow);
        let messages = self.messages(flow);
        self.say(id, Side::Station, messages.pasv_bytes, Stage::Passive);
    }

    /// One more session: as paper H assumes, its user has logged in already.
    fn log_in(&mut self, flow: u32) -> u32 {
        let id = self.sessions.len() as u32;
        let kind = &self.kinds[self.flows[flow as usize].kind];
        let tcp = kind.tcp.as_ref().expect("transfers go over TCP");
        let connection = Connection::for_control(&tcp.endpoint, flow, kind.direction, id, self.now);
        let control = self.add_connection(connection);
        self.sessions.push(Session::new(flow, control));
        id
    }

    /// Something has arrived at one end of a control connection: an answer takes its
    /// acknowledgment along.
    pub(super) fn arrive_for_control(&mut self, id: u32, side: Side, session: u32) {
        self.advance_dialogue(session);
        self.drain(id, side);
    }

    /// Something has arrived at one end of a data connection: TCP answers, then the application.
    pub(super) fn arrive_for_data(&mut self, id: u32, side: Side, session: u32) {
        let connection = &mut self.connections[id as usize];
        let flow = connection.flow;
        if let News::Delivered { bytes, .. } = connection.advance(side) {
            self.deliver(flow, bytes);
        }
        self.drain(id, side);
        // What is left to say on a connection after its transfer is TCP's business alone.
        if self.sessions[session as usize].data == Some(id) {
            self.advance_dialogue(session);
        }
    }

    /// Says and does all that is due.
    fn advance_dialogue(&mut self, id: u32) {
        while self.take_step(id) {}
    }

    /// The next step of the dialogue, if it is due.
    fn take_step(&mut self, id: u32) -> bool {
        let session = &self.sessions[id as usize];
        let (flow, started, stage) = (session.flow, session.started, session.stage);
        let messages = self.messages(flow);
        match stage {
            Stage::Passive if self.has_heard(id, Side::Server) => {
                self.say(id, Side::Server, messages.reply_227_bytes, Stage::Open);
            }
            Stage::Open if self.has_heard(id, Side::Station) => self.open_data_connection(id),
            Stage::Retrieve if self.data_end(id, Side::Station).is_established() => {
                self.say(id, Side::Station, messages.retr_bytes, Stage::Begin);
            }
            Stage::Begin if self.has_heard(id, Side::Server) => {
                let direction = self.kinds[self.flows[flow as usize].kind].direction;
                self.say(id, Side::Server, messages.reply_150_bytes, Stage::Store);
                if direction == Direction::Download {
                    self.with_data(id, Stage::Receive, Connection::send_file);
                }
            }
            Stage::Store if self.has_heard(id, Side::Station) => {
                self.with_data(id, Stage::Receive, Connection::send_file);
            }
            Stage::Receive if self.data(id).has_file_arrived() => {
                self.with_data(id, Stage::Complete, Connection::close_receiver);
            }
            Stage::Complete if self.data_end(id, Side::Server).has_reached_end() => {
                self.sessions[id as usize].data = None;
                self.say(id, Side::Server, messages.reply_226_bytes, Stage::End);
            }
            Stage::End if self.has_heard(id, Side::Station) => {
                self.sessions[id as usize].stage = Stage::Conclude;
                self.transfer_received(flow, started);
            }
            Stage::Conclude if self.is_last_reply_acknowledged(id) => {
                self.sessions[id as usize].stage = Stage::Idle;
                let scope = self.flows[flow as usize].scope;
                self.measures.transfer_acknowledged(self.now, started, scope);
                self.flows[flow as usize].idle_sessions.push(id);
            }
            _ => return false,
        }
        true
    }

    fn messages(&self, flow: u32) -> FtpMessages {
        let kind = &self.kinds[self.flows[flow as usize].kind];
        *kind.application.control().expect("a dialogue has messages")
    }

    /// `side` says `bytes` bytes on the control connection; `next` comes when they are heard.
    fn say(&mut self, id: u32, side: Side, bytes: u64, next: Stage) {
        let session = &mut self.sessions[id as usize];
        session.stage = next;
        session.say(side, bytes);
        let control = session.control;
        self.connections[control as usize].endpoint(side).write(bytes);
        self.drain(control, side);
    }

    fn control_end(&self, id: u32, side: Side) -> &Endpoint {
        self.connections[self.sessions[id as usize].control as usize].end(side)
    }

    /// Whether `side` has all that the other end has said.
    fn has_heard(&self, id: u32, side: Side) -> bool {
        let said = self.sessions[id as usize].said(side.other());
        self.control_end(id, side).delivered() >= said
    }

    fn is_last_reply_acknowledged(&self, id: u32) -> bool {
        let said = self.sessions[id as usize].said(Side::Server);
        self.control_end(id, Side::Server).acked() >= said
    }

    fn open_data_connection(&mut self, id: u32) {
        let session = &self.sessions[id as usize];
        let (flow, bytes) = (session.flow, session.bytes);
        let kind = &self.kinds[self.flows[flow as usize].kind];
        let tcp = kind.tcp.as_ref().expect("transfers go over TCP");
        let connection =
            Connection::for_data(&tcp.endpoint, flow, kind.direction, id, bytes, self.now);
        let data = self.add_connection(connection);
        let session = &mut self.sessions[id as usize];
        session.data = Some(data);
        session.stage = Stage::Retrieve;
        self.drain(data, Side::Station);
    }

    /// The data connection of a dialogue that has one.
    fn data_id(&self, id: u32) -> u32 {
        self.sessions[id as usize].data.expect("the data connection is open")
    }

    fn data(&self, id: u32) -> &Connection {
        &self.connections[self.data_id(id) as usize]
    }

    fn data_end(&self, id: u32, side: Side) -> &Endpoint {
        self.data(id).end(side)
    }

    /// An application does something on the data connection; `next` comes when that has an effect.
    fn with_data(&mut self, id: u32, next: Stage, act: fn(&mut Connection) -> Side) {
        self.sessions[id as usize].stage = next;
        let data = self.data_id(id);
        let side = act(&mut self.connections[data as usize]);
        self.drain(data, side);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::Simulation;
    use crate::control::RunControl;
    use crate::replication::Replication;
    use crate::scenario::Scenario;

    const SECOND: u64 = 1_000_000_000;
    /// Ten endless downloads; in the resolved form as it is at present.
    const DOWNLOADS: &str = include_str!("../../benches/scenarios/downloads-10.json");

    /// 802.11b at 11 Mb/s: one station whose transfers begin every `interarrival`.
    fn scenario(direction: &str, interarrival: Value, size: u64, duration_s: u64) -> Scenario {
        let mut scenario: Value = serde_json::from_str(DOWNLOADS).expect("it is JSON");
        scenario["stations"][0]["count"] = json!(1);
        let flow = &mut scenario["flows"][0];
        flow["name"] = json!("file");
        flow["direction"] = json!(direction);
        flow["application"] = json!({
            "kind": "ftp", "interarrival": interarrival,
            "size": { "kind": "deterministic", "value": size },
            "control": {
                "pasv_bytes": 6, "reply_227_bytes": 49, "retr_bytes": 34, "reply_150_bytes": 88,
                "reply_226_bytes": 23,
            },
        });
        flow["tcp"]["handshake"] = json!("three-way");
        flow["tcp"]["mss_bytes"] = json!(1460);
        for window in ["receive_window_bytes", "initial_window_bytes"] {
            flow["tcp"][window] = json!(6 * 1460);
        }
        // Longer than the receiver's timer, for which the ACK of 226 waits.
        flow["tcp"]["min_rto_ns"] = json!(SECOND);
        flow["tcp"]["delayed_ack"] = json!({ "thresholds": [[0, 2]], "timeout_ns": SECOND / 5 });
        scenario["run"]["warmup_ns"] = json!(0);
        scenario["run"]["duration_ns"] = json!(duration_s * SECOND);
        Scenario::from_json(&scenario.to_string()).expect("the scenario is valid")
    }

    /// The first transfer, which begins within the first of 10 s.
    fn first_of(scenario: &Scenario) -> World<'_> {
        let mut run = Replication::new(scenario, 1, 0);
        let to = scenario.end();
        run.run_until(to, scenario.measure_from(), to, &RunControl::default()).unwrap();
        run.world
    }

    /// PASV, 227, SYN, SYN with ACK, ACK, RETR, 150, the file with its FIN, its ACK, FIN, its ACK, 226,
    /// and the ACK of 226 after 200 ms; 150 has none of its own, because 226 comes before.
    #[test]
    fn a_short_download_takes_thirteen_packets() {
        let every_10_s = json!({ "kind": "deterministic", "value": 10.0 });
        let scenario = scenario("download", every_10_s, 1000, 10);
        let world = first_of(&scenario);

        let books = world.flows[0].books;
        assert_eq!((books.sent.packets, books.received.packets), (13, 13));
        assert_eq!(books.sent.bytes, 6 + 49 + 34 + 88 + 1000 + 23);
        assert_eq!(world.flows[0].idle_sessions, [0]);
        assert_eq!(world.sessions[0].stage, Stage::Idle);
        // The control connection is still there, the data connection is not.
        let open: Vec<bool> = world.connections.iter().map(|connection| connection.open).collect();
        assert_eq!(open, [true, false]);
    }

    /// The same number: STOR for RETR, and the file after 150 takes its ACK along on no other packet.
    #[test]
    fn an_upload_has_the_same_dialogue() {
        let every_10_s = json!({ "kind": "deterministic", "value": 10.0 });
        let scenario = scenario("upload", every_10_s, 1000, 10);
        let world = first_of(&scenario);

        let books = world.flows[0].books;
        assert_eq!((books.sent.packets, books.sent.bytes), (13, 6 + 49 + 34 + 88 + 1000 + 23));
        assert_eq!(world.flows[0].idle_sessions, [0]);
    }

    /// 2000 transfers of 20 ms each, one every 300 ms: two or three at a time are known.
    #[test]
    fn transfers_that_have_ended_are_forgotten() {
        let at_random = json!({ "kind": "exponential", "mean": 0.3 });
        let scenario = scenario("download", at_random, 10_000, 600);
        let mut run = Replication::new(&scenario, 1, 0);
        run.start_measuring();
        let to = scenario.end();
        run.run_until(to, scenario.measure_from(), to, &RunControl::default()).unwrap();
        let world = run.world;

        assert!(world.flows[0].measured.transfers > 1800);
        // A session is taken until the ACK of 226, some 220 ms in all.
        assert!(world.sessions.len() <= 12, "{} sessions", world.sessions.len());
        assert!(world.connections.len() <= 24, "{} connections", world.connections.len());
    }

    /// A user begins before the end of the last: several sessions, each with its transfer.
    #[test]
    fn transfers_of_a_station_overlap() {
        let at_random = json!({ "kind": "exponential", "mean": 0.1 });
        let scenario = scenario("download", at_random, 20_000, 60);
        let outcome = Simulation { scenario }.run(1, 0, &RunControl::default()).unwrap();

        assert!(outcome.active_flows_distribution.len() > 3);
        // Little's law: transfers in progress are arrivals times their time.
        let mean_time = outcome.metrics["transfer_time_s"].unwrap();
        let active = outcome.metrics["active_flows"].unwrap();
        let rate = outcome.counts.transfers as f64 / 60.0;
        assert!((active / (rate * mean_time) - 1.0).abs() < 0.02, "{active} {rate} {mean_time}");
    }

    #[test]
    fn an_overload_without_end_is_an_error() {
        let at_once = json!({ "kind": "exponential", "mean": 1e-6 });
        let scenario = scenario("download", at_once, 1_000_000, 1);
        let outcome = Simulation { scenario }.run(1, 0, &RunControl::default());

        let text = outcome.unwrap_err().to_string();
        assert!(text.contains("flow file/0") && text.contains("100000"), "{text}");
    }
}
