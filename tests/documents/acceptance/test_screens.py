"""Identifiers that are planted: shown as they would stand if the committee had missed them."""

from __future__ import annotations

import numpy as np
import pytest

from voile.documents.acceptance.kept import KeptTokens
from voile.documents.acceptance.reading import DueTokens
from voile.documents.acceptance.screens import PlantedToken, draw_plants, identifiers, screens
from voile.documents.replacements.published import PublishedDocument, PublishedEdit
from voile.documents.replacements.removal import RemovalReason
from voile.documents.text.document import Document
from voile.documents.words.tokens import tokenise

TEXT = "Seen by Ana Rivera , who called Luz ."
BY = (RemovalReason("known", "name"),)
NAMES = ("Ana Rivera", "Luz")


def pool_of(scores: dict[str, float]) -> list[PlantedToken]:
    """Return what can be planted of the text, where the classifiers say so much of its words."""
    places = [(TEXT.index(name), TEXT.index(name) + len(name)) for name in NAMES]
    edits = tuple(PublishedEdit(0, 0, *place, "NAME", BY) for place in places)
    tokens = tokenise([TEXT])
    words = [TEXT[a:b] for a, b in zip(tokens.starts, tokens.ends, strict=True)]
    score = np.array([scores.get(word, 0.0) for word in words])
    left = np.array([word not in " ".join(NAMES).split() for word in words])
    kept = KeptTokens(tokens.document, tokens.starts, tokens.ends, score, score, left, score < 0)
    pair = PublishedDocument(TEXT, edits=edits), Document(TEXT)
    return identifiers([pair], kept, frozenset({"known"}))


def test_a_word_is_as_likely_as_the_likeliest_that_is_shown_with_it() -> None:
    """The committee missed Rivera and would have found Ana: shown together they are easier."""
    pool = pool_of({"Ana": 0.9, "Rivera": 0.01, "Luz": 0.05})
    found = [(TEXT[slice(*one.shown)], one.score) for one in pool]
    assert found == [("Luz", 0.05), ("Ana Rivera", 0.9), ("Ana Rivera", 0.9)]


@pytest.mark.parametrize(("ana", "as_hard"), [(0.9, False), (0.02, True)])
def test_planted_ones_are_as_hard_only_where_all_that_is_shown_would_be_missed(
    ana: float, as_hard: bool
) -> None:
    pool = pool_of({"Ana": ana, "Rivera": 0.01})
    assert draw_plants(pool, len(pool), 0.1, np.random.default_rng(0))[1] is as_hard


def test_a_screen_shows_whole_words_of_the_released_line() -> None:
    """A mark is shorter than what it stands for; other lines are not shown."""
    words = "otorrinolaringología " * 12
    text = f"Alta\r\n{words}Ana pregunta por Luz . {words}\r\nFin"
    tokens = tokenise([text])
    none = np.zeros(len(tokens))
    kept = KeptTokens(tokens.document, tokens.starts, tokens.ends, none, none, none == 0, none > 0)
    place = text.index("Ana")
    edits = (PublishedEdit(place, place + 6, place, place + 3, "NAME", BY),)
    pair = PublishedDocument(text.replace("Ana", "[NAME]"), edits=edits), Document(text)
    asked = np.flatnonzero(tokens.starts == text.index("Luz"))
    (line,) = screens(DueTokens("sample", asked, 0), [], kept, [pair], np.random.default_rng(0))
    assert line.text == "Luz"
    assert line.before.endswith("otorrinolaringología [NAME] pregunta por ")
    assert line.before.startswith("… otorrinolaringología ")
    assert line.after.endswith(" otorrinolaringología …")
    assert line.after.startswith(" . otorrinolaringología ")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_screen_ends_where_its_line_does(end: str) -> None:
    text = f"Alta{end}Ana pregunta por Luz hoy{end}Fin"
    tokens = tokenise([text])
    none = np.zeros(len(tokens))
    kept = KeptTokens(tokens.document, tokens.starts, tokens.ends, none, none, none == 0, none > 0)
    asked = np.flatnonzero(tokens.starts == text.index("Luz"))
    pair = PublishedDocument(text), Document(text)
    (line,) = screens(DueTokens("sample", asked, 0), [], kept, [pair], np.random.default_rng(0))
    assert (line.before, line.text, line.after) == ("Ana pregunta por ", "Luz", " hoy")
