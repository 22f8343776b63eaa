"""Verify fails on whatever was changed, and needs nothing that is private."""

from __future__ import annotations

import re
import shutil

import pyarrow as pa
import pytest
from tests.tables.verbs.apply.visits import finest, run

import voile.tables as vt
from voile.core.errors import VoileError
from voile.release.manifest import StoredRelease, private_path
from voile.tables.recoding.codebook import CodebookEntry
from voile.tables.verbs.verify import _is_named_by_its_ends, _promises, verify

pytestmark = pytest.mark.filterwarnings(
    "ignore::voile.tables.policies.safe_harbor.SafeHarborWarning"
)


def test_verify_fails_when_a_label_changes(kit, patients, key_file, tmp_path):
    release = run(kit, patients, tmp_path / "out.csv", key_file=key_file)
    text = release.path.read_text().splitlines(keepends=True)
    label = text[1].split(",")[1]
    for other in (label + "0", "nobody"):
        changed = text[1].replace(f",{label},", f",{other},")
        release.path.write_text("".join([text[0], changed, *text[2:]]))
        assert not all(holds is not False for _, holds in verify(release))
        with pytest.raises(VoileError):
            StoredRelease.open(release.path).check_hash()
    release.path.write_text("".join(text[:-1]))
    assert not all(holds is not False for _, holds in verify(release))
    release.path.write_text("".join([text[0].replace("zip", "zap"), *text[1:]]))
    assert list(verify(release)) == [("the columns are those of the manifest", False)]


def test_verify_fails_when_a_label_becomes_another(kit, patients, key_file, tmp_path):
    bottom = finest(kit)
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
    received = StoredRelease.open(alone / "out.csv")
    assert not private_path(received.path).exists()
    assert all(holds is not False for _, holds in verify(received))


def test_verify_fails_when_the_manifest_says_another_thing_of_an_interval(
    kit, patients, key_file, tmp_path
):
    """What a recipient reads, without the private folder: an age of 20-29 is none of 20-94."""
    release = run(kit, patients, tmp_path / "out.csv", chosen=finest(kit), key_file=key_file)
    policy = release.public["policy"]
    forged = 0
    for number, column in enumerate(policy):
        wide = (at for at, entry in enumerate(column["entries"]) if is_between_ends(entry))
        for place, end in zip(wide, ("first", "last"), strict=False):  # one of each
            entries = list(column["entries"])
            entries[place] = {**entries[place], end: entries[place][end] + "9"}
            changed = [*policy[:number], {**column, "entries": entries}, *policy[number + 1 :]]
            received = StoredRelease(release.path, {**release.public, "policy": changed})
            assert failed(received) == ["every interval is named by its ends"]
            forged += 1
    assert forged >= 2


def test_a_list_of_values_may_be_named_otherwise_and_a_range_not():
    states = ("Alabama", "Texas")
    assert _is_named_by_its_ends(CodebookEntry("the South", *states, values=states))
    assert _is_named_by_its_ends(CodebookEntry("unknown", None, None, missing=True))
    assert _is_named_by_its_ends(CodebookEntry("1-3", "1", "3"))
    assert _is_named_by_its_ends(CodebookEntry("the youngest", None, "3"))
    assert not _is_named_by_its_ends(CodebookEntry("1-2", "1", "3"))


def is_between_ends(entry):
    return None not in (entry["first"], entry["last"]) and not entry["values"]


def failed(release):
    return [name for name, holds in verify(release) if holds is False]


@pytest.fixture(scope="module")
def finely(kit, patients, key_file, tmp_path_factory):
    out = tmp_path_factory.mktemp("finely") / "out.csv"
    return run(kit, patients, out, chosen=finest(kit), key_file=key_file)


@pytest.fixture(scope="module")
def received(finely):
    """What a recipient has, with constraints and figures that hold to the last person."""
    rows = dict(verify(finely))
    assert False not in rows.values()
    return StoredRelease(finely.path, {**finely.public, "figures": {"k": 1}})


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"k": 2}, "every group has at least 2 people"),
        ({"k": 0}, "every group has at least 0 people"),
        ({"l_diversity": 3}, "every group has at least 3 sensitive values"),
    ],
)
def test_verify_fails_when_more_is_promised_than_is_kept(received, asked, said):
    public = received.public
    more = {**public, "constraints": {**public["constraints"], "l_diversity": 1, **asked}}
    assert failed(StoredRelease(received.path, more)) == [said]


@pytest.mark.parametrize(("private", "unit"), [(True, "person"), (False, "row")])
def test_a_check_states_the_unit_that_it_counted(kit, patients, key_file, tmp_path, private, unit):
    """A recipient has no private folder, and counts rows: of one person there may be several."""
    out = tmp_path / "out.csv"
    release = run(kit, patients, out, chosen=finest(kit), key_file=key_file)
    if not private:
        shutil.rmtree(release.folder)
        release = StoredRelease.open(out)
    assert dict(verify(release))[f"every group has at least 1 {unit}"]


def test_verify_holds_a_release_to_no_constraint_that_its_manifest_does_not_name(received):
    """Releases of earlier versions name fewer."""
    constraints = {name: received.public["constraints"][name] for name in ("k", "max_risk")}
    assert (
        failed(StoredRelease(received.path, {**received.public, "constraints": constraints})) == []
    )


@pytest.mark.parametrize(("values", "holds"), [({"ill": 2}, True), ({"ill": 1}, False), ({}, None)])
def test_a_promise_is_kept_to_the_last_person_and_value(values, holds):
    """Of floats no values are counted: then nothing is said of them."""
    columns = [{"column": "ill", "role": "sensitive"}]
    asked = {"k": 1, "max_risk": 1.0, "l_diversity": 2}
    found = {"k": 1, **{f"distinct_l({name})": n for name, n in values.items()}}
    checks = dict(_promises({"constraints": asked, "figures": {}, "columns": columns}, found))
    assert checks["every group has at least 1 person"]
    assert checks.get("every group has at least 2 sensitive values") is holds


@pytest.mark.parametrize(("asked", "checked"), [(1, False), (2, True)])
def test_sensitive_values_are_counted_only_where_several_were_promised(received, asked, checked):
    public = received.public
    other = {**public, "constraints": {**public["constraints"], "l_diversity": asked}}
    checks = dict(verify(StoredRelease(received.path, other)))
    assert ("every group has at least 2 sensitive values" in checks) is checked
    assert any("sensitive values" in name for name in checks) is checked


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"k": 2}, ["every group has as many people as the manifest states"]),
        ({"k": 1}, []),
        ({"max_risk": 0.51}, ["the largest risk stated is at most 0.5"]),
        ({"max_risk": 0.5}, []),
        ({}, []),
    ],
)
def test_verify_fails_when_the_figures_told_are_not_those_asked_for(received, told, said):
    public = received.public
    other = {**public, "figures": told, "constraints": {**public["constraints"], "max_risk": 0.5}}
    assert failed(StoredRelease(received.path, other)) == said


@pytest.mark.parametrize(
    "name",
    [
        "k",
        "sample_uniques",
        "prosecutor_max",
        "prosecutor_mean",
        "unique_with_kept",
        "safe_harbor_found",
        "distinct_l(ill)",
        "t_closeness(ill)",
    ],
)
def test_verify_fails_when_a_certified_figure_is_not_what_is_counted(finely, name):
    figures = {**finely.private["figures"], name: finely.private["figures"][name] * 2 + 1}
    other = StoredRelease(finely.path, finely.public, {**finely.private, "figures": figures})
    assert failed(other) == [f"{name} is as certified"]


def test_verify_counts_values_of_safe_harbor_with_the_small_areas_of_the_population(tmp_path):
    people = pa.table({"zip": ["60101", "60102", "70101"] * 30})
    everyone = pa.table({"zip": ["60101", "60102", "70101"], "people": [15_000, 15_000, 10_000]})
    kit = vt.fit(people, {"zip": "quasi"}, population=everyone, family="global", k=1, seed=1)
    release = kit.apply(kit.choose(max_loss=0.0), people, tmp_path / "out.csv")
    assert release.private["small_areas"] == ["701"]
    assert release.private["figures"]["safe_harbor_found"] == 90
    assert dict(release.verify())["safe_harbor_found is as certified"]


def test_verify_counts_the_rows_that_were_released(finely):
    counts = {**finely.private["counts"], "released": finely.private["counts"]["released"] + 1}
    other = StoredRelease(finely.path, finely.public, {**finely.private, "counts": counts})
    assert failed(other) == ["the release has as many rows as were released"]


def test_verify_says_what_it_took_on_trust(finely):
    left = [name for name, holds in verify(finely) if holds is None]
    assert left[0].endswith("it takes the population, or the source, which the kit has")
    assert left[1:] == ["loss: not counted in the release, predicted by the fit"]
    assert "sample_uniques" not in re.findall(r"\w+", left[0])
