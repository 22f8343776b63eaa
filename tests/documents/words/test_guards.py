"""Eponyms after a Spanish head word are guarded, and the names of people are not."""

from __future__ import annotations

import pytest

from voile.documents.words.decoder import join_tokens
from voile.documents.words.guarded import find_guarded
from voile.documents.words.tokens import tokenise


def guarded(text: str) -> list[str]:
    tokens = tokenise([text])
    kept = find_guarded(tokens, join_tokens(tokens))
    places = zip(tokens.starts.tolist(), tokens.ends.tolist(), kept.tolist(), strict=True)
    return [text[start:end] for start, end, is_kept in places if is_kept]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("un síndrome de Potter con", ["Potter"]),
        ("según técnica de Anderson-Hynes hoy", ["Anderson", "-", "Hynes"]),
        ("la madre de Potter vino", []),
        ("síndrome de niño", []),
        ("enfermedad de María", []),
    ],
)
def test_a_name_after_a_head_word_is_an_eponym(text, kept):
    assert guarded(text) == kept
