"""A promise per person: k people show any multiset of rows that somebody shows."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import voile
import voile.tables as vt
from voile.core.errors import InfeasibleError, RequestError
from voile.tables.fitting.person_promise import PromiseWarning

QUASI = ("age", "sex", "day", "place")
ROLES = {
    "subject": "who",
    "columns": {
        "who": "identifier",
        "age": "quasi",
        "sex": "quasi",
        "day": {"role": "quasi", "by": "month"},
        "place": "quasi",
        "ill": "sensitive",
    },
}
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def stays(seed, people=60, *, nobody=0.0, missing=0.1):
    """Rows of people: most have one, some up to seven; her sex stays, her age and place may not."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(people):
        age, sex = int(rng.integers(20, 60)), str(rng.choice(["f", "m"]))
        place = str(rng.choice(["north", "south", "east", "west"]))
        for visit in range(int(rng.choice([1, 1, 1, 2, 2, 3, 7]))):
            rows.append(
                {
                    "who": None if rng.random() < nobody else f"CANARY{person}",
                    "age": age + (visit if rng.random() < 0.5 else 0),
                    "sex": sex,
                    "day": dt.date(2020, 1, 1) + dt.timedelta(int(rng.integers(0, 700))),
                    "place": None if rng.random() < missing else place,
                    "ill": str(rng.choice(["flu", "gout", "none"])),
                }
            )
    return pa.Table.from_pylist(rows)


def fit(table, **options):
    return vt.fit(table, ROLES, seed=1, **{"promise": "person", "k": 5, **options})


def released(kit, table, folder, **how):
    """Apply the least loss; return the release, and each of its rows with its source row."""
    key = folder / "key"
    key.write_text("5a" * 32)
    key.chmod(0o600)
    chosen = kit.choose(least_loss=True)
    release = kit.apply(chosen, table, folder / "out.parquet", key_file=key, force=True, **how)
    at = pq.read_table(folder / "out.parquet.private" / "rows.parquet").column("row").to_pylist()
    return release, pq.read_table(folder / "out.parquet").to_pylist(), at


def classes(rows):
    """Count people by the multiset of all their rows, in plain Python."""
    known = defaultdict(Counter)
    for row in rows:
        known[row["who"]][tuple(row[name] for name in QUASI)] += 1
    return Counter(frozenset(own.items()) for own in known.values())


def manifest(folder):
    return json.loads((folder / "out.parquet.private" / "manifest.json").read_text())


@pytest.mark.parametrize("seed", range(12))
def test_k_people_show_the_rows_of_any_person(seed, tmp_path):
    k = 2 + seed % 4
    table = stays(seed, nobody=0.03 * (seed % 2))
    kit = fit(table, k=k, hold_out=0.2 * (seed % 3 == 0))
    other = stays(seed + 100, people=40) if seed % 2 else table
    _, rows, _ = released(kit, other, tmp_path)
    assert rows
    assert min(classes(rows).values()) >= k
    private = manifest(tmp_path)
    assert private["figures"].get("k_all_rows", k) >= k
    counts = private["counts"]
    fates = ("released", "suppressed", "set_aside", "held_out")
    assert sum(counts[name] for name in fates) == counts["read"] == other.num_rows


@pytest.mark.parametrize("seed", range(4))
def test_each_label_holds_the_value_of_its_row(seed, tmp_path):
    table = stays(seed)
    release, rows, at = released(fit(table, k=3), table, tmp_path)
    policy = json.loads((tmp_path / "out.parquet.manifest.json").read_text())["policy"]
    entries = {c["column"]: {e["label"]: e for e in c["entries"]} for c in policy["columns"]}
    source = table.to_pylist()
    for row, number in zip(rows, at, strict=True):
        for name in QUASI:
            entry, value = entries[name][row[name]], source[number][name]
            if value is None:
                assert entry["missing"]
            elif entry["values"]:
                assert value in entry["values"]
            else:
                text = f"{value:%Y-%m}" if name == "day" else value
                read = str if name == "day" else int
                assert entry["first"] is None or read(entry["first"]) <= text
                assert entry["last"] is None or text <= read(entry["last"])
    assert all(check.holds is not False for check in release.verify())


def test_the_order_of_the_source_decides_nothing(tmp_path):
    table = stays(5)
    shuffled = table.take(pa.array(np.random.default_rng(1).permutation(table.num_rows)))
    shown = [classes(released(fit(one), one, tmp_path)[1]) for one in (table, shuffled)]
    assert shown[0] == shown[1]


def test_rows_of_a_number_that_too_few_share_are_suppressed(tmp_path):
    rows = [{"who": f"a{i}", "age": 20 + i % 3} for i in range(10) for _ in range(1 + (i == 0))]
    roles = {"subject": "who", "columns": {"who": "identifier", "age": "quasi"}}
    table = pa.Table.from_pylist(rows)
    kit = vt.fit(table, roles, k=3, promise="person", seed=1)
    key = tmp_path / "key"
    key.write_text("5a" * 32)
    key.chmod(0o600)
    kit.apply(kit.choose(least_loss=True), table, tmp_path / "out.parquet", key_file=key)
    counts = manifest(tmp_path)["counts"]
    assert (counts["released"], counts["suppressed"]) == (10, 1)


def test_each_row_of_a_class_has_enough_sensitive_values(tmp_path):
    table = stays(3, people=120)
    _, rows, _ = released(fit(table, k=4, l_diversity=2), table, tmp_path)
    shown = defaultdict(set)
    for row in rows:
        shown[tuple(row[name] for name in QUASI)].add(row["ill"])
    assert min(map(len, shown.values())) >= 2


def test_people_with_several_rows_are_promised_for_unless_rows_are_asked_for():
    table = stays(1)
    with pytest.warns(PromiseWarning, match="some people have several rows"):
        assert fit(table, promise=None).facts["numbers"]
    assert not fit(table, promise="row").facts["numbers"]
    once = table.group_by("who", use_threads=False).aggregate(
        [(n, "first") for n in (*QUASI, "ill")]
    )
    once = once.rename_columns([name.removesuffix("_first") for name in once.column_names])
    assert not fit(once, promise=None).facts["numbers"]
    assert not fit(table, promise=None, family="global").facts["numbers"]
    unjoined = {**ROLES, "columns": {**ROLES["columns"], "who": "drop"}}
    assert not vt.fit(table, unjoined, k=5, seed=1).facts["numbers"]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"family": "global"}, "does not go with family global"),
        ({"suppress": 0.1}, "does not go with suppress"),
        ({"t_closeness": 0.4, "entropy_l": 2.0}, "does not go with entropy_l and t_closeness"),
        ({"method": "quick"}, "does not go with method"),
    ],
)
def test_options_of_a_promise_per_row_are_refused(options, why):
    with pytest.raises(RequestError, match=why):
        fit(stays(1), **options)


def test_without_a_subject_there_is_no_person():
    roles = {"columns": {**ROLES["columns"], "who": "drop"}}
    with pytest.raises(RequestError, match="needs the column of the subject"):
        vt.fit(stays(1), roles, promise="person", seed=1)


def test_more_people_than_there_are_is_infeasible():
    with pytest.raises(InfeasibleError, match="61"):
        fit(stays(1, people=60), k=61)


@pytest.mark.parametrize("options", [{"marginals": True}, {"recount": True}])
def test_apply_refuses_what_needs_a_promise_per_row(options, tmp_path):
    with pytest.raises(RequestError, match="the kit promises per person"):
        released(fit(stays(1)), stays(1), tmp_path, **options)


def test_a_stored_kit_gives_the_same_release(tmp_path):
    table = stays(2)
    kit = fit(table)
    kit.save(tmp_path / "kit")
    again = voile.open_kit(tmp_path / "kit")
    assert again.facts["numbers"] == kit.facts["numbers"]
    shown = [classes(released(one, table, tmp_path)[1]) for one in (kit, again)]
    assert shown[0] == shown[1]


def test_a_release_per_person_is_attacked_and_reported(tmp_path):
    table = stays(4, people=150)
    release, _, _ = released(fit(table), table, tmp_path)
    register = table.drop_columns(["ill"])
    evidence = release.attack(table, register=register, seed=1)
    found = {one.attack: one for one in evidence}
    claims = next(f for f in found["linkage"].findings if f.quantity == "correct claims")
    assert claims.rate.value <= 0.3
    release.report(evidence).save(tmp_path / "report.html")
    assert "all rows of a person" in (tmp_path / "report.html").read_text("utf-8")
    with pytest.raises(RequestError, match="promise per row alone"):
        release.attack(table, regrow=1)


@pytest.mark.filterwarnings("ignore")
def test_the_advice_of_a_refused_release_runs(tmp_path):
    """A fit per row with options that need rows: the message lists those to leave out."""
    table = stays(3)
    kit = fit(table, promise="row", suppress=0.05, family="global")
    with pytest.raises(InfeasibleError) as refused:
        released(kit, table, tmp_path)
    assert "with promise person and without suppress and family global, " in str(refused.value)
    again = fit(table, promise="person")
    released(again, table, tmp_path)
    released(kit, table, tmp_path, no_pseudonyms=True)
    released(kit, table, tmp_path, one_row=True)
    with pytest.raises(
        InfeasibleError, match="drop for each column that joins rows, apply with one_row"
    ):
        keep_a_joining_column(table, tmp_path)
    released(kit, table, tmp_path, accept_risk="a recipient under contract")


@pytest.mark.filterwarnings("ignore")
def test_a_promised_risk_in_a_population_holds_for_all_rows_of_a_person(tmp_path):
    """The population hides each row; the pseudonyms join rows that nobody else has."""
    table = stays(3, people=200)
    columns = {name: ROLES["columns"][name] for name in ("age", "sex")}
    roles = {"subject": "who", "columns": {"who": "identifier", **columns}}
    table = table.select(["who", *columns])
    cells = [{"age": age, "sex": sex, "people": 90} for age in range(20, 67) for sex in "fm"]
    everyone = pa.Table.from_pylist(cells)
    given = {"max_risk": 0.1, "population": everyone}
    kit = vt.fit(table, roles, promise=None, seed=1, **given)
    with pytest.raises(InfeasibleError, match=r"fewer than 10 people share.*choose one") as refused:
        released(kit, table, tmp_path)
    assert "with promise person and without population, " in str(refused.value)
    released(kit, table, tmp_path, no_pseudonyms=True)
    released(kit, table, tmp_path, one_row=True)
    released(vt.fit(table, roles, promise="person", max_risk=0.1, seed=1), table, tmp_path)


@pytest.mark.filterwarnings("ignore")
def test_a_kept_order_of_a_source_grouped_by_person_is_refused(tmp_path):
    """Rows in the source's order follow one another by person, and need no pseudonym."""
    table = stays(3)
    kit = fit(table, promise="row")
    with pytest.raises(InfeasibleError, match=r"the kept order joins.*without keep_order"):
        released(kit, table, tmp_path, no_pseudonyms=True, keep_order=True)
    released(kit, table, tmp_path, no_pseudonyms=True)
    release, _, _ = released(fit(table), table, tmp_path, no_pseudonyms=True, keep_order=True)
    assert all(check.holds is not False for check in release.verify())


def keep_a_joining_column(table, folder):
    """Release without pseudonyms, with a kept column that has one value for each person."""
    device = pa.array([None if one is None else f"d-{one}" for one in table["who"].to_pylist()])
    roles = {**ROLES, "columns": {**ROLES["columns"], "device": "keep"}}
    wide = table.append_column("device", device)
    kit = vt.fit(wide, roles, k=5, promise="row", seed=1)
    released(kit, wide, folder, no_pseudonyms=True)


@pytest.mark.parametrize("reason", ["xxxxxxxxxxxx", "because because because", "1 2 3 4", "ok ok"])
def test_a_reason_of_fewer_than_three_words_is_refused(reason, tmp_path):
    table = stays(3)
    with pytest.raises(RequestError, match="accept_risk: a reason has at least three different"):
        released(fit(table), table, tmp_path, accept_risk=reason)


@pytest.mark.filterwarnings("ignore")
def test_an_accepted_risk_is_stated_first_and_claims_no_group_of_11(tmp_path):
    """Every row is in a group of 11 people; the records of people are in none."""
    table = stays(3, people=400)
    kit = fit(table, promise="row", k=11)
    reason = "a recipient under contract"
    release, rows, _ = released(kit, table, tmp_path, accept_risk=reason)
    assert min(classes(rows).values()) < 11 <= release.private["figures"]["k"]
    page = release.report([]).html
    first = page.index(f"Accepted risk: {reason}")
    assert first < page.index("EMA Policy 0070")
    verdict = page[first : page.index("Questions of a determination")]
    met, _, missed = verdict.partition("does not meet")
    assert "groups of at least 11" in missed
    assert "groups of at least 11" not in met
