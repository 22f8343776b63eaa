"""`voile documents reader install`, and kits that were fitted with a reader."""

from __future__ import annotations

import json
import os

import pytest
from tests.documents.flow import applied, fitted, people
from tests.documents.reported import shown

from voile.cli.run import run
from voile.core.errors import RequestError
from voile.documents.reader.installed import find_reader
from voile.release.kit import StoredKit


def test_the_command_installs_a_folder(encoder_folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("VOILE_READER", str(tmp_path / "reader"))
    assert run(["documents", "reader", "install", str(encoder_folder)]) == 2
    assert "which is not listed; use an encoder that NOTICE names" in capsys.readouterr().err
    assert find_reader() is None
    assert (
        run(
            [
                "documents",
                "reader",
                "install",
                str(encoder_folder),
                "--allow-unlisted",
                "--layer",
                "1",
                "--json",
            ]
        )
        == 0
    )
    found = capsys.readouterr()
    assert json.loads(found.out)["sha256"] == find_reader().sha256
    assert "voile does not list the reader's weights" in found.err
    assert find_reader().layer == 1


def test_another_action_is_refused(encoder_folder, capsys):
    assert run(["documents", "reader", "remove", str(encoder_folder)]) == 2
    assert "there is no action remove; use install" in capsys.readouterr().err


@pytest.fixture
def kit(reader):
    return fitted(people(), learners=["default"], miss_cost=[20])


def test_the_reader_is_the_default_where_it_is_installed(kit, reader, tmp_path):
    assert kit.facts["learners"] == ["reader"]
    found = {"name": "unlisted", "sha256": reader.sha256, "layer": 2, "is_listed": False}
    assert kit.facts["reader"] == found
    kit.save(tmp_path / "kit")
    again = StoredKit.load(tmp_path / "kit")
    one = applied(people(start=1), tmp_path / "0.jsonl", kit=kit)
    applied(people(start=1), tmp_path / "1.jsonl", kit=again)
    assert (tmp_path / "0.jsonl").read_bytes() == (tmp_path / "1.jsonl").read_bytes()
    assert "[NAME]" in (tmp_path / "0.jsonl").read_text()
    text = str(shown(one))
    assert reader.sha256 in text
    assert "voile does not list the reader's weights" in text


def test_without_a_reader_the_default_is_the_consensus():
    kit = fitted(people(1), learners=["default"], miss_cost=[20])
    assert kit.facts["learners"] == ["consensus"]
    assert "reader" not in kit.facts


def test_a_kit_is_refused_where_its_reader_is_not(kit, tmp_path, monkeypatch):
    monkeypatch.setenv("VOILE_READER", os.devnull)
    with pytest.raises(RequestError, match="this needs a reader, and none is installed; install"):
        applied(people(), tmp_path / "r.jsonl", kit=kit)
    assert not (tmp_path / "r.jsonl").exists()


def test_processes_give_the_bytes_of_one(kit, tmp_path):
    for jobs in (1, 2):
        applied(people(start=1), tmp_path / f"{jobs}.jsonl", kit=kit, jobs=jobs)
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()
