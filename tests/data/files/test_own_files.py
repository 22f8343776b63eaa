"""What voile reads again is bounded and whole; why it is not is said without a value."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from pydantic import BaseModel, create_model

from voile.core.errors import DamagedError, RequestError
from voile.data.files.memory import MemoryPath
from voile.data.files.own_files import LONGEST, check_model, fitting, read_bytes, read_toml

NUMBERS = {f"n{i}": (int, 0) for i in range(30)}
WIDE: type[BaseModel] = create_model("Wide", __config__={"extra": "forbid"}, **NUMBERS)


def test_a_file_that_is_too_long_is_refused_before_it_is_read(tmp_path: Path) -> None:
    place = tmp_path / "long.json"
    place.touch()
    os.truncate(place, LONGEST + 1)  # a hole: no disk is needed
    with pytest.raises(RequestError, match=r"long.json: the file is larger than 256 MiB"):
        read_bytes(place)


def test_a_file_in_memory_is_read_as_one_on_disk_is() -> None:
    place = MemoryPath("a.json")
    place.write_bytes(b"{}")
    assert read_bytes(place) == b"{}"


def test_toml_is_read_as_deep_as_any_file_of_voile_is_and_not_without_end(tmp_path: Path) -> None:
    place = tmp_path / "a.toml"
    place.write_text(f"a = {'[' * 40}{']' * 40}")
    assert read_toml(place)["a"] == json.loads("[" * 40 + "]" * 40)
    place.write_text(f"a = {'[' * 90}{']' * 90}")
    with pytest.raises(RequestError, match="the file is not valid TOML"):
        read_toml(place)


@pytest.mark.parametrize(("wrong", "more"), [(12, None), (13, "; 1 more"), (30, "; 18 more")])
def test_a_dozen_mistakes_are_said_and_how_many_more_there_are(
    wrong: int, more: str | None
) -> None:
    data = {f"n{i}": "SECRET" for i in range(wrong)}
    with pytest.raises(DamagedError) as refused:
        check_model(WIDE, data, "the file", Path("a.json"))
    said = str(refused.value)
    assert said.startswith("a.json: the file is incomplete or has wrong fields: n0, n1, ")
    assert ("n11: " in said, "n12: " in said, "SECRET" in said) == (True, False, False)
    assert said.endswith(more) if more else " more" not in said


def test_a_place_with_a_long_name_is_cut_short() -> None:
    for length, said in ((200, "x" * 200), (201, "x" * 200 + "...")):
        with pytest.raises(DamagedError, match=f"wrong fields: {said}: is not known here"):
            check_model(WIDE, {"x" * length: 1}, "the file", Path("a.json"))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyError("passes"), "kit.json: the kit lacks passes"),
        (KeyError("Jane Roe"), "kit.json: the kit has parts that contradict each other"),
        (KeyError(), "kit.json: the kit has parts that contradict each other"),
        (ValueError("Roe"), "kit.json: the kit has parts that contradict each other"),
        (IndexError("Roe", "Jane"), "kit.json: the kit has parts that contradict each other"),
        (RequestError("no such column"), "no such column"),
    ],
)
def test_what_does_not_fit_is_said_by_what_is_absent_and_never_by_a_value(
    error: Exception, said: str
) -> None:
    for where in (Path("kit.json"), None):
        with pytest.raises(RequestError) as refused, fitting("the kit", where):
            raise error
        assert str(refused.value) == (said if where else said.removeprefix("kit.json: "))
