"""A release of any origin is assessed as voile's own are, and refused where it is another's."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import re
import uuid
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import voile.tables as vt
from voile.cli.run import run
from voile.core.errors import RequestError
from voile.demo.county import ROLES, make_county, register_with_errors
from voile.gate.values.search import ELSEWHERE, OWN
from voile.keys.pseudonyms import Secret, pseudonym
from voile.release.found_values import VALUES_FOUND

KEEPING = re.sub(r'(insurance|ward|length_of_stay) = "drop"', r'\1 = "keep"', ROLES)
QUASI = ("age", "sex", "race", "zip")

pytestmark = pytest.mark.filterwarnings(
    "ignore::voile.tables.policies.safe_harbor.SafeHarborWarning"
)


@pytest.fixture(scope="module")
def county(tmp_path_factory):
    """A county of 3,000 people: its patients, roles, a population and a register with errors."""
    folder = tmp_path_factory.mktemp("a county")
    made = make_county(people=3000)
    pyarrow.csv.write_csv(made.patients, folder / "patients.csv")
    pq.write_table(made.population, folder / "population.parquet")
    pq.write_table(register_with_errors(made.register, 1), folder / "register.parquet")
    pyarrow.csv.write_csv(made.patients.slice(0, 120), folder / "first.csv")
    pyarrow.csv.write_csv(made.patients.slice(120), folder / "last.csv")
    (folder / "roles.toml").write_text(KEEPING)
    return folder


def held(county):
    return {name: county / f"{name}.parquet" for name in ("population", "register")}


def released(county, family, **how):
    """Release the patients with voile, and forget the manifests."""
    kit = vt.fit(
        county / "patients.csv",
        county / "roles.toml",
        family=family,
        population=county / "population.parquet",
        k=3,
        suppress=0.05,
        seed=1,
    )
    policy = kit.choose(max_relative_risk=0.2)
    how |= {"accept_risk": "these people are made up"}  # two kept columns join some rows
    return kit.apply(policy, county / "patients.csv", no_pseudonyms=True, **how)


@pytest.mark.parametrize("family", ["global", "tree"])
def test_of_a_release_of_voiles_own_figures_and_evidence_are_its_own(county, family):
    own = released(county, family)
    found = vt.assess(
        county / "patients.csv", own.frame, county / "roles.toml", seed=3, **held(county)
    )
    certified = own.private["figures"]
    # the search needs the rows' people, whom a release of others does not give
    of_voile = {OWN, ELSEWHERE, VALUES_FOUND, "information_loss"}
    assert certified.keys() - found.figures.keys() == of_voile
    assert 0 < found.figures["relative_risk"] < 1
    assert found.figures["loss"] == pytest.approx(certified["information_loss"], rel=1e-9)
    assert found.figures["people_below_k"] == 0  # a release of others promises nothing
    for name in certified.keys() & found.figures.keys() - {"people_below_k"}:
        value = certified[name]
        assert found.figures[name] == pytest.approx(value, rel=1e-9), name
    mine = {(one.attack, one.of): one for one in found.evidence}
    theirs = own.attack(original=county / "patients.csv", seed=3, **held(county))
    common = [one for one in theirs if one.attack in ("linkage", "singling out", "inference")]
    assert len(common) == 3
    for one in common:
        # boxes are numbered otherwise, so that error rates estimated of them round otherwise
        assert mine[one.attack, one.of].findings == one.findings
    story = own.private["story"]["lost"]
    for name in ("distribution", "resolution", "ncp"):
        assert found.figures[name] == pytest.approx(story[name], rel=1e-9)
    assert not found.facts["keys"]
    assert all(one["unread"] == 0 for one in found.facts["read"])


def test_two_bounds_are_read_as_the_interval_that_they_bound(county):
    """The same policy released as labels and as two bounds: other columns, one assessment."""
    how = {"roles": county / "roles.toml", "seed": 3, "population": county / "population.parquet"}
    found = []
    for bounds in (False, True):
        own = released(county, "global", bounds=bounds).frame
        assert ("age_low" in own.column_names) == bounds
        found.append(vt.assess(county / "patients.csv", own, **how))
    labels, ends = found
    assert ends.figures == pytest.approx(labels.figures, rel=1e-12)
    assert ends.facts["read"] == labels.facts["read"]
    assert ends.facts["beyond"] == labels.facts["beyond"] == []
    assert ends.facts["not_released"] == []


@pytest.mark.parametrize("family", ["tree", "global"])
def test_two_bounds_hold_a_missing_value_where_a_matched_row_says_so(family):
    rng = np.random.default_rng(1)
    ages = [None if i % 17 == 0 else int(a) for i, a in enumerate(rng.integers(20, 60, 200))]
    people = pa.table({"age": pa.array(ages, pa.int64()), "sex": rng.choice(["f", "m"], 200)})
    roles = {"age": "quasi", "sex": "quasi"}
    kit = vt.fit(people, roles, family=family, k=5, seed=1)
    found = [kit.apply(kit.choose(max_loss=0.7), people, bounds=one).frame for one in (False, True)]
    found = [vt.assess(people, own, roles, seed=1) for own in found]
    labels, bounds = (
        {name: one.figures[name] for name in ("expected_matches", "k", "max_risk")} for one in found
    )
    assert bounds == pytest.approx(labels, rel=1e-12)
    if family == "global":  # boxes of a tree may share bounds, and not the missing value
        assert found[1].figures == pytest.approx(found[0].figures, rel=1e-12)


def test_a_foreign_row_among_true_ones_is_named_by_its_number():
    own = PEOPLE.drop(columns="id").assign(age="20-39")
    with pytest.raises(
        RequestError, match=r"no row that is left fits their cells \(such as row \d\)"
    ):
        vt.assess(PEOPLE, pd.concat([own, own.iloc[:1]]), OF_PEOPLE, seed=1)
    foreign = own.assign(dx=["a", "b", "a", "b", "a", "a", "b", "CANARY"])
    said = " ".join(vt.assess(PEOPLE, foreign, OF_PEOPLE, seed=1).summary)
    assert "a value of these columns was changed: row 8 of the release" in said
    assert "CANARY" not in said


PEOPLE = pd.DataFrame(
    {
        "id": [f"P{number:03}" for number in range(8)],
        "age": [21, 22, 23, 24, 31, 32, 33, 34],
        "sex": ["f", "f", "m", "m", "f", "f", "m", "m"],
        "dx": ["a", "b", "a", "b", "a", "a", "b", "c"],
    }
)
OF_PEOPLE = {"id": "identifier", "age": "quasi", "sex": "quasi", "dx": "sensitive"}


def of_decades(**more):
    decades = pd.DataFrame({"age": ["[20, 30)"] * 4 + ["30-39"] * 4, "sex": PEOPLE.sex})
    return decades.assign(dx=PEOPLE.dx, **more)


def test_a_table_by_hand_gives_what_is_counted_by_hand():
    found = vt.assess(PEOPLE, of_decades(), OF_PEOPLE, seed=1)
    assert found.figures["k"] == 2
    assert found.figures["expected_matches"] == 4
    assert found.figures["distinct_l(dx)"] == 1
    assert found.figures["unique_with_kept"] == 6
    assert repr(found) == "Assessment(kind='tables')"
    assert found.facts["boxes"] == 4


def test_suppressed_cells_make_boxes_that_overlap():
    """Row 0 fits the four women, others' rows two people each; k goes by what is shown."""
    some = of_decades()
    some.loc[0, "age"] = "*"
    found = vt.assess(PEOPLE, some, OF_PEOPLE, seed=1)
    assert not found.facts["disjoint"]
    assert found.figures["k"] == 1
    assert found.figures["expected_matches"] == pytest.approx(1 / 4 + 7 / 2)
    assert found.facts["read"][0]["suppressed"] == 1


def test_what_cannot_be_read_hides_nobody_and_is_named():
    young = of_decades()
    young.loc[:3, "age"] = "young"
    people = PEOPLE.groupby(["age", "sex"]).size().rename("people").reset_index()
    people["people"] *= 100
    found = vt.assess(PEOPLE, young, OF_PEOPLE, seed=1, population=people)
    # two rows of 2 for each of the unread groups, and 200 people for each of the others
    assert found.figures["expected_matches"] == pytest.approx(2 + 2 * 2 / 200)
    assert found.facts["read"][0] == {
        "column": "age",
        "exact": 0,
        "generalised": 4,
        "suppressed": 0,
        "unread": 4,
    }
    assert any("could not be read" in said for said in found.summary)


def hashed(name, digits=None):
    return lambda ids: [getattr(hashlib, name)(one.encode()).hexdigest()[:digits] for one in ids]


SHUFFLED = {
    "paired by code as a row number from 0": lambda ids: [*range(len(ids))],
    "paired by code as a row number from 1": lambda ids: [*range(1, len(ids) + 1)],
    "paired by code as id, its values": list,
    "paired by code as id, their digits": lambda ids: [f"no. {one[1:]}" for one in ids],
    "paired by code as id, their digits, reversed": lambda ids: [one[:0:-1] for one in ids],
    "paired by code as id, their MD5 hash": hashed("md5"),
    "paired by code as id, their SHA-1 hash": hashed("sha1"),
    "paired by code as id, their SHA-256 hash": hashed("sha256", 20),
    "paired by code as id, their SHA-512 hash": lambda ids: map(str.upper, hashed("sha512")(ids)),
    "paired by code as id, their BLAKE2b hash": hashed("blake2b"),
    "paired by the order of code": lambda ids: [3 * number + 1_000 for number in range(len(ids))],
}
"""What a released column of codes was made of, and the key that it is."""


@pytest.mark.parametrize("key", SHUFFLED)
def test_what_pairs_rows_with_the_original_is_named(key):
    many, out = many_people()
    shuffled = out.assign(code=list(SHUFFLED[key](many.id))).sample(frac=1, random_state=3)
    assert key in vt.assess(many, shuffled, OF_PEOPLE, seed=1).facts["keys"]


def test_row_order_is_a_key_and_a_shuffle_leaves_none():
    many, out = many_people()
    assert vt.assess(many, out, OF_PEOPLE, seed=1).facts["keys"] == ["paired by row order"]
    drawn = out.assign(code=np.random.default_rng(2).permutation(10_000)[: len(out)])
    assert not vt.assess(many, drawn.sample(frac=1, random_state=5), OF_PEOPLE, seed=1).facts[
        "keys"
    ]


def keyed(one):
    return hmac.digest(b"secret", one.encode(), "sha256").hex()


PSEUDONYMS = {
    "64 characters of hexadecimal digits": keyed,
    "16 characters of base32": lambda one: pseudonym(Secret(bytes(32)), one),
    "a UUID": lambda one: str(uuid.UUID(keyed(one)[:32])),
}


@pytest.mark.parametrize("form", PSEUDONYMS)
def test_keyed_hashes_and_pseudonyms_are_recognised_and_no_key_is_claimed(form):
    many, out = many_people()
    coded = out.assign(code=[PSEUDONYMS[form](one) for one in many.id])
    found = vt.assess(many, coded.sample(frac=1, random_state=3), OF_PEOPLE, seed=1)
    assert found.facts["pseudonyms"] == {"code": form}
    assert not found.facts["keys"]
    assert any(said.startswith(f"Column code has codes ({form})") for said in found.summary)
    assert not any("No figure counts" in said for said in found.summary)


def test_a_hash_of_a_person_with_several_rows_is_a_key():
    many, out = many_people()
    thrice, released = (pd.concat([one] * 3, ignore_index=True) for one in (many, out))
    released["code"] = hashed("sha1")(thrice.id)
    roles = {"subject": "id", "columns": OF_PEOPLE}
    found = vt.assess(thrice, released.sample(frac=1, random_state=3), roles, seed=1)
    assert "paired by code as id, their SHA-1 hash" in found.facts["keys"]
    assert not found.facts["pseudonyms"]


def many_people():
    """Make 320 people with ids, and a release of their ages in bands of five in their order."""
    many = pd.concat([PEOPLE] * 40, ignore_index=True)
    many["id"] = [f"P{number}" for number in np.random.default_rng(0).permutation(900)[:320] + 100]
    many["age"] = 20 + np.random.default_rng(1).permutation(len(many)) % 37
    bands = many.age // 5 * 5
    return many, many.drop(columns="id").assign(age=[f"{age}-{age + 4}" for age in bands])


def test_rows_are_matched_by_an_identifier_that_both_have():
    shuffled = of_decades(id=PEOPLE.id).sample(frac=1, random_state=1)
    found = vt.assess(PEOPLE, shuffled, OF_PEOPLE, seed=1)
    assert found.facts["matched_by"] == "id"
    assert "paired by id as id, its values" in found.facts["keys"]
    with pytest.raises(RequestError, match="do not fit the values of the original's row"):
        vt.assess(PEOPLE, of_decades(id=PEOPLE.id[::-1].to_list()), OF_PEOPLE, seed=1)


def test_rows_that_count_several_records_are_as_many_records():
    counted = of_decades().groupby(["age", "sex", "dx"]).size().rename("n").reset_index()
    found = vt.assess(PEOPLE, counted, OF_PEOPLE, seed=1, counts="n")
    whole = vt.assess(PEOPLE, of_decades(), OF_PEOPLE, seed=1)
    assert found.figures == pytest.approx(whole.figures)


def test_a_person_with_several_rows_counts_once():
    twice = pd.concat([PEOPLE, PEOPLE], ignore_index=True)
    roles = {"subject": "id", "columns": OF_PEOPLE}
    found = vt.assess(twice, pd.concat([of_decades()] * 2, ignore_index=True), roles, seed=1)
    assert found.figures["k"] == 2
    assert found.figures["expected_matches"] == 4


def test_a_control_is_attacked_beside_the_released(county):
    """A release of the first patients, and the last as people whom it could not give away."""
    first = pd.read_csv(county / "first.csv", dtype=str)
    out = first[[*QUASI, "diagnosis"]].copy()
    out["age"] = [f"[{age // 20 * 20}, {age // 20 * 20 + 20})" for age in out.age.astype(int)]
    out["zip"] = [f"{code[:3]}**" for code in out.zip.astype(str)]
    found = vt.assess(
        county / "first.csv",
        out.sample(frac=1, random_state=1),
        county / "roles.toml",
        seed=1,
        control=county / "last.csv",
        population=county / "population.parquet",
    )
    by_name = {one.attack: one for one in found.evidence}
    guessed = by_name["inference"].findings[0]
    outsiders = pd.read_csv(county / "last.csv", dtype=str).person_id
    assert guessed.control.trials == outsiders.nunique()
    alone = by_name["singling out"].findings[1]
    assert alone.control is not None


def test_a_release_of_other_people_is_refused_and_nothing_is_written(county, tmp_path, capsys):
    other = released(county, "global").frame.to_pandas()
    other["sex"] = np.where(other.sex == "F", "M", "F")
    other.to_csv(tmp_path / "other.csv", index=False)
    words = ["tables", "assess", str(county / "patients.csv"), str(tmp_path / "other.csv")]
    words += ["--roles", str(county / "roles.toml"), "--out", str(tmp_path / "page.html")]
    assert run(words) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert re.match(r"voile: other.csv: [\d,]+ of [\d,]+ released rows are not in the orig", said)
    assert not (tmp_path / "page.html").exists()


def test_the_command_writes_the_page_and_prints_the_figures(county, tmp_path, capsys):
    own = released(county, "global").frame
    pyarrow.csv.write_csv(own, tmp_path / "own.csv")
    words = ["tables", "assess", str(county / "patients.csv"), str(tmp_path / "own.csv")]
    words += ["--roles", str(county / "roles.toml"), "--out", str(tmp_path / "page.html"), "--json"]
    assert run([*words, "--seed", "1"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["figures"]["k"] >= 3
    page = (tmp_path / "page.html").read_text()
    for title in ("In short", "How the release was read", "Risk before and after", "Inference"):
        assert title in page
    assert run([*words, "--seed", "1"]) == 2  # it is there already


REFUSED = {
    "has none of the quasi-identifiers": (lambda: of_decades().drop(columns=["age", "sex"]), {}),
    "there is no column n": (of_decades, {"counts": "n"}),
    "count of records is not 1 or more": (lambda: of_decades(n=0), {"counts": "n"}),
    "there is no column who": (of_decades, {"key": "who"}),
    "give control": (of_decades, {"synthetic": True}),
    "cannot know ward": (of_decades, {"knows": "ward"}),
}


@pytest.mark.parametrize("said", REFUSED)
def test_requests_that_are_wrong_are_refused_in_a_sentence(said):
    make, options = REFUSED[said]
    with pytest.raises(RequestError, match=said):
        vt.assess(PEOPLE, make(), OF_PEOPLE, seed=1, **options)


def test_synthetic_rows_that_copy_people_are_found_and_others_are_not():
    """Rows copied from the original leak; rows drawn as the original was do not."""
    rng = np.random.default_rng(3)

    def draw(n):
        age = rng.integers(20, 80, n)
        sex = rng.choice(["f", "m"], n)
        town = rng.integers(0, 40, n).astype(str)
        return pd.DataFrame(
            {"age": age, "sex": sex, "town": town, "dx": rng.choice(list("abc"), n)}
        )

    roles = {"age": "quasi", "sex": "quasi", "town": "quasi", "dx": "sensitive"}
    original, control, fresh = draw(600), draw(600), draw(600)

    def members(rows):
        found = vt.assess(original, rows, roles, seed=1, control=control, synthetic=True)
        assert found.figures == {}
        by_name = {one.attack: one for one in found.evidence}
        assert set(by_name) == {"membership", "singling out", "inference"}
        assert "k" not in found.report(internal=True).html.split()
        return by_name["membership"].findings[0].rate

    assert members(original).interval()[0] > 0.9
    low, high = members(fresh).interval()
    assert low < 0.5 < high


def _lost_by_eq_4(rows, released, bands):
    """Count eq. 4 by hand, divided by that of one group; a row that is not released counts 1 / n.

    released : the label of each row's age, or None for a row that was left out.
    """
    n, own = len(rows), [(row, label) for row, label in zip(rows, released, strict=True) if label]
    ages = sorted({age for age, _ in rows})
    cells = len(ages) * len({sex for _, sex in rows})
    width = {label: sum(low <= a <= high for a in ages) for label, (low, high) in bands.items()}

    def nats(counts):
        return sum(count * math.log(count) for count in counts.values())

    groups = Counter((label, sex) for (_, sex), label in own)
    lost = nats(Counter(row for row, _ in own)) - nats(groups)
    lost += sum(count * math.log(width[label]) for (label, _), count in groups.items())
    return lost / (nats(Counter(rows)) + n * math.log(cells / n)) + (n - len(own)) / n


@pytest.mark.parametrize("shown", ["left out", "stars"])
def test_a_row_that_was_not_released_is_lost_and_makes_no_group(shown):
    rng = np.random.default_rng(5)
    rows = [
        (int(a), "FM"[s])
        for a, s in zip(rng.integers(20, 60, 400), rng.integers(0, 2, 400), strict=True)
    ]
    bands = {"20-39": (20, 39), "40-59": (40, 59)}
    labels = ["20-39" if age < 40 else "40-59" for age, _ in rows]
    gone = {7, 311}
    original = pd.DataFrame(rows, columns=["age", "sex"])
    release = pd.DataFrame({"age": labels, "sex": original["sex"]})
    if shown == "stars":
        release.loc[[*gone]] = "*"
    else:
        release = release.drop(index=[*gone])
    roles = {"columns": {"age": "quasi", "sex": "quasi"}}
    assessed = vt.assess(original, release, roles=roles, seed=1)
    found = assessed.figures
    assert (assessed.facts["boxes"], assessed.facts["disjoint"]) == (4, True)
    kept = [None if row in gone else label for row, label in enumerate(labels)]
    assert found["distribution"] == pytest.approx(_lost_by_eq_4(rows, kept, bands), rel=1e-9)
    groups = Counter((k, sex) for k, (_, sex) in zip(kept, rows, strict=True) if k)
    assert (found["k"], found["subjects"]) == (min(groups.values()), 398)
    assert (found["suppressed"], found["sample_uniques"]) == (2, 0)
