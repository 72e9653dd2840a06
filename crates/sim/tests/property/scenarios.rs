//! Random scenarios in the resolved form.

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::resolved::resolved;

pub(crate) const MILLISECOND: u64 = 1_000_000;

/// A scenario that provides the keys which the strategies below do not draw.
static RESOLVED: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(&resolved("downloads-10")).expect("it is JSON"));

/// Returns the table at `pointer` of that scenario, with some of its keys changed.
fn table(pointer: &str, changes: Value) -> Value {
    let mut table = RESOLVED.pointer(pointer).expect("it has the table").clone();
    let Value::Object(changes) = changes else { panic!("{changes} is no table") };
    for (key, value) in changes {
        let known = table.get_mut(&key);
        *known.unwrap_or_else(|| panic!("{pointer} has no {key}")) = value;
    }
    table
}

fn rate(bps: u64, modulation: &str) -> Value {
    json!({ "bps": bps, "modulation": modulation })
}

/// 802.11b, g, n, ac or ax with timings of the standards, sometimes overridden.
fn phy() -> impl Strategy<Value = (Value, Vec<Value>)> {
    prop_oneof![3 => old_phy(), 2 => new_phy()]
}

/// A rate of 802.11n or later with one stream.
fn high_rate(format: &str, mcs: u8, width: u16, guard: u64, bits_per_symbol: u64) -> Value {
    let symbol = guard + if format == "he" { 12_800 } else { 3_200 };
    let preamble = if format == "ht" { 36_000 } else { 44_000 };
    json!({
        "bps": bits_per_symbol * 1_000_000_000 / symbol, "modulation": format,
        "high": {
            "mcs": mcs, "spatial_streams": 1, "channel_width_mhz": width,
            "guard_interval_ns": guard, "preamble_time_ns": preamble,
        },
    })
}

/// 802.11n at 20 MHz, ac at 80 MHz, or ax at 80 MHz, with their lowest and their highest MCS.
fn new_phy() -> impl Strategy<Value = (Value, Vec<Value>)> {
    let rates = |[(low, bits), (high, most)]: [(u8, u64); 2], format, width, guard| {
        [high_rate(format, low, width, guard, bits), high_rate(format, high, width, guard, most)]
    };
    let standard = prop_oneof![
        Just(("802.11n", rates([(0, 26), (7, 260)], "ht", 20, 400))),
        Just(("802.11ac", rates([(0, 117), (9, 1_560)], "vht", 80, 400))),
        Just(("802.11ax", rates([(0, 490), (11, 8_166)], "he", 80, 800))),
    ];
    let delay = prop_oneof![Just(0_u64), Just(333)];
    let slot = prop_oneof![Just(9_000_u64), Just(20_000), Just(1)];
    (standard, delay, any::<bool>(), slot).prop_map(
        |((standard, [low, high]), delay, rounding, slot)| {
            let phy = table(
                "/phy",
                json!({
                    "standard": standard, "data_rate": high,
                    "control_rate": rate(24_000_000, "ofdm"),
                    "slot_time_ns": slot, "sifs_ns": 16_000, "difs_ns": 16_000 + 2 * slot,
                    "eifs_ns": 60_000 + 2 * slot, "ack_timeout_ns": 36_000 + slot,
                    "dsss": Value::Null,
                    "ofdm": {
                        "preamble_time_ns": 16_000, "plcp_header_time_ns": 4_000,
                        "symbol_time_ns": 4_000, "service_bits": 16, "tail_bits": 6,
                        "signal_extension_ns": 0,
                    },
                    "high_rate": {
                        "service_bits": 16, "tail_bits": 6, "short_gi_rounding": rounding,
                        "signal_extension_ns": 0,
                    },
                    "propagation_delay_ns": delay, "cw_min": 15, "cw_max": 1_023,
                    "mac_header_bits": 240,
                }),
            );
            (phy, vec![low, high])
        },
    )
}

/// A group with an older standard than a PHY from 802.11n on: its capabilities and its rates.
fn pair() -> impl Strategy<Value = (Value, Vec<Value>)> {
    let of_n = (aggregation(), any::<bool>()).prop_map(|(mut aggregation, rounding)| {
        let window = aggregation["block_ack_window"].as_u64().map(|window| window.min(64));
        aggregation["block_ack_window"] = json!(window);
        let pair = json!({
            "standard": "802.11n", "aggregation": aggregation,
            "high_rate": {
                "service_bits": 16, "tail_bits": 6, "short_gi_rounding": rounding,
                "signal_extension_ns": 0,
            },
        });
        (pair, vec![high_rate("ht", 0, 20, 400, 26), high_rate("ht", 7, 20, 400, 260)])
    });
    let of_a = prop_oneof![Just(6_000_000_u64), Just(54_000_000)].prop_map(|bps| {
        let pair = json!({ "standard": "802.11a", "aggregation": null, "high_rate": null });
        (pair, vec![rate(bps, "ofdm")])
    });
    prop_oneof![of_n, of_a]
}

/// Aggregation, for a PHY that supports it.
fn aggregation() -> impl Strategy<Value = Value> {
    let ampdu = prop_oneof![Just(0_u64), Just(4_000), Just(65_535), Just(6_500_631)];
    let amsdu = prop_oneof![2 => Just(0_u64), 1 => Just(3_839), 1 => Just(11_454)];
    let time = prop_oneof![3 => Just(5_484_000_u64), 1 => Just(400_000)];
    let window = prop_oneof![Just(1_u32), Just(3), Just(64), Just(256)];
    (ampdu, amsdu, time, window, prop_oneof![Just(4_095_u64), Just(11_454)]).prop_map(
        |(ampdu, amsdu, time, window, mpdu)| {
            json!({
                "ampdu_bytes": ampdu, "amsdu_bytes": amsdu, "mpdu_bytes": mpdu,
                "ppdu_time_ns": time, "block_ack_window": window, "block_ack_bits": 256,
                "block_ack_rate": rate(24_000_000, "ofdm"), "block_ack_request_bits": 192,
            })
        },
    )
}

/// Frame errors of a group, if it has any.
fn frame_errors() -> impl Strategy<Value = Value> {
    let rate = prop_oneof![Just(0.01_f64), Just(0.3), Just(0.9)];
    let errors = (rate, prop::option::of(Just(1_500_u64)), prop_oneof![Just(0_u64), Just(500)]);
    prop_oneof![
        2 => Just(Value::Null),
        1 => errors.prop_map(|(rate, of, least)| {
            json!({ "rate": rate, "of_bytes": of, "least_bytes": least })
        }),
    ]
}

/// 802.11b or 802.11g.
fn old_phy() -> impl Strategy<Value = (Value, Vec<Value>)> {
    let windows = prop_oneof![
        4 => Just((31_u32, 1023_u32)),
        1 => Just((0, 0)),
        1 => Just((1, 7)),
        1 => Just((30, 1000)),
        1 => Just((15, 4095)),
    ];
    let delay = prop_oneof![Just(0_u64), Just(1_000), Just(333)];
    let slot = prop_oneof![Just(20_000_u64), Just(9_000), Just(1), Just(333_333)];
    (any::<bool>(), windows, delay, any::<bool>(), slot).prop_map(
        |(is_b, (cw_min, cw_max), delay, rounding, slot)| {
            let mut rates: Vec<Value> = [1_000_000, 2_000_000, 5_500_000, 11_000_000]
                .into_iter()
                .map(|bps| rate(bps, "dsss"))
                .collect();
            if !is_b {
                rates.extend([6_000_000, 24_000_000, 54_000_000].map(|bps| rate(bps, "ofdm")));
            }
            let ofdm = json!({
                "preamble_time_ns": 16_000, "plcp_header_time_ns": 4_000, "symbol_time_ns": 4_000,
                "service_bits": 16, "tail_bits": 6, "signal_extension_ns": 6_000,
            });
            let phy = table(
                "/phy",
                json!({
                    "standard": if is_b { "802.11b" } else { "802.11g" },
                    "data_rate": rates.last(), "control_rate": rates[1],
                    "slot_time_ns": slot, "sifs_ns": 10_000, "difs_ns": 10_000 + 2 * slot,
                    "eifs_ns": 314_000 + 2 * slot, "ack_timeout_ns": 202_000 + slot,
                    "dsss": { "preamble_time_ns": 144_000, "plcp_header_time_ns": 48_000 },
                    "ofdm": if is_b { Value::Null } else { ofdm },
                    "symbol_rounding": rounding, "propagation_delay_ns": delay,
                    "cw_min": cw_min, "cw_max": cw_max,
                }),
            );
            (phy, rates)
        },
    )
}

fn mac() -> impl Strategy<Value = Value> {
    let threshold = prop_oneof![Just(None), Just(Some(0_u64)), Just(Some(500))];
    let after = prop_oneof![Just("eifs"), Just("difs"), Just("eifs+difs")];
    let colliders = prop_oneof![Just("ack-timeout+difs"), Just("as-others"), Just("as-heard")];
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let failed = prop_oneof![Just("resend"), Just("block-ack-request")];
    let protection = prop_oneof![Just("single"), Just("multiple"), Just("multiple+cf-end")];
    let reset = prop_oneof![Just("drop"), Just("failures")];
    let weaker = prop_oneof![Just("interferes"), Just("unnoticed")];
    let narrow = prop_oneof![Just("lost"), Just("received")];
    let arrivals = (prop_oneof![Just("busy"), Just("idle")], weaker, narrow);
    let later = (failed, prop_oneof![Just("ppdu"), Just("mpdu")], protection, any::<bool>(), reset);
    let limit = prop_oneof![1_u32..3, Just(7)];
    let edca = prop::option::of((edcafs(), edcafs()));
    // A beacon lasts 896 us at 1 Mb/s. Some intervals are so short that beacons are dropped.
    let interval = prop_oneof![1_000_000_u64..5_000_000, Just(102_400_000), Just(900_000)];
    // Contention-free periods: their interval in beacon intervals, and their length in per cent of
    // one.
    let pcf = prop::option::of((1_u64..4, 1_u64..100));
    let limit = (limit, prop::option::of((interval, pcf)));
    (threshold, limit, flags, after, (colliders, arrivals, later), edca).prop_map(
        |(
            threshold,
            (limit, beacons),
            (immediate, post, post_drop),
            after,
            (
                colliders,
                (before, weaker, narrow),
                (failed, delivery, protection, limited, cw_reset),
            ),
            edca,
        )| {
            let edca = edca.map(|(ap, stations)| json!({ "ap": ap, "stations": stations }));
            let rules = json!({
                "immediate_access": immediate, "post_backoff": post,
                "post_backoff_after_drop": post_drop, "after_collision": after,
                "colliders": colliders, "arrival_before_own_ack": before,
                "weaker_before": weaker, "narrow_collider": narrow, "other_links": "separate",
                "failed_block_ack": failed, "delivery": delivery, "txop_protection": protection,
                "retry_limit_under_block_ack": limited, "cw_reset": cw_reset,
            });
            table(
                "/mac",
                json!({
                    "edca": edca,
                    "beacon": beacons.map(|(interval, _)| json!({
                        "interval_ns": interval, "size_bits": 584,
                        "rate": { "bps": 1_000_000, "modulation": "dsss" },
                    })),
                    "pcf": beacons.and_then(|(interval, pcf)| pcf.map(|(apart, share)| json!({
                        "interval_ns": apart * interval, "max_duration_ns": interval * share / 100,
                        "poll": "round-robin",
                    }))),
                    "rts_threshold_bytes": threshold,
                    "short_retry_limit": limit,
                    "rules": table("/mac/rules", rules),
                }),
            )
        },
    )
}

/// How the access point accesses the medium.
fn access() -> impl Strategy<Value = Value> {
    let bursts = (1_u32..40, 1_u32..12).prop_map(|(window, target)| {
        json!({ "scheme": "adaptive-burst", "window_slots": window, "target_active": target })
    });
    let fixed = (1_u32..40, 1_u32..24).prop_map(|(window, packets)| {
        json!({ "scheme": "fixed-burst", "window_slots": window, "packets": packets })
    });
    prop_oneof![4 => Just(json!({ "scheme": "standard" })), 1 => bursts, 1 => fixed]
}

/// Parameters of all access categories.
fn edcafs() -> impl Strategy<Value = Value> {
    let aifs = prop_oneof![Just(50_000_u64), Just(90_000), Just(30_000), Just(34_567)];
    let windows = prop_oneof![Just((0_u32, 0_u32)), Just((31, 1023)), Just((3, 7)), Just((15, 31))];
    let txop = prop_oneof![2 => Just(0_u64), 1 => Just(3_000_000), 1 => Just(6_016_000)];
    prop::collection::vec((aifs, windows, txop), 4).prop_map(|parameters| {
        let names = ["AC_VO", "AC_VI", "AC_BE", "AC_BK"];
        let categories = names.into_iter().zip(parameters);
        Value::Object(
            categories
                .map(|(name, (aifs, (cw_min, cw_max), txop))| {
                    let parameters = json!({
                        "aifs_ns": aifs, "cw_min": cw_min, "cw_max": cw_max, "txop_limit_ns": txop,
                    });
                    (name.to_owned(), parameters)
                })
                .collect(),
        )
    })
}

fn classify() -> impl Strategy<Value = Value> {
    let category = || prop::sample::select(vec!["AC_VO", "AC_VI", "AC_BE", "AC_BK"]);
    (category(), category(), category())
        .prop_map(|(ack, data, udp)| json!({ "tcp_ack": ack, "tcp_data": data, "udp": udp }))
}

/// Distributions with a mean of about `mean`.
fn law(mean: f64) -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({ "kind": "deterministic", "value": mean })),
        Just(json!({ "kind": "exponential", "mean": mean })),
        Just(json!({ "kind": "pareto", "shape": 1.5, "scale": mean / 3.0 })),
        Just(json!({ "kind": "uniform", "low": 0.0, "high": 2.0 * mean })),
        Just(json!({ "kind": "lognormal", "mu": mean.ln() - 0.5, "sigma": 1.0 })),
        Just(json!({
            "kind": "hyperexponential", "probability": 0.1, "mean_1": 5.0 * mean,
            "mean_2": mean / 2.0,
        })),
        Just(json!({
            "kind": "empirical", "values": [mean / 2.0, mean, 2.0 * mean], "counts": [1, 3, 1],
        })),
    ]
}

fn limit() -> impl Strategy<Value = Value> {
    prop_oneof![Just(Value::Null), (1_u64..8).prop_map(Value::from), Just(json!(50))]
}

fn queue() -> impl Strategy<Value = Value> {
    let codel = (1_u64..30, 1_u64..100).prop_map(|(target, more)| {
        let interval = (target + more) * MILLISECOND;
        json!({ "target_ns": target * MILLISECOND, "interval_ns": interval, "ecn": target % 2 == 0, "control_law": "square-root" })
    });
    let codel = codel.boxed();
    let fq = (prop_oneof![Just(90), Just(1514)], prop::option::of(1_u32..4), 1_u32..70).prop_map(
        |(quantum, flows, batch)| {
            json!({
                "quantum_bytes": quantum, "flows": flows, "drop_batch": batch,
                "slow_below_bps": 5_000_000, "slow_target_ns": 20 * MILLISECOND,
                "slow_interval_ns": 100 * MILLISECOND,
            })
        },
    );
    let discipline = prop_oneof![
        3 => Just(json!({ "discipline": "fifo" })),
        1 => Just(json!({ "discipline": "per-flow" })),
        1 => Just(json!({ "discipline": "per-scenario-flow" })),
        1 => Just(json!({
            "discipline": "red",
            "red": {
                "ecn": true, "min_threshold": 2.0, "max_threshold": 6.0, "max_probability": 0.1,
                "weight": 0.2, "idle_packet_time_ns": MILLISECOND,
            },
        })),
        1 => codel.clone().prop_map(|codel| json!({ "discipline": "codel", "codel": codel })),
        2 => (codel, fq).prop_map(|(codel, fq)| {
            json!({ "discipline": "fq-codel", "codel": codel, "fq": fq })
        }),
    ];
    let ring = prop_oneof![3 => Just(None), 1 => Just(Some(1_u64)), 1 => Just(Some(5))];
    let filter = prop_oneof![
        4 => Just(Value::Null),
        1 => Just(json!("conservative")),
        1 => Just(json!("aggressive")),
    ];
    (discipline, limit(), ring, filter).prop_map(|(mut queue, limit, ring, filter)| {
        queue["limit"] = limit;
        queue["mac_limit"] = json!(ring);
        queue["ack_filter"] = filter;
        queue
    })
}

fn scheduler() -> impl Strategy<Value = Value> {
    let quantum = prop_oneof![Just(300_000_u64), Just(7), Just(20 * MILLISECOND)];
    let aql = prop::option::of(prop_oneof![Just(1_u64), Just(5 * MILLISECOND)]);
    prop_oneof![
        Just(json!({ "kind": "oldest" })),
        Just(json!({ "kind": "round-robin" })),
        (quantum, aql).prop_map(|(quantum, aql)| {
            json!({ "kind": "airtime", "quantum_ns": quantum, "aql_ns": aql })
        }),
    ]
}

fn tcp() -> impl Strategy<Value = Value> {
    let variant = prop_oneof![Just("reno"), Just("newreno"), Just("sack"), Just("rack")];
    let congestion = prop_oneof![Just("reno"), Just("cubic")];
    let handshake = prop_oneof![Just("three-way"), Just("two-way"), Just("none")];
    let mss = prop_oneof![Just(536_u64), Just(1460)];
    let windows = (prop_oneof![1_u64..5, Just(44), Just(700_000)], 1_u64..11, any::<bool>());
    let times = (prop_oneof![Just(10_u64), Just(200)], prop_oneof![Just(5_u64), Just(100)]);
    let thresholds = prop_oneof![
        4 => (1_u32..5).prop_map(|every| json!([[0, every]])),
        1 => Just(json!([[0, 1], [2, 2], [5, 3], [9, 4]])),
    ];
    let adaptive = proptest::option::of(
        (1_u32..40, 1_u32..4)
            .prop_map(|(calm, acks)| json!({ "calm": calm, "acks_per_window": acks })),
    );
    let skip = (1_u32..4, 0_u64..60, adaptive).prop_map(|(skip, after, adaptive)| {
        json!({ "skip": skip, "after_segment": after, "adaptive": adaptive })
    });
    let skip = prop_oneof![4 => Just(Value::Null), 1 => skip];
    let aimd = prop_oneof![3 => Just((1.0, 0.5)), 1 => (0.001..=1000.0, 0.01..=0.99)];
    let rules = (prop_oneof![Just("flight-size"), Just("cwnd")], any::<bool>());
    let policies = (thresholds, skip, aimd, rules, any::<bool>());
    ((variant, congestion), handshake, mss, windows, times, policies).prop_map(
        |(
            (variant, congestion),
            handshake,
            mss,
            (window, initial, low),
            (rto, timeout),
            policies,
        )| {
            let (thresholds, skip, (increase, decrease), (loss_window, once), pad) = policies;
            // BBR times single segments, and uses pacing.
            let has_model = variant == "rack" && pad;
            let model = if once { "bbr1" } else { "bbr" };
            let congestion = if has_model { model } else { congestion };
            let tack = (once && skip.is_null()).then(|| json!({ "every": 2, "beta": 4 }));
            let give_up = if once { "retransmit" } else { "freeze" };
            let feedback = (low != pad).then(|| json!({ "give_up": give_up }));
            let rules = json!({
                "loss_window": loss_window, "fast_retransmit_once_per_window": once,
                "segmentation": if once { "linux" } else { "single" },
            });
            table(
                "/flows/0/tcp",
                json!({
                    "variant": variant, "congestion": congestion, "mss_bytes": mss,
                    "receive_window_bytes": window * mss, "initial_window_bytes": initial * mss,
                    "initial_ssthresh_bytes": low.then_some(2 * mss), "handshake": handshake,
                    "initial_rto_ns": 3 * rto * MILLISECOND, "min_rto_ns": rto * MILLISECOND,
                    "max_rto_ns": 2_000 * MILLISECOND,
                    "aimd": { "increase": increase, "decrease": decrease },
                    "rules": table("/flows/0/tcp/rules", rules),
                    "delayed_ack": {
                        "thresholds": thresholds, "timeout_ns": timeout * MILLISECOND,
                        "adaptive": false,
                    },
                    "ack_skip": skip, "mac_feedback": feedback,
                    "tack": tack, "ecn": !has_model && pad != once, "pacing": has_model, "small_queue": pad || once,
                    "pad_last_segment": pad,
                }),
            )
        },
    )
}

fn path() -> impl Strategy<Value = Value> {
    let rate = prop_oneof![Just(None), Just(Some(1_000_000_u64)), Just(Some(100_000_000))];
    let loss = prop_oneof![
        3 => Just(Value::Null),
        1 => any::<bool>().prop_map(|acks| json!({ "rate": 0.02, "every": null, "acks": acks })),
        1 => any::<bool>().prop_map(|acks| json!({ "rate": null, "every": 30, "acks": acks })),
    ];
    let link = (rate, 0_u64..20, queue(), loss).prop_map(|(rate, delay, queue, loss)| {
        json!({
            "rate_bps": rate, "delay_ns": delay * MILLISECOND, "queue": queue, "loss": loss,
        })
    });
    let element = prop_oneof![link, Just(json!("uplink"))];
    prop_oneof![
        2 => Just(json!([])),
        1 => prop::collection::vec(element, 1..4).prop_map(Value::from),
    ]
}

/// The messages of an FTP dialogue, sometimes of several segments.
fn messages() -> impl Strategy<Value = Value> {
    let names =
        ["pasv_bytes", "reply_227_bytes", "retr_bytes", "reply_150_bytes", "reply_226_bytes"];
    let sizes = prop_oneof![Just([6_u64, 49, 34, 88, 23]), prop::array::uniform5(1_u64..5000)];
    sizes.prop_map(move |sizes| {
        Value::Object(names.into_iter().map(str::to_owned).zip(sizes.map(Value::from)).collect())
    })
}

fn flow(groups: usize) -> impl Strategy<Value = Value> {
    let bulk = (prop::option::of(law(20_000.0)), law(0.05))
        .prop_map(|(size, start)| json!({ "kind": "bulk", "size": size, "start": start }));
    let web = (law(10_000.0), law(0.1), prop_oneof![Just(0_u64), Just(300)]).prop_map(
        |(size, think_time, request)| {
            json!({
                "kind": "web", "size": size, "think_time": think_time, "request_bytes": request,
            })
        },
    );
    let page = (law(10_000.0), law(0.1), law(3.0), prop::option::of(law(20_000.0)), 1_u32..7)
        .prop_map(|(size, think_time, objects, page, connections)| {
            json!({
                "kind": "web", "size": size, "think_time": think_time, "request_bytes": 300,
                "page": { "objects": objects, "size": page, "connections": connections },
            })
        });
    let replay = (
        prop::collection::vec(prop::collection::vec((0.0..0.5_f64, 1.0..50_000.0_f64), 0..5), 1..4),
        prop_oneof![Just(0_u64), Just(300)],
    )
        .prop_map(|(mut transfers, request)| {
            for list in &mut transfers {
                list.sort_by(|one, next| one.0.total_cmp(&next.0));
            }
            json!({ "kind": "replay", "transfers": transfers, "request_bytes": request })
        });
    let ftp = (law(0.1), law(10_000.0), prop::option::of(messages())).prop_map(
        |(interarrival, size, control)| {
            json!({
                "kind": "ftp", "interarrival": interarrival, "size": size, "control": control,
            })
        },
    );
    let rates =
        prop_oneof![Just(None), Just(Some(1_u64)), Just(Some(777_777)), Just(Some(2_000_000))];
    let voice =
        prop::option::of(Just(json!({ "impairment": 0.0, "robustness": 25.1, "delay_s": 0.02 })));
    let udp = (prop_oneof![Just(40_u32), Just(1500)], rates, voice).prop_map(
        |(packet, rate, voice)| {
            json!({ "kind": "udp", "packet_bytes": packet, "rate_bps": rate, "voice": voice })
        },
    );
    let application = prop_oneof![2 => bulk, 2 => web, 1 => page, 1 => replay, 2 => ftp, 1 => udp];
    let direction = prop_oneof![Just("download"), Just("upload")];
    let spread = prop_oneof![Just(0_u64), Just(100_000_000)];
    (0..groups, direction, application, tcp(), path(), spread).prop_map(
        |(group, direction, application, mut tcp, path, spread)| {
            // A dialogue needs a data connection that the client opens.
            if application["control"].is_object() && tcp["handshake"] == "two-way" {
                tcp["handshake"] = json!("three-way");
            }
            let is_udp = application["kind"] == "udp";
            let direction = if application["page"].is_object() { "download" } else { direction };
            json!({
                "name": "set later", "stations": format!("group{group}"),
                "direction": direction, "application": application,
                "tcp": if is_udp { Value::Null } else { tcp }, "path": path,
                "start_spread_ns": spread,
            })
        },
    )
}

/// Any scenario.
pub(crate) fn scenario() -> impl Strategy<Value = Value> {
    scenario_over(phy())
}

/// Any scenario over 802.11b or 802.11g.
pub(crate) fn scenario_without_aggregation() -> impl Strategy<Value = Value> {
    scenario_over(old_phy())
}

fn scenario_over(phy: impl Strategy<Value = (Value, Vec<Value>)>) -> impl Strategy<Value = Value> {
    (1_usize..4, phy).prop_flat_map(|(groups, (phy, rates))| {
        let controlled = (any::<bool>(), prop_oneof![Just(0.0_f64), Just(0.2), Just(1.0)]);
        let rates_of_all = rates.clone();
        let older = prop_oneof![2 => Just(None), 1 => pair().prop_map(Some)];
        let losses = (frame_errors(), controlled);
        let group = (1_u32..6, prop::sample::select(rates), queue(), (losses, older));
        let stations = prop::collection::vec(group, groups);
        let flows = prop::collection::vec(flow(groups), 1..5);
        let times = (0_u64..300, 1_u64..700);
        let ap = (queue(), access(), scheduler());
        let later = (aggregation(), (edcafs(), edcafs()));
        (Just(phy), (mac(), later), classify(), stations, ap, flows, times).prop_map(
            move |(phy, (mut mac, later), classify, groups, ap, mut flows, (warmup, duration))| {
                let (queue, access, mut scheduler) = ap;
                if phy["high_rate"].is_null() && scheduler["kind"] != "airtime" {
                    scheduler = Value::Null;
                }
                if !phy["high_rate"].is_null() {
                    let (aggregation, (ap, stations)) = later;
                    mac["aggregation"] = aggregation;
                    mac["edca"] = json!({ "ap": ap, "stations": stations });
                    mac["cf_end_rate"] = rate(6_000_000, "ofdm");
                    if !mac["beacon"].is_null() {
                        mac["beacon"]["rate"] = rate(6_000_000, "ofdm");
                    }
                }
                // Bursts and access categories exclude each other.
                let standard = json!({ "scheme": "standard" });
                let access = if mac["edca"].is_null() { access } else { standard.clone() };
                // Contention-free periods allow neither.
                if !mac["edca"].is_null() || access != standard {
                    mac["pcf"] = Value::Null;
                }
                let ap = json!({ "queue": queue, "access": access, "scheduler": scheduler });
                for (index, flow) in flows.iter_mut().enumerate() {
                    flow["name"] = json!(format!("flow{index}"));
                }
                let stations: Vec<Value> = groups
                    .into_iter()
                    .enumerate()
                    .map(|(index, (count, data_rate, queue, (losses, older)))| {
                        let (errors, (is_found, loss)) = losses;
                        let is_new = !phy["high_rate"].is_null();
                        let (pair, its_rates) = match older.filter(|_| is_new) {
                            Some((pair, rates)) => (pair, rates),
                            None => (Value::Null, rates_of_all.clone()),
                        };
                        let (data_rate, is_legacy) = if pair.is_null() {
                            (data_rate, !is_new)
                        } else {
                            (
                                its_rates[index % its_rates.len()].clone(),
                                pair["high_rate"].is_null(),
                            )
                        };
                        let found = |(place, rate): (usize, &Value)| {
                            json!({
                                "rate": rate, "control_rate": phy["control_rate"],
                                "error_rate": if place == 0 { 0.05 } else { loss },
                            })
                        };
                        let is_found = is_found && !is_legacy;
                        let rates: Vec<Value> = its_rates.iter().enumerate().map(found).collect();
                        json!({
                            "name": format!("group{index}"), "count": count, "queue": queue,
                            "frame_errors": if is_found { Value::Null } else { errors },
                            "rate_control":
                                if is_found { json!({ "rates": rates }) } else { Value::Null },
                            "airtime_weight": 128 << index,
                            "cw_min": phy["cw_min"],
                            "data_rate": data_rate, "control_rate": phy["control_rate"],
                            "pair": pair,
                        })
                    })
                    .collect();
                json!({
                    "title": "random", "phy": phy, "mac": mac, "classify": classify, "ap": ap,
                    "stations": stations, "flows": flows,
                    "links": {
                        "uplink": {
                            "rate_bps": 5_000_000, "delay_ns": 3_000_000,
                            "queue": { "discipline": "fifo", "limit": 10 }, "loss": null,
                        },
                    },
                    "run": table("/run", json!({
                        "warmup_ns": warmup * MILLISECOND, "duration_ns": duration * MILLISECOND,
                    })),
                })
            },
        )
    })
}
