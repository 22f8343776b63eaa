"""Work that needs more memory than there is, is refused before it begins."""

from __future__ import annotations

import pytest

from voile.core import memory
from voile.core.errors import RequestError
from voile.core.memory import find_available, require_memory


def write_machine(tmp_path, kilobytes):
    path = tmp_path / "meminfo"
    path.write_text(f"MemTotal: 99999999 kB\nMemAvailable:   {kilobytes} kB\nCached: 5 kB\n")
    return path


def test_the_machine_s_memory_counts(tmp_path):
    assert find_available(write_machine(tmp_path, 2_000), tmp_path / "none") == 2_048_000


@pytest.mark.parametrize(
    ("limit", "used"),
    [
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ],
)
def test_a_container_s_limit_counts_where_it_is_lower(tmp_path, limit, used):
    (tmp_path / "memory").mkdir()
    machine = write_machine(tmp_path, 9_000)
    (tmp_path / used).write_text("400\n")
    for written, expected in (("1000\n", 600), ("300\n", 0), ("max\n", 9_216_000)):
        (tmp_path / limit).write_text(written)
        assert find_available(machine, tmp_path) == expected


def test_a_refusal_states_the_need_and_the_remedy(monkeypatch):
    monkeypatch.setattr(memory, "find_available", lambda: 3_000_000_000)
    require_memory(2_999_999_999, for_what="this fit", instead="nothing")
    with pytest.raises(RequestError) as refused:
        require_memory(4_200_000_000, for_what="this fit", instead="merge values")
    assert (
        refused.value.what
        == "this fit needs about 4,200 MB of memory, but only 3,000 MB are available"
    )
    assert refused.value.instead == "merge values"


def test_unknown_memory_refuses_nothing(monkeypatch):
    monkeypatch.setattr(memory, "find_available", lambda: None)
    require_memory(1e18, for_what="this fit", instead="nothing")
