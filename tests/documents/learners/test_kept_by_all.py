"""What every learner keeps: found by their names, as a fit finds them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.documents.learners.made import harmless, learner_of, made, of_forms

from voile.core.errors import RequestError
from voile.documents.adapters.scikit_learn import Sklearn
from voile.documents.learners.named_learners import LEARNERS, learners_of
from voile.documents.model.classifiers.linear import LinearClassifier
from voile.documents.model.classifiers.saved import check_saveable

ONE_EACH = list(LEARNERS)


@pytest.fixture(scope="module")
def fitted():
    examples = made(120, noise=0.02)
    return examples, {name: learner_of(name).fit(examples, seed=1) for name in ONE_EACH}


@pytest.mark.parametrize("name", LEARNERS)
def test_names_are_those_of_the_list(name):
    assert LEARNERS[name]().name == name


@pytest.mark.parametrize("name", ONE_EACH)
def test_the_same_seed_gives_the_same_classifier(name, fitted):
    examples, classifiers = fitted
    one, two = classifiers[name].to_arrays(), learner_of(name).fit(examples, seed=1).to_arrays()
    assert one.keys() == two.keys()
    assert all(np.array_equal(one[key], two[key]) for key in one)


@pytest.mark.parametrize("name", ONE_EACH)
def test_it_finds_most_and_removes_little(name, fitted):
    other = made(20, seed=7)
    found = fitted[1][name].margins(other).max(axis=1) > 0
    counted, harm = other.counted, other.labels == 0
    assert found[~harm].mean() > 0.9
    assert found[harm & counted].mean() < 0.25


@pytest.mark.parametrize("name", ONE_EACH)
def test_arrays_give_the_same_classifier(name, fitted):
    examples, classifiers = fitted
    classifier = classifiers[name]
    again = type(classifier).from_arrays(classifier.to_arrays())
    np.testing.assert_array_equal(again.margins(examples), classifier.margins(examples))


@pytest.mark.parametrize("name", ["crf", "svm", "adaboost", "ensemble", "selection"])
def test_arrays_that_do_not_fit_are_refused(name, fitted):
    classifier = fitted[1][name]
    arrays, kind = classifier.to_arrays(), type(classifier)
    for key, array in arrays.items():
        wrongs = [array.astype(object), np.expand_dims(array, 0), None]
        if array.dtype.kind == "f" and array.size:
            wrongs.append(np.full_like(array, np.nan))
        if array.ndim and len(array) and not key.endswith("history"):
            wrongs.append(array[:-1])
        for wrong in wrongs:
            held = {**arrays, key: wrong}
            with pytest.raises(RequestError, match="not of this kind of classifier"):
                kind.from_arrays({k: v for k, v in held.items() if v is not None})
    key = next(key for key in arrays if key.endswith("rows"))
    size = int(arrays[key.replace("rows", "size")])
    for rows in (arrays[key][::-1], arrays[key] + size):
        with pytest.raises(RequestError, match="'rows'"):
            kind.from_arrays({**arrays, key: rows})


@pytest.mark.parametrize("name", LEARNERS)
def test_little_text_is_learnt_from_all_the_same(name):
    few = made(3)
    learner = LEARNERS[name]()
    for examples in (
        harmless(few),
        few.of(np.array([True, False, False])),
        few.of(np.zeros(3, np.bool_)),
    ):
        margins = learner.fit(examples, seed=0).margins(few)
        assert margins.shape == (len(few.labels), 2)
        assert np.isfinite(margins).all()
    assert not (learner.fit(harmless(few), seed=0).margins(few) > 0).any()


@pytest.mark.parametrize("name", ONE_EACH)
def test_documents_without_a_token_are_passed_over(name, fitted):
    examples, classifiers = fitted
    first = np.insert(examples.first, [0, 5, len(examples.first)], examples.first[[0, 5, -1]])
    with_empty = of_forms(examples.form, examples.labels, first, examples.types)
    np.testing.assert_array_equal(
        classifiers[name].margins(with_empty), classifiers[name].margins(examples)
    )
    again = learner_of(name).fit(with_empty, seed=1).margins(examples)
    assert ((again > 0) == (classifiers[name].margins(examples) > 0)).mean() > 0.95


def test_learners_by_name_and_their_own():
    own = Sklearn(None, name="mine")
    assert list(learners_of(("svm", own))) == ["svm", "mine"]
    assert list(learners_of("crf")) == ["crf"]
    for given, told in {("crff",): "did you mean crf", ("crf", "crf"): "two learners"}.items():
        with pytest.raises(RequestError, match=told):
            learners_of(given)
    with pytest.raises(RequestError, match="no learner"):
        learners_of(())


def test_what_is_no_array_is_not_saved(fitted):
    from sklearn.naive_bayes import BernoulliNB

    check_saveable(fitted[1].values())
    with pytest.raises(
        RequestError, match="a kit cannot hold a classifier of kind SklearnClassifier"
    ):
        check_saveable([Sklearn(BernoulliNB()).fit(fitted[0])])


def test_what_is_not_voiles_own_is_not_saved(fitted):
    class Other(LinearClassifier):
        """Made of arrays, but loading it would run code from elsewhere."""

    linear = next(one for one in fitted[1].values() if type(one) is LinearClassifier)
    check_saveable([linear])
    with pytest.raises(RequestError, match="a kit cannot hold a classifier of kind Other"):
        check_saveable([Other(**vars(linear))])
