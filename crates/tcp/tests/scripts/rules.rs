//! Where ns-2 departs from the RFCs, rule by rule.

use airtcp_tcp::{Config, LossWindow, Rules, Variant};

use crate::pair::{Fate, Pair, config, lose_once};

fn halve_cwnd() -> Rules {
    Rules { loss_window: LossWindow::Cwnd, ..Rules::standard() }
}

fn once() -> Rules {
    Rules { fast_retransmit_once_per_window: true, ..Rules::standard() }
}

/// Ten segments in flight from the start, in congestion avoidance.
fn ten(rules: Rules) -> Config {
    Config {
        variant: Variant::Reno,
        initial_window: 10_000,
        initial_ssthresh: Some(10_000),
        rules,
        ..config()
    }
}

#[test]
fn reno_repairs_a_second_loss_of_a_window_by_the_timer_if_it_may_not_retransmit_twice() {
    // The first and the fourth of ten are lost. The ACK of the retransmitted first one, 3001, ends
    // Reno's recovery; segments sent during it then cause duplicates of that ACK.
    let counters = |rules| {
        let mut pair = Pair::sending_over(&ten(rules), 30_000, lose_once(&[1, 3001]));
        pair.run();
        assert_eq!(pair.b.delivered(), 30_000);
        let counters = pair.a.counters();
        (counters.fast_retransmits, counters.timeouts)
    };

    assert_eq!(counters(Rules::standard()), (2, 0));
    assert_eq!(counters(once()), (1, 1));
}

#[test]
fn the_next_window_may_retransmit_again() {
    // 14001 is sent after the first recovery has begun, so it belongs to the next window.
    let mut pair = Pair::sending_over(&ten(once()), 30_000, lose_once(&[1, 14_001]));
    pair.run();

    let counters = pair.a.counters();
    assert_eq!((counters.fast_retransmits, counters.timeouts), (2, 0));
}

#[test]
fn a_loss_halves_the_window_or_what_is_under_way() {
    // There are only six segments: half of them are three, half of the window is five.
    let threshold = |rules| {
        let mut pair = Pair::sending_over(&ten(rules), 6000, lose_once(&[1]));
        pair.run();
        assert_eq!(pair.a.counters().fast_retransmits, 1);
        pair.a.ssthresh()
    };

    assert_eq!(threshold(Rules::standard()), 3000);
    assert_eq!(threshold(halve_cwnd()), 5000);
}

#[test]
fn the_window_that_is_halved_is_no_larger_than_the_advertised_one() {
    let config = Config { receive_window: 8000, ..ten(halve_cwnd()) };
    let mut pair = Pair::sending_over(&config, 8000, lose_once(&[1]));
    pair.run();

    assert_eq!(pair.a.ssthresh(), 4000);
}

#[test]
fn a_timeout_in_a_recovery_halves_what_the_recovery_left() {
    // The first segment is lost twice. In the recovery the window is 5 segments, or 10 with the
    // inflation by duplicate ACKs; at the timeout about ten are in flight.
    let threshold = |rules| {
        let mut lost = 0;
        let mut pair = Pair::sending_over(&ten(rules), 30_000, move |sent| {
            let again = sent.segment.len > 0 && sent.segment.seq == 1 && lost < 2;
            lost += u32::from(again);
            if again { Fate::Lose } else { Fate::Deliver }
        });
        while pair.a.counters().timeouts == 0 {
            assert!(pair.step(airtcp_kernel::Time::NEVER));
        }
        (pair.a.counters().fast_retransmits, pair.a.ssthresh())
    };

    let (fast, flight) = threshold(Rules::standard());
    assert_eq!(fast, 1);
    assert!(flight >= 5000, "{flight}");
    assert_eq!(threshold(halve_cwnd()), (1, 2500));
}

#[test]
fn a_second_timeout_of_a_segment_halves_a_window_of_one() {
    // RFC 5681 section 3.1 then holds ssthresh constant. ns-2 reduces it to the minimum of two
    // segments.
    let threshold = |rules| {
        let mut lost = 0;
        let mut pair = Pair::sending_over(&ten(rules), 10_000, move |_| {
            lost += 1;
            if lost <= 12 { Fate::Lose } else { Fate::Deliver }
        });
        while pair.a.counters().timeouts < 2 {
            assert!(pair.step(airtcp_kernel::Time::NEVER));
        }
        pair.a.ssthresh()
    };

    assert_eq!(threshold(Rules::standard()), 5000);
    assert_eq!(threshold(halve_cwnd()), 2000);
}
