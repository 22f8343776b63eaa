"""The verbs on real annotated text: clinical cases by the command line, sentences by Python."""

from __future__ import annotations

import gzip
import itertools
import json

import pytest

from voile.cli.run import run
from voile.core.evidence import Evidence
from voile.core.progress import silent
from voile.data import open_source as open_table
from voile.data.roles import Roles
from voile.documents.fitting.fit import fit
from voile.documents.module import DOCUMENTS
from voile.documents.options import ApplyOptions, AttackOptions, FitOptions
from voile.documents.text.source import open_source
from voile.documents.verbs.choose import choose
from voile.documents.verbs.report import sections
from voile.documents.verbs.verify import verify
from voile.release.choice import Choice
from voile.report.wording import name_of

pytestmark = pytest.mark.real
NAMES = ("NOMBRE_SUJETO_ASISTENCIA", "NOMBRE_PERSONAL_SANITARIO")
ROLES = """
[columns]
doc_id = "identifier"
text = { role = "text", spans = "spans" }
spans = "label"
"""


def cases(path, to, first, last):
    """Write some of the cases with their names alone annotated; return the words of the names."""
    words = set()
    with gzip.open(path, "rt", encoding="utf-8") as file, to.open("w", encoding="utf-8") as out:
        for line in itertools.islice(file, first, last):
            row = json.loads(line)
            row["spans"] = [span for span in row["spans"] if span["label"] in NAMES]
            words |= {row["text"][span["start"] : span["end"]] for span in row["spans"]}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    return words


def test_clinical_cases_by_the_command_line(data_set, tmp_path, capsys):
    def voile(*words):
        capsys.readouterr()
        code = run([str(word) for word in (*words, "--quiet")])
        return code, capsys.readouterr().out

    train = data_set("meddocan") / "train.jsonl.gz"
    names = cases(train, tmp_path / "learnt.jsonl", 0, 80)
    others = cases(train, tmp_path / "others.jsonl", 80, 140)
    (tmp_path / "roles.toml").write_text(ROLES)
    kit, policy, release = (tmp_path / name for name in ("kit", "policy.toml", "release.jsonl"))
    asked = ["--learners", "svm", "--miss-cost", "2", "--miss-cost", "20", "--cross-fit", "3"]
    asked += ["--seed", "1", "--jobs", "1", "--roles", tmp_path / "roles.toml"]
    assert voile("documents", "fit", tmp_path / "learnt.jsonl", *asked, "--out", kit)[0] == 0
    assert voile("documents", "choose", kit, "--max-loss", ".05", "--out", policy)[0] == 0
    chosen = ["--policy", policy, "--out", release]
    code, _ = voile("documents", "apply", kit, tmp_path / "others.jsonl", *chosen)
    assert code == 0
    assert voile("verify", release)[0] == 0
    text = release.read_text(encoding="utf-8")
    left = [name for name in others - names if name in text]
    assert len(left) < 0.2 * len(others)
    quick = ["--learners", "svm", "--seed", "1", "--jobs", "1", "--json"]
    truth = ["--original", tmp_path / "others.jsonl"]
    code, out = voile("documents", "attack", release, *truth, *quick)
    assert code == 0
    evidence = Evidence.from_json(json.loads(out)["evidence"][0])
    rates = {name_of(f, "internal"): f.rate for f in evidence.findings}
    for kind in NAMES:
        assert rates[f"identifiers left, {kind}"].value < 0.15
    for audience in ([], ["--internal"]):
        page = tmp_path / "report.html"
        assert voile("report", release, "--out", page, "--force", *audience)[0] == 0
        if not audience:
            shown = page.read_text(encoding="utf-8")
            assert not [name for name in names | others if len(name) > 6 and name in shown]


def test_generated_sentences_keep_their_people(data_set, tmp_path):
    """All 17 types, a template a subject; surrogates, linked by who knows their lists."""
    path = data_set("presidio-synthetic-pii") / "synth_dataset_v2.jsonl.gz"
    source = open_source(f"jsonl:{path}")
    columns = {"id": "drop", "subject": "drop", "text": {"role": "text", "spans": "spans"}}
    roles = Roles.model_validate({"columns": {**columns, "spans": "label", "pos": "drop"}})
    asked = FitOptions(learners=("adaboost",), miss_cost=(10,), cross_fit=2, jobs=1, max_passes=1)
    kit = fit(source, roles, asked, seed=1, progress=silent)
    assert len(kit.facts["labels"]) == 17
    key = tmp_path / "key"
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    release = DOCUMENTS.apply(
        kit,
        choose(kit, Choice(policy=0)),
        source,
        tmp_path / "release.parquet",
        ApplyOptions(replace="surrogate", key_file=str(key), jobs=2),
        force=False,
        progress=silent,
    )
    assert release.private["counts"]["released"] == 1500
    assert all(holds is not False for _, holds in verify(release))
    assert list(open_table(release.path).columns) == ["text"]
    found = DOCUMENTS.attack(
        release,
        source,
        AttackOptions(learners=("adaboost",), labels=("published",), jobs=1),
        seed=1,
        progress=silent,
    )
    assert {one.heading for one in found} == {"singling out", "linkability", "inference"}
    assert sections(release, found, audience="internal")
