//! Limits of an access or a frame: the TXOP limit to the microsecond, and the two retry limits.

use airtcp_kernel::Duration;
use airtcp_wlan::{AccessParameters, FrameErrors, MacConfig};

use crate::cell::{phy, standard, streams};
use crate::script::{ACCESS_POINT, EXCHANGE, Script, Seen, edca};

const SIFS: u64 = 10;

/// IEEE 802.11-2020, 10.23.2.8: exchanges that end exactly at the limit may be sent, but not if
/// they are a microsecond longer. Two exchanges and the SIFS between them last 2418 us.
#[test]
fn a_txop_may_end_at_its_limit_and_not_later() {
    for (limit, fits) in [(2 * EXCHANGE + SIFS, true), (2 * EXCHANGE + SIFS - 1, false)] {
        let txop_limit = Duration::from_micros(limit);
        let access = AccessParameters { txop_limit, ..AccessParameters::dcf(&phy()) };
        let mut script = Script::with_queues(&[(0, access), (1, access)], &phy(), &edca());
        for _ in 0..2 {
            script.queue(0, 1, 1_000, 1_010);
        }

        let second = 1_010 + EXCHANGE + SIFS;
        let began = (second, Seen::Exchange { by: 0, packet: 1, failures: 0 });
        assert_eq!(script.seen_before(second + 1).contains(&began), fits, "{limit} us");
    }
}

/// IEEE 802.11-2020, 10.3.4.4: a frame that is lost after its RTS succeeded counts against the long
/// retry limit, and a frame without RTS against the short one. The other limit does not matter.
#[test]
fn a_frame_lost_after_its_rts_has_a_limit_of_its_own() {
    let access = AccessParameters::dcf(&phy());
    for (rts_threshold_bytes, tries) in [(Some(0), 3), (None, 5)] {
        let limits = MacConfig { short_retry_limit: 5, long_retry_limit: 3, ..standard() };
        let mac = MacConfig { rts_threshold_bytes, ..limits };
        let all = FrameErrors { rate: 1.0, of_bytes: None, least_bytes: 0 };
        let errors = streams(2).into_iter().map(|stream| Some((all, stream))).collect();
        let mut script = Script::with_errors(&[(0, access), (1, access)], errors, &phy(), &mac);
        script.queue(1, ACCESS_POINT, 1_000, 1_000);

        let seen = script.seen_before(1_000_000);
        let count = |is: fn(&Seen) -> bool| seen.iter().filter(|(_, one)| is(one)).count();
        assert_eq!(count(|one| matches!(one, Seen::Exchange { .. })), tries);
        assert_eq!(count(|one| matches!(one, Seen::Lost { .. })), tries);
        assert_eq!(count(|one| matches!(one, Seen::GivenUp { by: 1, packet: 0 })), 1);
        script.laws_hold();
    }
}
