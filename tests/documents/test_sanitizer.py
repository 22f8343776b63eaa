"""The estimator: what scikit-learn expects of one, and what its parameters do."""

from __future__ import annotations

import gzip
import inspect
import json
import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.documents.made import NAMES, Counted, Remembers, Says, corpus_of, notes
from tests.real_data import DATA

from voile.core.errors import InfeasibleError, RequestError
from voile.documents import Corpus, Document, GreedySanitizer, Span
from voile.documents.fitting.loop.fits import prepare_fits
from voile.documents.fitting.loop.training import TrainingText
from voile.documents.words.token_classes import token_labels
from voile.documents.words.tokens import tokenise

NOTES = notes(4)
SVM = ("svm",)


def fitted(corpus=NOTES, **given):
    return GreedySanitizer(**{"learners": SVM, "random_state": 1, "cross_fit": 3, **given}).fit(
        corpus
    )


def arrays_of(sanitizer):
    return [
        {name: array.tolist() for name, array in part.to_arrays().items()}
        for member in sanitizer.committee_.members
        for part in (member.classifier, member.calibration)
    ]


def test_the_constructor_only_stores():
    values = {name: object() for name in inspect.signature(GreedySanitizer).parameters}
    sanitizer = GreedySanitizer(**values)
    assert sanitizer.get_params(deep=False) == vars(sanitizer) == values
    assert not [name for name in vars(sanitizer) if name.endswith("_")]


def test_a_clone_is_fitted_to_the_same():
    sanitizer = fitted(learners=("svm", Says((("May", 2),))), lists={"n": ["Ana"]})
    again = clone(sanitizer)
    with pytest.raises(NotFittedError):
        again.sanitize(["Ana"])
    assert again.fit(NOTES) is again
    assert again.history_ == sanitizer.history_
    assert again.removed_.tolist() == sanitizer.removed_.tolist()
    assert again.set_params(miss_cost=1).miss_cost == 1
    assert "svm" in repr(sanitizer)


def test_what_is_learnt():
    sanitizer = fitted()
    assert sanitizer.labels_ == ("AGE", "NAME")
    assert sanitizer.stopped_ == "finished"
    assert len(sanitizer.passes_) == len(sanitizer.committee_.members) >= 1
    assert sanitizer.history_[:-1] == sanitizer.passes_
    assert sanitizer.history_[-1].taken is None
    assert sanitizer.sanitize(["We saw Ana again , aged 31 , at 10 ."]) == [
        "We saw [NAME] again , aged [AGE] , at 10 ."
    ]
    losses = [one.loss for one in sanitizer.passes_]
    assert losses == sorted(losses, reverse=True)


def test_the_last_loss_is_t_of_what_is_removed_out_of_fold():
    sanitizer = fitted(miss_cost={"NAME": 3, "AGE": 7})
    tokens = tokenise(one.text for one in NOTES)
    truth = token_labels(tokens, NOTES, sanitizer.labels_)
    gone = sanitizer.removed_ > 0
    left = [((truth == t) & ~gone).sum() for t in (1, 2)]
    assert sanitizer.history_[-1].loss == 7 * left[0] + 3 * left[1] + (gone & (truth == 0)).sum()


@pytest.mark.whole
def test_the_same_seed_gives_the_same_committee_on_any_number_of_processes():
    one, two = fitted(n_jobs=1), fitted(n_jobs=2)
    assert arrays_of(one) == arrays_of(two) == arrays_of(fitted())
    assert one.history_ == two.history_
    assert arrays_of(fitted(random_state=np.random.default_rng(5))) == arrays_of(
        fitted(random_state=np.random.default_rng(5))
    )
    assert arrays_of(fitted(random_state=2)) != arrays_of(one)


def test_copies_of_a_document_are_never_in_two_folds():
    once = [replace(one, subject=None) for one in notes(2)]
    copies = Corpus([*once, *reversed(once)])
    assert copies.subjects == (*Corpus(once).subjects, *reversed(Corpus(once).subjects))
    assert len(set(copies.subjects)) == len({one.text for one in once})
    training = TrainingText.of(copies)
    folds = prepare_fits(training, ("svm",), cross_fit=3, seed=1, n_jobs=1).folds
    assert folds.tolist() == [*folds[: len(once)], *reversed(folds[: len(once)])]
    assert set(folds.tolist()) == {0, 1, 2}


def test_a_learner_of_ones_own_takes_part():
    @dataclass(frozen=True)
    class Own:
        name: str = "own"

        def fit(self, examples, *, seed):
            return Says((("May", examples.types),)).fit(examples)

    sanitizer = fitted(learners=["svm", Own()], miss_cost=50)
    assert {tried.learner for tried in sanitizer.history_[0].tried} == {"svm", "own"}
    texts = [f"In May/NAME , yes , {number} ." for number in range(80)]
    alone = fitted(corpus_of(*texts), learners=[Own()], decision="accuracy")
    assert [member.learner for member in alone.committee_.members] == ["own"]


def test_costs_decide_what_is_removed():
    texts = (
        [f"{name}/NAME came ." for name in NAMES] * 8
        + ["May came ."] * 88
        + ["May/NAME came ."] * 8
    )
    corpus = corpus_of(*texts, subjects=[str(n) for n in range(len(texts))])
    told = {}
    for cost in (1, 100):
        sanitizer = fitted(corpus, miss_cost=cost, lists={"names": NAMES})
        told[cost] = sanitizer.sanitize(["May came ."])
    assert told == {1: ["May came ."], 100: ["[NAME] came ."]}


def test_lists_are_read_as_text_is():
    texts = [f"{name}/NAME said no ." for name in NAMES[:6]] * 8 + ["Yes said no ."] * 60
    corpus = corpus_of(*texts, subjects=[str(n) for n in range(len(texts))])
    sanitizer = fitted(corpus, lists={"names": [*NAMES, "JOSE\u0301"]})
    assert sanitizer.committee_.space.lists["names"] >= {"ana", "josé"}
    assert sanitizer.sanitize(["José said no ."]) == ["[NAME] said no ."]


def test_parts_of_speech_are_asked_for_where_they_were_learnt_from():
    def tagged(document):
        first = document.text.split(" ")[0]
        return replace(document, pos=((0, len(first), "FIRST"),))

    sanitizer = fitted(Corpus(map(tagged, NOTES)))
    text = Document("We saw Ana again , aged 31 , at 10 .")
    (made,) = sanitizer.sanitize(Corpus([tagged(text)]))
    assert made.text == "We saw [NAME] again , aged [AGE] , at 10 ."
    for untagged in (Corpus([text]), [text.text]):
        with pytest.raises(RequestError, match="parts of speech"):
            sanitizer.sanitize(untagged)


def test_in_sample_is_the_papers_loop():
    texts = [f"Ask Own{x}/NAME in the ward ." for x in range(60)]
    paper = fitted(corpus_of(*texts), learners=[Remembers()], cross_fit=None, decision="accuracy")
    assert (len(paper.passes_), paper.history_[-1].loss) == (1, 0)
    honest = fitted(corpus_of(*texts), learners=[Remembers()], decision="accuracy")
    assert (len(honest.passes_), honest.history_[-1].loss) == (0, 600)
    assert honest.sanitize(["Ask Own1"]) == ["Ask Own1"]


ODD = [
    Document(""),
    Document(" \n "),
    Document("\u200b"),
    Document("Only Rare said so .", (Span(5, 9, "RARE"),), subject="odd"),
]


def test_odd_documents_and_a_label_of_one_subject():
    sanitizer = fitted(Corpus([*ODD, *NOTES]))
    assert sanitizer.labels_ == ("AGE", "NAME", "RARE")
    assert sanitizer.sanitize(["", " ", "\u200b", "Zoë κόσμε 世界 हिन्दी"])[:3] == [
        "",
        " ",
        "\u200b",
    ]
    made = sanitizer.sanitize(Corpus(ODD))
    assert [one.text for one in made][:3] == ["", " \n ", "\u200b"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"cross_fit": 1}, "whole number from 2"),
        ({"cross_fit": 13}, "12 subjects cannot be split into 13"),
        ({"decision": "costs"}, "no decision costs"),
        ({"max_passes": 0}, "1 or more"),
        ({"miss_cost": 0}, "above 0"),
        ({"miss_cost": {"NAMES": 1}}, "type NAMES"),
        ({"learners": ["svn"]}, "no learner svn"),
        ({"learners": []}, "no learner"),
        ({"learners": [Counted(), "svm"]}, "two learners"),
        ({"random_state": -1}, "seed"),
        ({"resume": "x", "random_state": None}, "seed"),
    ],
)
def test_what_cannot_be_is_refused(given, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RequestError, match=says):
        fitted(**given)
    assert list(tmp_path.iterdir()) == []


def test_fit_takes_a_corpus_and_enough_of_it():
    with pytest.raises(RequestError, match="takes a corpus"):
        fitted(list(NOTES))
    with pytest.raises(InfeasibleError, match="tokens are left"):
        fitted(notes(1))


def test_an_interrupted_fit_goes_on(tmp_path):
    folder = str(tmp_path / "fits")
    whole, stopped, again = Counted(), Counted(stop_at=6), Counted()
    expected = fitted(learners=[whole])
    assert len(expected.history_) > 1
    first = fitted(learners=[stopped], resume=folder)
    assert first.stopped_ == "interrupted"
    assert first.passes_ == expected.passes_[:1]
    later = fitted(learners=[again], resume=folder)
    assert later.history_ == expected.history_
    assert arrays_of(later) == arrays_of(expected)
    assert len(again.fits) + len(stopped.fits) <= len(whole.fits) + 2


def test_a_fitted_sanitizer_can_be_pickled():
    sanitizer = fitted()
    again = pickle.loads(pickle.dumps(sanitizer))
    texts = [one.text for one in NOTES]
    assert again.sanitize(texts) == sanitizer.sanitize(texts)


def meddocan(split, number):
    path = DATA / "meddocan" / f"{split}.jsonl.gz"
    if not path.exists():
        pytest.skip("the data set meddocan is not there")
    documents = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line, _ in zip(lines, range(number), strict=False):
            read = json.loads(line)
            spans = (Span(s["start"], s["end"], s["label"]) for s in read["spans"])
            names = tuple(span for span in spans if span.label.startswith("NOMBRE"))
            documents.append(Document(read["text"], names, read["doc_id"]))
    return Corpus(documents)


@pytest.mark.whole
@pytest.mark.real
def test_on_real_notes_the_papers_loop_ends_at_once_and_leaves_names():
    learnt, other = meddocan("train", 40), meddocan("dev", 40)
    paper = fitted(learnt, cross_fit=None, decision="accuracy")
    assert (len(paper.passes_), paper.history_[-1].loss) == (1, 0)
    honest = fitted(learnt, miss_cost=10)
    identifiers = sum(len(one.spans) for one in other)
    left = {
        name: sum(len(one.spans) for one in sanitizer.sanitize(other))
        for name, sanitizer in (("paper", paper), ("honest", honest))
    }
    assert 0 < left["honest"] < left["paper"] < identifiers
