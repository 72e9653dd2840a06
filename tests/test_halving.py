"""Candidates that are dropped by few samples: not the winner, most others soon."""

import random
from collections.abc import Iterator

from airtcp.plan.halving import NONE, Spread, pooled, survivors

#: The distances of remedies from what was there, as logarithms of a metric of which less is better:
#: the winner, two that are as good within the margin, some that help a little, many that do
#: nothing, and some that harm.
EFFECTS = [-0.42, -0.36, -0.34, -0.20, -0.18, -0.12, *[0.0] * 9, 0.1, 0.15, 0.4, 0.6, 0.7]
MARGIN = 0.15
LOOKS = (1, 2, 3, 5, 8)
#: The spread of two runs that are not paired, by ten replications of the scenario as it was.
UNPAIRED = Spread(2 * 0.15**2, 9)


def experiment(seed: int, effects: list[float]) -> list[dict[int, float]]:
    """Paired differences over 8 replications: noise of .14 +- a third of it, more where it harms.

    A third of the noise is that of the scenario as it was, which all have in common.
    """
    draw = random.Random(seed)
    common = [draw.gauss(0.0, 0.08) for _ in range(8)]
    found = []
    for effect in effects:
        spread = draw.uniform(0.08, 0.16) * (1.5 if effect > 0.3 else 1.0)
        found.append({run: effect + common[run] + draw.gauss(0.0, spread) for run in range(8)})
    return found


def halved(samples: list[dict[int, float]], margin: float) -> Iterator[list[int]]:
    """The candidates that are left after each look, by their number."""
    left = list(range(len(samples)))
    for n in LOOKS:
        shown = {one: {run: samples[one][run] for run in range(n)} for one in left}
        left = survivors(shown, margin, keep=3, spread=UNPAIRED)
        yield left


def test_a_remedy_that_wins_is_not_dropped() -> None:
    """1000 experiments of five looks. The winner is better than the next by .22, .07 more than the
    margin. To be dropped its difference from a luckier one has to err by more than three standard
    errors (with the spreads as uneven as here): in one experiment of a thousand or so; not in 4.
    """
    effects = [EFFECTS[0], *EFFECTS[3:]]
    lost = sum(
        any(0 not in left for left in halved(experiment(seed, effects), MARGIN))
        for seed in range(1000)
    )
    assert lost <= 3


def test_of_several_that_are_as_good_one_is_always_left() -> None:
    """Three within .08, less than the margin: any of them will do."""
    for seed in range(1000):
        for left in halved(experiment(seed, EFFECTS), MARGIN):
            assert {0, 1, 2} & set(left)


def test_a_winner_by_the_margin_alone_is_hardly_ever_dropped() -> None:
    """Four nearly as good could take the three places that are kept, so it may go by chance.

    Better by the margin itself it is dropped in a look with a chance of .01 at most: of 1000
    experiments with five looks in 50 (more than 72 once in a thousand).
    """
    effects = [-0.30 - MARGIN, -0.30, -0.30, -0.30, -0.30, -0.30, *[0.0] * 10]
    lost = sum(
        any(0 not in left for left in halved(experiment(seed, effects), MARGIN))
        for seed in range(1000)
    )
    assert lost <= 72


def test_most_that_do_not_win_go_after_two_samples() -> None:
    """Of 20 some go after one sample; 8 are left after two at most and 4 after eight, in the mean
    of 200.
    """
    counts = [
        [len(left) for left in halved(experiment(seed, EFFECTS), MARGIN)] for seed in range(200)
    ]
    after_one, after_two, *_, after_eight = (
        sum(column) / len(counts) for column in zip(*counts, strict=True)
    )
    assert after_one <= 16.0
    assert after_two <= 8.0
    assert 3.0 <= after_eight <= 4.0


def test_where_nothing_helps_none_is_left() -> None:
    """20 remedies without an effect: eight samples say of nearly all that they gain no margin."""
    counts = [
        len(list(halved(experiment(seed, [0.0] * 20), 2 * MARGIN))[-1]) for seed in range(200)
    ]
    assert sum(counts) / len(counts) <= 0.2


def test_a_candidate_without_samples_stays() -> None:
    assert survivors({"a": {0: 1.0, 1: 1.1}, "b": {}}, 0.1, keep=0) == ["b"]
    assert survivors({"a": {}, "b": {}}, 0.1, keep=0) == ["a", "b"]


def test_the_usual_spread_is_not_that_of_one_that_is_unlike_all() -> None:
    """2000 pairs of variance 4, a tenth of which have that of 400: about 4, and no 44."""
    draw = random.Random(3)
    samples = [
        [draw.gauss(0.0, 20.0 if number % 10 == 0 else 2.0) for _ in range(2)]
        for number in range(2000)
    ]
    assert 4.0 <= pooled(samples).variance <= 6.0
    assert pooled([[1.0], []]) == NONE
