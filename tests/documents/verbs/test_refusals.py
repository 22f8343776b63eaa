"""Bad input from the command line: one sentence, exit 2, no word told, nothing written."""

from __future__ import annotations

import json

import pytest
from tests.documents.flow import kit_of, people

from voile.cli.run import run

ROLES = """
subject = "person"
[columns]
person = "identifier"
note = { role = "text", spans = "spans" }
letter = { role = "text", spans = "letter spans" }
spans = "label"
"letter spans" = "label"
ward = "keep"
"""
QUICK = ["--learners", "svm", "--miss-cost", "2", "--cross-fit", "3", "--jobs", "1"]
ROWS = people().to_pylist()
SECRET = "SECRETWORD"


def voile(capsys, *words):
    capsys.readouterr()
    code = run([str(word) for word in (*words, "--quiet")])
    return code, capsys.readouterr().err


def refused(ran, said):
    code, told = ran
    assert code == 2, told
    assert said in told
    assert told.count("\n") == 1
    assert SECRET not in told


@pytest.fixture
def fit(tmp_path, capsys):
    """Fit lines of JSON, or bytes, under roles; nothing is written unless that is done."""

    def fitted(rows, *options, roles=ROLES, name="notes.jsonl"):
        data, toml, kit = tmp_path / name, tmp_path / "roles.toml", tmp_path / "kit"
        lines = (
            rows
            if isinstance(rows, bytes)
            else b"".join(json.dumps(r).encode() + b"\n" for r in rows)
        )
        data.write_bytes(lines)
        toml.write_text(roles)
        ran = voile(
            capsys, "documents", "fit", data, "--roles", toml, "--out", kit, *QUICK, *options
        )
        assert kit.exists() == (ran[0] == 0)
        return ran

    return fitted


def with_spans(spans, note=f"We saw {SECRET} again ."):
    """Give the third row these spans."""
    return [*ROWS[:2], {**ROWS[2], "note": note, "spans": json.dumps(spans)}, *ROWS[3:]]


def span(start, end, label="NAME"):
    return {"start": start, "end": end, "label": label}


@pytest.mark.parametrize(
    ("spans", "said"),
    [
        ([span(7, 99)], "row 3, column note"),
        ([span(-1, 3)], "row 3, column note"),
        ([span(9, 7)], "row 3, column note"),
        ([span(7, 12), span(10, 17)], "row 3, column note"),
        ([{"start": 7, "end": 17}], "row 3, column spans"),
        ([span("7", SECRET)], "row 3, column spans"),
        ({"a": SECRET}, "row 3, column spans"),
    ],
)
def test_spans_that_cannot_be_are_refused_by_their_place(fit, spans, said):
    refused(fit(with_spans(spans)), said)


def test_spans_that_are_no_json_are_refused(fit):
    rows = [*ROWS[:4], {**ROWS[4], "spans": f"[{SECRET}"}, *ROWS[5:]]
    refused(fit(rows), "row 5, column spans")


@pytest.mark.parametrize(
    ("rows", "options", "said"),
    [
        ([{**row, "spans": None, "letter spans": None} for row in ROWS], [], "no identifier"),
        (ROWS[:4], [], "fold"),
        (ROWS, ["--least-left", "100000"], "tokens are left"),
        (ROWS, ["--miss-cost", "0"], "--miss-cost"),
        (ROWS, ["--cross-fit", "-1"], "--cross-fit"),
        (ROWS, ["--learners", SECRET.lower()], "--learners"),
        (ROWS, ["--weight", "NAME"], "a weight is not TYPE=NUMBER"),
        (ROWS, ["--weight", "SHIP=2"], "SHIP"),
        (ROWS, ["--hold-out", "1"], "--hold-out"),
        ([{**row, "note": None, "letter": ""} for row in ROWS], [], ""),
        ([], [], "notes.jsonl"),
        (b'{"note": "SECRETWORD"', [], "row 1"),
        (b'{"note": "SECRETWORD \x00"}\n', ["--encoding", "utf-8"], "notes.jsonl"),
        ([{**row, "more": SECRET} for row in ROWS], [], "column more has no role"),
        ([{k: v for k, v in row.items() if k != "ward"} for row in ROWS], [], "no column ward"),
    ],
)
def test_a_source_that_nothing_can_be_learnt_from_is_refused(fit, rows, options, said):
    refused(fit(rows, *options), said)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('ward = "keep"', 'ward = "quasi"', "column ward has the role quasi"),
        ('spans = "spans"', 'spans = "ward"', "the spans of column note are in no column"),
        ('"text"', '"drop"', "no column has the role text"),
        ('subject = "person"', 'subject = "persn"', "no subject column persn"),
    ],
)
def test_roles_that_do_not_fit_are_refused(fit, old, new, said):
    refused(fit(ROWS, roles=ROLES.replace(old, new)), said)


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    path = tmp_path_factory.mktemp("kit") / "kit"
    kit_of().save(path)
    return path


@pytest.fixture
def apply(tmp_path, capsys, kit):
    """Apply the policy of least risk, as it is or edited, to lines of JSON."""

    def applied(*options, rows=ROWS, edit=("", "")):
        data, policy, out = (
            tmp_path / name for name in ("notes.jsonl", "policy.toml", "out.jsonl")
        )
        data.write_text("".join(json.dumps(row) + "\n" for row in rows))
        choose = ["documents", "choose", kit, "--max-loss", "1", "--out", policy, "--force"]
        assert voile(capsys, *choose)[0] == 0
        policy.write_text(policy.read_text().replace(*edit))
        words = ["documents", "apply", kit, data, "--policy", policy, "--out", out]
        ran = voile(capsys, *words, *options)
        assert out.exists() == (ran[0] != 2)
        return ran

    return applied


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--replace", "surrogate"], "VOILE_SECRET"),
        (["--language", "spanish"], "language is for surrogates"),
        (["--replace", "tea"], "--replace"),
        (["--patterns", "tea"], "there is no pattern tea"),
        (["--deny", "nowhere.txt"], "nowhere.txt"),
        (["--allow", "nowhere.txt"], "nowhere.txt"),
        (["--kind", "NAME"], "TYPE=name"),
        (["--kind", "NAME=tea"], "no kind of identifier is called tea"),
        (["--kind", "NAMES=name"], "a kind for type NAMES, which is never removed"),
    ],
)
def test_what_cannot_be_applied_is_refused(apply, monkeypatch, options, said):
    monkeypatch.delenv("VOILE_SECRET", raising=False)
    refused(apply(*options), said)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("miss_cost = 20.0", "miss_cost = 7.0", "no committee was trained for a miss_cost of 7"),
        ("passes = 2", "passes = 12", "the committee has no 12 passes"),
        ("passes = 2", "passes = 2.5", "must be a whole number"),
        ("passes = 2", "", "policy: passes: is absent"),
        ("passes = 2", "passes = 2\nlabel = 1", "policy: label: is not known here"),
        ('kind = "documents"', 'kind = "tables"', "the policy is for tables"),
    ],
)
def test_an_edited_policy_that_there_is_not_is_refused(apply, old, new, said):
    refused(apply(edit=(old, new)), said)


def test_a_source_of_other_columns_is_refused(apply):
    rows = [{k: v for k, v in row.items() if k != "letter"} for row in ROWS]
    refused(apply(rows=rows), "no column letter")
    refused(apply(rows=[{**row, "more": 1} for row in ROWS]), "column more has no role")


def test_a_short_secret_is_refused(apply, tmp_path):
    key = tmp_path / "key"
    key.write_text(SECRET)
    key.chmod(0o600)
    refused(apply("--replace", "surrogate", "--key-file", key), "secret")


def test_a_release_of_which_all_was_set_aside_is_empty(apply, tmp_path):
    code, told = apply(rows=[{**row, "note": f"{SECRET} \ufffd"} for row in ROWS])
    assert code == 1
    assert SECRET not in told
    assert (tmp_path / "out.jsonl").read_text() == ""


def test_lists_are_told_of_and_not_what_is_in_them(apply, tmp_path):
    (tmp_path / "list").write_text(f"{SECRET}\n")
    assert apply("--allow", tmp_path / "list", "--deny", tmp_path / "list")[0] == 0
    manifest = (tmp_path / "out.jsonl.manifest.json").read_text()
    asked = json.loads(manifest)["constraints"]
    assert (asked["allow_list"], asked["deny_list"], asked["context"]) == (True, True, False)
    assert SECRET not in manifest


def test_documents_that_were_set_aside_are_said(apply, tmp_path):
    rows = [{**ROWS[0], "note": f"{SECRET} \ufffd"}, *ROWS[1:]]
    code, told = apply(rows=rows)
    assert code == 1
    assert "1 row" in told
    assert SECRET not in told
    assert SECRET not in (tmp_path / "out.jsonl").read_text()
