"""No identifier leaves; a person's rows stay one person's, under a pseudonym and a date shift."""

from __future__ import annotations

import datetime as dt
import json
import stat
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.tables.verbs.apply.visits import finest, fitted, middle, read, roles, run

from voile.core.errors import InfeasibleError, RequestError
from voile.data import open_source
from voile.data.roles import Roles
from voile.release.choice import Choice
from voile.tables.verbs.choose import choose
from voile.tables.verbs.report import sections
from voile.tables.verbs.verify import verify

pytestmark = pytest.mark.filterwarnings(
    "ignore::voile.tables.policies.safe_harbor.SafeHarborWarning"
)


def test_identifiers_never_leave(release):
    public = (
        release.path.read_bytes() + release.path.with_name("out.csv.manifest.json").read_bytes()
    )
    assert b"CANARY" not in public
    assert read(release.path).column_names == ["who", "age", "zip", "seen", "ill"]
    for path in release.folder.iterdir():
        assert b"CANARY" not in path.read_bytes()


@pytest.mark.parametrize("role", ["identifier", "keep", "drop"])
def test_the_subject_leaves_as_a_pseudonym_or_not_at_all(patients, tmp_path, monkeypatch, role):
    def columns(name, **options):
        return read(run(kit, patients, tmp_path / name, **options).path).column_names

    monkeypatch.delenv("VOILE_SECRET", raising=False)
    kit = fitted(patients, roles(seen="drop", who=role))
    if role == "drop":
        assert "who" not in columns("a.csv", no_pseudonyms=False)
    else:
        with pytest.raises(RequestError, match="column who: there is no secret to make pseudonyms"):
            columns("a.csv", no_pseudonyms=False)
        assert not list(tmp_path.iterdir())
    assert "who" not in columns("b.csv", no_pseudonyms=True)
    monkeypatch.setenv("VOILE_SECRET", "s" * 32)
    assert ("who" in columns("c.csv", no_pseudonyms=False)) == (role != "drop")
    assert b"CANARY" not in (tmp_path / "b.csv").read_bytes()
    assert "who" not in columns("d.csv", no_pseudonyms=True)


def test_pseudonyms_are_one_a_person_and_the_same_again(kit, patients, key_file, tmp_path, release):
    again = run(kit, patients, tmp_path / "again.csv", key_file=key_file)
    for made in (release, again):
        names = read(made.path)["who"].to_pylist()
        rows = read(made.folder / "rows.parquet")["row"].to_pylist()
        of = {(patients["who"][row].as_py(), name) for row, name in zip(rows, names, strict=True)}
        assert len(of) == len({who for who, _ in of}) == len({name for _, name in of})
    assert set(read(release.path)["who"].to_pylist()) == set(read(again.path)["who"].to_pylist())


def visited_again(patients):
    older = [age + (row >= 200) * (row % 3) for row, age in enumerate(patients["age"].to_pylist())]
    return patients.set_column(2, "age", pa.array(older))


ACCEPTED = "a reason of the data holder"


def test_people_are_counted_by_all_rows_that_a_pseudonym_shows(patients, key_file, tmp_path):
    table = visited_again(patients)
    kit = fitted(table)
    how = {"chosen": finest(kit), "key_file": key_file}
    release = run(kit, table, tmp_path / "out.csv", accept_risk=ACCEPTED, **how)
    records = {}
    for row in read(release.path, ["who", "age", "zip"]).to_pylist():
        who, *shown = row.values()
        records.setdefault(who, Counter())[tuple(shown)] += 1
    alike = Counter(frozenset(own.items()) for own in records.values())
    figures = release.private["figures"]
    assert figures["k_all_rows"] == min(alike.values())
    assert (
        figures["unique_all_rows"]
        == sum(n == 1 for n in alike.values())
        > figures["sample_uniques"]
    )
    assert ("unique_all_rows is as certified", True) in list(verify(release))
    assert "unique_all_rows" not in release.public["figures"]
    apart = roles(seen="drop", who="drop")
    kit = fitted(table, apart)
    unnamed = run(kit, table, tmp_path / "b.csv", chosen=finest(kit))
    assert "k_all_rows" not in unnamed.private["figures"]


def test_rows_that_single_people_out_are_refused_unless_accepted(patients, key_file, tmp_path):
    table = visited_again(patients)
    kit = fitted(table, k=3)
    how = {"chosen": finest(kit), "key_file": key_file}
    with pytest.raises(
        InfeasibleError, match=r"people have records that fewer than 3 .* who joins"
    ):
        run(kit, table, tmp_path / "a.csv", **how)
    assert not (tmp_path / "a.csv").exists()
    alone = run(kit, table, tmp_path / "b.csv", one_row=True, **how | {"chosen": middle(kit)})
    assert Counter(read(alone.path)["who"].to_pylist()).most_common(1)[0][1] == 1
    unnamed = run(kit, table, tmp_path / "c.csv", no_pseudonyms=True, **how)
    assert "people_below_k" not in unnamed.private["figures"]
    accepted = run(kit, table, tmp_path / "d.csv", accept_risk=ACCEPTED, **how)
    assert accepted.private["figures"]["people_below_k"] > 0
    shown = sections(accepted, (), audience="public")[0].blocks[0].paragraphs[0]
    assert shown.startswith("Accepted risk:")
    assert ACCEPTED in shown
    said = "at least 3 people show the rows of any one person"
    assert (said, None) in list(verify(accepted))


def test_the_drawn_rows_are_changed_where_a_group_would_fall_short_of_k(
    patients, key_file, tmp_path
):
    table = visited_again(patients)
    kit = fitted(table, k=3)
    how = {"chosen": middle(kit), "key_file": key_file, "one_row": True}
    for recipient in "abcdefgh":  # each draws other rows
        release = run(kit, table, tmp_path / f"{recipient}.csv", recipient=recipient, **how)
        assert release.private["figures"]["k"] >= 3
        assert len({*read(release.path)["who"].to_pylist()}) == release.public["figures"].get(
            "subjects", release.private["figures"]["subjects"]
        )


def test_one_row_of_each_person_may_be_too_few_for_a_fine_policy(patients, key_file, tmp_path):
    """No choice of rows fills every group; the other remedy of the message works."""
    kit = fitted(visited_again(patients), k=3)
    table = visited_again(patients).take(pa.array([*range(20), *range(200, 220)]))
    how = {"chosen": finest(kit), "key_file": key_file, "one_row": True}
    with pytest.raises(InfeasibleError) as refused:
        run(kit, table, tmp_path / "out.csv", **how)
    assert refused.value.instead == (
        "choose a coarser policy, or fit on a source that has one row of each person"
    )
    of_each = visited_again(patients).slice(0, 200)
    again = fitted(of_each, k=3)
    run(again, of_each, tmp_path / "out.csv", chosen=finest(again), key_file=key_file)


def test_date_shifts_keep_a_persons_intervals(patients, release):
    moved = read(release.path)
    rows = read(release.folder / "rows.parquet")["row"].to_pylist()
    shifts = {}
    for row, date in zip(rows, moved["seen"].to_pylist(), strict=True):
        days = dt.date.fromisoformat(date) - dt.date.fromisoformat(patients["seen"][row].as_py())
        shifts.setdefault(patients["who"][row].as_py(), set()).add(days.days)
    assert all(len(days) == 1 and 1 <= abs(*days) <= 30 for days in shifts.values())
    assert len({next(iter(days)) for days in shifts.values()}) > 5


def test_what_cannot_be_shifted_or_named_is_set_aside(kit, patients, key_file, tmp_path):
    seen = pa.array(["soon", *patients["seen"].to_pylist()[1:]])
    who = pa.array([patients["who"][0].as_py(), None, " ", *patients["who"].to_pylist()[3:]])
    table = patients.set_column(4, "seen", seen).set_column(0, "who", who)
    release = run(kit, table, tmp_path / "out.csv", key_file=key_file)
    held = set(read(release.folder / "control.parquet")["row"].to_pylist())
    by = {(e["column"], e["rows"]) for e in release.private["counts"]["set_aside_by"]}
    lost = len({1, 2} - held)
    assert ("who", lost) in by
    assert release.private["counts"]["set_aside"] == len({0, 1, 2} - held)


def test_a_date_shift_needs_a_secret_and_a_subject(patients, tmp_path, monkeypatch, key_file):
    monkeypatch.delenv("VOILE_SECRET", raising=False)
    kit = fitted(patients)
    with pytest.raises(RequestError, match="column seen: a date shift needs"):
        run(kit, patients, tmp_path / "out.csv")
    with pytest.raises(RequestError, match="roles, column seen: shift_day"):
        fitted(patients, roles(seen={"role": "keep", "shift_day": 30}))
    nobody = fitted(patients.drop_columns("who"), roles(who=None))
    with pytest.raises(RequestError, match="column seen: a date shift needs"):
        run(nobody, patients.drop_columns("who"), tmp_path / "out.csv", key_file=key_file)
    assert not list(tmp_path.iterdir())


def test_a_subject_of_floats_has_no_pseudonym(patients, tmp_path, key_file):
    plain = roles(seen="drop")
    numbers = [int(who[-3:]) for who in patients["who"].to_pylist()]
    kit = fitted(patients.set_column(0, "who", pa.array(numbers)), plain)
    floats = patients.set_column(0, "who", pa.array([float(n) for n in numbers]))
    with pytest.raises(RequestError, match="column who: the subject is double"):
        run(kit, floats, tmp_path / "out.csv", key_file=key_file)


def test_a_row_without_a_subject_is_a_person_of_its_own(patients, tmp_path):
    nameless = patients.set_column(0, "who", pa.array([None] * 300, pa.string()))
    held_to = roles(seen="drop")
    alone = fitted(nameless, held_to)
    rows = fitted(nameless.drop_columns("who"), roles(seen="drop", who=None))
    assert sum(alone.tables["counts"].column("sample").to_pylist()) == 300
    for name in ("frontier", "counts"):
        assert alone.tables[name].equals(rows.tables[name])
    release = run(alone, nameless, tmp_path / "a.csv")
    other = run(rows, nameless.drop_columns("who"), tmp_path / "b.csv", chosen=middle(rows))
    assert release.private["figures"] == pytest.approx(other.private["figures"])
    tokens = read(release.folder / "rows.parquet")["person"].to_pylist()
    assert len(set(tokens)) == 300


def test_the_private_folder_is_the_owners_alone(release):
    assert stat.S_IMODE(release.folder.stat().st_mode) == 0o700
    assert {path.name for path in release.folder.iterdir()} == {
        "manifest.json",
        "rows.parquet",
        "control.parquet",
        "set-aside.csv",
        "seal.json",
    }


def test_the_public_manifest_tells_nothing_of_the_source(release, kit, patients):
    public = json.dumps(release.public)
    assert open_source(patients).fingerprint() not in public
    assert kit.id not in public
    assert release.private["source"]["sha256"] == open_source(patients).fingerprint()
    assert release.private["kit"] == kit.id
    assert not {"seed", "source", "counts", "story"} & set(release.public)


HOUSEHOLDS = Roles.model_validate(
    {
        "subject": "who",
        "columns": {"who": "identifier", "age": "quasi", "town": "quasi", "ill": "sensitive"},
    }
)


def households(seed):
    """Make visits of 400 people, one to three each, some of them in other towns."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(400), rng.integers(1, 4, 400))
    home, towns = rng.integers(0, 6, 400)[who], np.array(list("abcdef"))
    away = rng.random(len(who)) < 0.15
    return pa.table(
        {
            "who": who,
            "age": rng.integers(20, 60, 400)[who] + rng.integers(0, 2, len(who)),
            "town": towns[np.where(away, rng.integers(0, 6, len(who)), home)],
            "ill": np.array(["flu", "cold", "gout"])[rng.integers(0, 3, len(who))],
        }
    )


@pytest.mark.parametrize("asked", [{}, {"entropy_l": 2.2}, {"t_closeness": 0.25}])
def test_trees_count_people_of_several_rows_as_their_release_does(tmp_path, key_file, asked):
    table = households(3)
    kit = fitted(table, HOUSEHOLDS, family="tree", k=5, **asked)
    for number in range(0, kit.facts["policies"], 6):
        chosen = choose(kit, Choice(policy=number))
        release = run(
            kit,
            table,
            tmp_path / f"{number}.csv",
            chosen=chosen,
            key_file=key_file,
            accept_risk=ACCEPTED,
        )
        groups = {}
        for row in read(release.path).to_pylist():
            groups.setdefault((row["age"], row["town"]), set()).add(row["who"])
        assert min(map(len, groups.values())) >= 5
        assert release.private["figures"]["k"] == min(map(len, groups.values()))
        assert release.private["figures"]["subjects"] == 400
        assert all(holds is not False for _, holds in verify(release))


def test_rows_of_a_tree_that_single_people_out_are_refused(tmp_path, key_file):
    table = households(3)
    kit = fitted(table, HOUSEHOLDS, family="tree", k=5)
    with pytest.raises(
        InfeasibleError, match=r"people have records that fewer than 5 .* who joins"
    ):
        run(kit, table, tmp_path / "a.csv", chosen=finest(kit), key_file=key_file)
    assert not (tmp_path / "a.csv").exists()


def naive_risks(table, weight_of=None):
    """Return each person's largest risk over her rows: 1 / the people with a row in the class."""
    groups, risks = {}, {}
    rows = table.to_pylist()
    for row in rows:
        groups.setdefault((row["age"], row["town"]), set()).add(row["who"])
    for row in rows:
        people = groups[row["age"], row["town"]]
        size = max(len(people), sum(weight_of[who] for who in people) if weight_of else 0)
        risks[row["who"]] = max(risks.get(row["who"], 0), 1 / size)
    return risks


@pytest.mark.parametrize("family", ["global", "tree"])
@pytest.mark.parametrize("seed", [3, 8])
def test_the_largest_risk_equals_a_naive_recount_of_people(tmp_path, key_file, family, seed):
    table = households(seed)
    kit = fitted(table, HOUSEHOLDS, family=family, max_risk=0.2, suppress=0.05 * (family != "tree"))
    how = {"key_file": key_file, "accept_risk": ACCEPTED}
    release = run(kit, table, tmp_path / "r.csv", chosen=finest(kit), **how)
    risks, figures = naive_risks(read(release.path)), release.private["figures"]
    largest, mean = max(risks.values()), sum(risks.values()) / len(risks)
    assert largest <= 0.2 + 1e-9
    assert [figures[name] for name in ("max_risk", "prosecutor_max")] == pytest.approx(
        [largest] * 2
    )
    assert [figures[n] for n in ("mean_risk", "prosecutor_mean")] == pytest.approx([mean] * 2)
    assert release.public["figures"]["max_risk"] == pytest.approx(largest, abs=0.006)


def test_no_weighted_person_has_more_than_the_largest_risk(tmp_path):
    table = households(5)
    weights = np.random.default_rng(5).integers(1, 9, 400) / 2
    own = {f"p{i}": weight for i, weight in enumerate(weights)}
    who = [f"p{i}" for i in table.column("who").to_pylist()]
    table = table.set_column(0, "who", pa.array(who)).append_column(
        "weight", pa.array([own[one] for one in who])
    )
    held_to = {**HOUSEHOLDS.columns, "weight": "weight"}
    weighted = Roles.model_validate({"subject": "who", "columns": held_to})
    kit = fitted(table, weighted, family="tree", max_risk=0.2)
    release = run(kit, table, tmp_path / "r.csv", chosen=finest(kit))
    rows = read(release.path).drop_columns("ill")
    people = read(release.folder / "rows.parquet", ["row"]).column("row").to_pylist()
    rows = rows.append_column("who", pa.array([who[row] for row in people]))
    largest = max(naive_risks(rows, own).values())
    assert largest <= release.private["figures"]["max_risk"] + 1e-9 <= 0.2 + 1e-8


def test_people_who_are_not_released_hide_nobody(tmp_path, key_file):
    table = households(3)
    kit = fitted(table, HOUSEHOLDS, family="tree", max_risk=0.2)
    part = table.filter(pc.less(table.column("who"), 100))
    with pytest.raises(InfeasibleError, match="risk"):
        run(kit, part, tmp_path / "r.csv", chosen=finest(kit), key_file=key_file)
