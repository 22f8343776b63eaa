"""Which words of a release are new: read first, whatever the classifiers say."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from voile.documents.acceptance.kept import RARE, _new_words
from voile.documents.text.document import Document
from voile.documents.words.tokens import tokenise

WORDS = st.sampled_from(["Ana", "ana", "ANA", "Luz", "luz", "12", "á", "Á", "el"])


@given(st.lists(st.lists(WORDS, max_size=4).map(" ".join), min_size=1, max_size=5))
def test_a_new_word_has_a_capital_is_small_nowhere_and_in_few_documents(texts: list[str]) -> None:
    tokens = tokenise(texts)
    pairs = [(None, Document(text)) for text in texts]
    found = _new_words(pairs, tokens.document, tokens.starts, tokens.ends)  # type: ignore[arg-type]
    places = zip(tokens.document, tokens.starts, tokens.ends, strict=True)
    words = [texts[number][a:b] for number, a, b in places]
    expected = []
    for word in words:
        alike = [text.split() for text in texts if word.lower() in text.lower().split()]
        small = any(one == word.lower() for text in alike for one in text)
        expected.append(word[0].isupper() and not small and len(alike) <= RARE)
    np.testing.assert_array_equal(found, expected)
