"""From a pseudonym back to a person: for whoever has the secret, and never without a record."""

from __future__ import annotations

import json

import pytest

from voile.cli.run import run
from voile.keys.pseudonyms import Secret, pseudonym, purpose_of


@pytest.fixture
def words(tmp_path):
    key, subjects = tmp_path / "key", tmp_path / "subjects.txt"
    key.write_text("a key known to the tests alone")
    key.chmod(0o600)
    subjects.write_text("CANARY1\nCANARY2\n")
    return ["--key-file", str(key), "--subjects", str(subjects), "--reason", "a new finding"]


def name(tmp_path, subject, recipient=None):
    return pseudonym(Secret.from_file(tmp_path / "key"), subject, purpose=purpose_of(recipient))


def test_a_person_is_found_and_the_use_recorded_without_the_name(words, tmp_path, capsys):
    own = name(tmp_path, "CANARY2")
    assert run(["reveal", own, *words]) == 0
    assert capsys.readouterr().out == "CANARY2\n"
    assert run(["reveal", own, *words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["subject"] == "CANARY2"
    record = tmp_path / "key.reveals"
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    assert [(x["pseudonym"], x["reason"]) for x in lines] == [(own, "a new finding")] * 2
    assert "CANARY" not in record.read_text()
    assert record.stat().st_mode & 0o077 == 0
    assert not list(tmp_path.glob(".*"))


def test_each_recipient_has_pseudonyms_of_its_own(words, tmp_path, capsys):
    here, there = (name(tmp_path, "CANARY1", who) for who in ("Site A", "Site B"))
    assert len({here, there, name(tmp_path, "CANARY1")}) == 3
    assert run(["reveal", here, *words]) == 2
    said = capsys.readouterr()
    assert "name the recipient with --recipient" in said.err
    assert "CANARY" not in said.err + said.out
    assert run(["reveal", here, *words, "--recipient", "Site A"]) == 0


def test_a_record_that_was_changed_reveals_nothing(words, tmp_path, capsys):
    own = name(tmp_path, "CANARY1")
    run(["reveal", own, *words])
    record = tmp_path / "key.reveals"
    record.write_text(record.read_text().replace("finding", "thought") * 2)
    capsys.readouterr()
    assert run(["reveal", own, *words]) == 1
    assert "CANARY" not in capsys.readouterr().out


@pytest.mark.parametrize(("content", "said"), [("", "no subject"), ("A\n \n", "line 2")])
def test_a_list_without_names_is_refused(content, said, words, tmp_path, capsys):
    (tmp_path / "subjects.txt").write_text(content)
    assert run(["reveal", "A" * 16, *words]) == 2
    assert said in capsys.readouterr().err
