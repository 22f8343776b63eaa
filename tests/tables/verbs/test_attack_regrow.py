"""Regrowing a policy counts the values of one person that the public files leave possible."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import voile.tables as vt
from voile.core.errors import InfeasibleError, RequestError
from voile.core.evidence import Count
from voile.data import open_source
from voile.tables.attack.regrowing import GUESSED, MARGINALS, POSSIBLE, RemainingValues, regrowing
from voile.tables.fitting.attack_regrow import PolicyRegrowth, candidates
from voile.tables.verbs.options import AttackOptions
from voile.tables.verbs.report import sections
from voile.tables.verbs.scene import TablesScene

ROLES = {"age": "quasi", "sex": "quasi", "ill": "sensitive"}
pytestmark = pytest.mark.filterwarnings("ignore")


def people(rows=40, seed=0, ages=7):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(20, 20 + ages, rows),
            "sex": rng.choice(["f", "m"], rows),
            "ill": rng.choice(["flu", "gout", "cold"], rows),
        }
    )


def released(table, roles=ROLES, apply=None, **options):
    kit = vt.fit(table, roles=roles, k=3, seed=1, **options)
    chosen = kit.choose(least_loss=True)
    return kit.apply(chosen, table, **{"no_pseudonyms": True, "keep_order": True, **(apply or {})})


def regrowth(release, table):
    return PolicyRegrowth(TablesScene(release, open_source(table), AttackOptions()))


def with_value(table, person, column, value):
    cells = table.column(column).to_pylist()
    cells[person] = value
    at = table.column_names.index(column)
    return table.set_column(at, column, pa.array(cells, table.schema.field(column).type))


def shown(release):
    """Return what everybody sees: the rows' groups, counted, and the public figures."""
    rows = [tuple(row.values()) for row in release.frame.select(["age", "sex"]).to_pylist()]
    counted = sorted((row, rows.count(row)) for row in set(rows))
    return counted, release.public["policy"], release.public["figures"]


@pytest.mark.parametrize(
    ("options", "seed"),
    [({"family": "tree"}, 0), ({"family": "tree", "l_diversity": 2}, 1), ({"family": "global"}, 2)],
)
def test_the_values_that_remain_are_those_with_which_the_release_is_made_again(options, seed):
    """The naive twin writes every release anew and compares rows, policy, figures, marginals."""
    table = people(seed=seed)
    release = released(table, apply={"marginals": options["family"] == "tree"}, **options)
    truth, counts = shown(release), release.public.get("marginals")
    for person, column in ((3, "age"), (8, "sex")):
        values = candidates(table.column(column).to_pylist())
        same = []
        for value in values:
            try:
                other = released(
                    with_value(table, person, column, value),
                    apply={"marginals": counts is not None},
                    **options,
                )
            except InfeasibleError:
                continue
            if shown(other) == truth:
                same.append(other.public.get("marginals") == counts)
        found = regrowth(release, table).count_remaining(person, column)
        assert (found.candidates, found.policy) == (len(values), len(same))
        assert found.marginals == sum(same) >= 1
        assert found.group >= found.policy


def test_guesses_are_counted_by_column_and_the_fewest_values_are_stated():
    values = [
        RemainingValues(candidates=10, group=4, policy=2, marginals=1, frequent=0.5),
        RemainingValues(candidates=10, group=4, policy=4, marginals=2, frequent=0.5),
    ]
    found = regrowing(values, column="age", columns=["age"])
    by = {(one.quantity, one.by): one for one in found.findings}
    assert by[POSSIBLE, MARGINALS].rate.successes == 3
    assert by[GUESSED, MARGINALS].rate.successes == 2  # 1 + 1 / 2, rounded to even
    assert by[GUESSED, MARGINALS].baseline.successes == 1
    assert found.notes[0].values == {"few": Count(1), "whole": 10}


def test_attack_regrows_where_asked_and_a_report_shows_it():
    table = people()
    release = released(table, family="tree")
    assert not [one for one in release.attack(original=table) if one.attack == "regrowing"]
    found = list(release.attack(original=table, regrow=2, seed=1))
    own = [one for one in found if one.attack == "regrowing"]
    assert [one.of for one in own] == ["age", "sex"]
    assert all(one.rate.trials == 2 for one in own[0].findings if one.quantity == GUESSED)
    for audience in ("public", "internal"):
        blocks = [b for one in sections(release, found, audience=audience) for b in one.blocks]
        assert "Regrowing: age" in [getattr(block, "text", "") for block in blocks]


def test_the_first_page_states_the_rate_but_not_of_few_people_in_public():
    table = people()
    release = released(table, family="tree")
    one = RemainingValues(candidates=10, group=4, policy=2, marginals=2, frequent=0.5)
    many = regrowing([one] * 60, column="age", columns=["age"])
    few = regrowing([one] * 4, column="age", columns=["age"])
    said = "correctly in 50% of cases, compared with 25% from the released group alone"
    assert said in first_page(release, many, "public")
    assert said in first_page(release, few, "internal")
    assert "guesses the missing value correctly" not in first_page(release, few, "public")


def first_page(release, evidence, audience):
    first = sections(release, (evidence,), audience=audience)[0]
    return " ".join(text for block in first.blocks for text in getattr(block, "paragraphs", ()))


@pytest.mark.parametrize(
    ("options", "why"),
    [({"hold_out": 0.2}, "option hold-out"), ({"family": "global", "suppress": 0.3}, "suppressed")],
)
def test_a_release_that_nobody_can_make_again_is_refused_in_one_sentence(options, why):
    table = people(60)
    release = released(table, **{"family": "tree", **options})
    with pytest.raises(RequestError, match=f"cannot be regrown .*{why}"):
        release.attack(original=table, regrow=1)


def test_people_of_several_rows_are_refused():
    table = people().append_column("who", pa.array([str(i // 2) for i in range(40)]))
    roles = {"who": "identifier", **ROLES}
    how = {"family": "tree", "promise": "row", "apply": {"keep_order": False}}
    release = released(table, {"subject": "who", "columns": roles}, **how)
    with pytest.raises(RequestError, match="people with several rows"):
        release.attack(original=table, regrow=1)
