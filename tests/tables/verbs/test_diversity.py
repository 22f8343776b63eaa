"""l-diversity and t-closeness of several sensitive columns, from fit to verify."""

from __future__ import annotations

import math
import shutil
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from pydantic import ValidationError

from voile.core.errors import InfeasibleError, RequestError
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.release.choice import Choice
from voile.release.kit import StoredKit
from voile.release.manifest import StoredRelease
from voile.tables.fitting.fit import fit
from voile.tables.fitting.search import search
from voile.tables.fitting.space import PolicySpace
from voile.tables.module import TABLES
from voile.tables.people.counts import Constraints, SensitiveColumn
from voile.tables.scoring.disclosure import t_closeness
from voile.tables.verbs.choose import choose
from voile.tables.verbs.content import TablesContent
from voile.tables.verbs.options import ApplyOptions, FitOptions
from voile.tables.verbs.verify import PROMISES, _of_sensitive, verify

QUASI = ("age", "zip")
ROLES = Roles.model_validate(
    {"columns": {"age": "quasi", "zip": "quasi", "ill": "sensitive", "pay": "sensitive"}}
)
ASKED = {"l_diversity": 2, "entropy_l": 1.8, "t_closeness": 0.25}


def people(seed=1, rows=300, pays=("9", "10", "25.5", "100")):
    """Make people whose illness goes with age, and whose pay goes with where they live."""
    rng = np.random.default_rng(seed)
    age, town = rng.integers(20, 60, rows), rng.integers(0, 4, rows)
    ill = np.where(rng.random(rows) < (age - 15) / 60, "gout", rng.choice(["flu", "cold"], rows))
    pay = np.minimum(rng.integers(0, 4, rows), town + 1)
    towns = np.array(["37010", "37011", "37201", "38001"])
    return pa.table({"age": age, "zip": towns[town], "ill": ill, "pay": np.array(pays)[pay]})


def fitted(family="tree", roles=ROLES, table=None, **options):
    search = {} if family == "tree" else {"method": "steepest"}
    asked = FitOptions.model_validate({"family": family, "k": 3, **search, **options})
    source = open_source(people() if table is None else table)
    return fit(source, roles, asked, seed=1, progress=silent)


def applied(kit, table, out=None, **way):
    chosen = choose(kit, Choice(**(way or {"least_loss": True})))
    source = open_source(table)
    return TABLES.apply(kit, chosen, source, out, ApplyOptions(), force=True, progress=silent)


def by_group(frame, column):
    """Count a released column by group, as a dictionary of `Counter`s."""
    groups = defaultdict(Counter)
    for row in frame.to_pylist():
        groups[tuple(row[name] for name in QUASI)][row[column]] += 1
    return list(groups.values())


def entropy_of(values):
    n = sum(values.values())
    return math.exp(-sum(m / n * math.log(m / n) for m in values.values()))


def distance_of(values, whole, order):
    """Return how far a group's values are from everybody's: ordered where `order` sorts them."""
    away = [values[v] / sum(values.values()) - whole[v] / sum(whole.values()) for v in order]
    if order != sorted(whole):
        return sum(abs(sum(away[: i + 1])) for i in range(len(away))) / (len(away) - 1)
    return sum(map(abs, away)) / 2


def worst_of(frame, column, *, ordered):
    """Return least distinct and entropy l and largest t of a release, from the definitions."""
    groups = by_group(frame, column)
    whole = sum(groups, Counter())
    order = sorted(whole, key=float) if ordered else sorted(whole)
    return (
        min(map(len, groups)),
        min(map(entropy_of, groups)),
        max(distance_of(group, whole, order) for group in groups),
    )


@pytest.fixture(scope="module")
def kit():
    return fitted(**ASKED)


@pytest.mark.parametrize(("seed", "rows"), [(1, 300), (2, 300), (3, 120), (4, 80)])
def test_trees_keep_every_promise_of_each_column_on_new_people_too(kit, seed, rows):
    release = applied(kit, people(seed, rows))
    frame, figures = release.rows().read(), release.private["figures"]
    for column, t in (("ill", "t_closeness"), ("pay", "t_closeness_ordered")):
        distinct, entropy, far = worst_of(frame, column, ordered=column == "pay")
        assert distinct >= 2
        assert entropy >= 1.8 - 1e-9
        assert far <= 0.25 + 1e-9
        assert figures[f"distinct_l({column})"] == distinct
        assert figures[f"entropy_l({column})"] == pytest.approx(entropy)
        assert figures[f"{t}({column})"] == pytest.approx(far)
    assert all(check.holds is not False for check in verify(release))
    assert len(by_group(frame, "ill")) > 1 or seed != 1


@pytest.mark.parametrize("name", list(ASKED))
def test_each_promise_costs_some_loss_where_the_others_are_not_made(name):
    plain, bound = (choose(k, Choice(least_loss=True)) for k in (fitted(), fitted(**_only(name))))
    assert bound.figures["loss"] > plain.figures["loss"]


def _only(name):
    return {name: {"l_diversity": 3, "entropy_l": 2.2, "t_closeness": 0.15}[name]}


def test_a_kit_keeps_what_is_asked_of_which_column(kit, tmp_path):
    kit.save(tmp_path / "kit")
    one, other = TablesContent.of(kit), TablesContent.of(StoredKit.load(tmp_path / "kit"))
    assert one.sensitive == other.sensitive == ("ill", "pay")
    columns = (SensitiveColumn(3), SensitiveColumn(4, ordered=True))
    assert one.space.counts.columns == other.space.counts.columns == columns
    assert other.space.constraints == Constraints(3, 1.0, 2, entropy_l=1.8, t_closeness=0.25)
    assert (one.space.counts.sensitive == other.space.counts.sensitive).all()


def test_global_policies_show_as_many_values_of_each_column(tmp_path):
    kit = fitted("global", l_diversity=3, suppress=0.4)
    for number in range(0, kit.facts["policies"], 3):
        release = applied(kit, people(), tmp_path / f"{number}.csv", policy=number)
        frame = release.rows().read()
        assert min(len(group) for name in ("ill", "pay") for group in by_group(frame, name)) >= 3
        assert all(check.holds is not False for check in verify(release))


def test_a_column_of_one_value_cannot_be_diverse():
    same = people().set_column(3, "pay", pa.array(["9"] * 300))
    for family in ("tree", "global", "both"):
        with pytest.raises(InfeasibleError, match="l-diversity is 2, and column pay has 1 value;"):
            fitted(family, table=same, l_diversity=2)


@pytest.mark.parametrize("family", ["global", "both"])
@pytest.mark.parametrize("suppress", [0.0, 0.3])
def test_every_policy_keeps_every_promise_on_the_written_release(tmp_path, family, suppress):
    kit, dropped = fitted(family, suppress=suppress, **ASKED), 0
    for number in range(0, kit.facts["policies"], 1 + kit.facts["policies"] // 12):
        release = applied(kit, people(), tmp_path / f"{number}.csv", policy=number)
        frame = release.rows().read()
        for column in ("ill", "pay"):
            distinct, entropy, far = worst_of(frame, column, ordered=column == "pay")
            assert distinct >= 2
            assert entropy >= 1.8 - 1e-9
            assert far <= 0.25 + 1e-9
        assert all(check.holds is not False for check in verify(release))
        dropped += release.private["counts"]["suppressed"]
    assert (dropped > 0) is (suppress > 0)


@pytest.mark.parametrize("method", ["steepest", "interval", "local", "random-chain", "quick"])
def test_each_search_finds_policies_close_to_the_released_alone(method):
    limits = Constraints(k=2, t_closeness=0.2, suppress=0.5)
    space = PolicySpace.of(people(6, 60), None, QUASI, sensitive=["ill"], constraints=limits)
    found = search(space, method=method, random_state=1).frontier
    for bits in found.policies:
        _, classes, kept = space.groups(space.policy(bits))
        assert t_closeness(classes.sensitive[kept]) <= 0.2 + 1e-9
        assert classes.sample[~kept].sum() <= 30
        assert classes.sample[kept].min() >= 2


def test_what_is_close_to_everybody_alone_is_not_found():
    """The old are dropped, half of everybody but a third of the others has flu, and most at 30."""
    flu, others = np.array([30, 14, 41]), np.array([70, 6, 9])
    table = pa.table(
        {
            "age": np.repeat([20, 30, 40], flu + others),
            "ill": np.repeat(["flu", "cold"] * 3, np.column_stack([flu, others]).ravel()),
        }
    )
    limits = Constraints(t_closeness=0.2, suppress=0.5)
    space = PolicySpace.of(table, None, ["age"], sensitive=["ill"], constraints=limits)
    bottom = space.bottom[None]
    assert space.groups(space.policy(space.bottom))[2].tolist() == [True, True, False]
    assert space.evaluator.feasible(bottom, space.evaluator.scores(bottom))[0]
    found = search(space, method="exhaustive").frontier.policies
    assert len(found)
    assert not (found == bottom).all(axis=1).any()


def test_no_bound_is_proved_of_shares():
    with pytest.raises(RequestError, match="no bound under entropy l-diversity or t-closeness"):
        fitted("global", entropy_l=1.5, lower_bound_seconds=1, loss="information")


@pytest.mark.parametrize("asked", [{"l_diversity": 2}, {"entropy_l": 1.5}, {"t_closeness": 0.5}])
def test_without_a_sensitive_column_there_is_nothing_to_promise(asked):
    none = {**ROLES.model_dump()["columns"], "ill": "keep", "pay": "keep"}
    with pytest.raises(RequestError, match="need a sensitive column and there is none"):
        fitted(roles=Roles.model_validate({"columns": none}), **asked)


@pytest.mark.parametrize(
    "asked", [{"entropy_l": 0.9}, {"entropy_l": math.inf}, {"t_closeness": 1.1}]
)
def test_limits_out_of_range_are_refused(asked):
    with pytest.raises(ValidationError):
        FitOptions.model_validate(asked)


def test_numbers_that_come_back_as_names_are_all_equally_far():
    names = people(5, pays=("low", "10", "25.5", "100"))
    frame = applied(fitted(t_closeness=0.3), names).rows().read()
    assert worst_of(frame, "pay", ordered=False)[2] <= 0.3 + 1e-9


def test_a_column_that_comes_back_uncountable_is_refused():
    pay = pa.array(people(1)["pay"].to_numpy(zero_copy_only=False).astype(float))
    with pytest.raises(InfeasibleError, match="cannot measure pay of this source"):
        applied(fitted(t_closeness=0.3), people().set_column(3, "pay", pay))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"entropy_l": 2.9}, "every group has at least 2.9 effective sensitive values"),
        ({"t_closeness": 0.01}, "no group's sensitive values are farther than 0.01 from"),
    ],
)
def test_verify_fails_when_more_is_promised_than_is_kept(kit, tmp_path, asked, said):
    release = applied(kit, people(), tmp_path / "out.csv")
    public = {**release.public, "constraints": {**release.public["constraints"], **asked}}
    failed = [
        check.says for check in verify(StoredRelease(release.path, public)) if check.holds is False
    ]
    assert len(failed) == 1
    assert failed[0].startswith(said)


@pytest.mark.parametrize(
    ("asked", "holds"),
    [
        ({"entropy_l": 2.9}, None),
        ({"t_closeness": 0.01}, None),
        ({"l_diversity": 99}, False),
        ({"l_diversity": 2}, True),
        ({"entropy_l": 1.01}, True),
        ({"t_closeness": 0.99}, True),
    ],
)
def test_rows_show_a_recipient_what_is_kept_but_not_what_people_break(kit, tmp_path, asked, holds):
    """Of a person with several rows shares may differ; more values than rows hold nobody has."""
    release = applied(kit, people(), tmp_path / "out.csv")
    shutil.rmtree(release.folder)
    public = {**release.public, "constraints": {**release.public["constraints"], **asked}}
    said = PROMISES[next(iter(asked))].format(*asked.values())
    assert dict(verify(StoredRelease(release.path, public)))[said] is holds


@pytest.mark.parametrize("first", ["ill", "pay"])
def test_a_promise_that_one_column_breaks_is_broken_whichever_comes_last(kit, tmp_path, first):
    release = applied(kit, people(), tmp_path / "out.csv")
    figures = release.private["figures"]
    between = (figures["entropy_l(ill)"] + figures["entropy_l(pay)"]) / 2
    assert figures["entropy_l(ill)"] != figures["entropy_l(pay)"]
    columns = sorted(release.public["columns"], key=lambda one: one["column"] != first)
    constraints = {**release.public["constraints"], "entropy_l": between}
    public = {**release.public, "columns": columns, "constraints": constraints}
    found = dict(_of_sensitive(public, figures, people_counted=True))
    assert found[PROMISES["entropy_l"].format(between)] is False


def test_the_worst_column_is_the_figure_of_a_policy(kit):
    content = TablesContent.of(kit)
    policy = content.family.policy(len(content.family) - 1)
    release = applied(kit, people())
    own, figures = content.space.disclosure(policy), release.private["figures"]
    assert own["entropy_l"] == pytest.approx(
        min(figures[f"entropy_l({c})"] for c in ("ill", "pay"))
    )
    assert own["distinct_l"] == min(figures[f"distinct_l({c})"] for c in ("ill", "pay"))
