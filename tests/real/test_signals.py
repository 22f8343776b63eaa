"""The verbs on the body measures of NHANES 2011-2012: every person, through CSV and Parquet."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from voile.cli.run import run
from voile.data import open_source
from voile.release.manifest import StoredRelease

pytestmark = pytest.mark.real
CHILDREN = {"BMXWT": "reading", "BMXBMI": "reading", "BMDBMIC": "private", "RIDAGEYR": "keep"}
EVERYONE = {"BMXWT": "reading", "BMXHT": "reading", "RIAGENDR": "private"}
NUMBERS = ("BMXWT", "BMXBMI", "BMXHT")


@pytest.fixture(scope="module")
def nhanes(data_set, tmp_path_factory):
    """The file as it is, and as Parquet with numbers for text."""
    folder = tmp_path_factory.mktemp("nhanes")
    path = folder / "nhanes.csv"
    with gzip.open(data_set("nhanes-2011-2012") / "nhanes_2011_2012_bmx_demo.csv.gz", "rt") as file:
        path.write_text(file.read())
    source = open_source(path)
    table = pa.Table.from_batches(source.batches(), source.schema())
    for name in NUMBERS:
        place = table.column_names.index(name)
        table = table.set_column(place, name, table[name].cast(pa.float64()))
    pq.write_table(table, folder / "nhanes.parquet")
    return folder, table


@pytest.fixture
def voile(capsys):
    def call(*words):
        capsys.readouterr()
        code = run([str(word) for word in (*words, "--quiet")])
        return code, capsys.readouterr()

    return call


def roles_file(place, columns, said):
    lines = [f'{name} = "{said.get(name, "drop")}"' for name in columns if name != "SEQN"]
    place.write_text('subject = "SEQN"\n[columns]\nSEQN = "identifier"\n' + "\n".join(lines))
    return place


@pytest.mark.parametrize(("suffix", "said"), [("csv", EVERYONE), ("parquet", CHILDREN)])
def test_everyone_comes_back_to_the_last_bit(nhanes, voile, tmp_path, suffix, said):
    folder, table = nhanes
    source, kit, policy = folder / f"nhanes.{suffix}", tmp_path / "kit", tmp_path / "policy.toml"
    roles = roles_file(tmp_path / "roles.toml", table.column_names, said)
    fits = ["--roles", roles, "--method", "normal", "--strength", "0", "--strength", "1"]
    assert voile("signals", "fit", source, *fits, "--seed", "1", "--out", kit)[0] == 0
    assert voile("signals", "choose", kit, "--max-loss", "1", "--out", policy)[0] == 0
    sent, back = tmp_path / f"sent.{suffix}", tmp_path / "back.parquet"
    how = ["--policy", policy, "--missing", "pass", "--allow-set-aside", "--no-pseudonyms"]
    assert voile("signals", "apply", kit, source, *how, "--out", sent)[0] == 0
    known = ["--policy", policy, "--classes", tmp_path / f"sent.{suffix}.private" / "classes.csv"]
    assert voile("signals", "decode", kit, sent, *known, "--out", back)[0] == 0
    counts = StoredRelease.open(sent).private["counts"]
    whole = 9338 if said is EVERYONE else 3355
    assert (counts["read"], counts["released"]) == (9338, whole)
    rows = pq.read_table(tmp_path / f"sent.{suffix}.private" / "rows.parquet")["row"]
    read, found = table.take(rows), pq.read_table(back)
    names = [name for name in NUMBERS if said.get(name) == "reading"]
    pairs = list(zip(*(read[name].to_pylist() for name in names), strict=True))
    expected = [(None,) * len(names) if None in pair else pair for pair in pairs]
    assert list(zip(*(found[name].to_pylist() for name in names), strict=True)) == expected
    assert voile("verify", sent)[0] == 0


def test_the_default_hides_the_class_of_children_it_was_not_fitted_to(nhanes, voile, tmp_path):
    folder, table = nhanes
    source, kit, policy = folder / "nhanes.parquet", tmp_path / "kit", tmp_path / "policy.toml"
    roles = roles_file(tmp_path / "roles.toml", table.column_names, CHILDREN)
    fits = ["--roles", roles, "--hold-out", "0.3", "--seed", "3", "--out", kit]
    assert voile("signals", "fit", source, *fits)[0] == 0
    code, said = voile("signals", "frontier", kit, "--json")
    least = json.loads(said.out)["policies"][0]
    assert least["bits"] < 0.06
    assert least["risk"] < 0.06
    assert voile("signals", "choose", kit, "--policy", "0", "--out", policy)[0] == 0
    sent = tmp_path / "sent.parquet"
    how = ["--policy", policy, "--allow-set-aside", "--no-pseudonyms", "--out", sent]
    assert voile("signals", "apply", kit, source, *how)[0] == 0
    knows = ["--original", source, "--public-map", kit, "--permutations", "5", "--seed", "1"]
    code, said = voile("signals", "attack", sent, *knows, "--json")
    assert code == 0
    found = {e["attack"]: e for e in json.loads(said.out)["evidence"]}
    before, after = (
        max(f["rate"]["successes"] / f["rate"]["trials"] for f in found[name]["findings"][::5])
        for name in ("readings as they are", "single messages")
    )
    single = found["single messages"]["findings"][0]
    majority = single["baseline"]["successes"] / single["baseline"]["trials"]
    assert before > 0.83
    assert after < majority + 0.03
    fresh = [
        f["control"]["successes"] / f["control"]["trials"]
        for f in found["single messages"]["findings"][::5]
    ]
    assert max(fresh) < majority + 0.05
    for audience in ([], ["--internal"]):
        page = tmp_path / "report.html"
        assert voile("report", sent, "--out", page, "--force", *audience)[0] == 0
