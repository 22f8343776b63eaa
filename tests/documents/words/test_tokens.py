"""Tokens: where they stand, what stands before them, which identifier and tag they are part of."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Document, Span
from voile.documents.words.normalisation import normalise
from voile.documents.words.token_classes import token_labels
from voile.documents.words.tokens import (
    BLANK,
    GLUED,
    LINE,
    PARAGRAPH,
    TokenNumbers,
    add_tags,
    tokenise,
)

ODD = "aé[]A_1.-! \n\u200b\u0301\u0308\u093e\u0915\u0958ａﬁ½²–\u00a0\x85\u20dd\u05b0с\u1100\u1161"
texts = st.text(st.sampled_from(ODD), max_size=20)
plain = st.text(st.sampled_from("aB1_.[] \n"), max_size=20)


@given(texts)
@example("]\u064b\u1161")
@example("\u0958a")
@example("a\u1161b c")
@example("]\u064b\u1161bc")
def test_a_token_is_a_piece_of_the_original_that_reads_as_its_form(text):
    tokens = tokenise([text])
    form = [tokens.forms[number] for number in tokens.form]
    places = list(zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True))
    end = 0
    for start, after in places:  # one after the other, so that each can be replaced alone
        assert end <= start < after <= len(text)
        end = after
    whole = normalise(text).text
    assert "".join(form) == "".join(whole.split())
    if normalise(text).places is None:
        assert [whole[a:b] for a, b in places] == form
    for (start, after), shown in zip(places, form, strict=True):
        if "с" not in text:  # which a reader takes for Latin or not by the words around
            assert normalise(text[start:after]).text.split() == [shown]


@given(st.lists(plain, max_size=4))
def test_the_rule_by_single_characters(given_texts):
    tokens = tokenise(given_texts)
    found = [
        (number, tokens.forms[form], start, gap)
        for number, form, start, gap in zip(
            tokens.document.tolist(),
            tokens.form.tolist(),
            tokens.starts.tolist(),
            tokens.gap.tolist(),
            strict=True,
        )
    ]
    expected = []
    for number, text in enumerate(given_texts):
        at = lines = 0
        blank, begun = False, False
        while at < len(text):
            if text[at].isspace():
                lines += text[at] == "\n"
                blank = True
                at += 1
                continue
            mark = re.match(r"\[[A-Z0-9_]+\]", text[at:])
            word = re.match(r"[aB1_]+", text[at:])
            one = text[at]
            if mark and re.search("[A-Z]", mark.group()):
                one = mark.group()
            elif word:
                one = word.group()
            gap = PARAGRAPH if lines > 1 or not begun else LINE if lines else BLANK if blank else 0
            expected.append((number, one, at, gap))
            at, lines, blank, begun = at + len(one), 0, False, True
    assert found == expected


@given(st.lists(texts, max_size=6), st.integers(1, 30))
def test_texts_are_cut_together_as_one_by_one(given_texts, batch):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("voile.documents.words.tokens.BATCH", batch)
        together, known = tokenise(given_texts), TokenNumbers()
    alone = [tokenise([text], known) for text in given_texts]
    assert together.known.known_words == known.known_words
    assert np.diff(together.first).tolist() == [*map(len, alone)]
    for of in ("form", "starts", "ends", "gap"):
        assert getattr(together, of).tolist() == [n for one in alone for n in getattr(one, of)]


def test_signs_stay_in_their_words():
    assert tokenise(["अनामिका की , x"]).forms == ["अनामिका", "की", ",", "x"]


def test_a_mark_has_a_capital():
    assert tokenise(["[1B] [_A] [12] [a]"]).forms == ["[1B]", "[_A]", "[", "12", "]", "a"]


def test_a_bracket_without_end_takes_no_time():
    tokens = tokenise(["[" + "A1" * 100_000 + " " + "[" * 1000 + "A_" * 1000])
    assert len(tokens) == 1003


def test_forms_are_numbered_on():
    known = TokenNumbers()
    first, second = tokenise(["to be"], known), tokenise(["be two"], known)
    assert first.form.tolist() == [0, 1]
    assert second.form.tolist() == [1, 2]
    assert known.known_words == ["to", "be", "two"]
    assert known.since(2) == ["two"]
    assert known.since(3) == []


def test_nothing_gives_no_tokens():
    for given_texts in ([], [""], ["", " \n\u200b"]):
        tokens = tokenise(given_texts)
        assert len(tokens) == len(tokens.sentence) == 0
        assert len(tokens.first) == len(given_texts) + 1
        assert token_labels(tokens, Corpus(map(Document, given_texts)), ("A",)).tolist() == []


def test_sentences_end_at_breaks_and_at_full_stops_before_a_blank():
    tokens = tokenise(["No. 1.5 up!\nIt is? Yes.", "", "is"])
    said = {}
    for number, form in zip(tokens.sentence.tolist(), tokens.form.tolist(), strict=True):
        said.setdefault(number, []).append(tokens.forms[form])
    assert list(said.values()) == [
        ["No", "."],
        ["1", ".", "5", "up", "!"],
        ["It", "is", "?"],
        ["Yes", "."],
        ["is"],
    ]
    assert "?" not in tokenise(["a"]).known.known_words


def heads(text):
    tokens = tokenise([text])
    shown = [tokens.forms[form] for form in tokens.form]
    head = [None if place < 0 else shown[place] for place in tokens.layout.head.tolist()]
    return list(zip(shown, head, strict=True))


def test_the_head_of_a_line_is_its_first_token():
    assert heads("Name: Ana\nEva") == [
        ("Name", None),
        (":", "Name"),
        ("Ana", "Name"),
        ("Eva", None),
    ]


@given(st.lists(plain, max_size=4))
def test_neighbours_end_at_their_document(given_texts):
    tokens = tokenise(given_texts)
    document = tokens.document
    for by, places in tokens.layout.neighbours.items():
        for here, place in enumerate(places.tolist()):
            other = here + by
            inside = 0 <= other < len(tokens) and document[other] == document[here]
            assert place == (other if inside else -1)


@st.composite
def annotated(draw):
    """Return documents with spans of two labels anywhere."""
    documents = []
    for text in draw(st.lists(texts, max_size=3)):
        cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
        pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
        labels = st.sampled_from(["A", "B", "C"])
        documents.append(Document(text, tuple(Span(a, b, draw(labels)) for a, b in pairs)))
    return Corpus(documents)


@given(annotated(), st.sampled_from([("A", "B", "C"), ("B", "A"), ()]))
def test_labels_by_each_character(corpus, labels):
    tokens = tokenise(document.text for document in corpus)
    found = token_labels(tokens, corpus, labels)
    for here in range(len(tokens)):
        document = corpus[tokens.document[here]]
        own = range(tokens.starts[here], tokens.ends[here])
        touched = [
            span.label
            for span in document.spans
            if span.label in labels and set(own) & set(range(span.start, span.end))
        ]
        assert found[here] == (labels.index(touched[0]) + 1 if touched else 0)


def test_an_unknown_label_hides_no_known_one():
    corpus = Corpus([Document("Ana2019", (Span(0, 3, "OLD"), Span(3, 7, "DATE")))])
    assert token_labels(tokenise(["Ana2019"]), corpus, ("DATE",)).tolist() == [1]


def test_tags_of_the_word_that_a_token_begins_in():
    document = Document("Ana's 2 is\u200bles", pos=((6, 7, "NUM"), (0, 5, "PROPN"), (8, 10, "X")))
    other = Document("no tags")
    tokens = add_tags(tokenise([document.text, other.text]), [document, other])
    tags = [None if tag < 0 else tokens.tags.known_words[tag] for tag in tokens.tag.tolist()]
    assert tags == ["PROPN", "PROPN", "PROPN", "NUM", "X", None, None]
    assert add_tags(tokenise(["a"]), [Document("a")]).tag is None
    one = Document("Ana's", pos=((0, 3, "PROPN"),))
    assert add_tags(tokenise([one.text]), [one]).tag.tolist() == [0, -1, -1]


def words_of(text):
    return [match.span() for match in re.finditer(r"\S+", text)]


@given(texts.filter(lambda text: "\x85" not in text))
def test_a_rule_of_ones_own_gives_its_own_tokens(text):
    tokens = tokenise([text], tokeniser=words_of)
    spans = [(a, b) for a, b in words_of(text) if normalise(text[a:b]).text.strip()]
    assert list(zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True)) == spans
    forms = [tokens.forms[number] for number in tokens.form]
    assert forms == [normalise(text[a:b]).text for a, b in spans]


@given(plain)
def test_gaps_do_not_depend_on_who_cuts(text):
    ours = tokenise([text])
    spans = list(zip(ours.starts.tolist(), ours.ends.tolist(), strict=True))
    theirs = tokenise([text], tokeniser=lambda _: spans)
    assert theirs.gap.tolist() == ours.gap.tolist()
    assert theirs.gap.dtype == ours.gap.dtype == np.uint8


@pytest.mark.parametrize(
    "spans", [[(4, 7), (0, 3)], [(0, 3), (2, 7)], [(0, 3)], [(4, 7)], [(0, 3), (4, 8)], [(-1, 7)]]
)
def test_a_rule_that_leaves_words_out_is_refused_without_a_word(spans):
    with pytest.raises(RequestError) as refused:
        tokenise(["Ana Leo"], tokeniser=lambda _: spans)
    assert "Ana" not in str(refused.value)
    assert "Leo" not in str(refused.value)


def test_a_rule_may_leave_points_out():
    tokens = tokenise(
        ["Ana,Leo\nEva"], tokeniser=lambda t: [m.span() for m in re.finditer(r"\w+", t)]
    )
    assert tokens.forms == ["Ana", "Leo", "Eva"]
    assert tokens.gap.tolist() == [PARAGRAPH, BLANK, LINE]
    assert GLUED not in tokens.gap


def test_examples_of_forms():
    forms = TokenNumbers()
    assert (forms.number(["to", "be", "to"]).tolist(), forms.known_words) == (
        [0, 1, 0],
        ["to", "be"],
    )


def test_examples_of_tokenise():
    tokens = tokenise(["Dr. Who-2\nis in"])
    assert (tokens.forms, tokens.starts.tolist(), tokens.gap.tolist()) == (
        ["Dr", ".", "Who", "-", "2", "is", "in"],
        [0, 2, 4, 7, 8, 10, 13],
        [3, 0, 1, 0, 0, 2, 1],
    )
