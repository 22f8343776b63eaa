"""A note that is JSON stays JSON, whatever is removed of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.documents.replacements.markup import are_markup
from voile.documents.replacements.published_document import publish
from voile.documents.replacements.removal import TextRemoval
from voile.documents.replacements.replacer import make_replacer
from voile.documents.text.document import Document
from voile.documents.words.tokens import tokenise
from voile.keys.secret import Secret

PUTS = [make_replacer("mark"), make_replacer("surrogate", Secret(bytes(32)))]
VALUES = st.recursive(
    st.integers(0, 10**9) | st.text(max_size=12) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
)


@pytest.mark.parametrize("put", PUTS)
@given(note=st.dictionaries(st.text("ab", min_size=1, max_size=3), VALUES), data=st.data())
def test_json_stays_json(put, note, data):
    text = json.dumps(note)
    tokens = tokenise([text])
    words = [
        (start, end)
        for start, end in zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True)
        if text[start:end].isdecimal()
    ]
    gone = data.draw(st.sets(st.sampled_from(words))) if words else set()
    removals = [TextRemoval(*at, "ID") for at in sorted(gone)]
    made = publish(Document(text, subject="1"), removals, put)
    assert json.loads(made.text).keys() == note.keys() or any(
        any(one.isdigit() for one in key) for key in note
    )


def test_most_notes_make_markup():
    assert are_markup(['{"a": 1}', "<note>Anna</note>", "plain"])
    assert not are_markup(["plain", "BP < 120", "[NAME] came", '{"a": 1}'])
