"""Give an installed voile the machine code of the checkout's kernels, and compile one there.

To compile them all again takes longer than the demo. numba takes machine code for a source that
has the name, the size and the time of the one that it was compiled from.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import voile
from voile.core.compiled import compile_kernel

CHECKOUT = Path(__file__).parents[1] / "src" / "voile"
HERE = Path(voile.__file__).parent

assert HERE != CHECKOUT
assert compile_kernel(lambda x: x + 1)(2) == 3
for code in CHECKOUT.rglob("*.nb[ic]"):
    source = code.parents[1] / f"{code.name.partition('.')[0]}.py"
    copy = HERE / source.relative_to(CHECKOUT)
    if copy.read_bytes() == source.read_bytes():
        os.utime(copy, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))
        copy.with_name(code.parent.name).mkdir(exist_ok=True)
        shutil.copy(code, HERE / code.relative_to(CHECKOUT))
