//! Our scripts pass, and a changed script fails in the changed line.

use std::path::Path;

use airtcp_packetdrill::check;

fn script(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts").join(name);
    std::fs::read_to_string(path).expect("a script of this crate")
}

#[test]
fn our_own_scripts_pass() {
    for name in [
        "slow-start.pkt",
        "reordering-window.pkt",
        "tail-loss-probe.pkt",
        "without-sack.pkt",
        "closing.pkt",
        "timestamps.pkt",
        "hystart.pkt",
        "ecn.pkt",
        "ecn-reduction.pkt",
        "zero-window.pkt",
        "rack-rtt.pkt",
    ] {
        assert_eq!(check(&script(name)), Ok(()), "{name}");
    }
}

/// Runs the script with `from` replaced by `to`; returns the line and the reason of its failure.
#[track_caller]
fn fails(name: &str, from: &str, to: &str) -> (usize, String) {
    let text = script(name);
    assert!(text.contains(from), "{from}");
    check(&text.replacen(from, to, 1)).expect_err("another script")
}

#[test]
fn another_segment_time_or_value_is_named_with_its_line() {
    // One segment more than the window allows.
    let (line, why) = fails("slow-start.pkt", "1:12001(12000)", "1:13201(13200)");
    assert_eq!((line, why.as_str()), (11, "12001:13201 is not sent by 0.540000 s"));
    // The segment comes after 160 ms, a quarter of a round trip and 2 ms more, in ticks of 1 ms.
    // That is 7 ms early; the tolerance is an eighth of 30 ms.
    let (line, why) = fails("reordering-window.pkt", "+.025 >", "+.030 >");
    assert_eq!((line, why.as_str()), (16, "1:1001 ack 1 is sent at 0.183000 s, not at 0.190000 s"));
    let (line, why) = fails("without-sack.pkt", "ssthresh == 7", "ssthresh == 5");
    assert_eq!((line, why.as_str()), (15, "tcpi_snd_ssthresh == 5: it is 7"));
    let (line, why) = fails("timestamps.pkt", "TS val 1150 ecr 410", "TS val 1160 ecr 410");
    assert_eq!((line, why.as_str()), (18, "timestamps 1150 410 are sent"));
    let (line, why) = fails("hystart.pkt", "most += 2", "most += 3");
    assert_eq!((line, why.as_str()), (22, "tcpi_snd_cwnd == most: it is 22"));
    let (line, why) = fails("ecn.pkt", "[noecn] SE. ", "[noecn] S. ");
    assert_eq!((line, why.as_str()), (8, "SYN 0 ack 1 [] is sent, not 0:0"));
    // In this implementation the window falls to the threshold at once.
    let (line, why) = fails("ecn-reduction.pkt", "tcpi_snd_cwnd == 9", "tcpi_snd_cwnd == 5");
    assert_eq!((line, why.as_str()), (15, "tcpi_snd_cwnd == 5: it is 9"));
    let (line, why) = fails("zero-window.pkt", "+1.2~+1.24 >", "+.6~+.62 >");
    assert_eq!((line, why.as_str()), (21, "5000:5000 is not sent by 1.836000 s"));
    let (line, why) = fails("closing.pkt", "R 2:2", "R 3:3");
    assert_eq!((line, why.as_str()), (16, "a reset with 2 is sent"));
}

#[test]
fn what_an_endpoint_has_not_is_the_reason() {
    let reason = |name, from, to| fails(name, from, to).1;

    assert_eq!(
        reason("closing.pkt", "sysctl -q net.ipv4.tcp_congestion_control=reno", "rm -r x"),
        "needs a shell: rm -r x"
    );
    assert_eq!(reason("closing.pkt", "=reno", "=vegas"), "there is no congestion control vegas");
    assert_eq!(
        reason(
            "closing.pkt",
            "< S 0:0(0) win 60000 <mss 1000,sackOK>",
            "< S 0:0(0) win 9 <TS val 1>"
        ),
        "no segment:  S 0:0(0) win 9 <TS val 1>"
    );
    assert_eq!(reason("ecn.pkt", "[ce] P.", "[ect] P."), "there is no [ect]");
    assert_eq!(
        reason("without-sack.pkt", "tcpi_snd_ssthresh == 7", "tcpi_rtt == 7"),
        "tcpi_rtt is not known here"
    );
    assert_eq!(reason("closing.pkt", "listen(3, 1)", "recvmsg(3, 1)"), "there is no recvmsg()");
}
