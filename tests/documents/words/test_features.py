"""Features by numbers are those that a dictionary of strings gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.documents.model.committee.committee import put_marks
from voile.documents.text.document import Document
from voile.documents.words.attributes import AFFIX, SHAPE, WORD, attributes_of
from voile.documents.words.features import (
    BLOCKS,
    CLASSES,
    FeatureExtractor,
    FeatureSpace,
    _class_of,
    unbracket,
)
from voile.documents.words.scorer import TokenScorer
from voile.documents.words.tokens import GLUED, TokenNumbers, add_hints, add_tags, tokenise

LISTS = {"given": frozenset({"ana", "leo"})}
LISTED = {"ana": ["given"], "leo": ["given"]}
MARKS = ("[AGE]",)
PIECES = ["Ana", "ANA", "ana", "Leo", "12", "12", "b2", ",", ".", "[AGE]", "[LEO]", " ", " ", "\n"]
some = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
texts = st.lists(some, max_size=4)


def plain_form(form):
    return form if form in MARKS or form[0] != "[" or len(form) < 3 else form[1:-1]


def class_of(form):
    """Name the class as `CLASSES` does, by looking at its first letters."""
    form = plain_form(form)[:12]
    if form in MARKS:
        return "mark"
    if not form[0].isalnum():
        return "other"
    if form.isdigit():
        return "0"
    if not form.isalpha():
        return "mixed"
    if form[0].isupper():
        return "X" if form.isupper() else "Xx"
    return "x" if form.islower() else "mixed"


def documents_of(given_texts):
    """Return each text's tokens: form, what stands before, tag."""
    tokens = tokenise(given_texts)
    return [
        [
            (tokens.forms[tokens.form[x]], int(tokens.gap[x]))
            for x in range(*tokens.first[d : d + 2])
        ]
        for d in range(len(given_texts))
    ]


def seen(document, here, tags):
    """Return all that is seen from a token as (channel, view, name)."""
    forms = [form for form, _ in document]
    named = [class_of(form) in ("X", "Xx", "0", "mixed") for form in forms]
    same = [x for x in range(len(forms)) if forms[x] == forms[here] and named[x]]
    same = same if named[here] else []
    before = [x for x in same if x < here]
    after = [x for x in same if x > here]
    other = before[-1] if before else after[0] if after else None
    head = max(x for x in range(here + 1) if document[x][1] > 1 or x == 0)
    looks = {
        "here": here,
        "before": here - 1,
        "after": here + 1,
        "two before": here - 2,
        "two after": here + 2,
        "three before": here - 3,
        "head of line": head if head != here else None,
        "before another": None if other is None else other - 1,
        "after another": None if other is None else other + 1,
    }

    def at(view):
        place = looks[view]
        return place if place is not None and 0 <= place < len(forms) else None

    found = set()
    kinds = {view: k for channel, view, k in BLOCKS if channel == "words"}
    for view in looks:
        if at(view) is not None:
            for kind, name in attributes_of(plain_form(forms[at(view)]), LISTED):
                if kind & kinds[view]:
                    found.add(("words", view, name))
    for view in ("here", "before", "after"):
        if at(view) is not None and tags and tags[at(view)] is not None:
            found.add(("tags", view, tags[at(view)]))
    glued = here + 1 < len(forms) and document[here + 1][1] == GLUED
    found.add(("places", "here", (document[here][1], glued, min(len(same), 4))))
    around = tuple(
        class_of(forms[at(view)]) if at(view) is not None else None
        for view in ("before", "here", "after")
    )
    found.add(("shapes", "here", around))
    return found


def name_of(space, key):
    block, number = divmod(int(key), space.stride)
    channel, view, _ = BLOCKS[block]
    if channel == "words":
        return channel, view, space.attributes[number]
    if channel == "tags":
        return channel, view, space.tags[number]
    if channel == "places":
        return channel, view, (number // 10, bool(number // 5 % 2), number % 5)
    three = (number // 64, number // 8 % 8, number % 8)
    return channel, view, tuple(CLASSES[one - 1] if one else None for one in three)


def spaced(given_texts, subjects, least, tag=False):
    """Return tokens, their space, and what the dictionary version sees from each token."""
    tokens = tokenise(given_texts)
    documents = documents_of(given_texts)
    pos, tags = [], [[] for _ in documents]
    if tag:  # every word of letters has its length as tag
        for number, (text, document) in enumerate(zip(given_texts, documents, strict=True)):
            own = slice(*tokens.first[number : number + 2])
            spans = zip(tokens.starts[own].tolist(), tokens.ends[own].tolist(), strict=True)
            tags[number] = [str(len(f)) if f.isalpha() else None for f, _ in document]
            pos.append(
                Document(
                    text, pos=tuple((*s, t) for s, t in zip(spans, tags[number], strict=True) if t)
                )
            )
        tokens = add_tags(tokens, pos)
    whose = np.repeat(np.array(subjects, dtype=np.int32), np.diff(tokens.first))
    space = FeatureSpace.of(tokens, whose, marks=MARKS, lists=LISTS, least=least)
    slow = [
        seen(document, here, own)
        for document, own in zip(documents, tags, strict=True)
        for here in range(len(document))
    ]
    return tokens, space, slow, whose


def kept(slow, whose, least):
    """Return what so many subjects see, and the marks, wherever they may be seen."""
    people = {}
    for found, who in zip(slow, whose.tolist(), strict=True):
        for one in found:
            people.setdefault(one, set()).add(who)
    views = [view for channel, view, _ in BLOCKS if channel == "words"]
    marks = {("words", view, name) for view in views for name in ("mark", "mark=AGE")}
    return {one for one, who in people.items() if len(who) >= least} | marks


@settings(max_examples=150)
@given(texts, st.integers(1, 2), st.booleans(), st.data())
def test_the_matrix_is_what_a_dictionary_sees(given_texts, least, tag, data):
    subjects = [data.draw(st.integers(0, 2)) for _ in given_texts]
    tokens, space, slow, whose = spaced(given_texts, subjects, least, tag)
    names = [name_of(space, key) for key in space.columns]
    assert len(names) == len(set(names))
    assert set(names) == kept(slow, whose, least)
    matrix = FeatureExtractor(space, tokens.known).features(tokens).matrix
    assert matrix.shape == (len(tokens), len(names))
    assert (matrix.data == 1).all()
    for row, found in enumerate(slow):
        columns = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]].tolist()
        assert len(columns) == len(set(columns))
        assert {names[column] for column in columns} == found & set(names)


@given(texts, st.lists(texts, min_size=1, max_size=4), st.integers(0, 2**16))
def test_scores_are_the_matrix_times_the_weights_while_forms_grow(learnt, batches, seed):
    _, space, _, _ = spaced(learnt, range(len(learnt)), 1, tag=True)
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(len(space.columns), 3)).astype(np.float32)
    known, tags = TokenNumbers(), TokenNumbers()
    tags.number(space.tags)
    extractor = FeatureExtractor(space, known)
    early, late = TokenScorer(extractor, weights), None
    for batch in batches:  # with words that the space does not know, and tags too
        tokens = tokenise([*batch, "new Word"], known)
        documents = [
            Document(text, pos=((0, 2, "3"), (2, 9, "odd"))) for text in [*batch, "new Word"]
        ]
        features = extractor.features(add_tags(tokens, documents, tags))
        late = late or TokenScorer(extractor, weights)
        for scorer in (early, late):
            assert np.allclose(scorer(features), features.matrix @ weights, atol=1e-4)


def test_weights_of_other_columns_are_refused():
    tokens, space, _, _ = spaced(["Ana is", "Ana was"], [0, 1], 2)
    extractor = FeatureExtractor(space, tokens.known)
    for shape in ((len(space.columns) - 1, 2), (len(space.columns) + 1, 2), (len(space.columns),)):
        with pytest.raises(RequestError):
            TokenScorer(extractor, np.zeros(shape, np.float32))


def test_memory_of_scores_follows_the_forms():
    tokens, space, _, _ = spaced(["Ana is", "Ana was"], [0, 1], 2)
    scorer = TokenScorer(
        extractor := FeatureExtractor(space, tokens.known), np.zeros((len(space.columns), 2))
    )
    before = scorer.bytes
    scorer(extractor.features(tokenise(["many more words than ever were seen"], tokens.known)))
    assert scorer.bytes > before > 0


def test_what_one_subject_wrote_is_not_kept():
    learnt = ["Zebra [XENON] 1234567 said Ana", "Zebra [XENON] 1234567 said Leo", "said Tom"]
    _, space, _, _ = spaced(learnt, [7, 7, 8], 2)
    held = " ".join(space.attributes)
    assert "said" in held
    for alone in ("zebra", "xenon", "XENON", "ebra", "0000000", "ana", "leo"):
        assert alone not in held
    assert space.marks == {"[AGE]"}


def test_kinds_of_attributes_by_distance():
    tokens, space, _, _ = spaced(["alpha beta gamma delta", "alpha beta gamma delta"], [0, 1], 2)
    views = {}
    for key in space.columns:
        channel, view, name = name_of(space, key)
        if channel == "words" and not name.startswith("mark"):
            kind = next(k for form in tokens.forms for k, n in attributes_of(form, {}) if n == name)
            views.setdefault(view, set()).add(kind)
    assert views["before"] == {WORD, SHAPE, AFFIX}
    assert views["two before"] == {WORD, SHAPE}
    assert views["three before"] == {WORD}


def test_examples_of_unbracket():
    assert (
        unbracket("[NAME]", frozenset({"[NAME]"})),
        unbracket("[SMITH]", frozenset({"[NAME]"})),
    ) == ("[NAME]", "SMITH")


def test_examples_of_class_of():
    assert [
        CLASSES[_class_of(form) - 1] for form in ("[AGE]", "ANA", "Ana", "is", "12", "b2", ",")
    ] == ["mark", "X", "Xx", "x", "0", "mixed", "other"]


def test_a_hint_is_seen_by_its_token_and_its_neighbours():
    class Lengths:
        name = "lengths"

        def levels(self, tokens):
            return np.array([len(tokens.forms[n]) for n in tokens.form], dtype=np.int32)

    tokens = add_hints(tokenise(["a bb ccc", "a bb ccc"]), Lengths())
    space = FeatureSpace.of(tokens, np.array([0, 0, 0, 1, 1, 1], dtype=np.int32), marks=())
    block, level = np.divmod(space.columns, space.stride)
    channels = np.array([channel for channel, _, _ in BLOCKS])
    matrix = FeatureExtractor(space, tokens.known).features(tokens).matrix
    middle = set(matrix[[1]].indices.tolist())
    seen = [(BLOCKS[block[n]][1], int(level[n])) for n in middle if channels[block[n]] == "hints"]
    assert sorted(seen) == [("after", 3), ("before", 1), ("here", 2)]
    assert add_hints(tokens, None) is tokens


def test_what_was_removed_has_no_hint():
    tokens = replace(tokenise(["a bb"]), hint=np.array([3, 4], dtype=np.int32))
    marks = np.array([tokens.known.number(["[X]"])[0]], dtype=np.int32)
    left = put_marks(tokens, np.array([0, 1], dtype=np.int16), marks)
    assert left.hint.tolist() == [3, -1]
