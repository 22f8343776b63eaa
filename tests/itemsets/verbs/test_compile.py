"""The warm-up calls every kernel that Python calls, so that none is left to compile."""

from __future__ import annotations

import subprocess
import sys

import pytest

WORK = """
from importlib import import_module
from pkgutil import iter_modules
import numba
import voile.itemsets.kernels as kernels
from voile.itemsets.verbs.compile import main

main()
for one in iter_modules(kernels.__path__):
    module = import_module(f"{kernels.__name__}.{one.name}")
    for name, kernel in vars(module).items():
        if isinstance(kernel, numba.core.registry.CPUDispatcher) and not kernel.signatures:
            if not kernel.targetoptions["no_cpython_wrapper"]:
                print(name)
"""


@pytest.mark.whole
def test_nothing_is_left_to_compile() -> None:
    done = subprocess.run([sys.executable, "-c", WORK], capture_output=True, text=True, check=True)
    assert done.stdout == ""
