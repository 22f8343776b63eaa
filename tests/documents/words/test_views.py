"""Where features look, by looking token by token."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from voile.documents.words.tokens import NOWHERE, tokenise
from voile.documents.words.views import SHIFTS, occurrences, views_of

texts = st.lists(st.text(st.sampled_from("Ab \n"), max_size=16), max_size=3)


def of(tokens, document):
    return range(*tokens.first[document : document + 2])


@given(texts, st.integers(1, 3))
def test_occurrences(given_texts, most):
    tokens = tokenise(given_texts)
    named = np.array([tokens.forms[form][0] == "A" for form in tokens.form], dtype=np.bool_)
    other, often = occurrences(tokens, named, most)
    for here in range(len(tokens)):
        same = [
            place
            for place in of(tokens, tokens.document[here])
            if named[place] and tokens.form[place] == tokens.form[here]
        ]
        before = [place for place in same if place < here]
        after = [place for place in same if place > here]
        if named[here]:
            assert often[here] == min(len(same), most)
            assert other[here] == (before[-1] if before else after[0] if after else NOWHERE)
        else:
            assert (other[here], often[here]) == (NOWHERE, 0)


@given(texts)
def test_views_stay_in_their_document(given_texts):
    tokens = tokenise(given_texts)
    other, _ = occurrences(tokens, np.ones(len(tokens), dtype=np.bool_), 4)
    views = views_of(tokens, other)
    for here in range(len(tokens)):
        inside = of(tokens, tokens.document[here])
        for name, by in SHIFTS.items():
            assert views[name][here] == (here + by if here + by in inside else NOWHERE)
        for name, by in (("before another", -1), ("after another", 1)):
            place = other[here] + by if other[here] != NOWHERE else -9
            assert views[name][here] == (place if place in inside else NOWHERE)
        head = max(x for x in inside if x <= here and (tokens.gap[x] >= 2 or x == inside[0]))
        assert views["head of line"][here] == (head if head != here else NOWHERE)
