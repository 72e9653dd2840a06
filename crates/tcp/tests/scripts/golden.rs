//! Tables of the sender's windows, per round trip, in named situations. Bytes, as integers. A
//! change here is a change in behavior: the commit must say which, and what else confirms it. The
//! derivation of each table is next to it.

use airtcp_tcp::{Config, Variant};

use crate::pair::{Pair, config, lose_once};

/// Returns `cwnd ssthresh flight` just after the ACKs at the end of each of the first rounds of 100
/// ms: Reno on the left, NewReno in the middle, Sack on the right. Eight segments are in flight
/// from the start, in congestion avoidance.
fn table(rounds: u64, lost: &'static [u64]) -> String {
    let mut columns = [Variant::Reno, Variant::NewReno, Variant::Sack].map(|variant| {
        let config =
            Config { variant, initial_window: 8000, initial_ssthresh: Some(8000), ..config() };
        Pair::sending_over(&config, u64::MAX, lose_once(lost))
    });
    let mut text = String::new();
    for round in 0..rounds {
        text += &format!("{round:>2}");
        for pair in &mut columns {
            pair.run_until(100 * round);
            let sender = &pair.a;
            let numbers = [sender.cwnd(), sender.ssthresh(), sender.flight_size()];
            text += &format!(" | {:>5} {:>5} {:>5}", numbers[0], numbers[1], numbers[2]);
        }
        text += "\n";
    }
    text
}

#[track_caller]
fn assert_table(actual: &str, expected: &str) {
    let trimmed = |text: &str| {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    assert!(trimmed(actual) == trimmed(expected), "expected:\n{expected}\nis:\n{actual}");
}

#[test]
fn no_loss() {
    // Eight ACKs of 10^6 / cwnd bytes: 125.0 + 123.1 + ... = 950. A ninth segment is sent when cwnd
    // reaches 9000.
    assert_table(
        &table(6, &[]),
        " 0 |  8000  8000  8000 |  8000  8000  8000 |  8000  8000  8000
          1 |  8950  8000  8000 |  8950  8000  8000 |  8950  8000  8000
          2 |  9808  8000  9000 |  9808  8000  9000 |  9808  8000  9000
          3 | 10690  8000 10000 | 10690  8000 10000 | 10690  8000 10000
          4 | 11591  8000 11000 | 11591  8000 11000 | 11591  8000 11000
          5 | 12507  8000 12000 | 12507  8000 12000 | 12507  8000 12000",
    );
}

#[test]
fn one_segment_of_a_window_is_lost() {
    // Round 2: seven duplicate ACKs. Limited transmit sends two new segments; ssthresh = 8 / 2 = 4;
    // cwnd = 4 + 3 + 4 = 11, which allows one more beyond the 10 in flight. Round 3: two more
    // duplicates, 13 in flight, then ack 18001 for all of 10 segments. The last three are in
    // flight: Reno's cwnd is ssthresh = 4, NewReno's min(4, 3 + 1) = 4, and one segment is sent;
    // ack 19001 adds 250, and another one is sent. Sack: cwnd = 4, and pipe = 10 - 3 SACKed = 7
    // (one lost, one retransmitted); four duplicates later it is 3, and one more is sent. Round 3:
    // each of two duplicates releases one segment; then like Reno.
    assert_table(
        &table(8, &[8001]),
        " 0 |  8000  8000  8000 |  8000  8000  8000 |  8000  8000  8000
          1 |  8950  8000  8000 |  8950  8000  8000 |  8950  8000  8000
          2 | 11000  4000 11000 | 11000  4000 11000 |  4000  4000 11000
          3 |  4250  4000  4000 |  4250  4000  4000 |  4250  4000  4000
          4 |  5123  4000  5000 |  5123  4000  5000 |  5123  4000  5000
          5 |  6034  4000  6000 |  6034  4000  6000 |  6034  4000  6000
          6 |  6968  4000  6000 |  6968  4000  6000 |  6968  4000  6000
          7 |  7789  4000  7000 |  7789  4000  7000 |  7789  4000  7000",
    );
}

#[test]
fn two_segments_of_a_window_are_lost() {
    // Round 2: six duplicates, cwnd = 4 + 3 + 3 = 10, which the 10 in flight fill. Round 3: two
    // duplicates, two new segments, then the partial ack 10001 of two segments. Reno: cwnd = 4 with
    // 10 in flight. Only the two new segments can cause duplicates (round 4), so the timer, started
    // at 300 with RTO = 300 ms, expires in round 6: ssthresh = 10 / 2. The receiver lacks one
    // segment; round 7 continues after it, in slow start. NewReno: cwnd = 12 - 2 + 1 = 11; the next
    // hole and one new segment are sent. Round 4: two duplicates, two new segments, then the full
    // ack 20001 with 3 in flight, cwnd = 4; and one more ACK. Sack: the fourth duplicate shows that
    // the second hole is lost too: pipe = 4 plus 1 retransmitted; two duplicates later it is 3, and
    // the second hole is sent. Round 3: two duplicates and the partial ack 10001 release one new
    // segment each; then ack 18001 covers everything: 3 in flight, and one more is sent.
    assert_table(
        &table(11, &[8001, 10_001]),
        " 0 |  8000  8000  8000 |  8000  8000  8000 |  8000  8000  8000
          1 |  8950  8000  8000 |  8950  8000  8000 |  8950  8000  8000
          2 | 10000  4000 10000 | 10000  4000 10000 |  4000  4000 10000
          3 |  4000  4000 10000 | 11000  4000 11000 |  4000  4000  4000
          4 |  4000  4000 10000 |  4250  4000  4000 |  4920  4000  4000
          5 |  4000  4000 10000 |  5123  4000  5000 |  5688  4000  5000
          6 |  1000  5000  1000 |  6034  4000  6000 |  6519  4000  6000
          7 |  2000  5000  2000 |  6968  4000  6000 |  7390  4000  7000
          8 |  4000  5000  4000 |  7789  4000  7000 |  8291  4000  8000
          9 |  5577  5000  5000 |  8647  4000  8000 |  9211  4000  9000
         10 |  6422  5000  6000 |  9533  4000  9000 | 10146  4000 10000",
    );
}

#[test]
fn three_segments_of_a_window_are_lost() {
    // Round 2: five duplicates, cwnd = 4 + 3 + 2 = 9, below the 10 in flight. Round 3: two
    // duplicates, cwnd = 11, one new segment, then the partial ack 10001. Reno: cwnd = 4 with 9 in
    // flight until the timeout in round 6, ssthresh = 4.5. In round 7 slow start sends the third
    // hole and its successor, which the receiver holds. In round 8 ack 19001 answers the first and
    // releases three new segments; a duplicate ACK answers the second, and limited transmit sends a
    // fourth. NewReno: cwnd = 11 - 2 + 1 = 10. Round 4: a duplicate, the second partial ack, a
    // duplicate: cwnd = 11, 10, 11. Round 5: a duplicate, then the full ack 21001 with 3 in flight:
    // cwnd = 4, and two more ACKs: 4250, 4485. Sack: the third duplicate reports a third block, so
    // the first hole is lost. The fourth shows that the second one is lost, and the fifth, which
    // leaves 3 in the pipe, that the third one is: the second hole is sent. Round 3: a duplicate,
    // the third hole; a duplicate, then acks 10001 and 12001, a new segment each. Round 4: ack
    // 18001 covers everything, and three more ACKs: 4250, 4485, 4708.
    assert_table(
        &table(11, &[8001, 10_001, 12_001]),
        " 0 |  8000  8000  8000 |  8000  8000  8000 |  8000  8000  8000
          1 |  8950  8000  8000 |  8950  8000  8000 |  8950  8000  8000
          2 |  9000  4000 10000 |  9000  4000 10000 |  4000  4000 10000
          3 |  4000  4000  9000 | 10000  4000 10000 |  4000  4000  9000
          4 |  4000  4000  9000 | 11000  4000 11000 |  4708  4000  4000
          5 |  4000  4000  9000 |  4485  4000  4000 |  5507  4000  5000
          6 |  1000  4500  1000 |  5319  4000  5000 |  6361  4000  6000
          7 |  2000  4500  2000 |  6200  4000  6000 |  7253  4000  7000
          8 |  3000  4500  4000 |  7112  4000  7000 |  8168  4000  8000
          9 |  5392  4500  5000 |  8044  4000  8000 |  9101  4000  9000
         10 |  6263  4500  6000 |  8990  4000  8000 | 10046  4000 10000",
    );
}

#[test]
fn a_whole_window_is_lost() {
    // There are no duplicates. The timer, started at 100 with RTO = 300 ms, expires in round 4:
    // ssthresh = 4, and everything is sent again: 1, 2, 4 segments. The fourth raises cwnd to
    // ssthresh, where congestion avoidance begins.
    let numbers = &[8001, 9001, 10_001, 11_001, 12_001, 13_001, 14_001, 15_001];
    assert_table(
        &table(11, numbers),
        " 0 |  8000  8000  8000 |  8000  8000  8000 |  8000  8000  8000
          1 |  8950  8000  8000 |  8950  8000  8000 |  8950  8000  8000
          2 |  8950  8000  8000 |  8950  8000  8000 |  8950  8000  8000
          3 |  8950  8000  8000 |  8950  8000  8000 |  8950  8000  8000
          4 |  1000  4000  1000 |  1000  4000  1000 |  1000  4000  1000
          5 |  2000  4000  2000 |  2000  4000  2000 |  2000  4000  2000
          6 |  4000  4000  4000 |  4000  4000  4000 |  4000  4000  4000
          7 |  4920  4000  4000 |  4920  4000  4000 |  4920  4000  4000
          8 |  5688  4000  5000 |  5688  4000  5000 |  5688  4000  5000
          9 |  6519  4000  6000 |  6519  4000  6000 |  6519  4000  6000
         10 |  7390  4000  7000 |  7390  4000  7000 |  7390  4000  7000",
    );
}
