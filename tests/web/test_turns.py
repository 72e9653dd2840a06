"""Whose run is next: browsers take turns, and runs that several ask for are the turn of all."""

import random

import pytest
from airtcp.web.turns import Turns


def test_browsers_take_turns_however_many_runs_they_have() -> None:
    # A asked for three runs before B asked for one and C for two.
    waiting = {"a1": {"A": 1}, "a2": {"A": 2}, "a3": {"A": 3}, "b1": {"B": 4}, "c1": {"C": 5}}
    waiting["c2"] = {"C": 6}
    assert Turns().order(waiting) == ["a1", "b1", "c1", "a2", "c2", "a3"]


def test_who_was_served_waits_for_who_comes_new() -> None:
    turns = Turns()
    turns.took(["A"])
    assert turns.order({"a2": {"A": 2}, "b1": {"B": 3}}) == ["b1", "a2"]
    turns.took(["B"])
    # Both are in the second round: the one that asked first goes before.
    assert turns.order({"a2": {"A": 2}, "b2": {"B": 4}}) == ["a2", "b2"]


def test_a_run_that_several_ask_for_is_the_turn_of_all_of_them() -> None:
    waiting = {"b1": {"B": 2}, "ab": {"A": 1, "B": 3}, "a2": {"A": 4}, "c1": {"C": 5}}
    # A's turn is taken with the run that B has asked for too, so that C comes before B and A.
    assert Turns().order(waiting) == ["ab", "c1", "b1", "a2"]


def test_a_browser_that_is_forgotten_comes_new_and_so_do_all_after_a_rest() -> None:
    waiting = {"a2": {"A": 2}, "b1": {"B": 3}}
    for forget in (lambda turns: turns.forget([]), Turns.rest):
        turns = Turns()
        turns.took(["A"])
        forget(turns)
        assert turns.rounds == {}
        assert turns.order(waiting) == ["a2", "b1"]


def plainly(turns: Turns, waiting: dict[str, dict[str, int]]) -> list[str]:
    """The order by its definition: of all that wait the least round, then the oldest question."""
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


@pytest.mark.parametrize("seed", range(20))
def test_who_comes_new_is_served_before_two_runs_of_one_with_many(seed: int) -> None:
    chance = random.Random(seed)
    turns = Turns()
    waiting = {f"many {number}": {"many": number} for number in range(100)}
    begun: dict[str, int] = {}
    for number in range(100, 160):
        if chance.random() < 0.4:
            waiting[f"new {number}"] = {f"new {number}": number}
            begun[f"new {number}"] = 0
        run = turns.order(waiting)[0]
        turns.took(waiting.pop(run))
        begun.pop(run, None)
        if run.startswith("many"):
            begun = {name: count + 1 for name, count in begun.items()}
        assert all(count < 2 for count in begun.values())
