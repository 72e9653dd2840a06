"""Whose run is next: browsers take turns, and a shared run counts as a turn of all its browsers."""

import random

import pytest
from airtcp.web.turns import Turns


def test_who_was_served_waits_for_who_comes_new() -> None:
    turns = Turns()
    turns.took(["A"])
    assert turns.order({"a2": {"A": 2}, "b1": {"B": 3}}) == ["b1", "a2"]
    turns.took(["B"])
    # Both are in the second round: the one that asked first comes first.
    assert turns.order({"a2": {"A": 2}, "b2": {"B": 4}}) == ["a2", "b2"]


def test_a_browser_that_is_forgotten_comes_new_and_so_do_all_after_a_rest() -> None:
    waiting = {"a2": {"A": 2}, "b1": {"B": 3}}
    for forget in (lambda turns: turns.forget([]), Turns.rest):
        turns = Turns()
        turns.took(["A"])
        forget(turns)
        assert turns.rounds == {}
        assert turns.order(waiting) == ["a2", "b1"]


def plainly(turns: Turns, waiting: dict[str, dict[str, int]]) -> list[str]:
    """The order by its definition: the run with the lowest round, then the oldest request."""
    rounds = {
        browser: max(turns.now, turns.rounds.get(browser, 0))
        for askers in waiting.values()
        for browser in askers
    }
    left, found = dict(waiting), []
    while left:
        _, _, run = min(
            (rounds[browser], number, run)
            for run, askers in left.items()
            for browser, number in askers.items()
        )
        found.append(run)
        for browser in left.pop(run):
            rounds[browser] += 1
    return found


@pytest.mark.parametrize("seed", range(20))
def test_the_order_is_that_of_its_definition(seed: int) -> None:
    chance = random.Random(seed)
    turns = Turns()
    waiting: dict[str, dict[str, int]] = {}
    number = 0
    for _ in range(200):
        for _ in range(chance.choice([0, 1, 1, 2])):
            number += 1
            shared = bool(waiting) and chance.random() < 0.3
            run = chance.choice(sorted(waiting)) if shared else f"run {number}"
            waiting.setdefault(run, {}).setdefault(chance.choice("ABCDEF"), number)
        order = turns.order(waiting)
        assert order == plainly(turns, waiting)
        if order:
            turns.took(waiting.pop(order[0]))
