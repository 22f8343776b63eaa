"""Marks in a line: what is marked is marked, what is cleared is not, the rest stays as it was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from voile.documents.reviewing.line import ShownSpan, check_spans
from voile.documents.reviewing.words import clear, mark, occurrences, words_of

TEXT = "Dr Ana de la Ruiz, 12 May; anaruiz@x.example"
PLACES = st.tuples(st.integers(0, len(TEXT)), st.integers(0, len(TEXT))).filter(
    lambda place: place[0] < place[1] and TEXT[slice(*place)].strip() != ""
)
EDITS = st.lists(st.tuples(PLACES, st.sampled_from(["NAME", "DATE", ""])), max_size=6)


def labels(spans: tuple[ShownSpan, ...]) -> list[str]:
    """Return the type of each character that is not a blank."""
    by = {place: one.label for one in spans for place in range(one.start, one.end)}
    return [by.get(place, "") for place, sign in enumerate(TEXT) if not sign.isspace()]


@given(EDITS)
def test_edits_change_the_characters_they_name_and_no_others(
    edits: list[tuple[tuple[int, int], str]],
) -> None:
    spans: tuple[ShownSpan, ...] = ()
    naive = [""] * len(TEXT)
    for place, label in edits:
        spans = mark(TEXT, spans, place, label) if label else clear(TEXT, spans, place)
        naive[slice(*place)] = [label] * (place[1] - place[0])
    assert labels(spans) == [a for a, sign in zip(naive, TEXT, strict=True) if not sign.isspace()]
    assert check_spans(TEXT, spans) == spans


@given(EDITS)
def test_words_cover_every_character_once_and_every_span_is_whole_words(
    edits: list[tuple[tuple[int, int], str]],
) -> None:
    spans: tuple[ShownSpan, ...] = ()
    for place, label in edits:
        spans = mark(TEXT, spans, place, label or "NAME")
    words = words_of(TEXT, spans)
    covered = [place for start, end in words for place in range(start, end)]
    assert covered == [place for place, sign in enumerate(TEXT) if not sign.isspace()]
    for one in spans:
        inside = [word for word in words if one.start <= word[0] and word[1] <= one.end]
        text = TEXT[one.start : one.end]
        assert sum(end - start for start, end in inside) == len("".join(text.split()))


def test_what_is_left_of_a_span_keeps_its_reason_and_no_blank_at_its_ends() -> None:
    span = ShownSpan(3, 17, "NAME", "known surname", 0.2)
    left = clear(TEXT, [span], (7, 12))
    assert [(TEXT[one.start : one.end], one.by, one.doubt) for one in left] == [
        ("Ana", "known surname", 0.2),
        ("Ruiz", "known surname", 0.2),
    ]


def test_a_word_occurs_as_a_whole_and_as_it_is_written() -> None:
    text = "May may Mayor (May) de la Ruiz."
    assert list(occurrences(text, ["May"])) == [(0, 3), (15, 18)]
    assert [text[slice(*place)] for place in occurrences(text, ["la", "de la"])] == ["de la"]
    assert list(occurrences(text, [])) == []
