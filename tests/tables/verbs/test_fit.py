"""What fit does beyond a search: goes on from a kit, bisects at Safe Harbor, proves a bound."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import voile.tables as vt
from voile.core import memory
from voile.core.errors import RequestError
from voile.data import open_source
from voile.data.roles import Roles
from voile.release.choice import Choice
from voile.release.kit import StoredKit
from voile.report.sections import Grid, Prose
from voile.tables.fitting.fit import PopulationWarning, fit
from voile.tables.fitting.search import FewFoundWarning
from voile.tables.policies.policy import Policy
from voile.tables.verbs.choose import choose
from voile.tables.verbs.content import TablesContent
from voile.tables.verbs.options import FitOptions
from voile.tables.verbs.report import sections
from voile.tables.verbs.report_data import report_data

ROLES_OF = {"size": "quasi", "sex": "quasi", "town": "quasi"}
ROLES = Roles.model_validate({"columns": ROLES_OF})


def people(seed: int = 3, towns: str = "abcde") -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "size": rng.integers(20, 32, 300),
            "sex": rng.choice(["F", "M"], 300),
            "town": rng.choice(list(towns), 300),
        }
    )


def fitted(table: pa.Table, roles: Roles = ROLES, **options: object) -> StoredKit:
    given = FitOptions.model_validate({"family": "global", **options})
    return fit(open_source(table), roles, given, seed=1, progress=lambda *_: None)


def said(kit: StoredKit) -> str:
    (found,) = (s for s in sections(kit, (), audience="public") if s.key == "bound")
    prose = next(block for block in found.blocks if isinstance(block, Prose))
    return " ".join(prose.paragraphs)


@pytest.fixture(scope="module")
def whole() -> StoredKit:
    return fitted(people(), method="exhaustive")


def test_goes_on_from_the_policies_of_a_kit(whole, tmp_path):
    whole.save(tmp_path / "kit")
    on = fitted(people(), method="random-chain", evaluations=200, start_from=tmp_path / "kit")
    wanted, found = TablesContent.of(whole).frontier, TablesContent.of(on).frontier
    np.testing.assert_allclose(found.risk, wanted.risk)
    np.testing.assert_allclose(found.loss, wanted.loss)


def test_does_not_go_on_from_other_values(whole, tmp_path):
    whole.save(tmp_path / "kit")
    with pytest.raises(RequestError, match="columns or values are not this source's"):
        fitted(people(towns="abcdef"), start_from=tmp_path / "kit")


def test_bisects_at_the_risk_asked_for_and_needs_one(whole):
    kit = fitted(people(), method="bisect", bisect_risk=0.4)
    exact = TablesContent.of(whole).frontier.at(risk=0.4)
    found = TablesContent.of(kit).frontier.at(risk=0.4)
    assert exact.loss <= found.loss < 1
    with pytest.raises(RequestError, match="give the risk with --bisect-risk"):
        fitted(people(), method="bisect")


@pytest.mark.parametrize("method", ["random-chain", "sublattice", "bisect"])
def test_random_chains_may_merge_attribute_after_attribute(method):
    given = {"method": method, "evaluations": 60}
    if method == "bisect":
        given["bisect_risk"] = 0.4
    usual, other = fitted(people(), **given), fitted(people(), **given, chain_order="attributes")
    assert "order='attributes'" in other.facts["method"]
    assert usual.id != other.id


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"chain_order": "attributes"}, "the method is quick; take --method random-chain"),
        ({"bisect_risk": 0.4}, "the method is quick; take --method bisect"),
        ({"outcomes": ["town"]}, "roles: outcome town has the role quasi; .* label or keep"),
        ({"outcomes": ["name"]}, "roles: outcome name has the role drop; .* label or keep"),
        ({"outcomes": ["ill", "ill"]}, "outcome ill is named twice"),
        ({"outcomes": ["il"]}, "outcome column il is not a column; did you mean ill"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, says):
    table = people().append_column("ill", pa.array(["y", "n", "n"] * 100))
    table = table.append_column("name", pa.array(["a", "b", "c"] * 100))
    roles = Roles.model_validate({"columns": {**ROLES_OF, "ill": "keep", "name": "drop"}})
    given = FitOptions.model_validate({"loss": "mutual-information", **options})
    with pytest.raises(RequestError, match=says):
        fit(open_source(table), roles, given, seed=1, progress=lambda *_: None)


def test_does_not_go_on_from_a_kit_of_another_kind(tmp_path):
    StoredKit("itemsets", "private", {}, {}).save(tmp_path / "kit")
    with pytest.raises(RequestError, match="this is a kit of itemsets"):
        fitted(people(), start_from=tmp_path / "kit")


@pytest.mark.whole
def test_what_is_proved_is_kept_and_told(tmp_path):
    kit = fitted(people(), method="steepest", loss="information", lower_bound_seconds=60)
    kit.save(tmp_path / "kit")
    whole = fitted(people(), method="exhaustive", loss="information")
    content, exact = (
        TablesContent.of(StoredKit.load(tmp_path / "kit")),
        TablesContent.of(whole).frontier,
    )
    assert content.bound is not None
    for weight, bound, best in zip(
        content.bound.weight, content.bound.bound, content.bound.best, strict=True
    ):
        assert bound <= (exact.loss + weight * exact.risk).min() + 1e-9 <= best + 2e-9
    assert (content.bound.least_loss(exact.risk) <= exact.loss + 1e-9).all()
    assert "no policy improves loss + weight x relative risk" in said(kit)
    found = {section.key: section for section in sections(kit, (), audience="public")}
    rows = next(block for block in found["bound"].blocks if isinstance(block, Grid)).rows
    assert 12 <= len(rows) <= 24  # of some weights, where there are many
    (chart,) = (b for b in found["frontier"].blocks if hasattr(b, "floor"))
    assert all(x <= y + 1e-9 for (_, x), y in zip(chart.floor, chart.loss, strict=True))


def test_without_a_proof_the_report_says_that_there_is_no_bound(whole):
    assert said(whole).startswith("Optimality gap: not computed")
    stopped = fitted(people(), method="steepest", loss="information", lower_bound_seconds=1e-9)
    assert said(stopped).startswith("Optimality gap: not computed. The proof was stopped")


def test_what_cannot_be_bounded_is_refused_before_the_search():
    with pytest.raises(RequestError, match="no bound for mutual_information"):
        fitted(
            people().append_column("ill", pa.array([True, False] * 150)).drop_columns(["town"]),
            roles=Roles.model_validate(
                {"columns": {"size": "quasi", "sex": "quasi", "ill": "sensitive"}}
            ),
            loss="mutual-information",
            outcomes=["ill"],
            lower_bound_seconds=1,
        )


def test_choosing_reads_the_policies_and_the_domains_alone(whole):
    bare = replace(
        whole, tables={name: whole.tables[name] for name in ("frontier", "domains", "trees")}
    )
    one, other = (choose(kit, Choice(max_loss=0.3)) for kit in (whole, bare))
    assert (other.policy, other.figures) == (one.policy, one.figures)
    content = TablesContent.of(whole)
    score = content.score(Policy.from_data(content.space.domains, one.policy))
    named = {**score._asdict(), "relative_risk": score.risk, "expected_matches": score.matches}
    assert set(one.figures) - {"mean_risk", "max_risk"} <= set(named)
    for name in set(one.figures) & set(named):
        assert one.figures[name] == pytest.approx(named[name])


def test_a_kit_keeps_people_counted_by_some_columns(tmp_path):
    counted = pa.table({"sex": ["F", "M"], "people": [9_000, 11_000]})
    kit = fitted(people(), population=(counted,), sampled=True, k=5, method="steepest")
    kit.save(tmp_path / "kit")
    content, read = (
        TablesContent.of(kit),
        TablesContent.of(StoredKit.load(tmp_path / "kit", "tables")),
    )
    top = content.space.policy(content.space.top)
    assert read.space.estimated_matches(top) == content.space.estimated_matches(top)
    story = report_data(read, top)
    assert story["estimated_matches"] < story["after"]["expected_matches"]


def test_half_of_distribution_and_half_of_resolution_is_what_a_fit_makes_small(whole):
    content, table = TablesContent.of(whole), whole.tables["frontier"]
    distribution, resolution = (table[name].to_numpy() for name in ("distribution", "resolution"))
    loss = table["loss"].to_numpy()
    np.testing.assert_allclose(loss, 0.5 * distribution + 0.5 * resolution, atol=1e-9)
    for number in (0, len(table) // 2, len(table) - 1):
        lost = content.space.losses(content.family.policy(number))
        assert {name: table[name][number].as_py() for name in lost} == pytest.approx(lost, abs=1e-9)
    assert whole.facts["measures"]["loss"]["formula"] == "0.5 x distribution + 0.5 x resolution"


@pytest.mark.whole
def test_a_weight_of_one_is_the_paper_s_loss(whole):
    paper, ours = (
        fitted(people(), method="exhaustive", loss_weight=1),
        TablesContent.of(whole).frontier,
    )
    information = fitted(people(), method="exhaustive", loss="information")
    assert paper.tables["frontier"].equals(information.tables["frontier"])
    assert (
        len(TablesContent.of(paper).frontier) != len(ours)
        or (TablesContent.of(paper).frontier.loss != ours.loss).any()
    )


def test_a_column_of_no_importance_loses_no_resolution():
    settings = {"size": "quasi", "sex": {"role": "quasi", "importance": 0}, "town": "quasi"}
    kit = fitted(people(), Roles.model_validate({"columns": settings}), method="exhaustive")
    content = TablesContent.of(kit)
    space = content.space
    assert space.weights.importance == (1, 0, 1)
    sex = slice(len(space.domains[0]) - 1, len(space.domains[0]) + len(space.domains[1]) - 2)
    merged = space.bottom.copy()
    merged[sex] = False
    assert space.losses(space.policy(merged))["resolution"] == 0


@pytest.mark.parametrize("other", [{"loss": "information"}, {"loss_weight": 0.3}])
def test_policies_of_another_loss_are_not_gone_on_from(whole, tmp_path, other):
    whole.save(tmp_path / "kit")
    with pytest.raises(RequestError, match="policies of one loss are not compared with those of"):
        fitted(people(), method="steepest", start_from=tmp_path / "kit", **other)


def test_a_weight_that_the_loss_does_not_use_is_refused():
    with pytest.raises(RequestError, match="the loss is information; leave --loss or"):
        fitted(people(), loss="information", loss_weight=0.3)


def test_what_beats_a_named_policy_has_no_more_risk_and_no_more_loss(whole):
    content = TablesContent.of(whole)
    table, score = whole.tables["frontier"], content.score(content.space.policy(content.space.top))
    middle = len(table) // 2
    row = table.slice(middle, 1).to_pylist()[0]
    for risk, loss, beats in [
        (0.01, 0.01, True),
        (0.01, 0, True),
        (0, 0, False),
        (0.01, -0.01, False),
    ]:
        mark = score._replace(risk=row["risk"] + risk, loss=row["loss"] + loss)
        named = replace(content, mark_scores={"mark": mark})
        assert (middle in named.beating("mark")) == beats
        own = score._replace(risk=row["risk"], loss=row["loss"])
        assert own.beats(mark) == beats


def test_settings_that_a_column_kept_from_its_former_role_are_named_together():
    kept = {"size": {"role": "keep", "bins": 4}, "town": {"role": "label", "order": ["a", "b"]}}
    roles = Roles.model_validate({"columns": {**ROLES_OF, **kept}})
    with pytest.raises(RequestError, match=r"role quasi: size \(bins\), town \(order\); take"):
        fitted(people(), roles)


def test_the_steepest_chain_says_where_it_finds_little():
    with pytest.warns(FewFoundWarning, match="take --method quick"):
        steep = fitted(people(), method="steepest", k=8)
    least = {"steepest": TablesContent.of(steep).frontier.loss.min()}
    with warnings.catch_warnings():
        warnings.simplefilter("error", FewFoundWarning)
        for name, options in {
            "quick": {},
            "both": {"family": "both"},
            "both, steepest": {"family": "both", "method": "steepest"},
            "suppressing": {"method": "steepest", "suppress": 0.1},
        }.items():
            least[name] = TablesContent.of(fitted(people(), k=8, **options)).frontier.loss.min()
        fitted(people(), method="steepest")
    assert least["quick"] < least["steepest"] - 0.05
    assert least["both"] <= least["both, steepest"] < least["steepest"] - 0.05


def test_as_many_columns_as_people_have_are_fitted_by_trees_and_said_not_to_be_searched():
    rng = np.random.default_rng(0)
    like = rng.integers(0, 10, 300)
    names = [f"c{i}" for i in range(30)]
    rows = pa.table({name: (like + rng.integers(0, 3, 300)) % 10 for name in names})
    kit = vt.fit(rows, roles=dict.fromkeys(names, "quasi"), k=5, seed=1)
    assert "too many for global policies" in kit.facts["absent"]["global policies"]
    release = kit.apply(kit.choose(least_loss=True), rows)
    assert len(release.frame) == 300
    assert release.private["figures"]["k"] >= 5
    with pytest.raises(RequestError, match=r"too many for global policies; take family tree"):
        vt.fit(rows, roles=dict.fromkeys(names, "quasi"), k=5, seed=1, family="global")


@pytest.mark.parametrize(
    ("covered", "said"),
    [
        (
            ["age"],
            "covers 1 of 3 quasi-identifiers: age; risk counts people with equal values of this",
        ),
        (["age", "sex"], "covers 2 of 3 quasi-identifiers: age and sex; risk counts people with"),
        (["age", "sex", "zip"], None),
    ],
)
def test_a_population_of_some_columns_is_announced(covered: list[str], said: str | None) -> None:
    people = {
        "age": [30 + i % 3 for i in range(60)],
        "sex": ["fm"[i % 2] for i in range(60)],
        "zip": [f"0050{i % 4}" for i in range(60)],
    }
    population = {**{name: people[name] for name in covered}, "n": [5] * 60}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        vt.fit(people, roles=dict.fromkeys(people, "quasi"), population=population, people="n", k=2)
    found = [str(w.message) for w in caught if w.category is PopulationWarning]
    assert len(found) == (0 if said is None else 1)
    assert said is None or said in found[0]


def test_a_fit_that_needs_more_memory_than_there_is_is_refused_and_bins_are_a_remedy(monkeypatch):
    monkeypatch.setattr(memory, "find_available", lambda: 60_000)  # 100 combinations of 3 columns
    with pytest.raises(RequestError, match=r"needs about 0 MB .* 0 MB are available") as refused:
        fitted(people())
    assert "bins = 20" in refused.value.instead
    binned = Roles.model_validate({"columns": {**ROLES_OF, "size": {"role": "quasi", "bins": 3}}})
    fitted(people(), binned)
