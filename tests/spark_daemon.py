"""Spark's parent of Python workers: it imports once what is slow to import, and not each worker."""

from __future__ import annotations

import gc
from importlib import import_module

SLOW_TO_IMPORT = "duckdb numba numpy pyarrow.parquet pydantic scipy.sparse scipy.special"

if __name__ == "__main__":
    from pyspark.daemon import manager

    for name in SLOW_TO_IMPORT.split():
        import_module(name)
    gc.freeze()  # a worker collects after each task: all that was imported need not be walked
    manager()
