"""What a worker refuses before it loads anything."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

from voile.release.spread.job import JOB
from voile.release.spread.work import make


class Trap:
    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.place,)


def test_what_others_could_have_written_is_not_loaded(tmp_path: Path) -> None:
    folder, sprung = tmp_path / "run", tmp_path / "sprung"
    folder.mkdir(mode=0o755)
    (folder / JOB).write_bytes(pickle.dumps(Trap(sprung)))
    said = json.loads(make(folder, 0))
    assert said["kind"] == "RequestError"
    assert "not this user's alone" in said["what"]
    assert "worker " in said["where"]
    assert not sprung.exists()
    folder.chmod(0o700)
    (folder / "stop").unlink()
    make(folder, 0)
    assert sprung.exists()  # so the trap works, and the refusal is what kept it shut


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert "cannot be read" in json.loads(make(tmp_path / "nowhere", 0))["what"]
