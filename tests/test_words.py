"""The rule for the first words of comments: for each part an example, and one against it."""

import runpy
from pathlib import Path

import pytest

WORDS = runpy.run_path(str(Path(__file__).parents[1] / "validation" / "words" / "words.py"))

VERB = "of a function does not begin with a verb in the third person"


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("/// Returns the backoff.\nfn backoff() {}", []),
        ("/// The backoff.\nfn backoff() {}", [(1, VERB)]),
        ("/// Slots of a backoff.\npub(crate) const fn backoff() {}", []),
        ("/// Segments in flight.\npub(crate) const fn flight() {}", [(1, VERB)]),
        ("/// NextSeg(), RFC 6675 section 4.\nfn next_seg() {}", []),
        ('/// The first.\n#[expect(\n    lint,\n    reason = "so"\n)]\nfn f() {}', [(1, VERB)]),
        ("/// A lone frame fails.\n#[test]\nfn fails() {}", []),
        ("/// The backoff, in slots.\nbackoff: u32,", []),
        ("/// Whether it counts.\ncounts: bool,", [(1, "begins with Whether")]),
        ("/// Whether it counts.\nfn counts() {}", [(1, "begins with Whether")]),
        ("/// A flag.\n/// Whether it counts is said later.\ncounts: bool,", []),
        ("//! What the medium does.", [(1, "begins with What")]),
        ("/// The same for uploads.\nstruct Up;", [(1, "begins with The same")]),
        ("/// Does as [`down`], but upwards.\nfn up() {}", []),
        ("let a = 1; // where he waits", [(1, "calls something he")]),
        ("let a = 1; // where `he` and HE stand", []),
    ],
)
def test_rust(text: str, faults: list[tuple[int, str]]) -> None:
    assert list(WORDS["rust"](text)) == faults


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ('"""Knows the rules."""', []),
        ('"""What is known of the rules."""', [(1, "begins with What")]),
        ('def f():\n    """The same for uploads."""', [(2, "begins with The same")]),
        ('def f():\n    """Wait until he has answered."""', [(2, "calls something he")]),
        ('def f():\n    """Wait for the answer of "he" and HE."""', []),
        ("a = 1  # his own", [(1, "calls something he")]),
        ('a = "his own"', []),
        ('class A:\n    """A window."""\n    text = "What he says"', []),
    ],
)
def test_python(text: str, faults: list[tuple[int, str]]) -> None:
    assert list(WORDS["python"](text)) == faults


def test_counts_go_down_and_are_counted_down() -> None:
    compare = WORDS["compare"]
    assert compare({"a.rs": 3}, {"a.rs": 3}, store=False) == []
    (more,) = compare({"a.rs": 3}, {"a.rs": 4}, store=False)
    assert more.startswith("a.rs: 4 comments are against the rule, 3 were")
    assert more.endswith("words.py a.rs names them")
    (new,) = compare({}, {"b.py": 1}, store=False)
    assert new.startswith("b.py: 1 comments are against the rule, 0 were")
    (fewer,) = compare({"a.rs": 3}, {}, store=False)
    assert fewer.startswith("a.rs: 0 comments are against the rule, 3 were")
    assert fewer.endswith("--store counts them down")


def test_only_fewer_are_stored_but_they_may_move() -> None:
    compare = WORDS["compare"]
    assert compare({"a.rs": 3}, {"a.rs": 2}, store=True) == []
    assert compare({"a.rs": 3}, {"a.rs": 1, "b.rs": 2}, store=True) == []
    (more,) = compare({"a.rs": 3}, {"a.rs": 2, "b.rs": 2}, store=True)
    assert more.startswith("1 sentences more than before")
