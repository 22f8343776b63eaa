"""Ages over 89 are one group; others are kept if that is asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.documents.replacements.ages import group_ages


@pytest.mark.parametrize(
    ("value", "new"),
    [
        ("90", "90+"),
        ("92-year-old", "90+-year-old"),
        ("aged 101", "aged 90+"),
        ("ninety-two years old", "90+ years old"),
        ("one hundred and three", "90+"),
        ("92 años", "más de 89 años"),
        ("noventa y dos años de edad", "más de 89 años de edad"),
        ("ciento dos años", "más de 89 años"),
        ("Noventa y un años", "más de 89 años"),
        ("1100 meses", None),
        ("92 y 95 años", None),
        ("born in 1920", None),
        ("adolescente", None),
        ("92 (Anna)", None),
        ("", None),
    ],
)
def test_ages_over_89(value, new):
    assert group_ages(value, "english", keep=True) == new
    assert group_ages(value, "english", keep=False) == new


KEPT = """
89|89.5|45 años|8 meses|three months|ochenta y nueve años|45-year-old|9 a|40y|un año|4.5 years
100 months|400 days|tres años y diez meses|one year and two months|88 and 89"""


@pytest.mark.parametrize("value", KEPT.strip().replace("\n", "|").split("|"))
def test_other_ages_stay_only_if_asked(value):
    assert group_ages(value, "english", keep=True) == value
    assert group_ages(value, "english", keep=False) is None


@given(st.integers(0, 199), st.sampled_from(["{}", "{} years", "{} años", "aged {}"]))
def test_the_line_is_between_89_and_90(age, form):
    value = form.format(age)
    new = group_ages(value, "english", keep=True)
    assert (new == value) == (age < 90)
    assert new is not None
    assert age < 90 or str(age) not in new.replace("90+", "").replace("89", "")


def test_a_bare_number_is_grouped_in_the_language_asked():
    assert group_ages("95", "spanish", keep=True) == "más de 89"


def test_examples_of_group_ages():
    assert [group_ages(age, "english", keep=True) for age in ("92-year-old", "noventa años")] == [
        "90+-year-old",
        "más de 89 años",
    ]
