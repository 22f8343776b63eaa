"""A user's own: scikit-learn's classifiers, pipelines of spaCy, models of transformers."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import NearestCentroid
from sklearn.svm import LinearSVC
from tests.documents.learners.made import harmless, made, of_forms

from voile.core.errors import RequestError
from voile.documents.adapters.scikit_learn import Sklearn
from voile.documents.adapters.spacy import Spacy
from voile.documents.adapters.transformers import Transformers
from voile.documents.learners import learners_of


@pytest.mark.parametrize("types", [1, 2])
@pytest.mark.parametrize("estimator", [LogisticRegression(C=10), LinearSVC(), RidgeClassifier()])
def test_its_positives_are_what_it_predicts(estimator, types):
    train, other = made(60, types=types), made(20, seed=1, types=types)
    fitted = Sklearn(estimator).fit(train, seed=0)
    margins = fitted.margins(other)
    predicted = fitted.estimator.predict(other.matrix)
    told = np.where(margins.max(axis=1) > 0, margins.argmax(axis=1) + 1, 0)
    sure = np.abs(margins).min(axis=1) > 0.5  # a type below 1/2 may still be the likeliest
    assert sure.mean() > 0.5
    np.testing.assert_array_equal(told[sure], predicted[sure])
    assert (told == other.labels).mean() > 0.9
    assert not hasattr(estimator, "coef_")


def test_probabilities_become_their_log_odds():
    train = made(40)
    fitted = Sklearn(LogisticRegression()).fit(train)
    chances = fitted.estimator.predict_proba(train.matrix)[:, 1:]
    np.testing.assert_allclose(1 / (1 + np.exp(-fitted.margins(train))), chances, atol=1e-9)


def test_classes_that_are_not_there():
    train = made(20)
    assert (Sklearn(LogisticRegression()).fit(harmless(train)).margins(train) < 0).all()
    second = of_forms(train.form, np.where(train.labels == 2, 2, 0), train.first, 2)
    margins = Sklearn(LinearSVC()).fit(second).margins(train)
    assert (margins[:, 0] < -100).all()
    assert ((margins[:, 1] > 0) == (train.labels == 2)).mean() > 0.95


def test_nothing_to_look_at_gives_nothing():
    fitted = Sklearn(LogisticRegression()).fit(made(20))
    assert fitted.margins(made(0)).shape == (0, 2)


def test_a_classifier_that_is_not_wrapped_is_no_learner():
    with pytest.raises(RequestError, match="a LogisticRegression is no learner"):
        learners_of([LogisticRegression()])


def test_who_gives_only_labels_is_refused():
    class Mute(NearestCentroid):
        decision_function = property()
        predict_proba = property()

    with pytest.raises(RequestError, match="Mute gives neither probabilities nor scores"):
        Sklearn(Mute()).fit(made(5))


@pytest.mark.whole
def test_a_recogniser_of_spacy_is_trained():
    pytest.importorskip("spacy")
    train, other = made(30, types=1), made(10, seed=1, types=1)
    margins = Spacy(epochs=8).fit(train, seed=0).margins(other)[:, 0]
    assert set(margins.tolist()) == {-1.0, 1.0}
    names = other.labels == 1
    assert (margins[names] > 0).mean() > 0.8
    assert (margins[~names] > 0).mean() < 0.2


def test_a_pipeline_of_spacy_is_taken_as_it_is(tmp_path):
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("xx")
    rules = [{"label": "PER", "pattern": "Name3"}, {"label": "ORG", "pattern": "dr"}]
    nlp.add_pipe("entity_ruler").add_patterns(rules)
    nlp.to_disk(tmp_path)
    examples = made(20)
    expected = np.array(examples.words) == "Name3"
    for pipeline in (nlp, str(tmp_path)):
        margins = Spacy(pipeline, {"PER": 2}).fit(examples).margins(examples)
        np.testing.assert_array_equal(margins[:, 1] > 0, expected)
        assert (margins[:, 0] < 0).all()
    with pytest.raises(RequestError, match="the label PER stands for type 3 of 2"):
        Spacy(nlp, {"PER": 3}).fit(examples)


def test_a_folder_of_transformers_is_taken_as_it_is(tmp_path):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    examples = made(6, length=30)
    words = sorted(set(examples.words))
    write_model(transformers, torch, tmp_path, words)
    tagger = Transformers(str(tmp_path), {"PER": 1, "LOC": 2}, window=16).fit(examples)
    margins = tagger.margins(examples)
    names = np.array([word.startswith("Name") for word in examples.words])
    towns = np.array([word.startswith("Town") for word in examples.words])
    np.testing.assert_array_equal(margins[:, 0] > 0, names)
    np.testing.assert_array_equal(margins[:, 1] > 0, towns)


def write_model(transformers, torch, folder, words):
    """Write a tiny model that knows names and towns by their words."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    vocabulary = {word: n for n, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words])}
    rule = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    rule.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    rule.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=rule,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
    )
    fast.save_pretrained(folder)
    labels = ["O", "B-PER", "I-LOC"]
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=16,
        hidden_dropout_prob=0.0,
        id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
    )
    torch.manual_seed(0)
    model = transformers.BertForTokenClassification(config)
    kinds = [1 if w.startswith("Name") else 2 if w.startswith("Town") else 0 for w in vocabulary]
    ids, truth = torch.arange(len(vocabulary))[:, None], torch.tensor(kinds)[:, None]
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for place in range(400):
        shown = {"input_ids": ids, "position_ids": torch.full_like(ids, place % 16)}
        loss = torch.nn.functional.cross_entropy(model(**shown).logits[:, 0], truth[:, 0])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval().save_pretrained(folder)


def test_a_library_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(RequestError, match="spacy is not installed; install it with: pip install"):
        Spacy().fit(made(2))
    with pytest.raises(RequestError, match=r"torch is not installed; .* 'voile.transformers"):
        Transformers("nowhere", {}).fit(made(2))
