"""Find the memory that a process may still use, and refuse work that needs more."""

from __future__ import annotations

from pathlib import Path

from voile.core.errors import RequestError

MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")
MEGABYTE = 1_000_000


def find_available(meminfo: Path = MEMINFO, cgroup: Path = CGROUP) -> int | None:
    """Return the bytes available to the machine and its container, or None if unknown.

    >>> find_available(Path("absent"), Path("absent")) is None
    True
    """
    left = [*_read_machine(meminfo), *_read_container(cgroup)]
    return min(left) if left else None


def require_memory(needed: float, *, for_what: str, instead: str) -> None:
    """Refuse work that needs more bytes than are available.

    Raises
    ------
    RequestError : the needed bytes exceed the available ones. The error contains both figures.
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
    """Return the container's unused memory, from Linux control groups of version 2 or 1."""
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
