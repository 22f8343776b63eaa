"""The value search against plain loops, seeded forms, chance, spills and hostile cells."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict, replace
from datetime import date
from math import sqrt

import numpy as np
import pyarrow as pa
import pytest
from benchmarks.gate_worlds import make_world
from tests.gate.values import naive

from voile.core.errors import RequestError
from voile.gate.values.search import (
    TEXT_COLUMNS,
    VALUE_COLUMNS,
    SearchInputs,
    SearchLimits,
    search_values,
)

SAID = (
    "anna müller mueller Łukas ruth stone 10 07 1933 1933-07-10 July 12 555-506-2217 5555062217 "
    "007000037 7000037 MRN-7000037 66538-67470 66538 67470 Stonewall o'neil %20anna אבגד ٤٢٤٢٤ "
    "straße STRASSE e\u0301mile émile de las casas 19330710 10.07.33 x1 a"
)
WORDS = SAID.split()


def stream(columns, rows, size=1000):
    cells = {
        name: pa.array([row[n] for row in rows], pa.string()) for n, name in enumerate(columns)
    }
    table = pa.table(cells)
    return lambda: table.to_batches(max_chunksize=size)


def find(values, texts, limits=SearchLimits(), more=None, **options):  # noqa: B008
    inputs = SearchInputs(stream(VALUE_COLUMNS, values), stream(TEXT_COLUMNS, texts), **more or {})
    return search_values(inputs, limits, **options)


def one_value(value, text):
    """How many people are found of one with a value and a text, among 10 others without both."""
    others = [(f"o{n}", "n", "note", "nothing here") for n in range(10)]
    found, _ = find([("p", "t", "c", value)], [("p", "n", "note", text), *others])
    return {form.form for form in found.forms} if found.value else set()


@pytest.mark.parametrize("seed", range(40))
def test_the_search_agrees_with_plain_loops(seed):
    rng = np.random.default_rng(seed)
    people = [f"p{n}" for n in range(rng.integers(1, 40))]

    def said(most):
        joins = rng.choice(["", " ", "-", ", "], 12, p=[0.1, 0.7, 0.1, 0.1])
        words = rng.choice(WORDS, rng.integers(0, most))
        text = "".join(f"{word}{join}" for word, join in zip(words, joins, strict=False))
        draw = rng.random()
        if draw < 0.1:
            return base64.b64encode(text.encode()).decode()
        return text.encode().hex() if draw < 0.2 else text

    values = [(x, "t", f"c{n}", said(9)) for x in people for n in range(3) if rng.random() < 0.8]
    cells = [(x, *place, said(12)) for x in people for place in (("n", "note"), ("t", "c0"))]
    texts = [one for one in cells if rng.random() < 0.9] or cells
    chance = float(rng.choice([0.01, 0.1, 0.3]))
    more = {"generalised": [("t", "c0")], "labels": ["66538-67470", "10 07"]}
    more = more if rng.random() < 0.7 else {}
    own, elsewhere = find(values, texts, SearchLimits(chance=chance), more, threads=1)
    found, expected, others, lured = naive.search(values, texts, chance=chance, **more)
    assert (own.value, elsewhere.value, elsewhere.expected) == (
        len(found),
        len(others),
        len(lured),
    )
    assert own.expected == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert own.n == len({person for person, *_ in texts})


@pytest.mark.parametrize(
    ("value", "text", "form"),
    [
        ("Anna Müller", "seen: ANNA MÜLLER.", "whole"),
        ("Anna Müller", "seen: Anna Mueller.", "whole"),
        ("Anna Mueller", "seen: anna müller.", "whole"),
        ("Anna Müller", "Mrs Mu\u0308ller came", "part"),
        ("Anna Müller", "annamuller", "joined"),
        ("Müller", "Mül\u00adler\u200b", "whole"),
        ("Stonewall", "drstonewallxx", "glued"),
        ("555-506-2217", "(555) 5062217", "digits"),
        ("MRN-7000037", "no 7000037", "digits"),
        ("007000037", "no 7000037", "digits"),
        ("7000037", "no 0007000037", "whole"),
        ("٤٢٤٢٤", "42424", "whole"),
        ("1933-07-10", "born July 10th, 1933", "date"),
        ("1933-07-10", "born 10. Juli 1933", "date"),
        ("1933-07-10", "born 10 de julio de 1933", "date"),
        ("10.07.1933", "on 1933-07-10T00:00", "date"),
        ("1933-07-10", "on 7/10/33", "date"),
        ("1933-07-10", "19330710", "digits"),
        ("1933-07-10", "born 12245", "date"),
        ("1904-02-29", "born 1521.5", "date"),
        ("1999-12-31", "36525", "date"),
        ("63", "aged 63 years", "whole"),
        ("Anna Stone", base64.b64encode(b"x Anna Stone").decode(), "base64"),
        ("Anna Stone", base64.urlsafe_b64encode("»» Anna Stone ÿ".encode()).decode(), "base64"),
        ("Anna Stone", b"anna stone".hex().upper(), "hex"),
        ("Anna Müller", "?q=Anna%20M%C3%BCller", "url"),
        ("one two three four five six seven eight", "two: one two three four five six", "passage"),
        ("אבגד הוז", "ראה אבגד הוז שם", "whole"),
    ],
)
def test_a_form_of_a_value_is_found(value, text, form):
    assert form in one_value(value, text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Anna Müller", "Hanna was here"),
        ("1933-07-10", "1933-07-11"),
        ("7000037", "17000037"),
        ("M", "M"),
        ("12245", "1933-07-10"),
        ("6", "6"),
        ("", ""),
        ("\x00", "\x00"),
    ],
)
def test_another_value_is_not_found(value, text):
    assert one_value(value, text) == set()


def test_what_is_too_short_is_counted():
    own, _ = find([("p", "t", "c", "M"), ("p", "t", "d", "Anna"), ("q", "t", "c", None)], [])
    assert (own.value, own.not_searched) == (0, 1)


def test_ends_of_intervals_are_no_values_of_their_own_column():
    """The end of a label is somebody's ZIP code, also where a note quotes the label."""
    values = [("p", "t", "zip", "66538"), ("q", "t", "zip", "67001")]
    texts = [(who, "t", "zip", "66538-67470") for who in "pq"]
    texts += [(who, "n", "note", "from 66538-67470 , well") for who in "pq"]
    texts += [(f"o{n}", "n", "note", "nothing") for n in range(300)]
    labels = {"generalised": [("t", "zip")], "labels": ["66538-67470"]}
    assert find(values, texts)[0].value == 1
    assert find(values, texts, more=labels)[0].value == 0
    leaked = [*texts, ("q", "n", "note", "moved from 67001")]
    assert find(values, leaked, more=labels)[0].value == 1


def test_a_label_of_one_value_is_released_and_no_finding():
    texts = [("p", "t", "zip", "66538"), ("p", "n", "note", "from 66538")]
    texts += [(f"o{n}", "n", "note", "nothing") for n in range(10)]
    values, labels = [("p", "t", "zip", "66538")], {"generalised": [("t", "zip")]}
    assert find(values, texts)[0].value == 1
    assert find(values, texts, more=labels)[0].value == 0


def test_a_word_that_many_hold_or_have_is_no_finding():
    everybody = [(f"p{n}", "t", "job", "carpenter") for n in range(200)]
    texts = [(f"p{n}", "n", "note", "a carpenter") for n in range(200)]
    assert find(everybody, texts)[0].value == 0
    own, _ = find(everybody[:1], texts)
    assert (own.value, own.expected) == (0, 0)
    assert (
        find(everybody[:1], texts[:1] + [(f"p{n}", "n", "note", "no") for n in range(1, 200)])[
            0
        ].value
        == 1
    )


def notes_of_ages(rng, *, are_own):
    """Return the ages of 1,000 people, and notes with their own age or with somebody's."""
    ages = rng.integers(20, 90, 1000)
    said = ages if are_own else rng.permutation(ages)
    return [(f"p{n}", "t", "age", str(x)) for n, x in enumerate(ages)], [
        (f"p{n}", "n", "note", f"a patient of {x} years, seen {n % 28 + 1} May")
        for n, x in enumerate(said)
    ]


def test_exact_ages_in_notes_are_more_than_chance_gives():
    """Each age is in more than 1% of all notes, and all ages together count."""
    rng = np.random.default_rng(2)
    own, _ = find(*notes_of_ages(rng, are_own=True), more={"generalised": [("t", "age")]})
    assert own.exceeds_chance
    assert own.value == 1000
    assert own.expected < 60
    assert [(x.column, x.in_column, x.people) for x in own.forms] == [("age", "note", 1000)]


def test_ages_of_others_are_chance():
    rng, exceeding = np.random.default_rng(2), 0
    for _ in range(20):
        own, _ = find(*notes_of_ages(rng, are_own=False))
        exceeding += own.exceeds_chance
    assert exceeding <= 1


def make_labs(seed, *, people=3000, true=0):
    """People with some labs each. The digits of 101.2 are also those of 12 October in a date.

    true : people with a value that has the digits of an own day.
    """
    rng = np.random.default_rng(seed)
    days = [f"{month}-{day}" for month in (10, 11, 12) for day in range(10, 31)]
    values, texts = [], []
    for person, rows in enumerate(rng.poisson(3, people)):
        own = rng.choice(days, rows)
        digits = own if person < true else rng.choice(days, rows)
        said = (f"{one[:2]}{one[3]}.{one[4]}" for one in digits)
        values += [(f"p{person}", "labs", "value", one) for one in said]
        texts += [(f"p{person}", "labs", "lab_date", f"2013-{one}") for one in own]
    return values, texts


def test_people_with_many_rows_match_by_chance_as_often_as_expected():
    """More labs give more values and more dates, so their chance matches grow as the square."""
    several = [find(*make_labs(seed))[0] for seed in range(5)]
    assert not any(one.exceeds_chance or one.value for one in several)
    found, _ = find(*make_labs(1, true=300))
    assert found.value > found.expected + 100
    assert found.exceeds_chance


def test_a_common_value_that_is_a_whole_cell_of_another_column_is_no_text():
    values = [(f"p{n}", "t", "items", str(20 + n % 60)) for n in range(600)]
    cells = [(f"p{n}", "t", "stays", str(20 + n % 60)) for n in range(600)]
    cells += [(f"p{n}", "t", "other", str(20 + (n + 7) % 60)) for n in range(600)]
    own, _ = find(values, cells)
    assert own.value == 0


def test_a_rare_code_in_a_text_of_somebody_else_is_found():
    texts = [(f"p{n}", "n", "note", "nothing") for n in range(200)]
    texts[7] = ("p7", "n", "note", "see 7000037")
    own, elsewhere = find([("p1", "t", "mrn", "7000037")], texts)
    assert (own.value, elsewhere.value, elsewhere.expected) == (0, 1, 0)
    assert [(x.column, x.form, x.people) for x in elsewhere.forms] == [("mrn", "whole", 1)]
    nobody = [*texts, (None, "n", "note", "see 7000038")]
    assert find([("p1", "t", "mrn", "7000038")], nobody)[1].value == 1


def test_false_alarms_are_as_many_as_expected():
    """Words, numbers and dates in texts that know nothing of their people."""
    found = expected = variance = 0.0
    others = []
    for seed in range(10):
        own, elsewhere = search_values(
            make_world(seed, people=1500, words=60, vocabulary=4000).inputs()
        )
        assert abs(own.value - own.expected) <= 4 * own.deviation
        assert not elsewhere.value > elsewhere.expected + 4 * max(elsewhere.deviation, 1)
        found, expected = found + own.value, expected + own.expected
        variance += own.deviation**2
        others.append((elsewhere.value, elsewhere.expected))
        assert own.certain == 0
    assert expected > 40
    assert abs(found - expected) <= 2 * variance**0.5
    real, lured = map(sum, zip(*others, strict=True))
    assert real > 40
    assert abs(real - lured) <= 2 * (real + lured) ** 0.5


def test_seeded_forms_are_found():
    world = make_world(3, people=4000, each=40, vocabulary=4000)
    own, _ = search_values(world.inputs())
    seeded = {person for people in world.seeded.values() for person in people}
    assert own.beyond_chance >= 0.97 * len(seeded) - 2 * own.deviation
    assert {"whole", "part", "digits", "date", "base64", "hex", "url", "glued", "joined"} <= {
        form.form for form in own.forms
    }


@pytest.mark.parametrize(
    ("value", "text", "certain"),
    [
        ("Stracke", "seen by stracke today", 1),
        ("Wehner Approach 630", "the approach was good", 0),  # a part of a value may be a word
        ("555-506-2217", "call 5555062217", 1),
        ("5062217", "x 5062217 y", 1),
        ("66538", "x 66538 y", 0),  # one number of five digits in 100,000
        ("1933-07-10", "born 10 July 1933", 0),
        ("May", "in may", 0),
    ],
)
def test_a_whole_long_value_that_nobody_else_has_is_there_by_no_chance(value, text, certain):
    others = [(f"q{n}", "n", "note", "nothing") for n in range(200)]
    own, _ = find([("p", "t", "c", value)], [("p", "n", "note", text), *others])
    assert (own.value, own.certain) == (1, certain)
    shared, _ = find([("p", "t", "c", value)], [("p", "n", "note", text), *others,
                                                ("r", "n", "note", text)])  # fmt: skip
    assert (shared.value, shared.certain) == (1, 0)


def test_the_bound_on_chance_is_exceeded_in_one_of_100_releases():
    rng = np.random.default_rng(4)
    found, _ = find([("p", "t", "c", "Stracke")], [("p", "n", "note", "none")])
    for expected in (0.0, 0.25, 3.0, 40.0):
        bound = replace(found, expected=expected, deviation=0.0).most_by_chance
        assert np.mean(rng.poisson(expected, 100_000) > bound) <= 0.011
        assert bound <= 3 * expected + 2


def test_hostile_cells_are_searched():
    huge = "a1" * 200_000
    texts = [
        ("p", "n", "note", "\x00 Anna\x00Stone \u202e"),
        ("p\x00", "n", "note", ""),
        ("r", "n", "note", huge),
        ("s", "n", "note", "e" + "\u0301" * 100_000),
        ("t", "n", "note", base64.b64encode(b"\xed\xa0\x80 Anna \xe0\x80\x80").decode()),
        ("u", "n", "note", b"\xf4\x90\x80\x80ab".hex()),
    ]
    own, _ = find([("p", "t", "c", "Anna Stone"), ("r", "t", "c", huge)], texts)
    assert (own.value, own.n) == (2, 6)


def test_findings_and_errors_have_no_value():
    own, elsewhere = find(
        [("canary-person", "t", "c", "Canary Value 4711471")],
        [("canary-person", "n", "note", "canary value 4711471"), ("x", "n", "note", "4711471")],
    )
    said = json.dumps([asdict(own), asdict(elsewhere)]).lower() + repr(own).lower()
    assert own.value == 1
    assert "canary" not in said
    assert "4711471" not in said
    bad = stream(("person", "value"), [("canary", "canary")])
    with pytest.raises(RequestError, match="a batch lacks the column part") as error:
        search_values(SearchInputs(bad, bad))
    assert "canary" not in str(error.value)


def test_more_keys_than_memory_spill_and_none_is_lost(tmp_path):
    people, spilled = 60_000, []
    codes = (10**8 + np.random.default_rng(1).permutation(people)).tolist()
    values = [(f"p{n}", "t", f"c{c}", f"{c}-{codes[n]}") for n in range(people) for c in "ab"]
    texts = [(f"p{n}", "n", "note", f"seen a{codes[n]} b{codes[n]}") for n in range(people)]
    every = stream(VALUE_COLUMNS, values)

    def given():
        yield from every()
        spilled.append(sum(x.stat().st_size for x in tmp_path.rglob("*") if x.is_file()))

    inputs = SearchInputs(given, stream(TEXT_COLUMNS, texts))
    few, many = (
        search_values(inputs, memory=memory, directory=tmp_path, threads=1)
        for memory in (40_000_000, 900_000_000)
    )
    assert few == many
    assert few[0].value == people
    assert max(spilled[:2]) > 0 == max(spilled[2:])
    assert not list(tmp_path.iterdir())


def make_moved_dates(seed, *, people=40, visits=30, most=365, is_true=False):
    """People with records from their birth on, whose dates are moved by one offset each."""
    rng = np.random.default_rng(seed)
    births = date(2015, 1, 1).toordinal() + rng.integers(0, 2_000, people)
    offsets = rng.integers(1, most + 1, people) * rng.choice([-1, 1], people)
    values, texts = [], []
    for n, (born, offset) in enumerate(zip(births, offsets, strict=True)):
        own = born + rng.choice(np.arange(1, 700), visits, replace=False) + offset
        own = [*own, born] if is_true and n % 4 == 0 else own
        values.append((f"p{n}", "known", "birth_date", date.fromordinal(int(born)).isoformat()))
        texts += [
            (f"p{n}", "export", "Visit", f'"start": "{date.fromordinal(int(one))}"') for one in own
        ]
    return values, texts


def test_moved_dates_meet_birth_dates_as_often_as_expected():
    offsets = [one for one in range(-365, 366) if one]
    several = [
        find(*make_moved_dates(seed), SearchLimits(has_common=False), {"offsets": offsets})[0]
        for seed in range(20)
    ]
    found, expected = (sum(getattr(x, name) for x in several) for name in ("value", "expected"))
    assert found > 3
    assert abs(found - expected) < 3 * sqrt(expected)
    assert sum(one.exceeds_chance for one in several) <= 2
    assert {form.form for one in several for form in one.forms} == {"date"}
    assert all(0 < form.expected < 2 for one in several for form in one.forms)


def test_true_birth_dates_among_moved_dates_are_more_than_chance_gives():
    offsets = [one for one in range(-365, 366) if one]
    for seed in range(5):
        world = make_moved_dates(seed, is_true=True)
        found, _ = find(*world, SearchLimits(has_common=False), {"offsets": offsets})
        assert found.value >= 4
        assert found.exceeds_chance
