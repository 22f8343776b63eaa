from collections import Counter
from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.core.evidence import Evidence, Rate
from voile.report.wording import name_of
from voile.tables.attack.chance import StrangerChance
from voile.tables.attack.linkage import link, linkage
from voile.tables.attack.model import HitMiss
from voile.tables.attack.patterns import agreement_patterns
from voile.tables.attack.records import IntervalRecords

COLUMNS = ("age", "sex", "race", "zip")
FINE, COARSE, GENERAL = (5, 1, 1, 4), (20, 2, 5, 8), (100, 2, 5, 50)


def run(release, register, model=None, seed=0, columns=COLUMNS):
    return linkage(release, register, columns=columns, rng=np.random.default_rng(seed), model=model)


def finding(evidence, name):
    return next(f for f in evidence.findings if name_of(f, "internal") == name)


def exact(q=4):
    return HitMiss(np.zeros(q), 1.0)


def records(rows, subject=None):
    codes = np.array(rows, dtype=np.int32)
    return IntervalRecords(codes, np.arange(len(codes)) if subject is None else np.array(subject))


@pytest.mark.parametrize("widths", [(1, 1, 1, 1), FINE, COARSE])
def test_without_errors_precision_is_the_mean_of_one_over_g(county, widths):
    release = county.records(county.people, county.released, widths)
    register = county.records(county.people, np.arange(len(county.people)), widths)
    group = Counter(map(tuple, register.codes.tolist()))
    expected = np.mean([1 / group[tuple(c)] for c in release.codes.tolist()])
    claims, _ = link(release, register, exact())
    assert claims.right.mean() == pytest.approx(expected)
    assert claims.posterior.mean() == pytest.approx(expected)
    assert claims.guessed.mean() == pytest.approx(expected)
    low, high = finding(
        run(release, register, exact()), "correct claims, always claiming"
    ).rate.interval()
    assert low < expected < high


def test_most_general_release_yields_nothing_above_the_baseline(county, beliefs):
    release = county.records(county.people, county.released, GENERAL)
    register = county.records(county.register, np.arange(len(county.people)), GENERAL)
    for model in (exact(), beliefs, None):
        evidence = run(release, register, model)
        found = finding(evidence, "correct claims, always claiming")
        assert found.rate.interval()[0] <= found.baseline.interval()[1]
        assert found.rate.successes <= 3
        assert finding(evidence, "correct claims, at least 50% sure").rate.trials == 0


def test_a_column_that_the_register_lacks_leaves_the_baseline_as_it_is(county):
    release = county.records(county.people, county.released, COARSE)
    register = county.records(county.people, np.arange(len(county.people)), COARSE)
    known, lacking = (
        IntervalRecords(np.column_stack([r.codes, np.full(len(r), code, np.int32)]), r.subject)
        for r, code in ((release, 0), (register, -1))
    )
    without, _ = link(release, register, exact())
    with_it, _ = link(known, lacking, exact(5))
    assert with_it.guessed == pytest.approx(without.guessed)
    assert with_it.right == pytest.approx(without.right)


def test_a_planted_unique_person_is_found(county, beliefs):
    people = county.people.copy()
    register = county.register.copy()
    planted = int(county.released[0])
    people[planted] = (110, 1, 6, 49)
    register[planted] = (110, 1, 6, 3)  # moved since
    everybody = np.arange(len(people))
    release = county.records(people, county.released, FINE)
    claims, _ = link(release, county.records(register, everybody, FINE), beliefs)
    at = np.flatnonzero(claims.subject == planted)[0]
    assert claims.right[at] == 1
    assert claims.posterior[at] > 0.99


def test_people_whose_entry_is_wrong_are_found_where_the_baseline_fails(county, beliefs):
    everybody = np.arange(len(county.people))
    release = county.records(county.people, county.released, (1, 1, 1, 1))
    register = county.records(county.register, everybody, (1, 1, 1, 1))
    claims, _ = link(release, register, beliefs)
    wrong = np.any(county.people != county.register, axis=1)[claims.subject]
    assert claims.right[wrong].sum() > 10
    assert claims.right[wrong].sum() > 10 * claims.guessed[wrong].sum()


def test_posteriors_are_calibrated(county):
    """Of the names given with probability about p, a share of about p is right."""
    rng = np.random.default_rng(3)
    register = county.people.copy()
    for j, e in enumerate([0.05, 0.01, 0.03, 0.08]):
        wrong = rng.random(len(register)) < e
        register[wrong, j] = rng.permutation(register[:, j])[wrong]
    kept = rng.permutation(len(register))[:14_000]
    release = county.records(county.people, county.released, (1, 1, 1, 1))
    model = HitMiss(np.array([0.05, 0.01, 0.03, 0.08]), 0.7)
    claims, _ = link(release, county.records(register, kept, (1, 1, 1, 1)), model)
    edges = np.quantile(claims.posterior, [0.25, 0.5, 0.75])
    for part in range(4):
        these = np.digitize(claims.posterior, edges) == part
        assert claims.right[these].mean() == pytest.approx(claims.posterior[these].mean(), abs=0.05)


def segregated(people, rng):
    """Draw people whose race follows their area, and whose age follows their race a little."""
    area = rng.integers(0, 40, people)
    races = np.cumsum(rng.dirichlet([1, 0.5, 0.2, 0.1], 40), axis=1)
    race = (rng.random((people, 1)) < races[area]).argmax(axis=1)
    age = np.clip(rng.normal(45 - 3 * race, 20, people), 0, 99)
    return np.column_stack([age, rng.integers(0, 2, people), race, area]).astype(np.int32)


@pytest.mark.whole
@pytest.mark.parametrize("width", [1, 5])
def test_what_she_says_of_herself_is_true_of_people_whose_columns_hang_together(width):
    """60% of the released are in the register, 5% of its ages are wrong, 3% of areas missing."""
    stated, right = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        everybody = segregated(26_000, rng)
        register = everybody[2_000:].copy()
        wrong, gone = (rng.random(len(register)) < share for share in (0.05, 0.03))
        register[wrong, 0] = rng.permutation(register[:, 0])[wrong]
        register[gone, 3] = -1
        cut = np.array([width, 1, 1, 1])
        who = np.arange(len(everybody))
        release = IntervalRecords(everybody[:5_000] // cut, who[:5_000])
        held = IntervalRecords(
            np.where(register < 0, -1, register // cut).astype(np.int32), who[2_000:]
        )
        claims, model = link(release, held)
        assert 0.5 < model.share < 0.75  # 60% are; taken as independent, columns make it all
        assert model.errors[0] == pytest.approx(0.05, abs=0.02)
        assert model.share * np.prod(1 - model.errors) == pytest.approx(0.57, abs=0.1)
        stated += claims.posterior.tolist()
        right += (rng.random(len(claims.right)) < claims.right).tolist()
    assert_right_as_often_as_stated(np.array(stated), np.array(right))


def test_two_people_who_look_alike_are_not_both_sure_of_one_entry():
    """Whichever of them the entry belongs to, the other's name is wrong."""
    everybody = [[i % 40, i % 7] for i in range(1_000)]
    register = records([*everybody, [99, 9]])
    for alike in (1, 2, 3):
        release = records([[99, 9]] * alike, range(5_000, 5_000 + alike))
        claims, _ = link(release, register, HitMiss(np.array([0.05, 0.05]), 0.9))
        assert claims.posterior == pytest.approx(np.full(alike, 1 / alike), abs=0.05)
        assert claims.posterior.sum() <= 1


def test_what_she_says_is_true_of_a_release_that_suppressed_who_was_alone():
    """Then everybody released has others alike, and the register holds some of those too."""
    claimed = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        everybody, who = segregated(20_000, rng), np.arange(20_000)
        register = everybody[2_000:].copy()
        wrong = rng.random(len(register)) < 0.05
        register[wrong, 0] = rng.permutation(register[:, 0])[wrong]
        size = Counter(map(tuple, everybody[:5_000].tolist()))
        shown = [i for i in range(5_000) if size[tuple(everybody[i].tolist())] > 1]
        release, held = (
            IntervalRecords(everybody[shown], who[shown]),
            IntervalRecords(register, who[2_000:]),
        )
        overlap = float(np.mean(who[shown] >= 2_000))
        claims, _ = link(release, held, overlap=overlap)
        claimed.append((claims.posterior, rng.random(len(claims.right)) < claims.right))
    assert_right_as_often_as_stated(*map(np.concatenate, zip(*claimed, strict=True)))


def test_rivals_left_by_suppression_are_not_taken_for_people_found():
    """60% of the released are in the register; 98% seem to be where rivals are not expected."""
    rng = np.random.default_rng(1)
    everybody, who = segregated(60_000, rng), np.arange(60_000)
    size = Counter(map(tuple, everybody[:12_000].tolist()))
    shown = [i for i in range(12_000) if size[tuple(everybody[i].tolist())] > 1]
    release = IntervalRecords(everybody[shown], who[shown])
    _, model = link(release, IntervalRecords(everybody[4_800:], who[4_800:]))
    assert 0.5 < model.share < 0.85


def assert_right_as_often_as_stated(stated, right):
    tenth = np.minimum((stated * 10).astype(int), 9)
    for ten in np.unique(tenth):
        found = Rate(int(np.sum(right[tenth == ten])), int(np.sum(tenth == ten)))
        low, high = found.interval(z=3.3)  # one in a thousand, for there are many tenths
        assert low <= np.mean(stated[tenth == ten]) <= high, (ten, found)


def test_people_not_in_the_register_are_never_found(county, beliefs):
    absent = set(county.released[::3].tolist())
    kept = np.array([i for i in range(len(county.people)) if i not in absent])
    release = county.records(county.people, county.released, (1, 1, 1, 1))
    register = county.records(county.register, kept, (1, 1, 1, 1))
    model = HitMiss(beliefs.errors, 2 / 3)
    claims, _ = link(release, register, model)
    assert (~claims.present).sum() == len(absent)
    assert not claims.right[~claims.present].any()
    assert not claims.guessed[~claims.present].any()
    evidence = run(release, register, model)
    false = [f for f in evidence.findings if f.quantity.startswith("claims on people not")]
    assert [f.rate.trials for f in false] == [len(absent)] * 3
    assert false[0].rate.value == 1.0
    assert false[0].rate.successes > false[1].rate.successes >= false[2].rate.successes


def test_rows_written_twice_change_nothing(county, beliefs):
    release = county.records(county.people, county.released, FINE)
    register = county.records(county.register, np.arange(len(county.people)), FINE)
    twice = release.select(np.tile(np.arange(len(release)), 2))
    shuffled = release.select(np.random.default_rng(1).permutation(len(release)))
    once = run(release, register, beliefs)
    assert run(twice, register, beliefs) == once
    assert run(shuffled, register, beliefs) == once


def test_a_subject_is_claimed_once_by_its_surest_row():
    register = records([[0, 0], [0, 0], [1, 1]])
    release = records([[0, 0], [1, 1]], [2, 2])
    evidence = run(release, register, exact(2), columns=("a", "b"))
    found = finding(evidence, "correct claims, at least 90% sure")
    assert (found.rate.successes, found.rate.trials) == (1, 1)


def test_ties_are_broken_by_the_seed():
    pairs = records(np.arange(2000)[:, None] // 2)
    right = [
        finding(run(pairs, pairs, exact(1), s, ("a",)), "correct claims, always claiming").rate
        for s in (1, 1, 2)
    ]
    assert right[0] == right[1] != right[2]
    assert right[0].interval()[0] < 0.5 < right[0].interval()[1]


def test_missing_values_say_nothing():
    register = records([[0, -1], [1, 5], [2, 5]])
    release = records([[0, 5], [-1, -1]], [0, 9])
    claims, _ = link(release, register, exact(2))
    assert claims.right.tolist() == [1, 0]
    assert claims.posterior == pytest.approx([1.0, 1 / 3])


def test_a_record_that_fits_nobody_is_not_claimed():
    evidence = run(records([[7]], [0]), records([[1], [2]]), exact(1), columns=("a",))
    assert finding(evidence, "correct claims, always claiming").rate.trials == 0
    assert evidence.curves == ()


@pytest.mark.parametrize("model", [None, HitMiss(np.array([0.1, 0.1]), 0.5)])
def test_empty_and_single(model):
    none = IntervalRecords(np.zeros((0, 2), dtype=np.int32), np.zeros(0, dtype=np.int64))
    one = records([[3, 4]])
    for release, register, subjects in [(none, one, 0), (one, none, 0), (one, one, 1)]:
        evidence = run(release, register, model, columns=("a", "b"))
        found = finding(evidence, "people found, always claiming")
        assert (found.rate.successes, found.rate.trials) == (subjects, subjects)


def test_evidence_is_data(county, beliefs):
    release = county.records(county.people, county.released, FINE)
    register = county.records(county.register, np.arange(len(county.people)), FINE)
    evidence = run(release, register)
    assert Evidence.from_json(evidence.to_json()) == evidence
    for curve in evidence.curves:
        assert curve.x == tuple(sorted(curve.x))
        assert curve.x[-1] == 1.0
        for low, y, high in zip(curve.low, curve.y, curve.high, strict=True):
            assert 0 <= low <= y <= high <= 1


def test_columns_must_match(county, beliefs):
    release = county.records(county.people, county.released, FINE)
    with pytest.raises(RequestError, match="4 columns of codes for 1 column names"):
        run(release, release, beliefs, columns=("age",))


@settings(deadline=None)
@given(st.data())
def test_claims_agree_with_naming_somebody_by_hand(data):
    """A subject is re-identified correctly as often as its entries share the top score."""
    row = st.tuples(st.integers(-1, 2), st.integers(-1, 2))
    register = records(data.draw(st.lists(row, min_size=1, max_size=8)))
    who = data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True))
    release = records([data.draw(row) for _ in who], sorted(who))
    model = HitMiss(np.array([0.1, 0.3]), 1.0)
    claims, _ = link(release, register, model)
    chances = StrangerChance.learn(register.codes, release.codes)
    for i, mine in enumerate(release.codes):
        own = chances.of(agreement_patterns(mine[None], register.codes))[0]
        scores = []
        for entry in register.codes:
            both = [j for j in range(2) if mine[j] >= 0 and entry[j] >= 0]
            agreed = [j for j in both if mine[j] == entry[j]]
            ratio = 0.0
            for r in range(len(agreed) + 1):
                for hits in combinations(agreed, r):
                    e = [1 - model.errors[j] if j in hits else model.errors[j] for j in both]
                    ratio += prod(e) / own[sum(1 << j for j in hits)]
            scores.append(ratio)
        top = np.flatnonzero(np.array(scores) >= max(scores) * (1 - 1e-9))
        expected = np.isin(register.subject[top], release.subject[i]).mean()
        assert claims.right[i] == pytest.approx(expected)
        held = (register.codes >= 0).any(axis=0)  # a column that no entry has says nothing
        same = np.flatnonzero(np.all(((register.codes == mine) & (mine >= 0))[:, held], axis=1))
        group = same if len(same) else np.arange(len(register))
        expected = np.isin(register.subject[group], release.subject[i]).mean()
        assert claims.guessed[i] == pytest.approx(expected)
