"""Offsets there and back, against a twin that follows each character."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from voile.documents.replacements.published import replace_removals
from voile.documents.replacements.removal import TextRemoval
from voile.documents.text.document import Span


@st.composite
def publications(draw):
    """Return a text with its removals and their replacements, some of them empty."""
    text = draw(st.text("ab é\n😀", min_size=1, max_size=30))
    cuts = draw(st.lists(st.integers(0, len(text)), max_size=8, unique=True).map(sorted))
    removals = [
        TextRemoval(a, b, "NAME") for a, b in zip(cuts[::2], cuts[1::2], strict=False) if a < b
    ]
    new = [draw(st.text("XY", max_size=4)) for _ in removals]
    return text, removals, new


def spans_of(draw, length):
    ends = draw(st.lists(st.integers(0, length), max_size=8, unique=True).map(sorted))
    return [Span(a, b, "NAME") for a, b in zip(ends[::2], ends[1::2], strict=False)]


@given(publications())
def test_kept_text_and_edits_tile_both_texts(case):
    text, removals, new = case
    made = replace_removals(text, removals, new)
    done = source = 0
    for edit, removal, replacement in zip(made.edits, removals, new, strict=True):
        assert made.text[done : edit.start] == text[source : edit.source_start]
        assert made.text[edit.start : edit.end] == replacement
        assert (edit.source_start, edit.source_end) == (removal.start, removal.end)
        done, source = edit.end, edit.source_end
    assert made.text[done:] == text[source:]


def origins(text, removals, new):
    """Return for each published character the range of the source that it stands for."""
    found, done = [], 0
    for removal, replacement in zip(removals, new, strict=True):
        found += [(place, place + 1) for place in range(done, removal.start)]
        found += [(removal.start, removal.end)] * len(replacement)
        done = removal.end
    return found + [(place, place + 1) for place in range(done, len(text))]


@given(publications(), st.data())
def test_each_range_is_where_its_characters_are(case, data):
    text, removals, new = case
    made = replace_removals(text, removals, new)
    twin = origins(*case)
    assert len(twin) == len(made.text)
    if made.text:
        start = data.draw(st.integers(0, len(made.text) - 1))
        end = data.draw(st.integers(start + 1, len(made.text)))
        low = min(a for a, _ in twin[start:end])
        high = max(b for _, b in twin[start:end])
        assert made.to_source(start, end) == (low, high)

    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    touched = [x for x, (a, b) in enumerate(twin) if a < end and start < b]
    low, high = made.to_published(start, end)
    assert touched == list(range(low, high))


@given(publications(), st.data())
def test_spans_carried_over_are_what_is_left_of_them(case, data):
    text, removals, new = case
    made = replace_removals(text, removals, new)
    spans = spans_of(data.draw, len(text))
    gone = {place for r in removals for place in range(r.start, r.end)}
    left = {
        place
        for span in spans
        for place in range(span.start, span.end)
        if place not in gone and not text[place].isspace()
    }
    twin = origins(*case)
    kept = [x for span in made.carry_spans(spans) for x in range(span.start, span.end)]
    letters = [x for x in kept if not made.text[x].isspace()]
    assert {twin[x][0] for x in letters} == left
    assert all(twin[x][1] - twin[x][0] == 1 and twin[x][0] not in gone for x in kept)
    for span in made.carry_spans(spans):
        part = made.text[span.start : span.end]
        assert part == part.strip() != ""


def test_a_span_that_is_cut_leaves_its_parts():
    text = "Ask Anna Maria Smith."
    made = replace_removals(text, [TextRemoval(9, 14, "NAME")], ["[NAME]"])
    spans = made.carry_spans([Span(4, 20, "NAME")])
    assert [made.text[span.start : span.end] for span in spans] == ["Anna", "Smith"]


def test_a_place_between_edits_that_touch_is_the_same_in_both():
    pair = [TextRemoval(0, 2, "A"), TextRemoval(2, 4, "B")]
    made = replace_removals("abcd", pair, ["XYZ", "U"])
    assert made.to_source(3, 3) == (2, 2)
    assert made.to_published(2, 2) == (3, 3)
    assert made.to_source(2, 4) == (0, 4)


def test_examples_of_publishedtext():
    one = replace_removals("Ask Anna Smith.", [TextRemoval(4, 14, "NAME")], ["[NAME]"])
    assert (one.text, one.to_source(5, 6), one.to_published(14, 15)) == (
        "Ask [NAME].",
        (4, 14),
        (10, 11),
    )
