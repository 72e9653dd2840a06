//! Observes web pages over HTTP/1.1 (RFC 9112): when each object was requested and when it arrived,
//! on connections that carry one object after the other (9.3).
//!
//! It reads the target of each request, whose last three parts are numbers that the client put
//! there, and the length of each response.

use std::collections::HashMap;

use airtcp_kernel::{Duration, Time};

/// The unfinished pages of all flows.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    connections: HashMap<u32, Connection>,
    /// Pages by flow and page number.
    pages: HashMap<(u32, u64), Page>,
    /// Objects and pages that have arrived and were not yet reported.
    pub(crate) ended: Vec<Ended>,
}

/// An object or a page that has arrived, and its duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) flow: u32,
    pub(crate) kind: EndedKind,
    pub(crate) took: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndedKind {
    Object,
    Page,
}

#[derive(Debug)]
struct Page {
    began: Time,
    /// Objects that have not arrived yet.
    missing: u64,
}

/// A connection, which carries one object at a time.
#[derive(Debug)]
struct Connection {
    /// When the current object was requested; for the first object, when the connection began.
    began: Time,
    /// The target of the last request.
    asked: Option<Target>,
    /// Whether all of the current object has arrived.
    has_come: bool,
    /// Bytes of all responses before the current one.
    before: u64,
    /// Bytes of all responses including the current one, once its header has arrived.
    until: Option<u64>,
}

/// The numbers in the target of a request: "/0-7.12.70" is object 12 of the 70 objects of page 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Target {
    page: u64,
    object: u64,
    objects: u64,
}

impl Target {
    fn read(text: &[u8]) -> Option<Self> {
        let line = text.strip_prefix(b"GET /")?.split(|byte| *byte == b' ').next()?;
        let numbers = std::str::from_utf8(line).ok()?.rsplit_once('-')?.1;
        let mut parts = numbers.split('.').map(str::parse);
        let mut next = || parts.next()?.ok();
        Some(Self { page: next()?, object: next()?, objects: next()? })
    }
}

/// Returns the length of the response that begins with `text`, including its header (RFC 9112
/// section 6.3).
fn length_of_answer(text: &[u8]) -> Option<u64> {
    const END: &[u8] = b"\r\n\r\n";
    if !text.starts_with(b"HTTP/1.1 ") {
        return None;
    }
    let head = text.windows(END.len()).position(|four| four == END)? + END.len();
    let lines = std::str::from_utf8(&text[..head]).ok()?.lines();
    let length = lines.filter_map(|line| line.split_once(':')).find_map(|(name, value)| {
        name.eq_ignore_ascii_case("Content-Length").then(|| value.trim().parse::<u64>())
    });
    Some(head as u64 + length?.ok()?)
}

impl Pages {
    /// Opens a connection for an object that will be requested.
    pub(crate) fn open(&mut self, connection: u32, now: Time) {
        let one = Connection { began: now, asked: None, has_come: false, before: 0, until: None };
        self.connections.insert(connection, one);
    }

    /// Reads a client's data; returns true if it requests an object that is not the first of its
    /// connection. Ignores retransmissions.
    pub(crate) fn said(&mut self, flow: u32, connection: u32, now: Time, text: &[u8]) -> bool {
        let Some(target) = Target::read(text) else { return false };
        let Some(one) = self.connections.get_mut(&connection) else { return false };
        if one.asked == Some(target) || (one.asked.is_some() && !one.has_come) {
            return false;
        }
        let is_first = one.asked.is_none();
        if !is_first {
            one.began = now;
        }
        one.asked = Some(target);
        one.has_come = false;
        one.before = one.until.take().unwrap_or(one.before);
        let page = Page { began: one.began, missing: target.objects };
        self.pages.entry((flow, target.page)).or_insert(page);
        !is_first
    }

    /// Reads data sent to the client. `in_order` counts the bytes of all responses on this
    /// connection that have arrived without a gap.
    pub(crate) fn heard(
        &mut self,
        flow: u32,
        connection: u32,
        at: Time,
        in_order: u64,
        text: &[u8],
    ) {
        let Some(one) = self.connections.get_mut(&connection) else { return };
        let Some(target) = one.asked.filter(|_| !one.has_come) else { return };
        if one.until.is_none() {
            one.until = length_of_answer(text).map(|length| one.before + length);
        }
        if one.until.is_none_or(|until| in_order < until) {
            return;
        }
        one.has_come = true;
        self.ended.push(Ended { flow, kind: EndedKind::Object, took: at - one.began });
        let key = (flow, target.page);
        if let Some(page) = self.pages.get_mut(&key) {
            page.missing = page.missing.saturating_sub(1);
            if page.missing == 0 {
                self.ended.push(Ended { flow, kind: EndedKind::Page, took: at - page.began });
                self.pages.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    fn object(millis: u64) -> Ended {
        Ended { flow: 3, kind: EndedKind::Object, took: Duration::from_millis(millis) }
    }

    #[test]
    fn targets_have_three_numbers_behind_the_last_hyphen() {
        let read = |text: &[u8]| {
            Target::read(text).map(|target| (target.page, target.object, target.objects))
        };
        assert_eq!(read(b"GET /0-7.12.70 HTTP/1.1\r\n"), Some((7, 12, 70)));
        assert_eq!(read(b"GET /web-2-1.0.1 HTTP/1.1\r\n"), Some((1, 0, 1)));
        assert_eq!(read(b"GET /0-7 HTTP/1.1\r\n"), None);
        assert_eq!(read(b"PUT /0-7.12.70 HTTP/1.1\r\n"), None);
    }

    #[test]
    fn an_answer_is_as_long_as_its_head_and_what_that_says() {
        let head = b"HTTP/1.1 200 OK\r\nServer: nginx\r\ncontent-length: 1000\r\n\r\n";
        assert_eq!(length_of_answer(head), Some(head.len() as u64 + 1000));
        assert_eq!(
            length_of_answer(&[head, &[0; 50][..]].concat()),
            Some(head.len() as u64 + 1000)
        );
        assert_eq!(length_of_answer(&head[..40]), None);
        assert_eq!(length_of_answer(&[0; 100]), None);
    }

    /// A document, then two objects over two connections. The first connection is reused; the
    /// second begins with a handshake, which counts for its object. Headers have 39 bytes.
    #[test]
    fn a_page_lasts_from_its_first_connection_to_its_last_object() {
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 62\r\n\r\n";
        assert_eq!(length_of_answer(head), Some(101));
        let mut pages = Pages::default();

        pages.open(0, at(10));
        assert!(!pages.said(3, 0, at(12), b"GET /0-0.0.3 HTTP/1.1"));
        pages.heard(3, 0, at(20), 90, head);
        assert_eq!(pages.ended, []);
        // Retransmitted while the response is on its way.
        assert!(!pages.said(3, 0, at(21), b"GET /0-0.0.3 HTTP/1.1"));
        pages.heard(3, 0, at(22), 101, &[0; 11]);
        assert_eq!(pages.ended, [object(12)]);

        assert!(pages.said(3, 0, at(23), b"GET /0-0.1.3 HTTP/1.1"));
        pages.open(1, at(23));
        assert!(!pages.said(3, 1, at(25), b"GET /0-0.2.3 HTTP/1.1"));
        // Data from before the transfer does not count.
        pages.heard(3, 0, at(26), 101, &[0; 11]);
        pages.heard(3, 1, at(30), 101, head);
        pages.heard(3, 0, at(33), 202, head);

        let page = Ended { flow: 3, kind: EndedKind::Page, took: Duration::from_millis(23) };
        assert_eq!(pages.ended, [object(12), object(7), object(10), page]);
    }
}
