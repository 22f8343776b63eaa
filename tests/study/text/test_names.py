"""Made-up names: one a person, nobody else's, the same in columns and in texts."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.documents.replacements.names import NameLists, NamePool, builtin_pool, name_words
from voile.documents.replacements.removal import TextRemoval
from voile.documents.replacements.surrogates import Surrogates
from voile.documents.text.document import Document
from voile.keys.pseudonyms import Secret
from voile.study.text.names import MadeUpNames, PersonName

SECRET = Secret(bytes(32))
SMALL = NamePool(
    [NameLists(("Ada", "Bea", "Cleo"), ("Al", "Bo", "Cy"), ("Dorn", "Elk", "Fenn", "Gott"))]
)
WORDS = st.sampled_from(["", "Anna", "ANNA", "Karl Otto", "de la Torre", "O'Neill", "Ng", "élan"])
PEOPLE = st.dictionaries(
    st.text("abc123", min_size=1), st.builds(PersonName, WORDS, WORDS), max_size=30
)


@given(PEOPLE)
def test_no_two_people_share_a_name_however_short_the_lists_are(people):
    made = MadeUpNames.draw(SECRET, people, SMALL)
    whole = Counter(tuple(one) for person, one in made.names.items() if any(people[person]))
    assert not [name for name, n in whole.items() if n > 1]
    for person, own in people.items():
        true = set(name_words(" ".join(own)))
        assert true.isdisjoint(name_words(" ".join(made.names[person])))
        assert made.words_of(person).keys() == true
    assert MadeUpNames.draw(SECRET, dict(reversed(people.items())), SMALL) == made


def test_people_of_one_name_get_two():
    people = {f"P{n}": PersonName("Anna", "Smith") for n in range(500)}
    made = MadeUpNames.draw(SECRET, people, builtin_pool("english"))
    assert len(set(made.names.values())) == 500


def test_given_names_alone_are_no_one_elses_and_lists_may_be_too_short():
    people = {f"P{n}": PersonName("Anna", "") for n in range(60)}
    assert len(set(MadeUpNames.draw(SECRET, people, SMALL).names.values())) == 60
    same = NamePool([NameLists(("Ada", "Ann"), ("Al", "Abe"), ("Ash", "Arne"))])
    with pytest.raises(RequestError, match="names: the lists of names are too short"):
        MadeUpNames.draw(SECRET, people, same)


def test_a_text_has_the_name_of_the_columns_in_every_form():
    made = MadeUpNames.draw(SECRET, {"P": PersonName("Anna", "Smith")}, builtin_pool("english"))
    given, family = made.names["P"]
    text = "Mrs ANNA SMITH . Smith , A. came with Anna's brother Tom Ng . Dr Lee ."
    forms = ("ANNA SMITH", "Smith , A.", "Anna's", "Tom Ng", "Lee")
    removals = [TextRemoval(text.index(x), text.index(x) + len(x), "NAME") for x in forms]
    put = Surrogates(SECRET).knowing(made.words_of)
    written = put(Document(text, subject="P"), removals).text
    assert written.startswith(f"Mrs {given.upper()} {family.upper()} . {family} , {given[0]}. came")
    assert f"with {given}'s brother " in written
    assert not {"Tom", "Ng", "Lee"} & set(written.split())
    other = put(Document(text, subject="Q"), removals).text
    assert family not in other
