"""Ctrl-C, also while compiled code runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ctrl_c() -> Iterator[None]:
    """Raise Ctrl-C as itself: pressed while a kernel runs or loads, it causes a SystemError.

    >>> try:
    ...     with ctrl_c():
    ...         raise SystemError from KeyboardInterrupt()
    ... except KeyboardInterrupt:
    ...     "interrupted"
    'interrupted'
    """
    try:
        yield
    except SystemError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise
