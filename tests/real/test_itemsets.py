"""The verbs on parts of real sparse data: messages by the command line, transactions by Python."""

from __future__ import annotations

import gzip
import itertools
import json

import pytest

from voile.cli.run import run
from voile.core.evidence import Evidence
from voile.core.progress import silent
from voile.data.formats.transactions import TransactionSource
from voile.data.roles import Roles
from voile.itemsets.module import ITEMSETS
from voile.itemsets.verbs.attack import attack
from voile.itemsets.verbs.choose import choose
from voile.itemsets.verbs.fit import fit
from voile.itemsets.verbs.options import ApplyOptions, AttackOptions, FitOptions
from voile.itemsets.verbs.verify import verify
from voile.release.choice import Choice
from voile.report.wording import name_of

pytestmark = pytest.mark.real
ROLES = """
[columns]
part = "drop"
file = "drop"
spam = "label"
text = { role = "items", as = "words" }
"""


@pytest.fixture
def messages(data_set, tmp_path):
    """Every tenth of the messages, both classes among them."""
    path = tmp_path / "messages.tsv"
    with gzip.open(data_set("ling-spam") / "lingspam_lemm_stop.tsv.gz", "rt") as file:
        header, *lines = file
    path.write_text(header + "".join(lines[::10]))
    (tmp_path / "roles.toml").write_text(ROLES)
    return path


def test_messages_by_the_command_line(messages, tmp_path, capsys):
    def voile(*words):
        capsys.readouterr()
        code = run([str(word) for word in (*words, "--quiet")])
        return code, capsys.readouterr().out

    kit, policy, release = (tmp_path / name for name in ("kit", "policy.toml", "release.csv"))
    asked = ["--k", "5", "--hold-out", ".1", "--seed", "1", "--evaluations", "2"]
    roles = ["--roles", tmp_path / "roles.toml"]
    assert voile("itemsets", "fit", messages, *roles, *asked, "--out", kit)[0] == 0
    assert voile("itemsets", "choose", kit, "--max-risk", ".2", "--out", policy)[0] == 0
    chosen = ["--policy", policy, "--out", release]
    assert voile("itemsets", "apply", kit, messages, *chosen)[0] == 0
    assert voile("verify", release)[0] == 0
    few = ["--targets", "50", "--items", "3", "--seed", "1"]
    code, out = voile("itemsets", "attack", release, "--original", messages, *few, "--json")
    assert code == 0
    found = map(Evidence.from_json, json.loads(out)["evidence"])
    rates = {name_of(f, "internal"): f.rate for e in found for f in e.findings}
    assert rates["one person left, 3 most identifying items"].successes == 0  # k = 5
    assert rates["one person left before, 3 most identifying items"].successes > 40
    for audience in ([], ["--internal"]):
        page = tmp_path / "report.html"
        assert voile("report", release, "--out", page, "--force", *audience)[0] == 0


def test_transactions_stay_transactions(data_set, tmp_path):
    path = tmp_path / "mushroom.dat"
    with gzip.open(data_set("fimi-mushroom") / "mushroom.dat.gz", "rt") as file:
        path.write_text("".join(itertools.islice(file, 0, 8000, 16)))
    source = TransactionSource(path)
    roles = Roles.model_validate({"columns": {"items": "items"}})
    options = FitOptions(k=(10,), evaluations=5)
    kit = fit(source, roles, options, seed=1, progress=silent)
    chosen = choose(kit, Choice(max_risk=0.1))
    out = tmp_path / "release.parquet"
    release = ITEMSETS.apply(kit, chosen, source, out, ApplyOptions(), force=False, progress=silent)
    assert release.private["counts"]["released"] == 500
    assert release.private["figures"]["anonymity"] >= 10
    assert all(holds is not False for _, holds in verify(release))
    asked = AttackOptions(targets=30, items=(2,))
    found = attack(release, source, asked, seed=1, progress=silent)
    assert {evidence.attack for evidence in found} == {"items", "absences"}
    rates = {name_of(finding, "internal"): finding.rate for finding in found[0].findings}
    assert rates["one person left, 2 random items"].successes == 0
