"""Claims: well formed, and judged only by their values."""

from dataclasses import replace
from pathlib import Path

import pytest
from airtcp.stats import Interval, student_interval
from airtcp_papers import miorandi
from airtcp_papers.common import catalogue
from airtcp_papers.common.bench import Bench, Settings
from airtcp_papers.common.claims import (
    Beside,
    By,
    Claim,
    Reading,
    Relation,
    Verdict,
    is_firm,
    judge,
    load_claims,
    load_rules,
    sentences,
    tally,
)
from airtcp_papers.common.item import Data, Item, Outcome, Value
from airtcp_papers.common.make import make
from airtcp_papers.common.measure import changed, error_of, gap, least, magnitude, most, off

NOBODY = Interval(None, None, None, 0)
ALONE = Interval(10.0, None, None, 1)


def claim(
    relation: Relation = "=", bound: float = 10.0, tolerance: float = 1.0, by: By = "simulation"
) -> Claim:
    return Claim(
        id="M.test",
        quantity="a number",
        where="section 1",
        says="it is so",
        relation=relation,
        bound=bound,
        reason="a test",
        item="M.fig1",
        value="plain",
        by=by,
        made_with="M.ns-2",
        tolerance=tolerance,
        readings=(Reading("another reading", "other"),),
        why="Because.",
    )


def around(mean: float, half: float) -> Interval:
    return Interval(mean, mean - half, mean + half, 5)


@pytest.mark.parametrize(
    ("relation", "value", "verdict"),
    [
        ("=", around(10.5, 0.5), "met"),
        ("=", around(10.5, 0.6), "at the bound"),  # reaches beyond the tolerance
        ("=", around(11.5, 0.6), "at the bound"),  # reaches into the tolerance
        ("=", around(12.5, 1.0), "not met"),
        ("=", around(7.5, 1.0), "not met"),
        ("=", around(10.0, 2.1), "at the bound"),  # too wide to decide
        (">", around(11.0, 0.9), "met"),
        (">", around(11.0, 1.1), "at the bound"),
        (">", around(9.0, 0.9), "not met"),
        ("<", around(9.0, 0.9), "met"),
        ("<", around(9.0, 1.1), "at the bound"),
        ("<", around(11.0, 0.9), "not met"),
        ("=", NOBODY, "at the bound"),
        (">", NOBODY, "at the bound"),
        ("=", ALONE, "at the bound"),  # one replication gives no spread
    ],
)
def test_all_of_an_interval_lies_on_one_side(
    relation: Relation, value: Value, verdict: str
) -> None:
    other = around(1e9, 1.0) if relation != ">" else around(-1e9, 1.0)
    judged = judge(claim(relation), {"plain": value, "other": other})

    assert judged.verdict == verdict
    assert judged.ours == value


@pytest.mark.parametrize(
    ("relation", "value", "met"),
    [("=", 10.9, True), ("=", 11.1, False), (">", 10.1, True), (">", 10.0, False), ("<", 9, True)],
)
def test_what_is_computed_is_met_or_not(relation: Relation, value: float, met: bool) -> None:
    other = 1e9 if relation != ">" else -1e9
    judged = judge(claim(relation, by="model"), {"plain": float(value), "other": other})

    assert judged.verdict == ("met" if met else "not met")
    assert (judged.why == "") == met


def test_another_reading_is_named() -> None:
    judged = judge(claim(), {"plain": around(20.0, 0.1), "other": around(10.0, 0.1)})

    assert judged.verdict == "met in a reading"
    assert judged.reading == "another reading"
    assert judged.ours == around(10.0, 0.1)
    assert "20" in judged.why


def test_an_item_that_was_not_made_is_not_one_that_fails() -> None:
    judged = judge(claim(), None)

    assert judged.verdict == "not made"
    assert judged.why == "airtcp reproduce M.fig1"
    assert (
        tally([judged]) == "1 statement (1 claim): 0 met, 0 met in a reading, 0 not met, 1 not made"
    )


@pytest.mark.parametrize(("by", "value"), [("simulation", 10.0), ("model", around(10.0, 0.1))])
def test_what_is_simulated_has_an_interval_and_nothing_else_has(by: By, value: Value) -> None:
    with pytest.raises(ValueError, match=r"M\.test: plain"):
        judge(claim(by=by), {"plain": value, "other": value})


def test_extremes_cover_what_each_interval_covers() -> None:
    some = [around(1.0, 0.3), around(0.9, 0.5), around(-2.0, 0.1)]

    assert most(some) == Interval(1.0, 0.7, 1.4, 5)
    assert least(some) == Interval(-2.0, -2.1, -1.9, 5)
    assert most([around(1.0, 0.3), ALONE]) == Interval(10.0, None, None, 1)


def test_distances_have_no_sign() -> None:
    assert magnitude(around(-2.0, 0.5)) == Interval(2.0, 1.5, 2.5, 5)
    assert magnitude(around(-0.5, 1.0)) == Interval(0.5, 0.0, 1.5, 5)
    # 1.5 to 2.5 are a quarter below and above 2.
    assert off(around(2.0, 0.5), 2.0) == Interval(0.0, 0.0, 0.25, 5)
    # 3/4 - 1 = -1/4; the ends are 3/6 - 1 = -1/2 and 3/2 - 1 = 1/2, with 0 between them.
    assert gap(3.0, around(4.0, 2.0)) == Interval(0.25, 0.0, 0.5, 5)
    assert changed(around(1.0, 0.5), lambda x: -x) == Interval(-1.0, -1.5, -0.5, 5)
    assert magnitude(NOBODY) == NOBODY


def test_claims_are_about_items() -> None:
    known = catalogue.items()
    for one in load_claims():
        assert one.item in known, one.id
        assert one.paper in catalogue.PAPERS, one.id
        assert one.paper == known[one.item].paper, one.id


def test_no_reading_changes_a_parameter() -> None:
    """Values of readings come from the same simulations: none is named after a varied key."""
    values = {reading.value for one in load_claims() for reading in one.readings}

    assert not [value for value in values if "rto" in value or "equations" in value]
    assert len(load_claims()) >= 160


def test_every_set_of_rules_makes_a_claim_or_stands_beside_one() -> None:
    claims, rules = load_claims(), load_rules()
    used = {claim.made_with for claim in claims}
    used |= {reading.made_with for claim in claims for reading in claim.beside}

    assert used == set(rules)
    assert {one.paper for one in rules.values()} == set(catalogue.PAPERS)
    assert all(one.uses and one.why for one in rules.values())


def test_other_rules_stand_beside_and_decide_nothing() -> None:
    plain = replace(claim(), beside=(Beside("M.equations", "ideal", "no RTS"),), readings=())
    judged = judge(plain, {"plain": around(20.0, 0.1), "ideal": around(10.0, 0.1)})

    assert judged.verdict == "not met"
    assert judged.cause == "met with M.equations (no RTS)"
    assert "With M.equations (no RTS): 10.000 ± 0.100" in judged.about
    assert [one.holds for one in judged.others] == [True]


def test_other_rules_show_a_cause_only_where_they_are_firm() -> None:
    """Like M.beyond-three: other rules meet it by a hair, but with the next seed they do not."""
    hair = replace(claim(), beside=(Beside("M.equations", "ideal", ""),), readings=())
    judged = judge(hair, {"plain": around(20.0, 0.1), "ideal": around(10.5, 0.499)})

    assert [one.holds for one in judged.others] == [None]
    assert "Unexplained" in judged.about


@pytest.mark.parametrize(
    ("ours", "firm"),
    [
        (around(10.4, 0.2), True),  # 10.4 ± 0.4 lies within 10 ± 1
        (around(10.4, 0.5), False),  # is met, but 10.4 ± 1 would not be
        (around(10.4, 0.7), False),
        (around(12.0, 0.4), True),
        (around(12.0, 0.6), False),  # is not met, but 12 ± 1.2 would be at the bound
    ],
)
def test_a_verdict_is_firm_if_twice_the_interval_has_it_too(ours: Interval, firm: bool) -> None:
    values = {"plain": ours, "other": around(30.0, 0.1)}

    assert is_firm(replace(claim(), readings=()), values) is firm


def test_events_of_an_item_count_transmissions(tmp_path: Path) -> None:
    """Nearly all work of a cell is transmissions; only its timers and links are few."""
    folder = Path(miorandi.__file__).parent
    bench = Bench(folder, tmp_path, Settings(quick=True))
    counts = [run.answer["counts"] for run in bench.simulate("saturated").runs]

    assert bench.events >= sum(one["mac_attempts"] for one in counts) > 10_000


def test_a_cause_that_nobody_has_shown_is_called_unexplained() -> None:
    values = {"plain": around(20.0, 0.1), "other": around(30.0, 0.1)}

    assert "Unexplained" in judge(claim(), values).about
    assert "Unexplained" not in judge(replace(claim(), shown_by="M.fig2"), values).about


@pytest.mark.parametrize(
    ("error", "ours", "verdict"),
    [
        (0.49, 10.5, "met"),  # twice 0.49 is less than half of 2
        (0.51, 10.5, "untestable"),
        (0.51, 15.0, "untestable"),
        (0.49, 15.0, "not met"),
    ],
)
def test_what_the_paper_could_not_tell_is_untestable(
    error: float, ours: float, verdict: Verdict
) -> None:
    stated = replace(claim(), readings=(), error="error", effect=2.0)
    judged = judge(stated, {"plain": around(ours, 0.1), "error": error})

    assert judged.verdict == verdict
    if verdict == "untestable":
        assert f"Ours, which are longer, say: {'met' if ours < 11 else 'not met'}" in judged.why


@pytest.mark.parametrize(("ours", "holds"), [(10.5, "met"), (15.0, "not met")])
def test_an_assumption_of_the_paper_is_untestable_and_says_how_far_it_holds(
    ours: float, holds: str
) -> None:
    stated = replace(claim(), readings=(), assumption="independence")
    judged = judge(stated, {"plain": around(ours, 0.1)})

    assert judged.verdict == "untestable"
    assert "assumes independence" in judged.why
    assert f"holds: {holds}" in judged.why


def test_late_bounds_are_counted_apart() -> None:
    late = replace(claim(), readings=(), after_look=True)
    judged = [judge(late, {"plain": around(10.0, 0.1)})]

    assert judged[0].verdict == "met"
    assert judged[0].to_dict()["after_look"]
    assert tally(judged).endswith("1 claim has a bound chosen after a look at our number")
    assert "after a look" not in tally([replace(judged[0], claim=replace(late, after_look=False))])


def test_two_standard_errors_are_the_tolerance_where_none_is_stated() -> None:
    open_ended = replace(claim(), readings=(), tolerance=0.0, error="error")

    assert judge(open_ended, {"plain": around(10.5, 0.1), "error": 0.31}).verdict == "met"
    assert judge(open_ended, {"plain": around(10.5, 0.1), "error": 0.19}).verdict == "not met"


def test_the_error_of_a_mean_goes_with_the_root_of_its_runs() -> None:
    # 1, 2, 3, 4, 5: standard deviation 1.5811, interval 3 ± 1.9632, standard error 0.7071.
    five = student_interval([1.0, 2.0, 3.0, 4.0, 5.0])

    assert error_of(five, 5) == pytest.approx(0.70711, abs=1e-5)
    assert error_of(five, 20) == pytest.approx(0.35355, abs=1e-5)


def test_a_sentence_with_several_claims_counts_once_with_the_worst_of_them() -> None:
    good, bad = {"plain": around(10.0, 0.1)}, {"plain": around(20.0, 0.1)}
    one = replace(claim(), readings=())
    elsewhere = replace(one, where="section 2")
    judged = [judge(one, good), judge(one, bad), judge(elsewhere, good)]

    assert sentences(judged) == ["not met", "met"]
    assert tally(judged) == "2 statements (3 claims): 1 met, 0 met in a reading, 1 not met"


def test_a_record_that_lacks_a_value_is_to_be_made_again() -> None:
    assert judge(claim(), {"plain": around(10.0, 0.1)}).verdict == "not made"


RULES = '[rules."M.set"]\nuses="u"\nwhy="w"\n'
ENTRY = RULES + (
    '[[claims]]\nid="M.x"\nquantity="q"\nwhere="w"\nsays="s"\nreason="r"\nby="model"\n'
    'made_with="M.set"\nitem="M.fig1"\nvalue="v"\nbound=1.0\n'
)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (ENTRY + 'relation="="\n', "tolerance"),
        (ENTRY + 'relation="<"\ntolerance=0.1\n', "tolerance"),
        (ENTRY + 'relation="~"\n', "relation"),
        (ENTRY.replace('"model"', '"magic"') + 'relation="<"\n', "by"),
        (ENTRY.replace('reason="r"', 'reason=" "') + 'relation="<"\n', "reason is empty"),
        (ENTRY.replace('reason="r"\n', "") + 'relation="<"\n', "reason"),
        (ENTRY.replace('says="s"\n', "") + 'relation="<"\n', "says"),
        (RULES + 2 * (ENTRY.removeprefix(RULES) + 'relation="<"\n'), "two claims"),
        (ENTRY.replace('="M.set"', '="M.other"') + 'relation="<"\n', "made_with is none of M.set"),
        (ENTRY.replace('why="w"', 'why="w"\nfitted=true') + 'relation="<"\n', "fitted"),
        (ENTRY + 'relation="<"\neffect=1.0\n', "there is none"),
    ],
)
def test_a_claim_has_its_sentence_and_the_reason_of_its_bound(
    tmp_path: Path, text: str, wrong: str
) -> None:
    file = tmp_path / "claims.toml"
    file.write_text(text)

    with pytest.raises(ValueError, match=wrong):
        load_claims(file)


@pytest.mark.parametrize(
    ("width", "quick", "events", "tried"),
    [
        (0.3, False, 1, [1]),  # 10.8 ± 0.3 is above 10, and so is ± 0.6
        (0.5, False, 1, [1, 2]),  # ± 0.5 is, but ± 1 is not
        (2.0, False, 1, [1, 2, 4, 8]),  # ± 2, ± 1, ± 0.5, ± 0.25
        (99.0, False, 10**9, [1, 2, 4, 8, 16]),
        # A quick run continues once, if that is cheap.
        (0.3, True, 1, [1]),
        (0.5, True, 1, [1, 4]),
        (2.0, True, 1, [1, 4]),
        (99.0, True, 1, [1, 4]),
        (2.0, True, 10**9, [1]),
    ],
)
def test_a_claim_at_its_bound_is_made_with_more_replications(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    width: float,
    quick: bool,
    events: int,
    tried: list[int],
) -> None:
    made_with: list[int] = []

    def outcome(bench: Bench) -> Outcome:
        times = bench.settings.times
        made_with.append(times)
        bench.events = times * events
        return Outcome(Data(["x"], [[1]]), "", {"plain": around(10.8, width / times)})

    mine = replace(claim(relation=">"), item="M.test", readings=())
    monkeypatch.setattr("airtcp_papers.common.make.load_claims", lambda: [mine])
    item = Item("M.test", "A test", "", "", outcome)
    settings = Settings(quick=quick)

    assert [one.how for one in make([item], settings, tmp_path)] == ["made"]
    assert made_with == tried
    # An item made with more replications is kept.
    assert [one.how for one in make([item], settings, tmp_path)] == ["kept"]
    assert made_with == tried
