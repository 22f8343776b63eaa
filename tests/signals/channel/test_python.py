"""`vs.send` and `vs.receive`, from Python, over a real broker."""

from __future__ import annotations

import json
import threading
from collections import Counter
from typing import Any

import pandas as pd
import pytest
from tests.signals.channel.ward import COLUMNS

import voile
import voile.signals as vs
from voile.core.errors import VoileError
from voile.face.keywords import VoileWarning
from voile.signals.channel.recipient import READINGS


@pytest.mark.parametrize("listener", ["main", "thread"])
def test_a_frame_is_sent_and_received(ward: Any, broker: Any, tmp_path: Any, listener: str) -> None:
    """Both ends in one process, either of them in the main thread, which alone hears signals."""
    folder, rows = ward
    kit = voile.open_kit(folder / "kit")
    frame = pd.DataFrame(rows[:120], columns=COLUMNS)
    line = {"broker": broker.url, "topic": "ward", "encrypt": True}
    ends: dict[str, Any] = {}

    def send() -> None:
        own = {"spool": tmp_path / "spool", "enrolment": folder / "enrolment", "wait": 60}
        ends["sent"] = vs.send(kit, frame, **own, **line)

    def receive() -> None:
        known = {"classes": folder / "classes.csv", "key_file": folder / "key", "idle": 8}
        ends["received"] = vs.receive(kit, tmp_path / "clinic", **known, **line)

    here, there = (receive, send) if listener == "main" else (send, receive)
    other = threading.Thread(target=there)
    other.start()
    here()
    other.join(90)
    assert (ends["sent"]["spooled"], ends["sent"]["left_out"]) == (0, 0)
    assert ends["received"]["received"] == len(frame)
    come = map(json.loads, (tmp_path / "clinic" / READINGS).read_text().splitlines())
    assert Counter(one["subject"] for one in come) == Counter(frame["id"])


def test_wrong_requests_are_refused_in_the_words_of_the_command_line(
    ward: Any, tmp_path: Any
) -> None:
    folder, rows = ward
    kit, frame = voile.open_kit(folder / "kit"), pd.DataFrame(rows[:12], columns=COLUMNS)
    own = {"spool": tmp_path / "spool", "enrolment": folder / "enrolment"}
    with pytest.raises(VoileError, match="no such option: brokr"):
        vs.send(kit, frame, **own, brokr="mqtt://127.0.0.1:9")
    with pytest.raises(VoileError, match="there is no column weight"):
        vs.send(kit, frame.drop(columns="weight"), **own, broker="mqtt://127.0.0.1:9")
    with pytest.warns(VoileWarning, match="12 readings wait in"):
        ended = vs.send(kit, frame, **own, broker="mqtt://127.0.0.1:9", wait=1)
    assert ended["spooled"] == 12
