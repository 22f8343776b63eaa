"""GreedySanitize by hand: who is added, what it changes, when it stops."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.fitting.loop.loops import ANA, LEO, MAY, TEXTS, loop_of
from tests.documents.made import Counted, Remembers, Says, corpus_of, notes, training_of

from voile.core.errors import InfeasibleError, RequestError
from voile.documents.fitting.loop.greedy import check_left, count_attempt
from voile.documents.fitting.loop.training import TrainingText
from voile.documents.learners.learner import LabelledExamples


def t_of(training, removed, costs):
    """Return T = sum L FN + FP, by each token."""
    return sum(
        (costs[truth - 1] if truth and not gone else 0) + (1 if gone and not truth else 0)
        for truth, gone in zip(training.truth.tolist(), (removed > 0).tolist(), strict=True)
    )


def told(loop):
    return [
        (one.taken.learner, one.taken.tp, one.taken.fp, one.taken.fn, one.taken.change, one.loss)
        for one in loop.passes
        if one.taken
    ]


def test_who_lowers_t_most_comes_first_and_who_does_not_pay_is_left_out():
    both = Says((("Ana", 1), ("Leo", 1)), "says both")
    loop = loop_of(training_of(*TEXTS), [MAY, ANA, both], cost=2)
    # May: 8 identifiers at 2, 16 harmless: nothing gained, so T stays and the loop ends
    assert told(loop) == [("says both", 16, 0, 8, -32.0, 16.0)]
    assert [one.number for one in loop.passes] == [1, 2]
    assert (loop.passes[1].taken, loop.passes[1].loss, loop.stopped) == (None, 16.0, "finished")
    assert [tried.change for tried in loop.passes[1].tried] == [0.0, 0.0, 0.0]
    assert [member.learner for member in loop.committee.members] == ["says both"]


def test_passes_follow_each_other_while_they_pay():
    training = training_of(*TEXTS)
    loop = loop_of(training, [ANA, MAY, LEO], cost=3)
    assert told(loop) == [
        ("says Ana", 8, 0, 16, -24.0, 48.0),
        ("says Leo", 8, 0, 8, -24.0, 24.0),
        ("says May", 8, 16, 0, -8.0, 16.0),
    ]
    words = training.examples(training.truth * 0, np.ones(1)).words
    expected = [{"Ana": 1, "Leo": 2, "May": 3}.get(word, 0) for word in words]
    assert loop.turn.tolist() == expected
    assert ((loop.removed > 0) == (loop.turn > 0)).all()
    assert loop.passes[3].tried[0].tn == 88 - 5 * 8  # marks are counted no more
    assert (loop.learnt.fn, loop.learnt.tp) == (0, 0)


def test_types_have_costs_of_their_own():
    training = training_of(*["Ask Ana/NAME aged 30/AGE 30 30 ."] * 8)
    says = [Says((("30", 1),), "ages"), Says((("Ana", 2),), "names")]
    assert training.labels == ("AGE", "NAME")
    cheap = loop_of(training, says, cost={"AGE": 1, "NAME": 20})
    assert told(cheap) == [("names", 8, 0, 8, -160.0, 8.0)]
    dear = loop_of(training, says, cost={"AGE": 50, "": 20})
    assert [one[0] for one in told(dear)] == ["ages", "names"]
    assert dear.passes[0].taken.by_type == (8, 0)
    assert dear.committee.costs.tolist() == [50, 20]


def test_as_which_type_it_is_removed_does_not_matter():
    training = training_of(*["Ask Ana/NAME aged 30/AGE ."] * 8)
    loop = loop_of(training, [Says((("Ana", 1),))], cost={"AGE": 1, "NAME": 7})
    assert told(loop) == [("says", 8, 0, 8, -56.0, 8.0)]
    assert loop.passes[0].taken.by_type == (0, 8)
    assert set(loop.removed.tolist()) == {0, 1}


def test_the_attacker_is_the_last_check():
    # All identifiers are one subject's: by the others' probabilities her fold keeps them, and by
    # hers the others lose what is harmless; by its own rule the classifier pays.
    texts = ["Max/NAME " * 6 + "is in ."] + ["Max is in ."] * 7
    training = training_of(*texts)
    says = Says((("Max", 1),))
    loop = loop_of(training, [says], cost=5, decision="cost", folds=8)
    first = loop.passes[0]
    assert first.tried[0].change >= 0
    assert (first.attacker.tp, first.attacker.fp) == (6, 7)
    assert first.taken == first.attacker
    (member,) = loop.committee.members
    assert (member.decision, member.calibration) == ("accuracy", None)
    assert loop.passes[1].taken is None


def test_the_attacker_is_the_most_accurate():
    training = training_of(*TEXTS)
    loop = loop_of(training, [MAY, LEO], cost=20, max_passes=1)
    # Leo is right where she speaks, May as often wrong twice
    assert loop.passes[0].attacker.learner == "says Leo"
    assert loop.passes[0].attacker.accuracy == (88 - 16) / 88
    assert loop.stopped == "max passes"
    assert loop.learnt is None


def test_the_attacker_inspects_by_margin():
    texts = ["Ana/NAME b c d e f g h i Leo ."] * 10
    loop = loop_of(training_of(*texts), [Says((("Leo", 1), ("Ana", 1)))], cost=0.5)
    # 10 identifiers left, and 1% of 110 tokens: 1; ties go in the order of the text
    few, many = loop.passes[0].found
    assert (few.successes, few.trials, many.successes, many.trials) == (5, 10, 1, 1)
    assert (few.clusters, many.clusters) == (1, None)  # copies are one subject's


@settings(max_examples=80)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2)), min_size=1),
    st.tuples(st.integers(1, 9), st.integers(1, 9)),
)
def test_lemma_1(tokens, costs):
    truth, before, found = (np.array(one, dtype=np.int16) for one in zip(*tokens, strict=True))
    training = SimpleNamespace(truth=truth)
    counted = before == 0
    examples = LabelledExamples(
        None, np.where(counted, truth, 0).astype(np.int16), counted, None, np.array(costs, float)
    )
    tried = count_attempt("h", "cost", found, examples)
    after = np.where(before > 0, before, found)
    assert tried.change == t_of(training, after, costs) - t_of(training, before, costs)
    assert tried.tp + tried.fp + tried.fn + tried.tn == counted.sum()
    assert sum(tried.by_type) == tried.tp == int(((found > 0) & counted & (truth > 0)).sum())


WORDS = ["Ana", "Leo", "May", "Ida", "in"]
sayings = st.lists(st.sets(st.sampled_from(WORDS)), min_size=1, max_size=4)


@settings(max_examples=50)
@given(
    st.lists(st.sampled_from(WORDS + [w + "/NAME" for w in WORDS]), min_size=8),
    sayings,
    st.integers(1, 6),
)
def test_algorithm_1(words, sayings_, cost):
    """A naive twin with sets: take what lowers T most, until nothing does."""
    texts = ["x/NAME y", *(" ".join(words[x::4]) or "y" for x in range(4))]
    training = training_of(*texts)
    learners = [
        Says(tuple((w, 1) for w in sorted(some)), f"{n}") for n, some in enumerate(sayings_)
    ]
    loop = loop_of(training, learners, cost=cost, folds=5)
    forms = training.examples(training.truth * 0, np.ones(1)).words
    gone, added, t = set(), [], cost * int((training.truth > 0).sum())
    while True:
        gains = []
        for some in sayings_:
            new = [x for x, form in enumerate(forms) if form in some and x not in gone]
            hits = sum(training.truth[x] > 0 for x in new)
            gains.append((len(new) - hits - cost * hits, new))
        best = min(range(len(gains)), key=lambda n: gains[n][0])
        if gains[best][0] >= 0:
            break
        added.append(f"{best}")
        gone |= set(gains[best][1])
        t += gains[best][0]
    assert [member.learner for member in loop.committee.members] == added
    assert set(np.flatnonzero(loop.removed).tolist()) == gone
    assert loop.passes[-1].loss == t == t_of(training, loop.removed, [cost])
    assert loop.stopped == "finished"


def test_trained_and_judged_on_the_same_text_the_loop_is_a_no_op():
    training = training_of(*[f"Ask Own{x}/NAME in ." for x in range(8)])
    paper = loop_of(training, [Remembers()], folds=None)
    assert told(paper) == [("remembers", 8, 0, 0, -80.0, 0.0)]
    honest = loop_of(training, [Remembers()])
    assert told(honest) == []
    assert honest.passes[0].loss == 80
    assert (honest.learnt.tp, honest.learnt.fn) == (8, 0)  # on the very text that it learnt from


def test_a_later_pass_that_only_one_half_of_the_folds_wants_is_not_added():
    texts = ["Ask Ana/NAME and Leo/NAME in .", "Ask Ana/NAME and Leo in ."] * 4
    loop = loop_of(training_of(*texts), [ANA, LEO])
    assert [one.learner for one in loop.committee.members] == ["says Ana"]
    assert (loop.passes[1].taken, loop.passes[1].tried[1].change) == (None, 4 - 40)
    assert (loop.stopped, loop.learnt) == ("unconfirmed", None)
    first = loop_of(training_of(*texts), [LEO])
    assert told(first)[0][0] == "says Leo"  # the first pass is judged on all folds
    paper = loop_of(training_of(*texts), [ANA, LEO], folds=None)
    assert len(paper.committee.members) == 2


def test_max_passes():
    loop = loop_of(training_of(*TEXTS), [ANA, LEO], max_passes=1)
    assert (len(loop.passes), len(loop.committee.members), loop.stopped) == (1, 1, "max passes")
    for passes in (0, -1):
        with pytest.raises(RequestError, match="allow 1 or more"):
            loop_of(training_of(*TEXTS), [ANA], max_passes=passes)


def test_a_decision_that_is_none():
    with pytest.raises(RequestError, match="no decision costs"):
        loop_of(training_of(*TEXTS), [ANA], decision="costs")


def test_too_little_left_is_refused():
    training = training_of(*TEXTS)  # 88 tokens, 80 without Ana
    assert told(loop_of(training, [ANA], least_left=80))
    for least in (81, 89):
        with pytest.raises(InfeasibleError, match=f"only {80 if least == 81 else 88} tokens"):
            loop_of(training, [ANA], least_left=least)
    with pytest.raises(InfeasibleError):
        loop_of(training, [ANA], least_left=81, max_passes=1)
    check_left(np.zeros(300, np.int16), 300)
    with pytest.raises(InfeasibleError, match="only 299"):
        check_left(np.zeros(299, np.int16), 300)


def run_of(learner, **given_):
    return loop_of(TrainingText.of(notes(3)), [learner], cost=3, decision="cost", **given_)


def described(loop):
    return loop.passes, loop.removed.tolist(), loop.turn.tolist(), len(loop.committee.members)


@pytest.mark.whole
@pytest.mark.parametrize("compiled", [False, True])
def test_an_interrupt_keeps_what_was_found_and_another_run_goes_on(tmp_path, compiled):
    whole = Counted()
    expected = run_of(whole)
    assert expected.stopped == "finished"
    passes, fits = len(expected.passes), len(whole.fits)
    assert passes >= 2
    for stop_at in range(1, fits + 1):
        folder = tmp_path / str(stop_at)
        stopped = Counted(stop_at=stop_at, compiled=compiled)
        if stop_at <= 5:  # four folds and the member itself: nothing is found yet
            with pytest.raises(KeyboardInterrupt):
                run_of(stopped, folder=folder)
        else:
            loop = run_of(stopped, folder=folder)
            kept = [turn for turn in loop.passes if turn.taken]
            assert loop.stopped == "interrupted"
            assert len(loop.committee.members) == len(kept) >= 1
            assert tuple(kept) == expected.passes[: len(kept)]
            assert max(loop.turn) == len(kept)
        again = Counted()
        assert described(run_of(again, folder=folder)) == described(expected)
        # out of four folds of a turn those before the interrupt are fitted again
        assert fits <= len(stopped.fits) + len(again.fits) <= fits + 3


def test_the_corpus_is_not_changed_by_the_loop():
    corpus = corpus_of(*TEXTS)
    training = TrainingText.of(corpus)
    before = training.tokens.form.copy()
    loop_of(training, [ANA, LEO])
    assert (training.tokens.form == before).all()
