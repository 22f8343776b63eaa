"""The memory that a process may still use, and the refusal of work that needs more."""

from __future__ import annotations

from pathlib import Path

from voile.core.errors import RequestError

MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")
MEGABYTE = 1_000_000


def find_available(meminfo: Path = MEMINFO, cgroup: Path = CGROUP) -> int | None:
    """Return the bytes that the machine and its container still have; None where nobody counts.

    >>> find_available(Path("absent"), Path("absent")) is None
    True
    """
    left = [*_read_machine(meminfo), *_read_container(cgroup)]
    return min(left) if left else None


def require_memory(needed: float, *, for_what: str, instead: str) -> None:
    """Refuse work that needs more bytes than are available.

    Raises
    ------
    RequestError : the bytes needed exceed those available; it states both.
    """
    available = find_available()
    if available is not None and needed > available:
        raise RequestError(
            f"{for_what} needs about {needed / MEGABYTE:,.0f} MB of memory, but only "
            f"{available / MEGABYTE:,.0f} MB are available",
            instead=instead,
        )


def _read_machine(meminfo: Path) -> list[int]:
    try:
        lines = meminfo.read_text("utf-8").splitlines()
    except OSError:
        return []
    return [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]


def _read_container(cgroup: Path) -> list[int]:
    """Return the rest of the container's limit, of version 2 or 1 of Linux's control groups."""
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            most = int((cgroup / limit).read_text("utf-8"))
            return [max(most - int((cgroup / used).read_text("utf-8")), 0)]
        except (OSError, ValueError):  # absent, or no limit
            continue
    return []
