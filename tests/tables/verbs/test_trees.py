"""Trees from fit to verify: chosen and applied as global policies are, and sure on new people."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from voile.core.errors import InfeasibleError, RequestError
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.face.kit import Kit
from voile.opening import open_kit
from voile.release.choice import Choice
from voile.tables.fitting.fit import fit
from voile.tables.module import TABLES
from voile.tables.recoding.boxes import read_codebook
from voile.tables.trees.policy import TreePolicy
from voile.tables.verbs.choose import choose
from voile.tables.verbs.content import TablesContent
from voile.tables.verbs.options import ApplyOptions, AttackOptions, FitOptions
from voile.tables.verbs.report import sections
from voile.tables.verbs.verify import verify

ROLES = Roles.model_validate(
    {"columns": {"who": "drop", "age": "quasi", "zip": "quasi", "sex": "quasi", "ill": "sensitive"}}
)
TOWNS = ("37010", "37011", "37020", "37201", "38001")


def people(seed=1, rows=400, towns=TOWNS):
    rng = np.random.default_rng(seed)
    age = np.clip(rng.normal(45, 15, rows), 18, 90).astype(int)
    return pa.table(
        {
            "who": [f"person {i}" for i in range(rows)],
            "age": age,
            "zip": rng.choice(towns, rows, p=np.linspace(1, 3, len(towns)) / (2 * len(towns))),
            "sex": rng.choice(["f", "m"], rows),
            "ill": rng.choice(["flu", "gout", "cold"], rows, p=[0.5, 0.3, 0.2]),
        }
    )


def fitted(table=None, roles=ROLES, **options):
    asked = FitOptions.model_validate({"family": "tree", "k": 5, **options})
    source = open_source(people() if table is None else table)
    return Kit.of(fit(source, roles, asked, seed=1, progress=silent), TABLES)


def applied(kit, table, out=None, *, way=None, **options):
    chosen = choose(kit, Choice(**(way or {"least_loss": True})))
    asked = ApplyOptions.model_validate(options)
    return TABLES.apply(kit, chosen, open_source(table), out, asked, force=True, progress=silent)


@pytest.fixture(scope="module")
def kit():
    return fitted()


def groups(frame, names=("age", "zip", "sex")):
    """Return how many rows show each label."""
    rows = zip(*(frame.column(name).to_pylist() for name in names), strict=True)
    return np.unique(["|".join(map(str, row)) for row in rows], return_counts=True)[1]


def rows_that_fit(book, table):
    """Return how many rows of the source fit each label that they are released under."""
    codes = book.recode(table.select(["age", "zip", "sex"]))
    return np.unique(codes, axis=0, return_counts=True)[1]


def test_a_release_of_a_tree_is_certified_and_verified(kit, tmp_path):
    release = applied(kit, people(), tmp_path / "out.csv")
    assert all(check.holds is not False for check in verify(release))
    assert groups(release.rows().read()).min() >= 5
    assert release.private["figures"]["k"] >= 5
    figures = kit.frontier.to_arrow().to_pylist()[-1]
    assert figures["family"] == "tree"
    assert release.private["chosen"]["figures"]["loss"] == pytest.approx(figures["loss"])
    assert release.private["figures"]["mean_risk"] == pytest.approx(figures["mean_risk"])


def test_verify_finds_boxes_that_share_a_combination(kit):
    release = applied(kit, people())
    policy = release.public["policy"]
    shared = {**policy, "boxes": [*policy["boxes"], policy["boxes"][0]]}
    forged = replace(release, public={**release.public, "policy": shared})
    said = "no two boxes share a combination of values"
    assert [dict(verify(one))[said] for one in (release, forged)] == [True, False]


@pytest.mark.parametrize("seed", [2, 3, 4, 5])
@pytest.mark.parametrize("rows", [40, 300])
def test_a_kit_that_meets_new_people_releases_no_box_that_is_short_of_them(kit, seed, rows):
    new = people(seed, rows)
    release = applied(kit, new)
    frame = release.rows().read()
    assert release.private["counts"]["released"] + release.private["counts"]["set_aside"] == rows
    assert groups(frame).min() >= 5
    book = read_codebook(release.public["policy"])
    assert book.are_disjoint
    ages = TablesContent.of(kit).space.domains[0].values
    known = new.filter(pa.array([age in ages for age in new["age"].to_pylist()]))
    fits = rows_that_fit(book, known)
    assert fits.min() >= 5
    assert sorted(fits) == sorted(groups(frame))


def test_a_value_that_the_fit_never_saw_is_set_aside_for_its_column_alone(kit, tmp_path):
    odd = people().set_column(1, "age", pa.array([300, *people()["age"].to_pylist()[1:]]))
    release = applied(kit, odd, tmp_path / "out.csv")
    aside = (release.folder / "set-aside.csv").read_text().splitlines()[1:]
    assert aside == ["0,age,a value outside its domain"]


def test_an_empty_source_gives_an_empty_release(kit):
    release = applied(kit, people().slice(0, 0))
    assert release.rows().read().num_rows == 0
    assert release.public["policy"]["boxes"] == []


def test_fewer_people_than_k_are_not_released(kit):
    with pytest.raises(InfeasibleError, match="even one group"):
        applied(kit, people(7, 4))


def test_k_counts_people_where_each_has_several_rows():
    twice = pa.concat_tables([people(), people(2)])
    roles = Roles.model_validate(
        {"subject": "who", "columns": {**ROLES.model_dump()["columns"], "who": "identifier"}}
    )
    kit = fitted(twice, roles, promise="row")
    release = applied(kit, twice, no_pseudonyms=True)
    assert release.private["figures"]["k"] >= 5
    frame = release.rows().read().append_column("who", _people_of(release, twice))
    held = {}
    for row in frame.select(["age", "zip", "sex", "who"]).to_pylist():
        who = row.pop("who")
        held.setdefault(tuple(row.values()), set()).add(who)
    assert min(map(len, held.values())) >= 5


def _people_of(release, table):
    rows = open_source(release.folder / "rows.parquet").read(["row"]).column("row")
    return table.column("who").take(rows)


def test_every_box_holds_as_many_sensitive_values_as_asked_for_on_new_people_too():
    kit = fitted(l_diversity=3)
    for table in (people(), people(9, 120)):
        release = applied(kit, table)
        assert release.private["figures"]["distinct_l(ill)"] >= 3


def test_both_families_make_one_frontier_that_neither_beats():
    both, tree, whole = (
        TablesContent.of(
            fitted(family=family, method="steepest" if family != "tree" else None)
        ).frontier
        for family in ("both", "tree", "global")
    )
    for risk in (0.02, 0.05, 0.1, 0.2):
        least = min(one.at(risk=risk).loss for one in (tree, whole) if one.risk[0] <= risk)
        assert both.at(risk=risk).loss == pytest.approx(least)


def test_a_global_policy_of_a_joint_kit_is_applied_as_ever(tmp_path):
    kit = fitted(family="both", method="steepest", k=1)
    names = kit.frontier.to_arrow()["family"].to_pylist()
    assert set(names) == {"global", "tree"}
    for name in ("global", "tree"):
        number = len(names) - 1 - names[::-1].index(name)
        release = applied(kit, people(), way={"policy": number})
        assert release.private["chosen"]["number"] == number
        assert all(check.holds is not False for check in verify(release))


def test_a_kit_of_trees_is_read_back_as_it_was(kit, tmp_path):
    kit.save(tmp_path / "kit")
    again = TablesContent.of(open_kit(tmp_path / "kit"))
    first = TablesContent.of(kit)
    for number in range(len(first.family)):
        one, other = first.family.policy(number), again.family.policy(number)
        assert isinstance(one, TreePolicy)
        assert one == other
        assert one.describe() == other.describe()


def test_a_policy_file_of_a_tree_names_it_and_no_other(kit):
    chosen = choose(kit, Choice(least_loss=True))
    family = TablesContent.of(kit).family
    assert family.number_of(family.read_policy(chosen.policy)) == chosen.number
    for wrong in ({"tree": 99}, {"pruned": -1}, {"pruned": 10**6}, {"pruned": "all"}, {"more": 1}):
        with pytest.raises(RequestError):
            family.read_policy({**chosen.policy, **wrong})


def test_nothing_of_who_is_held_out_or_set_aside_is_shown(tmp_path):
    odd = people(1).set_column(2, "zip", pa.array(["99999"] * 40 + ["37010", "37201"] * 180))
    kit = fitted(odd)
    release = applied(kit, odd.slice(40), tmp_path / "out.csv")
    shown = (tmp_path / "out.csv").read_text() + json.dumps(dict(release.public))
    assert "99999" not in shown
    assert "person 1" not in shown


def test_every_attack_works_on_a_release_of_boxes(kit, tmp_path):
    release = applied(kit, people(), tmp_path / "out.csv")
    pq.write_table(people().drop(["ill"]), tmp_path / "register.parquet")
    asked = AttackOptions.model_validate(
        {"register": str(tmp_path / "register.parquet"), "person": "who"}
    )
    found = TABLES.attack(release, open_source(people()), asked, seed=1, progress=silent)
    known = ["linkage", "singling out", "inference", "absences", "downcoding", "box ends"]
    assert [one.attack for one in found] == known
    claims = found[0].findings[0].rate
    risk = release.private["figures"]["prosecutor_mean"]
    low, high = claims.interval()
    assert low <= risk <= high
    assert found[1].findings[0].rate.successes == 0


def test_a_report_draws_what_no_box_of_a_release_tells_apart(kit, tmp_path):
    release = applied(kit, people(), tmp_path / "out.csv")
    book = read_codebook(release.public["policy"])
    for audience in ("public", "internal"):
        assert sections(kit, (), audience=audience)
        found = {one.key: one for one in sections(release, (), audience=audience)}
        said, chart = found["policy"].blocks
        assert f"tree of {len(book.boxes)} leaves" in said.paragraphs[0]
        drawn = {
            strip.column: [label for label, _ in strip.intervals] for strip in chart.policies[0][1]
        }
        assert set(drawn["sex"]) <= {"f", "m", "f|m"}
        for coded in book.columns:
            assert len(drawn[coded.column]) <= len(coded.entries)


OF_CUT = ROLES.corrected({"age": {"role": "quasi", "keep_cuts": [40]}})


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"roles": OF_CUT}, "trees keep none everywhere"),
        ({"lower_bound_seconds": 1}, "global policies alone"),
        ({"evaluations": 50}, "only trees are requested"),
        ({"seconds": 1.0}, "only trees are requested"),
        ({"k": 1000}, "k is 1,000"),
    ],
)
def test_what_trees_cannot_do_is_refused(options, says):
    with pytest.raises((RequestError, InfeasibleError), match=says):
        fitted(**options)


def test_beside_a_search_it_is_said_why_there_are_no_trees():
    kit = fitted(roles=OF_CUT, family="both", method="steepest")
    assert "trees keep none everywhere" in TablesContent.of(kit).absent["trees"]
    assert set(kit.frontier.to_arrow()["family"].to_pylist()) == {"global"}
