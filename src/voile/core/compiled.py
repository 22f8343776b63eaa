"""Compile kernels with numba: without Python objects, and cached on disk between runs.

A kernel releases the global interpreter lock, so that Ctrl-C is acknowledged while it runs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def compile_kernel(kernel: Kernel) -> Kernel:
    """Compile `kernel` at its first call, and cache the machine code next to its source.

    numba finds cached code by the kernel's name. It checks for changes only in the kernel's own
    file, not in the files of the kernels that it calls. So the name contains a digest of the
    kernel's folder and of the compiler's settings. A kernel must not call a kernel of another
    folder.

    >>> compile_kernel(lambda x: x + 1)(2)
    3
    """
    return _compile(kernel)


def inner(kernel: Kernel) -> Kernel:
    """Compile a kernel that only other kernels call. This is quicker than `compile_kernel`."""
    return _compile(kernel, no_cpython_wrapper=True)


def bare(kernel: Kernel) -> Kernel:
    """Compile an inner kernel that creates no arrays except slices, and returns none.

    The compiled code does not count references to arrays, because counting takes longer than a
    small step of the kernel.
    """
    return _compile(kernel, no_cpython_wrapper=True, _nrt=False)


def is_kept(kernel: Callable[..., object]) -> bool:
    """Return whether a kernel's machine code is cached, so that its first call need not compile.

    >>> is_kept(compile_kernel(lambda x: x + 1))
    False
    """
    place = kernel.stats.cache_path  # type: ignore[attr-defined]
    name = kernel.__qualname__
    return place is not None and any(Path(place).glob(f"*.{name}-*.nbi"))


def _compile(kernel: Kernel, **options: Any) -> Kernel:
    named = kernel.__name__ != "<lambda>"
    options |= {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}
    if named:
        kernel.__qualname__ += f"_{_digest(Path(inspect.getfile(kernel)).parent, str(options))}"
    result: Kernel = numba.njit(kernel, cache=named, **options)
    return result


@cache
def _digest(folder: Path, options: str) -> str:
    sources = sorted(folder.glob("*.py"))
    read = b"".join(path.read_bytes() for path in sources)
    return sha256(read + options.encode()).hexdigest()[:12]
