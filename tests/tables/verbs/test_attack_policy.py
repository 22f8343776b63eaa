"""From a file to evidence: which attacks on the policy a release meets, and what they find."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from voile.core.errors import RequestError
from voile.core.evidence import difference
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.release.choice import Choice
from voile.tables.domains.domain import ValueDomain
from voile.tables.domains.parser import CellParser
from voile.tables.fitting.fit import fit
from voile.tables.module import TABLES
from voile.tables.recoding.codebook import CodedColumn
from voile.tables.verbs.attack_places import places
from voile.tables.verbs.choose import choose
from voile.tables.verbs.options import ApplyOptions, AttackOptions, FitOptions
from voile.tables.verbs.report import sections
from voile.tables.verbs.verify import verify

QUASI = ["age", "zip"]
ROLES = Roles.model_validate(
    {"columns": {"who": "drop", "age": "quasi", "zip": "quasi", "ill": "sensitive"}}
)


def county(seed=1, rows=4000):
    """Make everybody of a county, who lives in few places and is of any age."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "who": [f"person {i}" for i in range(rows)],
            "age": rng.integers(18, 90, rows),
            "zip": rng.choice(["37010", "37011", "37020", "37201", "38001"], rows),
            "ill": rng.choice(["flu", "gout", "cold"], rows, p=[0.5, 0.3, 0.2]),
        }
    )


def counted(table):
    people = table.select(QUASI).append_column("people", pa.array(np.ones(len(table), dtype=int)))
    return people.group_by(QUASI).aggregate([("people", "sum")]).rename_columns([*QUASI, "people"])


def fitted(table, **options):
    asked = {"family": "tree", **options}
    if asked["family"] == "global":
        asked["method"] = "steepest"
    return fit(open_source(table), ROLES, FitOptions.model_validate(asked), seed=1, progress=silent)


def released(table, out, **options):
    kit = fitted(table, **options)
    chosen = choose(kit, Choice(least_loss=True))
    return TABLES.apply(
        kit, chosen, open_source(table), out, ApplyOptions(), force=True, progress=silent
    )


def attacked(release, table, **options):
    asked = AttackOptions.model_validate({name: str(one) for name, one in options.items()})
    found = TABLES.attack(release, open_source(table), asked, seed=3, progress=silent)
    return {one.attack: one for one in found}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Everybody, a tenth of them as patients, and a register and a census of all."""
    folder, everybody = tmp_path_factory.mktemp("county"), county()
    pq.write_table(everybody.drop(["ill"]), folder / "register.parquet")
    pq.write_table(counted(everybody), folder / "population.parquet")
    return folder, everybody.slice(0, 400)


@pytest.mark.parametrize("holds", [["register"], ["population"], ["register", "population"]])
def test_empty_boxes_prove_absences_and_publish_records_and_others_do_not(files, tmp_path, holds):
    folder, patients = files
    found = {}
    for empty in (False, True):
        release = released(
            patients, tmp_path / "out.csv", k=2, empty_boxes=empty,
            population=[folder / "population.parquet"],
        )  # fmt: skip
        given = {name: folder / f"{name}.parquet" for name in holds}
        person = {"person": "who"} if "register" in holds else {}
        found[empty] = attacked(release, patients, **given, **person)
        assert all(check.holds is not False for check in verify(release))
    shown, true = found[True]["absences"].findings
    assert shown.rate.value > 0.2
    assert true.rate.value == 1
    assert found[False]["absences"].findings[0].rate.successes == 0
    ends, rule = (found[empty]["box ends"].findings[0] for empty in (True, False))
    assert ends.rate.value == 1
    assert difference(ends.rate, ends.baseline)[1] > 0.05
    assert difference(rule.rate, rule.baseline)[1] < 0.1


def test_a_tree_is_attacked_by_what_it_shows_alone(tmp_path):
    """Without a register, a population and a sensitive column."""
    table, roles = (
        county(rows=200),
        ROLES.model_copy(update={"columns": {**ROLES.columns, "ill": ROLES.columns["who"]}}),
    )
    asked = FitOptions(family="tree", k=3)
    kit = fit(open_source(table), roles, asked, seed=1, progress=silent)
    chosen, out = choose(kit, Choice(least_loss=True)), tmp_path / "out.csv"
    release = TABLES.apply(
        kit, chosen, open_source(table), out, ApplyOptions(), force=True, progress=silent
    )
    found = attacked(release, table)
    assert set(found) == {"box ends"}
    assert found["box ends"].findings[0].rate.trials > 10


def test_a_report_says_on_its_first_page_what_empty_boxes_cost(files, tmp_path):
    folder, patients = files
    known = released(
        patients, tmp_path / "known.csv", k=2, empty_boxes=True,
        population=[folder / "population.parquet"],
    )  # fmt: skip
    evidence = attacked(known, patients, population=folder / "population.parquet")
    shown = evidence["absences"].findings[0].rate
    for audience in ("public", "internal"):
        said = _summary(known, audience)
        assert "Leaves without a record were allowed" in said
        if audience == "internal":
            assert f"{shown.value:.0%} of the population is proved not to be" in said
    unknown = released(patients, tmp_path / "unknown.csv", k=2, empty_boxes=True)
    assert "Their number is unknown" in _summary(unknown, "public")
    assert "Leaves without" not in _summary(released(patients, tmp_path / "no.csv", k=2), "public")


def test_a_report_on_a_fit_says_that_boxes_may_be_empty(files):
    _, patients = files
    for empty in (True, False):
        said = _summary(fitted(patients, k=2, empty_boxes=empty), "public")
        assert ("Trees may have leaves without a record" in said) == empty


def test_global_policies_have_no_boxes_to_leave_empty(files):
    _, patients = files
    with pytest.raises(RequestError, match="leave --empty-boxes out"):
        fitted(patients, family="global", empty_boxes=True)


def _summary(release, audience):
    first = sections(release, (), audience=audience)[0]
    return " ".join(text for block in first.blocks for text in getattr(block, "paragraphs", ()))


def clinic(rows_each=4, ages=120, seed=0):
    """Make people of whom the two at some ages always share what they have: l = 2 is in the way."""
    rng = np.random.default_rng(seed)
    age, ill = [], []
    for one in range(ages):
        many = rows_each * (2 + one % 2)
        age += [20 + one] * many
        ill += (
            ["hiv"] * many if one % 4 == 0 else rng.choice(["flu", "cold", "gout"], many).tolist()
        )
    rows = len(age)
    return pa.table(
        {"who": [str(i) for i in range(rows)], "age": age, "zip": ["37010", "37011"] * (rows // 2),
         "ill": ill}
    )  # fmt: skip


@pytest.mark.parametrize(("family", "rows_each"), [("tree", 4), ("global", 2)])
def test_a_cut_that_l_diversity_prevented_says_who_is_alike(tmp_path, family, rows_each):
    """A quarter of the ages are all of one illness: every cut that would show them is missing."""
    table = clinic(rows_each)
    release = released(table, tmp_path / "out.csv", k=3, l_diversity=2, family=family)
    found = attacked(release, table)["minimality"]
    guesses, sure = found.findings
    assert difference(guesses.rate, guesses.baseline)[1] > 0
    assert sure.rate.trials == 0 or sure.rate.value > 0.8


def test_where_only_k_stands_in_the_way_nothing_is_inferred_from_missing_cuts(tmp_path):
    table = county(2, 600)
    diverse = attacked(released(table, tmp_path / "a.csv", k=20, l_diversity=2), table)
    guesses = diverse["minimality"].findings[0]
    assert guesses.rate.trials == 0 or guesses.rate.value <= guesses.baseline.interval()[1]
    plain = attacked(released(table, tmp_path / "b.csv", k=20), table)
    assert "minimality" not in plain


def test_suppression_and_people_of_several_rows_leave_missing_cuts_unread(tmp_path):
    table, asked = clinic(), {"k": 3, "l_diversity": 2}
    suppressing = released(table, tmp_path / "a.csv", family="global", suppress=0.2, **asked)
    assert "minimality" not in attacked(suppressing, table)
    twice = table.set_column(0, "who", pa.array([str(i // 2) for i in range(len(table))]))
    release = released(twice, tmp_path / "b.csv", **asked)
    assert "minimality" in attacked(release, twice)
    assert "minimality" not in attacked(release, twice, person="who")


def coded(values, **parser):
    """Return a column of a codebook whose values are read as those of a domain are."""
    domain = ValueDomain("column", tuple(values), CellParser(**parser))
    return CodedColumn.of(domain, (), bounds=False)


def test_places_follow_the_order_in_which_a_column_is_cut():
    numbers = coded((2, 10), kind="integer")
    both = [pa.chunked_array([["10", "2", None]]), pa.chunked_array([["7"]])]
    assert [one.tolist() for one in places(numbers, both)] == [[2, 0, 3], [1]]
    names = coded(("a", "b"), kind="text")
    seen = [pa.chunked_array([["b", "b", "a", None]]), pa.chunked_array([["c", "a"]])]
    assert [one.tolist() for one in places(names, seen)] == [[0, 0, 1, 3], [2, 1]]
    many = [pa.chunked_array([[f"{i}.5" for i in range(300)]])]
    assert places(coded((Decimal(1), Decimal(2)), kind="decimal"), many) is None


def test_every_finding_of_the_policy_has_a_section_in_both_reports(files, tmp_path):
    folder, patients = files
    release = released(patients, tmp_path / "out.csv", k=3, l_diversity=2)
    found = attacked(release, patients, population=folder / "population.parquet")
    assert list(found) == ["singling out", "inference", "absences", "box ends", "minimality"]
    for audience in ("public", "internal"):
        shown = {
            one.key: one for one in sections(release, tuple(found.values()), audience=audience)
        }
        titles = [getattr(block, "text", "") for block in shown["inference"].blocks]
        for name in ("Absences", "Box ends", "Minimality"):
            assert name in titles


def test_attacks_made_once_for_each_sensitive_column_have_headings_of_their_own(tmp_path):
    table = clinic()
    table = table.append_column(
        "job", pa.array(["cook", "judge", "nurse", "cook"] * (len(table) // 4))
    )
    columns = {**ROLES.columns, "job": ROLES.columns["ill"]}
    roles = ROLES.model_copy(update={"columns": columns})
    asked = FitOptions(family="tree", k=3, l_diversity=2)
    kit = fit(open_source(table), roles, asked, seed=1, progress=silent)
    chosen, out = choose(kit, Choice(least_loss=True)), tmp_path / "out.csv"
    release = TABLES.apply(
        kit, chosen, open_source(table), out, ApplyOptions(), force=True, progress=silent
    )
    found = TABLES.attack(release, open_source(table), AttackOptions(), seed=3, progress=silent)
    shown = {one.key: one for one in sections(release, found, audience="public")}
    titles = [block.text for block in shown["inference"].blocks if hasattr(block, "text")]
    assert titles == [
        "Inference: ill", "Inference: job", "Box ends", "Minimality: ill", "Minimality: job"
    ]  # fmt: skip
