//! Scripts: the actions of applications, step by step. Times are in seconds; all distributions are
//! constants.

use airtcp_kernel::{Duration, Time};
use serde_json::{Value, json};

use super::*;
use Action::*;
use Side::{Server, Station};

/// An application and its random streams.
struct Script {
    app: App,
    draws: Draws,
}

/// Creates a script of the application `config` with data from `sender`, after a three-way
/// handshake.
fn script(sender: Side, config: Value) -> Script {
    let config: ApplicationConfig = serde_json::from_value(config).expect("it is valid");
    let setting = Setting { sender, opener: Station, has_handshake: true, pad: None };
    let app = App::new(&config, setting);
    Script { draws: app.draws(1, 0, "flow/0"), app }
}

fn constant(value: f64) -> Value {
    json!({ "kind": "deterministic", "value": value })
}

fn at(seconds: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(seconds)
}

fn end(delivered: u64, acked: u64) -> End {
    End { delivered, acked, is_established: true, has_reached_end: false }
}

fn open(tag: u32, service: Service, opener: Option<Side>) -> Action {
    Open { tag, service, opener, acks_first: service == Service::File }
}

fn write(tag: u32, side: Side, bytes: u64) -> Action {
    Write { tag, side, bytes, last: false }
}

/// Returns the actions of a written transfer, of which nothing is reported until everything has
/// arrived or is acknowledged.
fn sent(tag: u32, side: Side, bytes: u64) -> [Action; 2] {
    [Await { tag, bytes }, write(tag, side, bytes)]
}

impl Script {
    fn start(&mut self) -> Vec<Action> {
        let mut actions = Actions::default();
        self.app.start(Time::ZERO, &mut self.draws, &mut actions);
        actions.list
    }

    fn wake(&mut self, seconds: f64) -> Vec<Action> {
        self.tell(seconds, AppEvent::Woken).list
    }

    /// Reports an arrival at an end, and returns the requested actions.
    fn arrive(&mut self, seconds: f64, tag: u32, side: Side, end: End) -> Vec<Action> {
        self.tell(seconds, AppEvent::Arrived { tag, side, end }).list
    }

    fn tell(&mut self, seconds: f64, event: AppEvent) -> Actions {
        let mut actions = Actions::default();
        self.app.on_event(at(seconds), event, &mut self.draws, &mut actions);
        actions
    }
}

fn web() -> Value {
    json!({
        "kind": "web", "size": constant(3000.0), "think_time": constant(5.0), "request_bytes": 300,
        "page": null,
    })
}

/// The user thinks for 5 s, sends a request of 300 bytes, receives 3000 bytes in two parts, and
/// thinks again while the server waits for the last acknowledgment.
#[test]
fn a_user_of_the_web_thinks_asks_and_thinks_again() {
    let mut user = script(Server, web());

    assert!(matches!(user.start()[..], [Wake { at: first }] if first <= at(5.0)));
    assert_eq!(
        user.wake(5.0),
        [
            Began { unbidden: false },
            open(0, Service::Transfer, Some(Station)),
            write(0, Station, 300),
        ]
    );
    assert_eq!(user.arrive(5.1, 0, Server, end(299, 0)), []);
    assert_eq!(user.arrive(5.2, 0, Server, end(300, 0)), sent(0, Server, 3000));
    assert_eq!(user.arrive(5.3, 0, Station, end(1000, 300)), []);
    assert_eq!(user.arrive(5.4, 0, Server, end(300, 1000)), []);
    assert_eq!(
        user.arrive(5.5, 0, Station, end(3000, 300)),
        [Received { began: at(5.0), bytes: 3000 }, Wake { at: at(10.5) }]
    );
    assert!(!user.app.carried(0).unwrap().is_acknowledged);
    assert_eq!(
        user.arrive(5.6, 0, Server, end(300, 3000)),
        [Acknowledged { began: at(5.0) }, Abandon { tag: 0 }]
    );
    // A duplicate that arrives late changes nothing.
    assert_eq!(user.arrive(5.7, 0, Station, end(3000, 300)), []);
}

/// 8 kb/s in blocks of 500 bytes: one every half a second; the last block has the rest.
#[test]
fn a_program_with_a_rate_writes_a_block_when_it_is_due() {
    let config = json!({
        "kind": "bulk", "size": constant(1200.0), "start": constant(1.0), "rate_bps": 8000,
        "block_bytes": 500,
    });
    let mut program = script(Station, config);

    assert_eq!(program.start(), [Wake { at: at(1.0) }]);
    assert_eq!(
        program.wake(1.0),
        [
            Began { unbidden: false },
            open(0, Service::Transfer, Some(Station)),
            Await { tag: 0, bytes: 1200 },
            write(0, Station, 500),
            Wake { at: at(1.5) },
        ]
    );
    assert_eq!(program.wake(1.5), [write(0, Station, 500), Wake { at: at(2.0) }]);
    assert_eq!(program.wake(2.0), [write(0, Station, 200)]);
    assert_eq!(
        program.arrive(2.1, 0, Server, end(1200, 0)),
        [Received { began: at(1.0), bytes: 1200 }]
    );
}

#[test]
fn a_program_with_a_rate_needs_a_block() {
    for (rate, block) in
        [(json!(8000), Value::Null), (Value::Null, json!(500)), (json!(0), json!(1))]
    {
        let config = json!({
            "kind": "bulk", "size": null, "start": constant(0.0), "rate_bps": rate,
            "block_bytes": block,
        });
        let config: ApplicationConfig = serde_json::from_value(config).expect("it is valid");
        let ApplicationConfig::Bulk(bulk) = &config else { unreachable!() };
        assert!(bulk.check().is_err());
    }
}

/// Users with a constant think time begin at a random phase of it, half of them in the first half.
#[test]
fn users_are_not_in_step() {
    let firsts: Vec<Time> = (0..400)
        .map(|number| {
            let mut user = script(Server, web());
            user.draws = user.app.draws(1, number, "flow/0");
            match user.start()[..] {
                [Wake { at }] => at,
                ref others => panic!("{others:?}"),
            }
        })
        .collect();
    let early = firsts.iter().filter(|&&first| first <= at(2.5)).count();

    assert!((170..=230).contains(&early), "{early} of 400");
    assert!(firsts.iter().all(|&first| first <= at(5.0)));
}

/// The next transfer does not wait until the last one's sender has its acknowledgment: it has
/// another connection. A tag is reused when its connection has ended.
#[test]
fn transfers_have_connections_of_their_own() {
    let mut user = script(Server, web());
    user.start();
    user.wake(5.0);
    user.arrive(5.1, 0, Server, end(300, 0));
    user.arrive(5.2, 0, Station, end(3000, 300));

    assert_eq!(user.wake(10.2)[1], open(1, Service::Transfer, Some(Station)));
    user.arrive(10.3, 0, Server, end(300, 3000));
    user.app.on_gone(0);
    user.arrive(10.4, 1, Server, end(300, 0));
    user.arrive(10.5, 1, Station, end(3000, 300));
    assert_eq!(user.wake(15.5)[1], open(0, Service::Transfer, Some(Station)));
}

/// An upload needs no request. With whole segments of 1460 bytes, 3000 bytes become 4380.
#[test]
fn an_upload_is_written_at_once_and_padded() {
    let config: ApplicationConfig = serde_json::from_value(web()).unwrap();
    let setting =
        Setting { sender: Station, opener: Station, has_handshake: true, pad: Some(1460) };
    let app = App::new(&config, setting);
    let mut user = Script { draws: app.draws(1, 0, "flow/0"), app };
    user.start();

    assert_eq!(user.wake(5.0)[2..], sent(0, Station, 4380));
}

fn page(objects: f64, connections: u32, size: Value) -> Value {
    let mut page = web();
    page["page"] =
        json!({ "objects": constant(objects), "size": size, "connections": connections });
    page
}

/// Four objects over two connections: the document, then two at once, and the fourth on the
/// connection that is idle first. The page is complete with the last object. The next page has new
/// connections.
#[test]
fn a_page_is_loaded_over_a_few_connections() {
    let mut user = script(Server, page(4.0, 2, Value::Null));
    assert!(matches!(user.start()[..], [Wake { at: first }] if first <= at(5.0)));
    let asks = |tag, bytes| {
        [
            Began { unbidden: false },
            open(tag, Service::Transfer, Some(Station)),
            write(tag, Station, bytes),
        ]
    };

    let begins = || [vec![Asked], asks(0, 300).to_vec()].concat();
    assert_eq!(user.wake(5.0), begins());
    assert_eq!(user.arrive(5.1, 0, Server, end(300, 0)), [write(0, Server, 3000)]);
    // The document is received: one more object on this connection, and one on a second.
    let mut wanted = vec![
        Received { began: at(5.0), bytes: 3000 },
        Began { unbidden: false },
        write(0, Station, 300),
    ];
    wanted.extend(asks(1, 300));
    assert_eq!(user.arrive(5.2, 0, Station, end(3000, 300)), wanted);
    // The second request acknowledges the document.
    assert_eq!(
        user.arrive(5.3, 0, Server, end(600, 3000)),
        [Acknowledged { began: at(5.0) }, write(0, Server, 3000)]
    );
    assert_eq!(user.arrive(5.4, 1, Server, end(300, 0)), [write(1, Server, 3000)]);
    assert_eq!(
        user.arrive(5.5, 1, Station, end(3000, 300)),
        [
            Received { began: at(5.2), bytes: 3000 },
            Began { unbidden: false },
            write(1, Station, 300)
        ]
    );
    // Nothing is left for connection 0: it ends when the server has the acknowledgment.
    assert_eq!(
        user.arrive(5.6, 0, Station, end(6000, 600)),
        [Received { began: at(5.2), bytes: 3000 }]
    );
    assert_eq!(
        user.arrive(5.7, 0, Server, end(600, 6000)),
        [Acknowledged { began: at(5.2) }, Abandon { tag: 0 }]
    );
    user.app.on_gone(0);
    user.arrive(5.8, 1, Server, end(600, 3000));
    assert_eq!(
        user.arrive(5.9, 1, Station, end(6000, 600)),
        [
            Received { began: at(5.5), bytes: 3000 },
            Loaded { began: at(5.0) },
            Wake { at: at(10.9) }
        ]
    );
    // Connection 1 still waits for the last acknowledgment.
    assert_eq!(user.wake(10.9), begins());
    assert_eq!(
        user.arrive(11.0, 1, Server, end(600, 6000)),
        [Acknowledged { began: at(5.5) }, Abandon { tag: 1 }]
    );
}

/// A page of 10000 bytes in three objects with equal draws: 3333.3 bytes each, rounded up.
#[test]
fn objects_share_the_size_of_a_page() {
    let mut user = script(Server, page(3.0, 6, constant(10_000.0)));
    user.start();
    user.wake(5.0);
    assert_eq!(user.arrive(5.1, 0, Server, end(300, 0)), [write(0, Server, 3334)]);
    user.arrive(5.2, 0, Station, end(3334, 300));
    assert_eq!(user.arrive(5.3, 1, Server, end(300, 0)), [write(1, Server, 3334)]);
}

#[test]
fn a_page_of_one_object_is_its_document() {
    let mut user = script(Server, page(1.0, 6, Value::Null));
    user.start();
    user.wake(5.0);
    user.arrive(5.1, 0, Server, end(300, 0));
    assert_eq!(
        user.arrive(5.2, 0, Station, end(3000, 300)),
        [
            Received { began: at(5.0), bytes: 3000 },
            Loaded { began: at(5.0) },
            Wake { at: at(10.2) }
        ]
    );
}

/// The second station of the group: its transfers begin at 1 s and at 1.5 s, although the first is
/// still running.
#[test]
fn a_replay_begins_transfers_at_their_times() {
    let config = json!({
        "kind": "replay", "request_bytes": 0,
        "transfers": [[[0.0, 100.0]], [[1.0, 2000.0], [1.5, 500.0]]],
    });
    let mut replay = script(Server, config);
    replay.app = replay.app.at_station(1);
    let begins = |tag, bytes| {
        [
            Began { unbidden: true },
            open(tag, Service::Transfer, Some(Station)),
            Await { tag, bytes },
            write(tag, Server, bytes),
        ]
    };

    assert_eq!(replay.start(), [Wake { at: at(1.0) }]);
    let mut wanted = begins(0, 2000).to_vec();
    wanted.push(Wake { at: at(1.5) });
    assert_eq!(replay.wake(1.0), wanted);
    assert_eq!(replay.wake(1.5), begins(1, 500));
    // A third station has nothing to do.
    replay.app = replay.app.at_station(2);
    assert_eq!(replay.start(), []);
}

#[test]
fn a_bulk_transfer_without_size_never_ends() {
    let mut bulk = script(Server, json!({ "kind": "bulk", "size": null, "start": constant(1.0) }));

    assert_eq!(bulk.start(), [Wake { at: at(1.0) }]);
    assert_eq!(bulk.wake(1.0)[2..], sent(0, Server, 1 << 60));
    assert_eq!(bulk.arrive(9.0, 0, Station, end(1 << 50, 0)), []);
    assert!(bulk.app.is_endless());
}

/// 1500 bytes at 1.2 Mb/s take 10 ms; the tenth datagram is sent 90 ms after the first.
#[test]
fn datagrams_of_a_constant_rate_are_evenly_spaced() {
    let mut udp = script(
        Server,
        json!({ "kind": "udp", "packet_bytes": 1500, "rate_bps": 1_200_000, "voice": null }),
    );
    let [Wake { at: first }] = udp.start()[..] else { panic!("it starts within an interval") };
    assert!(first > Time::ZERO && first <= at(0.010));

    let mut next = first;
    for _ in 0..9 {
        let wanted = udp.wake(next.as_secs_f64());
        let [Wake { at }, Send { side: Server, bytes: 1472 }] = wanted[..] else {
            panic!("{wanted:?}")
        };
        next = at;
    }
    assert_eq!(next - first, Duration::from_millis(90));
}

#[test]
fn a_source_without_rate_always_has_one_more() {
    let mut udp = script(
        Station,
        json!({ "kind": "udp", "packet_bytes": 1500, "rate_bps": null, "voice": null }),
    );

    assert_eq!(udp.start(), [Wake { at: Time::ZERO }]);
    assert_eq!(udp.wake(0.0), [Saturate { side: Station, bytes: 1472 }]);
    assert!(udp.app.is_endless());
}

fn ftp(sender: Side) -> Script {
    let control = json!({
        "pasv_bytes": 6, "reply_227_bytes": 49, "retr_bytes": 34, "reply_150_bytes": 88,
        "reply_226_bytes": 23,
    });
    script(
        sender,
        json!({
            "kind": "ftp", "interarrival": constant(10.0), "size": constant(1000.0),
            "control": control,
        }),
    )
}

fn closed(delivered: u64, acked: u64) -> End {
    End { has_reached_end: true, ..end(delivered, acked) }
}

/// PASV, 227, the data connection, RETR, 150 and the file, FIN, 226, and the ACK of 226 (RFC 959;
/// paper H, section II.B). Connection 0 carries the dialogue, connection 1 the file.
#[test]
fn a_download_is_spoken_about() {
    let mut ftp = ftp(Server);
    let [Wake { at: first }] = ftp.start()[..] else { panic!("one is to come") };
    assert!(first <= at(10.0));

    assert_eq!(
        ftp.wake(1.0),
        [
            Began { unbidden: true },
            open(0, Service::Dialogue, None),
            write(0, Station, 6),
            Wake { at: at(11.0) },
        ]
    );
    assert_eq!(ftp.arrive(1.1, 0, Server, end(6, 0)), [write(0, Server, 49)]);
    assert_eq!(ftp.arrive(1.2, 0, Station, end(49, 6)), [open(1, Service::File, Some(Station))]);
    assert_eq!(ftp.arrive(1.3, 1, Station, end(0, 0)), [write(0, Station, 34)]);
    let file = Write { tag: 1, side: Server, bytes: 1000, last: true };
    assert_eq!(ftp.arrive(1.4, 0, Server, end(40, 49)), [write(0, Server, 88), file]);
    assert_eq!(ftp.arrive(1.5, 0, Station, end(137, 40)), []);
    assert_eq!(ftp.arrive(1.6, 1, Station, closed(1000, 0)), [Close { tag: 1, side: Station }]);
    assert_eq!(ftp.arrive(1.7, 1, Server, closed(0, 1000)), [write(0, Server, 23)]);
    assert_eq!(
        ftp.arrive(1.8, 0, Station, end(160, 40)),
        [Received { began: at(1.0), bytes: 1000 }]
    );
    assert_eq!(ftp.arrive(1.9, 0, Server, end(40, 160)), [Acknowledged { began: at(1.0) }]);
    // The user is still logged in.
    assert_eq!(ftp.wake(11.0)[1], write(0, Station, 6));
}

/// The server has the file when the station has closed, and both ends report it at once.
#[test]
fn an_upload_ends_when_the_server_has_the_file() {
    let mut ftp = ftp(Station);
    ftp.start();
    ftp.wake(1.0);
    ftp.arrive(1.1, 0, Server, end(6, 0));
    ftp.arrive(1.2, 0, Station, end(49, 6));
    ftp.arrive(1.3, 1, Station, end(0, 0));

    assert_eq!(ftp.arrive(1.4, 0, Server, end(40, 49)), [write(0, Server, 88)]);
    let file = Write { tag: 1, side: Station, bytes: 1000, last: true };
    assert_eq!(ftp.arrive(1.5, 0, Station, end(137, 40)), [file]);
    assert_eq!(
        ftp.arrive(1.6, 1, Server, closed(1000, 0)),
        [Close { tag: 1, side: Server }, write(0, Server, 23)]
    );
}

/// A second transfer begins before the end of the first, with another session.
#[test]
fn dialogues_overlap() {
    let mut ftp = ftp(Server);
    ftp.start();
    ftp.wake(1.0);

    assert_eq!(ftp.wake(11.0)[1], open(1, Service::Dialogue, None));
}
