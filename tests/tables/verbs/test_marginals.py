"""Counts of people by runs of a column, beside a release of boxes: right, public, and never few."""

from __future__ import annotations

import copy
import shutil
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import voile
import voile.tables as vt
from voile.core.errors import InfeasibleError, TamperedError
from voile.data import open_source
from voile.ledger.ledger import create
from voile.ledger.promise import LedgerPromise
from voile.tables.recoding.boxes import read_codebook
from voile.tables.recoding.marginals import marginals_in
from voile.tables.verbs import apply as verb
from voile.tables.verbs import showing
from voile.tables.verbs.promises import LEAST_IMPLIED
from voile.tables.verbs.report import sections

QUASI = ("age", "kg", "zip", "job", "born")
JOBS = tuple(f"{letter}. trade" for letter in "abcdefghijkl")
ROLES = {
    "who": "drop",
    **dict.fromkeys(QUASI, "quasi"),
    "ill": "sensitive",
}


def people(rows=3_000, seed=1):
    """Make people of columns of every kind, crowded and sparse, with missing values."""
    rng = np.random.default_rng(seed)
    kg = np.round(np.clip(rng.normal(75, 14, rows), 40, 130), 1).tolist()
    kg = [None if lost else one for one, lost in zip(kg, rng.random(rows) < 0.03, strict=True)]
    days = np.datetime64("1950-01-01") + rng.integers(0, 60, rows) ** 2 * 5
    jobs = rng.choice([*JOBS, None], rows, p=rng.dirichlet(np.full(len(JOBS) + 1, 0.7)))
    return pa.table(
        {
            "who": [f"person {i}" for i in range(rows)],
            "age": np.clip(rng.normal(45, 15, rows), 18, 90).astype(int),
            "kg": pa.array(kg),
            "zip": rng.choice(["37010", "37011", "37020", "37201", "38001"], rows),
            "job": jobs,
            "born": pa.array(days.astype("datetime64[D]")),
            "ill": rng.choice(["flu", "gout", "cold"], rows),
        }
    )


def fitted(table=None, roles=ROLES, **options):
    asked = {"family": "tree", "k": 5, "seed": 1, **options}
    return vt.fit(people() if table is None else table, roles, **asked)


def applied(kit, table, out=None, **options):
    return kit.apply(kit.choose(least_loss=True), table, out, **{"marginals": True, **options})


@pytest.fixture(scope="module")
def kit():
    return fitted()


@pytest.fixture(scope="module")
def release(kit):
    return applied(kit, people())


def counted(release, table):
    """Return people by run of each column, each raw value looked up among the runs."""
    book, found = read_codebook(release.public["policy"]), {}
    for name, marginal in marginals_in(release.public).items():
        runs = replace(book.column(name), entries=marginal.runs)
        held, place = runs.membership(table.column(name), blank_is_unknown=False)
        assert (held.sum(axis=0) == 1).all()  # each value is in one run
        found[name] = held[:, place].sum(axis=1).tolist()
    return found


def stated(release):
    """Return the exact counts, of which the public ones are all that is rounded."""
    exact, public = marginals_in(release.private), marginals_in(release.public)
    assert [one.public for one in exact.values()] == [*public.values()]
    return {name: list(one.people) for name, one in exact.items()}


def test_every_run_holds_the_people_that_the_source_has_there(release):
    assert stated(release) == counted(release, people())
    assert set(stated(release)) == set(QUASI)
    assert all(min(held) >= 11 for held in stated(release).values())
    assert min(map(len, stated(release).values())) >= 4


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 800))
def test_so_it_is_of_people_that_the_kit_never_met(kit, seed, rows):
    new = people(rows, seed)
    try:
        release = applied(kit, new)
    except InfeasibleError:
        assert rows < 5
        return
    numbers = open_source(release.folder / "rows.parquet").read(["row"]).column("row")
    assert stated(release) == counted(release, new.take(numbers))
    assert all(check.holds is not False for check in release.verify())


def test_people_who_are_set_aside_or_held_out_are_not_counted():
    odd = people().set_column(3, "zip", pa.array(["99999"] * 40 + ["37010", "37201"] * 1480))
    release = applied(fitted(odd.slice(40), hold_out=0.2), odd)
    assert release.private["counts"]["set_aside"] > 0
    assert release.private["counts"]["held_out"] > 0
    numbers = open_source(release.folder / "rows.parquet").read(["row"]).column("row")
    assert stated(release) == counted(release, odd.take(numbers))
    assert "99999" not in str(release.public)


def test_no_run_and_no_implied_count_is_of_fewer_people_than_k():
    release = applied(fitted(k=40), people())
    assert release.private["figures"][LEAST_IMPLIED] >= 40
    assert min(min(held) for held in stated(release).values()) >= 40


def test_marginals_of_too_few_people_are_not_published_whoever_chose_them(tmp_path, monkeypatch):
    """What they imply is counted by other code than chose them."""
    monkeypatch.setattr(showing, "least_of", lambda k: 1)
    with pytest.raises(InfeasibleError, match="imply a count of fewer than 11 people; leave marg"):
        applied(fitted(people(1_000)), people(1_000), tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_a_person_with_several_equal_rows_counts_once(monkeypatch):
    once = people(1_000)
    twice = pa.concat_tables([once, once.slice(0, 400)])
    roles = {"subject": "who", "columns": {**ROLES, "who": "identifier"}}
    kit = fitted(twice, roles, promise="row")
    for rows in (100, 10_000):  # in one batch with herself, and in another
        monkeypatch.setattr(verb._TablesApplying, "batch_rows", rows)
        release = applied(kit, twice, no_pseudonyms=True)
        assert stated(release) == counted(release, once)
        assert all(check.holds is not False for check in release.verify())


def test_nobody_is_in_two_runs():
    moved = people(1_000).set_column(1, "age", pa.array([30] * 1_000))
    both = pa.concat_tables([people(1_000), moved.slice(0, 1)])
    roles = {"subject": "who", "columns": {**ROLES, "who": "identifier"}}
    kit = fitted(both, roles, promise="row")
    assert stated(applied(kit, both, no_pseudonyms=True)) == {}
    assert stated(applied(kit, both.slice(0, 1_000), no_pseudonyms=True)) != {}


@pytest.mark.parametrize("options", [{}, {"fraction": 0.1}])
def test_they_are_left_out_unless_asked_for(options):
    kit = fitted(**options)
    release = kit.apply(kit.choose(least_loss=True), people())
    assert "marginals" not in release.public
    assert "marginals" not in release.private
    asked = applied(kit, people())
    assert stated(asked) == counted(asked, people())


def test_a_ledger_has_no_bound_of_them_so_a_release_in_it_has_none_but_for_a_reason(kit, tmp_path):
    key = tmp_path / "key"
    key.write_text("a key known to the tests alone")
    key.chmod(0o600)
    create(tmp_path / "l", LedgerPromise(expected_matches=1e6), key)
    how = {"ledger": tmp_path / "l", "key_file": key}
    assert (
        "marginals" not in applied(kit, people(), tmp_path / "a.csv", marginals=False, **how).public
    )
    with pytest.raises(InfeasibleError, match="no figure bounds what counts of people by runs"):
        applied(kit, people(), tmp_path / "b.csv", marginals=True, **how)
    reason = {"override": "the board agreed"}
    assert applied(kit, people(), tmp_path / "b.csv", marginals=True, **how, **reason).public[
        "marginals"
    ]
    with pytest.raises(InfeasibleError, match="line 3 counted people by runs"):
        applied(kit, people(), tmp_path / "c.csv", marginals=False, **how)
    whole = fitted(family="global", method="steepest")
    assert "marginals" not in applied(whole, people()).public


def test_bounds_say_the_same_as_labels(kit, release):
    whole = people().filter(pa.array([v is not None for v in people()["kg"].to_pylist()]))
    whole = whole.filter(pa.array([v is not None for v in whole["job"].to_pylist()]))
    with_bounds, labels = (applied(fitted(whole), whole, bounds=one) for one in (True, False))
    assert stated(with_bounds) == stated(labels)
    assert all(check.holds is not False for check in with_bounds.verify())


SAID = {
    "apply": "the marginals are as apply counted them",
    "few": "marginals and groups together imply no count of fewer than 11 people",
    "sum": "the marginals count the people of the release",
}


def forged(release, edit, part="public"):
    manifest = copy.deepcopy(dict(getattr(release, part)))
    edit(manifest["marginals"])
    return replace(release, **{part: manifest})


def moved(n):
    def edit(marginals):
        held = marginals[0]["people"]
        held[0], held[-1] = held[0] - n, held[-1] + n

    return edit


def added(n):
    def edit(marginals):
        marginals[0]["people"][0] += n

    return edit


@pytest.mark.parametrize(
    "edit",
    [
        moved(10),
        added(10),
        lambda found: found.clear(),
        lambda found: found.pop(),
        lambda found: found[0]["runs"].reverse(),
    ],
)
def test_verify_refuses_forged_marginals(release, edit):
    assert dict(release.verify())[SAID["apply"]] is True
    assert dict(forged(release, edit).verify())[SAID["apply"]] is False


@pytest.mark.parametrize("edit", [moved(10**4), added(1), lambda found: found[0]["runs"].reverse()])
def test_verify_counts_the_boxes_again(release, edit):
    assert dict(release.verify())[SAID["few"]] is True
    assert dict(forged(release, edit, "private").verify())[SAID["few"]] is False


@pytest.mark.parametrize(("edit", "holds"), [(moved(0), True), (added(2_000), False)])
def test_a_recipient_can_tell_that_marginals_and_rows_are_of_other_people(
    kit, tmp_path, edit, holds
):
    made = applied(kit, people(), tmp_path / "out.csv")
    shutil.rmtree(made.folder)
    received = forged(voile.open_release(tmp_path / "out.csv"), edit)
    assert dict(received.verify())[SAID["sum"]] is holds


def test_of_a_release_without_marginals_a_recipient_is_told_of_no_check_of_them(kit, tmp_path):
    made = applied(kit, people(), tmp_path / "out.csv", marginals=False)
    shutil.rmtree(made.folder)
    assert not any("marginals" in said for said, _ in voile.open_release(made.path).verify())


@pytest.mark.parametrize(("edit", "holds"), [(moved(0), True), (added(2_000), False)])
def test_ids_of_classes_say_nothing_of_whose_rows_these_are(kit, tmp_path, edit, holds):
    made = applied(kit, people(), tmp_path / "out.csv", class_id=True)
    shutil.rmtree(made.folder)
    received = forged(voile.open_release(tmp_path / "out.csv"), edit)
    assert dict(received.verify())[SAID["sum"]] is holds


@pytest.mark.parametrize(("edit", "holds"), [(moved(0), None), (added(2_000), False)])
def test_of_fewer_people_than_rows_a_recipient_cannot_tell_how_many(tmp_path, edit, holds):
    twice = pa.concat_tables([people(1_000), people(1_000).slice(0, 400)])
    roles = {"subject": "who", "columns": {**ROLES, "who": "identifier"}}
    kit = fitted(twice, roles, promise="row")
    made = applied(kit, twice, tmp_path / "out.csv", no_pseudonyms=True)
    shutil.rmtree(made.folder)
    received = forged(voile.open_release(tmp_path / "out.csv"), edit)
    assert dict(received.verify())[SAID["sum"]] is holds


def set_people(of):
    def edit(marginals):
        marginals[0]["people"] = of(marginals[0]["people"])

    return edit


@pytest.mark.parametrize(
    "edit",
    [
        set_people(lambda held: held[1:]),
        set_people(lambda held: [-held[0], *held[1:]]),
        set_people(lambda held: [3, *held[1:]]),
        set_people(lambda held: [0] * len(held)),
        set_people(lambda held: [10**400, *held[1:]]),
        set_people(lambda held: [float("nan"), *held[1:]]),
        set_people(lambda held: [str(held[0]), *held[1:]]),
        lambda found: found[0].pop("people"),
        lambda found: found[0].update(runs="none"),
        lambda found: found.append(found[0]),
        lambda found: found[0].update(column="ill"),
    ],
)
def test_marginals_that_no_release_has_are_not_expanded_to(release, edit):
    with pytest.raises(TamperedError, match="the marginals"):
        forged(release, edit).expand("age")


def test_runs_that_are_none_of_the_release_are_not_expanded_to(release):
    wrong = forged(release, lambda found: found[0]["runs"].pop(0))
    with pytest.raises(TamperedError, match="column age: the marginals are not those"):
        wrong.expand("age")


def test_expanded_weights_come_out_as_the_runs_within_rounding(kit, release):
    book, plain = read_codebook(release.public["policy"]), applied(kit, people(), marginals=False)
    for name in ("age", "zip", "job"):
        marginal = marginals_in(release.private)[name]
        runs = replace(book.column(name), entries=marginal.runs)
        off = []
        for one in (release, plain):
            made = one.expand(name)
            held, place = runs.membership(made[name], blank_is_unknown=False)
            sums = np.array([made["weight"].to_numpy()[own[place]].sum() for own in held])
            off.append(np.abs(sums - marginal.people).sum())
        assert off[0] <= 0.1 * 3_000
        assert off[0] <= off[1]


def test_expected_numbers_come_nearer_to_those_of_the_source(kit, release):
    plain = applied(kit, people(), marginals=False)
    true = np.mean([v for v in people()["kg"].to_pylist() if v is not None])
    off = []
    for one in (release, plain):
        made = [v for v in one.expand()["kg"].to_pylist() if v is not None]
        off.append(abs(np.mean(made) - true))
    assert off[0] < off[1] / 2


@pytest.mark.parametrize("audience", ["public", "internal"])
def test_the_report_says_which_columns_are_counted_and_what_queries_gain(kit, release, audience):
    plain = applied(kit, people(), marginals=False)
    prose, table = section(release, audience).blocks
    assert "runs of values of age, kg, zip, job and born" in " ".join(prose.paragraphs)
    runs = {row[0]: int(row[table.columns.index("runs counted")]) for row in table.rows}
    assert runs == {name: len(held) for name, held in stated(release).items()}
    lost = release.private["figures"]
    assert lost["query_error_with_runs"] < 0.8 * lost["query_error"]
    prose, table = section(plain, audience).blocks
    assert "runs" not in " ".join([*prose.paragraphs, *table.columns])
    assert plain.private["figures"]["query_error"] == lost["query_error"]


def section(release, audience):
    return next(one for one in sections(release, (), audience=audience) if one.key == "analysts")
