"""What stands beside a line is cut between words, and says so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.documents.reviewing.beside import CUT, text_after, text_before

TEXT = "Servicio de Cirugía Maxilofacial, sala 3"
TEXTS = st.text("ab \n", max_size=30)


@pytest.mark.parametrize(
    ("most", "before", "after"),
    [
        (40, TEXT, TEXT),
        (39, f"{CUT} {TEXT[9:]}", f"{TEXT[:-2]} {CUT}"),
        (31, f"{CUT} {TEXT[9:]}", f"{TEXT[:19]} {CUT}"),
        (28, f"{CUT} {TEXT[12:]}", f"{TEXT[:19]} {CUT}"),
        (6, f"{CUT} sala 3", f"Servic{CUT}"),  # of a longer word a part
    ],
)
def test_only_whole_words_stand_beside_a_line(most: int, before: str, after: str) -> None:
    assert text_before(TEXT, len(TEXT), most) == before
    assert text_after(TEXT, 0, most) == after


@given(TEXTS, st.integers(0, 30), st.integers(1, 12), st.integers(0, 30))
def test_nothing_is_cut_without_a_sign(text: str, place: int, most: int, bound: int) -> None:
    place = min(place, len(text))
    since, until = min(bound, place), min(max(bound, place), len(text))
    before, after = text[since:place], text[place:until]
    shown = text_before(text, place, most, since=since)
    assert shown == before if len(before) <= most else shown.startswith(CUT)
    assert before.endswith(shown.removeprefix(CUT).lstrip())
    shown = text_after(text, place, most, until=until)
    assert shown == after if len(after) <= most else shown.endswith(CUT)
    assert after.startswith(shown.removesuffix(CUT).rstrip())
    assert len(shown) <= most + 2
