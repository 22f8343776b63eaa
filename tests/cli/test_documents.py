"""Notes in a folder, from inspect to a report, and what stops each command.

The people and a harmless word of the notes are canaries: nothing but the release and what never
leaves may hold them.
"""

from __future__ import annotations

import csv
import json
import random
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from voile.cli.run import run
from voile.kit import Kit

FIRST = ["Zyxandra", "Qwertin", "Plumbert", "Vexilla", "Jorvik", "Brumelda", "Ogdenia", "Kazimort"]
LAST = ["Frobisher", "Quuxley", "Wobbington", "Snarkov", "Glimfeather", "Tumblewick", "Yarrowby"]
HARMLESS = "florbnix"
"""A word that no other text holds."""
NEWS = ["slept well", "had a fever", f"takes {HARMLESS} at noon", "walked to the window"]
WORD = re.compile("|".join([*FIRST, *LAST, HARMLESS]), re.IGNORECASE)
QUICK = ["--learners", "svm", "--cross-fit", 4, "--least-left", 50, "--jobs", 1, "--seed", 1]


def annotated(parts: list[tuple[str, str | None]]) -> tuple[str, list[dict[str, Any]]]:
    """Join words, and say where those with a label stand."""
    text, spans = "", []
    for words, label in parts:
        if label is not None:
            end = len(text) + len(words)
            spans.append({"start": len(text), "end": end, "label": label})
        text += words
    return text, spans


def note(rng: random.Random) -> tuple[str, list[dict[str, Any]]]:
    """Write one note, with Windows line ends."""
    name = rng.choice(FIRST)
    return annotated(
        [
            ("Patient: ", None),
            (f"{name} {rng.choice(LAST)}", "NAME"),
            (f"\r\nThe patient {rng.choice(NEWS)} and was seen by Dr. ", None),
            (rng.choice(LAST), "NAME"),
            (" on ", None),
            (f"{rng.randint(1, 28)}/{rng.randint(1, 12)}/2019", "DATE"),
            (".\r\n", None),
            (name, "NAME"),
            (" will come again.\r\n", None),
        ]
    )


def put_brat(folder: Path, name: str, text: str, spans: list[dict[str, Any]]) -> None:
    """Write a pair of files."""
    (folder / f"{name}.txt").write_bytes(text.encode())
    lines = [
        f"T{n}\t{s['label']} {s['start']} {s['end']}\t{text[s['start'] : s['end']]}\r\n"
        for n, s in enumerate(spans, 1)
    ]
    (folder / f"{name}.ann").write_bytes("".join(lines).encode())


def put_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write JSON lines."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@dataclass(frozen=True)
class Notes:
    """Annotated notes on disk, their roles and a kit."""

    folder: Path

    @property
    def source(self) -> Path:
        return self.folder / "the notes"

    @property
    def roles(self) -> Path:
        return self.folder / "roles.toml"

    @property
    def kit(self) -> Path:
        return self.folder / "a kit"

    @property
    def policy(self) -> Path:
        return self.folder / "policy.toml"

    def fit(self, out: Path, source: object = None) -> list[object]:
        costs = ["--miss-cost", 5, "--miss-cost", 20]
        words = ["documents", "fit", source or self.source, "--roles", self.roles, "--out", out]
        return [*words, *QUICK, *costs]

    def apply(self, out: Path, source: object = None) -> list[object]:
        words = ["documents", "apply", self.kit, source or self.source]
        return [*words, "--policy", self.policy, "--out", out]


def ran_well(*words: object) -> None:
    assert run([str(word) for word in words]) == 0


@pytest.fixture(scope="session")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Notes:
    """Return 24 notes as brat keeps them, with a kit and a policy."""
    notes = Notes(tmp_path_factory.mktemp("a ward"))
    notes.source.mkdir()
    rng = random.Random(1)
    for number in range(24):
        put_brat(notes.source, f"note {number:02}", *note(rng))
    ran_well("inspect", notes.source, "--out", notes.roles, "--quiet")
    ran_well(*notes.fit(notes.kit), "--quiet")
    ran_well("documents", "choose", notes.kit, "--knee", "--out", notes.policy, "--quiet")
    return notes


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """Return notes as JSON lines beside the roles that inspect proposes."""
    rng = random.Random(2)
    rows = []
    for number in range(12):
        text, spans = note(rng)
        rows.append({"patient": f"p{number // 2}", "note": text, "marks": spans, "ward": "north"})
    return put_lines(tmp_path / "notes.jsonl", rows)


def refused(voile: Any, *words: object) -> str:
    """Run a command that is to say one sentence and leave nothing; return the sentence."""
    ran = voile(*words)
    assert ran.code == 2
    assert ran.out == ""
    said = [line for line in ran.err.splitlines() if line.startswith("voile: ")]
    assert len(said) == 1, ran.err
    assert not WORD.search(ran.err)
    return str(said[0])


def roles_of(voile: Any, source: object, out: Path) -> Path:
    assert voile("inspect", source, "--kind", "documents", "--out", out, "--quiet").code == 0
    return out


# inspect


def test_inspect_knows_a_corpus_by_its_name(voile: Any, tmp_path: Path) -> None:
    put_brat(tmp_path, "a", *note(random.Random(3)))
    ran = voile("inspect", tmp_path, "--json")
    columns = ran.json["columns"]
    assert {name: told["role"] for name, told in columns.items()} == {
        "id": "identifier",
        "subject": "drop",
        "text": "text",
        "spans": "label",
        "pos": "drop",
    }
    assert columns["text"]["spans"] == "spans"
    assert ran.err == f"{tmp_path.name}: read as brat\n"
    assert not WORD.search(ran.out)
    assert voile("inspect", f"brat:{tmp_path}").out == voile("inspect", tmp_path).out


def test_inspect_knows_documents_by_their_spans(voile: Any, lines: Path) -> None:
    columns = voile("inspect", lines, "--json").json["columns"]
    assert columns["note"]["spans"] == "marks"
    assert {name: told["role"] for name, told in columns.items()} == {
        "patient": "identifier",
        "note": "text",
        "marks": "label",
        "ward": "drop",
    }
    assert voile("inspect", lines, "--json", "--kind", "tables").json["columns"] != columns


def test_a_text_file_is_a_table_unless_it_is_said_to_be_a_document(
    voile: Any, tmp_path: Path
) -> None:
    table = tmp_path / "table.txt"
    table.write_text("age,sex\n40,F\n50,M\n")
    assert list(voile("inspect", table, "--json").json["columns"]) == ["age", "sex"]
    documents = voile("inspect", table, "--kind", "documents", "--json").json
    assert "text" in documents["columns"]


# fit


def test_fit_finds_policies_of_several_costs(voile: Any, notes: Notes) -> None:
    kit = Kit.load(notes.kit)
    assert kit.facts["labels"] == ["DATE", "NAME"]
    assert kit.visibility == "private"
    policies = voile("documents", "frontier", notes.kit, "--json").json["policies"]
    assert min(policy["risk"] for policy in policies) < 0.1
    assert not WORD.search(notes.policy.read_text())


def test_the_same_seed_gives_the_same_kit(voile: Any, notes: Notes, tmp_path: Path) -> None:
    assert voile(*notes.fit(tmp_path / "kit"), "--quiet").code == 0
    assert Kit.load(tmp_path / "kit").id == Kit.load(notes.kit).id


SPANS = {
    "outside": ([[0, 4000, "NAME"]], "the span 0 to 4000 is not inside the text"),
    "empty": ([[7, 7, "NAME"]], "the span 7 to 7 is not inside the text"),
    "overlapping": (
        [[0, 8, "NAME"], [4, 10, "DATE"]],
        "the spans 0 to 8 and 4 to 10 overlap",
    ),
    "strange": ([["0", 8, "NAME"]], "span 1 has no start, end, label"),
}


@pytest.mark.parametrize("which", SPANS)
def test_wrong_spans_are_told_by_document_and_offsets(
    voile: Any, lines: Path, tmp_path: Path, which: str
) -> None:
    roles = roles_of(voile, lines, tmp_path / "roles.toml")
    marks, what = SPANS[which]
    rows = [json.loads(line) for line in lines.read_text().splitlines()]
    put_lines(lines, [*rows, {**rows[0], "marks": marks}])
    words = ["documents", "fit", lines, "--roles", roles, "--out", tmp_path / "kit"]
    said = refused(voile, *words, *QUICK)
    assert "row 13" in said
    assert what in said
    assert not (tmp_path / "kit").exists()


def test_wrong_spans_of_a_corpus_are_told_alike(voile: Any, notes: Notes, tmp_path: Path) -> None:
    source = tmp_path / "notes"
    shutil.copytree(notes.source, source)
    (source / "note 03.ann").write_bytes(b"T1\tNAME 9 12\r\nT2\tDATE 11 14\r\n")
    said = refused(voile, *notes.fit(tmp_path / "kit", source))
    assert said == (
        "voile: document note 03: the spans 9 to 12 and 11 to 14 overlap; correct the spans"
    )


def test_a_weight_of_a_type_that_is_not_there_is_refused(
    voile: Any, notes: Notes, tmp_path: Path
) -> None:
    words = notes.fit(tmp_path / "kit")
    assert "did you mean NAME" in refused(voile, *words, "--weight", "NAMES=2")
    assert "TYPE=NUMBER" in refused(voile, *words, "--weight", "NAME=much")
    assert "above 0" in refused(voile, *words, "--weight", "NAME=-1")


def test_a_corpus_without_identifiers_is_refused(voile: Any, notes: Notes, tmp_path: Path) -> None:
    source = tmp_path / "plain notes"
    source.mkdir()
    for number in range(5):
        put_brat(source, str(number), f"The patient takes {HARMLESS}.\r\n", [])
    said = refused(voile, *notes.fit(tmp_path / "kit", source))
    assert "no identifier" in said


@pytest.mark.parametrize("text", ["", " \r\n"])
def test_an_empty_document_alone_is_refused(
    voile: Any, notes: Notes, tmp_path: Path, text: str
) -> None:
    source = tmp_path / "plain notes"
    source.mkdir()
    put_brat(source, "a", text, [])
    assert "no identifier" in refused(voile, *notes.fit(tmp_path / "kit", source))


def test_fewer_documents_than_folds_are_refused(voile: Any, notes: Notes, tmp_path: Path) -> None:
    source = tmp_path / "few notes"
    source.mkdir()
    for number in range(3):
        put_brat(source, str(number), *note(random.Random(number)))
    said = refused(voile, *notes.fit(tmp_path / "kit", source))
    assert said == (
        "voile: 3 subjects cannot be split into 4 folds; "
        "annotate more documents, or ask for fewer folds"
    )


def test_documents_of_one_person_are_in_one_fold(voile: Any, lines: Path, tmp_path: Path) -> None:
    roles = roles_of(voile, lines, tmp_path / "roles.toml")
    words = ["documents", "fit", lines, "--roles", roles, "--out", tmp_path / "kit"]
    said = refused(voile, *words, *QUICK, "--cross-fit", 7)
    assert "6 subjects cannot be split into 7 folds" in said


def test_roles_that_documents_do_not_treat_are_refused(
    voile: Any, lines: Path, tmp_path: Path
) -> None:
    roles = roles_of(voile, lines, tmp_path / "roles.toml")
    roles.write_text(roles.read_text().replace('ward = "drop"', 'ward = "quasi"'))
    words = ["documents", "fit", lines, "--roles", roles, "--out", tmp_path / "kit"]
    assert "column ward has the role quasi" in refused(voile, *words, *QUICK)
    roles.write_text(roles.read_text().replace('ward = "quasi"', ""))
    assert "column ward has no role" in refused(voile, *words, *QUICK)


# what cannot be read


def test_lines_that_are_no_text_are_refused(voile: Any, lines: Path, tmp_path: Path) -> None:
    roles = roles_of(voile, lines, tmp_path / "roles.toml")
    content = lines.read_text()
    lines.write_bytes(content.encode() + '{"note": "é'.encode() + b'\xe9"}\n')
    words = ["documents", "fit", lines, "--roles", roles, "--out", tmp_path / "kit", *QUICK]
    said = refused(voile, *words)
    assert f"notes.jsonl: byte {len(content) + 12} is not utf-8 text" in said
    assert "encoding" in said


BEGINS = {"long.jsonl": b'{"text": "', "long.conll": b"", "long.csv": b'text\n"'}


@pytest.mark.parametrize("name", BEGINS)
def test_a_line_without_end_is_refused(voile: Any, tmp_path: Path, name: str) -> None:
    long = tmp_path / name
    with long.open("wb") as file:
        file.write(BEGINS[name])
        file.writelines([f"{HARMLESS} ".encode() * 100_000] * 75)
    said = refused(voile, "inspect", long, "--kind", "documents")
    assert "longer than" in said


def test_what_is_not_there_is_said(voile: Any, notes: Notes, tmp_path: Path) -> None:
    for source in (tmp_path / "none", f"brat:{tmp_path / 'none'}", tmp_path / "none.conll"):
        assert "no such file" in refused(voile, *notes.fit(tmp_path / "kit", source))
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "holds no files" in refused(voile, "inspect", empty)
    (empty / "a.rtf").write_text(HARMLESS)
    assert ".rtf files are not known" in refused(voile, "inspect", empty)


def test_the_source_is_never_overwritten(voile: Any, notes: Notes, tmp_path: Path) -> None:
    source = tmp_path / "notes"
    shutil.copytree(notes.source, source)
    before = sorted(source.iterdir())
    for named in (source, f"brat:{source}"):
        said = refused(voile, *notes.fit(source, named), "--force")
        assert said == f"voile: {source}: this is the source itself; use another"
    assert sorted(source.iterdir()) == before


# apply


def texts_of(notes: Notes) -> list[str]:
    """Return the notes' texts by their files' names."""
    return [path.read_bytes().decode() for path in sorted(notes.source.glob("*.txt"))]


def released(path: Path) -> list[str]:
    """Return the texts of a release in JSON lines."""
    return [json.loads(line)["text"] for line in path.read_text().splitlines()]


def test_apply_puts_marks_where_its_removals_say(voile: Any, notes: Notes, tmp_path: Path) -> None:
    out = tmp_path / "a release.jsonl"
    ran = voile(*notes.apply(out), "--keep-order", "--json")
    assert ran.code == 0
    assert ran.json["counts"]["released"] == 24
    removals = pq.read_table(tmp_path / "a release.jsonl.private" / "removals.parquet").to_pylist()
    for row, (text, found) in enumerate(zip(texts_of(notes), released(out), strict=True)):
        made, at = "", 0
        for one in (one for one in removals if one["row"] == row):
            made += text[at : one["start"]] + f"[{one['label']}]"
            assert found[one["published_start"] : one["published_end"]] == f"[{one['label']}]"
            at = one["end"]
        assert found == made + text[at:]
        assert found.endswith("\r\n[NAME] will come again.\r\n")
    assert not [text for text in released(out) if WORD.sub("", text) != text.replace(HARMLESS, "")]
    assert {one["by"].split(",")[0] for one in removals} >= {"pass 1"}


def test_a_release_has_another_order(voile: Any, notes: Notes, tmp_path: Path) -> None:
    orders = set()
    for name in ("a.jsonl", "b.jsonl"):
        assert voile(*notes.apply(tmp_path / name), "--quiet").code == 0
        orders.add(tuple(released(tmp_path / name)))
    assert len(orders) == 2
    assert len({tuple(sorted(order)) for order in orders}) == 1


def test_a_kit_is_applied_to_plain_text(voile: Any, notes: Notes, tmp_path: Path) -> None:
    new = tmp_path / "new notes"
    new.mkdir()
    for path in notes.source.glob("*.txt"):
        shutil.copy(path, new)
    for source, out in ((notes.source, "a.jsonl"), (new, "b.jsonl")):
        words = notes.apply(tmp_path / out, source)
        assert voile(*words, "--keep-order", "--quiet").code == 0
    assert released(tmp_path / "a.jsonl") == released(tmp_path / "b.jsonl")


def test_surrogates_follow_the_secret(
    voile: Any, notes: Notes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for number, secret in enumerate(["a" * 32, "a" * 32, "b" * 32]):
        monkeypatch.setenv("VOILE_SECRET", secret)
        words = notes.apply(tmp_path / f"{number}.jsonl")
        ran = voile(*words, "--keep-order", "--replace", "surrogate")
        assert ran.code == 0
        assert secret not in ran.out + ran.err
        found.append(released(tmp_path / f"{number}.jsonl"))
    assert found[0] == found[1] != found[2]
    for text, source in zip(found[0], texts_of(notes), strict=True):
        assert "[NAME]" not in text
        assert not set(WORD.findall(text)) - {HARMLESS}
        first, again = re.findall(r"Patient: (\w+)|(\w+) will come", text)
        assert first[0] == again[1]
        assert len(text.splitlines()) == len(source.splitlines())


def test_surrogates_need_a_secret(
    voile: Any, notes: Notes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [*notes.apply(tmp_path / "a.jsonl"), "--replace", "surrogate"]
    monkeypatch.delenv("VOILE_SECRET", raising=False)
    assert "VOILE_SECRET: a secret of 0 bytes" in refused(voile, *words)
    monkeypatch.setenv("VOILE_SECRET", "short")
    assert "VOILE_SECRET: a secret of 5 bytes" in refused(voile, *words)
    file = tmp_path / "secret"
    file.write_text("s" * 32)
    file.chmod(0o644)
    assert "others may read" in refused(voile, *words, "--secret", file)
    assert "secret is for surrogates" in refused(
        voile, *notes.apply(tmp_path / "a.jsonl"), "--secret", file
    )


def test_lists_say_what_goes_and_what_stays(voile: Any, notes: Notes, tmp_path: Path) -> None:
    deny, allow = tmp_path / "deny.txt", tmp_path / "allow.txt"
    deny.write_text(f"{HARMLESS}\n")
    allow.write_text(f"{FIRST[0]}\r\n{FIRST[1]}\r\n")
    out = tmp_path / "release.jsonl"
    words = [*notes.apply(out), "--keep-order", "--deny", deny, "--allow", allow, "--quiet"]
    assert voile(*words).code == 0
    for source, text in zip(texts_of(notes), released(out), strict=True):
        assert HARMLESS not in text
        assert ("[LISTED]" in text) == (HARMLESS in source)
        for name in FIRST[:2]:
            assert text.count(name) == source.count(name)
    assert "the list cannot be read" in refused(
        voile, *words, "--force", "--deny", tmp_path / "none"
    )


def test_a_note_that_is_no_text_is_set_aside(voile: Any, notes: Notes, tmp_path: Path) -> None:
    source = tmp_path / "notes"
    shutil.copytree(notes.source, source)
    bad = source / "note 05.txt"
    bad.write_bytes(bad.read_bytes() + b"caf\xe9")
    out = tmp_path / "a.jsonl"
    ran = voile(*notes.apply(out, source), "--json")
    assert ran.code == 1
    assert ran.json["counts"]["set_aside"] == 1
    assert "voile: 1 row set aside: 1 row for " in ran.err
    assert not WORD.search(ran.err)
    assert len(released(out)) == 23
    with (tmp_path / "a.jsonl.private" / "set-aside.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert (row["row"], row["column"]) == ("6", "text")
    words = notes.apply(tmp_path / "b.jsonl", source)
    assert voile(*words, "--encoding", "windows-1252", "--quiet").code == 0
    assert len(released(tmp_path / "b.jsonl")) == 24


def test_empty_documents_stay_empty(voile: Any, lines: Path, tmp_path: Path) -> None:
    roles, kit = roles_of(voile, lines, tmp_path / "roles.toml"), tmp_path / "kit"
    fit = ["documents", "fit", lines, "--roles", roles, "--out", kit, *QUICK, "--miss-cost", 5]
    assert voile(*fit, "--quiet").code == 0
    policy = tmp_path / "policy.toml"
    assert voile("documents", "choose", kit, "--policy", 0, "--out", policy, "--quiet").code == 0
    row = {"patient": "p1", "marks": [], "ward": "south"}
    few = put_lines(
        tmp_path / "few.jsonl",
        [{**row, "note": x} for x in ("", None, " \n", "The patient had a fever.")],
    )
    out = tmp_path / "release.jsonl"
    words = ["documents", "apply", kit, few, "--policy", policy, "--out", out, "--keep-order"]
    assert voile(*words, "--quiet").code == 0
    made = [json.loads(line).get("note") for line in out.read_text().splitlines()]
    assert made == ["", None, " \n", "The patient had a fever."]
    other = put_lines(tmp_path / "other.jsonl", [{"note": "The patient had a fever."}])
    said = refused(voile, *words[:3], other, *words[4:], "--force")
    assert "there is no column patient" in said


def test_a_policy_of_another_kit_is_refused(voile: Any, notes: Notes, tmp_path: Path) -> None:
    assert voile(*notes.fit(tmp_path / "kit"), "--seed", 2, "--quiet").code == 0
    words = notes.apply(tmp_path / "a.jsonl")
    words[2] = tmp_path / "kit"
    assert "choose again from this kit" in refused(voile, *words)


def test_a_policy_that_the_kit_cannot_do_is_refused(
    voile: Any, notes: Notes, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.toml"
    words = [*notes.apply(tmp_path / "a.jsonl"), "--policy", policy]
    for old, new, what in (
        (r"passes = \d+", "passes = 99", "has no 99 passes; use 0 to"),
        (r"miss_cost = \d+\.0", "miss_cost = 7.0", "for a miss_cost of 7; use one of 5, 20"),
    ):
        text, section, own = notes.policy.read_text().partition("[policy]")
        policy.write_text(text + section + re.sub(old, new, own))
        assert what in refused(voile, *words)


# attack, report, verify


@pytest.fixture(scope="session")
def leaky(notes: Notes) -> Path:
    """Return a release that leaves first names, with its evidence beside it."""
    allow = notes.folder / "allow.txt"
    allow.write_text("\n".join(FIRST))
    out = notes.folder / "leaky.jsonl"
    ran_well(*notes.apply(out), "--allow", allow, "--quiet")
    ran_well(*attack_on(notes, out), "--quiet")
    return out


def attack_on(notes: Notes, release: Path, truth: object = None) -> list[object]:
    words = ["documents", "attack", release, "--truth", truth or notes.source, "--seed", 1]
    return [*words, "--learners", "svm", "--jobs", 1, "--inspections", 10]


def figures(evidence: dict[str, Any]) -> dict[str, float]:
    """Return an attack's rates by their names."""
    rates = {one["name"]: one["rate"] for one in evidence["findings"]}
    return {
        name: rate["successes"] / rate["trials"] for name, rate in rates.items() if rate["trials"]
    }


def test_attack_finds_what_is_left(voile: Any, notes: Notes, leaky: Path, tmp_path: Path) -> None:
    told = voile(*attack_on(notes, leaky), "--out", tmp_path / "e.json", "--json").json
    rates = [figures(evidence) for evidence in told["evidence"]]
    assert [evidence["attack"] for evidence in told["evidence"]] == [
        "inspections, published labels",
        "inspections, released labels",
    ]
    assert all(rate["identifiers found in 10 inspections"] > 0.5 for rate in rates)
    again = voile(*attack_on(notes, leaky), "--out", tmp_path / "f.json", "--json").json
    assert again["evidence"] == told["evidence"]


def test_attack_finds_nothing_where_all_is_removed(
    voile: Any, notes: Notes, tmp_path: Path
) -> None:
    out = tmp_path / "a.jsonl"
    assert voile(*notes.apply(out), "--quiet").code == 0
    for evidence in voile(*attack_on(notes, out), "--json").json["evidence"]:
        assert figures(evidence)["identifiers found in 10 inspections"] == 0


def test_attack_needs_the_truth_of_the_release(
    voile: Any, notes: Notes, leaky: Path, lines: Path, tmp_path: Path
) -> None:
    few = tmp_path / "notes"
    shutil.copytree(notes.source, few)
    put_brat(few, "note 24", *note(random.Random(5)))
    assert "row" in refused(voile, *attack_on(notes, leaky, few), "--force")
    assert "there is no column id" in refused(voile, *attack_on(notes, leaky, lines), "--force")
    plain = tmp_path / "plain"
    plain.mkdir()
    for path in notes.source.glob("*.txt"):
        shutil.copy(path, plain)
    said = refused(voile, *attack_on(notes, leaky, plain), "--force")
    assert "no identifier is marked in the truth" in said


def test_reports_and_checks(voile: Any, notes: Notes, leaky: Path, tmp_path: Path) -> None:
    page = tmp_path / "a report.html"
    told = voile("report", leaky, "--out", page, "--json").json
    assert set(told["attacks"]) == {"inspections, published labels", "inspections, released labels"}
    assert "<html" in page.read_text()
    assert voile("report", notes.kit, "--out", tmp_path / "kit.html").code == 0
    assert voile("verify", leaky, "--json").json["ok"]
    copy = tmp_path / leaky.name
    for path in notes.folder.glob("leaky.jsonl*"):
        move = shutil.copytree if path.is_dir() else shutil.copy
        move(path, tmp_path / path.name)
    lines = copy.read_text().splitlines(keepends=True)
    copy.write_text("".join(lines[1:]))
    assert voile("verify", copy).code == 1


def test_no_word_of_a_text_reaches_what_others_see(
    voile: Any, notes: Notes, leaky: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("voile.cli.screen.LINE_EVERY", 0.0)
    assert WORD.search(leaky.read_text())
    kit, out, policy = tmp_path / "kit", tmp_path / "release.csv", tmp_path / "policy.toml"
    allow = notes.folder / "allow.txt"
    said = []
    for words in (
        ["inspect", notes.source, "--out", tmp_path / "roles.toml"],
        ["inspect", notes.source, "--json"],
        notes.fit(kit),
        ["documents", "frontier", kit, "--all"],
        ["documents", "choose", kit, "--max-loss", 1, "--out", policy],
        [
            "documents",
            "apply",
            kit,
            notes.source,
            "--policy",
            policy,
            "--out",
            out,
            "--allow",
            allow,
        ],
        [*attack_on(notes, out), "--out", tmp_path / "evidence.json"],
        [*attack_on(notes, out), "--json"],
        ["report", out, "--out", tmp_path / "release.html"],
        ["report", kit, "--out", tmp_path / "kit.html"],
        ["verify", out],
        ["verify", out, "--json"],
    ):
        ran = voile(*words)
        assert ran.code == 0, ran.err
        said += [ran.out, ran.err]
    assert not WORD.search("".join(said))
    for path in tmp_path.iterdir():
        if path.is_file() and path != out:
            assert not WORD.search(path.read_text()), path.name
