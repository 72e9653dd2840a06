//! Parses a script in packetdrill's grammar into timed events.

use std::collections::BTreeMap;

use airtcp_kernel::Duration;
use airtcp_tcp::{Block, Timestamps};

/// A parsed script.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// The tolerance of times.
    pub tolerance: Option<Duration>,
    /// Sysctls set in shell lines, for example `tcp_congestion_control`.
    pub sysctls: BTreeMap<String, String>,
    /// Whether a shell line sets up the queueing discipline `fq`, which paces.
    pub is_paced: bool,
    /// The events, in order.
    pub events: Vec<Event>,
}

/// A timed step of a script: something to do to the endpoint, or something to expect of it.
#[derive(Clone, Debug)]
pub struct Event {
    /// The line where it begins, from 1.
    pub line: usize,
    /// When it happens, or may happen.
    pub time: Timing,
    /// The step.
    pub step: Step,
}

/// A time, or a range of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Whether it is relative to the previous event.
    pub is_relative: bool,
    /// The earliest time.
    pub from: Duration,
    /// The latest time.
    pub to: Duration,
    /// Whether the script gives a range.
    pub is_range: bool,
}

/// A step of a script.
#[derive(Clone, Debug)]
pub enum Step {
    /// A segment arrives from the peer.
    Inbound(Packet),
    /// The endpoint must send a segment.
    Outbound(Packet),
    /// A system call: name, arguments and result.
    Call(String, Vec<String>, String),
    /// The code between `%{` and `}%`.
    Code(String),
}

/// A segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// The flags `S`, `F`, `R`, `P`, `E`, `W` and `.`, as written.
    pub flags: String,
    /// The first sequence number.
    pub start: u64,
    /// The sequence number after the payload.
    pub end: u64,
    /// The acknowledgment number.
    pub ack: Option<u64>,
    /// The window field, not scaled.
    pub window: Option<u64>,
    /// The TCP options.
    pub options: Options,
    /// Words in brackets before the flags, for example for ECN.
    pub marks: Vec<String>,
}

/// The TCP options of a segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The MSS, in a SYN.
    pub mss: Option<u32>,
    /// The window scale, in a SYN.
    pub wscale: Option<u32>,
    /// Whether a SYN permits SACK.
    pub sack_permitted: bool,
    /// A timestamps option.
    pub timestamps: Option<Timestamps>,
    /// SACK blocks.
    pub sack: Vec<Block>,
}

type Result<T> = std::result::Result<T, (usize, String)>;

/// Parses a script.
///
/// # Errors
/// The line number and what cannot be parsed there.
pub fn parse(text: &str) -> Result<Script> {
    let mut script = Script::default();
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    while let Some((number, line)) = lines.next() {
        let mut code = without_comment(line).trim().to_owned();
        // A block may span several lines.
        for (open, close) in [("%{", "}%"), ("`", "`")] {
            if let Some(at) = code.find(open) {
                while !code[at + open.len()..].contains(close) {
                    let (_, more) =
                        lines.next().ok_or((number, format!("{open} without its {close}")))?;
                    code.push('\n');
                    code += more;
                }
            }
        }
        if code.is_empty() {
            continue;
        }
        if let Some(option) = code.strip_prefix("--") {
            if let Some(micros) = option.strip_prefix("tolerance_usecs=") {
                let micros = micros.trim().parse().map_err(|_| (number, option.to_owned()))?;
                script.tolerance = Some(Duration::from_micros(micros));
            }
            continue;
        }
        if let Some(shell) = code.strip_prefix('`') {
            read_shell(shell.trim_end_matches('`'), &mut script).map_err(|why| (number, why))?;
            continue;
        }
        let event = read_event(&code).map_err(|why| (number, why))?;
        script.events.push(Event { line: number, time: event.0, step: event.1 });
    }
    Ok(script)
}

/// Returns the text before `//`. In a shell line `//` may be part of a path, so the line is kept.
fn without_comment(line: &str) -> &str {
    if line.contains('`') { line } else { line.split("//").next().unwrap_or_default() }
}

/// Reads the sysctls set in shell lines.
fn read_shell(text: &str, script: &mut Script) -> std::result::Result<(), String> {
    for line in text.replace("\\\n", " ").lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let mut words = line.split_whitespace();
        let Some(command) = words.next() else { continue };
        let is_setting = command == "sysctl" || command.ends_with("set_sysctls.py");
        if is_setting {
            for word in words.filter(|word| !word.starts_with('-')) {
                let (name, value) = word.split_once('=').ok_or(format!("shell: {line}"))?;
                let name = name.rsplit(['.', '/']).next().unwrap_or_default();
                script.sysctls.insert(name.to_owned(), value.trim_matches('"').to_owned());
            }
        } else if command == "tc" && line.ends_with("root fq") {
            script.is_paced = true;
        } else if line == "echo 3 > /sys/module/tcp_cubic/parameters/hystart_detect" {
            // `hystart_detect`: both detectors are on, which is our only mode.
        } else if !command.ends_with("defaults.sh") && !command.contains("sysctl_restore") {
            return Err(format!("needs a shell: {line}"));
        }
    }
    Ok(())
}

fn read_event(code: &str) -> std::result::Result<(Timing, Step), String> {
    let (time, rest) = code.split_once(char::is_whitespace).ok_or(format!("no event: {code}"))?;
    let time = read_time(time).ok_or(format!("no time: {time}"))?;
    let rest = rest.trim();
    let step = if let Some(packet) = rest.strip_prefix('<') {
        Step::Inbound(read_packet(packet)?)
    } else if let Some(packet) = rest.strip_prefix('>') {
        Step::Outbound(read_packet(packet)?)
    } else if let Some(code) = rest.strip_prefix("%{") {
        Step::Code(code.trim_end().trim_end_matches("}%").to_owned())
    } else if rest.starts_with('`') {
        return Err(format!("needs a shell: {}", rest.trim_matches('`')));
    } else {
        read_call(rest)?
    };
    Ok((time, step))
}

/// Parses `1.5`, `+.1`, `+.3~+.31`, or `+0...0.010` (a call that blocks).
fn read_time(text: &str) -> Option<Timing> {
    let text = text.split("...").next()?;
    let (first, last) = text.split_once('~').unwrap_or((text, text));
    let seconds = |text: &str| {
        let seconds: f64 = text.trim_start_matches('+').parse().ok()?;
        Some(Duration::from_nanos((seconds * 1e9).round() as u64))
    };
    let (from, to) = (seconds(first)?, seconds(last)?);
    Some(Timing { is_relative: text.starts_with('+'), from, to, is_range: text.contains('~') })
}

fn read_packet(text: &str) -> std::result::Result<Packet, String> {
    let bad = || format!("no segment: {text}");
    let mut packet = Packet::default();
    let (head, options) = text.split_once('<').unwrap_or((text, ""));
    let mut words = head.split_whitespace().peekable();
    while let Some(mark) = words.next_if(|word| word.starts_with('[')) {
        packet.marks.push(mark.to_owned());
    }
    packet.flags = words.next().ok_or_else(bad)?.to_owned();
    let numbers = words.next().ok_or_else(bad)?;
    let (start, rest) = numbers.split_once(':').ok_or_else(bad)?;
    let (end, _) = rest.split_once('(').ok_or_else(bad)?;
    packet.start = start.parse().map_err(|_| bad())?;
    packet.end = end.parse().map_err(|_| bad())?;
    while let Some(word) = words.next() {
        let value = words.next().and_then(|value| value.parse().ok());
        match word {
            "ack" => packet.ack = value,
            "win" => packet.window = value,
            _ => return Err(bad()),
        }
    }
    for option in options.trim_end_matches('>').split(',').map(str::trim) {
        let mut words = option.split_whitespace();
        let name = words.next();
        let mut number = || words.next().and_then(|value| value.parse().ok());
        match name {
            Some("mss") => packet.options.mss = number(),
            Some("wscale") => packet.options.wscale = number(),
            Some("sackOK") => packet.options.sack_permitted = true,
            Some("TS") => {
                let mut after = |word| (words.next() == Some(word)).then(|| words.next()).flatten();
                let (value, echo) = (after("val"), after("ecr"));
                let number = |text: Option<&str>| text.and_then(|text| text.parse().ok());
                let (value, echo) = number(value).zip(number(echo)).ok_or_else(bad)?;
                packet.options.timestamps = Some(Timestamps { value, echo });
            }
            Some("sack") => {
                for block in words {
                    let (start, end) = block.split_once(':').ok_or_else(bad)?;
                    let edge = |text: &str| text.parse().map_err(|_| bad());
                    packet.options.sack.push(Block { start: edge(start)?, end: edge(end)? });
                }
            }
            Some("nop" | "eol" | "...") | None => {}
            Some(other) => return Err(format!("the option {other}")),
        }
    }
    Ok(packet)
}

/// Parses `name(arguments) = result`.
fn read_call(text: &str) -> std::result::Result<Step, String> {
    let bad = || format!("no system call: {text}");
    let (name, rest) = text.split_once('(').ok_or_else(bad)?;
    let (arguments, result) = rest.rsplit_once('=').ok_or_else(bad)?;
    let arguments = arguments.trim().trim_end_matches(')').split(',');
    let arguments = arguments.map(|argument| argument.trim().to_owned()).collect();
    Ok(Step::Call(name.trim().to_owned(), arguments, result.trim().to_owned()))
}
