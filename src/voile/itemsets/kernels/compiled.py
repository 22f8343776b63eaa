"""The one way to compile a kernel: numba, no Python objects, kept on disk between runs."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., object])

SOURCES = sorted(Path(__file__).parent.glob("*.py"))
DIGEST = sha256(b"".join(path.read_bytes() for path in SOURCES)).hexdigest()[:12]


def compiled(kernel: Kernel) -> Kernel:
    """Compile `kernel` at its first call, and keep the machine code beside its source.

    numba finds kept code by the kernel's name, and looks only whether the kernel's own file
    changed, not those of the kernels it calls. So the name carries a digest of all of them.

    >>> compiled(lambda x: x + 1)(2)
    3
    """
    return _compile(kernel, inner=False)


def inner(kernel: Kernel) -> Kernel:
    """As `compiled`, for a kernel that only other kernels call: quicker to compile."""
    return _compile(kernel, inner=True)


def _compile(kernel: Kernel, *, inner: bool) -> Kernel:
    named = kernel.__name__ != "<lambda>"
    kernel.__qualname__ += f"_{DIGEST}"
    options: dict[str, Any] = {"no_cpython_wrapper": inner, "no_cfunc_wrapper": True}
    result: Kernel = numba.njit(kernel, cache=named, error_model="numpy", **options)
    return result
