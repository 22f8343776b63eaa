"""Names keep their form, and a word of one subject always becomes the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.documents.replacements.draws import SurrogateDraws
from voile.documents.replacements.names import (
    LANGUAGES,
    NameGenders,
    NameLists,
    NamePool,
    builtin_names,
    builtin_pool,
    fold,
    name_words,
)
from voile.documents.replacements.people import RenamedPeople, read_mention
from voile.keys.secret import Secret

ENGLISH, SPANISH = builtin_names("english"), builtin_names("spanish")
SECRET = Secret(bytes(range(32)))


def people(*names: str, language: str = "english", subject: str = "17") -> RenamedPeople:
    taken = frozenset(word for name in names for word in name_words(name))
    mentions = [read_mention(name) for name in names]
    return RenamedPeople(
        SurrogateDraws(SECRET, subject, taken), builtin_pool(language), mentions, language
    )


def renamed(*names: str, language: str = "english", subject: str = "17") -> list[str | None]:
    those = people(*names, language=language, subject=subject)
    return [those.rename(read_mention(name)) for name in names]


def test_one_person_stays_one_person_in_every_form():
    full, *forms = renamed(
        "Anna Smith", "Smith, Anna", "Mrs SMITH", "anna smith", "Anna", "Smith's", "A. Smith", "AS"
    )
    assert full is not None
    given_name, surname = full.split()
    assert given_name in ENGLISH.female
    assert surname in ENGLISH.surnames
    assert forms[:6] == [
        f"{surname}, {given_name}",
        f"Mrs {surname.upper()}",
        full.lower(),
        given_name,
        f"{surname}'s",
        f"{given_name[0]}. {surname}",
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_listed_given_names_keep_their_gender(language):
    names = builtin_names(language)
    for gender, other in (("female", "male"), ("male", "female")):
        own = [n for n in getattr(names, gender)[:300] if n not in getattr(names, other)]
        new = [renamed(f"{name} Smith", language=language)[0].split()[0] for name in own]
        assert all(one in getattr(names, gender) for one in new)


@pytest.mark.parametrize(
    ("name", "gender"), [("Robert", "male"), ("Carmen", "female"), ("Iker", "male")]
)
def test_gender_follows_the_more_frequent_use_and_every_language(name, gender):
    for subject in range(20):
        (new,) = renamed(f"{name} Smith", subject=str(subject))
        assert new.split()[0] in getattr(ENGLISH, gender)


@pytest.mark.parametrize(
    ("name", "gender"),
    [("Zorvina", "female"), ("Quellinda", "female"), ("Brondrick", "male"), ("Gorwin", "male")],
)
def test_an_unlisted_name_has_the_gender_of_its_ending(name, gender):
    assert name not in ENGLISH.female + ENGLISH.male
    (new,) = renamed(f"{name} Smith")
    assert new.split()[0] in getattr(ENGLISH, gender)


def test_a_name_of_both_genders_stays_unknown():
    genders = NameGenders(["Anna", "Kim", "Robin"], ["Tom", "Robin", "Kim"])
    assert [genders.is_female(one) for one in ("anna", "tom", "kim", "eve")] == [
        True,
        False,
        None,
        None,
    ]


def test_spanish_names():
    one, two, three, four = renamed(
        "María de Fátima García-López", "Sr. de la Torre", "TORRE", "Mª Fátima", language="spanish"
    )
    parts = one.replace("-", " ").split()
    assert "-" in one
    assert parts[0] in SPANISH.female
    assert parts[1] in SPANISH.female
    assert two.startswith("Sr. ")
    assert two[4:].upper() == three
    assert four == " ".join(parts[:2])


def test_particles_begin_with_a_capital_where_the_name_does():
    found = [renamed(name, language="spanish")[0] for name in SPANISH.surnames]
    assert any(name.startswith("De la ") for name in found)
    assert all(name[0].isupper() for name in found)


def test_accents_and_case_do_not_make_another_name():
    one, two, three = renamed("García", "GARCIA", "García", language="spanish")
    assert one.upper() == two
    assert one == three
    assert "garc" not in one.lower()


@pytest.mark.parametrize(
    ("name", "kept"),
    [("Dr. Smith, Jr.", "Dr. {}, Jr."), ("Mr and Mrs Smith", "Mr and Mrs {}"), ("(Smith)", "({})")],
)
def test_what_is_around_a_name_stays(name, kept):
    new, alone = renamed(name, "Smith")
    assert new == kept.format(alone)


def test_don_is_a_title_in_spanish_alone():
    new, pedro = renamed("Don Pedro", "Pedro", language="spanish")
    assert new == f"Don {pedro}"
    assert "Don" not in renamed("Don Smith")[0]
    first, middle = renamed("D. Pedro", "Juan D. Pedro", language="spanish")
    assert first == f"D. {pedro}"
    assert " D. " not in middle


@pytest.mark.parametrize("name", ["", "smith42", "@anna", "Anna_Smith", "12", "...", "😀"])
def test_what_is_no_name_gets_no_surrogate(name):
    assert renamed(name) == [None]


def test_characters_that_cannot_be_seen_make_no_other_name():
    plain, hidden = renamed("Anna", "An\u200bna")
    assert plain == hidden


def test_letters_that_look_alike_make_no_other_name():
    plain, cyrillic, real = renamed("Anna", "\u0410nn\u0430", "\u0410\u043d\u043d\u0430")
    assert plain == cyrillic
    assert real != plain  # a word of Cyrillic letters alone is another name


WORDS = st.one_of(
    st.sampled_from([*ENGLISH.female[:40], *ENGLISH.male[:40], *SPANISH.surnames[:60]]),
    st.text("abcdeéxyzñ", min_size=2, max_size=7).map(str.capitalize),
)
NAMES = st.lists(st.lists(WORDS, min_size=1, max_size=3).map(" ".join), min_size=1, max_size=6)


@given(NAMES, st.sampled_from(LANGUAGES))
def test_no_part_of_a_surrogate_is_removed_in_the_same_document(names, language):
    taken = {word for name in names for word in name_words(name)}
    for new in renamed(*names, language=language):
        assert new is not None
        assert not taken & set(name_words(new))


def test_a_document_that_removes_half_a_list_gets_the_other_half():
    names = ENGLISH.surnames[:150]
    new = [one for one in renamed(*names) if one]
    assert len(new) > 145
    assert not {fold(name) for name in names} & {fold(name) for name in new}


@given(NAMES, NAMES)
def test_documents_of_a_subject_differ_only_where_words_of_other_names_force_them(names, others):
    alone, together = renamed(*names), renamed(*names, *others)
    taken = {word for name in (*names, *others) for word in name_words(name)}
    for name, one, two in zip(names, alone, together, strict=False):
        shared = set(name_words(one)) & {word for new in together for word in name_words(new)}
        role = {word for other in others for word in name_words(other)}
        assert one == two or taken & set(name_words(one)) or shared or role & set(name_words(name))


@given(WORDS, st.integers(0, 10**6))
def test_a_surrogate_never_begins_with_the_letter_of_the_word(word, subject):
    (new,) = renamed(word, subject=str(subject))
    if name_words(word):
        assert name_words(new)[0][0] != name_words(word)[0][0]


def test_other_subjects_have_other_surrogates():
    found = {renamed("Anna Smith", subject=str(n))[0] for n in range(200)}
    assert len(found) > 190


def test_an_initial_without_its_name_is_keyed_and_another():
    for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ":
        (new,) = renamed(f"{letter}.")
        assert new is not None
        assert new[1:] == "."
        assert new[0] != letter
        assert new[0].isupper()


def test_own_lists_are_read_and_come_first(tmp_path):
    for what, names in [("female", "Ada\nBea"), ("male", "Cai\nDov"), ("surnames", "Ek\nFå\n\n")]:
        (tmp_path / f"{what}.txt").write_text(names, encoding="utf-8")
    own = NameLists.read(tmp_path)
    assert own == NameLists(("Ada", "Bea"), ("Cai", "Dov"), ("Ek", "Få"))
    ada = read_mention("Ada", before="Dear ")
    those = RenamedPeople(
        SurrogateDraws(SECRET, "17", frozenset(["ada"])), NamePool([own]), [ada], "english"
    )
    assert those.rename(ada) == "Bea"


def test_lists_that_leave_no_choice_are_refused(tmp_path):
    with pytest.raises(RequestError, match="male: a list of names has fewer than two"):
        NameLists(("Ada", "Bea"), ("José", "JOSE"), ("Ek", "Få"))
    with pytest.raises(RequestError, match=r"female\.txt cannot be read"):
        NameLists.read(tmp_path)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_lists_hold_each_name_once(language):
    names = builtin_names(language)
    for what in ("female", "male", "surnames"):
        listed = getattr(names, what)
        assert len(listed) == len({fold(name) for name in listed}) > 200
        assert all(name == name.strip() and name_words(name) for name in listed)
