"""Apply loses no row, lets no identifier out, and leaves the whole release or nothing."""

from __future__ import annotations

import csv
import datetime as dt
import json
import stat
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from voile.errors import InfeasibleError, RequestError, VoileError
from voile.io import open_source
from voile.kit import Choice, Kit
from voile.progress import silent
from voile.release import Release, private_path
from voile.roles import Roles
from voile.tables.content import Content
from voile.tables.options import ApplyOptions, FitOptions
from voile.tables.verifying import verify
from voile.tables.wing import apply, choose, fit

pytestmark = pytest.mark.filterwarnings("ignore::voile.tables.hipaa.SafeHarborWarning")

COLUMNS = {
    "who": "identifier",
    "name": "identifier",
    "age": "quasi",
    "zip": "quasi",
    "seen": {"role": "keep", "shift_days": 30},
    "ill": "sensitive",
    "note": "text",
    "secret": "drop",
}


def roles(**changes):
    columns = {name: role for name, role in {**COLUMNS, **changes}.items() if role is not None}
    subject = "who" if "who" in columns else None
    return Roles.model_validate({"subject": subject, "columns": columns})


@pytest.fixture(scope="module")
def patients():
    """300 visits of 200 people, with canaries in what never leaves."""
    rng = np.random.default_rng(5)
    who = [i % 200 for i in range(300)]
    age = rng.integers(20, 40, 200)
    zips = rng.choice(["00501", "00544", "37010", "37201"], 200)
    first = dt.date(2020, 1, 1)
    return pa.table(
        {
            "who": [f"CANARY-{i:03d}" for i in who],
            "name": [f"CANARYNAME {i}" for i in who],
            "age": [int(age[i]) for i in who],
            "zip": [str(zips[i]) for i in who],
            "seen": [(first + dt.timedelta(days=7 * i)).isoformat() for i in range(300)],
            "ill": rng.choice(["flu", "gout"], 300).tolist(),
            "note": ["CANARYNOTE"] * 300,
            "secret": ["CANARYDROP"] * 300,
        }
    )


@pytest.fixture(scope="module")
def key_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("key") / "key"
    path.write_bytes(b"k" * 32)
    path.chmod(0o600)
    return path


def fitted(table, held_to=None, *, seed=3, **options):
    asked = FitOptions.model_validate({"strategy": "steepest", **options})
    return fit(open_source(table), held_to or roles(), asked, seed=seed, progress=silent)


@pytest.fixture(scope="module")
def kit(patients):
    return fitted(patients, hold_out=0.1)


def middle(kit):
    return choose(kit, Choice(policy=kit.facts["policies"] // 2))


def run(kit, table, out, *, chosen=None, force=False, **options):
    asked = ApplyOptions.model_validate(options)
    source = open_source(table)
    chosen = chosen or middle(kit)
    return apply(kit, chosen, source, out, asked, force=force, progress=silent)


def read(path, columns=None):
    source = open_source(path)
    return pa.Table.from_batches(source.batches(columns), source.schema(columns))


@pytest.fixture(scope="module")
def release(kit, patients, key_file, tmp_path_factory):
    return run(kit, patients, tmp_path_factory.mktemp("out") / "out.csv", key_file=key_file)


def test_rows_in_are_rows_accounted_for(kit, patients, key_file, tmp_path):
    strange = patients.set_column(2, "age", pa.array([99, None, *patients["age"].to_pylist()[2:]]))
    release = run(kit, strange, tmp_path / "out.csv", key_file=key_file)
    counts = release.private["counts"]
    held = set(read(release.folder / "control.parquet")["row"].to_pylist())
    outside = {0, 1} - held
    assert counts["set_aside"] == len(outside)
    assert counts["read"] == 300
    assert counts["released"] == read(release.path).num_rows == 300 - len(held | outside)
    with (release.folder / "set-aside.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["row"], row["column"]) for row in rows] == [
        (str(i + 1), "age") for i in sorted(outside)
    ]
    assert {row["reason"] for row in rows} <= {"a value outside its domain"}


def test_identifiers_never_leave(release):
    public = (
        release.path.read_bytes() + release.path.with_name("out.csv.manifest.json").read_bytes()
    )
    assert b"CANARY" not in public
    assert read(release.path).column_names == ["who", "age", "zip", "seen", "ill"]
    for path in release.folder.iterdir():
        assert b"CANARY" not in path.read_bytes()


def test_without_a_secret_the_subject_does_not_leave(patients, tmp_path, monkeypatch):
    monkeypatch.delenv("VOILE_SECRET", raising=False)
    kit = fitted(patients, roles(seen="drop"))
    assert "who" not in read(run(kit, patients, tmp_path / "a.csv").path).column_names
    monkeypatch.setenv("VOILE_SECRET", "s" * 32)
    assert "who" in read(run(kit, patients, tmp_path / "b.csv").path).column_names
    dropped = fitted(patients, roles(seen="drop", who="drop"))
    assert "who" not in read(run(dropped, patients, tmp_path / "c.csv").path).column_names


def test_pseudonyms_are_one_a_person_and_the_same_again(kit, patients, key_file, tmp_path, release):
    again = run(kit, patients, tmp_path / "again.csv", key_file=key_file)
    for made in (release, again):
        names = read(made.path)["who"].to_pylist()
        rows = read(made.folder / "rows.parquet")["row"].to_pylist()
        of = {(patients["who"][row].as_py(), name) for row, name in zip(rows, names, strict=True)}
        assert len(of) == len({who for who, _ in of}) == len({name for _, name in of})
    assert set(read(release.path)["who"].to_pylist()) == set(read(again.path)["who"].to_pylist())


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


def test_the_order_is_not_the_sources_unless_asked(kit, patients, key_file, tmp_path):
    first, second, kept = (
        read(
            run(kit, patients, tmp_path / f"{name}.csv", key_file=key_file, keep_order=order).folder
            / "rows.parquet"
        )["row"].to_pylist()
        for name, order in (("a", False), ("b", False), ("c", True))
    )
    assert sorted(first) == sorted(second) == kept
    assert first != kept
    assert first != second


def test_the_private_folder_is_the_owners_alone(release):
    assert stat.S_IMODE(release.folder.stat().st_mode) == 0o700
    assert {path.name for path in release.folder.iterdir()} == {
        "manifest.json",
        "rows.parquet",
        "control.parquet",
        "set-aside.csv",
    }


def test_the_public_manifest_tells_nothing_of_the_source(release, kit, patients):
    public = json.dumps(release.public)
    assert open_source(patients).fingerprint() not in public
    assert kit.id not in public
    assert release.private["source"]["sha256"] == open_source(patients).fingerprint()
    assert release.private["kit"] == kit.id
    assert not {"seed", "source", "counts", "story"} & set(release.public)


def test_held_out_people_are_in_no_release_and_no_count(kit, patients, release):
    held = read(release.folder / "control.parquet")["row"].to_pylist()
    absent = {patients["who"][row].as_py() for row in held}
    rows = read(release.folder / "rows.parquet")["row"].to_pylist()
    present = {patients["who"][row].as_py() for row in rows}
    assert absent
    assert not absent & present
    assert len(absent | present) == 200
    counted = sum(kit.tables["counts"].column("sample").to_pylist())
    assert counted == pytest.approx(len(present))
    assert release.private["counts"]["held_out"] == len(held)


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.duckdb", "out.jsonl", "out.arrow"])
@pytest.mark.parametrize("bounds", [False, True])
def test_every_format_verifies_and_holds_the_rows(kit, patients, key_file, tmp_path, name, bounds):
    made = run(kit, patients, tmp_path / name, key_file=key_file, keep_order=True, bounds=bounds)
    plain = run(
        kit, patients, tmp_path / "same.csv", key_file=key_file, keep_order=True, bounds=bounds
    )
    assert all(holds for _, holds in verify(made))
    made.check_hash()
    rows, expected = (
        [[None if v is None else str(v) for v in row.values()] for row in read(r.path).to_pylist()]
        for r in (made, plain)
    )
    assert rows == expected


def test_a_duckdb_table_can_be_named(kit, patients, key_file, tmp_path):
    release = run(kit, patients, tmp_path / "out.duckdb::patients", key_file=key_file)
    assert release.path == tmp_path / "out.duckdb"
    assert open_source(f"{release.path}::patients").columns
    assert all(holds for _, holds in verify(release))


def test_a_policy_of_another_kit_is_refused(kit, patients, key_file, tmp_path):
    other = fitted(patients, seed=4, hold_out=0.2)
    with pytest.raises(RequestError, match="choose again from this kit"):
        run(kit, patients, tmp_path / "out.csv", chosen=middle(other), key_file=key_file)
    assert not list(tmp_path.iterdir())


def test_the_kit_that_was_saved_is_the_same_kit(kit, patients, key_file, tmp_path):
    chosen = middle(kit)
    kit.save(tmp_path / "kit")
    loaded = Kit.load(tmp_path / "kit")
    assert middle(loaded) == chosen
    run(loaded, patients, tmp_path / "out.csv", chosen=chosen, key_file=key_file)


def test_a_policy_edited_by_hand_is_scored_again(kit, patients, key_file, tmp_path):
    chosen, top = middle(kit), choose(kit, Choice(policy=0))
    edited = replace(chosen, policy=top.policy)
    release = run(kit, patients, tmp_path / "out.csv", chosen=edited, key_file=key_file)
    for name in ("relative_risk", "loss"):
        assert release.public["figures"][name] == pytest.approx(top.figures[name])
    assert release.private["chosen"]["number"] is None
    assert release.private["chosen"]["how"].endswith("then edited")
    assert release.private["chosen"]["figures"] == pytest.approx(dict(top.figures))


def test_nothing_is_left_after_an_error(kit, patients, key_file, tmp_path, monkeypatch):
    source = open_source(patients)
    read_batches = source._read

    def broken(columns, rows):
        yield from list(read_batches(columns, 100))[:1]
        raise OSError("the disk went away")

    monkeypatch.setattr(source, "_read", broken)
    asked = ApplyOptions.model_validate({"key_file": key_file})
    with pytest.raises(OSError, match="went away"):
        apply(kit, middle(kit), source, tmp_path / "o.csv", asked, force=False, progress=silent)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["out.docx", "out"])
def test_unknown_formats_and_existing_releases_are_refused(kit, patients, key_file, tmp_path, name):
    with pytest.raises(RequestError, match="cannot be written"):
        run(kit, patients, tmp_path / name, key_file=key_file)
    assert not list(tmp_path.iterdir())
    run(kit, patients, tmp_path / "out.csv", key_file=key_file)
    with pytest.raises(RequestError, match="there already"):
        run(kit, patients, tmp_path / "out.csv", key_file=key_file)
    run(kit, patients, tmp_path / "out.csv", key_file=key_file, force=True)


def test_other_columns_than_fitted_are_refused(kit, patients, key_file, tmp_path):
    more = patients.append_column("more", patients["age"])
    with pytest.raises(RequestError, match="column more has no role"):
        run(kit, more, tmp_path / "out.csv", key_file=key_file)
    with pytest.raises(RequestError, match="there is no column ill"):
        run(kit, patients.drop_columns("ill"), tmp_path / "out.csv", key_file=key_file)


def test_columns_called_as_ours_are_released(patients, tmp_path):
    table = patients.rename_columns(["id", "name", "age", "zip", "row", "person", "note", "secret"])
    named = {"id": "identifier", "name": "drop", "age": "quasi", "zip": "quasi", "row": "keep",
             "person": "keep", "note": "text", "secret": "drop"}  # fmt: skip
    held_to = Roles.model_validate({"subject": "id", "columns": named})
    release = run(fitted(table, held_to), table, tmp_path / "out.parquet")
    assert read(release.path).column_names == ["age", "zip", "row", "person"]
    assert all(holds for _, holds in verify(release))
    rows = read(release.folder / "rows.parquet")["row"].to_pylist()
    assert read(release.path)["row"].to_pylist() == [table["row"][i].as_py() for i in rows]


def test_an_empty_source_gives_an_empty_release(kit, patients, key_file, tmp_path):
    release = run(kit, patients.slice(0, 0), tmp_path / "out.csv", key_file=key_file)
    assert read(release.path).num_rows == release.private["counts"]["read"] == 0
    assert all(holds for _, holds in verify(release))


K_RULES = {"k": 5, "suppress": 0.2}


def test_groups_under_k_are_suppressed_up_to_the_share(patients, tmp_path):
    kit = fitted(patients, roles(seen="drop"), **K_RULES)
    last = choose(kit, Choice(policy=kit.facts["policies"] - 1))
    release = run(kit, patients, tmp_path / "out.csv", chosen=last)
    counts = release.private["counts"]
    assert counts["suppressed"] > 0
    assert 0 < last.figures["suppressed"] <= 0.2
    assert 5 <= release.private["figures"]["k"] < 11
    assert "k" not in release.public["figures"]
    assert all(holds for _, holds in verify(release))
    released = read(release.path)
    groups = released.group_by(["age", "zip"]).aggregate([([], "count_all")])
    assert min(groups["count_all"].to_pylist()) >= 5
    again = choose(kit, Choice(policy=0))
    assert again.figures["k"] >= 5


def test_discernibility_counts_suppressed_people_not_rows(patients, tmp_path):
    """With every row written twice no figure changes."""
    found = []
    for name, table in (("once", patients), ("twice", pa.concat_tables([patients, patients]))):
        kit = fitted(table, roles(seen="drop"), **K_RULES)
        last = choose(kit, Choice(policy=kit.facts["policies"] - 1))
        release = run(kit, table, tmp_path / f"{name}.csv", chosen=last)
        assert release.private["counts"]["suppressed"] > 0
        figures = dict(release.private["figures"])
        found.append((release.public["figures"], figures))
    assert found[0][0] == pytest.approx(found[1][0])
    assert found[0][1] == pytest.approx(found[1][1])


def test_l_diversity_holds_in_the_release(patients, tmp_path):
    kit = fitted(patients, roles(seen="drop"), l_diversity=2, suppress=0.2)
    last = choose(kit, Choice(policy=kit.facts["policies"] - 1))
    release = run(kit, patients, tmp_path / "out.csv", chosen=last)
    table = read(release.path).group_by(["age", "zip"]).aggregate([("ill", "count_distinct")])
    assert min(table["ill_count_distinct"].to_pylist()) >= 2
    assert release.private["figures"]["distinct_l(ill)"] >= 2


def test_other_data_that_would_break_the_promise_is_refused(patients, tmp_path):
    kit = fitted(patients, roles(seen="drop"), **K_RULES)
    last = choose(kit, Choice(policy=kit.facts["policies"] - 1))
    with pytest.raises(InfeasibleError, match=r"holds \d people .* asks for 5"):
        run(kit, patients.slice(0, 40), tmp_path / "out.csv", chosen=last)
    assert not list(tmp_path.iterdir())


def test_a_policy_edited_below_k_is_refused(patients, tmp_path):
    kit = fitted(patients, roles(seen="drop"), k=5)
    chosen = middle(kit)
    ages = [[str(age), str(age)] for age in range(20, 40)]
    zips = [[code, code] for code in ("00501", "00544", "37010", "37201")]
    edited = replace(chosen, policy={"age": ages, "zip": zips})
    with pytest.raises(InfeasibleError, match="breaks the kit's constraints"):
        run(kit, patients, tmp_path / "out.csv", chosen=edited)


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


def test_a_person_whose_rows_fall_into_many_groups_keeps_k(tmp_path):
    """k counts the people of a group; spreading a person over groups must not lower it."""
    who = [i for i in range(12) for _ in range(3)]
    age = [a for i in range(12) for a in (20, 21, 40 if i % 2 else 22)]
    table = pa.table({"who": who, "age": age})
    held_to = Roles.model_validate(
        {"subject": "who", "columns": {"who": "identifier", "age": "quasi"}}
    )
    kit = fitted(table, held_to, k=4)
    for number in range(kit.facts["policies"]):
        release = run(
            kit, table, tmp_path / f"{number}.csv", chosen=choose(kit, Choice(policy=number))
        )
        assert all(holds for _, holds in verify(release)), number


def test_verify_fails_when_a_label_changes(kit, patients, key_file, tmp_path):
    release = run(kit, patients, tmp_path / "out.csv", key_file=key_file)
    text = release.path.read_text().splitlines(keepends=True)
    label = text[1].split(",")[1]
    for other in (label + "0", "nobody"):
        changed = text[1].replace(f",{label},", f",{other},")
        release.path.write_text("".join([text[0], changed, *text[2:]]))
        assert not all(holds for _, holds in verify(release))
        with pytest.raises(VoileError):
            Release.open(release.path).check_hash()
    release.path.write_text("".join(text[:-1]))
    assert not all(holds for _, holds in verify(release))
    release.path.write_text("".join([text[0].replace("zip", "zap"), *text[1:]]))
    assert not all(holds for _, holds in verify(release))


def test_verify_fails_when_a_label_becomes_another(kit, patients, key_file, tmp_path):
    bottom = choose(kit, Choice(policy=kit.facts["policies"] - 1))
    release = run(kit, patients, tmp_path / "out.csv", chosen=bottom, key_file=key_file)
    lines = [line.split(",") for line in release.path.read_text().splitlines()]
    sizes = {}
    for line in lines[1:]:
        sizes[line[1], line[2]] = sizes.get((line[1], line[2]), 0) + 1
    smallest = min(sizes, key=sizes.get)
    largest = max(sizes, key=sizes.get)
    for line in lines[1:]:
        if (line[1], line[2]) == smallest:
            line[1:3] = largest
    release.path.write_text("".join(",".join(line) + "\n" for line in lines))
    failed = [name for name, holds in verify(release) if not holds]
    assert failed


def test_verify_needs_no_private_folder(kit, patients, key_file, tmp_path):
    release = run(kit, patients, tmp_path / "out.csv", key_file=key_file)
    alone = tmp_path / "received"
    alone.mkdir()
    for path in (release.path, release.path.with_name("out.csv.manifest.json")):
        (alone / path.name).write_bytes(path.read_bytes())
    received = Release.open(alone / "out.csv")
    assert not private_path(received.path).exists()
    assert all(holds for _, holds in verify(received))


def test_the_same_seed_gives_the_same_kit(patients, tmp_path):
    for name in ("a", "b"):
        fitted(patients, hold_out=0.1, seed=9).save(tmp_path / name)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
    assert fitted(patients, hold_out=0.1, seed=10).id != Kit.load(tmp_path / "a").id


def test_a_fitted_kit_comes_back_whole(kit, tmp_path):
    kit.save(tmp_path / "kit")
    one, two = Content.of(kit), Content.of(Kit.load(tmp_path / "kit"))
    assert one.space.domains == two.space.domains
    assert one.roles == two.roles
    assert one.hold_out == two.hold_out
    assert one.marks == two.marks
    assert one.found == two.found
    assert np.array_equal(one.frontier.policies, two.frontier.policies)
    assert np.array_equal(one.space.counts.sample, two.space.counts.sample)
    assert two.to_kit().id == kit.id
