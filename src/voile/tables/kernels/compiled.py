"""The one way to compile a kernel: numba, no Python objects, kept on disk between runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def compiled(kernel: Kernel) -> Kernel:
    """Compile `kernel` at its first call.

    >>> compiled(lambda x: x + 1)(2)
    3
    """
    result: Kernel = numba.njit(kernel, cache=kernel.__name__ != "<lambda>")
    return result
